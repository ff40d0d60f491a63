//! What requeue, drain and purge share: count first, ask, then change in chunks, and say what became of each.

mod missing;
mod said;

use super::ctx::{Ctx, who};
use super::exit::Code;
use super::fail::{Fail, Outcome};
use super::report::{self, Did, Report};
use super::select::{self, Ids};
use super::stop::Stop;
use crate::backend::{Backend, Change, Intent, Kind, Op, Page, Run};
use crate::bulk::{Ended, Walk, change};
use crate::queue::time::age_text;
use crate::queue::{Hint, Message, MessageId, Order, QueueName, Selection, State, Timestamp};
use crate::ui::text::grouped;
use crate::ui::{Answer, Plan, Progress, Shape, Shown};
use std::collections::HashSet;

/// So many ids are changed in one call.
const IDS: usize = 500;
/// Nobody has more.
const ALL: u64 = u64::MAX - 1;

/// Flags of every verb that changes many messages.
#[derive(clap::Args, Clone, Debug, Default)]
#[command(next_help_heading = "Before anything is changed")]
pub struct Guards {
    /// Do not ask
    #[arg(long)]
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

/// Which states a verb means.
#[derive(Clone, Copy, Debug)]
pub(super) struct States<'a> {
    /// Where none is named.
    pub(super) otherwise: &'a [State],
    /// Also where ids are named: else whoever names a message means it whatever its state is.
    pub(super) always: bool,
    /// Dead letters that expired are passed over, unless they are named.
    pub(super) skip_expired: bool,
}

/// A change that somebody typed.
pub(super) struct Job<'a> {
    /// The printer and the store.
    pub(super) ctx: &'a Ctx,
    /// What it is called.
    pub(super) wording: Wording,
    /// In which queue.
    pub(super) queue: &'a QueueName,
    /// Which messages, as it was typed.
    pub(super) select: &'a select::Flags,
    /// What must hold or be agreed to first.
    pub(super) guards: &'a Guards,
    /// Which states are meant.
    pub(super) states: States<'a>,
    /// What is done to each.
    pub(super) change: Change<'a>,
    /// Ids do not stand for a confirmation.
    pub(super) always_ask: bool,
}

/// What is meant: one selection, or one for every few hundred ids.
pub(super) struct Meant {
    base: Selection,
    ids: Option<Ids>,
}

impl Meant {
    /// Each selection, made when its turn comes: a million ids are not held twice.
    pub(super) fn each(&self) -> Box<dyn Iterator<Item = Selection> + '_> {
        match &self.ids {
            None => Box::new(std::iter::once(self.base.clone())),
            Some(ids) => Box::new(ids.chunks(IDS).map(|ids| Selection {
                ids: Some(ids),
                ..self.base.clone()
            })),
        }
    }

    /// The whole of it in one selection, for a command that goes through it by itself.
    pub(super) fn whole(&self) -> Selection {
        Selection {
            ids: self.ids.as_ref().map(|ids| ids.iter().collect()),
            ..self.base.clone()
        }
    }

    fn is_named(&self) -> bool {
        self.ids.is_some()
    }

    /// A walk from the newest on has dead letters before those that wait: what it made ready would be met again.
    fn meets_what_it_revived(&self) -> bool {
        let states = &self.base.states;
        !self.is_named() && self.base.wants(State::Dead) && states.len() != 1
    }
}

impl Job<'_> {
    /// Runs the whole of it.
    pub(super) fn run(&self) -> Outcome {
        let plan = Did::plan(self.ctx, Shape::One)?;
        let mut store = None;
        let Some((meant, op)) = self.begin(&mut store)? else {
            let nothing = Report::default().did(self.wording.verb, self.queue, 0);
            report::print(self.ctx, plan, &[nothing])?;
            return Ok(Code::Done);
        };
        let store = store.as_mut().ok_or_else(no_store)?.as_mut();
        let count = self.agree(store, &meant, &op)?;
        if self.guards.dry_run {
            self.show(store, &meant, &op, count, plan)
        } else {
            self.apply(store, &meant, &op, count, plan)
        }
    }

    /// Reads what is meant and opens the operation. None: an empty list of ids, nothing to do; the store is not opened.
    pub(super) fn begin(
        &self,
        store: &mut Option<Box<dyn Backend>>,
    ) -> Result<Option<(Meant, Op)>, Fail> {
        if self.ctx.args().last().is_some_and(|word| word == "--") {
            return Err(Fail::usage("nothing stands after --").hint("leave -- out"));
        }
        if !self.guards.dry_run {
            self.ctx.writable()?;
        }
        for assumed in self.select.filter.assumed() {
            self.ctx.ui.note(format!("took {assumed}"));
        }
        let ids = self.select.ids(std::io::stdin().lock())?;
        if ids.as_ref().is_some_and(Ids::is_empty) && self.guards.expect.is_none_or(|n| n == 0) {
            self.ctx.ui.say("no id is named: nothing to do");
            return Ok(None);
        }
        let opened = store.insert(if self.guards.dry_run {
            self.ctx.read()?
        } else {
            self.ctx.write()?
        });
        let op = begin(self.ctx, opened.as_mut(), self.wording.verb)?;
        let meant = self.meant(ids, op.at);
        let revives = matches!(self.change, Change::Requeue { .. });
        if revives && self.select.filter.reverse && meant.meets_what_it_revived() {
            let what = "--reverse would come to the dead letters first, and then to them again";
            return Err(Fail::usage(what)
                .hint("requeue the dead letters alone, then the others: --dead, --state"));
        }
        Ok(Some((meant, op)))
    }

    /// What is meant, at this time of the store's.
    pub(super) fn meant(&self, ids: Option<Ids>, now: Timestamp) -> Meant {
        let States {
            otherwise,
            always,
            skip_expired,
        } = self.states;
        let states = if ids.is_some() && !always {
            &[]
        } else {
            otherwise
        };
        let mut base = self.select.selection(self.queue.clone(), None, states, now);
        base.skip_expired = skip_expired && ids.is_none();
        if ids.is_none() || base.only_dead() {
            // What came in, or died again, after this was asked for was not agreed to.
            base.until = Some(base.until.map_or(now, |until| until.min(now)));
        }
        Meant { base, ids }
    }

    /// Refuses another count than was expected, and asks where somebody must agree. Answers the count, if it was needed.
    pub(super) fn agree(
        &self,
        store: &mut dyn Backend,
        meant: &Meant,
        op: &Op,
    ) -> Result<Option<u64>, Fail> {
        let by_name = self.ctx.wants_name()?;
        let must_agree = !self.guards.yes
            && !self.guards.dry_run
            && (!meant.is_named() || self.always_ask || by_name);
        let shows_bar = self.ctx.ui.stderr_is_terminal() && !meant.is_named();
        if self.guards.expect.is_none() && !must_agree && !shows_bar {
            return Ok(None);
        }
        let n = self.count(store, meant)?;
        if let Some(expected) = self.guards.expect.filter(|expected| *expected != n) {
            let what = format!(
                "{} would be {}, not {}; nothing changed",
                self.counted(n),
                self.wording.past,
                grouped(expected)
            );
            let look = format!("look first: {}", self.retyped("--dry-run"));
            let refused = Fail::new(Kind::Refused, what);
            return Err(if self.guards.dry_run {
                refused
            } else {
                refused.hint(look)
            });
        }
        if must_agree && n > 0 {
            self.ask(store, meant, op, n, by_name)?;
        }
        Ok(Some(n))
    }

    fn ask(
        &self,
        store: &mut dyn Backend,
        meant: &Meant,
        op: &Op,
        n: u64,
        by_name: bool,
    ) -> Result<(), Fail> {
        let question = format!(
            "{} {} of {} on {}?",
            self.wording.ask,
            self.counted(n),
            self.queue,
            self.ctx.place()?
        );
        let ui = &self.ctx.ui;
        let samples = if ui.can_ask() {
            samples(store, meant, op.at)?
        } else {
            vec![]
        };
        let answer = if by_name {
            ui.confirm_by_name(&question, self.queue.as_str(), &samples)
        } else {
            ui.confirm(&question, &samples)
        };
        let answer = answer.map_err(|error| {
            let what = format!("the terminal could not be asked: {error}");
            Fail::System(Code::Refused, what)
        })?;
        match answer {
            Answer::Yes => Ok(()),
            Answer::No => Err(Fail::new(Kind::Refused, "not confirmed; nothing changed")),
            Answer::Nobody => {
                let what = format!(
                    "this {} {} of {}, and there is no terminal to ask on; nothing changed",
                    self.wording.would,
                    self.counted(n),
                    self.queue
                );
                Err(Fail::new(Kind::Refused, what).hint(self.retyped("--yes")))
            }
        }
    }

    /// A dry run: what would be done, of how many. Its exit code is the one that the run would have.
    fn show(
        &self,
        store: &mut dyn Backend,
        meant: &Meant,
        op: &Op,
        count: Option<u64>,
        plan: Option<Plan>,
    ) -> Outcome {
        let mut report = Report::default();
        let code = self.walk(store, meant, op, count, Run::Dry, &mut report)?;
        let matched = report.done + report.skipped() + report.failed();
        let whole = Selection {
            states: meant.base.states.clone(),
            ..Selection::of(self.queue.clone())
        };
        let of = if meant.is_named() {
            report.done
        } else {
            store.count(&whole, ALL)?.n
        };
        let numbers = if of > report.done {
            format!("{} of {}", grouped(report.done), self.counted(of))
        } else {
            self.counted(report.done)
        };
        let oldest = match oldest(store, meant, op.at)? {
            Some(age) => format!(" (oldest {age})"),
            None => String::new(),
        };
        let would = self.wording.would;
        self.ctx
            .ui
            .tell(format!("{would} {numbers}{oldest}; nothing changed"));
        if let Some(expired) = self.expired(store, meant, report.done)? {
            self.ctx.ui.tell(expired);
        }
        let did = Did {
            done: 0,
            ..report.did(self.wording.verb, self.queue, matched)
        };
        report::print(self.ctx, plan, &[did])?;
        Ok(code)
    }

    fn apply(
        &self,
        store: &mut dyn Backend,
        meant: &Meant,
        op: &Op,
        count: Option<u64>,
        plan: Option<Plan>,
    ) -> Outcome {
        let mut report = Report::default();
        let code = self.walk(store, meant, op, count, Run::Do, &mut report)?;
        let matched = report.done + report.skipped() + report.failed();
        let (past, done) = (self.wording.past, self.counted(report.done));
        let place = self.ctx.place()?;
        self.ctx
            .ui
            .say(format!("{past} {done} of {} ({place})", self.queue));
        if self.ctx.ui.stderr_is_terminal()
            && let Some(expired) = self.expired(store, meant, report.done)?
        {
            self.ctx.ui.say(expired);
        }
        let did = report.did(self.wording.verb, self.queue, matched);
        report::print(self.ctx, plan, &[did])?;
        Ok(code)
    }

    /// All of it, one selection after the other. Answers the code of a signal, of what was passed over, or of all well.
    fn walk(
        &self,
        store: &mut dyn Backend,
        meant: &Meant,
        op: &Op,
        count: Option<u64>,
        run: Run,
        report: &mut Report,
    ) -> Result<Code, Fail> {
        let stop = self.ctx.listen()?;
        let bar = self.ctx.ui.progress(self.wording.verb, count);
        for what in meant.each() {
            let limit = self.select.filter.limit();
            let left = limit.map(|limit| limit.saturating_sub(report.done));
            if left == Some(0) {
                break;
            }
            let walk = Walk {
                what: &what,
                change: &self.change,
                op,
                limit: left,
                reverse: self.select.filter.reverse,
                run,
            };
            let (ended, seen) = self.one(store, &walk, &stop, &bar, report)?;
            if ended == Ended::Complete && left.is_none() {
                bar.around(|| self.missing(store, &what, &seen, report))?;
            }
            if let Some(code) = stop.code() {
                bar.finish();
                self.stopped(report.done);
                return Ok(code);
            }
        }
        bar.finish();
        Ok(report.code())
    }

    /// One selection. Answers why it ended and, where ids are named, which were met.
    fn one(
        &self,
        store: &mut dyn Backend,
        walk: &Walk<'_>,
        stop: &Stop,
        bar: &Progress,
        report: &mut Report,
    ) -> Result<(Ended, HashSet<MessageId>), Fail> {
        let mut seen = HashSet::new();
        let walked = change(store, walk, &mut |changed| {
            bar.advance(changed.done.len() as u64);
            for (id, why) in &changed.skipped {
                let what = format!("message {id} of {} is passed over: {why}", self.queue);
                let fail = Fail::new(Kind::Conflict, what);
                bar.around(|| report.skip(self.ctx, &fail));
            }
            if walk.what.ids.is_some() {
                seen.extend(changed.done.iter().cloned());
                seen.extend(changed.skipped.iter().map(|(id, _)| id.clone()));
            }
            stop.code().is_none()
        });
        match walked {
            Ok(walked) => {
                report.done += walked.done;
                Ok((walked.ended, seen))
            }
            Err((walked, error)) => {
                report.done += walked.done;
                if report.done > 0 && walk.run == Run::Do {
                    let so_far = self.counted(report.done);
                    bar.around(|| {
                        self.ctx.ui.note(format!(
                            "{} {so_far} before the store failed; run again, it goes on",
                            self.wording.past
                        ));
                    });
                }
                Err(error.into())
            }
        }
    }

    /// Says that a signal ended it, and how much is done.
    pub(super) fn stopped(&self, done: u64) {
        let (past, so_far) = (self.wording.past, self.counted(done));
        self.ctx
            .ui
            .note(format!("stopped: {past} {so_far}; run again, it goes on"));
    }
}

/// The store was opened where this is called.
fn no_store() -> Fail {
    crate::backend::Error::bug("the store was not opened").into()
}

/// Opens an operation.
///
/// # Errors
/// Whatever the store says.
pub fn begin(ctx: &Ctx, store: &mut dyn Backend, verb: &'static str) -> Result<Op, Fail> {
    let words = ctx.args().iter().map(|word| word.to_string_lossy());
    let why = words.collect::<Vec<_>>().join(" ");
    Ok(store.begin(&Intent {
        verb,
        who: &who(),
        why: &why,
    })?)
}

/// How long the oldest of what is meant has been there, or dead.
fn oldest(store: &mut dyn Backend, meant: &Meant, now: Timestamp) -> Result<Option<String>, Fail> {
    let Some(what) = meant.each().next() else {
        return Ok(None);
    };
    let peeked = store.peek(&what, &Page::first(1, Order::Oldest))?;
    Ok(peeked
        .rows
        .first()
        .map(|message| age_text(age(message, now))))
}

fn age(message: &Message, now: Timestamp) -> std::time::Duration {
    now.since(message.died_at.unwrap_or(message.enqueued_at))
}

/// Three of what is meant, for a question.
fn samples(store: &mut dyn Backend, meant: &Meant, now: Timestamp) -> Result<Vec<Shown>, Fail> {
    let Some(what) = meant.each().next() else {
        return Ok(vec![]);
    };
    let peeked = store.peek(&what, &Page::first(3, Order::Oldest))?;
    let line = |message: &Message| {
        let age = age_text(age(message, now));
        let error = match &message.last_error {
            Some(error) => format!("  {error}"),
            None => String::new(),
        };
        let payload = Shown::preview(&message.payload, 40);
        let (id, state) = (&message.id, message.state);
        Shown::new(format!("{id}  {state}  {age} ago  {payload}{error}")).fitted(100)
    };
    Ok(peeked.rows.iter().map(line).collect())
}

/// Refuses a verb that writes and says nothing about what it means.
///
/// # Errors
/// The two likeliest command lines, in the hint.
pub fn want_selection(verb: &str, queue: &QueueName, given: bool) -> Result<(), Fail> {
    if given {
        return Ok(());
    }
    let hint = Hint::run_with(verb, &[queue.as_str()], "--all --dry-run")
        .say("\n")
        .then(verb, &[queue.as_str(), "ID"]);
    let what = format!("{verb} needs to know which messages: ids, a filter, or --all");
    Err(Fail::usage(what).hint(hint))
}
