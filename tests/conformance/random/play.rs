//! Plays a step on both and compares.

use super::compare::{Reader, same};
use super::step::{
    ChangeStep, ClaimStep, Filter, Item, SettleStep, Step, VerdictStep, When, minutes,
};
use crate::desk::{Desk, end, q};
use crate::support::stage::{ModelStore, Store, every_feature};
use qops::backend::{
    Change, Changed, Chore, Claim, Claimed, Depth, Error, Exchange, Page, Patch, Pick, Run, Settle,
    Unit, Verdict,
};
use qops::queue::{
    Cursor, Due, Enqueued, Group, MessageId, NewMessage, Order, Outcome, QueueName, Receipt,
    Selection, Timestamp, Ttl,
};
use std::time::Duration;

/// One of the two.
struct Side {
    store: Box<dyn Store>,
    handles: Vec<Box<dyn qops::backend::Backend>>,
    reader: Reader,
    /// Of every delivery there was.
    receipts: Vec<Receipt>,
    /// Every id that was given, in order.
    ids: Vec<MessageId>,
}

impl Side {
    fn new(store: Box<dyn Store>) -> Self {
        let handles: Vec<_> = ["w0", "w1"].map(|who| store.open(who)).into();
        let mut side = Self {
            store,
            handles,
            reader: Reader::default(),
            receipts: vec![],
            ids: vec![],
        };
        side.reader.start = crate::desk::begin(&mut *side.handles[0]).at.0;
        side
    }

    /// The first handle at a desk.
    fn desk<T>(&mut self, act: impl FnOnce(&mut Desk<'_>) -> T) -> T {
        let db = self.handles.remove(0);
        let mut desk = Desk {
            store: &*self.store,
            db,
        };
        let answer = act(&mut desk);
        self.handles.insert(0, desk.db);
        answer
    }

    fn at(&self, after: Duration) -> Timestamp {
        Timestamp(self.reader.start).plus(after)
    }

    fn due(&self, when: When) -> Due {
        match when {
            When::Now => Due::Now,
            When::After(n) => Due::After(minutes(n)),
            When::At(n) => Due::At(self.at(minutes(n))),
        }
    }

    fn new_message<'a>(&self, item: &Item, payload: &'a [u8]) -> NewMessage<'a> {
        // A life that ends before its delay is refused.
        let least = match item.due {
            When::After(n) => n + 1,
            When::Now | When::At(_) => 1,
        };
        NewMessage {
            queue: queue(item.queue),
            payload: payload.into(),
            key: item.key.map(|key| format!("k{key}").into()),
            group: item.group.map(|group| Group::from(format!("g{group}"))),
            priority: item.priority,
            due: self.due(item.due),
            ttl: item.ttl.map(|when| match when {
                When::After(n) => Ttl::After(minutes(n.max(least))),
                When::At(n) => Ttl::At(self.at(minutes(n))),
                When::Now => Ttl::After(minutes(least)),
            }),
            max_attempts: item.max_attempts,
            headers: if item.header {
                vec![("a".into(), "1".into())]
            } else {
                vec![]
            },
        }
    }

    fn verdict(&self, step: VerdictStep) -> Verdict {
        match step {
            VerdictStep::Start => Verdict::Start,
            VerdictStep::Extend(n) => Verdict::Extend(minutes(n)),
            VerdictStep::Done => Verdict::Done,
            VerdictStep::Retry(when, charge) => {
                let due = self.due(when);
                Verdict::Retry { due, charge }
            }
            VerdictStep::Dead(reason) => Verdict::Dead(reason),
            VerdictStep::Release => Verdict::Release,
        }
    }

    fn selection(&self, name: u8, states: &[qops::queue::State], filter: &Filter) -> Selection {
        // Between two minutes, where nothing ever happens.
        let between = |n: u32| self.at(minutes(n)).plus(Duration::from_secs(30));
        Selection {
            queue: Some(queue(name)),
            ids: filter
                .ids
                .then(|| self.ids.iter().step_by(3).cloned().collect()),
            states: states.to_vec(),
            key: filter.key.map(|key| format!("k{key}")),
            group: filter.group.map(|group| Group::from(format!("g{group}"))),
            since: filter.since.map(between),
            until: filter.until.map(between),
            error: filter.error.map(|n| format!("error {n}")),
            grep: filter.grep.then(|| "7".to_owned()),
            skip_expired: filter.skip_expired,
        }
    }

    fn enqueue(&mut self, unit: Unit, items: &[Item], serial: usize) -> String {
        let payloads: Vec<Vec<u8>> = items
            .iter()
            .enumerate()
            .map(|(n, item)| format!("{serial}.{n}{}", "x".repeat(item.size)).into_bytes())
            .collect();
        let batch: Vec<NewMessage<'_>> = items
            .iter()
            .zip(&payloads)
            .map(|(item, payload)| self.new_message(item, payload))
            .collect();
        match self.handles[0].enqueue(&batch, unit) {
            Ok(answers) => {
                for answer in &answers {
                    if let Enqueued::New(id) = answer {
                        self.ids.push(id.clone());
                        let model = MessageId::from(format!("#{}", self.ids.len()));
                        self.reader.ids.insert(id.clone(), model);
                    }
                }
                let said: Vec<String> = answers
                    .iter()
                    .map(|answer| match answer {
                        Enqueued::New(id) => format!("new {}", self.reader.id(id)),
                        Enqueued::Duplicate(id) => format!("duplicate {}", self.reader.id(id)),
                    })
                    .collect();
                format!("{said:?}")
            }
            Err(error) => {
                // The id of a message that was never stored names nothing.
                format!("{:?} {:?}", error.kind(), error.context("line"))
            }
        }
    }

    fn exchange(
        &mut self,
        who: usize,
        settles: &[SettleStep],
        claim: Option<&ClaimStep>,
    ) -> String {
        let ends: Vec<_> = (0..settles.len())
            .map(|n| end(Outcome::Failed, &format!("error {n}")))
            .collect();
        let receipts = self.receipts.clone();
        let settle: Vec<Settle<'_>> = settles
            .iter()
            .zip(&ends)
            .filter_map(|(step, end)| {
                let at = receipts.len().checked_sub(step.back + 1)?;
                Some(Settle {
                    receipt: &receipts[at],
                    verdict: self.verdict(step.verdict),
                    end: step.end.then_some(end),
                })
            })
            .collect();
        let name = queue(claim.map_or(0, |claim| claim.queue));
        let what = claim
            .and_then(|claim| claim.dead.as_ref())
            .map(|filter| self.selection(claim.map_or(0, |c| c.queue), &DEAD, filter));
        let claim = claim.map(|claim| Claim {
            queue: &name,
            max: claim.max,
            bytes: claim.bytes,
            lease: minutes(claim.lease),
            start: claim.start,
            max_attempts: claim.max_attempts,
            pick: match &what {
                Some(what) => Pick::Dead { what, after: None },
                None => Pick::Ready,
            },
        });
        let turn = Exchange {
            settle: &settle,
            claim,
        };
        match self.handles[who].exchange(&turn) {
            Ok(exchanged) => {
                let claimed = match &exchanged.claimed {
                    Ok(claimed) => self
                        .reader
                        .claimed(&Self::comparable(claimed, claim.as_ref())),
                    Err(error) => said(error),
                };
                let settled = format!("{:?}", exchanged.settled);
                let got = exchanged
                    .claimed
                    .into_iter()
                    .flat_map(|claimed| claimed.got);
                self.receipts.extend(got.map(|got| got.receipt));
                format!("{settled}\n{claimed}")
            }
            Err(error) => said(&error),
        }
    }

    /// `next` is only said where fewer came than were asked for, and never of dead letters.
    fn comparable(claimed: &Claimed, claim: Option<&Claim<'_>>) -> Claimed {
        let says_next = claim.is_some_and(|claim| {
            claimed.got.len() < claim.max && matches!(claim.pick, Pick::Ready)
        });
        Claimed {
            got: claimed.got.clone(),
            buried: claimed.buried.clone(),
            paused: claimed.paused,
            next: claimed.next.filter(|_| says_next && !claimed.paused),
            held: claimed.held.clone(),
            cursor: None,
        }
    }

    fn walk(&mut self, name: u8, max: usize, filter: &Filter, verdicts: &[VerdictStep]) -> String {
        let what = self.selection(name, &DEAD, filter);
        let name = queue(name);
        let mut log = vec![];
        let mut after: Option<Cursor> = None;
        for _ in 0..1_000 {
            let claim = Claim {
                queue: &name,
                max,
                bytes: 10_000,
                lease: minutes(2),
                start: false,
                max_attempts: 3,
                pick: Pick::Dead {
                    what: &what,
                    after: after.as_ref(),
                },
            };
            let turn = Exchange {
                settle: &[],
                claim: Some(claim),
            };
            let claimed = match self.handles[1].exchange(&turn).expect("a turn").claimed {
                Ok(claimed) => claimed,
                Err(error) => return format!("{log:?} {}", said(&error)),
            };
            if !claimed.held.is_empty() {
                log.push(self.reader.held(&claimed.held));
            }
            for got in &claimed.got {
                log.push(format!("{:?}", self.reader.delivery(got)));
                let verdict = self.verdict(verdicts[log.len() % verdicts.len()]);
                let how = end(Outcome::Timeout, "error 2");
                let settle = [Settle {
                    receipt: &got.receipt,
                    verdict,
                    end: Some(&how),
                }];
                let turn = Exchange {
                    settle: &settle,
                    claim: None,
                };
                let settled = self.handles[1].exchange(&turn).expect("a turn").settled;
                log.push(format!("{settled:?}"));
                self.receipts.push(got.receipt.clone());
            }
            match claimed.cursor {
                Some(cursor) => after = Some(cursor),
                None => return log.join("\n"),
            }
        }
        panic!("a walk without an end")
    }

    fn change(&mut self, what: &Selection, step: &ChangeStep, rows: usize, run: Run) -> String {
        let to = match step {
            ChangeStep::Requeue { to, .. } => to.map(queue),
            ChangeStep::Purge { .. } => None,
        };
        let change = match step {
            ChangeStep::Requeue { due, reset, .. } => Change::Requeue {
                due: self.due(*due),
                to: to.as_ref(),
                reset: *reset,
            },
            ChangeStep::Purge { free_keys } => Change::Purge {
                free_keys: *free_keys,
            },
        };
        let op = crate::desk::begin(&mut *self.handles[0]);
        let mut all = Changed::default();
        let mut after: Option<Cursor> = None;
        for _ in 0..1_000 {
            let page = Page {
                after: after.as_ref(),
                ..Page::first(rows, Order::Oldest)
            };
            let changed = match self.handles[1].change(what, &change, &op, &page, run) {
                Ok(changed) => changed,
                Err(error) => return said(&error),
            };
            all.done.extend(changed.done);
            all.skipped.extend(changed.skipped);
            match changed.next {
                Some(next) => after = Some(next),
                None => break,
            }
        }
        let ids = |ids: &mut dyn Iterator<Item = &MessageId>| {
            ids.map(|id| self.reader.id(id)).collect::<Vec<_>>()
        };
        format!(
            "done {:?} skipped {:?}",
            ids(&mut all.done.iter()),
            ids(&mut all.skipped.iter().map(|(id, _)| id))
        )
    }

    fn look(&mut self, what: &Selection, page: Page<'_>, cap: u64) -> String {
        if let Err(error) = self.handles[1].peek(what, &page) {
            let count = self.handles[1].count(what, cap).expect_err("the same");
            return format!("{} {}", said(&error), said(&count));
        }
        let peeked = self.desk(|d| d.walk(what, page));
        let count = self.handles[1].count(what, cap).expect("a count");
        let gone: Vec<MessageId> = peeked.gone.iter().map(|id| self.reader.id(id)).collect();
        let rows = self.reader.messages(peeked.rows);
        format!("{count:?} {gone:?} {rows:#?}")
    }

    /// All that it holds.
    fn everything(&mut self) -> String {
        let reports = self.handles[0].stats(None, Depth::Exact).expect("a report");
        let mut parts = vec![Reader::reports(&reports)];
        for report in &reports {
            let what = Selection::of(report.queue.clone());
            for order in [Order::Run, Order::Oldest] {
                let rows = self.desk(|d| d.list(&what, order));
                let rows = self.reader.messages(rows);
                parts.push(match order {
                    Order::Run => format!("{rows:#?}"),
                    Order::Oldest => format!("{:?}", crate::desk::ids(&rows)),
                });
            }
        }
        parts.join("\n")
    }

    fn configure(&mut self, name: u8, patch: &Patch) -> String {
        match self.handles[0].configure(&queue(name), patch) {
            Ok(_) if *patch == Patch::Remove => "removed".to_owned(),
            Ok(settings) => format!("{settings:?}"),
            Err(error) => said(&error),
        }
    }
}

const DEAD: [qops::queue::State; 1] = [qops::queue::State::Dead];

fn queue(n: u8) -> QueueName {
    q(&format!("queue{n}"))
}

fn said(error: &Error) -> String {
    format!("{:?} {:?}", error.kind(), error.effect())
}

/// A store and the model.
pub struct Pair {
    sides: [Side; 2],
    steps: usize,
}

impl Pair {
    pub fn new(like: &dyn Store) -> Self {
        let model = Box::new(ModelStore::with(every_feature()));
        Self {
            sides: [Side::new(like.sibling()), Side::new(model)],
            steps: 0,
        }
    }

    fn both(&mut self, what: &str, mut ask: impl FnMut(&mut Side) -> String) -> Result<(), String> {
        let [store, model] = &mut self.sides;
        let (store, model) = (ask(store), ask(model));
        same(what, &store, &model)
    }

    pub fn play(&mut self, step: &Step) -> Result<(), String> {
        self.steps += 1;
        let serial = self.steps;
        match step {
            Step::Enqueue { unit, items } => {
                self.both("enqueue", |side| side.enqueue(*unit, items, serial))?;
            }
            Step::Exchange {
                who,
                settles,
                claim,
            } => self.both("exchange", |side| {
                side.exchange(usize::from(*who), settles, claim.as_ref())
            })?,
            Step::Walk {
                queue,
                max,
                filter,
                verdicts,
            } => self.both("walk", |side| side.walk(*queue, *max, filter, verdicts))?,
            Step::Advance(n) => {
                for side in &self.sides {
                    side.store.advance(minutes(*n));
                }
            }
            Step::Change {
                queue,
                states,
                filter,
                what,
                rows,
            } => {
                for run in [Run::Dry, Run::Do] {
                    let title = format!("change {run:?}");
                    self.both(&title, |side| {
                        let selection = side.selection(*queue, states, filter);
                        side.change(&selection, what, *rows, run)
                    })?;
                    if run == Run::Dry {
                        self.both("after a dry run", Side::everything)?;
                    }
                }
            }
            Step::Set {
                queue,
                create,
                setting,
            } => self.both("configure", |side| {
                let setting = vec![setting.clone()];
                let patch = if *create {
                    Patch::Set(setting)
                } else {
                    Patch::Change(setting)
                };
                side.configure(*queue, &patch)
            })?,
            Step::Remove { queue } => {
                self.both("remove", |side| side.configure(*queue, &Patch::Remove))?;
            }
            Step::Sweep => self.both("tend", |side| {
                let budget = Duration::from_secs(9);
                let tended = side.handles[0].tend(Chore::Sweep, budget);
                format!("{:?}", tended.expect("a sweep"))
            })?,
            Step::Look {
                queue,
                states,
                filter,
                order,
                reverse,
                rows,
                bytes,
                scan,
                cap,
            } => self.both("look", |side| {
                let selection = side.selection(*queue, states, filter);
                let page = Page {
                    bytes: *bytes,
                    scan: *scan,
                    reverse: *reverse,
                    ..Page::first(*rows, *order)
                };
                side.look(&selection, page, *cap)
            })?,
        }
        self.both("what they hold", Side::everything)
    }
}
