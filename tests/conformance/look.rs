//! `peek` and `count`: what is found, and in which order.

use crate::cases;
use crate::desk::{Desk, MINUTE, end, grouped, ids, keyed, plain, q};
use qops::backend::{Features as F, Kind, Page, Verdict};
use qops::queue::{
    Due, Group, Message, MessageId, NewMessage, Order, Outcome, Selection, State, Ttl,
};

pub const ALL: F = F::PEEK
    .and(F::START)
    .and(F::GROUPS)
    .and(F::PRIORITY)
    .and(F::DELAY)
    .and(F::TTL)
    .and(F::KEYS);

cases! {
    F::PEEK => [
        an_unknown_queue_is_not_found,
        an_empty_queue_is_empty,
        ids_alone_are_found_wherever_they_are,
        ids_in_a_queue_are_only_there,
        an_empty_list_of_ids_means_nothing,
        gone_names_what_was_issued_once,
        a_look_changes_nothing,
        a_count_is_exact_up_to_its_cap,
        a_reader_looks_too,
    ],
    ALL => [
        as_they_will_run,
        the_oldest_first,
    ],
}

fn an_unknown_queue_is_not_found(d: &mut Desk<'_>) {
    d.put(plain("q", "x"));
    let what = Selection::of(q("nowhere"));
    let error = d.db.peek(&what, &Page::first(1, Order::Run)).unwrap_err();
    assert_eq!(error.kind(), Kind::NotFound);
    assert_eq!(d.db.count(&what, 10).unwrap_err().kind(), Kind::NotFound);
}

fn an_empty_queue_is_empty(d: &mut Desk<'_>) {
    d.put(plain("q", "x"));
    let got = d.take("q");
    d.sure(&got, Verdict::Done);
    let what = Selection::of(q("q"));
    let peeked = d.db.peek(&what, &Page::first(10, Order::Run)).unwrap();
    assert!(peeked.rows.is_empty() && peeked.next.is_none() && peeked.gone.is_empty());
    let count = d.db.count(&what, 10).unwrap();
    assert_eq!((count.n, count.exact), (0, true));
}

fn these(ids: &[&MessageId]) -> Selection {
    Selection {
        ids: Some(ids.iter().copied().cloned().collect()),
        ..Selection::default()
    }
}

fn ids_alone_are_found_wherever_they_are(d: &mut Desk<'_>) {
    let a = d.put(plain("a", "1"));
    let b = d.put(plain("b", "2"));
    let dead = d.kill(plain("c", "3"), "no");
    d.put(plain("a", "4"));
    let found = ids(&d.list(&these(&[&dead, &a, &b, &a]), Order::Run));
    assert_eq!(found.len(), 3);
    assert!([a, b, dead].iter().all(|id| found.contains(id)));
}

fn ids_in_a_queue_are_only_there(d: &mut Desk<'_>) {
    let a = d.put(plain("a", "1"));
    let b = d.put(plain("b", "2"));
    let what = Selection {
        queue: Some(q("a")),
        ..these(&[&a, &b])
    };
    let peeked = d.walk(&what, Page::first(10, Order::Run));
    assert_eq!(ids(&peeked.rows), [a]);
    assert!(peeked.gone.is_empty(), "it is somewhere");
}

fn an_empty_list_of_ids_means_nothing(d: &mut Desk<'_>) {
    d.put(plain("q", "1"));
    assert!(d.list(&these(&[]), Order::Run).is_empty());
    assert_eq!(d.db.count(&these(&[]), 10).unwrap().n, 0);
    let what = Selection {
        ids: Some(vec![]),
        ..Selection::of(q("q"))
    };
    assert!(d.list(&what, Order::Oldest).is_empty());
}

fn gone_names_what_was_issued_once(d: &mut Desk<'_>) {
    let here = d.put(plain("q", "1"));
    let done = d.put(plain("q", "2"));
    let got = d.claim_all("q");
    d.sure(&got[1], Verdict::Done);
    d.sure(&got[0], Verdict::Release);
    let never = MessageId::from("987654321");
    let odd = MessageId::from("no id at all");
    let peeked = d.walk(
        &these(&[&here, &done, &never, &odd]),
        Page::first(1, Order::Run),
    );
    assert_eq!(ids(&peeked.rows), std::slice::from_ref(&here));
    assert_eq!(peeked.gone, [done]);
    let filtered = Selection {
        states: vec![State::Dead],
        ..these(&[&here])
    };
    let peeked = d.walk(&filtered, Page::first(1, Order::Run));
    assert!(
        peeked.rows.is_empty() && peeked.gone.is_empty(),
        "it is here"
    );
}

fn a_look_changes_nothing(d: &mut Desk<'_>) {
    let id = d.put(plain("q", "x"));
    let before = d.get(&id);
    for _ in 0..5 {
        assert_eq!(d.get(&id), before);
    }
    let got = d.take("q");
    assert_eq!(got.message.deliveries, 1);
    d.advance(5);
    let lapsed = d.get(&id);
    assert_eq!(d.get(&id), lapsed);
    assert_eq!(lapsed.deliveries, 1);
}

fn a_count_is_exact_up_to_its_cap(d: &mut Desk<'_>) {
    let batch: Vec<NewMessage<'_>> = (0..10).map(|_| plain("q", "x")).collect();
    d.put_all(&batch);
    let what = Selection::of(q("q"));
    for (cap, n, exact) in [
        (u64::MAX, 10, true),
        (11, 10, true),
        (10, 10, true),
        (9, 9, false),
        (1, 1, false),
    ] {
        let count = d.db.count(&what, cap).unwrap();
        assert_eq!((count.n, count.exact), (n, exact), "up to {cap}");
    }
}

fn a_reader_looks_too(d: &mut Desk<'_>) {
    let id = d.put(plain("q", "x"));
    let mut reader = Desk {
        store: d.store,
        db: d.store.open_to_read("reader"),
    };
    assert_eq!(reader.get(&id).payload, b"x");
    assert_eq!(reader.counts("q").ready, 1);
    let what = Selection::of(q("q"));
    assert_eq!(reader.db.count(&what, 10).unwrap().n, 1);
    d.put(plain("q", "y"));
    assert_eq!(reader.all("q").len(), 2, "it sees what comes later");
    assert!(reader.op().at >= d.get(&id).enqueued_at);
}

/// A queue with everything in it, made at different times.
pub fn zoo(d: &mut Desk<'_>) {
    for n in 0..4 {
        let text = format!("dead {n} 100% _under");
        let mut new = plain("q", &text);
        new.group = (n == 2).then(|| Group::from("g2"));
        d.kill(new, &format!("error {n}: 429% Too_Many"));
        d.advance(1);
    }
    d.put(NewMessage {
        ttl: Some(Ttl::After(MINUTE)),
        ..plain("q", "expires")
    });
    d.advance(2);
    d.claim_as("q", |claim| claim.max = 1);
    for n in 0..3 {
        let text = format!("running {n}");
        let id = d.put(keyed("q", &text, &format!("run:{n}")));
        let mut claimed = d.claim_as("q", |claim| {
            (claim.max, claim.lease, claim.start) = (1, MINUTE * 600, n == 1);
        });
        assert_eq!(claimed.got.pop().unwrap().message.id, id);
        d.advance(1);
    }
    for (text, priority, minutes) in [("r0", 0, 0), ("r1", 3, 0), ("r2", 0, 0), ("r3", 3, 0)] {
        d.put(NewMessage {
            priority,
            due: Due::After(MINUTE * minutes),
            ..keyed("q", text, text)
        });
        d.advance(1);
    }
    for (text, minutes) in [("d0", 90), ("d1", 60), ("d2", 70)] {
        d.put(NewMessage {
            due: Due::After(MINUTE * minutes),
            ..plain("q", text)
        });
        d.advance(1);
    }
    for (text, group) in [
        ("g0", "g"),
        ("b0", "g"),
        ("h0", "h"),
        ("b1", "h"),
        ("b2", "g"),
    ] {
        d.put(grouped("q", text, group));
        d.advance(1);
    }
    let failing = d.put(NewMessage {
        priority: 9,
        ..plain("q", "failing")
    });
    let got = d.start("q");
    assert_eq!(got.message.id, failing);
    let due = Due::After(MINUTE * 200);
    let failed = end(Outcome::Failed, "error 1 again");
    d.sure_end(&got, Verdict::Retry { due, charge: true }, &failed);
    d.put(keyed("other", "r0", "r0"));
}

fn payloads(messages: &[Message]) -> Vec<String> {
    let text = |message: &Message| String::from_utf8_lossy(&message.payload).into_owned();
    messages.iter().map(text).collect()
}

fn as_they_will_run(d: &mut Desk<'_>) {
    zoo(d);
    let all = payloads(&d.all("q"));
    let mut running = all[..3].to_vec();
    running.sort();
    assert_eq!(running, ["running 0", "running 1", "running 2"]);
    assert_eq!(
        all[3..],
        [
            "r1",
            "r3",
            "r0",
            "r2",
            "g0",
            "h0",
            "d1",
            "d2",
            "d0",
            "failing",
            "b0",
            "b1",
            "b2",
            "expires",
            "dead 3 100% _under",
            "dead 2 100% _under",
            "dead 1 100% _under",
            "dead 0 100% _under",
        ]
    );
}

fn the_oldest_first(d: &mut Desk<'_>) {
    zoo(d);
    let all = payloads(&d.list(&Selection::of(q("q")), Order::Oldest));
    assert_eq!(
        all,
        [
            "running 0",
            "running 1",
            "running 2",
            "r0",
            "r1",
            "r2",
            "r3",
            "d0",
            "d1",
            "d2",
            "g0",
            "b0",
            "h0",
            "b1",
            "b2",
            "failing",
            "dead 0 100% _under",
            "dead 1 100% _under",
            "dead 2 100% _under",
            "dead 3 100% _under",
            "expires",
        ]
    );
}
