//! The command of a worker: found once, before anything is claimed.

use super::template::{Place, Word};
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};

/// A command that was found and can be executed.
#[derive(Clone, Debug)]
pub struct Command {
    /// Its absolute path: a search for each message would be slower, and another program could slip in between.
    pub(super) program: PathBuf,
    /// Its name as it was typed.
    pub(super) name: OsString,
    /// Its arguments, with their places.
    pub(super) args: Vec<Word>,
    /// What it reads.
    pub(super) input: Input,
    /// Where its output goes.
    pub(super) output: Output,
}

/// What a command's standard input is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Input {
    /// The payload.
    #[default]
    Stdin,
    /// Nothing.
    None,
}

/// Where a command's output goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Output {
    /// To ours as it is.
    #[default]
    Pass,
    /// To ours in whole lines, each with the message's id before it.
    Prefix,
    /// Nowhere.
    Discard,
}

/// Why a command cannot run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unfit {
    /// There is no such program.
    NotFound(OsString),
    /// There is, but it may not be executed.
    NotExecutable(PathBuf),
}

impl fmt::Display for Unfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFound(name) => write!(f, "no command '{}'", name.display()),
            Self::NotExecutable(path) => {
                write!(f, "'{}' may not be executed", path.display())
            }
        }
    }
}

impl std::error::Error for Unfit {}

impl Command {
    /// A program and its arguments, in which `{}`, `{file}`, `{id}`, `{key}`, `{queue}` and `{attempt}` stand for the
    /// message. A name without a slash is looked for in `PATH`.
    ///
    /// # Errors
    /// It is not there, or may not be executed.
    pub fn exec(
        program: &OsStr,
        args: &[OsString],
        input: Input,
        output: Output,
    ) -> Result<Self, Unfit> {
        let words = args.iter().map(|word| Word::parse(word)).collect();
        Self::of(program, words, input, output)
    }

    /// A line for `sh -c`. Nothing is put into it: the payload comes on standard input.
    ///
    /// # Errors
    /// There is no `sh`.
    pub fn shell(line: impl AsRef<OsStr>, input: Input, output: Output) -> Result<Self, Unfit> {
        let words = vec![
            Word::Fixed("-c".into()),
            Word::Fixed(line.as_ref().to_owned()),
        ];
        Self::of(OsStr::new("sh"), words, input, output)
    }

    /// Where its output goes.
    #[must_use]
    pub fn output(&self) -> Output {
        self.output
    }

    fn of(program: &OsStr, args: Vec<Word>, input: Input, output: Output) -> Result<Self, Unfit> {
        Ok(Self {
            program: find(program, std::env::var_os("PATH"))?,
            name: program.to_owned(),
            args,
            input,
            output,
        })
    }

    /// Whether an argument has this place.
    pub(super) fn has(&self, place: Place) -> bool {
        self.args.iter().any(|word| word.has(place))
    }

    /// Whether an argument is made anew for each message.
    pub(super) fn has_any_place(&self) -> bool {
        self.args.iter().any(Word::is_made)
    }
}

/// Finds a program as the system would, and makes its path absolute.
fn find(name: &OsStr, path: Option<OsString>) -> Result<PathBuf, Unfit> {
    let absolute = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    if name.is_empty() {
        return Err(Unfit::NotFound(name.to_owned()));
    }
    if name.as_encoded_bytes().contains(&b'/') {
        let path = absolute(Path::new(name));
        return match fitness(&path) {
            Fitness::Fit => Ok(path),
            Fitness::Unfit => Err(Unfit::NotExecutable(path)),
            Fitness::Absent => Err(Unfit::NotFound(name.to_owned())),
        };
    }
    let path = path.unwrap_or_else(|| "/bin:/usr/bin".into());
    let mut refused = None;
    for folder in std::env::split_paths(&path) {
        // An empty entry means the current directory.
        let candidate = absolute(&Path::new(".").join(folder).join(name));
        match fitness(&candidate) {
            Fitness::Fit => return Ok(candidate),
            Fitness::Unfit => refused = refused.or(Some(candidate)),
            Fitness::Absent => {}
        }
    }
    Err(refused.map_or_else(|| Unfit::NotFound(name.to_owned()), Unfit::NotExecutable))
}

enum Fitness {
    Fit,
    Unfit,
    Absent,
}

fn fitness(path: &Path) -> Fitness {
    match std::fs::metadata(path) {
        Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => Fitness::Unfit,
        Err(_) => Fitness::Absent,
        Ok(meta) if !meta.is_file() => Fitness::Unfit,
        Ok(_) => match rustix::fs::access(path, rustix::fs::Access::EXEC_OK) {
            Ok(()) => Fitness::Fit,
            Err(_) => Fitness::Unfit,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_program_is_found_as_the_system_finds_it() {
        let folder = tempfile::tempdir().unwrap();
        let fit = folder.path().join("fit");
        let unfit = folder.path().join("unfit");
        std::fs::write(&fit, "").unwrap();
        std::fs::write(&unfit, "").unwrap();
        std::fs::set_permissions(&fit, PermissionsExt::from_mode(0o755)).unwrap();
        std::fs::set_permissions(&unfit, PermissionsExt::from_mode(0o644)).unwrap();
        let path = || {
            Some(OsString::from(format!(
                "/no/such:{}",
                folder.path().display()
            )))
        };
        assert_eq!(find(OsStr::new("fit"), path()), Ok(fit.clone()));
        assert_eq!(find(fit.as_os_str(), None), Ok(fit));
        assert_eq!(
            find(OsStr::new("unfit"), path()),
            Err(Unfit::NotExecutable(unfit))
        );
        for name in ["nothing", "", "/no/such"] {
            let name = OsString::from(name);
            assert_eq!(find(&name, path()), Err(Unfit::NotFound(name)));
        }
        assert!(matches!(
            find(folder.path().as_os_str(), None),
            Err(Unfit::NotExecutable(_))
        ));
        assert!(find(OsStr::new("sh"), None).unwrap().is_absolute());
    }

    #[test]
    fn r81_nothing_is_put_into_a_shell_line() {
        let command = Command::shell("echo {} {id}", Input::Stdin, Output::Pass).unwrap();
        assert!(!command.has_any_place());
        let args = [OsString::from("-c"), "echo {}".into()];
        let command = Command::exec(OsStr::new("sh"), &args, Input::Stdin, Output::Pass).unwrap();
        assert!(command.has(Place::Payload) && !command.has(Place::File));
    }
}
