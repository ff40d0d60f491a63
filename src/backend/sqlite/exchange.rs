//! The worker's round trip: settle, then claim, in one transaction.

use super::super::{Claim, Claimed, Exchange, Exchanged, Kind, Result};
use super::conn::Store;
use super::{claim, full, letters, settle};
use crate::queue::Timestamp;
use rusqlite::Connection;

/// [`super::super::Backend::exchange`]. A claim that fails is undone by itself: what was settled beside it stands.
pub(super) fn exchange(store: &mut Store, turn: &Exchange<'_>) -> Result<Exchanged> {
    if turn.settle.is_empty() && turn.claim.is_none() {
        return Ok(Exchanged {
            settled: Vec::new(),
            claimed: Ok(Claimed::default()),
        });
    }
    if store.disk.is_full() && full::admit(store).is_err() {
        return full::settle_what_is_done(store, turn);
    }
    if let (true, Some(wanted)) = (turn.settle.is_empty(), &turn.claim)
        && let Some(nothing) = letters::nothing(store, wanted)?
    {
        return Ok(Exchanged {
            settled: Vec::new(),
            claimed: Ok(nothing),
        });
    }
    let identity = store.identity.clone();
    let exchanged = store.write(|conn, now| {
        let settled = turn
            .settle
            .iter()
            .map(|one| settle::settle(conn, one, now))
            .collect::<Result<Vec<_>>>()?;
        let claimed = match &turn.claim {
            None => Ok(Claimed::default()),
            Some(wanted) if turn.settle.is_empty() => {
                match claim::claim(conn, wanted, &identity, now) {
                    // Nothing was done yet that would have to be taken back.
                    Err(error) if error.kind() == Kind::NotFound => Err(error),
                    claimed => Ok(claimed?),
                }
            }
            Some(wanted) => claim_apart(conn, wanted, &identity, now)?,
        };
        Ok(Exchanged { settled, claimed })
    });
    match exchanged {
        // Whoever finds the disk full has what is done settled all the same.
        Err(error) if error.kind() == Kind::Full && full::done_alone(turn) => {
            full::settle_what_is_done(store, turn)
        }
        exchanged => exchanged,
    }
}

/// A claim that fails takes only itself back: what was settled before it stands.
fn claim_apart(
    conn: &Connection,
    wanted: &Claim<'_>,
    identity: &str,
    now: Timestamp,
) -> Result<Result<Claimed>> {
    conn.prepare_cached(sql!("savepoint"))?.execute([])?;
    let claimed = claim::claim(conn, wanted, identity, now);
    if conn.is_autocommit() {
        // SQLite has rolled all of it back by itself, as on a full disk: the settles are gone too.
        return claimed.map(Ok);
    }
    if claimed.is_err() {
        conn.prepare_cached(sql!("savepoint_back"))?.execute([])?;
    }
    conn.prepare_cached(sql!("savepoint_end"))?.execute([])?;
    Ok(claimed)
}
