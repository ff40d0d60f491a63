//! Names, settings and counts. A quick answer counts up to a bound; beyond it the planner's estimate stands.

use super::super::{Depth, Error, Kind, QueueReport, Result};
use super::conn::{CALL, LONG_CALL, Store, no_queue};
use super::value::{Stamp, count, small};
use crate::queue::retry::{Settings, Window};
use crate::queue::{Ladder, QueueCounts, QueueName, Timestamp};
use std::collections::HashMap;
use std::time::Duration;
use tokio_postgres::Row;
use tokio_postgres::types::Type;

/// A quick answer counts so many of each state of a queue at the most.
const QUICK: i64 = 10_000;

pub(super) fn stats(
    store: &mut Store,
    queues: Option<&[QueueName]>,
    depth: Depth,
) -> Result<Vec<QueueReport>> {
    let names: Option<Vec<&str>> =
        queues.map(|queues| queues.iter().map(QueueName::as_str).collect());
    let now = store.now()?;
    let (most, limit) = match depth {
        Depth::Names => (None, CALL),
        Depth::Quick => (Some(QUICK + 1), CALL),
        Depth::Exact => (Some(i64::MAX), LONG_CALL),
    };
    let rows = match most {
        None => store.query(sql!("names"), &[(&names, Type::TEXT_ARRAY)])?,
        Some(most) => store.query_within(
            limit,
            sql!("stats"),
            &[
                (&names, Type::TEXT_ARRAY),
                (&most, Type::INT8),
                (&Stamp(now), Type::TIMESTAMPTZ),
            ],
        )?,
    };
    let mut reports = Vec::with_capacity(rows.len());
    for row in &rows {
        // What another program named so that no verb can name it is passed over: `doctor` tells of it.
        let Ok(name) = QueueName::parse(row.try_get(0)?) else {
            continue;
        };
        let mut report = QueueReport {
            queue: name,
            settings: settings(row)?,
            counts: QueueCounts::default(),
            oldest_ready: None,
            expired_leases: 0,
            exact: true,
        };
        if let Some(most) = most {
            fill(store, row, most, now, &mut report)?;
        }
        reports.push(report);
    }
    let Some(queues) = queues else {
        return Ok(reports);
    };
    let found: HashMap<QueueName, QueueReport> = reports
        .into_iter()
        .map(|report| (report.queue.clone(), report))
        .collect();
    queues
        .iter()
        .map(|name| found.get(name).cloned().ok_or_else(|| no_queue(name)))
        .collect()
}

fn fill(
    store: &mut Store,
    row: &Row,
    most: i64,
    now: Timestamp,
    report: &mut QueueReport,
) -> Result<()> {
    let number = |column: usize| -> Result<i64> { Ok(row.try_get(column)?) };
    let queue_id: i32 = row.try_get(1)?;
    let mut exact = true;
    let mut guess = |store: &mut Store, counted: i64, of: &str| -> Result<u64> {
        if counted < most {
            return Ok(count(counted));
        }
        exact = false;
        Ok(store.estimate(queue_id, of)?.max(count(counted)))
    };
    report.counts = QueueCounts {
        ready: guess(store, number(8)?, "ready")?,
        delayed: guess(store, number(9)?, "delayed")?,
        blocked: guess(store, number(11)?, "blocked")?,
        running: guess(store, number(12)?, "running")?,
        dead: guess(store, number(13)?, "dead")?,
    };
    report.exact = exact;
    report.expired_leases = count(number(14)?);
    report.oldest_ready = row
        .try_get::<_, Option<Stamp>>(10)?
        .filter(|oldest| oldest.0 <= now)
        .map(|oldest| now.since(oldest.0));
    Ok(())
}

impl Store {
    /// How many rows the planner expects.
    fn estimate(&mut self, queue_id: i32, of: &str) -> Result<u64> {
        let rows = self.query(
            sql!("estimate"),
            &[(&queue_id, Type::INT4), (&of, Type::TEXT)],
        )?;
        match rows.first() {
            Some(row) => Ok(count(row.try_get(0)?)),
            None => Err(Error::bug("a plan without an estimate")),
        }
    }
}

/// A queue's settings from the columns 2 to 7 of its row.
pub(super) fn settings(row: &Row) -> Result<Settings> {
    let time = |column: usize| -> Result<Option<Duration>> {
        Ok(row
            .try_get::<_, Option<i64>>(column)?
            .map(|micros| Duration::from_micros(count(micros))))
    };
    let backoff = match row.try_get::<_, Option<Vec<i64>>>(5)? {
        None => None,
        Some(rungs) => {
            let rungs = rungs.iter().map(|rung| Duration::from_micros(count(*rung)));
            Some(Ladder::new(rungs.collect()).ok_or_else(|| {
                Error::new(Kind::Corrupt, "a queue's backoff has no wait, or too many")
            })?)
        }
    };
    Ok(Settings {
        max_attempts: row.try_get::<_, Option<i64>>(3)?.map(small),
        backoff,
        lease: time(4)?,
        dedup_window: row
            .try_get::<_, Option<i64>>(6)?
            .map(|window| match window {
                ..0 => Window::Forever,
                window => Window::For(Duration::from_micros(count(window))),
            }),
        ttl: time(7)?,
        paused: row.try_get(2)?,
    })
}
