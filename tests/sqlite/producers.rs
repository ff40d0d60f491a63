//! Other programs at the same tables, with the machine's own sqlite3.

use super::{claim, open, put, queue};
use qops::backend::Page;
use qops::queue::{Order, Selection, State};
use std::path::Path;
use std::process::Command;

fn sqlite3(path: &Path, script: &str) -> (bool, String) {
    let out = Command::new("sqlite3")
        .arg("-bail")
        .arg(path)
        .arg(script)
        .output()
        .expect("sqlite3 is installed");
    let text = [out.stdout, out.stderr]
        .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
        .concat();
    (out.status.success(), text)
}

#[test]
fn an_insert_into_the_view_is_an_enqueue() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("q.db");
    drop(open(&path));
    let (ok, said) = sqlite3(
        &path,
        "INSERT INTO qops_enqueue(queue,payload,key,group_key,priority,delay_seconds,ttl_seconds,headers,max_attempts)
           VALUES('mail','{\"to\":1}','k:1','g',3,0,3600,'{\"a\":\"1\",\"n\":2}',4);
         INSERT INTO qops_enqueue(queue,payload,key) VALUES('mail','again','k:1');
         INSERT INTO qops_enqueue(queue,payload,group_key) VALUES('mail',x'00ff','g');
         INSERT INTO qops_enqueue(queue,payload,delay_seconds) VALUES('mail','later',60);",
    );
    assert!(ok, "{said}");
    let mut store = open(&path);
    let seen = store
        .peek(
            &Selection::of(queue("mail")),
            &Page::first(10, Order::Oldest),
        )
        .unwrap()
        .rows;
    let states: Vec<State> = seen.iter().map(|message| message.state).collect();
    assert_eq!(states, [State::Ready, State::Blocked, State::Delayed]);
    let first = &seen[0];
    assert_eq!(first.payload, b"{\"to\":1}");
    assert_eq!(
        (first.key.as_deref(), first.priority, first.max_attempts),
        (Some("k:1"), 3, Some(4))
    );
    assert_eq!(
        first.headers,
        [
            ("a".to_owned(), "1".to_owned()),
            ("n".to_owned(), "2".to_owned())
        ]
    );
    let lives = first.expires_at.unwrap().since(first.enqueued_at);
    assert_eq!(lives.as_secs(), 3600);
    assert_eq!(seen[1].payload, [0, 0xff]);
    assert_eq!(claim(store.as_mut(), "mail", 10).unwrap().len(), 1);
}

#[test]
fn a_rolled_back_insert_was_never_there() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("q.db");
    put(open(&path).as_mut(), "mail", b"x").unwrap();
    let (ok, said) = sqlite3(
        &path,
        "BEGIN; INSERT INTO qops_enqueue(queue,payload,key) VALUES('mail','y','k'); ROLLBACK;
         INSERT INTO qops_enqueue(queue,payload,key) VALUES('mail','z','k');
         SELECT group_concat(payload) FROM qops_messages;",
    );
    assert!(ok, "{said}");
    assert_eq!(said.trim(), "x,z");
}

#[test]
fn the_view_refuses_what_is_no_message() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("q.db");
    drop(open(&path));
    for values in [
        "('mail',NULL)",
        "('mail',42)",
        "(NULL,'x')",
        "(' mail','x')",
        "('-','x')",
        "('a'||char(10),'x')",
        "(printf('%.*c',201,'x'),'x')",
    ] {
        let (ok, said) = sqlite3(
            &path,
            &format!("INSERT INTO qops_enqueue(queue,payload) VALUES{values}"),
        );
        assert!(!ok, "{values}: {said}");
    }
    let (ok, _) = sqlite3(
        &path,
        "INSERT INTO qops_enqueue(queue,payload,priority) VALUES('mail','x',10)",
    );
    assert!(!ok);
    let (ok, said) = sqlite3(&path, "SELECT count(*) FROM qops_message");
    assert_eq!((ok, said.trim()), (true, "0"));
}

#[test]
fn the_readable_view_shows_the_queue() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("q.db");
    let mut store = open(&path);
    for payload in ["a", "b"] {
        put(store.as_mut(), "mail", payload.as_bytes()).unwrap();
    }
    claim(store.as_mut(), "mail", 1).unwrap();
    let (ok, said) = sqlite3(
        &path,
        "SELECT id, queue, state, payload, worker FROM qops_messages ORDER BY id",
    );
    assert_eq!(
        (ok, said.trim()),
        (true, "1|mail|running|a|test:1\n2|mail|ready|b|")
    );
}
