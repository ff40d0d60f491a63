//! Names, settings and counts. A quick answer counts up to a bound and estimates beyond it, from messages picked at
//! random over the range of ids.

use super::super::{Depth, Error, Kind, QueueReport, Result};
use super::conn::{QueueRow, Store};
use super::keys::priorities;
use super::look::{due, limit, number};
use crate::queue::retry::{Settings, Window};
use crate::queue::{Ladder, QueueCounts, QueueName, Timestamp};
use rusqlite::{OptionalExtension as _, params};
use std::time::Duration;

/// A quick answer counts so many of each state of a queue at the most; about two milliseconds.
const QUICK: u64 = 50_000;

/// And so many of all queues together, but some of each; about thirty milliseconds.
const QUICK_IN_ALL: u64 = 800_000;
const QUICK_AT_LEAST: u64 = 1_000;

/// So many ids are picked for an estimate: its error is about three in a hundred of the whole range.
const PICKS: u32 = 1_500;

/// [`super::super::Backend::stats`]. What has more than is counted in time is estimated, and says so.
pub(super) fn stats(
    store: &Store,
    queues: Option<&[QueueName]>,
    depth: Depth,
) -> Result<Vec<QueueReport>> {
    let names = match queues {
        Some(names) => names.to_vec(),
        None => all(store)?,
    };
    let most = match depth {
        Depth::Exact => u64::MAX - 1,
        Depth::Quick | Depth::Names => {
            (QUICK_IN_ALL / (names.len() as u64).max(1)).clamp(QUICK_AT_LEAST, QUICK)
        }
    };
    let mut sample = None;
    let mut reports = Vec::with_capacity(names.len());
    for name in names {
        let row = store.queue(&name)?;
        let settings = settings(&row)?;
        let mut report = QueueReport {
            queue: name,
            settings,
            counts: QueueCounts::default(),
            oldest_ready: None,
            expired_leases: 0,
            exact: true,
        };
        if depth != Depth::Names {
            store.read(|| fill(store, row.id, most, &mut sample, &mut report))?;
        }
        reports.push(report);
    }
    Ok(reports)
}

/// Every queue, by name. What another program named so that no verb can name it is passed over: `doctor` tells of it.
fn all(store: &Store) -> Result<Vec<QueueName>> {
    let mut queues: Vec<QueueName> = names(store)?
        .iter()
        .filter_map(|name| QueueName::parse(std::str::from_utf8(name).ok()?).ok())
        .collect();
    queues.sort();
    Ok(queues)
}

/// The names in the file that are none.
pub(super) fn bad_names(store: &Store) -> Result<Vec<String>> {
    let mut names = names(store)?;
    names.retain(|name| {
        std::str::from_utf8(name).map_or(true, |name| QueueName::parse(name).is_err())
    });
    Ok(names
        .iter()
        .map(|name| String::from_utf8_lossy(name).into_owned())
        .collect())
}

fn names(store: &Store) -> Result<Vec<Vec<u8>>> {
    let mut statement = store.conn.prepare_cached(sql!("queues"))?;
    let names = statement.query_map([], |row| Ok(row.get_ref(0)?.as_bytes()?.to_vec()))?;
    Ok(names.collect::<rusqlite::Result<_>>()?)
}

fn fill(
    store: &Store,
    id: i64,
    most: u64,
    sample: &mut Option<Sample>,
    report: &mut QueueReport,
) -> Result<()> {
    let now = store.now();
    let ask = limit(most + 1);
    let counts = QueueCounts {
        ready: due(store, id, (i64::MIN, now.0), ask)?,
        delayed: due(store, id, (now.0, i64::MAX), ask)?,
        blocked: number(store, sql!("count_blocked"), params![id, ask])?,
        running: number(store, sql!("count_running"), params![id, ask])?,
        dead: number(store, sql!("count_dead"), params![id, ask])?,
    };
    let over = [
        counts.ready,
        counts.delayed,
        counts.blocked,
        counts.running,
        counts.dead,
    ]
    .iter()
    .any(|n| *n > most);
    report.counts = counts;
    if over {
        let sample = match sample {
            Some(sample) => sample,
            none => none.insert(Sample::take(store, now)?),
        };
        let guess = sample.of(id);
        // What was counted whole stays as it is; what was not is at least what was counted.
        let better = |counted: u64, guess: u64| {
            if counted > most {
                guess.max(counted)
            } else {
                counted
            }
        };
        report.counts = QueueCounts {
            ready: better(counts.ready, guess.ready),
            delayed: better(counts.delayed, guess.delayed),
            blocked: better(counts.blocked, guess.blocked),
            running: better(counts.running, guess.running),
            dead: better(counts.dead, guess.dead),
        };
        report.exact = false;
    }
    report.expired_leases = number(store, sql!("count_expired"), params![id, now.0, ask])?;
    report.oldest_ready = oldest(store, id, now)?;
    Ok(())
}

fn oldest(store: &Store, id: i64, now: Timestamp) -> Result<Option<Duration>> {
    let mut oldest: Option<i64> = None;
    for priority in priorities(&store.conn, id)? {
        let due: Option<i64> = store
            .conn
            .prepare_cached(sql!("oldest_due"))?
            .query_row(params![id, priority], |row| row.get(0))
            .optional()?;
        oldest = oldest.into_iter().chain(due).min();
    }
    Ok(oldest
        .filter(|due| *due <= now.0)
        .map(|due| now.since(Timestamp(due))))
}

/// Messages picked at random, and what each stands for.
struct Sample {
    live: Vec<(i64, i64, bool)>,
    live_weight: f64,
    dead: Vec<i64>,
    dead_weight: f64,
}

impl Sample {
    fn take(store: &Store, now: Timestamp) -> Result<Self> {
        let range = |statement: &str| -> Result<Option<(i64, i64)>> {
            let (first, last): (Option<i64>, Option<i64>) =
                store
                    .conn
                    .prepare_cached(statement)?
                    .query_row([], |row| Ok((row.get(0)?, row.get(1)?)))?;
            Ok(first.zip(last))
        };
        let mut sample = Self {
            live: Vec::new(),
            live_weight: 0.0,
            dead: Vec::new(),
            dead_weight: 0.0,
        };
        if let Some((first, last)) = range(sql!("range_live"))? {
            sample.live_weight = weight(first, last);
            let mut statement = store.conn.prepare_cached(sql!("sample_live"))?;
            for _ in 0..PICKS {
                let pick = statement
                    .query_row([fastrand::i64(first..=last)], |row| {
                        Ok((row.get(0)?, row.get(1)?, row.get::<_, i64>(2)? > now.0))
                    })
                    .optional()?;
                sample.live.extend(pick);
            }
        }
        if let Some((first, last)) = range(sql!("range_dead"))? {
            sample.dead_weight = weight(first, last);
            let mut statement = store.conn.prepare_cached(sql!("sample_dead"))?;
            for _ in 0..PICKS {
                sample.dead.extend(
                    statement
                        .query_row([fastrand::i64(first..=last)], |row| row.get::<_, i64>(0))
                        .optional()?,
                );
            }
        }
        Ok(sample)
    }

    fn of(&self, queue_id: i64) -> QueueCounts {
        let live = |meant: &dyn Fn(i64, bool) -> bool| {
            let hits = self
                .live
                .iter()
                .filter(|(of, state, later)| *of == queue_id && meant(*state, *later))
                .count();
            scale(hits, self.live_weight)
        };
        QueueCounts {
            ready: live(&|state, later| state == 0 && !later),
            delayed: live(&|state, later| state == 0 && later),
            blocked: live(&|state, _| state == 2),
            running: live(&|state, _| state == 1),
            dead: scale(
                self.dead.iter().filter(|of| **of == queue_id).count(),
                self.dead_weight,
            ),
        }
    }
}

/// How many ids one pick stands for.
#[expect(
    clippy::cast_precision_loss,
    reason = "an estimate needs no more than a float's precision"
)]
fn weight(first: i64, last: i64) -> f64 {
    (last - first + 1) as f64 / f64::from(PICKS)
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "an estimate of a count is positive and far below what a float holds exactly"
)]
fn scale(hits: usize, weight: f64) -> u64 {
    (hits as f64 * weight).round() as u64
}

/// A queue's settings as its row has them.
pub(super) fn settings(row: &QueueRow) -> Result<Settings> {
    let time =
        |micros: Option<i64>| micros.map(|micros| Duration::from_micros(micros.unsigned_abs()));
    let backoff = match &row.backoff_us {
        None => None,
        Some(text) => Some(ladder(text).ok_or_else(|| {
            Error::new(
                Kind::Corrupt,
                format!("a queue's backoff is no list of microseconds: '{text}'"),
            )
        })?),
    };
    Ok(Settings {
        max_attempts: row.max_attempts,
        backoff,
        lease: time(row.lease_us),
        dedup_window: row.window_us.map(|window| match window {
            ..0 => Window::Forever,
            window => Window::For(Duration::from_micros(window.unsigned_abs())),
        }),
        ttl: time(row.ttl_us),
        paused: row.paused,
    })
}

fn ladder(text: &str) -> Option<Ladder> {
    let rungs = text
        .split(',')
        .map(|rung| rung.parse().ok().map(Duration::from_micros))
        .collect::<Option<Vec<_>>>()?;
    Ladder::new(rungs)
}
