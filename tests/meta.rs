//! The rules of the house that a compiler does not hold: which room may use which, who prints, who names a driver, how
//! long a file is.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

/// Which room uses which; nothing runs back.
const ARROWS: &[(&str, &[&str])] = &[
    (
        "cli",
        &["worker", "bulk", "backend", "ui", "queue", "config"],
    ),
    ("worker", &["backend", "queue"]),
    ("bulk", &["backend", "queue"]),
    ("ui", &["queue"]),
    ("backend", &["queue"]),
    ("config", &["queue"]),
    ("queue", &[]),
];

/// Files outside `src/ui` that touch the standard streams, and why.
const STREAMS: &[(&str, &str)] = &[
    (
        "src/worker/relay.rs",
        "hands a child's output on, byte for byte",
    ),
    (
        "src/worker/signal.rs",
        "asks whether standard output can still be written to",
    ),
];

/// SQL that is put together: what no bound value can say.
const ASSEMBLED: &[(&str, &str)] = &[
    (
        "src/backend/sqlite/schema.rs",
        "PRAGMA journal_mode={wanted}",
    ),
    (
        "src/backend/sqlite/schema.rs",
        "INSERT INTO qops_meta(version, min_client) VALUES({VERSION}, {VERSION});",
    ),
];

/// Tests that let time pass, and why nothing else will do.
const PAUSES: &[(&str, &str)] = &[
    (
        "tests/field/worker_commands.rs",
        "a lease passes while its worker is stopped",
    ),
    (
        "tests/crash/main.rs",
        "a kill comes at a random instant: the pause is what is tested",
    ),
];

/// Words that have a verb of ours in them and are no command line to be copied.
const PROSE: &[&str] = &["the first qops enqueue makes it"];

const LONGEST: usize = 600;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Every Rust file under a folder, with its path from the root and its text.
fn files(folder: &str) -> Vec<(String, String)> {
    let mut found = vec![];
    let mut folders = vec![root().join(folder)];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|kind| kind == "rs") {
                let name = path.strip_prefix(root()).expect("below the root");
                let text = fs::read_to_string(&path).expect("a text");
                found.push((name.display().to_string(), text));
            }
        }
    }
    found.sort();
    assert!(found.len() > 3, "{folder} has files");
    found
}

/// The room of a file in `src`; none for the library's root.
fn room(name: &str) -> Option<&str> {
    let inside = name.strip_prefix("src/")?;
    let room = inside.split(['/', '.']).next()?;
    (!matches!(room, "lib" | "main")).then_some(room)
}

/// The lines of a file without what is only said: comments and the rest of lines behind them.
fn code(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines().enumerate().map(|(n, line)| {
        let trimmed = line.trim_start();
        let code = if trimmed.starts_with("//") {
            ""
        } else {
            line.split(" // ").next().unwrap_or(line)
        };
        (n + 1, code)
    })
}

/// Whether a file, or what follows in it, is only for tests.
fn before_tests(name: &str, text: &str) -> usize {
    let stem = Path::new(name)
        .file_stem()
        .expect("a name")
        .to_string_lossy();
    let in_tests = stem == "tests" || stem.ends_with("_tests") || name.contains("/tests/");
    if in_tests || declared_for_tests(name) {
        return 0;
    }
    text.lines()
        .position(|line| line == "#[cfg(test)]")
        .unwrap_or(usize::MAX)
}

/// Whether a module above declares this file, or the folder that it is in, under `cfg(test)`.
fn declared_for_tests(name: &str) -> bool {
    let path = root().join(name);
    let folder = path.parent().expect("a folder");
    let is_top = folder.file_name().is_none_or(|name| name == "src");
    declared_so(&path) || !is_top && declared_so(folder)
}

fn declared_so(path: &Path) -> bool {
    let stem = path
        .file_stem()
        .expect("a name")
        .to_string_lossy()
        .into_owned();
    let folder = path.parent().expect("a folder");
    let above = [folder.join("mod.rs"), folder.with_extension("rs")];
    above
        .iter()
        .filter_map(|file| fs::read_to_string(file).ok())
        .any(|text| {
            let mut last = "";
            text.lines().any(|line| {
                let hit = last == "#[cfg(test)]" && line.ends_with(&format!("mod {stem};"));
                last = line;
                hit
            })
        })
}

/// What breaks a rule, as one list.
fn none(broken: &[String]) {
    let mut text = String::new();
    for line in broken {
        let _ = writeln!(text, "  {line}");
    }
    assert!(broken.is_empty(), "\n{text}");
}

/// The words that follow `start` in a line.
fn words_after<'a>(line: &'a str, start: &'a str) -> impl Iterator<Item = &'a str> {
    line.match_indices(start).filter_map(move |(at, _)| {
        let before = line[..at].chars().next_back();
        if before.is_some_and(|c| c.is_alphanumeric() || c == '_') {
            return None;
        }
        let rest = &line[at + start.len()..];
        let end = rest
            .find(|c: char| !c.is_alphanumeric() && c != '_')
            .unwrap_or(rest.len());
        Some(&rest[..end])
    })
}

#[test]
fn rooms_use_only_what_they_may() {
    let mut broken = vec![];
    let mut seen = 0;
    let rooms: BTreeSet<&str> = ARROWS.iter().map(|(room, _)| *room).collect();
    for (name, text) in files("src") {
        let Some(own) = room(&name) else { continue };
        let Some((_, may)) = ARROWS.iter().find(|(room, _)| *room == own) else {
            broken.push(format!("{name}: a room that is not on the map: {own}"));
            continue;
        };
        // `use crate::{a, b}` would hide from a reader of lines.
        for (n, line) in code(&text) {
            if line.contains("crate::{") && !line.contains("$crate") {
                broken.push(format!("{name}:{n}: name the room after crate::"));
            }
            for used in words_after(line, "crate::") {
                seen += usize::from(rooms.contains(used));
                if rooms.contains(used) && used != own && !may.contains(&used) {
                    broken.push(format!("{name}:{n}: {own} uses {used}"));
                }
            }
        }
    }
    assert!(seen > 100, "the arrows were found: {seen}");
    none(&broken);
}

#[test]
fn the_map_has_no_circle() {
    fn reaches(from: &str, to: &str) -> bool {
        let next = ARROWS.iter().find(|(room, _)| *room == from);
        let next = next.map_or(&[][..], |(_, may)| may);
        next.iter().any(|room| *room == to || reaches(room, to))
    }
    for (room, _) in ARROWS {
        assert!(!reaches(room, room), "{room} comes back to itself");
    }
}

/// `super::super::…` that leaves a room would hide an arrow.
#[test]
fn a_room_is_left_by_its_name_alone() {
    let mut broken = vec![];
    for (name, text) in files("src") {
        let Some(own) = room(&name) else { continue };
        let inside = name.trim_start_matches("src/").trim_end_matches(".rs");
        let depth = inside.split('/').filter(|part| *part != "mod").count();
        for (n, line) in code(&text) {
            let nested = usize::from(line.starts_with(' '));
            let up = line.matches("super::").count();
            if line.contains(&"super::".repeat(depth + nested)) {
                broken.push(format!("{name}:{n}: {up} times super leaves {own}"));
            }
        }
    }
    none(&broken);
}

#[test]
fn every_arrow_is_drawn_on_the_map() {
    let map = fs::read_to_string(root().join("ARCHITECTURE.md")).expect("the map");
    for arrow in [
        "cli -> worker, bulk, backend, ui, queue, config",
        "worker, bulk -> backend, queue",
        "ui -> queue",
        "backend -> queue",
    ] {
        assert!(map.contains(arrow), "{arrow}");
    }
    for (name, _) in files("src") {
        if let Some(room) = room(&name) {
            assert!(map.contains(&format!("src/{room}")), "{room} is on the map");
        }
    }
}

#[test]
fn only_the_renderer_prints() {
    let mut broken = vec![];
    for (name, text) in files("src") {
        if name.starts_with("src/ui/") || STREAMS.iter().any(|(file, _)| *file == name) {
            continue;
        }
        let tests = before_tests(&name, &text);
        for (n, line) in code(&text).take(tests) {
            for word in [
                "println!",
                "eprintln!",
                "print!",
                "eprint!",
                "stdout()",
                "stderr()",
            ] {
                let at = line.find(word);
                let whole = at.is_some_and(|at| !line[..at].ends_with(char::is_alphanumeric));
                if whole && !line.contains('"') {
                    broken.push(format!("{name}:{n}: {}", line.trim()));
                }
            }
        }
    }
    for (file, _) in STREAMS {
        assert!(
            root().join(file).exists(),
            "{file} is gone: take it off the list"
        );
    }
    none(&broken);
}

#[test]
fn a_driver_is_named_in_its_own_folder() {
    let mut broken = vec![];
    for (name, text) in files("src") {
        for driver in ["rusqlite", "libsqlite3_sys"] {
            let own = name.starts_with("src/backend/sqlite/");
            for (n, line) in code(&text) {
                if !own && line.contains(driver) {
                    broken.push(format!("{name}:{n}: {}", line.trim()));
                }
            }
        }
    }
    none(&broken);
}

/// Statements stand in files, one each; what is bound is bound.
#[test]
fn no_statement_is_put_together() {
    const VERBS: &[&str] = &[
        "SELECT ", "INSERT ", "UPDATE ", "DELETE ", "PRAGMA ", "CREATE ", "ATTACH ", "DROP ",
        "ALTER ", " WHERE ", " SET ", "ORDER BY", "LIMIT ",
    ];
    let mut broken = vec![];
    for (name, text) in files("src/backend") {
        let tests = before_tests(&name, &text);
        for (n, line) in code(&text).take(tests) {
            let assembled = line.contains('{') && line.contains('}') && line.contains('"');
            let listed = ASSEMBLED
                .iter()
                .any(|(file, sql)| *file == name && line.contains(sql));
            if assembled && !listed && VERBS.iter().any(|verb| line.contains(verb)) {
                broken.push(format!("{name}:{n}: {}", line.trim()));
            }
        }
    }
    for (file, sql) in ASSEMBLED {
        let text = fs::read_to_string(root().join(file)).expect("a file");
        assert!(text.contains(sql), "{sql} is gone: take it off the list");
    }
    none(&broken);
}

#[test]
fn every_statement_is_used() {
    let code: String = files("src/backend/sqlite")
        .into_iter()
        .map(|(_, text)| text)
        .collect();
    let folder = fs::read_dir(root().join("src/backend/sqlite/sql")).expect("the statements");
    let mut seen = 0;
    for entry in folder {
        let path = entry.expect("an entry").path();
        let name = path.file_stem().expect("a name").to_string_lossy();
        assert!(
            code.contains(&format!("sql!(\"{name}\")")),
            "{name} is used nowhere"
        );
        seen += 1;
    }
    assert!(seen > 50, "the statements were found: {seen}");
}

#[test]
fn no_file_is_too_long() {
    let mut broken = vec![];
    for folder in ["src", "tests"] {
        for (name, text) in files(folder) {
            let lines = text.lines().count();
            if lines > LONGEST {
                broken.push(format!("{name} has {lines} lines; {LONGEST} are the most"));
            }
        }
    }
    none(&broken);
}

/// Nothing half done, and no test that is switched off.
#[test]
fn nothing_is_left_half_done() {
    let words: Vec<String> = ["todo", "unimplemented", "dbg"]
        .iter()
        .map(|word| format!("{word}!("))
        .chain(["#[ignore".to_owned() + "]", "#[ignore".to_owned() + " "])
        .collect();
    let mut broken = vec![];
    for folder in ["src", "tests"] {
        for (name, text) in files(folder) {
            for (n, line) in code(&text) {
                if words.iter().any(|word| line.contains(word.as_str())) {
                    broken.push(format!("{name}:{n}: {}", line.trim()));
                }
            }
        }
    }
    none(&broken);
}

/// A test waits for what it waits for, never for a while. A pause in a loop that looks again and gives up is no such
/// wait: it stands in a function that is named for it.
#[test]
fn tests_do_not_sleep() {
    let sleep = ["thread", "sleep("].join("::");
    let mut broken = vec![];
    for (name, text) in files("tests") {
        let mut function = "";
        for (n, line) in code(&text) {
            let trimmed = line.trim_start().trim_start_matches("pub ");
            if let Some(rest) = trimmed.strip_prefix("fn ") {
                function = rest.split(['(', '<']).next().unwrap_or(rest);
            }
            let named = ["until", "wait_for", "eventually", "await_"];
            let listed = PAUSES.iter().any(|(file, _)| *file == name);
            if line.contains(&sleep) && !listed && !named.iter().any(|word| function.contains(word))
            {
                broken.push(format!("{name}:{n}: sleeps in {function}"));
            }
        }
    }
    none(&broken);
}

/// Outside tests nothing panics on what the world does.
#[test]
fn nothing_panics() {
    let mut broken = vec![];
    for (name, text) in files("src") {
        let tests = before_tests(&name, &text);
        for (n, line) in code(&text).take(tests) {
            let words = [".unwrap()", ".expect(\"", "panic!(", "unreachable!("];
            if words.iter().any(|word| line.contains(word)) {
                broken.push(format!("{name}:{n}: {}", line.trim()));
            }
        }
    }
    none(&broken);
}

/// One verb, one file, one `Args`, one `run`.
#[test]
fn every_verb_has_its_file() {
    let mod_rs = fs::read_to_string(root().join("src/cli/mod.rs")).expect("the command line");
    let list = mod_rs
        .split_once("pub enum Command {")
        .and_then(|(_, rest)| rest.split_once("\n}"))
        .expect("the list of verbs")
        .0;
    let mut verbs = vec![];
    for line in list.lines().map(str::trim) {
        let Some((variant, args)) = line.split_once('(') else {
            continue;
        };
        if !variant.chars().all(char::is_alphanumeric) {
            continue;
        }
        let verb = variant.to_lowercase();
        assert!(args.contains(&format!("{verb}::Args")), "{line}");
        let text = fs::read_to_string(root().join(format!("src/cli/{verb}.rs"))).expect(&verb);
        assert!(text.contains("pub struct Args"), "{verb} has its Args");
        assert!(text.contains("fn run("), "{verb} has its run");
        verbs.push(verb);
    }
    assert!(verbs.len() >= 20, "{verbs:?}");
}

/// A lint that is switched off says why, and falls when it is no longer needed.
#[test]
fn lints_are_expected_not_allowed() {
    let allow = format!("#[{}(", "allow");
    let mut broken = vec![];
    for folder in ["src", "tests"] {
        for (name, text) in files(folder) {
            for (n, line) in code(&text) {
                if line.contains(&allow) || line.contains(&allow.replace("#[", "#![")) {
                    broken.push(format!("{name}:{n}: {}", line.trim()));
                }
            }
        }
    }
    none(&broken);
}

/// A command line that a hint names goes through `queue::Hint` or `words::command`, which put the store's flags in.
#[test]
fn no_command_line_is_written_into_a_message() {
    let verbs = qops::cli::verb_names(&<qops::cli::Cli as clap::CommandFactory>::command());
    let mut broken = vec![];
    for (name, text) in files("src") {
        let end = before_tests(&name, &text);
        let mut help = false;
        for (n, line) in code(&text).take_while(|(n, _)| *n <= end) {
            // What stands in an attribute is help, and names no store.
            help |= line.trim_start().starts_with("#[");
            let was = help;
            help &= !line.trim_end().ends_with(")]");
            let line = PROSE
                .iter()
                .fold(line.to_owned(), |line, prose| line.replace(prose, ""));
            let named = verbs.iter().filter(|verb| *verb != "help").any(|verb| {
                line.contains(&format!("qops {verb} ")) || line.contains(&format!("qops {verb}\""))
            });
            if named && !was {
                broken.push(format!("{name}:{n}: {}", line.trim()));
            }
        }
    }
    none(&broken);
}
