use super::super::{
    Access, Backend, Claim, Error, Exchange, Kind, OpenOptions, Pick, Settle, Settled, Target,
    Unit, Verdict, registry,
};
use super::conn::Store;
use super::place::network_filesystem;
use crate::queue::{Enqueued, NewMessage, QueueName, Receipt, Skew};
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
