//! Every statement that is run for a message or a page finds its rows by an index.

use super::open;
use std::fs;
use std::path::Path;

/// Statements that look at whole tables on purpose, and why.
const WHOLE: &[(&str, &str)] = &[
    ("queues", "a queue a row"),
    ("headless_groups", "doctor"),
    ("orphan_keys", "doctor"),
    ("version", "one row"),
    ("has_meta", "the catalogue"),
    ("others", "the catalogue"),
];

#[test]
fn statements_use_an_index() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("q.db");
    drop(open(&path));
    let conn = rusqlite::Connection::open(&path).unwrap();
    let mut seen = 0;
    for entry in
        fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/backend/sqlite/sql")).unwrap()
    {
        let file = entry.unwrap().path();
        let name = file.file_stem().unwrap().to_str().unwrap().to_owned();
        let text = fs::read_to_string(&file).unwrap();
        let code: String = text
            .lines()
            .filter(|line| !line.starts_with("--"))
            .collect::<Vec<_>>()
            .join("\n");
        let verb = code.split_whitespace().next().unwrap_or_default();
        if !["SELECT", "UPDATE", "DELETE", "WITH", "INSERT"].contains(&verb) {
            continue;
        }
        seen += 1;
        let mut statement = conn
            .prepare(&format!("EXPLAIN QUERY PLAN {code}"))
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        let binds = vec![rusqlite::types::Value::Integer(1); statement.parameter_count()];
        let plan: Vec<String> = statement
            .query_map(rusqlite::params_from_iter(binds), |row| row.get(3))
            .unwrap()
            .collect::<Result<_, _>>()
            .unwrap();
        let whole = plan.iter().any(|step| {
            step.starts_with("SCAN ")
                && !step.contains("VALUES CLAUSE")
                && !step.starts_with("SCAN json_each")
                && !step.contains("CONSTANT ROW")
                && !step.contains("SUBQUERY")
                && *step != "SCAN p"
                && !step.starts_with("SCAN (subquery")
        });
        let excused = WHOLE.iter().any(|(known, _)| *known == name);
        assert_eq!(whole, excused, "{name}: {plan:#?}");
    }
    assert!(seen > 50, "the statements were not found");
}

/// A producer may give a million messages one due time; a page then begins in the middle of them.
#[test]
fn a_page_of_messages_due_at_one_instant_begins_by_a_seek() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("q.db");
    drop(open(&path));
    let conn = rusqlite::Connection::open(&path).unwrap();
    let sql = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/backend/sqlite/sql");
    for (name, seek) in [
        ("keys_due", "ready_at=? AND id>?"),
        ("keys_due_back", "ready_at=? AND id<?"),
    ] {
        let text = fs::read_to_string(sql.join(name).with_extension("sql")).unwrap();
        let mut statement = conn.prepare(&format!("EXPLAIN QUERY PLAN {text}")).unwrap();
        let binds = vec![rusqlite::types::Value::Integer(1); statement.parameter_count()];
        let plan: Vec<String> = statement
            .query_map(rusqlite::params_from_iter(binds), |row| row.get(3))
            .unwrap()
            .collect::<Result<_, _>>()
            .unwrap();
        assert!(
            plan.iter().any(|step| step.contains(seek)),
            "{name}: {plan:#?}"
        );
    }
}
