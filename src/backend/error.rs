//! Errors are data until the edge: what went wrong, whether trying again helps, and whether something happened.

use crate::queue::{Hint, said::system};
use std::fmt;

/// A result whose error is one word wide, so that the hot path stays small.
pub type Result<T> = std::result::Result<T, Error>;

/// What kind of thing went wrong. The exit code is a total function of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A URL, a flag or a configuration that cannot be used.
    Config,
    /// The store cannot do this.
    Unsupported,
    /// Refused on purpose: not confirmed, another count than expected, a read-only context, a queue that is not empty.
    Refused,
    /// Who we are is not accepted.
    Auth,
    /// We may not do this.
    Denied,
    /// The store can only be read: a replica, a read-only file or directory.
    ReadOnly,
    /// The schema is missing, older or newer, or the file is not ours.
    Schema,
    /// No such queue, message or store.
    NotFound,
    /// The file is not what it should be.
    Corrupt,
    /// The state is another than the request supposes.
    Conflict,
    /// The store cannot be reached.
    Unreachable,
    /// Others hold the store.
    Busy,
    /// The store did not answer in time.
    Timeout,
    /// The store has no room.
    Full,
    /// Input that is not what it should be.
    BadInput,
    /// Input over a limit.
    TooLarge,
    /// A fault of this program, or a store that answers nonsense.
    Bug,
}

impl Kind {
    /// All kinds, for tables and tests.
    pub const ALL: &'static [Self] = &[
        Self::Config,
        Self::Unsupported,
        Self::Refused,
        Self::Auth,
        Self::Denied,
        Self::ReadOnly,
        Self::Schema,
        Self::NotFound,
        Self::Corrupt,
        Self::Conflict,
        Self::Unreachable,
        Self::Busy,
        Self::Timeout,
        Self::Full,
        Self::BadInput,
        Self::TooLarge,
        Self::Bug,
    ];

    /// Its name in error records.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Config => "config",
            Self::Unsupported => "unsupported",
            Self::Refused => "refused",
            Self::Auth => "auth",
            Self::Denied => "denied",
            Self::ReadOnly => "read_only",
            Self::Schema => "schema",
            Self::NotFound => "not_found",
            Self::Corrupt => "corrupt",
            Self::Conflict => "conflict",
            Self::Unreachable => "unreachable",
            Self::Busy => "busy",
            Self::Timeout => "timeout",
            Self::Full => "full",
            Self::BadInput => "bad_input",
            Self::TooLarge => "too_large",
            Self::Bug => "bug",
        }
    }

    /// Whether the same request may succeed later without anybody mending anything.
    #[must_use]
    pub fn passes(self) -> bool {
        matches!(self, Self::Unreachable | Self::Busy | Self::Timeout)
    }
}

/// Whether the failed request may have changed something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Nothing happened.
    None,
    /// It may have happened.
    Unknown,
}

/// What went wrong.
#[derive(Debug)]
pub struct Error(Box<Inner>);

#[derive(Debug)]
struct Inner {
    kind: Kind,
    effect: Effect,
    what: String,
    context: Vec<(&'static str, String)>,
    hint: Option<Hint>,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl Error {
    /// An error without effect. `what` is a clause without a full stop (`no queue 'emial'`).
    pub fn new(kind: Kind, what: impl Into<String>) -> Self {
        Self(Box::new(Inner {
            kind,
            effect: Effect::None,
            what: what.into(),
            context: vec![],
            hint: None,
            source: None,
        }))
    }

    /// A fault of this program, or a store that answers nonsense.
    pub fn bug(what: impl Into<String>) -> Self {
        Self::new(Kind::Bug, what)
    }

    /// With one more fact for whoever renders it; the first value of a name wins.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        if self.context(name).is_none() {
            self.0.context.push((name, value.into()));
        }
        self
    }

    /// With what the person can do about it, usually a command; the first hint wins.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<Hint>) -> Self {
        self.0.hint.get_or_insert_with(|| hint.into());
        self
    }

    /// It may have happened all the same.
    #[must_use]
    pub fn maybe_done(mut self) -> Self {
        self.0.effect = Effect::Unknown;
        self
    }

    /// Whatever was asked was taken back: nothing happened.
    #[must_use]
    pub fn undone(mut self) -> Self {
        self.0.effect = Effect::None;
        self
    }

    /// With the error that caused it.
    #[must_use]
    pub fn because(mut self, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        self.0.source = Some(source.into());
        self
    }

    /// Its kind.
    #[must_use]
    pub fn kind(&self) -> Kind {
        self.0.kind
    }

    /// Whether something may have happened.
    #[must_use]
    pub fn effect(&self) -> Effect {
        self.0.effect
    }

    /// What went wrong, without its source.
    #[must_use]
    pub fn what(&self) -> &str {
        &self.0.what
    }

    /// A fact by its name.
    #[must_use]
    pub fn context(&self, name: &str) -> Option<&str> {
        self.0
            .context
            .iter()
            .find(|(known, _)| *known == name)
            .map(|(_, value)| value.as_str())
    }

    /// What the person can do about it.
    #[must_use]
    pub fn hinted(&self) -> Option<&Hint> {
        self.0.hint.as_ref()
    }
}

/// What and why on one line.
impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.what)?;
        if let Some(source) = &self.0.source {
            match source.downcast_ref::<std::io::Error>() {
                Some(error) => write!(f, ": {}", system(error))?,
                None => write!(f, ": {source}")?,
            }
        }
        Ok(())
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source.as_deref().map(|source| source as _)
    }
}
