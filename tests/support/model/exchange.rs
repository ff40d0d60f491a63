//! Settles and claims.

use super::{Row, World, id_of, no_queue};
use qops::backend::{Claim, Claimed, Pick, Result, Settle, Settled, Standing, Verdict};
use qops::queue::{
    Attempt, Cursor, Delivery, End, Message, Open, Outcome, QueueName, Reason, Receipt, Selection,
    State, Timestamp,
};
use std::time::Duration;

fn read_receipt(receipt: &Receipt) -> Option<(u64, u64)> {
    let (id, fence) = receipt.as_str().split_once('.')?;
    Some((id.parse().ok()?, fence.parse().ok()?))
}

impl Row {
    fn open_run(&mut self, now: Timestamp) {
        let charged = self.alive();
        let message = &mut self.message;
        message.attempts += u32::from(charged);
        message.started_at = Some(now);
        message.history.push(Attempt {
            delivery: message.deliveries,
            attempt: message.attempts,
            started_at: now,
            took: None,
            worker: message.worker.clone().unwrap_or_default(),
            outcome: Outcome::Started,
            exit: None,
            signal: None,
            error: None,
            stderr: vec![],
        });
    }

    /// The run of the present delivery, if it was started.
    fn run(&mut self) -> Option<&mut Attempt> {
        let message = &mut self.message;
        message.started_at?;
        message.history.last_mut()
    }

    /// How the run of this delivery ended, if it was started: as its end says, else as the verdict does.
    fn close_run(&mut self, end: Option<&End>, verdict: Outcome) {
        let Some(run) = self.run() else { return };
        run.outcome = verdict;
        let Some(end) = end else { return };
        if verdict != Outcome::Released {
            run.outcome = end.outcome;
        }
        run.took = Some(end.took);
        run.exit = end.exit;
        run.signal = end.signal;
        run.error = Some(end.error.clone());
        run.stderr.clone_from(&end.stderr);
    }

    fn fail(&mut self, end: Option<&End>, verdict: Outcome) {
        self.close_run(end, verdict);
        if let Some(end) = end {
            self.message.last_error = Some(end.error.clone());
        }
    }

    fn release(&mut self, end: Option<&End>, now: Timestamp) {
        let charged = self.alive();
        if self.run().is_some() {
            self.close_run(end, Outcome::Released);
            self.message.attempts -= u32::from(charged);
        }
        self.let_go();
        if charged {
            self.wait(now);
        }
    }

    /// The run before, if nobody saw its end.
    fn doubt(&self) -> Option<Open> {
        let last = self.message.history.last();
        last.filter(|run| run.outcome == Outcome::Lost)
            .map(|run| Open {
                started_at: run.started_at,
                worker: run.worker.clone(),
            })
    }

    fn standing(&self, now: Timestamp) -> Standing {
        match (self.message.state, &self.message.worker) {
            (State::Dead, _) => {
                Standing::Dead(self.message.reason.expect("a dead letter has a reason"))
            }
            (State::Running, Some(worker)) if self.held(now) => Standing::Leased(worker.clone()),
            _ => Standing::Waiting,
        }
    }
}

impl World {
    pub(super) fn settle(&mut self, settle: &Settle<'_>) -> Settled {
        let now = self.now;
        let Some((id, fence)) = read_receipt(settle.receipt) else {
            return Settled::Gone;
        };
        let Some(row) = self.rows.get_mut(&id) else {
            return Settled::Gone;
        };
        if row.message.deliveries != fence || !row.held(now) {
            return Settled::LeaseLost(row.standing(now));
        }
        let dead = !row.alive();
        match settle.verdict {
            Verdict::Start if row.message.started_at.is_some() => {}
            Verdict::Start if row.expired(now) && !dead => {
                self.bury(id, Reason::Expired);
                return Settled::LeaseLost(Standing::Dead(Reason::Expired));
            }
            Verdict::Start => row.open_run(now),
            Verdict::Extend(long) => row.message.lease_until = Some(now.plus(long)),
            Verdict::Done => self.remove(id, false),
            Verdict::Retry { due, charge } => {
                let started = row.run().is_some();
                row.fail(
                    settle.end,
                    if charge || dead {
                        Outcome::Failed
                    } else {
                        Outcome::Temporary
                    },
                );
                row.let_go();
                if !dead {
                    let message = &mut row.message;
                    if charge {
                        message.deferrals = 0;
                    } else {
                        message.attempts -= u32::from(started);
                        message.deferrals += 1;
                    }
                    message.ready_at = Some(due.instant(now));
                    row.wait(now);
                }
            }
            Verdict::Dead(reason) => {
                row.fail(
                    settle.end,
                    if reason == Reason::Permanent && !dead {
                        Outcome::Permanent
                    } else {
                        Outcome::Failed
                    },
                );
                row.let_go();
                if !dead {
                    self.bury(id, reason);
                }
            }
            Verdict::Release => row.release(settle.end, now),
        }
        self.bells += 1;
        Settled::Yes
    }

    pub(super) fn claim(&mut self, claim: &Claim<'_>, who: &str) -> Result<Claimed> {
        let Some(queue) = self.queues.get(claim.queue) else {
            return Err(no_queue(claim.queue));
        };
        match claim.pick {
            Pick::Ready if queue.settings.paused => Ok(Claimed {
                paused: true,
                ..Claimed::default()
            }),
            Pick::Ready => Ok(self.claim_ready(claim, who)),
            Pick::Dead { what, after } => Ok(self.claim_dead(claim, who, what, after)),
        }
    }

    /// Takes back what a dead worker held. What was started and has no try left is dead.
    fn take_back(&mut self, queue: &QueueName, max_attempts: u32) -> Vec<u64> {
        let now = self.now;
        let mut ended: Vec<(Option<Timestamp>, u64)> = self
            .rows
            .iter()
            .filter(|(_, row)| {
                row.message.queue == *queue && row.message.state == State::Running && !row.held(now)
            })
            .map(|(id, row)| (row.message.lease_until, *id))
            .collect();
        ended.sort_unstable();
        let mut lost = vec![];
        for (_, id) in ended {
            let row = self.rows.get_mut(&id).expect("a row that is there");
            let spent = row.message.attempts >= row.message.max_attempts.unwrap_or(max_attempts);
            if row.lose(now) && spent {
                lost.push(id);
            }
        }
        for id in &lost {
            self.bury(*id, Reason::WorkerLost);
        }
        lost
    }

    fn claim_ready(&mut self, claim: &Claim<'_>, who: &str) -> Claimed {
        let mut answer = Claimed::default();
        for id in self.take_back(claim.queue, claim.max_attempts) {
            answer.buried.push((id_of(id), Reason::WorkerLost));
        }
        // What a burial frees comes after what was found with it: of its own priority at once, of a higher one with
        // another pass.
        let mut full = false;
        let mut before = None;
        while before != Some(answer.buried.len()) && !full {
            before = Some(answer.buried.len());
            for priority in (-9..=9).rev() {
                full = full || self.claim_of(priority, claim, who, &mut answer);
            }
        }
        if answer.got.len() < claim.max {
            answer.next = if full {
                Some(Duration::ZERO)
            } else {
                self.next(claim.queue)
            };
        }
        answer
    }

    /// Claims of one priority. True: the bytes ended first.
    fn claim_of(
        &mut self,
        priority: i8,
        claim: &Claim<'_>,
        who: &str,
        answer: &mut Claimed,
    ) -> bool {
        loop {
            let mut bytes: usize = answer.got.iter().map(|got| got.message.payload.len()).sum();
            let left = claim.max - answer.got.len();
            let (mut found, mut more) = (vec![], false);
            for id in self.ready(claim.queue, priority).into_iter().take(left) {
                bytes += self.rows[&id].message.payload.len();
                if bytes > claim.bytes && !(answer.got.is_empty() && found.is_empty()) {
                    more = true;
                    break;
                }
                found.push(id);
            }
            let buried = answer.buried.len();
            for id in found {
                if let Some(reason) = self.unfit(id, claim.max_attempts) {
                    self.bury(id, reason);
                    answer.buried.push((id_of(id), reason));
                } else {
                    self.message(id).state = State::Running;
                    answer.got.push(self.hand_out(id, claim, who));
                }
            }
            if answer.buried.len() == buried {
                return more;
            }
        }
    }

    /// Why a ready message must not run.
    fn unfit(&self, id: u64, max_attempts: u32) -> Option<Reason> {
        let row = &self.rows[&id];
        let spent = row.message.attempts >= row.message.max_attempts.unwrap_or(max_attempts);
        if row.expired(self.now) {
            Some(Reason::Expired)
        } else if spent && row.doubt().is_some() {
            Some(Reason::WorkerLost)
        } else if spent {
            Some(Reason::Attempts)
        } else {
            None
        }
    }

    /// What may run now, in order.
    fn ready(&self, queue: &QueueName, priority: i8) -> Vec<u64> {
        let mut ready: Vec<(Option<Timestamp>, u64)> = self
            .rows
            .iter()
            .filter(|(_, row)| {
                row.message.queue == *queue
                    && row.message.state == State::Ready
                    && row.message.priority == priority
            })
            .map(|(id, row)| (row.message.ready_at, *id))
            .collect();
        ready.sort_unstable();
        ready.into_iter().map(|(_, id)| id).collect()
    }

    fn claim_dead(
        &mut self,
        claim: &Claim<'_>,
        who: &str,
        what: &Selection,
        after: Option<&Cursor>,
    ) -> Claimed {
        let now = self.now;
        let after: u64 = after.map_or(0, |cursor| {
            cursor.as_str().parse().expect("a cursor of this model")
        });
        let mut meant: Vec<(u64, u64)> = self
            .rows
            .iter()
            .filter(|(_, row)| {
                row.message.queue == *claim.queue
                    && !row.alive()
                    && row.died > after
                    && what.matches(&row.message)
            })
            .map(|(id, row)| (row.died, *id))
            .collect();
        meant.sort_unstable();
        let mut answer = Claimed::default();
        let mut bytes = 0;
        for (died, id) in &meant {
            if answer.got.len() == claim.max {
                return answer;
            }
            let row = &self.rows[id];
            if row.held(now) {
                let end = row.message.lease_until.expect("a lease");
                answer.held.push((row.message.id.clone(), end));
            } else {
                bytes += row.message.payload.len();
                if bytes > claim.bytes && !answer.got.is_empty() {
                    return answer;
                }
                answer.got.push(self.hand_out(*id, claim, who));
            }
            answer.cursor = Some(Cursor::from(died.to_string()));
        }
        answer.cursor = None;
        answer
    }

    fn hand_out(&mut self, id: u64, claim: &Claim<'_>, who: &str) -> Delivery {
        let now = self.now;
        let row = self.rows.get_mut(&id).expect("a row that is there");
        if !row.alive() {
            // Its last lease may have ended with a run open.
            row.lose(now);
        }
        let doubt = row.doubt();
        row.message.deliveries += 1;
        row.message.lease_until = Some(now.plus(claim.lease));
        row.message.worker = Some(who.to_owned());
        if claim.start {
            row.open_run(now);
        }
        let fence = row.message.deliveries;
        Delivery {
            message: Message {
                history: vec![],
                ..row.message.clone()
            },
            receipt: Receipt::from(format!("{id}.{fence}")),
            fence,
            doubt,
        }
    }

    /// How long until something that is delayed or leased may be ready.
    fn next(&self, queue: &QueueName) -> Option<Duration> {
        self.rows
            .values()
            .filter(|row| row.message.queue == *queue)
            .filter_map(|row| match row.message.state {
                State::Delayed => row.message.ready_at,
                State::Running => row.message.lease_until,
                State::Ready => Some(self.now),
                State::Blocked | State::Dead => None,
            })
            .min()
            .map(|when| when.since(self.now))
    }
}

impl Row {
    /// Its lease has ended: whoever held it is gone. Says whether a run of it was lost.
    pub(super) fn lose(&mut self, now: Timestamp) -> bool {
        let started = match self.run() {
            Some(run) => {
                run.outcome = Outcome::Lost;
                true
            }
            None => false,
        };
        self.let_go();
        if self.alive() {
            self.wait(now);
        }
        started
    }
}
