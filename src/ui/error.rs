//! How an error is said: one line and its hints, or a record.

use super::text::brief;
use super::{Loudness, Tone, Ui};
use crate::queue::record::{Record, Value};
use std::borrow::Cow;

/// An error, ready to be said.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Problem {
    /// The exit code it leads to.
    pub code: u8,
    /// Its kind's name.
    pub kind: String,
    /// `WHAT: WHY`.
    pub message: String,
    /// What mends it, a line each.
    pub hints: Vec<String>,
    /// `none` or `unknown`: whether something may have happened.
    pub effect: Option<&'static str>,
}

/// What an error is written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorStyle {
    /// Lines for people.
    Text,
    /// A record, where the records on stdout are JSON too.
    Json,
}

/// A command line of which a part is missing is none: a hint that is longer is left out.
const HINT: usize = 4_096;

impl Problem {
    fn brief(&self) -> Cow<'_, Self> {
        let message = brief(&self.message);
        if matches!(message, Cow::Borrowed(_)) && self.hints.iter().all(|hint| hint.len() <= HINT) {
            return Cow::Borrowed(self);
        }
        let fit = self.hints.iter().filter(|hint| hint.len() <= HINT);
        Cow::Owned(Self {
            message: message.into_owned(),
            hints: fit.cloned().collect(),
            ..self.clone()
        })
    }

    /// The record: `{"v":1,"error":{"code","kind","message","hint","effect"}}`.
    #[must_use]
    pub fn record(&self) -> Record {
        let hint = (!self.hints.is_empty()).then(|| Value::Text(self.hints.join("\n")));
        let error = Record::default()
            .with("code", Value::Int(self.code.into()))
            .with("kind", Value::text(&self.kind))
            .with("message", Value::text(&self.message))
            .with_some("hint", hint)
            .with_some("effect", self.effect.map(Value::text));
        let mut json = String::new();
        Value::List(vec![error]).write_json(&mut json);
        // A list of one without its brackets: a record in a record.
        let inner = json[1..json.len() - 1].to_owned();
        Record::new().with("error", Value::Json(inner))
    }
}

impl Ui {
    /// Says an error; it is said even with `-q`. What it quotes is cut to a length at which it can be read.
    pub fn error(&self, problem: &Problem, style: ErrorStyle) {
        let problem = &problem.brief();
        match style {
            ErrorStyle::Json => {
                let json = problem.record().to_json();
                if self.decided.stderr {
                    self.err_text(&format!("{}\n", super::text::terminal_json(&json)));
                } else {
                    self.err_text(&format!("{json}\n"));
                }
            }
            ErrorStyle::Text => {
                let label = (Tone::Bad, "qops: ");
                self.err_line(Loudness::Quiet, label, &problem.message);
                for hint in &problem.hints {
                    self.err_line(Loudness::Quiet, (Tone::Bold, "hint: "), hint);
                }
            }
        }
    }
}
