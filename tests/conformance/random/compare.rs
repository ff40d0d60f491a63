//! Two stores' answers in one form: ids are the model's, times are whole minutes from the beginning of the sequence.

use qops::backend::{Claimed, QueueReport};
use qops::queue::{Attempt, Delivery, Message, MessageId, Open, State, Timestamp};
use std::collections::BTreeMap;
use std::time::Duration;

/// How one of the two is read.
#[derive(Default)]
pub struct Reader {
    /// From its ids to the model's.
    pub ids: BTreeMap<MessageId, MessageId>,
    pub start: i64,
}

const MINUTE: i64 = 60_000_000;

/// To the nearest minute: a sequence takes less than half of one.
fn round(micros: i64) -> i64 {
    (micros + MINUTE / 2).div_euclid(MINUTE)
}

pub fn round_age(age: Duration) -> i64 {
    round(i64::try_from(age.as_micros()).expect("a short time"))
}

impl Reader {
    pub fn id(&self, id: &MessageId) -> MessageId {
        self.ids
            .get(id)
            .cloned()
            .unwrap_or_else(|| MessageId::from(format!("unknown {id}")))
    }

    fn time(&self, time: Timestamp) -> Timestamp {
        Timestamp(round(time.0 - self.start))
    }

    fn maybe(&self, time: Option<Timestamp>) -> Option<Timestamp> {
        time.map(|time| self.time(time))
    }

    pub fn message(&self, message: Message) -> Message {
        let dead = message.state == State::Dead;
        Message {
            id: self.id(&message.id),
            enqueued_at: self.time(message.enqueued_at),
            // A store need not keep it for a dead letter.
            ready_at: self.maybe(message.ready_at.filter(|_| !dead)),
            expires_at: self.maybe(message.expires_at.filter(|_| !dead)),
            lease_until: self.maybe(message.lease_until),
            started_at: self.maybe(message.started_at),
            died_at: self.maybe(message.died_at),
            history: message
                .history
                .into_iter()
                .map(|run| Attempt {
                    started_at: self.time(run.started_at),
                    // How long a run without an end took is the store's guess.
                    took: run.took.filter(|_| run.error.is_some()),
                    ..run
                })
                .collect(),
            ..message
        }
    }

    pub fn messages(&self, messages: Vec<Message>) -> Vec<Message> {
        messages
            .into_iter()
            .map(|message| self.message(message))
            .collect()
    }

    /// All that a delivery says but its receipt, which only its own store can read.
    pub fn delivery(&self, got: &Delivery) -> (Message, u64, Option<Open>) {
        let doubt = got.doubt.as_ref().map(|open| Open {
            started_at: self.time(open.started_at),
            worker: open.worker.clone(),
        });
        (self.message(got.message.clone()), got.fence, doubt)
    }

    /// Letters that another claim holds, and until when.
    pub fn held(&self, held: &[(MessageId, Timestamp)]) -> String {
        let held = held.iter().map(|(id, end)| (self.id(id), self.time(*end)));
        format!("{:?}", held.collect::<Vec<_>>())
    }

    /// All that a claim says but its cursor.
    pub fn claimed(&self, claimed: &Claimed) -> String {
        let got: Vec<_> = claimed.got.iter().map(|got| self.delivery(got)).collect();
        let mut buried: Vec<_> = claimed
            .buried
            .iter()
            .map(|(id, reason)| (self.id(id), *reason))
            .collect();
        buried.sort();
        let next = claimed.next.map(round_age);
        let held = self.held(&claimed.held);
        format!("{got:#?} {buried:?} {} {next:?} {held}", claimed.paused)
    }

    pub fn reports(reports: &[QueueReport]) -> String {
        let all: Vec<_> = reports
            .iter()
            .map(|report| {
                (
                    &report.queue,
                    &report.settings,
                    report.counts,
                    report.oldest_ready.map(round_age),
                    report.expired_leases,
                )
            })
            .collect();
        format!("{all:#?}")
    }
}

/// What the two say, side by side, where they part.
pub fn same(what: &str, store: &str, model: &str) -> Result<(), String> {
    if store == model {
        return Ok(());
    }
    let lines = store.lines().zip(model.lines());
    let differing: Vec<String> = lines
        .filter(|(a, b)| a != b)
        .take(12)
        .map(|(a, b)| format!("    store: {}\n    model: {}", a.trim(), b.trim()))
        .collect();
    Err(format!(
        "{what}\n{}\n  the whole store:\n{store}\n  the whole model:\n{model}",
        differing.join("\n")
    ))
}
