//! The two walks: one that changes, one that looks. Neither prints; each tells its caller after every chunk.

use crate::backend::{Backend, Change, Changed, Detail, Error, Op, Page, Result, Run};
use crate::queue::{Cursor, Message, MessageId, Order, Selection};

/// So many messages are changed in one transaction: large enough that the commit's cost is small, small enough that
/// other writers wait for tens of milliseconds.
const CHUNK: usize = 5_000;
/// So many are looked at in it, for the same reason.
const SCAN: usize = 10_000;

/// A change over a selection.
#[derive(Clone, Copy, Debug)]
pub struct Walk<'a> {
    /// Which messages; a queue is named.
    pub what: &'a Selection,
    /// What is done to each.
    pub change: &'a Change<'a>,
    /// Under which operation.
    pub op: &'a Op,
    /// At most so many are changed.
    pub limit: Option<u64>,
    /// From the newest on.
    pub reverse: bool,
    /// Whether it is done or only shown.
    pub run: Run,
}

/// Why a walk ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// All that is meant was seen, or the limit was reached.
    Complete,
    /// The caller said stop; run again, it goes on.
    Stopped,
}

/// What a walk did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Report {
    /// Messages changed.
    pub done: u64,
    /// Messages that could not be.
    pub skipped: u64,
    /// Why it ended.
    pub ended: Ended,
}

/// Changes what is meant, chunk by chunk. After each chunk `heard` is told what it did and answers whether to go on.
/// The limit counts what was changed; what was skipped does not use it up.
///
/// # Errors
/// The store's error, with what had been done before it; the chunk that failed did nothing.
pub fn change(
    store: &mut dyn Backend,
    walk: &Walk<'_>,
    heard: &mut dyn FnMut(&Changed) -> bool,
) -> std::result::Result<Report, (Report, Error)> {
    let mut report = Report {
        done: 0,
        skipped: 0,
        ended: Ended::Complete,
    };
    let chunk = CHUNK.min(store.capability().max_batch);
    let mut after: Option<Cursor> = None;
    loop {
        let rows = match walk.limit {
            Some(limit) => {
                chunk.min(usize::try_from(limit.saturating_sub(report.done)).unwrap_or(chunk))
            }
            None => chunk,
        };
        if rows == 0 {
            return Ok(report);
        }
        let page = Page {
            after: after.as_ref(),
            reverse: walk.reverse,
            scan: SCAN,
            ..Page::first(rows, Order::Oldest)
        };
        let changed = store
            .change(walk.what, walk.change, walk.op, &page, walk.run)
            .map_err(|error| (report, error))?;
        report.done += changed.done.len() as u64;
        report.skipped += changed.skipped.len() as u64;
        let go_on = heard(&changed);
        match changed.next {
            None => return Ok(report),
            Some(_) if !go_on => {
                return Ok(Report {
                    ended: Ended::Stopped,
                    ..report
                });
            }
            Some(next) => after = Some(next),
        }
    }
}

/// How a look goes through its messages.
#[derive(Clone, Copy, Debug)]
pub struct Look<'a> {
    /// Which messages.
    pub what: &'a Selection,
    /// In this order.
    pub order: Order,
    /// From its other end.
    pub reverse: bool,
    /// At most so many.
    pub limit: Option<u64>,
    /// How much of each.
    pub detail: Detail,
}

/// What a look saw.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Looked {
    /// Messages shown.
    pub shown: u64,
    /// Ids that were asked for, were issued once, and are no longer here.
    pub gone: Vec<MessageId>,
}

/// Hands every message that is meant to `show`, page by page, so that nothing stays open in the store while the reader
/// is slow; `show` answers whether to go on.
///
/// # Errors
/// The store's error, or what `show` answers.
pub fn look(
    store: &mut dyn Backend,
    look: &Look<'_>,
    show: &mut dyn FnMut(Message) -> Result<bool>,
) -> Result<Looked> {
    const ROWS: usize = 500;
    let rows = ROWS.min(store.capability().max_batch);
    let mut looked = Looked::default();
    let mut after: Option<Cursor> = None;
    loop {
        let left = look.limit.map_or(u64::MAX, |limit| limit - looked.shown);
        if left == 0 {
            return Ok(looked);
        }
        let page = Page {
            after: after.as_ref(),
            reverse: look.reverse,
            detail: look.detail,
            ..Page::first(rows.min(usize::try_from(left).unwrap_or(rows)), look.order)
        };
        let peeked = store.peek(look.what, &page)?;
        looked.gone.extend(peeked.gone);
        for message in peeked.rows {
            looked.shown += 1;
            if !show(message)? {
                return Ok(looked);
            }
        }
        match peeked.next {
            None => return Ok(looked),
            Some(next) => after = Some(next),
        }
    }
}
