//! Nothing stays open between two calls: no reader keeps the log from being taken in and begun anew.

use super::{claim, done, open, put, queue};
use qops::backend::{
    Change, Chore, Claim, Depth, Detail, Exchange, Intent, Page, Patch, Pick, Run, Setting, Unit,
};
use qops::queue::{Cursor, Due, NewMessage, Order, Selection, State};
use std::time::Duration;

#[test]
fn no_call_leaves_a_transaction_open() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("q.db");
    let mut store = open(&path);
    let other = rusqlite::Connection::open(&path).unwrap();
    let still = |what: &str| {
        let (busy, log): (i64, i64) = other
            .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| {
                Ok((row.get(0)?, row.get(1)?))
            })
            .unwrap();
        assert_eq!((busy, log), (0, 0), "after {what}");
        // So that there is something in the log for the next one to hold on to.
        other
            .execute("UPDATE qops_queue SET created_at=created_at+1", [])
            .unwrap();
    };
    let a = queue("a");
    for n in 0..40 {
        put(store.as_mut(), "a", format!("{n}").as_bytes()).unwrap();
    }
    still("enqueue");
    let twins = ["k", "k"].map(|key| NewMessage {
        key: Some(key.into()),
        ..NewMessage::new(a.clone(), b"x".as_slice())
    });
    store
        .enqueue(&twins, Unit::Whole(qops::backend::Conflict::Refuse))
        .unwrap_err();
    still("a refused enqueue");
    let got = claim(store.as_mut(), "a", 5).unwrap();
    still("claim");
    done(store.as_mut(), &got).unwrap();
    still("done");
    let small = Claim {
        queue: &a,
        max: 20,
        bytes: 3,
        lease: Duration::from_mins(1),
        start: true,
        max_attempts: 7,
        pick: Pick::Ready,
    };
    let turn = Exchange {
        settle: &[],
        claim: Some(small),
    };
    store.exchange(&turn).unwrap().claimed.unwrap();
    still("a claim that stopped at its bytes");
    let what = Selection::of(a.clone());
    for order in [Order::Run, Order::Oldest] {
        let page = Page {
            bytes: 3,
            detail: Detail::History,
            ..Page::first(10, order)
        };
        assert!(store.peek(&what, &page).unwrap().next.is_some());
        still("a page of a look");
    }
    store.count(&what, 3).unwrap();
    still("count");
    for depth in [Depth::Names, Depth::Quick, Depth::Exact] {
        store.stats(None, depth).unwrap();
        still("stats");
    }
    let intent = Intent {
        verb: "requeue",
        who: "test",
        why: "",
    };
    let op = store.begin(&intent).unwrap();
    still("begin");
    let requeue = Change::Requeue {
        due: Due::Now,
        to: None,
        reset: false,
    };
    let ready = Selection {
        states: vec![State::Ready],
        ..what.clone()
    };
    for run in [Run::Dry, Run::Do] {
        let page = Page::first(3, Order::Oldest);
        store.change(&ready, &requeue, &op, &page, run).unwrap();
        still("change");
    }
    let set = Patch::Set(vec![Setting::MaxAttempts(Some(3))]);
    store.configure(&a, &set).unwrap();
    still("configure");
    store.configure(&a, &Patch::Remove).unwrap_err();
    still("a refused removal");
    store.tend(Chore::Sweep, Duration::from_secs(1)).unwrap();
    still("tend");
    store.examine().unwrap();
    still("examine");
    let mut bell = store.watch(&[a]).unwrap();
    still("watch");
    bell.wait(Duration::ZERO).unwrap();
    still("a bell's wait");
    store.migrate(Run::Dry).unwrap();
    store.migrate(Run::Do).unwrap();
    still("migrate");
}

#[test]
fn no_look_leaves_one_open_whether_it_is_refused_or_reads_every_message() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("q.db");
    let mut store = open(&path);
    put(store.as_mut(), "a", b"1").unwrap();
    let other = rusqlite::Connection::open(&path).unwrap();
    let still = |what: &str| {
        // Something in the log that a transaction left open would hold on to.
        other
            .execute("UPDATE qops_queue SET created_at=created_at+1", [])
            .unwrap();
        let busy: i64 = other
            .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0))
            .unwrap();
        assert_eq!(busy, 0, "after {what}");
    };
    let what = Selection {
        grep: Some("1".to_owned()),
        ..Selection::of(queue("a"))
    };
    assert_eq!(store.count(&what, 3).unwrap().n, 1);
    still("a count");
    let nowhere = Cursor::from("nowhere".to_owned());
    let page = Page {
        after: Some(&nowhere),
        ..Page::first(10, Order::Run)
    };
    store.peek(&what, &page).unwrap_err();
    still("a look that was refused");
    let unknown = Selection::of(queue("b"));
    store
        .peek(&unknown, &Page::first(10, Order::Run))
        .unwrap_err();
    still("a look at no queue");
}
