//! Housekeeping in small transactions, within a budget.

use super::super::{Chore, Result, Tended};
use super::conn::Store;
use super::full;
use super::settle::{bury, live};
use crate::queue::Reason;
use rusqlite::params;
use std::time::{Duration, Instant};

/// So many a transaction: other writers wait a few milliseconds at the most.
const FEW: u16 = 500;

/// [`super::super::Backend::tend`]: few messages a transaction, until nothing is left or the budget is over.
pub(super) fn tend(store: &mut Store, chore: Chore, budget: Duration) -> Result<Tended> {
    let Chore::Sweep = chore;
    let until = Instant::now() + budget;
    loop {
        let swept = store.write(|conn, now| {
            let expired: Vec<i64> = {
                let mut statement = conn.prepare_cached(sql!("expired_messages"))?;
                let rows = statement.query_map(params![now.0, FEW], |row| row.get(0))?;
                rows.collect::<rusqlite::Result<_>>()?
            };
            for id in &expired {
                if let Some(found) = live(conn, *id)?.filter(|found| found.expired(now)) {
                    bury(conn, &found, Reason::Expired, None, now)?;
                }
            }
            let windows = conn
                .prepare_cached(sql!("dedup_sweep"))?
                .execute(params![now.0, FEW])?;
            Ok(expired.len().max(windows))
        })?;
        if swept < usize::from(FEW) {
            break;
        }
        if Instant::now() >= until {
            return Ok(Tended { more: true });
        }
    }
    if store.ours {
        full::take_in(store)?;
    }
    Ok(Tended { more: false })
}
