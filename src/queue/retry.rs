//! When a failed message comes back, and what a queue has in force.

use super::time::{duration_text, parse_duration};
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// The waits before each retry, in order; the last one repeats. Never empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ladder(Vec<Duration>);

/// After so many ends in a row that asked for another try, a message is dead (reason `temporary`).
pub const MAX_DEFERRALS: u32 = 50;

impl Ladder {
    /// The most rungs that a ladder may have.
    pub const MAX_RUNGS: usize = 100;

    /// A ladder of these waits; none if there is no rung, or more than [`Self::MAX_RUNGS`].
    #[must_use]
    pub fn new(rungs: Vec<Duration>) -> Option<Self> {
        (!rungs.is_empty() && rungs.len() <= Self::MAX_RUNGS).then_some(Self(rungs))
    }

    /// The waits in order.
    #[must_use]
    pub fn rungs(&self) -> &[Duration] {
        &self.0
    }

    /// The wait after end number `nth` (the first is 1), without jitter.
    #[must_use]
    pub fn wait(&self, nth: u32) -> Duration {
        let last = self.0.len() - 1;
        self.0[usize::try_from(nth.saturating_sub(1))
            .unwrap_or(last)
            .min(last)]
    }

    /// The wait after end number `nth`, longer by `fraction` × 20 %. It is never shorter than the rung: a service
    /// that asked for time gets it. `fraction` is in 0..=1, from the caller's random numbers.
    #[must_use]
    pub fn wait_with_jitter(&self, nth: u32, fraction: f64) -> Duration {
        let rung = self.wait(nth);
        rung + rung.mul_f64(0.2 * fraction.clamp(0.0, 1.0))
    }
}

impl Default for Ladder {
    fn default() -> Self {
        Self([1, 5, 30, 120, 600, 1800].map(Duration::from_secs).to_vec())
    }
}

impl fmt::Display for Ladder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rungs: Vec<String> = self.0.iter().map(|rung| duration_text(*rung)).collect();
        f.write_str(&rungs.join(","))
    }
}

impl FromStr for Ladder {
    type Err = super::time::ParseError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let rungs = text
            .split(',')
            .map(parse_duration)
            .collect::<Result<Vec<_>, _>>()?;
        Self::new(rungs).ok_or_else(|| {
            super::time::ParseError(format!(
                "a backoff ladder has 1 to {} waits",
                Self::MAX_RUNGS
            ))
        })
    }
}

/// A queue's own settings: what is not set falls to the program's default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// Starts before a message is dead.
    pub max_attempts: Option<u32>,
    /// Waits before each retry.
    pub backoff: Option<Ladder>,
    /// How long a claim holds a message.
    pub lease: Option<Duration>,
    /// How long a key stays taken after its message is done.
    pub dedup_window: Option<Window>,
    /// Time to live of a message that is enqueued without its own.
    pub ttl: Option<Duration>,
    /// Nothing is handed out.
    pub paused: bool,
}

/// How long a key stays taken after its message is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Window {
    /// For so long.
    For(Duration),
    /// Never free again.
    Forever,
}

impl Window {
    /// What a queue without a setting has: seven days.
    pub const DEFAULT: Self = Self::For(Duration::from_hours(7 * 24));
}

impl Settings {
    /// Starts before a message is dead, where nobody says otherwise.
    pub const MAX_ATTEMPTS: u32 = 7;
    /// How long a claim holds a message, where nobody says otherwise.
    pub const LEASE: Duration = Duration::from_mins(1);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_rung_repeats() {
        let ladder: Ladder = "1s,5s,30s".parse().unwrap();
        let waits: Vec<u64> = (0..6).map(|nth| ladder.wait(nth).as_secs()).collect();
        assert_eq!(waits, [1, 1, 5, 30, 30, 30]);
        assert_eq!(ladder.wait(u32::MAX).as_secs(), 30);
    }

    #[test]
    fn jitter_only_lengthens_and_by_a_fifth_at_most() {
        let ladder = Ladder::default();
        for nth in 1..9 {
            for fraction in [0.0, 0.3, 1.0, 7.0, -3.0] {
                let wait = ladder.wait_with_jitter(nth, fraction);
                assert!(wait >= ladder.wait(nth) && wait <= ladder.wait(nth).mul_f64(1.2));
            }
        }
    }

    #[test]
    fn ladders_are_read_and_written() {
        assert_eq!(Ladder::default().to_string(), "1s,5s,30s,2m,10m,30m");
        assert_eq!("1s,5s,30s,2m,10m,30m".parse(), Ok(Ladder::default()));
        for text in ["", "1s,", "5", "1s;2s"] {
            assert!(text.parse::<Ladder>().is_err(), "{text}");
        }
    }
}
