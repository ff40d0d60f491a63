use super::super::{
    Access, Backend, Change, Claim, Claimed, Detail, Error, Exchange, Kind, Op, OpenOptions, Page,
    Pick, Run, Settle, Settled, Target, Unit, Verdict, registry,
};
use super::conn::Store;
use super::place::network_filesystem;
use crate::queue::{
    Cursor, Enqueued, NewMessage, Order, QueueName, Receipt, Selection, Skew, State,
};
use rusqlite::StatementStatus;
use std::path::Path;
use std::time::Duration;

fn target(path: &Path, query: &str) -> Target {
    Target::parse(&format!("sqlite:{}{query}", path.display()), Path::new("/")).unwrap()
}

fn options(access: Access) -> OpenOptions {
    OpenOptions {
        access,
        identity: "test:1".to_owned(),
        skew: Skew::default(),
    }
}

fn open(path: &Path) -> Box<dyn Backend> {
    registry::open(&target(path, ""), &options(Access::Write))
        .unwrap()
        .backend
}

#[test]
fn a_message_goes_round() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(&folder.path().join("q.db"));
    let queue = QueueName::parse("jobs").unwrap();
    let batch = [
        NewMessage::new(queue.clone(), b"one".as_slice()),
        NewMessage::new(queue.clone(), b"two".as_slice()),
    ];
    let ids = store.enqueue(&batch, Unit::Each).unwrap();
    assert!(matches!(&ids[..], [Enqueued::New(_), Enqueued::New(_)]));
    let claim = Claim {
        queue: &queue,
        max: 10,
        bytes: 1 << 20,
        lease: Duration::from_mins(1),
        start: false,
        max_attempts: 7,
        pick: Pick::Ready,
    };
    let got = store
        .exchange(&Exchange {
            settle: &[],
            claim: Some(claim),
        })
        .unwrap()
        .claimed
        .unwrap()
        .got;
    assert_eq!(
        got.iter()
            .map(|one| one.message.payload.as_slice())
            .collect::<Vec<_>>(),
        [b"one", b"two"]
    );
    let receipts: Vec<&Receipt> = got.iter().map(|one| &one.receipt).collect();
    let done: Vec<Settle<'_>> = receipts
        .iter()
        .map(|receipt| Settle {
            receipt,
            verdict: Verdict::Done,
            end: None,
        })
        .collect();
    let settled = store
        .exchange(&Exchange {
            settle: &done,
            claim: None,
        })
        .unwrap()
        .settled;
    assert_eq!(settled, [Settled::Yes, Settled::Yes]);
    let again = store
        .exchange(&Exchange {
            settle: &done,
            claim: None,
        })
        .unwrap()
        .settled;
    assert_eq!(again, [Settled::Gone, Settled::Gone]);
}

/// A handle on a disk of another machine.
fn open_far(path: &Path, query: &str, access: Access) -> Result<Store, Error> {
    let nfs = |_: &Path| Some(0x6969);
    Store::open_on(&target(path, query), &options(access), nfs).map(|(store, _)| store)
}

#[test]
fn r54_no_log_on_another_machines_disk() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("new/q.db");
    for access in [Access::Write, Access::Init, Access::Plan] {
        let error = open_far(&path, "", access).err().unwrap();
        assert_eq!(error.kind(), Kind::Schema, "{error}");
        assert!(
            error.what().contains("NFS")
                && error
                    .hinted()
                    .unwrap()
                    .to_string()
                    .contains("?journal=delete"),
            "{error}"
        );
    }
    assert!(!folder.path().join("new").exists(), "something was made");
    open_far(&path, "?journal=delete", Access::Write).unwrap();
    open_far(&path, "?journal=delete", Access::Read).unwrap();
}

#[test]
fn r54_what_the_url_says_does_not_hide_a_log_that_is_there() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("app.db");
    let app = rusqlite::Connection::open(&path).unwrap();
    app.execute_batch("PRAGMA journal_mode=WAL; CREATE TABLE payment(id)")
        .unwrap();
    for access in [Access::Init, Access::Plan] {
        let error = open_far(&path, "?journal=delete", access).err().unwrap();
        assert_eq!(error.kind(), Kind::Schema, "{access:?}: {error}");
        assert!(error.what().contains("NFS"), "{error}");
    }
}

#[test]
fn disks_are_told_apart_by_the_kernels_numbers() {
    for local in [
        0xef53,
        0x5846_5342,
        0x9123_683e,
        0x0102_1994,
        0x794c_7630,
        0x2fc1_2fc1,
    ] {
        assert_eq!(network_filesystem(local), None, "{local:x}");
    }
    for far in [
        0x6969,
        0xff53_4d42,
        0xfe53_4d42,
        0x517b,
        0x6573_5546,
        0x0102_1997,
        0x786f_4256,
    ] {
        assert!(network_filesystem(far).is_some(), "{far:x}");
    }
}

/// A store with so many dead letters of a size, each with a run whose stderr is as large.
fn with_letters(path: &Path, many: i64, size: i64) -> Store {
    let (store, _) = Store::open(&target(path, ""), &options(Access::Write)).unwrap();
    let script = "INSERT INTO qops_queue(name, created_at) VALUES('q', 0);
         CREATE TEMP TABLE n AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<MANY) SELECT i FROM n;
         INSERT INTO qops_dead(id, queue_id, died_at, reason, priority, ready_at, enqueued_at, attempts, deferrals, deliveries, replays, payload)
         SELECT i, 1, i, 'attempts', 0, 0, 0, 1, 0, 1, 0, zeroblob(SIZE) FROM n;
         INSERT INTO qops_attempt(message_id, delivery, attempt, started_at, worker, outcome, stderr)
         SELECT i, 1, 1, 0, 'w', 'failed', zeroblob(SIZE) FROM n;
         DROP TABLE n;";
    let script = script
        .replace("MANY", &many.to_string())
        .replace("SIZE", &size.to_string());
    store.conn.execute_batch(&script).unwrap();
    store
}

/// How many letters were read whole, since this was asked last.
fn read_whole(store: &Store) -> i32 {
    let statement = store.conn.prepare_cached(sql!("letter_get")).unwrap();
    statement.reset_status(StatementStatus::Run)
}

fn grep(text: &str) -> Selection {
    Selection {
        states: vec![State::Dead],
        grep: Some(text.to_owned()),
        ..Selection::of(QueueName::parse("q").unwrap())
    }
}

fn claim_dead(
    store: &mut Store,
    settle: &[Settle<'_>],
    what: &Selection,
    after: Option<&Cursor>,
) -> Claimed {
    let queue = QueueName::parse("q").unwrap();
    let claim = Claim {
        queue: &queue,
        max: 100,
        bytes: 8 << 20,
        lease: Duration::from_mins(1),
        start: false,
        max_attempts: 7,
        pick: Pick::Dead { what, after },
    };
    let turn = Exchange {
        settle,
        claim: Some(claim),
    };
    store.exchange(&turn).unwrap().claimed.unwrap()
}

/// Whatever a filter passes over: a claim holds the lock of the writer.
#[test]
fn a_claim_of_letters_looks_at_a_bounded_number_and_reads_a_bounded_number_of_bytes() {
    let stale = Receipt::from("1.1.0000000000000000");
    let settle = [Settle {
        receipt: &stale,
        verdict: Verdict::Done,
        end: None,
    }];
    // A thousand rows, or the message with which a megabyte is full.
    for (many, size, most) in [(3_500, 10, 1_000), (100, 100_000, 11)] {
        // A claim alone looks without the lock first; one beside a settle has it from the beginning.
        for settle in [&[][..], &settle] {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("q.db");
            let mut store = with_letters(&path, many, size);
            let other = rusqlite::Connection::open(&path).unwrap();
            let what = grep("no such text");
            let (mut after, mut pages, mut all) = (None, 0, 0);
            loop {
                read_whole(&store);
                let claimed = claim_dead(&mut store, settle, &what, after.as_ref());
                let read = read_whole(&store);
                assert!(read <= most, "{read} of {many}");
                assert!(claimed.got.is_empty());
                (after, pages, all) = (claimed.cursor, pages + 1, all + read);
                // Others write between two pages.
                other
                    .execute("UPDATE qops_queue SET created_at=created_at+1", [])
                    .unwrap();
                if after.is_none() {
                    break;
                }
            }
            assert_eq!(i64::from(all), many);
            assert!(pages > 3, "{pages}");
        }
    }
}

#[test]
fn a_claim_that_passes_over_all_it_sees_takes_no_lock() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("q.db");
    let mut store = with_letters(&path, 50, 10);
    let other = rusqlite::Connection::open(&path).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let claimed = claim_dead(&mut store, &[], &grep("no such text"), None);
    assert!(claimed.got.is_empty() && claimed.cursor.is_none());
    other.execute_batch("ROLLBACK").unwrap();
    let what = Selection {
        grep: None,
        ..grep("")
    };
    assert_eq!(claim_dead(&mut store, &[], &what, None).got.len(), 50);
    let held = claim_dead(&mut store, &[], &what, None).held;
    assert_eq!(held.len(), 50);
}

/// What a change reads for a filter is bounded in bytes: it holds the lock, too.
#[test]
fn a_change_reads_a_bounded_number_of_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = with_letters(&folder.path().join("q.db"), 100, 100_000);
    let change = Change::Purge { free_keys: true };
    let op = Op {
        id: crate::queue::OpId(1),
        at: store.now(),
    };
    for text in ["no such text", "\0"] {
        read_whole(&store);
        let page = Page::first(1_000, Order::Oldest);
        let changed = store
            .change(&grep(text), &change, &op, &page, Run::Do)
            .unwrap();
        assert!(changed.next.is_some());
        assert_eq!(read_whole(&store), 11);
    }
}

/// A page whose histories are large reads hardly more messages than it keeps.
#[test]
fn a_page_of_histories_reads_what_it_keeps() {
    let folder = tempfile::tempdir().unwrap();
    let store = with_letters(&folder.path().join("q.db"), 300, 1_000);
    let what = Selection {
        grep: None,
        ..grep("")
    };
    let page = Page {
        bytes: 20_000,
        detail: Detail::History,
        ..Page::first(200, Order::Oldest)
    };
    read_whole(&store);
    let peeked = super::look::peek(&store, &what, &page).unwrap();
    assert_eq!(peeked.rows.len(), 10);
    assert_eq!(peeked.rows[9].history[0].stderr.len(), 1_000);
    assert_eq!(read_whole(&store), 11);
}
