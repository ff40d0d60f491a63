//! What a hint names can be copied into a shell as it stands: it reaches the store that the command line named.

use crate::World;
use crate::bulk::dead;

/// Verbs that open a store: a command line in a hint that has one of them names the store.
const OPENS: &[&str] = &[
    "enqueue", "queues", "peek", "show", "stats", "requeue", "drain", "purge", "work", "claim",
    "ack", "nack", "extend", "queue", "pause", "resume", "init", "doctor",
];

/// Every command line of ours in a text: from `qops` on, up to the end of its line.
fn commands(said: &str) -> Vec<&str> {
    said.lines()
        .flat_map(|line| line.match_indices("qops ").map(move |(at, _)| &line[at..]))
        .collect()
}

/// Lines that make hints, each with a word that its hint has. `STORE` stands for the flags of the store.
const LINES: &[(&str, &str)] = &[
    ("qops STORE peek nothing", "queues"),
    ("qops STORE peek 1", "show"),
    ("qops STORE show q", "peek"),
    ("qops STORE work q", "work"),
    ("qops STORE work q nosuchprogram", "work"),
    ("qops STORE work q true", "-- true"),
    ("qops STORE drain q -j2", "drain"),
    ("qops STORE drain q", "--yes"),
    ("qops STORE drain q --to elsewhere --yes", "queue set"),
    ("qops STORE purge q", "purge"),
    ("qops STORE requeue q --all --expect 9", "--dry-run"),
    ("qops STORE enqueue q -x", "enqueue"),
    ("qops STORE enqueue q < /dev/null", "enqueue"),
    ("qops STORE doctor", "peek"),
    ("qops STORE doctor -o ndjson", "peek"),
    ("qops STORE peek q", "peek"),
    (
        "qops STORE show \"$(qops STORE peek q --dead -n1 -o id)\"",
        "requeue",
    ),
    ("qops STORE queue rm q", "purge"),
    ("qops STORE queue set q", "queue show"),
    ("qops -u sqlite:other.db ls", "init"),
];

#[test]
fn a_hint_reaches_the_store_that_was_named() {
    for (given, shown) in [
        (
            "-u 'sqlite:a b.db?durability=normal'",
            "-u 'sqlite:[HOME]/a%20b.db?durability=normal'",
        ),
        ("--url=sqlite:a.db", "-u sqlite:[HOME]/a.db"),
        ("-c prod", "-c prod"),
        ("-u env:STORE", "-u env:STORE"),
    ] {
        let world = World::new().var("STORE", "sqlite:env.db");
        world.write(
            ".config/qops/config.toml",
            "[context.prod]\nurl = \"sqlite:prod.db\"\n",
        );
        world.sh("sqlite3 other.db 'CREATE TABLE t(x)'");
        let filled = world.sh(&format!(
            "qops {given} enqueue q x y && qops {given} work q -- sh -c 'exit 65'"
        ));
        assert_eq!(filled.code, 1, "{given}: {}", filled.err);
        for (line, part) in LINES {
            let ran = world.sh(&line.replace("STORE", given));
            let said = world.steady(&format!("{}{}", ran.out, ran.err));
            let named = commands(&said);
            assert!(
                named.iter().any(|command| command.contains(part)),
                "{line}: {said}"
            );
            let other = line.contains("other.db");
            for command in named {
                let words = command.split_whitespace();
                if words.clone().any(|word| OPENS.contains(&word)) && !command.contains("--help") {
                    let wanted = if other {
                        "-u sqlite:[HOME]/other.db"
                    } else {
                        shown
                    };
                    // A line that is typed again has its flags as they were.
                    let at = format!("qops {wanted} ");
                    let again = at.replace("-u ", "--url=");
                    assert!(
                        command.starts_with(&at) || command.starts_with(&again),
                        "{given}: {line}: {command}"
                    );
                }
            }
        }
    }
}

#[test]
fn the_last_line_of_a_worker_reaches_its_store_too() {
    let world = World::new();
    world.sh("qops -u sqlite:a.db enqueue q x");
    let args = [
        "-u",
        "sqlite:a.db",
        "work",
        "q",
        "--",
        "sh",
        "-c",
        "exit 65",
    ];
    let (shown, _) = world.terminal(200, &args);
    assert!(
        shown.contains("(qops -u sqlite:[HOME]/a.db peek --dead q)"),
        "{shown}"
    );
}

#[test]
fn nobody_named_a_store_and_no_hint_does() {
    let world = World::new();
    dead(&world, "q", 1);
    let said = world.run(&["queue", "rm", "q"]).err;
    assert!(said.contains("hint: qops purge q"), "{said}");
    let world = world.var("QOPS_URL", "sqlite:other.db");
    world.run(&["enqueue", "there", "x"]);
    let said = world.run(&["peek", "nothing"]).err;
    assert!(said.contains("hint: qops queues"), "{said}");
}

/// A name may begin with a dash, and what a hint says of it parses all the same.
#[test]
fn a_hint_may_name_what_begins_with_a_dash() {
    for (line, hint) in [
        (
            "qops drain q --to=-2 --yes",
            "qops queue set --max-attempts default -- -2",
        ),
        ("qops purge -- -1", "qops purge --all --dry-run -- -1"),
        ("qops purge -- -1", "qops purge -- -1 ID"),
        ("qops requeue -- -1", "qops requeue --all --dry-run -- -1"),
        ("qops queue rm -- -1", "qops purge --all -- -1"),
        ("qops queue rm -- -1", "qops purge --dead --all -- -1"),
        ("qops show 2", "qops peek --group g -- -1"),
        ("qops -c=-x peek none", "qops --context=-x queues"),
    ] {
        let world = World::new();
        let file = format!(
            "[context.-x]\nurl = \"sqlite:{}\"\n",
            world.file().display()
        );
        world.write(".config/qops/config.toml", &file);
        world.sh("qops enqueue --group g -- -1 a b; qops enqueue q c; qops enqueue dead d");
        let ran = world.sh(line);
        let said = format!("{}{}", ran.out, ran.err);
        assert!(said.contains(hint), "{line}: {said}");
        let copied = world.sh(hint);
        assert!(!copied.err.contains("--help"), "{hint}: {}", copied.err);
        assert!(copied.code != 2, "{hint}: {}", copied.err);
    }
}
