//! Faults that people met in other queues, each reduced to a test and named by its number. `README.md` beside this says
//! where each one stands and which are still to come.

mod command_line;
mod leases;
mod names;
mod order;
mod payload;
mod processes;
mod store;
mod table;
mod time;
mod worker_commands;
mod worker_leases;
mod worker_surroundings;

use qops::backend::{
    Access, Backend, Claim, Exchange, OpenOptions, Pick, Settle, Settled, Target, Verdict, registry,
};
use qops::queue::{Delivery, QueueName, Skew, Timestamp};
use serde_json::Value;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// A home of its own: no store, no configuration, nothing in the environment.
struct World {
    home: tempfile::TempDir,
}

/// What one run left.
struct Ran {
    out: Vec<u8>,
    err: String,
    /// None: a signal ended it.
    code: Option<i32>,
}

impl Ran {
    fn text(&self) -> &str {
        std::str::from_utf8(&self.out).expect("a text")
    }

    fn lines(&self) -> Vec<&str> {
        self.text().lines().collect()
    }

    /// A run that ended so.
    #[track_caller]
    fn is(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{}\n{}", self.err, self.lossy());
        self
    }

    fn lossy(&self) -> String {
        String::from_utf8_lossy(&self.out).into_owned()
    }
}

impl World {
    fn new() -> Self {
        Self {
            home: tempfile::tempdir().expect("a home"),
        }
    }

    fn path(&self) -> &Path {
        self.home.path()
    }

    fn file(&self) -> PathBuf {
        self.path().join(".local/share/qops/qops.db")
    }

    /// Another program in this home.
    fn program(&self, name: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(name);
        let bin = Path::new(env!("CARGO_BIN_EXE_qops"))
            .parent()
            .expect("a folder");
        let path = std::env::var("PATH").unwrap_or_default();
        command
            .env_clear()
            .env("HOME", self.path())
            .env("PATH", format!("{}:{path}", bin.display()))
            .current_dir(self.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    fn qops(&self, args: &[&str]) -> Command {
        let mut command = self.program(env!("CARGO_BIN_EXE_qops"));
        command.args(args);
        command
    }

    fn run(&self, args: &[&str]) -> Ran {
        ran(self.qops(args), None)
    }

    fn feed(&self, args: &[&str], stdin: &[u8]) -> Ran {
        ran(self.qops(args), Some(stdin))
    }

    /// A line for a shell in which `qops` is this program.
    fn sh(&self, line: &str) -> Ran {
        let mut command = self.program("bash");
        command.args(["-c", line]);
        ran(command, None)
    }

    /// The store's own tool, on the store's own file.
    fn sql(&self, statement: &str) -> String {
        let mut command = self.program("sqlite3");
        command.args(["-cmd", ".timeout 10000"]).arg(self.file());
        command.arg(statement);
        let ran = ran(command, None).is(0);
        ran.text().trim_end().to_owned()
    }

    /// A file of this home, as text; empty if it is not there.
    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path().join(name)).unwrap_or_default()
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path().join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(&path, text).expect("a file");
        path
    }

    /// A count of a queue.
    fn count(&self, queue: &str, state: &str) -> u64 {
        let ran = self.run(&["stats", queue, "--exact", "-o", "json"]).is(0);
        let records: Value = serde_json::from_slice(&ran.out).expect("a record");
        let row = records.get(0).unwrap_or(&records);
        row[state]
            .as_u64()
            .unwrap_or_else(|| panic!("no {state} in {records}"))
    }

    /// A message's record with its history.
    fn show(&self, id: &str) -> Value {
        let ran = self.run(&["show", id, "-o", "json"]).is(0);
        serde_json::from_slice(&ran.out).expect("a record")
    }

    /// Records of messages, one a line.
    fn peek(&self, args: &[&str]) -> Vec<Value> {
        let args = [&["peek"], args, &["-o", "ndjson"]].concat();
        let ran = self.run(&args).is(0);
        ran.lines()
            .iter()
            .map(|line| serde_json::from_str(line).expect("a record"))
            .collect()
    }

    /// A handle of the library, on a clock of its own.
    fn handle(&self, identity: &str, skew: Skew) -> Box<dyn Backend> {
        let url = format!("sqlite:{}", self.file().display());
        let target = Target::parse(&url, self.path()).expect("a URL");
        let options = OpenOptions {
            access: Access::Write,
            identity: identity.to_owned(),
            skew,
        };
        std::fs::create_dir_all(self.file().parent().expect("a folder")).expect("a folder");
        registry::open(&target, &options).expect("a store").backend
    }
}

fn ran(mut command: Command, stdin: Option<&[u8]>) -> Ran {
    if stdin.is_some() {
        command.stdin(Stdio::piped());
    }
    let mut child = command.spawn().expect("a program");
    let writer = stdin.map(|bytes| {
        let mut input = child.stdin.take().expect("its input");
        let bytes = bytes.to_vec();
        std::thread::spawn(move || {
            // Who reads no input closes it: that is no failure of the test.
            let _ = input.write_all(&bytes);
        })
    });
    let ran = ended(child);
    if let Some(writer) = writer {
        writer.join().expect("a writer");
    }
    ran
}

fn ended(child: Child) -> Ran {
    let output = child.wait_with_output().expect("its end");
    Ran {
        out: output.stdout,
        err: String::from_utf8(output.stderr).expect("a text"),
        code: output.status.code(),
    }
}

/// Looks again and again until it is so; a minute is too long for anything here.
#[track_caller]
fn eventually(what: &str, mut so: impl FnMut() -> bool) {
    for _ in 0..6_000 {
        if so() {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("it never came to this: {what}");
}

/// So many lines, each a number, each of at least so many bytes.
fn lines(n: u32, width: usize) -> Vec<u8> {
    let lines: Vec<String> = (0..n).map(|n| format!("{n:<width$}")).collect();
    (lines.join("\n") + "\n").into_bytes()
}

fn queue(name: &str) -> QueueName {
    QueueName::parse(name).expect("a name")
}

fn claim(db: &mut dyn Backend, name: &str, max: usize, lease: Duration) -> Vec<Delivery> {
    let queue = queue(name);
    let claim = Claim {
        queue: &queue,
        max,
        bytes: 1 << 30,
        lease,
        start: true,
        max_attempts: 100,
        pick: Pick::Ready,
    };
    let turn = Exchange {
        settle: &[],
        claim: Some(claim),
    };
    db.exchange(&turn)
        .expect("a turn")
        .claimed
        .expect("a claim")
        .got
}

fn settle(db: &mut dyn Backend, got: &Delivery, verdict: Verdict) -> Settled {
    let settle = [Settle {
        receipt: &got.receipt,
        verdict,
        end: None,
    }];
    let turn = Exchange {
        settle: &settle,
        claim: None,
    };
    db.exchange(&turn).expect("a turn").settled.remove(0)
}

/// A time of a record.
fn instant(value: &Value) -> Timestamp {
    Timestamp::parse(value.as_str().expect("a time")).expect("a time")
}
