//! The desk at which a case works: a store, a handle, and the moves in one line each.

use crate::support::stage::Store;
use qops::backend::{
    Backend, Change, Changed, Claim, Claimed, Depth, Detail, Exchange, Exchanged, Intent, Op, Page,
    Patch, Peeked, Pick, QueueReport, Run, Setting, Settle, Settled, Unit, Verdict,
};
use qops::queue::{
    Cursor, Delivery, Due, End, Enqueued, Group, Message, MessageId, NewMessage, Order, Outcome,
    QueueCounts, QueueName, Reason, Receipt, Selection, State,
};
use std::time::Duration;

/// Times in cases are whole minutes: a store on the machine's clock goes on by milliseconds meanwhile.
pub const MINUTE: Duration = Duration::from_mins(1);

pub struct Desk<'a> {
    pub store: &'a dyn Store,
    pub db: Box<dyn Backend>,
}

pub fn q(name: &str) -> QueueName {
    QueueName::parse(name).expect("a good name")
}

/// A message with nothing but a payload.
pub fn plain<'a>(queue: &str, payload: &'a str) -> NewMessage<'a> {
    NewMessage::new(q(queue), payload.as_bytes())
}

pub fn keyed<'a>(queue: &str, payload: &'a str, key: &'a str) -> NewMessage<'a> {
    NewMessage {
        key: Some(key.into()),
        ..plain(queue, payload)
    }
}

pub fn grouped<'a>(queue: &str, payload: &'a str, group: &str) -> NewMessage<'a> {
    NewMessage {
        group: Some(Group::from(group)),
        ..plain(queue, payload)
    }
}

pub fn end(outcome: Outcome, error: &str) -> End {
    End {
        outcome,
        exit: Some(1),
        signal: None,
        took: Duration::from_millis(250),
        error: error.to_owned(),
        stderr: error.as_bytes().to_vec(),
    }
}

pub fn new_id(enqueued: &Enqueued) -> MessageId {
    match enqueued {
        Enqueued::New(id) => id.clone(),
        Enqueued::Duplicate(id) => panic!("a duplicate of {id}"),
    }
}

/// Dead letters of a queue.
pub fn dead_of(queue: &str) -> Selection {
    Selection {
        states: vec![State::Dead],
        ..Selection::of(q(queue))
    }
}

pub const ALL_FREE: Change<'static> = Change::Purge { free_keys: true };

pub const REPLAY: Change<'static> = Change::Requeue {
    due: Due::Now,
    to: None,
    reset: true,
};

impl<'a> Desk<'a> {
    pub fn at(store: &'a dyn Store) -> Self {
        Self {
            store,
            db: store.open("w1"),
        }
    }

    /// The same store through another handle.
    pub fn other(&self, identity: &str) -> Desk<'a> {
        Desk {
            store: self.store,
            db: self.store.open(identity),
        }
    }

    pub fn put(&mut self, new: NewMessage<'_>) -> MessageId {
        new_id(&self.put_all(&[new])[0])
    }

    pub fn put_all(&mut self, batch: &[NewMessage<'_>]) -> Vec<Enqueued> {
        self.db.enqueue(batch, Unit::Each).expect("an enqueue")
    }

    pub fn exchange(&mut self, settle: &[Settle<'_>], claim: Option<Claim<'_>>) -> Exchanged {
        self.db
            .exchange(&Exchange { settle, claim })
            .expect("an exchange")
    }

    /// Claims with whatever `ask` makes of an ordinary claim: up to 100, for a minute, not started, 3 attempts.
    pub fn claim_as(&mut self, queue: &str, ask: impl FnOnce(&mut Claim<'_>)) -> Claimed {
        let queue = q(queue);
        let mut claim = ordinary(&queue);
        ask(&mut claim);
        self.exchange(&[], Some(claim)).claimed.expect("a claim")
    }

    pub fn claim_all(&mut self, queue: &str) -> Vec<Delivery> {
        self.claim_as(queue, |_| {}).got
    }

    /// Claims one message that must be there.
    pub fn take(&mut self, queue: &str) -> Delivery {
        let mut got = self.claim_as(queue, |claim| claim.max = 1).got;
        got.pop().expect("a message to claim")
    }

    /// Claims one message that must be there, as a start.
    pub fn start(&mut self, queue: &str) -> Delivery {
        let mut got = self.claim_as(queue, |claim| (claim.max, claim.start) = (1, true));
        got.got.pop().expect("a message to claim")
    }

    pub fn claim_dead(
        &mut self,
        queue: &str,
        max: usize,
        what: &Selection,
        after: Option<&Cursor>,
    ) -> Claimed {
        let queue = q(queue);
        let claim = Claim {
            max,
            pick: Pick::Dead { what, after },
            ..ordinary(&queue)
        };
        self.exchange(&[], Some(claim)).claimed.expect("a claim")
    }

    pub fn settle(&mut self, receipt: &Receipt, verdict: Verdict) -> Settled {
        self.settle_end(receipt, verdict, None)
    }

    pub fn settle_end(
        &mut self,
        receipt: &Receipt,
        verdict: Verdict,
        end: Option<&End>,
    ) -> Settled {
        let settle = [Settle {
            receipt,
            verdict,
            end,
        }];
        let mut exchanged = self.exchange(&settle, None);
        exchanged.settled.pop().expect("one answer")
    }

    /// A settle that must take.
    pub fn sure(&mut self, delivery: &Delivery, verdict: Verdict) {
        assert_eq!(
            self.settle(&delivery.receipt, verdict),
            Settled::Yes,
            "{verdict:?}"
        );
    }

    pub fn sure_end(&mut self, delivery: &Delivery, verdict: Verdict, end: &End) {
        assert_eq!(
            self.settle_end(&delivery.receipt, verdict, Some(end)),
            Settled::Yes,
            "{verdict:?}"
        );
    }

    /// Makes a dead letter: one started run that ended so.
    pub fn kill(&mut self, new: NewMessage<'_>, error: &str) -> MessageId {
        let queue = new.queue.clone();
        let id = self.put(new);
        let delivery = self.start(queue.as_str());
        assert_eq!(delivery.message.id, id, "nothing else is ready");
        self.sure_end(
            &delivery,
            Verdict::Dead(Reason::Permanent),
            &end(Outcome::Permanent, error),
        );
        id
    }

    /// A whole walk with pages like this one.
    pub fn walk(&mut self, what: &Selection, page: Page<'_>) -> Peeked {
        let mut all = Peeked::default();
        let mut after: Option<Cursor> = None;
        for _ in 0..100_000 {
            let after_here = after.as_ref();
            let page = Page {
                after: after_here,
                ..page
            };
            let peeked = self.db.peek(what, &page).expect("a look");
            all.rows.extend(peeked.rows);
            all.gone.extend(peeked.gone);
            match peeked.next {
                Some(next) => after = Some(next),
                None => return all,
            }
        }
        panic!("a walk without an end")
    }

    /// Everything that is meant, in order, with its history.
    pub fn list(&mut self, what: &Selection, order: Order) -> Vec<Message> {
        let page = Page {
            detail: Detail::History,
            ..Page::first(1_000, order)
        };
        self.walk(what, page).rows
    }

    /// A queue as it will run, then its dead letters, the latest first.
    pub fn all(&mut self, queue: &str) -> Vec<Message> {
        self.list(&Selection::of(q(queue)), Order::Run)
    }

    /// One message with its history, if it is here.
    pub fn find(&mut self, id: &MessageId) -> Option<Message> {
        let what = Selection {
            ids: Some(vec![id.clone()]),
            ..Selection::default()
        };
        self.list(&what, Order::Run).pop()
    }

    pub fn get(&mut self, id: &MessageId) -> Message {
        self.find(id).expect("a message that is here")
    }

    pub fn op(&mut self) -> Op {
        begin(&mut *self.db)
    }

    /// A whole change, chunk by chunk.
    pub fn change_by(
        &mut self,
        rows: usize,
        what: &Selection,
        change: &Change<'_>,
        run: Run,
    ) -> Changed {
        let op = self.op();
        let mut all = Changed::default();
        let mut after: Option<Cursor> = None;
        for _ in 0..100_000 {
            let page = Page {
                after: after.as_ref(),
                ..Page::first(rows, Order::Oldest)
            };
            let changed = self
                .db
                .change(what, change, &op, &page, run)
                .expect("a change");
            assert!(changed.done.len() + changed.skipped.len() <= rows);
            all.done.extend(changed.done);
            all.skipped.extend(changed.skipped);
            match changed.next {
                Some(next) => after = Some(next),
                None => return all,
            }
        }
        panic!("a change without an end")
    }

    pub fn change(&mut self, what: &Selection, change: &Change<'_>) -> Changed {
        self.change_by(1_000, what, change, Run::Do)
    }

    pub fn report(&mut self, queue: &str) -> QueueReport {
        let queues = [q(queue)];
        let mut reports = self
            .db
            .stats(Some(&queues), Depth::Exact)
            .expect("a report");
        assert!(reports[0].exact);
        reports.remove(0)
    }

    pub fn counts(&mut self, queue: &str) -> QueueCounts {
        self.report(queue).counts
    }

    pub fn set(&mut self, queue: &str, setting: Setting) {
        self.db
            .configure(&q(queue), &Patch::Set(vec![setting]))
            .expect("a setting");
    }

    pub fn advance(&self, minutes: u32) {
        self.store.advance(MINUTE * minutes);
    }
}

pub fn begin(db: &mut dyn Backend) -> Op {
    let intent = Intent {
        verb: "test",
        who: "suite",
        why: "",
    };
    db.begin(&intent).expect("an operation")
}

fn ordinary(queue: &QueueName) -> Claim<'_> {
    Claim {
        queue,
        max: 100,
        bytes: 1 << 30,
        lease: MINUTE,
        start: false,
        max_attempts: 3,
        pick: Pick::Ready,
    }
}

pub fn ids(messages: &[Message]) -> Vec<MessageId> {
    messages.iter().map(|message| message.id.clone()).collect()
}

/// The payloads of deliveries, as text.
pub fn texts(got: &[Delivery]) -> Vec<&str> {
    got.iter()
        .map(|delivery| std::str::from_utf8(&delivery.message.payload).expect("a text"))
        .collect()
}
