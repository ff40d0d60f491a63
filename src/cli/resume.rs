//! `resume`: a paused queue is handed out again.

use super::ctx::Ctx;
use super::fail::Outcome;
use super::pause;
use crate::queue::QueueName;

/// `resume`
#[derive(clap::Args, Debug)]
#[command(after_help = "Example:\n  qops resume orders")]
pub struct Args {
    /// The queues
    #[arg(required = true, value_name = "QUEUE")]
    pub queues: Vec<QueueName>,
}

/// Lets each queue go on.
pub(super) fn run(args: &Args, ctx: &Ctx) -> Outcome {
    pause::set(ctx, "resume", &args.queues, false)
}
