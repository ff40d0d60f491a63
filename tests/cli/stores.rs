//! Which store is meant, and that nothing which is secret is ever printed.

use crate::{World, session};
use insta::assert_snapshot;

const CANARY: &str = "hunter2-canary";

#[test]
fn a_store_is_chosen_by_flag_then_environment_then_file() {
    let file = "current = \"here\"\n[context.here]\nurl = \"sqlite:here.db\"\n\
        [context.prod]\nurl = \"sqlite:${NOWHERE}/x.db\"\nread_only = true\n";
    let world = World::new();
    world.write(".config/qops/config.toml", file);
    assert_snapshot!(
        "by_file_and_flag",
        session!(
            world,
            ["-v", "queues"],
            ["-v", "queues", "-u", "sqlite:flag.db"],
            ["queues", "-c", "prd"],
            ["queues", "-c", "prod"],
            ["queues", "-c", "here", "-u", "sqlite:x"],
        )
    );
    let world = world
        .var("QOPS_URL", "sqlite:env.db")
        .var("Q", "sqlite:of-q.db");
    assert_snapshot!(
        "by_environment",
        session!(
            world,
            ["-v", "queues"],
            ["-v", "queues", "-u", "env:Q"],
            ["queues", "-u", "env:NONE"],
            ["-v", "queues", "-c", "here"],
        )
    );
    let world = world.var("QOPS_CONTEXT", "here");
    assert_snapshot!("by_both", world.snapshot(&["queues"]));
}

#[test]
fn a_read_only_context_refuses_before_it_touches_anything() {
    let world = World::new();
    let file = "[context.prod]\nurl = \"sqlite:x/prod.db\"\nread_only = true\n";
    world.write(".config/qops/config.toml", file);
    assert_snapshot!(session!(
        world,
        ["-c", "prod", "pause", "orders"],
        ["-c", "prod", "init"],
        ["-c", "prod", "queues"],
    ));
    assert!(!world.home.path().join(".config/qops/x").exists());
}

#[test]
fn urls_that_cannot_be_used_are_exit_two() {
    let world = World::new();
    assert_snapshot!(session!(
        world,
        ["queues", "-u", "sqlit:q.db"],
        ["queues", "-u", "./q.db"],
        ["queues", "-u", "postgres://u:hunter2-canary@h/d?shcema=x"],
        ["queues", "-u", "redis://u:p@hunter2-canary@h/0"],
        ["queues", "-u", "sqlite:q.db?durabilty=full"],
        ["queues", "-u", ""],
    ));
}

#[test]
fn r80_a_password_is_printed_nowhere() {
    let url = format!("postgres://u:{CANARY}@127.0.0.1:1/d");
    let broken = format!("[context.a]\nurl = \"postgres://u:{CANARY}@127.0.0.1:1/d\n");
    let password =
        format!("[context.a]\nurl = \"postgres://127.0.0.1:1\"\npassword = \"{CANARY}\"\n");
    for file in [
        format!("current = \"a\"\n[context.a]\nurl = \"{url}\"\n"),
        broken,
        password,
    ] {
        let world = World::new().var("SECRET_URL", &url);
        world.write(".config/qops/config.toml", &file);
        for args in [
            &["-v", "queues"][..],
            &["-v", "queues", "-u", "env:SECRET_URL"],
            &["-v", "queues", "-u", &url],
            &["-v", "queues", "-u", &url, "-o", "json"],
            &["-v", "doctor"],
            &["--help"],
            &["help", "queues"],
        ] {
            let ran = world.run(args);
            assert!(!ran.out.contains(CANARY), "{args:?}: {}", ran.out);
            assert!(!ran.err.contains(CANARY), "{args:?}: {}", ran.err);
        }
    }
}

#[test]
fn variables_that_a_url_comes_from_do_not_reach_a_command() {
    let world = World::new()
        .var("STORE_URL", "sqlite:q.db")
        .var("STORE_NAME", "q")
        .var("OTHER", "stays");
    let file = "[context.a]\nurl = \"sqlite:${HOME}/${STORE_NAME}.db\"\n";
    world.write(".config/qops/config.toml", file);
    for (choice, gone) in [("-u env:STORE_URL", "STORE_URL="), ("-c a", "STORE_NAME=")] {
        for verb in ["work jobs --once", "drain jobs --yes"] {
            world.sh(&format!("qops {choice} enqueue jobs x --max-attempts 1"));
            if verb.starts_with("drain") {
                world.sh(&format!("qops {choice} work jobs -- false"));
            }
            // A qops inside the command reaches the same store all the same.
            let line = format!("qops {choice} {verb} -- sh -c 'env > seen; qops enqueue next y'");
            let ran = world.sh(&line);
            assert_eq!(ran.code, 0, "{line}: {}", ran.err);
            let seen = std::fs::read_to_string(world.home.path().join("seen")).unwrap();
            std::fs::remove_file(world.home.path().join("seen")).unwrap();
            assert!(!seen.contains(gone), "{line}: {seen}");
            assert!(
                seen.contains("OTHER=stays") && seen.contains("\nHOME="),
                "{line}: {seen}"
            );
        }
    }
    let next = world.run(&["peek", "next", "-o", "id", "-u", "env:STORE_URL"]);
    assert_eq!(next.out.lines().count(), 4, "{}", next.err);
}

#[test]
fn files_that_are_no_store_are_told_apart() {
    let world = World::new();
    world.write(
        "text.db",
        "this is no database, only a text of some length\n",
    );
    world.write("folder/x", "");
    assert_snapshot!(session!(
        world,
        ["queues", "-u", "sqlite:text.db"],
        ["queues", "-u", "sqlite:folder"],
        ["peek", "orders", "-u", "sqlite:none.db"],
    ));
}

#[test]
fn what_is_no_regular_file_is_no_store() {
    let world = World::new();
    world.sh("mkfifo pipe; ln -s b a; ln -s a b");
    let mut text = vec![];
    for store in ["pipe", "a", "/dev/null"] {
        let url = format!("sqlite:{store}");
        text.push(world.snapshot(&["queues", "-u", &url]));
        text.push(world.snapshot(&["enqueue", "-u", &url, "q", "x"]));
    }
    assert_snapshot!(text.join("\n"));
}

#[test]
fn a_store_that_lost_a_table_is_damaged_and_says_so_briefly() {
    let world = World::new();
    world.run(&["enqueue", "q", "x"]);
    rusqlite::Connection::open(world.file())
        .and_then(|db| db.execute_batch("DROP TABLE qops_meta"))
        .expect("a table less");
    assert_snapshot!(session!(world, ["enqueue", "q", "x"], ["init"], ["doctor"],));
}

#[test]
fn a_folder_is_made_for_the_default_store_alone() {
    let world = World::new();
    let ran = world.run(&["enqueue", "q", "x"]);
    assert!(ran.code == 0 && world.file().exists(), "{}", ran.err);
    for line in [
        "qops -u 'sqlite:no such/x.db' enqueue q x",
        "qops -u 'sqlite:no such/x.db' init",
        "qops -u 'sqlite:no such/x.db' queue set q --ttl 1h",
        "QOPS_URL='sqlite:no such/x.db' qops work q --follow -- cat",
    ] {
        let ran = world.sh(line);
        let err = world.steady(&ran.err);
        assert_eq!(ran.code, 6, "{line}: {err}");
        assert!(!world.home.path().join("no such").exists(), "{line}");
        if !line.contains("work") {
            assert!(
                err.contains("there is no folder [HOME]/no such\n"),
                "{line}: {err}"
            );
            assert!(
                err.contains("hint: mkdir -p '[HOME]/no such'\n"),
                "{line}: {err}"
            );
        }
    }
    let ran = world.sh("mkdir -p 'no such' && qops -u 'sqlite:no such/x.db' enqueue q x");
    assert_eq!((ran.code, ran.out.as_str()), (0, "1\n"), "{}", ran.err);
}
