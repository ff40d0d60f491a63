//! What we hold and did not settle.

use super::lease::{Lease, Moment};
use crate::queue::{Delivery, MessageId, Receipt};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

/// A delivery on its way through the worker.
#[derive(Debug)]
pub(super) struct Job {
    /// What the claim brought.
    pub(super) delivery: Delivery,
    /// How long it is ours; its slot looks at it too.
    pub(super) lease: Arc<Lease>,
    /// From which of the run's queues.
    pub(super) lane: usize,
    /// Which start this is, counted from 1.
    pub(super) attempt: u32,
    /// When they are spent; never where nothing is charged.
    pub(super) max_attempts: Option<u32>,
    /// Its start is durable, or needs not be.
    pub(super) marked: bool,
    /// A call that may have marked it failed.
    pub(super) uncertain: bool,
}

impl Job {
    /// Whether this is the last start that the message has.
    pub(super) fn is_last(&self) -> bool {
        self.max_attempts.is_some_and(|most| self.attempt >= most)
    }

    /// The run before this one was started and nobody saw its end, and this is the last: if the message kills its
    /// worker it must take no neighbour with it.
    pub(super) fn runs_alone(&self) -> bool {
        self.is_last() && self.delivery.doubt.is_some()
    }

    /// What settles it.
    pub(super) fn receipt(&self) -> &Receipt {
        &self.delivery.receipt
    }

    /// Its message.
    pub(super) fn id(&self) -> &MessageId {
        &self.delivery.message.id
    }
}

/// One entry: enough to extend it, wherever its job is.
#[derive(Debug)]
struct Held {
    lease: Arc<Lease>,
    length: Duration,
    /// When the call began from which the lease counts.
    since: Moment,
}

impl Held {
    fn due(&self) -> Moment {
        self.since.plus(self.length / 3)
    }
}

/// Every delivery that is ours, by its receipt.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    held: HashMap<Receipt, Held>,
    /// No entry is due for its extension before.
    earliest: Option<Moment>,
}

impl Ledger {
    /// A claim brought it; its lease counts from `before` the call.
    pub(super) fn enter(
        &mut self,
        receipt: &Receipt,
        before: Moment,
        length: Duration,
    ) -> Arc<Lease> {
        let lease = Lease::new(before, length);
        let held = Held {
            lease: Arc::clone(&lease),
            length,
            since: before,
        };
        self.earliest = self.earliest.into_iter().chain([held.due()]).min();
        self.held.insert(receipt.clone(), held);
        lease
    }

    /// When the first lease reaches a third of its length.
    pub(super) fn next_beat(&self) -> Option<Moment> {
        self.earliest.filter(|_| !self.held.is_empty())
    }

    /// The leases that have reached a third of their length and are not over, with their lengths; of more than `most`
    /// those that have waited longest. They are in the order of their receipts: whoever extends many at once takes their
    /// locks in the same order as anybody else.
    pub(super) fn due(&mut self, now: Moment, most: usize) -> Vec<(Receipt, Duration)> {
        if self.next_beat().is_none_or(|beat| now < beat) {
            return vec![];
        }
        let mut due: Vec<_> = self
            .held
            .iter()
            .filter(|(_, held)| held.due() <= now && !held.lease.over())
            .collect();
        if due.len() > most {
            due.select_nth_unstable_by_key(most, |(_, held)| held.due());
            due.truncate(most);
        }
        due.sort_unstable_by_key(|(receipt, _)| *receipt);
        let due = due
            .into_iter()
            .map(|(receipt, held)| (receipt.clone(), held.length))
            .collect();
        // Until these are extended, or fail to be, they stay due; a failing store is not asked more often for that.
        self.earliest = self
            .held
            .values()
            .filter(|held| held.due() > now)
            .map(Held::due)
            .chain([now.plus(Duration::from_secs(1))])
            .min();
        due
    }

    /// Whether a lease is so young that a command may begin under it though nobody extends it.
    pub(super) fn is_fresh(&self, receipt: &Receipt, now: Moment) -> bool {
        self.held
            .get(receipt)
            .is_some_and(|held| now.since(held.since) < held.length / 10)
    }

    /// How long a lease is as a whole.
    pub(super) fn length(&self, receipt: &Receipt) -> Option<Duration> {
        self.held.get(receipt).map(|held| held.length)
    }

    /// The store extended it, in a call that began at `before`.
    pub(super) fn extended(&mut self, receipt: &Receipt, before: Moment) {
        if let Some(held) = self.held.get_mut(receipt) {
            held.lease.extend(before, held.length);
            held.since = before;
            self.earliest = self.earliest.into_iter().chain([held.due()]).min();
        }
    }

    /// It is somebody else's, or nobody's: whoever runs it ends it. True if it was held.
    pub(super) fn lose(&mut self, receipt: &Receipt) -> bool {
        match self.held.remove(receipt) {
            Some(held) => {
                held.lease.lose();
                true
            }
            None => false,
        }
    }

    /// It is settled.
    pub(super) fn settle(&mut self, receipt: &Receipt) {
        self.held.remove(receipt);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn receipt(name: &str) -> Receipt {
        name.into()
    }

    #[test]
    fn r04_a_lease_is_due_at_a_third_of_its_length() {
        let mut ledger = Ledger::default();
        let before = Moment::now();
        ledger.enter(&receipt("a"), before, Duration::from_secs(30));
        ledger.enter(&receipt("b"), before, Duration::from_mins(1));
        assert_eq!(
            ledger.next_beat(),
            Some(before.plus(Duration::from_secs(10)))
        );
        assert!(
            ledger
                .due(before.plus(Duration::from_secs(9)), 9)
                .is_empty()
        );
        let at = before.plus(Duration::from_secs(11));
        assert_eq!(ledger.due(at, 9), [(receipt("a"), Duration::from_secs(30))]);
        ledger.extended(&receipt("a"), at);
        let later = at.plus(Duration::from_secs(9));
        let due: Vec<_> = ledger
            .due(later, 9)
            .into_iter()
            .map(|(name, _)| name)
            .collect();
        assert_eq!(due, [receipt("b")]);
    }

    #[test]
    fn leases_are_due_in_one_order_for_everybody() {
        let mut ledger = Ledger::default();
        let before = Moment::now();
        let names: Vec<String> = (0..50).map(|n| format!("{:02}", n * 7 % 50)).collect();
        for name in &names {
            ledger.enter(&receipt(name), before, Duration::from_secs(30));
        }
        let due = ledger.due(before.plus(Duration::from_secs(11)), 50);
        assert_eq!(due.len(), 50);
        assert!(due.is_sorted());

        // Where not all have room those that end first are extended first.
        ledger.enter(&receipt("99"), before, Duration::from_secs(15));
        let due = ledger.due(before.plus(Duration::from_secs(12)), 20);
        assert_eq!(due.len(), 20);
        assert!(due.is_sorted() && due[19].0 == receipt("99"));
    }

    #[test]
    fn what_is_lost_or_settled_is_not_extended() {
        let mut ledger = Ledger::default();
        let before = Moment::now();
        let lease = ledger.enter(&receipt("a"), before, Duration::from_mins(1));
        ledger.enter(&receipt("b"), before, Duration::from_mins(1));
        assert!(ledger.lose(&receipt("a")) && !ledger.lose(&receipt("a")));
        assert!(lease.over());
        ledger.settle(&receipt("b"));
        assert!(
            ledger
                .due(before.plus(Duration::from_secs(50)), 9)
                .is_empty()
        );
        assert_eq!(ledger.next_beat(), None);
    }

    #[test]
    fn only_an_unseen_end_before_the_last_start_makes_a_message_run_alone() {
        let mut delivery = super::super::fake::delivery("1", b"");
        let job = |delivery: &Delivery, attempt| Job {
            delivery: delivery.clone(),
            lease: Lease::new(Moment::now(), Duration::from_secs(1)),
            lane: 0,
            attempt,
            max_attempts: Some(3),
            marked: false,
            uncertain: false,
        };
        assert!(!job(&delivery, 3).runs_alone());
        delivery.doubt = Some(crate::queue::Open {
            started_at: crate::queue::Timestamp(0),
            worker: "w".into(),
        });
        assert!(!job(&delivery, 2).runs_alone());
        assert!(job(&delivery, 3).runs_alone());
    }
}
