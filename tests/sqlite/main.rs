//! What is true of SQLite alone: files and their modes, other programs at the same tables, query plans, a full disk.

mod disk;
mod files;
mod plans;
mod producers;
mod rights;
mod wake;

use qops::backend::{
    Access, Backend, Claim, Error, Exchange, OpenOptions, Pick, Settle, Settled, Target, Unit,
    Verdict, registry,
};
use qops::queue::{Delivery, Enqueued, MessageId, NewMessage, QueueName, Skew};
use std::path::Path;
use std::time::Duration;

fn target(url: &str) -> Target {
    Target::parse(url, Path::new("/")).unwrap()
}

fn options(access: Access) -> OpenOptions {
    OpenOptions {
        access,
        identity: "test:1".to_owned(),
        skew: Skew::default(),
    }
}

fn open_url(url: &str, access: Access) -> Result<Box<dyn Backend>, Error> {
    registry::open(&target(url), &options(access)).map(|opened| opened.backend)
}

fn open(path: &Path) -> Box<dyn Backend> {
    open_url(&format!("sqlite:{}", path.display()), Access::Write).unwrap()
}

fn queue(name: &str) -> QueueName {
    QueueName::parse(name).unwrap()
}

fn put(store: &mut dyn Backend, name: &str, payload: &[u8]) -> Result<MessageId, Error> {
    let answer = store.enqueue(&[NewMessage::new(queue(name), payload)], Unit::Each)?;
    match answer.into_iter().next() {
        Some(Enqueued::New(id)) => Ok(id),
        other => panic!("{other:?}"),
    }
}

fn claim(store: &mut dyn Backend, name: &str, max: usize) -> Result<Vec<Delivery>, Error> {
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

fn done(store: &mut dyn Backend, got: &[Delivery]) -> Result<Vec<Settled>, Error> {
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
