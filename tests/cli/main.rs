//! The command line as its users meet it: what stands on stdout, what on stderr, and the exit code, in one snapshot; and
//! what a terminal sees, on a real pseudo-terminal.

mod bulk;
mod claims;
mod drain;
mod hints;
mod matrix;
mod reading;
mod sessions;
mod slips;
mod stopping;
mod stores;
mod terminal;
mod working;
mod writing;

use portable_pty::{CommandBuilder, PtySize, native_pty_system};
use qops::backend::{Access, Backend, OpenOptions, Target, Unit, registry};
use qops::queue::{Due, NewMessage, QueueName, Skew, Timestamp};
use std::ffi::OsString;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A home of its own: no store, no configuration, nothing in the environment.
struct World {
    home: tempfile::TempDir,
    vars: Vec<(String, String)>,
}

/// What one run left.
struct Ran {
    out: String,
    err: String,
    code: i32,
}

impl World {
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        Self { home, vars: vec![] }
    }

    fn var(mut self, name: &str, value: &str) -> Self {
        self.vars.push((name.to_owned(), value.to_owned()));
        self
    }

    fn file(&self) -> PathBuf {
        self.home.path().join(".local/share/qops/qops.db")
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.home.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }

    /// A writing handle to the default store, to set a scene.
    fn store(&self) -> Box<dyn Backend> {
        let url = format!("sqlite:{}", self.file().display());
        let target = Target::parse(&url, self.home.path()).unwrap();
        let options = OpenOptions {
            access: Access::Write,
            identity: "test:1".to_owned(),
            skew: Skew::default(),
        };
        registry::open(&target, &options).unwrap().backend
    }

    /// Puts messages in that were due two hours ago.
    fn put(&self, queue: &str, payloads: &[&[u8]]) {
        let batch: Vec<NewMessage<'_>> = payloads
            .iter()
            .map(|payload| NewMessage {
                due: Due::At(ago(Duration::from_secs(7_205))),
                ..NewMessage::new(QueueName::parse(queue).unwrap(), *payload)
            })
            .collect();
        let mut store = self.store();
        for chunk in batch.chunks(100) {
            store.enqueue(chunk, Unit::Each).unwrap();
        }
    }

    fn run(&self, args: &[&str]) -> Ran {
        self.run_with(args, b"")
    }

    fn run_with(&self, args: &[&str], stdin: &[u8]) -> Ran {
        let mut command = Command::new(env!("CARGO_BIN_EXE_qops"));
        command.args(args);
        self.ran(command, stdin)
    }

    /// A line for a shell in which `qops` is this program.
    fn sh(&self, line: &str) -> Ran {
        let mut command = Command::new("bash");
        command.args(["-c", line]);
        self.ran(command, b"")
    }

    fn around(&self, command: &mut Command) {
        command
            .env_clear()
            .env("HOME", self.home.path())
            .env("PATH", path())
            .envs(self.vars.iter().cloned())
            .current_dir(self.home.path());
    }

    fn ran(&self, mut command: Command, stdin: &[u8]) -> Ran {
        self.around(&mut command);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut input = child.stdin.take().unwrap();
        let stdin = stdin.to_vec();
        let writer = std::thread::spawn(move || {
            // A verb that reads no input closes it: that is no failure of the test.
            let _ = input.write_all(&stdin);
        });
        let output = child.wait_with_output().unwrap();
        writer.join().unwrap();
        Ran {
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
            code: output.status.code().unwrap_or(-1),
        }
    }

    /// A run as a snapshot has it: the home's path and instants are not in it.
    fn snapshot(&self, args: &[&str]) -> String {
        self.told(&format!("$ qops {}", args.join(" ")), &self.run(args))
    }

    /// The same of a line for a shell.
    fn shell(&self, line: &str) -> String {
        self.told(&format!("$ {line}"), &self.sh(line))
    }

    /// The same with an input.
    fn fed(&self, args: &[&str], stdin: &str) -> String {
        let line = format!("$ printf {stdin:?} | qops {}", args.join(" "));
        self.told(&line, &self.run_with(args, stdin.as_bytes()))
    }

    fn told(&self, line: &str, ran: &Ran) -> String {
        let err = match ran.err.as_str() {
            "" => String::new(),
            err => format!("--- stderr\n{err}"),
        };
        self.steady(&format!("{line}\n{}{err}--- exit {}\n", ran.out, ran.code))
    }

    /// What is another in every run, in a steady form.
    fn steady(&self, text: &str) -> String {
        let text = text.replace(&self.home.path().display().to_string(), "[HOME]");
        // What was done a moment ago was done a second ago on a busy machine.
        let ages = (0..60).flat_map(|n| {
            let oldest = (format!("(oldest {n}s)"), "(oldest [AGE])");
            [(format!("{n}s ago"), "[AGE] ago"), oldest]
        });
        let text = ages.fold(text, |text, (age, steady)| text.replace(&age, steady));
        without_workers(&without_receipts(&without_instants(&text)))
    }

    /// What a terminal of that width shows, and the exit code.
    fn terminal(&self, columns: u16, args: &[&str]) -> (String, u32) {
        self.answering(columns, args, "", b"")
    }

    /// As [`Self::terminal`]; when `question` is on the screen, `keys` are typed.
    fn answering(&self, columns: u16, args: &[&str], question: &str, keys: &[u8]) -> (String, u32) {
        self.typing(columns, env!("CARGO_BIN_EXE_qops"), args, question, keys)
    }

    /// The same of any program.
    fn typing(
        &self,
        columns: u16,
        program: &str,
        args: &[&str],
        question: &str,
        keys: &[u8],
    ) -> (String, u32) {
        self.after(columns, program, args, (question, || {}, keys))
    }

    /// The same; while the question waits for its answer something else happens.
    fn after(
        &self,
        columns: u16,
        program: &str,
        args: &[&str],
        (question, meanwhile, keys): (&str, impl Fn(), &[u8]),
    ) -> (String, u32) {
        let pair = native_pty_system()
            .openpty(PtySize {
                rows: 24,
                cols: columns,
                pixel_width: 0,
                pixel_height: 0,
            })
            .unwrap();
        let mut command = CommandBuilder::new(program);
        command.args(args);
        command.env_clear();
        command.env("HOME", self.home.path());
        command.env("PATH", path());
        command.env("TERM", "xterm");
        for (name, value) in &self.vars {
            command.env(name, value);
        }
        command.cwd(self.home.path());
        let mut reader = pair.master.try_clone_reader().unwrap();
        let mut child = pair.slave.spawn_command(command).unwrap();
        drop(pair.slave);
        let mut keyboard = pair.master.take_writer().unwrap();
        let (mut shown, mut some, mut typed) = (vec![], [0; 4096], keys.is_empty());
        // The terminal's end is an error on Linux: its last holder is gone.
        while let Ok(n @ 1..) = reader.read(&mut some) {
            shown.extend_from_slice(&some[..n]);
            if !typed && String::from_utf8_lossy(&shown).contains(question) {
                typed = true;
                meanwhile();
                keyboard.write_all(keys).unwrap();
            }
        }
        let code = child.wait().unwrap().exit_code();
        let shown = String::from_utf8(shown).unwrap().replace("\r\n", "\n");
        (self.steady(&shown), code)
    }
}

fn ago(age: Duration) -> Timestamp {
    let then = (SystemTime::now() - age)
        .duration_since(UNIX_EPOCH)
        .unwrap();
    Timestamp(i64::try_from(then.as_micros()).unwrap())
}

/// Puts `[TIME]` for each instant, with or without its date.
fn without_instants(text: &str) -> String {
    let shapes = ["dddd-dd-ddTdd:dd:dd.ddddddZ", "dd:dd:dd.dddZ"];
    let mut out = String::new();
    let mut rest = text;
    'text: while let Some(first) = rest.chars().next() {
        for shape in shapes {
            let fits = rest.len() >= shape.len()
                && rest
                    .bytes()
                    .zip(shape.bytes())
                    .all(|(byte, form)| match form {
                        b'd' => byte.is_ascii_digit(),
                        form => byte == form,
                    });
            if fits {
                out += "[TIME]";
                rest = &rest[shape.len()..];
                continue 'text;
            }
        }
        out.push(first);
        rest = &rest[first.len_utf8()..];
    }
    out
}

/// Where this program and those of the system are found.
fn path() -> OsString {
    let own = Path::new(env!("CARGO_BIN_EXE_qops")).parent().unwrap();
    let others = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::iter::once(own.to_owned()).chain(std::env::split_paths(&others));
    std::env::join_paths(folders).unwrap()
}

/// Puts `[RECEIPT]` for each receipt, whose last part is random.
fn without_receipts(text: &str) -> String {
    let is_receipt = |word: &str| {
        let parts: Vec<&str> = word.split('.').collect();
        let digits = |part: &str| !part.is_empty() && part.bytes().all(|c| c.is_ascii_digit());
        matches!(parts[..], [id, fence, token] if digits(id) && digits(fence)
            && token.len() == 16 && token.bytes().all(|c| c.is_ascii_hexdigit()))
    };
    words(
        text,
        |c| c.is_ascii_alphanumeric() || c == '.',
        |word| is_receipt(word).then_some("[RECEIPT]"),
    )
}

/// Puts `[WORKER]` for each host with the number of a process.
fn without_workers(text: &str) -> String {
    let own = qops::cli::ctx::identity();
    let host = own.split(':').next().unwrap();
    let is_worker = |word: &str| {
        word.split_once(':').is_some_and(|(name, pid)| {
            name == host && !pid.is_empty() && pid.bytes().all(|c| c.is_ascii_digit())
        })
    };
    words(
        text,
        |c| c.is_ascii_alphanumeric() || "-_:".contains(c),
        |word| is_worker(word).then_some("[WORKER]"),
    )
}

/// Replaces words of these characters.
fn words(
    text: &str,
    of: impl Fn(char) -> bool,
    put: impl Fn(&str) -> Option<&'static str>,
) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let end = if of(first) {
            rest.find(|c| !of(c)).unwrap_or(rest.len())
        } else {
            first.len_utf8()
        };
        let (word, others) = rest.split_at(end);
        out += put(word).unwrap_or(word);
        rest = others;
    }
    out
}

/// Several runs in one snapshot.
macro_rules! session {
    ($world:expr, $($args:expr),+ $(,)?) => {{
        let mut text = String::new();
        for args in [$(&$args[..]),+] {
            text += &$world.snapshot(args);
            text.push('\n');
        }
        text
    }};
}
use session;
