//! Looking and counting: nothing changes, nothing stays open.

use super::super::receipt::number_of;
use super::super::{Count, Page, Peeked, Result};
use super::conn::Store;
use super::keys::{Segment, priorities};
use super::row::Show;
use super::walk::{Step, Walk, Walked, Way};
use crate::queue::{MessageId, Order, Selection, State};
use rusqlite::{OptionalExtension as _, params};

/// [`super::super::Backend::peek`]: one page on one state of the file.
pub(super) fn peek(store: &Store, what: &Selection, page: &Page<'_>) -> Result<Peeked> {
    store.read(|| page_of(store, what, page))
}

fn page_of(store: &Store, what: &Selection, page: &Page<'_>) -> Result<Peeked> {
    let walked = step(store, what, page, Show::Payload)?;
    let gone = match (&what.ids, &walked.next) {
        (Some(ids), None) => gone(store, ids)?,
        _ => Vec::new(),
    };
    Ok(Peeked {
        rows: walked.rows,
        next: walked.next,
        gone,
    })
}

fn step(store: &Store, what: &Selection, page: &Page<'_>, show: Show) -> Result<Walked> {
    let walk = Walk {
        conn: &store.conn,
        what,
        page,
        now: store.now(),
        show,
        vain: usize::MAX,
    };
    let queue = match &what.queue {
        Some(queue) => Some((queue, store.queue(queue)?.id)),
        None => None,
    };
    walk.step(queue)
}

/// Ids that were issued once and are no longer here.
fn gone(store: &Store, ids: &[MessageId]) -> Result<Vec<MessageId>> {
    let issued: i64 = store
        .conn
        .prepare_cached(sql!("issued"))?
        .query_row([], |row| row.get(0))?;
    let mut gone = Vec::new();
    for id in ids {
        let Some(number) = number_of(id).filter(|number| *number <= issued) else {
            continue;
        };
        let live: Option<i64> = store
            .conn
            .prepare_cached(sql!("message_get"))?
            .query_row(params![number, false], |row| row.get(0))
            .optional()?;
        let dead: Option<i64> = store
            .conn
            .prepare_cached(sql!("seq_of"))?
            .query_row([number], |row| row.get(0))
            .optional()?;
        if live.is_none() && dead.is_none() {
            gone.push(id.clone());
        }
    }
    Ok(gone)
}

/// [`super::super::Backend::count`]. No row is kept; where nothing but states is asked, none is read.
pub(super) fn count(store: &Store, what: &Selection, cap: u64) -> Result<Count> {
    let Selection {
        queue,
        ids,
        states: _,
        key,
        group,
        since,
        until,
        error,
        grep,
        skip_expired,
    } = what;
    let bare = ids.is_none()
        && key.is_none()
        && group.is_none()
        && since.is_none()
        && until.is_none()
        && error.is_none()
        && grep.is_none()
        && !skip_expired;
    let n = match queue {
        Some(queue) if bare => by_state(store, store.queue(queue)?.id, what, cap)?,
        _ => by_walk(store, what, cap)?,
    };
    Ok(Count {
        n: n.min(cap),
        exact: n <= cap,
    })
}

/// Counts without looking at a row: at most one more than the cap.
fn by_state(store: &Store, queue_id: i64, what: &Selection, cap: u64) -> Result<u64> {
    let now = store.now().0;
    let mut n = 0;
    for state in State::ALL.iter().filter(|state| what.wants(**state)) {
        let most = limit(cap.saturating_sub(n).saturating_add(1));
        n += match state {
            State::Ready => due(store, queue_id, (i64::MIN, now), most)?,
            State::Delayed => due(store, queue_id, (now, i64::MAX), most)?,
            State::Blocked => number(store, sql!("count_blocked"), params![queue_id, most])?,
            State::Running => number(store, sql!("count_running"), params![queue_id, most])?,
            State::Dead => number(store, sql!("count_dead"), params![queue_id, most])?,
        };
    }
    Ok(n)
}

/// How many of any priority are due in a span of time, up to `most` of each.
pub(super) fn due(
    store: &Store,
    queue_id: i64,
    (after, until): (i64, i64),
    most: i64,
) -> Result<u64> {
    let mut n = 0;
    for priority in priorities(&store.conn, queue_id)? {
        n += number(
            store,
            sql!("count_due"),
            params![queue_id, priority, after, until, most],
        )?;
    }
    Ok(n)
}

/// A statement's one number.
pub(super) fn number(store: &Store, statement: &str, params: impl rusqlite::Params) -> Result<u64> {
    let n: i64 = store
        .conn
        .prepare_cached(statement)?
        .query_row(params, |row| row.get(0))?;
    Ok(n.unsigned_abs())
}

/// A limit as SQLite takes it.
pub(super) fn limit(n: u64) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

fn by_walk(store: &Store, what: &Selection, cap: u64) -> Result<u64> {
    let queue_id = match &what.queue {
        Some(queue) => Some(store.queue(queue)?.id),
        None => None,
    };
    let mut n = 0;
    let mut after = None;
    loop {
        let page = Page {
            after: after.as_ref(),
            ..Page::first(50_000, Order::Oldest)
        };
        let next = store.read(|| {
            let walk = Walk {
                conn: &store.conn,
                what,
                page: &page,
                now: store.now(),
                show: Show::Rest,
                vain: usize::MAX,
            };
            let (Way::Along, Some(queue_id)) = (walk.way(queue_id)?, queue_id) else {
                let walked = step(store, what, &page, Show::Rest)?;
                n += walked.rows.len() as u64;
                return Ok(walked.next);
            };
            // Mostly heads tell all that is asked. What is read is not kept: there is a number to answer.
            let mut desk = what.reads_contents().then(|| walk.desk()).transpose()?;
            walk.along(queue_id, &mut |seen, segment, now| {
                if let (Some(desk), Some(queue)) = (&mut desk, &what.queue) {
                    let found = desk.load(seen.id, queue, segment == Segment::Dead, now)?;
                    if !found.is_some_and(|found| what.matches(&found)) {
                        return Ok(Step::PassedOver);
                    }
                }
                n += 1;
                Ok(if n > cap { Step::NoRoom } else { Step::Taken })
            })
        })?;
        match next {
            Some(next) if n <= cap => after = Some(next),
            _ => return Ok(n),
        }
    }
}
