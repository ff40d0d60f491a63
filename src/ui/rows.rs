//! The records of messages, as they are put out.

use super::stream::Row;
use crate::queue::record::Record;
use crate::queue::{Delivery, Message};

impl Row for Message {
    const FIELDS: &'static [&'static str] = &[
        "v",
        "id",
        "queue",
        "state",
        "payload",
        "payload_b64",
        "attempts",
        "max_attempts",
        "priority",
        "key",
        "group",
        "headers",
        "enqueued_at",
        "ready_at",
        "expires_at",
        "lease_until",
        "worker",
        "died_at",
        "reason",
        "last_error",
        "replays",
        "deferrals",
        "history",
    ];
    const NESTED: &'static [&'static str] = &["history"];

    fn record(&self) -> Record {
        Message::record(self)
    }

    fn id(&self) -> &str {
        self.id.as_str()
    }

    fn payload(&self) -> Option<&[u8]> {
        Some(&self.payload)
    }
}

impl Row for Delivery {
    const FIELDS: &'static [&'static str] = &[
        "v",
        "id",
        "queue",
        "state",
        "payload",
        "payload_b64",
        "attempts",
        "max_attempts",
        "priority",
        "key",
        "group",
        "headers",
        "enqueued_at",
        "ready_at",
        "expires_at",
        "lease_until",
        "worker",
        "last_error",
        "replays",
        "deferrals",
        "receipt",
    ];

    fn record(&self) -> Record {
        Delivery::record(self)
    }

    fn id(&self) -> &str {
        self.message.id.as_str()
    }

    fn payload(&self) -> Option<&[u8]> {
        Some(&self.message.payload)
    }
}
