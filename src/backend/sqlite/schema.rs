//! The schema: what is there, and how it comes into being. The version is read again under the lock, so that any number
//! of processes may start at once.

use super::super::target::Journal;
use super::super::{Access, Error, Kind, Migrated, Result, Run};
use super::conn::Store;
use crate::queue::Hint;
use rusqlite::{Connection, OptionalExtension as _};
use std::time::{Duration, Instant};

/// The schema that this program writes.
pub(super) const VERSION: u32 = 1;

/// SQLite before 3.51.3 can damage a write-ahead log.
pub(super) const WAL_SAFE: i32 = 3_051_003;

/// How long a change of the journal waits for others to let go of the file.
const PATIENCE: Duration = Duration::from_secs(15);

/// What stands in a file.
enum Found {
    /// Nothing at all.
    Empty,
    /// Tables of somebody else, none of ours.
    Foreign,
    /// Our tables of this version, usable by this program.
    Ours(u32),
}

fn find(conn: &Connection) -> Result<Found> {
    let (has_meta, has_queues): (bool, bool) =
        conn.query_row(sql!("has_meta"), [], |row| Ok((row.get(0)?, row.get(1)?)))?;
    if !has_meta {
        if has_queues {
            let what = "the table qops_meta is missing, and others of ours are there";
            return Err(Error::new(Kind::Corrupt, what));
        }
        let others: i64 = conn.query_row(sql!("others"), [], |row| row.get(0))?;
        return Ok(if others == 0 {
            Found::Empty
        } else {
            Found::Foreign
        });
    }
    let row: Option<(u32, u32)> = conn
        .query_row(sql!("version"), [], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let Some((version, min_client)) = row else {
        return Err(Error::new(Kind::Corrupt, "the table qops_meta is empty"));
    };
    if min_client > VERSION {
        let what = format!("the store has schema {version}, and this qops knows {VERSION}");
        return Err(Error::new(Kind::Schema, what).hint("install the newer qops that made it"));
    }
    Ok(Found::Ours(version))
}

/// Looks at what is there when a handle is opened, and makes what a writing handle may make. Answers whether the store
/// came into being.
pub(super) fn ready(store: &mut Store) -> Result<bool> {
    let path = store.file.path.display().to_string();
    let found = find(&store.conn).map_err(|error| error.with("path", path.clone()))?;
    let others: i64 = store.conn.query_row(sql!("others"), [], |row| row.get(0))?;
    store.ours = others == 0;
    let missing = |what: &str| {
        Err(Error::new(Kind::Schema, format!("{path} {what}"))
            .with("path", path.clone())
            .hint(Hint::run("init", &[])))
    };
    match (found, store.access) {
        (Found::Ours(version), Access::Read) if version < VERSION => missing(&format!(
            "has schema {version}, and this qops wants {VERSION}"
        )),
        (Found::Ours(_), Access::Read) | (_, Access::Init | Access::Plan) => Ok(false),
        (Found::Ours(version), Access::Write) if version < VERSION && !store.ours => missing(
            &format!("has schema {version}, and this qops wants {VERSION}"),
        ),
        (Found::Ours(version), Access::Write) => {
            journal(store)?;
            if version < VERSION {
                migrate(store, Run::Do)?;
            }
            Ok(false)
        }
        (Found::Empty, Access::Read) => {
            let what = format!("{path} is empty: there is no store in it");
            Err(Error::new(Kind::NotFound, what).with("store", path.clone()))
        }
        (Found::Empty, Access::Write) => migrate(store, Run::Do).map(|done| done.from == 0),
        (Found::Foreign, Access::Read | Access::Write) => {
            missing("is another application's file, without our tables")
        }
    }
}

/// Sets the journal of a file that is ours. A file that was made with another one keeps it, unless the URL asks for the
/// rollback journal: two processes with different URLs would turn it back and forth.
fn journal(store: &Store) -> Result<()> {
    let mode = journal_mode(&store.conn)?;
    if mode == "wal" {
        refuse_old_engine()?;
    }
    if !store.ours || store.file.journal == Journal::Wal || mode == "delete" {
        return Ok(());
    }
    set_journal(&store.conn, Journal::Delete)
}

/// How the file keeps a commit whole.
pub(super) fn journal_mode(conn: &Connection) -> Result<String> {
    Ok(conn.query_row("PRAGMA journal_mode", [], |row| row.get(0))?)
}

fn refuse_old_engine() -> Result<()> {
    if rusqlite::version_number() >= WAL_SAFE {
        return Ok(());
    }
    let what = format!(
        "SQLite {} can damage a write-ahead log",
        rusqlite::version()
    );
    Err(Error::new(Kind::Schema, what)
        .hint("build with SQLite 3.51.3 or newer, or use ?journal=delete"))
}

fn set_journal(conn: &Connection, journal: Journal) -> Result<()> {
    if journal == Journal::Wal {
        refuse_old_engine()?;
    }
    let wanted = journal.word();
    let end = Instant::now() + PATIENCE;
    loop {
        let answer: rusqlite::Result<String> =
            conn.query_row(&format!("PRAGMA journal_mode={wanted}"), [], |row| {
                row.get(0)
            });
        let error = match answer {
            Ok(mode) if mode == wanted => return Ok(()),
            Ok(mode) => {
                return Err(Error::new(
                    Kind::Schema,
                    format!("this disk cannot have the journal '{wanted}'; it stays '{mode}'"),
                )
                .hint("add ?journal=delete to the URL"));
            }
            Err(error) => Error::from(error),
        };
        if error.kind() != Kind::Busy || Instant::now() >= end {
            return Err(error);
        }
        // A change of the journal does not wait for others by itself.
        std::thread::sleep(Duration::from_millis(fastrand::u64(5..25)));
    }
}

/// Brings the file to this program's schema.
pub(super) fn migrate(store: &mut Store, run: Run) -> Result<Migrated> {
    let statements = vec![sql!("schema").trim_end().to_owned(), meta_row()];
    if run == Run::Dry {
        let from = match find(&store.conn)? {
            Found::Empty | Found::Foreign => 0,
            Found::Ours(version) => version,
        };
        let statements = if from >= VERSION {
            Vec::new()
        } else {
            statements
        };
        return Ok(Migrated {
            from,
            to: from.max(VERSION),
            statements,
        });
    }
    if store.ours && matches!(find(&store.conn)?, Found::Empty) {
        set_journal(&store.conn, store.file.journal)?;
    }
    let done = store.write(|conn, _| match find(conn)? {
        Found::Ours(version) => Ok(Migrated {
            from: version,
            to: version.max(VERSION),
            statements: Vec::new(),
        }),
        Found::Empty | Found::Foreign => {
            for statement in &statements {
                conn.execute_batch(statement)?;
            }
            Ok(Migrated {
                from: 0,
                to: VERSION,
                statements: statements.clone(),
            })
        }
    })?;
    Ok(done)
}

fn meta_row() -> String {
    format!("INSERT INTO qops_meta(version, min_client) VALUES({VERSION}, {VERSION});")
}
