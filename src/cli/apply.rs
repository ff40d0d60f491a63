//! What requeue, drain and purge share: count first, ask, then change in chunks, and say what became of each.

use super::ctx::{Ctx, who};
use super::exit::Code;
use super::fail::{Fail, Outcome};
use super::report::{self, Did, Report};
use super::{select, suggest, words};
use crate::backend::{Backend, Change, Intent, Kind, Op, Page, Run};
use crate::bulk::{Ended, Walk, change};
use crate::queue::time::age_text;
use crate::queue::{MessageId, Order, QueueName, Selection, State, Timestamp};
use crate::ui::text::{counted, grouped};
use crate::ui::{Answer, Plan, Shape, Shown};

/// So many ids are looked up in one call.
const IDS: usize = 1_000;

/// Flags of every verb that changes many messages.
#[derive(clap::Args, Clone, Debug, Default)]
#[command(next_help_heading = "Before anything is changed")]
pub struct Guards {
    /// Do not ask
    #[arg(long, short)]
    pub yes: bool,
    /// Show what would be done; change nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Refuse (4) unless exactly so many messages are meant
    #[arg(long, value_name = "N")]
    pub expect: Option<u64>,
}

/// The words of a verb.
#[derive(Clone, Copy, Debug)]
pub struct Wording {
    /// `requeue`
    pub verb: &'static str,
    /// `Requeue`, at the head of a question.
    pub ask: &'static str,
    /// `requeued`
    pub past: &'static str,
    /// `would requeue`
    pub would: &'static str,
}

/// A change that somebody typed.
pub(super) struct Job<'a> {
    pub(super) ctx: &'a Ctx,
    pub(super) wording: Wording,
    pub(super) queue: &'a QueueName,
    pub(super) select: &'a select::Flags,
    pub(super) guards: &'a Guards,
    /// All states that the verb takes where none is named.
    pub(super) states: &'a [State],
    pub(super) change: Change<'a>,
    /// Dead letters that expired are passed over.
    pub(super) skip_expired: bool,
    /// What is meant died before the verb began.
    pub(super) bounded: bool,
    /// Ids do not stand for a confirmation.
    pub(super) always_ask: bool,
}

impl Job<'_> {
    /// Runs the whole of it.
    pub(super) fn run(&self) -> Outcome {
        let plan = Did::plan(self.ctx, Shape::One)?;
        for zone in self.select.assumed() {
            self.ctx.ui.note(zone);
        }
        let ids = self.select.ids(std::io::stdin().lock())?;
        if ids.as_ref().is_some_and(Vec::is_empty) && self.guards.expect.is_none_or(|n| n == 0) {
            self.ctx.ui.say("nothing is selected");
            report::print(
                self.ctx,
                plan,
                &[Report::default().did(self.wording.verb, self.queue, 0)],
            )?;
            return Ok(Code::Done);
        }
        let mut store = if self.guards.dry_run {
            self.ctx.read()?
        } else {
            self.ctx.write()?
        };
        let op = begin(self.ctx, store.as_mut(), self.wording.verb)?;
        let chunks = self.selections(ids, op.at);
        self.agree(store.as_mut(), &chunks, &op)?;
        if self.guards.dry_run {
            return self.show(store.as_mut(), &chunks, &op, plan);
        }
        self.apply(store.as_mut(), &chunks, &op, plan)
    }

    /// What is meant: one selection, or one for every thousand ids.
    pub(super) fn selections(&self, ids: Option<Vec<MessageId>>, now: Timestamp) -> Vec<Selection> {
        let named = ids.is_some();
        // Whoever names a message means it whatever its state is, save for a drain; what cannot be done with it is said.
        let states = if named && !self.bounded {
            &[]
        } else {
            self.states
        };
        let mut what = self.select.selection(self.queue.clone(), None, states, now);
        what.skip_expired = self.skip_expired && !named;
        if self.bounded {
            what.until = Some(what.until.map_or(now, |until| until.min(now)));
        }
        match ids {
            None => vec![what],
            Some(ids) => {
                let chunks = ids.chunks(IDS);
                chunks
                    .map(|some| Selection {
                        ids: Some(some.to_vec()),
                        ..what.clone()
                    })
                    .collect()
            }
        }
    }

    /// Refuses another count than was expected, and asks where somebody must agree.
    pub(super) fn agree(
        &self,
        store: &mut dyn Backend,
        chunks: &[Selection],
        op: &Op,
    ) -> Result<(), Fail> {
        let named = chunks.iter().any(|what| what.ids.is_some());
        let name_wanted = self.ctx.wants_name()?;
        let must_agree =
            !self.guards.yes && !self.guards.dry_run && (!named || self.always_ask || name_wanted);
        if self.guards.expect.is_none() && !must_agree {
            // A queue that was never there is an error also where nobody asks for a count.
            return Ok(());
        }
        let n = self.count(store, chunks)?;
        if let Some(expected) = self.guards.expect.filter(|expected| *expected != n) {
            let what = format!(
                "{} would be {}, not {}; nothing changed",
                counted(n, self.noun(false), self.noun(true)),
                self.wording.past,
                grouped(expected)
            );
            return Err(Fail::new(Kind::Refused, what)
                .hint(format!("look first: {}", self.retyped("--dry-run"))));
        }
        if !must_agree || n == 0 {
            return Ok(());
        }
        self.ask(store, chunks, op, n, name_wanted)
    }

    fn ask(
        &self,
        store: &mut dyn Backend,
        chunks: &[Selection],
        op: &Op,
        n: u64,
        by_name: bool,
    ) -> Result<(), Fail> {
        let question = format!(
            "{} {} of {} on {}?",
            self.wording.ask,
            counted(n, self.noun(false), self.noun(true)),
            self.queue,
            self.ctx.place()?
        );
        let samples = samples(store, &chunks[0], op.at)?;
        let answer = if by_name {
            self.ctx
                .ui
                .confirm_by_name(&question, self.queue.as_str(), &samples)
        } else {
            self.ctx.ui.confirm(&question, &samples)
        };
        match answer.map_err(|error| {
            Fail::System(
                Code::Refused,
                format!("the terminal could not be asked: {error}"),
            )
        })? {
            Answer::Yes => Ok(()),
            Answer::No => Err(Fail::new(Kind::Refused, "not confirmed; nothing changed")),
            Answer::Interrupted => Err(Fail::System(
                Code::Interrupted,
                "interrupted; nothing changed".to_owned(),
            )),
            Answer::Nobody => {
                let what = format!(
                    "this {} {} of {}, and there is no terminal to ask on; nothing changed",
                    self.wording.would,
                    counted(n, self.noun(false), self.noun(true)),
                    self.queue
                );
                Err(Fail::new(Kind::Refused, what).hint(self.retyped("--yes")))
            }
        }
    }

    /// How many are meant, the limit counted in.
    fn count(&self, store: &mut dyn Backend, chunks: &[Selection]) -> Result<u64, Fail> {
        let mut n = 0;
        for what in chunks {
            n += store.count(what, u64::MAX - 1)?.n;
        }
        Ok(self.select.limit().map_or(n, |limit| n.min(limit)))
    }

    /// The command line again, with one more flag.
    fn retyped(&self, flag: &str) -> String {
        let mut line = vec!["qops".to_owned()];
        let typed = self.ctx.args().iter().skip(1);
        line.extend(typed.map(|word| words::shell_word(&word.to_string_lossy())));
        line.push(flag.to_owned());
        line.join(" ")
    }

    fn noun(&self, many: bool) -> &'static str {
        let dead =
            self.select.dead || (self.select.state.is_empty() && self.states == [State::Dead]);
        let named = !(self.select.ids.is_empty() && self.select.named.is_empty());
        match (dead && !named, many) {
            (true, true) => "dead letters",
            (true, false) => "dead letter",
            (false, true) => "messages",
            (false, false) => "message",
        }
    }

    /// A dry run: what would be done, of how many.
    pub(super) fn show(
        &self,
        store: &mut dyn Backend,
        chunks: &[Selection],
        op: &Op,
        plan: Option<Plan>,
    ) -> Outcome {
        let mut report = Report::default();
        let code = self.walk(store, chunks, op, Run::Dry, &mut report)?;
        let matched = report.done + report.skipped + report.failed();
        let whole = Selection {
            states: chunks[0].states.clone(),
            ..Selection::of(self.queue.clone())
        };
        let of = store.count(&whole, u64::MAX - 1)?.n;
        let oldest = oldest(store, &chunks[0], op.at)?
            .map_or(String::new(), |age| format!(" (oldest {age})"));
        let numbers = if of > report.done {
            format!(
                "{} of {}",
                grouped(report.done),
                counted(of, self.noun(false), self.noun(true))
            )
        } else {
            counted(report.done, self.noun(false), self.noun(true))
        };
        self.ctx.ui.tell(format!(
            "{} {numbers}{oldest}; nothing changed",
            self.wording.would
        ));
        report::print(
            self.ctx,
            plan,
            &[Did {
                done: 0,
                ..report.did(self.wording.verb, self.queue, matched)
            }],
        )?;
        // What cannot be done is named, as it will be; a look by itself does not fail.
        Ok(if code == Code::Done {
            Code::Done
        } else {
            report.code_of_failures()
        })
    }

    fn apply(
        &self,
        store: &mut dyn Backend,
        chunks: &[Selection],
        op: &Op,
        plan: Option<Plan>,
    ) -> Outcome {
        let mut report = Report::default();
        let code = self.walk(store, chunks, op, Run::Do, &mut report)?;
        let matched = report.done + report.skipped + report.failed();
        let place = self.ctx.place()?;
        self.ctx.ui.say(format!(
            "{} {} of {} ({place})",
            self.wording.past,
            counted(report.done, self.noun(false), self.noun(true)),
            self.queue
        ));
        report::print(
            self.ctx,
            plan,
            &[report.did(self.wording.verb, self.queue, matched)],
        )?;
        Ok(code)
    }

    /// All chunks, one after the other. Answers the code of a signal, of what was passed over, or of all well.
    fn walk(
        &self,
        store: &mut dyn Backend,
        chunks: &[Selection],
        op: &Op,
        run: Run,
        report: &mut Report,
    ) -> Result<Code, Fail> {
        let stop = self.ctx.listen()?;
        let bar = self.ctx.ui.progress(self.wording.verb, None);
        for what in chunks {
            let left = self
                .select
                .limit()
                .map(|limit| limit - report.done.min(limit));
            if left == Some(0) {
                break;
            }
            let mut seen: Vec<MessageId> = vec![];
            let walk = Walk {
                what,
                change: &self.change,
                op,
                limit: left,
                reverse: self.select.reverse,
                run,
            };
            let named = what.ids.is_some();
            let walked = change(store, &walk, &mut |changed| {
                bar.advance(changed.done.len() as u64);
                bar.around(|| {
                    for (id, why) in &changed.skipped {
                        let fail = Fail::new(
                            Kind::Conflict,
                            format!("message {id} of {} is passed over: {why}", self.queue),
                        );
                        report.skip(self.ctx, &fail);
                    }
                });
                if named {
                    seen.extend(changed.done.iter().cloned());
                    seen.extend(changed.skipped.iter().map(|(id, _)| id.clone()));
                }
                stop.code().is_none()
            });
            match walked {
                Ok(walked) => {
                    report.done += walked.done;
                    if named && left.is_none() {
                        self.missing(store, what, &seen, report)?;
                    }
                    let stopped = stop
                        .code()
                        .filter(|_| walked.ended == Ended::Stopped || run == Run::Do);
                    if let (Some(code), Ended::Stopped) = (stopped, walked.ended) {
                        bar.around(|| self.stopped(report));
                        return Ok(code);
                    }
                }
                Err((walked, error)) => {
                    report.done += walked.done;
                    if report.done > 0 {
                        let so_far = counted(report.done, self.noun(false), self.noun(true));
                        bar.around(|| {
                            self.ctx.ui.note(format!(
                                "{} {so_far} before the store failed; run it again and it goes on",
                                self.wording.past
                            ));
                        });
                    }
                    return Err(error.into());
                }
            }
            if let Some(code) = stop.code() {
                bar.around(|| self.stopped(report));
                return Ok(code);
            }
        }
        bar.finish();
        Ok(report.code())
    }

    fn stopped(&self, report: &Report) {
        let so_far = counted(report.done, self.noun(false), self.noun(true));
        self.ctx.ui.note(format!(
            "stopped: {} {so_far}; run it again and it goes on",
            self.wording.past
        ));
    }

    /// Ids that were named and are in no list: each is said, with why.
    fn missing(
        &self,
        store: &mut dyn Backend,
        what: &Selection,
        seen: &[MessageId],
        report: &mut Report,
    ) -> Result<(), Fail> {
        let Some(ids) = &what.ids else { return Ok(()) };
        let seen: std::collections::HashSet<&MessageId> = seen.iter().collect();
        let mut lost: Vec<MessageId> = ids
            .iter()
            .filter(|id| !seen.contains(id))
            .cloned()
            .collect();
        lost.sort();
        lost.dedup();
        if lost.is_empty() {
            return Ok(());
        }
        let anywhere = Selection {
            ids: Some(lost.clone()),
            ..Selection::default()
        };
        let peeked = store.peek(
            &anywhere,
            &Page {
                bytes: usize::MAX,
                ..Page::first(lost.len(), Order::Oldest)
            },
        )?;
        for id in lost {
            let found = peeked.rows.iter().find(|message| message.id == id);
            let fail = match found {
                Some(message) if message.queue != *self.queue => Fail::new(
                    Kind::NotFound,
                    format!(
                        "message {id} is in queue '{}', not in '{}'",
                        message.queue, self.queue
                    ),
                ),
                // It is there, and another flag leaves it out: that is what the flag is for.
                Some(message) if what.states.is_empty() || what.states.contains(&message.state) => {
                    continue;
                }
                Some(message) => {
                    Fail::new(Kind::Conflict, format!("message {id} is {}", message.state))
                }
                None if peeked.gone.contains(&id) => Fail::new(
                    Kind::NotFound,
                    format!("message {id} is no longer here: it is done, or was purged"),
                ),
                None => suggest::explained(
                    Fail::new(Kind::NotFound, format!("there is no message {id}")),
                    self.ctx,
                ),
            };
            report.fail(self.ctx, &fail);
        }
        Ok(())
    }
}

/// Opens an operation.
///
/// # Errors
/// Whatever the store says.
pub fn begin(ctx: &Ctx, store: &mut dyn Backend, verb: &'static str) -> Result<Op, Fail> {
    let why = ctx
        .args()
        .iter()
        .map(|word| word.to_string_lossy())
        .collect::<Vec<_>>()
        .join(" ");
    Ok(store.begin(&Intent {
        verb,
        who: &who(),
        why: &why,
    })?)
}

/// How long the oldest of what is meant has been there, or dead.
fn oldest(
    store: &mut dyn Backend,
    what: &Selection,
    now: Timestamp,
) -> Result<Option<String>, Fail> {
    let peeked = store.peek(what, &Page::first(1, Order::Oldest))?;
    Ok(peeked
        .rows
        .first()
        .map(|message| age_text(now.since(message.died_at.unwrap_or(message.enqueued_at)))))
}

/// Three of what is meant, for a question.
fn samples(store: &mut dyn Backend, what: &Selection, now: Timestamp) -> Result<Vec<Shown>, Fail> {
    let peeked = store.peek(what, &Page::first(3, Order::Oldest))?;
    let line = |message: &crate::queue::Message| {
        let age = age_text(now.since(message.died_at.unwrap_or(message.enqueued_at)));
        let error = message
            .last_error
            .as_deref()
            .map_or(String::new(), |error| format!("  {error}"));
        let payload = Shown::preview(&message.payload, 40);
        Shown::new(format!(
            "{}  {}  {age} ago  {payload}{error}",
            message.id, message.state
        ))
        .fitted(100)
    };
    Ok(peeked.rows.iter().map(line).collect())
}

/// Refuses a verb that writes and says nothing about what it means.
///
/// # Errors
/// The two likeliest command lines, in the hint.
pub fn want_selection(
    ctx: &Ctx,
    verb: &str,
    queue: &QueueName,
    given: bool,
    likely: [&str; 2],
) -> Result<(), Fail> {
    if given {
        return Ok(());
    }
    let program = words::program(ctx);
    let queue = words::shell_word(queue.as_str());
    let hints = likely.map(|rest| format!("{program} {verb} {queue} {rest}"));
    Err(Fail::usage(format!(
        "{verb} needs to know which messages: ids, a filter, or --all"
    ))
    .hint(hints.join("\n")))
}
