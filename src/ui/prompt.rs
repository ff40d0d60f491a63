//! Questions. One is asked only where somebody can answer: stdin and stderr are terminals.
//!
//! The answer is a line as the terminal gives it: erasing, Ctrl-D, Ctrl-C and Ctrl-Z are the system's, and a signal with
//! its default action ends the program at once; a verb hangs its own handlers after it has asked. A library that reads
//! key by key (dialoguer) hears no Ctrl-D, and waits.

use super::{Shown, Ui};
use std::io::{self, BufRead};

/// What came of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Go on.
    Yes,
    /// Leave it.
    No,
    /// There is nobody to ask.
    Nobody,
}

impl Ui {
    /// Asks yes or no; no, unless the answer is `y` or `yes`. Samples of what is meant go above the question.
    ///
    /// # Errors
    /// The terminal could not be used.
    pub fn confirm(&self, question: &str, samples: &[Shown]) -> io::Result<Answer> {
        self.ask(&format!("{question} [y/N]"), samples, |answer| {
            let answer = answer.trim().to_lowercase();
            answer == "y" || answer == "yes"
        })
    }

    /// Asks for a name to be typed: the confirmation of a context that wants one.
    ///
    /// # Errors
    /// The terminal could not be used.
    pub fn confirm_by_name(
        &self,
        question: &str,
        name: &str,
        samples: &[Shown],
    ) -> io::Result<Answer> {
        let question = format!("{question} Type '{name}' to go on:");
        self.ask(&question, samples, |answer| answer.trim() == name)
    }

    fn ask(
        &self,
        question: &str,
        samples: &[Shown],
        agrees: impl Fn(&str) -> bool,
    ) -> io::Result<Answer> {
        if !self.can_ask() {
            return Ok(Answer::Nobody);
        }
        for sample in samples {
            self.err_text(&format!("  {sample}\n"));
        }
        // What is on its way to stdout belongs before the question.
        self.err_text("");
        self.err_text(&format!("{} ", Shown::new(question)));
        let mut answer = vec![];
        let length = io::stdin().lock().read_until(b'\n', &mut answer)?;
        if !answer.ends_with(b"\n") {
            // Ctrl-D leaves the cursor behind the question.
            self.err_text("\n");
        }
        let answer = String::from_utf8_lossy(&answer);
        Ok(if length > 0 && agrees(&answer) {
            Answer::Yes
        } else {
            Answer::No
        })
    }
}
