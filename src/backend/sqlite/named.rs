//! Messages named one by one, in a walk's order.

use super::super::cursor::{Key, Place};
use super::super::{Error, Kind, Result};
use super::row::{Show, text};
use super::walk::{Basket, Desk, Step, Walk, Walked};
use crate::queue::{Cursor, Message, Order, QueueName, State};
use rusqlite::Connection;
use std::collections::HashMap;

/// A place among messages that were named: segment, then the key in it.
type SortKey = (u8, i64, i64, i64);

impl Walk<'_> {
    /// These messages in the walk's order. Ids that are not there, or not meant, are passed over.
    pub(super) fn named(&self, ids: Vec<i64>) -> Result<Walked> {
        let mut basket = Basket::new(self.page);
        let next = self.each_named(ids, &mut |message| Ok(basket.put(message)))?;
        let rows = basket.rows;
        Ok(Walked { rows, next })
    }

    /// Shows `take` each of them and answers where the walk goes on.
    pub(super) fn each_named(
        &self,
        mut ids: Vec<i64>,
        take: &mut dyn FnMut(Message) -> Result<Step>,
    ) -> Result<Option<Cursor>> {
        let place = self.place()?;
        let mut names = Names::new(self.conn);
        ids.sort_unstable();
        ids.dedup();
        // Looked at without its payload first: what is not meant is not read, and what a filter reads in vain is bounded.
        let mut look = Desk::new(self.conn, Show::Rest)?;
        let mut found = Vec::new();
        for id in ids {
            if let Some(message) = look.find(id, &mut |queue| names.of(queue), place.now)?
                && self.what.matches_but_payload(&message)
            {
                let at = self.sort_key(id, &message)?;
                if place.is_before(at, self.page.reverse) {
                    found.push((at, id));
                }
            }
        }
        found.sort_unstable();
        if self.page.reverse {
            found.reverse();
        }
        drop(look);
        let mut desk = self.desk()?;
        let mut last = None;
        let (mut taken, mut vain) = (0, 0);
        for (at, id) in found {
            let Some(message) = desk.find(id, &mut |queue| names.of(queue), place.now)? else {
                continue;
            };
            let meant = self.what.matches_payload(&message.payload);
            let step = if taken >= self.page.rows || vain >= self.vain {
                Step::NoRoom
            } else if meant {
                take(message)?
            } else {
                vain += message.payload.len();
                Step::PassedOver
            };
            match step {
                Step::NoRoom => return Ok(last.or(self.page.after.cloned())),
                Step::Taken => taken += 1,
                Step::PassedOver => {}
            }
            let place = Place {
                named: true,
                now: place.now,
                segment: at.0.into(),
                key: Some(Key(at.1, at.2, at.3)),
            };
            last = Some(place.cursor());
        }
        Ok(None)
    }

    fn sort_key(&self, id: i64, message: &Message) -> Result<SortKey> {
        let due = message.ready_at.map_or(0, |at| at.0);
        let seq = match message.state {
            State::Dead => self
                .conn
                .prepare_cached(sql!("seq_of"))?
                .query_row([id], |row| row.get(0))?,
            _ => 0,
        };
        Ok(match (self.page.order, message.state) {
            (Order::Oldest, State::Dead) => (1, seq, 0, 0),
            (Order::Oldest, _) => (0, id, 0, 0),
            (Order::Run, State::Running) => (0, 0, 0, id),
            (Order::Run, State::Ready) => (1, -i64::from(message.priority), due, id),
            (Order::Run, State::Delayed) => (2, 0, due, id),
            (Order::Run, State::Blocked) => (3, 0, 0, id),
            (Order::Run, State::Dead) => (4, -seq, 0, 0),
        })
    }
}

impl Place {
    /// Whether a message is still to come.
    fn is_before(&self, at: SortKey, reverse: bool) -> bool {
        self.key.is_none_or(|Key(a, b, c)| {
            let from = (u8::try_from(self.segment).unwrap_or(u8::MAX), a, b, c);
            if reverse { at < from } else { at > from }
        })
    }
}

/// The names of queues, each looked for once.
struct Names<'a> {
    conn: &'a Connection,
    known: HashMap<i64, QueueName>,
}

impl<'a> Names<'a> {
    fn new(conn: &'a Connection) -> Self {
        Self {
            conn,
            known: HashMap::new(),
        }
    }

    fn of(&mut self, id: i64) -> Result<QueueName> {
        if let Some(name) = self.known.get(&id) {
            return Ok(name.clone());
        }
        let name = self
            .conn
            .prepare_cached(sql!("queue_name"))?
            .query_row([id], |row| text(row, 0))?
            .unwrap_or_default();
        let name = QueueName::parse(&name).map_err(|error| {
            Error::new(
                Kind::Corrupt,
                format!("a queue has a name that is none: {error}"),
            )
        })?;
        self.known.insert(id, name.clone());
        Ok(name)
    }
}
