//! `change`: requeue and purge, chunk by chunk.

use crate::cases;
use crate::desk::{ALL_FREE, Desk, MINUTE, REPLAY, dead_of, end, grouped, ids, plain, q};
use qops::backend::{Change, Features as F, Kind, Page, Run, Verdict};
use qops::queue::{
    Cursor, Due, MessageId, NewMessage, Order, Outcome, Reason, Selection, State, Ttl,
};

const R: F = F::PEEK.and(F::START).and(F::REQUEUE);
const P: F = F::PEEK.and(F::START).and(F::PURGE);

cases! {
    R => [
        a_replay_is_as_new,
        attempts_may_be_kept,
        replays_are_counted,
        the_last_error_and_the_history_stay,
        a_waiting_one_gets_the_due_time,
        a_running_one_is_skipped,
        a_lapsed_one_is_taken_back,
        a_drain_takes_only_what_was_dead,
        ids_that_are_not_there_are_in_neither_list,
        an_unknown_queue_is_not_found,
        chunks_come_to_the_same,
        repeated_with_the_same_cursor_nothing_changes_twice,
        what_changed_meanwhile_is_tested_again,
        the_oldest_letter_first,
    ],
    R.and(F::DELAY) => [a_replay_may_wait, a_delayed_one_may_be_made_ready],
    R.and(F::TTL) => [a_replay_has_no_time_to_live, expired_letters_may_be_passed_over],
    R.and(F::GROUPS) => [a_blocked_one_is_skipped],
    P => [
        purge_deletes,
        purge_of_dead_letters,
        purge_of_a_running_one_must_name_it,
        purge_touches_one_queue,
        purge_in_chunks,
        purge_means_its_filters,
    ],
    R.and(F::PURGE).and(F::GROUPS).and(F::DELAY) => [dry_equals_do],
}

fn all() -> Selection {
    Selection::of(q("q"))
}

fn letters(d: &mut Desk<'_>, n: usize) -> Vec<MessageId> {
    (0..n)
        .map(|n| d.kill(plain("q", &n.to_string()), &format!("error {n}")))
        .collect()
}

fn a_replay_is_as_new(d: &mut Desk<'_>) {
    let id = letters(d, 1).remove(0);
    d.advance(10);
    let before = d.op().at;
    let changed = d.change(&dead_of("q"), &REPLAY);
    assert_eq!((changed.done, changed.skipped.len()), (vec![id.clone()], 0));
    let message = d.get(&id);
    assert_eq!(message.state, State::Ready);
    assert!(message.ready_at >= Some(before), "a new place");
    assert_eq!((message.attempts, message.deferrals), (0, 0));
    assert_eq!((message.deliveries, message.replays), (1, 1));
    assert_eq!((message.reason, message.died_at), (None, None));
    assert_eq!(d.counts("q").dead, 0);
    let got = d.start("q");
    assert_eq!((got.message.id.clone(), got.fence), (id, 2));
    assert_eq!(got.message.attempts, 1);
    assert_eq!(got.doubt, None);
}

fn attempts_may_be_kept(d: &mut Desk<'_>) {
    let id = d.put(plain("q", "x"));
    for charge in [true, false] {
        let got = d.start("q");
        let due = Due::Now;
        d.sure(&got, Verdict::Retry { due, charge });
    }
    let got = d.start("q");
    d.sure(&got, Verdict::Dead(Reason::Attempts));
    let letter = d.get(&id);
    assert_eq!((letter.attempts, letter.deferrals), (2, 1));
    let keep = Change::Requeue {
        due: Due::Now,
        to: None,
        reset: false,
    };
    d.change(&all(), &keep);
    let message = d.get(&id);
    assert_eq!((message.attempts, message.deferrals), (2, 1));
    assert_eq!(message.replays, 1);
}

fn replays_are_counted(d: &mut Desk<'_>) {
    let id = letters(d, 1).remove(0);
    for n in 1..=5 {
        assert_eq!(d.change(&dead_of("q"), &REPLAY).done.len(), 1);
        assert_eq!(d.get(&id).replays, n);
        let got = d.start("q");
        d.sure(&got, Verdict::Dead(Reason::Permanent));
        let counts = d.counts("q");
        assert_eq!((counts.dead, counts.ready), (1, 0));
    }
}

fn the_last_error_and_the_history_stay(d: &mut Desk<'_>) {
    let id = letters(d, 1).remove(0);
    let before = d.get(&id);
    d.change(&all(), &REPLAY);
    let after = d.get(&id);
    assert_eq!(after.last_error, before.last_error);
    assert_eq!(after.history, before.history);
    assert_eq!(after.enqueued_at, before.enqueued_at);
}

fn a_replay_may_wait(d: &mut Desk<'_>) {
    let id = letters(d, 1).remove(0);
    let at = d.op().at.plus(MINUTE * 5);
    let later = Change::Requeue {
        due: Due::At(at),
        to: None,
        reset: true,
    };
    d.change(&all(), &later);
    let message = d.get(&id);
    assert_eq!(
        (message.state, message.ready_at),
        (State::Delayed, Some(at))
    );
    d.advance(5);
    assert_eq!(d.take("q").message.id, id);
}

fn a_replay_has_no_time_to_live(d: &mut Desk<'_>) {
    let id = d.put(NewMessage {
        ttl: Some(Ttl::After(MINUTE)),
        ..plain("q", "x")
    });
    d.advance(2);
    d.claim_all("q");
    assert_eq!(d.get(&id).reason, Some(Reason::Expired));
    d.change(&dead_of("q"), &REPLAY);
    assert_eq!(d.get(&id).expires_at, None);
    assert_eq!(d.take("q").message.id, id);
}

fn expired_letters_may_be_passed_over(d: &mut Desk<'_>) {
    let expired = d.put(NewMessage {
        ttl: Some(Ttl::After(MINUTE)),
        ..plain("q", "x")
    });
    d.advance(2);
    d.claim_all("q");
    let other = letters(d, 1).remove(0);
    let passing = Selection {
        skip_expired: true,
        ..dead_of("q")
    };
    assert_eq!(d.change(&passing, &REPLAY).done, [other]);
    assert_eq!(d.get(&expired).state, State::Dead);
}

fn a_waiting_one_gets_the_due_time(d: &mut Desk<'_>) {
    let first = d.put(plain("q", "1"));
    let second = d.put(plain("q", "2"));
    let what = Selection {
        ids: Some(vec![first.clone()]),
        ..all()
    };
    assert_eq!(d.change(&what, &REPLAY).done, std::slice::from_ref(&first));
    let message = d.get(&first);
    assert_eq!(message.replays, 0, "it was not dead");
    assert_eq!(d.take("q").message.id, second);
    assert_eq!(d.take("q").message.id, first);
}

fn a_delayed_one_may_be_made_ready(d: &mut Desk<'_>) {
    let id = d.put(NewMessage {
        due: Due::After(MINUTE * 100),
        ..plain("q", "x")
    });
    let delayed = Selection {
        states: vec![State::Delayed],
        ..all()
    };
    assert_eq!(d.change(&delayed, &REPLAY).done, std::slice::from_ref(&id));
    assert_eq!(d.get(&id).state, State::Ready);
    let later = Change::Requeue {
        due: Due::After(MINUTE),
        to: None,
        reset: true,
    };
    d.change(&all(), &later);
    assert_eq!(d.get(&id).state, State::Delayed);
}

fn a_running_one_is_skipped(d: &mut Desk<'_>) {
    let id = d.put(plain("q", "x"));
    let got = d.start("q");
    let running = Selection {
        states: vec![State::Running],
        ..all()
    };
    for what in [all(), running] {
        let changed = d.change(&what, &REPLAY);
        assert!(changed.done.is_empty());
        assert_eq!(changed.skipped.len(), 1);
        assert_eq!(changed.skipped[0].0, id);
        assert!(!changed.skipped[0].1.is_empty(), "it says why");
    }
    d.sure(&got, Verdict::Done);
}

fn a_lapsed_one_is_taken_back(d: &mut Desk<'_>) {
    let id = d.put(plain("q", "x"));
    d.start("q");
    d.advance(1);
    assert_eq!(d.change(&all(), &REPLAY).done, std::slice::from_ref(&id));
    let message = d.get(&id);
    assert_eq!(message.state, State::Ready);
    assert_eq!((message.lease_until, message.worker), (None, None));
    assert_eq!(message.history[0].outcome, Outcome::Lost);
    assert!(d.take("q").doubt.is_some());
}

fn a_blocked_one_is_skipped(d: &mut Desk<'_>) {
    let head = d.put(grouped("q", "0", "g"));
    let blocked = d.put(grouped("q", "1", "g"));
    let changed = d.change(&all(), &REPLAY);
    assert_eq!(changed.done, [head]);
    assert_eq!(changed.skipped[0].0, blocked);
    assert_eq!(d.get(&blocked).state, State::Blocked);
}

fn a_drain_takes_only_what_was_dead(d: &mut Desk<'_>) {
    let before = letters(d, 2);
    let op = d.op();
    let what = Selection {
        until: Some(op.at),
        ..dead_of("q")
    };
    let page = Page::first(1, Order::Oldest);
    let first = d.db.change(&what, &REPLAY, &op, &page, Run::Do).unwrap();
    assert_eq!(first.done, before[..1]);
    // It fails again while the drain goes on.
    let got = d.start("q");
    d.sure(&got, Verdict::Dead(Reason::Permanent));
    letters(d, 1);
    let mut after = first.next;
    let mut rest = vec![];
    while let Some(cursor) = after {
        let page = Page {
            after: Some(&cursor),
            ..page
        };
        let changed = d.db.change(&what, &REPLAY, &op, &page, Run::Do).unwrap();
        rest.extend(changed.done);
        after = changed.next;
    }
    assert_eq!(rest, before[1..]);
    let counts = d.counts("q");
    assert_eq!((counts.ready, counts.dead), (1, 2));
}

fn ids_that_are_not_there_are_in_neither_list(d: &mut Desk<'_>) {
    let dead = letters(d, 1).remove(0);
    let live = d.put(plain("q", "live"));
    let elsewhere = d.put(plain("other", "x"));
    let what = Selection {
        ids: Some(vec![
            MessageId::from("999999999"),
            MessageId::from("x"),
            elsewhere,
            live,
            dead.clone(),
            dead.clone(),
        ]),
        ..dead_of("q")
    };
    let changed = d.change(&what, &REPLAY);
    assert_eq!(changed.done, [dead], "once");
    assert!(changed.skipped.is_empty());
}

fn an_unknown_queue_is_not_found(d: &mut Desk<'_>) {
    let op = d.op();
    let page = Page::first(9, Order::Oldest);
    for run in [Run::Dry, Run::Do] {
        let error =
            d.db.change(&dead_of("nowhere"), &REPLAY, &op, &page, run)
                .unwrap_err();
        assert_eq!(error.kind(), Kind::NotFound);
    }
    assert!(
        d.db.stats(None, qops::backend::Depth::Names)
            .unwrap()
            .is_empty()
    );
}

fn chunks_come_to_the_same(d: &mut Desk<'_>) {
    for rows in [1, 2, 3, 7, 100] {
        let before = letters(d, 7);
        let changed = d.change_by(rows, &dead_of("q"), &REPLAY, Run::Do);
        assert_eq!(changed.done, before);
        let got = d.claim_all("q");
        assert_eq!(got.len(), 7);
        for delivery in &got {
            assert_eq!(delivery.message.replays, 1);
            d.sure(delivery, Verdict::Done);
        }
    }
}

fn repeated_with_the_same_cursor_nothing_changes_twice(d: &mut Desk<'_>) {
    let before = letters(d, 4);
    let op = d.op();
    let what = Selection {
        until: Some(op.at),
        ..dead_of("q")
    };
    let first = Page::first(2, Order::Oldest);
    let one = d.db.change(&what, &REPLAY, &op, &first, Run::Do).unwrap();
    let next = Page {
        after: one.next.as_ref(),
        ..first
    };
    let two = d.db.change(&what, &REPLAY, &op, &next, Run::Do).unwrap();
    assert_eq!([one.done, two.done].concat(), before);
    for page in [first, next, first] {
        let again = d.db.change(&what, &REPLAY, &op, &page, Run::Do).unwrap();
        assert!(again.done.is_empty() && again.skipped.is_empty());
    }
    for id in &before {
        assert_eq!(d.get(id).replays, 1);
    }
}

fn what_changed_meanwhile_is_tested_again(d: &mut Desk<'_>) {
    let before = letters(d, 4);
    let op = d.op();
    let page = Page::first(1, Order::Oldest);
    let one =
        d.db.change(&dead_of("q"), &REPLAY, &op, &page, Run::Do)
            .unwrap();
    let meant = Selection {
        ids: Some(vec![before[1].clone(), before[2].clone()]),
        ..dead_of("q")
    };
    d.other("w2").change(&meant, &REPLAY);
    let mut rest = vec![];
    let mut after: Option<Cursor> = one.next;
    while let Some(cursor) = after {
        let page = Page {
            after: Some(&cursor),
            ..page
        };
        let changed =
            d.db.change(&dead_of("q"), &REPLAY, &op, &page, Run::Do)
                .unwrap();
        rest.extend(changed.done);
        after = changed.next;
    }
    assert_eq!(rest, before[3..]);
}

fn the_oldest_letter_first(d: &mut Desk<'_>) {
    let one = d.put(plain("q", "1"));
    let two = d.put(plain("q", "2"));
    let got = d.claim_all("q");
    d.sure(&got[1], Verdict::Dead(Reason::Permanent));
    d.sure(&got[0], Verdict::Dead(Reason::Permanent));
    assert_eq!(d.change(&dead_of("q"), &REPLAY).done, [two, one]);
}

fn purge_deletes(d: &mut Desk<'_>) {
    let one = d.put(plain("q", "1"));
    let two = d.put(plain("q", "2"));
    let changed = d.change(&all(), &ALL_FREE);
    assert_eq!(changed.done, [one.clone(), two]);
    assert!(d.all("q").is_empty());
    assert!(d.claim_all("q").is_empty());
    assert!(d.find(&one).is_none());
    assert!(d.change(&all(), &ALL_FREE).done.is_empty(), "once");
}

fn purge_of_dead_letters(d: &mut Desk<'_>) {
    let dead = letters(d, 3);
    let live = d.put(plain("q", "live"));
    assert_eq!(d.change(&dead_of("q"), &ALL_FREE).done, dead);
    assert_eq!(ids(&d.all("q")), [live]);
}

fn purge_of_a_running_one_must_name_it(d: &mut Desk<'_>) {
    let id = d.put(plain("q", "x"));
    let got = d.start("q");
    let waiting = Selection {
        states: vec![State::Ready, State::Delayed, State::Blocked],
        ..all()
    };
    let changed = d.change(&waiting, &ALL_FREE);
    assert!(
        changed.done.is_empty() && changed.skipped.is_empty(),
        "not meant"
    );
    assert!(d.change(&all(), &ALL_FREE).done.is_empty(), "not named");
    assert_eq!(d.get(&id).state, State::Running);
    let running = Selection {
        states: vec![State::Running],
        ..all()
    };
    assert_eq!(
        d.change(&running, &ALL_FREE).done,
        std::slice::from_ref(&id)
    );
    assert!(d.find(&id).is_none());
    let settled = d.settle(&got.receipt, Verdict::Done);
    assert_eq!(settled, qops::backend::Settled::Gone);
}

fn purge_touches_one_queue(d: &mut Desk<'_>) {
    let names = ["q", "q_b", "q*", "q%", "Q", "q b", "qq"];
    for name in names {
        d.put(plain(name, "x"));
    }
    for (n, name) in names.into_iter().enumerate() {
        assert_eq!(d.change(&Selection::of(q(name)), &ALL_FREE).done.len(), 1);
        let left = d.db.stats(None, qops::backend::Depth::Exact).unwrap();
        let ready: u64 = left.iter().map(|report| report.counts.ready).sum();
        assert_eq!(ready, u64::try_from(names.len() - n - 1).unwrap());
    }
}

fn purge_in_chunks(d: &mut Desk<'_>) {
    let batch: Vec<NewMessage<'_>> = (0..25).map(|_| plain("q", "x")).collect();
    let stored = d.put_all(&batch);
    let changed = d.change_by(4, &all(), &ALL_FREE, Run::Do);
    let expected: Vec<MessageId> = stored.iter().map(crate::desk::new_id).collect();
    assert_eq!(changed.done, expected);
    assert_eq!(d.counts("q").ready, 0);
}

fn purge_means_its_filters(d: &mut Desk<'_>) {
    let dead = letters(d, 4);
    let what = Selection {
        error: Some("error 2".into()),
        ..dead_of("q")
    };
    assert_eq!(d.change(&what, &ALL_FREE).done, dead[2..3]);
    let what = Selection {
        grep: Some("3".into()),
        ..dead_of("q")
    };
    assert_eq!(d.change(&what, &ALL_FREE).done, dead[3..]);
    assert_eq!(d.counts("q").dead, 2);
}

fn dry_equals_do(d: &mut Desk<'_>) {
    letters(d, 3);
    d.put(plain("q", "running"));
    d.take("q");
    for text in ["0", "1"] {
        d.put(grouped("q", text, "g"));
    }
    d.put(NewMessage {
        due: Due::After(MINUTE * 9),
        ..plain("q", "later")
    });
    let failing = d.put(plain("r", "x"));
    let got = d.start("r");
    let how = end(Outcome::Failed, "no");
    d.sure_end(&got, Verdict::Dead(Reason::Permanent), &how);
    for (what, change) in [
        (dead_of("q"), REPLAY),
        (all(), REPLAY),
        (all(), ALL_FREE),
        (
            Selection {
                states: vec![State::Running],
                ..all()
            },
            ALL_FREE,
        ),
        (dead_of("r"), ALL_FREE),
    ] {
        let before = d.all("q");
        let dry = d.change_by(3, &what, &change, Run::Dry);
        assert_eq!(d.all("q"), before, "a dry run changes nothing");
        assert!(d.find(&failing).is_some());
        let done = d.change_by(3, &what, &change, Run::Do);
        assert_eq!(dry.done, done.done, "{what:?} {change:?}");
        assert_eq!(dry.skipped, done.skipped, "{what:?} {change:?}");
    }
    assert!(d.all("q").is_empty());
}
