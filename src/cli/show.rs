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
    for id in ids.iter() {
        match find(store.as_mut(), &id) {
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
    }
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

fn find(store: &mut dyn Backend, id: &MessageId) -> Result<Message, backend::Error> {
    let what = Selection {
        ids: Some(vec![id.clone()]),
        ..Selection::default()
    };
    let one = Look {
        what: &what,
        order: Order::Run,
        reverse: false,
        limit: Some(1),
        detail: Detail::History,
    };
    let mut found = None;
    let looked = look(store, &one, &mut |message| {
        found = Some(message);
        Ok(false)
    })?;
    found.ok_or_else(|| missing(id, looked.gone.contains(id)))
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
