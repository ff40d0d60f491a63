//! What is wrong with the server, and what mends it.

use super::super::{Finding, Result};
use super::conn::Store;
use super::value::{Stamp, count};
use crate::queue::Timestamp;
use std::time::{SystemTime, UNIX_EPOCH};

/// So far two clocks may be apart.
const APART: u64 = 2_000_000;
/// So many transactions old may the oldest that others hold be.
const OLD: i64 = 100_000;

pub(super) fn examine(store: &mut Store) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for row in store.query(sql!("doctor_settings"), &[])? {
        let (name, value): (&str, &str) = (row.try_get(0)?, row.try_get(1)?);
        findings.push(Finding {
            code: "not_durable",
            severe: true,
            means: format!(
                "{name} is {value} on this server: a crash may take messages that were acknowledged"
            ),
            mend: Some(row.try_get::<_, String>(2)?.into()),
        });
    }
    for row in store.query(sql!("doctor_hidden"), &[])? {
        let table: &str = row.try_get(0)?;
        findings.push(Finding {
            code: "row_security",
            severe: true,
            means: format!(
                "row security hides rows of {table} from us: what we say is not there may be"
            ),
            mend: Some(row.try_get::<_, String>(1)?.into()),
        });
    }
    for row in store.query(sql!("doctor_horizon"), &[])? {
        let (kind, name, age): (&str, &str, i64) =
            (row.try_get(0)?, row.try_get(1)?, row.try_get(2)?);
        if age > OLD {
            findings.push(Finding {
                code: "old_snapshot",
                severe: false,
                means: format!(
                    "{kind} {name} holds rows that were deleted {age} transactions ago: claims go through all of them"
                ),
                mend: row.try_get::<_, Option<String>>(3)?.map(Into::into),
            });
        }
    }
    let here = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| {
            i64::try_from(since.as_micros()).unwrap_or(i64::MAX)
        });
    if let Some(row) = store.query(sql!("doctor_clock"), &[])?.first() {
        let there: Stamp = row.try_get(0)?;
        let apart = there
            .0
            .since(Timestamp(here))
            .max(Timestamp(here).since(there.0));
        if apart.as_micros() > u128::from(APART) {
            findings.push(Finding {
                code: "clock_offset",
                severe: false,
                means: format!(
                    "the server's clock and this machine's are {} s apart; times that are typed are meant by the server's",
                    apart.as_secs()
                ),
                mend: None,
            });
        }
        let standby: bool = row.try_get(1)?;
        if standby {
            findings.push(Finding {
                code: "replica",
                severe: false,
                means: "this server is a replica: it can be looked at, and nothing can be changed"
                    .to_owned(),
                mend: None,
            });
        }
    }
    for row in store.query(sql!("doctor_dead_rows"), &[])? {
        let (table, dead): (&str, i64) = (row.try_get(0)?, row.try_get(1)?);
        findings.push(Finding {
            code: "dead_rows",
            severe: false,
            means: format!("{} dead rows stand in {table}", count(dead)),
            mend: Some(row.try_get::<_, String>(2)?.into()),
        });
    }
    Ok(findings)
}
