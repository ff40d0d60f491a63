//! Other programs at the same tables, with the machine's own sqlite3.

use super::{claim, done, open, open_url, put, queue};
use qops::backend::{Access, Backend, Change, Depth, Page, Run, Settled};
use qops::queue::{Due, Message, Order, Selection, State};
use std::path::Path;
use std::process::Command;

fn seen(store: &mut dyn Backend, name: &str) -> Vec<Message> {
    let page = Page::first(100, Order::Oldest);
    store.peek(&Selection::of(queue(name)), &page).unwrap().rows
}

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
        "('a'||char(160),'x')",
        "(char(12288)||'a','x')",
        "('a'||char(8199),'x')",
    ] {
        let (ok, said) = sqlite3(
            &path,
            &format!("INSERT INTO qops_enqueue(queue,payload) VALUES{values}"),
        );
        assert!(!ok, "{values}: {said}");
    }
    for (column, value) in [
        ("priority", "10"),
        ("priority", "1.5"),
        ("priority", "'high'"),
        ("max_attempts", "0"),
        ("max_attempts", "2.5"),
        ("max_attempts", "'many'"),
        ("max_attempts", "4294967296"),
        ("delay_seconds", "1e300"),
        ("ttl_seconds", "1e300"),
        ("key", "x'00'"),
        ("key", "''"),
        ("group_key", "x'00'"),
        ("group_key", "''"),
        ("delay_seconds", "'5m'"),
        ("delay_seconds", "'soon'"),
        ("delay_seconds", "''"),
        ("delay_seconds", "-1"),
        ("ttl_seconds", "'1h'"),
        ("ttl_seconds", "0"),
        ("ttl_seconds", "-1"),
        ("ttl_seconds,delay_seconds", "60,60"),
        ("headers", "'not json'"),
        ("headers", "'[1,2]'"),
        ("headers", "7"),
    ] {
        let (ok, said) = sqlite3(
            &path,
            &format!("INSERT INTO qops_enqueue(queue,payload,{column}) VALUES('mail','x',{value})"),
        );
        assert!(!ok, "{column} {value}: {said}");
    }
    let over = "INSERT INTO qops_enqueue(queue,payload) VALUES('mail',zeroblob(16777217))";
    let (ok, said) = sqlite3(&path, over);
    assert!(!ok && said.contains("16 MiB"), "{said}");
    let (ok, said) = sqlite3(&path, "SELECT count(*) FROM qops_message");
    assert_eq!((ok, said.trim()), (true, "0"));
    // Drivers that bind everything as text are understood.
    let (ok, said) = sqlite3(
        &path,
        "INSERT INTO qops_enqueue(queue,payload,delay_seconds,ttl_seconds,headers) VALUES('mail','x','1.5','60','{\"a\":\"b\"}');
         INSERT INTO qops_enqueue(queue,payload,delay_seconds,ttl_seconds) VALUES('mail','x',0,0.5);
         SELECT count(*), sum(ready_at-enqueued_at) FROM qops_message",
    );
    assert_eq!((ok, said.trim()), (true, "2|1500000"));
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

/// Numbers where texts are meant are their digits, as everywhere in SQLite.
#[test]
fn numbers_are_texts_to_keys_and_groups() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("q.db");
    drop(open(&path));
    let (ok, said) = sqlite3(
        &path,
        "INSERT INTO qops_enqueue(queue,payload,key,group_key,delay_seconds,max_attempts) VALUES(7,'a',42,1,0.0,'3');
         INSERT INTO qops_enqueue(queue,payload,key,group_key) VALUES('7','b','42','1');
         INSERT INTO qops_enqueue(queue,payload,key,group_key) VALUES('7','c',43,'1');",
    );
    assert!(ok, "{said}");
    let mut store = open(&path);
    let rows = seen(store.as_mut(), "7");
    let told: Vec<_> = rows
        .iter()
        .map(|message| {
            (
                message.payload.as_slice(),
                message.key.as_deref(),
                message.state,
            )
        })
        .collect();
    assert_eq!(
        told,
        [
            (b"a".as_slice(), Some("42"), State::Ready),
            (b"c", Some("43"), State::Blocked)
        ]
    );
    assert_eq!(rows[0].max_attempts, Some(3));
}

/// A text may be any bytes to SQLite. What another program put in runs, ends and is deleted like any other message.
#[test]
fn keys_and_groups_that_are_no_utf8_are_messages_like_others() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("q.db");
    let mut store = open(&path);
    let insert = "INSERT INTO qops_enqueue(queue,payload,key,group_key,headers)
        VALUES('mail',CAST(x'ff' AS TEXT),CAST(x'6bff' AS TEXT),CAST(x'67ff' AS TEXT),CAST(x'7bff7d' AS TEXT));";
    let second = insert.replace("x'6bff'", "x'6bfe'");
    let (ok, said) = sqlite3(&path, &format!("{insert}{second}"));
    assert!(ok, "{said}");
    let got = claim(store.as_mut(), "mail", 10).unwrap();
    assert_eq!(got.len(), 1, "the other one is behind it in its group");
    assert_eq!(got[0].message.payload, [0xff]);
    assert_eq!(done(store.as_mut(), &got).unwrap(), [Settled::Yes]);
    let got = claim(store.as_mut(), "mail", 10).unwrap();
    assert_eq!(got.len(), 1, "its group went on");
    let (ok, _) = sqlite3(&path, insert);
    assert!(ok);
    assert_eq!(
        seen(store.as_mut(), "mail").len(),
        1,
        "its key is taken for the window"
    );
    let purge = Change::Purge { free_keys: true };
    let what = Selection {
        states: vec![State::Running],
        ..Selection::of(queue("mail"))
    };
    let intent = qops::backend::Intent {
        verb: "purge",
        who: "test",
        why: "",
    };
    let op = store.begin(&intent).unwrap();
    let page = Page::first(10, Order::Oldest);
    let changed = store.change(&what, &purge, &op, &page, Run::Do).unwrap();
    assert_eq!(changed.done.len(), 1);
    let (_, said) = sqlite3(
        &path,
        &format!("{second} SELECT count(*) FROM qops_message"),
    );
    assert_eq!(said.trim(), "1", "its key was freed");
    assert_eq!(store.examine().unwrap(), []);
}

/// A dead letter with such a key moves to another queue and back with all that it has.
#[test]
fn letters_with_keys_that_are_no_utf8_move() {
    use qops::backend::{Exchange, Settle, Verdict};
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("q.db");
    let mut store = open(&path);
    let (ok, said) = sqlite3(
        &path,
        "INSERT INTO qops_enqueue(queue,payload,key,group_key)
           VALUES('mail','x',CAST(x'6bff' AS TEXT),CAST(x'67ff' AS TEXT))",
    );
    assert!(ok, "{said}");
    let got = claim(store.as_mut(), "mail", 1).unwrap();
    let bury = Settle {
        receipt: &got[0].receipt,
        verdict: Verdict::Dead(qops::queue::Reason::Nacked),
        end: None,
    };
    let turn = Exchange {
        settle: &[bury],
        claim: None,
    };
    store.exchange(&turn).unwrap();
    let to = queue("other");
    let requeue = Change::Requeue {
        due: Due::Now,
        to: Some(&to),
        reset: true,
    };
    let what = Selection {
        states: vec![State::Dead],
        ..Selection::of(queue("mail"))
    };
    let intent = qops::backend::Intent {
        verb: "drain",
        who: "test",
        why: "",
    };
    let op = store.begin(&intent).unwrap();
    let page = Page::first(10, Order::Oldest);
    let changed = store.change(&what, &requeue, &op, &page, Run::Do).unwrap();
    assert_eq!((changed.done.len(), changed.skipped.len()), (1, 0));
    let (_, said) = sqlite3(
        &path,
        "SELECT hex(m.key), hex(group_key), d.queue_id=m.queue_id FROM qops_message m JOIN qops_dedup d ON d.message_id=m.id",
    );
    assert_eq!(said.trim(), "6BFF|67FF|1");
    let got = claim(store.as_mut(), "other", 1).unwrap();
    assert_eq!(done(store.as_mut(), &got).unwrap(), [Settled::Yes]);
    assert_eq!(store.examine().unwrap(), []);
}

/// A name that no verb can name hides no other queue, and `doctor` tells of it.
#[test]
fn a_name_that_is_no_utf8_hides_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("q.db");
    let mut store = open(&path);
    put(store.as_mut(), "mail", b"x").unwrap();
    let (ok, said) = sqlite3(
        &path,
        "INSERT INTO qops_enqueue(queue,payload) VALUES(CAST(x'ff' AS TEXT),'x')",
    );
    assert!(ok, "{said}");
    let names: Vec<String> = store
        .stats(None, Depth::Quick)
        .unwrap()
        .iter()
        .map(|report| report.queue.to_string())
        .collect();
    assert_eq!(names, ["mail"]);
    let codes: Vec<_> = store
        .examine()
        .unwrap()
        .iter()
        .map(|finding| finding.code)
        .collect();
    assert_eq!(codes, ["bad_name"]);
}

/// SQLite rewrites the texts of a file in UTF-16, and older engines lose characters on the way.
#[test]
fn bytes_are_kept_in_an_applications_utf16_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("app.db");
    let url = format!("sqlite:{}", path.display());
    let (ok, said) = sqlite3(
        &path,
        "PRAGMA encoding='UTF-16le'; CREATE TABLE payment(id INTEGER)",
    );
    assert!(ok, "{said}");
    open_url(&url, Access::Init)
        .unwrap()
        .migrate(Run::Do)
        .unwrap();
    let mut store = open(&path);
    let payloads = ["\u{fffe}\u{ffff}", "\u{feff}bom", "a\0b", "\u{10ffff}é"];
    for payload in payloads {
        put(store.as_mut(), "mail", payload.as_bytes()).unwrap();
    }
    let (ok, said) = sqlite3(
        &path,
        "INSERT INTO qops_enqueue(queue,payload,key) VALUES('mail','é','k')",
    );
    assert!(ok, "{said}");
    let rows = seen(store.as_mut(), "mail");
    for (row, payload) in rows.iter().zip(payloads) {
        assert_eq!(row.payload, payload.as_bytes(), "{payload:?}");
    }
    assert_eq!(rows[4].payload, "é".as_bytes());
    let got = claim(store.as_mut(), "mail", 10).unwrap();
    assert_eq!(done(store.as_mut(), &got).unwrap(), vec![Settled::Yes; 5]);
}
