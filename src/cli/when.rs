//! Instants as people type them: with a zone, or in the zone of this machine, which is then said.

use crate::queue::Timestamp;
use crate::queue::time::ParseError;
use jiff::civil::DateTime;
use jiff::tz::{AmbiguousOffset, Offset, TimeZone};
use std::str::FromStr;

/// A typed instant, and the zone that was taken for want of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct When {
    /// The instant.
    pub at: Timestamp,
    /// What to say if the text had no zone: which one was used.
    pub assumed: Option<String>,
}

impl FromStr for When {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        parse(text, &TimeZone::system())
    }
}

/// What this machine's clock says.
pub(super) fn now() -> Timestamp {
    Timestamp(jiff::Timestamp::now().as_microsecond())
}

/// Reads `2026-12-01T02:11:03Z`, with any offset, or a date or a local time without one. A time before any computer kept
/// one is a slip.
fn parse(text: &str, zone: &TimeZone) -> Result<When, ParseError> {
    let when = read(text, zone)?;
    if when.at < Timestamp(0) {
        return Err(ParseError(format!(
            "'{text}' is before 1970: no message is from then, nor ready since then"
        )));
    }
    Ok(when)
}

fn read(text: &str, zone: &TimeZone) -> Result<When, ParseError> {
    if let Ok(at) = Timestamp::parse(text) {
        return Ok(When { at, assumed: None });
    }
    let local: DateTime = text.parse().map_err(|_| {
        Timestamp::beyond(text).unwrap_or_else(|| ParseError(format!(
            "'{text}' is no time: write 2026-12-01T02:11:03Z, 2026-12-01T02:11:03-03:00, or 2026-12-01T02:11 for this machine's zone"
        )))
    })?;
    let name = zone.iana_name().unwrap_or("this machine's zone");
    let ambiguous = zone.to_ambiguous_timestamp(local);
    match ambiguous.offset() {
        AmbiguousOffset::Unambiguous { offset } => {
            let at = offset.to_timestamp(local).map_err(|error| {
                Timestamp::beyond(text).unwrap_or_else(|| ParseError(format!("'{text}': {error}")))
            })?;
            Ok(When {
                at: Timestamp(at.as_microsecond()),
                assumed: Some(format!(
                    "{local} in {name}, which is {}",
                    full(local, offset)
                )),
            })
        }
        AmbiguousOffset::Gap { .. } => Err(ParseError(format!(
            "'{text}' does not exist in {name}: the clock is put forward over it"
        ))),
        AmbiguousOffset::Fold { before, after } => Err(ParseError(format!(
            "'{text}' comes twice in {name}: write {} or {}",
            full(local, before),
            full(local, after)
        ))),
    }
}

/// RFC 3339: an offset has its minutes.
fn full(local: DateTime, offset: Offset) -> String {
    let minutes = offset.seconds() / 60;
    let sign = if minutes < 0 { '-' } else { '+' };
    let (hours, minutes) = (minutes.abs() / 60, minutes.abs() % 60);
    format!("{local}{sign}{hours:02}:{minutes:02}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_zone_is_needed_or_said() {
        let zone = TimeZone::get("America/New_York").unwrap();
        let at = |text: &str| parse(text, &zone);
        for text in [
            "2026-12-01T07:11:03Z",
            "2026-12-01T02:11:03-05:00",
            "2026-12-01 02:11:03-05",
        ] {
            let when = at(text).unwrap();
            assert_eq!(when.at.to_string(), "2026-12-01T07:11:03.000000Z", "{text}");
            assert_eq!(when.assumed, None, "{text}");
        }
        let when = at("2026-12-01T02:11:03").unwrap();
        assert_eq!(when.at.to_string(), "2026-12-01T07:11:03.000000Z");
        let said = when.assumed.unwrap();
        assert!(
            said.contains("America/New_York") && said.ends_with("-05:00"),
            "{said}"
        );
        let day = at("2026-07-01").unwrap();
        assert_eq!(day.at.to_string(), "2026-07-01T04:00:00.000000Z");
    }

    #[test]
    fn a_time_that_is_none_or_two_is_refused() {
        let zone = TimeZone::get("America/New_York").unwrap();
        for (text, part) in [
            ("2026-03-08T02:30:00", "does not exist"),
            ("2026-11-01T01:30:00", "comes twice"),
            ("tomorrow", "is no time"),
            ("", "is no time"),
            ("1767225600", "is no time"),
            ("9999-12-31T23:59:59Z", "too far in the future"),
            ("9999-12-31T23:59:59-05:00", "too far in the future"),
            ("9999-12-31T23:59:59", "too far in the future"),
            ("9999-12-31T25:59:59Z", "is no time"),
            ("10000-01-01T00:00:00Z", "is no time"),
            ("0000-01-01T00:00:00Z", "is before 1970"),
            ("1969-12-31T18:59:59", "is before 1970"),
            ("-009999-01-01T00:00:00Z", "is too far in the past"),
        ] {
            let error = parse(text, &zone).unwrap_err();
            assert!(error.0.contains(part), "{text}: {error}");
        }
        let twice = parse("2026-11-01T01:30:00", &zone).unwrap_err().0;
        let either: Vec<_> = twice
            .split_whitespace()
            .filter(|word| word.contains("T01:30:00-"))
            .collect();
        assert_eq!(either.len(), 2, "{twice}");
        for text in either {
            assert!(parse(text, &zone).unwrap().assumed.is_none(), "{text}");
        }
    }
}
