//! Requeue and purge.

use super::look::write_cursor;
use super::{Key, Taken, World};
use qops::backend::{Change, Changed, Page, Result};
use qops::queue::{Due, QueueName, Selection, State};

impl World {
    /// One chunk: the messages that are meant as the chunk begins, each tested again when its turn comes.
    pub(super) fn change(
        &mut self,
        what: &Selection,
        change: &Change<'_>,
        page: &Page<'_>,
    ) -> Result<Changed> {
        self.known(what)?;
        let mut answer = Changed::default();
        let mut chunk = vec![];
        let mut last = None;
        for (looked, (place, id)) in self.walk(page).into_iter().enumerate() {
            let matches = what.matches(&self.rows[&id].message);
            if looked == page.scan.max(1) || (matches && chunk.len() == page.rows) {
                answer.next = last.map(write_cursor);
                break;
            }
            last = Some(place);
            if matches {
                chunk.push(id);
            }
        }
        for id in chunk {
            if !what.matches(&self.rows[&id].message) {
                continue;
            }
            let name = self.rows[&id].message.id.clone();
            let done = match *change {
                Change::Requeue { due, to, reset } => self.requeue(id, due, to, reset),
                Change::Purge { free_keys } => self.purge(id, what, free_keys),
            };
            match done {
                Ok(()) => answer.done.push(name),
                Err(why) => answer.skipped.push((name, why.to_owned())),
            }
        }
        if !answer.done.is_empty() {
            self.bells += 1;
        }
        Ok(answer)
    }

    fn requeue(
        &mut self,
        id: u64,
        due: Due,
        to: Option<&QueueName>,
        reset: bool,
    ) -> std::result::Result<(), &'static str> {
        let now = self.now;
        let row = self.rows.get_mut(&id).expect("a row that is there");
        match row.message.state {
            State::Running if row.held(now) => return Err("it is running"),
            State::Blocked => return Err("it is blocked"),
            State::Dead if row.held(now) => return Err("a command holds it"),
            State::Ready | State::Delayed | State::Running if to.is_some() => {
                return Err("it is no dead letter");
            }
            State::Ready | State::Delayed => {
                row.message.ready_at = Some(due.instant(now));
                row.wait(now);
                return Ok(());
            }
            State::Running => {
                row.lose(now);
                row.message.ready_at = Some(due.instant(now));
                row.wait(now);
                return Ok(());
            }
            State::Dead => {}
        }
        let from = row.message.queue.clone();
        let to = to.cloned().unwrap_or_else(|| from.clone());
        let (key, group) = (row.message.key.clone(), row.message.group.clone());
        self.queues.entry(to.clone()).or_default();
        if let Some(key) = key
            && to != from
        {
            if self.holder(&to, &key).is_some() {
                return Err("its key is taken there");
            }
            let keys = &mut self.queues.get_mut(&from).expect("it is there").keys;
            keys.remove(&key);
            let keys = &mut self.queues.get_mut(&to).expect("it is there").keys;
            let taken = Taken::WhileHere;
            keys.insert(key, Key { holder: id, taken });
        }
        let blocked = self.led(&to, group.as_ref());
        let row = self.rows.get_mut(&id).expect("a row that is there");
        row.lose(now);
        row.died = 0;
        let message = &mut row.message;
        message.queue = to;
        message.replays += 1;
        message.expires_at = None;
        message.died_at = None;
        message.reason = None;
        message.ready_at = Some(due.instant(now));
        if reset {
            message.attempts = 0;
            message.deferrals = 0;
        }
        message.state = State::Blocked;
        if !blocked {
            row.wait(now);
        }
        Ok(())
    }

    fn purge(
        &mut self,
        id: u64,
        what: &Selection,
        free_key: bool,
    ) -> std::result::Result<(), &'static str> {
        let row = &self.rows[&id];
        match row.message.state {
            State::Running if !what.states.contains(&State::Running) => Err("it is running"),
            State::Dead if row.held(self.now) => Err("a command holds it"),
            _ => {
                self.remove(id, free_key);
                Ok(())
            }
        }
    }
}
