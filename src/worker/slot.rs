//! The desk between the store thread and the slots, and the slots themselves.

use super::child::{self, Gate, Kit, Ran};
use super::ledger::Job;
use super::unix::{self, Wake};
use rustix::event::{PollFd, Timespec, poll};
use rustix::process::Signal;
use std::collections::VecDeque;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How hard the worker wants its commands to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Urgency {
    /// They run.
    None,
    /// TERM, and KILL after its time.
    Term,
    /// KILL.
    Kill,
}

/// Something that the store thread has to hear.
#[derive(Debug)]
pub(super) enum News {
    /// A signal came.
    Signal(i32),
    /// Something may be ready.
    Bell,
    /// Nobody reads our standard output.
    OutputClosed,
    /// The system has no room for another command.
    NoRoom(String),
}

/// A run that has ended.
#[derive(Debug)]
pub(super) struct Finished {
    /// What was run for.
    pub(super) job: Job,
    /// How its command ended.
    pub(super) ran: Ran,
}

/// After so many results the store thread is woken at the latest.
pub(super) const GROUP: usize = 512;

#[derive(Debug, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is one thing that the two sides tell each other"
)]
struct State {
    /// Their start is durable: a slot takes the next by itself, so that none waits for a commit.
    jobs: VecDeque<Job>,
    results: Vec<Finished>,
    news: Vec<News>,
    /// Slots with a command.
    busy: usize,
    closed: bool,
    /// With fewer jobs than this the store thread wants to know.
    low: usize,
    /// The store thread gathers results already and wakes by itself.
    gathering: bool,
    attention: bool,
    /// The store thread sleeps; so many slots do. Who is awake needs no call into the system.
    asleep: bool,
    idle: usize,
    muted: bool,
}

/// Where the store thread and the slots meet. The store thread sleeps here and nowhere else.
#[derive(Debug)]
pub(super) struct Desk {
    state: Mutex<State>,
    to_slots: Condvar,
    to_store: Condvar,
    urgency: AtomicU8,
    /// One a slot: it wakes it from its poll.
    pokes: Vec<Arc<Wake>>,
}

/// What there was at the desk.
#[derive(Debug, Default)]
pub(super) struct Batch {
    /// Runs that have ended.
    pub(super) results: Vec<Finished>,
    /// What else happened.
    pub(super) news: Vec<News>,
}

/// How much the slots have to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Load {
    /// Slots with a command.
    pub(super) busy: usize,
    /// Jobs that wait for a slot.
    pub(super) waiting: usize,
    /// Results that the store thread has not taken yet.
    pub(super) results: usize,
}

impl Load {
    /// No command runs or is about to.
    pub(super) fn quiet(self) -> bool {
        self.busy == 0 && self.waiting == 0 && self.results == 0
    }
}

impl Desk {
    /// A desk for so many slots, and what each slot holds in its hand.
    pub(super) fn new(slots: usize) -> io::Result<(Arc<Self>, Vec<Arc<Wake>>)> {
        let wakes = (0..slots).map(|_| Wake::new().map(Arc::new));
        let pokes = wakes.collect::<io::Result<Vec<_>>>()?;
        let ears = pokes.clone();
        let desk = Self {
            state: Mutex::default(),
            to_slots: Condvar::new(),
            to_store: Condvar::new(),
            urgency: AtomicU8::new(0),
            pokes,
        };
        Ok((Arc::new(desk), ears))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives jobs to whichever slots are free.
    pub(super) fn give(&self, jobs: impl Iterator<Item = Job>) {
        let mut state = self.lock();
        let before = state.jobs.len();
        state.jobs.extend(jobs);
        let wake = state.idle.min(state.jobs.len() - before);
        drop(state);
        for _ in 0..wake {
            self.to_slots.notify_one();
        }
    }

    /// Takes back what no slot has begun.
    pub(super) fn take_back(&self) -> Vec<Job> {
        self.lock().jobs.drain(..).collect()
    }

    /// How much the slots have to do now.
    pub(super) fn load(&self) -> Load {
        let state = self.lock();
        Load {
            busy: state.busy,
            waiting: state.jobs.len(),
            results: state.results.len(),
        }
    }

    /// Tells the store thread something.
    pub(super) fn tell(&self, news: News) {
        let mut state = self.lock();
        state.news.push(news);
        self.call(state);
    }

    /// Whether there is news that the store thread has not heard.
    pub(super) fn is_told(&self) -> bool {
        !self.lock().news.is_empty()
    }

    /// Has the store thread look.
    fn call(&self, mut state: MutexGuard<'_, State>) {
        state.attention = true;
        let asleep = state.asleep;
        drop(state);
        if asleep {
            self.to_store.notify_one();
        }
    }

    /// Sleeps until there is something to hear, or until `until`; takes what is there. With fewer jobs than `low` it is
    /// woken; with `gathering` not for a result alone.
    pub(super) fn wait(&self, until: Option<Instant>, low: usize, gathering: bool) -> Batch {
        let mut state = self.lock();
        state.low = low;
        state.gathering = gathering;
        let wants = |state: &State| {
            state.attention
                || state.jobs.len() < low && !state.results.is_empty()
                || !gathering && !state.results.is_empty()
        };
        while !wants(&state) {
            state.asleep = true;
            let Some(until) = until else {
                state = self
                    .to_store
                    .wait(state)
                    .unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            state = self
                .to_store
                .wait_timeout(state, left)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
        state.attention = false;
        state.asleep = false;
        if state.muted {
            return Batch::default();
        }
        Batch {
            results: std::mem::take(&mut state.results),
            news: std::mem::take(&mut state.news),
        }
    }

    /// How hard commands are to end.
    pub(super) fn urge(&self, urgency: Urgency) {
        self.urgency.store(urgency as u8, Ordering::Release);
        self.poke_all();
    }

    /// Makes every slot look at its lease and at the urgency.
    pub(super) fn poke_all(&self) {
        for poke in &self.pokes {
            poke.ring();
        }
    }

    fn urgency(&self) -> Urgency {
        match self.urgency.load(Ordering::Acquire) {
            0 => Urgency::None,
            1 => Urgency::Term,
            _ => Urgency::Kill,
        }
    }

    /// Lets the slots go home when they have nothing left.
    pub(super) fn close(&self) {
        self.lock().closed = true;
        self.to_slots.notify_all();
    }

    fn next(&self) -> Option<Job> {
        let mut state = self.lock();
        loop {
            if let Some(job) = state.jobs.pop_front() {
                state.busy += 1;
                return Some(job);
            }
            if state.closed {
                return None;
            }
            state.idle += 1;
            state = self
                .to_slots
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
            state.idle -= 1;
        }
    }

    /// Nothing that ends from now on is told to the store thread.
    pub(super) fn mute(&self) {
        let mut state = self.lock();
        state.muted = true;
        state.results.clear();
        state.news.clear();
    }

    fn finish(&self, finished: Finished) {
        let mut state = self.lock();
        if state.muted {
            return;
        }
        state.busy -= 1;
        state.results.push(finished);
        let quiet = state.busy == 0 && state.jobs.is_empty();
        if quiet || !state.gathering || state.jobs.len() < state.low || state.results.len() >= GROUP
        {
            self.call(state);
        }
    }
}

/// What a slot has in its hand.
#[derive(Debug)]
pub(super) struct Hand {
    /// Its number, from 0.
    pub(super) slot: usize,
    ear: Arc<Wake>,
    desk: Arc<Desk>,
}

impl Hand {
    /// What to wait for to be woken.
    pub(super) fn fd(&self) -> PollFd<'_> {
        self.ear.fd()
    }

    /// It woke us; it may wake us again.
    pub(super) fn hear(&self) {
        self.ear.hear();
    }

    /// How hard our command is to end.
    pub(super) fn urgency(&self) -> Urgency {
        self.desk.urgency()
    }

    /// Waits so long, or until it is woken.
    pub(super) fn wait(&self, time: Duration) {
        let timeout = Timespec {
            tv_sec: i64::try_from(time.as_secs()).unwrap_or(1),
            tv_nsec: i64::from(time.subsec_nanos()),
        };
        if poll(&mut [self.fd()], Some(&timeout)).is_ok_and(|ready| ready > 0) {
            self.hear();
        }
    }

    /// Nobody reads our standard output.
    pub(super) fn output_is_closed(&self) {
        self.desk.tell(News::OutputClosed);
    }

    /// The system has no room for another command.
    pub(super) fn no_room(&self, why: String) {
        self.desk.tell(News::NoRoom(why));
    }
}

/// Starts the slots of a run.
pub(super) fn start(
    kit: &Arc<Kit>,
    desk: &Arc<Desk>,
    ears: Vec<Arc<Wake>>,
) -> io::Result<Vec<JoinHandle<()>>> {
    let slots = ears.into_iter().enumerate().map(|(slot, ear)| {
        let hand = Hand {
            slot,
            ear,
            desk: Arc::clone(desk),
        };
        let kit = Arc::clone(kit);
        std::thread::Builder::new()
            .name(format!("slot-{slot}"))
            .spawn(move || work(&kit, &hand))
    });
    slots.collect()
}

fn work(kit: &Kit, hand: &Hand) {
    let mut buffer = vec![0; 32 << 10];
    let run = |job: &Job| {
        let ran = child::run(kit, job, hand, &mut buffer);
        end_unmarked(kit, &hand.desk);
        ran
    };
    serve(&hand.desk, run, || kit.sinks.release(hand.slot));
}

/// Has `run` for every job until there are no more. If it panics, which is a fault of ours, nobody saw that end: the
/// store thread is told so, `after_panic` lets go of what the run held, and the slot goes on. Without an answer the store
/// thread would wait for ever.
fn serve(desk: &Desk, mut run: impl FnMut(&Job) -> Ran, after_panic: impl Fn()) {
    while let Some(job) = desk.next() {
        let began = Instant::now();
        let ran = catch_unwind(AssertUnwindSafe(|| run(&job))).unwrap_or_else(|_| {
            after_panic();
            Ran::unseen(began.elapsed())
        });
        desk.finish(Finished { job, ran });
    }
}

/// Of several commands at once, an orphan without a mark belongs to nobody that we know: it is ended when none runs.
fn end_unmarked(kit: &Kit, desk: &Desk) {
    let Some(reaper) = kit.reaper.as_ref().filter(|_| kit.jobs > 1) else {
        return;
    };
    if reaper.strays().is_empty() || desk.load().busy > 1 {
        return;
    }
    // Nobody starts a command while this is held, so what is there belongs to none.
    let gate = kit.gate.write().unwrap_or_else(PoisonError::into_inner);
    if desk.load().busy > 1 {
        return;
    }
    for _ in 0..1000 {
        let strays = reaper.strays();
        if strays.is_empty() {
            break;
        }
        for pid in strays {
            unix::signal_process(pid, Signal::KILL);
            unix::reap(pid);
        }
        std::thread::sleep(Duration::from_micros(100));
    }
    drop(gate);
}

/// Nobody starts a command from now on; waits for those that are just starting one.
pub(super) fn close_gate(kit: &Kit) {
    *kit.gate.write().unwrap_or_else(PoisonError::into_inner) = Gate::Closed;
}

#[cfg(test)]
mod tests {
    use super::super::child::How;
    use super::super::fake;
    use super::*;
    use std::cell::Cell;

    #[test]
    fn a_panic_in_a_slot_is_an_end_that_nobody_saw() {
        let (desk, _ears) = Desk::new(1).unwrap();
        desk.give(["1", "2"].into_iter().map(|id| fake::job(id, b"")));
        desk.close();
        let theirs = Arc::clone(&desk);
        let slot = std::thread::spawn(move || {
            let released = Cell::new(0);
            let run = |job: &Job| {
                assert!(job.id().as_str() != "1", "as the test wants it");
                Ran::never(How::Stopped)
            };
            serve(&theirs, run, || released.set(released.get() + 1));
            released.get()
        });
        assert_eq!(slot.join().expect("the slot lives on"), 1);
        let batch = desk.wait(Some(Instant::now()), 0, false);
        let ends: Vec<_> = batch
            .results
            .iter()
            .map(|end| (end.job.id().as_str(), &end.ran.how, end.ran.began()))
            .collect();
        assert_eq!(ends, [("1", &How::Lost, true), ("2", &How::Stopped, false)]);
        assert!(desk.load().quiet());
    }
}
