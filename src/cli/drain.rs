//! `drain`: empties the dead letters.

mod export;

use super::apply::{Guards, Job, States, Wording};
use super::ctx::Ctx;
use super::engine;
use super::exit::Code;
use super::fail::{Fail, Outcome};
use super::report::{self, Did};
use super::select::{Filter, Flags};
use super::suggest;
use crate::backend::{Change, Depth, Error, Kind};
use crate::queue::time::parse_duration;
use crate::queue::{Due, Hint, QueueName, State, Timestamp};
use crate::ui::Shape;
use crate::ui::text::counted;
use crate::worker::{Ending, Mode, Plan, Source};
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// `drain`
#[derive(clap::Args, Debug)]
#[command(
    after_help = "Takes what was dead when it began, the oldest first; all of it where nothing narrows that. Replays unless --to, --export or \
    a command says otherwise. With a command: exit 0 or 99 removes the letter, anything else leaves it dead with that run in \
    its history; nothing is charged. One that a command still holds is passed over (7).\n\n\
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
    pub filter: Filter,
    /// Into this queue; a key that it holds is passed over
    #[arg(long, value_name = "QUEUE", conflicts_with_all = ["export", "command"], help_heading = "What becomes of them")]
    pub to: Option<QueueName>,
    /// Append each to this file (- is stdout) and remove it once its line is there
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with = "command",
        help_heading = "What becomes of them"
    )]
    pub export: Option<PathBuf>,
    /// Ready after so long
    #[arg(long, value_name = "DURATION", value_parser = parse_duration, conflicts_with_all = ["export", "command"], help_heading = "What becomes of them")]
    pub delay: Option<Duration>,
    /// Go on counting attempts where they were: one whose attempts are spent needs a higher --max-attempts to run
    #[arg(long, conflicts_with_all = ["export", "command"], help_heading = "What becomes of them")]
    pub keep_attempts: bool,
    /// Dead letters whose time to live passed, too
    #[arg(long, help_heading = "Which messages")]
    pub expired: bool,
    /// What stands before the change.
    #[command(flatten)]
    pub guards: Guards,
    /// How a command is run for each.
    #[command(flatten)]
    pub running: engine::Running,
    /// A command for each letter
    #[arg(last = true, value_name = "CMD", help_heading = clap::builder::Resettable::Reset)]
    pub command: Vec<OsString>,
}

impl Args {
    fn wording(&self) -> Wording {
        let verb = "drain";
        if self.export.is_some() {
            Wording {
                verb,
                ask: "Export and remove",
                past: "exported",
                would: "would export and remove",
            }
        } else if self.command.is_empty() {
            Wording {
                verb,
                ask: "Requeue",
                past: "requeued",
                would: "would requeue",
            }
        } else {
            Wording {
                verb,
                ask: "Run the command for",
                past: "taken",
                would: "would run the command for",
            }
        }
    }

    /// What cannot be meant.
    fn check(&self) -> Result<(), Fail> {
        if self.to.as_ref() == Some(&self.queue) {
            return Err(Fail::usage("--to names the queue itself")
                .hint("without --to they are made ready where they are"));
        }
        if self.command.is_empty() {
            if self.running.is_given() {
                return Err(Fail::usage(
                    "--jobs, --lease, --timeout, --kill-after, --input and --output are for a command, and there is none",
                )
                .hint(
                    Hint::from("put it after --: ").then("drain", &[self.queue.as_str()]).say(" -- COMMAND"),
                ));
            }
        } else if self.filter.reverse {
            return Err(Fail::usage(
                "a command takes the oldest first: no --reverse",
            ));
        }
        Ok(())
    }
}

/// Drains.
pub(super) fn run(args: &Args, ctx: &Ctx) -> Outcome {
    args.check()?;
    let removes = args.export.is_some() || !args.command.is_empty();
    let change = if removes {
        Change::Purge { free_keys: true }
    } else {
        Change::Requeue {
            due: args.delay.map_or(Due::Now, Due::After),
            to: args.to.as_ref(),
            reset: !args.keep_attempts,
        }
    };
    if let Some(to) = &args.to {
        known(ctx, to)?;
    }
    let select = Flags {
        filter: args.filter.clone(),
        ..Flags::default()
    };
    let job = Job {
        ctx,
        wording: args.wording(),
        queue: &args.queue,
        select: &select,
        guards: &args.guards,
        states: States {
            otherwise: &[State::Dead],
            always: true,
            skip_expired: !args.expired,
        },
        change,
        always_ask: true,
    };
    match &args.export {
        _ if args.guards.dry_run => job.run(),
        Some(file) => export::run(&job, file),
        None if args.command.is_empty() => job.run(),
        None => command(args, ctx, &job),
    }
}

/// Where they are to go: a name that was mistyped must not become a queue that nobody works.
fn known(ctx: &Ctx, to: &QueueName) -> Result<(), Fail> {
    let asked = ctx
        .read()?
        .stats(Some(std::slice::from_ref(to)), Depth::Names);
    match asked {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == Kind::NotFound && error.context("queue").is_some() => {
            let near = suggest::near_queue(ctx, to.as_str());
            let hint = near.map_or(Hint::default(), |near| {
                format!("did you mean '{near}'? Else ").into()
            });
            let hint = hint
                .then_with("queue set", &[to.as_str()], "--max-attempts default")
                .say(" makes it");
            Err(error.hint(hint).into())
        }
        Err(error) => Err(error.into()),
    }
}

/// A command for each letter.
fn command(args: &Args, ctx: &Ctx, job: &Job<'_>) -> Outcome {
    let command = args.running.command(&args.command)?;
    let shape = Did::plan(ctx, Shape::One)?;
    let agree = || {
        let mut store = None;
        let (Some((meant, op)), Some(store)) = (job.begin(&mut store)?, &mut store) else {
            return Ok("0".to_owned());
        };
        job.agree(store.as_mut(), &meant, &op)?;
        Ok(op.at.0.to_string())
    };
    // Whoever agreed has agreed for the worker, too, which has no terminal.
    engine::in_two_processes(ctx, (!args.guards.yes).then_some("--yes"), agree, |pipe| {
        let ids = job.select.ids(std::io::empty())?;
        // What was counted and agreed to was dead by then: another instant would be another count.
        let then = pipe.handed().parse().map(Timestamp);
        let then = then.map_err(|_| Error::bug("the worker was not told since when"))?;
        let meant = job.meant(ids, then);
        let mut plan = Plan::new(Source::Dead(meant.whole()), command);
        args.running.fill(&mut plan);
        plan.mode = Mode::OneShot;
        plan.limits.messages = args.filter.limit();
        let summary = engine::work(ctx, plan, pipe)?;
        let (done, failed) = (summary.done, summary.dead + summary.lost);
        let others = [(Code::Nothing, failed), (Code::Conflict, summary.held)];
        let code = match summary.ending() {
            Ending::LeftDead | Ending::Clean => report::classify(done, &others.into()),
            other => other.into(),
        };
        if let Some(fail) = engine::trouble(&summary) {
            ctx.complain(&fail);
        } else {
            let letters = counted(done, "dead letter", "dead letters");
            let held = match summary.held {
                0 => String::new(),
                n => format!(", {n} passed over"),
            };
            let place = ctx.place()?;
            let sum = format!("{letters} removed, {failed} still dead{held} ({place})");
            ctx.ui.say(sum);
        }
        let did = Did {
            verb: "drain",
            queue: Some(&args.queue),
            matched: done + failed + summary.held,
            done,
            failed,
            skipped: summary.held,
        };
        report::print(ctx, shape, &[did])?;
        Ok(code)
    })
}
