//! Commands are run as they are, without a store.

use super::child::{Gate, How, Kit, Leash, Ran};
use super::command::{Command, Input, Output};
use super::environment::Base;
use super::fake;
use super::lease::{Lease, Moment};
use super::ledger::Job;
use super::relay::Sinks;
use super::scratch::Scratch;
use super::slot::{self, Desk, Finished, Urgency};
use super::unix;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Read;
use std::sync::Arc;
use std::time::{Duration, Instant};

struct Bench {
    kit: Kit,
    stdout: File,
    stderr: File,
}

fn command(words: &[&str], output: Output) -> Command {
    let args: Vec<OsString> = words[1..].iter().map(OsString::from).collect();
    Command::exec(OsStr::new(words[0]), &args, Input::Stdin, output).unwrap()
}

fn bench(command: Command) -> Bench {
    let (out_read, out_write) = unix::pipe().unwrap();
    let (err_read, err_write) = unix::pipe().unwrap();
    Bench {
        kit: Kit {
            command,
            base: Base::new(std::env::vars_os(), &[], &[]),
            sinks: Sinks::over(out_write, err_write).unwrap(),
            scratch: Scratch::new(&super::guard::new_run()),
            timeout: None,
            kill_after: Duration::from_secs(5),
            reaper: None,
            gate: Gate::Open.into(),
            jobs: 1,
            unread: false.into(),
        },
        stdout: out_read.into(),
        stderr: err_read.into(),
    }
}

fn shell(line: &str) -> Bench {
    bench(command(&["sh", "-c", line], Output::Prefix))
}

fn short(lease: Duration) -> Job {
    Job {
        lease: Lease::new(Moment::now(), lease),
        ..plain(b"")
    }
}

fn plain(payload: &[u8]) -> Job {
    fake::job("7", payload)
}

impl Bench {
    /// Runs one job in a slot of its own; `meanwhile` has the desk. Then what the command wrote, prefixed.
    fn run(self, job: Job, meanwhile: impl FnOnce(&Desk)) -> (Ran, String, String) {
        let Self {
            kit,
            stdout,
            stderr,
        } = self;
        let read = |mut file: File| {
            std::thread::spawn(move || {
                let mut text = vec![];
                file.read_to_end(&mut text).unwrap();
                String::from_utf8_lossy(&text).into_owned()
            })
        };
        let (stdout, stderr) = (read(stdout), read(stderr));
        let kit = Arc::new(kit);
        let (desk, ears) = Desk::new(1).unwrap();
        let slots = slot::start(&kit, &desk, ears).unwrap();
        desk.give([job].into_iter());
        meanwhile(&desk);
        let finished = loop {
            let mut batch = desk.wait(None, 0, false);
            if let Some(Finished { ran, .. }) = batch.results.pop() {
                break ran;
            }
        };
        desk.close();
        for slot in slots {
            slot.join().unwrap();
        }
        drop(kit);
        (finished, stdout.join().unwrap(), stderr.join().unwrap())
    }

    fn how(self, job: Job) -> How {
        self.run(job, |_| {}).0.how
    }
}

#[test]
fn r12_every_exit_code_is_seen() {
    for code in 0..=255u8 {
        let bench = bench(command(
            &["sh", "-c", &format!("exit {code}")],
            Output::Discard,
        ));
        assert_eq!(bench.how(plain(b"")), How::Exit(code));
    }
}

#[test]
fn r09_a_signal_is_no_exit() {
    assert_eq!(shell("kill -KILL $$").how(plain(b"")), How::Signal(9));
    assert_eq!(shell("kill -SEGV $$").how(plain(b"")), How::Signal(11));
}

#[test]
fn r22_arguments_reach_the_command_as_they_are() {
    let words = [
        "sh",
        "-c",
        "printf %s \"$1\" >&2",
        "_",
        "a b;$(id) '\" \\ *",
    ];
    let (ran, _, err) = bench(command(&words, Output::Prefix)).run(plain(b""), |_| {});
    assert_eq!(ran.how, How::Exit(0));
    assert_eq!(err, "[7] a b;$(id) '\" \\ *\n");
    assert_eq!(ran.stderr, b"a b;$(id) '\" \\ *");
}

#[test]
fn r14_any_payload_comes_through_standard_input() {
    for size in [0, 1, 4096, 4097, 65_536, 131_071, 131_072, 64 << 20] {
        let payload: Vec<u8> = (0..=255).cycle().take(size).collect();
        let (ran, out, _) = shell("cat | wc -c; :").run(plain(&payload), |_| {});
        assert_eq!((ran.how, out), (How::Exit(0), format!("[7] {size}\n")));
    }
}

#[test]
fn r14_what_is_too_long_for_an_argument_is_the_messages_fault() {
    let run = |size: usize| {
        bench(command(&["true", "{}"], Output::Discard)).how(plain(&vec![b'x'; size]))
    };
    assert_eq!(run(131_071), How::Exit(0));
    assert!(matches!(run(131_072), How::Unusable(why) if why.contains("too long")));
    let nul = bench(command(&["true", "{}"], Output::Discard)).how(plain(b"a\0b"));
    assert!(matches!(nul, How::Unusable(why) if why.contains("NUL")));
}

#[test]
fn r13_a_command_that_cannot_be_started_is_nobodys_failure() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tool");
    let make = |text: &str| {
        std::fs::write(&path, text).unwrap();
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(&path, mode).unwrap();
        bench(command(&[path.to_str().unwrap()], Output::Discard))
    };
    let gone = make("#!/bin/sh\n");
    std::fs::remove_file(&path).unwrap();
    assert!(matches!(gone.how(plain(b"")), How::CannotRun(why) if why.contains("No such file")));
    let other = make("#!/no/such/interpreter\n");
    assert!(matches!(other.how(plain(b"")), How::CannotRun(_)));
    let format = make("no program\n");
    assert!(matches!(format.how(plain(b"")), How::CannotRun(_)));
}

#[test]
fn r74_no_pipe_ever_waits_for_another() {
    let line = "head -c 1048576 /dev/zero >&2; head -c 1048576 /dev/zero; exit 3";
    let began = Instant::now();
    let (ran, out, err) = shell(line).run(plain(&vec![b'x'; 1 << 20]), |_| {});
    assert_eq!(ran.how, How::Exit(3));
    assert!(out.len() > 1 << 20 && err.len() > 1 << 20);
    assert!(began.elapsed() < Duration::from_secs(5));
    assert!(!ran.unread, "only a success is told");
}

#[test]
fn r74_a_closed_standard_input_is_no_failure() {
    let payload = vec![b'x'; 1 << 20];
    let (ran, ..) = shell("exec <&-; sleep 0.1; exit 0").run(plain(&payload), |_| {});
    assert_eq!(ran.how, How::Exit(0));
}

#[test]
fn r20_of_much_stderr_both_ends_are_kept() {
    let line =
        "echo first >&2; head -c 20000000 /dev/zero | tr '\\0' 'é' >&2; echo last >&2; exit 1";
    let (ran, ..) = bench(command(&["sh", "-c", line], Output::Discard)).run(plain(b""), |_| {});
    assert_eq!(ran.how, How::Exit(1));
    assert!(ran.stderr.starts_with(b"first\n") && ran.stderr.ends_with(b"last\n"));
    assert!(ran.stderr.len() < (64 << 10) + 100);
}

#[test]
fn an_unread_payload_is_noticed_and_a_read_one_is_not() {
    let unread = |line: &str, payload: &[u8]| {
        bench(command(&["sh", "-c", line], Output::Discard))
            .run(plain(payload), |_| {})
            .0
            .unread
    };
    assert!(unread("exit 0", b"x"));
    assert!(unread("exit 0", &vec![b'x'; 1 << 20]));
    assert!(!unread("cat >/dev/null", b"x"));
    assert!(!unread("exit 0", b""));
    assert!(!unread("exit 1", b"x"));
    assert!(!unread("head -c 1 >/dev/null", &vec![b'x'; 1 << 20]));
    let placed = bench(command(&["true", "{}"], Output::Discard)).run(plain(b"x"), |_| {});
    assert!(!placed.0.unread);
}

#[test]
fn a_file_holds_the_payload_while_the_command_runs() {
    let words = ["sh", "-c", "cat \"$1\"; echo \"$1\"", "_", "{file}"];
    let (ran, out, _) = bench(command(&words, Output::Prefix)).run(plain(b"from a file\n"), |_| {});
    assert_eq!(ran.how, How::Exit(0));
    let mut lines = out.lines();
    assert_eq!(lines.next(), Some("[7] from a file"));
    let path = lines.next().unwrap().strip_prefix("[7] ").unwrap();
    assert!(!std::path::Path::new(path).exists());
}

#[test]
fn a_timeout_ends_everything_that_hangs_together_with_the_command() {
    let mut bench =
        shell("trap '' TERM; (trap '' TERM; sleep 300) & setsid sleep 301 & echo $$; wait");
    bench.kit.timeout = Some(Duration::from_millis(300));
    bench.kit.kill_after = Duration::from_millis(200);
    let began = Instant::now();
    let (ran, out, _) = bench.run(plain(b""), |_| {});
    assert_eq!(ran.how, How::Timeout);
    assert!(began.elapsed() >= Duration::from_millis(500));
    let leader: i32 = out.lines().next().unwrap()[4..].parse().unwrap();
    let group = rustix::process::Pid::from_raw(leader).unwrap();
    // What was killed may not be reaped yet by whoever took it over.
    let gone = || rustix::process::test_kill_process_group(group).is_err();
    while !gone() && began.elapsed() < Duration::from_secs(10) {
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(gone());
}

#[test]
fn a_timeout_that_is_obeyed_needs_no_kill() {
    let mut bench = shell("trap 'echo bye; exit 0' TERM; sleep 300 & wait");
    bench.kit.timeout = Some(Duration::from_millis(200));
    let (ran, out, _) = bench.run(plain(b""), |_| {});
    assert_eq!((ran.how, out.as_str()), (How::Timeout, "[7] bye\n"));
}

#[test]
fn a_lease_that_ends_takes_the_command_with_it() {
    let began = Instant::now();
    let brief = short(Duration::from_millis(200));
    assert_eq!(shell("sleep 300").how(brief), How::Lost);
    assert!(began.elapsed() < Duration::from_secs(5));
    let over = short(Duration::ZERO);
    let (ran, out, _) = shell("echo ran").run(over, |_| {});
    assert_eq!((ran.how, out.as_str()), (How::Lost, ""));
}

#[test]
fn a_lost_lease_ends_the_command_at_once() {
    let job = plain(b"");
    let lease = Arc::clone(&job.lease);
    let (ran, ..) = shell("sleep 300").run(job, move |desk| {
        while desk.load().busy == 0 {
            std::thread::yield_now();
        }
        lease.lose();
        desk.poke_all();
    });
    assert_eq!(ran.how, How::Lost);
}

#[test]
fn a_worker_that_ends_stops_its_commands() {
    for (line, first) in [
        ("sleep 300", Urgency::Term),
        ("trap '' TERM; sleep 300", Urgency::Kill),
    ] {
        let (ran, ..) = shell(line).run(plain(b""), |desk| {
            while desk.load().busy == 0 {
                std::thread::yield_now();
            }
            desk.urge(first);
        });
        assert_eq!(ran.how, How::Stopped);
    }
}

#[test]
fn a_process_that_holds_the_pipes_does_not_hold_the_slot() {
    let began = Instant::now();
    let (ran, out, _) = shell("sleep 300 & echo done").run(plain(b""), |_| {});
    assert_eq!((ran.how, out.as_str()), (How::Exit(0), "[7] done\n"));
    assert!(began.elapsed() < Duration::from_secs(5));
}

#[test]
fn a_panic_beside_a_command_ends_it() {
    use std::os::unix::process::CommandExt as _;
    let mut child = std::process::Command::new("sleep")
        .arg("300")
        .process_group(0)
        .spawn()
        .unwrap();
    let pid = rustix::process::Pid::from_child(&child);
    let panicked = std::panic::catch_unwind(|| {
        let _leash = Leash::on(pid);
        panic!("as the test wants it");
    });
    assert!(panicked.is_err());
    assert!(
        child.wait().is_err(),
        "it is ended and taken from the system"
    );
}

#[test]
fn a_closed_gate_lets_nothing_begin() {
    let bench = shell("echo ran");
    slot::close_gate(&bench.kit);
    let (ran, out, _) = bench.run(plain(b""), |_| {});
    assert_eq!((ran.how, out.as_str()), (How::Stopped, ""));
}

#[test]
fn no_descriptor_of_ours_reaches_a_command() {
    let line = "ls /proc/self/fd | wc -l";
    // A test process has inherited some itself.
    let plain_start = std::process::Command::new("sh")
        .args(["-c", line])
        .stdin(std::process::Stdio::piped())
        .output()
        .unwrap();
    let expected = format!("[7] {}", String::from_utf8(plain_start.stdout).unwrap());
    let (ran, out, _) = shell(line).run(plain(b"x"), |_| {});
    assert_eq!((ran.how, out), (How::Exit(0), expected));
}
