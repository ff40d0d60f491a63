//! Housekeeping in small transactions, within a budget.

use super::super::{Chore, Result, Tended};
use super::conn::Store;
use std::time::{Duration, Instant};
use tokio_postgres::types::Type;

/// So many a transaction.
const FEW: i32 = 500;

pub(super) fn tend(store: &mut Store, chore: Chore, budget: Duration) -> Result<Tended> {
    let Chore::Sweep = chore;
    let until = Instant::now() + budget;
    loop {
        let skew = store.skew.micros();
        let rows = store.query(sql!("sweep"), &[(&FEW, Type::INT4), (&skew, Type::INT8)])?;
        let swept: i32 = match rows.first() {
            Some(row) => row.try_get(0)?,
            None => 0,
        };
        if swept < FEW {
            return Ok(Tended { more: false });
        }
        if Instant::now() >= until {
            return Ok(Tended { more: true });
        }
    }
}
