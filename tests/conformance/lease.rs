//! Leases that end: by the store's clock, with or without a started run.

use crate::cases;
use crate::desk::{Desk, MINUTE, plain, texts};
use qops::backend::{Features as F, Verdict};
use qops::queue::{Delivery, Due, NewMessage, Outcome, Reason, State};

const RUN: F = F::PEEK.and(F::START);

cases! {
    RUN => [
        what_was_not_started_comes_back_uncharged,
        what_was_started_is_charged,
        a_lost_last_attempt_is_dead,
        the_claimer_says_when_it_is_spent,
        its_own_number_is_above_the_claimers,
        many_fetched_and_lost_cost_nothing,
        what_is_spent_is_not_handed_out,
        what_is_spent_by_its_own_number,
        doubt_names_the_lost_run,
        doubt_lasts_until_an_end_is_seen,
        no_doubt_after_a_seen_end,
        it_comes_back_in_its_place,
        a_lapsed_lease_is_running_until_reclaimed,
        a_lease_ends_at_its_end,
        ten_thousand_leases_come_back,
    ],
    RUN.and(F::HISTORY) => [a_lost_run_stands_in_the_history],
}

fn what_was_not_started_comes_back_uncharged(d: &mut Desk<'_>) {
    let id = d.put(plain("q", "x"));
    for n in 1..=10 {
        let got = d.take("q");
        assert_eq!(got.message.id, id);
        assert_eq!((got.message.attempts, got.fence), (0, n));
        assert_eq!(got.doubt, None);
        d.advance(1);
    }
    assert!(d.get(&id).history.is_empty());
}

fn what_was_started_is_charged(d: &mut Desk<'_>) {
    let id = d.put(plain("q", "x"));
    d.start("q");
    d.advance(1);
    let mut other = d.other("w2");
    let got = other.take("q");
    assert_eq!(got.message.id, id);
    assert_eq!((got.message.attempts, got.fence), (1, 2));
    assert_eq!(got.message.worker.as_deref(), Some("w2"));
    assert_eq!(got.message.started_at, None);
}

fn a_lost_last_attempt_is_dead(d: &mut Desk<'_>) {
    let id = d.put(plain("q", "x"));
    for n in 1..=3 {
        let got = d.start("q");
        assert_eq!(got.message.attempts, n);
        d.advance(1);
    }
    let claimed = d.claim_as("q", |claim| claim.start = true);
    assert!(claimed.got.is_empty(), "exactly 3 starts");
    assert_eq!(claimed.buried, [(id.clone(), Reason::WorkerLost)]);
    let letter = d.get(&id);
    assert_eq!(letter.state, State::Dead);
    assert_eq!(letter.reason, Some(Reason::WorkerLost));
    assert_eq!((letter.attempts, letter.deliveries), (3, 3));
    assert_eq!((letter.lease_until, letter.started_at), (None, None));
}

fn the_claimer_says_when_it_is_spent(d: &mut Desk<'_>) {
    let id = d.put(plain("q", "x"));
    d.start("q");
    d.advance(1);
    let claimed = d.claim_as("q", |claim| (claim.max_attempts, claim.start) = (2, true));
    assert_eq!(claimed.got.len(), 1, "1 of 2");
    d.advance(1);
    let claimed = d.claim_as("q", |claim| (claim.max_attempts, claim.start) = (9, true));
    assert_eq!(claimed.got.len(), 1, "2 of 9");
    d.advance(1);
    let claimed = d.claim_as("q", |claim| claim.max_attempts = 1);
    assert_eq!(claimed.buried, [(id, Reason::WorkerLost)], "3 of 1");
}

fn its_own_number_is_above_the_claimers(d: &mut Desk<'_>) {
    let own = |own, text| NewMessage {
        max_attempts: Some(own),
        ..plain("q", text)
    };
    let once = d.put(own(1, "once"));
    let often = d.put(own(5, "often"));
    assert_eq!(d.claim_as("q", |claim| claim.start = true).got.len(), 2);
    d.advance(1);
    let claimed = d.claim_as("q", |claim| (claim.max_attempts, claim.start) = (1, true));
    assert_eq!(claimed.buried, [(once, Reason::WorkerLost)]);
    assert_eq!(claimed.got[0].message.id, often);
}

fn many_fetched_and_lost_cost_nothing(d: &mut Desk<'_>) {
    let batch: Vec<NewMessage<'_>> = (0..50).map(|_| plain("q", "x")).collect();
    d.put_all(&batch);
    let got = d.claim_all("q");
    d.sure(&got[0], Verdict::Start);
    d.advance(1);
    let again = d.claim_all("q");
    assert_eq!(again.len(), 50);
    let charged: u32 = again.iter().map(|delivery| delivery.message.attempts).sum();
    assert_eq!(charged, 1);
}

/// By the number of whoever claims it.
fn what_is_spent_is_not_handed_out(d: &mut Desk<'_>) {
    let id = d.put(plain("q", "x"));
    for _ in 0..2 {
        let got = d.start("q");
        let due = Due::Now;
        d.sure(&got, Verdict::Retry { due, charge: true });
    }
    d.put(plain("q", "y"));
    let claimed = d.claim_as("q", |claim| claim.max_attempts = 2);
    assert_eq!(claimed.buried, [(id.clone(), Reason::Attempts)]);
    assert_eq!(texts(&claimed.got), ["y"]);
    let letter = d.get(&id);
    assert_eq!((letter.state, letter.attempts), (State::Dead, 2));
}

fn what_is_spent_by_its_own_number(d: &mut Desk<'_>) {
    let id = d.put(NewMessage {
        max_attempts: Some(1),
        ..plain("q", "x")
    });
    let got = d.start("q");
    let due = Due::Now;
    d.sure(&got, Verdict::Retry { due, charge: true });
    let claimed = d.claim_as("q", |claim| claim.max_attempts = 9);
    assert!(claimed.got.is_empty());
    assert_eq!(claimed.buried, [(id, Reason::Attempts)]);
}

fn doubt_names_the_lost_run(d: &mut Desk<'_>) {
    let id = d.put(plain("q", "x"));
    d.start("q");
    let started = d.get(&id).started_at.unwrap();
    d.advance(1);
    let got = d.other("w2").take("q");
    let doubt = got.doubt.expect("nobody saw its end");
    assert_eq!((doubt.started_at, doubt.worker.as_str()), (started, "w1"));
}

fn doubt_lasts_until_an_end_is_seen(d: &mut Desk<'_>) {
    d.put(plain("q", "x"));
    d.start("q");
    d.advance(1);
    assert!(d.take("q").doubt.is_some());
    d.advance(1);
    let got = d.take("q");
    assert!(got.doubt.is_some(), "it was only fetched in between");
    d.sure(&got, Verdict::Release);
    assert!(d.take("q").doubt.is_some());
}

fn no_doubt_after_a_seen_end(d: &mut Desk<'_>) {
    d.put(plain("q", "x"));
    d.start("q");
    d.advance(1);
    let got = d.start("q");
    let failed = crate::desk::end(Outcome::Failed, "no");
    let due = Due::Now;
    d.sure_end(&got, Verdict::Retry { due, charge: true }, &failed);
    let got = d.start("q");
    assert_eq!(got.doubt, None);
    d.sure(&got, Verdict::Release);
    assert_eq!(d.take("q").doubt, None, "released, not lost");
}

fn it_comes_back_in_its_place(d: &mut Desk<'_>) {
    for text in ["1", "2", "3", "4"] {
        d.put(plain("q", text));
    }
    let got = d.claim_as("q", |claim| claim.max = 2).got;
    d.sure(&got[0], Verdict::Start);
    d.advance(1);
    assert_eq!(texts(&d.claim_all("q")), ["1", "2", "3", "4"]);
}

fn a_lapsed_lease_is_running_until_reclaimed(d: &mut Desk<'_>) {
    let id = d.put(plain("q", "x"));
    d.start("q");
    assert_eq!(d.report("q").expired_leases, 0);
    d.advance(5);
    assert_eq!(d.get(&id).state, State::Running, "a look changes nothing");
    let report = d.report("q");
    assert_eq!((report.counts.running, report.expired_leases), (1, 1));
    d.claim_as("q", |claim| claim.max = 1);
    assert_eq!(d.report("q").expired_leases, 0);
}

fn a_lease_ends_at_its_end(d: &mut Desk<'_>) {
    d.put(plain("q", "x"));
    let mut claimed = d.claim_as("q", |claim| claim.lease = MINUTE * 3);
    let got: Delivery = claimed.got.pop().unwrap();
    d.store.advance(MINUTE * 5 / 2);
    assert!(d.claim_all("q").is_empty());
    d.sure(&got, Verdict::Start);
    d.store.advance(MINUTE / 2);
    assert_eq!(d.claim_all("q").len(), 1);
}

fn a_lost_run_stands_in_the_history(d: &mut Desk<'_>) {
    let id = d.put(plain("q", "x"));
    d.start("q");
    d.advance(1);
    d.take("q");
    let message = d.get(&id);
    assert_eq!(message.history.len(), 1);
    let run = &message.history[0];
    assert_eq!((run.delivery, run.attempt), (1, 1));
    assert_eq!(run.outcome, Outcome::Lost);
    assert_eq!((run.took, run.exit, run.signal), (None, None, None));
    assert_eq!(run.worker, "w1");
}

fn ten_thousand_leases_come_back(d: &mut Desk<'_>) {
    let batch: Vec<NewMessage<'_>> = (0..1_000).map(|_| plain("q", "x")).collect();
    for _ in 0..10 {
        d.put_all(&batch);
    }
    let limit = d.db.capability().max_batch.min(10_000);
    let mut held = 0;
    while held < 10_000 {
        let got = d.claim_as("q", |claim| claim.max = limit).got.len();
        assert!(got > 0);
        held += got;
    }
    d.advance(1);
    let begun = std::time::Instant::now();
    let mut again = 0;
    while again < 10_000 {
        let got = d.claim_as("q", |claim| claim.max = limit).got.len();
        assert!(got > 0, "{again} came back");
        again += got;
    }
    assert!(begun.elapsed().as_secs() < 20, "{:?}", begun.elapsed());
}
