//! How long we may still believe that a message is ours.

use super::unix;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// An instant on a clock that goes on while the machine sleeps: a lease ends at the store then, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Moment(Duration);

impl Moment {
    /// Now.
    pub(super) fn now() -> Self {
        Self(unix::uptime())
    }

    /// So much later.
    pub(super) fn plus(self, by: Duration) -> Self {
        Self(self.0.saturating_add(by))
    }

    /// How long after `earlier`; zero if it is not.
    pub(super) fn since(self, earlier: Self) -> Duration {
        self.0.saturating_sub(earlier.0)
    }
}

/// The end of one lease, shared by the store thread, which extends it, and the slot, which obeys it.
///
/// A lease is a length, counted from before the call that got it: the store counts from later, so ours never ends after
/// the store's, whatever its clock says.
#[derive(Debug)]
pub(super) struct Lease {
    /// Nanoseconds on the clock of [`Moment`].
    until: AtomicU64,
}

fn end(from: Moment, length: Duration) -> u64 {
    u64::try_from(from.0.saturating_add(length).as_nanos()).unwrap_or(u64::MAX)
}

impl Lease {
    /// A lease of this length, got by a call that began at `from`.
    pub(super) fn new(from: Moment, length: Duration) -> Arc<Self> {
        Arc::new(Self {
            until: AtomicU64::new(end(from, length)),
        })
    }

    /// The message is acknowledged already: nothing can be lost any more.
    pub(super) fn endless() -> Arc<Self> {
        Arc::new(Self {
            until: AtomicU64::new(u64::MAX),
        })
    }

    /// The store extended it, in a call that began at `from`. A lost lease stays lost.
    pub(super) fn extend(&self, from: Moment, length: Duration) {
        let until = end(from, length);
        let _ = self
            .until
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, |old| {
                (old != 0).then_some(old.max(until))
            });
    }

    /// The store says that it is ours no more.
    pub(super) fn lose(&self) {
        self.until.store(0, Ordering::Release);
    }

    /// How much of it is left; zero: it is not ours.
    pub(super) fn left(&self) -> Duration {
        Duration::from_nanos(self.until.load(Ordering::Acquire)).saturating_sub(unix::uptime())
    }

    /// Whether it is over.
    pub(super) fn over(&self) -> bool {
        self.left().is_zero()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lease_counts_from_before_the_call() {
        let before = Moment::now();
        std::thread::sleep(Duration::from_millis(5));
        let lease = Lease::new(before, Duration::from_secs(1));
        assert!(lease.left() <= Duration::from_millis(995));
        let short = Lease::new(before, Duration::from_millis(4));
        assert!(short.over());
    }

    #[test]
    fn extending_never_shortens_and_never_revives() {
        let before = Moment::now();
        let lease = Lease::new(before, Duration::from_mins(1));
        lease.extend(before, Duration::from_secs(1));
        assert!(lease.left() > Duration::from_secs(50));
        lease.extend(before, Duration::from_mins(2));
        assert!(lease.left() > Duration::from_secs(110));
        lease.lose();
        lease.extend(before, Duration::from_hours(1));
        assert!(lease.over());
    }
}
