//! What a claim brought.

use super::lease::Moment;
use super::ledger::Job;
use super::link::{Gravity, gravity};
use super::note::{Note, Why};
use super::plan::{Missing, Mode, Source};
use super::run::Worker;
use super::want::Want;
use crate::backend::{Claimed, Error, Kind};
use crate::queue::Delivery;

impl Worker<'_> {
    /// Takes what a claim answered; `before`: when it was asked, from which its leases count.
    pub(super) fn brought(
        &mut self,
        want: Want,
        claimed: crate::backend::Result<Claimed>,
        before: Moment,
    ) {
        let Want { lane, max, .. } = want;
        self.looked = std::time::Instant::now();
        self.lanes.took_turn(lane);
        match claimed {
            Ok(claimed) => self.took(want, claimed, before),
            Err(error) if error.kind() == Kind::NotFound && self.plan.missing == Missing::Empty => {
                self.lanes.all[lane].heard(0, max, None);
                if !std::mem::replace(&mut self.lanes.all[lane].told, true) {
                    (self.say)(Note::Missing(&self.lanes.all[lane].queue));
                }
            }
            Err(error) => self.refused(error),
        }
    }

    /// The claim alone failed; what was settled beside it stands.
    fn refused(&mut self, error: Error) {
        match gravity(&error) {
            Gravity::Passing | Gravity::Full => self.failed(error),
            Gravity::Final => self.begin_stop(Why::Store(error)),
        }
    }

    fn took(&mut self, want: Want, claimed: Claimed, before: Moment) {
        let Want {
            lane, max, start, ..
        } = want;
        let Claimed {
            got,
            buried,
            paused,
            next,
            held,
            cursor,
        } = claimed;
        if !buried.is_empty() {
            self.summary.dead += buried.len() as u64;
            (self.say)(Note::Buried {
                queue: &self.lanes.all[lane].queue,
                found: &buried,
            });
        }
        if !held.is_empty() {
            self.summary.held += held.len() as u64;
            (self.say)(Note::Held {
                queue: &self.lanes.all[lane].queue,
                found: &held,
            });
        }
        let at = &mut self.lanes.all[lane];
        if let Source::Dead(_) = self.plan.source {
            at.walked = cursor.is_none();
            at.cursor = cursor;
            at.dry = at.walked;
            at.empty = at.walked;
        } else {
            // A claim that met many that had expired ends there, and is gone on with.
            at.heard(got.len() + buried.len(), max, next);
            at.empty = got.is_empty() && next.is_none();
            if paused {
                at.dry = true;
                at.empty = true;
                if !std::mem::replace(&mut at.told, true) {
                    (self.say)(Note::Paused(&at.queue));
                }
            } else if !got.is_empty() {
                at.told = false;
            }
        }
        self.claimed += got.len() as u64;
        self.pace.held(got.len());
        for delivery in got {
            let mut job = self.enter(lane, delivery, start, before);
            if self.shunned.contains_key(job.id()) {
                if matches!(self.plan.mode, Mode::OneShot | Mode::Once) {
                    // It does not run again here, and only its receipt is needed.
                    job.delivery.message.payload = vec![];
                }
                self.aside.push(job);
            } else {
                self.fetched.push_back(job);
            }
        }
        self.deal_started();
    }

    fn enter(&mut self, lane: usize, delivery: Delivery, started: bool, before: Moment) -> Job {
        let terms = &self.lanes.all[lane].terms;
        let lease = self.ledger.enter(&delivery.receipt, before, terms.lease);
        let message = &delivery.message;
        // A dead letter's attempts are spent already and not charged again.
        let (attempt, max_attempts) = match self.plan.source {
            Source::Ready(_) => (
                message.attempts + u32::from(!started),
                Some(message.max_attempts.unwrap_or(terms.max_attempts)),
            ),
            Source::Dead(_) => (message.attempts.max(1), None),
        };
        Job {
            lease,
            lane,
            attempt,
            max_attempts,
            marked: started,
            uncertain: false,
            delivery,
        }
    }
}
