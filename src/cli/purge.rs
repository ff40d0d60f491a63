//! `purge`: deletes selected messages.

use super::apply::{Guards, Job, States, Wording, want_selection};
use super::ctx::Ctx;
use super::fail::Outcome;
use super::select;
use crate::backend::Change;
use crate::queue::{QueueName, State};

/// `purge`
#[derive(clap::Args, Debug)]
#[command(
    after_help = "What is ready, delayed and blocked where no state is named; running messages only with --state running. Always \
    asks, ids too. What is purged is gone.\n\n\
    Examples:\n  qops purge orders 88120\n  qops purge orders --dead --older-than 30d --dry-run\n  \
    qops purge orders --all --yes --expect 217"
)]
pub struct Args {
    /// The queue
    #[arg(value_name = "QUEUE")]
    pub queue: QueueName,
    /// Which messages.
    #[command(flatten)]
    pub select: select::Flags,
    /// All that is ready, delayed and blocked, or all of --state
    #[arg(long, help_heading = "Which messages")]
    pub all: bool,
    /// Keep the keys taken for the queue's window, as after done
    #[arg(long, help_heading = "What becomes of them")]
    pub keep_keys: bool,
    /// What stands before the change.
    #[command(flatten)]
    pub guards: Guards,
}

/// Deletes what is meant.
pub(super) fn run(args: &Args, ctx: &Ctx) -> Outcome {
    want_selection("purge", &args.queue, args.all || args.select.is_given())?;
    let job = Job {
        ctx,
        wording: Wording {
            verb: "purge",
            ask: "Delete",
            past: "deleted",
            would: "would delete",
        },
        queue: &args.queue,
        select: &args.select,
        guards: &args.guards,
        states: States {
            otherwise: &[State::Ready, State::Delayed, State::Blocked],
            always: false,
            skip_expired: false,
        },
        change: Change::Purge {
            free_keys: !args.keep_keys,
        },
        always_ask: true,
    };
    job.run()
}
