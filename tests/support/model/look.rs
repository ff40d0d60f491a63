//! Peek, count and stats.

use super::{Row, World, no_queue};
use qops::backend::{Count, Depth, Detail, Page, Peeked, QueueReport, Result};
use qops::queue::{Cursor, Message, Order, QueueCounts, QueueName, Selection, State};
use std::cmp::Reverse;

/// A place in a walk.
pub(super) type Place = [i64; 4];

fn signed(number: u64) -> i64 {
    i64::try_from(number).expect("a small number")
}

impl Row {
    fn place(&self, id: u64, order: Order) -> Place {
        let message = &self.message;
        let due = message.ready_at.map_or(0, |due| due.0);
        let (id, died) = (signed(id), signed(self.died));
        match (order, message.state) {
            (Order::Run, State::Ready) => [1, -i64::from(message.priority), due, id],
            (Order::Run, State::Delayed) => [2, due, 0, id],
            (Order::Run, State::Blocked) => [3, 0, 0, id],
            (Order::Run, State::Dead) => [4, -died, 0, id],
            (Order::Oldest, State::Dead) => [1, died, 0, id],
            (Order::Run, State::Running) | (Order::Oldest, _) => [0, 0, 0, id],
        }
    }
}

pub(super) fn write_cursor(place: Place) -> Cursor {
    Cursor::from(place.map(|number| number.to_string()).join(","))
}

fn read_cursor(cursor: &Cursor) -> Place {
    let numbers: Vec<i64> = cursor
        .as_str()
        .split(',')
        .map(|number| number.parse().expect("a cursor of this model"))
        .collect();
    numbers.try_into().expect("a cursor of this model")
}

impl World {
    pub(super) fn known(&self, what: &Selection) -> Result<()> {
        match &what.queue {
            Some(queue) if !self.queues.contains_key(queue) => Err(no_queue(queue)),
            _ => Ok(()),
        }
    }

    /// Every message in the order of the page, from where the last one ended.
    pub(super) fn walk(&self, page: &Page<'_>) -> Vec<(Place, u64)> {
        let after = page.after.map(read_cursor);
        let mut places: Vec<(Place, u64)> = self
            .rows
            .iter()
            .map(|(id, row)| (row.place(*id, page.order), *id))
            .filter(|(place, _)| match after {
                Some(after) if page.reverse => *place < after,
                Some(after) => *place > after,
                None => true,
            })
            .collect();
        if page.reverse {
            places.sort_unstable_by_key(|place| Reverse(*place));
        } else {
            places.sort_unstable();
        }
        places
    }

    pub(super) fn peek(&self, what: &Selection, page: &Page<'_>) -> Result<Peeked> {
        self.known(what)?;
        let mut answer = Peeked::default();
        let mut bytes = 0;
        let mut last = None;
        for (looked, (place, id)) in self.walk(page).into_iter().enumerate() {
            let message = &self.rows[&id].message;
            let matches = what.matches(message);
            let room = answer.rows.is_empty()
                || (answer.rows.len() < page.rows && bytes + message.payload.len() <= page.bytes);
            if looked == page.scan.max(1) || (matches && !room) {
                answer.next = last.map(write_cursor);
                return Ok(answer);
            }
            last = Some(place);
            if matches {
                bytes += message.payload.len();
                let mut message = message.clone();
                if page.detail == Detail::Full {
                    message.history.clear();
                }
                answer.rows.push(message);
            }
        }
        for id in what.ids.iter().flatten() {
            let issued = (1..=self.last_id).contains(&id.as_str().parse().unwrap_or(0));
            if issued && self.rows.values().all(|row| row.message.id != *id) {
                answer.gone.push(id.clone());
            }
        }
        Ok(answer)
    }

    pub(super) fn count(&self, what: &Selection, cap: u64) -> Result<Count> {
        self.known(what)?;
        let meant = self.rows.values().filter(|row| what.matches(&row.message));
        let n = u64::try_from(meant.count()).expect("a small number");
        Ok(Count {
            n: n.min(cap),
            exact: n <= cap,
        })
    }

    pub(super) fn stats(
        &self,
        queues: Option<&[QueueName]>,
        depth: Depth,
    ) -> Result<Vec<QueueReport>> {
        match queues {
            Some(names) => names.iter().map(|name| self.report(name, depth)).collect(),
            None => self
                .queues
                .keys()
                .map(|name| self.report(name, depth))
                .collect(),
        }
    }

    fn report(&self, name: &QueueName, depth: Depth) -> Result<QueueReport> {
        let queue = self.queues.get(name).ok_or_else(|| no_queue(name))?;
        let mut report = QueueReport {
            queue: name.clone(),
            settings: queue.settings.clone(),
            counts: QueueCounts::default(),
            oldest_ready: None,
            expired_leases: 0,
            exact: true,
        };
        if depth == Depth::Names {
            return Ok(report);
        }
        let mine: Vec<&Row> = self
            .rows
            .values()
            .filter(|row| row.message.queue == *name)
            .collect();
        let n = |keep: &dyn Fn(&Message) -> bool| {
            u64::try_from(mine.iter().filter(|row| keep(&row.message)).count())
                .expect("a small number")
        };
        report.counts = QueueCounts {
            ready: n(&|message| message.state == State::Ready),
            delayed: n(&|message| message.state == State::Delayed),
            blocked: n(&|message| message.state == State::Blocked),
            running: n(&|message| message.state == State::Running),
            dead: n(&|message| message.state == State::Dead),
        };
        report.oldest_ready = mine
            .iter()
            .filter(|row| row.message.state == State::Ready)
            .filter_map(|row| row.message.ready_at)
            .min()
            .map(|due| self.now.since(due));
        report.expired_leases = u64::try_from(
            mine.iter()
                .filter(|row| row.message.state == State::Running && !row.held(self.now))
                .count(),
        )
        .expect("a small number");
        Ok(report)
    }
}
