//! The config file: contexts by name. Unknown keys are refused, not passed over.

use super::{ConfigError, Password, Surroundings};
use crate::queue::near::nearest;
use crate::queue::said::system;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The config file, read. Without a file it is empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Config {
    /// Where it is, or would be.
    pub path: PathBuf,
    /// Whether it is there.
    pub exists: bool,
    /// The context that is meant where nobody says otherwise.
    pub current: Option<String>,
    /// The contexts by name. What is wrong with one matters where it is chosen, and to no other.
    pub contexts: BTreeMap<String, Result<Context, ConfigError>>,
}

/// A named store.
#[derive(Clone, PartialEq, Eq)]
pub struct Context {
    /// Its URL as written, `${VAR}` not yet expanded.
    pub url: String,
    /// Where its password comes from.
    pub password: Option<Password>,
    /// Writes are refused.
    pub read_only: bool,
    /// A name is typed before a bulk change.
    pub confirm: bool,
}

/// The URL may have a password in it.
impl std::fmt::Debug for Context {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Context")
            .field("url", &"[secret]")
            .field("password", &self.password)
            .field("read_only", &self.read_only)
            .field("confirm", &self.confirm)
            .finish()
    }
}

impl Config {
    /// Reads the file; one that is not there is an empty one.
    ///
    /// # Errors
    /// It cannot be read, is no TOML, or has something in it beside its contexts that is not known.
    pub fn load(around: &Surroundings<'_>) -> Result<Self, ConfigError> {
        let Some(path) = around.config_file() else {
            return Ok(Self::default());
        };
        match std::fs::read_to_string(&path) {
            Ok(text) => Self::parse(&text, path),
            Err(error)
                if matches!(
                    error.kind(),
                    std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory
                ) =>
            {
                Ok(Self {
                    path,
                    ..Self::default()
                })
            }
            Err(error) => Err(ConfigError::new(format!(
                "{}: {}",
                path.display(),
                system(&error)
            ))),
        }
    }

    /// Reads a file's text.
    ///
    /// # Errors
    /// As [`Self::load`]; no line of the file is repeated, as it may have a password in it.
    pub fn parse(text: &str, path: PathBuf) -> Result<Self, ConfigError> {
        let at = |what: String| ConfigError::new(format!("{}: {what}", path.display()));
        let table: toml::Table = text.parse().map_err(|error: toml::de::Error| {
            let line = error.span().map_or(String::new(), |span| {
                let line = text[..span.start.min(text.len())].matches('\n').count() + 1;
                format!("line {line}: ")
            });
            at(format!("{line}{}", error.message()))
        })?;
        known(&table, &["current", "context"]).map_err(|error| error.inside(&at))?;
        let current = match table.get("current") {
            None => None,
            Some(toml::Value::String(name)) => Some(name.clone()),
            Some(_) => return Err(at("'current' is a context's name in quotes".to_owned())),
        };
        let mut contexts = BTreeMap::new();
        match table.get("context") {
            None => {}
            Some(toml::Value::Table(named)) => {
                for (name, value) in named {
                    let context = Context::read(value).map_err(|error| {
                        error.inside(&|what| at(format!("{}: {what}", heading(name))))
                    });
                    contexts.insert(name.clone(), context);
                }
            }
            Some(_) => return Err(at("a context is a table: [context.NAME]".to_owned())),
        }
        Ok(Self {
            path,
            exists: true,
            current,
            contexts,
        })
    }

    /// The context of that name.
    ///
    /// # Errors
    /// There is none, and the nearest is named; or something in it cannot be used.
    pub fn context(&self, name: &str) -> Result<&Context, ConfigError> {
        match self.contexts.get(name) {
            Some(context) => context.as_ref().map_err(Clone::clone),
            None => Err(self.missing(name)),
        }
    }

    fn missing(&self, name: &str) -> ConfigError {
        if name.is_empty() {
            return ConfigError::new("the context's name is empty")
                .hint("without a name, leave the flag out");
        }
        if !self.exists {
            let what = format!("no context '{name}': there is no config file");
            return ConfigError::new(what).hint(format!(
                "write {} with its url into {}",
                heading(name),
                self.path.display()
            ));
        }
        let error = ConfigError::new(format!("no context '{name}' in {}", self.path.display()));
        let names = || self.contexts.keys().map(String::as_str);
        match nearest(name, names()) {
            Some(near) => error.hint(format!("did you mean '{near}'?")),
            None if self.contexts.is_empty() => error.hint("it has no context at all"),
            None => error.hint(format!(
                "it has: {}",
                names().collect::<Vec<_>>().join(", ")
            )),
        }
    }

    /// Puts variables' values in the place of `${VAR}`. Answers the names of those variables, too.
    pub(super) fn expand(
        &self,
        text: &str,
        context: &str,
        around: &Surroundings<'_>,
    ) -> Result<(String, Vec<String>), ConfigError> {
        let at = |what: &str| {
            ConfigError::new(format!(
                "{}: {}: {what}",
                self.path.display(),
                heading(context)
            ))
        };
        let (mut out, mut names) = (String::new(), vec![]);
        let mut rest = text;
        while let Some((before, after)) = rest.split_once("${") {
            let (name, after) = after
                .split_once('}')
                .ok_or_else(|| at("a '${' in its url has no '}'"))?;
            let value = around
                .text(name)?
                .ok_or_else(|| at(&format!("the variable '{name}' is not set")))?;
            out.push_str(before);
            out.push_str(&value);
            names.push(name.to_owned());
            rest = after;
        }
        out.push_str(rest);
        Ok((out, names))
    }
}

impl ConfigError {
    fn inside(self, at: &dyn Fn(String) -> Self) -> Self {
        Self {
            hint: self.hint,
            ..at(self.what)
        }
    }
}

/// A context's line in the file: a name that TOML does not take bare is quoted.
fn heading(name: &str) -> String {
    let bare = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
    if !name.is_empty() && name.chars().all(bare) {
        format!("[context.{name}]")
    } else {
        format!("[context.{}]", toml::Value::from(name))
    }
}

fn known(table: &toml::Table, keys: &[&'static str]) -> Result<(), ConfigError> {
    let Some(key) = table.keys().find(|key| !keys.contains(&key.as_str())) else {
        return Ok(());
    };
    let error = ConfigError::new(format!("unknown key '{key}'"));
    Err(match nearest(key, keys.iter().copied()) {
        Some(near) => error.hint(format!("did you mean '{near}'?")),
        None => error.hint(format!("the keys are {}", keys.join(", "))),
    })
}

impl Context {
    fn read(value: &toml::Value) -> Result<Self, ConfigError> {
        let toml::Value::Table(table) = value else {
            return Err(ConfigError::new("it is no table"));
        };
        known(table, &["url", "password", "read_only", "confirm"])?;
        let text = |key: &str| match table.get(key) {
            None => Ok(None),
            Some(toml::Value::String(text)) => Ok(Some(text.as_str())),
            Some(_) => Err(ConfigError::new(format!("'{key}' is a text in quotes"))),
        };
        let switch = |key: &str| match table.get(key) {
            None => Ok(false),
            Some(toml::Value::Boolean(on)) => Ok(*on),
            Some(_) => Err(ConfigError::new(format!("'{key}' is true or false"))),
        };
        let url = text("url")?.ok_or_else(|| ConfigError::new("it has no url"))?;
        let password = text("password")?.map(Password::parse).transpose()?;
        if password.is_some() && url.to_ascii_lowercase().starts_with("sqlite:") {
            return Err(ConfigError::new("a SQLite file has no password"));
        }
        Ok(Self {
            url: url.to_owned(),
            password,
            read_only: switch("read_only")?,
            confirm: switch("confirm")?,
        })
    }
}
