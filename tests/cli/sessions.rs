//! The sessions that the documentation promises, as they are typed, and failures with their codes.

use crate::bulk::{counts, dead};
use crate::{World, session};
use insta::assert_snapshot;

#[test]
fn the_first_minute() {
    let world = World::new();
    let text = [
        world.shell("qops enqueue emails '{\"to\":\"ana@example.com\"}'"),
        world.shell("qops ls -o csv --fields queue,ready,delayed,running,dead"),
        world.shell("qops work emails -- sh -c 'echo \"sending $(cat)\"'"),
    ]
    .join("\n");
    assert_snapshot!(text);
    let (shown, _) = world.terminal(80, &["ls"]);
    assert!(
        shown.contains("QUEUE") && shown.contains("emails"),
        "{shown}"
    );
}

#[test]
fn files_from_find_become_thumbnails() {
    let world = World::new();
    for name in ["a.jpg", "b c.jpg", "it's.jpg", "new\nline.jpg"] {
        world.write(name, "picture");
    }
    // It stands for convert: in, option, value, out.
    world.write(
        "bin/convert",
        "#!/bin/sh\ntest \"$2\" = -resize && cp \"$1\" \"$4\"\n",
    );
    let ran = world.sh(
        "chmod +x bin/convert; PATH=$PWD/bin:$PATH; find . -name '*.jpg' -print0 | qops enqueue thumbs -0 &&
         qops work thumbs -j4 --timeout 2m -- convert {} -resize 200x {}.thumb.jpg",
    );
    assert_eq!((ran.out.as_str(), ran.code), ("", 0), "{}", ran.err);
    for name in ["a.jpg", "b c.jpg", "it's.jpg", "new\nline.jpg"] {
        let thumb = world.home.path().join(format!("{name}.thumb.jpg"));
        assert_eq!(
            std::fs::read_to_string(thumb).unwrap(),
            "picture",
            "{name:?}"
        );
    }
    assert_eq!(counts(&world, "thumbs"), (0, 0));
}

#[test]
fn orders_are_taken_from_a_dump_and_replayed_after_the_night() {
    let world = World::new();
    dead(&world, "orders", 3);
    let text = [
        world.shell("qops drain orders --error 429 --dry-run"),
        world.shell("qops peek orders --dead -o id"),
        world.shell("qops peek orders --group customer:7 -o id | qops requeue orders - --delay 5m"),
        world.shell("qops enqueue orders x --group customer:7"),
        world.shell("qops peek orders --group customer:7 -o id | qops requeue orders - --delay 5m --json"),
        world.shell("qops work reports --missing-ok --max-time 50s -- /bin/true"),
        world.shell("printf '{\"order_id\":1}\\n{\"order_id\":2}\\n{\"order_id\":1}\\n' | qops enqueue orders --ndjson --key-from .order_id"),
    ]
    .join("\n");
    assert_snapshot!(text);
    let (shown, code) =
        world.answering(80, &["drain", "orders", "--error", "429"], "[y/N]", b"y\r");
    assert_eq!(code, 0, "{shown}");
    assert!(
        shown.contains(
            "Requeue 3 dead letters of orders on sqlite ~/.local/share/qops/qops.db? [y/N]"
        ),
        "{shown}"
    );
    assert_eq!(counts(&world, "orders"), (5, 0));
}

#[test]
fn a_loop_of_any_language() {
    let world = World::new();
    world.run(&["enqueue", "jobs", "1", "2", "3"]);
    let ran = world.sh(
        "handle() { printf '%s\\n' \"$1\" | grep -o '\"payload\":[0-9]'; }
         while m=$(qops claim jobs --json); do r=$(printf '%s' \"$m\" | sed 's/.*\"receipt\":\"\\([^\"]*\\)\".*/\\1/')
         handle \"$m\" && qops ack \"$r\" || qops nack \"$r\"; done",
    );
    assert_eq!(
        ran.out, "\"payload\":1\n\"payload\":2\n\"payload\":3\n",
        "{}",
        ran.err
    );
    assert_eq!(counts(&world, "jobs"), (0, 0));
}

#[test]
fn failures_have_their_line_and_their_code() {
    let world = World::new();
    world.run(&["enqueue", "emails", "x", "y"]);
    assert_snapshot!(session!(
        world,
        ["ls", "-u", "sqlit:x"],
        ["ls", "-u", "postgres://u:canary@h@k/d"],
        ["ls", "-u", "redis://h/0"],
        ["purge", "emails", "--all"],
        ["work", "emial", "--", "cat"],
        ["ack", "1.1.0000000000000000"],
        ["list"],
        ["status"],
        ["replay", "emails"],
        ["watch"],
        ["requeue", "emails", "emails"],
        ["peek", "emails", "--stat", "dead"],
        ["peek", "emails", "-o", "jsn"],
        ["ls", "-u", "sqlite:a.db", "-c", "prod"],
    ));
}

#[test]
fn every_verb_explains_itself() {
    let world = World::new();
    let help = world.run(&["--help"]);
    assert_eq!(help.code, 0);
    for verb in [
        "enqueue",
        "queues",
        "peek",
        "show",
        "stats",
        "requeue",
        "drain",
        "purge",
        "work",
        "claim",
        "ack",
        "nack",
        "extend",
        "queue",
        "pause",
        "resume",
        "init",
        "doctor",
        "completions",
        "help",
    ] {
        assert!(
            help.out.contains(&format!("  {verb} ")),
            "{verb}: {}",
            help.out
        );
        let ran = world.run(&[verb, "--help"]);
        assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{verb}");
        let has_example = ran.out.contains("Example")
            || [
                "stats",
                "show",
                "queues",
                "queue",
                "init",
                "doctor",
                "completions",
                "help",
            ]
            .contains(&verb);
        assert!(has_example, "{verb}: {}", ran.out);
    }
    assert_eq!(
        world.run(&["--version"]).out,
        format!("qops {}\n", env!("CARGO_PKG_VERSION"))
    );
    let nothing = world.run(&[]);
    assert_eq!((nothing.code, nothing.out.as_str()), (2, ""));
    assert!(nothing.err.contains("Verbs:"), "{}", nothing.err);
}
