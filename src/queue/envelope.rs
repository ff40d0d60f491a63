//! What `enqueue --envelope` reads: a record as it was written, or whatever has its fields.

use super::payload::{is_json, rebuild};
use super::said;
use super::time::ParseError;
use super::{Headers, Timestamp};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;

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

#[cfg(test)]
mod tests {
    use super::*;

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
