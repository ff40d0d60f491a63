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
        let Self {
            queue,
            ids: _,
            states,
            key,
            group,
            since,
            until,
            error,
            grep,
            skip_expired,
        } = self;
        let when = if self.only_dead() {
            message.died_at.unwrap_or(message.enqueued_at)
        } else {
            message.enqueued_at
        };
        queue.as_ref().is_none_or(|queue| *queue == message.queue)
            && (states.is_empty() || states.contains(&message.state))
            && key
                .as_ref()
                .is_none_or(|key| message.key.as_ref() == Some(key))
            && group
                .as_ref()
                .is_none_or(|group| message.group.as_ref() == Some(group))
            && since.is_none_or(|since| when >= since)
            && until.is_none_or(|until| when <= until)
            && error.as_ref().is_none_or(|error| {
                message
                    .last_error
                    .as_ref()
                    .is_some_and(|last| last.contains(error.as_str()))
            })
            && grep
                .as_ref()
                .is_none_or(|grep| contains(&message.payload, grep.as_bytes()))
            && !(*skip_expired && message.reason == Some(Reason::Expired))
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
