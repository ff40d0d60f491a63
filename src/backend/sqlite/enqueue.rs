//! Messages on their way in: one transaction a batch, one insert a message; a key is looked up and taken under the same
//! lock, with the table's own constraint beneath.

use super::super::{Conflict, Error, Kind, Result, Unit};
use super::conn::{QueueRow, Store, find_queue};
use crate::queue::message::Ttl;
use crate::queue::retry::Window;
use crate::queue::{Enqueued, MessageId, NewMessage, QueueName, Timestamp, headers};
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{CachedStatement, Connection, OptionalExtension as _, Statement, ToSql, params};
use std::collections::HashMap;

/// [`super::super::Backend::enqueue`]: a batch is always one transaction here, whatever its unit.
pub(super) fn enqueue(
    store: &mut Store,
    batch: &[NewMessage<'_>],
    unit: Unit,
) -> Result<Vec<Enqueued>> {
    if batch.is_empty() {
        return Ok(Vec::new());
    }
    super::full::admit(store)?;
    store.write(|conn, now| {
        let mut queues: HashMap<&QueueName, QueueRow> = HashMap::new();
        let mut answer = Vec::with_capacity(batch.len());
        let mut one = Inserts::new(conn)?;
        let mut many = conn.prepare_cached(sql!("message_insert_16"))?;
        let mut rest = batch;
        while let [message, ..] = rest {
            if !queues.contains_key(&message.queue) {
                queues.insert(&message.queue, make_queue(conn, &message.queue, now)?);
            }
            let queue = &queues[&message.queue];
            if let Some((alike, others)) = rest.split_first_chunk().filter(|(some, _)| plain(some))
            {
                insert_many(conn, &mut many, queue, alike, now, &mut answer)?;
                one.next = conn.last_insert_rowid().saturating_add(1);
                rest = others;
                continue;
            }
            let enqueued = one.insert(queue, message, now)?;
            if let (Enqueued::Duplicate(id), Unit::Whole(Conflict::Refuse)) = (&enqueued, unit) {
                let key = message.key.as_deref().unwrap_or_default();
                return Err(Error::new(
                    Kind::Conflict,
                    format!("the key '{key}' is taken by message {id}"),
                )
                .with("line", answer.len().to_string())
                .with("id", id.as_str()));
            }
            answer.push(enqueued);
            rest = &rest[1..];
        }
        Ok(answer)
    })
}

/// A queue's row; it comes into being if it is not there.
pub(super) fn make_queue(conn: &Connection, name: &QueueName, now: Timestamp) -> Result<QueueRow> {
    if let Some(queue) = find_queue(conn, name)? {
        return Ok(queue);
    }
    conn.prepare_cached(sql!("queue_insert"))?
        .execute(params![name.as_str(), now.0])?;
    find_queue(conn, name)?.ok_or_else(|| Error::bug("a queue that was just made is not there"))
}

/// The statements that put one message in, found once a batch: finding one costs as much as a tenth of running it.
struct Inserts<'a> {
    conn: &'a Connection,
    message: CachedStatement<'a>,
    key: CachedStatement<'a>,
    group: CachedStatement<'a>,
    /// The id that the next message gets: nobody else writes in this transaction.
    next: i64,
}

impl<'a> Inserts<'a> {
    fn new(conn: &'a Connection) -> Result<Self> {
        let issued: i64 = conn
            .prepare_cached(sql!("issued"))?
            .query_row([], |row| row.get(0))?;
        Ok(Self {
            conn,
            message: conn.prepare_cached(sql!("message_insert"))?,
            key: conn.prepare_cached(sql!("dedup_take"))?,
            group: conn.prepare_cached(sql!("group_lives"))?,
            next: issued.saturating_add(1),
        })
    }

    fn insert(
        &mut self,
        queue: &QueueRow,
        message: &NewMessage<'_>,
        now: Timestamp,
    ) -> Result<Enqueued> {
        let NewMessage {
            queue: _,
            payload,
            key,
            group,
            priority,
            due,
            ttl,
            max_attempts,
            headers: values,
        } = message;
        if let Some(key) = key
            && self.key.execute(params![queue.id, key, self.next, now.0])? == 0
            && let Some(holder) = key_holder(self.conn, queue.id, key, now)?
        {
            return Ok(Enqueued::Duplicate(holder));
        }
        let blocked = match group {
            Some(group) => self
                .group
                .query_row(params![queue.id, group.as_str()], |row| {
                    row.get::<_, bool>(0)
                })?,
            None => false,
        };
        self.message.execute(params![
            queue.id,
            if blocked { 2 } else { 0 },
            priority,
            due.instant(now).0,
            now.0,
            expires_at(queue, *ttl, now),
            max_attempts,
            key.as_deref(),
            group.as_ref().map(crate::queue::name::Group::as_str),
            headers::write(values),
            Payload(payload),
        ])?;
        let id = self.conn.last_insert_rowid();
        if let Some(key) = key
            && id != self.next
        {
            // Somebody has set the table's numbers by hand.
            self.conn
                .prepare_cached(sql!("dedup_move"))?
                .execute(params![queue.id, key, id])?;
        }
        self.next = id.saturating_add(1);
        Ok(Enqueued::New(id.to_string().into()))
    }
}

/// So many messages go in by one statement.
const MANY: usize = 16;

/// Messages that differ in their payloads alone, without key, group or headers.
fn plain(messages: &[NewMessage<'_>; MANY]) -> bool {
    let first = &messages[0];
    messages.iter().all(|message| {
        let NewMessage {
            queue,
            payload: _,
            key,
            group,
            priority,
            due,
            ttl,
            max_attempts,
            headers,
        } = message;
        *queue == first.queue
            && key.is_none()
            && group.is_none()
            && headers.is_empty()
            && *priority == first.priority
            && *due == first.due
            && *ttl == first.ttl
            && *max_attempts == first.max_attempts
    })
}

fn insert_many(
    conn: &Connection,
    statement: &mut Statement<'_>,
    queue: &QueueRow,
    messages: &[NewMessage<'_>; MANY],
    now: Timestamp,
    answer: &mut Vec<Enqueued>,
) -> Result<()> {
    let first = &messages[0];
    statement.raw_bind_parameter(1, queue.id)?;
    statement.raw_bind_parameter(2, first.priority)?;
    statement.raw_bind_parameter(3, first.due.instant(now).0)?;
    statement.raw_bind_parameter(4, now.0)?;
    statement.raw_bind_parameter(5, expires_at(queue, first.ttl, now))?;
    statement.raw_bind_parameter(6, first.max_attempts)?;
    for (n, message) in messages.iter().enumerate() {
        statement.raw_bind_parameter(7 + n, Payload(&message.payload))?;
    }
    statement.raw_execute()?;
    // Under the writing lock ids follow each other.
    let last = conn.last_insert_rowid();
    let count = i64::try_from(MANY).unwrap_or(i64::MAX);
    answer.extend((last - count + 1..=last).map(|id| Enqueued::New(id.to_string().into())));
    Ok(())
}

fn expires_at(queue: &QueueRow, ttl: Option<Ttl>, now: Timestamp) -> Option<i64> {
    match ttl {
        Some(Ttl::After(time)) => Some(now.plus(time).0),
        Some(Ttl::At(time)) => Some(time.0),
        None => queue.ttl_us.map(|ttl| now.0.saturating_add(ttl)),
    }
}

/// The message that has a key, or had it within its window. A window that has ended is cleared.
pub(super) fn key_holder(
    conn: &Connection,
    queue_id: i64,
    key: &dyn ToSql,
    now: Timestamp,
) -> Result<Option<MessageId>> {
    let row: Option<(i64, Option<i64>)> = conn
        .prepare_cached(sql!("dedup_get"))?
        .query_row(params![queue_id, key], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    match row {
        Some((_, Some(ends))) if ends <= now.0 => {
            conn.prepare_cached(sql!("dedup_delete"))?
                .execute(params![queue_id, key])?;
            Ok(None)
        }
        Some((id, _)) => Ok(Some(id.to_string().into())),
        None => Ok(None),
    }
}

/// The message of a key is gone: the key is free at once, or after the queue's window.
pub(super) fn let_key_go(
    conn: &Connection,
    queue_id: i64,
    key: &dyn ToSql,
    free: bool,
    now: Timestamp,
) -> Result<()> {
    if free {
        conn.prepare_cached(sql!("dedup_delete"))?
            .execute(params![queue_id, key])?;
        return Ok(());
    }
    match window_end(conn, queue_id, now)? {
        None => let_key_go(conn, queue_id, key, true, now),
        Some(ends) => {
            conn.prepare_cached(sql!("dedup_end"))?
                .execute(params![queue_id, key, ends])?;
            Ok(())
        }
    }
}

/// Until when a key stays taken whose message goes now. None: not at all.
pub(super) fn window_end(conn: &Connection, queue_id: i64, now: Timestamp) -> Result<Option<i64>> {
    let window: Option<i64> = conn
        .prepare_cached(sql!("queue_window"))?
        .query_row([queue_id], |row| row.get(0))
        .optional()?
        .flatten();
    Ok(match window {
        Some(0) => None,
        Some(..0) => Some(i64::MAX),
        Some(window) => Some(now.0.saturating_add(window)),
        None => Some(match Window::DEFAULT {
            Window::For(window) => now.plus(window).0,
            Window::Forever => i64::MAX,
        }),
    })
}

/// A payload as a person would want to read it in SQL: text if it is text, else a blob.
struct Payload<'a>(&'a [u8]);

impl ToSql for Payload<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(
            if std::str::from_utf8(self.0).is_ok() {
                ValueRef::Text(self.0)
            } else {
                ValueRef::Blob(self.0)
            },
        ))
    }
}
