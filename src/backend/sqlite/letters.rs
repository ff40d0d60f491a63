//! Dead letters claimed where they lie, the oldest first.

use super::super::{Page, Result};
use super::claim::{Claiming, number};
use super::row::Show;
use super::settle::{letter, reclaim_letter};
use super::walk::Walk;
use crate::queue::{Cursor, Order, Selection, State};
use rusqlite::params;

pub(super) fn claim(
    claiming: &mut Claiming<'_>,
    what: &Selection,
    after: Option<&Cursor>,
) -> Result<()> {
    let dead = Selection {
        queue: Some(claiming.wanted.queue.clone()),
        states: vec![State::Dead],
        ..what.clone()
    };
    let mut cursor = after.cloned();
    loop {
        let left = claiming.wanted.max - claiming.claimed.got.len();
        if left == 0 {
            break;
        }
        let first = Page::first(left, Order::Oldest);
        let room = claiming.wanted.bytes.saturating_sub(claiming.bytes);
        let page = Page {
            after: cursor.as_ref(),
            bytes: room,
            ..first
        };
        let walk = Walk {
            conn: claiming.conn,
            what: &dead,
            page: &page,
            now: claiming.now,
            show: Show::Payload,
        };
        let walked = walk.step(claiming.wanted.queue, claiming.queue_id)?;
        let mut passed_over = false;
        for message in walked.rows {
            let Some(found) = letter(claiming.conn, number(&message))? else {
                continue;
            };
            if found.held(claiming.now) {
                passed_over = true;
                continue;
            }
            if message.payload.len() > room && !claiming.claimed.got.is_empty() {
                // A page has one row at the least, however large: this one alone. The walk goes on with it.
                claiming.claimed.cursor = cursor;
                return Ok(());
            }
            reclaim_letter(claiming.conn, &found, claiming.now)?;
            let doubt = claiming.doubt(&message)?;
            let lease_until = claiming.now.plus(claiming.wanted.lease);
            claiming.bytes += message.payload.len();
            claiming
                .conn
                .prepare_cached(sql!("dead_claim"))?
                .execute(params![
                    number(&message),
                    lease_until.0,
                    claiming.token,
                    claiming.worker,
                    claiming.wanted.start.then_some(claiming.now.0),
                ])?;
            claiming.hand_out(message, lease_until, doubt);
        }
        cursor = walked.next;
        // What was passed over took room from others. Else the cursor says that there may be more.
        if cursor.is_none() || !(passed_over || claiming.claimed.got.is_empty()) {
            break;
        }
    }
    claiming.claimed.cursor = cursor;
    Ok(())
}
