//! What a command's end means: the exit protocol, as a pure table.

use crate::backend::Verdict;
use crate::queue::retry::MAX_DEFERRALS;
use crate::queue::{Due, Ladder, Outcome, Reason};
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// What a command's end is taken for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ruling {
    /// Done.
    Done,
    /// Done, and the worker stops.
    DoneAndStop,
    /// Failed: counted, again by the ladder.
    Fail,
    /// Again, not counted.
    Temporary,
    /// As temporary; where nothing has succeeded yet the command itself is in doubt.
    Misconfigured,
    /// No retry will help.
    Permanent,
    /// Given back.
    Release,
}

/// Why a text is no exit map.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExitMapError(String);

impl fmt::Display for ExitMapError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ExitMapError {}

/// Exit codes whose meaning the person has changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExitMap(BTreeMap<u8, Ruling>);

impl ExitMap {
    /// What this exit code means.
    #[must_use]
    pub fn ruling(&self, exit: u8) -> Ruling {
        self.0.get(&exit).copied().unwrap_or(match exit {
            0 => Ruling::Done,
            99 => Ruling::DoneAndStop,
            65 | 100 => Ruling::Permanent,
            75 | 111 => Ruling::Temporary,
            126 | 127 => Ruling::Misconfigured,
            _ => Ruling::Fail,
        })
    }
}

/// Reads `3=dead,4=release`; the words are done, fail, temporary, dead and release.
impl FromStr for ExitMap {
    type Err = ExitMapError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut map = BTreeMap::new();
        for item in text.split(',') {
            let (code, word) = item
                .split_once('=')
                .ok_or_else(|| ExitMapError(format!("'{item}' is not CODE=WORD, as in 3=dead")))?;
            let code: u8 = code.trim().parse().map_err(|_| {
                ExitMapError(format!("'{code}' is no exit code: they go from 0 to 255"))
            })?;
            let ruling = match word.trim() {
                "done" => Ruling::Done,
                "fail" => Ruling::Fail,
                "temporary" => Ruling::Temporary,
                "dead" => Ruling::Permanent,
                "release" => Ruling::Release,
                other => {
                    return Err(ExitMapError(format!(
                        "'{other}' is no word of an exit map: they are done, fail, temporary, dead and release"
                    )));
                }
            };
            if map.insert(code, ruling).is_some() {
                return Err(ExitMapError(format!("exit code {code} stands twice")));
            }
        }
        Ok(Self(map))
    }
}

/// Where a message stood when its command ended.
#[derive(Clone, Copy, Debug)]
pub struct Count {
    /// Charged starts, this one included.
    pub attempts: u32,
    /// When they are spent.
    pub max_attempts: u32,
    /// Ends in a row before this one that asked for another try.
    pub deferrals: u32,
}

/// The verdict and how the run stands in the history; the wait, where there is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// For the store.
    pub verdict: Verdict,
    /// For the history; None for a success, which has no row of its own.
    pub outcome: Option<Outcome>,
    /// The wait before the next run.
    pub wait: Duration,
}

/// Judges one end. `fraction` in 0..=1 is the jitter.
#[must_use]
pub fn judge(ruling: Ruling, count: Count, ladder: &Ladder, fraction: f64) -> Judgement {
    let end = |verdict, outcome| Judgement {
        verdict,
        outcome,
        wait: Duration::ZERO,
    };
    let again = |rung: u32, charge: bool, outcome| {
        let wait = ladder.wait_with_jitter(rung, fraction);
        let due = if wait.is_zero() {
            Due::Now
        } else {
            Due::After(wait)
        };
        Judgement {
            verdict: Verdict::Retry { due, charge },
            outcome: Some(outcome),
            wait,
        }
    };
    match ruling {
        Ruling::Done | Ruling::DoneAndStop => end(Verdict::Done, None),
        Ruling::Permanent => end(Verdict::Dead(Reason::Permanent), Some(Outcome::Permanent)),
        Ruling::Release => end(Verdict::Release, Some(Outcome::Released)),
        Ruling::Temporary | Ruling::Misconfigured => {
            let row = count.deferrals.saturating_add(1);
            if row >= MAX_DEFERRALS {
                end(Verdict::Dead(Reason::Temporary), Some(Outcome::Temporary))
            } else {
                // This start is taken back, so only the ones before it are charged.
                let charged = count.attempts.saturating_sub(1);
                again(charged.saturating_add(row), false, Outcome::Temporary)
            }
        }
        Ruling::Fail if count.attempts >= count.max_attempts => {
            end(Verdict::Dead(Reason::Attempts), Some(Outcome::Failed))
        }
        Ruling::Fail => again(count.attempts, true, Outcome::Failed),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(attempts: u32, deferrals: u32) -> Count {
        Count {
            attempts,
            max_attempts: 3,
            deferrals,
        }
    }

    #[test]
    fn r12_every_exit_code_has_its_meaning() {
        let map = ExitMap::default();
        for exit in 0..=255u8 {
            let expected = match exit {
                0 => Ruling::Done,
                99 => Ruling::DoneAndStop,
                65 | 100 => Ruling::Permanent,
                75 | 111 => Ruling::Temporary,
                126 | 127 => Ruling::Misconfigured,
                _ => Ruling::Fail,
            };
            assert_eq!(map.ruling(exit), expected, "{exit}");
        }
    }

    #[test]
    fn a_map_changes_only_what_it_names() {
        let map: ExitMap = "3=dead,4=release,0=fail, 127=temporary,5=done"
            .parse()
            .unwrap();
        assert_eq!(map.ruling(3), Ruling::Permanent);
        assert_eq!(map.ruling(4), Ruling::Release);
        assert_eq!(map.ruling(0), Ruling::Fail);
        assert_eq!(map.ruling(127), Ruling::Temporary);
        assert_eq!(map.ruling(5), Ruling::Done);
        assert_eq!(map.ruling(6), Ruling::Fail);
        assert_eq!(map.ruling(99), Ruling::DoneAndStop);
    }

    #[test]
    fn maps_that_are_refused() {
        for text in [
            "",
            "3",
            "x=dead",
            "256=dead",
            "-1=dead",
            "3=ack",
            "3=dead,3=fail",
            "3=dead,",
        ] {
            assert!(text.parse::<ExitMap>().is_err(), "{text}");
        }
    }

    #[test]
    fn failures_climb_the_ladder_and_end_dead() {
        let ladder = Ladder::default();
        for (attempts, secs) in [(1, 1), (2, 5)] {
            let judged = judge(Ruling::Fail, count(attempts, 0), &ladder, 0.0);
            assert_eq!(
                judged.verdict,
                Verdict::Retry {
                    due: Due::After(Duration::from_secs(secs)),
                    charge: true
                }
            );
            assert_eq!(judged.outcome, Some(Outcome::Failed));
        }
        let judged = judge(Ruling::Fail, count(3, 0), &ladder, 0.0);
        assert_eq!(judged.verdict, Verdict::Dead(Reason::Attempts));
    }

    #[test]
    fn temporary_ends_climb_uncharged_and_end_after_fifty() {
        let ladder = Ladder::default();
        // The first of a fresh message: rung 1. After two charged failures: rung 3, then 4.
        for (attempts, deferrals, secs) in [(1, 0, 1), (1, 1, 5), (3, 0, 30), (3, 1, 120)] {
            let judged = judge(Ruling::Temporary, count(attempts, deferrals), &ladder, 0.0);
            assert_eq!(
                judged.verdict,
                Verdict::Retry {
                    due: Due::After(Duration::from_secs(secs)),
                    charge: false
                },
                "{attempts} {deferrals}"
            );
        }
        let judged = judge(Ruling::Temporary, count(1, 48), &ladder, 0.0);
        assert!(matches!(judged.verdict, Verdict::Retry { .. }));
        let judged = judge(Ruling::Misconfigured, count(1, 49), &ladder, 0.0);
        assert_eq!(judged.verdict, Verdict::Dead(Reason::Temporary));
    }

    #[test]
    fn jitter_never_shortens() {
        let ladder = Ladder::default();
        let judged = judge(Ruling::Fail, count(1, 0), &ladder, 1.0);
        assert_eq!(judged.wait, Duration::from_millis(1200));
    }
}
