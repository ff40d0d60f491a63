//! The one decorator of production. It refuses what a store lacks and annotates errors; it never splits (a caller that
//! streams chunks by `max_batch` keeps what succeeded) and never retries. Requests are taken apart without `..`: a new
//! field does not compile until it is weighed here.

use super::ask::within;
use super::{
    Backend, Capability, Change, Changed, Chore, Claim, Claimed, Conflict, Count, Depth, Error,
    Exchange, Exchanged, Features, Finding, Intent, Kind, Migrated, Op, Page, Patch, Peeked, Pick,
    QueueReport, Result, Run, Settle, Tended, Unit, Verdict, Watch,
};
use crate::queue::message::Ttl;
use crate::queue::retry::Settings;
use crate::queue::{Due, Enqueued, Group, NewMessage, QueueName, Selection};
use std::time::Duration;

/// A backend behind the checked door.
pub struct Checked {
    inner: Box<dyn Backend>,
    capability: Capability,
}

impl Checked {
    /// Puts a store behind the door.
    #[must_use]
    pub fn over(inner: Box<dyn Backend>) -> Self {
        let capability = inner.capability();
        Self { inner, capability }
    }

    fn allow(&self, need: Features, items: usize) -> Result<()> {
        let lacking = need.missing(self.capability.features);
        if let Some(name) = lacking.names().next() {
            let what = format!(
                "this store has no {}",
                name.to_lowercase().replace('_', " ")
            );
            return Err(Error::new(Kind::Unsupported, what).with("feature", name));
        }
        if within(self.capability, items) {
            Ok(())
        } else {
            Err(Error::bug(format!(
                "{items} items in one call; the store takes {}",
                self.capability.max_batch
            )))
        }
    }
}

/// An answer of another length than its question is the store's nonsense.
fn positional<T>(answer: Vec<T>, asked: usize) -> Result<Vec<T>> {
    if answer.len() == asked {
        Ok(answer)
    } else {
        Err(Error::bug(format!("the store answered {} of {asked}", answer.len())).maybe_done())
    }
}

fn needs_due(due: Due) -> Features {
    Features::DELAY.when(due != Due::Now)
}

fn needs_message(message: &NewMessage<'_>) -> Features {
    let NewMessage {
        queue: _,
        payload: _,
        key,
        group,
        priority,
        due,
        ttl,
        max_attempts: _,
        headers,
    } = message;
    Features::KEYS
        .when(key.is_some())
        .and(Features::GROUPS.when(group.is_some()))
        .and(Features::PRIORITY.when(*priority != 0))
        .and(needs_due(*due))
        .and(Features::TTL.when(ttl.is_some()))
        .and(Features::HEADERS.when(!headers.is_empty()))
        .and(Features::ZERO_BYTES.when(has_zero_byte(key.as_deref(), group.as_ref())))
}

fn has_zero_byte(key: Option<&str>, group: Option<&Group>) -> bool {
    key.into_iter()
        .chain(group.map(Group::as_str))
        .any(|text| text.contains('\0'))
}

/// Why a message cannot be meant as it is. An empty key would make every message that has one the same fact, an empty group
/// one line of all of them; a life that ends before its delay is a dead letter that looks like a success.
fn unsound(message: &NewMessage<'_>) -> Option<&'static str> {
    let group = message.group.as_ref().map(Group::as_str);
    if message.key.as_deref() == Some("") || group == Some("") {
        return Some("an empty key or group");
    }
    match (message.ttl, message.due) {
        (Some(Ttl::After(life)), Due::After(delay)) if life <= delay => {
            Some("a time to live that ends before its delay")
        }
        (Some(Ttl::After(Duration::ZERO)), _) => Some("a time to live of nothing"),
        _ => None,
    }
}

fn sound(batch: &[NewMessage<'_>]) -> Result<()> {
    let mut found = batch.iter().map(unsound).enumerate();
    match found.find_map(|(n, why)| Some((n, why?))) {
        None => Ok(()),
        Some((n, why)) => Err(Error::new(Kind::BadInput, why).with("line", n.to_string())),
    }
}

fn needs_settle(settle: &Settle<'_>) -> Features {
    let Settle {
        receipt: _,
        verdict,
        end: _,
    } = settle;
    match verdict {
        Verdict::Start => Features::START,
        Verdict::Extend(_) => Features::EXTEND,
        Verdict::Retry { due, charge: _ } => needs_due(*due),
        Verdict::Done | Verdict::Dead(_) | Verdict::Release => Features::NONE,
    }
}

fn needs_claim(claim: &Claim<'_>) -> Features {
    let Claim {
        queue: _,
        max: _,
        bytes: _,
        lease: _,
        start,
        max_attempts: _,
        pick,
    } = claim;
    let picked = match pick {
        Pick::Ready => Features::NONE,
        Pick::Dead { what: _, after: _ } => Features::CLAIM_SELECTED,
    };
    Features::START.when(*start).and(picked)
}

fn needs_change(change: &Change<'_>) -> Features {
    match change {
        Change::Requeue { due, to, reset: _ } => Features::REQUEUE
            .and(needs_due(*due))
            .and(Features::TRANSFER.when(to.is_some())),
        Change::Purge { free_keys: _ } => Features::PURGE,
    }
}

impl Backend for Checked {
    fn capability(&self) -> Capability {
        self.capability
    }

    fn migrate(&mut self, run: Run) -> Result<Migrated> {
        self.inner
            .migrate(run)
            .map_err(|error| error.with("call", "migrate"))
    }

    fn enqueue(&mut self, batch: &[NewMessage<'_>], unit: Unit) -> Result<Vec<Enqueued>> {
        let whole = match unit {
            Unit::Each => Features::NONE,
            Unit::Whole(Conflict::Skip | Conflict::Refuse) => Features::WHOLE,
        };
        self.allow(
            batch.iter().map(needs_message).fold(whole, Features::and),
            batch.len(),
        )?;
        sound(batch)?;
        let answer = self
            .inner
            .enqueue(batch, unit)
            .map_err(|error| error.with("call", "enqueue"))?;
        positional(answer, batch.len())
    }

    fn exchange(&mut self, turn: &Exchange<'_>) -> Result<Exchanged> {
        let Exchange { settle, claim } = turn;
        let need = settle
            .iter()
            .map(needs_settle)
            .fold(Features::NONE, Features::and);
        self.allow(
            need.and(claim.as_ref().map_or(Features::NONE, needs_claim)),
            settle.len(),
        )?;
        let max = claim.as_ref().map_or(0, |claim| claim.max);
        self.allow(Features::NONE, max)?;
        let Exchanged { settled, claimed } = self
            .inner
            .exchange(turn)
            .map_err(|error| error.with("call", "exchange"))?;
        let settled = positional(settled, settle.len())?;
        let claimed = claimed.and_then(|claimed: Claimed| {
            if claimed.got.len() <= max {
                Ok(claimed)
            } else {
                Err(Error::bug(format!(
                    "the store handed out {} of {max}",
                    claimed.got.len()
                ))
                .maybe_done())
            }
        });
        Ok(Exchanged {
            settled,
            claimed: claimed.map_err(|error| error.with("call", "claim")),
        })
    }

    fn watch(&mut self, queues: &[QueueName]) -> Result<Box<dyn Watch>> {
        self.inner
            .watch(queues)
            .map_err(|error| error.with("call", "watch"))
    }

    fn peek(&mut self, what: &Selection, page: &Page<'_>) -> Result<Peeked> {
        let Page {
            after: _,
            rows,
            bytes: _,
            scan: _,
            order: _,
            reverse: _,
            detail: _,
        } = page;
        self.allow(Features::PEEK, *rows)?;
        let peeked = self
            .inner
            .peek(what, page)
            .map_err(|error| error.with("call", "peek"))?;
        if peeked.rows.len() <= *rows {
            Ok(peeked)
        } else {
            Err(Error::bug(format!(
                "the store showed {} of {rows}",
                peeked.rows.len()
            )))
        }
    }

    fn count(&mut self, what: &Selection, cap: u64) -> Result<Count> {
        self.allow(Features::PEEK, 0)?;
        self.inner
            .count(what, cap)
            .map_err(|error| error.with("call", "count"))
    }

    fn begin(&mut self, intent: &Intent<'_>) -> Result<Op> {
        self.inner
            .begin(intent)
            .map_err(|error| error.with("call", "begin"))
    }

    fn change(
        &mut self,
        what: &Selection,
        change: &Change<'_>,
        op: &Op,
        page: &Page<'_>,
        run: Run,
    ) -> Result<Changed> {
        self.allow(needs_change(change), page.rows)?;
        if what.queue.is_none() {
            return Err(Error::bug("a change without a queue"));
        }
        let changed = self
            .inner
            .change(what, change, op, page, run)
            .map_err(|error| error.with("call", "change"))?;
        if changed.done.len() <= page.rows {
            Ok(changed)
        } else {
            let what = format!("the store changed {} of {}", changed.done.len(), page.rows);
            Err(Error::bug(what).maybe_done())
        }
    }

    fn stats(&mut self, queues: Option<&[QueueName]>, depth: Depth) -> Result<Vec<QueueReport>> {
        let reports = self
            .inner
            .stats(queues, depth)
            .map_err(|error| error.with("call", "stats"))?;
        match queues {
            Some(asked) => positional(reports, asked.len()),
            None => Ok(reports),
        }
    }

    fn configure(&mut self, queue: &QueueName, patch: &Patch) -> Result<Settings> {
        self.allow(Features::SETTINGS, 0)?;
        self.inner
            .configure(queue, patch)
            .map_err(|error| error.with("call", "configure"))
    }

    fn tend(&mut self, chore: Chore, budget: Duration) -> Result<Tended> {
        self.inner
            .tend(chore, budget)
            .map_err(|error| error.with("call", "tend"))
    }

    fn examine(&mut self) -> Result<Vec<Finding>> {
        self.inner
            .examine()
            .map_err(|error| error.with("call", "examine"))
    }
}
