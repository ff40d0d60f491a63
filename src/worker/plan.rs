//! What a worker is asked to do.

use super::command::Command;
use super::verdict::ExitMap;
use crate::queue::retry::Settings;
use crate::queue::{Ladder, QueueName, Selection};
use std::time::Duration;

/// Everything that a run is told: flags that were not given stay `None`, so that a queue's own setting can speak.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Where messages come from.
    pub source: Source,
    /// What is run for each.
    pub command: Command,
    /// Commands at once, at least 1.
    pub jobs: usize,
    /// When the work is over.
    pub mode: Mode,
    /// Stops before that, as at the first signal.
    pub limits: Limits,
    /// How long a claim holds a message; else the queue's setting, else a minute.
    pub lease: Option<Duration>,
    /// Whether leases are extended while commands run.
    pub heartbeat: bool,
    /// How long a command may run before it is ended.
    pub timeout: Option<Duration>,
    /// From TERM to KILL.
    pub kill_after: Duration,
    /// How long a stopping worker lets the running finish.
    pub grace: Duration,
    /// Starts before a message without its own number is dead; else the queue's setting, else seven.
    pub max_attempts: Option<u32>,
    /// Waits before each retry; else the queue's setting, else the default ladder.
    pub backoff: Option<Ladder>,
    /// What exit codes mean, where the table does not say it.
    pub exit_map: ExitMap,
    /// Whether a message is acknowledged after its command or before.
    pub promise: Promise,
    /// The most messages held beyond those that run.
    pub prefetch: Option<usize>,
    /// What a queue that was never there is.
    pub missing: Missing,
    /// What a command's environment has from the store that this worker uses: `QOPS_CONTEXT`, or `QOPS_URL` without
    /// its password. An inherited one is always taken out.
    pub store_env: Vec<(String, String)>,
    /// Further variables that hold a secret of ours and are taken out of a command's environment.
    pub scrub: Vec<String>,
}

/// Where messages come from.
#[derive(Clone, Debug)]
pub enum Source {
    /// What is ready in these queues, which take turns.
    Ready(Vec<QueueName>),
    /// Dead letters of one queue where they lie, each once: 0 or 99 removes one, anything else leaves it dead with that
    /// run in its history. Nothing is charged. The selection names its queue.
    Dead(Selection),
}

/// When the work is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Nothing is ready.
    OneShot,
    /// One message was run, or nothing is ready.
    Once,
    /// Nothing is ready, delayed, blocked or running.
    Wait,
    /// Never.
    Follow,
}

/// When a worker stops as at the first signal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// So many commands were started.
    pub messages: Option<u64>,
    /// So much time has passed.
    pub time: Option<Duration>,
    /// So many commands failed.
    pub failures: Option<u64>,
}

/// Whether a message is acknowledged after its command or before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Promise {
    /// After: a crash may run it twice.
    AtLeastOnce,
    /// Before: a crash may lose it.
    AtMostOnce,
}

/// What a queue that was never there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Missing {
    /// An error.
    Refused,
    /// An empty queue.
    Empty,
}

impl Plan {
    /// A plan with every default of the command line.
    #[must_use]
    pub fn new(source: Source, command: Command) -> Self {
        Self {
            source,
            command,
            jobs: 1,
            mode: Mode::OneShot,
            limits: Limits::default(),
            lease: None,
            heartbeat: true,
            timeout: None,
            kill_after: Duration::from_secs(10),
            grace: Duration::from_secs(30),
            max_attempts: None,
            backoff: None,
            exit_map: ExitMap::default(),
            promise: Promise::AtLeastOnce,
            prefetch: None,
            missing: Missing::Refused,
            store_env: vec![],
            scrub: vec![],
        }
    }

    /// What is in force for a queue with these settings: the flag beats the setting, the setting the default.
    #[must_use]
    pub fn terms(&self, settings: &Settings) -> Terms {
        Terms {
            max_attempts: self
                .max_attempts
                .or(settings.max_attempts)
                .unwrap_or(Settings::MAX_ATTEMPTS)
                .max(1),
            ladder: self
                .backoff
                .clone()
                .or_else(|| settings.backoff.clone())
                .unwrap_or_default(),
            lease: self.lease.or(settings.lease).unwrap_or(Settings::LEASE),
        }
    }

    /// The queues of the plan, in the order in which they were named.
    #[must_use]
    pub fn queues(&self) -> Vec<QueueName> {
        match &self.source {
            Source::Ready(queues) => queues.clone(),
            Source::Dead(selection) => selection.queue.iter().cloned().collect(),
        }
    }
}

/// What is in force for one queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Terms {
    /// Starts before a message without its own number is dead.
    pub max_attempts: u32,
    /// Waits before each retry.
    pub ladder: Ladder,
    /// How long a claim holds a message.
    pub lease: Duration,
}

#[cfg(test)]
mod tests {
    use super::super::command::{Input, Output};
    use super::*;

    #[test]
    fn the_flag_beats_the_setting_and_the_setting_the_default() {
        let mut plan = Plan::new(
            Source::Ready(vec![]),
            Command::shell("true", Input::Stdin, Output::Pass).unwrap(),
        );
        let none = Settings::default();
        let set = Settings {
            max_attempts: Some(3),
            lease: Some(Duration::from_secs(9)),
            backoff: Ladder::new(vec![Duration::from_secs(2)]),
            ..Settings::default()
        };
        assert_eq!(plan.terms(&none).max_attempts, 7);
        assert_eq!(plan.terms(&none).lease, Duration::from_mins(1));
        assert_eq!(plan.terms(&set).max_attempts, 3);
        assert_eq!(plan.terms(&set).ladder.to_string(), "2s");
        plan.max_attempts = Some(1);
        plan.lease = Some(Duration::from_secs(5));
        assert_eq!(plan.terms(&set).max_attempts, 1);
        assert_eq!(plan.terms(&set).lease, Duration::from_secs(5));
    }
}
