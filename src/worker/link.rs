//! The handle of the store, and what to do while it does not answer.

use crate::backend::{Backend, Effect, Error, Kind, Result};
use std::time::{Duration, Instant};

/// Opens the store again.
pub type Reopen<'a> = dyn FnMut() -> Result<Box<dyn Backend>> + 'a;

/// How long a worker that is to come to an end waits for a store that it lost.
pub(super) const PATIENCE: Duration = if cfg!(test) {
    Duration::from_secs(2)
} else {
    Duration::from_secs(30)
};
const FIRST_PAUSE: Duration = Duration::from_millis(100);
/// Short enough to be back within two seconds of the store's return.
const LONGEST_PAUSE: Duration = Duration::from_millis(1500);

/// The handle of the store.
pub(super) struct Link<'a> {
    store: Option<Box<dyn Backend>>,
    reopen: &'a mut Reopen<'a>,
    trouble: Option<Trouble>,
}

struct Trouble {
    since: Instant,
    again: Instant,
    pause: Duration,
}

/// What an error of the store means for the worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Gravity {
    /// It may pass by itself.
    Passing,
    /// There is no room: what is done can still be acknowledged.
    Full,
    /// It will not pass.
    Final,
}

/// What an error means for the run, by its kind.
pub(super) fn gravity(error: &Error) -> Gravity {
    match error.kind() {
        Kind::Full => Gravity::Full,
        kind if kind.passes() => Gravity::Passing,
        _ => Gravity::Final,
    }
}

impl<'a> Link<'a> {
    /// A link over a handle, or over a store that could not be opened yet.
    pub(super) fn new(store: Option<Box<dyn Backend>>, reopen: &'a mut Reopen<'a>) -> Self {
        Self {
            store,
            reopen,
            trouble: None,
        }
    }

    /// When the store may be asked: None means now.
    pub(super) fn not_before(&self) -> Option<Instant> {
        self.trouble
            .as_ref()
            .map(|trouble| trouble.again)
            .filter(|again| *again > Instant::now())
    }

    /// For how long the store has not answered.
    pub(super) fn lost_for(&self) -> Option<Duration> {
        self.trouble.as_ref().map(|trouble| trouble.since.elapsed())
    }

    /// The most settles, and the most claims, of one call.
    pub(super) fn most(&self) -> usize {
        self.store
            .as_ref()
            .map_or(usize::MAX, |store| store.capability().max_batch)
    }

    /// The handle, opened again where it was lost.
    pub(super) fn store(&mut self) -> Result<&mut Box<dyn Backend>> {
        match self.store {
            Some(ref mut store) => Ok(store),
            None => Ok(self.store.insert((self.reopen)()?)),
        }
    }

    /// A call went well. True if the store was in trouble before.
    pub(super) fn well(&mut self) -> bool {
        self.trouble.take().is_some()
    }

    /// A call failed in a way that may pass. True if the store was well before.
    pub(super) fn ill(&mut self, error: &Error) -> bool {
        let sound = matches!(error.kind(), Kind::Busy | Kind::Full);
        if !sound || error.effect() == Effect::Unknown {
            // A connection that failed once may be in any state.
            self.store = None;
        }
        let now = Instant::now();
        let first = self.trouble.is_none();
        let trouble = self.trouble.get_or_insert(Trouble {
            since: now,
            again: now,
            pause: FIRST_PAUSE,
        });
        // Workers that lost the same server do not come back in step.
        trouble.again = now + trouble.pause.mul_f64(0.75 + 0.25 * fastrand::f64());
        trouble.pause = (trouble.pause * 2).min(LONGEST_PAUSE);
        first
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_and_a_lost_handle_is_opened_again() {
        let mut opened = 0;
        let mut reopen = || {
            opened += 1;
            Err(Error::new(Kind::Unreachable, "still gone"))
        };
        let mut link = Link::new(None, &mut reopen);
        assert!(link.store().is_err());
        assert!(link.ill(&Error::new(Kind::Unreachable, "gone")));
        for _ in 0..10 {
            assert!(!link.ill(&Error::new(Kind::Timeout, "gone")));
        }
        let again = link.not_before().unwrap();
        assert!(again <= Instant::now() + LONGEST_PAUSE);
        assert!(again > Instant::now() + LONGEST_PAUSE / 2);
        assert!(link.store().is_err());
        assert!(link.well() && !link.well());
        assert!(link.not_before().is_none() && link.lost_for().is_none());
        assert_eq!(opened, 2);
    }

    #[test]
    fn every_kind_has_its_gravity() {
        for kind in Kind::ALL {
            let expected = match kind {
                Kind::Full => Gravity::Full,
                Kind::Unreachable | Kind::Busy | Kind::Timeout => Gravity::Passing,
                _ => Gravity::Final,
            };
            assert_eq!(gravity(&Error::new(*kind, "")), expected, "{kind:?}");
        }
    }
}
