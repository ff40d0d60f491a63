//! `ack`: a claimed message is done.

use super::ctx::Ctx;
use super::fail::Outcome;
use super::receipts::{self, Words};
use crate::backend::Verdict;

/// `ack`
#[derive(clap::Args, Debug)]
#[command(
    after_help = "A receipt is good until its lease ends or the message is claimed again. One that is stale or used changes \
    nothing (7).\n\n\
    Examples:\n  qops ack \"$receipt\"\n  qops claim jobs -n 100 | tee batch | process && qops ack - < batch"
)]
pub struct Args {
    /// Receipts from claim; - reads them, or claim's records, from standard input, one a line
    #[arg(required = true, value_name = "RECEIPT")]
    pub receipts: Vec<String>,
}

/// Acknowledges each.
pub(super) fn run(args: &Args, ctx: &Ctx) -> Outcome {
    let receipts = receipts::read(&args.receipts, std::io::stdin().lock());
    let words = Words {
        verb: "ack",
        past: "acknowledged",
    };
    receipts::settle(ctx, &words, receipts, |_, batch| {
        Ok(batch.iter().map(|_| (Verdict::Done, None)).collect())
    })
}
