//! What a payload is, how it stands in a record, and how its bytes are rebuilt from there.

use super::record::Value;
use super::said;
use super::time::ParseError;
use base64::engine::general_purpose::STANDARD as BASE64;
use base64::{DecodeError, Engine as _};
use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use std::borrow::Cow;

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

#[cfg(test)]
mod tests {
    use super::super::envelope::Envelope;
    use super::super::record::quote;
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
}
