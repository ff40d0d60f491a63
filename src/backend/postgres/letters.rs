//! Dead letters claimed where they lie: a page of them is looked up and taken in one transaction, with the verdicts
//! before it.

use super::super::{Claim, Claimed, Exchanged, Kind, Page, Result, Settle};
use super::conn::{CALL, Store};
use super::exchange::{Answer, Asked, Settles};
use super::look::page_of;
use super::value::span;
use crate::queue::{Cursor, Order, Selection, State};
use tokio_postgres::types::Type;

/// So many letters are looked at by one claim.
const SCAN: usize = 1_000;

pub(super) fn exchange(
    store: &mut Store,
    settle: &[Settle<'_>],
    wanted: &Claim<'_>,
    what: &Selection,
    after: Option<&Cursor>,
) -> Result<Exchanged> {
    let settles = Settles::of(settle);
    store.write(CALL, &mut |store| {
        let settled = if settle.is_empty() {
            Vec::new()
        } else {
            let asked = Asked::default();
            let (skew, identity) = (store.skew.micros(), store.identity.clone());
            let mut params = settles.params(&skew, &identity);
            asked.push(&mut params);
            let rows = store.query(sql!("exchange"), &params)?;
            Answer::read(&rows, settle.len(), None)?.settled
        };
        let claimed = match claim(store, wanted, what, after) {
            // Nothing was asked of the server that would have failed.
            Err(error) if error.kind() == Kind::NotFound => Err(error),
            claimed => Ok(claimed?),
        };
        Ok(Exchanged { settled, claimed })
    })
}

fn claim(
    store: &mut Store,
    wanted: &Claim<'_>,
    what: &Selection,
    after: Option<&Cursor>,
) -> Result<Claimed> {
    let dead = Selection {
        queue: Some(wanted.queue.clone()),
        states: vec![State::Dead],
        ..what.clone()
    };
    let page = Page {
        after,
        bytes: wanted.bytes,
        scan: SCAN,
        ..Page::first(wanted.max, Order::Oldest)
    };
    let (heads, cursor) = page_of(store, &dead, &page, true)?;
    let mut claimed = Claimed {
        cursor,
        ..Claimed::default()
    };
    if heads.is_empty() {
        return Ok(claimed);
    }
    let ids: Vec<i64> = heads.iter().map(|head| head.id).collect();
    let (lease, token, skew) = (span(wanted.lease), fastrand::i64(..), store.skew.micros());
    let rows = store.query(
        sql!("claim_dead"),
        &[
            (&store.identity.clone(), Type::TEXT),
            (&ids, Type::INT8_ARRAY),
            (&lease, Type::INT8),
            (&wanted.start, Type::BOOL),
            (&token, Type::INT8),
            (&skew, Type::INT8),
        ],
    )?;
    let answer = Answer::read_in_order(&rows, wanted)?;
    claimed.got = answer.got;
    claimed.held = answer.held;
    Ok(claimed)
}
