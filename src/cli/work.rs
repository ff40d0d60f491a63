//! `work`: runs a command for each message.

use super::ctx::Ctx;
use super::engine::{self, positive};
use super::exit::Code;
use super::fail::{Fail, Outcome};
use super::report::{self, Did, Report};
use crate::backend::Kind;
use crate::queue::time::{ParseError, parse_duration};
use crate::queue::{Ladder, QueueName};
use crate::ui::Shape;
use crate::worker::{ExitMap, Missing, Mode, Plan, Promise, Source};
use std::ffi::OsString;
use std::time::Duration;

/// `work`
#[derive(clap::Args, Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a flag of the command line"
)]
#[command(
    after_help = "The payload is the command's standard input. Exit 0 is done; 65 and 100 are a dead letter at once; 75 and 111 ask for \
    another try, uncharged; 99 is done and stops the worker; anything else, a signal and a timeout are a failed attempt, \
    again after --backoff, dead after --max-attempts. In arguments {} is the payload, {file} a file that holds it, \
    {id} {key} {queue} {attempt} the message's own. qops help worker has the rest.\n\n\
    Examples:\n  qops work emails -- sh -c 'echo \"sending $(cat)\"'\n  \
    qops work thumbs -j4 --timeout 2m -- convert {} -resize 200x {}.thumb.jpg\n  \
    qops work orders --follow -j2 -- ./handle-order\n  \
    * * * * * $HOME/.cargo/bin/qops work reports --missing-ok --max-time 50s -- /usr/local/bin/report"
)]
pub struct Args {
    /// The queues; several take turns
    #[arg(required = true, value_name = "QUEUE")]
    pub queues: Vec<QueueName>,
    /// One message
    #[arg(long, conflicts_with_all = ["wait", "follow"])]
    pub once: bool,
    /// Until nothing is ready, delayed, blocked or running
    #[arg(long, conflicts_with = "follow")]
    pub wait: bool,
    /// For ever
    #[arg(long)]
    pub follow: bool,
    /// Stop after so many messages
    #[arg(long, value_name = "N", value_parser = super::queue::at_least_one)]
    pub max_messages: Option<u64>,
    /// Stop after so long
    #[arg(long, value_name = "DURATION", value_parser = positive)]
    pub max_time: Option<Duration>,
    /// Stop after so many commands that failed (then the exit is 1)
    #[arg(long, value_name = "N", value_parser = super::queue::at_least_one)]
    pub max_failures: Option<u64>,
    /// How the command is run.
    #[command(flatten)]
    pub flags: engine::Running,
    /// Do not extend leases; a --timeout must be under the lease then
    #[arg(long, help_heading = "The command")]
    pub no_heartbeat: bool,
    /// How long a worker that stops lets its commands finish
    #[arg(long, value_name = "DURATION", value_parser = parse_duration, default_value = "30s", help_heading = "The command")]
    pub grace: Duration,
    /// Starts before a message is a dead letter [default: the queue's, 7]
    #[arg(long, value_name = "N", value_parser = super::queue::attempts, help_heading = "The command")]
    pub max_attempts: Option<u32>,
    /// Waits before each retry, the last repeats [default: the queue's, 1s,5s,30s,2m,10m,30m]
    #[arg(long, value_name = "LADDER", help_heading = "The command")]
    pub backoff: Option<Ladder>,
    /// What exit codes mean, as in 3=dead,4=release: done, fail, temporary, dead, release
    #[arg(long, value_name = "MAP", help_heading = "The command")]
    pub exit_map: Option<ExitMap>,
    /// Instead of a command: a line for sh -c; the payload is on its standard input, nothing is substituted
    #[arg(
        long,
        value_name = "LINE",
        value_parser = shell_line,
        conflicts_with = "command",
        help_heading = "The command"
    )]
    pub shell: Option<String>,
    /// Acknowledge before the command starts: a failure or a crash loses the message
    #[arg(long, help_heading = "The command")]
    pub at_most_once: bool,
    /// Hold at most so many messages beyond those that run [default: a quarter of a lease's work, at the pace seen]
    #[arg(long, value_name = "N", help_heading = "The command")]
    pub prefetch: Option<usize>,
    /// A queue that was never there is an empty one
    #[arg(long, help_heading = clap::builder::Resettable::Reset)]
    pub missing_ok: bool,
    /// Refuse (4) a store that may lose acknowledged messages
    #[arg(long, help_heading = clap::builder::Resettable::Reset)]
    pub require_durable: bool,
    /// The command and its arguments
    #[arg(last = true, value_name = "CMD", help_heading = clap::builder::Resettable::Reset)]
    pub command: Vec<OsString>,
}

impl Args {
    fn plan(&self, ctx: &Ctx) -> Result<Plan, Fail> {
        let command = match &self.shell {
            Some(line) => self.flags.shell(line)?,
            None if self.command.is_empty() => {
                return Err(Fail::usage("there is no command to run")
                    .hint(super::usage::no_command("work", ctx.args())));
            }
            None => self.flags.command(&self.command)?,
        };
        let mut queues = self.queues.clone();
        let mut seen = std::collections::HashSet::new();
        queues.retain(|queue| seen.insert(queue.clone()));
        let mut plan = Plan::new(Source::Ready(queues), command);
        self.flags.fill(&mut plan);
        plan.mode = match (self.once, self.wait, self.follow) {
            (true, ..) => Mode::Once,
            (_, true, _) => Mode::Wait,
            (.., true) => Mode::Follow,
            _ => Mode::OneShot,
        };
        plan.limits.messages = self.max_messages;
        plan.limits.time = self.max_time;
        plan.limits.failures = self.max_failures;
        plan.heartbeat = !self.no_heartbeat;
        plan.grace = self.grace;
        plan.max_attempts = self.max_attempts;
        plan.backoff.clone_from(&self.backoff);
        plan.exit_map = self.exit_map.clone().unwrap_or_default();
        plan.promise = if self.at_most_once {
            Promise::AtMostOnce
        } else {
            Promise::AtLeastOnce
        };
        plan.prefetch = self.prefetch;
        plan.missing = if self.missing_ok {
            Missing::Empty
        } else {
            Missing::Refused
        };
        Ok(plan)
    }
}

/// Whether there is no store, so no message either. A worker that does not stay makes none: a crontab's line is silent,
/// and a mistyped path stays an error.
fn nothing_there(args: &Args, ctx: &Ctx) -> Result<bool, Fail> {
    match ctx.read() {
        Err(Fail::Store(error))
            if error.kind() == Kind::NotFound && error.context("store").is_some() =>
        {
            match (args.missing_ok, args.follow) {
                (false, _) => Err(error.into()),
                (true, stays) => Ok(!stays),
            }
        }
        // Whatever else is wrong, the handle that writes says it.
        _ => Ok(false),
    }
}

/// A shell does nothing with an empty line, and succeeds: every message would be done without having run.
fn shell_line(text: &str) -> Result<String, ParseError> {
    if text.trim().is_empty() {
        return Err(ParseError(
            "it is empty, and would do nothing well".to_owned(),
        ));
    }
    Ok(text.to_owned())
}

/// Works.
pub(super) fn run(args: &Args, ctx: &Ctx) -> Outcome {
    let plan = args.plan(ctx)?;
    let shape = Did::plan(ctx, Shape::One)?;
    // What is wrong with the command line or the configuration is said by the outer process, once.
    ctx.writable()?;
    if args.require_durable {
        ctx.require_durable()?;
    }
    engine::in_two_processes(
        ctx,
        None,
        || Ok(String::new()),
        |pipe| {
            let stays = args.wait || args.follow;
            let only = match args.queues.as_slice() {
                [only] => Some(only),
                _ => None,
            };
            if nothing_there(args, ctx)? {
                let nothing = Report::default().did("work", only, 0);
                report::print(ctx, shape, &[nothing])?;
                return Ok(Code::Done);
            }
            let summary = engine::work(ctx, plan, pipe)?;
            let queues: Vec<&str> = args.queues.iter().map(QueueName::as_str).collect();
            match engine::trouble(&summary) {
                Some(fail) => {
                    ctx.complain(&fail);
                }
                None => engine::say_sum(ctx, &summary, stays, &queues),
            }
            let failed = summary.dead + summary.retried + summary.deferred + summary.lost;
            let did = Did {
                verb: "work",
                queue: only,
                matched: summary.done + failed + summary.released,
                done: summary.done,
                failed,
                skipped: summary.released,
            };
            report::print(ctx, shape, &[did])?;
            Ok(Code::from(summary.ending()))
        },
    )
}
