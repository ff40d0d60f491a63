//! A full disk: what is finished is acknowledged, nothing is half written. Each scene has a small filesystem of its own,
//! in memory, in a mount namespace that ends with the test. Where that cannot be had the scenes show as ignored, or as
//! failed where `QOPS_REQUIRE` names `full_disk`.

#[path = "../support/hands.rs"]
mod hands;

use hands::{claim, done, open, put};
use libtest_mimic::{Arguments, Failed, Trial};
use qops::backend::{Backend, Kind, Settled};
use qops::queue::{Delivery, QueueName, Selection};
use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Says that this process is in a namespace of its own already.
const INSIDE: &str = "QOPS_TEST_NAMESPACE";

const SCENES: &[(&str, fn())] = &[
    ("r55_filled_by_enqueue", r55_filled_by_enqueue),
    ("r55_filled_by_another_file", r55_filled_by_another_file),
    (
        "r55_another_takes_the_released_space",
        r55_another_takes_the_released_space,
    ),
    (
        "r55_a_reader_is_in_the_way_of_the_log",
        r55_a_reader_is_in_the_way_of_the_log,
    ),
    (
        "r55_a_worker_acknowledges_all_that_it_ran",
        r55_a_worker_acknowledges_all_that_it_ran,
    ),
    (
        "r55_a_worker_that_stays_waits_for_room",
        r55_a_worker_that_stays_waits_for_room,
    ),
    (
        "r55_a_command_acknowledges_what_another_claimed",
        r55_a_command_acknowledges_what_another_claimed,
    ),
    (
        "a_payload_waits_for_room_for_its_file",
        a_payload_waits_for_room_for_its_file,
    ),
    (
        "without_a_heartbeat_it_is_given_back_in_time",
        without_a_heartbeat_it_is_given_back_in_time,
    ),
];

fn main() {
    let arguments = Arguments::from_args();
    let may_mount = std::env::var_os(INSIDE).is_some() || enter();
    let must = std::env::var("QOPS_REQUIRE")
        .unwrap_or_default()
        .split(',')
        .any(|required| required.trim() == "full_disk");
    let trials = SCENES.iter().map(|(name, play)| {
        let trial = Trial::test(*name, move || {
            if may_mount {
                play();
                Ok(())
            } else {
                Err(Failed::from(
                    "no filesystem can be mounted here; without full_disk in QOPS_REQUIRE these scenes are ignored",
                ))
            }
        });
        trial.with_ignored_flag(!may_mount && !must)
    });
    libtest_mimic::run(&arguments, trials.collect()).exit();
}

/// Starts this program again where it may mount: as root, or as the root of a namespace. It comes back if it may not.
fn enter() -> bool {
    let ways: [&[&str]; 2] = [&["--mount"], &["--map-root-user", "--mount"]];
    for way in ways {
        let may = Command::new("unshare")
            .args(way)
            .args(["mount", "-t", "tmpfs", "-o", "size=1m", "none", "/tmp"])
            .output()
            .is_ok_and(|out| out.status.success());
        if may {
            let itself = std::env::current_exe().unwrap();
            let error = Command::new("unshare")
                .args(way)
                .arg(itself)
                .args(std::env::args_os().skip(1))
                .env(INSIDE, "1")
                .exec();
            panic!("{error}");
        }
    }
    false
}

/// A filesystem in memory, unmounted at the end.
struct Small(
    PathBuf,
    #[expect(dead_code, reason = "the folder lives as long as the mount")] tempfile::TempDir,
);

impl Small {
    fn mount(size: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path().join("small");
        fs::create_dir(&at).unwrap();
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &format!("size={size}"), "none"])
            .arg(&at)
            .status();
        assert!(mounted.unwrap().success());
        Self(at, folder)
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        Command::new("umount")
            .arg("-l")
            .arg(&self.0)
            .status()
            .unwrap();
    }
}

/// Puts messages in until the disk is full; answers how many.
fn fill(store: &mut dyn Backend, payload: &[u8]) -> usize {
    for n in 0.. {
        match put(store, "a", payload) {
            Ok(_) => {}
            Err(error) => {
                assert_eq!(error.kind(), Kind::Full, "{error}");
                assert!(error.context("path").is_some() && error.hinted().is_some());
                return n;
            }
        }
    }
    unreachable!("a disk without end")
}

fn eat_all(folder: &Path) {
    let mut block = vec![7_u8; 1 << 20];
    for n in 0.. {
        let file = folder.join(format!("thief{n}"));
        match fs::write(&file, &block) {
            Ok(()) => {}
            Err(_) if block.len() > 4096 => block.truncate(block.len() / 2),
            Err(_) => return,
        }
    }
}

fn all_done(store: &mut dyn Backend, got: &[Delivery]) {
    for some in got.chunks(250) {
        let settled = done(store, some).unwrap();
        assert!(settled.iter().all(|one| *one == Settled::Yes));
    }
}

fn whole(path: &Path) {
    let conn = rusqlite::Connection::open(path).unwrap();
    let answer: String = conn
        .query_row("PRAGMA integrity_check", [], |row| row.get(0))
        .unwrap();
    assert_eq!(answer, "ok");
}

/// Fills the disk by `filler` after a claim of what was there first, and acknowledges all that was claimed.
fn scene(size: &str, payload: usize, leased: usize, filler: impl Fn(&mut dyn Backend, &Path)) {
    let disk = Small::mount(size);
    let path = disk.0.join("q.db");
    let mut store = open(&path);
    let body = vec![b'x'; payload];
    for _ in 0..leased {
        put(store.as_mut(), "a", &body).unwrap();
    }
    let mut got = Vec::new();
    while got.len() < leased {
        got.extend(claim(store.as_mut(), "a", 100).unwrap());
    }
    filler(store.as_mut(), &disk.0);
    all_done(store.as_mut(), &got);
    assert!(
        claim(store.as_mut(), "a", 1).is_err_and(|error| error.kind() == Kind::Full)
            || payload == 0
    );
    drop(store);
    whole(&path);
}

fn r55_filled_by_enqueue() {
    scene("2m", 200, 500, |store, _| {
        fill(store, &[b'y'; 200]);
    });
    scene("8m", 200, 2_000, |store, _| {
        fill(store, &[b'y'; 200]);
    });
    scene("8m", 20_000, 50, |store, _| {
        fill(store, &vec![b'y'; 20_000]);
    });
    scene("64m", 20_000, 300, |store, _| {
        fill(store, &vec![b'y'; 20_000]);
    });
}

fn r55_filled_by_another_file() {
    for (size, payload, leased) in [("2m", 200, 500), ("8m", 20_000, 50), ("64m", 200, 5_000)] {
        scene(size, payload, leased, |store, folder| {
            eat_all(folder);
            fill(store, &vec![b'y'; payload]);
        });
    }
}

fn r55_another_takes_the_released_space() {
    for (size, payload, leased) in [("2m", 200, 500), ("8m", 200, 2_000), ("64m", 20_000, 300)] {
        scene(size, payload, leased, |store, folder| {
            fill(store, &vec![b'y'; payload]);
            eat_all(folder);
        });
    }
}

/// Somebody reads all the while: the log cannot be restarted, and what was in it before has to do.
fn r55_a_reader_is_in_the_way_of_the_log() {
    scene("8m", 200, 300, |store, folder| {
        let reader = rusqlite::Connection::open(folder.join("q.db")).unwrap();
        reader
            .execute_batch("BEGIN; SELECT count(*) FROM qops_message;")
            .unwrap();
        fill(store, &[b'y'; 200]);
        drop(reader);
    });
}

fn qops(disk: &Small, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_qops"));
    let url = format!("sqlite:{}", disk.0.join("q.db").display());
    command
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap())
        .env("HOME", "/nonexistent")
        .args(["-u", &url])
        .args(args);
    command
}

/// Sixty messages of a page each, and an empty log: it grows with every claim that takes more than the one before.
fn sixty(path: &Path) {
    let mut store = open(path);
    for n in 0..60 {
        let payload = format!("{n} {}", "x".repeat(3_500));
        put(store.as_mut(), "a", payload.as_bytes()).unwrap();
    }
    drop(store);
    let conn = rusqlite::Connection::open(path).unwrap();
    conn.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
        .unwrap();
}

/// The real worker: its second command, or one beside it, fills the disk, once.
fn r55_a_worker_acknowledges_all_that_it_ran() {
    for (size, jobs) in [("2m", "1"), ("2m", "3"), ("8m", "2")] {
        let disk = Small::mount(size);
        let path = disk.0.join("q.db");
        sixty(&path);
        let ran = disk.0.with_file_name("ran");
        let line = "cut -d' ' -f1 >> \"$0\"
            [ $(wc -l < \"$0\") -lt 2 ] || ! mkdir \"$0.once\" 2> /dev/null || cat /dev/zero > \"$1\" 2> /dev/null; exit 0";
        let thief = disk.0.join("thief");
        let work = |disk: &Small| {
            let command = ["sh", "-c", line];
            qops(
                disk,
                &["work", "a", "--wait", "--lease", "2s", "-j", jobs, "--"],
            )
            .args(command)
            .args([&ran, &thief])
            .output()
            .unwrap()
        };
        let out = work(&disk);
        let said = String::from_utf8(out.stderr).unwrap();
        assert_eq!(out.status.code(), Some(8), "{said}");
        assert!(
            said.contains("full")
                && said.contains("B free on the disk of ")
                && said.contains("q.db"),
            "{said}"
        );
        let lines = |path: &Path| -> Vec<String> {
            let text = fs::read_to_string(path).unwrap();
            text.lines().map(str::to_owned).collect()
        };
        let first = lines(&ran);
        assert!(first.len() >= 2 && first.len() < 60, "{}", first.len());
        whole(&path);
        let left = qops(&disk, &["peek", "a", "-o", "raw"]).output().unwrap();
        let left = String::from_utf8(left.stdout).unwrap();
        let done: BTreeSet<&str> = first.iter().map(String::as_str).collect();
        let here: BTreeSet<&str> = left
            .lines()
            .map(|line| line.split(' ').next().unwrap())
            .collect();
        assert!(
            done.is_disjoint(&here),
            "ran and not acknowledged: {:?}\n{said}",
            done.intersection(&here).collect::<Vec<_>>()
        );
        assert_eq!(done.len() + here.len(), 60);
        // With room again it goes on, and nothing ran twice.
        fs::remove_file(&thief).unwrap();
        let out = work(&disk);
        assert_eq!(
            out.status.code(),
            Some(0),
            "{}",
            String::from_utf8_lossy(&out.stderr)
        );
        let mut all: Vec<u32> = lines(&ran).iter().map(|n| n.parse().unwrap()).collect();
        all.sort_unstable();
        assert_eq!(all, (0..60).collect::<Vec<_>>());
    }
}

/// With --follow the worker takes no more until there is room, and then goes on.
fn r55_a_worker_that_stays_waits_for_room() {
    let disk = Small::mount("8m");
    let path = disk.0.join("q.db");
    sixty(&path);
    let ran = disk.0.with_file_name("ran");
    let line = "cut -d' ' -f1 >> \"$0\"
        [ $(wc -l < \"$0\") -lt 2 ] || ! mkdir \"$0.once\" 2> /dev/null || cat /dev/zero > \"$1\" 2> /dev/null; exit 0";
    let thief = disk.0.join("thief");
    let mut worker = qops(
        &disk,
        &["work", "a", "--follow", "-j2", "--", "sh", "-c", line],
    )
    .args([&ran, &thief])
    .stderr(Stdio::piped())
    .spawn()
    .unwrap();
    let mut said = BufReader::new(worker.stderr.take().unwrap()).lines();
    let first = said.next().unwrap().unwrap();
    assert!(first.contains("full") && first.contains("q.db"), "{first}");
    fs::remove_file(&thief).unwrap();
    let again = said.next().unwrap().unwrap();
    assert!(again.contains("room again"), "{again}");
    let queue = QueueName::parse("a").unwrap();
    let mut store = open(&path);
    while store.count(&Selection::of(queue.clone()), 99).unwrap().n > 0 {
        std::thread::yield_now();
    }
    let pid = rustix::process::Pid::from_child(&worker);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    assert_eq!(worker.wait().unwrap().code(), Some(0));
    let text = fs::read_to_string(&ran).unwrap();
    let mut all: Vec<u32> = text.lines().map(|n| n.parse().unwrap()).collect();
    all.sort_unstable();
    assert_eq!(all, (0..60).collect::<Vec<_>>());
}

/// A process that begins when the disk is full already.
fn r55_a_command_acknowledges_what_another_claimed() {
    for size in ["2m", "8m"] {
        let disk = Small::mount(size);
        let path = disk.0.join("q.db");
        let mut store = open(&path);
        for _ in 0..20 {
            put(store.as_mut(), "a", &[b'x'; 200]).unwrap();
        }
        let got = claim(store.as_mut(), "a", 20).unwrap();
        fill(store.as_mut(), &[b'y'; 200]);
        drop(store);
        eat_all(&disk.0);
        let receipts: Vec<&str> = got.iter().map(|one| one.receipt.as_str()).collect();
        let out = qops(&disk, &["ack"]).args(&receipts).output().unwrap();
        let said = String::from_utf8(out.stderr).unwrap();
        assert_eq!(out.status.code(), Some(0), "{said}");
        let out = qops(&disk, &["enqueue", "a", "z"]).output().unwrap();
        let said = String::from_utf8(out.stderr).unwrap();
        assert_eq!(out.status.code(), Some(8), "{said}");
        assert!(
            said.contains("full") && said.contains("B free on the disk of "),
            "{said}"
        );
        whole(&path);
    }
}

/// A store with one message, and a worker whose payload files belong on another disk, which is full.
fn without_room_for_files(flags: &[&str]) -> (Small, Small, Command) {
    let (store, files) = (Small::mount("8m"), Small::mount("1m"));
    put(open(&store.0.join("q.db")).as_mut(), "a", b"x").unwrap();
    eat_all(&files.0);
    let mut work = qops(&store, &["work", "a"]);
    work.args(flags)
        .args(["--", "cat", "{file}"])
        .env("TMPDIR", &files.0)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    (store, files, work)
}

fn record(store: &Small, fields: &str) -> String {
    let args = ["peek", "a", "-o", "csv", "--fields", fields];
    let out = qops(store, &args).output().unwrap();
    String::from_utf8(out.stdout).unwrap()
}

/// No room for a payload's file is no fault of the message and none of the command: the worker waits.
fn a_payload_waits_for_room_for_its_file() {
    let (store, files, mut work) = without_room_for_files(&["--lease", "2s"]);
    let mut worker = work.spawn().unwrap();
    let mut said = BufReader::new(worker.stderr.take().unwrap());
    let mut line = String::new();
    said.read_line(&mut line).unwrap();
    assert!(
        line.contains("no room") && line.contains("No space"),
        "{line}"
    );
    for thief in fs::read_dir(&files.0).unwrap() {
        let path = thief.unwrap().path();
        if path.is_file() {
            fs::remove_file(path).unwrap();
        }
    }
    let out = worker.wait_with_output().unwrap();
    assert_eq!((out.status.code(), out.stdout), (Some(0), b"x".to_vec()));
    assert_eq!(record(&store, "state"), "state\n");
}

/// A lease that nobody extends is not waited away: that would be charged as an end that nobody saw.
fn without_a_heartbeat_it_is_given_back_in_time() {
    let flags = [
        "--no-heartbeat",
        "--lease",
        "1s",
        "--max-time",
        "3s",
        "--max-attempts",
        "1",
    ];
    let (store, _files, mut work) = without_room_for_files(&flags);
    let out = work.output().unwrap();
    let said = String::from_utf8(out.stderr).unwrap();
    assert_eq!(out.status.code(), Some(0), "{said}");
    assert_eq!(
        record(&store, "state,attempts"),
        "state,attempts\nready,0\n"
    );
}
