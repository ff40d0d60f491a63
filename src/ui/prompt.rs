//! Questions. One is asked only where somebody can answer: stdin and stderr are terminals. The library looks at stderr
//! alone and reads the terminal even if stdin is a pipe, so that we test first.
//!
//! The prompt hides nothing and a signal with its default action ends the program at once; a verb hangs its own handlers
//! after it has asked.

use super::{Shown, Ui};
use dialoguer::Input;
use dialoguer::theme::Theme;
use std::fmt;
use std::io;

/// What came of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Go on.
    Yes,
    /// Leave it.
    No,
    /// There is nobody to ask.
    Nobody,
    /// Ctrl-C.
    Interrupted,
}

/// A question as it stands: the library adds no colon, and repeats it with the answer.
struct Plain;

impl Theme for Plain {
    fn format_input_prompt(
        &self,
        f: &mut dyn fmt::Write,
        prompt: &str,
        _default: Option<&str>,
    ) -> fmt::Result {
        write!(f, "{prompt} ")
    }

    fn format_input_prompt_selection(
        &self,
        f: &mut dyn fmt::Write,
        prompt: &str,
        answer: &str,
    ) -> fmt::Result {
        write!(f, "{prompt} {}", Shown::new(answer))
    }
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
        let asked = Input::<String>::with_theme(&Plain)
            .with_prompt(Shown::new(question).as_str())
            .allow_empty(true)
            .interact();
        match asked {
            Ok(answer) if agrees(&answer) => Ok(Answer::Yes),
            Ok(_) => Ok(Answer::No),
            Err(dialoguer::Error::IO(error)) if error.kind() == io::ErrorKind::Interrupted => {
                Ok(Answer::Interrupted)
            }
            Err(dialoguer::Error::IO(error)) => Err(error),
        }
    }
}
