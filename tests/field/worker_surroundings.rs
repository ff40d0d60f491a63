//! What stands around a worker: its temporary folder, its limits, its outputs.

use super::{World, ended, lines};
use std::io::{BufRead as _, BufReader};

/// A folder for payloads as files that somebody tidies away is made again: that is no fault of the command.
#[test]
fn a_tidied_temporary_folder_ends_no_worker() {
    let world = World::new();
    world.feed(&["enqueue", "q", "--lines"], b"a\nb\nc\n").is(0);
    let line = "cat \"$1\" >> ran && stat -c %a \"${1%/*}\" >> modes && rm -r \"${1%/*}\"";
    world
        .run(&["work", "q", "--", "sh", "-c", line, "_", "{file}"])
        .is(0);
    assert_eq!(world.read("ran"), "abc");
    assert_eq!(world.read("modes"), "700\n700\n700\n");
}

/// More commands at once than open files allow is a matter of configuration, and what is said to fit does.
#[test]
fn too_many_jobs_for_the_limit_on_open_files_are_refused_at_the_start() {
    let world = World::new();
    world
        .feed(&["enqueue", "q", "--lines"], &lines(60, 1))
        .is(0);
    let ran = world.sh("ulimit -n 1024; qops work q -j600 -- cat").is(2);
    assert!(ran.err.contains("ulimit -n"), "{}", ran.err);
    assert!(!world.file().exists() || world.count("q", "ready") == 60);
    for flags in ["", "--output prefix", "--input none"] {
        let ran = world
            .sh(&format!("ulimit -n 200; qops work q -j150 {flags} -- cat"))
            .is(2);
        let fits: usize = ran
            .err
            .trim_end()
            .rsplit("-j ")
            .next()
            .and_then(|n| n.parse().ok())
            .expect("a number");
        assert!(fits >= 15, "{}", ran.err);
        // So many run at once, and each has the limit that we had.
        let line = format!(
            "ulimit -n 200; qops work q -j{fits} --max-messages {fits} {flags} --shell \
            'cat > /dev/null; ulimit -n >> limits; until [ $(wc -l < limits) -ge {fits} ]; do sleep 0.05; done'"
        );
        let ran = world.sh(&line).is(0);
        assert_eq!(ran.err, "");
        assert_eq!(world.read("limits"), "200\n".repeat(fits));
        std::fs::remove_file(world.path().join("limits")).expect("a file");
        world
            .feed(&["enqueue", "q", "--lines"], &lines(60, 1))
            .is(0);
    }
}

/// With `--output prefix` a line is whole wherever standard output and error go, be it to the same place.
#[test]
fn prefixed_lines_are_whole_in_a_file_that_is_both_outputs() {
    let world = World::new();
    let command = "for n in 1 2 3 4 5 6; do
            printf \"%030000d\\n\" 1 & printf \"%030000d\\n\" 2 >&2; wait
        done";
    for outputs in ["> all 2>&1", "2>&1 | cat > all", ">> all 2>> all"] {
        world.feed(&["enqueue", "q", "--lines"], b"a\nb\n").is(0);
        let line =
            format!("qops work q -j2 --output prefix --input none --shell '{command}' {outputs}");
        world.sh(&line).is(0);
        let all = world.read("all");
        assert_eq!(all.lines().count(), 24);
        for line in all.lines() {
            let (id, text) = line.split_once(' ').expect("an id");
            assert!(id.len() < 6 && text.len() == 30_000, "{id} {}", text.len());
            assert!(text.trim_start_matches('0').len() == 1);
        }
        std::fs::remove_file(world.path().join("all")).expect("a file");
    }
}

/// What runs when nobody reads the output any more is settled as what it did, and the worker takes no more.
#[test]
fn r85_what_runs_when_the_output_closes_is_settled_as_what_it_did() {
    let cases = [
        ("pass", 0, 0, None),
        ("prefix", 0, 0, None),
        // It wrote nothing more, but nobody can know that: it is given back rather than charged.
        ("pass", 1, 0, Some(("ready", 0))),
        ("prefix", 1, 0, Some(("delayed", 1))),
        ("pass", 65, 1, Some(("dead", 1))),
        ("pass", 75, 0, Some(("delayed", 0))),
    ];
    for (output, exit, code, left) in cases {
        let world = World::new();
        world.run(&["enqueue", "q", "first", "second"]).is(0);
        let line = format!("cat; echo; until [ -e gone ]; do sleep 0.01; done; exit {exit}");
        let work = ["work", "q", "-j1", "--backoff", "1h", "--output", output];
        let mut worker = world
            .qops(&[&work[..], &["--shell", &line]].concat())
            .spawn()
            .expect("a worker");
        let mut out = BufReader::new(worker.stdout.take().expect("its output"));
        let mut said = String::new();
        out.read_line(&mut said).expect("a line");
        assert!(said.ends_with("first\n"), "{said}");
        drop(out);
        world.write("gone", "");
        let ran = ended(worker);
        assert_eq!(ran.code, Some(code), "{output} {exit}: {}", ran.err);
        let states = "ready,delayed,running,dead";
        let seen = world.peek(&["q", "--state", states, "-n", "0"]);
        let of = |payload: &str| {
            let row = seen.iter().find(|row| row["payload"] == payload)?;
            Some((row["state"].as_str()?, row["attempts"].as_u64()?))
        };
        assert_eq!(of("first"), left, "{output} {exit}: {}", ran.err);
        if output == "pass" {
            // Were it to begin before the worker hears of it, the system would end it, uncharged.
            assert_eq!(of("second"), Some(("ready", 0)), "{exit}");
        }
    }
    let world = World::new();
    world.run(&["enqueue", "q", "first", "second"]).is(0);
    let line = "cat; echo; until [ -e gone ]; do sleep 0.01; done";
    let pipe = format!(
        "qops work q -j1 --shell '{line}' | {{ head -1; exec <&-; touch gone; }}; echo ${{PIPESTATUS[0]}}"
    );
    let ran = world.sh(&pipe);
    assert_eq!(
        (ran.text(), ran.err.as_str()),
        (
            "first
0
", ""
        )
    );
    assert_eq!(
        (world.count("q", "ready"), world.count("q", "running")),
        (1, 0)
    );
}
