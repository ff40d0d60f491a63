//! What the end of a command means for its message.

use super::capture::last_line;
use super::child::{How, Ran};
use super::ledger::Job;
use super::note::Fate;
use super::plan::{Plan, Promise, Source};
use super::slot::Finished;
use super::verdict::{Count, Ruling, judge};
use crate::backend::Verdict;
use crate::queue::time::duration_text;
use crate::queue::{End, Ladder, Outcome, Reason, said};
use std::time::Duration;

/// The end of a command, judged and not yet settled.
#[derive(Debug)]
pub(super) struct Ended {
    /// What was run for.
    pub(super) job: Job,
    /// What becomes of it.
    pub(super) verdict: Verdict,
    /// Its row in the history; none for a success.
    pub(super) end: Option<End>,
    /// What is told once the verdict took.
    pub(super) fate: Fate,
    /// How long its command ran.
    pub(super) took: Duration,
    /// How long until it is due again, if it is.
    pub(super) wait: Option<Duration>,
    /// What it means for the run.
    pub(super) effect: Effect,
}

/// What an end means for the run as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// Nothing.
    None,
    /// The exit map gave it back.
    GivenBack,
    /// It counts as a success.
    Success,
    /// A success, and the worker stops.
    SuccessAndStop,
    /// It counts as a failure.
    Failure,
    /// The command itself is in doubt: the worker stops unless something has succeeded.
    Doubt(String),
    /// The command cannot run.
    CannotRun(String),
}

/// Judges one end. None: there is nothing to settle, its lease is lost.
pub(super) fn judged(
    finished: Finished,
    plan: &Plan,
    ladder: &Ladder,
    jitter: f64,
) -> Result<Box<Ended>, Box<Job>> {
    let Finished { job, ran } = finished;
    let took = ran.took;
    let (ruling, error) = match &ran.how {
        How::Lost => return Err(Box::new(job)),
        How::Stopped => (Ruling::Release, "the worker stopped".to_owned()),
        How::CannotRun(why) | How::NoRoom(why) => (Ruling::Release, why.clone()),
        How::Unusable(why) => (Ruling::Permanent, why.clone()),
        How::Exit(code) => (
            plan.exit_map.ruling(*code),
            complaint(&ran, || format!("exit {code}")),
        ),
        How::Signal(signal) => (
            Ruling::Fail,
            complaint(&ran, || format!("ended by {}", said::signal(*signal))),
        ),
        How::Timeout => {
            let after = plan.timeout.map_or(String::new(), |timeout| {
                format!(" after {}", duration_text(timeout))
            });
            (Ruling::Fail, format!("timed out{after}"))
        }
    };
    // Our reader has gone, and a command that writes to it fails: that is no fault of the message.
    let (ruling, error) = match ruling {
        Ruling::Fail if ran.cut_off => (Ruling::Release, "nobody read the output".to_owned()),
        other => (other, error),
    };
    let effect = match (&ran.how, ruling) {
        (How::CannotRun(why), _) => Effect::CannotRun(why.clone()),
        (How::Stopped | How::NoRoom(_), _) | (_, Ruling::Temporary) => Effect::None,
        (_, Ruling::Release) => Effect::GivenBack,
        (How::Exit(code), Ruling::Misconfigured) => Effect::Doubt(format!(
            "the command ended with {code}, which is said of one that cannot be found or run: {error}"
        )),
        (_, Ruling::Done) => Effect::Success,
        // Of dead letters every one has its run.
        (_, Ruling::DoneAndStop) if matches!(plan.source, Source::Dead(_)) => Effect::Success,
        (_, Ruling::DoneAndStop) => Effect::SuccessAndStop,
        _ => Effect::Failure,
    };
    let count = Count {
        attempts: job.attempt,
        max_attempts: job.max_attempts.unwrap_or(u32::MAX),
        deferrals: job.delivery.message.deferrals,
    };
    let mut judgement = judge(ruling, count, ladder, jitter);
    if let How::Unusable(_) = ran.how {
        judgement.verdict = Verdict::Dead(Reason::UnusableArgument);
    }
    if matches!(plan.source, Source::Dead(_)) {
        // A letter stays one unless its command succeeded; nothing is charged and nothing comes back.
        judgement.verdict = match judgement.verdict {
            Verdict::Retry { .. } | Verdict::Dead(_) => {
                Verdict::Dead(job.delivery.message.reason.unwrap_or(Reason::Attempts))
            }
            other => other,
        };
    }
    let outcome = match ran.how {
        How::Timeout => Some(Outcome::Timeout),
        _ => judgement.outcome,
    };
    let fate = fate(judgement.verdict, plan.promise, judgement.wait, &error);
    let wait = matches!(judgement.verdict, Verdict::Retry { .. }).then_some(judgement.wait);
    let end = outcome.map(|outcome| end_of(ran, outcome, error));
    Ok(Box::new(Ended {
        job,
        verdict: judgement.verdict,
        end,
        fate,
        took,
        wait,
        effect,
    }))
}

fn fate(verdict: Verdict, promise: Promise, wait: Duration, error: &str) -> Fate {
    let error = error.to_owned();
    match verdict {
        Verdict::Done => Fate::Done,
        _ if promise == Promise::AtMostOnce => Fate::Dropped { error },
        Verdict::Retry { charge: true, .. } => Fate::Retry { wait, error },
        Verdict::Retry { charge: false, .. } => Fate::Deferred { wait, error },
        Verdict::Dead(reason) => Fate::Dead { reason, error },
        Verdict::Release | Verdict::Start | Verdict::Extend(_) => Fate::Released,
    }
}

fn end_of(ran: Ran, outcome: Outcome, error: String) -> End {
    let (exit, signal) = match ran.how {
        How::Exit(code) => (Some(i32::from(code)), None),
        How::Signal(signal) => (None, Some(signal)),
        _ => (None, None),
    };
    End {
        outcome,
        exit,
        signal,
        took: ran.took,
        error,
        stderr: ran.stderr,
    }
}

/// The last line that the command said on stderr, or what there is to say without one.
fn complaint(ran: &Ran, otherwise: impl FnOnce() -> String) -> String {
    last_line(&ran.stderr).unwrap_or_else(otherwise)
}
