//! One exchange: what ended, what starts next, leases that are a third over, and a refill.

use super::ends::Ended;
use super::lane::Lane;
use super::lease::Moment;
use super::ledger::Job;
use super::note::{Fate, Note};
use super::plan::{Plan, Promise, Source};
use super::run::Worker;
use crate::backend::{
    Claim, Effect, Exchange, Exchanged, Pick, Settle, Settled, Standing, Verdict,
};
use crate::queue::{Reason, Receipt};
use std::time::Duration;

/// Payloads that are held and wait, at the most (in bytes); one message is always held.
const BYTES: usize = 8 << 20;
/// So many messages are set aside; then nothing is claimed until they had their turn.
pub(super) const ASIDE: usize = 10_000;
/// So many verdicts of done a call on a full disk.
const FEW: usize = 100;

/// What a settle in the exchange is about.
enum Item {
    Ended(usize),
    Start(usize),
    GiveBack(usize),
    Extend(Receipt),
}

/// What is claimed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Want {
    pub(super) lane: usize,
    pub(super) max: usize,
    bytes: usize,
    /// Nothing else is held or runs: the claim itself is the start.
    pub(super) start: bool,
}

impl Worker<'_> {
    /// Exchanges as long as there is a reason to.
    pub(super) fn turns(&mut self) {
        while !self.abandoned && self.link.not_before().is_none() {
            if self.full {
                self.settle_what_is_done();
                return;
            }
            self.deal_started();
            if !self.is_due() {
                return;
            }
            let beats = if self.plan.heartbeat && !self.broken {
                self.ledger.due(Moment::now(), self.link.most())
            } else {
                vec![]
            };
            for ended in &self.ended {
                // What ends may free the next of its group.
                let lane = &mut self.lanes.all[ended.job.lane];
                lane.dry = lane.walked;
            }
            let starts = self.startable();
            let wanted = self.wanted(starts);
            self.exchange(&beats, starts, wanted);
            // A walk that finds nothing goes on for long: what is told meanwhile is heard first.
            if self.desk.is_told() {
                return;
            }
        }
    }

    /// Whether an exchange cannot wait. What can waits for one that cannot, so that they share a commit.
    fn is_due(&self) -> bool {
        let standing = self.desk.standing();
        let to_settle = !self.ended.is_empty();
        if self.broken {
            return standing.quiet() && (to_settle || !self.retiring.is_empty());
        }
        let beat = self.plan.heartbeat
            && self
                .ledger
                .next_beat()
                .is_some_and(|beat| beat <= Moment::now());
        let low = standing.waiting < self.low();
        beat || !self.retiring.is_empty()
            || to_settle && (standing.quiet() || self.stop.is_some() || self.has_gathered())
            || low && self.startable() > 0
            || low && self.fetched.is_empty() && self.wanted(0).is_some()
    }

    /// How many of the fetched may have their start committed now: for free slots, and at most twice the slots ahead. A
    /// last attempt is never started ahead; one after an end that nobody saw runs alone.
    pub(super) fn startable(&self) -> usize {
        if self.stop.is_some() || self.solo {
            return 0;
        }
        let standing = self.desk.standing();
        let jobs = self.plan.jobs;
        let free = jobs.saturating_sub(standing.busy + standing.waiting);
        let ahead = match self.plan.promise {
            // Until one has gone well nobody knows whether the command runs at all.
            Promise::AtLeastOnce if self.succeeded > 0 => {
                free + (2 * jobs).saturating_sub(standing.waiting)
            }
            // At most once, ahead would mean acknowledged and perhaps never run.
            Promise::AtLeastOnce | Promise::AtMostOnce => free,
        };
        let nobody = standing.busy == 0 && standing.waiting == 0;
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
        let standing = self.desk.standing();
        let depth = self
            .pace
            .depth(jobs, self.lanes.all[lane].terms.lease, self.plan.prefetch);
        let held = self.fetched.len() + standing.waiting;
        let room = (jobs.saturating_sub(standing.busy) + depth).saturating_sub(held);
        // A claim for one when there is room for many costs as much as one for many.
        let hungry = self.fetched.len() <= starts || held * 2 <= depth;
        let payload = |job: &Job| job.delivery.message.payload.len();
        let held_bytes = self.fetched.iter().chain(&self.aside).map(payload).sum();
        let bytes = BYTES.checked_sub(held_bytes);
        if self.aside_is_full() {
            return None;
        }
        let start = standing.quiet()
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

    fn exchange(&mut self, beats: &[(Receipt, Duration)], starts: usize, wanted: Option<Want>) {
        // What is more than the store takes in one call has the next.
        let most = self.link.most();
        let mut rest_ended = self.ended.split_off(self.ended.len().min(most));
        let left = most - self.ended.len();
        let starts = starts.min(left / 2);
        let left = left - 2 * starts;
        let mut rest_retiring = self.retiring.split_off(self.retiring.len().min(left));
        let left = left - self.retiring.len();
        let beats = &beats[..beats.len().min(left)];
        let wanted = wanted.map(|want| Want {
            max: want.max.min(most),
            ..want
        });
        self.exchange_some(beats, starts, wanted);
        self.ended.append(&mut rest_ended);
        self.gather();
        self.retiring.append(&mut rest_retiring);
    }

    fn exchange_some(
        &mut self,
        beats: &[(Receipt, Duration)],
        starts: usize,
        wanted: Option<Want>,
    ) {
        let begin = match self.plan.promise {
            Promise::AtLeastOnce => Verdict::Start,
            Promise::AtMostOnce => Verdict::Done,
        };
        let mut items = vec![];
        let mut settle = vec![];
        for (n, ended) in self
            .ended
            .iter()
            .enumerate()
            .filter(|(_, ended)| ended.job.lease_counts(self.plan.promise))
        {
            items.push(Item::Ended(n));
            settle.push(Settle {
                receipt: ended.job.receipt(),
                verdict: ended.verdict,
                end: ended.end.as_ref(),
            });
        }
        let now = Moment::now();
        for (n, job) in self.fetched.iter().take(starts).enumerate() {
            items.push(Item::Start(n));
            settle.push(Settle {
                receipt: job.receipt(),
                verdict: begin,
                end: None,
            });
            // Nobody extends it later: its command gets a whole lease.
            if !self.plan.heartbeat
                && begin == Verdict::Start
                && !self.ledger.is_fresh(job.receipt(), now)
                && let Some(length) = self.ledger.length(job.receipt())
            {
                items.push(Item::Extend(job.receipt().clone()));
                settle.push(Settle {
                    receipt: job.receipt(),
                    verdict: Verdict::Extend(length),
                    end: None,
                });
            }
        }
        for (n, job) in self
            .retiring
            .iter()
            .enumerate()
            .filter(|(_, job)| job.lease_counts(self.plan.promise))
        {
            items.push(Item::GiveBack(n));
            settle.push(Settle {
                receipt: job.receipt(),
                verdict: Verdict::Release,
                end: None,
            });
        }
        for (receipt, length) in beats {
            if self
                .ended
                .iter()
                .any(|ended| ended.job.receipt() == receipt)
                || self.retiring.iter().any(|job| job.receipt() == receipt)
            {
                continue;
            }
            items.push(Item::Extend(receipt.clone()));
            settle.push(Settle {
                receipt,
                verdict: Verdict::Extend(*length),
                end: None,
            });
        }
        let claim = wanted.map(|want| claim_of(self.plan, &self.lanes.all[want.lane], want));
        // A lease counts from before the call: the store counts from later, so ours never outlives it.
        let before = Moment::now();
        let turn = Exchange {
            settle: &settle,
            claim,
        };
        let answer = self.link.store().and_then(|store| store.exchange(&turn));
        drop(settle);
        match answer {
            Err(error) => {
                if error.effect() == Effect::Unknown {
                    let ended = self.ended.iter_mut().map(|ended| &mut ended.job);
                    for job in ended.chain(self.fetched.iter_mut().take(starts)) {
                        job.uncertain = true;
                    }
                }
                self.failed(error);
            }
            Ok(Exchanged { settled, claimed }) => {
                self.back();
                self.heard(items, settled, before, starts);
                if let Some(want) = wanted {
                    self.brought(want, claimed, before);
                }
            }
        }
    }

    fn heard(&mut self, items: Vec<Item>, settled: Vec<Settled>, before: Moment, starts: usize) {
        let ended = std::mem::take(&mut self.ended);
        let retiring = std::mem::take(&mut self.retiring);
        let starting: Vec<Job> = self.fetched.drain(..starts).collect();
        let mut marks = vec![true; starts];
        let mut fates: Vec<Option<Settled>> = ended.iter().map(|_| None).collect();
        let mut lost = false;
        for (item, answer) in items.into_iter().zip(settled) {
            match item {
                Item::Ended(n) => fates[n] = Some(answer),
                Item::Start(n) => {
                    marks[n] = answer == Settled::Yes || self.was_marked(&starting[n], &answer);
                    if !marks[n] {
                        self.not_started(&starting[n], &answer);
                    }
                }
                Item::GiveBack(n) => self.ledger.settle(retiring[n].receipt()),
                Item::Extend(receipt) if answer == Settled::Yes => {
                    self.ledger.extended(&receipt, before);
                }
                Item::Extend(receipt) => lost |= self.ledger.lose(&receipt),
            }
        }
        if lost {
            self.desk.poke_all();
        }
        for job in retiring {
            self.claimed = self.claimed.saturating_sub(1);
            self.ledger.settle(job.receipt());
        }
        self.settled_all();
        for (ended, answer) in ended.into_iter().zip(fates) {
            self.conclude(&ended, answer.as_ref());
        }
        self.start(
            starting
                .into_iter()
                .zip(marks)
                .filter(|(_, marked)| *marked)
                .map(|(job, _)| job)
                .collect(),
        );
    }

    /// A call whose answer was lost may have acknowledged it already.
    fn was_marked(&self, job: &Job, answer: &Settled) -> bool {
        self.plan.promise == Promise::AtMostOnce
            && job.uncertain
            && *answer == Settled::Gone
            && !job.lease.over()
    }

    fn not_started(&mut self, job: &Job, answer: &Settled) {
        self.claimed = self.claimed.saturating_sub(1);
        self.ledger.lose(job.receipt());
        if *answer == Settled::LeaseLost(Standing::Dead(Reason::Expired)) {
            self.summary.dead += 1;
            // The next of its group may be ready now.
            self.lanes.wet();
            (self.say)(Note::Buried {
                queue: &job.delivery.message.queue,
                found: &[(job.id().clone(), Reason::Expired)],
            });
        }
    }

    fn start(&mut self, jobs: Vec<Job>) {
        let mut given = vec![];
        for mut job in jobs {
            job.marked = true;
            self.solo |= job.runs_alone();
            self.summary.started += 1;
            if self.plan.promise == Promise::AtMostOnce {
                self.ledger.settle(job.receipt());
                job.lease = super::lease::Lease::endless();
            }
            (self.say)(Note::Started {
                queue: &self.lanes.all[job.lane].queue,
                id: job.id(),
            });
            given.push(job);
        }
        self.desk.give(given.into_iter());
    }

    /// Tells what became of an end, and counts it.
    fn conclude(&mut self, ended: &Ended, answer: Option<&Settled>) {
        let job = &ended.job;
        match answer {
            Some(answer) if took_before(ended, answer) => {}
            Some(Settled::LeaseLost(_) | Settled::Gone) => {
                self.lose(job);
                return;
            }
            Some(Settled::Yes) | None => {}
        }
        self.ledger.settle(job.receipt());
        match &ended.fate {
            Fate::Done => self.summary.done += 1,
            Fate::Retry { .. } => self.summary.retried += 1,
            Fate::Deferred { .. } => self.summary.deferred += 1,
            Fate::Dead { .. } => self.summary.dead += 1,
            Fate::Released => self.summary.released += 1,
            Fate::Lost | Fate::Dropped { .. } => {}
        }
        if let Some(wait) = ended.wait {
            self.summary.soonest = self.summary.soonest.into_iter().chain([wait]).min();
        }
        let queue = &self.lanes.all[job.lane].queue;
        (self.say)(Note::Ended {
            queue,
            id: job.id(),
            fate: &ended.fate,
            took: ended.took,
        });
    }

    /// On a full disk: what is done, and nothing else.
    fn settle_what_is_done(&mut self) {
        let kept = std::mem::take(&mut self.ended);
        // What was acknowledged before it ran has nothing to settle.
        let (kept, settled): (Vec<_>, Vec<_>) = kept
            .into_iter()
            .partition(|ended| ended.job.lease_counts(self.plan.promise));
        for ended in settled {
            self.conclude(&ended, None);
        }
        let (done, others): (Vec<_>, Vec<_>) = kept
            .into_iter()
            .partition(|ended| ended.verdict == Verdict::Done);
        self.summary.unsettled += others.len() as u64;
        for ended in others {
            self.ledger.settle(ended.job.receipt());
        }
        let mut done = done;
        while !done.is_empty() {
            let mut few: Vec<_> = done.drain(..done.len().min(FEW)).collect();
            let settle: Vec<Settle<'_>> = few
                .iter()
                .map(|ended| Settle {
                    receipt: ended.job.receipt(),
                    verdict: Verdict::Done,
                    end: None,
                })
                .collect();
            let turn = Exchange {
                settle: &settle,
                claim: None,
            };
            let answer = self.link.store().and_then(|store| store.exchange(&turn));
            drop(settle);
            match answer {
                Ok(Exchanged { settled, .. }) => {
                    self.link.well();
                    for (ended, answer) in few.into_iter().zip(settled) {
                        self.conclude(&ended, Some(&answer));
                    }
                }
                Err(error) => {
                    for ended in &mut few {
                        ended.job.uncertain |= error.effect() == Effect::Unknown;
                    }
                    // Room may come; after a while their leases end and they run again.
                    self.ended = few;
                    self.ended.append(&mut done);
                    self.failed(error);
                    return;
                }
            }
        }
        self.settled_all();
    }
}

/// A call that seemed to fail had settled it: the repeat finds what the verdict made of it.
fn took_before(ended: &Ended, answer: &Settled) -> bool {
    let same = match (ended.verdict, answer) {
        // Only while the lease was ours can nobody else have done it.
        (Verdict::Done, Settled::Gone) => !ended.job.lease.over(),
        (Verdict::Retry { .. } | Verdict::Release, Settled::LeaseLost(Standing::Waiting)) => {
            !ended.job.lease.over()
        }
        (Verdict::Dead(reason), Settled::LeaseLost(Standing::Dead(found))) => reason == *found,
        _ => false,
    };
    same && ended.job.uncertain
}

fn claim_of<'a>(plan: &'a Plan, lane: &'a Lane, want: Want) -> Claim<'a> {
    let pick = match &plan.source {
        Source::Ready(_) => Pick::Ready,
        Source::Dead(what) => Pick::Dead {
            what,
            after: lane.cursor.as_ref(),
        },
    };
    Claim {
        queue: &lane.queue,
        max: want.max,
        bytes: want.bytes,
        lease: lane.terms.lease,
        start: want.start,
        max_attempts: lane.terms.max_attempts,
        pick,
    }
}

impl Job {
    /// Whether there is something to settle: a message that was acknowledged before its command began is gone.
    fn lease_counts(&self, promise: Promise) -> bool {
        promise == Promise::AtLeastOnce || !self.marked
    }
}
