//! `change` with a queue to go to: dead letters that live on elsewhere.

use crate::cases;
use crate::desk::{Desk, MINUTE, dead_of, grouped, keyed, new_id, plain, q};
use qops::backend::{Change, Depth, Features as F, Run, Verdict};
use qops::queue::{Due, Enqueued, Group, NewMessage, QueueName, Reason, Selection, State};

const T: F = F::PEEK.and(F::START).and(F::REQUEUE).and(F::TRANSFER);

cases! {
    T.and(F::KEYS).and(F::GROUPS).and(F::HEADERS).and(F::PRIORITY) => [what_a_letter_takes_along],
    T => [
        only_dead_letters_go,
        the_target_comes_into_being_with_the_first,
        a_letter_may_go_and_come_back,
        chunks_come_to_the_same,
    ],
    T.and(F::KEYS) => [
        a_key_that_the_target_holds_is_skipped,
        the_key_goes_with_the_letter,
    ],
    T.and(F::GROUPS) => [a_member_waits_for_the_head_there],
    T.and(F::DELAY) => [it_may_wait_there],
}

fn to(queue: &QueueName) -> Change<'_> {
    Change::Requeue {
        due: Due::Now,
        to: Some(queue),
        reset: true,
    }
}

fn what_a_letter_takes_along(d: &mut Desk<'_>) {
    d.put(plain("there", "first"));
    let id = d.kill(
        NewMessage {
            group: Some(Group::from("g")),
            priority: 4,
            max_attempts: Some(9),
            headers: vec![("a".into(), "1".into()), ("a".into(), "2".into())],
            ..keyed("q", "x", "k")
        },
        "no",
    );
    let before = d.get(&id);
    let there = q("there");
    assert_eq!(
        d.change(&dead_of("q"), &to(&there)).done,
        std::slice::from_ref(&id)
    );
    assert!(d.all("q").is_empty());
    let all = d.all("there");
    let after = all.iter().find(|message| message.payload == b"x").unwrap();
    assert_eq!(after.queue, there);
    assert_eq!(after.state, State::Ready);
    assert_eq!(after.key, before.key);
    assert_eq!(after.group, before.group);
    assert_eq!(after.priority, 4);
    assert_eq!(after.max_attempts, Some(9));
    assert_eq!(after.headers, before.headers);
    assert_eq!((after.replays, after.attempts), (1, 0));
    assert_eq!((after.reason, after.died_at), (None, None));
    assert_eq!(d.take("there").message.payload, b"x", "by its priority");
}

fn only_dead_letters_go(d: &mut Desk<'_>) {
    d.put(plain("there", "x"));
    let id = d.put(plain("q", "live"));
    let there = q("there");
    let changed = d.change(&Selection::of(q("q")), &to(&there));
    assert!(changed.done.is_empty());
    assert_eq!(d.get(&id).queue, q("q"));
}

fn the_target_comes_into_being_with_the_first(d: &mut Desk<'_>) {
    let names = |d: &mut Desk<'_>| d.db.stats(None, Depth::Names).unwrap().len();
    d.put(plain("q", "live"));
    let there = q("there");
    d.change(&dead_of("q"), &to(&there));
    assert_eq!(names(d), 1, "nothing went");
    let got = d.start("q");
    d.sure(&got, Verdict::Dead(Reason::Permanent));
    let dry = d.change_by(9, &dead_of("q"), &to(&there), Run::Dry);
    assert_eq!((dry.done.len(), names(d)), (1, 1), "nothing is done");
    d.change(&dead_of("q"), &to(&there));
    assert_eq!(names(d), 2);
    assert_eq!(d.take("there").message.id, got.message.id);
}

fn a_letter_may_go_and_come_back(d: &mut Desk<'_>) {
    d.put(plain("there", "x"));
    d.claim_all("there");
    d.kill(plain("q", "y"), "no");
    d.change(&dead_of("q"), &to(&q("there")));
    let got = d.start("there");
    assert_eq!(got.message.payload, b"y");
    d.sure(&got, Verdict::Dead(Reason::Permanent));
    d.change(&dead_of("there"), &to(&q("q")));
    let back = d.start("q");
    assert_eq!(back.message.payload, b"y");
    assert_eq!(back.message.replays, 2);
}

fn chunks_come_to_the_same(d: &mut Desk<'_>) {
    d.put(plain("there", "x"));
    d.claim_all("there");
    let texts: Vec<String> = (0..7).map(|n| n.to_string()).collect();
    for text in &texts {
        d.kill(plain("q", text), "no");
    }
    let there = q("there");
    let dry = d.change_by(2, &dead_of("q"), &to(&there), Run::Dry);
    let done = d.change_by(2, &dead_of("q"), &to(&there), Run::Do);
    assert_eq!((done.done.len(), done.skipped.len()), (7, 0));
    assert_eq!(dry.done, done.done);
    assert_eq!(crate::desk::texts(&d.claim_all("there")), texts);
}

fn a_key_that_the_target_holds_is_skipped(d: &mut Desk<'_>) {
    d.put(keyed("there", "x", "k"));
    let held = d.kill(keyed("q", "y", "k"), "no");
    let free = d.kill(keyed("q", "z", "l"), "no");
    let there = q("there");
    for run in [Run::Dry, Run::Do] {
        let changed = d.change_by(9, &dead_of("q"), &to(&there), run);
        assert_eq!(changed.done, std::slice::from_ref(&free));
        assert_eq!(changed.skipped.len(), 1);
        assert_eq!(changed.skipped[0].0, held);
    }
    assert_eq!(d.get(&held).state, State::Dead);
    assert_eq!(d.get(&held).replays, 0);
    // Within the window after it is done the key is held too.
    for got in d.claim_all("there") {
        d.sure(&got, Verdict::Done);
    }
    let changed = d.change(&dead_of("q"), &to(&there));
    assert_eq!((changed.done.len(), changed.skipped.len()), (0, 1));
}

fn the_key_goes_with_the_letter(d: &mut Desk<'_>) {
    d.put(plain("there", "x"));
    d.kill(keyed("q", "y", "k"), "no");
    d.change(&dead_of("q"), &to(&q("there")));
    let stored = d.put_all(&[keyed("there", "z", "k")]);
    assert!(matches!(stored[0], Enqueued::Duplicate(_)));
    new_id(&d.put_all(&[keyed("q", "z", "k")])[0]);
}

fn a_member_waits_for_the_head_there(d: &mut Desk<'_>) {
    d.put(grouped("there", "head", "g"));
    d.kill(grouped("q", "x", "g"), "no");
    d.put(grouped("q", "next", "g"));
    d.change(&dead_of("q"), &to(&q("there")));
    let counts = d.counts("there");
    assert_eq!((counts.ready, counts.blocked), (1, 1));
    let got = d.start("there");
    assert_eq!(got.message.payload, b"head");
    assert!(d.claim_all("there").is_empty());
    d.sure(&got, Verdict::Done);
    assert_eq!(d.start("there").message.payload, b"x");
    assert_eq!(d.start("q").message.payload, b"next");
}

fn it_may_wait_there(d: &mut Desk<'_>) {
    d.put(plain("there", "x"));
    d.claim_all("there");
    d.kill(plain("q", "y"), "no");
    let there = q("there");
    let later = Change::Requeue {
        due: Due::After(MINUTE * 5),
        to: Some(&there),
        reset: true,
    };
    d.change(&dead_of("q"), &later);
    assert_eq!(d.counts("there").delayed, 1);
    d.advance(5);
    let payloads: Vec<Vec<u8>> = d
        .claim_all("there")
        .into_iter()
        .map(|got| got.message.payload)
        .collect();
    assert!(payloads.contains(&b"y".to_vec()));
}
