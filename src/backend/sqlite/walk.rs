//! Walks by key: each segment of an order is read from an index, a page at a time, beyond the last key. Nothing stays
//! open between two pages, and what is looked at is bounded.

use super::super::{Error, Kind, Page, Result};
use super::claim::number_of;
use super::cursor::{Key, Place};
use super::row::{Show, at_most, message, text};
use crate::queue::{Cursor, Message, MessageId, Order, QueueName, Selection, State, Timestamp};
use rusqlite::{Connection, OptionalExtension as _, params};
use std::collections::HashMap;

/// A part of an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Segment {
    /// All live ones, by id.
    Live,
    Running,
    Ready,
    Delayed,
    Blocked,
    Dead,
}

/// A place among messages that were named: segment, then the key in it.
type SortKey = (u8, i64, i64, i64);

/// Up to so many live messages of a queue are gathered by its indexes rather than looked for among all.
const FEW: usize = 20_000;

/// Whether a queue is small beside the others of its file.
enum Few {
    Unknown,
    Are(Vec<i64>),
    AreMany,
}

/// One step of a walk.
pub(super) struct Walked {
    pub(super) rows: Vec<Message>,
    pub(super) next: Option<Cursor>,
}

/// A walk over what a selection means.
pub(super) struct Walk<'a> {
    pub(super) conn: &'a Connection,
    pub(super) what: &'a Selection,
    pub(super) page: &'a Page<'a>,
    pub(super) now: Timestamp,
    /// Whether payloads are read where no filter asks for them.
    pub(super) show: Show,
}

impl Walk<'_> {
    /// Messages of the page. The queue must be there.
    pub(super) fn step(&self, queue: &QueueName, queue_id: i64) -> Result<Walked> {
        let segments = self.segments();
        let mut place = self.place()?;
        let mut rows = Vec::new();
        let (mut bytes, mut looked) = (0, 0);
        let mut few = Few::Unknown;
        while let Some(segment) = segments.get(place.segment) {
            let ask = (self.page.rows - rows.len()).clamp(1, 500);
            let ask = if self.filters() { 500 } else { ask };
            let (keys, ids) = match &few {
                Few::Are(all) if *segment == Segment::Live => self.of_few(all, &place, ask),
                _ => self.keys(*segment, queue_id, &place, ask)?,
            };
            if matches!(few, Few::Unknown) && ids.iter().flatten().count() * 2 < ids.len() {
                few = self.few(queue_id)?;
            }
            let end = keys.is_empty();
            for (key, id) in keys.into_iter().zip(ids) {
                if rows.len() >= self.page.rows || looked >= self.page.scan {
                    return Ok(Walked {
                        rows,
                        next: Some(place.cursor()),
                    });
                }
                looked += 1;
                if let Some(id) = id
                    && let Some(found) =
                        self.load(id, queue, *segment == Segment::Dead, place.now)?
                    && self.what.matches(&found)
                {
                    if bytes + found.payload.len() > self.page.bytes && !rows.is_empty() {
                        return Ok(Walked {
                            rows,
                            next: Some(place.cursor()),
                        });
                    }
                    bytes += found.payload.len();
                    rows.push(found);
                }
                place.key = Some(key);
            }
            if end {
                place.segment += 1;
                place.key = None;
            }
        }
        Ok(Walked { rows, next: None })
    }

    /// Rows may be looked at and not meant.
    fn filters(&self) -> bool {
        let Selection {
            queue: _,
            ids: _,
            states: _,
            key,
            group,
            since,
            until,
            error,
            grep,
            skip_expired,
        } = self.what;
        key.is_some()
            || group.is_some()
            || since.is_some()
            || until.is_some()
            || error.is_some()
            || grep.is_some()
            || *skip_expired
            || self.page.order == Order::Oldest
    }

    fn segments(&self) -> Vec<Segment> {
        let mut segments = match self.page.order {
            Order::Run => vec![
                (Segment::Running, State::Running),
                (Segment::Ready, State::Ready),
                (Segment::Delayed, State::Delayed),
                (Segment::Blocked, State::Blocked),
                (Segment::Dead, State::Dead),
            ],
            Order::Oldest => vec![(Segment::Live, State::Ready), (Segment::Dead, State::Dead)],
        };
        segments.retain(|(segment, state)| match segment {
            Segment::Live => !self.what.only_dead(),
            _ => self.what.wants(*state),
        });
        if self.page.reverse {
            segments.reverse();
        }
        segments.into_iter().map(|(segment, _)| segment).collect()
    }

    fn place(&self) -> Result<Place> {
        let Some(cursor) = self.page.after else {
            return Ok(Place {
                now: self.now,
                segment: 0,
                key: None,
            });
        };
        Place::read(cursor)
    }

    /// Keys of a segment beyond a place, in the walk's order, each with its message's id if it is of this queue.
    fn keys(
        &self,
        segment: Segment,
        queue_id: i64,
        place: &Place,
        ask: usize,
    ) -> Result<(Vec<Key>, Vec<Option<i64>>)> {
        // Dead letters come the latest first in the order of running.
        let back = self.page.reverse != (segment == Segment::Dead && self.page.order == Order::Run);
        let from = place
            .key
            .map_or(if back { i64::MAX } else { i64::MIN }, |key| key.2);
        let simple = |statement: &str| -> Result<(Vec<Key>, Vec<Option<i64>>)> {
            let mut statement = self.conn.prepare_cached(statement)?;
            let ids =
                statement.query_map(params![queue_id, from, at_most(ask)], |row| row.get(0))?;
            let ids = ids.collect::<rusqlite::Result<Vec<i64>>>()?;
            Ok((
                ids.iter().map(|id| Key(0, 0, *id)).collect(),
                ids.into_iter().map(Some).collect(),
            ))
        };
        match segment {
            Segment::Running if back => simple(sql!("keys_running_back")),
            Segment::Running => simple(sql!("keys_running")),
            Segment::Blocked if back => simple(sql!("keys_blocked_back")),
            Segment::Blocked => simple(sql!("keys_blocked")),
            Segment::Live => {
                let statement = if back {
                    sql!("keys_live_back")
                } else {
                    sql!("keys_live")
                };
                let mut statement = self.conn.prepare_cached(statement)?;
                let rows = statement.query_map(params![from, at_most(ask)], |row| {
                    let (id, of): (i64, i64) = (row.get(0)?, row.get(1)?);
                    Ok((Key(0, 0, id), (of == queue_id).then_some(id)))
                })?;
                Ok(rows
                    .collect::<rusqlite::Result<Vec<_>>>()?
                    .into_iter()
                    .unzip())
            }
            Segment::Dead => {
                let statement = if back {
                    sql!("keys_dead_back")
                } else {
                    sql!("keys_dead")
                };
                let mut statement = self.conn.prepare_cached(statement)?;
                let rows = statement.query_map(params![queue_id, from, at_most(ask)], |row| {
                    Ok((Key(0, 0, row.get(0)?), Some(row.get(1)?)))
                })?;
                Ok(rows
                    .collect::<rusqlite::Result<Vec<_>>>()?
                    .into_iter()
                    .unzip())
            }
            Segment::Ready => self.ready_keys(queue_id, place, ask, back),
            Segment::Delayed => self.delayed_keys(queue_id, place, ask, back),
        }
    }

    /// The messages of a queue that is small, for a walk over live ones that meets mostly those of others.
    fn few(&self, queue_id: i64) -> Result<Few> {
        let mut statement = self.conn.prepare_cached(sql!("ids_of_queue"))?;
        let ids = statement.query_map(params![queue_id, at_most(FEW + 1)], |row| row.get(0))?;
        let mut ids = ids.collect::<rusqlite::Result<Vec<i64>>>()?;
        if ids.len() > FEW {
            return Ok(Few::AreMany);
        }
        ids.sort_unstable();
        Ok(Few::Are(ids))
    }

    fn of_few(&self, all: &[i64], place: &Place, ask: usize) -> (Vec<Key>, Vec<Option<i64>>) {
        let pair = |id: &i64| (Key(0, 0, *id), Some(*id));
        if self.page.reverse {
            let end = place
                .key
                .map_or(all.len(), |key| all.partition_point(|id| *id < key.2));
            all[..end].iter().rev().take(ask).map(pair).unzip()
        } else {
            let begin = place
                .key
                .map_or(0, |key| all.partition_point(|id| *id <= key.2));
            all[begin..].iter().take(ask).map(pair).unzip()
        }
    }

    fn ready_keys(
        &self,
        queue_id: i64,
        place: &Place,
        ask: usize,
        back: bool,
    ) -> Result<(Vec<Key>, Vec<Option<i64>>)> {
        let mut priorities = priorities(self.conn, queue_id)?;
        if back {
            priorities.reverse();
        }
        for priority in priorities {
            let beyond = place.key.is_none_or(|key| {
                if back {
                    priority >= key.0
                } else {
                    priority <= key.0
                }
            });
            if !beyond {
                continue;
            }
            let from = place
                .key
                .filter(|key| key.0 == priority)
                .map(|key| (key.1, key.2));
            let found = self.due(queue_id, priority, (i64::MIN, place.now.0), from, back, ask)?;
            if !found.is_empty() {
                return Ok(found
                    .into_iter()
                    .map(|(due, id)| (Key(priority, due, id), Some(id)))
                    .unzip());
            }
        }
        Ok((Vec::new(), Vec::new()))
    }

    /// By due time over all priorities: the first of each are merged.
    fn delayed_keys(
        &self,
        queue_id: i64,
        place: &Place,
        ask: usize,
        back: bool,
    ) -> Result<(Vec<Key>, Vec<Option<i64>>)> {
        let from = place.key.map(|key| (key.1, key.2));
        let mut all = Vec::new();
        for priority in priorities(self.conn, queue_id)? {
            all.extend(self.due(queue_id, priority, (place.now.0, i64::MAX), from, back, ask)?);
        }
        all.sort_unstable();
        if back {
            all.reverse();
        }
        all.truncate(ask);
        Ok(all
            .into_iter()
            .map(|(due, id)| (Key(0, due, id), Some(id)))
            .unzip())
    }

    fn due(
        &self,
        queue_id: i64,
        priority: i64,
        (after, until): (i64, i64),
        from: Option<(i64, i64)>,
        back: bool,
        ask: usize,
    ) -> Result<Vec<(i64, i64)>> {
        let statement = if back {
            sql!("keys_due_back")
        } else {
            sql!("keys_due")
        };
        // Where the walk begins is a key too: beyond every message that is due at `after`, or at `until`.
        let (begin, other) = if back {
            ((until, i64::MAX), after)
        } else {
            ((after, i64::MAX), until)
        };
        let from = match from {
            Some(from) if back => from.min(begin),
            Some(from) => from.max(begin),
            None => begin,
        };
        let mut statement = self.conn.prepare_cached(statement)?;
        let rows = statement.query_map(
            params![queue_id, priority, other, from.0, from.1, at_most(ask)],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )?;
        Ok(rows.collect::<rusqlite::Result<Vec<_>>>()?)
    }

    fn load(
        &self,
        id: i64,
        queue: &QueueName,
        dead: bool,
        now: Timestamp,
    ) -> Result<Option<Message>> {
        let show = if self.what.grep.is_some() {
            Show::Payload
        } else {
            self.show
        };
        let statement = if dead {
            sql!("letter_get")
        } else {
            sql!("message_get")
        };
        let found = self
            .conn
            .prepare_cached(statement)?
            .query_row([id], |row| message(row, queue, now, show))
            .optional()?;
        Ok(found)
    }

    /// Messages named by id, in the walk's order. Ids that are not there, or not meant, are passed over.
    pub(super) fn named(&self, ids: &[MessageId]) -> Result<Walked> {
        let place = self.place()?;
        let mut names: HashMap<i64, QueueName> = HashMap::new();
        let mut found = Vec::new();
        let mut wanted: Vec<i64> = ids.iter().filter_map(number_of).collect();
        wanted.sort_unstable();
        wanted.dedup();
        // Looked at without its payload first, unless a filter wants it: what is not meant is not read.
        let show = if self.what.grep.is_some() {
            Show::Payload
        } else {
            Show::Rest
        };
        for id in wanted {
            if let Some((key, message)) = self.find(id, &mut names, place.now, show)?
                && self.what.matches_but_ids(&message)
            {
                found.push((key, message.id));
            }
        }
        found.sort_unstable();
        if self.page.reverse {
            found.reverse();
        }
        let beyond = |at: &SortKey| {
            place.key.is_none_or(|Key(a, b, c)| {
                let from = (u8::try_from(place.segment).unwrap_or(u8::MAX), a, b, c);
                if self.page.reverse {
                    *at < from
                } else {
                    *at > from
                }
            })
        };
        let mut last = None;
        let (mut rows, mut bytes) = (Vec::new(), 0);
        for (at, id) in found.iter().filter(|(at, _)| beyond(at)) {
            let Some((_, message)) =
                self.find(number_of(id).unwrap_or(0), &mut names, place.now, self.show)?
            else {
                continue;
            };
            let over = bytes + message.payload.len() > self.page.bytes && !rows.is_empty();
            if over || rows.len() >= self.page.rows {
                return Ok(Walked {
                    rows,
                    next: last.or(self.page.after.cloned()),
                });
            }
            bytes += message.payload.len();
            rows.push(message);
            let place = Place {
                now: place.now,
                segment: at.0.into(),
                key: Some(Key(at.1, at.2, at.3)),
            };
            last = Some(place.cursor());
        }
        Ok(Walked { rows, next: None })
    }

    /// A message wherever it is, with its place in the walk's order.
    fn find(
        &self,
        id: i64,
        names: &mut HashMap<i64, QueueName>,
        now: Timestamp,
        show: Show,
    ) -> Result<Option<(SortKey, Message)>> {
        for statement in [sql!("message_get"), sql!("letter_get")] {
            let mut statement = self.conn.prepare_cached(statement)?;
            let mut rows = statement.query([id])?;
            if let Some(row) = rows.next()? {
                let queue_id: i64 = row.get(super::row::QUEUE)?;
                let queue = match names.get(&queue_id) {
                    Some(name) => name.clone(),
                    None => queue_name(self.conn, queue_id)?,
                };
                names.insert(queue_id, queue.clone());
                let message = message(row, &queue, now, show)?;
                let key = self.sort_key(id, &message)?;
                return Ok(Some((key, message)));
            }
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

/// The priorities in use among ready and delayed messages, highest first.
pub(super) fn priorities(conn: &Connection, queue_id: i64) -> Result<Vec<i64>> {
    let mut statement = conn.prepare_cached(sql!("priorities"))?;
    let rows = statement.query_map([queue_id], |row| row.get(0))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

fn queue_name(conn: &Connection, id: i64) -> Result<QueueName> {
    let name = conn
        .prepare_cached(sql!("queue_name"))?
        .query_row([id], |row| text(row, 0))?
        .unwrap_or_default();
    QueueName::parse(&name).map_err(|error| {
        Error::new(
            Kind::Corrupt,
            format!("a queue has a name that is none: {error}"),
        )
    })
}
