//! When a message is ready and how long it lives: the two may contradict each other, and then it would never run.

use super::super::when::now;
use super::Args;
use crate::queue::{Due, Timestamp};
use std::time::Duration;

/// What the command line says of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Term {
    /// When a message is ready that does not say so itself.
    pub(super) due: Due,
    /// How long one lives that does not say so itself.
    pub(super) ttl: Option<Duration>,
}

impl Term {
    /// As the flags say.
    pub(super) fn of(args: &Args) -> Self {
        Self {
            due: match (&args.at, args.delay) {
                (Some(at), _) => Due::At(at.at),
                (None, Some(delay)) if !delay.is_zero() => Due::After(delay),
                (None, _) => Due::Now,
            },
            ttl: args.ttl,
        }
    }

    /// Whether the flags contradict each other. This machine's clock is asked, as no store is yet.
    pub(super) fn is_too_short(&self) -> bool {
        match (self.ttl, self.due) {
            (Some(ttl), Due::After(delay)) => ttl <= delay,
            (Some(ttl), Due::At(at)) => now().plus(ttl) <= at,
            (None, _) | (_, Due::Now) => false,
        }
    }

    /// Whether a flag contradicts what a record says of itself. A record that says both is taken at its word: a retry may have
    /// been due after the end of its message, and one that had expired is to stay so.
    ///
    /// # Errors
    /// What contradicts it, in a clause.
    pub(super) fn fits(
        &self,
        ready_at: Option<Timestamp>,
        expires_at: Option<Timestamp>,
    ) -> Result<(), String> {
        let now = now();
        match (ready_at, expires_at) {
            (Some(ready), None) if self.ttl.is_some_and(|ttl| now.plus(ttl) <= ready) => {
                Err("its ready_at is after the end of --ttl: it would never run".to_owned())
            }
            (None, Some(end)) if now < end && end <= self.due.instant(now) => {
                Err("its expires_at is before --delay or --at: it would never run".to_owned())
            }
            _ => Ok(()),
        }
    }
}
