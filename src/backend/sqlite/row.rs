//! How a row becomes a message.

use super::super::Result;
use crate::queue::{Attempt, Message, Outcome, QueueName, Reason, State, Timestamp, headers};
use rusqlite::types::{FromSql, FromSqlResult, ToSqlOutput, ValueRef};
use rusqlite::{Connection, Row, ToSql};
use std::time::Duration;

/// The columns of every statement that shows a message, in the order of [`message`]: `id, state, priority, ready_at,
/// enqueued_at, expires_at, attempts, deferrals, deliveries, replays, max_attempts, key, group_key, headers, last_error,
/// lease_until, worker, started_at, died_at, reason, payload`.
pub(super) const PAYLOAD: usize = 20;

/// The column of the queue's number, where a statement has it.
pub(super) const QUEUE: usize = 21;

/// Whether a payload is read: what is not read costs nothing, however large.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Show {
    Payload,
    Rest,
}

/// A message from the columns of [`PAYLOAD`]'s list. State 0 is ready or delayed by `now`; 3 is dead.
pub(super) fn message(
    row: &Row<'_>,
    queue: &QueueName,
    now: Timestamp,
    show: Show,
) -> rusqlite::Result<Message> {
    let ready_at: i64 = row.get(3)?;
    let state = match row.get::<_, i64>(1)? {
        1 => State::Running,
        2 => State::Blocked,
        3 => State::Dead,
        _ if ready_at > now.0 => State::Delayed,
        _ => State::Ready,
    };
    let time = |column: usize| {
        row.get::<_, Option<i64>>(column)
            .map(|time| time.map(Timestamp))
    };
    Ok(Message {
        id: row.get::<_, i64>(0)?.to_string().into(),
        queue: queue.clone(),
        state,
        payload: if show == Show::Payload {
            bytes(row, PAYLOAD)?
        } else {
            Vec::new()
        },
        attempts: row.get(6)?,
        deferrals: row.get(7)?,
        deliveries: row.get::<_, i64>(8)?.unsigned_abs(),
        replays: row.get(9)?,
        max_attempts: row.get(10)?,
        priority: row.get(2)?,
        key: text(row, 11)?,
        group: text(row, 12)?.map(Into::into),
        headers: text(row, 13)?
            .map(|text| headers::read(&text))
            .unwrap_or_default(),
        enqueued_at: Timestamp(row.get(4)?),
        ready_at: Some(Timestamp(ready_at)),
        expires_at: time(5)?,
        lease_until: time(15)?,
        worker: text(row, 16)?,
        started_at: time(17)?,
        died_at: time(18)?,
        reason: text(row, 19)?.and_then(|word| Reason::from_word(&word)),
        last_error: text(row, 14)?,
        history: Vec::new(),
    })
}

/// A key or group as it stands in the file. Another program may have written one that is not UTF-8: it is shown with
/// replacements, and found again by its bytes.
pub(super) struct Raw(Vec<u8>);

impl FromSql for Raw {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        value.as_bytes().map(|bytes| Self(bytes.to_vec()))
    }
}

impl ToSql for Raw {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(ValueRef::Text(&self.0)))
    }
}

/// A limit as SQLite takes it.
pub(super) fn at_most(n: usize) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

/// How large the payload of a row is, without reading it whole.
pub(super) fn payload_len(row: &Row<'_>) -> rusqlite::Result<usize> {
    Ok(match row.get_ref(PAYLOAD)? {
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => bytes.len(),
        _ => 0,
    })
}

fn bytes(row: &Row<'_>, column: usize) -> rusqlite::Result<Vec<u8>> {
    Ok(match row.get_ref(column)? {
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => bytes.to_vec(),
        _ => Vec::new(),
    })
}

/// A text that another program may have written: what is not UTF-8 in it is replaced, never an error.
pub(super) fn text(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<String>> {
    Ok(match row.get_ref(column)? {
        ValueRef::Null => None,
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => {
            Some(String::from_utf8_lossy(bytes).into_owned())
        }
        ValueRef::Integer(number) => Some(number.to_string()),
        ValueRef::Real(number) => Some(number.to_string()),
    })
}

/// The runs of a message, oldest first; a run that is open now stands last.
pub(super) fn history(conn: &Connection, message: &Message) -> Result<Vec<Attempt>> {
    let mut statement = conn.prepare_cached(sql!("attempts"))?;
    let rows = statement.query_map([message.id.as_str().parse::<i64>().unwrap_or(0)], |row| {
        Ok(Attempt {
            delivery: row.get::<_, i64>(0)?.unsigned_abs(),
            attempt: row.get(1)?,
            started_at: Timestamp(row.get(2)?),
            took: row
                .get::<_, Option<i64>>(3)?
                .map(|took| Duration::from_micros(took.unsigned_abs())),
            worker: text(row, 4)?.unwrap_or_default(),
            outcome: text(row, 5)?
                .and_then(|word| Outcome::from_word(&word))
                .unwrap_or(Outcome::Started),
            exit: row.get(6)?,
            signal: row.get(7)?,
            error: text(row, 8)?,
            stderr: bytes(row, 9)?,
        })
    })?;
    let mut history = rows.collect::<rusqlite::Result<Vec<_>>>()?;
    if let (Some(started_at), Some(worker)) = (message.started_at, &message.worker) {
        history.push(Attempt {
            delivery: message.deliveries,
            attempt: message.attempts,
            started_at,
            took: None,
            worker: worker.clone(),
            outcome: Outcome::Started,
            exit: None,
            signal: None,
            error: None,
            stderr: Vec::new(),
        });
    }
    Ok(history)
}
