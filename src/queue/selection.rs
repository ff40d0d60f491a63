//! Which messages a verb means.

use super::{Group, Message, MessageId, QueueName, Reason, State, Timestamp};

/// A conjunction of fields; an empty field asks for nothing. [`Selection::matches`] is the one meaning of it: the
/// reference model and every store that scans use it, every other store answers the same.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// In this queue. None (only with `ids`): wherever they are.
    pub queue: Option<QueueName>,
    /// One of these.
    pub ids: Option<Vec<MessageId>>,
    /// In one of these states; empty: any.
    pub states: Vec<State>,
    /// With this key.
    pub key: Option<String>,
    /// In this group.
    pub group: Option<Group>,
    /// Not before this instant: by `died_at` when `states` is dead alone, else by `enqueued_at`.
    pub since: Option<Timestamp>,
    /// Not after this instant, by the same field as `since`.
    pub until: Option<Timestamp>,
    /// The last error has this text in it.
    pub error: Option<String>,
    /// The payload has these bytes in it.
    pub grep: Option<String>,
    /// Passes over dead letters whose reason is `expired` (drain and requeue, unless they are asked for).
    pub skip_expired: bool,
}

/// What can be told of a message without its contents.
#[derive(Clone, Copy, Debug)]
pub struct Head<'a> {
    /// Its state at the look.
    pub state: State,
    /// Its key; not needed where none is asked for.
    pub key: Option<&'a str>,
    /// Its group; not needed where none is asked for.
    pub group: Option<&'a str>,
    /// When it was put in.
    pub enqueued_at: Timestamp,
    /// When it died.
    pub died_at: Option<Timestamp>,
    /// It died because its time to live had passed.
    pub expired: bool,
}

/// In which order a walk goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// As they will run: running, ready (priority, due, id), delayed (by due), blocked (by id); then dead letters,
    /// the latest first.
    Run,
    /// The oldest first: live ones by id, then dead letters as they died.
    Oldest,
}

impl Selection {
    /// A selection of a whole queue.
    #[must_use]
    pub fn of(queue: QueueName) -> Self {
        Self {
            queue: Some(queue),
            ..Self::default()
        }
    }

    /// Only dead letters are meant.
    #[must_use]
    pub fn only_dead(&self) -> bool {
        self.states == [State::Dead]
    }

    /// Whether a message of this state is meant.
    #[must_use]
    pub fn wants(&self, state: State) -> bool {
        self.states.is_empty() || self.states.contains(&state)
    }

    /// Whether it means this message, `message.state` being what it is at the look.
    #[must_use]
    pub fn matches(&self, message: &Message) -> bool {
        self.ids
            .as_ref()
            .is_none_or(|ids| ids.contains(&message.id))
            && self.matches_but_ids(message)
    }

    /// As [`Self::matches`], for a message that was found by an id of the list: a long list is not gone through again.
    #[must_use]
    pub fn matches_but_ids(&self, message: &Message) -> bool {
        self.matches_but_payload(message) && self.matches_payload(&message.payload)
    }

    /// As [`Self::matches_but_ids`], before the payload is read.
    #[must_use]
    pub fn matches_but_payload(&self, message: &Message) -> bool {
        let Self {
            queue,
            ids: _,
            states: _,
            key: _,
            group: _,
            since: _,
            until: _,
            error,
            grep: _,
            skip_expired: _,
        } = self;
        let head = Head {
            state: message.state,
            key: message.key.as_deref(),
            group: message.group.as_ref().map(Group::as_str),
            enqueued_at: message.enqueued_at,
            died_at: message.died_at,
            expired: message.reason == Some(Reason::Expired),
        };
        queue.as_ref().is_none_or(|queue| *queue == message.queue)
            && self.may_mean(&head)
            && error.as_ref().is_none_or(|error| {
                message
                    .last_error
                    .as_ref()
                    .is_some_and(|last| last.contains(error.as_str()))
            })
    }

    /// Whether a payload is one that is meant.
    #[must_use]
    pub fn matches_payload(&self, payload: &[u8]) -> bool {
        self.grep
            .as_ref()
            .is_none_or(|grep| contains(payload, grep.as_bytes()))
    }

    /// Whether the fields that need no contents allow a message with this head; with [`Self::reads_contents`] false
    /// and the queue and ids given, that is the whole answer.
    #[must_use]
    pub fn may_mean(&self, head: &Head<'_>) -> bool {
        let when = if self.only_dead() {
            head.died_at.unwrap_or(head.enqueued_at)
        } else {
            head.enqueued_at
        };
        self.wants(head.state)
            && (self.key.is_none() || self.key.as_deref() == head.key)
            && self
                .group
                .as_ref()
                .is_none_or(|group| Some(group.as_str()) == head.group)
            && self.since.is_none_or(|since| when >= since)
            && self.until.is_none_or(|until| when <= until)
            && !(self.skip_expired && head.expired)
    }

    /// Whether a message's last error or payload must be read.
    #[must_use]
    pub fn reads_contents(&self) -> bool {
        self.error.is_some() || self.grep.is_some()
    }
}

/// Whether `needle` stands somewhere in `hay`; an empty one does.
#[must_use]
pub fn contains(hay: &[u8], needle: &[u8]) -> bool {
    needle.is_empty() || hay.windows(needle.len()).any(|window| window == needle)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_needle_is_found_anywhere() {
        assert!(contains(b"abc", b"") && contains(b"abc", b"abc") && contains(b"abc", b"c"));
        assert!(!contains(b"abc", b"abcd") && !contains(b"", b"a"));
        assert!(contains(b"a\0b", b"\0b"));
    }
}
