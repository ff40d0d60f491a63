//! The runs of a message.

use crate::cases;
use crate::desk::{Desk, end, plain};
use qops::backend::{Detail, Features as F, Page, Verdict};
use qops::queue::{Due, End, Order, Outcome, Reason, Selection};
use std::time::Duration;

const RUN: F = F::PEEK.and(F::START).and(F::HISTORY);

cases! {
    RUN => [
        a_start_opens_a_row,
        an_end_closes_it,
        every_outcome_is_kept,
        runs_are_oldest_first,
        a_release_stands_as_released,
        an_end_without_a_start_is_no_run,
        a_run_without_an_end_ends_as_its_verdict_says,
        it_is_brought_only_when_asked_for,
        stderr_is_kept_as_bytes,
    ],
    RUN.and(F::REQUEUE) => [it_outlives_death_and_replay],
}

const AGAIN: Verdict = Verdict::Retry {
    due: Due::Now,
    charge: true,
};

/// A start where many are allowed.
fn start_of_many(d: &mut Desk<'_>) -> qops::queue::Delivery {
    let mut claimed = d.claim_as("q", |claim| {
        (claim.max, claim.start, claim.max_attempts) = (1, true, 100);
    });
    claimed.got.pop().expect("a message to claim")
}

fn a_start_opens_a_row(d: &mut Desk<'_>) {
    let id = d.put(plain("q", "x"));
    d.start("q");
    let message = d.get(&id);
    assert_eq!(message.history.len(), 1);
    let run = &message.history[0];
    assert_eq!((run.delivery, run.attempt), (1, 1));
    assert_eq!(Some(run.started_at), message.started_at);
    assert_eq!(run.outcome, Outcome::Started);
    assert_eq!(run.worker, "w1");
    assert_eq!((run.took, run.exit, run.signal), (None, None, None));
    assert_eq!((run.error.as_deref(), run.stderr.len()), (None, 0));
}

fn an_end_closes_it(d: &mut Desk<'_>) {
    let id = d.put(plain("q", "x"));
    let got = d.start("q");
    let how = End {
        outcome: Outcome::Timeout,
        exit: None,
        signal: Some(15),
        took: Duration::from_micros(1_234_567),
        error: "timed out after 1s".to_owned(),
        stderr: b"half a line".to_vec(),
    };
    d.sure_end(&got, AGAIN, &how);
    let run = d.get(&id).history.remove(0);
    assert_eq!((run.delivery, run.attempt), (1, 1));
    assert_eq!(run.outcome, Outcome::Timeout);
    assert_eq!((run.exit, run.signal), (None, Some(15)));
    assert_eq!(run.took, Some(how.took));
    assert_eq!(run.error.as_deref(), Some("timed out after 1s"));
    assert_eq!(run.stderr, b"half a line");
}

fn every_outcome_is_kept(d: &mut Desk<'_>) {
    let id = d.put(plain("q", "x"));
    for outcome in [
        Outcome::Failed,
        Outcome::Timeout,
        Outcome::Temporary,
        Outcome::Permanent,
    ] {
        let got = start_of_many(d);
        d.sure_end(&got, AGAIN, &end(outcome, "no"));
        assert_eq!(d.get(&id).history.last().unwrap().outcome, outcome);
    }
}

fn runs_are_oldest_first(d: &mut Desk<'_>) {
    let id = d.put(plain("q", "x"));
    for n in 0..12 {
        if n == 1 {
            let got = d.take("q");
            d.sure(&got, Verdict::Release);
        }
        let got = start_of_many(d);
        d.sure_end(&got, AGAIN, &end(Outcome::Failed, &n.to_string()));
    }
    let history = d.get(&id).history;
    let attempts: Vec<u32> = history.iter().map(|run| run.attempt).collect();
    assert_eq!(attempts, (1..=12).collect::<Vec<u32>>());
    assert!(history.is_sorted_by(|a, b| a.delivery < b.delivery && a.started_at <= b.started_at));
}

fn a_release_stands_as_released(d: &mut Desk<'_>) {
    let id = d.put(plain("q", "x"));
    let got = d.start("q");
    d.sure(&got, Verdict::Release);
    let got = d.start("q");
    assert_eq!(got.message.attempts, 1);
    d.sure_end(&got, Verdict::Release, &end(Outcome::Released, "stopped"));
    let history = d.get(&id).history;
    assert_eq!(history.len(), 2);
    assert!(history.iter().all(|run| run.outcome == Outcome::Released));
    assert_eq!(history[1].took, Some(Duration::from_millis(250)));
}

fn an_end_without_a_start_is_no_run(d: &mut Desk<'_>) {
    let id = d.put(plain("q", "x"));
    let got = d.take("q");
    d.sure_end(
        &got,
        Verdict::Dead(Reason::UnusableArgument),
        &end(Outcome::Failed, "a NUL in an argument"),
    );
    let letter = d.get(&id);
    assert!(letter.history.is_empty());
    assert_eq!(letter.attempts, 0);
    assert_eq!(letter.last_error.as_deref(), Some("a NUL in an argument"));
}

fn a_run_without_an_end_ends_as_its_verdict_says(d: &mut Desk<'_>) {
    let id = d.put(plain("q", "x"));
    let due = Due::Now;
    let uncharged = Verdict::Retry { due, charge: false };
    for verdict in [
        AGAIN,
        uncharged,
        Verdict::Release,
        Verdict::Dead(Reason::Permanent),
    ] {
        let got = d.start("q");
        d.sure(&got, verdict);
    }
    let history = d.get(&id).history;
    let outcomes: Vec<Outcome> = history.iter().map(|run| run.outcome).collect();
    assert_eq!(
        outcomes,
        [
            Outcome::Failed,
            Outcome::Temporary,
            Outcome::Released,
            Outcome::Permanent
        ]
    );
    for run in history {
        assert_eq!((run.exit, run.signal, run.error), (None, None, None));
        assert!(run.stderr.is_empty());
    }
}

fn it_is_brought_only_when_asked_for(d: &mut Desk<'_>) {
    let id = d.kill(plain("q", "x"), "no");
    let what = Selection {
        ids: Some(vec![id]),
        ..Selection::default()
    };
    let full = Page {
        detail: Detail::Full,
        ..Page::first(10, Order::Run)
    };
    let rows = d.db.peek(&what, &full).unwrap().rows;
    assert_eq!((rows.len(), rows[0].history.len()), (1, 0));
    let history = Page {
        detail: Detail::History,
        ..full
    };
    let rows = d.db.peek(&what, &history).unwrap().rows;
    assert_eq!((rows.len(), rows[0].history.len()), (1, 1));
}

fn stderr_is_kept_as_bytes(d: &mut Desk<'_>) {
    let id = d.put(plain("q", "x"));
    let got = d.start("q");
    let stderr: Vec<u8> = (0..=255).cycle().take(64 << 10).collect();
    let how = End {
        stderr: stderr.clone(),
        ..end(Outcome::Failed, "no")
    };
    d.sure_end(&got, AGAIN, &how);
    assert_eq!(d.get(&id).history[0].stderr, stderr);
}

fn it_outlives_death_and_replay(d: &mut Desk<'_>) {
    let id = d.kill(plain("q", "x"), "first");
    d.change(&Selection::of(crate::desk::q("q")), &crate::desk::REPLAY);
    let got = d.start("q");
    assert_eq!(got.message.id, id);
    d.sure_end(
        &got,
        Verdict::Dead(Reason::Attempts),
        &end(Outcome::Failed, "second"),
    );
    let errors: Vec<Option<String>> = d
        .get(&id)
        .history
        .into_iter()
        .map(|run| run.error)
        .collect();
    assert_eq!(errors, [Some("first".into()), Some("second".into())]);
}
