//! What is found by an index while it is small, and by the walk when it is large.

use super::{open, put, queue};
use qops::backend::{Backend, Change, Detail, Intent, Page, Run};
use qops::queue::{Group, MessageId, Order, Selection, State};
use std::path::Path;

/// More members than a walk gathers by their index.
const MANY: u32 = 21_000;

/// A group of many, and a message of no group between every two.
fn fill(path: &Path) -> Box<dyn Backend> {
    let mut store = open(path);
    put(store.as_mut(), "a", b"the first").unwrap();
    let conn = rusqlite::Connection::open(path).unwrap();
    let script = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<?1)
         INSERT INTO qops_message(queue_id, state, ready_at, enqueued_at, group_key, payload)
         SELECT 1, CASE WHEN i%2=0 AND i>2 THEN 2 ELSE 0 END, 0, 0, CASE WHEN i%2=0 THEN 'g' END, 'x' FROM n";
    conn.execute(script, [2 * MANY]).unwrap();
    store
}

fn members() -> Selection {
    Selection {
        group: Some(Group::from("g".to_owned())),
        states: vec![State::Ready, State::Blocked],
        ..Selection::of(queue("a"))
    }
}

fn seen(store: &mut dyn Backend, order: Order, reverse: bool) -> Vec<MessageId> {
    let mut seen = vec![];
    let mut after = None;
    loop {
        let page = Page {
            after: after.as_ref(),
            reverse,
            ..Page::first(2_000, order)
        };
        let peeked = store.peek(&members(), &page).unwrap();
        seen.extend(peeked.rows.into_iter().map(|message| message.id));
        after = peeked.next;
        if after.is_none() {
            return seen;
        }
    }
}

#[test]
fn every_member_of_a_large_group_is_seen_once() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = fill(&folder.path().join("q.db"));
    let all: Vec<MessageId> = (1..=MANY).map(|n| (1 + 2 * n).to_string().into()).collect();
    let count = store.count(&members(), u64::MAX - 1).unwrap();
    assert_eq!((count.n, count.exact), (u64::from(MANY), true));
    for order in [Order::Run, Order::Oldest] {
        assert!(seen(store.as_mut(), order, false) == all, "{order:?}");
        let mut back = seen(store.as_mut(), order, true);
        back.reverse();
        assert!(back == all, "{order:?}, from its other end");
    }
}

/// It is large when the walk begins and small when it ends: the walk goes on as it began.
#[test]
fn a_large_group_is_purged_whole_and_nothing_beside_it() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = fill(&folder.path().join("q.db"));
    let intent = Intent {
        verb: "purge",
        who: "test",
        why: "",
    };
    let op = store.begin(&intent).unwrap();
    let change = Change::Purge { free_keys: true };
    let (mut done, mut after) = (0, None);
    loop {
        let page = Page {
            after: after.as_ref(),
            ..Page::first(4_000, Order::Oldest)
        };
        let changed = store
            .change(&members(), &change, &op, &page, Run::Do)
            .unwrap();
        assert_eq!(changed.skipped, vec![]);
        done += changed.done.len();
        after = changed.next;
        if after.is_none() {
            break;
        }
    }
    assert_eq!(done, MANY as usize);
    assert_eq!(store.count(&members(), 9).unwrap().n, 0);
    let rest = store.count(&Selection::of(queue("a")), u64::MAX - 1);
    assert_eq!(rest.unwrap().n, u64::from(MANY) + 1);
}

/// What is kept of stderr is in memory as a payload is: a page of noisy histories is shorter, and nothing is left out.
#[test]
fn histories_count_as_bytes_of_a_page() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("q.db");
    let mut store = open(&path);
    for payload in ["a", "b", "c"] {
        put(store.as_mut(), "a", payload.as_bytes()).unwrap();
    }
    let conn = rusqlite::Connection::open(&path).unwrap();
    let script = "UPDATE qops_message SET deliveries=1;
        INSERT INTO qops_attempt(message_id, delivery, attempt, started_at, outcome, stderr)
          SELECT id, 1, 1, 0, 'failed', zeroblob(1000) FROM qops_message";
    conn.execute_batch(script).unwrap();
    let (mut pages, mut after) = (vec![], None);
    loop {
        let page = Page {
            after: after.as_ref(),
            bytes: 2_500,
            detail: Detail::History,
            ..Page::first(10, Order::Oldest)
        };
        let peeked = store.peek(&Selection::of(queue("a")), &page).unwrap();
        let told = |one: &qops::queue::Message| (one.id.to_string(), one.history.len());
        pages.push(peeked.rows.iter().map(told).collect::<Vec<_>>());
        match peeked.next {
            Some(next) => after = Some(next),
            None => break,
        }
    }
    let row = |id: &str| (id.to_owned(), 1);
    assert_eq!(pages, [vec![row("1"), row("2")], vec![row("3")]]);
}
