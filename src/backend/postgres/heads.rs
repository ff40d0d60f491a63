//! The heads of a walk: each segment of an order read beyond the last key, with what can be told of a message before its
//! payload is read. Whether a message is meant is decided by the server.

use super::super::Result;
use super::super::cursor::{Key, Place};
use super::conn::{Param, Store};
use super::value::{Stamp, count};
use crate::queue::{Order, Selection, State, Timestamp};
use tokio_postgres::Row;
use tokio_postgres::types::Type;

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

/// What can be told of a message before its payload is read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Head {
    pub(super) key: Key,
    pub(super) id: i64,
    /// It is meant.
    pub(super) hit: bool,
    /// Bytes of payload.
    pub(super) size: usize,
    pub(super) state: State,
}

/// Up to so many live messages of a queue are gathered by its indexes rather than looked for among all.
const FEW: i64 = 20_000;

/// The segments of an order that a selection reaches.
pub(super) fn segments(what: &Selection, order: Order, reverse: bool) -> Vec<Segment> {
    let mut segments = match order {
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
        Segment::Live => !what.only_dead(),
        _ => what.wants(*state),
    });
    if reverse {
        segments.reverse();
    }
    segments.into_iter().map(|(segment, _)| segment).collect()
}

/// A selection as the server takes it.
pub(super) struct Filter {
    states: Vec<i16>,
    key: Option<String>,
    group: Option<String>,
    since: Option<Stamp>,
    until: Option<Stamp>,
    error: Option<String>,
    grep: Option<Vec<u8>>,
    grep_text: Option<String>,
    skip_expired: bool,
    only_dead: bool,
    /// It asks for a text that no row can have.
    nothing: bool,
}

impl Filter {
    pub(super) fn of(what: &Selection) -> Self {
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
        } = what;
        let group = group.as_ref().map(|group| group.as_str().to_owned());
        let has_nul = |text: &Option<String>| text.as_ref().is_some_and(|text| text.contains('\0'));
        let nothing = has_nul(key) || has_nul(&group) || has_nul(error);
        let numbers = [
            (State::Ready, 0),
            (State::Running, 1),
            (State::Blocked, 2),
            (State::Dead, 3),
            (State::Delayed, 4),
        ];
        Self {
            states: numbers
                .iter()
                .filter(|(state, _)| what.wants(*state))
                .map(|(_, number)| *number)
                .collect(),
            key: key.clone().filter(|_| !nothing),
            group: group.filter(|_| !nothing),
            since: since.map(Stamp),
            until: until.map(Stamp),
            error: error.clone().filter(|_| !nothing),
            grep: grep.as_ref().map(|text| text.as_bytes().to_vec()),
            grep_text: grep.clone().filter(|text| !text.contains('\0')),
            skip_expired: *skip_expired,
            only_dead: what.only_dead(),
            nothing,
        }
    }

    /// Whether rows may be looked at and not meant.
    pub(super) fn sifts(&self) -> bool {
        self.states.len() < 5
            || self.key.is_some()
            || self.group.is_some()
            || self.since.is_some()
            || self.until.is_some()
            || self.error.is_some()
            || self.grep.is_some()
            || self.skip_expired
            || self.nothing
    }

    /// The first parameters of every statement of heads, up to the number [`FIRST`].
    fn params<'a>(&'a self, now: &'a Stamp) -> Vec<Param<'a>> {
        vec![
            (now, Type::TIMESTAMPTZ),
            (&self.states, Type::INT2_ARRAY),
            (&self.key, Type::TEXT),
            (&self.group, Type::TEXT),
            (&self.since, Type::TIMESTAMPTZ),
            (&self.until, Type::TIMESTAMPTZ),
            (&self.error, Type::TEXT),
            (&self.grep, Type::BYTEA),
            (&self.grep_text, Type::TEXT),
            (&self.skip_expired, Type::BOOL),
            (&self.only_dead, Type::BOOL),
            (&self.nothing, Type::BOOL),
        ]
    }
}

impl Store {
    /// The heads of named messages, in no order.
    pub(super) fn heads_of(
        &mut self,
        filter: &Filter,
        now: Timestamp,
        ids: &[i64],
    ) -> Result<Vec<Head>> {
        let now = Stamp(now);
        let mut params = filter.params(&now);
        params.push((&ids, Type::INT8_ARRAY));
        self.query(sql!("heads_of"), &params)?
            .iter()
            .map(|row| head(row, None))
            .collect()
    }

    /// Heads of a segment beyond a place, at most `ask` of them, in the walk's order.
    pub(super) fn heads(
        &mut self,
        filter: &Filter,
        segment: Segment,
        queue_id: i32,
        place: &Place,
        ask: usize,
        (order, reverse): (Order, bool),
    ) -> Result<Vec<Head>> {
        // Dead letters come the latest first in the order of running.
        let back = reverse != (segment == Segment::Dead && order == Order::Run);
        let ask = i64::try_from(ask).unwrap_or(i64::MAX);
        match segment {
            Segment::Live => self.by_number(filter, segment, queue_id, place, ask, back),
            Segment::Running | Segment::Blocked | Segment::Dead => {
                self.by_number(filter, segment, queue_id, place, ask, back)
            }
            Segment::Ready => self.ready(filter, queue_id, place, ask, back),
            Segment::Delayed => self.delayed(filter, queue_id, place, ask, back),
        }
    }

    fn by_number(
        &mut self,
        filter: &Filter,
        segment: Segment,
        queue_id: i32,
        place: &Place,
        ask: i64,
        back: bool,
    ) -> Result<Vec<Head>> {
        let from = place
            .key
            .map_or(if back { i64::MAX } else { i64::MIN }, |key| key.2);
        let now = Stamp(place.now);
        let few = if segment == Segment::Live {
            self.few(queue_id)?
        } else {
            None
        };
        let mut params = filter.params(&now);
        params.extend([
            (&queue_id as _, Type::INT4),
            (&from as _, Type::INT8),
            (&ask as _, Type::INT8),
        ]);
        if let Some(ids) = &few {
            params.push((ids as _, Type::INT8_ARRAY));
        }
        let statement = match (segment, &few, back) {
            (Segment::Dead, _, false) => sql!("heads_dead"),
            (Segment::Dead, _, true) => sql!("heads_dead_back"),
            (Segment::Running, _, false) => sql!("heads_running"),
            (Segment::Running, _, true) => sql!("heads_running_back"),
            (Segment::Blocked, _, false) => sql!("heads_blocked"),
            (Segment::Blocked, _, true) => sql!("heads_blocked_back"),
            (_, Some(_), false) => sql!("heads_few"),
            (_, Some(_), true) => sql!("heads_few_back"),
            (_, None, false) => sql!("heads_live"),
            (_, None, true) => sql!("heads_live_back"),
        };
        self.query(statement, &params)?
            .iter()
            .map(|row| head(row, Some(Segment::Live)))
            .collect()
    }

    /// The live messages of a queue if they are few: among those of other queues they would be looked for for long.
    fn few(&mut self, queue_id: i32) -> Result<Option<Vec<i64>>> {
        let most = FEW + 1;
        let rows = self.query(
            sql!("ids_of_queue"),
            &[(&queue_id, Type::INT4), (&most, Type::INT8)],
        )?;
        if i64::try_from(rows.len()).unwrap_or(i64::MAX) > FEW {
            return Ok(None);
        }
        Ok(Some(
            rows.iter()
                .map(|row| row.try_get(0))
                .collect::<std::result::Result<_, _>>()?,
        ))
    }

    /// Priority after priority.
    fn ready(
        &mut self,
        filter: &Filter,
        queue_id: i32,
        place: &Place,
        ask: i64,
        back: bool,
    ) -> Result<Vec<Head>> {
        let mut levels = self.levels(queue_id)?;
        if back {
            levels.reverse();
        }
        for level in levels {
            let beyond = place.key.is_none_or(|key| {
                if back {
                    i64::from(level) >= key.0
                } else {
                    i64::from(level) <= key.0
                }
            });
            if !beyond {
                continue;
            }
            let from = place
                .key
                .filter(|key| key.0 == i64::from(level))
                .map(|key| (key.1, key.2));
            let span = (Timestamp(i64::MIN), place.now);
            let found = self.due(filter, queue_id, level, span, place.now, from, back, ask)?;
            if !found.is_empty() {
                return Ok(found);
            }
        }
        Ok(Vec::new())
    }

    /// By due time over all priorities: the first of each are merged.
    fn delayed(
        &mut self,
        filter: &Filter,
        queue_id: i32,
        place: &Place,
        ask: i64,
        back: bool,
    ) -> Result<Vec<Head>> {
        let from = place.key.map(|key| (key.1, key.2));
        let mut all = Vec::new();
        for level in self.levels(queue_id)? {
            let span = (place.now, Timestamp(i64::MAX));
            all.extend(self.due(filter, queue_id, level, span, place.now, from, back, ask)?);
        }
        all.sort_by_key(|head| (head.key.1, head.id));
        if back {
            all.reverse();
        }
        all.truncate(usize::try_from(ask).unwrap_or(usize::MAX));
        for head in &mut all {
            head.key.0 = 0;
        }
        Ok(all)
    }

    /// Those of one priority that are due after an instant and not after another.
    #[expect(
        clippy::too_many_arguments,
        reason = "what makes a page of one priority"
    )]
    fn due(
        &mut self,
        filter: &Filter,
        queue_id: i32,
        level: i16,
        (after, until): (Timestamp, Timestamp),
        now: Timestamp,
        from: Option<(i64, i64)>,
        back: bool,
        ask: i64,
    ) -> Result<Vec<Head>> {
        let now = Stamp(now);
        // Where the walk begins is a key too: beyond every message that is due at `after`, or at `until`.
        let begin = if back {
            (until.0, i64::MAX)
        } else {
            (after.0, i64::MAX)
        };
        let from = match from {
            Some(from) if back => from.min(begin),
            Some(from) => from.max(begin),
            None => begin,
        };
        let (from_at, from_id) = (Stamp(Timestamp(from.0)), from.1);
        let (after, until) = (Stamp(after), Stamp(until));
        let mut params = filter.params(&now);
        params.extend([
            (&queue_id as _, Type::INT4),
            (&level as _, Type::INT2),
            (&after as _, Type::TIMESTAMPTZ),
            (&until as _, Type::TIMESTAMPTZ),
            (&from_at as _, Type::TIMESTAMPTZ),
            (&from_id as _, Type::INT8),
            (&ask as _, Type::INT8),
        ]);
        let statement = if back {
            sql!("heads_due_back")
        } else {
            sql!("heads_due")
        };
        self.query(statement, &params)?
            .iter()
            .map(|row| {
                let mut head = head(row, Some(Segment::Ready))?;
                head.key.0 = level.into();
                Ok(head)
            })
            .collect()
    }

    /// The priorities in use among ready and delayed messages, highest first.
    pub(super) fn levels(&mut self, queue_id: i32) -> Result<Vec<i16>> {
        let rows = self.query(sql!("levels"), &[(&queue_id, Type::INT4)])?;
        Ok(rows
            .iter()
            .map(|row| row.try_get(0))
            .collect::<std::result::Result<_, _>>()?)
    }
}

/// A row: `id, seq, ready_at, state, hit, size, priority`. A segment says what of it is the key.
fn head(row: &Row, segment: Option<Segment>) -> Result<Head> {
    let id: i64 = row.try_get(0)?;
    let seq: i64 = row.try_get(1)?;
    let due: Stamp = row.try_get(2)?;
    let key = match segment {
        Some(Segment::Ready) => Key(0, due.0.0, id),
        Some(_) => Key(0, 0, seq),
        None => Key(i64::from(row.try_get::<_, i16>(6)?), due.0.0, seq),
    };
    let state: i16 = row.try_get(3)?;
    Ok(Head {
        key,
        id,
        hit: row.try_get(4)?,
        size: usize::try_from(count(i64::from(row.try_get::<_, i32>(5)?))).unwrap_or(0),
        state: match state {
            1 => State::Running,
            2 => State::Blocked,
            3 => State::Dead,
            4 => State::Delayed,
            _ => State::Ready,
        },
    })
}
