//! What a writing verb did: item by item while it runs, one record and one exit code at its end.

use super::ctx::Ctx;
use super::exit::Code;
use super::fail::Fail;
use crate::queue::QueueName;
use crate::queue::record::{self, Record};
use crate::ui::{Natural, Plan, Row, Shape, Stream};
use std::collections::BTreeMap;

/// The exit code of many items: how many are done, and with which codes the others ended.
#[must_use]
pub fn classify(done: u64, others: &BTreeMap<Code, u64>) -> Code {
    let mut codes = others.iter().filter(|(_, count)| **count > 0);
    match (codes.next(), codes.next()) {
        (None, _) => Code::Done,
        (Some((code, _)), None) if done == 0 => *code,
        _ => Code::Partly,
    }
}

/// Counts what became of each item.
#[derive(Debug, Default)]
pub struct Report {
    /// Items that are done.
    pub done: u64,
    /// Items that failed, by the code each ended with.
    pub failed: BTreeMap<Code, u64>,
    /// Items that were passed over.
    pub skipped: u64,
}

impl Report {
    /// One item failed: it is named, and counted.
    pub fn fail(&mut self, ctx: &Ctx, fail: &Fail) {
        ctx.complain(fail);
        self.count(fail);
    }

    /// One item failed, and was named already.
    pub fn count(&mut self, fail: &Fail) {
        *self.failed.entry(fail.code()).or_default() += 1;
    }

    /// One item stands in the way of what was asked: it is named, and counted.
    pub fn skip(&mut self, ctx: &Ctx, fail: &Fail) {
        ctx.complain(fail);
        self.skipped += 1;
    }

    /// Items that failed.
    #[must_use]
    pub fn failed(&self) -> u64 {
        self.failed.values().sum()
    }

    /// Items that were passed over.
    #[must_use]
    pub fn skipped(&self) -> u64 {
        self.skipped
    }

    /// The exit code of all of it. What was passed over is a conflict.
    #[must_use]
    pub fn code(&self) -> Code {
        let mut others = self.failed.clone();
        *others.entry(Code::Conflict).or_default() += self.skipped;
        classify(self.done, &others)
    }

    /// The exit code of what failed alone; what was passed over is only said.
    #[must_use]
    pub fn code_of_failures(&self) -> Code {
        classify(self.done, &self.failed)
    }

    /// The record.
    #[must_use]
    pub fn did<'a>(
        &self,
        verb: &'static str,
        queue: impl Into<Option<&'a QueueName>>,
        matched: u64,
    ) -> Did<'a> {
        Did {
            verb,
            queue: queue.into(),
            matched,
            done: self.done,
            failed: self.failed(),
            skipped: self.skipped,
        }
    }
}

/// What a writing verb did, as a record.
#[derive(Clone, Copy, Debug)]
pub struct Did<'a> {
    /// The verb.
    pub verb: &'static str,
    /// In which queue; none where it was told of receipts alone.
    pub queue: Option<&'a QueueName>,
    /// Items that were meant.
    pub matched: u64,
    /// Items that are done.
    pub done: u64,
    /// Items that failed.
    pub failed: u64,
    /// Items that were passed over.
    pub skipped: u64,
}

impl Did<'_> {
    /// How it will be printed: only with `-o`.
    ///
    /// # Errors
    /// A format or a field that does not fit.
    pub fn plan(ctx: &Ctx, shape: Shape) -> Result<Option<Plan>, Fail> {
        ctx.plan::<Did<'_>>(Natural::Nothing, shape)
    }
}

impl Row for Did<'_> {
    const FIELDS: &'static [&'static str] =
        &["v", "verb", "queue", "matched", "done", "failed", "skipped"];

    fn record(&self) -> Record {
        record::summary(
            self.verb,
            self.queue,
            self.matched,
            self.done,
            self.failed,
            self.skipped,
        )
    }

    fn id(&self) -> &str {
        self.queue.map_or("", QueueName::as_str)
    }
}

/// Prints what was done, if it was asked for. A table of it shows every field.
///
/// # Errors
/// It could not be written.
pub fn print(ctx: &Ctx, plan: Option<Plan>, dids: &[Did<'_>]) -> Result<(), Fail> {
    let Some(plan) = plan else {
        return Ok(());
    };
    let mut stream = Stream::new(&ctx.ui, plan, columns());
    for did in dids {
        stream.push(did)?;
    }
    stream.finish()?;
    Ok(())
}

fn columns<'a, 'd>() -> Vec<crate::ui::Column<'a, Did<'d>>> {
    use crate::ui::{Align, Cell, Column, Fit, Shown};
    let number = |title, of: fn(&Did<'_>) -> u64| {
        Column::new(title, Align::Right, Fit::Whole, move |did: &Did<'d>| {
            Cell::number(of(did))
        })
    };
    vec![
        Column::new("VERB", Align::Left, Fit::Whole, |did: &Did<'d>| {
            Cell::new(Shown::new(did.verb))
        }),
        Column::new("QUEUE", Align::Left, Fit::Whole, |did: &Did<'d>| {
            Cell::new(Shown::new(did.queue.map_or("", QueueName::as_str)))
        }),
        number("MATCHED", |did| did.matched),
        number("DONE", |did| did.done),
        number("FAILED", |did| did.failed),
        number("SKIPPED", |did| did.skipped),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_items_have_one_code() {
        for (done, others, expected) in [
            (0, vec![], 0),
            (5, vec![], 0),
            (0, vec![(Code::NotFound, 1)], 6),
            (0, vec![(Code::NotFound, 9)], 6),
            (1, vec![(Code::NotFound, 1)], 3),
            (0, vec![(Code::NotFound, 1), (Code::Conflict, 1)], 3),
            (4, vec![(Code::NotFound, 1), (Code::Conflict, 1)], 3),
            (0, vec![(Code::Conflict, 0)], 0),
            (7, vec![(Code::Conflict, 0)], 0),
        ] {
            let others = others.into_iter().collect();
            assert_eq!(
                classify(done, &others).number(),
                expected,
                "{done} {others:?}"
            );
        }
    }

    #[test]
    fn what_is_passed_over_is_a_conflict() {
        let mut report = Report {
            skipped: 2,
            ..Report::default()
        };
        assert_eq!(report.code(), Code::Conflict);
        report.done = 1;
        assert_eq!(report.code(), Code::Partly);
    }
}
