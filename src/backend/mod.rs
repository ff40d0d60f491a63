//! The contract between the tool and a store, and everything that keeps it honest.
//!
//! A store is a [`Backend`]; the rest of the tool holds it behind [`checked::Checked`]. Results are positional and as
//! long as their input. Items are atomic; batches are where the store has [`Features::WHOLE`]. Every call is safe to
//! repeat. Nothing here prints.

pub mod ask;
pub mod checked;
#[cfg(any(feature = "sqlite", feature = "postgres"))]
mod cursor;
pub mod error;
pub mod feature;
#[cfg(feature = "postgres")]
pub mod postgres;
#[cfg(any(feature = "sqlite", feature = "postgres"))]
mod receipt;
pub mod registry;
#[cfg(feature = "sqlite")]
pub mod sqlite;
pub mod target;

pub use ask::{
    Access, Change, Changed, Chore, Claim, Claimed, Conflict, Count, Depth, Detail, Exchange,
    Exchanged, Finding, Intent, Migrated, Op, OpenOptions, Page, Patch, Peeked, Pick, QueueReport,
    Run, Setting, Settle, Settled, Standing, Tended, Unit, Verdict,
};
pub use checked::Checked;
pub use error::{Effect, Error, Kind, Result};
pub use feature::{Capability, Features};
pub use registry::{Driver, Opened};
pub use target::{Durability, Journal, PostgresServer, SqliteFile, Target};

use crate::queue::retry::Settings;
use crate::queue::{Enqueued, NewMessage, QueueName, Selection};
use std::time::Duration;

/// A store of queues. Object-safe, synchronous, one connection a handle.
pub trait Backend: Send {
    /// What every queue of this handle can do, and its limits. Constant for a handle; asks nobody. What a store lacks it
    /// refuses with [`Kind::Unsupported`] before any effect.
    fn capability(&self) -> Capability;

    /// Brings the schema to this program's version. Idempotent; safe when 32 processes run it at once. A newer schema is
    /// [`Kind::Schema`] and is left as it is. [`Run::Dry`] changes nothing and answers the statements.
    ///
    /// # Errors
    /// Any kind; nothing is half done.
    fn migrate(&mut self, run: Run) -> Result<Migrated>;

    /// Stores messages, in order; a queue that is not there yet comes into being. Of equal keys in one batch the first
    /// is new, the others are its duplicates. An empty key or group is [`Kind::BadInput`], before any effect (context `line` =
    /// its index from 0), and so is a time to live of nothing, or one that ends before its delay; instants stand as they are, since
    /// a record may have been due after its end. [`Unit::Each`]: an error tells by its effect whether some may stand, and ids
    /// come with `Ok` alone. [`Unit::Whole`]: all or none, never split; with [`Conflict::Refuse`] a duplicate refuses
    /// the whole ([`Kind::Conflict`], context `line` = its index from 0, `id` = the message that has the key).
    ///
    /// # Errors
    /// Any kind.
    fn enqueue(&mut self, batch: &[NewMessage<'_>], unit: Unit) -> Result<Vec<Enqueued>>;

    /// The worker's one round trip: settles, then claims, in one transaction where the store has them. Never blocks on
    /// an empty queue. A settle that took is never hidden by a claim's error, which stands inside the answer.
    ///
    /// Each verdict counts while its receipt is good: until the lease ends by the store's clock or the message was
    /// claimed again. After that it changes nothing and answers [`Settled::LeaseLost`] or [`Settled::Gone`].
    ///
    /// # Errors
    /// `Err` means that no settle is known to have happened; the call may be repeated as it is. A store that is full
    /// ([`Kind::Full`]) still takes a turn of [`Verdict::Done`] alone, without a claim.
    fn exchange(&mut self, turn: &Exchange<'_>) -> Result<Exchanged>;

    /// A bell for these queues, owned by the caller and waited on by a thread of its own. It rings once at first, and
    /// after any gap in its own registration; what comes in between is never missed.
    ///
    /// # Errors
    /// The bell could not be hung; the caller polls.
    fn watch(&mut self, queues: &[QueueName]) -> Result<Box<dyn Watch>>;

    /// Looks; changes nothing, not even a counter; works on a replica and in a read-only file. A page is bounded by
    /// rows, bytes and rows looked at: it may be empty with a `next`; only no `next` is the end. Nothing stays open
    /// between pages. An unknown queue is [`Kind::NotFound`]. With `ids` and no such message, `gone` names those that
    /// were issued once.
    ///
    /// # Errors
    /// Any kind.
    fn peek(&mut self, what: &Selection, page: &Page<'_>) -> Result<Peeked>;

    /// How many are meant: exact up to `cap`, then `cap` and not exact.
    ///
    /// # Errors
    /// As [`Self::peek`].
    fn count(&mut self, what: &Selection, cap: u64) -> Result<Count>;

    /// Opens an operation: who, why. Answers its number and the store's now (a drain takes what was dead by then).
    /// Writes nothing yet.
    ///
    /// # Errors
    /// Any kind.
    fn begin(&mut self, intent: &Intent<'_>) -> Result<Op>;

    /// One chunk of a change over what is meant (a queue must be named), in one transaction, in the order of the page;
    /// every condition is tested again in the write. What cannot be changed stands in `skipped` with its reason; ids
    /// that are not there, or stand in a state that is not meant, are in neither list. Repeated with the same cursor it
    /// changes nothing twice. [`Run::Dry`] changes nothing and answers what it would do.
    ///
    /// # Errors
    /// Any kind; nothing of the chunk is done.
    fn change(
        &mut self,
        what: &Selection,
        change: &Change<'_>,
        op: &Op,
        page: &Page<'_>,
        run: Run,
    ) -> Result<Changed>;

    /// Names, settings and counts; of all queues, sorted by name, or of these in their order (an unknown one is
    /// [`Kind::NotFound`], context `queue`). [`Depth::Quick`] answers within 50 ms at ten million messages and says
    /// where a count is an estimate; [`Depth::Names`] counts nothing.
    ///
    /// # Errors
    /// Any kind.
    fn stats(&mut self, queues: Option<&[QueueName]>, depth: Depth) -> Result<Vec<QueueReport>>;

    /// Creates a queue or patches its settings, or removes it; answers what is in force. Removing one that has a message
    /// of any state, dead letters too, is [`Kind::Refused`]; one that is not there [`Kind::NotFound`].
    ///
    /// # Errors
    /// Any kind; nothing of the patch is done.
    fn configure(&mut self, queue: &QueueName, patch: &Patch) -> Result<Settings>;

    /// Housekeeping within a budget: expired messages become dead letters, key windows end, the journal is taken in.
    /// `more`: the budget ended first.
    ///
    /// # Errors
    /// Any kind.
    fn tend(&mut self, chore: Chore, budget: Duration) -> Result<Tended>;

    /// What is wrong with the store, what it means, and the command that mends it. Changes nothing.
    ///
    /// # Errors
    /// The store could not be looked at.
    fn examine(&mut self) -> Result<Vec<Finding>>;
}

/// A bell. It may ring for nothing: correctness rests on the poll underneath.
pub trait Watch: Send {
    /// Returns when something may have come, or after `timeout`; at once the first time and after any gap in its own
    /// registration. What came since the last return is never missed.
    ///
    /// # Errors
    /// The bell is broken; hang a new one.
    fn wait(&mut self, timeout: Duration) -> Result<Ring>;
}

/// Why a bell's wait ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ring {
    /// Something may have come.
    Rang,
    /// Time passed.
    Quiet,
}
