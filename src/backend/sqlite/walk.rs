//! Walks by key: a page at a time, beyond the last key. Nothing stays open between two pages, and what is looked at is
//! bounded.

use super::super::cursor::Place;
use super::super::{Detail, Error, Page, Result};
use super::keys::{FEW, Few, Seen, Segment};
use super::row::{Show, at_most, history, message};
use crate::queue::{Cursor, Message, Order, QueueName, Selection, Timestamp};
use rusqlite::{CachedStatement, Connection, OptionalExtension as _, params};

/// One step of a walk.
pub(super) struct Walked {
    /// Messages in order.
    pub(super) rows: Vec<Message>,
    /// Where the walk goes on; none at its end.
    pub(super) next: Option<Cursor>,
}

/// A walk over what a selection means.
pub(super) struct Walk<'a> {
    /// On one state of the file.
    pub(super) conn: &'a Connection,
    /// Which messages.
    pub(super) what: &'a Selection,
    /// How far, and in which order.
    pub(super) page: &'a Page<'a>,
    /// The store's now, for a walk that begins with this page.
    pub(super) now: Timestamp,
    /// Whether payloads are read where no filter asks for them.
    pub(super) show: Show,
    /// The page ends when so many bytes of payload were read of messages that are not meant.
    pub(super) vain: usize,
}

/// So many bytes are read in vain under the lock of a writer: others wait for it.
pub(super) const VAIN: usize = 1 << 20;

/// How a walk finds its messages.
pub(super) enum Way {
    /// These, wherever they are.
    Named(Vec<i64>),
    /// Segment by segment.
    Along,
}

/// What became of a message that a walk came to.
pub(super) enum Step {
    Taken,
    PassedOver,
    /// It is meant, and there is no room for it on this page.
    NoRoom,
}

impl Walk<'_> {
    /// Messages of the page: of this queue, which must be there, or those that are named wherever they are.
    pub(super) fn step(&self, queue: Option<(&QueueName, i64)>) -> Result<Walked> {
        // Histories are read in the walk, where they are asked for: it goes no further than the page has room.
        let mut basket = Basket::new(self.page);
        let next = self.each(queue, &mut |mut message| {
            if self.page.detail == Detail::History {
                message.history = history(self.conn, &message)?;
            }
            Ok(basket.put(message))
        })?;
        let rows = basket.rows;
        Ok(Walked { rows, next })
    }

    /// As [`Self::step`]; `take` is shown each message that is meant and says what becomes of it. How many bytes it
    /// takes is its business. Answers where the walk goes on.
    pub(super) fn each(
        &self,
        queue: Option<(&QueueName, i64)>,
        take: &mut dyn FnMut(Message) -> Result<Step>,
    ) -> Result<Option<Cursor>> {
        let way = self.way(queue.map(|(_, id)| id))?;
        let (queue, queue_id) = match (way, queue) {
            (Way::Named(ids), _) => return self.each_named(ids, take),
            (Way::Along, Some(queue)) => queue,
            (Way::Along, None) => return Err(Error::bug("a walk without a queue or an id")),
        };
        let mut desk = self.desk()?;
        let mut vain = 0;
        self.along(queue_id, &mut |seen, segment, now| {
            if vain >= self.vain {
                return Ok(Step::NoRoom);
            }
            match desk.load(seen.id, queue, segment == Segment::Dead, now)? {
                Some(found) if self.what.matches(&found) => take(found),
                found => {
                    vain += found.map_or(0, |found| found.payload.len());
                    Ok(Step::PassedOver)
                }
            }
        })
    }

    /// Goes along the segments and shows `each` message that its head does not rule out, until the page is full or
    /// enough was looked at. Answers where the walk goes on.
    pub(super) fn along(
        &self,
        queue_id: i64,
        each: &mut dyn FnMut(&Seen, Segment, Timestamp) -> Result<Step>,
    ) -> Result<Option<Cursor>> {
        let segments = self.segments();
        let mut place = self.place()?;
        let (mut taken, mut looked) = (0, 0);
        let mut few = Few::Unknown;
        while let Some(segment) = segments.get(place.segment) {
            let ask = if self.filters() {
                500
            } else {
                (self.page.rows - taken).clamp(1, 500)
            };
            let keys = match &few {
                Few::Are(all) if *segment == Segment::Live => self.of_few(all, &place, ask)?,
                _ => self.keys(*segment, queue_id, &place, ask)?,
            };
            if matches!(few, Few::Unknown)
                && *segment == Segment::Live
                && keys.iter().filter(|found| found.ours).count() * 2 < keys.len()
            {
                few = self.few(queue_id)?;
            }
            let end = keys.is_empty();
            for found in keys {
                if taken >= self.page.rows || looked >= self.page.scan {
                    return Ok(Some(place.cursor()));
                }
                looked += 1;
                if let Some(seen) = found.seen {
                    match each(&seen, *segment, place.now)? {
                        Step::Taken => taken += 1,
                        Step::PassedOver => {}
                        Step::NoRoom => return Ok(Some(place.cursor())),
                    }
                }
                place.key = Some(found.key);
            }
            if end {
                place.segment += 1;
                place.key = None;
            }
        }
        Ok(None)
    }

    /// An index that leads to few messages is taken instead of the walk. What a cursor began is gone on with.
    pub(super) fn way(&self, queue_id: Option<i64>) -> Result<Way> {
        if let Some(ids) = &self.what.ids {
            let numbers = ids.iter().filter_map(super::super::receipt::number_of);
            return Ok(Way::Named(numbers.collect()));
        }
        let Some(queue_id) = queue_id else {
            return Err(Error::bug("a walk without a queue or an id"));
        };
        if let Some(key) = self.what.key.as_ref().filter(|key| is_whole(key)) {
            let mut statement = self.conn.prepare_cached(sql!("dedup_get"))?;
            let ids = statement.query_map(params![queue_id, key], |row| row.get(0))?;
            return Ok(Way::Named(ids.collect::<rusqlite::Result<_>>()?));
        }
        let group = self
            .what
            .group
            .as_ref()
            .map(crate::queue::name::Group::as_str);
        if let Some(group) = group.filter(|group| is_whole(group))
            && !self.what.wants(crate::queue::State::Dead)
        {
            let begun = match self.page.after {
                Some(_) => Some(self.place()?.named),
                None => None,
            };
            let most = match begun {
                Some(false) => return Ok(Way::Along),
                Some(true) => i64::MAX,
                None => at_most(FEW + 1),
            };
            let mut statement = self.conn.prepare_cached(sql!("ids_of_group"))?;
            let ids = statement.query_map(params![queue_id, group, most], |row| row.get(0))?;
            let ids = ids.collect::<rusqlite::Result<Vec<i64>>>()?;
            if begun.is_some() || ids.len() <= FEW {
                return Ok(Way::Named(ids));
            }
        }
        Ok(Way::Along)
    }

    /// Rows may be looked at and not meant.
    fn filters(&self) -> bool {
        self.sifts() || self.what.reads_contents()
    }

    /// A message's head must be looked at.
    pub(super) fn sifts(&self) -> bool {
        let Selection {
            queue: _,
            ids: _,
            states: _,
            key,
            group,
            since,
            until,
            error: _,
            grep: _,
            skip_expired,
        } = self.what;
        key.is_some()
            || group.is_some()
            || since.is_some()
            || until.is_some()
            || *skip_expired
            || self.page.order == Order::Oldest
    }

    /// Where this page begins.
    ///
    /// # Errors
    /// A cursor that is none of this store's.
    pub(super) fn place(&self) -> Result<Place> {
        let Some(cursor) = self.page.after else {
            return Ok(Place {
                named: false,
                now: self.now,
                segment: 0,
                key: None,
            });
        };
        Place::read(cursor)
    }

    /// Where messages are read whole.
    pub(super) fn desk(&self) -> Result<Desk<'_>> {
        Desk::new(self.conn, self.reads())
    }

    fn reads(&self) -> Show {
        if self.what.grep.is_some() {
            Show::Payload
        } else {
            self.show
        }
    }
}

/// What a page keeps: as many as its bytes allow, and always one.
pub(super) struct Basket {
    pub(super) rows: Vec<Message>,
    bytes: usize,
    most: usize,
}

impl Basket {
    pub(super) fn new(page: &Page<'_>) -> Self {
        Self {
            rows: Vec::new(),
            bytes: 0,
            most: page.bytes,
        }
    }

    /// Keeps a message if there is room for its payload, and for what its history keeps of stderr.
    pub(super) fn put(&mut self, message: Message) -> Step {
        let stderr = message.history.iter().map(|run| run.stderr.len());
        let size = message.payload.len() + stderr.sum::<usize>();
        if self.bytes + size > self.most && !self.rows.is_empty() {
            return Step::NoRoom;
        }
        self.bytes += size;
        self.rows.push(message);
        Step::Taken
    }
}

/// A name that nothing in it was replaced in: only such a one is in an index as it is shown.
fn is_whole(name: &str) -> bool {
    !name.contains(char::REPLACEMENT_CHARACTER)
}

/// The two statements that read a message whole, found once a page.
pub(super) struct Desk<'a> {
    live: CachedStatement<'a>,
    dead: CachedStatement<'a>,
    show: Show,
}

impl<'a> Desk<'a> {
    /// Finds the statements.
    pub(super) fn new(conn: &'a Connection, show: Show) -> Result<Self> {
        Ok(Self {
            live: conn.prepare_cached(sql!("message_get"))?,
            dead: conn.prepare_cached(sql!("letter_get"))?,
            show,
        })
    }

    /// A message of a queue.
    pub(super) fn load(
        &mut self,
        id: i64,
        queue: &QueueName,
        dead: bool,
        now: Timestamp,
    ) -> Result<Option<Message>> {
        let statement = if dead { &mut self.dead } else { &mut self.live };
        let found = statement
            .query_row(params![id, self.show == Show::Payload], |row| {
                message(row, queue, now, self.show)
            })
            .optional()?;
        Ok(found)
    }

    /// The number of the queue that a message is in, and the message, wherever it is.
    pub(super) fn find(
        &mut self,
        id: i64,
        name: &mut dyn FnMut(i64) -> Result<QueueName>,
        now: Timestamp,
    ) -> Result<Option<Message>> {
        for statement in [&mut self.live, &mut self.dead] {
            let mut rows = statement.query(params![id, self.show == Show::Payload])?;
            if let Some(row) = rows.next()? {
                let queue = name(row.get(super::row::QUEUE)?)?;
                return Ok(Some(message(row, &queue, now, self.show)?));
            }
        }
        Ok(None)
    }
}
