//! Dead letters claimed where they lie, the oldest first.

use super::super::{Claim, Claimed, Page, Pick, Result};
use super::claim::{Claiming, number};
use super::conn::{Store, find_queue};
use super::row::Show;
use super::settle::{Letter, letter, reclaim_letter};
use super::walk::{Step, VAIN, Walk};
use crate::queue::{Cursor, Message, MessageId, Order, QueueName, Selection, State, Timestamp};
use rusqlite::{Connection, params};

/// So many letters are looked at by one claim, whether they are meant or not: it holds the lock of the writer.
const SCAN: usize = 1_000;

/// A claim's page of letters.
struct Found {
    free: Vec<(Message, Letter)>,
    held: Vec<(MessageId, Timestamp)>,
    next: Option<Cursor>,
}

/// Where a claim looks.
struct Look<'a> {
    conn: &'a Connection,
    queue: (&'a QueueName, i64),
    now: Timestamp,
    what: &'a Selection,
    after: Option<&'a Cursor>,
}

impl Look<'_> {
    /// The next letters that are meant: so many that nobody holds, and so many bytes, but always one.
    fn page(&self, most: usize, bytes: usize) -> Result<Found> {
        let what = Selection {
            queue: Some(self.queue.0.clone()),
            states: vec![State::Dead],
            ..self.what.clone()
        };
        let page = Page {
            after: self.after,
            scan: SCAN,
            ..Page::first(most, Order::Oldest)
        };
        let walk = Walk {
            conn: self.conn,
            what: &what,
            page: &page,
            now: self.now,
            show: Show::Payload,
            vain: VAIN,
        };
        let (mut free, mut held) = (Vec::new(), Vec::new());
        let mut taken = 0;
        let next = walk.each(Some(self.queue), &mut |message| {
            let Some(found) = letter(self.conn, number(&message))? else {
                return Ok(Step::PassedOver);
            };
            if let Some(end) = message.lease_until.filter(|_| found.held(self.now)) {
                held.push((message.id, end));
                return Ok(Step::PassedOver);
            }
            if taken + message.payload.len() > bytes && !free.is_empty() {
                return Ok(Step::NoRoom);
            }
            taken += message.payload.len();
            free.push((message, found));
            Ok(Step::Taken)
        })?;
        Ok(Found { free, held, next })
    }
}

/// Claims a page of them.
pub(super) fn claim(
    claiming: &mut Claiming<'_>,
    what: &Selection,
    after: Option<&Cursor>,
) -> Result<()> {
    let look = Look {
        conn: claiming.conn,
        queue: (claiming.wanted.queue, claiming.queue_id),
        now: claiming.now,
        what,
        after,
    };
    let Found { free, held, next } = look.page(claiming.wanted.max, claiming.wanted.bytes)?;
    for (message, found) in free {
        reclaim_letter(claiming.conn, &found, claiming.now)?;
        let doubt = claiming.doubt(&message)?;
        let lease_until = claiming.now.plus(claiming.wanted.lease);
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
    claiming.claimed.held = held;
    claiming.claimed.cursor = next;
    Ok(())
}

/// A claim that would take nothing from its page needs no lock: others go on writing while a filter passes over many
/// letters. None: there is something to take, or to refuse.
pub(super) fn nothing(store: &Store, wanted: &Claim<'_>) -> Result<Option<Claimed>> {
    let Pick::Dead { what, after } = wanted.pick else {
        return Ok(None);
    };
    store.read(|| {
        let Some(queue) = find_queue(&store.conn, wanted.queue)? else {
            return Ok(None);
        };
        let look = Look {
            conn: &store.conn,
            queue: (wanted.queue, queue.id),
            now: store.now(),
            what,
            after,
        };
        let found = look.page(1, 0)?;
        Ok(found.free.is_empty().then(|| Claimed {
            held: found.held,
            cursor: found.next,
            ..Claimed::default()
        }))
    })
}
