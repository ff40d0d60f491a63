//! The queues of a run: they take turns, one claim each.

use super::plan::Terms;
use crate::queue::{Cursor, QueueName};
use std::time::{Duration, Instant};

/// One queue.
#[derive(Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is one thing that is known of the queue"
)]
pub(super) struct Lane {
    /// Its name.
    pub(super) queue: QueueName,
    /// What is in force for it.
    pub(super) terms: Terms,
    /// The last claim found no more, and nothing that we did since could have changed that.
    pub(super) dry: bool,
    /// Then something may have become ready by the clock.
    pub(super) next: Option<Instant>,
    /// Nothing is delayed and nothing leased, by anybody.
    pub(super) empty: bool,
    /// It was told that it is paused, or not there.
    pub(super) told: bool,
    /// Where a walk over dead letters goes on.
    pub(super) cursor: Option<Cursor>,
    /// The walk is at its end.
    pub(super) walked: bool,
}

impl Lane {
    /// A queue that may have something.
    pub(super) fn new(queue: QueueName, terms: Terms) -> Self {
        Self {
            queue,
            terms,
            dry: false,
            next: None,
            empty: false,
            told: false,
            cursor: None,
            walked: false,
        }
    }

    /// A claim brought `got` of `asked`; `next` as the store said it.
    pub(super) fn heard(&mut self, got: usize, asked: usize, next: Option<Duration>) {
        self.dry = got == 0 || got < asked && next != Some(Duration::ZERO);
        self.next = next.map(|wait| Instant::now() + wait);
        self.empty = got == 0 && next.is_none();
    }
}

/// All of them, and whose turn it is.
#[derive(Debug)]
pub(super) struct Lanes {
    /// In the order of the command line.
    pub(super) all: Vec<Lane>,
    turn: usize,
}

/// At least so often a dry queue is looked at, whatever the bell says.
pub(super) const POLL: Duration = Duration::from_secs(1);

impl Lanes {
    /// The first has its turn.
    pub(super) fn new(all: Vec<Lane>) -> Self {
        Self { all, turn: 0 }
    }

    /// The next queue that may have something; the turn stays with it until [`Self::took_turn`].
    pub(super) fn next(&self) -> Option<usize> {
        (0..self.all.len())
            .map(|step| (self.turn + step) % self.all.len())
            .find(|lane| !self.all[*lane].dry)
    }

    /// This queue had its turn.
    pub(super) fn took_turn(&mut self, lane: usize) {
        self.turn = (lane + 1) % self.all.len();
    }

    /// None has anything, as far as we know.
    pub(super) fn dry(&self) -> bool {
        self.all.iter().all(|lane| lane.dry)
    }

    /// None has anything, now or later.
    pub(super) fn empty(&self) -> bool {
        self.all.iter().all(|lane| lane.dry && lane.empty)
    }

    /// Something may have come anywhere.
    pub(super) fn wet(&mut self) {
        for lane in &mut self.all {
            lane.dry = lane.walked;
        }
    }

    /// What became due by the clock may be ready.
    pub(super) fn tick(&mut self, now: Instant) {
        for lane in &mut self.all {
            if lane.next.is_some_and(|next| next <= now) {
                lane.next = None;
                lane.dry = lane.walked;
            }
        }
    }

    /// When something becomes due by the clock.
    pub(super) fn next_due(&self) -> Option<Instant> {
        self.all.iter().filter_map(|lane| lane.next).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::Ladder;

    fn lanes(count: usize) -> Lanes {
        let terms = Terms {
            max_attempts: 1,
            ladder: Ladder::default(),
            lease: Duration::from_secs(1),
        };
        let lane = |n| Lane::new(QueueName::parse(&format!("q{n}")).unwrap(), terms.clone());
        Lanes::new((0..count).map(lane).collect())
    }

    #[test]
    fn queues_take_turns_and_dry_ones_are_passed_over() {
        let mut lanes = lanes(3);
        let mut order = vec![];
        for _ in 0..4 {
            let lane = lanes.next().unwrap();
            order.push(lane);
            lanes.took_turn(lane);
        }
        assert_eq!(order, [0, 1, 2, 0]);
        lanes.all[1].heard(0, 5, None);
        assert_eq!(lanes.next(), Some(2));
        lanes.all[2].heard(2, 5, Some(Duration::from_mins(1)));
        lanes.all[0].heard(5, 5, None);
        assert_eq!(lanes.next(), Some(0));
        lanes.all[0].heard(0, 5, None);
        assert!(lanes.dry() && !lanes.empty() && lanes.next().is_none());
        lanes.all[2].heard(0, 5, None);
        assert!(lanes.empty());
        lanes.wet();
        assert!(!lanes.dry());
    }

    #[test]
    fn what_is_due_by_the_clock_is_looked_at_then() {
        let mut lanes = lanes(1);
        lanes.all[0].heard(0, 5, Some(Duration::from_millis(5)));
        assert!(lanes.dry());
        let due = lanes.next_due().unwrap();
        lanes.tick(due.checked_sub(Duration::from_millis(1)).unwrap());
        assert!(lanes.dry());
        lanes.tick(due);
        assert!(!lanes.dry());
        lanes.all[0].heard(1, 5, Some(Duration::ZERO));
        assert!(!lanes.dry(), "the limit on bytes ended that claim");
    }
}
