//! Names and schemas.

use super::World;

#[test]
fn r35_long_names_that_differ_at_the_end_are_two_queues() {
    let world = World::new();
    let (one, two) = ("n".repeat(74) + "a", "n".repeat(74) + "b");
    world.run(&["enqueue", &one, "1"]).is(0);
    world.run(&["enqueue", &two, "2"]).is(0);
    assert_eq!(world.run(&["peek", &one, "-o", "raw"]).is(0).text(), "1");
    assert_eq!(world.run(&["peek", &two, "-o", "raw"]).is(0).text(), "2");
    world.run(&["purge", &one, "--all", "--yes"]).is(0);
    assert_eq!(world.count(&two, "ready"), 1);
}

#[test]
fn r36_any_name_is_an_isolated_queue_or_refused() {
    let world = World::new();
    let names = [
        "a-b",
        "Ação",
        "a\"b",
        "o'brien",
        "a$$b",
        "x.job",
        "';drop table message;--",
        "../x",
        "*",
        "%",
        "_",
    ];
    for name in names {
        world.run(&["enqueue", "--", name, name]).is(0);
    }
    for name in names {
        assert_eq!(world.run(&["peek", name, "-o", "raw"]).is(0).text(), name);
        let seen = world
            .run(&["work", name, "--once", "--", "printenv", "QOPS_QUEUE"])
            .is(0);
        assert_eq!(seen.text().trim_end(), name);
    }
    for name in names {
        assert_eq!(world.count(name, "ready"), 0, "{name} was worked, and once");
    }
    for name in ["a\nb", "", " a", "a ", "-", "a\u{85}b", &"x".repeat(201)] {
        let refused = world.run(&["enqueue", "--", name, "x"]).is(2);
        assert!(refused.err.contains("name"), "{name:?}: {}", refused.err);
        assert!(
            !refused.err.contains("a\nb"),
            "no control character is repeated"
        );
    }
    assert_eq!(
        world.run(&["ls", "-o", "ndjson"]).is(0).lines().len(),
        names.len()
    );
}

/// Duplicates use up no room, and an id may be larger than 32 bits in every verb.
#[test]
fn r39_ids_outlive_32_bits() {
    let world = World::new();
    let lines = "{\"k\":1}\n".repeat(20_000);
    let same = ["enqueue", "q", "--ndjson", "--key-from", ".k", "-o", "id"];
    let ran = world.feed(&same, lines.as_bytes()).is(0);
    let ids: std::collections::BTreeSet<&str> = ran.lines().into_iter().collect();
    assert_eq!(ids.len(), 1, "one message, its id for everybody");
    world.sql("UPDATE sqlite_sequence SET seq=9007199254740993 WHERE name='qops_message'");
    let id = world.run(&["enqueue", "q", "large"]).is(0);
    let id = id.text().trim().to_owned();
    assert_eq!(id, "9007199254740994", "past what a float can tell apart");
    assert_eq!(world.show(&id)["id"], id.as_str());
    let claimed = world.run(&["claim", "q", "-n", "2", "-o", "ndjson"]).is(0);
    let line = claimed.lines()[1].to_owned();
    let record: serde_json::Value = serde_json::from_str(&line).expect("a record");
    world
        .run(&[
            "nack",
            record["receipt"].as_str().expect("a receipt"),
            "--dead",
        ])
        .is(0);
    world.run(&["requeue", "q", &id]).is(0);
    world.run(&["purge", "q", &id, "--yes"]).is(0);
    assert!(
        world.run(&["show", &id]).is(6).err.contains("no longer"),
        "it was issued"
    );
}

#[test]
fn r41_many_begin_at_once() {
    for verb in [&["init"][..], &["enqueue", "q", "x"]] {
        let world = World::new();
        let started: Vec<_> = (0..32)
            .map(|_| world.qops(verb).spawn().expect("a start"))
            .collect();
        for child in started {
            super::ended(child).is(0);
        }
        assert_eq!(world.sql("SELECT count(*) FROM qops_meta"), "1");
        if verb[0] == "enqueue" {
            assert_eq!(world.count("q", "ready"), 32);
        }
    }
}

#[test]
fn r42_the_version_is_one_row() {
    let world = World::new();
    for _ in 0..3 {
        world.run(&["init"]).is(0);
        world.run(&["enqueue", "q", "x"]).is(0);
    }
    assert_eq!(
        world.sql("SELECT count(*), max(version) FROM qops_meta"),
        "1|1"
    );
}

/// A store of a newer program: it works if the program says so, else it is refused with both versions.
#[test]
fn r43_a_newer_store_works_or_is_refused_with_both_versions() {
    let world = World::new();
    world.run(&["enqueue", "q", "x"]).is(0);
    world.sql("UPDATE qops_meta SET version=7, min_client=1");
    world.run(&["enqueue", "q", "y"]).is(0);
    assert_eq!(world.count("q", "ready"), 2);
    world.sql("UPDATE qops_meta SET version=7, min_client=7");
    for args in [
        &["enqueue", "q", "z"][..],
        &["peek", "q"],
        &["ls"],
        &["work", "q", "--", "true"],
        &["drain", "q", "--yes"],
        &["init"],
    ] {
        let refused = world.run(args).is(6);
        assert!(
            refused.err.contains('7') && refused.err.contains('1'),
            "{}",
            refused.err
        );
        assert!(refused.out.is_empty());
    }
    world.sql("UPDATE qops_meta SET version=1, min_client=1");
    assert_eq!(world.count("q", "ready"), 2, "nothing was touched");
}

#[test]
fn r87_a_purge_touches_exactly_the_queue_that_is_named() {
    let world = World::new();
    let names = ["a", "a_b", "a*", "a%", "ab", "A"];
    for name in names {
        world.run(&["enqueue", name, "x"]).is(0);
    }
    for (n, name) in names.iter().enumerate() {
        world.run(&["purge", name, "--all", "--yes"]).is(0);
        let ready: u64 = names.iter().map(|name| world.count(name, "ready")).sum();
        assert_eq!(ready, u64::try_from(names.len() - n - 1).expect("a count"));
        assert_eq!(world.count(name, "ready"), 0);
    }
}
