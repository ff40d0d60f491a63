//! `enqueue`: puts messages in, one by one or as a stream.

mod fields;
mod lines;
mod put;
mod term;

use super::ctx::Ctx;
use super::exit::Code;
use super::fail::{Fail, Outcome};
use super::queue::{attempts, life};
use super::usage;
use super::when::When;
use super::words::something;
use crate::backend::{Conflict, Error, Kind};
use crate::queue::message::Ttl;
use crate::queue::said::system;
use crate::queue::time::{ParseError, parse_duration, parse_size};
use crate::queue::{Group, Hint, NewMessage, QueueName};
use crate::ui::text::size;
use crate::ui::{Format, Natural, Shape};
use crate::worker::header_variable;
use fields::Fields;
use lines::{Batch, Framing, One, Reading, read, read_one};
use put::{Enqueuer, Put, none};
use std::collections::HashMap;
use std::ffi::OsString;
use std::fs::File;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;
use term::Term;

/// `enqueue`
#[derive(clap::Args, Debug)]
#[command(
    after_help = "Payloads are bytes and stay as they are. A payload that begins with '-' goes after --. Without PAYLOAD (or with \
    '-') standard input is read: at most one line is one message; for more, say what it is with --lines, --null, --ndjson, \
    --envelope or --one. A bad line ends it (9) with its number; what came before stands, unless --atomic.\n\
    One message, and messages given as arguments, print their ids; a stream only with -o id or -o ndjson.\n\n\
    Examples:\n  qops enqueue emails '{\"to\":\"ana@example.com\"}'\n  \
    qops enqueue reports 42 --key report:42 --delay 5m\n  \
    find . -name '*.jpg' -print0 | qops enqueue thumbs -0\n  \
    jq -c '.orders[]' dump.json | qops enqueue orders --ndjson --key-from .order_id"
)]
pub struct Args {
    /// The queue; it comes into being if it is not there
    #[arg(value_name = "QUEUE")]
    pub queue: QueueName,
    /// A message each
    #[arg(value_name = "PAYLOAD")]
    pub payloads: Vec<OsString>,
    /// Read this file instead of standard input
    #[arg(long, value_name = "PATH", conflicts_with = "payloads")]
    pub file: Option<PathBuf>,
    /// How the input is cut.
    #[command(flatten)]
    pub cut: Cut,
    /// The fact's own id, as in payment.approved:42: one live or dead message per key and queue
    #[arg(long, value_name = "KEY", value_parser = something, allow_hyphen_values = true, conflicts_with_all = ["key_from", "lines", "null", "ndjson", "envelope"])]
    pub key: Option<String>,
    /// The key from fields of the JSON, joined by ':', as in .type,.id
    #[arg(long, value_name = "FIELDS")]
    pub key_from: Option<Fields>,
    /// What a taken key means: skip prints the id that has it, error is a failure (7)
    #[arg(long, value_name = "WHAT", default_value = "skip", value_parser = ["skip", "error"])]
    pub on_conflict: String,
    /// Members of a group run one at a time, in order
    #[arg(
        long,
        value_name = "GROUP",
        value_parser = something,
        allow_hyphen_values = true,
        conflicts_with = "group_from"
    )]
    pub group: Option<String>,
    /// The group from fields of the JSON
    #[arg(long, value_name = "FIELDS")]
    pub group_from: Option<Fields>,
    /// From -9 to 9, higher first
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = priority)]
    pub priority: Option<i8>,
    /// Ready after so long
    #[arg(long, value_name = "DURATION", value_parser = parse_duration, conflicts_with = "at")]
    pub delay: Option<Duration>,
    /// Ready at this time, as in 2026-12-24T18:00-03:00
    #[arg(long, value_name = "TIME")]
    pub at: Option<When>,
    /// Never started after so long: a dead letter then, with reason 'expired'
    #[arg(long, value_name = "DURATION", value_parser = life)]
    pub ttl: Option<Duration>,
    /// A name and a value beside the payload; may be given again
    #[arg(short = 'H', long, value_name = "K=V", allow_hyphen_values = true, value_parser = header)]
    pub header: Vec<(String, String)>,
    /// Starts before it is a dead letter, above every other setting
    #[arg(long, value_name = "N", value_parser = attempts)]
    pub max_attempts: Option<u32>,
    /// All or none, in one transaction: at most 100,000 messages and 64 MiB
    #[arg(long)]
    pub atomic: bool,
    /// The largest payload that is taken
    #[arg(long, value_name = "SIZE", default_value = "16MiB", value_parser = parse_size)]
    pub max_payload: u64,
    /// Refuse a store that may lose acknowledged messages (4)
    #[arg(long)]
    pub require_durable: bool,
}

/// How the input is cut into messages.
#[derive(clap::Args, Debug)]
#[group(multiple = false)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "flags of a command line, of which at most one is given"
)]
pub struct Cut {
    /// A message a line; empty lines are skipped
    #[arg(long)]
    pub lines: bool,
    /// Messages end with a zero byte, as find -print0 writes them
    #[arg(short = '0', long)]
    pub null: bool,
    /// A message a line, and each is JSON
    #[arg(long)]
    pub ndjson: bool,
    /// A message a line, and each is a record as peek prints it
    #[arg(long)]
    pub envelope: bool,
    /// All of the input is one message
    #[arg(long)]
    pub one: bool,
}

impl Cut {
    fn framing(&self) -> Option<Framing> {
        [
            (self.lines, Framing::Lines),
            (self.null, Framing::Null),
            (self.ndjson, Framing::Ndjson),
            (self.envelope, Framing::Envelope),
        ]
        .into_iter()
        .find_map(|(given, framing)| given.then_some(framing))
    }
}

fn priority(text: &str) -> Result<i8, ParseError> {
    match text.parse() {
        Ok(number @ -9..=9) => Ok(number),
        _ => Err(ParseError(format!("'{text}' is no priority from -9 to 9"))),
    }
}

fn header(text: &str) -> Result<(String, String), ParseError> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err(ParseError(format!(
            "'{text}' is no header: write NAME=VALUE"
        ))),
    }
}

/// With `--atomic` all of it is held in memory.
const WHOLE_BYTES: usize = 64 << 20;
/// With `--atomic` all of it is one call.
const WHOLE_ROWS: usize = 100_000;
/// A stream is stored in transactions of so many messages: the commit's cost is small, and other writers wait for tens of
/// milliseconds at most.
const ROWS: usize = 10_000;
/// And of so many bytes: with the line that passes it a batch still fits the megabyte that a store likes best.
const BYTES: usize = 960 << 10;

/// Puts messages in.
pub(super) fn run(args: &Args, ctx: &Ctx) -> Outcome {
    ctx.writable()?;
    if args.require_durable {
        ctx.require_durable()?;
    }
    if let Some(assumed) = args.at.as_ref().and_then(|at| at.assumed.as_ref()) {
        ctx.ui.note(format!("--at is {assumed}"));
    }
    headers_are_told_apart(&args.header)?;
    let from_input = from_input(args, ctx)?;
    let framing = args.cut.framing();
    if !from_input && (framing.is_some() || args.cut.one) {
        return Err(Fail::usage(
            "--lines, --null, --ndjson, --envelope and --one cut standard input, and payloads are given",
        ));
    }
    if args.key.is_some() && args.payloads.len() > 1 {
        return Err(
            Fail::usage("--key names one fact, and there are several payloads")
                .hint("one key each: --key-from takes it from the JSON"),
        );
    }
    let term = Term::of(args);
    if term.is_too_short() {
        let ready = if args.at.is_some() { "--at" } else { "--delay" };
        return Err(
            Fail::usage("its time to live ends before it is ready: it would never run").hint(
                format!("--ttl counts from now, not from {ready}: give it more than that"),
            ),
        );
    }
    match (from_input, framing) {
        (false, _) => given(args, ctx),
        (true, None) => single(args, ctx),
        (true, Some(framing)) => stream(args, ctx, framing),
    }
}

/// Whether standard input is read: without payloads, or with a sole `-`. One beside payloads may be meant as either, and one
/// after `--` is a payload.
fn from_input(args: &Args, ctx: &Ctx) -> Result<bool, Fail> {
    if args.payloads.is_empty() {
        return Ok(true);
    }
    if !usage::has_word(ctx.args(), "-") {
        return Ok(false);
    }
    if args.payloads.len() > 1 {
        return Err(
            Fail::usage("'-' beside other payloads: it stands for standard input").hint(
                "payloads and standard input are enqueued one after the other; a payload '-' goes after --",
            ),
        );
    }
    Ok(true)
}

/// Two headers of one name, or of names that become one variable of the command's: only one of them would reach it.
fn headers_are_told_apart(headers: &[(String, String)]) -> Result<(), Fail> {
    let mut seen: HashMap<String, &str> = HashMap::new();
    for (name, _) in headers {
        let variable = header_variable(name);
        match seen.get(&variable) {
            Some(first) if first == name => {
                return Err(Fail::usage(format!("the header '{name}' is given twice")));
            }
            Some(first) => {
                return Err(Fail::usage(format!(
                    "the headers '{first}' and '{name}' are both {variable} to a command"
                ))
                .hint(
                    "names are told apart by their letters and digits alone, whatever their case",
                ));
            }
            None => seen.insert(variable, name),
        };
    }
    Ok(())
}

/// What every message of this command line has in common.
fn template(args: &Args) -> NewMessage<'static> {
    let term = Term::of(args);
    NewMessage {
        group: args.group.as_deref().map(Group::from),
        priority: args.priority.unwrap_or(0),
        due: term.due,
        ttl: term.ttl.map(Ttl::After),
        max_attempts: args.max_attempts,
        headers: args.header.clone(),
        key: args.key.clone().map(Into::into),
        ..NewMessage::new(args.queue.clone(), &b""[..])
    }
}

fn conflict(args: &Args) -> Conflict {
    if args.on_conflict == "error" {
        Conflict::Refuse
    } else {
        Conflict::Skip
    }
}

fn reading(args: &Args, framing: Framing) -> Reading {
    Reading {
        framing,
        max_payload: args.max_payload,
        key_from: args.key_from.clone(),
        group_from: args.group_from.clone(),
        term: Term::of(args),
        whole: args.atomic,
        rows: if args.atomic { WHOLE_ROWS } else { ROWS },
        bytes: if args.atomic { WHOLE_BYTES } else { BYTES },
    }
}

/// Payloads as arguments.
fn given(args: &Args, ctx: &Ctx) -> Outcome {
    let payloads = args.payloads.iter().map(|payload| payload.as_bytes());
    let shape = if args.payloads.len() == 1 {
        Shape::One
    } else {
        Shape::Many
    };
    few(args, ctx, payloads, shape)
}

/// Input that is one message.
fn single(args: &Args, ctx: &Ctx) -> Outcome {
    let source = input(args, ctx)?;
    let payload = match read_one(source, args.cut.one, args.max_payload) {
        Ok(Some(payload)) => payload,
        Ok(None) if args.cut.one => {
            ctx.ui.say("the input is empty: nothing to do");
            return Ok(Code::Done);
        }
        Ok(None) => {
            return Err(Fail::new(Kind::BadInput, "the input is empty").hint(
                Hint::from("an empty message is ")
                    .then("enqueue", &[args.queue.as_str(), ""])
                    .say("; a stream that may be empty takes --lines"),
            ));
        }
        Err(One::Lines) => {
            return Err(Fail::usage("the input has more than one line; nothing was enqueued").hint(
                "say what it is: --lines, --null, --ndjson or --envelope for a message each, --one for one message",
            ));
        }
        Err(One::TooLarge) => return Err(too_large("the input", args.max_payload).into()),
        Err(One::Unreadable(error)) => {
            return Err(Fail::new(
                Kind::BadInput,
                format!("the input cannot be read: {}", system(&error)),
            ));
        }
    };
    few(args, ctx, std::iter::once(payload.as_slice()), Shape::One)
}

fn too_large(what: &str, max: u64) -> Error {
    Error::new(
        Kind::TooLarge,
        format!("{what} has more than {}; nothing was enqueued", size(max)),
    )
    .hint("--max-payload SIZE takes more; better, enqueue where it lies instead of what it is")
}

/// Payloads that are all here: looked at before any is stored, and their ids are printed.
fn few<'a>(
    args: &Args,
    ctx: &Ctx,
    payloads: impl Iterator<Item = &'a [u8]>,
    shape: Shape,
) -> Outcome {
    // Without -o the ids alone are printed; fields of a record that nobody asked for are refused.
    let asked = ctx.plan::<Put>(Natural::Nothing, shape)?;
    let plan = match asked {
        None => ctx.plan_as::<Put>(Some(Format::Id), Natural::Nothing, shape)?,
        asked => asked,
    };
    let reading = reading(args, Framing::Lines);
    let mut batch = Batch::default();
    for (number, payload) in (1..).zip(payloads) {
        let what = if shape == Shape::One {
            "the payload".to_owned()
        } else {
            format!("payload {number}")
        };
        if payload.len() as u64 > args.max_payload {
            return Err(too_large(&what, args.max_payload).into());
        }
        let own = reading.own(payload).map_err(|why| {
            Fail::new(
                Kind::BadInput,
                format!("{what}: {why}; nothing was enqueued"),
            )
        })?;
        batch.push(number, payload, own);
    }
    let unit = Some("payload").filter(|_| shape == Shape::Many);
    let mut enqueuer = Enqueuer::new(ctx, template(args), conflict(args), unit, plan)?;
    if args.atomic {
        enqueuer.whole(&batch)?;
    } else {
        enqueuer.each(&batch)?;
    }
    enqueuer.finish(false)
}

/// Input that is any number of messages.
fn stream(args: &Args, ctx: &Ctx, framing: Framing) -> Outcome {
    let plan = ctx.plan::<Put>(Natural::Nothing, Shape::Many)?;
    let source = input(args, ctx)?;
    let stop = ctx.listen()?;
    let batches = read(source, reading(args, framing)).map_err(|error| {
        Fail::System(
            Code::Bug,
            format!("no thread can be started: {}", system(&error)),
        )
    })?;
    let mut enqueuer = Enqueuer::new(
        ctx,
        template(args),
        conflict(args),
        Some(framing.unit()),
        plan,
    )?;
    let bar = ctx.ui.progress("enqueue", None);
    loop {
        // A signal may come while a slow producer has nothing for us.
        let batch = match batches.recv_timeout(Duration::from_millis(100)) {
            Ok(batch) => batch,
            Err(RecvTimeoutError::Timeout) => {
                if let Some(code) = stop.code() {
                    drop(bar);
                    return enqueuer.stopped(code);
                }
                continue;
            }
            Err(RecvTimeoutError::Disconnected) => break,
        };
        enqueuer.skip_empty(batch.empty);
        if args.atomic {
            if let Some(error) = batch.bad {
                return Err(none(&error).into());
            }
            enqueuer.whole(&batch)?;
            continue;
        }
        let count = batch.items.len() as u64;
        bar.around(|| enqueuer.each(&batch))?;
        bar.advance(count);
        if let Some(error) = batch.bad {
            drop(bar);
            return Err(enqueuer.failed(&error));
        }
        if let Some(code) = stop.code() {
            drop(bar);
            return enqueuer.stopped(code);
        }
    }
    drop(bar);
    enqueuer.finish(true)
}

/// Standard input, or the file. It is read without a buffer of the standard library's.
fn input(args: &Args, ctx: &Ctx) -> Result<File, Fail> {
    if let Some(path) = &args.file {
        return File::open(path).map_err(|error| {
            Fail::new(
                Kind::BadInput,
                format!("{} cannot be read: {}", path.display(), system(&error)),
            )
        });
    }
    let stdin = std::io::stdin();
    if std::io::IsTerminal::is_terminal(&stdin) {
        ctx.ui
            .say("reading from the terminal; Ctrl-D at the beginning of a line ends it");
    }
    let fd = stdin.as_fd().try_clone_to_owned().map_err(|error| {
        Fail::new(
            Kind::BadInput,
            format!("standard input cannot be read: {}", system(&error)),
        )
    })?;
    Ok(fd.into())
}
