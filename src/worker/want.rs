//! What begins next, and what is claimed.

use super::ledger::Job;
use super::plan::{Promise, Source};
use super::run::Worker;

/// Payloads that are held and wait, at the most (in bytes); one message is always held.
const BYTES: usize = 8 << 20;
/// So many messages are set aside; then nothing is claimed until they had their turn.
pub(super) const ASIDE: usize = 10_000;

/// What is claimed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Want {
    pub(super) lane: usize,
    pub(super) max: usize,
    pub(super) bytes: usize,
    /// Nothing else is held or runs: the claim itself is the start.
    pub(super) start: bool,
}

impl Worker<'_> {
    /// How many of the fetched may have their start committed now: for free slots, and at most twice the slots ahead. A
    /// last attempt is never started ahead; one after an end that nobody saw runs alone.
    pub(super) fn startable(&self) -> usize {
        if self.stop.is_some() || self.solo {
            return 0;
        }
        let load = self.desk.load();
        let jobs = self.plan.jobs;
        // What an end says may stop the worker: until one has gone well none begins before each end is looked at.
        let unseen = if self.succeeded > 0 { 0 } else { load.results };
        let free = jobs.saturating_sub(load.busy + load.waiting + unseen);
        let ahead = match self.plan.promise {
            // Until one has gone well nobody knows whether the command runs at all.
            Promise::AtLeastOnce if self.succeeded > 0 => {
                free + (2 * jobs).saturating_sub(load.waiting)
            }
            // At most once, ahead would mean acknowledged and perhaps never run.
            Promise::AtLeastOnce | Promise::AtMostOnce => free,
        };
        let nobody = load.busy == 0 && load.waiting == 0;
        let mut count = 0;
        for job in self.fetched.iter().take_while(|job| !job.marked) {
            if job.runs_alone() {
                return if count == 0 {
                    usize::from(nobody)
                } else {
                    count
                };
            }
            if count >= free && (count >= ahead || job.is_last()) {
                break;
            }
            count += 1;
        }
        count
    }

    /// Which queue is claimed from, and how much.
    pub(super) fn wanted(&self, starts: usize) -> Option<Want> {
        if self.stop.is_some() || self.left() == 0 {
            return None;
        }
        let lane = self.lanes.next()?;
        let jobs = self.plan.jobs;
        let load = self.desk.load();
        let depth = self
            .pace
            .depth(jobs, self.lanes.all[lane].terms.lease, self.plan.prefetch);
        let held = self.fetched.len() + load.waiting;
        let room = (jobs.saturating_sub(load.busy) + depth).saturating_sub(held);
        // A claim for one when there is room for many costs as much as one for many.
        let hungry = self.fetched.len() <= starts || held * 2 <= depth;
        let payload = |job: &Job| job.delivery.message.payload.len();
        let held_bytes = self.fetched.iter().chain(&self.aside).map(payload).sum();
        let bytes = BYTES.checked_sub(held_bytes);
        if self.aside_is_full() {
            return None;
        }
        let start = load.quiet()
            && self.fetched.is_empty()
            && !self.solo
            && self.plan.promise == Promise::AtLeastOnce
            && matches!(self.plan.source, Source::Ready(_));
        let room = if start { room.min(1) } else { room };
        let max = usize::try_from(self.left()).unwrap_or(usize::MAX).min(room);
        (max > 0 && hungry)
            .then_some(bytes)
            .flatten()
            .filter(|bytes| *bytes > 0)
            .map(|bytes| Want {
                lane,
                max,
                bytes,
                start,
            })
    }

    /// Gives the slots what was started by its claim, or was given back once and has its turn again.
    pub(super) fn deal_started(&mut self) {
        // Beside a message that must take no neighbour with it none begins.
        if self.solo {
            return;
        }
        let mut jobs = vec![];
        while self.fetched.front().is_some_and(|job| job.marked) {
            jobs.extend(self.fetched.pop_front());
        }
        if !jobs.is_empty() {
            self.start(jobs);
        }
    }
}
