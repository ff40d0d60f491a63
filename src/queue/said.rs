//! What others say of an error, in words for whoever typed the command: without the system's number, without the words of
//! a parser.

use serde_json::error::Category;
use std::io;

/// What the system says: `No such file or directory`.
#[must_use]
pub fn system(error: &io::Error) -> String {
    let said = error.to_string();
    match error.raw_os_error() {
        Some(number) => said
            .trim_end_matches(&format!(" (os error {number})"))
            .to_owned(),
        None => said,
    }
}

/// A signal by its name: `SIGTERM`.
#[must_use]
pub fn signal(number: i32) -> String {
    signal_hook::low_level::signal_name(number)
        .map_or_else(|| format!("signal {number}"), str::to_owned)
}

/// What is wrong with JSON, and where.
#[must_use]
pub fn json(error: &serde_json::Error) -> String {
    let place = match error.line() {
        0 | 1 => format!("column {}", error.column()),
        line => format!("line {line}, column {}", error.column()),
    };
    match error.classify() {
        Category::Eof => format!("it ends too soon, at {place}"),
        Category::Syntax => format!("what stands at {place} does not belong there"),
        Category::Io | Category::Data => data(&error.to_string()),
    }
}

/// JSON that is none of what it should be: the position would be that of its end.
fn data(said: &str) -> String {
    let what = said.rsplit_once(" at line ").map_or(said, |(what, _)| what);
    let what = what.replace('`', "'");
    if let Some(field) = what.strip_prefix("missing field ") {
        return format!("{field} is missing");
    }
    for kind in ["invalid type: ", "invalid value: "] {
        if let Some((found, wanted)) = what
            .strip_prefix(kind)
            .and_then(|rest| rest.split_once(", expected "))
        {
            return format!("{found} stands where {wanted} belongs");
        }
    }
    what
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    #[derive(Deserialize, Debug)]
    struct Thing {
        #[expect(dead_code, reason = "it is only read")]
        name: String,
    }

    #[test]
    fn json_is_told_in_our_words() {
        for (text, said) in [
            ("{\"a\":", "it ends too soon, at column 5"),
            ("", "it ends too soon, at column 0"),
            ("{bad", "what stands at column 2 does not belong there"),
            (
                "{\"name\":\"x\"}y",
                "what stands at column 13 does not belong there",
            ),
            (
                "{\n]",
                "what stands at line 2, column 1 does not belong there",
            ),
            ("{}", "'name' is missing"),
            ("{\"name\":1}", "integer '1' stands where a string belongs"),
        ] {
            let error = serde_json::from_str::<Thing>(text).unwrap_err();
            assert_eq!(json(&error), said, "{text}");
        }
    }

    #[test]
    fn signals_have_names() {
        for (number, name) in [
            (1, "SIGHUP"),
            (9, "SIGKILL"),
            (15, "SIGTERM"),
            (99, "signal 99"),
        ] {
            assert_eq!(signal(number), name);
        }
    }

    #[test]
    fn the_system_speaks_without_its_number() {
        let error = std::fs::File::open("/no/such").unwrap_err();
        assert_eq!(system(&error), "No such file or directory");
        assert_eq!(system(&io::Error::other("a thing")), "a thing");
    }
}
