//! Which store is meant, and why: flag, then environment, then the config file, then the default. Every answer remembers
//! where it came from. What is secret prints as `[secret]`.

mod file;
mod password;

pub use file::{Config, Context};
pub use password::{Password, Secret};

use crate::queue::Hint;
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};

/// What is wrong with the configuration: always a matter for exit code 2.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError {
    /// What, in a clause without a full stop; never with a secret in it.
    pub what: String,
    /// What mends it.
    pub hint: Option<Hint>,
}

impl ConfigError {
    /// `what`: in a clause without a full stop; never with a secret in it.
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

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}

impl std::error::Error for ConfigError {}

/// The process's surroundings as far as the choice of a store looks at them; a test makes its own.
pub struct Surroundings<'a> {
    /// A variable's value.
    pub var: &'a dyn Fn(&str) -> Option<OsString>,
    /// The working directory.
    pub directory: PathBuf,
}

impl Surroundings<'_> {
    /// A variable's value; an empty one counts as unset, one that is not UTF-8 is an error.
    fn text(&self, name: &str) -> Result<Option<String>, ConfigError> {
        match (self.var)(name).map(OsString::into_string) {
            None => Ok(None),
            Some(Ok(value)) => Ok((!value.is_empty()).then_some(value)),
            Some(Err(_)) => Err(ConfigError::new(format!(
                "the variable {name} is not UTF-8"
            ))),
        }
    }

    /// An absolute directory from a variable, else below the home directory; the XDG rules.
    fn directory(&self, variable: &str, below_home: &str) -> Option<PathBuf> {
        let absolute = |name: &str| {
            (self.var)(name)
                .map(PathBuf::from)
                .filter(|path| path.is_absolute())
        };
        absolute(variable).or_else(|| absolute("HOME").map(|home| home.join(below_home)))
    }

    /// Where the config file is looked for.
    #[must_use]
    pub fn config_file(&self) -> Option<PathBuf> {
        self.directory("XDG_CONFIG_HOME", ".config")
            .map(|dir| dir.join("qops/config.toml"))
    }

    fn default_file(&self) -> Option<PathBuf> {
        self.directory("XDG_DATA_HOME", ".local/share")
            .map(|dir| dir.join("qops/qops.db"))
    }
}

/// What the command line says about the store.
#[derive(Clone, Debug, Default)]
pub struct Flags {
    /// `-u/--url`.
    pub url: Option<String>,
    /// `-c/--context`.
    pub context: Option<String>,
}

/// Why it is this store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// `--url`.
    UrlFlag,
    /// `--context`.
    ContextFlag,
    /// `QOPS_URL`.
    UrlVariable,
    /// `QOPS_CONTEXT`.
    ContextVariable,
    /// `current` in this file.
    Current(PathBuf),
    /// Nobody chose.
    Default,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UrlFlag => f.write_str("from --url"),
            Self::ContextFlag => f.write_str("from --context"),
            Self::UrlVariable => f.write_str("from QOPS_URL"),
            Self::ContextVariable => f.write_str("from QOPS_CONTEXT"),
            Self::Current(file) => write!(f, "'current' of {}", file.display()),
            Self::Default => f.write_str("the default store; choose another with --url"),
        }
    }
}

/// The store that is meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Store {
    /// Its URL, variables expanded. It may have a password in it, so it is a secret.
    pub url: Secret,
    /// What a relative path in the URL is relative to: the working directory, or the config file's.
    pub base: PathBuf,
    /// Why this one.
    pub origin: Origin,
    /// The context's name, if it is one.
    pub context: Option<String>,
    /// Where its password comes from.
    pub password: Option<Password>,
    /// The variables that its URL and its password come from. No command of a worker gets them.
    pub secrets: Vec<String>,
    /// Writes are refused before contact.
    pub read_only: bool,
    /// The queue's name is typed before something is changed in bulk.
    pub confirm: bool,
    /// The default was taken for want of a choice, while this variable names a store of another tool.
    pub overlooked: Option<&'static str>,
}

/// Variables that name a store for other tools; qops does not read them.
const FOREIGN: &[&str] = &["DATABASE_URL", "REDIS_URL", "PGHOST"];

/// Decides which store is meant. The config file is read only where the flags and the environment leave it to it, or
/// name a context. Contacts nothing.
///
/// # Errors
/// Both a URL and a context on the same level, an unknown context, a broken file, a variable that is not set, no home.
pub fn resolve(flags: &Flags, around: &Surroundings<'_>) -> Result<Store, ConfigError> {
    let level = match (&flags.url, &flags.context) {
        (Some(_), Some(_)) => {
            return Err(
                ConfigError::new("both --url and --context name a store").hint("give one of them")
            );
        }
        (Some(url), None) => Some((Named::Url(url.clone()), Origin::UrlFlag)),
        (None, Some(name)) => Some((Named::Context(name.clone()), Origin::ContextFlag)),
        (None, None) => from_environment(around)?,
    };
    match level {
        Some((Named::Url(url), origin)) => from_url(&url, origin, around),
        Some((Named::Context(name), origin)) => {
            let config = Config::load(around)?;
            from_context(&config, &name, origin, around)
        }
        None => {
            let config = Config::load(around)?;
            match &config.current {
                Some(name) => {
                    let origin = Origin::Current(config.path.clone());
                    from_context(&config, name, origin, around)
                }
                None => default_store(around),
            }
        }
    }
}

enum Named {
    Url(String),
    Context(String),
}

fn from_environment(around: &Surroundings<'_>) -> Result<Option<(Named, Origin)>, ConfigError> {
    match (around.text("QOPS_URL")?, around.text("QOPS_CONTEXT")?) {
        (Some(_), Some(_)) => Err(
            ConfigError::new("both QOPS_URL and QOPS_CONTEXT name a store")
                .hint("unset one of them, or give --url or --context"),
        ),
        (Some(url), None) => Ok(Some((Named::Url(url), Origin::UrlVariable))),
        (None, Some(name)) => Ok(Some((Named::Context(name), Origin::ContextVariable))),
        (None, None) => Ok(None),
    }
}

fn from_url(url: &str, origin: Origin, around: &Surroundings<'_>) -> Result<Store, ConfigError> {
    let variable = url.strip_prefix("env:");
    let url = match variable {
        None => url.to_owned(),
        Some(name) => around.text(name)?.ok_or_else(|| {
            ConfigError::new(format!("the variable '{name}' is not set"))
                .hint("env:NAME takes the store's URL from the variable NAME")
        })?,
    };
    Ok(Store {
        url: Secret::new(url),
        base: around.directory.clone(),
        origin,
        context: None,
        password: None,
        secrets: variable.map(str::to_owned).into_iter().collect(),
        read_only: false,
        confirm: false,
        overlooked: None,
    })
}

fn from_context(
    config: &Config,
    name: &str,
    origin: Origin,
    around: &Surroundings<'_>,
) -> Result<Store, ConfigError> {
    let context = config.context(name)?;
    let (url, mut secrets) = config.expand(&context.url, name, around)?;
    secrets.retain(|name| !PLACES.contains(&name.as_str()));
    if let Some(Password::Variable(name)) = &context.password {
        secrets.push(name.clone());
    }
    Ok(Store {
        url: Secret::new(url),
        // A name means the same store wherever it is typed, also in a command that a worker starts elsewhere.
        base: config.path.parent().unwrap_or(Path::new("/")).to_path_buf(),
        origin,
        context: Some(name.to_owned()),
        password: context.password.clone(),
        secrets,
        read_only: context.read_only,
        confirm: context.confirm,
        overlooked: None,
    })
}

/// Variables in a URL that say where, not with what password: every command needs them.
const PLACES: &[&str] = &[
    "HOME",
    "HOSTNAME",
    "LANG",
    "LOGNAME",
    "PATH",
    "PWD",
    "SHELL",
    "TMPDIR",
    "USER",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_RUNTIME_DIR",
    "XDG_STATE_HOME",
];

/// What must be written as `%XX` in the path of a SQLite URL.
const IN_PATH: &AsciiSet = &CONTROLS.add(b'?').add(b'#').add(b'%');

fn default_store(around: &Surroundings<'_>) -> Result<Store, ConfigError> {
    let path = around.default_file().ok_or_else(|| {
        ConfigError::new("there is no default store: neither XDG_DATA_HOME nor HOME is set")
            .hint("choose a store with --url, for example --url sqlite:./qops.db")
    })?;
    let path = path.to_str().ok_or_else(|| {
        ConfigError::new("the default store's path is not UTF-8").hint("choose one with --url")
    })?;
    Ok(Store {
        url: Secret::new(format!("sqlite:{}", utf8_percent_encode(path, IN_PATH))),
        base: around.directory.clone(),
        origin: Origin::Default,
        context: None,
        password: None,
        secrets: vec![],
        read_only: false,
        confirm: false,
        overlooked: FOREIGN
            .iter()
            .find(|name| (around.var)(name).is_some_and(|value| !value.is_empty()))
            .copied(),
    })
}

/// What a command that a worker starts is given, so that a `qops` in it reaches this very store or fails.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForChild {
    /// The variable to set, with its value.
    pub set: (&'static str, String),
    /// The variable to take away: both together would be refused.
    pub unset: &'static str,
}

impl Store {
    /// The child's share. `url` is the target's own: absolute and without a password. A context whose URL is made of
    /// variables that the child does not get is told by its URL, unless its password stands with the context.
    #[must_use]
    pub fn for_child(&self, url: String) -> ForChild {
        let whole = self.secrets.is_empty() || self.password.is_some();
        match &self.context {
            Some(name) if whole => ForChild {
                set: ("QOPS_CONTEXT", name.clone()),
                unset: "QOPS_URL",
            },
            _ => ForChild {
                set: ("QOPS_URL", url),
                unset: "QOPS_CONTEXT",
            },
        }
    }
}

#[cfg(test)]
mod tests;
