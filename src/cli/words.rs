//! Commands that a hint names, so that they can be copied into a shell as they stand.

use super::Globals;
use super::ctx::Ctx;
use crate::backend::Target;
use crate::queue::hint::line;
pub use crate::queue::hint::shell_word;
use crate::queue::time::ParseError;
use std::ffi::OsString;

/// A word that is not empty. An unset variable of a script makes an empty one, which would be every fact's key, and in
/// every text.
///
/// # Errors
/// It is empty.
pub(super) fn something(text: &str) -> Result<String, ParseError> {
    if text.is_empty() {
        return Err(ParseError(
            "it is empty; without one, leave the flag out".to_owned(),
        ));
    }
    Ok(text.to_owned())
}

/// `qops`, with the flags that name the store where the command line named it: what is copied from a hint reaches the
/// same store. Never a password.
#[must_use]
pub fn program(globals: &Globals) -> String {
    match (&globals.url, &globals.context) {
        (Some(url), None) => match shown(url) {
            Some(url) => format!("qops -u {}", shell_word(&url)),
            None => "qops".to_owned(),
        },
        // A value that begins with a dash is joined to its option.
        (None, Some(name)) if name.starts_with('-') => {
            format!("qops --context={}", shell_word(name))
        }
        (None, Some(name)) => format!("qops -c {}", shell_word(name)),
        // Both are refused, and neither is the environment's or the file's affair, which the next command finds too.
        _ => "qops".to_owned(),
    }
}

/// A store's URL as it may be shown: whole, and without a password. None: it names no store.
fn shown(url: &str) -> Option<String> {
    // A name of a variable stays one: what stands in it is not for the screen.
    if url.starts_with("env:") {
        return Some(url.to_owned());
    }
    let here = std::env::current_dir().ok()?;
    Target::parse(url, &here).ok().map(|target| target.url())
}

/// Words of a command line as they were typed, quoted for a shell; but for a URL, which may have a password in it.
#[must_use]
pub fn typed(args: &[OsString], globals: &Globals) -> Vec<String> {
    let url = globals.url.as_deref().filter(|url| !url.is_empty());
    let word = |word: &OsString| {
        let word = word.to_string_lossy();
        match url.and_then(|url| Some((word.strip_suffix(url)?, url))) {
            Some((flag, url)) => {
                let url = shown(url).unwrap_or_else(|| "URL".to_owned());
                shell_word(&format!("{flag}{url}"))
            }
            None => shell_word(&word),
        }
    };
    args.iter().map(word).collect()
}

/// A command line. `program` and `verb` stand as they are, the words are quoted; after `--` if one of them would be
/// taken for a flag.
#[must_use]
pub fn command(program: &str, verb: &str, words: &[&str]) -> String {
    format!("{program} {}", line(verb, words))
}

impl Ctx {
    /// [`program`] of this command line.
    #[must_use]
    pub fn program(&self) -> String {
        program(self.globals())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn globals(url: Option<&str>, context: Option<&str>) -> Globals {
        Globals {
            url: url.map(str::to_owned),
            context: context.map(str::to_owned),
            ..Globals::default()
        }
    }

    #[test]
    fn the_store_comes_along_and_a_password_does_not() {
        for (url, context, wanted) in [
            (None, None, "qops"),
            (Some("sqlite:/a b.db"), None, "qops -u sqlite:/a%20b.db"),
            (
                Some("sqlite:/a.db?durability=normal"),
                None,
                "qops -u 'sqlite:/a.db?durability=normal'",
            ),
            (Some("env:STORE"), None, "qops -u env:STORE"),
            (
                Some("postgres://u:canary@h/d"),
                None,
                "qops -u postgres://u@h/d",
            ),
            (None, Some("my store"), "qops -c 'my store'"),
            (Some("sqlite:/a.db"), Some("prod"), "qops"),
        ] {
            assert_eq!(
                program(&globals(url, context)),
                wanted,
                "{url:?} {context:?}"
            );
        }
        let url = "redis://u:canary@h/0";
        for flag in [
            &["-u", url][..],
            &[&format!("--url={url}")],
            &[&format!("-u{url}")],
        ] {
            let args = ["work"].iter().chain(flag).map(OsString::from);
            let args: Vec<OsString> = args.collect();
            let line = typed(&args, &globals(Some(url), None)).join(" ");
            assert!(line.ends_with("URL") && !line.contains("canary"), "{line}");
        }
    }
}
