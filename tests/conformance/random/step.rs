//! One step of a random sequence, drawn without looking at any store, so that leaving steps out leaves the others as
//! they are.

use fastrand::Rng;
use qops::backend::{Conflict, Setting, Unit};
use qops::queue::retry::Window;
use qops::queue::{Ladder, Order, Reason, State};
use std::time::Duration;

/// How many queues, keys and groups there are: few, so that they meet.
const QUEUES: u8 = 2;
const KEYS: u8 = 4;
const GROUPS: u8 = 2;

#[derive(Clone, Debug)]
pub enum Step {
    Enqueue {
        unit: Unit,
        items: Vec<Item>,
    },
    Exchange {
        who: u8,
        settles: Vec<SettleStep>,
        claim: Option<ClaimStep>,
    },
    /// Claims dead letters until the walk ends, settling each.
    Walk {
        queue: u8,
        max: usize,
        filter: Filter,
        verdicts: Vec<VerdictStep>,
    },
    /// So many minutes go by.
    Advance(u32),
    Change {
        queue: u8,
        states: Vec<State>,
        filter: Filter,
        what: ChangeStep,
        rows: usize,
    },
    Set {
        queue: u8,
        create: bool,
        setting: Setting,
    },
    Remove {
        queue: u8,
    },
    Sweep,
    Look {
        queue: u8,
        states: Vec<State>,
        filter: Filter,
        order: Order,
        reverse: bool,
        rows: usize,
        bytes: usize,
        scan: usize,
        cap: u64,
    },
}

#[derive(Clone, Debug)]
pub struct Item {
    pub queue: u8,
    pub key: Option<u8>,
    pub group: Option<u8>,
    pub priority: i8,
    pub due: When,
    pub ttl: Option<When>,
    pub max_attempts: Option<u32>,
    pub header: bool,
    pub size: usize,
}

/// In minutes.
#[derive(Clone, Copy, Debug)]
pub enum When {
    Now,
    After(u32),
    /// After the beginning of the sequence.
    At(u32),
}

#[derive(Clone, Debug)]
pub struct SettleStep {
    /// Counted back from the last delivery.
    pub back: usize,
    pub verdict: VerdictStep,
    pub end: bool,
}

#[derive(Clone, Copy, Debug)]
pub enum VerdictStep {
    Start,
    Extend(u32),
    Done,
    Retry(When, bool),
    Dead(Reason),
    Release,
}

#[derive(Clone, Debug)]
pub struct ClaimStep {
    pub queue: u8,
    pub max: usize,
    pub bytes: usize,
    pub lease: u32,
    pub start: bool,
    pub max_attempts: u32,
    pub dead: Option<Filter>,
}

#[derive(Clone, Debug, Default)]
pub struct Filter {
    pub key: Option<u8>,
    pub group: Option<u8>,
    pub error: Option<u8>,
    pub grep: bool,
    /// Minutes from the beginning of the sequence.
    pub since: Option<u32>,
    pub until: Option<u32>,
    pub skip_expired: bool,
    /// Only every third message.
    pub ids: bool,
}

#[derive(Clone, Debug)]
pub enum ChangeStep {
    Requeue {
        due: When,
        to: Option<u8>,
        reset: bool,
    },
    Purge {
        free_keys: bool,
    },
}

fn some<T>(random: &mut Rng, one_in: u32, make: impl FnOnce(&mut Rng) -> T) -> Option<T> {
    (random.u32(0..one_in) == 0).then(|| make(random))
}

fn one<T: Clone>(random: &mut Rng, of: &[T]) -> T {
    of[random.usize(0..of.len())].clone()
}

impl When {
    fn random(random: &mut Rng) -> Self {
        match random.u32(0..8) {
            0..=3 => Self::Now,
            4..=6 => Self::After(random.u32(0..6)),
            _ => Self::At(random.u32(0..60)),
        }
    }
}

impl Filter {
    fn random(random: &mut Rng) -> Self {
        if random.bool() {
            return Self::default();
        }
        Self {
            key: some(random, 6, |random| random.u8(0..KEYS)),
            group: some(random, 6, |random| random.u8(0..GROUPS)),
            error: some(random, 6, |random| random.u8(0..3)),
            grep: random.u32(0..6) == 0,
            since: some(random, 6, |random| random.u32(0..60)),
            until: some(random, 6, |random| random.u32(0..60)),
            skip_expired: random.u32(0..6) == 0,
            ids: random.u32(0..4) == 0,
        }
    }
}

impl Item {
    fn random(random: &mut Rng) -> Self {
        Self {
            queue: random.u8(0..QUEUES),
            key: some(random, 3, |random| random.u8(0..KEYS)),
            group: some(random, 3, |random| random.u8(0..GROUPS)),
            priority: one(random, &[0, 0, 0, 1, -1, 9, -9]),
            due: When::random(random),
            ttl: some(random, 5, |random| {
                if random.bool() {
                    When::After(random.u32(0..12))
                } else {
                    When::At(random.u32(0..60))
                }
            }),
            max_attempts: some(random, 5, |random| random.u32(1..4)),
            header: random.u32(0..5) == 0,
            size: random.usize(0..30),
        }
    }
}

impl VerdictStep {
    fn random(random: &mut Rng) -> Self {
        match random.u32(0..12) {
            0..=2 => Self::Start,
            3 => Self::Extend(random.u32(0..6)),
            4..=5 => Self::Done,
            6..=7 => Self::Retry(When::random(random), random.bool()),
            8..=9 => Self::Dead(one(random, Reason::ALL)),
            _ => Self::Release,
        }
    }
}

impl ClaimStep {
    fn random(random: &mut Rng) -> Self {
        Self {
            queue: random.u8(0..=QUEUES),
            max: random.usize(1..5),
            bytes: one(random, &[1, 20, 50, 10_000]),
            lease: random.u32(1..6),
            start: random.bool(),
            max_attempts: random.u32(1..4),
            dead: some(random, 5, Filter::random),
        }
    }
}

fn states(random: &mut Rng) -> Vec<State> {
    match random.u32(0..5) {
        0 => vec![],
        1 | 2 => vec![State::Dead],
        3 => vec![State::Ready, State::Delayed, State::Blocked],
        _ => {
            let mut states = State::ALL.to_vec();
            random.shuffle(&mut states);
            states.truncate(random.usize(1..5));
            states
        }
    }
}

/// A purge or a requeue that frees a group's next may mean that one too, now or in its next chunk. What it then does
/// depends on its chunks, so it means all that wait or none.
fn states_of_change(random: &mut Rng) -> Vec<State> {
    match random.u32(0..6) {
        0 => vec![],
        1..=3 => vec![State::Dead],
        4 => vec![State::Ready, State::Delayed, State::Blocked],
        _ => State::ALL.to_vec(),
    }
}

fn setting(random: &mut Rng) -> Setting {
    match random.u32(0..8) {
        0 => Setting::MaxAttempts(some(random, 2, |random| random.u32(1..9))),
        1 => Setting::Backoff(some(random, 2, |_| Ladder::default())),
        2 => Setting::Lease(some(random, 2, |random| minutes(random.u32(1..9)))),
        3 => Setting::DedupWindow(some(random, 2, |random| match random.u32(0..3) {
            0 => Window::Forever,
            1 => Window::For(Duration::ZERO),
            _ => Window::For(minutes(random.u32(1..30))),
        })),
        4 => Setting::Ttl(some(random, 2, |random| minutes(random.u32(1..20)))),
        _ => Setting::Paused(random.u32(0..4) == 0),
    }
}

pub fn minutes(n: u32) -> Duration {
    Duration::from_mins(u64::from(n))
}

impl Step {
    pub fn random(random: &mut Rng) -> Self {
        match random.u32(0..30) {
            0..=7 => Self::Enqueue {
                unit: one(
                    random,
                    &[
                        Unit::Each,
                        Unit::Each,
                        Unit::Whole(Conflict::Skip),
                        Unit::Whole(Conflict::Refuse),
                    ],
                ),
                items: (0..random.usize(0..6))
                    .map(|_| Item::random(random))
                    .collect(),
            },
            8..=18 => Self::Exchange {
                who: random.u8(0..2),
                settles: (0..random.usize(0..5))
                    .map(|_| SettleStep {
                        back: random.usize(0..12).min(random.usize(0..12)),
                        verdict: VerdictStep::random(random),
                        end: random.u32(0..3) > 0,
                    })
                    .collect(),
                claim: random.bool().then(|| ClaimStep::random(random)),
            },
            19 => Self::Walk {
                queue: random.u8(0..QUEUES),
                max: random.usize(1..4),
                filter: Filter::random(random),
                verdicts: (0..3).map(|_| VerdictStep::random(random)).collect(),
            },
            20..=22 => Self::Advance(one(random, &[1, 1, 2, 3, 5, 8])),
            23..=24 => Self::Change {
                queue: random.u8(0..=QUEUES),
                states: states_of_change(random),
                filter: Filter::random(random),
                what: if random.u32(0..3) > 0 {
                    ChangeStep::Requeue {
                        due: When::random(random),
                        to: some(random, 3, |random| random.u8(0..=QUEUES)),
                        reset: random.bool(),
                    }
                } else {
                    ChangeStep::Purge {
                        free_keys: random.bool(),
                    }
                },
                rows: random.usize(1..6),
            },
            25 => Self::Set {
                queue: random.u8(0..=QUEUES),
                create: random.bool(),
                setting: setting(random),
            },
            26 => match random.u32(0..4) {
                0 => Self::Remove {
                    queue: random.u8(0..=QUEUES),
                },
                _ => Self::Sweep,
            },
            _ => Self::Look {
                queue: random.u8(0..=QUEUES),
                states: states(random),
                filter: Filter::random(random),
                order: one(random, &[Order::Run, Order::Oldest]),
                reverse: random.bool(),
                rows: random.usize(1..6),
                bytes: one(random, &[1, 30, 10_000]),
                scan: one(random, &[1, 3, 1_000]),
                cap: random.u64(1..12),
            },
        }
    }
}
