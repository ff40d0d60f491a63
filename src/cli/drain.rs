//! `drain`: empties the dead letters.

mod export;

use super::apply::{Guards, Job, Wording, begin};
use super::ctx::Ctx;
use super::engine;
use super::exit::Code;
use super::fail::{Fail, Outcome};
use super::report::{self, Did};
use super::select;
use crate::backend::Change;
use crate::queue::time::parse_duration;
use crate::queue::{Due, QueueName, State};
use crate::ui::Shape;
use crate::worker::{Ending, Mode, Plan, Source};
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// `drain`
#[derive(clap::Args, Debug)]
#[command(
    after_help = "Takes what was dead when it began, the oldest first; all of it where nothing narrows that. Replays unless --to, --export or \
    a command says otherwise. With a command: exit 0 or 99 removes the letter, anything else leaves it dead with that run in \
    its history; nothing is charged.\n\n\
    Examples:\n  qops drain orders --error 429 --dry-run\n  qops drain orders --yes\n  \
    qops drain orders --to orders-retry --older-than 1d --yes\n  qops drain orders --export dead.ndjson --yes\n  \
    qops drain orders --yes -- ./repair"
)]
pub struct Args {
    /// The queue
    #[arg(value_name = "QUEUE")]
    pub queue: QueueName,
    /// Which dead letters.
    #[command(flatten)]
    pub select: select::Flags,
    /// Into this queue; a key that it holds is passed over
    #[arg(long, value_name = "QUEUE", conflicts_with_all = ["export", "command"])]
    pub to: Option<QueueName>,
    /// Append each to this file (- is stdout) and remove it once its line is there
    #[arg(long, value_name = "FILE", conflicts_with = "command")]
    pub export: Option<PathBuf>,
    /// Ready after so long
    #[arg(long, value_name = "DURATION", value_parser = parse_duration, conflicts_with_all = ["export", "command"])]
    pub delay: Option<Duration>,
    /// Go on counting attempts where they were
    #[arg(long, conflicts_with_all = ["export", "command"])]
    pub keep_attempts: bool,
    /// Dead letters whose time to live passed, too
    #[arg(long)]
    pub expired: bool,
    /// What stands before the change.
    #[command(flatten)]
    pub guards: Guards,
    /// How a command is run for each.
    #[command(flatten)]
    pub flags: engine::Running,
    /// A command for each letter
    #[arg(last = true, value_name = "CMD")]
    pub command: Vec<OsString>,
}

/// Drains.
pub(super) fn run(args: &Args, ctx: &Ctx) -> Outcome {
    if !args.select.state.is_empty() && args.select.state != [State::Dead] {
        return Err(Fail::usage("drain takes dead letters and nothing else")
            .hint("qops requeue takes other states"));
    }
    if args.command.is_empty() && ctx.args().iter().any(|word| word == "--") {
        return Err(Fail::usage("there is no command after --")
            .hint("leave -- out to replay all dead letters"));
    }
    let wording = if args.export.is_some() {
        Wording {
            verb: "drain",
            ask: "Export and remove",
            past: "exported",
            would: "would export",
        }
    } else if args.command.is_empty() {
        Wording {
            verb: "drain",
            ask: "Requeue",
            past: "requeued",
            would: "would requeue",
        }
    } else {
        Wording {
            verb: "drain",
            ask: "Run the command for",
            past: "taken",
            would: "would run the command for",
        }
    };
    let removal = args.export.is_some() || !args.command.is_empty();
    let change = if removal {
        Change::Purge { free_keys: true }
    } else {
        Change::Requeue {
            due: args.delay.map_or(Due::Now, Due::After),
            to: args.to.as_ref(),
            reset: !args.keep_attempts,
        }
    };
    let job = Job {
        ctx,
        wording,
        queue: &args.queue,
        select: &args.select,
        guards: &args.guards,
        states: &[State::Dead],
        change,
        skip_expired: !args.expired,
        bounded: true,
        always_ask: true,
    };
    match &args.export {
        _ if args.guards.dry_run => job.run(),
        Some(file) => export::run(&job, file),
        None if args.command.is_empty() => job.run(),
        None => command(args, ctx, &job),
    }
}

/// A command for each letter.
fn command(args: &Args, ctx: &Ctx, job: &Job<'_>) -> Outcome {
    let command = args.flags.command(&args.command)?;
    let shape = Did::plan(ctx, Shape::One)?;
    let agree = || {
        let mut store = ctx.write()?;
        let op = begin(ctx, store.as_mut(), "drain")?;
        let chunks = job.selections(args.select.ids(std::io::stdin().lock())?, op.at);
        job.agree(store.as_mut(), &chunks, &op)
    };
    // Whoever agreed has agreed for the worker, too, which has no terminal.
    engine::in_two_processes(ctx, (!args.guards.yes).then_some("--yes"), agree, |pipe| {
        let mut store = ctx.write()?;
        let op = begin(ctx, store.as_mut(), "drain")?;
        let ids = args.select.ids(std::io::empty())?;
        let mut what = args
            .select
            .selection(args.queue.clone(), ids, &[State::Dead], op.at);
        what.skip_expired = !args.expired;
        what.until = Some(what.until.map_or(op.at, |until| until.min(op.at)));
        drop(store);
        let mut plan = Plan::new(Source::Dead(what), command);
        args.flags.fill(&mut plan);
        plan.mode = Mode::OneShot;
        plan.limits.messages = args.select.limit();
        let summary = engine::work(ctx, plan, pipe)?;
        let (done, failed) = (summary.done, summary.dead + summary.lost);
        let code = match summary.ending() {
            Ending::LeftDead if done > 0 => Code::Partly,
            other => other.into(),
        };
        match engine::trouble(&summary) {
            Some(fail) => {
                if let Some(problem) = fail.problem() {
                    ctx.complain(&problem);
                }
            }
            None => ctx.ui.say(format!(
                "{done} removed, {failed} still dead ({})",
                ctx.place()?
            )),
        }
        let did = Did {
            verb: "drain",
            queue: Some(&args.queue),
            matched: done + failed,
            done,
            failed,
            skipped: 0,
        };
        report::print(ctx, shape, &[did])?;
        Ok(code)
    })
}
