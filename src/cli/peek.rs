//! `peek`: a look at messages that changes nothing.

use super::ctx::{Ctx, who};
use super::exit::Code;
use super::fail::{Fail, Outcome};
use super::report::Report;
use super::show::{left_text, missing};
use super::{select, suggest, words};
use crate::backend::{Backend, Depth, Detail, Intent};
use crate::bulk::{Look, look};
use crate::queue::time::age_text;
use crate::queue::{Message, MessageId, Order, QueueName, Reason, Selection, State, Timestamp};
use crate::ui::table::WIDEST_CUT;
use crate::ui::text::{counted, grouped};
use crate::ui::{
    Align, Cell, Column, Fit, Format, Natural, OutError, Plan, Shape, Shown, Stream, Tone,
};
use std::collections::HashSet;

/// So many are shown on a terminal where no limit is given.
const SCREENFUL: u64 = 20;
/// So many are counted for "20 of 200,000".
const COUNTED: u64 = 1_000_000;

/// `peek`
#[derive(clap::Args, Debug)]
#[command(
    after_help = "Shows what is running, ready, delayed and blocked, as it will run; --dead the latest dead letters \
    first. Nothing changes: no lease, no attempt. A terminal gets a table of 20 (-n 0: all), a pipe or a file all of \
    them as NDJSON.\n\n\
    Examples:\n  qops peek orders\n  qops peek orders --dead --error 429\n  \
    qops peek orders --group customer:7 -o id | qops requeue orders - --delay 5m\n  \
    qops peek orders -e --state ready -q -n 1 > /dev/null && echo something to do"
)]
pub struct Args {
    /// The queue
    #[arg(value_name = "QUEUE")]
    pub queue: QueueName,
    /// Which messages.
    #[command(flatten)]
    pub select: select::Flags,
    /// Exit with 1 where nothing matches
    #[arg(short, long, help_heading = clap::builder::Resettable::Reset)]
    pub exit_status: bool,
}

/// What is meant where no state is named.
const WAITING: &[State] = &[State::Running, State::Ready, State::Delayed, State::Blocked];

/// Prints the messages.
pub(super) fn run(args: &Args, ctx: &Ctx) -> Outcome {
    let Some(plan) = ctx.plan::<Message>(Natural::Records, Shape::Many)? else {
        return Ok(Code::Done);
    };
    for assumed in args.select.filter.assumed() {
        ctx.ui.note(format!("took {assumed}"));
    }
    let ids = args.select.ids(std::io::stdin().lock())?;
    let mut store = ctx.read()?;
    let intent = Intent {
        verb: "peek",
        who: &who(),
        why: "",
    };
    let now = store.begin(&intent)?.at;
    let otherwise = if ids.is_some() { &[][..] } else { WAITING };
    let what = args
        .select
        .selection(args.queue.clone(), None, otherwise, now);
    let on_screen = plan.format() == Format::Table && ctx.ui.stdout_is_terminal();
    let limit = match args.select.filter.limit {
        None if on_screen && ids.is_none() => Some(SCREENFUL),
        _ => args.select.filter.limit(),
    };
    let walk = Look {
        what: &what,
        order: Order::Run,
        reverse: args.select.filter.reverse,
        limit,
        detail: if plan.names("history") {
            Detail::History
        } else {
            Detail::Full
        },
    };
    let mut report = Report::default();
    let shown = print(
        ctx,
        plan,
        store.as_mut(),
        &walk,
        ids.as_ref(),
        now,
        &mut report,
    )?;
    if on_screen && args.select.filter.limit.is_none() && limit == Some(shown) {
        more(ctx, store.as_mut(), &what, shown)?;
    }
    if shown == 0 && !args.select.is_given() {
        only_dead(ctx, store.as_mut(), &args.queue)?;
    } else if shown == 0 && ids.is_none() {
        ctx.ui.say(no_match(args));
    }
    Ok(match report.code() {
        Code::Done if args.exit_status && shown == 0 => Code::Nothing,
        code => code,
    })
}

/// Prints what the walk meets; answers how many.
fn print(
    ctx: &Ctx,
    plan: Plan,
    store: &mut dyn Backend,
    walk: &Look<'_>,
    ids: Option<&select::Ids>,
    now: Timestamp,
    report: &mut Report,
) -> Result<u64, Fail> {
    // Who works on what, where that was asked for: in a look at a whole queue it would only take room.
    let runs = walk.what.states.contains(&State::Running) && walk.what.states != WAITING;
    let columns = if walk.what.only_dead() {
        of_dead(now)
    } else {
        of_waiting(now, runs)
    };
    let mut stream = Stream::new(&ctx.ui, plan, columns);
    for part in parts(walk.what, ids, walk.reverse) {
        let left = walk.limit.map(|limit| limit - report.done);
        if left == Some(0) {
            break;
        }
        let (mut failed, mut met) = (None::<OutError>, HashSet::new());
        let walk = Look {
            what: &part,
            limit: left,
            ..*walk
        };
        let looked = look(store, &walk, &mut |message| {
            failed = stream.push(&message).err();
            if part.ids.is_some() {
                met.insert(message.id);
            }
            Ok(failed.is_none())
        })?;
        if let Some(error) = failed {
            return Err(error.into());
        }
        report.done += looked.shown;
        if left.is_none_or(|left| looked.shown < left) {
            complain(ctx, &part, &met, looked.gone, report);
        }
    }
    stream.finish()?;
    Ok(report.done)
}

/// One look, or one for every few ids: a list of a million is gone through once, as it was given.
fn parts<'a>(
    what: &'a Selection,
    ids: Option<&'a select::Ids>,
    reverse: bool,
) -> Box<dyn Iterator<Item = Selection> + 'a> {
    // Few: a store may compare each message with each id of a list.
    const IDS: usize = 200;
    let Some(ids) = ids else {
        return Box::new(std::iter::once(what.clone()));
    };
    let few = |ids: Vec<MessageId>| Selection {
        ids: Some(ids),
        ..what.clone()
    };
    if reverse {
        Box::new(ids.chunks_from_end(IDS).map(few))
    } else {
        Box::new(ids.chunks(IDS).map(few))
    }
}

fn more(ctx: &Ctx, store: &mut dyn Backend, what: &Selection, shown: u64) -> Result<(), Fail> {
    let all = store.count(what, COUNTED)?;
    if all.n > shown {
        let least = if all.exact { "" } else { "more than " };
        let (shown, all) = (grouped(shown), grouped(all.n));
        ctx.ui.say(format!("{shown} of {least}{all}; -n 0 for all"));
    }
    Ok(())
}

/// That nothing is there of what was asked for.
fn no_match(args: &Args) -> String {
    let queue = &args.queue;
    if args.select.filter.is_given() {
        return format!("nothing in {queue} matches");
    }
    let states: Vec<&str> = if args.select.dead {
        vec![State::Dead.word()]
    } else {
        args.select.state.iter().map(|state| state.word()).collect()
    };
    format!("nothing in {queue} is {}", states.join(" or "))
}

/// An empty queue is no news; one that has nothing but dead letters is.
fn only_dead(ctx: &Ctx, store: &mut dyn Backend, queue: &QueueName) -> Result<(), Fail> {
    let reports = store.stats(Some(std::slice::from_ref(queue)), Depth::Quick)?;
    let dead = reports.first().map_or(0, |report| report.counts.dead);
    if dead > 0 {
        let dead = counted(dead, "dead letter", "dead letters");
        let peek = words::command(&ctx.program(), "peek --dead", &[queue.as_str()]);
        ctx.ui.note(format!("nothing is waiting; {dead}: {peek}"));
    } else {
        ctx.ui.say(format!("nothing is in {queue}"));
    }
    Ok(())
}

/// Names the ids that were asked for, by nothing but their ids, and were not met.
fn complain(
    ctx: &Ctx,
    what: &Selection,
    met: &HashSet<MessageId>,
    gone: Vec<MessageId>,
    report: &mut Report,
) {
    let by_id_alone = Selection {
        ids: what.ids.clone(),
        queue: what.queue.clone(),
        ..Selection::default()
    };
    if by_id_alone != *what {
        return;
    }
    let gone: HashSet<MessageId> = gone.into_iter().collect();
    for id in what.ids.iter().flatten().filter(|id| !met.contains(*id)) {
        let fail = Fail::from(missing(id, gone.contains(id)));
        report.fail(ctx, &suggest::explained(fail, ctx));
    }
}

fn of_waiting<'a>(now: Timestamp, runs: bool) -> Vec<Column<'a, Message>> {
    let mut columns = vec![
        id(),
        Column::new(
            "STATE",
            Align::Left,
            Fit::Whole,
            move |message: &Message| {
                let tone = match message.state {
                    State::Running => Tone::Good,
                    State::Dead => Tone::Bad,
                    State::Ready | State::Delayed | State::Blocked => Tone::Plain,
                };
                Cell::new(Shown::new(standing(message, now))).tone(tone)
            },
        ),
        Column::new("AGE", Align::Left, Fit::Whole, move |message: &Message| {
            Cell::new(Shown::new(age_text(now.since(message.enqueued_at))))
        }),
    ];
    if runs {
        columns.extend([worker(), lease(now)]);
    }
    columns.extend([tries(), key(), error(), payload()]);
    columns
}

/// The state, and when it ends if that is known.
fn standing(message: &Message, now: Timestamp) -> String {
    let at = match message.state {
        State::Delayed => message.ready_at,
        State::Running => message.lease_until,
        State::Ready | State::Blocked | State::Dead => None,
    };
    match (message.state, at) {
        (State::Delayed, Some(at)) => format!("delayed {}", left_text(at.since(now))),
        (State::Running, Some(until)) if until <= now => "running, lease ended".to_owned(),
        (state, _) => state.to_string(),
    }
}

fn of_dead<'a>(now: Timestamp) -> Vec<Column<'a, Message>> {
    vec![
        id(),
        Column::new("DIED", Align::Left, Fit::Whole, move |message: &Message| {
            let died = message.died_at.map(|at| age_text(now.since(at)));
            Cell::new(Shown::new(
                died.map_or(String::new(), |age| format!("{age} ago")),
            ))
        }),
        Column::new("REASON", Align::Left, Fit::Whole, |message: &Message| {
            let reason = message.reason.map(Reason::word);
            Cell::new(Shown::new(reason.unwrap_or_default()))
        }),
        tries(),
        key(),
        error(),
        payload(),
    ]
}

fn id<'a>() -> Column<'a, Message> {
    Column::new("ID", Align::Right, Fit::Whole, |message: &Message| {
        Cell::new(Shown::new(&message.id))
    })
}

fn worker<'a>() -> Column<'a, Message> {
    Column::new("WORKER", Align::Left, Fit::Whole, |message: &Message| {
        Cell::new(Shown::new(message.worker.as_deref().unwrap_or_default()))
    })
}

fn lease<'a>(now: Timestamp) -> Column<'a, Message> {
    Column::new(
        "LEASE",
        Align::Left,
        Fit::Whole,
        move |message: &Message| {
            let left = message.lease_until.map(|until| {
                if until <= now {
                    format!("ended {} ago", age_text(now.since(until)))
                } else {
                    format!("{} left", left_text(until.since(now)))
                }
            });
            Cell::new(Shown::new(left.unwrap_or_default()))
        },
    )
}

fn tries<'a>() -> Column<'a, Message> {
    Column::new("TRIES", Align::Right, Fit::Whole, |message: &Message| {
        Cell::number(message.attempts.into())
    })
}

fn key<'a>() -> Column<'a, Message> {
    Column::new("KEY", Align::Left, Fit::Cut, |message: &Message| {
        Cell::new(Shown::new(message.key.as_deref().unwrap_or_default()))
    })
    .optional()
}

fn error<'a>() -> Column<'a, Message> {
    Column::new("LAST ERROR", Align::Left, Fit::Cut, |message: &Message| {
        let error = message.last_error.as_deref().unwrap_or_default();
        Cell::new(Shown::preview(error.as_bytes(), WIDEST_CUT))
    })
    .optional()
}

fn payload<'a>() -> Column<'a, Message> {
    Column::new("PAYLOAD", Align::Left, Fit::Cut, |message: &Message| {
        Cell::new(Shown::preview(&message.payload, WIDEST_CUT))
    })
}
