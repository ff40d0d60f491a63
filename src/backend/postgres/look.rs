//! Looking and counting: nothing changes, nothing stays open, and a replica can do it.

use super::super::cursor::{Key, Place};
use super::super::receipt::number_of;
use super::super::{Count, Detail, Error, Page, Peeked, Result};
use super::conn::Store;
use super::heads::{Filter, Head, segments};
use super::row::{attempt, message, open_run};
use crate::queue::{Cursor, Message, MessageId, Order, QueueName, Selection, State, Timestamp};
use std::collections::HashMap;
use tokio_postgres::types::Type;

/// So many heads are asked for at once where some may not be meant.
const HEADS: usize = 2_000;

pub(super) fn peek(store: &mut Store, what: &Selection, page: &Page<'_>) -> Result<Peeked> {
    let (heads, mut next) = page_of(store, what, page, true)?;
    let ids: Vec<i64> = heads.iter().map(|head| head.id).collect();
    let now = match page.after {
        Some(cursor) => Place::read(cursor)?.now,
        None => store.now()?,
    };
    let mut found = load(store, &ids, now)?;
    // A message that left its place between two looks is not shown: the walk meets it where it is now, or not at all.
    let mut rows: Vec<Message> = ids.iter().filter_map(|id| found.remove(id)).collect();
    if page.detail == Detail::History {
        let room = histories(store, page, &mut rows)?;
        if room < rows.len() {
            // The shorter page is looked up again for its cursor.
            rows.truncate(room);
            let page = Page {
                rows: room,
                ..*page
            };
            next = page_of(store, what, &page, true)?.1;
        }
    }
    let gone = match (&what.ids, &next) {
        (Some(ids), None) => gone(store, ids)?,
        _ => Vec::new(),
    };
    Ok(Peeked { rows, next, gone })
}

/// The heads of what is meant within the page's bounds, and where the walk goes on.
pub(super) fn page_of(
    store: &mut Store,
    what: &Selection,
    page: &Page<'_>,
    shown: bool,
) -> Result<(Vec<Head>, Option<Cursor>)> {
    let queue_id = match &what.queue {
        Some(queue) => Some(store.queue(queue)?.id),
        None => None,
    };
    let filter = Filter::of(what);
    let mut place = match page.after {
        Some(cursor) => Place::read(cursor)?,
        None => Place {
            named: false,
            now: store.now()?,
            segment: 0,
            key: None,
        },
    };
    if let Some(ids) = named(store, what, queue_id)? {
        return named_page(store, what, page, &filter, place, ids, queue_id, shown);
    }
    let Some(queue_id) = queue_id else {
        return Err(Error::bug("a walk without a queue or an id"));
    };
    let segments = segments(what, page.order, page.reverse);
    let mut taken: Vec<Head> = Vec::new();
    let (mut bytes, mut looked) = (0, 0);
    while let Some(segment) = segments.get(place.segment) {
        let room = page.rows.saturating_sub(taken.len()).max(1);
        let ask = if filter.sifts() {
            HEADS
        } else {
            room.min(HEADS)
        };
        let way = (page.order, page.reverse);
        let heads = store.heads(&filter, *segment, queue_id, &place, ask, way)?;
        let end = heads.is_empty();
        for head in heads {
            if taken.len() >= page.rows || looked >= page.scan {
                return Ok((taken, Some(place.cursor())));
            }
            looked += 1;
            if head.hit {
                if shown && bytes + head.size > page.bytes && !taken.is_empty() {
                    return Ok((taken, Some(place.cursor())));
                }
                bytes += head.size;
                taken.push(head);
            }
            place.key = Some(head.key);
        }
        if end {
            place.segment += 1;
            place.key = None;
        }
    }
    Ok((taken, None))
}

/// The messages that a selection names one by one, by their numbers. None: it does not.
fn named(store: &mut Store, what: &Selection, queue_id: Option<i32>) -> Result<Option<Vec<i64>>> {
    if let Some(ids) = &what.ids {
        return Ok(Some(ids.iter().filter_map(number_of).collect()));
    }
    let (Some(key), Some(queue_id)) = (&what.key, queue_id) else {
        return Ok(None);
    };
    if key.contains('\0') {
        return Ok(Some(Vec::new()));
    }
    let rows = store.query(
        sql!("key_holder"),
        &[(&queue_id, Type::INT4), (key, Type::TEXT)],
    )?;
    let ids = rows.iter().map(|row| row.try_get(0));
    Ok(Some(ids.collect::<std::result::Result<_, _>>()?))
}

#[expect(
    clippy::too_many_arguments,
    reason = "what makes a page of named messages"
)]
fn named_page(
    store: &mut Store,
    what: &Selection,
    page: &Page<'_>,
    filter: &Filter,
    mut place: Place,
    mut ids: Vec<i64>,
    queue_id: Option<i32>,
    shown: bool,
) -> Result<(Vec<Head>, Option<Cursor>)> {
    ids.sort_unstable();
    ids.dedup();
    let mut heads = store.heads_of(filter, place.now, &ids)?;
    if let (Some(queue_id), Some(_)) = (queue_id, &what.queue) {
        let ours = in_queue(store, &ids, queue_id)?;
        heads.retain(|head| ours.contains(&head.id));
    }
    for head in &mut heads {
        sort_key(head, page.order);
    }
    heads.retain(|head| {
        head.hit
            && place.key.is_none_or(|key| {
                let here = (head.segment(page.order), head.key.0, head.key.1, head.key.2);
                let there = (place.segment, key.0, key.1, key.2);
                if page.reverse {
                    here < there
                } else {
                    here > there
                }
            })
    });
    heads.sort_by_key(|head| (head.segment(page.order), head.key.0, head.key.1, head.key.2));
    if page.reverse {
        heads.reverse();
    }
    let mut taken: Vec<Head> = Vec::new();
    let mut bytes = 0;
    for head in heads {
        let over = shown && bytes + head.size > page.bytes && !taken.is_empty();
        if over || taken.len() >= page.rows {
            return Ok((taken, Some(place.cursor())));
        }
        bytes += head.size;
        place.named = true;
        place.segment = head.segment(page.order);
        place.key = Some(head.key);
        taken.push(head);
    }
    Ok((taken, None))
}

fn in_queue(store: &mut Store, ids: &[i64], queue_id: i32) -> Result<Vec<i64>> {
    let rows = store.query(
        sql!("ids_in_queue"),
        &[(&ids, Type::INT8_ARRAY), (&queue_id, Type::INT4)],
    )?;
    let ids = rows.iter().map(|row| row.try_get(0));
    Ok(ids.collect::<std::result::Result<_, _>>()?)
}

impl Head {
    /// Its place among the segments of an order.
    fn segment(&self, order: Order) -> usize {
        match (order, self.state) {
            (Order::Oldest, State::Dead) | (Order::Run, State::Ready) => 1,
            (Order::Oldest, _) | (Order::Run, State::Running) => 0,
            (Order::Run, State::Delayed) => 2,
            (Order::Run, State::Blocked) => 3,
            (Order::Run, State::Dead) => 4,
        }
    }
}

/// The key of a named message in an order: it came with its priority, due time and number.
fn sort_key(head: &mut Head, order: Order) {
    let Key(priority, due, seq) = head.key;
    head.key = match (order, head.state) {
        (Order::Run, State::Ready) => Key(-priority, due, head.id),
        (Order::Run, State::Delayed) => Key(0, due, head.id),
        (Order::Run, State::Dead) => Key(0, 0, -seq),
        _ => Key(0, 0, seq),
    };
}

/// Messages by their numbers.
pub(super) fn load(
    store: &mut Store,
    ids: &[i64],
    now: Timestamp,
) -> Result<HashMap<i64, Message>> {
    if ids.is_empty() {
        return Ok(HashMap::new());
    }
    let rows = store.query(sql!("messages"), &[(&ids, Type::INT8_ARRAY)])?;
    let mut found = HashMap::with_capacity(rows.len());
    for row in rows {
        let queue = QueueName::parse(row.try_get(super::row::COLUMNS)?)
            .map_err(|error| Error::bug("a queue with a name that is none").because(error))?;
        found.insert(row.try_get(0)?, message(&row, 0, &queue, now)?);
    }
    Ok(found)
}

/// Their histories, as far as the page's bytes go: what was kept of stderr counts as payload does. Answers how many of the
/// messages that leaves.
fn histories(store: &mut Store, page: &Page<'_>, rows: &mut [Message]) -> Result<usize> {
    let ran: Vec<i64> = rows
        .iter()
        .filter(|message| message.deliveries > 0)
        .filter_map(|message| number_of(&message.id))
        .collect();
    if ran.is_empty() {
        return Ok(rows.len());
    }
    let sizes = store.query(sql!("attempts_size"), &[(&ran, Type::INT8_ARRAY)])?;
    let mut kept: HashMap<i64, usize> = HashMap::new();
    for row in &sizes {
        let size: i64 = row.try_get(1)?;
        kept.insert(row.try_get(0)?, usize::try_from(size).unwrap_or(usize::MAX));
    }
    let mut bytes = 0_usize;
    let mut room = rows.len();
    for (n, message) in rows.iter().enumerate() {
        let of = number_of(&message.id).and_then(|id| kept.get(&id));
        bytes = bytes.saturating_add(message.payload.len() + of.copied().unwrap_or(0));
        if bytes > page.bytes && n > 0 {
            room = n;
            break;
        }
    }
    let ids: Vec<i64> = rows[..room]
        .iter()
        .filter_map(|message| number_of(&message.id))
        .collect();
    let found = store.query(sql!("attempts"), &[(&ids, Type::INT8_ARRAY)])?;
    let mut runs: HashMap<i64, Vec<_>> = HashMap::new();
    for row in &found {
        runs.entry(row.try_get(0)?).or_default().push(attempt(row)?);
    }
    for message in &mut rows[..room] {
        if let Some(mut all) = number_of(&message.id).and_then(|id| runs.remove(&id)) {
            message.history.append(&mut all);
        }
        message.history.extend(open_run(message));
    }
    Ok(room)
}

/// Ids that were issued once and are no longer here.
fn gone(store: &mut Store, ids: &[MessageId]) -> Result<Vec<MessageId>> {
    let numbers: Vec<i64> = ids.iter().filter_map(number_of).collect();
    let rows = store.query(sql!("gone"), &[(&numbers, Type::INT8_ARRAY)])?;
    let gone: Vec<i64> = rows
        .iter()
        .map(|row| row.try_get(0))
        .collect::<std::result::Result<_, _>>()?;
    Ok(ids
        .iter()
        .filter(|id| number_of(id).is_some_and(|number| gone.contains(&number)))
        .cloned()
        .collect())
}

pub(super) fn count(store: &mut Store, what: &Selection, cap: u64) -> Result<Count> {
    let mut n: u64 = 0;
    let mut after: Option<Cursor> = None;
    loop {
        let page = Page {
            after: after.as_ref(),
            ..Page::first(20_000, Order::Oldest)
        };
        let (heads, next) = page_of(store, what, &page, false)?;
        n += heads.len() as u64;
        match next {
            Some(next) if n <= cap => after = Some(next),
            _ => break,
        }
    }
    Ok(Count {
        n: n.min(cap),
        exact: n <= cap,
    })
}
