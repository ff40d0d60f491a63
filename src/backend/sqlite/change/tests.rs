//! What one statement does to many messages is what is done to each of them alone, whatever state they are in.

use super::super::super::{
    Access, Backend as _, Claim, Exchange, OpenOptions, Patch, Pick, Setting, Settle, Target, Unit,
    Verdict,
};
use super::*;
use crate::queue::retry::Window;
use crate::queue::{End, Group, NewMessage, Order, Outcome, Reason, Receipt, Skew, Ttl};
use fastrand::Rng;
use rusqlite::types::Value;
use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

fn queue(n: usize) -> QueueName {
    QueueName::parse(["a", "b", "c"][n]).unwrap()
}

fn minutes(n: u64) -> Duration {
    Duration::from_mins(n)
}

/// A store with messages in it.
struct Desk {
    store: Store,
    skew: Skew,
    receipts: Vec<Receipt>,
    random: Rng,
}

impl Desk {
    /// As some turns of work leave it.
    fn at_random(folder: &Path, seed: u64) -> Self {
        let path = folder.join(format!("{seed}.db"));
        let text = format!("sqlite:{}?durability=normal", path.display());
        let skew = Skew::movable();
        let options = OpenOptions {
            access: Access::Write,
            identity: "test:1".to_owned(),
            skew: skew.clone(),
        };
        let target = Target::parse(&text, Path::new("/")).unwrap();
        let (store, _) = Store::open(&target, &options).unwrap();
        let mut desk = Self {
            store,
            skew,
            receipts: vec![],
            random: Rng::with_seed(seed),
        };
        let window = [
            None,
            Some(Window::Forever),
            Some(Window::For(minutes(6))),
            Some(Window::For(Duration::ZERO)),
        ][desk.random.usize(0..4)];
        let setting = Patch::Set(vec![Setting::DedupWindow(window)]);
        for n in 0..2 {
            desk.store.configure(&queue(n), &setting).unwrap();
        }
        for _ in 0..50 {
            desk.turn();
        }
        desk
    }

    fn turn(&mut self) {
        match self.random.u32(0..8) {
            0..=2 => {
                let batch: Vec<_> = (0..6).map(|_| self.message()).collect();
                self.store.enqueue(&batch, Unit::Each).unwrap();
            }
            3..=4 => self.claim(),
            5..=6 => self.settle(),
            _ => self.skew.advance(minutes(self.random.u64(1..4))),
        }
    }

    fn message(&mut self) -> NewMessage<'static> {
        let random = &mut self.random;
        let payload = random.u32(..).to_string().into_bytes();
        let mut message = NewMessage::new(queue(random.usize(0..2)), payload);
        message.key = (random.u8(0..3) == 0).then(|| format!("k{}", random.u8(0..20)).into());
        message.group = (random.u8(0..4) == 0).then(|| format!("g{}", random.u8(0..3)).into());
        message.priority = random.i8(-1..2);
        if random.u8(0..3) == 0 {
            message.due = Due::After(minutes(random.u64(1..9)));
        }
        message.ttl = (random.u8(0..6) == 0).then(|| Ttl::After(minutes(random.u64(1..9))));
        message
    }

    fn claim(&mut self) {
        let name = queue(self.random.usize(0..2));
        let dead = Selection::of(name.clone());
        let claim = Claim {
            queue: &name,
            max: self.random.usize(1..6),
            bytes: 1 << 20,
            lease: minutes(self.random.u64(1..6)),
            start: self.random.bool(),
            max_attempts: 2,
            pick: if self.random.u8(0..4) == 0 {
                let (what, after) = (&dead, None);
                Pick::Dead { what, after }
            } else {
                Pick::Ready
            },
        };
        let turn = Exchange {
            settle: &[],
            claim: Some(claim),
        };
        let got = self.store.exchange(&turn).unwrap().claimed.unwrap().got;
        self.receipts.extend(got.into_iter().map(|got| got.receipt));
    }

    fn settle(&mut self) {
        let end = End {
            outcome: Outcome::Failed,
            exit: Some(1),
            signal: None,
            took: minutes(1),
            error: format!("error {}", self.random.u8(0..3)),
            stderr: vec![],
        };
        for _ in 0..self.receipts.len().min(4) {
            let at = self.random.usize(0..self.receipts.len());
            let receipt = self.receipts.swap_remove(at);
            let due = Due::After(minutes(self.random.u64(0..4)));
            let verdict = match self.random.u32(0..6) {
                0 => Verdict::Start,
                1 => Verdict::Release,
                2 => Verdict::Retry { due, charge: true },
                _ => Verdict::Dead(Reason::Attempts),
            };
            let settle = [Settle {
                receipt: &receipt,
                verdict,
                end: Some(&end),
            }];
            let turn = Exchange {
                settle: &settle,
                claim: None,
            };
            self.store.exchange(&turn).unwrap();
        }
    }

    fn selection(&mut self) -> Selection {
        let now = self.store.now();
        let random = &mut self.random;
        let mut what = Selection::of(queue(0));
        what.states = match random.u32(0..4) {
            0 => vec![],
            1 => State::ALL.to_vec(),
            2 => vec![State::Ready, State::Delayed],
            _ => vec![State::Dead],
        };
        match random.u32(0..12) {
            0 => what.key = Some(format!("k{}", random.u8(0..20))),
            1 => what.group = Some(Group::from(format!("g{}", random.u8(0..3)))),
            2 => what.until = Some(Timestamp(now.0 - 120_000_000)),
            3 => what.error = Some("error 1".to_owned()),
            4 => what.grep = Some("7".to_owned()),
            5 => what.skip_expired = true,
            6 => {
                what.ids = Some(
                    (1_u32..90)
                        .step_by(2)
                        .map(|n| n.to_string().into())
                        .collect(),
                );
            }
            _ => {}
        }
        what
    }
}

/// All that stands in the tables of a store.
fn dump(conn: &Connection) -> Vec<String> {
    let mut rows = vec![];
    for table in ["queue", "message", "dead", "dedup", "attempt"] {
        let text = format!("SELECT * FROM qops_{table} ORDER BY 1, 2");
        let mut statement = conn.prepare(&text).unwrap();
        let columns = statement.column_count();
        let found = statement.query_map([], |row| {
            let values = (0..columns).map(|n| row.get::<_, Value>(n));
            Ok(format!("{table} {:?}", values.collect::<Vec<_>>()))
        });
        rows.extend(found.unwrap().map(rusqlite::Result::unwrap));
    }
    rows
}

type Told = (Vec<MessageId>, Vec<(MessageId, String)>, Vec<String>);

/// Does it, and takes it back.
fn tried(work: &Work<'_>, act: impl FnOnce() -> Changed) -> Told {
    work.conn.execute_batch("BEGIN IMMEDIATE").unwrap();
    let changed = act();
    let held = dump(work.conn);
    work.conn.execute_batch("ROLLBACK").unwrap();
    (changed.done, changed.skipped, held)
}

/// Each message alone.
fn one_by_one(work: &Work<'_>, page: &Page<'_>) -> Changed {
    let walk = Walk {
        conn: work.conn,
        what: work.what,
        page,
        now: work.now,
        show: Show::Rest,
        vain: VAIN,
    };
    let mut changed = Changed::default();
    for message in walk.step(Some((work.queue, work.queue_id))).unwrap().rows {
        match work.one(&message).unwrap() {
            Ok(()) => changed.done.push(message.id),
            Err(why) => changed.skipped.push((message.id, why)),
        }
    }
    changed
}

/// What was changed together, in a word.
fn reached(work: &Work<'_>, page: &Page<'_>, into: &mut BTreeSet<String>) {
    let walk = Walk {
        conn: work.conn,
        what: work.what,
        page,
        now: work.now,
        show: Show::Rest,
        vain: VAIN,
    };
    let change = match work.change {
        Change::Requeue { to: None, .. } => "requeue",
        Change::Requeue { .. } => "transfer",
        Change::Purge { free_keys: true } => "purge and free",
        Change::Purge { .. } => "purge",
    };
    for message in walk.step(Some((work.queue, work.queue_id))).unwrap().rows {
        let ties = Ties::of(&message);
        let what = if work.goes_together(ties) {
            let dead = ties.state == State::Dead;
            let (key, run) = (ties.keyed, ties.delivered);
            format!("{change}: dead {dead} key {key} run {run}")
        } else {
            format!("{change}: alone")
        };
        into.insert(what);
    }
}

#[test]
fn together_is_as_one_by_one() {
    let folder = tempfile::tempdir().unwrap();
    let mut seen = BTreeSet::new();
    for seed in 0..60 {
        let mut desk = Desk::at_random(folder.path(), seed);
        for _ in 0..10 {
            let what = desk.selection();
            let to = queue(desk.random.usize(0..3));
            let change = if desk.random.bool() {
                Change::Purge {
                    free_keys: desk.random.bool(),
                }
            } else {
                Change::Requeue {
                    due: [Due::Now, Due::After(minutes(5))][desk.random.usize(0..2)],
                    to: desk.random.bool().then_some(&to),
                    reset: desk.random.bool(),
                }
            };
            let store = &desk.store;
            let work = Work {
                conn: &store.conn,
                what: &what,
                change: &change,
                now: store.now(),
                run: Run::Do,
                queue: &queue(0),
                queue_id: store.queue(&queue(0)).unwrap().id,
            };
            let page = Page::first(1_000, Order::Oldest);
            reached(&work, &page, &mut seen);
            let together = tried(&work, || work.page(&page).unwrap());
            let alone = tried(&work, || one_by_one(&work, &page));
            assert_eq!(together, alone, "seed {seed}: {what:?} {change:?}");
        }
    }
    // Two states of a message, four changes, with or without a key and a run behind it. A waiting message goes to no
    // other queue, and a letter's key may be taken there.
    let missing: Vec<String> = ["requeue", "transfer", "purge", "purge and free"]
        .into_iter()
        .flat_map(|change| {
            let states = [false, true].map(|dead| (change, dead));
            states
                .into_iter()
                .filter(|(change, dead)| *change != "transfer" || *dead)
        })
        .flat_map(|(change, dead)| {
            [(false, false), (false, true), (true, false), (true, true)]
                .into_iter()
                .filter(move |(key, _)| change != "transfer" || !key)
                .map(move |(key, run)| format!("{change}: dead {dead} key {key} run {run}"))
                .chain([format!("{change}: alone")])
        })
        .filter(|what| !seen.contains(what))
        .collect();
    assert_eq!(missing, Vec::<String>::new(), "never met: {seen:#?}");
}
