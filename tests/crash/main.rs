//! Crashes at random instants, with real files and real processes. What holds outside: nothing that was acknowledged is
//! lost, nothing is done unrun, a message runs twice only where something died, and no command outlives its worker.
//!
//! `QOPS_CRASHES=1000 cargo test --test crash` runs more of them; the seed is printed, `QOPS_SEED` repeats it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

fn number(name: &str) -> Option<u64> {
    std::env::var(name)
        .ok()
        .map(|text| text.parse().expect("a number"))
}

struct World {
    home: tempfile::TempDir,
    random: fastrand::Rng,
}

impl World {
    fn new(name: &str) -> Self {
        let seed = number("QOPS_SEED").unwrap_or_else(|| fastrand::u64(..));
        eprintln!("{name}: QOPS_SEED={seed}");
        Self {
            home: tempfile::tempdir().expect("a home"),
            random: fastrand::Rng::with_seed(seed),
        }
    }

    fn path(&self) -> &Path {
        self.home.path()
    }

    fn store(&self) -> PathBuf {
        self.path().join("q.db")
    }

    fn qops(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_qops"));
        command
            .env_clear()
            .envs([
                ("HOME", self.path().as_os_str()),
                ("PATH", "/usr/bin:/bin".as_ref()),
            ])
            .env("QOPS_URL", format!("sqlite:{}", self.store().display()))
            .current_dir(self.path())
            .stdin(Stdio::null())
            .args(args);
        command
    }

    fn run(&self, args: &[&str]) -> String {
        let out = self.qops(args).output().expect("qops");
        assert!(
            out.status.success(),
            "{args:?}: {}",
            String::from_utf8_lossy(&out.stderr)
        );
        String::from_utf8(out.stdout).expect("a text")
    }

    fn nap(&mut self, most: u64) {
        std::thread::sleep(Duration::from_micros(self.random.u64(0..most * 1_000)));
    }

    fn lines(&self, file: &str) -> Vec<String> {
        let text = std::fs::read_to_string(self.path().join(file)).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    fn whole(&self) {
        let conn = rusqlite::Connection::open(self.store()).expect("the store");
        let answer: String = conn
            .query_row("PRAGMA integrity_check", [], |row| row.get(0))
            .expect("an answer");
        assert_eq!(answer, "ok");
    }
}

fn kill(pid: u32) {
    let sent = Command::new("kill")
        .args(["-KILL", &pid.to_string()])
        .stderr(Stdio::null())
        .status();
    sent.expect("kill");
}

/// The worker proper of an outer process, once it is there.
fn inner(outer: &Child) -> Option<u32> {
    let path = format!("/proc/{0}/task/{0}/children", outer.id());
    std::fs::read_to_string(path)
        .ok()?
        .split_whitespace()
        .next()?
        .parse()
        .ok()
}

/// S2: the worker, or the process that watches over it, dies at a random instant, again and again. The command appends
/// its id in one write before it succeeds, so that a run is known even if nobody heard of its end.
#[test]
fn a_worker_that_is_killed_loses_nothing() {
    let mut world = World::new("worker");
    let kills = number("QOPS_CRASHES").unwrap_or(40);
    let messages = kills * 25;
    let lines = (0..messages)
        .map(|n| format!("{n}\n"))
        .collect::<Vec<_>>()
        .concat();
    std::fs::write(world.path().join("in"), lines).expect("a file");
    world.run(&["enqueue", "q", "--lines", "--file", "in"]);
    let args = [
        "work",
        "q",
        "-j2",
        "--lease",
        "1s",
        "--wait",
        "--max-attempts",
        "1000",
        "--",
        "sh",
        "-c",
        "echo \"$(cat)\" >> ran",
    ];
    let mut killed = 0;
    while killed < kills {
        let worker = world
            .qops(&args)
            .stderr(Stdio::piped())
            .spawn()
            .expect("a worker");
        world.nap(120);
        let victim = if world.random.bool() {
            inner(&worker)
        } else {
            None
        };
        kill(victim.unwrap_or(worker.id()));
        let ended = worker.wait_with_output().expect("its end");
        // The outer process lives on and tells whoever reads cron's mail; it may have had no time to start the worker.
        if victim.is_some() {
            let said = String::from_utf8_lossy(&ended.stderr);
            assert_eq!(ended.status.code(), Some(137), "{said}");
            assert!(said.contains("the worker was killed"), "{said}");
        }
        killed += 1;
    }
    let began = Instant::now();
    world.run(&args);
    assert!(began.elapsed() < Duration::from_mins(5));
    let mut runs: BTreeMap<String, u64> = BTreeMap::new();
    for line in world.lines("ran") {
        *runs.entry(line).or_default() += 1;
    }
    assert_eq!(
        runs.len() as u64,
        messages,
        "a message was lost, or done unrun"
    );
    let twice: u64 = runs.values().map(|n| n - 1).sum();
    // Those that ran and those whose end was not written yet: twice the slots and what is gathered in 20 ms.
    assert!(twice <= kills * 24, "{twice} repeats of {kills} kills");
    let counts = world.run(&[
        "stats",
        "q",
        "--exact",
        "--fields",
        "ready,delayed,running,dead",
    ]);
    assert_eq!(
        counts.trim(),
        r#"{"ready":0,"delayed":0,"running":0,"dead":0}"#
    );
    world.whole();
    eprintln!("worker: {kills} kills, {messages} messages, {twice} ran twice");
}

/// R64: an enqueue that is killed has stored all of what it said, each with its key, and no key without its message.
#[test]
fn an_enqueue_that_is_killed_keeps_what_it_said() {
    let mut world = World::new("enqueue");
    let kills = number("QOPS_CRASHES").unwrap_or(20);
    let mut said = 0;
    for round in 0..kills {
        let lines = (0..20_000)
            .map(|n| format!("{{\"id\":\"{round}.{n}\"}}\n"))
            .collect::<Vec<_>>()
            .concat();
        std::fs::write(world.path().join("in"), lines).expect("a file");
        let out = std::fs::File::create(world.path().join("out")).expect("a file");
        let args = [
            "enqueue",
            "q",
            "--ndjson",
            "--file",
            "in",
            "--key-from",
            ".id",
            "-o",
            "id",
        ];
        let mut enqueue = world
            .qops(&args)
            .stdout(out)
            .stderr(Stdio::null())
            .spawn()
            .expect("an enqueue");
        world.nap(1_500);
        enqueue.kill().expect("kill");
        enqueue.wait().expect("its end");
        let ids = world.lines("out");
        // The last line may be cut by the kill itself.
        let whole = ids.len().saturating_sub(1);
        said += whole;
        if whole > 0 {
            let conn = rusqlite::Connection::open(world.store()).expect("the store");
            let mut there = conn
                .prepare("SELECT count(*) FROM qops_message WHERE id=?1")
                .expect("a statement");
            for id in &ids[..whole] {
                let n: i64 = there.query_row([id], |row| row.get(0)).expect("a count");
                assert_eq!(n, 1, "message {id} was said and is not there");
            }
        }
    }
    let conn = rusqlite::Connection::open(world.store()).expect("the store");
    let count =
        |text: &str| -> i64 { conn.query_row(text, [], |row| row.get(0)).expect("a count") };
    let keyless = "SELECT count(*) FROM qops_message m WHERE NOT EXISTS(SELECT 1 FROM qops_dedup d
        WHERE d.queue_id=m.queue_id AND d.key=m.key AND d.message_id=m.id)";
    let orphans = "SELECT count(*) FROM qops_dedup d WHERE NOT EXISTS(SELECT 1 FROM qops_message m WHERE m.id=d.message_id)";
    assert_eq!((count(keyless), count(orphans)), (0, 0));
    assert!(
        said > 0,
        "every kill came before the first id: nothing was tested"
    );
    world.whole();
    eprintln!("enqueue: {kills} kills, {said} ids were said and are there");
}

/// A drain and a purge that are killed conserve what they have not finished: live and dead letters are as many as before.
#[test]
fn a_drain_that_is_killed_conserves() {
    let mut world = World::new("drain");
    let kills = number("QOPS_CRASHES").unwrap_or(40);
    let lines = (0..30_000)
        .map(|n| format!("{n}\n"))
        .collect::<Vec<_>>()
        .concat();
    std::fs::write(world.path().join("in"), lines).expect("a file");
    world.run(&["enqueue", "q", "--lines", "--file", "in"]);
    let conn = rusqlite::Connection::open(world.store()).expect("the store");
    let bury = "INSERT INTO qops_dead(id,queue_id,died_at,reason,priority,ready_at,enqueued_at,attempts,deferrals,deliveries,replays,payload)
        SELECT id,queue_id,ready_at,'attempts',priority,ready_at,enqueued_at,7,0,7,0,payload FROM qops_message; DELETE FROM qops_message;";
    let all = || -> i64 {
        let text = "SELECT (SELECT count(*) FROM qops_message)+(SELECT count(*) FROM qops_dead)";
        conn.query_row(text, [], |row| row.get(0)).expect("a count")
    };
    for _ in 0..kills {
        conn.execute_batch(bury).expect("a burial");
        let mut drain = world
            .qops(&["drain", "q", "--yes"])
            .spawn()
            .expect("a drain");
        world.nap(250);
        drain.kill().expect("kill");
        drain.wait().expect("its end");
        assert_eq!(all(), 30_000);
    }
    world.run(&["drain", "q", "--yes"]);
    let counts = world.run(&["stats", "q", "--exact", "--fields", "ready,dead"]);
    assert_eq!(counts.trim(), r#"{"ready":30000,"dead":0}"#);
    world.whole();
}
