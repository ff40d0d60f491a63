//! `queues`: every queue with its counts.

use super::ctx::Ctx;
use super::exit::Code;
use super::fail::{Fail, Outcome};
use crate::backend::{Backend, Depth, Kind, QueueReport};
use crate::queue::record::{Record, Value};
use crate::queue::time::age_text;
use crate::ui::text::{counted, grouped};
use crate::ui::{Align, Cell, Column, Fit, Natural, Row, Shape, Shown, Stream, Tone};

/// `queues`
#[derive(clap::Args, Debug)]
#[command(
    after_help = "A count with ~ is an estimate; qops stats --exact counts them all.\n\n\
    Examples:\n  qops queues\n  qops ls -o id | while read -r q; do qops peek \"$q\" --dead; done"
)]
pub struct Args {}

/// Prints every queue.
pub(super) fn run(_: &Args, ctx: &Ctx) -> Outcome {
    let plan = ctx.plan::<QueueReport>(Natural::Records, Shape::Many)?;
    let reports = match reading(ctx)? {
        Some(mut store) => store.stats(None, Depth::Quick)?,
        None => vec![],
    };
    if let Some(plan) = plan {
        let mut stream = Stream::new(&ctx.ui, plan, columns(&reports, false));
        for report in &reports {
            stream.push(report)?;
        }
        stream.finish()?;
    }
    Ok(Code::Done)
}

/// A reading handle; none where there is no store yet, which to a verb that names no queue is an empty one.
pub(super) fn reading(ctx: &Ctx) -> Result<Option<Box<dyn Backend>>, Fail> {
    match ctx.read() {
        Ok(store) => Ok(Some(store)),
        Err(Fail::Store(error))
            if error.kind() == Kind::NotFound && error.context("store").is_some() =>
        {
            ctx.ui.detail(error);
            Ok(None)
        }
        Err(fail) => Err(fail),
    }
}

impl Row for QueueReport {
    const FIELDS: &'static [&'static str] = &[
        "v",
        "queue",
        "ready",
        "delayed",
        "blocked",
        "running",
        "dead",
        "oldest_ready_seconds",
        "expired_leases",
        "paused",
        "exact",
    ];

    fn record(&self) -> Record {
        Record::new()
            .with("queue", Value::text(&self.queue))
            .with("ready", Value::Int(self.counts.ready))
            .with("delayed", Value::Int(self.counts.delayed))
            .with("blocked", Value::Int(self.counts.blocked))
            .with("running", Value::Int(self.counts.running))
            .with("dead", Value::Int(self.counts.dead))
            .with_some(
                "oldest_ready_seconds",
                self.oldest_ready.map(Value::seconds),
            )
            .with("expired_leases", Value::Int(self.expired_leases))
            .with("paused", Value::Bool(self.settings.paused))
            .with("exact", Value::Bool(self.exact))
    }

    fn id(&self) -> &str {
        self.queue.as_str()
    }
}

/// The columns; those that would have nothing to say are left out, unless `all`.
pub(super) fn columns<'a>(reports: &[QueueReport], all: bool) -> Vec<Column<'a, QueueReport>> {
    type Number = fn(&QueueReport) -> u64;
    let count = |title, tone, of: Number| {
        Column::new(
            title,
            Align::Right,
            Fit::Whole,
            move |report: &QueueReport| {
                let number = of(report);
                let estimate = if report.exact || number == 0 { "" } else { "~" };
                let cell = Cell::new(Shown::new(format!("{estimate}{}", grouped(number))));
                cell.tone(if number == 0 { Tone::Plain } else { tone })
            },
        )
    };
    let any = |has: fn(&QueueReport) -> bool| all || reports.iter().any(has);
    let mut columns = vec![
        Column::new("QUEUE", Align::Left, Fit::Whole, |report: &QueueReport| {
            Cell::new(Shown::new(&report.queue))
        }),
        count("READY", Tone::Plain, |report| report.counts.ready),
        count("DELAYED", Tone::Plain, |report| report.counts.delayed),
    ];
    if any(|report| report.counts.blocked > 0) {
        columns.push(count("BLOCKED", Tone::Plain, |report| {
            report.counts.blocked
        }));
    }
    columns.push(count("RUNNING", Tone::Plain, |report| {
        report.counts.running
    }));
    columns.push(count("DEAD", Tone::Bad, |report| report.counts.dead));
    columns.push(Column::new(
        "OLDEST",
        Align::Left,
        Fit::Whole,
        |report: &QueueReport| {
            Cell::new(Shown::new(
                report.oldest_ready.map_or("-".to_owned(), age_text),
            ))
        },
    ));
    if reports.iter().any(|report| !notes(report).is_empty()) {
        columns.push(Column::new(
            "NOTE",
            Align::Left,
            Fit::Whole,
            |report: &QueueReport| Cell::new(Shown::new(notes(report))).tone(Tone::Warn),
        ));
    }
    columns
}

fn notes(report: &QueueReport) -> String {
    let mut notes = vec![];
    if report.settings.paused {
        notes.push("paused".to_owned());
    }
    if report.expired_leases > 0 {
        // Whoever claims next takes them back; until then they are not being worked on.
        let leases = counted(report.expired_leases, "lease has", "leases have");
        notes.push(format!("{leases} ended"));
    }
    notes.join(", ")
}
