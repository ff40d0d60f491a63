//! The store thread: it alone has the handle and the ledger, and makes every verdict.

use super::bell::Bell;
use super::child::{Gate, Kit};
use super::ends::{Effect, Ended, judged};
use super::environment::Base;
use super::guard::{self, Pipe};
use super::lane::{Lane, Lanes, POLL};
use super::lease::Moment;
use super::ledger::{Job, Ledger};
use super::link::{Gravity, Link, PATIENCE, Reopen, gravity};
use super::note::{Fate, Note, Summary, Why};
use super::pace::Pace;
use super::plan::{Missing, Mode, Plan, Source};
use super::relay::Sinks;
use super::scratch::Scratch;
use super::signal;
use super::slot::{self, Desk, GROUP, News, Urgency};
use super::unix::{self, Reaper};
use crate::backend::{Backend, Chore, Depth, Error, Kind, Result};
use crate::queue::retry::Settings;
use crate::queue::time::duration_text;
use signal_hook::consts::{SIGCONT, SIGTERM, SIGTSTP};
use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// A result waits for others at the most so long while commands run.
const GATHER: Duration = Duration::from_millis(20);
/// So often settings are read anew and the store's housekeeping is done.
const CARE: Duration = Duration::from_secs(10);

/// Runs a command for each message until the plan says that it is enough.
///
/// `store` is the handle, or none if it could not be opened yet; `reopen` opens it again. With `pipe` this process is a
/// worker and nothing else: it makes orphans its own, hears signals, and ends everything when the outer process dies.
/// `say` hears what happens, on this thread.
///
/// # Errors
/// The system has no threads or pipes for us, or the store refused before anything was claimed.
pub fn run(
    store: Option<Box<dyn Backend>>,
    reopen: &mut Reopen<'_>,
    plan: &Plan,
    pipe: Option<Pipe>,
    say: &mut dyn FnMut(Note<'_>),
) -> Result<Summary> {
    let system =
        |error: io::Error| Error::new(Kind::Unreachable, "the worker cannot start").because(error);
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
            slot::close_gate(&kit);
            desk.urge(Urgency::Kill);
            if let Some(reaper) = &kit.reaper {
                unix::end_everyone(reaper, Duration::ZERO);
            }
            std::process::exit(guard::KILLED.into());
        };
        pipe.watch(gone).map_err(system)?;
    }
    let slots = slot::start(&kit, &desk, ears).map_err(system)?;
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
        full: false,
        began: Instant::now(),
        cared: Instant::now(),
        looked: Instant::now(),
        summary: Summary::new(),
        say,
    };
    let summary = worker.work();
    desk.close();
    for slot in slots {
        // A slot that panicked has ended nobody's command; the sweep below does.
        let _ = slot.join();
    }
    if let Some(reaper) = &kit.reaper {
        unix::end_everyone(reaper, plan.kill_after);
    }
    summary
}

/// No more is taken.
pub(super) struct Stop {
    at: Instant,
    ended: bool,
}

/// The store thread at work.
pub(super) struct Worker<'a> {
    pub(super) plan: &'a Plan,
    pub(super) link: Link<'a>,
    pub(super) desk: Arc<Desk>,
    kit: Arc<Kit>,
    bell: Bell,
    pub(super) lanes: Lanes,
    pub(super) ledger: Ledger,
    pub(super) pace: Pace,
    /// Claimed, and their start is not durable.
    pub(super) fetched: VecDeque<Job>,
    /// To be given back.
    pub(super) retiring: Vec<Job>,
    /// To be settled.
    pub(super) ended: Vec<Ended>,
    /// When the first of those ended.
    since: Option<Instant>,
    /// A message that must take no neighbour with it runs.
    pub(super) solo: bool,
    /// Deliveries that were taken and not given back unstarted.
    pub(super) claimed: u64,
    succeeded: u64,
    failures: u64,
    pub(super) stop: Option<Stop>,
    /// The disk is full: only what is done is settled.
    pub(super) full: bool,
    began: Instant,
    cared: Instant,
    /// When a claim was last made.
    pub(super) looked: Instant,
    pub(super) summary: Summary,
    pub(super) say: &'a mut dyn FnMut(Note<'_>),
}

impl Worker<'_> {
    fn work(mut self) -> Result<Summary> {
        self.open_lanes()?;
        loop {
            self.look_at_clock();
            self.turn();
            if self.is_over() {
                break;
            }
            let until = self.next_look();
            let low = if self.can_refill() { self.plan.jobs } else { 0 };
            let batch = self.desk.wait(until, low, self.gathers());
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
                        if self.plan.mode == Mode::Follow
                            && gravity(&error) == Gravity::Passing =>
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

    fn lost(&mut self, error: &Error) {
        if self.link.ill(error) {
            (self.say)(Note::StoreLost(error));
        }
    }

    pub(super) fn back(&mut self) {
        if self.link.well() {
            (self.say)(Note::StoreBack);
        }
    }

    fn hear(&mut self, news: News) {
        match news {
            News::Bell => self.lanes.wet(),
            News::NoRoom(why) => (self.say)(Note::NoRoom(&why)),
            News::OutputClosed => self.begin_stop(Why::OutputClosed),
            // What was stopped may have slept past its leases: each slot looks.
            News::Signal(SIGCONT) => self.desk.poke_all(),
            News::Signal(SIGTSTP) => {
                signal::stop_ourselves();
                self.desk.poke_all();
            }
            News::Signal(number) if self.summary.signal.is_none() && !self.is_ending() => {
                self.summary.signal = Some(number);
                self.begin_stop(Why::Signal(number));
            }
            News::Signal(number) => self.end_commands(number),
        }
    }

    fn is_ending(&self) -> bool {
        self.stop.as_ref().is_some_and(|stop| stop.ended)
    }

    /// Nothing more is taken; what is not begun is given back.
    pub(super) fn begin_stop(&mut self, why: Why) {
        if self.stop.is_some() {
            return;
        }
        self.stop = Some(Stop {
            at: Instant::now(),
            ended: false,
        });
        self.retiring.extend(self.fetched.drain(..));
        self.retiring.extend(self.desk.take_back());
        let running = self.desk.standing().busy;
        (self.say)(Note::Stopping { why: &why, running });
        self.summary.why = why;
    }

    /// What still runs is ended; once more, at once.
    fn end_commands(&mut self, signal: i32) {
        self.begin_stop(Why::Signal(signal));
        let standing = self.desk.standing();
        if self.is_ending() {
            self.desk.urge(Urgency::Kill);
            return;
        }
        if let Some(stop) = &mut self.stop {
            stop.ended = true;
        }
        if standing.busy > 0 {
            self.summary.ended_by = Some(signal);
            (self.say)(Note::Ending);
        }
        self.desk.urge(Urgency::Term);
    }

    /// A store that will not come back in time: commands whose ends cannot be settled are ended.
    pub(super) fn give_up(&mut self, error: Error) {
        self.begin_stop(Why::Store(error));
        slot::close_gate(&self.kit);
        self.desk.urge(Urgency::Term);
        if let Some(stop) = &mut self.stop {
            stop.ended = true;
        }
    }

    fn look_at_clock(&mut self) {
        let now = Instant::now();
        if self
            .plan
            .limits
            .time
            .is_some_and(|limit| now >= self.began + limit)
        {
            self.begin_stop(Why::Time);
        }
        let grace_over = self
            .stop
            .as_ref()
            .is_some_and(|stop| !stop.ended && now >= stop.at + self.plan.grace);
        if grace_over {
            self.end_commands(self.summary.signal.unwrap_or(SIGTERM));
        }
        if now >= self.cared + CARE {
            self.care();
        }
        if self.plan.mode != Mode::OneShot && now >= self.looked + POLL {
            self.lanes.wet();
        }
        self.lanes.tick(now);
    }

    /// Settings anew, and the store's housekeeping: none of it is worth an error.
    fn care(&mut self) {
        self.cared = Instant::now();
        if self.link.not_before().is_some() || self.full {
            return;
        }
        let Ok(store) = self.link.store() else { return };
        for lane in &mut self.lanes.all {
            if let Ok(reports) = store.stats(Some(std::slice::from_ref(&lane.queue)), Depth::Names)
                && let Some(report) = reports.first()
            {
                lane.terms = self.plan.terms(&report.settings);
            }
        }
        let _ = store.tend(Chore::Sweep, Duration::from_millis(20));
    }

    /// One command has ended.
    fn take(&mut self, finished: slot::Finished) {
        self.solo = false;
        if finished.ran.unread && !self.kit.unread.swap(true, Ordering::Relaxed) {
            (self.say)(Note::Unread);
        }
        self.pace.saw(finished.ran.took);
        let lane = finished.job.lane;
        let ladder = self.lanes.all[lane].terms.ladder.clone();
        match judged(finished, self.plan, &ladder, fastrand::f64()) {
            Err(job) => self.lose(&job),
            Ok(ended) => {
                self.weigh(&ended.effect);
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
            Effect::None | Effect::Doubt(_) => {}
            Effect::CannotRun(why) => self.cannot_run(why),
        }
    }

    /// This outweighs whatever stopped the worker before.
    fn cannot_run(&mut self, why: &str) {
        self.begin_stop(Why::CannotRun(why.to_owned()));
        self.summary.why = Why::CannotRun(why.to_owned());
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

    /// Results wait for others while commands run and none waits for a commit.
    fn gathers(&self) -> bool {
        let standing = self.desk.standing();
        !standing.quiet() && self.stop.is_none() && self.ended.len() < GROUP
    }

    /// Whether results may wait a moment longer.
    pub(super) fn may_wait(&self) -> bool {
        self.gathers()
            && self.since.is_none_or(|since| since.elapsed() < GATHER)
            && !(self.can_refill() && self.desk.standing().waiting < self.plan.jobs)
    }

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

    fn is_over(&mut self) -> bool {
        let idle = self.desk.standing().quiet() && self.fetched.is_empty();
        if idle && self.stop.as_ref().is_some_and(|stop| stop.ended) && self.cannot_settle() {
            self.summary.unsettled = (self.ended.len() + self.retiring.len()) as u64;
            return true;
        }
        if !idle || !self.ended.is_empty() || !self.retiring.is_empty() {
            return false;
        }
        if self.stop.is_some() {
            return true;
        }
        if self.left() == 0 {
            if self.plan.mode != Mode::Once {
                self.begin_stop(Why::Messages);
            }
            return true;
        }
        if self.link.not_before().is_some() {
            return false;
        }
        match self.plan.mode {
            Mode::OneShot | Mode::Once => self.lanes.dry(),
            Mode::Wait => self.lanes.empty(),
            Mode::Follow => matches!(self.plan.source, Source::Dead(_)) && self.lanes.dry(),
        }
    }

    fn cannot_settle(&self) -> bool {
        self.full || matches!(self.summary.why, Why::Store(_))
    }

    /// When the store thread must look again, whatever happens.
    fn next_look(&mut self) -> Option<Instant> {
        let now = Instant::now();
        let beat = self
            .ledger
            .next_beat()
            .filter(|_| self.plan.heartbeat && !self.full);
        let beat = beat.map(|beat| now + beat.since(Moment::now()));
        let gathered = self.since.map(|since| since + GATHER);
        let trouble = self.link.not_before();
        let grace = self
            .stop
            .as_ref()
            .filter(|stop| !stop.ended)
            .map(|stop| stop.at + self.plan.grace);
        let time = self
            .plan
            .limits
            .time
            .filter(|_| self.stop.is_none())
            .map(|limit| self.began + limit);
        let waits = self.stop.is_none() && self.lanes.dry() && self.left() > 0;
        let due = self.lanes.next_due().filter(|_| waits);
        let mut poll = None;
        if waits && self.plan.mode != Mode::OneShot && self.plan.mode != Mode::Once {
            self.arm();
            poll = Some(now + POLL);
        }
        // Ends that cannot be settled while the store does not answer are tried again when it may.
        let pending = (!self.ended.is_empty() || !self.retiring.is_empty())
            && trouble.is_none()
            && !self.gathers();
        // What was claimed is to be started, and what may be there to be claimed, at once.
        let more =
            trouble.is_none() && !self.full && (self.startable() > 0 || self.wanted(0).is_some());
        let soon = (pending || more).then_some(now);
        [
            beat,
            gathered.filter(|_| trouble.is_none()),
            trouble,
            grace,
            time,
            due,
            poll,
            soon,
        ]
        .into_iter()
        .flatten()
        .min()
    }

    /// From now on the bell is heard.
    fn arm(&mut self) {
        if self.bell.is_bare()
            && self.link.not_before().is_none()
            && let Ok(store) = self.link.store()
        {
            // Without a bell the poll remains.
            if let Ok(watch) = store.watch(&self.plan.queues()) {
                self.bell.hang(watch);
            }
        }
        self.bell.arm();
    }

    /// A call failed as a whole; nothing of it is known to have happened.
    pub(super) fn failed(&mut self, error: Error) {
        match gravity(&error) {
            Gravity::Full if !self.full => {
                self.full = true;
                self.begin_stop(Why::Store(error));
                // Only what is done fits; other leases end by themselves.
                self.retiring.clear();
            }
            Gravity::Passing => {
                self.lost(&error);
                let patience = self.plan.mode != Mode::Follow || self.stop.is_some();
                if patience && self.link.lost_for().is_some_and(|lost| lost >= PATIENCE) {
                    self.give_up(error);
                }
            }
            Gravity::Full | Gravity::Final => self.give_up(error),
        }
    }
}
