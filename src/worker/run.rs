//! The store thread: it alone has the handle and the ledger, and makes every verdict.

use super::bell::Bell;
use super::child::{Gate, Kit};
use super::descriptors;
use super::ends::{Effect, Ended, judged};
use super::environment::Base;
use super::guard::{self, Pipe};
use super::lane::{Lane, Lanes};
use super::ledger::{Job, Ledger};
use super::link::{Gravity, Link, Reopen, gravity};
use super::note::{Fate, Note, Summary, Why};
use super::pace::Pace;
use super::plan::{Missing, Mode, Plan, Source};
use super::relay::Sinks;
use super::scratch::Scratch;
use super::signal;
use super::slot::{self, Desk, GROUP};
use super::unix::{self, Reaper};
use super::want::ASIDE;
use crate::backend::{Backend, Depth, Error, Kind, Result};
use crate::queue::MessageId;
use crate::queue::retry::Settings;
use crate::queue::time::duration_text;
use std::collections::{HashMap, VecDeque};
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// A result waits for others at the most so long while commands run.
pub(super) const GATHER: Duration = Duration::from_millis(20);
/// So long a message that the exit map gave back is left alone.
pub(super) const SHUN: Duration = Duration::from_secs(1);
/// So long a worker whose outer process has died tries to end what it started.
const LAST_MOMENTS: Duration = Duration::from_secs(10);
/// So often settings are read anew and the store's housekeeping is done.
pub(super) const CARE: Duration = Duration::from_secs(10);

/// Runs a command for each message until the plan says that it is enough.
///
/// `store` is the handle, or none if it could not be opened yet; `reopen` opens it again. With `pipe` this process is a
/// worker and nothing else: it makes orphans its own, hears signals, and ends everything when the outer process dies.
/// `say` hears what happens, on this thread.
///
/// # Errors
/// The limit on open files is too low for the plan, the system has no threads or pipes for us, or the store refused before anything was claimed.
pub fn run(
    store: Option<Box<dyn Backend>>,
    reopen: &mut Reopen<'_>,
    plan: &Plan,
    pipe: Option<Pipe>,
    say: &mut dyn FnMut(Note<'_>),
) -> Result<Summary> {
    run_with(store, reopen, plan, pipe, say, ASIDE, |_| {})
}

/// As [`run`]; at most `most_aside` messages are set aside, and `tap` gets the desk before anything is claimed.
pub(super) fn run_with(
    store: Option<Box<dyn Backend>>,
    reopen: &mut Reopen<'_>,
    plan: &Plan,
    pipe: Option<Pipe>,
    say: &mut dyn FnMut(Note<'_>),
    most_aside: usize,
    tap: impl FnOnce(&Arc<Desk>),
) -> Result<Summary> {
    let system =
        |error: io::Error| Error::new(Kind::Unreachable, "the worker cannot start").because(error);
    descriptors::check(plan)?;
    let (desk, ears) = Desk::new(plan.jobs).map_err(system)?;
    let run = pipe
        .as_ref()
        .map_or_else(guard::new_run, |pipe| pipe.run.clone());
    let kit = Arc::new(Kit {
        command: plan.command.clone(),
        base: Base::new(std::env::vars_os(), &plan.scrub, &plan.store_env),
        sinks: Sinks::ours().map_err(system)?,
        scratch: Scratch::new(&run),
        timeout: plan.timeout,
        kill_after: plan.kill_after,
        reaper: pipe
            .as_ref()
            .map(|_| Reaper::new())
            .transpose()
            .map_err(system)?,
        gate: Gate::Open.into(),
        jobs: plan.jobs,
        unread: false.into(),
    });
    let _heard = pipe
        .is_some()
        .then(|| signal::listen(&desk))
        .transpose()
        .map_err(system)?;
    if let Some(pipe) = pipe {
        signal::watch_output(&desk).map_err(system)?;
        let (kit, desk) = (Arc::clone(&kit), Arc::clone(&desk));
        let gone = move || {
            // Nothing is settled from now on: what we kill has not failed.
            desk.mute();
            slot::close_gate(&kit);
            if let Some(reaper) = &kit.reaper {
                unix::end_everyone(reaper, LAST_MOMENTS);
            }
            kit.scratch.remove();
            std::process::exit(guard::KILLED.into());
        };
        pipe.watch(gone).map_err(system)?;
    }
    let slots = slot::start(&kit, &desk, ears).map_err(system)?;
    tap(&desk);
    let bell = Bell::start(Arc::clone(&desk)).map_err(system)?;
    let worker = Worker {
        plan,
        link: Link::new(store, reopen),
        desk: Arc::clone(&desk),
        kit: Arc::clone(&kit),
        bell,
        lanes: Lanes::new(vec![]),
        ledger: Ledger::default(),
        pace: Pace::default(),
        fetched: VecDeque::new(),
        retiring: vec![],
        ended: vec![],
        since: None,
        solo: false,
        claimed: 0,
        succeeded: 0,
        failures: 0,
        stop: None,
        full: None,
        broken: false,
        abandoned: false,
        told_no_room: false,
        shunned: HashMap::new(),
        aside: vec![],
        most_aside,
        began: Instant::now(),
        cared: Instant::now(),
        looked: Instant::now(),
        summary: Summary::new(),
        say,
    };
    let summary = worker.work();
    desk.close();
    for slot in slots {
        let _ = slot.join();
    }
    if let Some(reaper) = &kit.reaper {
        unix::end_everyone(reaper, LAST_MOMENTS);
    }
    summary
}

/// No more is taken.
pub(super) struct Stop {
    /// Since when.
    pub(super) at: Instant,
    /// Commands that run were ended, too.
    pub(super) ended: bool,
}

/// The store thread at work.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a state of its own: the store, the run that is alone, and what was told"
)]
pub(super) struct Worker<'a> {
    /// What is to be done.
    pub(super) plan: &'a Plan,
    /// The store.
    pub(super) link: Link<'a>,
    /// Where the slots and the store thread meet.
    pub(super) desk: Arc<Desk>,
    /// What every command shares.
    pub(super) kit: Arc<Kit>,
    /// Rings when something may have come.
    pub(super) bell: Bell,
    /// The queues.
    pub(super) lanes: Lanes,
    /// What is held, and until when.
    pub(super) ledger: Ledger,
    /// How fast commands end.
    pub(super) pace: Pace,
    /// Claimed, and their start is not durable.
    pub(super) fetched: VecDeque<Job>,
    /// To be given back.
    pub(super) retiring: Vec<Job>,
    /// To be settled.
    pub(super) ended: Vec<Ended>,
    /// When the first of those ended.
    pub(super) since: Option<Instant>,
    /// A message that must take no neighbour with it runs.
    pub(super) solo: bool,
    /// Deliveries that were taken and not given back unstarted.
    pub(super) claimed: u64,
    /// Commands that ended well.
    pub(super) succeeded: u64,
    /// Ends that count towards the limit on failures.
    pub(super) failures: u64,
    /// Since no more is taken.
    pub(super) stop: Option<Stop>,
    /// The disk is full: only what is done is settled. When room is asked for, by a worker that waits for it.
    pub(super) full: Option<Instant>,
    /// The store refused a call for good; there is one more try when nothing runs any more.
    pub(super) broken: bool,
    /// Nothing can be settled any more.
    pub(super) abandoned: bool,
    /// That the system has no room for a process was said.
    pub(super) told_no_room: bool,
    /// When the exit map gave a message back.
    pub(super) shunned: HashMap<MessageId, Instant>,
    /// Claimed again soon after that: held, so that what stands behind them has its turn.
    pub(super) aside: Vec<Job>,
    /// With so many set aside nothing more is claimed until they had their turn.
    pub(super) most_aside: usize,
    pub(super) began: Instant,
    /// When settings were read anew and the store was tended.
    pub(super) cared: Instant,
    /// When a claim was last made.
    pub(super) looked: Instant,
    /// What the run has done so far.
    pub(super) summary: Summary,
    /// Hears what there is to tell.
    pub(super) say: &'a mut dyn FnMut(Note<'_>),
}

impl Worker<'_> {
    fn work(mut self) -> Result<Summary> {
        self.open_lanes()?;
        loop {
            self.look_at_clock();
            self.turns();
            let stopped = self.stop.is_some();
            if self.is_over() {
                break;
            }
            if !stopped && self.stop.is_some() {
                // There may be something to give back, and nothing that would wake us.
                continue;
            }
            let until = self.next_look();
            let low = if self.can_refill() { self.low() } else { 0 };
            let gathers = !self.ended.is_empty() && self.full.is_none();
            let batch = self.desk.wait(until, low, gathers);
            for news in batch.news {
                self.hear(news);
            }
            for finished in batch.results {
                self.take(finished);
            }
        }
        if self.summary.started > 0 {
            self.care();
        }
        Ok(self.summary)
    }

    /// Reads the settings of each queue; a store that cannot be reached is waited for as the mode says.
    fn open_lanes(&mut self) -> Result<()> {
        for queue in self.plan.queues() {
            let settings = loop {
                let asked = self.link.store().and_then(|store| {
                    store.stats(Some(std::slice::from_ref(&queue)), Depth::Names)
                });
                match asked {
                    Ok(mut reports) => {
                        break reports
                            .pop()
                            .map(|report| report.settings)
                            .unwrap_or_default();
                    }
                    Err(error)
                        if error.kind() == Kind::NotFound
                            && self.plan.missing == Missing::Empty =>
                    {
                        (self.say)(Note::Missing(&queue));
                        break Settings::default();
                    }
                    // Only a worker that is to stay for ever waits for a store at its start.
                    Err(error)
                        if self.plan.mode == Mode::Follow && gravity(&error) != Gravity::Final =>
                    {
                        self.lost(&error);
                        let until = self.link.not_before();
                        for news in self.desk.wait(until, 0, false).news {
                            self.hear(news);
                        }
                        if self.stop.is_some() {
                            return Err(error);
                        }
                    }
                    Err(error) => return Err(error),
                }
            };
            self.back();
            let terms = self.plan.terms(&settings);
            if let Some(timeout) = self
                .plan
                .timeout
                .filter(|timeout| !self.plan.heartbeat && *timeout >= terms.lease)
            {
                let what = format!(
                    "without a heartbeat a command may outlive its lease: the timeout {} is not under the lease {}",
                    duration_text(timeout),
                    duration_text(terms.lease)
                );
                return Err(Error::new(Kind::Config, what)
                    .hint("a shorter --timeout, a longer --lease, or no --no-heartbeat"));
            }
            self.lanes.all.push(Lane::new(queue, terms));
        }
        Ok(())
    }

    /// A call failed in a way that may pass: told once, until [`Self::back`].
    pub(super) fn lost(&mut self, error: &Error) {
        if self.link.ill(error) {
            (self.say)(Note::StoreLost(error));
        }
    }

    /// A call went well.
    pub(super) fn back(&mut self) {
        if self.link.well() {
            (self.say)(Note::StoreBack);
        }
    }

    /// One command has ended.
    fn take(&mut self, finished: slot::Finished) {
        self.solo &= !finished.job.runs_alone();
        if finished.ran.unread && !self.kit.unread.swap(true, Ordering::Relaxed) {
            (self.say)(Note::Unread);
        }
        if finished.ran.began() {
            self.pace.saw(finished.ran.took);
        } else {
            self.summary.started -= 1;
        }
        let lane = finished.job.lane;
        let ladder = self.lanes.all[lane].terms.ladder.clone();
        match judged(finished, self.plan, &ladder, fastrand::f64()) {
            Err(job) => self.lose(&job),
            Ok(ended) => {
                self.weigh(&ended.effect);
                if ended.effect == Effect::GivenBack {
                    self.shunned.insert(ended.job.id().clone(), Instant::now());
                }
                self.since.get_or_insert_with(Instant::now);
                self.ended.push(*ended);
            }
        }
    }

    fn weigh(&mut self, effect: &Effect) {
        match effect {
            Effect::Success => self.succeeded += 1,
            Effect::SuccessAndStop => {
                self.succeeded += 1;
                self.begin_stop(Why::Asked);
            }
            Effect::Failure => {
                self.failures += 1;
                if self
                    .plan
                    .limits
                    .failures
                    .is_some_and(|limit| self.failures >= limit)
                {
                    self.begin_stop(Why::Failures);
                }
            }
            Effect::Doubt(why) if self.succeeded == 0 => self.cannot_run(why),
            Effect::None | Effect::GivenBack | Effect::Doubt(_) => {}
            Effect::CannotRun(why) => self.cannot_run(why),
        }
    }

    /// The lease is somebody else's, or nobody's.
    pub(super) fn lose(&mut self, job: &Job) {
        self.ledger.lose(job.receipt());
        self.summary.lost += 1;
        let queue = &self.lanes.all[job.lane].queue;
        (self.say)(Note::Ended {
            queue,
            id: job.id(),
            fate: &Fate::Lost,
            took: Duration::ZERO,
        });
    }

    /// Results have waited for others long enough.
    pub(super) fn has_gathered(&self) -> bool {
        self.ended.len() >= GROUP || self.since.is_some_and(|since| since.elapsed() >= GATHER)
    }

    /// With fewer jobs at the desk more are marked: so early that no slot waits for the commit.
    pub(super) fn low(&self) -> usize {
        self.plan.jobs
    }

    /// Results that are left wait for others no longer than any.
    pub(super) fn gather(&mut self) {
        if !self.ended.is_empty() {
            self.since.get_or_insert_with(Instant::now);
        }
    }

    /// No result waits any more.
    pub(super) fn settled_all(&mut self) {
        self.since = None;
    }

    /// There may be something to give to the slots.
    fn can_refill(&self) -> bool {
        self.stop.is_none() && (!self.fetched.is_empty() || !self.lanes.dry()) && self.left() > 0
    }

    /// How many more messages the plan allows.
    pub(super) fn left(&self) -> u64 {
        let once = (self.plan.mode == Mode::Once).then_some(1);
        let limit = once.into_iter().chain(self.plan.limits.messages).min();
        limit.map_or(u64::MAX, |limit| limit.saturating_sub(self.claimed))
    }

    /// So many were given back by the exit map and claimed again that nothing more is claimed.
    pub(super) fn aside_is_full(&self) -> bool {
        self.aside.len() >= self.most_aside
    }

    fn is_over(&mut self) -> bool {
        let idle = self.desk.load().quiet() && self.fetched.is_empty();
        if !idle {
            return false;
        }
        if self.abandoned {
            self.summary.unsettled += self.ended.len() as u64;
            return true;
        }
        if !self.ended.is_empty() || !self.retiring.is_empty() {
            return false;
        }
        if self.stop.is_some() {
            return true;
        }
        let spent = self.left() == 0;
        if self.link.not_before().is_some() && !spent {
            return false;
        }
        let over = spent
            || match self.plan.mode {
                Mode::OneShot | Mode::Once => self.lanes.dry() || self.aside_is_full(),
                Mode::Wait => self.lanes.empty() && self.aside.is_empty(),
                Mode::Follow => matches!(self.plan.source, Source::Dead(_)) && self.lanes.dry(),
            };
        if over && spent && self.plan.mode != Mode::Once {
            self.begin_stop(Why::Messages);
        } else if over && !self.aside.is_empty() {
            if !self.lanes.dry() {
                (self.say)(Note::AsideFull(self.aside.len()));
            }
            // The last act: nothing is claimed after it, so they do not come back to us.
            self.begin_stop(Why::Finished);
        }
        over && self.retiring.is_empty()
    }
}
