//! `pause`: nothing of a queue is handed out.

use super::ctx::Ctx;
use super::fail::Outcome;
use super::report::{self, Did, Report};
use crate::backend::{Patch, Setting};
use crate::queue::QueueName;
use crate::ui::Shape;

/// `pause`
#[derive(clap::Args, Debug)]
#[command(
    after_help = "Workers finish what they run and take nothing more; enqueue goes on.\n\n\
    Example:\n  qops pause orders"
)]
pub struct Args {
    /// The queues
    #[arg(required = true, value_name = "QUEUE")]
    pub queues: Vec<QueueName>,
}

/// Pauses each queue.
pub(super) fn run(args: &Args, ctx: &Ctx) -> Outcome {
    set(ctx, "pause", &args.queues, true)
}

/// Pauses queues, or lets them go on: each for itself.
pub(super) fn set(ctx: &Ctx, verb: &'static str, queues: &[QueueName], paused: bool) -> Outcome {
    let shape = if queues.len() == 1 {
        Shape::One
    } else {
        Shape::Many
    };
    let plan = Did::plan(ctx, shape)?;
    let place = ctx.place()?;
    let mut store = ctx.write()?;
    let mut all = Report::default();
    let mut dids = vec![];
    for queue in queues {
        let mut one = Report::default();
        match store.configure(queue, &Patch::Change(vec![Setting::Paused(paused)])) {
            Ok(_) => {
                one.done = 1;
                all.done += 1;
                ctx.ui.say(format!("{verb}d {queue} ({place})"));
            }
            Err(error) => {
                let fail = super::suggest::explained(error.into(), ctx);
                one.fail(ctx, &fail);
                all.count(&fail);
            }
        }
        dids.push(one.did(verb, queue, 1));
    }
    report::print(ctx, plan, &dids)?;
    Ok(all.code())
}
