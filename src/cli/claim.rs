//! `claim`: takes messages under a lease.

use super::buried::Buried;
use super::ctx::Ctx;
use super::exit::Code;
use super::fail::{Fail, Outcome};
use super::queue::{at_least_one, lease};
use crate::backend::{Backend, Claim, Claimed, Depth, Exchange, Kind, Pick, Settle, Verdict};
use crate::queue::retry::Settings;
use crate::queue::time::parse_duration;
use crate::queue::{Delivery, QueueName, Receipt};
use crate::ui::{
    Align, Cell, Column, Fit, Natural, OutError, Plan, Shape, Shown, Stream, table::WIDEST_CUT,
};
use std::thread;
use std::time::{Duration, Instant};

/// `claim`
#[derive(clap::Args, Debug)]
#[command(
    after_help = "Prints each message with a receipt, for ack, nack and extend; its attempt is counted. Exits 1 when nothing is ready, \
    or the queue is paused. Without -n it is one object, with it an array (-o json).\n\n\
    Example:\n  while m=$(qops claim jobs --json); do r=$(jq -r .receipt <<<\"$m\"); \
    handle \"$m\" && qops ack \"$r\" || qops nack \"$r\"; done"
)]
pub struct Args {
    /// The queue
    #[arg(value_name = "QUEUE")]
    pub queue: QueueName,
    /// At most so many
    #[arg(short = 'n', long = "limit", value_name = "N", value_parser = at_least_one)]
    pub limit: Option<u64>,
    /// Hold them so long [default: the queue's, 1m]
    #[arg(long, value_name = "DURATION", value_parser = lease)]
    pub lease: Option<Duration>,
    /// Wait so long for a first one
    #[arg(long, value_name = "DURATION", value_parser = parse_duration)]
    pub wait: Option<Duration>,
    /// A queue that was never there is an empty one
    #[arg(long)]
    pub missing_ok: bool,
}

/// So many are claimed in one call.
const BATCH: u64 = 1_000;
/// So much payload is claimed in one call.
const BYTES: usize = 16 << 20;
/// Where no bell rings, it is looked again after so long.
const POLL: Duration = Duration::from_secs(1);

/// Claims and prints.
pub(super) fn run(args: &Args, ctx: &Ctx) -> Outcome {
    let shape = if args.limit.is_some() {
        Shape::Many
    } else {
        Shape::One
    };
    let Some(plan) = ctx.plan::<Delivery>(Natural::Records, shape)? else {
        return Ok(Code::Done);
    };
    let mut store = ctx.write()?;
    let terms = Terms::of(args, store.as_mut())?;
    let deadline = args.wait.map(|wait| Instant::now() + wait);
    let wanted = args.limit.unwrap_or(1);
    let mut buried = Buried::new(ctx, &args.queue, "it was not handed out");
    let first = first(
        args,
        ctx,
        &mut buried,
        store.as_mut(),
        &terms,
        wanted,
        deadline,
    )?;
    let Some(first) = first else {
        if args.limit.is_some() {
            // An array of none is an array.
            Stream::new(&ctx.ui, plan, columns()).finish()?;
        }
        return Ok(Code::Nothing);
    };
    hand_out(args, ctx, &mut buried, store.as_mut(), &terms, plan, first)
}

/// What is in force: the flag beats the queue's setting, that the default.
struct Terms {
    lease: Duration,
    max_attempts: u32,
}

impl Terms {
    fn of(args: &Args, store: &mut dyn Backend) -> Result<Self, Fail> {
        let settings = match store.stats(Some(std::slice::from_ref(&args.queue)), Depth::Names) {
            Ok(mut reports) => reports
                .pop()
                .map(|report| report.settings)
                .unwrap_or_default(),
            Err(error) if error.kind() == Kind::NotFound && args.missing_ok => Settings::default(),
            Err(error) => return Err(error.into()),
        };
        Ok(Self {
            lease: args.lease.or(settings.lease).unwrap_or(Settings::LEASE),
            max_attempts: settings.max_attempts.unwrap_or(Settings::MAX_ATTEMPTS),
        })
    }
}

/// Claims once.
fn claim(
    args: &Args,
    buried: &mut Buried<'_>,
    store: &mut dyn Backend,
    terms: &Terms,
    max: u64,
) -> Result<Claimed, Fail> {
    let claim = Claim {
        queue: &args.queue,
        max: usize::try_from(max.min(BATCH)).unwrap_or(1),
        bytes: BYTES,
        lease: terms.lease,
        start: true,
        max_attempts: terms.max_attempts,
        pick: Pick::Ready,
    };
    let turn = Exchange {
        settle: &[],
        claim: Some(claim),
    };
    match store.exchange(&turn)?.claimed {
        Ok(claimed) => {
            buried.hear(&claimed.buried);
            Ok(claimed)
        }
        Err(error) if error.kind() == Kind::NotFound && args.missing_ok => Ok(Claimed::default()),
        Err(error) => Err(error.into()),
    }
}

/// The first messages, waited for if that was asked; none if there is none.
fn first(
    args: &Args,
    ctx: &Ctx,
    buried: &mut Buried<'_>,
    store: &mut dyn Backend,
    terms: &Terms,
    wanted: u64,
    deadline: Option<Instant>,
) -> Result<Option<Claimed>, Fail> {
    let mut bell = None;
    let mut told = false;
    loop {
        let claimed = claim(args, buried, store, terms, wanted)?;
        if !claimed.got.is_empty() {
            return Ok(Some(claimed));
        }
        // So many had passed their time that the claim ended at them: what is behind them is not looked at yet.
        if !claimed.buried.is_empty() && claimed.next == Some(Duration::ZERO) {
            continue;
        }
        if claimed.paused && !told {
            ctx.ui.note(format!(
                "the queue '{}' is paused: it gives nothing",
                args.queue
            ));
            told = true;
        }
        let left = deadline.map_or(Duration::ZERO, |end| {
            end.saturating_duration_since(Instant::now())
        });
        if left.is_zero() {
            return Ok(None);
        }
        // What is delayed or leased rings no bell when its time comes.
        let wait = claimed.next.map_or(left, |next| left.min(next));
        if bell.is_none() {
            bell = store.watch(std::slice::from_ref(&args.queue)).ok();
        }
        let rang = bell.as_mut().map(|bell| bell.wait(wait));
        if !matches!(rang, Some(Ok(_))) {
            bell = None;
            thread::sleep(wait.min(POLL));
        }
    }
}

/// Prints what was claimed, and claims on until there are enough.
fn hand_out(
    args: &Args,
    ctx: &Ctx,
    buried: &mut Buried<'_>,
    store: &mut dyn Backend,
    terms: &Terms,
    plan: Plan,
    first: Claimed,
) -> Outcome {
    let mut stream = Stream::new(&ctx.ui, plan, columns());
    let mut left = args.limit.unwrap_or(1);
    let mut batch = first;
    // Receipts that may not have reached their reader yet: never more than a batch and a page.
    let mut held: Vec<Receipt> = vec![];
    loop {
        let asked = left.min(BATCH);
        let got = batch.got.len() as u64;
        left = left.saturating_sub(got);
        held.extend(batch.got.iter().map(|delivery| delivery.receipt.clone()));
        let printed = batch
            .got
            .iter()
            .try_for_each(|delivery| stream.push(delivery));
        match printed.and_then(|()| stream.flush()) {
            Ok(waiting) => drop(held.drain(..held.len().saturating_sub(waiting))),
            Err(error) => return Err(give_back(store, &held, error)),
        }
        let more = got == asked || batch.next == Some(Duration::ZERO);
        if left == 0 || !more {
            break;
        }
        batch = match claim(args, buried, store, terms, left) {
            Ok(next) if next.got.is_empty() => break,
            Ok(next) => next,
            // What was claimed before is handed over all the same.
            Err(fail) => {
                return match stream.finish() {
                    Ok(_) => Err(fail),
                    Err(error) => Err(give_back(store, &held, error)),
                };
            }
        };
    }
    match stream.finish() {
        Ok(_) => Ok(Code::Done),
        Err(error) => Err(give_back(store, &held, error)),
    }
}

/// Nobody got the receipts: the messages go back as if they had never been claimed.
fn give_back(store: &mut dyn Backend, receipts: &[Receipt], error: OutError) -> Fail {
    for some in receipts.chunks(1_000) {
        let release = |receipt| Settle {
            receipt,
            verdict: Verdict::Release,
            end: None,
        };
        let settles: Vec<Settle<'_>> = some.iter().map(release).collect();
        let turn = Exchange {
            settle: &settles,
            claim: None,
        };
        // If that fails too, they come back when the lease ends.
        if let Err(failed) = store.exchange(&turn) {
            return failed.into();
        }
    }
    error.into()
}

fn columns<'a>() -> Vec<Column<'a, Delivery>> {
    vec![
        Column::new("ID", Align::Right, Fit::Whole, |delivery: &Delivery| {
            Cell::new(Shown::new(&delivery.message.id))
        }),
        Column::new("TRIES", Align::Right, Fit::Whole, |delivery: &Delivery| {
            Cell::number(delivery.message.attempts.into())
        }),
        Column::new("KEY", Align::Left, Fit::Cut, |delivery: &Delivery| {
            Cell::new(Shown::new(
                delivery.message.key.as_deref().unwrap_or_default(),
            ))
        })
        .optional(),
        Column::new("RECEIPT", Align::Left, Fit::Whole, |delivery: &Delivery| {
            Cell::new(Shown::new(&delivery.receipt))
        }),
        Column::new("PAYLOAD", Align::Left, Fit::Cut, |delivery: &Delivery| {
            Cell::new(Shown::preview(&delivery.message.payload, WIDEST_CUT))
        }),
    ]
}
