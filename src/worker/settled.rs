//! What the store answered, and what follows from it.

use super::ends::Ended;
use super::lease::{Lease, Moment};
use super::ledger::Job;
use super::note::{Fate, Note};
use super::plan::Promise;
use super::run::Worker;
use super::turn::Item;
use crate::backend::{Settled, Standing, Verdict};
use crate::queue::Reason;

impl Worker<'_> {
    pub(super) fn heard(
        &mut self,
        items: Vec<Item>,
        settled: Vec<Settled>,
        before: Moment,
        starts: usize,
    ) {
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

    pub(super) fn start(&mut self, jobs: Vec<Job>) {
        let mut given = vec![];
        for mut job in jobs {
            job.marked = true;
            self.solo |= job.runs_alone();
            self.summary.started += 1;
            if self.plan.promise == Promise::AtMostOnce {
                self.ledger.settle(job.receipt());
                job.lease = Lease::endless();
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
    pub(super) fn conclude(&mut self, ended: &Ended, answer: Option<&Settled>) {
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

impl Job {
    /// Whether there is something to settle: a message that was acknowledged before its command began is gone.
    pub(super) fn lease_counts(&self, promise: Promise) -> bool {
        promise == Promise::AtLeastOnce || !self.marked
    }
}
