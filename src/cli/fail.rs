//! Why a verb ended early, and how that is said.

use super::exit::Code;
use crate::backend::{self, Effect};
use crate::config::ConfigError;
use crate::queue::Hint;
use crate::ui::{OutError, Problem, Usage};

/// What a verb answers.
pub type Outcome = Result<Code, Fail>;

/// Why a verb ended early.
#[derive(Debug)]
pub enum Fail {
    /// The store, or a request that it refused.
    Store(backend::Error),
    /// The configuration.
    Config(ConfigError),
    /// The command line.
    Usage(Usage),
    /// Standard output.
    Out(OutError),
    /// Something else of the system: what, and the code.
    System(Code, String),
}

impl Fail {
    /// A command line that cannot be meant.
    pub fn usage(what: impl Into<String>) -> Self {
        Self::Usage(Usage::new(what))
    }

    /// An error of this program's own making.
    pub fn new(kind: backend::Kind, what: impl Into<String>) -> Self {
        Self::Store(backend::Error::new(kind, what))
    }

    /// With what mends it; the first hint wins.
    #[must_use]
    pub fn hint(self, hint: impl Into<Hint>) -> Self {
        match self {
            Self::Store(error) => Self::Store(error.hint(hint)),
            Self::Usage(usage) if usage.hint.is_none() => Self::Usage(usage.hint(hint)),
            Self::Config(error) if error.hint.is_none() => Self::Config(error.hint(hint)),
            other => other,
        }
    }

    /// The exit code it leads to. That nobody reads our output any more is no failure.
    #[must_use]
    pub fn code(&self) -> Code {
        match self {
            Self::Store(error) => error.kind().into(),
            Self::Config(_) | Self::Usage(_) => Code::Usage,
            Self::Out(OutError::Closed) => Code::Done,
            Self::Out(OutError::Failed(_)) => Code::Unavailable,
            Self::System(code, _) => *code,
        }
    }

    /// How it is said; none if there is nothing to say. `program`: with the flags that name the store.
    #[must_use]
    pub fn problem(&self, program: &str) -> Option<Problem> {
        let (kind, message, hint, effect) = match self {
            Self::Store(error) => (
                error.kind().name(),
                error.to_string(),
                error.hinted().cloned(),
                Some(match error.effect() {
                    Effect::None => "none",
                    Effect::Unknown => "unknown",
                }),
            ),
            Self::Config(error) => ("config", error.what.clone(), error.hint.clone(), None),
            Self::Usage(usage) => ("usage", usage.what.clone(), usage.hint.clone(), None),
            Self::Out(OutError::Closed) => return None,
            Self::Out(error) => ("output", error.to_string(), None, None),
            Self::System(_, what) => ("system", what.clone(), None, None),
        };
        Some(Problem {
            code: self.code().number(),
            kind: kind.to_owned(),
            message,
            hints: hint.map_or_else(Vec::new, |hint| {
                hint.text(program).lines().map(str::to_owned).collect()
            }),
            effect,
        })
    }
}

impl From<backend::Error> for Fail {
    fn from(error: backend::Error) -> Self {
        Self::Store(error)
    }
}

impl From<ConfigError> for Fail {
    fn from(error: ConfigError) -> Self {
        Self::Config(error)
    }
}

impl From<Usage> for Fail {
    fn from(usage: Usage) -> Self {
        Self::Usage(usage)
    }
}

impl From<OutError> for Fail {
    fn from(error: OutError) -> Self {
        Self::Out(error)
    }
}
