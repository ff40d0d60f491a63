//! A queue's settings, and its end.

use super::super::{Error, Kind, Patch, Result, Setting};
use super::conn::{CALL, Store, no_queue};
use super::stats::settings;
use crate::queue::retry::{Settings, Window};
use crate::queue::{Hint, QueueName, time::micros};
use tokio_postgres::types::Type;

pub(super) fn configure(store: &mut Store, queue: &QueueName, patch: &Patch) -> Result<Settings> {
    store.write(CALL, &mut |store| {
        let name = queue.as_str();
        if matches!(patch, Patch::Set(_)) {
            store.query(sql!("queue_make"), &[(&name, Type::TEXT)])?;
        }
        let rows = store.query(sql!("queue_lock"), &[(&name, Type::TEXT)])?;
        let row = rows.first().ok_or_else(|| no_queue(queue))?;
        let id: i32 = row.try_get(1)?;
        let mut settings = settings(row)?;
        let wanted = match patch {
            Patch::Set(wanted) | Patch::Change(wanted) => wanted,
            Patch::Remove => {
                remove(store, queue, id)?;
                return Ok(settings);
            }
        };
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
        let backoff: Option<Vec<i64>> = settings
            .backoff
            .as_ref()
            .map(|ladder| ladder.rungs().iter().map(|rung| micros(*rung)).collect());
        let window = settings.dedup_window.map(|window| match window {
            Window::For(window) => micros(window),
            Window::Forever => -1,
        });
        store.query(
            sql!("queue_set"),
            &[
                (&id, Type::INT4),
                (&settings.paused, Type::BOOL),
                (&settings.max_attempts.map(i64::from), Type::INT8),
                (&settings.lease.map(micros), Type::INT8),
                (&backoff, Type::INT8_ARRAY),
                (&window, Type::INT8),
                (&settings.ttl.map(micros), Type::INT8),
                (&store.skew.micros(), Type::INT8),
            ],
        )?;
        store.query(sql!("ring"), &[(&name, Type::TEXT)])?;
        Ok(settings)
    })
}

fn remove(store: &mut Store, queue: &QueueName, id: i32) -> Result<()> {
    let used = store.query(sql!("queue_used"), &[(&id, Type::INT4)])?;
    if used.iter().any(|row| row.try_get(0).unwrap_or(true)) {
        let name = queue.as_str();
        return Err(Error::new(
            Kind::Refused,
            format!("the queue '{queue}' is not empty; dead letters count, too"),
        )
        .with("queue", name)
        .hint(
            Hint::run("purge", &[name])
                .say(" --all\n")
                .then("purge", &[name])
                .say(" --dead --all"),
        ));
    }
    store.query(sql!("queue_delete"), &[(&id, Type::INT4)])?;
    Ok(())
}
