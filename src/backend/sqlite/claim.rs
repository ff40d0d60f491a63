//! Claims: what dead workers held comes back first, then one seek a priority over the index of what is ready.

use super::super::receipt::mint;
use super::super::{Claim, Claimed, Pick, Result};
use super::conn::{find_queue, no_queue};
use super::letters;
use super::row::{Show, at_most, message, payload_len};
use super::settle::{Live, bury, live, reclaim};
use crate::queue::{Delivery, Message, Open, Outcome, Reason, State, Timestamp};
use rusqlite::{Connection, OptionalExtension as _, params};
use std::time::Duration;

/// So many messages are taken back or buried by one claim at the most, so that it stays short under a flood; the next
/// claim goes on.
const FLOOD: usize = 10_000;

/// One claim at work.
pub(super) struct Claiming<'a> {
    /// In the transaction of the exchange.
    pub(super) conn: &'a Connection,
    /// What was asked.
    pub(super) wanted: &'a Claim<'a>,
    /// Who claims.
    pub(super) worker: &'a str,
    /// The instant of the transaction.
    pub(super) now: Timestamp,
    /// The row of the queue.
    pub(super) queue_id: i64,
    /// One random number for all that this claim takes: nobody else's receipt fits.
    pub(super) token: i64,
    /// What it has so far.
    pub(super) claimed: Claimed,
    /// Bytes of payload in that.
    pub(super) bytes: usize,
}

/// Claims inside a transaction that somebody else has begun, at its instant.
///
/// # Errors
/// [`super::super::Kind::NotFound`] for an unknown queue; whatever the file says.
pub(super) fn claim(
    conn: &Connection,
    wanted: &Claim<'_>,
    worker: &str,
    now: Timestamp,
) -> Result<Claimed> {
    let queue = find_queue(conn, wanted.queue)?.ok_or_else(|| no_queue(wanted.queue))?;
    let token = conn
        .prepare_cached(sql!("token"))?
        .query_row([], |row| row.get(0))?;
    let mut claiming = Claiming {
        conn,
        wanted,
        worker,
        now,
        queue_id: queue.id,
        token,
        claimed: Claimed::default(),
        bytes: 0,
    };
    match wanted.pick {
        Pick::Dead { what, after } => letters::claim(&mut claiming, what, after)?,
        Pick::Ready if queue.paused => claiming.claimed.paused = true,
        Pick::Ready => {
            claiming.take_back()?;
            claiming.take()?;
        }
    }
    Ok(claiming.claimed)
}

impl Claiming<'_> {
    /// What a dead worker held, back in its place.
    fn take_back(&mut self) -> Result<()> {
        let ended: Vec<i64> = {
            let mut statement = self.conn.prepare_cached(sql!("expired_leases"))?;
            let rows = statement
                .query_map(params![self.queue_id, self.now.0, at_most(FLOOD)], |row| {
                    row.get(0)
                })?;
            rows.collect::<rusqlite::Result<_>>()?
        };
        for id in ended {
            if let Some(lost) = live(self.conn, id)?
                && reclaim(self.conn, &lost, self.wanted.max_attempts, self.now)?
            {
                self.claimed
                    .buried
                    .push((id.to_string().into(), Reason::WorkerLost));
            }
        }
        Ok(())
    }

    fn take(&mut self) -> Result<()> {
        let mut full = false;
        let mut priority: i64 = i64::from(i8::MAX);
        let mut buried = self.claimed.buried.len();
        while !self.is_full(full) {
            let below: Option<i64> = self
                .conn
                .prepare_cached(sql!("next_priority"))?
                .query_row(params![self.queue_id, priority], |row| row.get(0))
                .optional()?;
            let Some(next) = below else {
                if buried == self.claimed.buried.len() {
                    break;
                }
                // What was buried may have freed the next of its group, of whatever priority.
                buried = self.claimed.buried.len();
                priority = i64::from(i8::MAX);
                continue;
            };
            priority = next;
            full = self.take_of(priority)?;
        }
        if self.claimed.got.len() < self.wanted.max {
            self.claimed.next = if full {
                Some(Duration::ZERO)
            } else {
                self.next()?
            };
        }
        Ok(())
    }

    fn is_full(&self, full: bool) -> bool {
        full || self.claimed.got.len() >= self.wanted.max
    }

    /// Takes what is ready of one priority. True: the bytes are used up, or too many had to be buried.
    fn take_of(&mut self, priority: i64) -> Result<bool> {
        loop {
            let (rows, more) = self.candidates(priority)?;
            let mut buried = false;
            let none = rows.is_empty();
            for row in rows {
                if let Some(reason) = self.unfit(&row)? {
                    self.lay_down(&row, reason)?;
                    buried = true;
                } else {
                    self.deliver(row)?;
                }
            }
            if (more && !buried) || self.claimed.buried.len() >= FLOOD {
                return Ok(true);
            }
            // Burying may have freed the next of a group, and made room for others and for their bytes.
            if none || !buried || self.claimed.got.len() >= self.wanted.max {
                return Ok(false);
            }
        }
    }

    /// Ready messages of one priority within what is left to take. True: the bytes ended first.
    fn candidates(&mut self, priority: i64) -> Result<(Vec<Message>, bool)> {
        let left = self.wanted.max - self.claimed.got.len();
        let mut statement = self.conn.prepare_cached(sql!("claim_select"))?;
        let mut rows =
            statement.query(params![self.queue_id, priority, self.now.0, at_most(left)])?;
        let mut found = Vec::new();
        while let Some(row) = rows.next()? {
            let size = payload_len(row)?;
            if self.bytes + size > self.wanted.bytes
                && !(self.claimed.got.is_empty() && found.is_empty())
            {
                return Ok((found, true));
            }
            self.bytes += size;
            found.push(message(row, self.wanted.queue, self.now, Show::Payload)?);
        }
        Ok((found, false))
    }

    /// Why a ready message must not run.
    fn unfit(&self, message: &Message) -> Result<Option<Reason>> {
        if message.expires_at.is_some_and(|end| end <= self.now) {
            return Ok(Some(Reason::Expired));
        }
        if message.attempts < message.max_attempts.unwrap_or(self.wanted.max_attempts) {
            return Ok(None);
        }
        Ok(Some(if self.doubt(message)?.is_some() {
            Reason::WorkerLost
        } else {
            Reason::Attempts
        }))
    }

    fn lay_down(&mut self, message: &Message, reason: Reason) -> Result<()> {
        self.bytes -= message.payload.len();
        if let Some(row) = self.live(message)? {
            bury(self.conn, &row, reason, None, self.now)?;
        }
        self.claimed.buried.push((message.id.clone(), reason));
        Ok(())
    }

    fn live(&self, message: &Message) -> Result<Option<Live>> {
        live(self.conn, number(message))
    }

    /// The run before, if it was started and nobody saw its end.
    pub(super) fn doubt(&self, message: &Message) -> Result<Option<Open>> {
        if message.deliveries == 0 {
            return Ok(None);
        }
        let last: Option<(String, i64, Option<String>)> = self
            .conn
            .prepare_cached(sql!("attempt_last"))?
            .query_row([number(message)], |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?))
            })
            .optional()?;
        Ok(last.and_then(|(outcome, started_at, worker)| {
            (outcome == Outcome::Lost.word()).then(|| Open {
                started_at: Timestamp(started_at),
                worker: worker.unwrap_or_default(),
            })
        }))
    }

    fn deliver(&mut self, mut message: Message) -> Result<()> {
        let doubt = self.doubt(&message)?;
        let lease_until = self.now.plus(self.wanted.lease);
        let started = self.wanted.start.then_some(self.now);
        self.conn
            .prepare_cached(sql!("claim_update"))?
            .execute(params![
                number(&message),
                lease_until.0,
                self.token,
                self.worker,
                started.map(|at| at.0),
                u32::from(self.wanted.start),
            ])?;
        message.state = State::Running;
        message.attempts += u32::from(self.wanted.start);
        self.hand_out(message, lease_until, doubt);
        Ok(())
    }

    /// The delivery of a message that was leased just now.
    pub(super) fn hand_out(
        &mut self,
        mut message: Message,
        lease_until: Timestamp,
        doubt: Option<Open>,
    ) {
        message.deliveries += 1;
        message.lease_until = Some(lease_until);
        message.worker = Some(self.worker.to_owned());
        message.started_at = self.wanted.start.then_some(self.now);
        let fence = message.deliveries;
        let receipt = mint(number(&message), fence, self.token, false);
        self.claimed.got.push(Delivery {
            message,
            receipt,
            fence,
            doubt,
        });
    }

    /// How long until something that is delayed or leased now may be ready.
    fn next(&self) -> Result<Option<Duration>> {
        let mut soonest: Option<i64> = self
            .conn
            .prepare_cached(sql!("next_lease"))?
            .query_row([self.queue_id], |row| row.get(0))
            .optional()?;
        let mut priority: i64 = i64::from(i8::MAX);
        loop {
            let below: Option<i64> = self
                .conn
                .prepare_cached(sql!("next_priority"))?
                .query_row(params![self.queue_id, priority], |row| row.get(0))
                .optional()?;
            let Some(next) = below else { break };
            priority = next;
            let due: Option<i64> = self
                .conn
                .prepare_cached(sql!("next_due"))?
                .query_row(params![self.queue_id, priority, self.now.0], |row| {
                    row.get(0)
                })
                .optional()?;
            soonest = soonest.into_iter().chain(due).min();
        }
        Ok(soonest.map(|at| Timestamp(at).since(self.now)))
    }
}

/// A message's id as the file has it.
pub(super) fn number(message: &Message) -> i64 {
    message.id.as_str().parse().unwrap_or(0)
}
