//! Groups: members run one at a time, in the order of their enqueue.

use crate::cases;
use crate::desk::{ALL_FREE, Desk, MINUTE, REPLAY, dead_of, grouped, ids, plain, q, texts};
use qops::backend::{Features as F, Settle, Settled, Verdict};
use qops::queue::{Due, NewMessage, Order, Reason, Selection, State, Ttl};

const G: F = F::PEEK.and(F::GROUPS).and(F::START);

cases! {
    G => [
        members_run_one_at_a_time_in_order,
        one_claim_takes_one_of_a_group,
        groups_do_not_wait_for_each_other,
        a_group_is_of_its_queue,
        a_retrying_head_blocks,
        a_released_head_stays_the_head,
        a_lost_head_stays_the_head,
        a_done_head_frees_the_next_in_the_same_call,
        a_dead_head_frees_the_next,
        a_head_that_is_lost_for_good_frees_the_next,
        a_late_member_waits_for_the_head,
        an_empty_group_begins_anew,
    ],
    G.and(F::DELAY) => [a_delayed_head_blocks, a_freed_member_may_be_delayed, a_retry_that_waits_blocks],
    G.and(F::PRIORITY) => [order_is_above_priority, the_heads_priority_is_the_groups],
    G.and(F::TTL) => [an_expired_head_frees_the_next],
    G.and(F::PURGE) => [a_purged_head_frees_the_next, a_purged_blocked_one_frees_nobody],
    G.and(F::REQUEUE) => [
        a_replay_is_next_after_the_head,
        several_replays_keep_their_order,
        a_replay_into_an_empty_group_leads,
        dead_letters_free_the_group_one_after_the_other,
    ],
}

fn five(d: &mut Desk<'_>) -> Vec<qops::queue::MessageId> {
    ["0", "1", "2", "3", "4"]
        .map(|text| d.put(grouped("q", text, "g")))
        .to_vec()
}

/// Runs what is left to its end, one claim a message.
fn rest(d: &mut Desk<'_>) -> Vec<String> {
    let mut run = vec![];
    loop {
        let got = d.claim_as("q", |claim| claim.start = true).got;
        if got.is_empty() {
            return run;
        }
        for delivery in got {
            run.push(texts(std::slice::from_ref(&delivery))[0].to_owned());
            d.sure(&delivery, Verdict::Done);
        }
    }
}

fn members_run_one_at_a_time_in_order(d: &mut Desk<'_>) {
    five(d);
    for n in 0..5 {
        let got = d.claim_all("q");
        assert_eq!(texts(&got), [n.to_string()]);
        assert!(d.other("w2").claim_all("q").is_empty(), "it is running");
        d.sure(&got[0], Verdict::Done);
    }
    assert!(d.claim_all("q").is_empty());
}

fn one_claim_takes_one_of_a_group(d: &mut Desk<'_>) {
    for text in ["a1", "a2", "b1", "b2", "a3"] {
        d.put(grouped("q", text, &text[..1]));
    }
    d.put(plain("q", "c"));
    assert_eq!(texts(&d.claim_all("q")), ["a1", "b1", "c"]);
}

fn groups_do_not_wait_for_each_other(d: &mut Desk<'_>) {
    d.put(grouped("q", "a1", "a"));
    d.put(grouped("q", "a2", "a"));
    d.start("q");
    d.put(grouped("q", "b1", "b"));
    d.put(plain("q", "none"));
    assert_eq!(texts(&d.claim_all("q")), ["b1", "none"]);
}

fn a_group_is_of_its_queue(d: &mut Desk<'_>) {
    d.put(grouped("q", "1", "g"));
    d.put(grouped("r", "2", "g"));
    assert_eq!(texts(&d.claim_all("q")), ["1"]);
    assert_eq!(texts(&d.claim_all("r")), ["2"]);
}

fn a_retrying_head_blocks(d: &mut Desk<'_>) {
    five(d);
    let got = d.start("q");
    let due = Due::Now;
    d.sure(&got, Verdict::Retry { due, charge: true });
    let mut run = vec!["0".to_owned()];
    run.extend(rest(d));
    assert_eq!(run, ["0", "0", "1", "2", "3", "4"]);
}

fn a_retry_that_waits_blocks(d: &mut Desk<'_>) {
    five(d);
    let got = d.start("q");
    let due = Due::After(MINUTE * 5);
    d.sure(&got, Verdict::Retry { due, charge: false });
    assert!(d.claim_all("q").is_empty());
    let counts = d.counts("q");
    assert_eq!((counts.delayed, counts.blocked), (1, 4));
    d.advance(5);
    assert_eq!(rest(d), ["0", "1", "2", "3", "4"]);
}

fn a_released_head_stays_the_head(d: &mut Desk<'_>) {
    five(d);
    let got = d.start("q");
    d.sure(&got, Verdict::Release);
    assert_eq!(rest(d), ["0", "1", "2", "3", "4"]);
}

fn a_lost_head_stays_the_head(d: &mut Desk<'_>) {
    five(d);
    d.start("q");
    d.advance(1);
    assert_eq!(rest(d), ["0", "1", "2", "3", "4"]);
}

fn a_done_head_frees_the_next_in_the_same_call(d: &mut Desk<'_>) {
    five(d);
    let got = d.start("q");
    let queue = q("q");
    let settle = [Settle {
        receipt: &got.receipt,
        verdict: Verdict::Done,
        end: None,
    }];
    let claim = qops::backend::Claim {
        queue: &queue,
        max: 10,
        bytes: 1_000,
        lease: MINUTE,
        start: false,
        max_attempts: 3,
        pick: qops::backend::Pick::Ready,
    };
    let exchanged = d.exchange(&settle, Some(claim));
    assert_eq!(exchanged.settled, [Settled::Yes]);
    assert_eq!(texts(&exchanged.claimed.unwrap().got), ["1"]);
}

fn a_dead_head_frees_the_next(d: &mut Desk<'_>) {
    five(d);
    let got = d.start("q");
    d.sure(&got, Verdict::Dead(Reason::Permanent));
    assert_eq!(rest(d), ["1", "2", "3", "4"]);
    assert_eq!(d.counts("q").dead, 1);
}

fn a_head_that_is_lost_for_good_frees_the_next(d: &mut Desk<'_>) {
    five(d);
    d.start("q");
    d.advance(1);
    let claimed = d.claim_as("q", |claim| claim.max_attempts = 1);
    assert_eq!(claimed.buried.len(), 1);
    assert_eq!(texts(&claimed.got), ["1"], "in the same claim");
}

fn a_late_member_waits_for_the_head(d: &mut Desk<'_>) {
    d.put(grouped("q", "0", "g"));
    let got = d.start("q");
    d.put(grouped("q", "1", "g"));
    assert!(d.claim_all("q").is_empty());
    d.sure(&got, Verdict::Done);
    assert_eq!(rest(d), ["1"]);
}

fn an_empty_group_begins_anew(d: &mut Desk<'_>) {
    d.put(grouped("q", "0", "g"));
    let got = d.start("q");
    d.sure(&got, Verdict::Dead(Reason::Permanent));
    let id = d.put(grouped("q", "1", "g"));
    assert_eq!(d.get(&id).state, State::Ready, "a dead letter leads nobody");
    assert_eq!(rest(d), ["1"]);
}

fn a_delayed_head_blocks(d: &mut Desk<'_>) {
    d.put(NewMessage {
        due: Due::After(MINUTE * 5),
        ..grouped("q", "0", "g")
    });
    d.put(grouped("q", "1", "g"));
    assert!(d.claim_all("q").is_empty());
    d.advance(5);
    assert_eq!(rest(d), ["0", "1"]);
}

fn a_freed_member_may_be_delayed(d: &mut Desk<'_>) {
    d.put(grouped("q", "0", "g"));
    let id = d.put(NewMessage {
        due: Due::After(MINUTE * 5),
        ..grouped("q", "1", "g")
    });
    d.put(grouped("q", "2", "g"));
    assert_eq!(d.get(&id).state, State::Blocked);
    assert_eq!(rest(d), ["0"]);
    assert_eq!(d.get(&id).state, State::Delayed);
    d.advance(5);
    assert_eq!(rest(d), ["1", "2"]);
}

fn order_is_above_priority(d: &mut Desk<'_>) {
    d.put(grouped("q", "0", "g"));
    d.put(NewMessage {
        priority: 9,
        ..grouped("q", "1", "g")
    });
    assert_eq!(rest(d), ["0", "1"]);
}

fn the_heads_priority_is_the_groups(d: &mut Desk<'_>) {
    d.put(NewMessage {
        priority: -5,
        ..grouped("q", "g0", "g")
    });
    d.put(NewMessage {
        priority: 9,
        ..grouped("q", "g1", "g")
    });
    d.put(plain("q", "other"));
    let got = d.claim_as("q", |claim| claim.max = 1).got;
    assert_eq!(texts(&got), ["other"]);
    let got = d.claim_as("q", |claim| claim.max = 1).got;
    assert_eq!(texts(&got), ["g0"]);
    d.sure(&got[0], Verdict::Done);
    d.put(plain("q", "another"));
    assert_eq!(texts(&d.claim_all("q")), ["g1", "another"]);
}

fn an_expired_head_frees_the_next(d: &mut Desk<'_>) {
    let ttl = Some(Ttl::After(MINUTE * 5));
    d.put(NewMessage {
        ttl,
        ..grouped("q", "0", "g")
    });
    d.put(grouped("q", "1", "g"));
    d.advance(5);
    let claimed = d.claim_as("q", |_| {});
    assert_eq!(claimed.buried.len(), 1);
    assert_eq!(texts(&claimed.got), ["1"], "in the same claim");
}

fn a_purged_head_frees_the_next(d: &mut Desk<'_>) {
    let members = five(d);
    let head = Selection {
        ids: Some(vec![members[0].clone()]),
        ..Selection::of(q("q"))
    };
    assert_eq!(d.change(&head, &ALL_FREE).done.len(), 1);
    let got = d.start("q");
    assert_eq!(got.message.id, members[1]);
    let running = Selection {
        states: vec![State::Running],
        ..Selection::of(q("q"))
    };
    assert_eq!(d.change(&running, &ALL_FREE).done.len(), 1);
    assert_eq!(rest(d), ["2", "3", "4"], "a running head too");
}

fn a_purged_blocked_one_frees_nobody(d: &mut Desk<'_>) {
    let members = five(d);
    let blocked = Selection {
        ids: Some(vec![members[1].clone()]),
        ..Selection::of(q("q"))
    };
    d.change(&blocked, &ALL_FREE);
    assert_eq!(texts(&d.claim_all("q")), ["0"]);
    assert_eq!(d.counts("q").blocked, 3);
}

fn a_replay_is_next_after_the_head(d: &mut Desk<'_>) {
    let members = five(d);
    let got = d.start("q");
    d.sure(&got, Verdict::Dead(Reason::Permanent));
    let head = d.start("q");
    assert_eq!(d.change(&dead_of("q"), &REPLAY).done, [members[0].clone()]);
    assert_eq!(d.get(&members[0]).state, State::Blocked);
    assert!(d.claim_all("q").is_empty());
    d.sure(&head, Verdict::Done);
    assert_eq!(rest(d), ["0", "2", "3", "4"]);
}

fn several_replays_keep_their_order(d: &mut Desk<'_>) {
    let members = five(d);
    for _ in 0..3 {
        let got = d.start("q");
        d.sure(&got, Verdict::Dead(Reason::Permanent));
    }
    let replayed = d.change(&dead_of("q"), &REPLAY).done;
    assert_eq!(replayed, members[..3]);
    let listed = d.list(&Selection::of(q("q")), Order::Run);
    assert_eq!(
        ids(&listed),
        [3, 0, 1, 2, 4].map(|n: usize| members[n].clone())
    );
    assert_eq!(rest(d), ["3", "0", "1", "2", "4"]);
}

fn a_replay_into_an_empty_group_leads(d: &mut Desk<'_>) {
    for text in ["0", "1"] {
        d.kill(grouped("q", text, "g"), "no");
    }
    d.change(&dead_of("q"), &REPLAY);
    let counts = d.counts("q");
    assert_eq!((counts.ready, counts.blocked, counts.dead), (1, 1, 0));
    assert_eq!(rest(d), ["0", "1"]);
}

fn dead_letters_free_the_group_one_after_the_other(d: &mut Desk<'_>) {
    five(d);
    for n in 0..5 {
        let got = d.start("q");
        assert_eq!(texts(std::slice::from_ref(&got)), [n.to_string()]);
        d.sure(&got, Verdict::Dead(Reason::Permanent));
    }
    assert_eq!(d.counts("q").dead, 5);
    d.change(&dead_of("q"), &REPLAY);
    assert_eq!(rest(d), ["0", "1", "2", "3", "4"]);
}
