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

    /// And then these words. Directly after a command line they are the rest of it, as they stand.
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
    let mut line = verb.to_owned();
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
        assert_eq!(line("peek", &["-x"]), "peek -- -x");
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
