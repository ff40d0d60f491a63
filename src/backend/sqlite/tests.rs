use super::super::{
    Access, Backend, Claim, Exchange, OpenOptions, Pick, Settle, Settled, Target, Unit, Verdict,
    registry,
};
use crate::queue::{Enqueued, NewMessage, QueueName, Receipt, Skew};
use std::path::Path;
use std::time::Duration;

fn open(path: &Path) -> Box<dyn Backend> {
    let target = Target::parse(&format!("sqlite:{}", path.display()), Path::new("/")).unwrap();
    let options = OpenOptions {
        access: Access::Write,
        identity: "test:1".to_owned(),
        skew: Skew::default(),
    };
    registry::open(&target, &options).unwrap().backend
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
