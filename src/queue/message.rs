//! A message on its way in, as it stands, and as it is handed to a worker.

use super::{Group, MessageId, Outcome, QueueName, Reason, Receipt, State, Timestamp};
use std::borrow::Cow;
use std::time::Duration;

/// Names and values, in the order in which they were given; a name may stand twice.
pub type Headers = Vec<(String, String)>;

/// When a message may run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Due {
    /// At once.
    Now,
    /// After so long, by the store's clock.
    After(Duration),
    /// From this instant, by the store's clock.
    At(Timestamp),
}

impl Due {
    /// The instant meant, when the store's clock says `now`.
    #[must_use]
    pub fn instant(self, now: Timestamp) -> Timestamp {
        match self {
            Self::Now => now,
            Self::After(wait) => now.plus(wait),
            Self::At(time) => time,
        }
    }
}

/// When a message's time to live ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ttl {
    /// So long after its enqueue, by the store's clock.
    After(Duration),
    /// At this instant.
    At(Timestamp),
}

/// A message on its way in.
#[derive(Clone, Debug)]
pub struct NewMessage<'a> {
    /// Where it goes.
    pub queue: QueueName,
    /// Any bytes.
    pub payload: Cow<'a, [u8]>,
    /// The fact's own id: one live or dead message per key and queue.
    pub key: Option<Cow<'a, str>>,
    /// Members of a group run one at a time, in order.
    pub group: Option<Group>,
    /// −9 to 9; higher first.
    pub priority: i8,
    /// When it may run.
    pub due: Due,
    /// When it may not be started any more; the queue's setting where none is given.
    pub ttl: Option<Ttl>,
    /// Its own number of starts, above every other setting.
    pub max_attempts: Option<u32>,
    /// Names and values beside the payload.
    pub headers: Headers,
}

impl<'a> NewMessage<'a> {
    /// A message with nothing but a queue and a payload.
    pub fn new(queue: QueueName, payload: impl Into<Cow<'a, [u8]>>) -> Self {
        Self {
            queue,
            payload: payload.into(),
            key: None,
            group: None,
            priority: 0,
            due: Due::Now,
            ttl: None,
            max_attempts: None,
            headers: Headers::new(),
        }
    }
}

/// What became of one message of a batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Enqueued {
    /// It is stored under this id.
    New(MessageId),
    /// Its key is taken; this is the message that has it (or had it, within the window). Nothing was stored.
    Duplicate(MessageId),
}

/// A message as it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Unique in the store.
    pub id: MessageId,
    /// Where it is.
    pub queue: QueueName,
    /// Ready and delayed are told apart by the store's clock at the look.
    pub state: State,
    /// Any bytes.
    pub payload: Vec<u8>,
    /// Starts that were charged.
    pub attempts: u32,
    /// Ends in a row that asked for another try.
    pub deferrals: u32,
    /// How often it was handed out; never reset. The fence of its receipts.
    pub deliveries: u64,
    /// How often it came back from the dead.
    pub replays: u32,
    /// Its own number of starts, if it has one.
    pub max_attempts: Option<u32>,
    /// −9 to 9; higher first.
    pub priority: i8,
    /// The fact's own id.
    pub key: Option<String>,
    /// Its group.
    pub group: Option<Group>,
    /// Names and values beside the payload.
    pub headers: Headers,
    /// When it was stored.
    pub enqueued_at: Timestamp,
    /// When it may run; for a dead letter when it was due last, if the store keeps it.
    pub ready_at: Option<Timestamp>,
    /// When it may not be started any more.
    pub expires_at: Option<Timestamp>,
    /// The end of its lease, while it is claimed.
    pub lease_until: Option<Timestamp>,
    /// Who holds it.
    pub worker: Option<String>,
    /// When its present run was marked as starting.
    pub started_at: Option<Timestamp>,
    /// When it became a dead letter.
    pub died_at: Option<Timestamp>,
    /// Why it is a dead letter.
    pub reason: Option<Reason>,
    /// What its last failure said.
    pub last_error: Option<String>,
    /// Its runs, oldest first; empty unless asked for.
    pub history: Vec<Attempt>,
}

/// One run of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// Which delivery it was (the fence).
    pub delivery: u64,
    /// Which charged start it was, counted from 1.
    pub attempt: u32,
    /// When it was marked as starting.
    pub started_at: Timestamp,
    /// How long it ran, if its end is known.
    pub took: Option<Duration>,
    /// Who ran it.
    pub worker: String,
    /// How it ended.
    pub outcome: Outcome,
    /// The command's exit status.
    pub exit: Option<i32>,
    /// The signal that ended the command.
    pub signal: Option<i32>,
    /// What went wrong, in a line.
    pub error: Option<String>,
    /// What it last said on stderr: its first 8 KiB and last 56 KiB.
    pub stderr: Vec<u8>,
}

/// How a run ended, as its worker saw it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct End {
    /// How it ended.
    pub outcome: Outcome,
    /// The command's exit status.
    pub exit: Option<i32>,
    /// The signal that ended the command.
    pub signal: Option<i32>,
    /// How long it ran.
    pub took: Duration,
    /// What went wrong, in a line; the last line of stderr where there is one. Becomes the message's last error.
    pub error: String,
    /// What it last said on stderr.
    pub stderr: Vec<u8>,
}

/// A run that was marked as starting and whose end nobody saw.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Open {
    /// When it was marked.
    pub started_at: Timestamp,
    /// Who ran it.
    pub worker: String,
}

/// A message handed to a worker under a lease.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// As it stands after the claim (state `running`, or `dead` for a dead letter that is drained by a command).
    /// `attempts` has this run in it only if the claim started it.
    pub message: Message,
    /// Names this delivery.
    pub receipt: Receipt,
    /// Grows with every delivery of this message, never resets.
    pub fence: u64,
    /// The run before this one was started, and nobody saw its end.
    pub doubt: Option<Open>,
}

/// How many messages of a queue stand where.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueCounts {
    /// May be claimed now.
    pub ready: u64,
    /// Their time has not come.
    pub delayed: u64,
    /// Another member of their group goes first.
    pub blocked: u64,
    /// Claimed.
    pub running: u64,
    /// Dead letters.
    pub dead: u64,
}
