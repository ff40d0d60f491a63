//! Messages on their way in. One goes by a function, in one round trip. Many go by COPY in one transaction: their numbers
//! are drawn first, keys are taken in one order by the table's own constraint, groups are locked.

use super::super::{Conflict, Error, Kind, Result, Unit};
use super::conn::{LONG_CALL, Store, queue_of};
use super::value::{Json, Stamp, due, span};
use crate::queue::message::Ttl;
use crate::queue::{Due, Enqueued, NewMessage, QueueName, Timestamp, headers};
use std::collections::{BTreeSet, HashMap, HashSet};
use tokio_postgres::types::{ToSql, Type};

pub(super) fn enqueue(
    store: &mut Store,
    batch: &[NewMessage<'_>],
    unit: Unit,
) -> Result<Vec<Enqueued>> {
    match batch {
        [] => Ok(Vec::new()),
        [message] => one(store, message, unit).map(|answer| vec![answer]),
        batch => store.write(LONG_CALL, &mut |store| many(store, batch, unit)),
    }
}

/// What of a payload is text, and what is not.
fn parts(payload: &[u8]) -> (Option<&str>, Option<&[u8]>) {
    match std::str::from_utf8(payload) {
        Ok(text) if !text.contains('\0') => (Some(text), None),
        _ => (None, Some(payload)),
    }
}

fn one(store: &mut Store, message: &NewMessage<'_>, unit: Unit) -> Result<Enqueued> {
    let NewMessage {
        queue,
        payload,
        key,
        group,
        priority,
        due: when,
        ttl,
        max_attempts,
        headers: values,
    } = message;
    let (text, bytes) = parts(payload);
    let (at, wait) = due(*when);
    let (ends, span) = match ttl {
        Some(Ttl::At(at)) => (Some(Stamp(*at)), None),
        Some(Ttl::After(time)) => (None, Some(span(*time))),
        None => (None, None),
    };
    let group = group.as_ref().map(crate::queue::name::Group::as_str);
    let (priority, max) = (i32::from(*priority), max_attempts.map(i64::from));
    let (headers, skew) = (headers::write(values), store.skew.micros());
    let rows = store.query(
        sql!("put"),
        &[
            (&queue.as_str(), Type::TEXT),
            (&text, Type::TEXT),
            (&bytes, Type::BYTEA),
            (&key.as_deref(), Type::TEXT),
            (&group, Type::TEXT),
            (&priority, Type::INT4),
            (&at, Type::TIMESTAMPTZ),
            (&wait, Type::INT8),
            (&ends, Type::TIMESTAMPTZ),
            (&span, Type::INT8),
            (&headers, Type::TEXT),
            (&max, Type::INT8),
            (&skew, Type::INT8),
        ],
    )?;
    let row = rows
        .first()
        .ok_or_else(|| Error::bug("an enqueue without an answer"))?;
    let id = row.try_get::<_, i64>(0)?.to_string();
    match (row.try_get(1)?, unit) {
        (true, _) => Ok(Enqueued::New(id.into())),
        (false, Unit::Whole(Conflict::Refuse)) => Err(taken(message, 0, &id)),
        (false, _) => Ok(Enqueued::Duplicate(id.into())),
    }
}

/// A whole that is refused because of a key.
fn taken(message: &NewMessage<'_>, line: usize, holder: &str) -> Error {
    let key = message.key.as_deref().unwrap_or_default();
    Error::new(
        Kind::Conflict,
        format!("the key '{key}' is taken by message {holder}"),
    )
    .with("line", line.to_string())
    .with("id", holder)
}

/// A queue of the batch.
struct Home {
    id: i32,
    ttl_us: Option<i64>,
}

fn many(store: &mut Store, batch: &[NewMessage<'_>], unit: Unit) -> Result<Vec<Enqueued>> {
    let homes = homes(store, batch)?;
    let home = |message: &NewMessage<'_>| {
        homes
            .get(&message.queue)
            .ok_or_else(|| Error::bug("a queue that was made is not there"))
    };
    lock_groups(store, batch, &homes)?;
    let (now, ids) = draw(store, batch.len())?;
    let holders = take_keys(store, batch, &homes, &ids, now)?;
    let mut answer = Vec::with_capacity(batch.len());
    let mut seen: HashMap<(&QueueName, &str), i64> = HashMap::new();
    for (line, (message, id)) in batch.iter().zip(&ids).enumerate() {
        let holder = match message.key.as_deref() {
            None => *id,
            Some(key) => *seen
                .entry((&message.queue, key))
                .or_insert_with(|| holders.get(&line).copied().unwrap_or(*id)),
        };
        if holder == *id {
            answer.push(Enqueued::New(id.to_string().into()));
        } else if unit == Unit::Whole(Conflict::Refuse) {
            return Err(taken(message, line, &holder.to_string()));
        } else {
            answer.push(Enqueued::Duplicate(holder.to_string().into()));
        }
    }
    let mut living = living_groups(store, batch, &homes)?;
    let mut rows: Vec<Columns<'_>> = Vec::with_capacity(batch.len());
    for ((message, id), answer) in batch.iter().zip(&ids).zip(&answer) {
        if matches!(answer, Enqueued::New(_)) {
            let home = home(message)?;
            let stands = message
                .group
                .as_ref()
                .is_some_and(|group| !living.insert((home.id, group.as_str().to_owned())));
            rows.push(Columns::of(message, *id, home, now, stands));
        }
    }
    let params: Vec<Vec<&(dyn ToSql + Sync)>> = rows.iter().map(Columns::params).collect();
    store.copy(sql!("message_copy"), TYPES, &params)?;
    for queue in homes.keys() {
        store.query(sql!("ring"), &[(&queue.as_str(), Type::TEXT)])?;
    }
    Ok(answer)
}

fn homes<'b>(
    store: &mut Store,
    batch: &'b [NewMessage<'_>],
) -> Result<HashMap<&'b QueueName, Home>> {
    let mut homes = HashMap::new();
    for message in batch {
        if homes.contains_key(&message.queue) {
            continue;
        }
        let name = message.queue.as_str();
        let mut found = store.query(sql!("queue_by_name"), &[(&name, Type::TEXT)])?;
        if found.is_empty() {
            store.query(sql!("queue_make"), &[(&name, Type::TEXT)])?;
            found = store.query(sql!("queue_by_name"), &[(&name, Type::TEXT)])?;
        }
        let row =
            queue_of(&found)?.ok_or_else(|| Error::bug("a queue that was made is not there"))?;
        homes.insert(
            &message.queue,
            Home {
                id: row.id,
                ttl_us: row.ttl_us,
            },
        );
    }
    Ok(homes)
}

/// The store's now, and numbers for new messages.
fn draw(store: &mut Store, n: usize) -> Result<(Timestamp, Vec<i64>)> {
    let n = i64::try_from(n).unwrap_or(i64::MAX);
    let skew = store.skew.micros();
    let rows = store.query(sql!("draw"), &[(&n, Type::INT8), (&skew, Type::INT8)])?;
    let row = rows
        .first()
        .ok_or_else(|| Error::bug("a sequence without numbers"))?;
    Ok((row.try_get::<_, Stamp>(0)?.0, row.try_get(1)?))
}

/// Takes the keys of a batch, each for the first message that has it. Answers who has those that are taken, by the
/// message's place.
fn take_keys(
    store: &mut Store,
    batch: &[NewMessage<'_>],
    homes: &HashMap<&QueueName, Home>,
    ids: &[i64],
    now: Timestamp,
) -> Result<HashMap<usize, i64>> {
    let (mut queues, mut keys, mut new, mut places) = (vec![], vec![], vec![], vec![]);
    let mut seen = HashSet::new();
    for (place, message) in batch.iter().enumerate() {
        if let (Some(key), Some(home)) = (message.key.as_deref(), homes.get(&message.queue))
            && seen.insert((home.id, key))
        {
            queues.push(home.id);
            keys.push(key);
            new.push(ids[place]);
            places.push(place);
        }
    }
    if keys.is_empty() {
        return Ok(HashMap::new());
    }
    let now = Stamp(now);
    let rows = store.query_within(
        LONG_CALL,
        sql!("keys_take"),
        &[
            (&queues, Type::INT4_ARRAY),
            (&keys, Type::TEXT_ARRAY),
            (&new, Type::INT8_ARRAY),
            (&now, Type::TIMESTAMPTZ),
        ],
    )?;
    let won: HashSet<i64> = rows
        .iter()
        .map(|row| row.try_get(0))
        .collect::<std::result::Result<_, _>>()?;
    if won.len() == new.len() {
        return Ok(HashMap::new());
    }
    let rows = store.query_within(
        LONG_CALL,
        sql!("keys_held"),
        &[(&queues, Type::INT4_ARRAY), (&keys, Type::TEXT_ARRAY)],
    )?;
    let mut holders = HashMap::new();
    for row in rows {
        let position = usize::try_from(row.try_get::<_, i64>(0)? - 1).unwrap_or(usize::MAX);
        let holder: i64 = row.try_get(1)?;
        if let (Some(place), Some(id)) = (places.get(position), new.get(position))
            && holder != *id
        {
            holders.insert(*place, holder);
        }
    }
    Ok(holders)
}

/// Members of a group come in one transaction after the other.
fn lock_groups(
    store: &mut Store,
    batch: &[NewMessage<'_>],
    homes: &HashMap<&QueueName, Home>,
) -> Result<()> {
    let groups: BTreeSet<(i32, &str)> = groups(batch, homes).collect();
    if groups.is_empty() {
        return Ok(());
    }
    let (queues, names): (Vec<i32>, Vec<&str>) = groups.into_iter().unzip();
    store
        .query_within(
            LONG_CALL,
            sql!("groups_lock"),
            &[(&queues, Type::INT4_ARRAY), (&names, Type::TEXT_ARRAY)],
        )
        .map(drop)
}

fn living_groups(
    store: &mut Store,
    batch: &[NewMessage<'_>],
    homes: &HashMap<&QueueName, Home>,
) -> Result<HashSet<(i32, String)>> {
    let groups: BTreeSet<(i32, &str)> = groups(batch, homes).collect();
    if groups.is_empty() {
        return Ok(HashSet::new());
    }
    let (queues, names): (Vec<i32>, Vec<&str>) = groups.into_iter().unzip();
    let rows = store.query(
        sql!("groups_living"),
        &[(&queues, Type::INT4_ARRAY), (&names, Type::TEXT_ARRAY)],
    )?;
    rows.iter()
        .map(|row| Ok((row.try_get(0)?, row.try_get(1)?)))
        .collect()
}

fn groups<'b>(
    batch: &'b [NewMessage<'_>],
    homes: &HashMap<&QueueName, Home>,
) -> impl Iterator<Item = (i32, &'b str)> {
    batch.iter().filter_map(|message| {
        let group = message.group.as_ref()?;
        Some((homes.get(&message.queue)?.id, group.as_str()))
    })
}

/// The types of the columns of a COPY.
const TYPES: &[Type] = &[
    Type::INT8,
    Type::INT4,
    Type::INT2,
    Type::INT2,
    Type::TIMESTAMPTZ,
    Type::TIMESTAMPTZ,
    Type::TIMESTAMPTZ,
    Type::INT8,
    Type::TEXT,
    Type::TEXT,
    Type::JSON,
    Type::TEXT,
    Type::BYTEA,
];

/// A message as COPY takes it.
struct Columns<'a> {
    id: i64,
    queue_id: i32,
    state: i16,
    priority: i16,
    ready_at: Stamp,
    enqueued_at: Stamp,
    expires_at: Option<Stamp>,
    max_attempts: Option<i64>,
    key: Option<&'a str>,
    group: Option<&'a str>,
    headers: Option<Json>,
    text: Option<&'a str>,
    bytes: Option<&'a [u8]>,
}

impl<'a> Columns<'a> {
    fn of(
        message: &'a NewMessage<'_>,
        id: i64,
        home: &Home,
        now: Timestamp,
        blocked: bool,
    ) -> Self {
        let (text, bytes) = parts(&message.payload);
        let expires_at = match message.ttl {
            Some(Ttl::After(time)) => Some(now.plus(time)),
            Some(Ttl::At(time)) => Some(time),
            None => home.ttl_us.map(|ttl| Timestamp(now.0.saturating_add(ttl))),
        };
        Self {
            id,
            queue_id: home.id,
            state: if blocked { 2 } else { 0 },
            priority: message.priority.into(),
            ready_at: Stamp(match message.due {
                Due::Now => now,
                due => due.instant(now),
            }),
            enqueued_at: Stamp(now),
            expires_at: expires_at.map(Stamp),
            max_attempts: message.max_attempts.map(i64::from),
            key: message.key.as_deref(),
            group: message
                .group
                .as_ref()
                .map(crate::queue::name::Group::as_str),
            headers: headers::write(&message.headers).map(Json),
            text,
            bytes,
        }
    }

    fn params(&self) -> Vec<&(dyn ToSql + Sync)> {
        vec![
            &self.id,
            &self.queue_id,
            &self.state,
            &self.priority,
            &self.ready_at,
            &self.enqueued_at,
            &self.expires_at,
            &self.max_attempts,
            &self.key,
            &self.group,
            &self.headers,
            &self.text,
            &self.bytes,
        ]
    }
}
