//! Secrets, and where they are taken from.

use super::{ConfigError, Surroundings};
use crate::queue::said::system;
use std::fmt;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// A text that is never printed.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Keeps a text.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text itself, for the one place that needs it.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[secret]")
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[secret]")
    }
}

/// Where a context's password comes from. It is looked for when a store asks for one, not before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Password {
    /// `env:VAR`.
    Variable(String),
    /// `file:PATH`; nobody else may read it.
    File(PathBuf),
    /// `cmd:COMMAND`, run by `sh -c`: the first line of what it prints.
    Command(String),
}

impl Password {
    /// Reads `env:VAR`, `file:PATH` or `cmd:COMMAND`. A password itself is refused: a config file is copied and shown.
    ///
    /// # Errors
    /// It is none of the three. The text is not repeated, as it may be a password.
    pub fn parse(text: &str) -> Result<Self, ConfigError> {
        let rest = |prefix: &str| text.strip_prefix(prefix).filter(|rest| !rest.is_empty());
        if let Some(name) = rest("env:") {
            Ok(Self::Variable(name.to_owned()))
        } else if let Some(path) = rest("file:") {
            Ok(Self::File(path.into()))
        } else if let Some(command) = rest("cmd:") {
            Ok(Self::Command(command.to_owned()))
        } else {
            Err(
                ConfigError::new("a password is named by where it is, not written down")
                    .hint("write env:VAR, file:PATH or cmd:COMMAND"),
            )
        }
    }

    /// Takes the password from where it is. `base`: what a relative file is relative to.
    ///
    /// # Errors
    /// It is not there, or others may read it. No part of it is in the error.
    pub fn take(
        &self,
        base: &std::path::Path,
        around: &Surroundings<'_>,
    ) -> Result<Secret, ConfigError> {
        let text = match self {
            Self::Variable(name) => around.text(name)?.ok_or_else(|| {
                ConfigError::new(format!("the password's variable '{name}' is not set"))
            })?,
            Self::File(path) => read_private(&base.join(path))?,
            Self::Command(command) => run(command)?,
        };
        let line = text.lines().next().unwrap_or_default();
        if line.is_empty() {
            return Err(ConfigError::new(format!(
                "the password from {} is empty",
                self.place()
            )));
        }
        Ok(Secret::new(line))
    }

    fn place(&self) -> String {
        match self {
            Self::Variable(name) => format!("env:{name}"),
            Self::File(path) => format!("file:{}", path.display()),
            // A command line may have a token in it.
            Self::Command(_) => "the password command".to_owned(),
        }
    }
}

fn read_private(path: &std::path::Path) -> Result<String, ConfigError> {
    let failed = |error: std::io::Error| {
        ConfigError::new(format!(
            "the password file {}: {}",
            path.display(),
            system(&error)
        ))
    };
    // The open file is asked, not the path: it cannot be another one by the time it is read.
    let mut file = std::fs::File::open(path).map_err(failed)?;
    let mode = file.metadata().map_err(failed)?.permissions().mode();
    if mode & 0o077 != 0 {
        return Err(ConfigError::new(format!(
            "the password file {} can be read by others (mode {:03o})",
            path.display(),
            mode & 0o777
        ))
        .hint(format!("chmod 600 {}", path.display())));
    }
    let mut text = String::new();
    std::io::Read::read_to_string(&mut file, &mut text).map_err(failed)?;
    Ok(text)
}

fn run(command: &str) -> Result<String, ConfigError> {
    let output = Command::new("sh")
        .args(["-c", command])
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| {
            ConfigError::new(format!(
                "the password command cannot be run: {}",
                system(&error)
            ))
        })?;
    if !output.status.success() {
        return Err(ConfigError::new(format!(
            "the password command failed ({})",
            output.status
        )));
    }
    String::from_utf8(output.stdout)
        .map_err(|_| ConfigError::new("the password command printed what is not UTF-8"))
}
