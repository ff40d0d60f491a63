//! Records: what stands on a line of NDJSON, and how a payload's bytes are rebuilt from it.

use super::said;
use super::time::ParseError;
use super::{Attempt, Delivery, Headers, Message, QueueName, Timestamp};
use base64::engine::general_purpose::STANDARD as BASE64;
use base64::{DecodeError, Engine as _};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use std::borrow::Cow;
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

/// What a payload is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// JSON of any depth.
    Json,
    /// Other UTF-8.
    Text,
    /// Anything else.
    Binary,
}

/// What a payload is. JSON is recognised without recursion: a hundred thousand brackets are a payload like any other.
#[must_use]
pub fn kind(payload: &[u8]) -> Kind {
    match std::str::from_utf8(payload) {
        Err(_) => Kind::Binary,
        Ok(text) if is_json(text) => Kind::Json,
        Ok(_) => Kind::Text,
    }
}

/// Whether a text is one JSON value, of any depth.
#[must_use]
pub fn is_json(text: &str) -> bool {
    serde_json::from_str::<IgnoredAny>(text).is_ok()
}

/// Why a text is no JSON value, in a line; none if it is.
#[must_use]
pub fn json_error(text: &str) -> Option<String> {
    serde_json::from_str::<IgnoredAny>(text)
        .err()
        .map(|error| said::json(&error))
}

/// The fields `payload` and `payload_b64`, from which [`rebuild`] makes the same bytes again.
#[must_use]
pub fn payload_fields(payload: &[u8]) -> Vec<(&'static str, Value)> {
    let base64 = || ("payload_b64", Value::Text(BASE64.encode(payload)));
    let Ok(text) = std::str::from_utf8(payload) else {
        return vec![base64()];
    };
    let trimmed = text.trim_matches([' ', '\t', '\r', '\n']);
    if trimmed.starts_with('"') || !is_json(text) {
        return vec![("payload", Value::text(text))];
    }
    if trimmed == text && !text.contains(['\r', '\n']) {
        return vec![("payload", Value::Json(text.to_owned()))];
    }
    vec![
        ("payload", Value::Json(text.replace(['\r', '\n'], " "))),
        base64(),
    ]
}

/// The bytes that a record's payload fields stand for.
///
/// # Errors
/// Neither field is there, or one is not what [`payload_fields`] writes.
pub fn rebuild<'a>(
    payload: Option<&'a RawValue>,
    base64: Option<&str>,
) -> Result<Cow<'a, [u8]>, ParseError> {
    if let Some(base64) = base64 {
        let bytes = BASE64.decode(base64);
        return bytes.map(Cow::Owned).map_err(|error| {
            ParseError(format!("payload_b64 is no base64: {}", no_base64(&error)))
        });
    }
    let Some(raw) = payload else {
        return Err(ParseError(
            "the record has neither payload nor payload_b64".to_owned(),
        ));
    };
    let raw = raw.get();
    if !raw.starts_with('"') {
        return Ok(Cow::Borrowed(raw.as_bytes()));
    }
    serde_json::from_str::<String>(raw)
        .map(|text| Cow::Owned(text.into_bytes()))
        .map_err(|error| ParseError(format!("payload is no text: {}", said::json(&error))))
}

fn no_base64(error: &DecodeError) -> String {
    match error {
        DecodeError::InvalidByte(at, _) | DecodeError::InvalidLastSymbol { offset: at, .. } => {
            format!(
                "what stands at column {} of it does not belong there",
                at + 1
            )
        }
        DecodeError::InvalidLength(_) | DecodeError::InvalidPadding => {
            "its length is wrong".to_owned()
        }
    }
}

/// What `enqueue --envelope` takes of a record; it ignores the other fields.
#[derive(Deserialize)]
pub struct Envelope<'a> {
    // A payload `null` is there: an Option of its own would take it for absent.
    #[serde(borrow, default, deserialize_with = "present")]
    payload: Option<&'a RawValue>,
    payload_b64: Option<String>,
    /// The fact's own id.
    pub key: Option<String>,
    /// Its group.
    pub group: Option<String>,
    /// −9 to 9.
    pub priority: Option<i8>,
    /// Names and values.
    #[serde(default, deserialize_with = "headers")]
    pub headers: Headers,
    /// Its own number of starts.
    pub max_attempts: Option<u32>,
    #[serde(default, deserialize_with = "time")]
    /// When it may run.
    pub ready_at: Option<Timestamp>,
    #[serde(default, deserialize_with = "time")]
    /// When it may not be started any more.
    pub expires_at: Option<Timestamp>,
}

impl<'a> Envelope<'a> {
    /// Reads a record from one line.
    ///
    /// # Errors
    /// What is wrong with the line.
    pub fn parse(line: &'a str) -> Result<(Self, Cow<'a, [u8]>), ParseError> {
        // A list would be taken for the fields in their order.
        let begins = line.trim_start_matches([' ', '\t', '\r', '\n']);
        if !begins.starts_with('{') && is_json(line) {
            return Err(ParseError("it is no JSON object".to_owned()));
        }
        let envelope: Self =
            serde_json::from_str(line).map_err(|error| ParseError(said::json(&error)))?;
        let payload = rebuild(envelope.payload, envelope.payload_b64.as_deref())?;
        Ok((envelope, payload))
    }
}

fn present<'de: 'a, 'a, D: serde::Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<&'a RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

/// Takes an object of texts in its own order; a map type would sort or forget.
fn headers<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Headers, D::Error> {
    struct Visitor;
    impl<'de> serde::de::Visitor<'de> for Visitor {
        type Value = Headers;
        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("an object of texts")
        }
        fn visit_unit<E>(self) -> Result<Headers, E> {
            Ok(Headers::new())
        }
        fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<Headers, A::Error> {
            let mut headers = Headers::new();
            while let Some(pair) = map.next_entry()? {
                headers.push(pair);
            }
            Ok(headers)
        }
    }
    deserializer.deserialize_any(Visitor)
}

fn time<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Timestamp>, D::Error> {
    let text: Option<String> = Option::deserialize(deserializer)?;
    text.map(|text| Timestamp::parse(&text).map_err(serde::de::Error::custom))
        .transpose()
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn round(payload: &[u8]) -> Vec<u8> {
        let mut line = String::from("{");
        for (n, (name, value)) in payload_fields(payload).iter().enumerate() {
            if n > 0 {
                line.push(',');
            }
            quote(name, &mut line);
            line.push(':');
            value.write_json(&mut line);
        }
        line.push('}');
        assert!(
            !line.contains(['\n', '\r']),
            "a record is one line: {line:?}"
        );
        let (_, rebuilt) = Envelope::parse(&line).unwrap();
        rebuilt.into_owned()
    }

    /// Texts that are JSON, or nearly, more often than chance makes them.
    fn jsonish() -> impl Strategy<Value = String> {
        let atoms = prop::sample::select(vec![
            "{",
            "}",
            "[",
            "]",
            ",",
            ":",
            "\"",
            "\\",
            "\\u0000",
            "\\ud800",
            "null",
            "true",
            "1.0",
            "1e400",
            "12345678901234567890",
            "-0",
            " ",
            "\n",
            "\r\n",
            "\t",
            "\"a\"",
            "\u{feff}",
            "\u{2028}",
            "é",
            "\0",
        ]);
        prop::collection::vec(atoms, 0..12).prop_map(|parts| parts.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        #[test]
        fn any_bytes_are_rebuilt(payload in prop::collection::vec(any::<u8>(), 0..64)) {
            prop_assert_eq!(round(&payload), payload);
        }

        #[test]
        fn any_text_is_rebuilt(payload in ".*") {
            prop_assert_eq!(round(payload.as_bytes()), payload.as_bytes());
        }

        #[test]
        fn whatever_looks_like_json_is_rebuilt(payload in jsonish()) {
            prop_assert_eq!(round(payload.as_bytes()), payload.as_bytes());
        }
    }

    #[test]
    fn payload_fields_follow_the_rule() {
        let json = |payload: &str| {
            payload_fields(payload.as_bytes())
                .into_iter()
                .map(|(name, value)| {
                    let mut out = String::new();
                    value.write_json(&mut out);
                    format!("{name}={out}")
                })
                .collect::<Vec<_>>()
                .join(" ")
        };
        assert_eq!(
            json("{\"b\":1.0,\"a\":1e400,\"a\":2}"),
            "payload={\"b\":1.0,\"a\":1e400,\"a\":2}"
        );
        assert_eq!(json("\"x\""), "payload=\"\\\"x\\\"\"");
        assert_eq!(json("hello"), "payload=\"hello\"");
        assert_eq!(json(""), "payload=\"\"");
        assert_eq!(
            json("{\"a\":\n1}"),
            "payload={\"a\": 1} payload_b64=\"eyJhIjoKMX0=\""
        );
        assert_eq!(json(" 1"), "payload= 1 payload_b64=\"IDE=\"");
        assert_eq!(
            payload_fields(&[0xff, 0xfe]),
            vec![("payload_b64", Value::text("//4="))]
        );
    }

    #[test]
    fn depth_is_no_danger() {
        let deep = "[".repeat(100_000) + &"]".repeat(100_000);
        assert_eq!(kind(deep.as_bytes()), Kind::Json);
        assert_eq!(round(deep.as_bytes()), deep.as_bytes());
        assert_eq!(kind("[".repeat(100_000).as_bytes()), Kind::Text);
    }

    #[test]
    fn an_envelope_takes_its_fields_and_ignores_the_rest() {
        let line = r#"{"v":1,"id":"7","state":"dead","payload":{"n":1},"key":"k","group":"g","priority":-3,
            "headers":{"z":"1","a":"2"},"max_attempts":4,"ready_at":"2026-01-01T00:00:00.000001Z"}"#;
        let (envelope, payload) = Envelope::parse(line).unwrap();
        assert_eq!(&*payload, b"{\"n\":1}");
        assert_eq!(
            (envelope.key.as_deref(), envelope.group.as_deref()),
            (Some("k"), Some("g"))
        );
        assert_eq!(
            (envelope.priority, envelope.max_attempts),
            (Some(-3), Some(4))
        );
        assert_eq!(
            envelope.headers,
            vec![("z".into(), "1".into()), ("a".into(), "2".into())]
        );
        assert_eq!(envelope.ready_at, Some(Timestamp(1_767_225_600_000_001)));
        for bad in [
            "{}",
            "[]",
            "{\"payload_b64\":\"?\"}",
            "{\"payload\":1,\"priority\":1000}",
            "{\"payload\":1} x",
        ] {
            assert!(Envelope::parse(bad).is_err(), "{bad}");
        }
    }
}
