//! Changes over what is meant: a page of heads is looked up, then changed in one transaction by one function, that
//! tests every condition again.

use super::super::cursor::Place;
use super::super::{Change, Changed, Error, Intent, Op, Page, Result, Run};
use super::conn::{LONG_CALL, Store, queue_of};
use super::look::page_of;
use super::value::Stamp;
use crate::queue::{MessageId, OpId, QueueName, Selection, State};
use std::collections::HashMap;
use tokio_postgres::types::Type;

/// An operation of this store has a number of its own process: nothing is written yet.
pub(super) fn begin(store: &mut Store, _: &Intent<'_>) -> Result<Op> {
    Ok(Op {
        id: OpId(fastrand::u64(..)),
        at: store.now()?,
    })
}

pub(super) fn change(
    store: &mut Store,
    what: &Selection,
    change: &Change<'_>,
    page: &Page<'_>,
    run: Run,
) -> Result<Changed> {
    let queue = what
        .queue
        .clone()
        .ok_or_else(|| Error::bug("a change without a queue"))?;
    let queue_id = store.queue(&queue)?.id;
    let looked = match page.after {
        Some(cursor) => Place::read(cursor)?.now,
        None => store.now()?,
    };
    let (heads, next) = page_of(store, what, page, false)?;
    let mut changed = Changed {
        next,
        ..Changed::default()
    };
    if heads.is_empty() {
        return Ok(changed);
    }
    let ids: Vec<i64> = heads.iter().map(|head| head.id).collect();
    let letters = heads.iter().any(|head| head.state == State::Dead);
    let (looked, meant) = (Stamp(looked), states(what));
    let running = what.states.contains(&State::Running);
    let dry = run == Run::Dry;
    let skew = store.skew.micros();
    let mut fates = HashMap::new();
    let rows = match change {
        Change::Purge { free_keys } => store.query_within(
            LONG_CALL,
            sql!("purge"),
            &[
                (&queue_id, Type::INT4),
                (&ids, Type::INT8_ARRAY),
                (&meant, Type::INT2_ARRAY),
                (&running, Type::BOOL),
                (free_keys, Type::BOOL),
                (&dry, Type::BOOL),
                (&looked, Type::TIMESTAMPTZ),
                (&skew, Type::INT8),
            ],
        )?,
        Change::Requeue { due, to, reset } => {
            let into = into(store, *to, letters && !dry)?;
            let name = to.map(QueueName::as_str);
            let (at, wait) = super::value::due(*due);
            store.query_within(
                LONG_CALL,
                sql!("requeue"),
                &[
                    (&queue_id, Type::INT4),
                    (&ids, Type::INT8_ARRAY),
                    (&meant, Type::INT2_ARRAY),
                    (&into, Type::INT4),
                    (&name, Type::TEXT),
                    (&at, Type::TIMESTAMPTZ),
                    (&wait, Type::INT8),
                    (reset, Type::BOOL),
                    (&dry, Type::BOOL),
                    (&looked, Type::TIMESTAMPTZ),
                    (&skew, Type::INT8),
                ],
            )?
        }
    };
    for row in &rows {
        let id: i64 = row.try_get(0)?;
        fates.insert(id, row.try_get::<_, Option<String>>(1)?);
    }
    for id in ids {
        let name: MessageId = id.to_string().into();
        match fates.remove(&id) {
            Some(None) => changed.done.push(name),
            Some(Some(why)) => changed.skipped.push((name, why)),
            None => {}
        }
    }
    if run == Run::Do {
        store.scan.forget();
    }
    Ok(changed)
}

/// The queue that letters go to; it comes into being with the first. None: they stay in theirs; 0: it is not there.
fn into(store: &mut Store, to: Option<&QueueName>, make: bool) -> Result<Option<i32>> {
    let Some(to) = to else { return Ok(None) };
    let name = to.as_str();
    if make {
        store.query(sql!("queue_make"), &[(&name, Type::TEXT)])?;
    }
    let rows = store.query(sql!("queue_by_name"), &[(&name, Type::TEXT)])?;
    Ok(Some(queue_of(&rows)?.map_or(0, |queue| queue.id)))
}

/// The states that a selection means, as the tables number them; 4 is delayed.
fn states(what: &Selection) -> Vec<i16> {
    [
        (State::Ready, 0),
        (State::Running, 1),
        (State::Blocked, 2),
        (State::Dead, 3),
        (State::Delayed, 4),
    ]
    .iter()
    .filter(|(state, _)| what.wants(*state))
    .map(|(_, number)| *number)
    .collect()
}
