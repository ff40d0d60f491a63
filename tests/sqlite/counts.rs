//! Counts of large queues: quick ones are estimates and say so.

use super::{open, queue};
use qops::backend::{Backend, Depth, QueueReport};
use std::path::Path;

fn fill(path: &Path, script: &str) {
    let conn = rusqlite::Connection::open(path).unwrap();
    conn.execute_batch(script).unwrap();
}

fn report(store: &mut dyn Backend, name: &str, depth: Depth) -> QueueReport {
    store.stats(Some(&[queue(name)]), depth).unwrap().remove(0)
}

fn near(guess: u64, truth: u64) -> bool {
    guess.abs_diff(truth) * 5 < truth
}

#[test]
fn a_quick_count_of_a_large_queue_is_near_and_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("q.db");
    let mut store = open(&path);
    fill(
        &path,
        "INSERT INTO qops_queue(name, created_at) VALUES('large', 0), ('small', 0), ('dead', 0);
         WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<240000)
         INSERT INTO qops_message(queue_id, ready_at, enqueued_at, payload)
         SELECT CASE WHEN i%60=0 THEN 2 ELSE 1 END, CASE WHEN i%3=0 THEN 9000000000000000 ELSE 0 END, 0, 'x' FROM n;
         INSERT INTO qops_dead(id, queue_id, died_at, reason, priority, ready_at, enqueued_at, attempts, deferrals, deliveries, replays, payload)
         SELECT id+1000000, 3, 0, 'attempts', 0, 0, 0, 1, 0, 1, 0, 'x' FROM qops_message WHERE id<=90000;
         DELETE FROM qops_message WHERE id BETWEEN 60001 AND 120000;",
    );
    let large = report(store.as_mut(), "large", Depth::Exact);
    assert!(large.exact);
    assert_eq!(
        (large.counts.ready, large.counts.delayed),
        (120_000, 57_000)
    );
    let quick = report(store.as_mut(), "large", Depth::Quick);
    assert!(!quick.exact);
    assert!(near(quick.counts.ready, 120_000), "{:?}", quick.counts);
    assert!(near(quick.counts.delayed, 57_000), "{:?}", quick.counts);
    let small = report(store.as_mut(), "small", Depth::Quick);
    assert!(small.exact);
    assert_eq!((small.counts.ready, small.counts.delayed), (0, 3_000));
    let dead = report(store.as_mut(), "dead", Depth::Quick);
    assert!(
        !dead.exact && near(dead.counts.dead, 90_000),
        "{:?}",
        dead.counts
    );
    assert_eq!(
        report(store.as_mut(), "dead", Depth::Exact).counts.dead,
        90_000
    );
}

/// Many queues share what a quick answer may look at.
#[test]
fn many_queues_are_counted_quickly() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("q.db");
    let mut store = open(&path);
    fill(
        &path,
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<400)
         INSERT INTO qops_queue(name, created_at) SELECT printf('q%03d', i), 0 FROM n;
         WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<60000)
         INSERT INTO qops_message(queue_id, ready_at, enqueued_at, payload)
         SELECT CASE WHEN i<=3000 THEN 1 ELSE 1+i%400 END, 0, 0, 'x' FROM n;",
    );
    let quick = store.stats(None, Depth::Quick).unwrap();
    let exact = store.stats(None, Depth::Exact).unwrap();
    assert_eq!(quick.len(), 400);
    for (quick, exact) in quick.iter().zip(&exact) {
        assert!(exact.exact);
        assert_eq!(quick.exact, exact.counts.ready <= 2_000, "{quick:?}");
        if quick.exact {
            assert_eq!(quick.counts, exact.counts);
        } else {
            assert!(quick.counts.ready > 2_000);
        }
    }
    assert!(!quick[0].exact && quick[1].exact);
}
