//! `exchange`: what a claim takes, in which order, and what it says.

use crate::cases;
use crate::desk::{Desk, MINUTE, plain, q, texts};
use qops::backend::{
    Claim, Exchange, Features as F, Kind, Pick, Setting, Settle, Settled, Verdict,
};
use qops::queue::{Due, NewMessage, Reason, State, Ttl};
use std::time::Duration;

cases! {
    F::PEEK => [
        a_claim_counts_nothing,
        a_claim_shows_the_message_as_it_stands,
        what_is_claimed_is_not_claimed_again,
        deliveries_grow_and_never_reset,
        at_most_so_many,
        at_most_so_many_bytes_but_always_one,
        an_unknown_queue_stands_inside,
        a_settle_is_not_hidden_by_the_claims_error,
        nothing_asked_nothing_claimed,
        an_empty_queue_answers_at_once,
        next_is_the_end_of_a_lease,
        next_is_nothing_when_nothing_comes,
        other_queues_are_left_alone,
        a_settle_comes_before_the_claim,
    ],
    F::PEEK.and(F::PRIORITY) => [higher_priority_first],
    F::PEEK.and(F::DELAY).and(F::DUE_ORDER) => [what_became_due_takes_its_place],
    F::PEEK.and(F::DELAY).and(F::DUE_ORDER).and(F::PRIORITY) => [priority_beats_due],
    F::PEEK.and(F::DELAY) => [next_is_when_something_is_due, next_is_the_soonest],
    F::PEEK.and(F::START) => [a_claim_may_start],
    F::PEEK.and(F::TTL) => [an_expired_one_is_buried, a_running_one_outlives_its_time],
    F::PEEK.and(F::SETTINGS) => [a_paused_queue_gives_nothing, a_paused_queue_still_settles],
}

fn a_claim_counts_nothing(d: &mut Desk<'_>) {
    let id = d.put(plain("q", "x"));
    let got = d.take("q");
    assert_eq!(got.message.attempts, 0);
    let message = d.get(&id);
    assert_eq!((message.attempts, message.deliveries), (0, 1));
    assert_eq!(message.started_at, None);
    assert!(message.history.is_empty());
    assert_eq!(d.counts("q").running, 1);
}

fn a_claim_shows_the_message_as_it_stands(d: &mut Desk<'_>) {
    let id = d.put(plain("q", "x"));
    let before = d.op().at;
    let got = d.take("q");
    let after = d.op().at;
    let message = d.get(&id);
    assert_eq!(got.message, message);
    assert_eq!(message.state, State::Running);
    assert_eq!(message.worker.as_deref(), Some("w1"));
    let until = message.lease_until.unwrap();
    assert!(before.plus(MINUTE) <= until && until <= after.plus(MINUTE));
    assert_eq!(got.fence, message.deliveries);
    assert_eq!(got.doubt, None);
}

fn what_is_claimed_is_not_claimed_again(d: &mut Desk<'_>) {
    d.put_all(&[plain("q", "1"), plain("q", "2")]);
    let first = d.take("q");
    let second = d.other("w2").take("q");
    assert_ne!(first.message.id, second.message.id);
    assert_ne!(first.receipt, second.receipt);
    assert!(d.claim_all("q").is_empty());
}

fn deliveries_grow_and_never_reset(d: &mut Desk<'_>) {
    let id = d.put(plain("q", "x"));
    let mut receipts = vec![];
    for n in 1..=5 {
        let got = d.take("q");
        assert_eq!((got.fence, got.message.deliveries), (n, n));
        assert!(!receipts.contains(&got.receipt));
        receipts.push(got.receipt.clone());
        match n {
            1 => d.sure(&got, Verdict::Release),
            2 => {
                let due = Due::Now;
                d.sure(&got, Verdict::Retry { due, charge: true });
            }
            _ => d.advance(2),
        }
    }
    assert_eq!(d.get(&id).deliveries, 5);
}

fn at_most_so_many(d: &mut Desk<'_>) {
    let batch: Vec<NewMessage<'_>> = (0..20).map(|_| plain("q", "x")).collect();
    d.put_all(&batch);
    for max in [1, 3, 10] {
        let claimed = d.claim_as("q", |claim| claim.max = max);
        assert_eq!(claimed.got.len(), max);
    }
    assert_eq!(d.claim_as("q", |claim| claim.max = 10).got.len(), 6);
}

fn at_most_so_many_bytes_but_always_one(d: &mut Desk<'_>) {
    let long = "x".repeat(40);
    let batch: Vec<NewMessage<'_>> = (0..6).map(|_| plain("q", &long)).collect();
    d.put_all(&batch);
    let claimed = d.claim_as("q", |claim| claim.bytes = 100);
    assert_eq!(claimed.got.len(), 2);
    assert_eq!(claimed.next, Some(Duration::ZERO), "something is ready");
    let claimed = d.claim_as("q", |claim| claim.bytes = 1);
    assert_eq!(claimed.got.len(), 1, "always one");
    assert_eq!(claimed.next, Some(Duration::ZERO));
    let claimed = d.claim_as("q", |claim| claim.bytes = 80);
    assert_eq!(claimed.got.len(), 2, "exactly so many");
    let claimed = d.claim_as("q", |claim| claim.bytes = 80);
    assert_eq!(claimed.got.len(), 1);
}

fn an_unknown_queue_stands_inside(d: &mut Desk<'_>) {
    d.put(plain("q", "x"));
    let queue = q("nowhere");
    let claim = claim_of(&queue);
    let exchanged = d.exchange(&[], Some(claim));
    let error = exchanged.claimed.unwrap_err();
    assert_eq!(error.kind(), Kind::NotFound);
    assert_eq!(error.context("queue"), Some("nowhere"));
    assert_eq!(
        d.db.stats(None, qops::backend::Depth::Names).unwrap().len(),
        1
    );
}

fn claim_of(queue: &qops::queue::QueueName) -> Claim<'_> {
    Claim {
        queue,
        max: 1,
        bytes: 1_000,
        lease: MINUTE,
        start: false,
        max_attempts: 3,
        pick: Pick::Ready,
    }
}

fn a_settle_is_not_hidden_by_the_claims_error(d: &mut Desk<'_>) {
    let id = d.put(plain("q", "x"));
    let got = d.take("q");
    let queue = q("nowhere");
    let settle = [Settle {
        receipt: &got.receipt,
        verdict: Verdict::Done,
        end: None,
    }];
    let exchanged = d.exchange(&settle, Some(claim_of(&queue)));
    assert_eq!(exchanged.settled, [Settled::Yes]);
    assert_eq!(exchanged.claimed.unwrap_err().kind(), Kind::NotFound);
    assert!(d.find(&id).is_none());
}

fn nothing_asked_nothing_claimed(d: &mut Desk<'_>) {
    d.put(plain("q", "x"));
    let turn = Exchange {
        settle: &[],
        claim: None,
    };
    let exchanged = d.db.exchange(&turn).unwrap();
    assert!(exchanged.settled.is_empty());
    assert!(exchanged.claimed.unwrap().got.is_empty());
    assert_eq!(d.counts("q").ready, 1);
}

fn an_empty_queue_answers_at_once(d: &mut Desk<'_>) {
    d.put(plain("q", "x"));
    let got = d.take("q");
    d.sure(&got, Verdict::Done);
    let begun = std::time::Instant::now();
    let claimed = d.claim_as("q", |_| {});
    assert!(claimed.got.is_empty() && claimed.buried.is_empty() && !claimed.paused);
    assert!(begun.elapsed() < Duration::from_secs(1), "it never blocks");
}

/// About so many minutes, counted from now.
fn about(next: Option<Duration>, minutes: u32) -> bool {
    let (slack, all) = (MINUTE / 2, MINUTE * minutes);
    next.is_some_and(|next| next <= all && all < next + slack)
}

fn next_is_when_something_is_due(d: &mut Desk<'_>) {
    let due = Due::After(MINUTE * 5);
    d.put(NewMessage {
        due,
        ..plain("q", "x")
    });
    let claimed = d.claim_as("q", |_| {});
    assert!(about(claimed.next, 5), "{:?}", claimed.next);
    d.advance(3);
    let claimed = d.claim_as("q", |_| {});
    assert!(about(claimed.next, 2), "{:?}", claimed.next);
}

fn next_is_the_soonest(d: &mut Desk<'_>) {
    for minutes in [9, 4, 30] {
        let due = Due::After(MINUTE * minutes);
        d.put(NewMessage {
            due,
            ..plain("q", "x")
        });
    }
    d.put(NewMessage {
        due: Due::After(MINUTE),
        ..plain("other", "x")
    });
    d.put(plain("q", "ready"));
    let claimed = d.claim_as("q", |claim| claim.lease = MINUTE * 7);
    assert_eq!(claimed.got.len(), 1);
    assert!(about(claimed.next, 4), "{:?}", claimed.next);
    d.advance(5);
    let claimed = d.claim_as("q", |claim| claim.lease = MINUTE * 7);
    assert_eq!(claimed.got.len(), 1);
    assert!(
        about(claimed.next, 2),
        "the first lease: {:?}",
        claimed.next
    );
}

fn next_is_the_end_of_a_lease(d: &mut Desk<'_>) {
    d.put(plain("q", "x"));
    let claimed = d.claim_as("q", |claim| claim.lease = MINUTE * 6);
    assert!(about(claimed.next, 6), "even ours: {:?}", claimed.next);
    d.advance(2);
    let claimed = d.other("w2").claim_as("q", |_| {});
    assert!(about(claimed.next, 4), "anybody's: {:?}", claimed.next);
}

fn next_is_nothing_when_nothing_comes(d: &mut Desk<'_>) {
    d.put(plain("q", "x"));
    let got = d.take("q");
    d.sure(&got, Verdict::Done);
    assert_eq!(d.claim_as("q", |_| {}).next, None);
    d.put(plain("q", "y"));
    let got = d.take("q");
    d.sure(&got, Verdict::Dead(Reason::Permanent));
    assert_eq!(
        d.claim_as("q", |_| {}).next,
        None,
        "a dead letter never comes"
    );
}

fn other_queues_are_left_alone(d: &mut Desk<'_>) {
    let id = d.put(plain("other", "x"));
    d.put(plain("q", "y"));
    assert_eq!(texts(&d.claim_all("q")), ["y"]);
    assert_eq!(d.get(&id).state, State::Ready);
}

fn a_settle_comes_before_the_claim(d: &mut Desk<'_>) {
    let id = d.put(plain("q", "x"));
    let got = d.take("q");
    let queue = q("q");
    let settle = [Settle {
        receipt: &got.receipt,
        verdict: Verdict::Release,
        end: None,
    }];
    let exchanged = d.exchange(&settle, Some(claim_of(&queue)));
    let again = exchanged.claimed.unwrap().got;
    assert_eq!(again[0].message.id, id);
    assert_eq!(again[0].fence, 2);
}

fn higher_priority_first(d: &mut Desk<'_>) {
    for (text, priority) in [("a", 0), ("b", -9), ("c", 9), ("d", 0), ("e", 9), ("f", 1)] {
        d.put(NewMessage {
            priority,
            ..plain("q", text)
        });
    }
    assert_eq!(texts(&d.claim_all("q")), ["c", "e", "f", "a", "d", "b"]);
}

fn what_became_due_takes_its_place(d: &mut Desk<'_>) {
    for (text, minutes) in [("a", 3), ("b", 1), ("c", 2)] {
        let due = Due::After(MINUTE * minutes);
        d.put(NewMessage {
            due,
            ..plain("q", text)
        });
    }
    d.advance(2);
    d.put(plain("q", "d"));
    d.advance(5);
    d.put(plain("q", "e"));
    assert_eq!(texts(&d.claim_all("q")), ["b", "c", "d", "a", "e"]);
}

fn priority_beats_due(d: &mut Desk<'_>) {
    d.put(plain("q", "old"));
    d.put(NewMessage {
        priority: 1,
        due: Due::After(MINUTE),
        ..plain("q", "high")
    });
    assert_eq!(texts(&[d.take("q")]), ["old"], "the high one is not due");
    d.put(plain("q", "low"));
    d.advance(1);
    let got = d.take("q");
    assert_eq!(texts(&[got]), ["high"]);
}

fn a_claim_may_start(d: &mut Desk<'_>) {
    let id = d.put(plain("q", "x"));
    let before = d.op().at;
    let got = d.start("q");
    assert_eq!(got.message.attempts, 1);
    let message = d.get(&id);
    assert_eq!(message.attempts, 1);
    assert!(message.started_at.is_some_and(|at| at >= before));
    d.sure(&got, Verdict::Start);
    assert_eq!(d.get(&id).attempts, 1, "started once");
}

fn an_expired_one_is_buried(d: &mut Desk<'_>) {
    let ttl = Some(Ttl::After(MINUTE * 5));
    let id = d.put(NewMessage {
        ttl,
        ..plain("q", "late")
    });
    d.put(plain("q", "next"));
    d.advance(5);
    let claimed = d.claim_as("q", |_| {});
    assert_eq!(texts(&claimed.got), ["next"]);
    assert_eq!(claimed.buried, [(id.clone(), Reason::Expired)]);
    let letter = d.get(&id);
    assert_eq!(letter.state, State::Dead);
    assert_eq!(letter.reason, Some(Reason::Expired));
    assert_eq!((letter.attempts, letter.deliveries), (0, 0));
    assert!(letter.died_at.is_some());
}

fn a_running_one_outlives_its_time(d: &mut Desk<'_>) {
    let ttl = Some(Ttl::After(MINUTE * 5));
    let id = d.put(NewMessage {
        ttl,
        ..plain("q", "x")
    });
    let mut claimed = d.claim_as("q", |claim| {
        (claim.lease, claim.start) = (MINUTE * 30, true);
    });
    let got = claimed.got.pop().unwrap();
    d.advance(10);
    assert_eq!(d.get(&id).state, State::Running);
    d.sure(&got, Verdict::Start);
    d.sure(&got, Verdict::Done);
    assert!(d.find(&id).is_none());
}

fn a_paused_queue_gives_nothing(d: &mut Desk<'_>) {
    d.put(plain("q", "x"));
    d.put(plain("other", "y"));
    d.set("q", Setting::Paused(true));
    let claimed = d.claim_as("q", |_| {});
    assert!(claimed.got.is_empty() && claimed.paused);
    assert_eq!(texts(&d.claim_all("other")), ["y"]);
    d.put(plain("q", "still taken in"));
    assert_eq!(d.counts("q").ready, 2);
    d.set("q", Setting::Paused(false));
    let claimed = d.claim_as("q", |_| {});
    assert!(claimed.got.len() == 2 && !claimed.paused);
}

fn a_paused_queue_still_settles(d: &mut Desk<'_>) {
    let id = d.put(plain("q", "x"));
    let got = d.start("q");
    d.set("q", Setting::Paused(true));
    d.sure(&got, Verdict::Extend(MINUTE * 2));
    d.sure(&got, Verdict::Done);
    assert!(d.find(&id).is_none());
}
