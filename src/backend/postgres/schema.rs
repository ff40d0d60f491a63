//! The schema: what is there, and how it comes into being. It is created by `init` alone.

use super::super::{Access, Error, Kind, Migrated, Result, Run};
use super::conn::{LONG_CALL, Store};
use crate::queue::Hint;
use std::borrow::Cow;

/// The schema that this program writes.
pub(super) const VERSION: u32 = 1;

/// What makes version 1, in order.
const DEFINITIONS: &[&str] = &[
    sql!("define/00_schema"),
    sql!("define/01_tables"),
    sql!("define/02_views"),
    sql!("define/03_group"),
    sql!("define/04_parts"),
    sql!("define/05_settle"),
    sql!("define/06_claim"),
    sql!("define/07_exchange"),
    sql!("define/08_producers"),
    sql!("define/09_change"),
    sql!("define/10_stats"),
    sql!("define/11_heads"),
    sql!("define/99_version"),
];

/// How a statement's text names the schema before a name in it, and by itself.
const NAME: &str = "qops.";
const IDENTIFIER: &str = "\"qops\"";

/// A statement, its names in a schema.
pub(super) fn in_schema<'a>(statement: &'a str, schema: &str) -> Cow<'a, str> {
    if schema == "qops" {
        Cow::Borrowed(statement)
    } else {
        let quoted = quoted(schema);
        let named = statement.replace(NAME, &format!("{quoted}."));
        Cow::Owned(named.replace(IDENTIFIER, &quoted))
    }
}

/// A name as an identifier.
fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// The version that is there; none where our tables are not.
fn find(store: &mut Store) -> Result<Option<u32>> {
    let found = store.query(sql!("version"), &[]);
    let rows = match found {
        Ok(rows) => rows,
        Err(error) if error.kind() == Kind::Schema => return Ok(None),
        Err(error) => return Err(error),
    };
    let Some(row) = rows.first() else {
        return Ok(None);
    };
    let (version, min_client): (i32, i32) = (row.try_get(0)?, row.try_get(1)?);
    let version = u32::try_from(version).unwrap_or(0);
    if u32::try_from(min_client).unwrap_or(u32::MAX) > VERSION {
        let what = format!(
            "{} has schema {version}, made by a newer qops; this one knows {VERSION}",
            store.server.place()
        );
        return Err(Error::new(Kind::Schema, what).hint("use the newer qops"));
    }
    Ok(Some(version))
}

/// Looks at what is there. What is missing is left to `init`.
pub(super) fn ready(store: &mut Store) -> Result<()> {
    if matches!(store.access, Access::Init | Access::Plan) {
        return Ok(());
    }
    let what = match find(store)? {
        Some(version) if version >= VERSION => return Ok(()),
        Some(version) => format!(
            "{} has schema {version}, and this qops wants {VERSION}",
            store.server.place()
        ),
        None => format!(
            "there are no tables of qops in the schema '{}' of {}",
            store.server.schema,
            store.server.place()
        ),
    };
    Err(Error::new(Kind::Schema, what).hint(Hint::run("init", &[])))
}

fn statements(schema: &str) -> Vec<String> {
    DEFINITIONS
        .iter()
        .map(|text| in_schema(text, schema).trim_end().to_owned())
        .collect()
}

/// Creates or upgrades the schema. A dry run asks nobody.
pub(super) fn migrate(store: &mut Store, run: Run) -> Result<Migrated> {
    let statements = statements(&store.server.schema);
    if run == Run::Dry && store.access == Access::Plan {
        return Ok(Migrated {
            from: 0,
            to: VERSION,
            statements,
        });
    }
    if let Some(version) = find(store)?.filter(|version| *version >= VERSION) {
        return Ok(Migrated {
            from: version,
            to: version,
            statements: Vec::new(),
        });
    }
    if run == Run::Dry {
        return Ok(Migrated {
            from: 0,
            to: VERSION,
            statements,
        });
    }
    let schema = store.server.schema.clone();
    store.write(LONG_CALL, &mut |tx| {
        // One after the other, however many start at once; the lock ends with the transaction.
        tx.query(
            sql!("migrate_lock"),
            &[(&schema.as_str(), tokio_postgres::types::Type::TEXT)],
        )?;
        let there = tx.query(
            sql!("has_meta"),
            &[(&schema.as_str(), tokio_postgres::types::Type::TEXT)],
        )?;
        if !there.is_empty() {
            return Ok(Migrated {
                from: VERSION,
                to: VERSION,
                statements: Vec::new(),
            });
        }
        for statement in &statements {
            tx.batch(LONG_CALL, statement)?;
        }
        Ok(Migrated {
            from: 0,
            to: VERSION,
            statements: statements.clone(),
        })
    })
}

/// What gives others their rights, for whoever owns the schema to run.
#[must_use]
pub(super) fn grants(schema: &str) -> String {
    in_schema(sql!("grants"), schema).into_owned()
}
