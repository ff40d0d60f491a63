//! Keys, and the numbers of the messages that have them.

use super::{open, put, queue};
use qops::backend::{Page, Unit};
use qops::queue::{Enqueued, NewMessage, Order, Selection};

/// A key is taken before its message is stored, under the number that it is about to get.
#[test]
fn a_key_leads_to_its_message_whoever_set_the_numbers() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("q.db");
    let mut store = open(&path);
    for _ in 0..5 {
        put(store.as_mut(), "a", b"x").unwrap();
    }
    let conn = rusqlite::Connection::open(&path).unwrap();
    let set_back = "UPDATE sqlite_sequence SET seq=0 WHERE name='qops_message'";
    assert_eq!(conn.execute(set_back, []).unwrap(), 1);
    let keyed = |key: &'static str| NewMessage {
        key: Some(key.into()),
        ..NewMessage::new(queue("a"), b"x".as_slice())
    };
    let batch = ["k", "l", "k"].map(keyed);
    let answer = store.enqueue(&batch, Unit::Each).unwrap();
    let [
        Enqueued::New(first),
        Enqueued::New(second),
        Enqueued::Duplicate(third),
    ] = &answer[..]
    else {
        panic!("{answer:?}")
    };
    assert_ne!(first, second);
    assert_eq!(first, third);
    let again = store.enqueue(&[keyed("l")], Unit::Each).unwrap();
    assert_eq!(again, [Enqueued::Duplicate(second.clone())]);
    for (key, id) in [("k", first), ("l", second)] {
        let what = Selection {
            key: Some(key.to_owned()),
            ..Selection::of(queue("a"))
        };
        let page = Page::first(9, Order::Run);
        let rows = store.peek(&what, &page).unwrap().rows;
        let found: Vec<_> = rows.iter().map(|message| &message.id).collect();
        assert_eq!(found, [id]);
    }
}
