//! `exchange` with `Pick::Dead`: dead letters under a lease where they lie.

use crate::cases;
use crate::desk::{ALL_FREE, Desk, MINUTE, REPLAY, dead_of, end, grouped, keyed, plain, q, texts};
use qops::backend::{Features as F, Settled, Verdict};
use qops::queue::{
    Cursor, Delivery, MessageId, NewMessage, Outcome, Reason, Selection, State, Ttl,
};

const D: F = F::PEEK.and(F::START).and(F::CLAIM_SELECTED);

cases! {
    D => [
        letters_are_claimed_where_they_lie,
        nothing_is_charged,
        a_start_charges_nothing,
        done_removes_the_letter,
        dead_keeps_it_as_it_was,
        dead_puts_the_run_in_its_history,
        release_gives_it_back,
        the_oldest_letter_first,
        only_what_is_meant,
        at_most_so_many_and_so_many_bytes,
        a_walk_takes_none_twice,
        a_walk_takes_none_twice_across_handles,
        a_lease_ends_and_it_may_be_claimed,
        a_claimed_letter_is_passed_over_by_claims,
        what_another_claim_holds_is_told_once,
        a_filter_that_passes_over_much_ends_a_claim_and_not_the_walk,
        ready_ones_are_left_alone,
        a_letter_that_died_later_is_bounded_by_until,
        an_empty_walk_ends,
        next_does_not_wait_for_a_letter,
    ],
    D.and(F::SETTINGS) => [a_paused_queue_gives_its_letters],
    D.and(F::EXTEND) => [its_lease_may_be_extended],
    D.and(F::REQUEUE) => [a_claimed_letter_is_skipped_by_requeue],
    D.and(F::PURGE) => [a_claimed_letter_is_skipped_by_purge],
    D.and(F::TTL) => [an_expired_letter_may_be_claimed],
    D.and(F::GROUPS) => [a_letter_of_a_group_blocks_nobody],
    D.and(F::KEYS) => [a_claimed_letter_holds_its_key],
}

fn letters(d: &mut Desk<'_>, n: usize) -> Vec<MessageId> {
    (0..n)
        .map(|n| d.kill(plain("q", &n.to_string()), &format!("error {n}")))
        .collect()
}

fn take_dead(d: &mut Desk<'_>) -> Delivery {
    d.claim_dead("q", 1, &dead_of("q"), None).got.remove(0)
}

fn letters_are_claimed_where_they_lie(d: &mut Desk<'_>) {
    let id = letters(d, 1).remove(0);
    let before = d.get(&id);
    let got = take_dead(d);
    assert_eq!(got.message.id, id);
    assert_eq!(got.message.state, State::Dead);
    assert_eq!(got.message.payload, b"0");
    assert_eq!(got.fence, before.deliveries + 1);
    let now = d.get(&id);
    assert_eq!(now.state, State::Dead);
    assert_eq!((now.reason, now.died_at), (before.reason, before.died_at));
    assert_eq!(d.counts("q").dead, 1);
    assert_eq!(d.counts("q").running, 0);
}

fn nothing_is_charged(d: &mut Desk<'_>) {
    let id = letters(d, 1).remove(0);
    for _ in 0..5 {
        let got = take_dead(d);
        assert_eq!(got.message.attempts, 1);
        let failed = end(Outcome::Failed, "still no");
        d.sure_end(&got, Verdict::Dead(Reason::Attempts), &failed);
    }
    let letter = d.get(&id);
    assert_eq!(
        (letter.attempts, letter.deferrals, letter.replays),
        (1, 0, 0)
    );
}

fn a_start_charges_nothing(d: &mut Desk<'_>) {
    let id = letters(d, 1).remove(0);
    let got = take_dead(d);
    d.sure(&got, Verdict::Start);
    d.sure(&got, Verdict::Start);
    assert_eq!(d.get(&id).attempts, 1);
    let failed = end(Outcome::Failed, "no");
    d.sure_end(&got, Verdict::Dead(Reason::Attempts), &failed);
    let letter = d.get(&id);
    assert_eq!((letter.attempts, letter.history.len()), (1, 2));
}

fn done_removes_the_letter(d: &mut Desk<'_>) {
    let id = letters(d, 1).remove(0);
    let got = take_dead(d);
    d.sure(&got, Verdict::Done);
    assert!(d.find(&id).is_none());
    assert_eq!(d.counts("q").dead, 0);
    assert_eq!(d.settle(&got.receipt, Verdict::Done), Settled::Gone);
}

fn dead_keeps_it_as_it_was(d: &mut Desk<'_>) {
    let id = letters(d, 1).remove(0);
    let before = d.get(&id);
    d.advance(10);
    let got = take_dead(d);
    let failed = end(Outcome::Failed, "the repair failed");
    d.sure_end(&got, Verdict::Dead(Reason::Attempts), &failed);
    let after = d.get(&id);
    assert_eq!(after.reason, before.reason, "its reason as it was");
    assert_eq!(after.died_at, before.died_at);
    assert_eq!(after.deliveries, before.deliveries + 1);
    assert_eq!((after.lease_until, after.worker), (None, None));
}

fn dead_puts_the_run_in_its_history(d: &mut Desk<'_>) {
    for start in [false, true] {
        let id = d.kill(plain("q", "x"), "no");
        let what = Selection {
            ids: Some(vec![id.clone()]),
            ..dead_of("q")
        };
        let got = d.claim_dead("q", 1, &what, None).got.remove(0);
        if start {
            d.sure(&got, Verdict::Start);
        }
        let failed = end(Outcome::Timeout, "the repair hung");
        d.sure_end(&got, Verdict::Dead(Reason::Attempts), &failed);
        let letter = d.get(&id);
        assert_eq!(letter.last_error.as_deref(), Some("the repair hung"));
        if !start {
            assert_eq!(letter.history.len(), 1, "what was not started is no run");
            continue;
        }
        assert_eq!(letter.history.len(), 2);
        let run = &letter.history[1];
        assert_eq!(run.delivery, got.fence);
        assert_eq!(run.outcome, Outcome::Timeout);
        assert_eq!(run.error.as_deref(), Some("the repair hung"));
    }
}

fn release_gives_it_back(d: &mut Desk<'_>) {
    let id = letters(d, 1).remove(0);
    let before = d.get(&id);
    let got = take_dead(d);
    d.sure(&got, Verdict::Release);
    let after = d.get(&id);
    assert_eq!(after.history, before.history);
    assert_eq!(
        (after.reason, after.died_at),
        (before.reason, before.died_at)
    );
    assert_eq!((after.lease_until, after.attempts), (None, 1));
    assert_eq!(take_dead(d).message.id, id);
}

fn the_oldest_letter_first(d: &mut Desk<'_>) {
    let first = d.put(plain("q", "1"));
    let second = d.put(plain("q", "2"));
    let got = d.claim_all("q");
    d.sure(&got[1], Verdict::Dead(Reason::Permanent));
    d.sure(&got[0], Verdict::Dead(Reason::Permanent));
    let claimed = d.claim_dead("q", 10, &dead_of("q"), None);
    let order: Vec<&MessageId> = claimed.got.iter().map(|got| &got.message.id).collect();
    assert_eq!(order, [&second, &first], "as they died");
}

fn only_what_is_meant(d: &mut Desk<'_>) {
    let all = letters(d, 5);
    d.kill(plain("other", "x"), "error 3");
    let what = Selection {
        error: Some("error 3".into()),
        ..dead_of("q")
    };
    let claimed = d.claim_dead("q", 10, &what, None);
    assert_eq!(claimed.got.len(), 1);
    assert_eq!(claimed.got[0].message.id, all[3]);
}

fn at_most_so_many_and_so_many_bytes(d: &mut Desk<'_>) {
    for _ in 0..5 {
        d.kill(plain("q", "0123456789"), "no");
    }
    let queue = q("q");
    let what = dead_of("q");
    let mut after: Option<Cursor> = None;
    let mut sizes = vec![];
    for bytes in [25, 1, 20] {
        let claim = qops::backend::Claim {
            queue: &queue,
            max: 10,
            bytes,
            lease: MINUTE,
            start: false,
            max_attempts: 3,
            pick: qops::backend::Pick::Dead {
                what: &what,
                after: after.as_ref(),
            },
        };
        let claimed = d.exchange(&[], Some(claim)).claimed.unwrap();
        sizes.push(claimed.got.len());
        after = claimed.cursor;
    }
    assert_eq!(sizes, [2, 1, 2]);
}

/// Claims letter by letter; each is kept dead or given back at once, so that it could be claimed again.
fn a_walk_takes_none_twice(d: &mut Desk<'_>) {
    let all = letters(d, 12);
    for max in [1, 5] {
        let mut taken = vec![];
        let mut after: Option<Cursor> = None;
        for _ in 0..100 {
            let claimed = d.claim_dead("q", max, &dead_of("q"), after.as_ref());
            assert!(claimed.got.len() <= max);
            for (n, got) in claimed.got.iter().enumerate() {
                taken.push(got.message.id.clone());
                let keep = Verdict::Dead(Reason::Permanent);
                d.sure(got, if n % 2 == 0 { keep } else { Verdict::Release });
            }
            after = claimed.cursor;
            if after.is_none() {
                break;
            }
        }
        assert_eq!(after, None, "it ends");
        assert_eq!(taken, all);
    }
}

fn a_walk_takes_none_twice_across_handles(d: &mut Desk<'_>) {
    let all = letters(d, 10);
    let mut taken = vec![];
    let mut after: Option<Cursor> = None;
    for n in 0..100 {
        let mut handle = d.other(&format!("w{n}"));
        let claimed = handle.claim_dead("q", 3, &dead_of("q"), after.as_ref());
        for got in &claimed.got {
            taken.push(got.message.id.clone());
            handle.sure(got, Verdict::Done);
        }
        // A cursor outlives the handle, as a text.
        after = claimed.cursor.map(|cursor| Cursor::from(cursor.as_str()));
        if after.is_none() {
            break;
        }
    }
    assert_eq!(taken, all);
    assert_eq!(d.counts("q").dead, 0);
}

fn a_lease_ends_and_it_may_be_claimed(d: &mut Desk<'_>) {
    let id = letters(d, 1).remove(0);
    let first = take_dead(d);
    assert!(d.claim_dead("q", 9, &dead_of("q"), None).got.is_empty());
    d.advance(1);
    let second = take_dead(d);
    assert_eq!(second.message.id, id);
    assert!(second.fence > first.fence);
    assert_eq!(
        d.get(&id).state,
        State::Dead,
        "never worker_lost, never back"
    );
    assert_eq!(d.get(&id).reason, Some(Reason::Permanent));
}

fn a_claimed_letter_is_passed_over_by_claims(d: &mut Desk<'_>) {
    letters(d, 3);
    let first = take_dead(d);
    let rest = d.other("w2").claim_dead("q", 9, &dead_of("q"), None);
    assert_eq!(texts(&rest.got), ["1", "2"]);
    d.sure(&first, Verdict::Release);
    assert_eq!(take_dead(d).message.id, first.message.id);
}

fn what_another_claim_holds_is_told_once(d: &mut Desk<'_>) {
    let all = letters(d, 6);
    let named = |ids: &[usize], error: &str| Selection {
        ids: (!ids.is_empty()).then(|| ids.iter().map(|n| all[*n].clone()).collect()),
        error: Some(error.to_owned()),
        ..dead_of("q")
    };
    let mut other = d.other("w2");
    let held = other.claim_dead("q", 9, &named(&[1, 2, 4], "error"), None);
    let until: Vec<_> = held
        .got
        .iter()
        .map(|got| (got.message.id.clone(), got.message.lease_until.unwrap()))
        .collect();
    for (what, free, met) in [
        (dead_of("q"), vec![0, 3, 5], &until[..]),
        (
            named(&[0, 1, 4], "error"),
            vec![0],
            &[until[0].clone(), until[2].clone()],
        ),
        (named(&[], "error 2"), vec![], &until[1..2]),
        (named(&[], "error 3"), vec![3], &[]),
    ] {
        let free: Vec<_> = free.into_iter().map(|n: usize| all[n].clone()).collect();
        for max in [1, 2, 9] {
            let (mut got, mut told, mut after) = (vec![], vec![], None);
            loop {
                let claimed = d.claim_dead("q", max, &what, after.as_ref());
                assert!(claimed.got.len() <= max);
                for one in &claimed.got {
                    d.sure(one, Verdict::Release);
                }
                got.extend(claimed.got.into_iter().map(|got| got.message.id));
                told.extend(claimed.held);
                after = claimed.cursor;
                if after.is_none() {
                    break;
                }
            }
            assert_eq!((got, &told[..]), (free.clone(), met));
        }
    }
    // Its own lease ends for a claim as for everybody.
    d.advance(1);
    let claimed = d.claim_dead("q", 9, &dead_of("q"), None);
    assert_eq!((claimed.got.len(), claimed.held.len()), (6, 0));
    // What is held is no letter that is ready.
    d.put(plain("q", "x"));
    assert!(d.claim_as("q", |_| {}).held.is_empty());
}

/// A claim may bring none with a cursor: only no cursor is the end.
fn a_filter_that_passes_over_much_ends_a_claim_and_not_the_walk(d: &mut Desk<'_>) {
    for n in 0..8 {
        let text = "x".repeat(400_000);
        d.kill(plain("q", &text), &format!("error {n}"));
    }
    let id = d.kill(plain("q", "a needle"), "no");
    d.kill(plain("q", "x"), "no");
    let what = Selection {
        grep: Some("needle".to_owned()),
        ..dead_of("q")
    };
    let (mut taken, mut after) = (vec![], None);
    for _ in 0..100 {
        let claimed = d.claim_dead("q", 5, &what, after.as_ref());
        taken.extend(claimed.got.into_iter().map(|got| got.message.id));
        after = claimed.cursor;
        if after.is_none() {
            break;
        }
    }
    assert_eq!((taken, after), (vec![id], None));
}

fn ready_ones_are_left_alone(d: &mut Desk<'_>) {
    letters(d, 1);
    let id = d.put(plain("q", "ready"));
    let any = Selection::of(q("q"));
    let claimed = d.claim_dead("q", 10, &any, None);
    assert_eq!(texts(&claimed.got), ["0"]);
    assert_eq!(d.get(&id).state, State::Ready);
}

fn a_letter_that_died_later_is_bounded_by_until(d: &mut Desk<'_>) {
    letters(d, 2);
    let op = d.op();
    d.kill(plain("q", "late"), "no");
    let what = Selection {
        until: Some(op.at),
        ..dead_of("q")
    };
    let claimed = d.claim_dead("q", 10, &what, None);
    assert_eq!(texts(&claimed.got), ["0", "1"]);
}

fn an_empty_walk_ends(d: &mut Desk<'_>) {
    d.put(plain("q", "x"));
    let claimed = d.claim_dead("q", 10, &dead_of("q"), None);
    assert!(claimed.got.is_empty() && claimed.cursor.is_none());
}

fn next_does_not_wait_for_a_letter(d: &mut Desk<'_>) {
    letters(d, 1);
    take_dead(d);
    let claimed = d.claim_as("q", |_| {});
    assert_eq!(claimed.next, None, "it can never be ready");
}

fn its_lease_may_be_extended(d: &mut Desk<'_>) {
    letters(d, 1);
    let got = take_dead(d);
    d.sure(&got, Verdict::Extend(MINUTE * 5));
    d.advance(4);
    assert!(d.claim_dead("q", 9, &dead_of("q"), None).got.is_empty());
    d.sure(&got, Verdict::Done);
}

fn a_claimed_letter_is_skipped_by_requeue(d: &mut Desk<'_>) {
    let all = letters(d, 2);
    let got = take_dead(d);
    let changed = d.change(&dead_of("q"), &REPLAY);
    assert_eq!(changed.done, all[1..]);
    assert_eq!(changed.skipped.len(), 1);
    assert_eq!(changed.skipped[0].0, all[0]);
    d.sure(&got, Verdict::Release);
    assert_eq!(d.change(&dead_of("q"), &REPLAY).done, all[..1]);
}

fn a_claimed_letter_is_skipped_by_purge(d: &mut Desk<'_>) {
    let all = letters(d, 2);
    take_dead(d);
    let changed = d.change(&dead_of("q"), &ALL_FREE);
    assert_eq!(changed.done, all[1..]);
    assert_eq!(changed.skipped[0].0, all[0]);
    d.advance(1);
    assert_eq!(d.change(&dead_of("q"), &ALL_FREE).done, all[..1]);
}

fn an_expired_letter_may_be_claimed(d: &mut Desk<'_>) {
    let id = d.put(NewMessage {
        ttl: Some(Ttl::After(MINUTE)),
        ..plain("q", "x")
    });
    d.advance(1);
    d.claim_all("q");
    assert_eq!(d.get(&id).reason, Some(Reason::Expired));
    let passing = Selection {
        skip_expired: true,
        ..dead_of("q")
    };
    assert!(d.claim_dead("q", 1, &passing, None).got.is_empty());
    let got = take_dead(d);
    d.sure(&got, Verdict::Start);
    d.sure(&got, Verdict::Done);
    assert!(d.find(&id).is_none());
}

fn a_letter_of_a_group_blocks_nobody(d: &mut Desk<'_>) {
    d.kill(grouped("q", "0", "g"), "no");
    d.kill(grouped("q", "1", "g"), "no");
    d.put(grouped("q", "2", "g"));
    let claimed = d.claim_dead("q", 10, &dead_of("q"), None);
    assert_eq!(claimed.got.len(), 2, "both: groups are about the living");
    assert_eq!(texts(&d.claim_all("q")), ["2"]);
}

fn a_claimed_letter_holds_its_key(d: &mut Desk<'_>) {
    let id = d.kill(keyed("q", "x", "k"), "no");
    take_dead(d);
    let stored = d.put_all(&[keyed("q", "y", "k")]);
    assert_eq!(stored, [qops::queue::Enqueued::Duplicate(id)]);
}

/// A pause holds back what would run by itself; a person who drains means it.
fn a_paused_queue_gives_its_letters(d: &mut Desk<'_>) {
    let id = letters(d, 1).remove(0);
    d.set("q", qops::backend::Setting::Paused(true));
    let claimed = d.claim_dead("q", 1, &dead_of("q"), None);
    assert_eq!(claimed.got[0].message.id, id);
}
