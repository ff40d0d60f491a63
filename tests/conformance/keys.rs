//! Keys: one live or dead message a key and queue, and none for the window after it is done.

use crate::cases;
use crate::desk::{ALL_FREE, Desk, MINUTE, dead_of, keyed, new_id, plain, q};
use qops::backend::{Change, Conflict, Depth, Features as F, Kind, Setting, Unit, Verdict};
use qops::queue::retry::Window;
use qops::queue::{Due, Enqueued, NewMessage, Reason, Selection};

const BASE: F = F::KEYS.and(F::PEEK);

cases! {
    BASE => [
        of_equal_keys_in_a_batch_the_first_is_new,
        an_empty_key_is_refused_before_any_effect,
        a_taken_key_is_a_duplicate,
        a_duplicate_changes_nothing,
        keys_are_of_their_queue,
        keys_are_compared_by_their_bytes,
        every_state_holds_its_key,
        done_keeps_the_key_for_seven_days,
    ],
    BASE.and(F::SETTINGS) => [
        the_queues_window_counts,
        a_window_of_nothing_frees_at_once,
        a_window_may_be_for_ever,
        a_removed_queue_forgets_its_keys,
    ],
    BASE.and(F::GROUPS) => [an_empty_group_is_refused_before_any_effect],
    BASE.and(F::PURGE) => [purge_frees_the_key],
    BASE.and(F::PURGE).and(F::SETTINGS) => [purge_may_keep_the_key],
    BASE.and(F::CLAIM_SELECTED) => [a_drained_letter_keeps_its_key_for_the_window],
    BASE.and(F::WHOLE) => [
        an_empty_key_refuses_a_whole,
        a_whole_skips,
        a_whole_refuses,
        a_whole_refuses_twins,
    ],
    BASE.and(F::DELAY) => [a_delayed_message_holds_its_key],
    BASE.and(F::ZERO_BYTES) => [a_zero_byte_is_one_like_any],
}

fn dup(d: &mut Desk<'_>, queue: &str, key: &str) -> Option<qops::queue::MessageId> {
    match d.put_all(&[keyed(queue, "again", key)]).remove(0) {
        Enqueued::Duplicate(id) => Some(id),
        Enqueued::New(_) => None,
    }
}

fn an_empty_key_is_refused_before_any_effect(d: &mut Desk<'_>) {
    refused_whatever_is_empty(d, Unit::Each, keyed("q", "2", ""));
}

fn an_empty_key_refuses_a_whole(d: &mut Desk<'_>) {
    refused_whatever_is_empty(d, Unit::Whole(Conflict::Skip), keyed("q", "2", ""));
}

fn an_empty_group_is_refused_before_any_effect(d: &mut Desk<'_>) {
    let mut message = plain("q", "2");
    message.group = Some("".into());
    refused_whatever_is_empty(d, Unit::Each, message);
}

fn refused_whatever_is_empty(d: &mut Desk<'_>, unit: Unit, message: NewMessage<'_>) {
    let error = d.db.enqueue(&[plain("q", "1"), message], unit).unwrap_err();
    assert_eq!(
        (error.kind(), error.context("line")),
        (Kind::BadInput, Some("1"))
    );
    d.put(plain("q", "3"));
    assert_eq!(d.counts("q").ready, 1);
}

fn of_equal_keys_in_a_batch_the_first_is_new(d: &mut Desk<'_>) {
    let stored = d.put_all(&[
        keyed("q", "1", "a"),
        keyed("q", "2", "b"),
        keyed("q", "3", "a"),
        plain("q", "4"),
        plain("q", "5"),
        keyed("q", "6", "a"),
    ]);
    let first = new_id(&stored[0]);
    assert_eq!(stored[2], Enqueued::Duplicate(first.clone()));
    assert_eq!(stored[5], Enqueued::Duplicate(first.clone()));
    for n in [1, 3, 4] {
        new_id(&stored[n]);
    }
    assert_eq!(d.counts("q").ready, 4);
    assert_eq!(d.get(&first).payload, b"1");
}

fn a_taken_key_is_a_duplicate(d: &mut Desk<'_>) {
    let id = d.put(keyed("q", "1", "k"));
    assert_eq!(dup(d, "q", "k"), Some(id.clone()));
    let stored = d
        .other("w2")
        .put_all(&[plain("q", "2"), keyed("q", "3", "k")]);
    assert_eq!(stored[1], Enqueued::Duplicate(id));
    new_id(&stored[0]);
}

fn a_duplicate_changes_nothing(d: &mut Desk<'_>) {
    let id = d.put(keyed("q", "1", "k"));
    let before = d.get(&id);
    d.put_all(&[qops::queue::NewMessage {
        priority: 9,
        max_attempts: Some(1),
        ..keyed("q", "2", "k")
    }]);
    assert_eq!(d.get(&id), before);
    assert_eq!(d.all("q").len(), 1);
}

fn keys_are_of_their_queue(d: &mut Desk<'_>) {
    d.put(keyed("a", "1", "k"));
    d.put(keyed("b", "1", "k"));
    assert!(dup(d, "a", "k").is_some() && dup(d, "b", "k").is_some());
}

fn keys_are_compared_by_their_bytes(d: &mut Desk<'_>) {
    for key in ["k", "K", "k ", " k", "ç", "c\u{327}", "%", "_", "k%"] {
        d.put(keyed("q", "x", key));
    }
    assert_eq!(d.counts("q").ready, 9);
    assert!(dup(d, "q", " k").is_some() && dup(d, "q", "k%").is_some());
}

fn a_zero_byte_is_one_like_any(d: &mut Desk<'_>) {
    for key in ["k", "k\0", "\0k"] {
        d.put(keyed("q", "x", key));
    }
    assert_eq!(d.counts("q").ready, 3);
    assert!(dup(d, "q", "k\0").is_some());
}

fn every_state_holds_its_key(d: &mut Desk<'_>) {
    let id = d.put(keyed("q", "1", "k"));
    let got = d.start("q");
    assert_eq!(dup(d, "q", "k"), Some(id.clone()), "running");
    d.advance(5);
    assert_eq!(dup(d, "q", "k"), Some(id.clone()), "its lease is over");
    let again = d.start("q");
    assert_eq!(again.message.id, got.message.id);
    d.sure(&again, Verdict::Dead(Reason::Permanent));
    assert_eq!(dup(d, "q", "k"), Some(id.clone()), "dead");
    d.advance(60 * 24 * 400);
    assert_eq!(dup(d, "q", "k"), Some(id), "dead, for however long");
}

fn a_delayed_message_holds_its_key(d: &mut Desk<'_>) {
    let id = d.put(qops::queue::NewMessage {
        due: Due::After(MINUTE),
        ..keyed("q", "1", "k")
    });
    assert_eq!(dup(d, "q", "k"), Some(id));
}

fn done_keeps_the_key_for_seven_days(d: &mut Desk<'_>) {
    let id = d.put(keyed("q", "1", "k"));
    let got = d.take("q");
    d.sure(&got, Verdict::Done);
    assert!(d.find(&id).is_none());
    assert_eq!(dup(d, "q", "k"), Some(id.clone()), "the one that had it");
    d.advance(7 * 24 * 60 - 1);
    assert_eq!(dup(d, "q", "k"), Some(id));
    d.advance(1);
    let batch = [keyed("q", "2", "k"), keyed("q", "3", "k")];
    let stored = d.put_all(&batch);
    assert_eq!(stored[1], Enqueued::Duplicate(new_id(&stored[0])));
}

fn the_queues_window_counts(d: &mut Desk<'_>) {
    d.set("q", Setting::DedupWindow(Some(Window::For(MINUTE * 10))));
    let id = d.put(keyed("q", "1", "k"));
    let got = d.take("q");
    d.sure(&got, Verdict::Done);
    d.advance(9);
    assert_eq!(dup(d, "q", "k"), Some(id));
    d.advance(1);
    assert_eq!(dup(d, "q", "k"), None);
}

fn a_window_of_nothing_frees_at_once(d: &mut Desk<'_>) {
    let nothing = Window::For(std::time::Duration::ZERO);
    d.set("q", Setting::DedupWindow(Some(nothing)));
    d.put(keyed("q", "1", "k"));
    assert!(dup(d, "q", "k").is_some(), "it is here");
    let got = d.take("q");
    d.sure(&got, Verdict::Done);
    assert_eq!(dup(d, "q", "k"), None);
}

fn a_window_may_be_for_ever(d: &mut Desk<'_>) {
    d.set("q", Setting::DedupWindow(Some(Window::Forever)));
    let id = d.put(keyed("q", "1", "k"));
    let got = d.take("q");
    d.sure(&got, Verdict::Done);
    d.advance(60 * 24 * 365 * 90);
    assert_eq!(dup(d, "q", "k"), Some(id));
}

fn a_removed_queue_forgets_its_keys(d: &mut Desk<'_>) {
    d.put(keyed("q", "1", "k"));
    let got = d.take("q");
    d.sure(&got, Verdict::Done);
    d.db.configure(&q("q"), &qops::backend::Patch::Remove)
        .unwrap();
    assert_eq!(dup(d, "q", "k"), None);
}

fn purge_frees_the_key(d: &mut Desk<'_>) {
    d.put(keyed("q", "1", "k"));
    d.change(&Selection::of(q("q")), &ALL_FREE);
    assert_eq!(dup(d, "q", "k"), None);
    let got = d.start("q");
    d.sure(&got, Verdict::Dead(Reason::Permanent));
    d.change(&dead_of("q"), &ALL_FREE);
    assert_eq!(dup(d, "q", "k"), None, "a dead letter's too");
}

fn purge_may_keep_the_key(d: &mut Desk<'_>) {
    d.set("q", Setting::DedupWindow(Some(Window::For(MINUTE * 10))));
    let id = d.put(keyed("q", "1", "k"));
    let keep = Change::Purge { free_keys: false };
    d.change(&Selection::of(q("q")), &keep);
    assert!(d.find(&id).is_none());
    d.advance(9);
    assert_eq!(dup(d, "q", "k"), Some(id));
    d.advance(1);
    assert_eq!(dup(d, "q", "k"), None, "for the window, as after done");
}

fn a_drained_letter_keeps_its_key_for_the_window(d: &mut Desk<'_>) {
    let id = d.kill(keyed("q", "1", "k"), "no");
    let claimed = d.claim_dead("q", 1, &dead_of("q"), None);
    d.sure(&claimed.got[0], Verdict::Done);
    assert_eq!(dup(d, "q", "k"), Some(id));
    d.advance(7 * 24 * 60);
    assert_eq!(dup(d, "q", "k"), None);
}

fn a_whole_skips(d: &mut Desk<'_>) {
    let id = d.put(keyed("q", "1", "k"));
    let batch = [
        plain("q", "2"),
        keyed("q", "3", "k"),
        keyed("q", "4", "l"),
        keyed("q", "5", "l"),
    ];
    let stored = d.db.enqueue(&batch, Unit::Whole(Conflict::Skip)).unwrap();
    new_id(&stored[0]);
    assert_eq!(stored[1], Enqueued::Duplicate(id));
    assert_eq!(stored[3], Enqueued::Duplicate(new_id(&stored[2])));
    assert_eq!(d.counts("q").ready, 3);
}

fn a_whole_refuses(d: &mut Desk<'_>) {
    let id = d.put(keyed("q", "1", "k"));
    let batch = [
        plain("q", "2"),
        plain("fresh", "3"),
        keyed("q", "4", "k"),
        keyed("q", "5", "k"),
    ];
    let error =
        d.db.enqueue(&batch, Unit::Whole(Conflict::Refuse))
            .unwrap_err();
    assert_eq!(error.kind(), Kind::Conflict);
    assert_eq!(error.context("line"), Some("2"), "its index from 0");
    assert_eq!(error.context("id"), Some(id.as_str()));
    assert_eq!(error.effect(), qops::backend::Effect::None);
    assert_eq!(d.counts("q").ready, 1, "nothing of it stands");
    let queues = d.db.stats(None, Depth::Names).unwrap();
    assert_eq!(queues.len(), 1, "not even a queue");
    let free = [keyed("q", "4", "free")];
    d.db.enqueue(&free, Unit::Whole(Conflict::Refuse)).unwrap();
    assert_eq!(d.counts("q").ready, 2);
}

fn a_whole_refuses_twins(d: &mut Desk<'_>) {
    d.put(plain("q", "0"));
    let batch = [keyed("q", "1", "k"), keyed("q", "2", "k")];
    let error =
        d.db.enqueue(&batch, Unit::Whole(Conflict::Refuse))
            .unwrap_err();
    assert_eq!(error.kind(), Kind::Conflict);
    assert_eq!(error.context("line"), Some("1"));
    assert_eq!(d.counts("q").ready, 1);
    assert_eq!(dup(d, "q", "k"), None, "the key is free still");
}
