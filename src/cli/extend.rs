//! `extend`: a claimed message is held longer.

use super::ctx::Ctx;
use super::fail::Outcome;
use super::receipts::{self, Words};
use crate::backend::Verdict;
use std::time::Duration;

/// `extend`
#[derive(clap::Args, Debug)]
#[command(
    after_help = "The new lease counts from now. A receipt that is stale changes nothing (7): somebody else may have the message.\n\n\
    Example:\n  qops extend \"$receipt\" --lease 5m"
)]
pub struct Args {
    /// Receipts from claim; - reads them, or claim's records, from standard input, one a line
    #[arg(required = true, value_name = "RECEIPT")]
    pub receipts: Vec<String>,
    /// Hold it so long from now
    #[arg(long, value_name = "DURATION", value_parser = super::queue::lease)]
    pub lease: Duration,
}

/// Extends each.
pub(super) fn run(args: &Args, ctx: &Ctx) -> Outcome {
    let receipts = receipts::read(&args.receipts, std::io::stdin().lock());
    let words = Words {
        verb: "extend",
        past: "extended",
    };
    let verdict = Verdict::Extend(args.lease);
    receipts::settle(ctx, &words, receipts, |_, batch| {
        Ok(batch.iter().map(|_| (verdict, None)).collect())
    })
}
