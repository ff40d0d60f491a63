//! Tables: rendered a page at a time, so that ten million rows take no more memory than one page. The first page decides
//! the widths and brings the header; later pages keep both, but give more room to what is shown whole.

use super::{OutError, Shown, Tone, Ui};
use comfy_table::{
    Attribute, CellAlignment, Color, ColumnConstraint, ContentArrangement, Width, presets,
};
use unicode_width::UnicodeWidthStr;

/// Where a column's text stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// Words.
    Left,
    /// Numbers.
    Right,
}

/// What happens to a column that has too little room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fit {
    /// Its text is shown whole, on several lines if it must be.
    Whole,
    /// Its text is cut.
    Cut,
}

/// A cell: safe text, and how it stands out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cell {
    text: Shown,
    tone: Tone,
}

impl Cell {
    /// A cell.
    #[must_use]
    pub fn new(text: Shown) -> Self {
        let tone = Tone::Plain;
        Self { text, tone }
    }

    /// A cell with a number for people.
    #[must_use]
    pub fn number(number: u64) -> Self {
        Self::new(Shown::new(super::text::grouped(number)))
    }

    /// How it stands out.
    #[must_use]
    pub fn tone(self, tone: Tone) -> Self {
        Self { tone, ..self }
    }
}

/// A column's title and behaviour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// Its title.
    pub title: &'static str,
    /// Where its text stands.
    pub align: Align,
    /// What happens when there is too little room.
    pub fit: Fit,
    /// It is left out of a table of one page in which it has nothing to say.
    pub optional: bool,
}

/// So many rows are held, and make one page.
const PAGE: usize = 1000;
/// Between two columns.
const GAP: usize = 2;
/// A column that is cut is never wider, even where the width is unlimited: a payload may have megabytes.
pub const WIDEST_CUT: usize = 200;
/// A column that is cut keeps at least so much.
const LEAST_CUT: usize = 8;
/// A column that is broken into lines keeps at least so much.
const LEAST_WHOLE: usize = 4;

/// A table on stdout.
pub struct Table<'u> {
    ui: &'u Ui,
    heads: Vec<Head>,
    page: Vec<Vec<Cell>>,
    widths: Option<Vec<usize>>,
}

impl<'u> Table<'u> {
    /// A table with these columns; nothing is printed before there is a row.
    #[must_use]
    pub fn new(ui: &'u Ui, heads: Vec<Head>) -> Self {
        Self {
            ui,
            heads,
            page: vec![],
            widths: None,
        }
    }

    /// Adds a row: a cell a column.
    ///
    /// # Errors
    /// A full page could not be written.
    pub fn row(&mut self, mut cells: Vec<Cell>) -> Result<(), OutError> {
        for (cell, head) in cells.iter_mut().zip(&self.heads) {
            if head.fit == Fit::Cut {
                cell.text = std::mem::take(&mut cell.text).fitted(WIDEST_CUT);
            }
        }
        self.page.push(cells);
        if self.page.len() >= PAGE {
            self.print_page()?;
        }
        Ok(())
    }

    /// Rows that wait for their page.
    pub(super) fn waiting(&self) -> usize {
        self.page.len()
    }

    /// Prints what is left.
    ///
    /// # Errors
    /// It could not be written.
    pub fn finish(mut self) -> Result<(), OutError> {
        if self.widths.is_none() {
            self.leave_out_what_is_empty();
        }
        self.print_page()
    }

    /// On the only page it is known what stands in the columns; on the first of many it is not.
    fn leave_out_what_is_empty(&mut self) {
        let kept: Vec<bool> = (0..self.heads.len())
            .map(|n| {
                let has_text =
                    |row: &Vec<Cell>| row.get(n).is_some_and(|cell| cell.text.width() > 0);
                !self.heads[n].optional || self.page.iter().any(has_text)
            })
            .collect();
        let keep = |n: usize| kept.get(n).copied().unwrap_or(true);
        let mut n = 0..;
        self.heads.retain(|_| n.next().is_some_and(keep));
        for row in &mut self.page {
            let mut n = 0..;
            row.retain(|_| n.next().is_some_and(keep));
        }
    }

    fn print_page(&mut self) -> Result<(), OutError> {
        if self.page.is_empty() {
            return Ok(());
        }
        let first = self.widths.is_none();
        let widths = widths(
            &self.heads,
            &self.page,
            self.widths.as_deref(),
            self.ui.width(),
        );
        let mut table = comfy_table::Table::new();
        table
            .load_style(presets::NOTHING)
            .force_no_tty()
            .set_content_arrangement(ContentArrangement::Disabled);
        table.style_text_only();
        if self.ui.decided.color_out {
            table.enforce_styling();
        }
        if first {
            table.set_header(
                self.heads
                    .iter()
                    .map(|head| comfy_table::Cell::new(head.title).add_attribute(Attribute::Bold)),
            );
        }
        for row in std::mem::take(&mut self.page) {
            let cells = row.into_iter().zip(&self.heads).zip(widths.iter());
            table.add_row(cells.map(|((cell, head), width)| {
                let text = match head.fit {
                    Fit::Whole => cell.text,
                    Fit::Cut => cell.text.fitted(*width),
                };
                styled(comfy_table::Cell::new_owned(text.into_string()), cell.tone)
            }));
        }
        let last = self.heads.len().saturating_sub(1);
        for (n, (head, width)) in self.heads.iter().zip(widths.iter()).enumerate() {
            let Some(column) = table.column_mut(n) else {
                continue;
            };
            let gap = if n == last { 0 } else { GAP };
            column.set_padding((0, as_u16(gap)));
            column.set_constraint(ColumnConstraint::Absolute(Width::Fixed(as_u16(
                width + gap,
            ))));
            column.set_cell_alignment(match head.align {
                Align::Left => CellAlignment::Left,
                Align::Right => CellAlignment::Right,
            });
        }
        self.widths = Some(widths);
        let mut text = String::new();
        for line in table.lines() {
            text.push_str(line.trim_end_matches(' '));
            text.push('\n');
        }
        self.ui.out_bytes(text.as_bytes())
    }
}

fn as_u16(width: usize) -> u16 {
    u16::try_from(width).unwrap_or(u16::MAX)
}

fn styled(cell: comfy_table::Cell, tone: Tone) -> comfy_table::Cell {
    match tone {
        Tone::Plain => cell,
        Tone::Bold => cell.add_attribute(Attribute::Bold),
        Tone::Dim => cell.add_attribute(Attribute::Dim),
        Tone::Good => cell.fg(Color::DarkGreen),
        Tone::Warn => cell.fg(Color::DarkYellow),
        Tone::Bad => cell.fg(Color::DarkRed),
    }
}

/// How wide each column is so that all of them fit. A page after others keeps what they had (`before`), and only what is
/// shown whole grows: an id that is broken into lines cannot be copied. Where there is too little room, first those that may
/// be cut give way, the widest first, then those that can only be broken into lines.
fn widths(
    heads: &[Head],
    page: &[Vec<Cell>],
    before: Option<&[usize]>,
    available: Option<usize>,
) -> Vec<usize> {
    let titles = || heads.iter().map(|head| head.title.width()).collect();
    let mut widths: Vec<usize> = before.map_or_else(titles, <[usize]>::to_vec);
    for row in page {
        for ((width, cell), head) in widths.iter_mut().zip(row).zip(heads) {
            if before.is_none() || head.fit == Fit::Whole {
                *width = (*width).max(cell.text.width());
            }
        }
    }
    let Some(available) = available else {
        return widths;
    };
    let gaps = GAP * heads.len().saturating_sub(1);
    while widths.iter().sum::<usize>() + gaps > available {
        let widest = |fit: Fit, least: usize| {
            let candidates = heads.iter().zip(&widths).enumerate();
            candidates
                .filter(|(_, (head, width))| head.fit == fit && **width > least)
                .max_by_key(|(_, (_, width))| **width)
                .map(|(n, _)| n)
        };
        let Some(n) = widest(Fit::Cut, LEAST_CUT).or_else(|| widest(Fit::Whole, LEAST_WHOLE))
        else {
            break;
        };
        widths[n] -= 1;
    }
    widths
}
