//! Instants, durations and sizes as people write them.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

/// Microseconds since 1970-01-01T00:00:00Z, by the store's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(pub i64);

impl Timestamp {
    /// Later by `by`; stops at the end of time.
    #[must_use]
    pub fn plus(self, by: Duration) -> Self {
        Self(self.0.saturating_add(micros(by)))
    }

    /// Earlier by `by`; stops at the beginning of time.
    #[must_use]
    pub fn minus(self, by: Duration) -> Self {
        Self(self.0.saturating_sub(micros(by)))
    }

    /// Reads RFC 3339 with a zone or an offset.
    ///
    /// # Errors
    /// The text is no instant.
    pub fn parse(text: &str) -> Result<Self, ParseError> {
        text.parse::<jiff::Timestamp>()
            .map(|time| Self(time.as_microsecond()))
            .map_err(|error| match Self::beyond(text) {
                Some(beyond) => beyond,
                None => ParseError(format!("'{text}' is no RFC 3339 time: {error}")),
            })
    }

    /// Why a text that has the shape of a time, with a zone or without, is none all the same: it is beyond the calendar.
    #[must_use]
    pub fn beyond(text: &str) -> Option<ParseError> {
        let date = jiff::fmt::temporal::Pieces::parse(text).ok()?.date();
        match date.year() {
            9999 => Some(ParseError(format!(
                "'{text}' is too far in the future: the last time is 9999-12-30T21:59:59Z"
            ))),
            -9999 => Some(ParseError(format!("'{text}' is too far in the past"))),
            _ => None,
        }
    }

    /// How long after `earlier` this is; zero if it is not.
    #[must_use]
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_micros(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }
}

/// RFC 3339, UTC, always six digits of microseconds.
impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The last second of the calendar stays unused: its fraction does not come back from microseconds.
        let clamped = self.0.clamp(
            jiff::Timestamp::MIN.as_microsecond(),
            jiff::Timestamp::MAX.as_microsecond() - 1_000_000,
        );
        match jiff::Timestamp::from_microsecond(clamped) {
            Ok(time) => write!(f, "{time:.6}"),
            Err(_) => write!(f, "{}us", self.0),
        }
    }
}

/// A duration in whole microseconds, at most the largest that a [`Timestamp`] can hold.
#[must_use]
pub fn micros(duration: Duration) -> i64 {
    i64::try_from(duration.as_micros()).unwrap_or(i64::MAX)
}

/// Added to whatever the store calls now. Nothing in production; a test moves it.
#[derive(Clone, Debug, Default)]
pub struct Skew(Option<Arc<AtomicI64>>);

impl Skew {
    /// A skew that a test can move; clones share it.
    #[must_use]
    pub fn movable() -> Self {
        Self(Some(Arc::default()))
    }

    /// Moves the store's clock on.
    pub fn advance(&self, by: Duration) {
        if let Some(skew) = &self.0 {
            skew.fetch_add(micros(by), Ordering::SeqCst);
        }
    }

    /// The microseconds to add.
    #[must_use]
    pub fn micros(&self) -> i64 {
        self.0
            .as_ref()
            .map_or(0, |skew| skew.load(Ordering::SeqCst))
    }
}

/// Why a text is no duration, size or time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError(pub String);

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ParseError {}

/// The longest duration that is taken: a hundred years, so that no sum overflows.
const LONGEST: Duration = Duration::from_hours(100 * 366 * 24);

/// Reads `250ms 30s 5m 2h 1d 1w 1h30m`, and `0s`. A bare number is refused: its unit would be a guess.
///
/// # Errors
/// What is wrong with the text, with an example of what is right.
pub fn parse_duration(text: &str) -> Result<Duration, ParseError> {
    let bad = |why: &str| {
        ParseError(format!(
            "'{text}' is no duration: {why}, as in 250ms, 30s, 5m, 2h, 1d or 1h30m"
        ))
    };
    if text.is_empty() {
        return Err(bad("it needs a number and a unit"));
    }
    if text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(ParseError(format!(
            "'{text}' has no unit: write {text}s for seconds, {text}m for minutes or {text}ms for milliseconds"
        )));
    }
    let mut rest = text;
    let mut total = Duration::ZERO;
    let mut last_unit = u64::MAX;
    while !rest.is_empty() {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        if digits == 0 {
            return Err(bad("it needs a number before each unit"));
        }
        let number: u64 = rest[..digits]
            .parse()
            .map_err(|_| bad("the number is too large"))?;
        rest = &rest[digits..];
        let letters = rest.bytes().take_while(u8::is_ascii_alphabetic).count();
        let unit: u64 = match &rest[..letters] {
            "ms" => 1,
            "s" => 1_000,
            "m" => 60_000,
            "h" => 3_600_000,
            "d" => 86_400_000,
            "w" => 604_800_000,
            "" => return Err(bad("it needs a unit after each number")),
            _ => return Err(bad("its units are ms, s, m, h, d and w")),
        };
        if unit >= last_unit {
            return Err(bad("larger units come first, each once"));
        }
        last_unit = unit;
        rest = &rest[letters..];
        let millis = number
            .checked_mul(unit)
            .ok_or_else(|| bad("it is too long"))?;
        total = total.saturating_add(Duration::from_millis(millis));
    }
    if total > LONGEST {
        return Err(bad("it is longer than a hundred years"));
    }
    Ok(total)
}

/// Writes a duration so that [`parse_duration`] reads the same one (down to a millisecond): `1h30m`, `250ms`, `0s`.
#[must_use]
pub fn duration_text(duration: Duration) -> String {
    let mut left = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
    if left == 0 {
        return "0s".to_owned();
    }
    let mut text = String::new();
    for (unit, name) in [
        (86_400_000, "d"),
        (3_600_000, "h"),
        (60_000, "m"),
        (1_000, "s"),
        (1, "ms"),
    ] {
        if left >= unit {
            text += &(left / unit).to_string();
            text += name;
            left %= unit;
        }
    }
    text
}

/// An age for a person: the two largest units, whole seconds at the least (`4s`, `47m10s`, `3d4h`).
#[must_use]
pub fn age_text(age: Duration) -> String {
    let secs = age.as_secs();
    let (days, hours, minutes, seconds) =
        (secs / 86_400, secs / 3_600 % 24, secs / 60 % 60, secs % 60);
    let pair = |large: u64, a: &str, small: u64, b: &str| {
        if small == 0 {
            format!("{large}{a}")
        } else {
            format!("{large}{a}{small}{b}")
        }
    };
    if days > 0 {
        pair(days, "d", hours, "h")
    } else if hours > 0 {
        pair(hours, "h", minutes, "m")
    } else if minutes > 0 {
        pair(minutes, "m", seconds, "s")
    } else {
        format!("{seconds}s")
    }
}

/// Reads a size in bytes: `65536`, `64KiB`, `16MiB`, `1GiB`.
///
/// # Errors
/// What is wrong with the text.
pub fn parse_size(text: &str) -> Result<u64, ParseError> {
    let bad = || {
        ParseError(format!(
            "'{text}' is no size: write bytes, or KiB, MiB or GiB, as in 65536 or 16MiB"
        ))
    };
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let number: u64 = text[..digits].parse().map_err(|_| bad())?;
    let unit: u64 = match &text[digits..] {
        "" | "B" => 1,
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        _ => return Err(bad()),
    };
    number.checked_mul(unit).ok_or_else(bad)
}

/// A size for people: `412 B`, `1.5 KiB`, `16.0 MiB`.
#[must_use]
pub fn size_text(bytes: u64) -> String {
    let tenths = |unit: u64| {
        let tenths = bytes.saturating_mul(10) / unit;
        format!("{}.{}", tenths / 10, tenths % 10)
    };
    match bytes {
        0..1024 => format!("{bytes} B"),
        1024..1_048_576 => format!("{} KiB", tenths(1 << 10)),
        1_048_576..1_073_741_824 => format!("{} MiB", tenths(1 << 20)),
        _ => format!("{} GiB", tenths(1 << 30)),
    }
}

/// A size for people that is at least so many bytes, where [`size_text`] rounds down.
#[must_use]
pub fn size_text_up(bytes: u64) -> String {
    let unit = if bytes < 1 << 20 { 1 << 10 } else { 1 << 20 };
    size_text(bytes.checked_next_multiple_of(unit).unwrap_or(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read() {
        for (text, millis) in [
            ("250ms", 250),
            ("0s", 0),
            ("30s", 30_000),
            ("5m", 300_000),
            ("1h30m", 5_400_000),
            ("1d", 86_400_000),
            ("24h", 86_400_000),
            ("1w2d3h4m5s6ms", 788_645_006),
        ] {
            assert_eq!(
                parse_duration(text),
                Ok(Duration::from_millis(millis)),
                "{text}"
            );
        }
    }

    #[test]
    fn what_is_no_duration_is_refused() {
        for text in [
            "",
            "5",
            "s",
            "5x",
            "1m1h",
            "1s1s",
            "-1s",
            "1.5s",
            " 1s",
            "99999999999999999999s",
            "9999999d",
            "1h30",
        ] {
            assert!(parse_duration(text).is_err(), "{text}");
        }
        assert!(parse_duration("30").unwrap_err().0.contains("30s"));
    }

    #[test]
    fn durations_are_written_as_they_are_read() {
        for text in [
            "0s",
            "250ms",
            "30s",
            "5m",
            "1h30m",
            "1d",
            "7d",
            "1d2h3m4s5ms",
        ] {
            assert_eq!(duration_text(parse_duration(text).unwrap()), text);
        }
    }

    #[test]
    fn sizes_are_read() {
        assert_eq!(parse_size("64KiB"), Ok(65_536));
        assert_eq!(parse_size("16MiB"), Ok(16 << 20));
        assert_eq!(parse_size("12"), Ok(12));
        for text in ["", "KiB", "1kb", "1.5MiB", "-1", "99999999999GiB"] {
            assert!(parse_size(text).is_err(), "{text}");
        }
    }

    #[test]
    fn sizes_are_written() {
        for (bytes, text, up) in [
            (0, "0 B", "0 B"),
            (1023, "1023 B", "1.0 KiB"),
            (1536, "1.5 KiB", "2.0 KiB"),
            (16 << 20, "16.0 MiB", "16.0 MiB"),
            ((16 << 20) + 1, "16.0 MiB", "17.0 MiB"),
            (3 << 30, "3.0 GiB", "3.0 GiB"),
        ] {
            assert_eq!(size_text(bytes), text);
            assert_eq!(size_text_up(bytes), up);
        }
    }

    #[test]
    fn times_are_written_with_six_digits() {
        assert_eq!(Timestamp(0).to_string(), "1970-01-01T00:00:00.000000Z");
        assert_eq!(
            Timestamp(1_767_225_600_123_456).to_string(),
            "2026-01-01T00:00:00.123456Z"
        );
        assert_eq!(Timestamp(-1).to_string(), "1969-12-31T23:59:59.999999Z");
        assert_eq!(
            Timestamp(i64::MAX).to_string(),
            "9999-12-30T21:59:59.999999Z"
        );
    }
}
