//! `enqueue`: what is stored, in which order, and how a batch stands together. Keys have their own file.

use crate::cases;
use crate::desk::{Desk, MINUTE, grouped, ids, new_id, plain, q, texts};
use qops::backend::{Conflict, Depth, Features as F, Kind, Setting, Unit};
use qops::queue::{Due, Enqueued, Group, MessageId, NewMessage, Order, Selection, State, Ttl};
use std::collections::BTreeSet;
use std::time::Duration;

cases! {
    F::PEEK => [
        ids_are_in_order_and_positional,
        a_queue_comes_into_being,
        one_batch_may_go_to_several_queues,
        an_empty_batch_does_nothing,
        an_id_is_never_used_again,
        another_handle_sees_it,
        a_new_message_is_fresh,
    ],
    F::PEEK.and(F::WHOLE) => [a_whole_stands, an_empty_whole_does_nothing],
    F::PEEK.and(F::HEADERS).and(F::PRIORITY).and(F::KEYS).and(F::GROUPS).and(F::TTL).and(F::DELAY)
        => [every_field_comes_back],
    F::PEEK.and(F::DELAY) => [a_due_time_is_by_the_stores_clock, a_past_due_time_is_ready],
    F::PEEK.and(F::TTL) => [a_time_to_live_begins_at_enqueue, a_life_of_nothing_is_refused],
    F::PEEK.and(F::TTL).and(F::DELAY) => [a_life_that_ends_before_its_delay_is_refused],
    F::PEEK.and(F::TTL).and(F::SETTINGS) => [the_queues_ttl_is_for_those_without],
    F::PEEK.and(F::GROUPS) => [a_second_member_is_blocked],
}

fn ids_are_in_order_and_positional(d: &mut Desk<'_>) {
    let texts: Vec<String> = (0..50).map(|n| n.to_string()).collect();
    let batch: Vec<NewMessage<'_>> = texts.iter().map(|text| plain("q", text)).collect();
    let stored: Vec<MessageId> = d.put_all(&batch).iter().map(new_id).collect();
    assert_eq!(stored.iter().collect::<BTreeSet<_>>().len(), 50);
    let listed = d.list(&Selection::of(q("q")), Order::Oldest);
    assert_eq!(ids(&listed), stored);
    for (message, text) in listed.iter().zip(&texts) {
        assert_eq!(message.payload, text.as_bytes());
    }
    let claimed = d.claim_all("q");
    assert_eq!(crate::desk::texts(&claimed), texts, "first in, first out");
}

fn a_queue_comes_into_being(d: &mut Desk<'_>) {
    assert!(d.db.stats(None, Depth::Exact).unwrap().is_empty());
    d.put(plain("new", "x"));
    let reports = d.db.stats(None, Depth::Exact).unwrap();
    assert_eq!(reports.len(), 1);
    assert_eq!(reports[0].queue, q("new"));
    assert_eq!(reports[0].counts.ready, 1);
}

fn one_batch_may_go_to_several_queues(d: &mut Desk<'_>) {
    d.put_all(&[
        plain("a", "1"),
        plain("b", "2"),
        plain("a", "3"),
        plain("c", "4"),
    ]);
    assert_eq!(texts(&d.claim_all("a")), ["1", "3"]);
    assert_eq!(texts(&d.claim_all("b")), ["2"]);
    assert_eq!(texts(&d.claim_all("c")), ["4"]);
}

fn an_empty_batch_does_nothing(d: &mut Desk<'_>) {
    assert!(d.put_all(&[]).is_empty());
    assert!(d.db.stats(None, Depth::Exact).unwrap().is_empty());
}

fn an_id_is_never_used_again(d: &mut Desk<'_>) {
    let first = d.put(plain("q", "1"));
    let got = d.take("q");
    d.sure(&got, qops::backend::Verdict::Done);
    let second = d.put(plain("q", "2"));
    assert_ne!(first, second);
    assert!(d.find(&first).is_none());
}

fn another_handle_sees_it(d: &mut Desk<'_>) {
    let id = d.put(plain("q", "x"));
    assert_eq!(d.other("w2").get(&id).payload, b"x");
    assert_eq!(d.other("w2").take("q").message.id, id);
}

fn a_new_message_is_fresh(d: &mut Desk<'_>) {
    let before = d.op().at;
    let id = d.put(plain("q", "x"));
    let after = d.op().at;
    let message = d.get(&id);
    assert_eq!(message.state, State::Ready);
    assert!(before <= message.enqueued_at && message.enqueued_at <= after);
    assert_eq!(message.ready_at, Some(message.enqueued_at));
    assert_eq!(
        (
            message.attempts,
            message.deferrals,
            message.deliveries,
            message.replays
        ),
        (0, 0, 0, 0)
    );
    assert_eq!(message.max_attempts, None);
    assert_eq!(message.expires_at, None);
    assert_eq!((message.lease_until, message.worker), (None, None));
    assert_eq!((message.started_at, message.died_at), (None, None));
    assert_eq!((message.reason, message.last_error), (None, None));
    assert!(message.history.is_empty());
}

fn a_whole_stands(d: &mut Desk<'_>) {
    for conflict in [Conflict::Skip, Conflict::Refuse] {
        let batch = [plain("q", "1"), plain("r", "2")];
        let stored = d.db.enqueue(&batch, Unit::Whole(conflict)).unwrap();
        assert!(matches!(stored[..], [Enqueued::New(_), Enqueued::New(_)]));
    }
    assert_eq!(d.counts("q").ready, 2);
    assert_eq!(d.counts("r").ready, 2);
}

fn an_empty_whole_does_nothing(d: &mut Desk<'_>) {
    let none = d.db.enqueue(&[], Unit::Whole(Conflict::Refuse)).unwrap();
    assert!(none.is_empty());
    assert!(d.db.stats(None, Depth::Exact).unwrap().is_empty());
}

fn every_field_comes_back(d: &mut Desk<'_>) {
    let due = d.op().at.plus(MINUTE * 7);
    let dies = d.op().at.plus(MINUTE * 90);
    let header = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let headers = vec![
        header("b", "2"),
        header("a", ""),
        header("b", "1"),
        header("Ação \u{1F980}", "line\nbreak \"quoted\" \u{0}"),
    ];
    let id = d.put(NewMessage {
        queue: q("q"),
        payload: (&b"\xff\x00"[..]).into(),
        key: Some("k:1 \u{1F980}'\"".into()),
        group: Some(Group::from("g' \"ü")),
        priority: -9,
        due: Due::At(due),
        ttl: Some(Ttl::At(dies)),
        max_attempts: Some(u32::MAX),
        headers: headers.clone(),
    });
    let message = d.get(&id);
    assert_eq!(message.queue, q("q"));
    assert_eq!(message.payload, b"\xff\x00");
    assert_eq!(message.key.as_deref(), Some("k:1 \u{1F980}'\""));
    assert_eq!(message.group, Some(Group::from("g' \"ü")));
    assert_eq!(message.priority, -9);
    assert_eq!(message.ready_at, Some(due));
    assert_eq!(message.expires_at, Some(dies));
    assert_eq!(message.max_attempts, Some(u32::MAX));
    assert_eq!(message.headers, headers);
    assert_eq!(message.state, State::Delayed);
}

fn a_due_time_is_by_the_stores_clock(d: &mut Desk<'_>) {
    let id = d.put(NewMessage {
        due: Due::After(MINUTE * 10),
        ..plain("q", "later")
    });
    let message = d.get(&id);
    assert_eq!(message.state, State::Delayed);
    assert_eq!(
        message.ready_at,
        Some(message.enqueued_at.plus(MINUTE * 10))
    );
    assert_eq!(d.counts("q").delayed, 1);
    d.advance(9);
    assert_eq!(d.get(&id).state, State::Delayed);
    assert!(d.claim_all("q").is_empty());
    d.advance(1);
    assert_eq!(d.get(&id).state, State::Ready);
    assert_eq!(d.counts("q").ready, 1);
    assert_eq!(d.take("q").message.id, id);
}

fn a_past_due_time_is_ready(d: &mut Desk<'_>) {
    let now = d.op().at;
    d.put(plain("q", "new"));
    d.put(NewMessage {
        due: Due::At(now.minus(MINUTE)),
        ..plain("q", "old")
    });
    d.put(NewMessage {
        due: Due::After(std::time::Duration::ZERO),
        ..plain("q", "zero")
    });
    assert_eq!(texts(&d.claim_all("q")), ["old", "new", "zero"]);
}

fn a_time_to_live_begins_at_enqueue(d: &mut Desk<'_>) {
    let id = d.put(NewMessage {
        ttl: Some(Ttl::After(MINUTE * 5)),
        ..plain("q", "x")
    });
    let message = d.get(&id);
    assert_eq!(
        message.expires_at,
        Some(message.enqueued_at.plus(MINUTE * 5))
    );
}

fn the_queues_ttl_is_for_those_without(d: &mut Desk<'_>) {
    d.set("q", Setting::Ttl(Some(MINUTE * 3)));
    let id = d.put(plain("q", "x"));
    let message = d.get(&id);
    let minutes = |n| Some(message.enqueued_at.plus(MINUTE * n));
    assert_eq!(message.expires_at, minutes(3));
    let own = d.put(NewMessage {
        ttl: Some(Ttl::After(MINUTE * 50)),
        ..plain("q", "y")
    });
    assert!(d.get(&own).expires_at > minutes(49));
    d.set("q", Setting::Ttl(None));
    let free = d.put(plain("q", "z"));
    assert_eq!(d.get(&free).expires_at, None);
    assert_eq!(d.get(&id).expires_at, minutes(3), "as it was enqueued");
}

fn a_second_member_is_blocked(d: &mut Desk<'_>) {
    let one = d.put(grouped("q", "1", "g"));
    let two = d.put(grouped("q", "2", "g"));
    let other = d.put(grouped("q", "3", "h"));
    let elsewhere = d.put(grouped("r", "4", "g"));
    let states = [one, two, other, elsewhere].map(|id| d.get(&id).state);
    assert_eq!(
        states,
        [State::Ready, State::Blocked, State::Ready, State::Ready]
    );
    assert_eq!(d.counts("q").blocked, 1);
}

fn a_life_of_nothing_is_refused(d: &mut Desk<'_>) {
    refused(d, Due::Now, Duration::ZERO);
}

fn a_life_that_ends_before_its_delay_is_refused(d: &mut Desk<'_>) {
    refused(d, Due::After(MINUTE), MINUTE);
    // Instants are kept as they are: a retry may have been due after its message's end.
    let at = crate::desk::begin(&mut *d.db).at;
    d.put(NewMessage {
        due: Due::At(at.plus(MINUTE * 2)),
        ttl: Some(Ttl::At(at.plus(MINUTE))),
        ..plain("r", "kept")
    });
}

fn refused(d: &mut Desk<'_>, due: Due, life: Duration) {
    let never = NewMessage {
        due,
        ttl: Some(Ttl::After(life)),
        ..plain("q", "never")
    };
    let error =
        d.db.enqueue(&[plain("q", "1"), never], Unit::Each)
            .unwrap_err();
    assert_eq!(
        (error.kind(), error.context("line")),
        (Kind::BadInput, Some("1"))
    );
    d.put(plain("q", "2"));
    assert_eq!(d.counts("q").ready, 1);
}
