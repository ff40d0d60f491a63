//! What a terminal sees.

use crate::World;
use insta::assert_snapshot;

#[test]
fn a_terminal_gets_tables_and_a_screenful() {
    let world = World::new().var("NO_COLOR", "1");
    let payloads: Vec<String> = (1..=50).map(|n| format!("{{\"n\":{n}}}")).collect();
    let payloads: Vec<&[u8]> = payloads.iter().map(String::as_bytes).collect();
    world.put("many", &payloads);
    let (shown, code) = world.terminal(60, &["peek", "many"]);
    assert_eq!(code, 0);
    assert_eq!(shown.lines().count(), 1 + 20 + 1, "{shown}");
    assert_eq!(shown.lines().last().unwrap(), "20 of 50; -n 0 for all");
    let (shown, _) = world.terminal(60, &["peek", "many", "-n", "0"]);
    assert_eq!(shown.lines().count(), 51, "{shown}");
    let (shown, _) = world.terminal(60, &["ls"]);
    assert_snapshot!(shown, @r"
    QUEUE  READY  DELAYED  RUNNING  DEAD  OLDEST
    many      50        0        0     0  2h
    ");
}

#[test]
fn who_works_on_what_stands_in_a_table_of_what_runs() {
    let world = World::new().var("NO_COLOR", "1");
    world.put("q", &[b"x", b"y"]);
    world.run(&["claim", "q", "--lease", "1h"]);
    let (shown, _) = world.terminal(120, &["peek", "q", "--state", "running"]);
    let lines: Vec<Vec<&str>> = shown
        .lines()
        .map(|line| line.split_whitespace().collect())
        .collect();
    let head = ["ID", "STATE", "AGE", "WORKER", "LEASE", "TRIES", "PAYLOAD"];
    assert_eq!(lines[0], head, "{shown}");
    assert_eq!(lines[1][3], "[WORKER]", "{shown}");
    assert_eq!(lines[1][5], "left", "{shown}");
    let (shown, _) = world.terminal(120, &["peek", "q"]);
    assert!(!shown.contains("WORKER"), "{shown}");
}

#[test]
fn a_look_that_finds_nothing_says_so_to_a_terminal_alone() {
    let world = World::new();
    world.put("q", &[b"x"]);
    for (args, said) in [
        (&["--dead"][..], "nothing in q is dead"),
        (
            &["--state", "running,dead"],
            "nothing in q is running or dead",
        ),
        (&["--grep", "nothing"], "nothing in q matches"),
    ] {
        let mut line = vec!["peek", "q"];
        line.extend(args);
        let (shown, code) = world.terminal(80, &line);
        assert_eq!((shown.trim(), code), (said, 0), "{args:?}");
        let ran = world.run(&line);
        assert_eq!((ran.out, ran.err, ran.code), Default::default(), "{args:?}");
    }
}

#[test]
fn r83_what_a_producer_wrote_does_not_reach_the_terminal() {
    let world = World::new();
    let hostile = "\u{1b}[2J\u{1b}]52;c;aGk=\u{7}\r\u{9b}31m\u{202e}\u{2028}\u{7f}";
    let json = format!("{{\"a\":\"\u{9b}\u{7f}\u{202e}\",\t\"b\":\"{}\"}}", "x");
    world.put("jobs", &[hostile.as_bytes(), json.as_bytes()]);
    for format in ["table", "json", "ndjson", "csv", "tsv", "id"] {
        let (shown, code) =
            world.terminal(200, &["--color", "never", "peek", "jobs", "-o", format]);
        assert_eq!(code, 0, "{format}: {shown}");
        let separators: &[char] = if format == "tsv" {
            &['\n', '\t']
        } else {
            &['\n']
        };
        let bad = shown
            .chars()
            .find(|c| qops::ui::text::is_dangerous(*c) && !separators.contains(c));
        assert_eq!(bad, None, "{format}: {shown:?}");
    }
    for args in [&["show", "1", "2"][..], &["peek", "jobs\u{202e}"]] {
        let mut line = vec!["--color", "never"];
        line.extend(args);
        let (shown, _) = world.terminal(200, &line);
        let bad = shown
            .chars()
            .find(|c| qops::ui::text::is_dangerous(*c) && *c != '\n');
        assert_eq!(bad, None, "{args:?}: {shown:?}");
    }
    let (shown, code) = world.terminal(80, &["peek", "jobs", "-o", "raw"]);
    assert_eq!(code, 2, "{shown}");
}

#[test]
fn lines_fit_the_terminal() {
    let world = World::new().var("NO_COLOR", "1");
    let wide = "漢字👍".repeat(100);
    world.put("jobs", &[wide.as_bytes(), b"short"]);
    for columns in [30, 40, 80, 132] {
        let (shown, _) = world.terminal(columns, &["peek", "jobs"]);
        for line in shown.lines() {
            let width = qops::ui::Shown::new(line).width();
            assert!(width <= usize::from(columns), "{width} > {columns}: {line}");
        }
    }
}

#[test]
fn colour_is_for_terminals_that_want_it() {
    let world = World::new();
    world.put("jobs", &[b"x"]);
    assert!(world.terminal(80, &["ls"]).0.contains("\u{1b}[1mQUEUE"));
    assert!(!world.run(&["ls", "-o", "table"]).out.contains('\u{1b}'));
    let forced = world.run(&["ls", "-o", "table", "--color", "always"]);
    assert!(forced.out.contains('\u{1b}'));
    let world = world.var("NO_COLOR", "1");
    assert!(!world.terminal(80, &["ls"]).0.contains('\u{1b}'));
}

#[test]
fn another_tools_store_is_mentioned_on_a_terminal() {
    let world = World::new().var("DATABASE_URL", "postgres://u:hunter2-canary@h/d");
    let (shown, _) = world.terminal(200, &["queues"]);
    assert!(
        shown.contains("DATABASE_URL") && !shown.contains("canary"),
        "{shown}"
    );
    assert_eq!(world.run(&["queues"]).err, "");
    let (shown, _) = world.terminal(200, &["queues", "-u", "sqlite:x.db"]);
    assert_eq!(shown, "");
}

fn ready(world: &World) -> String {
    world.run(&["ls", "-o", "csv", "--fields", "ready"]).out
}

#[test]
fn r86_a_question_takes_yes_and_nothing_else_for_yes() {
    for (keys, code, left) in [
        (&b"y\r"[..], 0, "ready\n0\n"),
        (b"YES\r", 0, "ready\n0\n"),
        (b"n\r", 4, "ready\n3\n"),
        (b"\r", 4, "ready\n3\n"),
        (b"yy\r", 4, "ready\n3\n"),
    ] {
        let world = World::new();
        world.put("jobs", &[b"a\x1b[2J", b"b", b"c"]);
        let purge = ["purge", "jobs", "--all"];
        let (shown, got) = world.answering(80, &purge, "[y/N]", keys);
        assert_eq!(got, code, "{shown}");
        assert_eq!(ready(&world), left, "{shown}");
        assert!(
            shown.contains("3 messages of jobs") && shown.contains("\\x1b[2J"),
            "{shown}"
        );
        assert!(!shown.contains("\u{1b}[?25l"), "the cursor was hidden");
    }
}

#[test]
fn what_comes_in_before_the_answer_stays() {
    let purge = ["purge", "jobs", "--all"];
    let requeue = [
        "requeue",
        "jobs",
        "--state",
        "ready,delayed",
        "--delay",
        "1h",
    ];
    for (args, left) in [(&purge[..], "2"), (&requeue, "2")] {
        let world = World::new();
        world.put("jobs", &[b"a", b"b", b"c"]);
        let more = || world.put("jobs", &[b"d", b"e"]);
        let qops = env!("CARGO_BIN_EXE_qops");
        let (shown, code) = world.after(80, qops, args, ("[y/N]", more, b"y\r"));
        assert_eq!(code, 0, "{shown}");
        assert!(shown.contains("3 messages of jobs"), "{shown}");
        assert_eq!(ready(&world), format!("ready\n{left}\n"), "{shown}");
    }
    // What is named is meant, whenever it came.
    let world = World::new();
    world.put("jobs", &[b"a"]);
    assert_eq!(world.run(&["purge", "jobs", "1", "--yes"]).code, 0);
    assert_eq!(ready(&world), "ready\n0\n");
}

#[test]
fn a_line_of_progress_does_not_stick_to_what_a_command_writes() {
    let work = |output: &[&str]| {
        let world = World::new();
        world.put("q", &[b"ana", b"bia"]);
        let args = [&["work", "q"], output, &["--", "cat"]].concat();
        world.terminal(80, &args).0
    };
    assert_eq!(work(&[]), "anabia2 done\n");
    let shown = work(&["--output", "discard"]);
    assert!(shown.contains("1 done, 0 failed, 0 dead"), "{shown:?}");
}

#[test]
fn ctrl_d_at_a_question_is_no() {
    let world = World::new();
    world.run(&["enqueue", "jobs", "a"]);
    for typed in [&b"\x04"[..], b"ye\x04\x04", b"yex\x15\r", b"n\x7f\r"] {
        let (shown, code) = world.answering(80, &["purge", "jobs", "--all"], "[y/N]", typed);
        assert_eq!(code, 4, "{shown}");
        assert!(shown.contains("nothing changed"), "{shown}");
    }
    let (shown, code) = world.answering(80, &["purge", "jobs", "--all"], "[y/N]", b"x\x7fy\r");
    assert_eq!(code, 0, "{shown}");
}

#[test]
fn ctrl_c_at_a_question_changes_nothing() {
    let world = World::new();
    world.put("jobs", &[b"a"]);
    let (shown, code) = world.answering(80, &["purge", "jobs", "--all"], "[y/N]", b"\x03");
    // Ended by the signal: portable-pty says 1 for it, a shell 130.
    assert_ne!(code, 0, "{shown}");
    assert_eq!(ready(&world), "ready\n1\n");
    assert!(!shown.contains("\u{1b}[?25l"), "the cursor was hidden");
}

#[test]
fn a_context_with_confirm_wants_the_queues_name() {
    for (typed, code, left) in [
        (&b"jobs\r"[..], 0, "0"),
        (b"y\r", 4, "1"),
        (b"job\r", 4, "1"),
    ] {
        let world = World::new();
        let file = format!(
            "current = \"prod\"\n[context.prod]\nurl = \"sqlite:{}\"\nconfirm = true\n",
            world.file().display()
        );
        world.write(".config/qops/config.toml", &file);
        world.put("jobs", &[b"a"]);
        let purge = ["purge", "jobs", "1"];
        let (shown, got) = world.answering(80, &purge, "Type 'jobs'", typed);
        assert_eq!(got, code, "{shown}");
        assert!(shown.contains("on prod"), "{shown}");
        assert_eq!(ready(&world), format!("ready\n{left}\n"), "{shown}");
    }
}

#[test]
fn a_long_change_shows_a_bar_on_a_terminal_and_nowhere_else() {
    let world = World::new();
    assert_eq!(world.sh("seq 1 12000 | qops enqueue jobs --lines").code, 0);
    let purge = ["purge", "jobs", "--all", "--yes"];
    let (shown, code) = world.terminal(80, &purge);
    assert_eq!(code, 0, "{shown}");
    assert!(shown.contains(" of 12,000"), "{shown:?}");
    let last = shown.trim_end().lines().last().unwrap();
    assert!(
        last.ends_with("deleted 12,000 messages of jobs (sqlite ~/.local/share/qops/qops.db)"),
        "{shown:?}"
    );
    assert!(!shown.contains("\u{1b}[?25l"), "the cursor was hidden");
    assert_eq!(world.sh("seq 1 12000 | qops enqueue jobs --lines").err, "");
    assert_eq!(world.run(&purge).err, "");
    assert_eq!(world.sh("seq 1 9 | qops enqueue jobs --lines").err, "");
    let (shown, _) = world.terminal(80, &["purge", "jobs", "--all", "--yes", "-q"]);
    assert_eq!(shown, "");
}
