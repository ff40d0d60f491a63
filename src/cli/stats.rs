//! `stats`: counts and ages of some queues, or of all.

use super::ctx::Ctx;
use super::fail::{Fail, Outcome};
use super::queues::{columns, reading};
use super::report::Report;
use super::suggest;
use crate::backend::{Depth, QueueReport};
use crate::queue::QueueName;
use crate::ui::{Natural, Shape, Stream};

/// `stats`
#[derive(clap::Args, Debug)]
#[command(
    after_help = "OLDEST: how long the oldest ready message could have run already. \
    A count with ~ is an estimate.\n\n\
    Examples:\n  qops stats orders\n  qops stats --exact -o ndjson | jq 'select(.dead > 0)'"
)]
pub struct Args {
    /// The queues; all of them where none is named
    #[arg(value_name = "QUEUE")]
    pub queues: Vec<QueueName>,
    /// Count every message, however long it takes
    #[arg(long)]
    pub exact: bool,
}

/// Prints the counts.
pub(super) fn run(args: &Args, ctx: &Ctx) -> Outcome {
    let plan = ctx.plan::<QueueReport>(Natural::Records, Shape::Many)?;
    let depth = if args.exact {
        Depth::Exact
    } else {
        Depth::Quick
    };
    let mut report = Report::default();
    let reports = if args.queues.is_empty() {
        match reading(ctx)? {
            Some(mut store) => store.stats(None, depth)?,
            None => vec![],
        }
    } else {
        let mut store = ctx.read()?;
        let mut reports = vec![];
        for queue in &args.queues {
            match store.stats(Some(std::slice::from_ref(queue)), depth) {
                Ok(found) => {
                    report.done += 1;
                    reports.extend(found);
                }
                Err(error) => report.fail(ctx, &suggest::explained(Fail::from(error), ctx)),
            }
        }
        reports
    };
    if let Some(plan) = plan {
        let mut stream = Stream::new(&ctx.ui, plan, columns(&reports, true));
        for report in &reports {
            stream.push(report)?;
        }
        stream.finish()?;
    }
    Ok(report.code())
}
