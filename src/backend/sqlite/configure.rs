//! A queue's settings, and its end.

use super::super::{Error, Kind, Patch, Result, Setting};
use super::conn::{Store, find_queue, no_queue};
use super::enqueue::make_queue;
use super::stats::settings;
use crate::queue::retry::{Settings, Window};
use crate::queue::{Hint, QueueName, time::micros};
use rusqlite::{Connection, params};

/// [`super::super::Backend::configure`], in one transaction.
pub(super) fn configure(store: &mut Store, queue: &QueueName, patch: &Patch) -> Result<Settings> {
    store.write(|conn, now| {
        let (row, wanted) = match patch {
            Patch::Set(wanted) => (make_queue(conn, queue, now)?, wanted),
            Patch::Change(wanted) => (
                find_queue(conn, queue)?.ok_or_else(|| no_queue(queue))?,
                wanted,
            ),
            Patch::Remove => return remove_queue(conn, queue),
        };
        let mut settings = settings(&row)?;
        for setting in wanted {
            match setting.clone() {
                Setting::MaxAttempts(max) => settings.max_attempts = max,
                Setting::Backoff(backoff) => settings.backoff = backoff,
                Setting::Lease(lease) => settings.lease = lease,
                Setting::DedupWindow(window) => settings.dedup_window = window,
                Setting::Ttl(ttl) => settings.ttl = ttl,
                Setting::Paused(paused) => settings.paused = paused,
            }
        }
        let since: Option<i64> = conn
            .prepare_cached(sql!("queue_paused_at"))?
            .query_row([row.id], |row| row.get(0))?;
        conn.prepare_cached(sql!("queue_set"))?.execute(params![
            row.id,
            settings.paused.then(|| since.unwrap_or(now.0)),
            settings.max_attempts,
            settings.lease.map(micros),
            settings.backoff.as_ref().map(|ladder| {
                ladder
                    .rungs()
                    .iter()
                    .map(|rung| micros(*rung).to_string())
                    .collect::<Vec<_>>()
                    .join(",")
            }),
            settings.dedup_window.map(|window| match window {
                Window::For(window) => micros(window),
                Window::Forever => -1,
            }),
            settings.ttl.map(micros),
        ])?;
        Ok(settings)
    })
}

fn remove_queue(conn: &Connection, queue: &QueueName) -> Result<Settings> {
    let row = find_queue(conn, queue)?.ok_or_else(|| no_queue(queue))?;
    if conn
        .prepare_cached(sql!("queue_used"))?
        .query_row([row.id], |row| row.get::<_, bool>(0))?
    {
        return Err(Error::new(
            Kind::Refused,
            format!("the queue '{queue}' is not empty; dead letters count, too"),
        )
        .with("queue", queue.as_str())
        .hint(
            Hint::run_with("purge", &[queue.as_str()], "--all")
                .say("\n")
                .then_with("purge", &[queue.as_str()], "--dead --all"),
        ));
    }
    conn.prepare_cached(sql!("queue_forget_keys"))?
        .execute([row.id])?;
    conn.prepare_cached(sql!("queue_delete"))?
        .execute([row.id])?;
    settings(&row)
}
