//! Headers as a store of tables keeps them: the text of a JSON object.

use super::{Headers, record::Value};
use serde_json::value::RawValue;

/// Headers as they stand in a table: a JSON object, or nothing.
#[must_use]
pub fn write(headers: &Headers) -> Option<String> {
    (!headers.is_empty()).then(|| {
        let mut text = String::new();
        Value::Map(headers.clone()).write_json(&mut text);
        text
    })
}

/// Headers that any program may have written: an object's values that are no texts are taken as their JSON, and what is
/// no object is one header of its own name.
#[must_use]
pub fn read(text: &str) -> Headers {
    #[derive(serde::Deserialize)]
    struct Object<'a>(#[serde(borrow, deserialize_with = "pairs")] Vec<(String, &'a RawValue)>);
    fn pairs<'de, D: serde::Deserializer<'de>>(
        deserializer: D,
    ) -> std::result::Result<Vec<(String, &'de RawValue)>, D::Error> {
        struct Pairs;
        impl<'de> serde::de::Visitor<'de> for Pairs {
            type Value = Vec<(String, &'de RawValue)>;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: serde::de::MapAccess<'de>>(
                self,
                mut map: A,
            ) -> std::result::Result<Self::Value, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                Ok(pairs)
            }
        }
        deserializer.deserialize_map(Pairs)
    }
    match serde_json::from_str::<Object<'_>>(text) {
        Ok(Object(pairs)) => pairs
            .into_iter()
            .map(|(name, raw)| {
                (
                    name,
                    serde_json::from_str(raw.get()).unwrap_or_else(|_| raw.get().to_owned()),
                )
            })
            .collect(),
        Err(_) => vec![("headers".to_owned(), text.to_owned())],
    }
}
