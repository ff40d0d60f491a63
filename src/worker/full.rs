//! A store without room: what is done is acknowledged, and nothing else.

use super::run::Worker;
use crate::backend::{Effect, Exchange, Exchanged, Settle, Verdict};

/// So many verdicts of done a call on a full disk.
const FEW: usize = 100;

impl Worker<'_> {
    /// On a full disk: what is done, and nothing else.
    pub(super) fn settle_what_is_done(&mut self) {
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
