//! Deliveries for the worker's own tests.

use super::lease::{Lease, Moment};
use super::ledger::Job;
use crate::queue::{Delivery, Message, QueueName, State, Timestamp};
use std::time::Duration;

/// A first run of a fresh message, with a lease of five minutes.
pub(super) fn job(id: &str, payload: &[u8]) -> Job {
    Job {
        delivery: delivery(id, payload),
        lease: Lease::new(Moment::now(), Duration::from_mins(5)),
        lane: 0,
        attempt: 1,
        max_attempts: Some(7),
        marked: true,
        uncertain: false,
    }
}

/// A fresh message under a lease.
pub(super) fn delivery(id: &str, payload: &[u8]) -> Delivery {
    Delivery {
        message: Message {
            id: id.into(),
            queue: QueueName::parse("q").unwrap(),
            state: State::Running,
            payload: payload.to_vec(),
            attempts: 0,
            deferrals: 0,
            deliveries: 1,
            replays: 0,
            max_attempts: None,
            priority: 0,
            key: None,
            group: None,
            headers: vec![],
            enqueued_at: Timestamp(1_000_000),
            ready_at: Some(Timestamp(1_000_000)),
            expires_at: None,
            lease_until: Some(Timestamp(61_000_000)),
            worker: Some("test".into()),
            started_at: None,
            died_at: None,
            reason: None,
            last_error: None,
            history: vec![],
        },
        receipt: format!("{id}.1").into(),
        fence: 1,
        doubt: None,
    }
}
