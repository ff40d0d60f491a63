//! What people and programs see. What the streams are, their colours and their width are decided once, at the start;
//! stdout has data alone, stderr has everything else, and nothing else in the program prints.

pub mod error;
pub mod progress;
pub mod prompt;
mod rows;
pub mod stream;
pub mod table;
pub mod text;

pub use error::Problem;
pub use progress::Progress;
pub use prompt::Answer;
pub use stream::{Column, Format, Natural, Plan, Row, Shape, Stream};
pub use table::{Align, Cell, Fit, Table};
pub use text::Shown;

use crate::queue::{Hint, said::system};
use std::ffi::OsString;
use std::fmt;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// `--color`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Color {
    /// On a terminal, unless `NO_COLOR` or `TERM=dumb`; `CLICOLOR_FORCE` elsewhere too.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// How much is said on stderr.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Loudness {
    /// `-q`: errors.
    Quiet,
    /// Errors, warnings, notes.
    #[default]
    Normal,
    /// `-v`: details too.
    Verbose,
}

/// What the process's streams are; a test makes its own.
pub struct Streams<'a> {
    /// Standard input is a terminal.
    pub stdin: bool,
    /// Standard output is a terminal.
    pub stdout: bool,
    /// Standard error is a terminal.
    pub stderr: bool,
    /// The terminal's width in columns, as far as it tells.
    pub width: Option<usize>,
    /// A variable's value.
    pub var: &'a dyn Fn(&str) -> Option<OsString>,
}

/// What was decided at the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent facts about three streams, not a state"
)]
struct Decided {
    stdin: bool,
    stdout: bool,
    stderr: bool,
    color_out: bool,
    color_err: bool,
    width: Option<usize>,
    loudness: Loudness,
}

/// A terminal that does not tell its width is taken to be as wide as they all once were.
const USUAL_WIDTH: usize = 80;
/// Nothing is fitted into less.
const LEAST_WIDTH: usize = 20;

impl Decided {
    fn decide(color: Color, loudness: Loudness, streams: &Streams<'_>) -> Self {
        let set = |name: &str| (streams.var)(name).filter(|value| !value.is_empty());
        let colored = |terminal: bool| match color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto if set("NO_COLOR").is_some() => false,
            Color::Auto if set("CLICOLOR_FORCE").is_some_and(|value| value != "0") => true,
            Color::Auto => terminal && set("TERM").is_none_or(|term| term != "dumb"),
        };
        let columns = set("COLUMNS")
            .and_then(|value| value.to_str()?.trim().parse().ok())
            .filter(|width| *width > 0);
        let width = if streams.stdout {
            Some(streams.width.or(columns).unwrap_or(USUAL_WIDTH))
        } else {
            columns
        };
        Self {
            stdin: streams.stdin,
            stdout: streams.stdout,
            stderr: streams.stderr,
            color_out: colored(streams.stdout),
            color_err: colored(streams.stderr),
            width: width.map(|width| width.max(LEAST_WIDTH)),
            loudness,
        }
    }
}

/// Why something could not be written to stdout.
#[derive(Debug)]
pub enum OutError {
    /// Nobody reads any more: the end of a reading verb, and no failure.
    Closed,
    /// Anything else (a full disk behind a redirection).
    Failed(io::Error),
}

impl From<io::Error> for OutError {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            Self::Closed
        } else {
            Self::Failed(error)
        }
    }
}

impl fmt::Display for OutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Closed => f.write_str("standard output was closed"),
            Self::Failed(error) => {
                write!(f, "standard output cannot be written: {}", system(error))
            }
        }
    }
}

impl std::error::Error for OutError {}

/// A way of output that does not fit what is to be put out: exit code 2.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Usage {
    /// What, in a clause.
    pub what: String,
    /// What mends it.
    pub hint: Option<Hint>,
}

impl Usage {
    /// `what`: in a clause without a full stop.
    pub(crate) fn new(what: impl Into<String>) -> Self {
        Self {
            what: what.into(),
            hint: None,
        }
    }

    /// With what mends it.
    pub(crate) fn hint(mut self, hint: impl Into<Hint>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl fmt::Display for Usage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}

impl std::error::Error for Usage {}

/// How a piece of text stands out, where there is colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tone {
    /// As it is.
    #[default]
    Plain,
    /// A heading.
    Bold,
    /// Less than the rest.
    Dim,
    /// All is well.
    Good,
    /// Look here.
    Warn,
    /// Something is wrong.
    Bad,
}

impl Tone {
    fn paint(self, text: &str, color: bool) -> String {
        let code = match self {
            Self::Plain => "",
            Self::Bold => "1",
            Self::Dim => "2",
            Self::Good => "32",
            Self::Warn => "33",
            Self::Bad => "31",
        };
        if color && !code.is_empty() && !text.is_empty() {
            format!("\x1b[{code}m{text}\x1b[0m")
        } else {
            text.to_owned()
        }
    }
}

/// A piece of a line: safe text and how it stands out.
pub type Piece = (Tone, Shown);

type Writer = Box<dyn Write + Send>;

/// The only printer.
pub struct Ui {
    decided: Decided,
    out: Mutex<BufWriter<Writer>>,
    err: Mutex<Writer>,
}

/// Standard output without the line buffer of the standard library: a million records are not a million writes.
struct Stdout;

impl Write for Stdout {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(rustix::io::write(rustix::stdio::stdout(), bytes)?)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// So much is gathered before it is written.
const BUFFER: usize = 64 << 10;

impl Ui {
    /// Looks at the process's streams and environment, once.
    #[must_use]
    pub fn of_process(color: Color, loudness: Loudness) -> Self {
        let stdout = io::stdout().is_terminal();
        let streams = Streams {
            stdin: io::stdin().is_terminal(),
            stdout,
            stderr: io::stderr().is_terminal(),
            width: stdout
                .then(|| rustix::termios::tcgetwinsize(rustix::stdio::stdout()).ok())
                .flatten()
                .map(|size| usize::from(size.ws_col))
                .filter(|width| *width > 0),
            var: &|name| std::env::var_os(name),
        };
        Self::new(
            color,
            loudness,
            &streams,
            Box::new(Stdout),
            Box::new(io::stderr()),
        )
    }

    /// With streams of the caller's.
    #[must_use]
    pub fn new(
        color: Color,
        loudness: Loudness,
        streams: &Streams<'_>,
        out: Writer,
        err: Writer,
    ) -> Self {
        Self {
            decided: Decided::decide(color, loudness, streams),
            out: Mutex::new(BufWriter::with_capacity(BUFFER, out)),
            err: Mutex::new(err),
        }
    }

    /// Whether stdout is a terminal.
    #[must_use]
    pub fn stdout_is_terminal(&self) -> bool {
        self.decided.stdout
    }

    /// Whether stderr is a terminal.
    #[must_use]
    pub fn stderr_is_terminal(&self) -> bool {
        self.decided.stderr
    }

    /// Whether what goes to stdout may have colour.
    #[must_use]
    pub fn stdout_is_colored(&self) -> bool {
        self.decided.color_out
    }

    /// The number of the device that stdout is; none where the system does not say. Of a stdout that was closed it is
    /// that of /dev/null, which the runtime puts in its place.
    #[must_use]
    pub fn stdout_device(&self) -> Option<u64> {
        let stat = rustix::fs::fstat(rustix::stdio::stdout()).ok()?;
        Some(stat.st_rdev)
    }

    /// Whether somebody is there who can be asked: stdin and stderr are terminals.
    #[must_use]
    pub fn can_ask(&self) -> bool {
        self.decided.stdin && self.decided.stderr
    }

    /// The width that lines on stdout should fit; none: any.
    #[must_use]
    pub fn width(&self) -> Option<usize> {
        self.decided.width
    }

    /// How much is said.
    #[must_use]
    pub fn loudness(&self) -> Loudness {
        self.decided.loudness
    }

    fn lock_out(&self) -> MutexGuard<'_, BufWriter<Writer>> {
        self.out.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Bytes on stdout as they are: for [`Stream`], and for texts that are our own (completions, manuals).
    ///
    /// # Errors
    /// They could not be written.
    pub fn out_bytes(&self, bytes: &[u8]) -> Result<(), OutError> {
        Ok(self.lock_out().write_all(bytes)?)
    }

    /// Lines for people on stdout; everything but the line ends is made safe.
    ///
    /// # Errors
    /// They could not be written.
    pub fn out_text(&self, text: &str) -> Result<(), OutError> {
        let mut out = self.lock_out();
        out.write_all(text::safe_lines(text).as_bytes())?;
        if !text.ends_with('\n') {
            out.write_all(b"\n")?;
        }
        Ok(())
    }

    /// One line for people on stdout.
    ///
    /// # Errors
    /// It could not be written.
    pub fn out_line(&self, pieces: &[Piece]) -> Result<(), OutError> {
        let mut line = String::new();
        for (tone, text) in pieces {
            line += &tone.paint(text.as_str(), self.decided.color_out);
        }
        line.truncate(line.trim_end_matches(' ').len());
        line.push('\n');
        Ok(self.lock_out().write_all(line.as_bytes())?)
    }

    /// Sends what was gathered on its way. Whoever promises that something was written calls it first; the program does
    /// at its end.
    ///
    /// # Errors
    /// It could not be written.
    pub fn flush(&self) -> Result<(), OutError> {
        Ok(self.lock_out().flush()?)
    }

    /// Writes to stderr, after what is on its way to stdout. That stderr cannot be written has nowhere to be said; that
    /// stdout cannot is said by the flush at the end.
    fn err_text(&self, text: &str) {
        if self.decided.stdout {
            let _ = self.flush();
        }
        let mut err = self.err.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = err.write_all(text.as_bytes());
        let _ = err.flush();
    }

    fn err_line(&self, least: Loudness, label: (Tone, &str), text: impl fmt::Display) {
        if self.decided.loudness >= least {
            let label = label.0.paint(label.1, self.decided.color_err);
            let text = text::safe_lines(&text.to_string());
            self.err_text(&format!("{label}{text}\n"));
        }
    }

    /// Success, for whoever looks on: on a terminal alone, so that a cron job that went well is silent.
    pub fn say(&self, text: impl fmt::Display) {
        if self.decided.stderr {
            self.err_line(Loudness::Normal, (Tone::Plain, ""), text);
        }
    }

    /// What was asked for and is no record: what a dry run would do. Also off a terminal.
    pub fn tell(&self, text: impl fmt::Display) {
        self.err_line(Loudness::Normal, (Tone::Plain, ""), text);
    }

    /// Something to know, with the program's name.
    pub fn note(&self, text: impl fmt::Display) {
        self.err_line(Loudness::Normal, (Tone::Plain, "qops: "), text);
    }

    /// Something that may go wrong.
    pub fn warn(&self, text: impl fmt::Display) {
        self.err_line(Loudness::Normal, (Tone::Warn, "qops: warning: "), text);
    }

    /// A detail, with `-v`.
    pub fn detail(&self, text: impl fmt::Display) {
        self.err_line(Loudness::Verbose, (Tone::Dim, "qops: "), text);
    }
}

#[cfg(test)]
pub(crate) mod tests;
