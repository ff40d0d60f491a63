//! What `doctor` finds in a file.

use super::super::target::Durability;
use super::super::{Depth, Finding, Kind, Result};
use super::conn::Store;
use super::look::number;
use super::place::{beside, filesystem, network_filesystem};
use super::{full, schema};
use crate::queue::Hint;
use std::fs;
use std::os::unix::fs::MetadataExt as _;

/// A log that is longer has a reader in its way.
const LONG_LOG: u64 = 64 << 20;
/// Less room on the disk is worth a word.
const LITTLE_ROOM: u64 = 64 << 20;
/// A file up to this size is read whole; of a larger one the structure alone.
const CHECKED_WHOLE: u64 = 256 << 20;

/// [`super::super::Backend::examine`]. The program is looked at first, then the file, then the queues.
pub(super) fn examine(store: &Store) -> Result<Vec<Finding>> {
    let mut found = Vec::new();
    let mut find = |code, severe, means: String, mend: Option<Hint>| {
        found.push(Finding {
            code,
            severe,
            means,
            mend,
        });
    };
    if rusqlite::version_number() < schema::WAL_SAFE {
        let means = format!(
            "SQLite {} can damage a write-ahead log",
            rusqlite::version()
        );
        find(
            "sqlite_version",
            true,
            means,
            Some("build qops with SQLite 3.51.3 or newer".into()),
        );
    }
    let mode: String = store
        .conn
        .query_row("PRAGMA journal_mode", [], |row| row.get(0))?;
    if store.ours {
        for suffix in ["", "-wal", "-shm", ".reserve"] {
            let file = beside(&store.file.path, suffix);
            let Ok(meta) = fs::symlink_metadata(&file) else {
                continue;
            };
            if meta.mode() & 0o077 != 0 {
                let means = format!(
                    "others on this machine may open {}: its mode is {:o}",
                    file.display(),
                    meta.mode() & 0o777
                );
                find(
                    "mode",
                    true,
                    means,
                    Some(format!("chmod 600 {}", file.display()).into()),
                );
            }
        }
        if mode == "wal" && !full::reserve_path(store).exists() {
            let means = "there is no reserve: on a full disk finished work may not be acknowledged"
                .to_owned();
            find(
                "no_reserve",
                false,
                means,
                Some("make room on the disk; the next write makes it again".into()),
            );
        }
    }
    disk(store, &mut find);
    // In a damaged file any look may fail: that it is damaged is then all that is known.
    match damage(store).and_then(|damage| match damage {
        None => queues(store, &mut found)
            .and_then(|()| promises(store, &mut found))
            .map(|()| None),
        damage => Ok(damage),
    }) {
        Ok(None) => {}
        Ok(Some(damage)) => found.push(damaged(store, &damage)),
        Err(error) if error.kind() == Kind::Corrupt => {
            found.push(damaged(store, &error.to_string()));
        }
        Err(error) => return Err(error),
    }
    Ok(found)
}

/// What the disk is like.
fn disk(store: &Store, find: &mut dyn FnMut(&'static str, bool, String, Option<Hint>)) {
    let path = store.file.path.display();
    if let Some(name) = filesystem(&store.file.path).and_then(network_filesystem) {
        let means =
            format!("{path} lies on {name}: with two machines messages are lost or run twice");
        find(
            "network_disk",
            true,
            means,
            Some("move the file to a local disk".into()),
        );
    }
    if store.file.durability == Durability::Normal {
        let means =
            "durability=normal: a power cut may take the last acknowledged messages".to_owned();
        find(
            "durability",
            false,
            means,
            Some("leave ?durability=normal out of the URL".into()),
        );
    }
    let log = fs::metadata(beside(&store.file.path, "-wal")).map_or(0, |log| log.len());
    if log > LONG_LOG {
        let means = format!(
            "the log is {} MiB long: some process has been reading for a long time",
            log >> 20
        );
        find(
            "long_log",
            false,
            means,
            Some(format!("find it with: fuser {path}").into()),
        );
    }
    if let Some(free) = full::free(&store.file.path).filter(|free| *free < LITTLE_ROOM) {
        let means = format!("{} MiB are free on the disk", free >> 20);
        find(
            "little_room",
            free < 8 << 20,
            means,
            Some("make room".into()),
        );
    }
}

fn queues(store: &Store, found: &mut Vec<Finding>) -> Result<()> {
    for name in super::stats::bad_names(store)? {
        found.push(Finding {
            code: "bad_name",
            severe: true,
            means: format!("another program made a queue '{name}', which no verb can name"),
            mend: Some("give it another name in the table qops_queue".into()),
        });
    }
    for report in super::stats::stats(store, None, Depth::Quick)? {
        let queue = report.queue.as_str();
        if report.settings.paused && report.counts.ready > 0 {
            found.push(Finding {
                code: "paused",
                severe: false,
                means: format!(
                    "the queue '{queue}' is paused, and {} in it",
                    many(report.counts.ready, "message waits", "messages wait")
                ),
                mend: Some(Hint::run("resume", &[queue])),
            });
        }
        if report.expired_leases > 0 {
            found.push(Finding {
                code: "expired_leases",
                severe: false,
                means: format!(
                    "a worker that held {} of '{queue}' is gone; the next claim takes back what it held",
                    many(report.expired_leases, "message", "messages")
                ),
                mend: Some(Hint::run("work", &[queue]).say(" -- COMMAND")),
            });
        }
        if report.counts.dead > 0 {
            found.push(Finding {
                code: "dead_letters",
                severe: false,
                means: format!(
                    "a decision is wanted on {} of '{queue}'",
                    many(report.counts.dead, "dead letter", "dead letters")
                ),
                mend: Some(Hint::run("peek --dead", &[queue])),
            });
        }
    }
    Ok(())
}

/// A number and its noun.
fn many(n: u64, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

/// What the tables promise each other.
fn promises(store: &Store, found: &mut Vec<Finding>) -> Result<()> {
    let headless = number(store, sql!("headless_groups"), [])?;
    if headless > 0 {
        found.push(Finding {
            code: "headless_groups",
            severe: true,
            means: format!(
                "{} for a head that the group does not have",
                many(headless, "message waits", "messages wait")
            ),
            mend: Some(
                "report it: this is a fault of qops, or of whoever wrote to its tables".into(),
            ),
        });
    }
    let orphans = number(store, sql!("orphan_keys"), [])?;
    if orphans > 0 {
        found.push(Finding {
            code: "orphan_keys",
            severe: true,
            means: format!(
                "{} held for a message that is not there",
                many(orphans, "key is", "keys are")
            ),
            mend: Some(
                "report it: this is a fault of qops, or of whoever wrote to its tables".into(),
            ),
        });
    }
    Ok(())
}

/// What is wrong with the structure of the file.
fn damage(store: &Store) -> Result<Option<String>> {
    let size = fs::metadata(&store.file.path).map_or(0, |meta| meta.len());
    let check = if size <= CHECKED_WHOLE {
        sql!("integrity")
    } else {
        sql!("integrity_quick")
    };
    let answer: String = store.conn.query_row(check, [], |row| row.get(0))?;
    Ok((answer != "ok").then_some(answer))
}

fn damaged(store: &Store, how: &str) -> Finding {
    let path = store.file.path.display();
    Finding {
        code: "damaged",
        severe: true,
        means: format!("the file is damaged: {}", how.replace('\n', "; ")),
        mend: Some(
            format!(
                "stop all that use it, then: sqlite3 {path} .recover | sqlite3 {path}.recovered"
            )
            .into(),
        ),
    }
}
