//! Commands: how they start, what they get, how they end.

use super::worker_leases::{alive, inner, kill};
use super::{World, ended, eventually};
use std::fmt::Write as _;
use std::time::{Duration, Instant};

/// Every exit code does what the table says, and the code is recorded.
#[test]
fn r12_every_exit_code_is_recorded_and_obeyed() {
    let world = World::new();
    let mut lines = String::new();
    for code in 0..=255 {
        writeln!(lines, "{code}").expect("a text");
    }
    world
        .feed(&["enqueue", "q", "--lines"], lines.as_bytes())
        .is(0);
    // 99 stops the worker: it is run again for the rest. Where nothing succeeds 127 would stop it, too.
    let mut left_dead = 0;
    for _ in 0..2 {
        world.run(&["enqueue", "q", "0", "--priority", "9"]).is(0);
        let work = ["work", "q", "-j4", "--backoff", "1h", "--"];
        let ran = world.run(&[&work[..], &["sh", "-c", "exit $(cat)"]].concat());
        let dead = world.count("q", "dead");
        ran.is(i32::from(dead > left_dead));
        left_dead = dead;
    }
    assert_eq!(world.count("q", "ready"), 0);
    assert_eq!(world.count("q", "dead"), 2);
    let mut seen = 0;
    for message in world.peek(&["q", "--state", "delayed,dead", "-n", "0"]) {
        let code = message["payload"].as_i64().expect("a number");
        let shown = world.show(message["id"].as_str().expect("an id"));
        // What was marked ahead when 99 stopped the worker was given back before it ran.
        let history = shown["history"].as_array().expect("a history");
        let runs: Vec<_> = history
            .iter()
            .filter(|run| run["outcome"] != "released")
            .collect();
        assert_eq!(runs.len(), 1, "{shown}");
        let run = runs[0];
        assert_eq!(run["exit"], code, "{shown}");
        let (outcome, attempts, state) = match code {
            65 | 100 => ("permanent", 1, "dead"),
            75 | 111 | 126 | 127 => ("temporary", 0, "delayed"),
            _ => ("failed", 1, "delayed"),
        };
        assert_eq!(run["outcome"], outcome, "{code}");
        assert_eq!(message["attempts"], attempts, "{code}");
        assert_eq!(message["state"], state, "{code}");
        seen += 1;
    }
    assert_eq!(seen, 254, "0 and 99 are done");
}

/// A command that is not there costs nothing: not before the first claim, not when it vanishes while the worker runs,
/// not when a shell cannot find it.
#[test]
fn r13_a_command_that_cannot_run_charges_nobody() {
    let world = World::new();
    let lines = "x\n".repeat(100);
    world
        .feed(&["enqueue", "q", "--lines"], lines.as_bytes())
        .is(0);
    let untouched = |left: u64| {
        assert_eq!(
            world.count("q", "ready") + world.count("q", "delayed"),
            left
        );
        assert_eq!(
            (world.count("q", "dead"), world.count("q", "running")),
            (0, 0)
        );
        assert_eq!(world.sql("SELECT sum(attempts) FROM qops_message"), "0");
    };
    world.run(&["work", "q", "--", "/no/such"]).is(2);
    world.run(&["work", "q", "--", "no-such-command"]).is(2);
    untouched(100);
    assert_eq!(world.sql("SELECT max(deliveries) FROM qops_message"), "0");

    let tool = world.write("tool", "#!/bin/sh\nexit 0\n");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&tool, mode).expect("a mode");
    let path = tool.to_str().expect("a path");
    std::fs::write(&tool, "#!/bin/sh\nrm \"$0\"\n").expect("a file");
    let ran = world.run(&["work", "q", "--", path]).is(2);
    assert!(ran.err.contains("cannot start"), "{}", ran.err);
    untouched(99);

    let ran = world
        .run(&["work", "q", "--backoff", "1h", "--shell", "exit 127"])
        .is(2);
    assert!(ran.err.contains("127"), "{}", ran.err);
    untouched(99);
    assert_eq!(world.count("q", "delayed"), 1, "one was tried");

    // Among commands that succeed it blocks nobody.
    let line =
        "test -e first || { touch first; exit 0; }; test -e second || { touch second; exit 127; }";
    world
        .run(&["work", "q", "--backoff", "1h", "--shell", line])
        .is(0);
    assert_eq!(
        (world.count("q", "ready"), world.count("q", "delayed")),
        (0, 2)
    );
}

#[test]
fn r14_payloads_of_any_size_and_one_too_long_for_an_argument() {
    let world = World::new();
    let size = 64 << 20;
    world
        .feed(
            &["enqueue", "big", "--one", "--max-payload", "64MiB"],
            &vec![b'x'; size],
        )
        .is(0);
    let ran = world.run(&["work", "big", "--", "wc", "-c"]).is(0);
    assert_eq!(ran.text().trim(), size.to_string());
    for size in [131_071, 131_072, 10] {
        world
            .feed(&["enqueue", "q", "--one"], &vec![b'y'; size])
            .is(0);
    }
    let ran = world
        .run(&["work", "q", "--", "sh", "-c", "echo ${#1}", "_", "{}"])
        .is(1);
    assert_eq!(ran.lines(), ["131071", "10"], "it goes on");
    let dead = world.peek(&["q", "--dead"]);
    assert_eq!(dead.len(), 1);
    assert_eq!(dead[0]["reason"], "unusable_argument");
    let why = dead[0]["last_error"].as_str().expect("why");
    assert!(why.contains("too long"), "{why}");
}

#[test]
fn r15_r82_a_commands_environment_has_no_payload_and_no_end() {
    let world = World::new();
    let long = "h".repeat(20_000);
    world
        .run(&[
            "enqueue",
            "q",
            "canary-payload",
            "--key",
            "k",
            "-H",
            &format!("Trace={long}"),
        ])
        .is(0);
    world
        .run(&[
            "work",
            "q",
            "--",
            "sh",
            "-c",
            "env > environment; cat /proc/$$/cmdline > line",
        ])
        .is(0);
    let environment = world.read("environment");
    assert!(!environment.contains("canary-payload") && !world.read("line").contains("canary"));
    let ours: Vec<&str> = environment
        .lines()
        .filter(|line| line.starts_with("QOPS_"))
        .collect();
    assert!(
        ours.iter()
            .all(|line| line.split_once('=').expect("a value").1.len() <= 4096)
    );
    for expected in [
        "QOPS_ID=1",
        "QOPS_QUEUE=q",
        "QOPS_ATTEMPT=1",
        "QOPS_MAX_ATTEMPTS=7",
        "QOPS_KEY=k",
        "QOPS_FENCE=1",
    ] {
        assert!(ours.contains(&expected), "{expected} in {ours:?}");
    }
    assert!(!environment.contains("QOPS_GUARD") && environment.contains("QOPS_URL=sqlite:/"));
}

#[test]
fn r20_much_stderr_costs_no_memory_and_keeps_its_ends() {
    let world = World::new();
    world.run(&["enqueue", "q", "x"]).is(0);
    // The worker's own memory, seen by its command at the beginning and at the end.
    let line = "peak() { grep VmHWM /proc/$PPID/status | tr -dc 0-9; }; a=$(peak); echo first >&2; \
        head -c 100000000 /dev/zero | tr '\\0' a >&2; echo >&2; echo last >&2; echo $(($(peak) - a)) > grown; exit 1";
    world
        .run(&["work", "q", "--output", "discard", "--", "sh", "-c", line])
        .is(0);
    let grown: u32 = world.read("grown").trim().parse().expect("KiB");
    assert!(grown < 1024, "{grown} KiB");
    let shown = world.show("1");
    let kept = shown["history"][0]["stderr"].as_str().expect("its stderr");
    assert!(kept.starts_with("first\naaaa") && kept.ends_with("aaaa\nlast\n"));
    assert!((64 << 10..65 << 10).contains(&kept.len()), "{}", kept.len());
    assert_eq!(shown["last_error"], "last");
}

#[test]
fn r22_r81_nothing_is_read_as_a_shell_would() {
    let world = World::new();
    let evil = [
        "'; touch pwned #",
        "$(touch pwned)",
        "`touch pwned`",
        "a\ntouch pwned",
        "-rf",
        "a b;$(id)",
    ];
    for payload in evil {
        world
            .feed(&["enqueue", "q", "--one"], payload.as_bytes())
            .is(0);
        world
            .feed(&["enqueue", "line", "--one"], payload.as_bytes())
            .is(0);
    }
    let ran = world
        .run(&[
            "work",
            "q",
            "--",
            "bash",
            "-c",
            "printf '%s\\0' \"$1\"",
            "_",
            "{}",
        ])
        .is(0);
    assert_eq!(ran.text().split_terminator('\0').collect::<Vec<_>>(), evil);
    let ran = world
        .run(&["work", "line", "--shell", "cat; echo ' {}' '{id}'"])
        .is(0);
    for payload in evil {
        assert!(
            ran.text().contains(&format!("{payload} {{}} {{id}}\n")),
            "{}",
            ran.text()
        );
    }
    assert!(!world.path().join("pwned").exists());
}

/// What a command starts ends with it, whatever way it goes, and with its worker.
#[test]
fn r75_nothing_is_left_of_what_a_command_started() {
    let world = World::new();
    let marker = format!("8{}", std::process::id());
    let both = format!("sleep {marker} & setsid sleep {marker} &");
    let escape = format!("(setsid sh -c 'trap \"\" TERM; env -i sleep {marker}' &) ; sleep 0.1;");
    for (line, code) in [
        (format!("{both} wait"), 0),
        (format!("{both} exit 0"), 0),
        (
            format!("trap '' TERM; {both} {escape} wait; sleep {marker}"),
            0,
        ),
        (format!("{escape} exit 0"), 0),
    ] {
        for jobs in ["-j1", "-j3"] {
            world.run(&["enqueue", "q", "x"]).is(0);
            world
                .run(&[
                    "work",
                    "q",
                    jobs,
                    "--timeout",
                    "500ms",
                    "--kill-after",
                    "300ms",
                    "--backoff",
                    "1h",
                    "--",
                    "sh",
                    "-c",
                    &line,
                ])
                .is(code);
            assert_eq!(alive(&marker), [0u32; 0], "{jobs} {line}");
            world.run(&["purge", "q", "--all", "--yes"]);
        }
    }
    for role in ["inner", "outer"] {
        world.run(&["enqueue", "q", "x"]).is(0);
        let line = format!("{both} {escape} wait");
        let worker = world
            .qops(&["work", "q", "--", "sh", "-c", &line])
            .spawn()
            .expect("a worker");
        eventually("they run", || alive(&marker).len() >= 3);
        kill(
            if role == "inner" {
                inner(&worker)
            } else {
                worker.id()
            },
            "KILL",
        );
        drop(ended(worker));
        eventually("nothing is left", || alive(&marker).is_empty());
        world.run(&[
            "purge",
            "q",
            "--all",
            "--state",
            "running,ready,delayed",
            "--yes",
        ]);
    }
}

/// One signal: the running may finish, the rest is given back, and the exit is as if the work had ended. Two: they are
/// ended and given back, and the exit names the signal.
#[test]
fn r78_signals_stop_gently_then_at_once() {
    let world = World::new();
    let line = "m=$(cat); echo start $m >> runs; trap 'echo hit >> runs; exit 3' TERM INT HUP; \
        while test ! -e go; do sleep 0.02; done; echo end $m >> runs";
    let lines = "1\n2\n3\n4\n";
    for signal in ["TERM", "INT", "HUP"] {
        world
            .feed(&["enqueue", "q", "--lines"], lines.as_bytes())
            .is(0);
        let mut worker = world
            .qops(&["work", "q", "--", "sh", "-c", line])
            .spawn()
            .expect("a worker");
        eventually("it runs", || world.read("runs").contains("start 1"));
        kill(worker.id(), signal);
        eventually("the rest is given back", || world.count("q", "ready") == 3);
        assert_eq!(worker.try_wait().expect("a look"), None, "{signal}");
        world.write("go", "");
        assert_eq!(worker.wait().expect("its end").code(), Some(0), "{signal}");
        assert_eq!(world.read("runs"), "start 1\nend 1\n", "{signal}");
        assert_eq!(world.sql("SELECT sum(attempts) FROM qops_message"), "0");
        world.run(&["purge", "q", "--all", "--yes"]).is(0);
        for name in ["go", "runs"] {
            std::fs::remove_file(world.path().join(name)).expect("a file");
        }
    }
    for (signal, code) in [("TERM", 143), ("INT", 130), ("HUP", 129)] {
        world
            .feed(&["enqueue", "q", "--lines"], lines.as_bytes())
            .is(0);
        let mut worker = world
            .qops(&["work", "q", "--", "sh", "-c", line])
            .spawn()
            .expect("a worker");
        eventually("it runs", || world.read("runs").contains("start 1"));
        kill(worker.id(), signal);
        eventually("the rest is given back", || world.count("q", "ready") == 3);
        kill(worker.id(), signal);
        assert_eq!(
            worker.wait().expect("its end").code(),
            Some(code),
            "{signal}"
        );
        assert_eq!(world.read("runs"), "start 1\nhit\n", "{signal}");
        assert_eq!(world.count("q", "ready"), 4, "{signal}");
        assert_eq!(world.sql("SELECT sum(attempts) FROM qops_message"), "0");
        world.run(&["purge", "q", "--all", "--yes"]).is(0);
        std::fs::remove_file(world.path().join("runs")).expect("a file");
    }
}

#[test]
fn r78_grace_has_an_end() {
    let world = World::new();
    world.run(&["enqueue", "q", "x"]).is(0);
    let mut worker = world
        .qops(&[
            "work",
            "q",
            "--grace",
            "300ms",
            "--kill-after",
            "300ms",
            "--",
            "sh",
            "-c",
            "trap '' TERM; echo >> runs; while :; do sleep 0.05; done",
        ])
        .spawn()
        .expect("a worker");
    eventually("it runs", || world.read("runs") == "\n");
    let began = Instant::now();
    kill(worker.id(), "INT");
    assert_eq!(worker.wait().expect("its end").code(), Some(130));
    assert!(began.elapsed() >= Duration::from_millis(600));
    assert_eq!(world.count("q", "ready"), 1);
    assert_eq!(world.show("1")["attempts"], 0);
    assert_eq!(world.show("1")["history"][0]["outcome"], "released");
}

/// TSTP stops the worker alone. After CONT a command whose lease has passed is ended and not acked; one whose lease has
/// not goes on.
#[test]
fn r78_a_stopped_worker_loses_what_it_slept_over() {
    let world = World::new();
    let stopped = |pid: u32| {
        std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| {
            stat.rsplit(')')
                .next()
                .is_some_and(|rest| rest.trim_start().starts_with('T'))
        })
    };
    for (lease, slept, runs) in [("30s", 100, "start\nend\n"), ("1s", 1500, "start\n")] {
        world.run(&["enqueue", "q", "x"]).is(0);
        // It ends while its worker is stopped if the lease is long, and would go on for ever if it is short.
        let line = if lease == "30s" {
            "echo start >> runs; sleep 0.5; echo end >> runs"
        } else {
            "echo start >> runs; sleep 60"
        };
        let mut worker = world
            .qops(&[
                "work",
                "q",
                "--lease",
                lease,
                "--kill-after",
                "1s",
                "--max-messages",
                "1",
                "--",
                "sh",
                "-c",
                line,
            ])
            .spawn()
            .expect("a worker");
        eventually("it runs", || world.read("runs") == "start\n");
        let below = inner(&worker);
        kill(worker.id(), "TSTP");
        eventually("both are stopped", || {
            stopped(worker.id()) && stopped(below)
        });
        std::thread::sleep(Duration::from_millis(slept));
        kill(worker.id(), "CONT");
        assert_eq!(worker.wait().expect("its end").code(), Some(0), "{lease}");
        assert_eq!(world.read("runs"), runs, "{lease}");
        let left = u64::from(lease == "1s");
        assert_eq!(
            world.sql("SELECT count(*) FROM qops_message"),
            left.to_string(),
            "{lease}"
        );
        std::fs::remove_file(world.path().join("runs")).expect("a file");
    }
}

#[test]
fn r09_r74_a_killed_command_and_one_that_fills_every_pipe() {
    let world = World::new();
    world.run(&["enqueue", "q", "x"]).is(0);
    world
        .run(&[
            "work",
            "q",
            "--backoff",
            "1h",
            "--",
            "sh",
            "-c",
            "kill -9 $$",
        ])
        .is(0);
    let shown = world.show("1");
    assert_eq!(shown["last_error"], "ended by SIGKILL");
    assert_eq!(
        (&shown["history"][0]["signal"], &shown["attempts"]),
        (&9.into(), &1.into())
    );

    world
        .feed(&["enqueue", "p", "--one"], &vec![b'x'; 1 << 20])
        .is(0);
    for output in ["pass", "prefix", "discard"] {
        world
            .feed(&["enqueue", "p", "--one"], &vec![b'x'; 1 << 20])
            .is(0);
        let began = Instant::now();
        let line = "head -c 1048576 /dev/zero >&2; head -c 1048576 /dev/zero; echo >&2; exit 0";
        world
            .run(&["work", "p", "--output", output, "--", "sh", "-c", line])
            .is(0);
        assert!(began.elapsed() < Duration::from_secs(10), "{output}");
        assert_eq!(world.count("p", "ready"), 0);
    }
}
