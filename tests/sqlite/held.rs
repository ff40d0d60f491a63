//! How long a change holds up other writers: what one transaction reads for a filter is bounded.

use super::{open, put, queue};
use qops::backend::{Backend, Change, Changed, Intent, Page, Run};
use qops::queue::{Cursor, Order, Selection};

const LARGE: usize = 1 << 20;
const COUNT: usize = 24;

fn page(after: Option<&Cursor>) -> Page<'_> {
    Page {
        after,
        ..Page::first(5_000, Order::Oldest)
    }
}

/// A purge of what `what` means, chunk by chunk.
fn purge(store: &mut dyn Backend, what: &Selection) -> Vec<Changed> {
    let intent = Intent {
        verb: "purge",
        who: "test",
        why: "",
    };
    let op = store.begin(&intent).unwrap();
    let change = Change::Purge { free_keys: true };
    let mut chunks: Vec<Changed> = vec![];
    loop {
        let after = chunks.last().and_then(|chunk| chunk.next.clone());
        let page = page(after.as_ref());
        let changed = store.change(what, &change, &op, &page, Run::Do).unwrap();
        let end = changed.next.is_none();
        chunks.push(changed);
        if end {
            return chunks;
        }
    }
}

#[test]
fn a_chunk_reads_no_more_for_a_filter_than_a_page_of_payload() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(&folder.path().join("q.db"));
    let mut payload = vec![b'x'; LARGE];
    for n in 0..COUNT {
        payload[LARGE - 1] = if n % 6 == 5 { b'!' } else { b'x' };
        put(store.as_mut(), "a", &payload).unwrap();
    }
    let some = Selection {
        grep: Some("x!".to_owned()),
        ..Selection::of(queue("a"))
    };
    let none = Selection {
        grep: Some("?".to_owned()),
        ..some.clone()
    };
    let ids = (1..=COUNT).map(|n| n.to_string().into()).collect();
    let none_of_these = Selection {
        ids: Some(ids),
        ..none.clone()
    };
    let least = LARGE * COUNT / (page(None).bytes + LARGE);
    for (what, meant) in [(none_of_these, 0), (none, 0), (some, COUNT / 6)] {
        let chunks = purge(store.as_mut(), &what);
        assert!(chunks.len() > least, "{} chunks", chunks.len());
        let done: usize = chunks.iter().map(|chunk| chunk.done.len()).sum();
        assert_eq!(done, meant);
    }
}
