//! Running a command for each message, as its users meet it.

use crate::bulk::{counts, messages};
use crate::{World, session};
use insta::assert_snapshot;
use qops::queue::State;

#[test]
fn work_says_what_there_is_to_say_and_nothing_else() {
    let world = World::new();
    world.run(&["enqueue", "q", "a", "b"]);
    assert_snapshot!(session!(
        world,
        ["work", "q", "--", "sh", "-c", "echo \"got $(cat)\""],
        ["work", "q", "--", "cat"],
        ["enqueue", "q", "bad"],
        [
            "work",
            "q",
            "--max-attempts",
            "1",
            "--",
            "sh",
            "-c",
            "cat >/dev/null; echo 'no such customer' >&2; exit 1"
        ],
        ["drain", "q", "--yes"],
        ["work", "q", "--", "true"],
        ["work", "nope", "--", "cat"],
        ["work", "nope", "--missing-ok", "--", "cat"],
        ["work", "q", "--", "/no/such"],
        ["work", "q", "--shell", "echo hi", "--", "cat"],
        ["work", "q", "--shell", " "],
        ["work", "q"],
        ["work", "q", "--"],
        ["work", "q", "sh", "-c", "x"],
        ["work", "q", "-j", "2", "sh", "-e", "x"],
        ["work", "--", "cat"],
        ["work", "q", "--once", "--follow", "--", "cat"],
        ["work", "q", "--exit-map", "3=explode", "--", "cat"],
        ["work", "q", "--backoff", "5", "--", "cat"],
        ["work", "q", "-j", "0", "--", "cat"],
        [
            "work",
            "q",
            "--no-heartbeat",
            "--lease",
            "5s",
            "--timeout",
            "10s",
            "--",
            "cat"
        ],
        [
            "work",
            "q",
            "-u",
            "sqlite:x.db?durability=normal",
            "--require-durable",
            "--",
            "cat"
        ],
    ));
}

#[test]
fn exit_codes_of_a_command_decide() {
    for (exit, code, state) in [
        ("exit 0", 0, None),
        ("exit 99", 0, None),
        ("exit 1", 0, Some(State::Delayed)),
        ("exit 75", 0, Some(State::Delayed)),
        ("exit 65", 1, Some(State::Dead)),
        ("exit 127", 2, Some(State::Delayed)),
        ("kill -9 $$", 0, Some(State::Delayed)),
    ] {
        let world = World::new();
        world.run(&["enqueue", "q", "x"]);
        let ran = world.run(&["work", "q", "--shell", &format!("cat >/dev/null; {exit}")]);
        assert_eq!(ran.code, code, "{exit}: {}", ran.err);
        let left = messages(&world, "q").pop().map(|message| message.state);
        assert_eq!(left, state, "{exit}: {}", ran.err);
    }
    let world = World::new();
    world.run(&["enqueue", "q", "x"]);
    let ran = world.run(&["work", "q", "--exit-map", "0=dead", "--", "cat"]);
    assert_eq!(ran.code, 1, "{}", ran.err);
    assert_eq!(counts(&world, "q"), (0, 1));
}

#[test]
fn a_zero_byte_cannot_be_an_argument_and_the_worker_goes_on() {
    let world = World::new();
    world.run_with(&["enqueue", "q", "--one"], b"a\0b");
    world.run(&["enqueue", "q", "plain"]);
    let ran = world.run(&["work", "q", "--", "echo", "{}"]);
    assert_eq!((ran.code, ran.out.as_str()), (1, "plain\n"), "{}", ran.err);
    let letter = messages(&world, "q").pop().unwrap();
    assert_eq!(letter.reason.unwrap().word(), "unusable_argument");
    // On standard input it is a payload like any other.
    world.run(&["drain", "q", "--yes"]);
    let ran = world.run(&["work", "q", "--", "od", "-An", "-c"]);
    assert_eq!((ran.code, ran.out.trim()), (0, "a  \\0   b"), "{}", ran.err);
}

#[test]
fn a_terminal_sees_what_failed_and_when_it_comes_again() {
    let world = World::new();
    world.run(&["enqueue", "q", "a", "b"]);
    let work = [
        "work",
        "q",
        "--backoff",
        "5s",
        "--",
        "sh",
        "-c",
        "test $(cat) = a",
    ];
    let (shown, code) = world.terminal(100, &work);
    assert_eq!(code, 0, "{shown}");
    assert!(
        shown.contains("1 done") && shown.contains("1 failed, again in"),
        "{shown}"
    );
    assert!(shown.contains("; --wait stays for it"), "{shown}");
    let ran = world.run(&["work", "q", "--", "cat"]);
    assert_eq!((ran.out.as_str(), ran.err.as_str(), ran.code), ("", "", 0));
    let (shown, code) = world.terminal(100, &["work", "q", "--", "cat"]);
    assert_eq!(code, 0);
    assert!(shown.contains("nothing was ready"), "{shown}");
}

#[test]
fn a_nested_command_reaches_the_same_store() {
    let world = World::new();
    let url = format!("sqlite:{}", world.home.path().join("other.db").display());
    world.run(&["enqueue", "-u", "sqlite:other.db", "first", "x"]);
    let ran = world.run(&[
        "work",
        "first",
        "-u",
        "sqlite:other.db",
        "--shell",
        "cd / && qops enqueue second \"$(cat) again\"",
    ]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let ran = world.run(&["ls", "-u", &url, "-o", "csv", "--fields", "queue,ready"]);
    assert_eq!(ran.out, "queue,ready\nfirst,0\nsecond,1\n");
    assert!(!world.file().exists());
}

#[test]
fn of_two_processes_one_says_which_store_it_is() {
    let world = World::new().var("DATABASE_URL", "postgres://h/d");
    crate::bulk::dead(&world, "q", 1);
    for args in [
        &["work", "q", "-v", "--", "cat"][..],
        &["drain", "q", "-v", "--yes", "--", "cat"],
    ] {
        let (shown, code) = world.terminal(200, args);
        assert_eq!(code, 0, "{shown}");
        assert_eq!(shown.matches("DATABASE_URL is set").count(), 1, "{shown}");
        assert_eq!(shown.matches("store: sqlite ~/").count(), 1, "{shown}");
    }
}

#[test]
fn work_prints_what_it_did_where_a_format_is_asked_for() {
    let world = World::new();
    world.run(&["enqueue", "q", "good", "bad", "later"]);
    let line = "qops work q -o ndjson --output discard --shell \
        'case $(cat) in bad) exit 65;; later) exit 75;; esac'";
    let ran = world.sh(line);
    assert_eq!(
        (ran.out.as_str(), ran.code),
        (
            "{\"v\":1,\"verb\":\"work\",\"queue\":\"q\",\"matched\":3,\"done\":1,\"failed\":2,\"skipped\":0}\n",
            1
        ),
        "{}",
        ran.err
    );
    let ran = world.sh("qops work nope more --missing-ok -o csv --fields verb,queue,done -- cat");
    assert_eq!(
        (ran.out.as_str(), ran.code),
        ("verb,queue,done\nwork,,0\n", 0)
    );
    // A format that it has not is refused before anything is claimed.
    let ran = world.run(&["work", "q", "-o", "raw", "--", "cat"]);
    assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{}", ran.err);
}

#[test]
fn signals_have_their_names() {
    let world = World::new();
    world.run(&["enqueue", "q", "x"]);
    let ran = world.run(&["work", "q", "--max-attempts", "1", "--shell", "kill -9 $$"]);
    assert!(
        ran.err.contains("(attempts): ended by SIGKILL"),
        "{}",
        ran.err
    );
    assert!(world.run(&["show", "1"]).out.contains("  SIGKILL  "));
}
