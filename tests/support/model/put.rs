//! Enqueue.

use super::{Key, Row, Taken, World, id_of};
use qops::backend::{Conflict, Error, Kind, Result, Unit};
use qops::queue::{Enqueued, Message, NewMessage, State, Ttl};

impl World {
    /// All of it or, with an error, none: the caller throws a world away whose call failed.
    pub(super) fn enqueue(
        &mut self,
        batch: &[NewMessage<'_>],
        unit: Unit,
    ) -> Result<Vec<Enqueued>> {
        let mut answer = vec![];
        for (line, new) in batch.iter().enumerate() {
            let holder = new
                .key
                .as_deref()
                .and_then(|key| self.holder(&new.queue, key));
            let enqueued = match holder {
                Some(holder) if unit == Unit::Whole(Conflict::Refuse) => {
                    return Err(Error::new(Kind::Conflict, "the key is taken")
                        .with("line", line.to_string())
                        .with("id", holder.to_string()));
                }
                Some(holder) => Enqueued::Duplicate(id_of(holder)),
                None => Enqueued::New(id_of(self.put(new))),
            };
            answer.push(enqueued);
        }
        if !batch.is_empty() {
            self.bells += 1;
        }
        Ok(answer)
    }

    fn put(&mut self, new: &NewMessage<'_>) -> u64 {
        self.last_id += 1;
        let (id, now) = (self.last_id, self.now);
        let blocked = self.led(&new.queue, new.group.as_ref());
        let queue = self.queues.entry(new.queue.clone()).or_default();
        if let Some(key) = &new.key {
            let taken = Taken::WhileHere;
            queue
                .keys
                .insert(key.to_string(), Key { holder: id, taken });
        }
        let expires_at = match new.ttl {
            Some(Ttl::After(long)) => Some(now.plus(long)),
            Some(Ttl::At(end)) => Some(end),
            None => queue.settings.ttl.map(|long| now.plus(long)),
        };
        let mut row = Row {
            message: Message {
                id: id_of(id),
                queue: new.queue.clone(),
                state: State::Blocked,
                payload: new.payload.to_vec(),
                attempts: 0,
                deferrals: 0,
                deliveries: 0,
                replays: 0,
                max_attempts: new.max_attempts,
                priority: new.priority,
                key: new.key.as_ref().map(ToString::to_string),
                group: new.group.clone(),
                headers: new.headers.clone(),
                enqueued_at: now,
                ready_at: Some(new.due.instant(now)),
                expires_at,
                lease_until: None,
                worker: None,
                started_at: None,
                died_at: None,
                reason: None,
                last_error: None,
                history: vec![],
            },
            died: 0,
        };
        if !blocked {
            row.wait(now);
        }
        self.rows.insert(id, row);
        id
    }
}
