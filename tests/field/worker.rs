//! What workers and their commands did to people.

use super::{World, eventually};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

fn signal(pid: u32, name: &str) {
    let sent = Command::new("kill")
        .args([format!("-{name}"), pid.to_string()])
        .status();
    assert!(sent.expect("kill").success());
}

/// The worker proper of an outer process.
fn inner(outer: &Child) -> u32 {
    let path = format!("/proc/{0}/task/{0}/children", outer.id());
    let mut found = None;
    eventually("the worker runs", || {
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        found = text
            .split_whitespace()
            .next()
            .and_then(|pid| pid.parse().ok());
        found.is_some()
    });
    found.expect("a worker")
}

/// Processes on the machine whose command line has this text in it.
fn with(text: &str) -> usize {
    let mut count = 0;
    for entry in std::fs::read_dir("/proc").expect("/proc").flatten() {
        let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        count += usize::from(
            String::from_utf8_lossy(&line)
                .replace('\0', " ")
                .contains(text),
        );
    }
    count
}

/// A number that stands in no other command line of the machine.
fn unique() -> String {
    format!("9{}", std::process::id() * 1000 + fastrand::u32(..1000))
}

#[test]
fn r04_a_long_command_runs_once_and_a_dead_workers_message_is_back_in_time() {
    let world = World::new();
    world.run(&["enqueue", "q", "x"]).is(0);
    let line = "echo run >> runs; sleep 2.5";
    world
        .run(&[
            "work", "q", "--lease", "1s", "--wait", "--input", "none", "--shell", line,
        ])
        .is(0);
    assert_eq!(world.read("runs"), "run\n", "its lease was renewed");

    world.run(&["enqueue", "q", "y"]).is(0);
    let line = "echo $QOPS_ATTEMPT >> again; test $QOPS_ATTEMPT = 2 || sleep 60";
    let args = [
        "work", "q", "--lease", "1s", "--wait", "--input", "none", "--shell", line,
    ];
    let mut first = world.qops(&args).spawn().expect("a worker");
    eventually("the first run", || world.read("again") == "1\n");
    let killed = Instant::now();
    signal(first.id(), "KILL");
    first.wait().expect("its end");
    world.run(&args).is(0);
    assert_eq!(world.read("again"), "1\n2\n");
    assert!(
        killed.elapsed() < Duration::from_secs(8),
        "{:?}",
        killed.elapsed()
    );
}

#[test]
fn r05_a_timeout_longer_than_the_lease() {
    let world = World::new();
    world.run(&["enqueue", "q", "x"]).is(0);
    let base = ["work", "q", "--lease", "5s", "--timeout", "10s"];
    let ran = world
        .run(&[&base[..], &["--no-heartbeat", "--", "cat"]].concat())
        .is(2);
    assert!(ran.err.contains("hint:"), "{}", ran.err);
    assert_eq!(world.count("q", "ready"), 1);
    world.run(&[&base[..], &["--", "cat"]].concat()).is(0);
}

#[test]
fn r09_a_command_that_is_killed_failed() {
    let world = World::new();
    world.run(&["enqueue", "q", "x"]).is(0);
    world
        .run(&[
            "work",
            "q",
            "--max-attempts",
            "1",
            "--",
            "sh",
            "-c",
            "kill -9 $$",
        ])
        .is(1);
    let history = &world.show("1")["history"][0];
    assert_eq!(
        (history["outcome"].as_str(), history["signal"].as_i64()),
        (Some("failed"), Some(9))
    );
}

#[test]
fn r10_a_command_that_kills_its_worker() {
    let world = World::new();
    let lines = (0..40)
        .map(|n| format!("{}\n", if n == 20 { "poison" } else { "fine" }))
        .collect::<Vec<_>>()
        .concat();
    world
        .feed(&["enqueue", "q", "--lines"], lines.as_bytes())
        .is(0);
    // The worker proper is the parent of the command.
    let line = "if test \"$(cat)\" = poison; then echo x >> starts; kill -9 $PPID; sleep 5; fi";
    let args = [
        "work",
        "q",
        "-j2",
        "--lease",
        "1s",
        "--wait",
        "--max-attempts",
        "3",
        "--",
        "sh",
        "-c",
        line,
    ];
    let mut rounds = 0;
    while world.run(&args).code == Some(137) {
        rounds += 1;
        assert!(rounds < 10, "it goes on for ever");
    }
    assert_eq!(world.read("starts").lines().count(), 3);
    let dead = world.peek(&["q", "--dead"]);
    assert_eq!(dead.len(), 1);
    assert_eq!(
        (dead[0]["reason"].as_str(), dead[0]["payload"].as_str()),
        (Some("worker_lost"), Some("poison"))
    );
    assert_eq!(
        world.count("q", "ready") + world.count("q", "delayed") + world.count("q", "running"),
        0
    );
}

#[test]
fn r12_every_exit_code_means_what_the_table_says() {
    let world = World::new();
    let lines = (0..=255)
        .filter(|code| *code != 99)
        .map(|code| format!("{code}\n"))
        .collect::<Vec<_>>()
        .concat();
    world
        .feed(&["enqueue", "q", "--lines"], lines.as_bytes())
        .is(0);
    world
        .run(&[
            "work",
            "q",
            "-j2",
            "--output",
            "discard",
            "--backoff",
            "1h",
            "--",
            "sh",
            "-c",
            "exit $(cat)",
        ])
        .is(1);
    let all = [world.peek(&["q"]), world.peek(&["q", "--dead"])].concat();
    assert_eq!(all.len(), 254, "0 is done, 99 was not sent");
    for message in all {
        let code = message["payload"].as_u64().expect("a code");
        let stands = (
            message["state"].as_str(),
            message["attempts"].as_u64(),
            message["deferrals"].as_u64(),
        );
        let means = match code {
            65 | 100 => (Some("dead"), Some(1), Some(0)),
            75 | 111 | 126 | 127 => (Some("delayed"), Some(0), Some(1)),
            _ => (Some("delayed"), Some(1), Some(0)),
        };
        assert_eq!(stands, means, "exit {code}");
        let history = &world.show(message["id"].as_str().expect("an id"))["history"][0];
        assert_eq!(history["exit"].as_u64(), Some(code));
    }
    world.run(&["enqueue", "stop", "99", "0"]).is(0);
    world
        .run(&["work", "stop", "--", "sh", "-c", "exit $(cat)"])
        .is(0);
    assert_eq!(
        world.count("stop", "ready"),
        1,
        "99 is done and stops the worker"
    );
}

#[test]
fn r13_a_command_that_is_not_there_costs_nothing() {
    let world = World::new();
    let lines = (0..100)
        .map(|n| format!("{n}\n"))
        .collect::<Vec<_>>()
        .concat();
    world
        .feed(&["enqueue", "q", "--lines"], lines.as_bytes())
        .is(0);
    let nothing_happened = || {
        assert_eq!(
            (world.count("q", "ready"), world.count("q", "dead")),
            (100, 0)
        );
        assert!(
            world
                .peek(&["q"])
                .iter()
                .all(|message| message["attempts"] == 0)
        );
    };
    world.run(&["work", "q", "--", "/no/such"]).is(2);
    nothing_happened();
    // It goes away while the worker runs.
    let tool = world.write("tool", "#!/bin/sh\nrm -f \"$0\"; exit 75\n");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&tool, mode).expect("a mode");
    world
        .run(&["work", "q", "--", tool.to_str().expect("a path")])
        .is(2);
    assert_eq!(
        (world.count("q", "ready"), world.count("q", "delayed")),
        (99, 1)
    );
    assert!(
        world
            .peek(&["q"])
            .iter()
            .all(|message| message["attempts"] == 0)
    );
    world
        .run(&["work", "q", "--", "sh", "-c", "exit 127"])
        .is(2);
    assert_eq!(world.count("q", "dead"), 0);
}

#[test]
fn r20_much_on_stderr_is_kept_in_part() {
    let world = World::new();
    world.run(&["enqueue", "q", "x"]).is(0);
    let line = "echo first >&2; yes é | head -c 20000001 >&2; echo last >&2; exit 1";
    world
        .run(&[
            "work",
            "q",
            "--max-attempts",
            "1",
            "--output",
            "discard",
            "--input",
            "none",
            "--",
            "sh",
            "-c",
            line,
        ])
        .is(1);
    let history = &world.show("1")["history"][0];
    let kept = history["stderr"].as_str().expect("a text");
    assert!(
        kept.starts_with("first\n") && kept.ends_with("last\n"),
        "{}",
        &kept[..40]
    );
    assert!(
        kept.len() <= 66_000 && kept.len() > 60_000,
        "{}",
        kept.len()
    );
    assert!(!kept.contains('\u{fffd}'), "cut at a character");
}

#[test]
fn r15_r22_arguments_come_verbatim_and_the_payload_in_no_variable() {
    let world = World::new();
    let payload = "a 'b;$(id) \"c\" {id}";
    world
        .run(&["enqueue", "q", payload, "-H", "Trace-Id=t 1", "--key", "k"])
        .is(0);
    let line = "printf '%s' \"$1\" > arg; env > env";
    world
        .run(&["work", "q", "--", "bash", "-c", line, "_", "{}"])
        .is(0);
    assert_eq!(world.read("arg"), payload);
    let env = world.read("env");
    assert!(!env.contains("$(id)"), "{env}");
    for part in [
        "QOPS_HEADER_TRACE_ID=t 1",
        "QOPS_KEY=k",
        "QOPS_ATTEMPT=1",
        "QOPS_FENCE=1",
    ] {
        assert!(env.contains(part), "{part}: {env}");
    }
}

#[test]
fn r81_a_payload_never_reaches_a_shell_line() {
    let world = World::new();
    for payload in [
        "'; touch pwned #",
        "$(touch pwned)",
        "`touch pwned`",
        "x\ntouch pwned",
        "-e touch pwned",
    ] {
        world
            .feed(&["enqueue", "q", "--one"], payload.as_bytes())
            .is(0);
    }
    world
        .run(&["work", "q", "--shell", "cat >> all; echo {} >> all"])
        .is(0);
    assert!(!world.path().join("pwned").exists());
    assert!(world.read("all").contains("$(touch pwned)") && world.read("all").contains("{}"));
}

/// Everything that a command started is gone: after a timeout, and after either process of the worker was killed.
#[test]
fn r75_what_a_command_leaves_behind() {
    let world = World::new();
    let mark = unique();
    let line = format!("sleep {mark} & setsid sleep {mark} & wait");
    world.run(&["enqueue", "q", "x"]).is(0);
    let args = [
        "work",
        "q",
        "--timeout",
        "1s",
        "--max-attempts",
        "1",
        "--input",
        "none",
        "--",
        "sh",
        "-c",
        &line,
    ];
    world.run(&args).is(1);
    eventually("nothing is left after the timeout", || {
        with(&format!("sleep {mark}")) == 0
    });
    for kill_outer in [true, false] {
        world.run(&["enqueue", "q", "x"]).is(0);
        let args = ["work", "q", "--input", "none", "--", "sh", "-c", &line];
        let mut worker = world.qops(&args).spawn().expect("a worker");
        eventually("both sleep", || with(&format!("sleep {mark}")) >= 2);
        let pid = if kill_outer {
            worker.id()
        } else {
            inner(&worker)
        };
        signal(pid, "KILL");
        let status = worker.wait().expect("its end");
        if !kill_outer {
            assert_eq!(status.code(), Some(137));
        }
        eventually("nothing is left", || with(&format!("sleep {mark}")) == 0);
    }
}

#[test]
fn r78_signals_while_a_command_runs() {
    let mark = unique();
    for (name, times, code, left) in [
        ("TERM", 1, 0, 0),
        ("INT", 1, 0, 0),
        ("HUP", 1, 0, 0),
        ("TERM", 2, 143, 1),
        ("INT", 2, 130, 1),
        ("HUP", 2, 129, 1),
    ] {
        let world = World::new();
        world.run(&["enqueue", "q", "a", "b"]).is(0);
        // A short command may finish; a long one is ended by the second signal.
        let nap = if times == 1 {
            "1".to_owned()
        } else {
            mark.clone()
        };
        let line = format!("echo x >> begun; sleep {nap}");
        let mut command = world.qops(&[
            "work",
            "q",
            "--input",
            "none",
            "--kill-after",
            "1s",
            "--",
            "sh",
            "-c",
            &line,
        ]);
        let mut worker = command.process_group(0).spawn().expect("a worker");
        eventually("it runs", || world.read("begun") == "x\n");
        for n in 0..times {
            if n > 0 {
                std::thread::sleep(Duration::from_millis(300));
            }
            signal(worker.id(), name);
        }
        assert_eq!(
            worker.wait().expect("its end").code(),
            Some(code),
            "{times} × {name}"
        );
        assert_eq!(
            world.count("q", "ready"),
            1 + left,
            "{times} × {name}: what was not finished is back"
        );
        assert_eq!(world.read("begun"), "x\n", "nothing more is taken");
        assert!(
            world
                .peek(&["q"])
                .iter()
                .all(|message| message["attempts"] == 0),
            "and uncharged"
        );
    }
    eventually("nothing is left", || with(&format!("sleep {mark}")) == 0);
}

#[test]
fn r78_a_stopped_worker_leaves_its_commands_running() {
    let world = World::new();
    world.run(&["enqueue", "q", "a"]).is(0);
    let line = "echo x >> begun; sleep 1; echo y >> ended";
    let mut worker = world
        .qops(&["work", "q", "--input", "none", "--", "sh", "-c", line])
        .spawn()
        .expect("a worker");
    eventually("it runs", || world.read("begun") == "x\n");
    signal(worker.id(), "TSTP");
    eventually("its command ends meanwhile", || {
        world.read("ended") == "y\n"
    });
    assert_eq!(world.count("q", "running"), 1, "nobody acknowledged it yet");
    signal(worker.id(), "CONT");
    assert_eq!(worker.wait().expect("its end").code(), Some(0));
    assert_eq!(world.count("q", "running") + world.count("q", "ready"), 0);
}
