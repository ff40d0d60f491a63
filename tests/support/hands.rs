//! What a test does with a file, in a word each.

use qops::backend::{
    Access, Backend, Claim, Error, Exchange, OpenOptions, Pick, Settle, Settled, Target, Unit,
    Verdict, registry,
};
use qops::queue::{Delivery, Enqueued, MessageId, NewMessage, QueueName, Skew};
use std::path::Path;
use std::time::Duration;

/// What a URL means.
pub fn target(url: &str) -> Target {
    Target::parse(url, Path::new("/")).unwrap()
}

/// How a test opens.
pub fn options(access: Access) -> OpenOptions {
    OpenOptions {
        access,
        identity: "test:1".to_owned(),
        skew: Skew::default(),
    }
}

/// A handle to the store of a URL.
pub fn open_url(url: &str, access: Access) -> Result<Box<dyn Backend>, Error> {
    registry::open(&target(url), &options(access)).map(|opened| opened.backend)
}

/// A writing handle to a file.
pub fn open(path: &Path) -> Box<dyn Backend> {
    open_url(&format!("sqlite:{}", path.display()), Access::Write).unwrap()
}

/// A queue's name.
pub fn queue(name: &str) -> QueueName {
    QueueName::parse(name).unwrap()
}

/// Puts one message in.
pub fn put(store: &mut dyn Backend, name: &str, payload: &[u8]) -> Result<MessageId, Error> {
    let answer = store.enqueue(&[NewMessage::new(queue(name), payload)], Unit::Each)?;
    match answer.into_iter().next() {
        Some(Enqueued::New(id)) => Ok(id),
        other => panic!("{other:?}"),
    }
}

/// Claims for ten minutes, without a start.
pub fn claim(store: &mut dyn Backend, name: &str, max: usize) -> Result<Vec<Delivery>, Error> {
    let queue = queue(name);
    let claim = Claim {
        queue: &queue,
        max,
        bytes: 64 << 20,
        lease: Duration::from_mins(10),
        start: false,
        max_attempts: 7,
        pick: Pick::Ready,
    };
    store
        .exchange(&Exchange {
            settle: &[],
            claim: Some(claim),
        })?
        .claimed
        .map(|claimed| claimed.got)
}

/// Says that these are done.
pub fn done(store: &mut dyn Backend, got: &[Delivery]) -> Result<Vec<Settled>, Error> {
    let settle: Vec<Settle<'_>> = got
        .iter()
        .map(|one| Settle {
            receipt: &one.receipt,
            verdict: Verdict::Done,
            end: None,
        })
        .collect();
    Ok(store
        .exchange(&Exchange {
            settle: &settle,
            claim: None,
        })?
        .settled)
}
