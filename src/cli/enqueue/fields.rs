//! `--key-from '.type,.id'`: fields of a JSON payload, found without building it and without recursion into what is not
//! asked for; numbers stay as they are written.

use crate::queue::said;
use crate::queue::time::ParseError;
use serde::Deserializer as _;
use serde::de::{DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use std::fmt;
use std::str::FromStr;

/// Places in a JSON value, whose texts are joined by `:`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fields(Vec<Place>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Place {
    text: String,
    steps: Vec<Step>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    Field(String),
    Index(usize),
}

/// Reads `.type,.id`, `.order.lines[0].sku`, `."odd name"`.
impl FromStr for Fields {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let bad = |why: &str| {
            ParseError(format!(
                "'{text}' names no fields: {why}, as in .id, .type,.id or .order.lines[0]"
            ))
        };
        let mut places = vec![];
        let mut rest = text;
        loop {
            let start = rest;
            let mut steps = vec![];
            loop {
                if let Some(after) = rest.strip_prefix(".\"") {
                    let (name, after) = after
                        .split_once('"')
                        .ok_or_else(|| bad("a quote is not closed"))?;
                    steps.push(Step::Field(name.to_owned()));
                    rest = after;
                } else if let Some(after) = rest.strip_prefix('.') {
                    let end = after.find(['.', ',', '[']).unwrap_or(after.len());
                    if end == 0 {
                        return Err(bad("a name is missing after a dot"));
                    }
                    steps.push(Step::Field(after[..end].to_owned()));
                    rest = &after[end..];
                } else if let Some(after) = rest.strip_prefix('[') {
                    let (number, after) = after
                        .split_once(']')
                        .ok_or_else(|| bad("a bracket is not closed"))?;
                    let number = number
                        .parse()
                        .map_err(|_| bad("a number belongs in brackets"))?;
                    steps.push(Step::Index(number));
                    rest = after;
                } else {
                    break;
                }
            }
            if steps.is_empty() {
                return Err(bad("each begins with a dot"));
            }
            let written = start[..start.len() - rest.len()].to_owned();
            places.push(Place {
                text: written,
                steps,
            });
            if rest.is_empty() {
                return Ok(Self(places));
            }
            rest = rest
                .strip_prefix(',')
                .ok_or_else(|| bad("a comma stands between two"))?;
        }
    }
}

impl Fields {
    /// The texts at the places, joined by `:`.
    ///
    /// # Errors
    /// The payload is no JSON, or a place has no text that is not empty, number or truth value.
    pub fn of(&self, payload: &[u8]) -> Result<String, String> {
        let json = std::str::from_utf8(payload).map_err(|_| "it is not UTF-8".to_owned())?;
        let mut joined = String::new();
        for (n, place) in self.0.iter().enumerate() {
            if n > 0 {
                joined.push(':');
            }
            place.append(json, &mut joined)?;
        }
        Ok(joined)
    }
}

impl Place {
    fn append(&self, json: &str, out: &mut String) -> Result<(), String> {
        let missing = || format!("it has no field {}", self.text);
        let mut value = json;
        for step in &self.steps {
            let wanted = match step {
                Step::Field(_) => '{',
                Step::Index(_) => '[',
            };
            if !value
                .trim_start_matches([' ', '\t', '\r', '\n'])
                .starts_with(wanted)
            {
                // Whether it is JSON at all decides what is said.
                return Err(match crate::queue::payload::json_error(value) {
                    Some(error) => format!("it is no JSON: {error}"),
                    None => missing(),
                });
            }
            let found = match step {
                Step::Field(name) => member(value, name),
                Step::Index(index) => element(value, *index),
            };
            value = found
                .map_err(|error| format!("it is no JSON: {}", said::json(&error)))?
                .ok_or_else(missing)?;
        }
        match value.as_bytes().first() {
            Some(b'"') => {
                let text: String = serde_json::from_str(value).map_err(|error| {
                    format!("its field {} is no text: {}", self.text, said::json(&error))
                })?;
                if text.is_empty() {
                    return Err(format!("its field {} is empty", self.text));
                }
                out.push_str(&text);
            }
            Some(b'{') => return Err(format!("its field {} is an object", self.text)),
            Some(b'[') => return Err(format!("its field {} is an array", self.text)),
            Some(b'n') => return Err(format!("its field {} is null", self.text)),
            _ => out.push_str(value),
        }
        Ok(())
    }
}

/// A member of an object by its name; of several the last, as every JSON reader takes it.
fn member<'a>(json: &'a str, name: &str) -> serde_json::Result<Option<&'a str>> {
    struct Members<'n>(&'n str);
    impl<'de> Visitor<'de> for Members<'_> {
        type Value = Option<&'de str>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut found = None;
            while let Some(is_it) = map.next_key_seed(Is(self.0))? {
                if is_it {
                    found = Some(map.next_value::<&'de RawValue>()?.get());
                } else {
                    map.next_value::<IgnoredAny>()?;
                }
            }
            Ok(found)
        }
    }
    let mut reader = serde_json::Deserializer::from_str(json);
    let found = reader.deserialize_map(Members(name))?;
    reader.end()?;
    Ok(found)
}

/// An element of an array.
fn element(json: &str, index: usize) -> serde_json::Result<Option<&str>> {
    struct Elements(usize);
    impl<'de> Visitor<'de> for Elements {
        type Value = Option<&'de str>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an array")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
            let mut found = None;
            let mut n = 0;
            loop {
                if n == self.0 {
                    found = match seq.next_element::<&'de RawValue>()? {
                        Some(value) => Some(value.get()),
                        None => return Ok(found),
                    };
                } else if seq.next_element::<IgnoredAny>()?.is_none() {
                    return Ok(found);
                }
                n += 1;
            }
        }
    }
    let mut reader = serde_json::Deserializer::from_str(json);
    let found = reader.deserialize_seq(Elements(index))?;
    reader.end()?;
    Ok(found)
}

/// Whether a member's name is this one.
struct Is<'n>(&'n str);

impl<'de> DeserializeSeed<'de> for Is<'_> {
    type Value = bool;

    fn deserialize<D: serde::Deserializer<'de>>(self, reader: D) -> Result<bool, D::Error> {
        reader.deserialize_str(self)
    }
}

impl Visitor<'_> for Is<'_> {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }

    fn visit_str<E>(self, text: &str) -> Result<bool, E> {
        Ok(text == self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(fields: &str, json: &str) -> Result<String, String> {
        fields.parse::<Fields>().unwrap().of(json.as_bytes())
    }

    #[test]
    fn fields_are_joined_as_they_are_written() {
        for (fields, json, key) in [
            (".id", r#"{"id":"a"}"#, "a"),
            (
                ".type,.id",
                r#"{"id":42,"type":"payment.approved"}"#,
                "payment.approved:42",
            ),
            (
                ".n",
                r#"{"n":12345678901234567890}"#,
                "12345678901234567890",
            ),
            (".n", r#"{"n":1.0}"#, "1.0"),
            (".n", r#"{"n":1e400}"#, "1e400"),
            (".b", r#"{"b":true}"#, "true"),
            (".id", r#"{"id":1,"x":[{}],"id":2}"#, "2"),
            (".a.b.c", r#"{"a":{"b":{"c":"deep"}}}"#, "deep"),
            (".a[1].b", r#" {"a":[0,{"b":"x"},2]} "#, "x"),
            ("[0]", "[7]", "7"),
            (".\"odd name\"", r#"{"odd name":"y"}"#, "y"),
            (".\"a,b\",.c", r#"{"a,b":"y","c":0}"#, "y:0"),
            (".k", r#"{"\u006b":"escaped \u00e9\n"}"#, "escaped é\n"),
        ] {
            assert_eq!(of(fields, json), Ok(key.to_owned()), "{fields} of {json}");
        }
    }

    #[test]
    fn what_is_not_there_is_named() {
        for (fields, json, why) in [
            (".id", "{}", "it has no field .id"),
            (".type,.id", r#"{"type":"x"}"#, "it has no field .id"),
            (".a.b", r#"{"a":1}"#, "it has no field .a.b"),
            (".a[2]", r#"{"a":[1]}"#, "it has no field .a[2]"),
            (".b,.a", r#"{"a":"","b":1}"#, "its field .a is empty"),
            (".a", r#"{"a":null}"#, "its field .a is null"),
            (".a", r#"{"a":{}}"#, "its field .a is an object"),
            (".a", r#"{"a":[]}"#, "its field .a is an array"),
            (".a", "[]", "it has no field .a"),
            (".a", "7", "it has no field .a"),
        ] {
            assert_eq!(of(fields, json), Err(why.to_owned()), "{fields} of {json}");
        }
        for json in [
            "",
            "{",
            "hello",
            r#"{"id":1} x"#,
            r#"{"id":1"#,
            r#"{"a":"\ud800"}"#,
        ] {
            let error = of(".a", json).unwrap_err();
            assert!(
                error.contains("no JSON") || error.contains("no text"),
                "{json}: {error}"
            );
        }
        assert!(".a".parse::<Fields>().unwrap().of(b"\xff").is_err());
    }

    #[test]
    fn depth_is_no_danger() {
        let deep = "[".repeat(100_000) + &"]".repeat(100_000);
        let json = format!("{{\"x\":{deep},\"id\":5}}");
        assert_eq!(of(".id", &json), Ok("5".to_owned()));
        assert_eq!(of(".x", &json), Err("its field .x is an array".to_owned()));
    }

    #[test]
    fn what_names_no_fields_is_refused() {
        for text in [
            "",
            "id",
            ".",
            ".a,",
            ".a,b",
            ".a..b",
            ".a[",
            ".a[x]",
            ".\"a",
            ".a b,.c d][",
        ] {
            assert!(text.parse::<Fields>().is_err(), "{text}");
        }
    }
}
