//! Text for people. [`Shown`] is the one way for a payload, a name, a header or an error to reach a human format:
//! nothing in it can move the cursor, write to the clipboard or turn the direction of the line.

pub use crate::queue::time::size_text as size;
use std::borrow::Cow;
use std::fmt::{self, Write as _};
use unicode_width::UnicodeWidthStr;

/// A text in which every control character is written out (`\n`, `\x1b`, `\u{202e}`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shown(String);

/// Whether a character may change what a terminal does or how a line reads: C0, DEL, C1, the marks of writing direction,
/// and the separators of lines and paragraphs.
#[must_use]
pub fn is_dangerous(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{61c}'
                | '\u{200e}'
                | '\u{200f}'
                | '\u{2028}'
                | '\u{2029}'
                | '\u{202a}'..='\u{202e}'
                | '\u{2066}'..='\u{2069}'
        )
}

fn escape(c: char, out: &mut String) {
    match c {
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        c if c.is_control() => drop(write!(out, "\\x{:02x}", u32::from(c))),
        c if is_dangerous(c) => drop(write!(out, "\\u{{{:x}}}", u32::from(c))),
        c => out.push(c),
    }
}

impl Shown {
    /// Any text, made safe.
    #[must_use]
    pub fn new(text: impl fmt::Display) -> Self {
        let mut out = String::new();
        text.to_string().chars().for_each(|c| escape(c, &mut out));
        Self(out)
    }

    /// Any bytes, made safe; what is not UTF-8 is written as `\xff`.
    #[must_use]
    pub fn bytes(bytes: &[u8]) -> Self {
        Self::preview(bytes, usize::MAX)
    }

    /// The beginning of any bytes, made safe, at most `width` columns wide; a `…` says that there is more. Looks at no
    /// more of the bytes than it shows.
    #[must_use]
    pub fn preview(bytes: &[u8], width: usize) -> Self {
        let mut out = String::new();
        // A wide character is at most two columns; what is escaped is wider than it is long.
        let enough = width.saturating_mul(16).saturating_add(64);
        'chunks: for chunk in bytes.utf8_chunks() {
            for c in chunk.valid().chars() {
                escape(c, &mut out);
                if out.len() > enough {
                    break 'chunks;
                }
            }
            for byte in chunk.invalid() {
                let _ = write!(out, "\\x{byte:02x}");
                if out.len() > enough {
                    break 'chunks;
                }
            }
        }
        Self(out).fitted(width)
    }

    /// How many columns it takes.
    #[must_use]
    pub fn width(&self) -> usize {
        self.0.width()
    }

    /// The same, at most `width` columns wide; a `…` says that something was cut.
    #[must_use]
    pub fn fitted(self, width: usize) -> Self {
        if self.0.len() <= width || self.width() <= width {
            return self;
        }
        let room = width.saturating_sub(1);
        let mut end = 0;
        for (at, c) in self.0.char_indices() {
            let next = at + c.len_utf8();
            // The width of a text is not the sum of its characters' (joined emoji): the whole is measured.
            if self.0[..next].width() > room {
                break;
            }
            end = next;
        }
        let kept = self.0[..end].trim_end_matches('\u{200d}');
        Self(format!("{kept}{}", if width == 0 { "" } else { "…" }))
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The text, given away.
    #[must_use]
    pub fn into_string(self) -> String {
        self.0
    }
}

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A text of several lines, each made safe; the lines stay.
#[must_use]
pub fn safe_lines(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if c == '\n' {
            out.push('\n');
        } else {
            escape(c, &mut out);
        }
    }
    out
}

/// JSON on its way to a terminal: what is dangerous in a string becomes `\uXXXX`, which means the same. Outside of
/// strings JSON has no such character but white space, which becomes a space.
#[must_use]
pub fn terminal_json(json: &str) -> Cow<'_, str> {
    if !json.contains(is_dangerous) {
        return Cow::Borrowed(json);
    }
    let mut out = String::with_capacity(json.len() + 32);
    for c in json.chars() {
        match c {
            '\t' | '\n' | '\r' => out.push(' '),
            // None of them is above U+FFFF, so that one escape is enough.
            c if is_dangerous(c) => drop(write!(out, "\\u{:04x}", u32::from(c))),
            c => out.push(c),
        }
    }
    Cow::Owned(out)
}

/// A number for people: `200,000`.
#[must_use]
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (n, digit) in digits.chars().enumerate() {
        if n > 0 && (digits.len() - n).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// `1 message`, `2 messages`, `2,000 messages`.
#[must_use]
pub fn counted(number: u64, one: &str, many: &str) -> String {
    format!(
        "{} {}",
        grouped(number),
        if number == 1 { one } else { many }
    )
}

/// Longer than any queue's name: so many characters of what a message quotes are enough to know it by.
const QUOTED: usize = 200;
/// And so many of a message as a whole.
const MESSAGE: usize = 2_000;

/// A message in which what it quotes from others may be of any length: each quotation is cut, and the whole.
#[must_use]
pub fn brief(message: &str) -> Cow<'_, str> {
    if message.len() <= QUOTED {
        return Cow::Borrowed(message);
    }
    let mut out = String::new();
    let mut rest = message;
    while let Some((before, after)) = rest.split_once('\'') {
        out += before;
        out.push('\'');
        // A quotation mark within a word is an apostrophe.
        if before.ends_with(char::is_alphanumeric) {
            rest = after;
            continue;
        }
        let ends = |(at, _): &(usize, &str)| {
            let next = after[at + 1..].chars().next();
            next.is_none_or(|next| next.is_whitespace() || ",;:.?!)=".contains(next))
        };
        let end = after
            .match_indices('\'')
            .find(ends)
            .map_or(after.len(), |(at, _)| at);
        let (quoted, others) = after.split_at(end);
        out += &cut(quoted, QUOTED);
        let closing = usize::from(!others.is_empty());
        out += &others[..closing];
        rest = &others[closing..];
    }
    out += rest;
    Cow::Owned(cut(&out, MESSAGE).into_owned())
}

fn cut(text: &str, most: usize) -> Cow<'_, str> {
    match text.char_indices().nth(most) {
        Some((end, _)) => Cow::Owned(format!("{}…", &text[..end])),
        None => Cow::Borrowed(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r83_every_class_of_control_is_written_out() {
        for (text, shown) in [
            ("plain é 漢字 👍", "plain é 漢字 👍"),
            ("a\\b", "a\\b"),
            ("\0\u{1}\u{7}", "\\x00\\x01\\x07"),
            ("\u{8}\u{b}\u{c}\u{1f}", "\\x08\\x0b\\x0c\\x1f"),
            ("a\tb\r\nc", "a\\tb\\r\\nc"),
            ("\u{1b}[2J", "\\x1b[2J"),
            ("\u{1b}]52;c;aGk=\u{7}", "\\x1b]52;c;aGk=\\x07"),
            ("\u{7f}", "\\x7f"),
            ("\u{80}\u{85}\u{9b}31m\u{9f}", "\\x80\\x85\\x9b31m\\x9f"),
            ("\u{61c}", "\\u{61c}"),
            ("\u{200e}\u{200f}", "\\u{200e}\\u{200f}"),
            (
                "\u{202a}\u{202b}\u{202c}\u{202d}\u{202e}",
                "\\u{202a}\\u{202b}\\u{202c}\\u{202d}\\u{202e}",
            ),
            (
                "\u{2066}\u{2067}\u{2068}\u{2069}",
                "\\u{2066}\\u{2067}\\u{2068}\\u{2069}",
            ),
            ("\u{2028}\u{2029}", "\\u{2028}\\u{2029}"),
            ("\u{a0}\u{200d}\u{fe0f}", "\u{a0}\u{200d}\u{fe0f}"),
        ] {
            assert_eq!(Shown::new(text).as_str(), shown, "{text:?}");
            assert_eq!(Shown::bytes(text.as_bytes()).as_str(), shown, "{text:?}");
            assert!(!shown.contains(is_dangerous));
            assert_eq!(Shown::new(shown).as_str(), shown, "safe text stays");
        }
    }

    #[test]
    fn every_character_is_safe_once_shown() {
        let all: String = ('\0'..=char::MAX).collect();
        assert!(!Shown::new(&all).as_str().contains(is_dangerous));
        let kept = safe_lines(&all);
        assert!(!kept.replace('\n', "").contains(is_dangerous));
        assert_eq!(kept.matches('\n').count(), 1);
    }

    #[test]
    fn bytes_that_are_no_text_are_written_as_numbers() {
        assert_eq!(
            Shown::bytes(b"\xff\xfe\x00\x80ok\xe2\x82").as_str(),
            "\\xff\\xfe\\x00\\x80ok\\xe2\\x82"
        );
    }

    #[test]
    fn cutting_counts_columns_not_characters() {
        let family = "👨\u{200d}👩\u{200d}👧";
        for (text, width, cut) in [
            ("abcdef", 6, "abcdef"),
            ("abcdef", 5, "abcd…"),
            ("abcdef", 1, "…"),
            ("abcdef", 0, ""),
            ("漢字漢字", 8, "漢字漢字"),
            ("漢字漢字", 7, "漢字漢…"),
            ("漢字漢字", 6, "漢字…"),
            ("漢字", 2, "…"),
            ("e\u{301}e\u{301}e\u{301}", 2, "e\u{301}…"),
            (family, 2, family),
            ("👍👍👍", 4, "👍…"),
            ("\u{1b}[2J", 6, "\\x1b[…"),
        ] {
            let shown = Shown::new(text).fitted(width);
            assert_eq!(shown.as_str(), cut, "{text:?} in {width}");
            assert!(shown.width() <= width, "{text:?} in {width}");
            assert_eq!(Shown::preview(text.as_bytes(), width).as_str(), cut);
        }
    }

    #[test]
    fn a_preview_looks_only_at_the_beginning() {
        let long = "漢".repeat(10_000_000);
        let shown = Shown::preview(long.as_bytes(), 10);
        assert_eq!(shown.as_str(), "漢漢漢漢…");
        let invalid = vec![0xff; 1_000_000];
        assert_eq!(Shown::preview(&invalid, 6).as_str(), "\\xff\\…");
    }

    #[test]
    fn json_means_the_same_after_it_was_made_safe() {
        let json = "{\"a\u{9b}\":\"\u{7f}x\u{202e}\\u001b\u{2028}\",\t\"n\":12345678901234567890}";
        let safe = terminal_json(json);
        assert_eq!(
            safe,
            "{\"a\\u009b\":\"\\u007fx\\u202e\\u001b\\u2028\", \"n\":12345678901234567890}"
        );
        let parse = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
        assert_eq!(parse(&safe), parse(json));
        assert!(matches!(terminal_json("{\"é\":1}"), Cow::Borrowed(_)));
    }

    #[test]
    fn what_a_message_quotes_is_cut() {
        let (long, cut) = ("é".repeat(300_000), format!("{}…", "é".repeat(200)));
        let name = "x".repeat(200);
        for (message, said) in [
            ("no queue 'q'".to_owned(), "no queue 'q'".to_owned()),
            (format!("no queue '{name}'"), format!("no queue '{name}'")),
            (
                format!("the queue's id '{long}' is none: '{long}', and so on"),
                format!("the queue's id '{cut}' is none: '{cut}', and so on"),
            ),
            (
                format!("there is no '{long}"),
                format!("there is no '{cut}"),
            ),
            (
                format!("a 'b'c{long}' d"),
                format!("a 'b'c{}…' d", "é".repeat(197)),
            ),
        ] {
            assert_eq!(brief(&message), said);
        }
        for text in [&long, &"'".repeat(100_000), &"' '".repeat(100_000)] {
            assert!(brief(text).chars().count() <= 2_001);
        }
    }

    #[test]
    fn numbers_for_people() {
        for (number, text) in [
            (0, "0"),
            (999, "999"),
            (1_000, "1,000"),
            (200_000, "200,000"),
            (1_234_567, "1,234,567"),
        ] {
            assert_eq!(grouped(number), text);
        }
        assert_eq!(counted(1, "letter", "letters"), "1 letter");
        assert_eq!(counted(2000, "letter", "letters"), "2,000 letters");
    }
}
