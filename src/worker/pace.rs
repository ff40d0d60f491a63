//! How many messages to hold, so that buffered work is a quarter of the lease at most.

use std::time::Duration;

/// What is known about how long commands take.
#[derive(Debug, Default)]
pub(super) struct Pace {
    /// The mean of late, in seconds.
    mean: Option<f64>,
    /// What was held at most so far: it only doubles.
    last: usize,
}

/// The most messages that are held for one slot.
const DEEPEST: usize = 32;

impl Pace {
    /// A command took so long.
    pub(super) fn saw(&mut self, took: Duration) {
        let took = took.as_secs_f64();
        self.mean = Some(self.mean.map_or(took, |mean| mean * 0.9 + took * 0.1));
    }

    /// So many were claimed at once: twice as many may be held next.
    pub(super) fn held(&mut self, depth: usize) {
        self.last = self.last.max(depth);
    }

    /// How many to hold beyond those that run.
    pub(super) fn depth(&self, jobs: usize, lease: Duration, cap: Option<usize>) -> usize {
        let deepest = jobs.saturating_mul(DEEPEST);
        let wanted = match self.mean {
            // Nothing is known: one a slot.
            None => jobs,
            Some(mean) => {
                let fits = lease.as_secs_f64() / 4.0 / mean.max(1e-6);
                let whole = Duration::try_from_secs_f64(fits).map_or(u64::MAX, |n| n.as_secs());
                usize::try_from(whole)
                    .unwrap_or(usize::MAX)
                    .saturating_mul(jobs)
                    .min(deepest)
                    .min(self.last.max(jobs).saturating_mul(2))
            }
        };
        cap.map_or(wanted, |cap| wanted.min(cap))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEASE: Duration = Duration::from_mins(1);

    #[test]
    fn it_starts_small_doubles_and_has_an_end() {
        let mut pace = Pace::default();
        assert_eq!(pace.depth(2, LEASE, None), 2);
        pace.saw(Duration::from_micros(200));
        let depths: Vec<usize> = (0..6)
            .map(|_| {
                let depth = pace.depth(2, LEASE, None);
                assert_eq!(pace.depth(2, LEASE, None), depth, "looking changes nothing");
                pace.held(depth);
                depth
            })
            .collect();
        assert_eq!(depths, [4, 8, 16, 32, 64, 64]);
        assert_eq!(pace.depth(2, LEASE, Some(5)), 5);
    }

    #[test]
    fn r06_buffered_work_is_a_quarter_of_the_lease() {
        let mut pace = Pace::default();
        for _ in 0..20 {
            pace.saw(Duration::from_secs(1));
            pace.held(pace.depth(1, Duration::from_secs(10), None));
        }
        assert_eq!(pace.depth(1, Duration::from_secs(10), None), 2);
        let mut slow = Pace::default();
        slow.saw(Duration::from_mins(5));
        assert_eq!(slow.depth(4, LEASE, None), 0);
    }
}
