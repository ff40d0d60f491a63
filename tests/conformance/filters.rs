//! What a selection means: for every store what [`Selection::matches`] says.

use crate::cases;
use crate::desk::{Desk, ids, plain, q};
use crate::look::{ALL, zoo};
use qops::backend::Verdict;
use qops::queue::{Group, NewMessage, Order, Reason, Selection, State};

cases! {
    ALL => [
        each_filter_alone,
        filters_together,
        since_and_until_are_inclusive,
        times_are_by_death_for_dead_letters_alone,
        texts_are_plain,
    ],
}

/// What a store answers is what [`Selection::matches`] says of everything, in both orders, and so is its count.
fn same_as_matches(d: &mut Desk<'_>, what: &Selection) -> usize {
    let mut meant = 0;
    for order in [Order::Run, Order::Oldest] {
        let mut everything = d.list(&Selection::of(q("q")), order);
        everything.extend(d.list(&Selection::of(q("other")), order));
        everything.retain(|message| what.matches(message));
        let found = d.list(what, order);
        assert_eq!(ids(&found), ids(&everything), "{what:?} {order:?}");
        meant = found.len();
    }
    let count = d.db.count(what, 1_000).unwrap();
    assert_eq!(count.n, u64::try_from(meant).unwrap(), "{what:?}");
    assert!(count.exact);
    meant
}

/// Filters with how many they mean in the zoo.
fn filters(d: &mut Desk<'_>) -> Vec<(Selection, usize)> {
    let all = || Selection::of(q("q"));
    let states = |states: &[State]| Selection {
        states: states.to_vec(),
        ..all()
    };
    let listed = d.list(&all(), Order::Oldest);
    let (some, r2) = (ids(&listed[2..6]), listed[5].enqueued_at);
    vec![
        (all(), 21),
        (states(&[State::Ready]), 6),
        (states(&[State::Delayed]), 4),
        (states(&[State::Blocked]), 3),
        (states(&[State::Running]), 3),
        (states(&[State::Dead]), 5),
        (states(&[State::Blocked, State::Dead, State::Ready]), 14),
        (states(State::ALL), 21),
        (
            Selection {
                ids: Some(some),
                ..all()
            },
            4,
        ),
        (
            Selection {
                key: Some("r2".into()),
                ..all()
            },
            1,
        ),
        (
            Selection {
                key: Some("r%".into()),
                ..all()
            },
            0,
        ),
        (
            Selection {
                group: Some(Group::from("g")),
                ..all()
            },
            3,
        ),
        (
            Selection {
                group: Some(Group::from("G")),
                ..all()
            },
            0,
        ),
        (
            Selection {
                since: Some(r2),
                ..all()
            },
            11,
        ),
        (
            Selection {
                until: Some(r2),
                ..all()
            },
            11,
        ),
        (
            Selection {
                error: Some("error 1".into()),
                ..all()
            },
            2,
        ),
        (
            Selection {
                grep: Some("dead".into()),
                ..all()
            },
            4,
        ),
        (
            Selection {
                skip_expired: true,
                ..all()
            },
            20,
        ),
    ]
}

fn each_filter_alone(d: &mut Desk<'_>) {
    zoo(d);
    for (what, n) in filters(d) {
        assert_eq!(same_as_matches(d, &what), n, "{what:?}");
    }
}

/// Every pair of filters is a conjunction.
fn filters_together(d: &mut Desk<'_>) {
    zoo(d);
    let all = filters(d);
    for (n, (a, _)) in all.iter().enumerate() {
        for (b, _) in &all[n + 1..] {
            let what = Selection {
                queue: a.queue.clone(),
                ids: a.ids.clone().or(b.ids.clone()),
                states: if a.states.is_empty() {
                    b.states.clone()
                } else {
                    a.states.clone()
                },
                key: a.key.clone().or(b.key.clone()),
                group: a.group.clone().or(b.group.clone()),
                since: a.since.or(b.since),
                until: a.until.or(b.until),
                error: a.error.clone().or(b.error.clone()),
                grep: a.grep.clone().or(b.grep.clone()),
                skip_expired: a.skip_expired || b.skip_expired,
            };
            same_as_matches(d, &what);
        }
    }
    let one = Selection {
        states: vec![State::Dead],
        group: Some(Group::from("g2")),
        error: Some("error 2".into()),
        grep: Some("dead 2".into()),
        skip_expired: true,
        ..Selection::of(q("q"))
    };
    assert_eq!(same_as_matches(d, &one), 1);
}

fn since_and_until_are_inclusive(d: &mut Desk<'_>) {
    zoo(d);
    let listed = d.list(&Selection::of(q("q")), Order::Oldest);
    let at = listed[4].enqueued_at;
    let what = Selection {
        since: Some(at),
        until: Some(at),
        ..Selection::of(q("q"))
    };
    assert_eq!(same_as_matches(d, &what), 1);
}

fn times_are_by_death_for_dead_letters_alone(d: &mut Desk<'_>) {
    let id = d.put(plain("q", "x"));
    d.advance(10);
    let between = d.op().at;
    d.advance(10);
    let got = d.start("q");
    d.sure(&got, Verdict::Dead(Reason::Permanent));
    let mut what = Selection {
        since: Some(between),
        states: vec![State::Dead],
        ..Selection::of(q("q"))
    };
    assert_eq!(ids(&d.list(&what, Order::Oldest)), [id]);
    assert_eq!(d.db.count(&what, 9).unwrap().n, 1);
    for states in [vec![], vec![State::Dead, State::Ready]] {
        what.states = states;
        assert!(d.list(&what, Order::Oldest).is_empty(), "by its enqueue");
        assert_eq!(d.db.count(&what, 9).unwrap().n, 0);
    }
}

fn texts_are_plain(d: &mut Desk<'_>) {
    zoo(d);
    for (error, n) in [
        ("429% Too_Many", 4),
        ("429_", 0),
        ("%", 4),
        ("too_many", 0),
        ("", 5),
        ("'", 0),
        ("error 1: ", 1),
    ] {
        let what = Selection {
            error: Some(error.into()),
            ..Selection::of(q("q"))
        };
        assert_eq!(same_as_matches(d, &what), n, "error {error:?}");
    }
    d.put(NewMessage::new(q("q"), &b"\xff\x00needle\xfe"[..]));
    d.put(NewMessage::new(q("q"), "Ação\u{0}*?[a]".as_bytes()));
    for (grep, n) in [
        ("needle", 1),
        ("NEEDLE", 0),
        ("Aç", 1),
        ("*?[", 1),
        ("100%", 4),
        ("_under", 4),
        ("d_ad", 0),
        ("", 23),
        ("\u{0}", 2),
        ("\u{0}needle", 1),
    ] {
        let what = Selection {
            grep: Some(grep.into()),
            ..Selection::of(q("q"))
        };
        assert_eq!(same_as_matches(d, &what), n, "grep {grep:?}");
    }
}
