//! Every case of the list is a test somewhere, or stands in the table of those still to come.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// All cases, by their numbers.
const CASES: &[u32] = &[
    1, 4, 5, 6, 7, 9, 10, 68, 71, // leases
    12, 13, 14, 15, 16, 18, 20, 22, 74, 75, 78, 81, // commands and payloads
    24, 25, 26, 28, 29, 30, 31, 32, 34, // connections
    35, 36, 37, 39, 41, 42, 43, // names and schemas
    44, 46, 48, 49, 51, // Redis
    52, 53, 54, 55, 56, // SQLite
    58, 60, 62, 63, 64, 66, 69, // time, keys, order
    72, 73, // servers
    80, 82, 83, 85, 86, 87, 89, 91, 93, 94, // the command line
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn rust_files(folder: PathBuf, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            rust_files(path, found);
        } else if path.extension().is_some_and(|kind| kind == "rs") {
            found.push(path);
        }
    }
}

/// The numbers in a test's name: `r18_r89_bytes_come_back` has two.
fn numbers(name: &str) -> Vec<u32> {
    name.split('_')
        .map_while(|part| part.strip_prefix('r')?.parse().ok())
        .collect()
}

fn tested() -> BTreeSet<u32> {
    let mut files = vec![];
    rust_files(root().join("tests"), &mut files);
    rust_files(root().join("src"), &mut files);
    let mut found = BTreeSet::new();
    for file in files {
        let text = fs::read_to_string(&file).expect("a text");
        for line in text.lines() {
            if let Some((_, rest)) = line.trim_start().split_once("fn r") {
                let name = rest.split('(').next().unwrap_or_default();
                found.extend(numbers(&format!("r{name}")));
            }
        }
    }
    found
}

/// The rows of the table: numbers and reasons.
fn to_come() -> Vec<(u32, String)> {
    let readme = include_str!("README.md");
    let mut rows = vec![];
    for line in readme.lines() {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        if let [_, number, _, why, _] = cells[..]
            && let Some(number) = number.strip_prefix('R').and_then(|text| text.parse().ok())
        {
            rows.push((number, why.to_owned()));
        }
    }
    rows
}

#[test]
fn every_case_is_a_test_or_still_to_come() {
    let (tested, to_come) = (tested(), to_come());
    for case in CASES {
        let waits = to_come.iter().any(|(number, _)| number == case);
        assert!(tested.contains(case) || waits, "R{case:02} is nowhere");
    }
    for number in &tested {
        assert!(CASES.contains(number), "R{number:02} is no case");
    }
}

#[test]
fn what_is_still_to_come_says_why_and_comes_off_the_table_when_it_is_here() {
    let (tested, rows) = (tested(), to_come());
    assert!(rows.len() > 10, "the table was read");
    let mut seen = BTreeSet::new();
    for (number, why) in rows {
        assert!(
            CASES.contains(&number) && seen.insert(number),
            "R{number:02}"
        );
        assert!(why.len() > 3, "R{number:02} says why");
        assert!(
            !tested.contains(&number) || why.starts_with("the rest"),
            "R{number:02} is tested: take it off, or say what the rest is"
        );
    }
}
