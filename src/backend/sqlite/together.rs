//! Messages that one statement changes together. What hangs on each of them is known from its head, and none stands in
//! an order that another's change would shift: nobody holds it, and it is in no group.

use super::super::{Error, Result};
use super::keys::Ties;
use crate::queue::{State, Timestamp};
use rusqlite::{Connection, ToSql, params};

/// Some messages of one queue.
#[derive(Default)]
pub(super) struct Together {
    live: Vec<i64>,
    letters: Vec<i64>,
    keyed: Vec<i64>,
    delivered: Vec<i64>,
}

impl Together {
    /// One more, with what hangs on it.
    pub(super) fn add(&mut self, id: i64, ties: Ties) {
        if ties.state == State::Dead {
            self.letters.push(id);
        } else {
            self.live.push(id);
        }
        if ties.keyed {
            self.keyed.push(id);
        }
        if ties.delivered {
            self.delivered.push(id);
        }
    }

    /// Whether a dead letter is among them.
    pub(super) fn has_letters(&self) -> bool {
        !self.letters.is_empty()
    }

    /// Letters come to life in a queue, live ones get the due time.
    pub(super) fn requeue(
        &self,
        conn: &Connection,
        queue_id: i64,
        due: Timestamp,
        reset: bool,
    ) -> Result<()> {
        each(conn, sql!("set_ready_all"), &self.live, &[&due.0])?;
        let more: &[&dyn ToSql] = &[&queue_id, &due.0, &reset];
        each(conn, sql!("revive_all"), &self.letters, more)?;
        each(conn, sql!("dead_delete_all"), &self.letters, &[])
    }

    /// They go, with their history; their keys stay taken until `keys_end`, or are free at once.
    pub(super) fn purge(
        &self,
        conn: &Connection,
        queue_id: i64,
        keys_end: Option<i64>,
    ) -> Result<()> {
        if !self.keyed.is_empty() {
            // The keys stand in the messages, which therefore go after them.
            let list = list(&self.keyed)?;
            match keys_end {
                None => conn
                    .prepare_cached(sql!("dedup_delete_all"))?
                    .execute(params![list, queue_id])?,
                Some(end) => conn
                    .prepare_cached(sql!("dedup_end_all"))?
                    .execute(params![list, queue_id, end])?,
            };
        }
        each(conn, sql!("live_delete_all"), &self.live, &[])?;
        each(conn, sql!("dead_delete_all"), &self.letters, &[])?;
        if !self.delivered.is_empty() {
            conn.prepare_cached(sql!("attempt_delete_all"))?
                .execute([list(&self.delivered)?])?;
        }
        Ok(())
    }
}

/// Runs a statement over messages that were seen under the same lock: it must reach each of them.
fn each(conn: &Connection, statement: &str, ids: &[i64], more: &[&dyn ToSql]) -> Result<()> {
    if ids.is_empty() {
        return Ok(());
    }
    let list = list(ids)?;
    let mut params: Vec<&dyn ToSql> = vec![&list];
    params.extend_from_slice(more);
    let reached = conn.prepare_cached(statement)?.execute(&params[..])?;
    if reached == ids.len() {
        return Ok(());
    }
    let what = format!("{reached} of {} messages were changed", ids.len());
    Err(Error::bug(what))
}

/// Numbers as a statement takes many of them.
fn list(ids: &[i64]) -> Result<String> {
    serde_json::to_string(ids)
        .map_err(|error| Error::bug("numbers that are no JSON").because(error))
}
