//! How a worker comes to its end: by signals, limits, and a store that fails.

use super::ledger::Job;
use super::link::{Gravity, PATIENCE, gravity};
use super::note::{Note, Why};
use super::plan::{Mode, Promise};
use super::run::{Stop, Worker};
use super::signal;
use super::slot::{self, News, Urgency};
use crate::backend::Error;
use signal_hook::consts::{SIGCONT, SIGTSTP};
use std::time::Instant;

impl Worker<'_> {
    /// Takes one of the news at the desk.
    pub(super) fn hear(&mut self, news: News) {
        match news {
            News::Bell => self.lanes.wet(),
            News::NoRoom(why) => {
                if !std::mem::replace(&mut self.told_no_room, true) {
                    (self.say)(Note::NoRoom(&why));
                }
            }
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

    /// Commands that run are being ended.
    pub(super) fn is_ending(&self) -> bool {
        self.stop.as_ref().is_some_and(|stop| stop.ended)
    }

    /// Nothing more is taken; what is not begun is given back.
    pub(super) fn begin_stop(&mut self, why: Why) {
        if self.stop.is_some() {
            // A store that fails outweighs a limit or a signal.
            if matches!((&why, &self.summary.why), (Why::Store(_), old) if !matches!(old, Why::Store(_) | Why::CannotRun(_)))
            {
                self.summary.why = why;
            }
            return;
        }
        self.stop = Some(Stop {
            at: Instant::now(),
            ended: false,
        });
        // Whoever waited for room asks once more, with everything.
        self.full = None;
        self.retiring.extend(self.fetched.drain(..));
        self.retiring.append(&mut self.aside);
        // What is acknowledged before its command runs cannot be given back: it runs.
        if self.plan.promise == Promise::AtLeastOnce {
            let back = self.desk.take_back();
            self.summary.started -= back.len() as u64;
            self.solo &= !back.iter().any(Job::runs_alone);
            self.retiring.extend(back);
        }
        let running = self.desk.load().busy;
        (self.say)(Note::Stopping { why: &why, running });
        self.summary.why = why;
    }

    /// What still runs is ended; once more, at once.
    pub(super) fn end_commands(&mut self, signal: i32) {
        self.begin_stop(Why::Signal(signal));
        let load = self.desk.load();
        if self.is_ending() {
            self.desk.urge(Urgency::Kill);
            return;
        }
        if let Some(stop) = &mut self.stop {
            stop.ended = true;
        }
        if load.busy > 0 {
            self.summary.ended_by = Some(signal);
            (self.say)(Note::Ending);
        }
        self.desk.urge(Urgency::Term);
    }

    /// The store is lost for good: no end can be settled, so no command may run on.
    pub(super) fn give_up(&mut self, error: Error) {
        self.begin_stop(Why::Store(error));
        self.abandoned = true;
        slot::close_gate(&self.kit);
        self.desk.urge(Urgency::Term);
        if let Some(stop) = &mut self.stop {
            stop.ended = true;
        }
    }

    /// This outweighs whatever stopped the worker before.
    pub(super) fn cannot_run(&mut self, why: &str) {
        self.begin_stop(Why::CannotRun(why.to_owned()));
        self.summary.why = Why::CannotRun(why.to_owned());
    }

    /// A call failed as a whole; nothing of it is known to have happened.
    pub(super) fn failed(&mut self, error: Error) {
        match gravity(&error) {
            Gravity::Passing => {
                self.lost(&error);
                let stays = self.plan.mode == Mode::Follow && self.stop.is_none();
                // Somebody who has sent a second signal does not want to wait for a store.
                let patience = if self.is_ending() {
                    PATIENCE / 15
                } else {
                    PATIENCE
                };
                if !stays && self.link.lost_for().is_some_and(|lost| lost >= patience) {
                    self.give_up(error);
                }
            }
            Gravity::Full => self.is_full(error),
            Gravity::Final if self.broken => self.give_up(error),
            Gravity::Final => {
                // What runs may end well, and the store may take that.
                self.broken = true;
                self.begin_stop(Why::Store(error));
            }
        }
    }
}
