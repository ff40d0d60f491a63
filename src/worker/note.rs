//! What a worker tells while it works, and what it tells at the end.

use crate::backend::{Error, Kind};
use crate::queue::{MessageId, QueueName, Reason, Timestamp};
use std::time::Duration;

/// Something that happened, told to the caller on its own thread.
#[derive(Debug)]
pub enum Note<'a> {
    /// A command is about to run.
    Started {
        /// From this queue.
        queue: &'a QueueName,
        /// For this message.
        id: &'a MessageId,
    },
    /// A delivery is settled in the store, or lost.
    Ended {
        /// From this queue.
        queue: &'a QueueName,
        /// Which message.
        id: &'a MessageId,
        /// What became of it.
        fate: &'a Fate,
        /// How long the command ran.
        took: Duration,
    },
    /// Messages were found that cannot be started any more; they are dead letters.
    Buried {
        /// In this queue.
        queue: &'a QueueName,
        /// Which, and why; at least one.
        found: &'a [(MessageId, Reason)],
    },
    /// Dead letters that are meant and that somebody else's claim holds; they are passed over.
    Held {
        /// In this queue.
        queue: &'a QueueName,
        /// Which, and until when; at least one.
        found: &'a [(MessageId, Timestamp)],
    },
    /// The queue is paused: it counts as empty, or is waited for.
    Paused(&'a QueueName),
    /// There is no such queue, and that is fine.
    Missing(&'a QueueName),
    /// A command ended well without having read its payload, and no argument held it. Told once a run.
    Unread,
    /// The system has no room for another command just now; it is tried again. Told once a run.
    NoRoom(&'a str),
    /// So many messages were given back by the exit map and stand before the others: the run ends without a look behind
    /// them.
    AsideFull(usize),
    /// The store does not answer; it is tried again.
    StoreLost(&'a Error),
    /// The store answers again.
    StoreBack,
    /// The store has no room: what is done is still acknowledged, and room is waited for.
    StoreFull(&'a Error),
    /// There is room again.
    Room,
    /// Nothing more is taken; so many commands still run.
    Stopping {
        /// Why.
        why: &'a Why,
        /// Commands that run.
        running: usize,
    },
    /// The commands that still run are ended.
    Ending,
}

/// What became of a delivery.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fate {
    /// Done and gone.
    Done,
    /// Failed; again after the wait.
    Retry {
        /// How long.
        wait: Duration,
        /// What went wrong, in a line.
        error: String,
    },
    /// The command asked for another try, uncharged; after the wait.
    Deferred {
        /// How long.
        wait: Duration,
        /// What it said, in a line.
        error: String,
    },
    /// It is a dead letter, or still one.
    Dead {
        /// Why.
        reason: Reason,
        /// What went wrong, in a line.
        error: String,
    },
    /// Given back, uncharged.
    Released,
    /// The lease was lost: somebody else may have it, nothing was settled.
    Lost,
    /// The command failed after its message had been acknowledged (at most once).
    Dropped {
        /// What went wrong, in a line.
        error: String,
    },
}

/// Why a worker stopped.
#[derive(Debug)]
pub enum Why {
    /// There was nothing more to do.
    Finished,
    /// The limit on messages.
    Messages,
    /// The limit on time.
    Time,
    /// The limit on failures.
    Failures,
    /// A command exited 99.
    Asked,
    /// A signal, by its number.
    Signal(i32),
    /// Nobody reads our standard output any more.
    OutputClosed,
    /// The command cannot run: what the system said.
    CannotRun(String),
    /// The store: lost, full, or it refused.
    Store(Error),
}

/// How a run ended, in the order of precedence of the exit codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The command cannot run: 2.
    CannotRun,
    /// Commands were ended because of this signal: 128 + its number.
    Signalled(i32),
    /// The store was lost or is full (8), or an error whose kind says the code.
    Store(Kind),
    /// A message ended dead, or the limit on failures was reached: 1.
    LeftDead,
    /// All is well: 0.
    Clean,
}

/// What a run did.
#[derive(Debug)]
pub struct Summary {
    /// Commands that were started.
    pub started: u64,
    /// Messages that are done.
    pub done: u64,
    /// Ends that were counted as failures and come again.
    pub retried: u64,
    /// Ends that asked for another try, uncharged.
    pub deferred: u64,
    /// Messages that became dead letters, or stayed ones.
    pub dead: u64,
    /// Deliveries that were given back uncharged after their command had run.
    pub released: u64,
    /// Deliveries whose lease was lost.
    pub lost: u64,
    /// Dead letters that were passed over because another claim holds them.
    pub held: u64,
    /// When the first of the retries is due, from its settling.
    pub soonest: Option<Duration>,
    /// Commands that were ended because a second signal came or the grace was over; by which signal (TERM where none
    /// came).
    pub ended_by: Option<i32>,
    /// The first signal that came.
    pub signal: Option<i32>,
    /// Results that could not be settled because the store was lost or full.
    pub unsettled: u64,
    /// Why it stopped.
    pub why: Why,
}

impl Summary {
    /// Of a run that has done nothing yet.
    pub(super) fn new() -> Self {
        Self {
            started: 0,
            done: 0,
            retried: 0,
            deferred: 0,
            dead: 0,
            released: 0,
            lost: 0,
            held: 0,
            soonest: None,
            ended_by: None,
            signal: None,
            unsettled: 0,
            why: Why::Finished,
        }
    }

    /// How it ended: command cannot run > signal > store > a message is dead.
    #[must_use]
    pub fn ending(&self) -> Ending {
        match (&self.why, self.ended_by) {
            (Why::CannotRun(_), _) => Ending::CannotRun,
            (_, Some(signal)) => Ending::Signalled(signal),
            (Why::Store(error), None) => Ending::Store(error.kind()),
            (why, None) if self.dead > 0 || matches!(why, Why::Failures) => Ending::LeftDead,
            _ => Ending::Clean,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endings_have_their_precedence() {
        let mut summary = Summary::new();
        assert_eq!(summary.ending(), Ending::Clean);
        summary.retried = 3;
        assert_eq!(summary.ending(), Ending::Clean);
        summary.dead = 1;
        assert_eq!(summary.ending(), Ending::LeftDead);
        summary.why = Why::Store(Error::new(Kind::Full, "full"));
        assert_eq!(summary.ending(), Ending::Store(Kind::Full));
        summary.ended_by = Some(15);
        assert_eq!(summary.ending(), Ending::Signalled(15));
        summary.why = Why::CannotRun(String::new());
        assert_eq!(summary.ending(), Ending::CannotRun);
        let mut summary = Summary::new();
        summary.why = Why::Failures;
        assert_eq!(summary.ending(), Ending::LeftDead);
    }
}
