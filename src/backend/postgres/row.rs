//! How a row becomes a message.

use super::super::Result;
use super::value::{Stamp, count, small};
use crate::queue::{Attempt, Message, Outcome, QueueName, Reason, State, Timestamp, headers};
use std::time::Duration;
use tokio_postgres::Row;

/// How many columns a message has, from its `id` on: `id, queue_id, state, priority, ready_at, enqueued_at, expires_at,
/// attempts, deferrals, deliveries, replays, max_attempts, key, group_key, headers, last_error, lease_until, worker,
/// started_at, died_at, reason, payload, payload_bin`.
pub(super) const COLUMNS: usize = 23;

/// A message whose `id` stands in the column `base`. State 0 is ready or delayed by `now`; 3 is dead.
pub(super) fn message(
    row: &Row,
    base: usize,
    queue: &QueueName,
    now: Timestamp,
) -> Result<Message> {
    let time = |column: usize| -> Result<Option<Timestamp>> {
        Ok(row
            .try_get::<_, Option<Stamp>>(base + column)?
            .map(|stamp| stamp.0))
    };
    let text = |column: usize| -> Result<Option<String>> { Ok(row.try_get(base + column)?) };
    let number =
        |column: usize| -> Result<i64> { Ok(i64::from(row.try_get::<_, i32>(base + column)?)) };
    let ready_at = time(4)?;
    Ok(Message {
        id: row.try_get::<_, i64>(base)?.to_string().into(),
        queue: queue.clone(),
        state: state(row.try_get(base + 2)?, ready_at, now),
        payload: payload(row, base + 21)?,
        attempts: small(number(7)?),
        deferrals: small(number(8)?),
        deliveries: count(row.try_get(base + 9)?),
        replays: small(number(10)?),
        max_attempts: row.try_get::<_, Option<i64>>(base + 11)?.map(small),
        priority: i8::try_from(row.try_get::<_, i16>(base + 3)?).unwrap_or(0),
        key: text(12)?,
        group: text(13)?.map(Into::into),
        headers: text(14)?
            .map(|text| headers::read(&text))
            .unwrap_or_default(),
        enqueued_at: time(5)?.unwrap_or(now),
        ready_at,
        expires_at: time(6)?,
        lease_until: time(16)?,
        worker: text(17)?,
        started_at: time(18)?,
        died_at: time(19)?,
        reason: text(20)?.and_then(|word| Reason::from_word(&word)),
        last_error: text(15)?,
        history: Vec::new(),
    })
}

/// What a number of a row's state means at an instant.
pub(super) fn state(state: i16, ready_at: Option<Timestamp>, now: Timestamp) -> State {
    match state {
        1 => State::Running,
        2 => State::Blocked,
        3 => State::Dead,
        _ if ready_at.is_some_and(|at| at > now) => State::Delayed,
        _ => State::Ready,
    }
}

fn payload(row: &Row, column: usize) -> Result<Vec<u8>> {
    if let Some(text) = row.try_get::<_, Option<&str>>(column)? {
        return Ok(text.as_bytes().to_vec());
    }
    Ok(row
        .try_get::<_, Option<&[u8]>>(column + 1)?
        .unwrap_or_default()
        .to_vec())
}

/// A run from the columns `message_id, delivery, attempt, started_at, took_us, worker, outcome, exit, signal, error,
/// stderr`.
pub(super) fn attempt(row: &Row) -> Result<Attempt> {
    Ok(Attempt {
        delivery: count(row.try_get(1)?),
        attempt: small(i64::from(row.try_get::<_, i32>(2)?)),
        started_at: row.try_get::<_, Stamp>(3)?.0,
        took: row
            .try_get::<_, Option<i64>>(4)?
            .map(|took| Duration::from_micros(count(took))),
        worker: row.try_get::<_, Option<String>>(5)?.unwrap_or_default(),
        outcome: Outcome::from_word(row.try_get(6)?).unwrap_or(Outcome::Started),
        exit: row.try_get(7)?,
        signal: row.try_get(8)?,
        error: row.try_get(9)?,
        stderr: row.try_get::<_, Option<Vec<u8>>>(10)?.unwrap_or_default(),
    })
}

/// The run that is open now, as it stands last in the history.
pub(super) fn open_run(message: &Message) -> Option<Attempt> {
    let (started_at, worker) = (message.started_at?, message.worker.clone()?);
    Some(Attempt {
        delivery: message.deliveries,
        attempt: message.attempts,
        started_at,
        took: None,
        worker,
        outcome: Outcome::Started,
        exit: None,
        signal: None,
        error: None,
        stderr: Vec::new(),
    })
}
