//! `queue set|show|rm`: a queue's settings.

use super::ctx::Ctx;
use super::exit::Code;
use super::fail::{Fail, Outcome};
use super::report::{self, Did, Report};
use crate::backend::{Depth, Patch, Setting};
use crate::queue::record::{Record, Value};
use crate::queue::retry::{Settings, Window};
use crate::queue::time::{ParseError, duration_text, parse_duration};
use crate::queue::{Hint, Ladder, QueueName};
use crate::ui::{Natural, Row, Shape, Stream};
use std::time::Duration;

/// `queue`
#[derive(clap::Args, Debug)]
#[command(
    after_help = "Examples:\n  qops queue show orders\n  qops queue set orders --max-attempts 5"
)]
pub struct Args {
    /// What is done
    #[command(subcommand)]
    pub verb: Verb,
}

/// What is done to a queue.
#[derive(Debug, clap::Subcommand)]
pub enum Verb {
    /// Change settings; the queue is created if it is not there
    Set(Set),
    /// Show the settings that are in force
    #[command(after_help = "Example:\n  qops queue show orders -o json")]
    Show(One),
    /// Remove a queue that has no message, dead letters included
    #[command(
        after_help = "Refused (4) while it has a message.\n\nExample:\n  qops queue rm orders"
    )]
    Rm(One),
}

/// `queue set`
#[derive(clap::Args, Debug)]
#[command(
    after_help = "A message's own value beats work's flag, the flag the queue's setting, that the default.\n\
    'default' takes a setting back.\n\n\
    Examples:\n  qops queue set orders --max-attempts 5 --backoff 10s,1m,10m\n  \
    qops queue set orders --dedup-window forever\n  qops queue set orders --ttl default"
)]
pub struct Set {
    /// The queue
    #[arg(value_name = "QUEUE")]
    pub queue: QueueName,
    /// Starts before a message is a dead letter [default: 7]
    #[arg(long, value_name = "N", value_parser = own(attempts))]
    pub max_attempts: Option<Own<u32>>,
    /// Waits before each retry, the last repeats [default: 1s,5s,30s,2m,10m,30m]
    #[arg(long, value_name = "LADDER", value_parser = own(|text| text.parse::<Ladder>()))]
    pub backoff: Option<Own<Ladder>>,
    /// How long a claim holds a message [default: 1m]
    #[arg(long, value_name = "DURATION", value_parser = own(lease))]
    pub lease: Option<Own<Duration>>,
    /// How long a key stays taken after its message is done; or 'forever' [default: 7d]
    #[arg(long, value_name = "DURATION", value_parser = own(window))]
    pub dedup_window: Option<Own<Window>>,
    /// Time to live of messages that come without their own [default: none]
    #[arg(long, value_name = "DURATION", value_parser = own(life))]
    pub ttl: Option<Own<Duration>>,
}

/// `queue show`, `queue rm`
#[derive(clap::Args, Debug)]
pub struct One {
    /// The queue
    #[arg(value_name = "QUEUE")]
    pub queue: QueueName,
}

/// A setting of the queue's own, or none: back to the default.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Own<T>(pub Option<T>);

/// A parser that also takes `default`.
fn own<T>(
    parse: impl Fn(&str) -> Result<T, ParseError> + Clone + Send + Sync + 'static,
) -> impl Fn(&str) -> Result<Own<T>, ParseError> + Clone + Send + Sync + 'static {
    move |text: &str| match text {
        "default" => Ok(Own(None)),
        text => parse(text).map(|value| Own(Some(value))),
    }
}

/// A number of starts: at least one.
pub(super) fn attempts(text: &str) -> Result<u32, ParseError> {
    match text.parse() {
        Ok(0) => Err(ParseError("'0' would never start a message".to_owned())),
        Ok(number) => Ok(number),
        Err(_) => Err(ParseError(format!("'{text}' is no number of attempts"))),
    }
}

/// A number that is not 0.
pub(super) fn at_least_one(text: &str) -> Result<u64, ParseError> {
    match text.parse() {
        Ok(number @ 1..) => Ok(number),
        _ => Err(ParseError(format!("'{text}' is no number from 1 on"))),
    }
}

/// A lease: longer than nothing.
pub(super) fn lease(text: &str) -> Result<Duration, ParseError> {
    match parse_duration(text)? {
        Duration::ZERO => Err(ParseError(format!("'{text}' would hold nothing"))),
        lease => Ok(lease),
    }
}

/// A time to live: longer than nothing.
pub(super) fn life(text: &str) -> Result<Duration, ParseError> {
    match parse_duration(text)? {
        Duration::ZERO => Err(ParseError(format!(
            "'{text}' is over at once: its message would never run"
        ))),
        life => Ok(life),
    }
}

fn window(text: &str) -> Result<Window, ParseError> {
    match text {
        "forever" => Ok(Window::Forever),
        text => parse_duration(text).map(Window::For),
    }
}

impl Set {
    fn patch(self) -> Vec<Setting> {
        let Self {
            queue: _,
            max_attempts,
            backoff,
            lease,
            dedup_window,
            ttl,
        } = self;
        [
            max_attempts.map(|own| Setting::MaxAttempts(own.0)),
            backoff.map(|own| Setting::Backoff(own.0)),
            lease.map(|own| Setting::Lease(own.0)),
            dedup_window.map(|own| Setting::DedupWindow(own.0)),
            ttl.map(|own| Setting::Ttl(own.0)),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}

/// Shows or changes settings.
pub(super) fn run(args: Args, ctx: &Ctx) -> Outcome {
    match args.verb {
        Verb::Set(set) => {
            let queue = set.queue.clone();
            let settings = set.patch();
            if settings.is_empty() {
                return Err(Fail::usage("queue set needs a setting").hint(
                    Hint::from(
                        "it takes --max-attempts, --backoff, --lease, --dedup-window and --ttl\n",
                    )
                    .then("queue show", &[queue.as_str()])
                    .say(" shows what is in force"),
                ));
            }
            change(ctx, "queue set", &queue, &Patch::Set(settings))
        }
        Verb::Show(one) => show(ctx, &one.queue),
        Verb::Rm(one) => change(ctx, "queue rm", &one.queue, &Patch::Remove),
    }
}

fn change(ctx: &Ctx, verb: &'static str, queue: &QueueName, patch: &Patch) -> Outcome {
    let plan = Did::plan(ctx, Shape::One)?;
    let place = ctx.place()?;
    let settings = ctx.write()?.configure(queue, patch)?;
    if *patch == Patch::Remove {
        ctx.ui.say(format!("removed {queue} ({place})"));
    } else {
        let report = InForce { queue, settings };
        let facts: Vec<String> = report
            .facts()
            .into_iter()
            .map(|(name, value, _)| format!("{name} {value}"))
            .collect();
        ctx.ui
            .say(format!("{queue}: {} ({place})", facts.join(", ")));
    }
    let report = Report {
        done: 1,
        ..Report::default()
    };
    report::print(ctx, plan, &[report.did(verb, queue, 1)])?;
    Ok(Code::Done)
}

fn show(ctx: &Ctx, queue: &QueueName) -> Outcome {
    let plan = ctx.plan::<InForce<'_>>(Natural::Text, Shape::One)?;
    let mut reports = ctx
        .read()?
        .stats(Some(std::slice::from_ref(queue)), Depth::Names)?;
    let settings = reports
        .pop()
        .map(|report| report.settings)
        .unwrap_or_default();
    let report = InForce { queue, settings };
    match plan {
        Some(plan) => {
            let mut stream = Stream::new(&ctx.ui, plan, vec![]);
            stream.push(&report)?;
            stream.finish()?;
        }
        None => text(ctx, &report)?,
    }
    Ok(Code::Done)
}

fn text(ctx: &Ctx, report: &InForce<'_>) -> Result<(), Fail> {
    use crate::ui::{Shown, Tone};
    ctx.ui.out_line(&[(Tone::Bold, Shown::new(report.queue))])?;
    for (name, value, own) in report.facts() {
        let note = if own { "" } else { "  (default)" };
        ctx.ui.out_line(&[
            (Tone::Plain, Shown::new(format!("{name:<14}{value}"))),
            (Tone::Dim, Shown::new(note)),
        ])?;
    }
    Ok(())
}

/// A queue's settings as they are in force.
struct InForce<'a> {
    queue: &'a QueueName,
    settings: Settings,
}

impl InForce<'_> {
    fn max_attempts(&self) -> u32 {
        self.settings.max_attempts.unwrap_or(Settings::MAX_ATTEMPTS)
    }

    fn backoff(&self) -> Ladder {
        self.settings.backoff.clone().unwrap_or_default()
    }

    fn lease(&self) -> Duration {
        self.settings.lease.unwrap_or(Settings::LEASE)
    }

    fn window(&self) -> Window {
        self.settings.dedup_window.unwrap_or(Window::DEFAULT)
    }

    /// Name, value, and whether the queue has its own.
    fn facts(&self) -> [(&'static str, String, bool); 6] {
        let Settings {
            max_attempts,
            backoff,
            lease,
            dedup_window,
            ttl,
            paused,
        } = &self.settings;
        let window = match self.window() {
            Window::For(time) => duration_text(time),
            Window::Forever => "forever".to_owned(),
        };
        let yes = if *paused { "yes" } else { "no" };
        [
            ("paused", yes.to_owned(), true),
            (
                "max attempts",
                self.max_attempts().to_string(),
                max_attempts.is_some(),
            ),
            ("backoff", self.backoff().to_string(), backoff.is_some()),
            ("lease", duration_text(self.lease()), lease.is_some()),
            ("dedup window", window, dedup_window.is_some()),
            (
                "ttl",
                ttl.map_or_else(|| "none".to_owned(), duration_text),
                ttl.is_some(),
            ),
        ]
    }
}

impl Row for InForce<'_> {
    const FIELDS: &'static [&'static str] = &[
        "v",
        "queue",
        "paused",
        "max_attempts",
        "backoff",
        "lease",
        "dedup_window",
        "ttl",
        "own",
    ];

    fn record(&self) -> Record {
        let rungs = self.backoff();
        let rungs: Vec<String> = rungs
            .rungs()
            .iter()
            .map(|rung| rung.as_secs_f64().to_string())
            .collect();
        let own: Vec<String> = [
            ("max_attempts", self.settings.max_attempts.is_some()),
            ("backoff", self.settings.backoff.is_some()),
            ("lease", self.settings.lease.is_some()),
            ("dedup_window", self.settings.dedup_window.is_some()),
            ("ttl", self.settings.ttl.is_some()),
        ]
        .iter()
        .filter(|(_, own)| *own)
        .map(|(name, _)| format!("\"{name}\""))
        .collect();
        Record::new()
            .with("queue", Value::text(self.queue))
            .with("paused", Value::Bool(self.settings.paused))
            .with("max_attempts", Value::Int(self.max_attempts().into()))
            .with("backoff", Value::Json(format!("[{}]", rungs.join(","))))
            .with("lease", Value::seconds(self.lease()))
            .with(
                "dedup_window",
                match self.window() {
                    Window::For(time) => Value::seconds(time),
                    Window::Forever => Value::text("forever"),
                },
            )
            .with_some("ttl", self.settings.ttl.map(Value::seconds))
            .with("own", Value::Json(format!("[{}]", own.join(","))))
    }

    fn id(&self) -> &str {
        self.queue.as_str()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_read_and_taken_back() {
        assert_eq!(own(attempts)("3"), Ok(Own(Some(3))));
        assert_eq!(own(attempts)("default"), Ok(Own(None)));
        assert_eq!(own(window)("forever"), Ok(Own(Some(Window::Forever))));
        assert_eq!(
            own(window)("2d"),
            Ok(Own(Some(Window::For(Duration::from_hours(48)))))
        );
        assert!(own(attempts)("0").is_err() && own(attempts)("-1").is_err());
        assert!(lease("0s").is_err() && lease("30").is_err());
    }

    #[test]
    fn what_is_in_force_says_what_is_the_queues_own() {
        let queue = QueueName::parse("q").unwrap();
        let report = InForce {
            queue: &queue,
            settings: Settings {
                backoff: Ladder::new(vec![Duration::from_millis(1500)]),
                dedup_window: Some(Window::Forever),
                ..Settings::default()
            },
        };
        assert_eq!(
            report.record().to_json(),
            "{\"v\":1,\"queue\":\"q\",\"paused\":false,\"max_attempts\":7,\"backoff\":[1.5],\"lease\":60,\
             \"dedup_window\":\"forever\",\"own\":[\"backoff\",\"dedup_window\"]}"
        );
    }
}
