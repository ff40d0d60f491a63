//! What `doctor` finds in a file, and that it finds nothing in a sound one.

use super::{claim, open, open_url, options, put, queue, target};
use qops::backend::{
    Access, Backend, Exchange, OpenOptions, Patch, Setting, Settle, Verdict, registry,
};
use qops::queue::{Reason, Skew};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

struct Scene {
    #[expect(dead_code, reason = "the folder lives as long as the scene")]
    folder: tempfile::TempDir,
    path: PathBuf,
    store: Box<dyn Backend>,
}

impl Scene {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("q.db");
        let mut store = open(&path);
        put(store.as_mut(), "a", b"x").unwrap();
        Self {
            folder,
            path,
            store,
        }
    }

    fn beside(&self, suffix: &str) -> PathBuf {
        beside(&self.path, suffix)
    }

    fn sql(&self, script: &str) {
        let conn = rusqlite::Connection::open(&self.path).unwrap();
        conn.execute_batch(script).unwrap();
    }

    /// The codes, with a mark where messages are in danger.
    fn found(&mut self) -> Vec<String> {
        codes(self.store.as_mut())
    }
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

fn codes(store: &mut dyn Backend) -> Vec<String> {
    store
        .examine()
        .unwrap()
        .into_iter()
        .map(|finding| {
            assert!(
                !finding.means.is_empty() && finding.mend.is_some(),
                "{finding:?}"
            );
            assert!(!finding.means.contains('\n'), "{finding:?}");
            format!("{}{}", finding.code, if finding.severe { "!" } else { "" })
        })
        .collect()
}

#[test]
fn nothing_is_wrong_with_a_sound_file() {
    let mut scene = Scene::new();
    assert!(scene.found().is_empty());
    let read = &mut open_url(&format!("sqlite:{}", scene.path.display()), Access::Read).unwrap();
    assert!(codes(read.as_mut()).is_empty());
}

#[test]
fn modes_that_let_others_in() {
    let mut scene = Scene::new();
    let open = fs::Permissions::from_mode(0o644);
    fs::set_permissions(scene.beside("-wal"), open.clone()).unwrap();
    fs::set_permissions(&scene.path, open).unwrap();
    assert_eq!(scene.found(), ["mode!", "mode!"]);
}

#[test]
fn a_reserve_that_is_gone() {
    let mut scene = Scene::new();
    fs::remove_file(scene.beside(".reserve")).unwrap();
    assert_eq!(scene.found(), ["no_reserve"]);
    // The next that opens it for writing makes it again, as the finding says.
    put(open(&scene.path).as_mut(), "a", b"y").unwrap();
    assert!(scene.found().is_empty());
}

#[test]
fn durability_that_a_power_cut_may_break() {
    let scene = Scene::new();
    let url = format!("sqlite:{}?durability=normal", scene.path.display());
    let mut store = open_url(&url, Access::Read).unwrap();
    assert_eq!(codes(store.as_mut()), ["durability"]);
}

#[test]
fn a_reader_that_keeps_the_log_long() {
    let mut scene = Scene::new();
    let log = fs::OpenOptions::new()
        .append(true)
        .open(scene.beside("-wal"))
        .unwrap();
    // Behind what is written: only its length is looked at.
    let length = log.metadata().unwrap().len();
    log.set_len(65 << 20).unwrap();
    assert_eq!(scene.found(), ["long_log"]);
    log.set_len(length).unwrap();
}

#[test]
fn queues_that_want_somebody() {
    let mut scene = Scene::new();
    let store = scene.store.as_mut();
    put(store, "b", b"x").unwrap();
    let got = claim(store, "b", 1).unwrap();
    let settle = [Settle {
        receipt: &got[0].receipt,
        verdict: Verdict::Dead(Reason::Nacked),
        end: None,
    }];
    store
        .exchange(&Exchange {
            settle: &settle,
            claim: None,
        })
        .unwrap();
    let pause = Patch::Change(vec![Setting::Paused(true)]);
    store.configure(&queue("a"), &pause).unwrap();
    put(store, "c", b"x").unwrap();
    claim(store, "c", 1).unwrap();
    assert_eq!(scene.found(), ["paused", "dead_letters"]);
    let skew = Skew::movable();
    skew.advance(Duration::from_mins(11));
    let later = OpenOptions {
        skew,
        ..options(Access::Read)
    };
    let url = format!("sqlite:{}", scene.path.display());
    let mut store = registry::open(&target(&url), &later).unwrap().backend;
    assert_eq!(
        codes(store.as_mut()),
        ["paused", "dead_letters", "expired_leases"]
    );
}

#[test]
fn promises_between_tables_that_somebody_broke() {
    let mut scene = Scene::new();
    scene.sql(
        "INSERT INTO qops_message(queue_id, state, ready_at, enqueued_at, group_key, payload) VALUES(1, 2, 0, 0, 'g', 'x');
         INSERT INTO qops_dedup(queue_id, key, message_id) VALUES(1, 'k', 999);",
    );
    assert_eq!(scene.found(), ["headless_groups!", "orphan_keys!"]);
}

/// A key that is taken for ever is no orphan, also after its queue was set to something else.
#[test]
fn a_key_for_ever_is_no_orphan() {
    use qops::queue::retry::Window;
    let mut scene = Scene::new();
    let store = scene.store.as_mut();
    let window = |window| Patch::Set(vec![Setting::DedupWindow(window)]);
    store
        .configure(&queue("k"), &window(Some(Window::Forever)))
        .unwrap();
    let message = qops::queue::NewMessage {
        key: Some("once".into()),
        ..qops::queue::NewMessage::new(queue("k"), b"x".as_slice())
    };
    let batch = [message];
    store.enqueue(&batch, qops::backend::Unit::Each).unwrap();
    let got = claim(store, "k", 1).unwrap();
    super::done(store, &got).unwrap();
    store.configure(&queue("k"), &window(None)).unwrap();
    let again = store.enqueue(&batch, qops::backend::Unit::Each).unwrap();
    assert!(matches!(again[..], [qops::queue::Enqueued::Duplicate(_)]));
    assert!(scene.found().is_empty());
}

#[test]
fn a_damaged_file_is_told_not_failed_on() {
    for (from, to) in [(2, 30), (30, 60)] {
        let mut scene = Scene::new();
        for _ in 0..500 {
            put(scene.store.as_mut(), "a", &[b'y'; 400]).unwrap();
        }
        scene.sql("PRAGMA wal_checkpoint(TRUNCATE)");
        let mut bytes = fs::read(&scene.path).unwrap();
        bytes[from * 4096..to * 4096].fill(0xa5);
        let broken = scene.path.with_file_name("broken.db");
        fs::write(&broken, bytes).unwrap();
        fs::set_permissions(&broken, fs::Permissions::from_mode(0o600)).unwrap();
        let opened = open_url(&format!("sqlite:{}", broken.display()), Access::Read);
        match opened {
            Ok(mut store) => {
                let codes = codes(store.as_mut());
                assert!(codes.contains(&"damaged!".to_owned()), "{codes:?}");
            }
            Err(error) => assert_eq!(error.kind(), qops::backend::Kind::Corrupt, "{error}"),
        }
    }
}
