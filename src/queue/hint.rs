//! What a person can do next: words, and command lines of this program. A command line is kept apart from the words, so
//! that whoever prints it puts in front the flags that name the store: what is copied from a hint reaches the same store.

use std::fmt;

/// What mends something, or what comes next.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hint(Vec<Piece>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Words(String),
    /// The program's name is left out, and everything after it is quoted for a shell.
    Command(String),
}

impl Hint {
    /// A command line: the verb stands as it is, the words are quoted.
    #[must_use]
    pub fn run(verb: &str, words: &[&str]) -> Self {
        Self::default().then(verb, words)
    }

    /// And then these words. Directly after a command line they may be the rest of it, but no flags: a word before them may
    /// have closed it to those ([`Self::then_with`]).
    #[must_use]
    pub fn say(mut self, words: impl Into<String>) -> Self {
        self.0.push(Piece::Words(words.into()));
        self
    }

    /// And then this command line.
    #[must_use]
    pub fn then(mut self, verb: &str, words: &[&str]) -> Self {
        self.0.push(Piece::Command(line(verb, words)));
        self
    }

    /// A command line with flags, which stand as they are.
    #[must_use]
    pub fn run_with(verb: &str, words: &[&str], flags: &str) -> Self {
        Self::default().then_with(verb, words, flags)
    }

    /// And then this command line with flags.
    #[must_use]
    pub fn then_with(mut self, verb: &str, words: &[&str], flags: &str) -> Self {
        self.0.push(Piece::Command(line_with(verb, words, flags)));
        self
    }

    /// The text. `program` is the name of this program with the flags that name the store.
    #[must_use]
    pub fn text(&self, program: &str) -> String {
        let mut text = String::new();
        for piece in &self.0 {
            match piece {
                Piece::Words(words) => text += words,
                Piece::Command(line) => text.extend([program, " ", line]),
            }
        }
        text
    }
}

impl From<String> for Hint {
    fn from(words: String) -> Self {
        Self(vec![Piece::Words(words)])
    }
}

impl From<&str> for Hint {
    fn from(words: &str) -> Self {
        words.to_owned().into()
    }
}

/// For whoever knows of no store.
impl fmt::Display for Hint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text("qops"))
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

/// A command line without the program: the verb, the words quoted, after `--` if one of them would be taken for a flag.
#[must_use]
pub fn line(verb: &str, words: &[&str]) -> String {
    line_with(verb, words, "")
}

/// As [`line()`], with flags: after the words as people write them, but before a `--`, behind which none is one.
#[must_use]
pub fn line_with(verb: &str, words: &[&str], flags: &str) -> String {
    let dashed = words.iter().any(|word| word.starts_with('-'));
    let quoted = words.iter().map(|word| shell_word(word));
    let flags = Some(flags.to_owned()).filter(|flags| !flags.is_empty());
    let mut parts = vec![verb.to_owned()];
    if dashed {
        parts.extend(flags);
        parts.push("--".to_owned());
        parts.extend(quoted);
    } else {
        parts.extend(quoted);
        parts.extend(flags);
    }
    parts.join(" ")
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
        assert_eq!(line("peek", &["-x"]), "peek -- -x");
        assert_eq!(line_with("purge", &["q"], "--all"), "purge q --all");
        assert_eq!(line_with("purge", &["-x"], "--all"), "purge --all -- -x");
    }

    #[test]
    fn a_command_line_is_told_from_words() {
        let hint = Hint::from("did you mean 'a'? Else ")
            .then("queue set", &["a b"])
            .say(" makes it");
        assert_eq!(
            hint.text("qops -c prod"),
            "did you mean 'a'? Else qops -c prod queue set 'a b' makes it"
        );
        assert_eq!(Hint::run("init", &[]).to_string(), "qops init");
    }
}
