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

/// Plans are made as the store makes them: without a look at what is bound.
fn planner(path: &Path) -> rusqlite::Connection {
    let conn = rusqlite::Connection::open(path).unwrap();
    conn.set_db_config(
        rusqlite::config::DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG,
        true,
    )
    .unwrap();
    conn
}

#[test]
fn statements_use_an_index() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("q.db");
    drop(open(&path));
    let conn = planner(&path);
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
    let conn = planner(&path);
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

/// A small queue is walked by its own indexes, however large its neighbour is.
#[test]
fn a_small_queue_is_walked_past_a_large_one() {
    use super::{put, queue};
    use qops::backend::Page;
    use qops::queue::{Order, Selection};
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("q.db");
    let mut store = open(&path);
    let fill = |n: u32| {
        let conn = planner(&path);
        conn.execute(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<?1)
             INSERT INTO qops_message(queue_id, ready_at, enqueued_at, payload)
             SELECT (SELECT id FROM qops_queue WHERE name='large'), 0, 0, 'x' FROM n",
            [n],
        )
        .unwrap();
    };
    put(store.as_mut(), "large", b"x").unwrap();
    let mut mine = vec![];
    for n in 0..3 {
        mine.push(put(store.as_mut(), "small", b"x").unwrap());
        fill(if n == 1 { 60_000 } else { 700 });
        mine.push(put(store.as_mut(), "small", b"x").unwrap());
    }
    for reverse in [false, true] {
        let mut found = vec![];
        let mut after = None;
        let mut pages = 0;
        loop {
            let page = Page {
                after: after.as_ref(),
                reverse,
                scan: 2_000,
                ..Page::first(4, Order::Oldest)
            };
            let peeked = store.peek(&Selection::of(queue("small")), &page).unwrap();
            found.extend(peeked.rows.into_iter().map(|message| message.id));
            pages += 1;
            after = peeked.next;
            if after.is_none() {
                break;
            }
        }
        if reverse {
            found.reverse();
        }
        assert_eq!(found, mine);
        assert!(pages <= 3, "{pages} pages for six messages");
    }
}
