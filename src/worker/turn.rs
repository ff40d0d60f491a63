//! One exchange: what ended, what starts next, leases that are a third over, and a refill.

use super::lane::Lane;
use super::lease::Moment;
use super::plan::{Plan, Promise, Source};
use super::run::Worker;
use super::want::Want;
use crate::backend::{Claim, Effect, Exchange, Exchanged, Pick, Settle, Verdict};
use crate::queue::Receipt;
use std::time::Duration;

/// What a settle in the exchange is about.
pub(super) enum Item {
    Ended(usize),
    Start(usize),
    GiveBack(usize),
    Extend(Receipt),
}

impl Worker<'_> {
    /// Exchanges as long as there is a reason to.
    pub(super) fn turns(&mut self) {
        while !self.abandoned && self.link.not_before().is_none() {
            if self.full.is_some() && !self.turn_without_room() {
                return;
            }
            self.deal_started();
            let keeps = self.full.is_some() && !self.ended.is_empty();
            if !keeps && !self.is_due() {
                self.asks_later();
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
        let load = self.desk.load();
        let to_settle = !self.ended.is_empty();
        if self.broken {
            return load.quiet() && (to_settle || !self.retiring.is_empty());
        }
        let beat = self.plan.heartbeat
            && self
                .ledger
                .next_beat()
                .is_some_and(|beat| beat <= Moment::now());
        let low = load.waiting < self.low();
        beat || !self.retiring.is_empty()
            || to_settle && (load.quiet() || self.stop.is_some() || self.has_gathered())
            || low && self.startable() > 0
            || low && self.fetched.is_empty() && self.wanted(0).is_some()
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
                self.has_room(&claimed);
                self.heard(items, settled, before, starts);
                if let Some(want) = wanted {
                    self.brought(want, claimed, before);
                }
            }
        }
    }
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
