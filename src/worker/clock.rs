//! When the store thread looks, at what, and how long it may sleep.

use super::lane::POLL;
use super::lease::Moment;
use super::note::Why;
use super::plan::{Mode, Source};
use super::run::{CARE, GATHER, SHUN, Worker};
use crate::backend::{Chore, Depth, Kind};
use crate::queue::QueueName;
use signal_hook::consts::SIGTERM;
use std::time::{Duration, Instant};

impl Worker<'_> {
    /// Does what is due by now: limits, grace, care, a look at queues that were dry.
    pub(super) fn look_at_clock(&mut self) {
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
        if now >= self.looked + POLL && self.waits() {
            self.lanes.wet();
        }
        self.lanes.tick(now);
        self.unshun(now);
    }

    /// There is room for more and nothing to take, and that is not the end.
    pub(super) fn waits(&self) -> bool {
        let busy = self.desk.load().busy;
        let stays = matches!(self.plan.mode, Mode::Wait | Mode::Follow);
        self.stop.is_none()
            && self.lanes.dry()
            && self.left() > 0
            && matches!(self.plan.source, Source::Ready(_))
            && (stays || busy > 0)
            && busy < self.plan.jobs
    }

    /// What was given back by the exit map has its turn again after a moment; a worker that is to end when nothing is
    /// ready leaves it to others.
    pub(super) fn unshun(&mut self, now: Instant) {
        if matches!(self.plan.mode, Mode::OneShot | Mode::Once) {
            return;
        }
        let over = |since: &Instant| now >= *since + SHUN;
        let shunned = &mut self.shunned;
        let ripe = self
            .aside
            .extract_if(.., |job| shunned.get(job.id()).is_none_or(over));
        self.fetched.extend(ripe);
        shunned.retain(|_, since| !over(since));
    }

    /// Settings anew, and the store's housekeeping: none of it is worth an error.
    pub(super) fn care(&mut self) {
        self.cared = Instant::now();
        if self.link.not_before().is_some() || self.full.is_some() {
            return;
        }
        let Ok(store) = self.link.store() else { return };
        let queues: Vec<QueueName> = self
            .lanes
            .all
            .iter()
            .map(|lane| lane.queue.clone())
            .collect();
        let reports = match store.stats(Some(&queues), Depth::Names) {
            // One of them is not there yet, and hides the others.
            Err(error) if error.kind() == Kind::NotFound => queues
                .iter()
                .filter_map(|queue| {
                    store
                        .stats(Some(std::slice::from_ref(queue)), Depth::Names)
                        .ok()
                })
                .flatten()
                .collect(),
            asked => asked.unwrap_or_default(),
        };
        for lane in &mut self.lanes.all {
            if let Some(report) = reports.iter().find(|report| report.queue == lane.queue) {
                lane.terms = self.plan.terms(&report.settings);
            }
        }
        let _ = store.tend(Chore::Sweep, Duration::from_millis(20));
    }

    /// When the store thread must look again, whatever happens.
    pub(super) fn next_look(&mut self) -> Option<Instant> {
        let now = Instant::now();
        let trouble = self.link.not_before();
        let full = self.full.is_some();
        let beat = self
            .ledger
            .next_beat()
            .filter(|_| self.plan.heartbeat && !full && !self.broken && trouble.is_none());
        let beat = beat.map(|beat| now + beat.since(Moment::now()));
        let gathered = self.since.map(|since| since + GATHER);
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
        let waits = self.waits();
        let due = self.lanes.next_due().filter(|_| waits);
        let mut poll = None;
        if waits {
            self.arm();
            poll = Some(self.looked + POLL);
        }
        let shun = (!self.aside.is_empty()).then(|| now + SHUN);
        [
            beat,
            gathered.filter(|_| trouble.is_none() && !self.broken && !full),
            self.asks_for_room().filter(|_| trouble.is_none()),
            trouble,
            grace,
            time,
            due,
            poll,
            shun,
        ]
        .into_iter()
        .flatten()
        .min()
    }

    /// From now on the bell is heard.
    pub(super) fn arm(&mut self) {
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
}
