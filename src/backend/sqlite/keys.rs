//! The keys of a walk: each segment of an order read from an index, beyond the last key, with what can be told of a
//! message before its contents are read.

use super::super::Result;
use super::super::cursor::{Key, Place};
use super::row::{at_most, text};
use super::walk::Walk;
use crate::queue::{Head, Message, Order, State, Timestamp};
use rusqlite::{Connection, OptionalExtension as _, Row, params};

/// A part of an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Segment {
    /// All live ones, by id.
    Live,
    Running,
    Ready,
    Delayed,
    Blocked,
    Dead,
}

/// A key, and its message if that can be meant.
pub(super) struct Found {
    /// Where it stands in the walk.
    pub(super) key: Key,
    /// It is of the queue.
    pub(super) ours: bool,
    /// The message; none where it is ruled out.
    pub(super) seen: Option<Seen>,
}

/// A message that the fields of its head do not rule out.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen {
    /// Its number.
    pub(super) id: i64,
    /// What hangs on it; none where nobody asked.
    pub(super) ties: Option<Ties>,
}

/// What a change of a message must heed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ties {
    /// How it stands.
    pub(super) state: State,
    /// It is in no group, and has no lease, ended or not, and no run that was never closed.
    pub(super) alone: bool,
    /// It has a key.
    pub(super) keyed: bool,
    /// It may have a history.
    pub(super) delivered: bool,
}

impl Ties {
    /// The same of a message that was read.
    pub(super) fn of(message: &Message) -> Self {
        Self {
            state: message.state,
            alone: message.group.is_none()
                && message.lease_until.is_none()
                && message.started_at.is_none(),
            keyed: message.key.is_some(),
            delivered: message.deliveries > 0,
        }
    }
}

/// Up to so many live messages of a queue are gathered by its indexes rather than looked for among all.
pub(super) const FEW: usize = 20_000;

/// Whether a queue is small beside the others of its file.
pub(super) enum Few {
    Unknown,
    Are(Vec<i64>),
    AreMany,
}

impl Walk<'_> {
    /// The segments that may have what is meant, in the order of the walk.
    pub(super) fn segments(&self) -> Vec<Segment> {
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

    /// Keys of a segment beyond a place, in the walk's order.
    pub(super) fn keys(
        &self,
        segment: Segment,
        queue_id: i64,
        place: &Place,
        ask: usize,
    ) -> Result<Vec<Found>> {
        // Dead letters come the latest first in the order of running.
        let back = self.page.reverse != (segment == Segment::Dead && self.page.order == Order::Run);
        let from = place
            .key
            .map_or(if back { i64::MAX } else { i64::MIN }, |key| key.2);
        let ask = at_most(ask);
        let by_id = |statement: &str| -> Result<Vec<Found>> {
            let mut statement = self.conn.prepare_cached(statement)?;
            let ids = statement.query_map(params![queue_id, from, ask], |row| row.get(0))?;
            let ids = ids.collect::<rusqlite::Result<Vec<i64>>>()?;
            self.sift(ids.into_iter().map(|id| (Key(0, 0, id), id)), place.now)
        };
        match segment {
            Segment::Running if back => by_id(sql!("keys_running_back")),
            Segment::Running => by_id(sql!("keys_running")),
            Segment::Blocked if back => by_id(sql!("keys_blocked_back")),
            Segment::Blocked => by_id(sql!("keys_blocked")),
            Segment::Live => {
                let statement = if back {
                    sql!("keys_live_back")
                } else {
                    sql!("keys_live")
                };
                let mut statement = self.conn.prepare_cached(statement)?;
                let rows = statement.query_map(params![from, ask], |row| {
                    let ours = row.get::<_, i64>(2)? == queue_id;
                    let seen = if ours {
                        self.seen(row, place.now)?
                    } else {
                        None
                    };
                    let key = Key(0, 0, row.get(0)?);
                    Ok(Found { key, ours, seen })
                })?;
                Ok(rows.collect::<rusqlite::Result<_>>()?)
            }
            Segment::Dead => {
                let statement = if back {
                    sql!("keys_dead_back")
                } else {
                    sql!("keys_dead")
                };
                let mut statement = self.conn.prepare_cached(statement)?;
                let rows = statement.query_map(params![queue_id, from, ask], |row| {
                    let key = Key(0, 0, row.get(1)?);
                    let seen = self.seen(row, place.now)?;
                    Ok(Found {
                        key,
                        ours: true,
                        seen,
                    })
                })?;
                Ok(rows.collect::<rusqlite::Result<_>>()?)
            }
            Segment::Ready => self.ready_keys(queue_id, place, ask, back),
            Segment::Delayed => self.delayed_keys(queue_id, place, ask, back),
        }
    }

    /// What a row of a statement of heads tells: `id, ready_at or seq, queue_id, state, enqueued_at, died_at, key,
    /// group_key, held, deliveries, expired`.
    fn seen(&self, row: &Row<'_>, now: Timestamp) -> rusqlite::Result<Option<Seen>> {
        let state = match row.get::<_, i64>(3)? {
            1 => State::Running,
            2 => State::Blocked,
            3 => State::Dead,
            _ if row.get::<_, i64>(1)? > now.0 => State::Delayed,
            _ => State::Ready,
        };
        let (key, group) = (
            match self.what.key {
                Some(_) => text(row, 6)?,
                None => None,
            },
            match self.what.group {
                Some(_) => text(row, 7)?,
                None => None,
            },
        );
        let head = Head {
            state,
            key: key.as_deref(),
            group: group.as_deref(),
            enqueued_at: Timestamp(row.get(4)?),
            died_at: row.get::<_, Option<i64>>(5)?.map(Timestamp),
            expired: row.get::<_, Option<bool>>(10)?.unwrap_or(false),
        };
        let there = |column| -> rusqlite::Result<bool> {
            Ok(row.get_ref(column)? != rusqlite::types::ValueRef::Null)
        };
        Ok(if self.what.may_mean(&head) {
            Some(Seen {
                id: row.get(0)?,
                ties: Some(Ties {
                    state,
                    alone: !there(7)? && !row.get::<_, bool>(8)?,
                    keyed: there(6)?,
                    delivered: row.get::<_, i64>(9)? > 0,
                }),
            })
        } else {
            None
        })
    }

    /// Live messages found by their keys alone; their heads are looked at if a field asks for them.
    fn sift(&self, keys: impl Iterator<Item = (Key, i64)>, now: Timestamp) -> Result<Vec<Found>> {
        if !self.sifts() {
            return Ok(keys
                .map(|(key, id)| Found {
                    key,
                    ours: true,
                    seen: Some(Seen { id, ties: None }),
                })
                .collect());
        }
        let mut statement = self.conn.prepare_cached(sql!("head_get"))?;
        let mut found = Vec::new();
        for (key, id) in keys {
            let seen = statement
                .query_row([id], |row| self.seen(row, now))
                .optional()?
                .flatten();
            found.push(Found {
                key,
                ours: true,
                seen,
            });
        }
        Ok(found)
    }

    /// The live messages of a queue that is small, for a walk over live ones that meets mostly those of others.
    pub(super) fn few(&self, queue_id: i64) -> Result<Few> {
        let mut statement = self.conn.prepare_cached(sql!("ids_of_queue"))?;
        let ids = statement.query_map(params![queue_id, at_most(FEW + 1)], |row| row.get(0))?;
        let mut ids = ids.collect::<rusqlite::Result<Vec<i64>>>()?;
        if ids.len() > FEW {
            return Ok(Few::AreMany);
        }
        ids.sort_unstable();
        Ok(Few::Are(ids))
    }

    /// The next `ask` of a queue's few messages from a place on; `all` are their ids, sorted.
    pub(super) fn of_few(&self, all: &[i64], place: &Place, ask: usize) -> Result<Vec<Found>> {
        let pair = |id: &i64| (Key(0, 0, *id), *id);
        if self.page.reverse {
            let end = place
                .key
                .map_or(all.len(), |key| all.partition_point(|id| *id < key.2));
            self.sift(all[..end].iter().rev().take(ask).map(pair), place.now)
        } else {
            let begin = place
                .key
                .map_or(0, |key| all.partition_point(|id| *id <= key.2));
            self.sift(all[begin..].iter().take(ask).map(pair), place.now)
        }
    }

    fn ready_keys(&self, queue_id: i64, place: &Place, ask: i64, back: bool) -> Result<Vec<Found>> {
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
                let keys = found
                    .into_iter()
                    .map(|(due, id)| (Key(priority, due, id), id));
                return self.sift(keys, place.now);
            }
        }
        Ok(Vec::new())
    }

    /// By due time over all priorities: the first of each are merged.
    fn delayed_keys(
        &self,
        queue_id: i64,
        place: &Place,
        ask: i64,
        back: bool,
    ) -> Result<Vec<Found>> {
        let from = place.key.map(|key| (key.1, key.2));
        let mut all = Vec::new();
        for priority in priorities(self.conn, queue_id)? {
            all.extend(self.due(queue_id, priority, (place.now.0, i64::MAX), from, back, ask)?);
        }
        all.sort_unstable();
        if back {
            all.reverse();
        }
        all.truncate(usize::try_from(ask).unwrap_or(usize::MAX));
        let keys = all.into_iter().map(|(due, id)| (Key(0, due, id), id));
        self.sift(keys, place.now)
    }

    fn due(
        &self,
        queue_id: i64,
        priority: i64,
        (after, until): (i64, i64),
        from: Option<(i64, i64)>,
        back: bool,
        ask: i64,
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
            params![queue_id, priority, other, from.0, from.1, ask],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )?;
        Ok(rows.collect::<rusqlite::Result<Vec<_>>>()?)
    }
}

/// The priorities in use among ready and delayed messages, highest first.
pub(super) fn priorities(conn: &Connection, queue_id: i64) -> Result<Vec<i64>> {
    let mut statement = conn.prepare_cached(sql!("priorities"))?;
    let rows = statement.query_map([queue_id], |row| row.get(0))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}
