//! What `work` and `drain -- CMD` share: flags of the command, the two processes, and what the worker tells.

use super::buried::Buried;
use super::ctx::{Ctx, identity};
use super::exit::Code;
use super::fail::Fail;
use super::words;
use crate::backend::{Access, Error, Kind, OpenOptions, registry};
use crate::queue::time::{duration_text, parse_duration};
use crate::queue::{MessageId, QueueName, Skew, Timestamp, said};
use crate::ui::Progress;
use crate::ui::text::counted;
use crate::worker::guard::{self, Role};
use crate::worker::{Command, Fate, Input, Note, Output, Plan, Source, Summary, Unfit, Why};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use std::ffi::OsString;
use std::time::Duration;

/// Flags of the command that is run.
#[derive(clap::Args, Clone, Debug)]
#[command(next_help_heading = "The command")]
pub struct Running {
    /// Commands at once [default: 1]
    #[arg(short, long, value_name = "N", value_parser = jobs)]
    pub jobs: Option<u16>,
    /// How long a message is invisible to others; extended while its command runs [default: the queue's, 1m]
    #[arg(long, value_name = "DURATION", value_parser = super::queue::lease)]
    pub lease: Option<Duration>,
    /// End a command that runs longer: TERM, then KILL, to everything it started
    #[arg(long, value_name = "DURATION", value_parser = positive)]
    pub timeout: Option<Duration>,
    /// From TERM to KILL [default: 10s]
    #[arg(long, value_name = "DURATION", value_parser = parse_duration)]
    pub kill_after: Option<Duration>,
    /// The command's standard input: stdin is the payload, none is nothing [default: stdin]
    #[arg(
        long,
        value_name = "WHAT",
        hide_possible_values = true,
        value_parser = PossibleValuesParser::new(["stdin", "none"]).map(|word| match word.as_str() {
            "none" => Input::None,
            _ => Input::Stdin,
        }),
    )]
    pub input: Option<Input>,
    /// The command's output: pass, prefix (whole lines with the id before them) or discard [default: pass]
    #[arg(
        long,
        value_name = "HOW",
        hide_possible_values = true,
        value_parser = PossibleValuesParser::new(["pass", "prefix", "discard"]).map(|word| match word.as_str() {
            "prefix" => Output::Prefix,
            "discard" => Output::Discard,
            _ => Output::Pass,
        }),
    )]
    pub output: Option<Output>,
}

fn jobs(text: &str) -> Result<u16, String> {
    match text.parse() {
        Ok(number @ 1..=1024) => Ok(number),
        _ => Err(format!("'{text}' is no number from 1 to 1024")),
    }
}

/// A duration that is not zero.
pub(super) fn positive(text: &str) -> Result<Duration, String> {
    match parse_duration(text) {
        Ok(time) if time.is_zero() => Err("it must be longer than nothing".to_owned()),
        Ok(time) => Ok(time),
        Err(error) => Err(error.to_string()),
    }
}

impl Running {
    /// The command as it was typed, found in PATH: one that is not there is refused before anything is claimed.
    pub(super) fn command(&self, words: &[OsString]) -> Result<Command, Fail> {
        let Some((program, args)) = words.split_first() else {
            return Err(Fail::usage("there is no command after --"));
        };
        Command::exec(program, args, self.input(), self.output())
            .map_err(|unfit| cannot_run(&unfit))
    }

    /// A line for a shell.
    pub(super) fn shell(&self, line: &str) -> Result<Command, Fail> {
        Command::shell(line, self.input(), self.output()).map_err(|unfit| cannot_run(&unfit))
    }

    /// Whether any of them is given.
    pub(super) fn is_given(&self) -> bool {
        let Self {
            jobs,
            lease,
            timeout,
            kill_after,
            input,
            output,
        } = self;
        jobs.is_some()
            || lease.is_some()
            || timeout.is_some()
            || kill_after.is_some()
            || input.is_some()
            || output.is_some()
    }

    fn input(&self) -> Input {
        self.input.unwrap_or_default()
    }

    fn output(&self) -> Output {
        self.output.unwrap_or_default()
    }

    /// Puts the flags into a plan.
    pub(super) fn fill(&self, plan: &mut Plan) {
        plan.jobs = self.jobs.unwrap_or(1).into();
        plan.lease = self.lease;
        plan.timeout = self.timeout;
        plan.kill_after = self.kill_after.unwrap_or(plan.kill_after);
    }
}

fn cannot_run(unfit: &Unfit) -> Fail {
    Fail::usage(format!(
        "the command cannot run: {unfit}; nothing was claimed"
    ))
}

/// Runs the worker in two processes. The outer one runs `before` (questions, which need the terminal) and starts the
/// program again with `extra` in its arguments, before the command; the inner one is the worker, and has from its pipe
/// what `before` answered.
pub(super) fn in_two_processes(
    ctx: &Ctx,
    extra: Option<&str>,
    before: impl FnOnce() -> Result<String, Fail>,
    inner: impl FnOnce(guard::Pipe) -> Result<Code, Fail>,
) -> Result<Code, Fail> {
    match guard::role() {
        Role::Inner(pipe) => {
            ctx.is_inner();
            inner(pipe)
        }
        Role::Outer => {
            ctx.announce()?;
            let handed = before()?;
            let mut args = ctx.args().to_vec();
            if let Some(extra) = extra {
                let end = args
                    .iter()
                    .position(|word| word == "--")
                    .unwrap_or(args.len());
                args.insert(end, extra.into());
            }
            let code = guard::run_outer(args, &handed).map_err(|error| {
                Error::new(Kind::Unreachable, "the worker cannot be started").because(error)
            })?;
            if code == guard::KILLED {
                return Err(Fail::System(
                    Code::Killed,
                    "the worker was killed, and its commands were ended: their messages come back when their leases end"
                        .to_owned(),
                ));
            }
            Code::from_number(code)
                .ok_or_else(|| Error::bug(format!("the worker ended with {code}")).into())
        }
    }
}

/// Works through a plan, and says what there is to say.
pub(super) fn work(ctx: &Ctx, mut plan: Plan, pipe: guard::Pipe) -> Result<Summary, Fail> {
    ctx.writable()?;
    let (chosen, target) = ctx.chosen()?;
    let child = chosen.for_child(target.url());
    plan.store_env = vec![(child.set.0.to_owned(), child.set.1)];
    plan.scrub.clone_from(&chosen.secrets);
    let forever = plan.mode == crate::worker::Mode::Follow;
    let store = match ctx.write() {
        Ok(store) => Some(store),
        // A worker that is to stay for ever waits for its store, at the start too.
        Err(Fail::Store(error))
            if forever && error.kind().passes() || error.kind() == Kind::Full =>
        {
            ctx.ui
                .note(format!("the store does not answer; trying again: {error}"));
            None
        }
        Err(fail) => return Err(fail),
    };
    let options = OpenOptions {
        access: Access::Write,
        identity: identity(),
        skew: Skew::default(),
    };
    let mut reopen = || registry::open(target, &options).map(|opened| opened.backend);
    let mut teller = Teller {
        ctx,
        line: None,
        // What a command writes to the terminal by itself may end in the middle of a line, and a line of ours would
        // stick to it and take it away with itself.
        shows_line: plan.jobs == 1
            && !(plan.command.output() == Output::Pass && ctx.ui.stdout_is_terminal()),
        letters: matches!(plan.source, Source::Dead(_)),
        done: 0,
        failed: 0,
        dead: 0,
    };
    let summary = crate::worker::run(store, &mut reopen, &plan, Some(pipe), &mut |note| {
        teller.hear(&note);
    })?;
    teller.line = None;
    Ok(summary)
}

/// Turns what the worker tells into lines.
struct Teller<'a> {
    ctx: &'a Ctx,
    /// The line of progress; taken away while a command runs, so that what it prints stands alone.
    line: Option<Progress>,
    shows_line: bool,
    /// What is run for are dead letters.
    letters: bool,
    done: u64,
    failed: u64,
    dead: u64,
}

impl Teller<'_> {
    fn hear(&mut self, note: &Note<'_>) {
        self.line = None;
        let ui = &self.ctx.ui;
        match note {
            Note::Started { queue, id } => ui.detail(format!("message {id} of {queue} starts")),
            Note::Ended { queue, id, fate, took } => {
                self.count(fate);
                let took = format!("{:.1}s", took.as_secs_f64());
                match fate {
                    Fate::Done => ui.detail(format!("message {id} of {queue} is done in {took}")),
                    Fate::Retry { wait, error } => {
                        ui.detail(format!("message {id} of {queue} failed ({error}); again in {}", duration_text(*wait)));
                    }
                    Fate::Deferred { wait, error } => ui.detail(format!(
                        "message {id} of {queue} asks for another try ({error}); in {}",
                        duration_text(*wait)
                    )),
                    // Why it died is no news, and not what its command says now.
                    Fate::Dead { error, .. } if self.letters => {
                        ui.note(format!("message {id} of {queue} is still a dead letter: {error}"));
                    }
                    Fate::Dead { reason, error } => {
                        ui.note(format!("message {id} of {queue} is a dead letter ({reason}): {error}"));
                    }
                    Fate::Released => ui.detail(format!("message {id} of {queue} is given back")),
                    Fate::Lost => ui.warn(format!(
                        "the lease of message {id} of {queue} was lost: what its command did is not acknowledged, and it may run again"
                    )),
                    Fate::Dropped { error } => {
                        ui.warn(format!("message {id} of {queue} failed after it was acknowledged: {error}"));
                    }
                }
                if self.shows_line {
                    self.line = Some(ui.status(&self.text()));
                }
            }
            Note::Buried { queue, found } => {
                self.dead += found.len() as u64;
                Buried::new(self.ctx, queue, "its command was not run").hear(found);
            }
            Note::Held { queue, found } => {
                for (id, end) in *found {
                    self.ctx.complain(&held(queue, id, *end));
                }
            }
            Note::Paused(queue) => ui.note(format!("the queue '{queue}' is paused: it gives nothing")),
            Note::Missing(queue) => ui.detail(format!("there is no queue '{queue}' yet")),
            Note::Unread => ui.warn(
                "the command succeeded without reading its input; the payload is on its standard input, {} puts it into an argument, --input none says that it wants none",
            ),
            Note::NoRoom(why) => ui.warn(format!("the system has no room for another command, trying again: {why}")),
            Note::AsideFull(n) => ui.warn(format!(
                "--exit-map gave {} back, which stand before the others: the run ends without a look behind them; --wait goes on",
                counted(*n as u64, "message", "messages")
            )),
            Note::StoreLost(error) => ui.warn(format!("the store does not answer; trying again: {error}")),
            Note::StoreBack => ui.note("the store answers again"),
            Note::StoreFull(error) => ui.warn(format!(
                "{error}{}: what is done is acknowledged, and nothing more begins until there is room",
                error.context("path").map_or(String::new(), |path| format!(" ({path})"))
            )),
            Note::Room => ui.note("there is room again"),
            Note::Stopping { why, running } => self.stopping(why, *running),
            Note::Ending => ui.note("ending the commands that still run"),
        }
    }

    fn count(&mut self, fate: &Fate) {
        match fate {
            Fate::Done => self.done += 1,
            Fate::Retry { .. } | Fate::Deferred { .. } | Fate::Dropped { .. } => self.failed += 1,
            Fate::Dead { .. } => self.dead += 1,
            Fate::Released | Fate::Lost => {}
        }
    }

    fn text(&self) -> String {
        format!(
            "{} done, {} failed, {} dead",
            self.done, self.failed, self.dead
        )
    }

    fn stopping(&self, why: &Why, running: usize) {
        let rest = match running {
            0 => String::new(),
            n => format!(
                "; {} may finish, a second signal ends them",
                counted(n as u64, "command", "commands")
            ),
        };
        match why {
            Why::Signal(number) => self
                .ctx
                .ui
                .say(format!("stopping at {}{rest}", said::signal(*number))),
            Why::OutputClosed => self
                .ctx
                .ui
                .say(format!("taking no more: nobody reads the output{rest}")),
            // Said as the error of the whole run.
            Why::CannotRun(_) | Why::Store(_) => {}
            Why::Finished | Why::Messages | Why::Time | Why::Failures | Why::Asked => {
                self.ctx.ui.detail(format!("taking no more{rest}"));
            }
        }
    }
}

/// A letter that is passed over.
fn held(queue: &QueueName, id: &MessageId, until: Timestamp) -> Fail {
    let what = format!("message {id} of {queue} is passed over: a command holds it until {until}");
    Fail::new(Kind::Conflict, what)
}

/// What made the run end badly, as an error that is said.
pub(super) fn trouble(summary: &Summary) -> Option<Fail> {
    match &summary.why {
        Why::CannotRun(why) => Some(
            Fail::usage(format!("the command cannot run: {why}"))
                .hint("what was not run is given back uncharged; see qops help worker"),
        ),
        Why::Store(error) => {
            let what = match summary.unsettled {
                0 => error.to_string(),
                n => format!(
                    "{error}; {} could not be recorded and will run again",
                    counted(n, "end", "ends")
                ),
            };
            let mut told = Error::new(error.kind(), what);
            if let Some(hint) = error.hinted() {
                told = told.hint(hint.clone());
            }
            Some(told.into())
        }
        _ => None,
    }
}

/// The last line of a run on a terminal.
pub(super) fn say_sum(ctx: &Ctx, summary: &Summary, stays: bool, queues: &[&str]) {
    let mut parts = vec![];
    for (n, word) in [(summary.done, "done"), (summary.released, "given back")] {
        if n > 0 {
            parts.push(format!("{n} {word}"));
        }
    }
    if summary.dead > 0 {
        let look = words::command(
            &ctx.program(),
            "peek --dead",
            &queues[..queues.len().min(1)],
        );
        let dead = counted(summary.dead, "dead letter", "dead letters");
        parts.push(format!("{dead} ({look})"));
    }
    let again = summary.retried + summary.deferred;
    if again > 0 {
        let wait = summary.soonest.map_or(String::new(), |wait| {
            format!(", again in {}", duration_text(rounded(wait)))
        });
        let stay = if stays { "" } else { "; --wait stays for it" };
        parts.push(format!("{again} failed{wait}{stay}"));
    }
    if parts.is_empty() {
        parts.push("nothing was ready".to_owned());
    }
    ctx.ui.say(parts.join(", "));
}

/// To whole seconds above one.
fn rounded(wait: Duration) -> Duration {
    if wait < Duration::from_secs(1) {
        wait
    } else {
        Duration::from_secs(wait.as_secs())
    }
}
