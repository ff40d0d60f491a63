//! `requeue`: makes selected messages ready again.

use super::apply::{Guards, Job, States, Wording, want_selection};
use super::ctx::Ctx;
use super::fail::Outcome;
use super::select;
use crate::backend::Change;
use crate::queue::time::parse_duration;
use crate::queue::{Due, QueueName, State};
use std::time::Duration;

/// `requeue`
#[derive(clap::Args, Debug)]
#[command(
    after_help = "Dead letters where no state is named, the oldest first. A dead letter starts its attempts anew, without its time \
    to live. A message that is named by its id needs no question. A running one is passed over (7).\n\n\
    Examples:\n  qops requeue orders 88120\n  qops requeue orders --error 429 --older-than 1h --dry-run\n  \
    qops requeue orders --all --yes --delay 5m\n  \
    qops peek orders --group customer:7 -o id | qops requeue orders - --delay 5m"
)]
pub struct Args {
    /// The queue
    #[arg(value_name = "QUEUE")]
    pub queue: QueueName,
    /// Which messages.
    #[command(flatten)]
    pub select: select::Flags,
    /// All dead letters, or all of --state
    #[arg(long, help_heading = "Which messages")]
    pub all: bool,
    /// Ready after so long
    #[arg(long, value_name = "DURATION", value_parser = parse_duration, help_heading = "What becomes of them")]
    pub delay: Option<Duration>,
    /// Go on counting attempts where they were: one whose attempts are spent needs a higher --max-attempts to run
    #[arg(long, help_heading = "What becomes of them")]
    pub keep_attempts: bool,
    /// Dead letters whose time to live passed, too
    #[arg(long, help_heading = "Which messages")]
    pub expired: bool,
    /// What stands before the change.
    #[command(flatten)]
    pub guards: Guards,
}

/// Makes ready what is meant.
pub(super) fn run(args: &Args, ctx: &Ctx) -> Outcome {
    want_selection("requeue", &args.queue, args.all || args.select.is_given())?;
    let job = Job {
        ctx,
        wording: Wording {
            verb: "requeue",
            ask: "Requeue",
            past: "requeued",
            would: "would requeue",
        },
        queue: &args.queue,
        select: &args.select,
        guards: &args.guards,
        states: States {
            otherwise: &[State::Dead],
            always: false,
            skip_expired: !args.expired,
        },
        change: Change::Requeue {
            due: args.delay.map_or(Due::Now, Due::After),
            to: None,
            reset: !args.keep_attempts,
        },
        always_ask: false,
    };
    job.run()
}
