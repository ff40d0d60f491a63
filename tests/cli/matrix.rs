//! Every cell of {requeue, drain, purge} × {terminal, none} × {`--yes`, none} × {`--dry-run`, none} × {`--expect` right,
//! wrong, none}: its exit code, and whether anything changed.

use crate::World;
use crate::bulk::{counts, dead};

struct Verb {
    args: &'static [&'static str],
    /// Ready and dead afterwards, of three each.
    after: (u64, u64),
    asks: bool,
}

const VERBS: &[Verb] = &[
    Verb {
        args: &["requeue", "q", "--all"],
        after: (6, 0),
        asks: true,
    },
    Verb {
        args: &["requeue", "q", "1", "2", "3"],
        after: (6, 0),
        asks: false,
    },
    Verb {
        args: &["drain", "q"],
        after: (6, 0),
        asks: true,
    },
    Verb {
        args: &["purge", "q", "--dead"],
        after: (3, 0),
        asks: true,
    },
    Verb {
        args: &["purge", "q", "1", "2", "3"],
        after: (3, 0),
        asks: true,
    },
];

#[test]
fn every_cell() {
    for verb in VERBS {
        for terminal in [true, false] {
            for yes in [true, false] {
                for dry in [true, false] {
                    for expect in [None, Some("3"), Some("4")] {
                        cell(verb, terminal, yes, dry, expect);
                    }
                }
            }
        }
    }
}

fn cell(verb: &Verb, terminal: bool, yes: bool, dry: bool, expect: Option<&str>) {
    let world = World::new();
    dead(&world, "q", 3);
    world.put("q", &[b"x", b"y", b"z"]);
    let mut args = verb.args.to_vec();
    args.extend(yes.then_some("--yes"));
    args.extend(dry.then_some("--dry-run"));
    args.extend(expect.map(|_| "--expect"));
    args.extend(expect);
    let asks = verb.asks && !yes && !dry;
    let (code, changes) = match () {
        () if expect == Some("4") => (4, false),
        () if dry => (0, false),
        () if asks && !terminal => (4, false),
        () => (0, true),
    };
    let what = format!("{args:?} terminal {terminal}");
    let said = if terminal {
        // What is typed where nothing is asked goes nowhere.
        let (shown, got) = world.answering(120, &args, "[y/N]", b"y\r");
        assert_eq!(got, code, "{what}: {shown}");
        assert_eq!(
            shown.contains("[y/N]"),
            asks && code == 0,
            "{what}: {shown}"
        );
        assert_eq!(
            shown.contains("  1  dead"),
            asks && code == 0,
            "samples: {what}: {shown}"
        );
        shown
    } else {
        let ran = world.run(&args);
        assert_eq!(
            i32::try_from(code).unwrap(),
            ran.code,
            "{what}: {}",
            ran.err
        );
        assert_eq!(ran.out, "", "{what}");
        assert_eq!(ran.err.is_empty(), code == 0 && !dry, "{what}: {}", ran.err);
        ran.err
    };
    if !changes {
        assert!(said.contains("nothing changed"), "{what}: {said}");
    }
    let after = if changes { verb.after } else { (3, 3) };
    assert_eq!(counts(&world, "q"), after, "{what}: {said}");
}
