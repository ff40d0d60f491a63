//! Changes over what is meant: a page of keys is read and written in one transaction, every condition tested under its
//! lock.

use super::super::{Change, Changed, Error, Intent, Op, Page, Result, Run};
use super::claim::number;
use super::conn::{QueueRow, Store, find_queue, no_queue};
use super::enqueue::{key_holder, make_queue, window_end};
use super::keys::{Segment, Ties};
use super::row::{Raw, Show};
use super::settle::{after_removal, letter, live, reclaim_letter, remove_letter, take_back};
use super::together::Together;
use super::walk::{Step, VAIN, Walk, Way};
use crate::queue::{Cursor, Due, Message, MessageId, OpId, QueueName, Selection, State, Timestamp};
use rusqlite::{Connection, params};

/// An operation of this store has a number of its own process: nothing is written yet.
pub(super) fn begin(store: &Store, _: &Intent<'_>) -> Result<Op> {
    let id: i64 = store
        .conn
        .prepare_cached(sql!("token"))?
        .query_row([], |row| row.get(0))?;
    Ok(Op {
        id: OpId(id.unsigned_abs()),
        at: store.now(),
    })
}

/// [`super::super::Backend::change`]: one page in one transaction; a dry run in none.
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
    if run == Run::Dry {
        let now = store.now();
        let work = Work {
            conn: &store.conn,
            what,
            change,
            now,
            run,
            queue: &queue,
            queue_id,
        };
        return store.read(|| work.page(page));
    }
    store.write(|conn, now| {
        let queue_id = find_queue(conn, &queue)?
            .ok_or_else(|| no_queue(&queue))?
            .id;
        Work {
            conn,
            what,
            change,
            now,
            run,
            queue: &queue,
            queue_id,
        }
        .page(page)
    })
}

/// One chunk at work.
struct Work<'a> {
    conn: &'a Connection,
    what: &'a Selection,
    change: &'a Change<'a>,
    now: Timestamp,
    run: Run,
    queue: &'a QueueName,
    queue_id: i64,
}

/// What became of one message: a reason if it is passed over.
type Fate = std::result::Result<(), String>;

/// A message that is meant.
enum Meant {
    Together(i64, Ties),
    /// It was read: more than its own row may have to change.
    Alone(Box<Message>),
}

impl Work<'_> {
    fn page(&self, page: &Page<'_>) -> Result<Changed> {
        let walk = Walk {
            conn: self.conn,
            what: self.what,
            page,
            now: self.now,
            show: Show::Rest,
            vain: VAIN,
        };
        let mut meant = Vec::new();
        let next = match walk.way(Some(self.queue_id))? {
            Way::Named(ids) => {
                let walked = walk.named(ids)?;
                meant.extend(walked.rows.into_iter().map(|message| self.sorted(message)));
                walked.next
            }
            Way::Along => self.along(&walk, &mut meant)?,
        };
        let mut changed = Changed {
            next,
            ..Changed::default()
        };
        let mut together = Together::default();
        for one in meant {
            match one {
                Meant::Together(id, ties) => {
                    together.add(id, ties);
                    changed.done.push(id.to_string().into());
                }
                Meant::Alone(message) => match self.one(&message)? {
                    Ok(()) => changed.done.push(message.id),
                    Err(why) => changed.skipped.push((message.id, why)),
                },
            }
        }
        if self.run == Run::Do {
            self.all_together(&together)?;
        }
        Ok(changed)
    }

    fn sorted(&self, message: Message) -> Meant {
        let ties = Ties::of(&message);
        if self.goes_together(ties) {
            Meant::Together(number(&message), ties)
        } else {
            Meant::Alone(Box::new(message))
        }
    }

    /// Messages whose heads tell that they are meant and go together are not read.
    fn along(&self, walk: &Walk<'_>, meant: &mut Vec<Meant>) -> Result<Option<Cursor>> {
        let heads_tell = !self.what.reads_contents();
        let mut desk = walk.desk()?;
        let mut read = 0;
        walk.along(self.queue_id, &mut |seen, segment, now| {
            if read >= walk.vain {
                return Ok(Step::NoRoom);
            }
            if let Some(ties) = seen.ties.filter(|ties| self.goes_together(*ties))
                && heads_tell
            {
                meant.push(Meant::Together(seen.id, ties));
                return Ok(Step::Taken);
            }
            let found = desk.load(seen.id, self.queue, segment == Segment::Dead, now)?;
            let Some(mut found) = found else {
                return Ok(Step::PassedOver);
            };
            // Only a filter has a payload read, and then it may be read for nothing.
            read += found.payload.len();
            if !self.what.matches(&found) {
                return Ok(Step::PassedOver);
            }
            // Read for a filter alone: a chunk of messages must not hold their payloads.
            found.payload = Vec::new();
            meant.push(self.sorted(found));
            Ok(Step::Taken)
        })
    }

    /// Whether a message can be changed with others of its kind by one statement: nobody holds it, and it is in no
    /// group, whose order would have to be heeded.
    fn goes_together(&self, ties: Ties) -> bool {
        if !ties.alone {
            return false;
        }
        match (self.change, ties.state) {
            // Another queue may have its key.
            (Change::Requeue { to: Some(_), .. }, State::Dead) => !ties.keyed,
            (Change::Requeue { to: None, .. }, State::Dead | State::Ready | State::Delayed) => true,
            (Change::Requeue { .. }, _) => false,
            (Change::Purge { .. }, _) => ties.state != State::Running,
        }
    }

    fn all_together(&self, meant: &Together) -> Result<()> {
        match *self.change {
            Change::Requeue { due, to, reset } => {
                let queue_id = match to.filter(|to| *to != self.queue) {
                    Some(to) if meant.has_letters() => make_queue(self.conn, to, self.now)?.id,
                    _ => self.queue_id,
                };
                meant.requeue(self.conn, queue_id, due.instant(self.now), reset)
            }
            Change::Purge { free_keys: true } => meant.purge(self.conn, self.queue_id, None),
            Change::Purge { free_keys: false } => {
                let keys_end = window_end(self.conn, self.queue_id, self.now)?;
                meant.purge(self.conn, self.queue_id, keys_end)
            }
        }
    }

    fn one(&self, message: &Message) -> Result<Fate> {
        match *self.change {
            Change::Requeue { due, to, reset } => match message.state {
                State::Dead => self.revive(message, due, to, reset),
                _ if to.is_some() => Ok(Err("only dead letters go to another queue".to_owned())),
                _ => self.hurry(message, due),
            },
            Change::Purge { free_keys } => match message.state {
                State::Dead => self.remove_letter(message, free_keys),
                _ => self.remove(message, free_keys),
            },
        }
    }

    fn revive(
        &self,
        message: &Message,
        due: Due,
        to: Option<&QueueName>,
        reset: bool,
    ) -> Result<Fate> {
        let id = number(message);
        let Some(letter) = letter(self.conn, id)? else {
            return Ok(Err("it is no longer here".to_owned()));
        };
        if letter.held(self.now) {
            return Ok(Err(HELD.to_owned()));
        }
        let mut target = self.queue_id;
        if let Some(to) = to.filter(|to| *to != self.queue) {
            let row = self.target(to)?;
            if let (Some(key), Some(row)) = (&letter.key, &row)
                && let Some(holder) = key_holder_now(self.conn, row.id, key, self.now, self.run)?
            {
                let key = message.key.as_deref().unwrap_or_default();
                return Ok(Err(format!(
                    "its key '{key}' is taken by message {holder} of {to}"
                )));
            }
            target = row.map_or(-1, |row| row.id);
        }
        if self.run == Run::Dry {
            return Ok(Ok(()));
        }
        reclaim_letter(self.conn, &letter, self.now)?;
        let blocked = match &letter.group {
            Some(group) => self
                .conn
                .prepare_cached(sql!("group_lives"))?
                .query_row(params![target, group], |row| row.get::<_, bool>(0))?,
            None => false,
        };
        let state = if blocked { 2 } else { 0 };
        let due = due.instant(self.now).0;
        self.conn
            .prepare_cached(sql!("revive"))?
            .execute(params![id, target, state, due, reset])?;
        self.conn
            .prepare_cached(sql!("dead_delete"))?
            .execute([id])?;
        if let Some(key) = letter.key.as_ref().filter(|_| target != self.queue_id) {
            self.conn
                .prepare_cached(sql!("dedup_delete"))?
                .execute(params![self.queue_id, key])?;
            self.conn
                .prepare_cached(sql!("dedup_insert"))?
                .execute(params![target, key, id])?;
        }
        Ok(Ok(()))
    }

    /// The queue that letters go to; it comes into being with the first.
    fn target(&self, to: &QueueName) -> Result<Option<QueueRow>> {
        match self.run {
            Run::Dry => find_queue(self.conn, to),
            Run::Do => make_queue(self.conn, to, self.now).map(Some),
        }
    }

    /// A live message gets a new due time.
    fn hurry(&self, message: &Message, due: Due) -> Result<Fate> {
        let id = number(message);
        let Some(found) = live(self.conn, id)? else {
            return Ok(Err("it is no longer here".to_owned()));
        };
        if message.state == State::Blocked {
            return Ok(Err(
                "it is blocked: another member of its group goes first".to_owned()
            ));
        }
        let running = message.state == State::Running;
        if running && found.lease_until.is_some_and(|end| end > self.now.0) {
            return Ok(Err(RUNNING.to_owned()));
        }
        if self.run == Run::Do {
            // Whether its attempts are spent is judged by the worker that claims it, not here.
            if running {
                take_back(self.conn, &found, self.now)?;
            }
            self.conn
                .prepare_cached(sql!("set_ready"))?
                .execute(params![id, due.instant(self.now).0])?;
        }
        Ok(Ok(()))
    }

    fn remove_letter(&self, message: &Message, free_keys: bool) -> Result<Fate> {
        let Some(letter) = letter(self.conn, number(message))? else {
            return Ok(Err("it is no longer here".to_owned()));
        };
        if letter.held(self.now) {
            return Ok(Err(HELD.to_owned()));
        }
        if self.run == Run::Do {
            remove_letter(self.conn, &letter, free_keys, self.now)?;
        }
        Ok(Ok(()))
    }

    fn remove(&self, message: &Message, free_keys: bool) -> Result<Fate> {
        if message.state == State::Running && !self.what.states.contains(&State::Running) {
            return Ok(Err(RUNNING.to_owned()));
        }
        let id = number(message);
        let Some(found) = live(self.conn, id)? else {
            return Ok(Err("it is no longer here".to_owned()));
        };
        if self.run == Run::Do {
            self.conn
                .prepare_cached(sql!("live_delete"))?
                .execute([id])?;
            if message.deliveries > 0 {
                self.conn
                    .prepare_cached(sql!("attempt_delete"))?
                    .execute([id])?;
            }
            let key = found.key.as_ref().map(|key| (key, free_keys));
            after_removal(
                self.conn,
                self.queue_id,
                key,
                found.group.as_ref(),
                self.now,
            )?;
        }
        Ok(Ok(()))
    }
}

const RUNNING: &str = "it is running";
const HELD: &str = "a command holds it";

/// Who has a key; a dry run clears no window.
fn key_holder_now(
    conn: &Connection,
    queue_id: i64,
    key: &Raw,
    now: Timestamp,
    run: Run,
) -> Result<Option<MessageId>> {
    if run == Run::Do {
        return key_holder(conn, queue_id, key, now);
    }
    let mut statement = conn.prepare_cached(sql!("dedup_get"))?;
    let mut rows = statement.query(params![queue_id, key])?;
    let Some(row) = rows.next()? else {
        return Ok(None);
    };
    let (id, ends): (i64, Option<i64>) = (row.get(0)?, row.get(1)?);
    Ok(ends
        .is_none_or(|ends| ends > now.0)
        .then(|| id.to_string().into()))
}

#[cfg(test)]
mod tests;
