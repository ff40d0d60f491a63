//! Where a claim begins to look. A row that was claimed leaves dead ones behind it, in the table and in its index, for as
//! long as any transaction on the server is older; a claim that begins at the first ready row goes through all of them.
//! When that has become slow, a handle goes on behind what it took last, and from time to time over the whole.

use super::exchange::Answer;
use super::value::Stamp;
use crate::queue::{QueueName, Timestamp};
use std::collections::{BTreeMap, HashMap};
use std::time::{Duration, Instant};

/// A look that takes longer may go through dead rows.
const SLOW: Duration = Duration::from_millis(5);
/// And if so many in a row do, it does: one may have waited for a busy machine, or for a plan.
const IN_A_ROW: u32 = 3;
/// At the most a twentieth of the time is spent on looks over the whole.
const SHARE: u32 = 20;
/// And that often at the least, so that what came back before the place is not forgotten.
const SELDOM: Duration = Duration::from_secs(5);
/// How soon a caller that got too little comes again.
const SOON: Duration = Duration::from_millis(250);

/// Places, one for each priority that was seen, the highest first.
#[derive(Clone, Debug, Default)]
pub(super) struct Levels {
    pub(super) priorities: Vec<i16>,
    pub(super) at: Vec<Stamp>,
    pub(super) ids: Vec<i64>,
}

/// What a handle knows of its queues.
#[derive(Debug, Default)]
pub(super) struct Scan {
    queues: HashMap<QueueName, Known>,
    slow: u32,
}

#[derive(Debug)]
struct Known {
    places: BTreeMap<i16, (Timestamp, i64)>,
    whole: Instant,
    cost: Duration,
}

impl Scan {
    /// Nothing is known any more.
    pub(super) fn forget(&mut self) {
        self.queues.clear();
    }

    /// From where on a queue is looked at now; nowhere: the whole of it.
    pub(super) fn levels(&mut self, queue: &QueueName) -> Levels {
        let mut levels = Levels::default();
        let Some(known) = self.queues.get(queue) else {
            return levels;
        };
        if known.whole.elapsed() > (known.cost * SHARE).clamp(SOON, SELDOM) {
            return levels;
        }
        for (priority, (at, id)) in known.places.iter().rev() {
            levels.priorities.push(*priority);
            levels.at.push(Stamp(*at));
            levels.ids.push(*id);
        }
        levels
    }

    /// Takes in what a claim answered.
    pub(super) fn learn(
        &mut self,
        queue: &QueueName,
        max: usize,
        gave_back: bool,
        levels: &Levels,
        answer: &mut Answer,
    ) {
        let from_places = !levels.priorities.is_empty();
        let Ok(claimed) = &mut answer.claimed else {
            self.queues.remove(queue);
            return;
        };
        let short = claimed.got.len() < max;
        if from_places && short {
            // What stands before the places is not known to be nothing.
            claimed.next = Some(claimed.next.map_or(SOON, |next| next.min(SOON)));
        }
        // What came back stands before them.
        if gave_back || !claimed.buried.is_empty() {
            self.queues.remove(queue);
            return;
        }
        if !from_places {
            self.slow = if answer.looked < SLOW {
                0
            } else {
                self.slow + 1
            };
            if self.slow < IN_A_ROW {
                self.queues.remove(queue);
                return;
            }
            self.queues.insert(
                queue.clone(),
                Known {
                    places: BTreeMap::new(),
                    whole: Instant::now(),
                    cost: answer.looked,
                },
            );
        }
        let Some(known) = self.queues.get_mut(queue) else {
            return;
        };
        for delivery in &claimed.got {
            let message = &delivery.message;
            let (Some(at), Ok(id)) = (message.ready_at, message.id.as_str().parse()) else {
                continue;
            };
            let place = known
                .places
                .entry(message.priority.into())
                .or_insert((at, id));
            *place = (*place).max((at, id));
        }
    }
}
