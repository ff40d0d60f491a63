//! Tables on a Postgres server, that many machines share.
//!
//! What a worker does often is a function on the server (`sql/define`): one round trip, one transaction, and plans that
//! are kept there, where no pooler is in their way. All statements are sent unnamed and typed.

/// The text of a statement.
macro_rules! sql {
    ($name:literal) => {
        include_str!(concat!("sql/", $name, ".sql"))
    };
}

mod bell;
mod care;
mod change;
mod configure;
mod conn;
mod connect;
mod enqueue;
mod examine;
mod exchange;
mod heads;
mod letters;
mod look;
mod passfile;
mod row;
mod scan;
mod schema;
mod stats;
mod tls;
mod value;

use super::{
    Backend, Capability, Change, Changed, Chore, Count, Depth, Driver, Exchange, Exchanged,
    Features, Finding, Intent, Migrated, Op, OpenOptions, Opened, Page, Patch, Peeked, QueueReport,
    Result, Run, Target, Tended, Unit, Watch,
};
use crate::queue::retry::Settings;
use crate::queue::{Enqueued, NewMessage, QueueName, Selection};
use conn::Store;
use std::time::Duration;

/// `postgres://`.
pub const DRIVER: Driver = Driver {
    schemes: &["postgres"],
    open,
};

fn open(target: &Target, options: &OpenOptions) -> Result<Opened> {
    Ok(Opened {
        backend: Box::new(Store::open(target, options)?),
        created: false,
    })
}

/// The statements that give others their rights in a schema.
#[must_use]
pub fn grants(schema: &str) -> String {
    schema::grants(schema)
}

/// A server can do nearly all that there is.
const FEATURES: Features = Features::KEYS
    .and(Features::GROUPS)
    .and(Features::PRIORITY)
    .and(Features::DELAY)
    .and(Features::TTL)
    .and(Features::HEADERS)
    .and(Features::WHOLE)
    .and(Features::START)
    .and(Features::EXTEND)
    .and(Features::PORTABLE_RECEIPT)
    .and(Features::CLAIM_SELECTED)
    .and(Features::PEEK)
    .and(Features::REQUEUE)
    .and(Features::TRANSFER)
    .and(Features::PURGE)
    .and(Features::HISTORY)
    .and(Features::SETTINGS)
    .and(Features::BELL)
    .and(Features::DUE_ORDER);

impl Backend for Store {
    fn capability(&self) -> Capability {
        Capability {
            features: FEATURES,
            max_batch: 20_000,
            max_bytes: 256 << 20,
            aim_bytes: 4 << 20,
        }
    }

    fn migrate(&mut self, run: Run) -> Result<Migrated> {
        schema::migrate(self, run)
    }

    fn enqueue(&mut self, batch: &[NewMessage<'_>], unit: Unit) -> Result<Vec<Enqueued>> {
        enqueue::enqueue(self, batch, unit)
    }

    fn exchange(&mut self, turn: &Exchange<'_>) -> Result<Exchanged> {
        exchange::exchange(self, turn)
    }

    fn watch(&mut self, queues: &[QueueName]) -> Result<Box<dyn Watch>> {
        bell::watch(self, queues)
    }

    fn peek(&mut self, what: &Selection, page: &Page<'_>) -> Result<Peeked> {
        look::peek(self, what, page)
    }

    fn count(&mut self, what: &Selection, cap: u64) -> Result<Count> {
        look::count(self, what, cap)
    }

    fn begin(&mut self, intent: &Intent<'_>) -> Result<Op> {
        change::begin(self, intent)
    }

    fn change(
        &mut self,
        what: &Selection,
        change: &Change<'_>,
        _: &Op,
        page: &Page<'_>,
        run: Run,
    ) -> Result<Changed> {
        change::change(self, what, change, page, run)
    }

    fn stats(&mut self, queues: Option<&[QueueName]>, depth: Depth) -> Result<Vec<QueueReport>> {
        stats::stats(self, queues, depth)
    }

    fn configure(&mut self, queue: &QueueName, patch: &Patch) -> Result<Settings> {
        configure::configure(self, queue, patch)
    }

    fn tend(&mut self, chore: Chore, budget: Duration) -> Result<Tended> {
        care::tend(self, chore, budget)
    }

    fn examine(&mut self) -> Result<Vec<Finding>> {
        examine::examine(self)
    }
}
