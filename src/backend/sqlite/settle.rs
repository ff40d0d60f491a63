//! Verdicts. A receipt is good until its lease ends or the message is claimed again; every change is fenced by the
//! claim's random token and tested under the writing lock.

use super::super::receipt::Lease;
use super::super::{Result, Settle, Settled, Standing, Verdict};
use super::enqueue::let_key_go;
use super::row::Raw;
use crate::queue::{Due, End, Outcome, Reason, Timestamp, time::micros};
use rusqlite::{Connection, OptionalExtension as _, params};

/// The columns of a message that its settling needs, as they stand: instants in microseconds since 1970, `state` 0 ready or
/// delayed, 1 running, 2 blocked.
pub(super) struct Live {
    pub(super) id: i64,
    pub(super) queue_id: i64,
    pub(super) state: i64,
    pub(super) lease_until: Option<i64>,
    token: Option<i64>,
    pub(super) worker: Option<String>,
    pub(super) started_at: Option<i64>,
    pub(super) attempts: u32,
    pub(super) deliveries: u64,
    expires_at: Option<i64>,
    pub(super) group: Option<Raw>,
    pub(super) max_attempts: Option<u32>,
    pub(super) key: Option<Raw>,
}

/// The same of a dead letter.
pub(super) struct Letter {
    pub(super) id: i64,
    pub(super) queue_id: i64,
    reason: String,
    pub(super) lease_until: Option<i64>,
    token: Option<i64>,
    pub(super) worker: Option<String>,
    pub(super) started_at: Option<i64>,
    pub(super) attempts: u32,
    pub(super) deliveries: u64,
    pub(super) key: Option<Raw>,
    pub(super) group: Option<Raw>,
}

/// A run that is open: what its row in the history needs.
struct Open<'a> {
    id: i64,
    delivery: u64,
    attempt: u32,
    started_at: i64,
    worker: Option<&'a str>,
}

/// One verdict inside a transaction that somebody else has begun, at its instant.
pub(super) fn settle(conn: &Connection, one: &Settle<'_>, now: Timestamp) -> Result<Settled> {
    // A text that is no receipt at all names a message that is not there.
    let Some(lease) = Lease::of(one.receipt) else {
        return Ok(Settled::Gone);
    };
    if quick(conn, &lease, one.verdict, now)? {
        return Ok(Settled::Yes);
    }
    if let Some(live) = live(conn, lease.id)? {
        let good = live.state == 1
            && lease.token.is_some()
            && live.token == lease.token
            && live.lease_until.is_some_and(|end| end > now.0);
        return if good {
            settle_live(conn, &live, one, now)
        } else {
            Ok(Settled::LeaseLost(standing(&live, now)))
        };
    }
    let Some(letter) = letter(conn, lease.id)? else {
        return Ok(Settled::Gone);
    };
    let ours = lease.token.is_some() && letter.token == lease.token;
    if ours && letter.lease_until.is_some_and(|end| end > now.0) {
        return settle_letter(conn, &letter, one, now);
    }
    Ok(Settled::LeaseLost(Standing::Dead(
        Reason::from_word(&letter.reason).unwrap_or(Reason::Attempts),
    )))
}

/// The common verdicts in one statement each. False: it did not take, for whatever reason.
fn quick(conn: &Connection, lease: &Lease, verdict: Verdict, now: Timestamp) -> Result<bool> {
    match verdict {
        Verdict::Start => Ok(conn.prepare_cached(sql!("settle_start"))?.execute(params![
            lease.id,
            lease.token,
            now.0
        ])? == 1),
        Verdict::Extend(by) => Ok(conn
            .prepare_cached(sql!("settle_extend"))?
            .execute(params![lease.id, lease.token, now.0, now.plus(by).0])?
            == 1),
        Verdict::Done => {
            let gone: Option<(i64, Option<Raw>, Option<Raw>, i64)> = conn
                .prepare_cached(sql!("settle_done"))?
                .query_row(params![lease.id, lease.token, now.0], |row| {
                    Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
                })
                .optional()?;
            let Some((queue_id, key, group, deliveries)) = gone else {
                return Ok(false);
            };
            if deliveries > 1 {
                conn.prepare_cached(sql!("attempt_delete"))?
                    .execute([lease.id])?;
            }
            let key = key.as_ref().map(|key| (key, false));
            after_removal(conn, queue_id, key, group.as_ref(), now)?;
            Ok(true)
        }
        Verdict::Retry { .. } | Verdict::Dead(_) | Verdict::Release => Ok(false),
    }
}

/// What follows when a live message is gone: its key, and its group.
pub(super) fn after_removal(
    conn: &Connection,
    queue_id: i64,
    key: Option<(&Raw, bool)>,
    group: Option<&Raw>,
    now: Timestamp,
) -> Result<()> {
    if let Some((key, free)) = key {
        let_key_go(conn, queue_id, key, free, now)?;
    }
    if let Some(group) = group {
        promote(conn, queue_id, group)?;
    }
    Ok(())
}

fn promote(conn: &Connection, queue_id: i64, group: &Raw) -> Result<()> {
    conn.prepare_cached(sql!("group_promote"))?
        .execute(params![queue_id, group])?;
    Ok(())
}

fn settle_live(
    conn: &Connection,
    live: &Live,
    one: &Settle<'_>,
    now: Timestamp,
) -> Result<Settled> {
    match one.verdict {
        Verdict::Start => {
            // The quick statement took every start but one whose message has expired.
            bury(conn, live, Reason::Expired, None, now)?;
            Ok(Settled::LeaseLost(Standing::Dead(Reason::Expired)))
        }
        Verdict::Extend(_) | Verdict::Done => Err(super::super::Error::bug(
            "a good receipt that its own statement did not take",
        )),
        Verdict::Release => {
            close(conn, live.open(), one.end, Outcome::Released, now)?;
            put_back(conn, live)?;
            Ok(Settled::Yes)
        }
        Verdict::Retry { due, charge } => {
            retry(conn, live, due, charge, one.end, now)?;
            Ok(Settled::Yes)
        }
        Verdict::Dead(reason) => {
            let outcome = if reason == Reason::Permanent {
                Outcome::Permanent
            } else {
                Outcome::Failed
            };
            close(conn, live.open(), one.end, outcome, now)?;
            bury(conn, live, reason, one.end.and_then(last_error), now)?;
            Ok(Settled::Yes)
        }
    }
}

fn retry(
    conn: &Connection,
    live: &Live,
    due: Due,
    charge: bool,
    end: Option<&End>,
    now: Timestamp,
) -> Result<()> {
    let outcome = if charge {
        Outcome::Failed
    } else {
        Outcome::Temporary
    };
    close(conn, live.open(), end, outcome, now)?;
    let attempts = if charge {
        live.attempts
    } else {
        live.uncharged()
    };
    conn.prepare_cached(sql!("live_retry"))?.execute(params![
        live.id,
        attempts,
        !charge,
        due.instant(now).0,
        end.and_then(last_error)
    ])?;
    Ok(())
}

/// Back in its place as if it had never been claimed.
pub(super) fn put_back(conn: &Connection, live: &Live) -> Result<()> {
    conn.prepare_cached(sql!("live_release"))?
        .execute(params![live.id, live.uncharged()])?;
    Ok(())
}

/// A lease that ended: a run that was started and whose end nobody saw is charged and stands in the history as lost.
/// Spent ones die, the others are back in their place. Answers whether it died.
pub(super) fn reclaim(
    conn: &Connection,
    live: &Live,
    max_attempts: u32,
    now: Timestamp,
) -> Result<bool> {
    let spent = live.attempts >= live.max_attempts.unwrap_or(max_attempts);
    if live.started_at.is_some() && spent {
        close(conn, live.open(), None, Outcome::Lost, now)?;
        bury(conn, live, Reason::WorkerLost, None, now)?;
        return Ok(true);
    }
    take_back(conn, live, now)?;
    Ok(false)
}

/// Back in its place after its lease has ended; whether its attempts are spent is left to whoever claims it.
pub(super) fn take_back(conn: &Connection, live: &Live, now: Timestamp) -> Result<()> {
    close(conn, live.open(), None, Outcome::Lost, now)?;
    conn.prepare_cached(sql!("live_release"))?
        .execute(params![live.id, live.attempts])?;
    Ok(())
}

/// Makes a live message a dead letter; the next of its group goes on. Its key stays taken.
pub(super) fn bury(
    conn: &Connection,
    live: &Live,
    reason: Reason,
    last_error: Option<&str>,
    now: Timestamp,
) -> Result<()> {
    conn.prepare_cached(sql!("bury"))?.execute(params![
        live.id,
        now.0,
        reason.word(),
        last_error
    ])?;
    conn.prepare_cached(sql!("live_delete"))?
        .execute([live.id])?;
    after_removal(conn, live.queue_id, None, live.group.as_ref(), now)
}

fn settle_letter(
    conn: &Connection,
    letter: &Letter,
    one: &Settle<'_>,
    now: Timestamp,
) -> Result<Settled> {
    match one.verdict {
        Verdict::Start => {
            conn.prepare_cached(sql!("dead_start"))?
                .execute(params![letter.id, now.0])?;
        }
        Verdict::Extend(by) => {
            conn.prepare_cached(sql!("dead_extend"))?
                .execute(params![letter.id, now.plus(by).0])?;
        }
        Verdict::Done => remove_letter(conn, letter, false, now)?,
        Verdict::Release => {
            close(conn, letter.open(), one.end, Outcome::Released, now)?;
            free_letter(conn, letter, None)?;
        }
        // A letter stays dead whatever its command said: nothing is charged and nothing comes back.
        Verdict::Dead(_) | Verdict::Retry { .. } => {
            close(conn, letter.open(), one.end, Outcome::Failed, now)?;
            free_letter(conn, letter, one.end.and_then(last_error))?;
        }
    }
    Ok(Settled::Yes)
}

/// Deletes a letter and what hangs on it.
pub(super) fn remove_letter(
    conn: &Connection,
    letter: &Letter,
    free_key: bool,
    now: Timestamp,
) -> Result<()> {
    conn.prepare_cached(sql!("dead_delete"))?
        .execute([letter.id])?;
    conn.prepare_cached(sql!("attempt_delete"))?
        .execute([letter.id])?;
    match &letter.key {
        Some(key) => let_key_go(conn, letter.queue_id, key, free_key, now),
        None => Ok(()),
    }
}

fn free_letter(conn: &Connection, letter: &Letter, last_error: Option<&str>) -> Result<()> {
    conn.prepare_cached(sql!("dead_free"))?
        .execute(params![letter.id, last_error])?;
    Ok(())
}

/// A letter whose command was lost: its run stands in the history.
pub(super) fn reclaim_letter(conn: &Connection, letter: &Letter, now: Timestamp) -> Result<()> {
    close(conn, letter.open(), None, Outcome::Lost, now)
}

impl Live {
    fn open(&self) -> Option<Open<'_>> {
        self.started_at.map(|started_at| Open {
            id: self.id,
            delivery: self.deliveries,
            attempt: self.attempts,
            started_at,
            worker: self.worker.as_deref(),
        })
    }

    fn uncharged(&self) -> u32 {
        self.attempts - u32::from(self.started_at.is_some() && self.attempts > 0)
    }

    /// Whether its time to live is over.
    pub(super) fn expired(&self, now: Timestamp) -> bool {
        self.expires_at.is_some_and(|end| end <= now.0)
    }
}

impl Letter {
    fn open(&self) -> Option<Open<'_>> {
        self.started_at.map(|started_at| Open {
            id: self.id,
            delivery: self.deliveries,
            attempt: self.attempts,
            started_at,
            worker: self.worker.as_deref(),
        })
    }

    /// A command holds it.
    pub(super) fn held(&self, now: Timestamp) -> bool {
        self.lease_until.is_some_and(|end| end > now.0)
    }
}

/// Writes an open run's row: how its worker says it ended, else `outcome` and the time since its start.
fn close(
    conn: &Connection,
    open: Option<Open<'_>>,
    end: Option<&End>,
    outcome: Outcome,
    now: Timestamp,
) -> Result<()> {
    let Some(open) = open else { return Ok(()) };
    let outcome = match (end, outcome) {
        // Whatever ended it, it was given back without a charge.
        (_, Outcome::Released) | (None, _) => outcome,
        (Some(end), _) => end.outcome,
    };
    // The end of a lost run is not known, so neither is its length.
    let took = match (end, outcome) {
        (Some(end), _) => Some(micros(end.took)),
        (None, Outcome::Lost) => None,
        (None, _) => Some(micros(now.since(Timestamp(open.started_at)))),
    };
    conn.prepare_cached(sql!("attempt_insert"))?
        .execute(params![
            open.id,
            open.delivery.cast_signed(),
            open.attempt,
            open.started_at,
            took,
            open.worker,
            outcome.word(),
            end.and_then(|end| end.exit),
            end.and_then(|end| end.signal),
            end.and_then(last_error),
            end.map(|end| end.stderr.as_slice())
                .filter(|stderr| !stderr.is_empty()),
        ])?;
    conn.prepare_cached(sql!("attempt_prune"))?
        .execute([open.id])?;
    Ok(())
}

/// What is kept of an end's error: 4,000 bytes at most, cut at a character.
fn last_error(end: &End) -> Option<&str> {
    const MOST: usize = 4_000;
    let text = end.error.as_str();
    (!text.is_empty()).then(|| &text[..text.floor_char_boundary(MOST)])
}

fn standing(live: &Live, now: Timestamp) -> Standing {
    match (&live.worker, live.lease_until) {
        (Some(worker), Some(end)) if live.state == 1 && end > now.0 => {
            Standing::Leased(worker.clone())
        }
        _ => Standing::Waiting,
    }
}

/// A live message's row; none if it is not there, or dead.
pub(super) fn live(conn: &Connection, id: i64) -> Result<Option<Live>> {
    let row = conn
        .prepare_cached(sql!("live_get"))?
        .query_row([id], |row| {
            Ok(Live {
                id,
                queue_id: row.get(0)?,
                state: row.get(1)?,
                lease_until: row.get(2)?,
                token: row.get(3)?,
                worker: row.get(4)?,
                started_at: row.get(5)?,
                attempts: row.get(6)?,
                deliveries: row.get::<_, i64>(7)?.unsigned_abs(),
                expires_at: row.get(8)?,
                group: row.get(9)?,
                max_attempts: row.get(10)?,
                key: row.get(11)?,
            })
        })
        .optional()?;
    Ok(row)
}

/// A dead letter's row; none if it is not there, or lives.
pub(super) fn letter(conn: &Connection, id: i64) -> Result<Option<Letter>> {
    let row = conn
        .prepare_cached(sql!("dead_get"))?
        .query_row([id], |row| {
            Ok(Letter {
                id,
                queue_id: row.get(0)?,
                reason: row.get(1)?,
                lease_until: row.get(2)?,
                token: row.get(3)?,
                worker: row.get(4)?,
                started_at: row.get(5)?,
                attempts: row.get(6)?,
                deliveries: row.get::<_, i64>(7)?.unsigned_abs(),
                key: row.get(8)?,
                group: row.get(9)?,
            })
        })
        .optional()?;
    Ok(row)
}
