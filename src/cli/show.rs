//! `show`: one message in full, every run of it, and what one can do next.

mod layout;

use super::ctx::{Ctx, who};
use super::exit::Code;
use super::fail::{Fail, Outcome};
use super::report::Report;
use super::select::Ids;
use super::suggest;
use crate::backend::{self, Backend, Detail, Intent, Kind};
use crate::bulk::{Look, look};
use crate::queue::{Hint, Message, MessageId, Order, Selection};
use crate::ui::{Loudness, Natural, Shape, Stream};
use layout::View;
pub(super) use layout::left_text;
use std::collections::{HashMap, HashSet};

/// `show`
#[derive(clap::Args, Debug)]
#[command(
    after_help = "With -v all that its command said on stderr, of every run.\n\n\
    Examples:\n  qops show 88120\n  qops show 88120 -o json | jq .history\n  \
    qops show 88120 -o raw > payload"
)]
pub struct Args {
    /// The messages' ids; - reads ids or records from standard input, one a line
    #[arg(required = true, value_name = "ID")]
    pub ids: Vec<String>,
}

/// Prints each message.
pub(super) fn run(args: &Args, ctx: &Ctx) -> Outcome {
    let shape = match args.ids.as_slice() {
        [id] if id != "-" => Shape::One,
        _ => Shape::Many,
    };
    let plan = ctx.plan::<Message>(Natural::Text, shape)?;
    let ids = Ids::named(&args.ids, std::io::stdin().lock())?;
    if ids.is_empty() {
        if let Some(plan) = plan {
            Stream::<Message>::new(&ctx.ui, plan, vec![]).finish()?;
        }
        return Ok(Code::Done);
    }
    let mut store = ctx.read()?;
    let intent = Intent {
        verb: "show",
        who: &who(),
        why: "",
    };
    let view = View {
        now: store.begin(&intent)?.at,
        width: ctx.ui.width(),
        program: &ctx.program(),
        verbose: ctx.ui.loudness() == Loudness::Verbose,
    };
    let mut stream = plan.map(|plan| Stream::new(&ctx.ui, plan, vec![]));
    let mut report = Report::default();
    in_turn(store.as_mut(), &ids, &mut |found| {
        match found {
            Ok(message) => {
                if let Some(stream) = &mut stream {
                    stream.push(&message)?;
                } else {
                    if report.done > 0 {
                        ctx.ui.out_line(&[])?;
                    }
                    for line in layout::lines(&message, &view) {
                        ctx.ui.out_line(&line)?;
                    }
                }
                report.done += 1;
            }
            Err(error) => {
                let fail = suggest::explained(Fail::from(error), ctx);
                // Of a list, each would have the same.
                let fail = if shape == Shape::One {
                    fail.hint(which())
                } else {
                    fail
                };
                report.fail(ctx, &fail);
            }
        }
        Ok(())
    })?;
    // Nothing found is no value, not an empty one: a program that reads it would take the object for one without fields.
    if let Some(stream) = stream {
        stream.finish()?;
    }
    Ok(report.code())
}

fn which() -> Hint {
    Hint::run("queues", &[])
        .say(" lists the queues, ")
        .then("peek", &["QUEUE"])
        .say(" the messages of one")
}

/// Hands over each message, or why it is not there, in the order of the ids.
fn in_turn(
    store: &mut dyn Backend,
    ids: &Ids,
    hand: &mut dyn FnMut(Result<Message, backend::Error>) -> Result<(), Fail>,
) -> Result<(), Fail> {
    for some in ids.chunks(TOGETHER) {
        // Where the store fails with all of them, each is asked for by itself; one alone is anyway.
        let mut together = match some.as_slice() {
            [_] => Found::default(),
            _ => find(store, &some).unwrap_or_default(),
        };
        for id in &some {
            let found = match together.take(id) {
                Some(found) => found,
                None => find(store, std::slice::from_ref(id)).and_then(|mut alone| {
                    alone.take(id).unwrap_or_else(|| Err(missing(id, false)))
                }),
            };
            hand(found)?;
        }
    }
    Ok(())
}

/// So many are looked for in one call.
const TOGETHER: usize = 200;
/// So many bytes of payload, and of what was kept of stderr, are held for their turn in the order of the command line.
const HELD: usize = 8 << 20;

/// What a look for several ids found.
#[derive(Default)]
struct Found {
    messages: HashMap<MessageId, Message>,
    gone: HashSet<MessageId>,
    /// All of them were looked at: what is in neither list is not there.
    whole: bool,
}

impl Found {
    /// A message, or that it is missing; none where this look does not tell.
    fn take(&mut self, id: &MessageId) -> Option<Result<Message, backend::Error>> {
        match self.messages.remove(id) {
            Some(message) => Some(Ok(message)),
            None if self.whole => Some(Err(missing(id, self.gone.contains(id)))),
            None => None,
        }
    }
}

fn find(store: &mut dyn Backend, ids: &[MessageId]) -> Result<Found, backend::Error> {
    let what = Selection {
        ids: Some(ids.to_vec()),
        ..Selection::default()
    };
    let all = Look {
        what: &what,
        order: Order::Run,
        reverse: false,
        limit: None,
        detail: Detail::History,
    };
    let mut found = Found::default();
    let mut bytes = 0;
    let looked = look(store, &all, &mut |message| {
        let stderr = message.history.iter().map(|run| run.stderr.len());
        bytes += message.payload.len() + stderr.sum::<usize>();
        found.messages.insert(message.id.clone(), message);
        Ok(bytes < HELD)
    })?;
    found.whole = bytes < HELD;
    found.gone = looked.gone.into_iter().collect();
    Ok(found)
}

/// What is said of an id that is not there; `gone`: it was issued once.
pub(super) fn missing(id: &MessageId, gone: bool) -> backend::Error {
    let what = if gone {
        format!("message {id} is no longer here: it is done or was purged")
    } else {
        format!("there is no message '{id}'")
    };
    let error = backend::Error::new(Kind::NotFound, what).with("id", id.as_str());
    match id.as_str() {
        "" => error.hint("the id is empty: what should have printed it found nothing (peek -e exits 1 then)"),
        text if text.contains(char::is_whitespace) => error.hint(
            "ids are words of their own; -n1 -o id prints one, and peek, requeue and purge read them from standard input with -",
        ),
        _ => error,
    }
}
