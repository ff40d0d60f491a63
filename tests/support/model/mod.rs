//! The reference model: a store over plain collections, written from the contract alone. It is meant to be obviously
//! right, never fast: every call looks at everything. A backend that answers otherwise is wrong, or the contract is.
//!
//! Its clock stands still but for the skew that a test moves, and one microsecond a call, so that what was called later
//! is later.

mod change;
mod exchange;
mod look;
mod put;

use qops::backend::{
    Backend, Capability, Change, Changed, Chore, Count, Depth, Error, Exchange, Exchanged,
    Features, Finding, Intent, Kind, Migrated, Op, Page, Patch, Peeked, QueueReport, Result, Ring,
    Run, Setting, Tended, Unit, Watch,
};
use qops::queue::retry::{Settings, Window};
use qops::queue::{
    Enqueued, Group, Message, MessageId, NewMessage, OpId, QueueName, Reason, Selection, Skew,
    State, Timestamp,
};
use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};

/// 2026-01-01T00:00:00Z.
const BASE: i64 = 1_767_225_600_000_000;

/// How long a key stays taken.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Taken {
    WhileHere,
    Until(Timestamp),
    Forever,
}

#[derive(Clone, Debug)]
struct Key {
    holder: u64,
    taken: Taken,
}

#[derive(Clone, Default, Debug)]
struct Queue {
    settings: Settings,
    keys: BTreeMap<String, Key>,
}

#[derive(Clone, Debug)]
struct Row {
    /// With its whole history. A waiting one is `Ready` or `Delayed` as of the present call.
    message: Message,
    /// The place among the dead, in the order in which they died.
    died: u64,
}

#[derive(Clone)]
struct World {
    skew: Skew,
    calls: i64,
    now: Timestamp,
    last_id: u64,
    deaths: u64,
    queues: BTreeMap<QueueName, Queue>,
    rows: BTreeMap<u64, Row>,
    /// Grows whenever something may have come.
    bells: u64,
}

fn id_of(number: u64) -> MessageId {
    MessageId::from(number.to_string())
}

fn no_queue(queue: &QueueName) -> Error {
    Error::new(Kind::NotFound, format!("no queue '{queue}'")).with("queue", queue.as_str())
}

impl Row {
    fn alive(&self) -> bool {
        self.message.state != State::Dead
    }

    fn is_of(&self, queue: &QueueName, group: &Group) -> bool {
        self.message.queue == *queue && self.message.group.as_ref() == Some(group)
    }

    /// Held by somebody, by the store's clock.
    fn held(&self, now: Timestamp) -> bool {
        self.message.lease_until.is_some_and(|until| until > now)
    }

    fn expired(&self, now: Timestamp) -> bool {
        self.message.expires_at.is_some_and(|until| until <= now)
    }

    fn let_go(&mut self) {
        self.message.lease_until = None;
        self.message.worker = None;
        self.message.started_at = None;
    }

    /// Waits in its queue, unless it is blocked.
    fn wait(&mut self, now: Timestamp) {
        let due = self
            .message
            .ready_at
            .expect("a living message has a due time");
        self.message.state = if due <= now {
            State::Ready
        } else {
            State::Delayed
        };
    }
}

impl World {
    /// Every call passes here: one microsecond goes by, and what has become due is ready.
    fn enter(&mut self) -> Timestamp {
        self.calls += 1;
        self.now = Timestamp(BASE + self.skew.micros() + self.calls);
        let now = self.now;
        for row in self.rows.values_mut() {
            if matches!(row.message.state, State::Ready | State::Delayed) {
                row.wait(now);
            }
        }
        now
    }

    fn queue(&mut self, name: &QueueName) -> Result<&mut Queue> {
        self.queues.get_mut(name).ok_or_else(|| no_queue(name))
    }

    fn message(&mut self, id: u64) -> &mut Message {
        &mut self.rows.get_mut(&id).expect("a row that is there").message
    }

    /// If nobody leads the group, its first member in the order of enqueue does.
    fn lead(&mut self, queue: &QueueName, group: Option<&Group>) {
        let Some(group) = group else { return };
        let now = self.now;
        let mut members: Vec<&mut Row> = self
            .rows
            .values_mut()
            .filter(|row| row.alive() && row.is_of(queue, group))
            .collect();
        if members
            .iter()
            .all(|row| row.message.state == State::Blocked)
            && let Some(first) = members.first_mut()
        {
            first.wait(now);
        }
    }

    /// Whether a living member of the group goes first.
    fn led(&self, queue: &QueueName, group: Option<&Group>) -> bool {
        group.is_some_and(|group| {
            self.rows
                .values()
                .any(|row| row.alive() && row.is_of(queue, group))
        })
    }

    fn bury(&mut self, id: u64, reason: Reason) {
        self.deaths += 1;
        let (deaths, now) = (self.deaths, self.now);
        let row = self.rows.get_mut(&id).expect("a row that is there");
        row.let_go();
        row.died = deaths;
        row.message.state = State::Dead;
        row.message.died_at = Some(now);
        row.message.reason = Some(reason);
        let (queue, group) = (row.message.queue.clone(), row.message.group.clone());
        self.lead(&queue, group.as_ref());
    }

    /// Takes a message out of the store. Its key stays for the window, or is free.
    fn remove(&mut self, id: u64, free_key: bool) {
        let row = self.rows.remove(&id).expect("a row that is there");
        let now = self.now;
        let queue = self
            .queues
            .get_mut(&row.message.queue)
            .expect("a message has a queue");
        if let Some(text) = &row.message.key {
            if free_key {
                queue.keys.remove(text);
            } else {
                let window = queue.settings.dedup_window.unwrap_or(Window::DEFAULT);
                let key = queue.keys.get_mut(text).expect("its key is taken");
                key.taken = match window {
                    Window::For(long) => Taken::Until(now.plus(long)),
                    Window::Forever => Taken::Forever,
                };
            }
        }
        self.lead(&row.message.queue, row.message.group.as_ref());
    }

    /// The holder of a key, if it is taken.
    fn holder(&self, queue: &QueueName, key: &str) -> Option<u64> {
        let key = self.queues.get(queue)?.keys.get(key)?;
        match key.taken {
            Taken::Until(end) if end <= self.now => None,
            Taken::Until(_) | Taken::WhileHere | Taken::Forever => Some(key.holder),
        }
    }

    fn configure(&mut self, name: &QueueName, patch: &Patch) -> Result<Settings> {
        let settings = match patch {
            Patch::Remove => {
                self.queue(name)?;
                if self.rows.values().any(|row| row.message.queue == *name) {
                    return Err(Error::new(Kind::Refused, format!("'{name}' is not empty")));
                }
                return Ok(self.queues.remove(name).expect("it is there").settings);
            }
            Patch::Set(settings) => {
                self.queues.entry(name.clone()).or_default();
                settings
            }
            Patch::Change(settings) => settings,
        };
        let own = &mut self.queue(name)?.settings;
        for setting in settings {
            match setting.clone() {
                Setting::MaxAttempts(value) => own.max_attempts = value,
                Setting::Backoff(value) => own.backoff = value,
                Setting::Lease(value) => own.lease = value,
                Setting::DedupWindow(value) => own.dedup_window = value,
                Setting::Ttl(value) => own.ttl = value,
                Setting::Paused(value) => own.paused = value,
            }
        }
        let settings = own.clone();
        self.bells += 1;
        Ok(settings)
    }

    fn sweep(&mut self) {
        loop {
            let now = self.now;
            let next = self
                .rows
                .iter()
                .filter(|(_, row)| {
                    !matches!(row.message.state, State::Dead | State::Running) && row.expired(now)
                })
                .map(|(id, row)| (row.message.expires_at, *id))
                .min();
            match next {
                Some((_, id)) => self.bury(id, Reason::Expired),
                None => return,
            }
        }
    }
}

/// One store; handles share it.
#[derive(Clone)]
pub struct Model {
    shared: Arc<(Mutex<World>, Condvar)>,
    features: Features,
}

impl Model {
    /// An empty store whose clock a test moves, with these features.
    pub fn new(skew: Skew, features: Features) -> Self {
        let world = World {
            skew,
            calls: 0,
            now: Timestamp(BASE),
            last_id: 0,
            deaths: 0,
            queues: BTreeMap::new(),
            rows: BTreeMap::new(),
            bells: 0,
        };
        Self {
            shared: Arc::new((Mutex::new(world), Condvar::new())),
            features,
        }
    }

    /// A handle of its own.
    pub fn handle(&self, identity: &str) -> Handle {
        Handle {
            model: self.clone(),
            identity: identity.to_owned(),
        }
    }

    /// All that it holds, but its clock.
    pub fn dump(&self) -> String {
        let world = self.world();
        format!(
            "{:#?}",
            (&world.queues, &world.rows, world.last_id, world.deaths)
        )
    }

    fn world(&self) -> MutexGuard<'_, World> {
        self.shared.0.lock().expect("no call panics")
    }
}

/// One handle to a model.
pub struct Handle {
    model: Model,
    identity: String,
}

impl Handle {
    /// One call: the whole of it happens or, if it fails, none.
    fn call<T>(&self, act: impl FnOnce(&mut World) -> Result<T>) -> Result<T> {
        let mut world = self.model.world();
        world.enter();
        let before = world.bells;
        let mut next = world.clone();
        let answer = act(&mut next)?;
        *world = next;
        if world.bells != before {
            self.model.shared.1.notify_all();
        }
        Ok(answer)
    }

    /// One call that changes nothing.
    fn look<T>(&self, act: impl FnOnce(&World) -> Result<T>) -> Result<T> {
        let mut world = self.model.world();
        world.enter();
        act(&world)
    }
}

impl Backend for Handle {
    fn capability(&self) -> Capability {
        Capability {
            features: self.model.features,
            max_batch: 10_000,
            max_bytes: 64 << 20,
            aim_bytes: 1 << 20,
        }
    }

    fn migrate(&mut self, _run: Run) -> Result<Migrated> {
        Ok(Migrated {
            from: 1,
            to: 1,
            statements: vec![],
        })
    }

    fn enqueue(&mut self, batch: &[NewMessage<'_>], unit: Unit) -> Result<Vec<Enqueued>> {
        self.call(|world| world.enqueue(batch, unit))
    }

    fn exchange(&mut self, turn: &Exchange<'_>) -> Result<Exchanged> {
        let who = self.identity.clone();
        self.call(|world| {
            let settled = turn
                .settle
                .iter()
                .map(|settle| world.settle(settle))
                .collect();
            let claimed = match &turn.claim {
                Some(claim) => world.claim(claim, &who),
                None => Ok(qops::backend::Claimed::default()),
            };
            Ok(Exchanged { settled, claimed })
        })
    }

    fn watch(&mut self, _queues: &[QueueName]) -> Result<Box<dyn Watch>> {
        Ok(Box::new(Bell {
            model: self.model.clone(),
            heard: None,
        }))
    }

    fn peek(&mut self, what: &Selection, page: &Page<'_>) -> Result<Peeked> {
        self.look(|world| world.peek(what, page))
    }

    fn count(&mut self, what: &Selection, cap: u64) -> Result<Count> {
        self.look(|world| world.count(what, cap))
    }

    fn begin(&mut self, _intent: &Intent<'_>) -> Result<Op> {
        self.look(|world| {
            Ok(Op {
                id: OpId(1),
                at: world.now,
            })
        })
    }

    fn change(
        &mut self,
        what: &Selection,
        change: &Change<'_>,
        _op: &Op,
        page: &Page<'_>,
        run: Run,
    ) -> Result<Changed> {
        match run {
            Run::Do => self.call(|world| world.change(what, change, page)),
            Run::Dry => self.look(|world| world.clone().change(what, change, page)),
        }
    }

    fn stats(&mut self, queues: Option<&[QueueName]>, depth: Depth) -> Result<Vec<QueueReport>> {
        self.look(|world| world.stats(queues, depth))
    }

    fn configure(&mut self, queue: &QueueName, patch: &Patch) -> Result<Settings> {
        self.call(|world| world.configure(queue, patch))
    }

    fn tend(&mut self, chore: Chore, _budget: Duration) -> Result<Tended> {
        self.call(|world| {
            let Chore::Sweep = chore;
            world.sweep();
            Ok(Tended { more: false })
        })
    }

    fn examine(&mut self) -> Result<Vec<Finding>> {
        Ok(vec![])
    }
}

struct Bell {
    model: Model,
    heard: Option<u64>,
}

impl Watch for Bell {
    fn wait(&mut self, timeout: Duration) -> Result<Ring> {
        let end = Instant::now() + timeout;
        let mut world = self.model.world();
        loop {
            if self.heard != Some(world.bells) {
                self.heard = Some(world.bells);
                return Ok(Ring::Rang);
            }
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(Ring::Quiet);
            }
            let (next, _) = self
                .model
                .shared
                .1
                .wait_timeout(world, left)
                .expect("no call panics");
            world = next;
        }
    }
}
