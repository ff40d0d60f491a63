//! The house is as ARCHITECTURE.md draws it: rooms, arrows, and what stands nowhere.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Which room may name which, besides itself.
const ARROWS: &[(&str, &[&str])] = &[
    (
        "cli",
        &["worker", "bulk", "backend", "ui", "queue", "config"],
    ),
    ("worker", &["backend", "queue"]),
    ("bulk", &["backend", "queue"]),
    ("ui", &["queue"]),
    ("backend", &["queue"]),
    // "Did you mean" for names of contexts.
    ("config", &["queue"]),
    ("queue", &[]),
    ("lib", &["cli"]),
    ("main", &[]),
];

/// Rooms that may write to our own standard output or error, and why.
const WRITERS: &[(&str, &str)] = &[
    ("src/ui/", "it is the printer"),
    (
        "src/worker/relay.rs",
        "what commands wrote is passed on as it is",
    ),
];

/// Statements that are put together with format!, and why.
const MADE_SQL: &[(&str, &str)] = &[(
    "src/backend/sqlite/schema.rs",
    "a PRAGMA takes no bound value; its words are an enum's",
)];

fn files(below: &str, ending: &str) -> Vec<(String, String)> {
    fn walk(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(&path, found);
            } else {
                found.push(path);
            }
        }
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = vec![];
    walk(&root.join(below), &mut found);
    found.sort();
    let named = found
        .into_iter()
        .filter(|path| path.to_string_lossy().ends_with(ending));
    let files: Vec<_> = named
        .map(|path| {
            let name = path
                .strip_prefix(root)
                .unwrap()
                .to_string_lossy()
                .into_owned();
            (name, fs::read_to_string(&path).unwrap())
        })
        .collect();
    assert!(!files.is_empty(), "nothing was found below {below}");
    files
}

/// The room of a file: its folder below src, or its own name.
fn room(name: &str) -> &str {
    let rest = name.strip_prefix("src/").unwrap();
    rest.split_once('/')
        .map_or_else(|| rest.trim_end_matches(".rs"), |(room, _)| room)
}

/// Code without comments and without its tests.
fn code(name: &str, text: &str) -> String {
    if name.ends_with("tests.rs") || name.contains("/tests/") || name.ends_with("/fake.rs") {
        return String::new();
    }
    let text = text
        .split("#[cfg(test)]\nmod tests {")
        .next()
        .unwrap_or_default();
    text.lines()
        .map(|line| line.split("// ").next().unwrap_or_default())
        .filter(|line| !line.trim_start().starts_with("//"))
        .collect::<Vec<_>>()
        .join("\n")
}

#[test]
fn arrows_go_where_the_map_says() {
    let rooms: BTreeSet<&str> = ARROWS.iter().map(|(room, _)| *room).collect();
    let mut wrong = vec![];
    let mut seen = 0;
    for (name, text) in files("src", ".rs") {
        let from = room(&name);
        let (_, may) = ARROWS
            .iter()
            .find(|(known, _)| *known == from)
            .unwrap_or_else(|| panic!("{name}: a room that no map has"));
        for piece in code(&name, &text).split("crate::").skip(1) {
            let to: String = piece
                .chars()
                .take_while(|c| c.is_alphanumeric() || *c == '_')
                .collect();
            if !rooms.contains(to.as_str()) {
                continue;
            }
            seen += 1;
            if to != from && !may.contains(&to.as_str()) {
                wrong.push(format!("{name}: {from} -> {to}"));
            }
        }
    }
    assert!(seen > 100, "the arrows were not found");
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn the_map_has_no_circle() {
    fn reaches(from: &str, to: &str) -> bool {
        let next = ARROWS
            .iter()
            .find(|(room, _)| *room == from)
            .map_or(&[][..], |(_, may)| may);
        next.iter().any(|room| *room == to || reaches(room, to))
    }
    for (room, _) in ARROWS {
        assert!(!reaches(room, room), "{room} comes back to itself");
    }
}

#[test]
fn a_driver_is_named_in_its_own_folder_alone() {
    for (name, text) in files("src", ".rs") {
        if !name.starts_with("src/backend/sqlite/") {
            assert!(
                !code(&name, &text).contains("rusqlite"),
                "{name} names rusqlite"
            );
        }
    }
}

#[test]
fn only_the_printer_prints() {
    for (name, text) in files("src", ".rs") {
        if WRITERS.iter().any(|(place, _)| name.starts_with(place)) {
            continue;
        }
        // A descriptor is looked at in other rooms, too; what writes to it is the standard library's handle.
        let code = code(&name, &text).replace("rustix::stdio::", "");
        for word in [
            "println!",
            "eprintln!",
            "print!(",
            "eprint!(",
            "io::stdout()",
            "io::stderr()",
        ] {
            assert!(!code.contains(word), "{name}: {word}");
        }
    }
}

#[test]
fn files_are_small() {
    for place in ["src", "tests"] {
        for (name, text) in files(place, ".rs") {
            let lines = text.lines().count();
            assert!(lines <= 600, "{name}: {lines} lines");
        }
    }
}

#[test]
fn nothing_is_hollow() {
    // Put together here, so that this file does not find itself.
    let words = ["todo", "unimplemented", "dbg"].map(|word| format!("{word}!("));
    let ignore = format!("#[{}", "ignore");
    for place in ["src", "tests"] {
        for (name, text) in files(place, ".rs") {
            for word in words.iter().chain([&ignore]) {
                assert!(!text.contains(word.as_str()), "{name}: {word}");
            }
        }
    }
}

#[test]
fn a_panic_outside_tests_has_a_reason() {
    for (name, text) in files("src", ".rs") {
        for line in code(&name, &text).lines() {
            let panics = [".unwrap()", ".expect(\"", "panic!(", "unreachable!("];
            assert!(
                !panics.iter().any(|word| line.contains(word)),
                "{name}: {}",
                line.trim()
            );
        }
    }
}

#[test]
fn a_verb_is_a_file_with_arguments_and_a_run() {
    let main =
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/cli/mod.rs")).unwrap();
    let start = main
        .find("pub enum Command {")
        .expect("the verbs are there");
    let verbs = &main[start..start + main[start..].find("\n}").unwrap()];
    let mut seen = 0;
    for piece in verbs
        .split("::Args")
        .collect::<Vec<_>>()
        .iter()
        .rev()
        .skip(1)
    {
        let verb: String = piece
            .chars()
            .rev()
            .take_while(|c| c.is_alphanumeric())
            .collect::<Vec<_>>()
            .into_iter()
            .rev()
            .collect();
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/cli");
        let text = fs::read_to_string(root.join(format!("{verb}.rs")))
            .or_else(|_| fs::read_to_string(root.join(&verb).join("mod.rs")))
            .unwrap_or_else(|_| panic!("the verb {verb} has no file"));
        assert!(text.contains("pub struct Args"), "{verb} has no Args");
        assert!(text.contains("fn run("), "{verb} has no run");
        seen += 1;
    }
    assert!(seen >= 19, "only {seen} verbs were found");
}

#[test]
fn no_statement_is_put_together_from_strings() {
    for (name, text) in files("src/backend", ".rs") {
        if MADE_SQL.iter().any(|(place, _)| *place == name) {
            continue;
        }
        for piece in code(&name, &text).split("format!(").skip(1) {
            let text: String = piece.chars().take(200).take_while(|c| *c != ')').collect();
            for word in ["SELECT ", "INSERT ", "UPDATE ", "DELETE ", "PRAGMA "] {
                assert!(!text.contains(word), "{name}: {text}");
            }
        }
    }
}

#[test]
fn every_statement_is_used() {
    let code: String = files("src/backend/sqlite", ".rs")
        .into_iter()
        .map(|(_, text)| text)
        .collect();
    for (name, _) in files("src/backend/sqlite/sql", ".sql") {
        let stem = Path::new(&name)
            .file_stem()
            .unwrap()
            .to_str()
            .unwrap()
            .to_owned();
        assert!(
            code.contains(&format!("sql!(\"{stem}\")")),
            "{name} is used nowhere"
        );
    }
}
