//! Commands that a hint names, so that they can be copied into a shell as they stand.

use super::ctx::Ctx;
use crate::config::Origin;

/// `qops`, with the flags that name this store where the command line named it: what is copied from a hint reaches the
/// same store. Never a password.
#[must_use]
pub fn program(ctx: &Ctx) -> String {
    let Ok((store, target)) = ctx.chosen() else {
        return "qops".to_owned();
    };
    match (&store.origin, &store.context) {
        (Origin::UrlFlag, _) => format!("qops -u {}", shell_word(&target.url())),
        (Origin::ContextFlag, Some(name)) => format!("qops -c {}", shell_word(name)),
        _ => "qops".to_owned(),
    }
}

/// A word as a shell reads it: quoted where it must be.
#[must_use]
pub fn shell_word(word: &str) -> String {
    let safe = |c: char| c.is_alphanumeric() || "_-./:@%+=,".contains(c);
    if !word.is_empty() && word.chars().all(safe) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

/// A command line. `program` and `verb` stand as they are, the words are quoted; after `--` if one of them would be
/// taken for a flag.
#[must_use]
pub fn command(program: &str, verb: &str, words: &[&str]) -> String {
    let mut line = format!("{program} {verb}");
    if words.iter().any(|word| word.starts_with('-')) {
        line += " --";
    }
    for word in words {
        line.push(' ');
        line += &shell_word(word);
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_come_through_a_shell_as_they_are() {
        for word in [
            "orders",
            "a b",
            "",
            "o'brien",
            "a$$b",
            "*",
            "~",
            "#x",
            "a\"b",
            "`id`",
            "a\\b",
            "é",
            "x;y",
            "!",
            "88120@orders",
        ] {
            let line = format!("printf %s {}", shell_word(word));
            let out = std::process::Command::new("sh")
                .args(["-c", &line])
                .output();
            assert_eq!(out.unwrap().stdout, word.as_bytes(), "{line}");
        }
        assert_eq!(command("qops", "peek", &["-x"]), "qops peek -- -x");
    }
}
