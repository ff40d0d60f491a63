//! Records: what stands on a line of NDJSON.

use super::payload::payload_fields;
use super::{Attempt, Delivery, Headers, Message, QueueName, Timestamp};
use std::fmt::Write as _;
use std::time::Duration;

/// The version of every record; fields are only ever added to it.
pub const VERSION: u64 = 1;

/// One field's value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A text.
    Text(String),
    /// JSON that stands in the record as it is: one line, valid.
    Json(String),
    /// A whole number.
    Int(u64),
    /// A signed whole number.
    Signed(i64),
    /// Seconds.
    Seconds(f64),
    /// Yes or no.
    Bool(bool),
    /// Names and values.
    Map(Headers),
    /// Records in a record.
    List(Vec<Record>),
}

/// Named values in the order in which they are written. What is absent is not there, never null.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Record(pub Vec<(&'static str, Value)>);

impl Record {
    /// A record with its version.
    #[must_use]
    pub fn new() -> Self {
        Self(vec![("v", Value::Int(VERSION))])
    }

    /// With one more field.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: Value) -> Self {
        self.0.push((name, value));
        self
    }

    /// With one more field, if there is a value.
    #[must_use]
    pub fn with_some(self, name: &'static str, value: Option<Value>) -> Self {
        match value {
            Some(value) => self.with(name, value),
            None => self,
        }
    }

    /// The value of a field.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0
            .iter()
            .find(|(field, _)| *field == name)
            .map(|(_, value)| value)
    }

    /// The record as JSON on one line.
    #[must_use]
    pub fn to_json(&self) -> String {
        let mut out = String::new();
        self.write_json(&mut out);
        out
    }

    fn write_json(&self, out: &mut String) {
        out.push('{');
        for (n, (name, value)) in self.0.iter().enumerate() {
            if n > 0 {
                out.push(',');
            }
            quote(name, out);
            out.push(':');
            value.write_json(out);
        }
        out.push('}');
    }
}

impl Value {
    /// A text value of anything that can be shown.
    pub fn text(text: impl std::fmt::Display) -> Self {
        Self::Text(format!("{text}"))
    }

    /// An instant as records have it.
    #[must_use]
    pub fn time(time: Timestamp) -> Self {
        Self::text(time)
    }

    /// A duration as records have it: seconds.
    #[must_use]
    pub fn seconds(duration: Duration) -> Self {
        Self::Seconds(duration.as_secs_f64())
    }

    /// Appends the value as JSON on one line.
    pub fn write_json(&self, out: &mut String) {
        match self {
            Self::Text(text) => quote(text, out),
            Self::Json(json) => out.push_str(json),
            Self::Int(number) => drop(write!(out, "{number}")),
            Self::Signed(number) => drop(write!(out, "{number}")),
            Self::Seconds(number) => drop(write!(out, "{number}")),
            Self::Bool(yes) => out.push_str(if *yes { "true" } else { "false" }),
            Self::Map(pairs) => {
                out.push('{');
                for (n, (name, value)) in pairs.iter().enumerate() {
                    if n > 0 {
                        out.push(',');
                    }
                    quote(name, out);
                    out.push(':');
                    quote(value, out);
                }
                out.push('}');
            }
            Self::List(records) => {
                out.push('[');
                for (n, record) in records.iter().enumerate() {
                    if n > 0 {
                        out.push(',');
                    }
                    record.write_json(out);
                }
                out.push(']');
            }
        }
    }
}

/// Appends a text as a JSON string.
pub fn quote(text: &str, out: &mut String) {
    out.push('"');
    let mut rest = text;
    // What needs no escape goes over in one piece. Each that needs one is ASCII: a piece ends at a character.
    while let Some(at) = rest
        .bytes()
        .position(|byte| byte < b' ' || byte == b'"' || byte == b'\\')
    {
        out.push_str(&rest[..at]);
        match rest.as_bytes()[at] {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            b'\t' => out.push_str("\\t"),
            byte => drop(write!(out, "\\u{byte:04x}")),
        }
        rest = &rest[at + 1..];
    }
    out.push_str(rest);
    out.push('"');
}

impl Message {
    /// The record of a message, with its history if it was asked for.
    #[must_use]
    pub fn record(&self) -> Record {
        let mut record = Record::new()
            .with("id", Value::text(&self.id))
            .with("queue", Value::text(&self.queue))
            .with("state", Value::text(self.state));
        record.0.extend(payload_fields(&self.payload));
        let mut record = record
            .with("attempts", Value::Int(self.attempts.into()))
            .with_some(
                "max_attempts",
                self.max_attempts.map(|max| Value::Int(max.into())),
            )
            .with("priority", Value::Signed(self.priority.into()))
            .with_some("key", self.key.as_ref().map(Value::text))
            .with_some("group", self.group.as_ref().map(Value::text))
            .with_some(
                "headers",
                (!self.headers.is_empty()).then(|| Value::Map(self.headers.clone())),
            )
            .with("enqueued_at", Value::time(self.enqueued_at))
            .with_some("ready_at", self.ready_at.map(Value::time))
            .with_some("expires_at", self.expires_at.map(Value::time))
            .with_some("lease_until", self.lease_until.map(Value::time))
            .with_some("worker", self.worker.as_ref().map(Value::text))
            .with_some("died_at", self.died_at.map(Value::time))
            .with_some("reason", self.reason.map(Value::text))
            .with_some("last_error", self.last_error.as_ref().map(Value::text))
            .with("replays", Value::Int(self.replays.into()))
            .with("deferrals", Value::Int(self.deferrals.into()));
        if !self.history.is_empty() {
            record = record.with(
                "history",
                Value::List(self.history.iter().map(Attempt::record).collect()),
            );
        }
        record
    }
}

impl Delivery {
    /// The record that `claim` prints: the message and its receipt.
    #[must_use]
    pub fn record(&self) -> Record {
        self.message
            .record()
            .with("receipt", Value::text(&self.receipt))
    }
}

impl Attempt {
    /// The record of one run, as it stands in a message's history.
    #[must_use]
    pub fn record(&self) -> Record {
        let stderr = (!self.stderr.is_empty())
            .then(|| Value::Text(String::from_utf8_lossy(&self.stderr).into_owned()));
        Record::default()
            .with("delivery", Value::Int(self.delivery))
            .with("attempt", Value::Int(self.attempt.into()))
            .with("started_at", Value::time(self.started_at))
            .with_some("seconds", self.took.map(Value::seconds))
            .with("worker", Value::text(&self.worker))
            .with("outcome", Value::text(self.outcome))
            .with_some("exit", self.exit.map(|exit| Value::Signed(exit.into())))
            .with_some(
                "signal",
                self.signal.map(|signal| Value::Signed(signal.into())),
            )
            .with_some("error", self.error.as_ref().map(Value::text))
            .with_some("stderr", stderr)
    }
}

/// The record of what a writing verb did; without a queue where it was told of messages alone.
#[must_use]
pub fn summary(
    verb: &str,
    queue: Option<&QueueName>,
    matched: u64,
    done: u64,
    failed: u64,
    skipped: u64,
) -> Record {
    Record::new()
        .with("verb", Value::text(verb))
        .with_some("queue", queue.map(Value::text))
        .with("matched", Value::Int(matched))
        .with("done", Value::Int(done))
        .with("failed", Value::Int(failed))
        .with("skipped", Value::Int(skipped))
}
