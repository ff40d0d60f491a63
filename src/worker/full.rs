//! A store without room: what is done is acknowledged, and nothing else. A worker that is to stay for ever waits for
//! room; any other stops.

use super::link::PATIENCE;
use super::note::{Note, Why};
use super::plan::Mode;
use super::run::Worker;
use crate::backend::{Effect, Error, Exchange, Exchanged, Kind, Result, Settle, Verdict};
use std::time::{Duration, Instant};

/// So many verdicts of done a call on a full disk.
const FEW: usize = 100;
/// So often a worker that waits for room asks for it.
const AGAIN: Duration = Duration::from_secs(1);

impl Worker<'_> {
    fn waits_for_room(&self) -> bool {
        self.plan.mode == Mode::Follow && self.stop.is_none()
    }

    /// The store said that it is full.
    pub(super) fn is_full(&mut self, error: Error) {
        if self.waits_for_room() {
            if self.full.replace(Instant::now()).is_none() {
                (self.say)(Note::StoreFull(&error));
            }
            self.asks_later();
            return;
        }
        self.lost(&error);
        if self.link.lost_for().is_some_and(|lost| lost >= PATIENCE) {
            self.give_up(error);
        } else {
            self.begin_stop(Why::Store(error));
            // Only what is done fits; other leases end by themselves.
            self.retiring.clear();
        }
        self.full = Some(Instant::now());
    }

    /// There was no room, or nothing to ask it for.
    pub(super) fn asks_later(&mut self) {
        if let Some(again) = &mut self.full {
            // Workers that share a store do not ask in step.
            *again = Instant::now() + AGAIN.mul_f64(0.75 + 0.25 * fastrand::f64());
        }
    }

    /// When a worker that waits for room asks for it.
    pub(super) fn asks_for_room(&self) -> Option<Instant> {
        self.full.filter(|_| self.waits_for_room())
    }

    /// A call went well that was not only about what is done.
    pub(super) fn has_room<T>(&mut self, claimed: &Result<T>) {
        let is_full = matches!(claimed, Err(error) if error.kind() == Kind::Full);
        if !is_full && self.full.take().is_some() {
            (self.say)(Note::Room);
        }
    }

    /// Settles what is done and nothing else. True: what else there is may be tried now.
    pub(super) fn turn_without_room(&mut self) -> bool {
        self.settle_what_is_done();
        self.link.not_before().is_none()
            && self
                .asks_for_room()
                .is_some_and(|again| again <= Instant::now())
    }

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
        if self.waits_for_room() {
            self.ended = others;
        } else {
            self.summary.unsettled += others.len() as u64;
            for ended in others {
                self.ledger.settle(ended.job.receipt());
            }
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
                    if self.waits_for_room() {
                        self.back();
                    } else {
                        self.link.well();
                    }
                    for (ended, answer) in few.into_iter().zip(settled) {
                        self.conclude(&ended, Some(&answer));
                    }
                }
                Err(error) => {
                    for ended in &mut few {
                        ended.job.uncertain |= error.effect() == Effect::Unknown;
                    }
                    // Room may come; after a while their leases end and they run again.
                    self.ended.append(&mut few);
                    self.ended.append(&mut done);
                    self.failed(error);
                    return;
                }
            }
        }
        self.settled_all();
    }
}
