//! Records on stdout, in seven formats, as they come: no format holds more than a page, and none lets a control
//! character through to a terminal.

use super::table::{Head, Table, WIDEST_CUT};
use super::text::{Shown, terminal_json};
use super::{Align, Cell, Fit, OutError, Ui, Usage};
use crate::queue::near::nearest;
use crate::queue::record::{Record, Value};
use std::fmt;

/// `-o`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// For people.
    Table,
    /// One value: an object, or an array.
    Json,
    /// An object a line.
    Ndjson,
    /// Comma-separated, quoted where needed, with a header.
    Csv,
    /// Tab-separated; tabs, line ends and backslashes are written `\t \n \r \\`; with a header.
    Tsv,
    /// The id, or the name, alone.
    Id,
    /// The payload's bytes alone.
    Raw,
}

impl Format {
    /// All of them.
    pub const ALL: &'static [Self] = &[
        Self::Table,
        Self::Json,
        Self::Ndjson,
        Self::Csv,
        Self::Tsv,
        Self::Id,
        Self::Raw,
    ];

    /// Its word on the command line.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Table => "table",
            Self::Json => "json",
            Self::Ndjson => "ndjson",
            Self::Csv => "csv",
            Self::Tsv => "tsv",
            Self::Id => "id",
            Self::Raw => "raw",
        }
    }

    /// Whether errors are records too.
    #[must_use]
    pub fn is_json(self) -> bool {
        matches!(self, Self::Json | Self::Ndjson)
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// What a verb puts out when nobody asked for a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Natural {
    /// A table on a terminal, NDJSON elsewhere.
    Records,
    /// Text everywhere.
    Text,
    /// Nothing: a verb that writes.
    Nothing,
}

/// Whether `-o json` is an object or an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// There is one by nature.
    One,
    /// There may be any number.
    Many,
}

/// Something that is put out as a record.
pub trait Row {
    /// Its fields, in the order of the record.
    const FIELDS: &'static [&'static str];
    /// Fields that stand in a table of values only when they are asked for: records in the record.
    const NESTED: &'static [&'static str] = &[];

    /// The record.
    fn record(&self) -> Record;

    /// What stands for it: an id, a name.
    fn id(&self) -> &str;

    /// Its bytes, if it is a message.
    fn payload(&self) -> Option<&[u8]> {
        None
    }
}

/// A column of a verb's own table.
pub struct Column<'a, R> {
    head: Head,
    cell: Box<dyn Fn(&R) -> Cell + 'a>,
}

impl<'a, R> Column<'a, R> {
    /// A column.
    #[must_use]
    pub fn new(
        title: &'static str,
        align: Align,
        fit: Fit,
        cell: impl Fn(&R) -> Cell + 'a,
    ) -> Self {
        Self {
            head: Head {
                title,
                align,
                fit,
                optional: false,
            },
            cell: Box::new(cell),
        }
    }

    /// Left out of a table of one page in which it has nothing to say.
    #[must_use]
    pub fn optional(mut self) -> Self {
        self.head.optional = true;
        self
    }
}

/// How records will be put out; made before a store is opened, so that a wrong flag contacts nobody.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    format: Format,
    fields: Vec<&'static str>,
    shape: Shape,
}

impl Plan {
    /// Decides from `-o` and `--fields`; none: nothing goes to stdout (or, for a verb that is text, the text).
    ///
    /// # Errors
    /// A field that is not there, a format that does not fit, or bytes that would go to a terminal.
    pub fn new<R: Row>(
        ui: &Ui,
        asked: Option<Format>,
        fields: &[String],
        natural: Natural,
        shape: Shape,
    ) -> Result<Option<Self>, Usage> {
        let format = match (asked, natural) {
            (Some(Format::Table), Natural::Text) | (None, Natural::Text | Natural::Nothing)
                if fields.is_empty() =>
            {
                return Ok(None);
            }
            (Some(format), _) => format,
            (None, Natural::Records) if ui.stdout_is_terminal() => Format::Table,
            (None, Natural::Records) => Format::Ndjson,
            (None, Natural::Text | Natural::Nothing) => {
                return Err(
                    Usage::new("--fields chooses fields of a record, and none is printed")
                        .hint("add -o json, ndjson, csv, tsv or table"),
                );
            }
        };
        if matches!(format, Format::Raw | Format::Id) && !fields.is_empty() {
            return Err(Usage::new(format!(
                "--fields has no meaning with -o {format}"
            )));
        }
        if format == Format::Raw {
            if !R::FIELDS.contains(&"payload") {
                return Err(Usage::new("-o raw prints payloads, and there is none here"));
            }
            if ui.stdout_is_terminal() {
                return Err(
                    Usage::new("-o raw would put a payload's bytes on the terminal")
                        .hint("send it into a file or a pipe, or use -o json"),
                );
            }
        }
        let fields = chosen::<R>(fields, format)?;
        Ok(Some(Self {
            format,
            fields,
            shape,
        }))
    }

    /// The format.
    #[must_use]
    pub fn format(&self) -> Format {
        self.format
    }

    /// Whether a field was asked for by its name.
    #[must_use]
    pub fn names(&self, field: &str) -> bool {
        self.fields.contains(&field)
    }
}

/// The fields by their names. A payload that is no text stands in `payload_b64`, so that whoever asks for the one gets
/// the other too, except from a table, which is for people.
fn chosen<R: Row>(asked: &[String], format: Format) -> Result<Vec<&'static str>, Usage> {
    let mut fields = vec![];
    if asked.iter().any(|name| name.trim().is_empty()) {
        return Err(Usage::new("--fields has an empty name in it")
            .hint(format!("the fields are {}", R::FIELDS.join(", "))));
    }
    for name in asked.iter().map(|name| name.trim()) {
        let Some(field) = R::FIELDS.iter().copied().find(|field| *field == name) else {
            let near = nearest(name, R::FIELDS.iter().copied());
            let near = near.map_or(String::new(), |near| format!("did you mean '{near}'?\n"));
            let all = R::FIELDS.join(", ");
            return Err(Usage::new(format!("no field '{name}'"))
                .hint(format!("{near}the fields are {all}")));
        };
        for field in match field {
            "payload" if format != Format::Table => &["payload", "payload_b64"][..],
            _ => std::slice::from_ref(&field),
        } {
            if !fields.contains(field) {
                fields.push(*field);
            }
        }
    }
    Ok(fields)
}

/// Records on their way to stdout.
pub struct Stream<'a, R: Row> {
    ui: &'a Ui,
    plan: Plan,
    columns: Vec<Column<'a, R>>,
    table: Option<Table<'a>>,
    count: u64,
    // The first of `-o raw`: whether a line end comes after it depends on whether there is a second.
    held: Option<Vec<u8>>,
}

impl<'a, R: Row> Stream<'a, R> {
    /// A stream; `columns` are the verb's own table, for when no field was asked for.
    #[must_use]
    pub fn new(ui: &'a Ui, plan: Plan, columns: Vec<Column<'a, R>>) -> Self {
        let columns = if plan.fields.is_empty() {
            columns
        } else {
            plan.fields.iter().map(|field| by_field(field)).collect()
        };
        let table = (plan.format == Format::Table)
            .then(|| Table::new(ui, columns.iter().map(|column| column.head).collect()));
        Self {
            ui,
            plan,
            columns,
            table,
            count: 0,
            held: None,
        }
    }

    /// Puts one out.
    ///
    /// # Errors
    /// It could not be written.
    pub fn push(&mut self, row: &R) -> Result<(), OutError> {
        self.count += 1;
        match self.plan.format {
            Format::Table => {
                let cells = self.columns.iter().map(|column| (column.cell)(row));
                let cells = cells.collect();
                self.table.as_mut().map_or(Ok(()), |table| table.row(cells))
            }
            Format::Ndjson => self.json_line(row, "\n"),
            Format::Json if self.plan.shape == Shape::One => self.json_line(row, "\n"),
            Format::Json => {
                let before: &[u8] = if self.count == 1 { b"[" } else { b",\n" };
                self.ui.out_bytes(before)?;
                self.json_line(row, "")
            }
            Format::Csv => self.values(row, ",", csv),
            Format::Tsv => self.values(row, "\t", tsv),
            Format::Id if self.ui.stdout_is_terminal() => self.line(Shown::new(row.id()).as_str()),
            Format::Id => self.line(row.id()),
            Format::Raw => self.raw(row.payload().unwrap_or_default()),
        }
    }

    /// Ends the value, and sends it on its way.
    ///
    /// # Errors
    /// It could not be written.
    pub fn finish(mut self) -> Result<u64, OutError> {
        match self.plan.format {
            Format::Table => {
                if let Some(table) = self.table.take() {
                    table.finish()?;
                }
            }
            Format::Json if self.plan.shape == Shape::Many => {
                let end: &[u8] = if self.count == 0 { b"[]\n" } else { b"]\n" };
                self.ui.out_bytes(end)?;
            }
            Format::Csv | Format::Tsv if self.count == 0 => self.header()?,
            Format::Raw => {
                if let Some(only) = self.held.take() {
                    self.ui.out_bytes(&only)?;
                }
            }
            Format::Json | Format::Ndjson | Format::Csv | Format::Tsv | Format::Id => {}
        }
        self.ui.flush()?;
        Ok(self.count)
    }

    /// Sends what was put out so far on its way, where the format can. Answers how many of the last rows still wait: those
    /// of a table for their page, the first of `-o raw` for a second.
    ///
    /// # Errors
    /// It could not be written.
    pub fn flush(&self) -> Result<usize, OutError> {
        self.ui.flush()?;
        let of_page = self.table.as_ref().map_or(0, Table::waiting);
        Ok(of_page + usize::from(self.held.is_some()))
    }

    fn line(&self, text: &str) -> Result<(), OutError> {
        self.ui.out_bytes(text.as_bytes())?;
        self.ui.out_bytes(b"\n")
    }

    fn json_line(&self, row: &R, end: &str) -> Result<(), OutError> {
        let mut record = row.record();
        if !self.plan.fields.is_empty() {
            let place = |name: &str| self.plan.fields.iter().position(|field| *field == name);
            record.0.retain(|(name, _)| place(name).is_some());
            record.0.sort_by_key(|(name, _)| place(name));
        }
        let json = record.to_json();
        if self.ui.stdout_is_terminal() {
            self.ui.out_bytes(terminal_json(&json).as_bytes())?;
        } else {
            self.ui.out_bytes(json.as_bytes())?;
        }
        self.ui.out_bytes(end.as_bytes())
    }

    fn value_fields(&self) -> Vec<&'static str> {
        if self.plan.fields.is_empty() {
            let all = R::FIELDS.iter().copied();
            all.filter(|field| !R::NESTED.contains(field)).collect()
        } else {
            self.plan.fields.clone()
        }
    }

    fn header(&self) -> Result<(), OutError> {
        let separator = if self.plan.format == Format::Csv {
            ","
        } else {
            "\t"
        };
        self.line(&self.value_fields().join(separator))
    }

    fn values(
        &self,
        row: &R,
        separator: &str,
        quote: fn(&str, &mut String),
    ) -> Result<(), OutError> {
        if self.count == 1 {
            self.header()?;
        }
        let record = row.record();
        let mut line = String::new();
        for (n, field) in self.value_fields().iter().enumerate() {
            if n > 0 {
                line.push_str(separator);
            }
            let text = record.get(field).map(plain).unwrap_or_default();
            let mut cell = String::new();
            quote(&text, &mut cell);
            if self.ui.stdout_is_terminal() {
                cell = Shown::new(cell).into_string();
            }
            line.push_str(&cell);
        }
        self.line(&line)
    }

    fn raw(&mut self, payload: &[u8]) -> Result<(), OutError> {
        if self.count == 1 {
            self.held = Some(payload.to_vec());
            return Ok(());
        }
        if let Some(first) = self.held.take() {
            self.ui.out_bytes(&first)?;
            self.ui.out_bytes(b"\n")?;
        }
        self.ui.out_bytes(payload)?;
        self.ui.out_bytes(b"\n")
    }
}

fn by_field<'a, R: Row>(field: &'static str) -> Column<'a, R> {
    Column::new(field, Align::Left, fit_of(field), move |row: &R| {
        Cell::new(match (field, row.payload()) {
            ("payload", Some(payload)) => Shown::preview(payload, WIDEST_CUT),
            _ => Shown::new(row.record().get(field).map(plain).unwrap_or_default()),
        })
    })
}

fn fit_of(field: &str) -> Fit {
    match field {
        "payload" | "payload_b64" | "headers" | "history" | "last_error" => Fit::Cut,
        _ => Fit::Whole,
    }
}

/// A value as text in a table of values.
fn plain(value: &Value) -> String {
    match value {
        Value::Text(text) | Value::Json(text) => text.clone(),
        other => {
            let mut json = String::new();
            other.write_json(&mut json);
            json
        }
    }
}

fn csv(text: &str, out: &mut String) {
    let outer_space = text.starts_with(' ') || text.ends_with(' ');
    if outer_space || text.contains([',', '"', '\n', '\r']) {
        out.push('"');
        out.push_str(&text.replace('"', "\"\""));
        out.push('"');
    } else {
        out.push_str(text);
    }
}

fn tsv(text: &str, out: &mut String) {
    for c in text.chars() {
        match c {
            '\t' => out.push_str("\\t"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\\' => out.push_str("\\\\"),
            c => out.push(c),
        }
    }
}
