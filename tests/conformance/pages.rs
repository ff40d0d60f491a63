//! Pages: with bounds however small, a walk reaches everything exactly once.

use crate::cases;
use crate::desk::{Desk, dead_of, ids, plain, q};
use crate::look::zoo;
use qops::backend::{Features as F, Page, Peeked, Verdict};
use qops::queue::{Cursor, MessageId, NewMessage, Order, Reason, Selection, State};

const ALL: F = F::PEEK
    .and(F::START)
    .and(F::GROUPS)
    .and(F::PRIORITY)
    .and(F::DELAY)
    .and(F::TTL)
    .and(F::KEYS);

cases! {
    ALL => [
        every_bound_reaches_everything_once,
        reverse_is_the_other_end,
        a_filter_that_finds_little_still_ends,
        ids_are_paged_too,
    ],
    F::PEEK => [
        a_page_is_bounded_by_rows,
        a_page_is_bounded_by_bytes_but_has_one,
        a_page_is_bounded_by_what_it_looks_at,
        a_walk_goes_on_in_another_handle,
        what_is_removed_meanwhile_is_not_in_the_way,
        what_comes_meanwhile_does_no_harm,
    ],
}

const ORDERS: [(Order, bool); 4] = [
    (Order::Run, false),
    (Order::Run, true),
    (Order::Oldest, false),
    (Order::Oldest, true),
];

fn every_bound_reaches_everything_once(d: &mut Desk<'_>) {
    zoo(d);
    let selections = [
        Selection::of(q("q")),
        dead_of("q"),
        Selection {
            states: vec![State::Ready, State::Running],
            ..Selection::of(q("q"))
        },
        Selection {
            skip_expired: true,
            grep: Some("0".into()),
            ..Selection::of(q("q"))
        },
    ];
    for what in &selections {
        for (order, reverse) in ORDERS {
            let large = Page {
                reverse,
                ..Page::first(1_000, order)
            };
            let everything = ids(&d.walk(what, large).rows);
            assert!(!everything.is_empty());
            for (rows, bytes, scan) in [
                (1, 1 << 20, 1_000),
                (2, 1 << 20, 1_000),
                (7, 1 << 20, 1_000),
                (1_000, 1, 1_000),
                (1_000, 20, 1_000),
                (1_000, 1 << 20, 1),
                (1_000, 1 << 20, 3),
                (2, 30, 2),
            ] {
                let small = Page {
                    rows,
                    bytes,
                    scan,
                    ..large
                };
                let found = ids(&d.walk(what, small).rows);
                assert_eq!(found, everything, "{what:?} {small:?}");
            }
        }
    }
}

fn reverse_is_the_other_end(d: &mut Desk<'_>) {
    zoo(d);
    for order in [Order::Run, Order::Oldest] {
        let page = Page::first(5, order);
        let mut forth = ids(&d.walk(&Selection::of(q("q")), page).rows);
        let reverse = Page {
            reverse: true,
            ..page
        };
        let back = ids(&d.walk(&Selection::of(q("q")), reverse).rows);
        forth.reverse();
        assert_eq!(back, forth, "{order:?}");
    }
}

fn a_filter_that_finds_little_still_ends(d: &mut Desk<'_>) {
    zoo(d);
    let what = Selection {
        grep: Some("nowhere at all".into()),
        ..Selection::of(q("q"))
    };
    for (order, reverse) in ORDERS {
        let page = Page {
            scan: 2,
            reverse,
            ..Page::first(10, order)
        };
        assert!(d.walk(&what, page).rows.is_empty());
    }
}

fn ids_are_paged_too(d: &mut Desk<'_>) {
    zoo(d);
    let mut meant: Vec<MessageId> = ids(&d.all("q")).into_iter().step_by(2).collect();
    meant.extend(ids(&d.all("other")));
    meant.push(MessageId::from("999999999"));
    let what = Selection {
        ids: Some(meant.clone()),
        ..Selection::default()
    };
    for (order, reverse) in ORDERS {
        let page = Page {
            scan: 3,
            reverse,
            ..Page::first(2, order)
        };
        let walked = d.walk(&what, page);
        let mut found = ids(&walked.rows);
        assert_eq!(found.len(), meant.len() - 1);
        found.sort();
        found.dedup();
        assert_eq!(found.len(), meant.len() - 1);
        assert!(walked.gone.is_empty(), "never issued");
    }
}

fn some(d: &mut Desk<'_>, n: usize, text: &str) -> Vec<MessageId> {
    let batch: Vec<NewMessage<'_>> = (0..n).map(|_| plain("q", text)).collect();
    d.put_all(&batch).iter().map(crate::desk::new_id).collect()
}

fn first(d: &mut Desk<'_>, page: &Page<'_>) -> Peeked {
    d.db.peek(&Selection::of(q("q")), page).unwrap()
}

fn a_page_is_bounded_by_rows(d: &mut Desk<'_>) {
    some(d, 10, "x");
    for rows in [1, 4, 9] {
        let peeked = first(d, &Page::first(rows, Order::Run));
        assert_eq!(peeked.rows.len(), rows);
        assert!(peeked.next.is_some());
    }
    let peeked = first(d, &Page::first(11, Order::Run));
    assert_eq!((peeked.rows.len(), peeked.next), (10, None));
}

fn a_page_is_bounded_by_bytes_but_has_one(d: &mut Desk<'_>) {
    some(d, 5, "0123456789");
    for (bytes, rows) in [(1, 1), (10, 1), (19, 1), (20, 2), (49, 4)] {
        let page = Page {
            bytes,
            ..Page::first(100, Order::Run)
        };
        let peeked = first(d, &page);
        assert_eq!(peeked.rows.len(), rows, "{bytes} bytes");
        assert!(peeked.next.is_some());
    }
}

fn a_page_is_bounded_by_what_it_looks_at(d: &mut Desk<'_>) {
    some(d, 500, "x");
    d.put(plain("q", "needle"));
    let what = Selection {
        grep: Some("needle".into()),
        ..Selection::of(q("q"))
    };
    let page = Page {
        scan: 50,
        ..Page::first(10, Order::Oldest)
    };
    let peeked = d.db.peek(&what, &page).unwrap();
    assert!(peeked.rows.is_empty() && peeked.next.is_some());
    assert_eq!(d.walk(&what, page).rows.len(), 1);
}

fn a_walk_goes_on_in_another_handle(d: &mut Desk<'_>) {
    let all = some(d, 9, "x");
    let mut seen = vec![];
    let mut after: Option<Cursor> = None;
    loop {
        let page = Page {
            after: after.as_ref(),
            ..Page::first(2, Order::Oldest)
        };
        let peeked = first(&mut d.other("again"), &page);
        seen.extend(ids(&peeked.rows));
        match peeked.next {
            Some(next) => after = Some(Cursor::from(next.as_str())),
            None => break,
        }
    }
    assert_eq!(seen, all);
}

fn what_is_removed_meanwhile_is_not_in_the_way(d: &mut Desk<'_>) {
    let all = some(d, 10, "x");
    let page = Page::first(4, Order::Oldest);
    let peeked = first(d, &page);
    assert_eq!(ids(&peeked.rows), all[..4]);
    let got = d.claim_as("q", |claim| claim.max = 6).got;
    for delivery in &got[..5] {
        d.sure(delivery, Verdict::Done);
    }
    d.sure(&got[5], Verdict::Dead(Reason::Permanent));
    let live = Selection {
        states: vec![State::Ready],
        ..Selection::of(q("q"))
    };
    let next = Page {
        after: peeked.next.as_ref(),
        ..page
    };
    let rest = d.db.peek(&live, &Page { rows: 100, ..next }).unwrap();
    assert_eq!(ids(&rest.rows), all[6..]);
}

fn what_comes_meanwhile_does_no_harm(d: &mut Desk<'_>) {
    let all = some(d, 6, "x");
    let page = Page::first(3, Order::Oldest);
    let peeked = first(d, &page);
    let late = some(d, 2, "y");
    let next = Page {
        after: peeked.next.as_ref(),
        ..page
    };
    let rest = ids(&first(d, &Page { rows: 100, ..next }).rows);
    assert_eq!(rest, [&all[3..], &late[..]].concat());
}
