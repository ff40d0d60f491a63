//! What is asked of a store and what it answers.

use super::feature::Capability;
use crate::queue::retry::Settings;
use crate::queue::{
    Cursor, Delivery, Due, End, Hint, Ladder, Message, MessageId, OpId, Order, QueueCounts,
    QueueName, Reason, Receipt, Selection, Skew, Timestamp, retry::Window,
};
use std::time::Duration;

/// How a batch stands together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unit {
    /// Each message for itself.
    Each,
    /// All or none.
    Whole(Conflict),
}

/// What a taken key does to a whole.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Conflict {
    /// The message is passed over; the others stand.
    Skip,
    /// The whole is refused.
    Refuse,
}

/// Whether something is done or only shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Run {
    /// Change nothing; answer what would be done.
    Dry,
    /// Do it.
    Do,
}

/// One round trip of a worker.
#[derive(Clone, Copy, Debug)]
pub struct Exchange<'a> {
    /// What to settle, first, in order.
    pub settle: &'a [Settle<'a>],
    /// What to claim, then.
    pub claim: Option<Claim<'a>>,
}

/// One verdict over one delivery.
#[derive(Clone, Copy, Debug)]
pub struct Settle<'a> {
    /// Which delivery.
    pub receipt: &'a Receipt,
    /// What becomes of it.
    pub verdict: Verdict,
    /// How its run ended: a row of its history if it was started, and the message's last error where the verdict is
    /// Retry or Dead. The row of a started run without an `end` says what the verdict says.
    pub end: Option<&'a End>,
}

/// What becomes of a delivery. Each may be repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Its command is about to start: the attempt is counted and its history opened, durably. Twice counts once. A
    /// message whose time to live has passed is not started: it becomes a dead letter (`expired`) and the answer is
    /// [`Settled::LeaseLost`] with [`Standing::Dead`].
    Start,
    /// Its lease ends so long after the store's now.
    Extend(Duration),
    /// It is done and gone; its key is kept for the queue's window. A dead letter that was claimed is removed.
    Done,
    /// Again at `due`. `charge`: the attempt stays counted and the run of uncharged ends is over; else the attempt is
    /// taken back and `deferrals` grows. The due time is its new place in the order, and a group's head stays its head.
    Retry {
        /// When.
        due: Due,
        /// Whether the attempt stays counted.
        charge: bool,
    },
    /// It is a dead letter; the next of its group goes on. A dead letter that was claimed stays one, with its reason as
    /// it was and the run in its history.
    Dead(Reason),
    /// As if it had never been claimed: attempts, place and due time as before. A run that was started stands in its
    /// history as `released`.
    Release,
}

/// What became of a verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Settled {
    /// It took.
    Yes,
    /// The receipt is not good any more; the message stands so. Nothing changed.
    LeaseLost(Standing),
    /// The message is not there any more: done or purged. Nothing changed.
    Gone,
}

/// Where a message stands whose receipt is not good any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Waiting, or its lease has ended and nobody has claimed it again.
    Waiting,
    /// Claimed again by this worker.
    Leased(String),
    /// A dead letter.
    Dead(Reason),
}

/// What to claim. An unknown queue is [`super::Kind::NotFound`] inside the answer.
#[derive(Clone, Copy, Debug)]
pub struct Claim<'a> {
    /// From this queue.
    pub queue: &'a QueueName,
    /// At most so many; at most one of a group.
    pub max: usize,
    /// At most so many bytes of payload, but always one message.
    pub bytes: usize,
    /// How long they are held, by the store's clock.
    pub lease: Duration,
    /// These are starts: nothing is fetched ahead, so the claim counts the attempts itself.
    pub start: bool,
    /// When a message without its own number is spent. A spent one is not handed out: it becomes a dead letter.
    pub max_attempts: u32,
    /// Which.
    pub pick: Pick<'a>,
}

/// Which messages a claim takes.
#[derive(Clone, Copy, Debug)]
pub enum Pick<'a> {
    /// What is ready, in order; what a dead worker held, back in its place first.
    Ready,
    /// Dead letters that are meant, the oldest first, where they lie: nothing is charged. One that is claimed is
    /// passed over by every other claim and change until it is settled or its lease ends. A claim looks at a bounded
    /// number of letters and of bytes, so that it is short whatever the filter passes over: it may bring none with a
    /// cursor, and only no cursor is the end.
    Dead {
        /// Which dead letters.
        what: &'a Selection,
        /// Where the last claim of this walk ended, so that none is taken twice.
        after: Option<&'a Cursor>,
    },
}

/// What an exchange answers.
#[derive(Debug)]
pub struct Exchanged {
    /// One for each settle, in order.
    pub settled: Vec<Settled>,
    /// What was claimed; empty if nothing was asked. A claim's error never hides a settle.
    pub claimed: super::Result<Claimed>,
}

/// What was claimed.
#[derive(Debug, Default)]
pub struct Claimed {
    /// In the order in which they are to be run.
    pub got: Vec<Delivery>,
    /// Messages that this claim found spent or expired and made dead letters, with why.
    pub buried: Vec<(MessageId, Reason)>,
    /// Nothing that is ready is handed out because the queue is paused; dead letters still are.
    pub paused: bool,
    /// When `got` has fewer than asked: how long until something that is delayed or leased now may be ready; zero if
    /// something is ready already (the byte limit). None: nothing is delayed and nothing leased, by anybody.
    pub next: Option<Duration>,
    /// Dead letters that are meant and were passed over because another claim holds them, in order, and when each
    /// lease ends. A walk is told of each once.
    pub held: Vec<(MessageId, Timestamp)>,
    /// Where a walk over dead letters goes on; none at its end, and for [`Pick::Ready`].
    pub cursor: Option<Cursor>,
}

/// How much of each message a look brings.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Detail {
    /// All but the history.
    Full,
    /// All of it.
    History,
}

/// The bounds of one step of a walk.
#[derive(Clone, Copy, Debug)]
pub struct Page<'a> {
    /// Where the last page ended.
    pub after: Option<&'a Cursor>,
    /// At most so many rows.
    pub rows: usize,
    /// At most so many bytes of payload, and of what is kept of stderr where the history is asked for; but always one
    /// row. A change of a store whose writers wait for each other reads no more than that for a filter.
    pub bytes: usize,
    /// At most so many rows looked at.
    pub scan: usize,
    /// In this order.
    pub order: Order,
    /// From its other end.
    pub reverse: bool,
    /// How much of each.
    pub detail: Detail,
}

impl Page<'_> {
    /// A first page with bounds that keep memory small.
    #[must_use]
    pub fn first(rows: usize, order: Order) -> Self {
        Self {
            after: None,
            rows,
            bytes: 8 << 20,
            scan: 50_000,
            order,
            reverse: false,
            detail: Detail::Full,
        }
    }
}

/// One page of a look.
#[derive(Debug, Default)]
pub struct Peeked {
    /// Messages in order.
    pub rows: Vec<Message>,
    /// Where the walk goes on; none at its end.
    pub next: Option<Cursor>,
    /// Ids that were asked for, were issued once, and are no longer here. On the last page alone.
    pub gone: Vec<MessageId>,
}

/// How many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count {
    /// So many.
    pub n: u64,
    /// Whether that is all.
    pub exact: bool,
}

/// Why an operation is opened.
#[derive(Clone, Copy, Debug)]
pub struct Intent<'a> {
    /// The verb.
    pub verb: &'static str,
    /// Who: user, host and process.
    pub who: &'a str,
    /// Why, in the person's words.
    pub why: &'a str,
}

/// An operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Op {
    /// Its number.
    pub id: OpId,
    /// The store's now at its beginning.
    pub at: Timestamp,
}

/// What is done to each message that is meant.
#[derive(Clone, Copy, Debug)]
pub enum Change<'a> {
    /// Makes it due. A dead letter comes back with one replay more, without its time to live; a waiting one gets this
    /// due time; one whose lease has ended is taken back. A running one, a blocked one, and a dead letter that a
    /// command holds are skipped.
    Requeue {
        /// When.
        due: Due,
        /// Dead letters alone: into this queue, which comes into being with the first, with payload, key, group,
        /// headers, priority and replays; a key that the queue holds is skipped.
        to: Option<&'a QueueName>,
        /// Whether attempts and deferrals begin at 0.
        reset: bool,
    },
    /// Deletes it; the next of its group goes on. A running one is deleted only if that state is named.
    Purge {
        /// Whether its key is free at once; else it stays taken for the queue's window, as after done.
        free_keys: bool,
    },
}

/// One chunk of a change.
#[derive(Debug, Default)]
pub struct Changed {
    /// What was done, in order. Under [`Run::Dry`] what would be.
    pub done: Vec<MessageId>,
    /// What could not be, with why in a clause.
    pub skipped: Vec<(MessageId, String)>,
    /// Where the walk goes on; none at its end.
    pub next: Option<Cursor>,
}

/// How deep a count goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Depth {
    /// Names and settings alone.
    Names,
    /// Within 50 ms; large counts are estimates.
    Quick,
    /// True counts.
    Exact,
}

/// A queue, its settings and its counts.
#[derive(Clone, Debug)]
pub struct QueueReport {
    /// Its name.
    pub queue: QueueName,
    /// Its own settings.
    pub settings: Settings,
    /// How many stand where.
    pub counts: QueueCounts,
    /// How long the oldest ready message could have run already.
    pub oldest_ready: Option<Duration>,
    /// Leases that have ended and that nobody has reclaimed yet.
    pub expired_leases: u64,
    /// False where a count is an estimate.
    pub exact: bool,
}

/// A change of a queue's settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Patch {
    /// Creates the queue if it is not there, then sets these.
    Set(Vec<Setting>),
    /// Sets these on a queue that is there; [`super::Kind::NotFound`] if it is not.
    Change(Vec<Setting>),
    /// Removes the queue, if it is empty.
    Remove,
}

/// One setting; None: back to the program's default.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Setting {
    /// Starts before a message is dead.
    MaxAttempts(Option<u32>),
    /// Waits before each retry.
    Backoff(Option<Ladder>),
    /// How long a claim holds a message.
    Lease(Option<Duration>),
    /// How long a key stays taken after its message is done.
    DedupWindow(Option<Window>),
    /// Time to live of a message that comes without its own.
    Ttl(Option<Duration>),
    /// Whether nothing is handed out.
    Paused(bool),
}

/// A piece of housekeeping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chore {
    /// Expired messages, key windows, the journal.
    Sweep,
}

/// What housekeeping left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tended {
    /// The budget ended first.
    pub more: bool,
}

/// Something that is wrong with a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// A stable word for it.
    pub code: &'static str,
    /// Whether messages are in danger.
    pub severe: bool,
    /// What it means, in a sentence.
    pub means: String,
    /// The command or the step that mends it.
    pub mend: Option<Hint>,
}

/// What a migration did or would do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Migrated {
    /// The version before; 0: there was no schema.
    pub from: u32,
    /// The version after.
    pub to: u32,
    /// What was run, or would be.
    pub statements: Vec<String>,
}

/// Whether a handle may change the store.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Access {
    /// Creates nothing and changes nothing. A store that is not there is [`super::Kind::NotFound`], context `store`.
    Read,
    /// Creates what it needs in a store that is ours alone.
    Write,
    /// For `init`: opens a store that is somebody else's too, and leaves the schema to [`super::Backend::migrate`].
    Init,
    /// For a dry `init`: as [`Self::Init`], and creates and changes nothing. A store that is not there is an empty one.
    Plan,
}

/// How a handle is opened.
#[derive(Clone, Debug)]
pub struct OpenOptions {
    /// What it may do.
    pub access: Access,
    /// Who we are: what stands as `worker` in leases and history.
    pub identity: String,
    /// Nothing in production; a test moves the store's clock with it.
    pub skew: Skew,
}

/// Bounds that the checked door holds requests to.
#[must_use]
pub(super) fn within(capability: Capability, items: usize) -> bool {
    items <= capability.max_batch
}
