//! The README does what it says: its blocks are run, its table of exit codes is the code's.

use qops::cli::exit::Code;
use std::path::Path;
use std::process::{Command, Stdio};

const README: &str = include_str!("../README.md");

/// The blocks of a language, in order.
fn blocks(language: &str) -> Vec<String> {
    let mut blocks = Vec::new();
    let mut open: Option<String> = None;
    for line in README.lines() {
        match (&mut open, line.strip_prefix("```")) {
            (None, Some(word)) => {
                open = (word == language)
                    .then(String::new)
                    .or(Some("\0".to_owned()));
            }
            (Some(_), Some(_)) => {
                let block = open.take().unwrap();
                blocks.extend((!block.starts_with('\0')).then_some(block));
            }
            (Some(block), None) => {
                *block += line;
                block.push('\n');
            }
            (None, None) => {}
        }
    }
    blocks
}

/// Runs a block as a newcomer would: a home of its own, nothing configured, qops on the path.
fn run(home: &Path, block: &str) -> (i32, String, String) {
    let bin = Path::new(env!("CARGO_BIN_EXE_qops"))
        .parent()
        .unwrap()
        .to_owned();
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    let out = Command::new("sh")
        .args(["-e", "-c", block])
        .current_dir(home)
        .env_clear()
        .envs([
            ("PATH", path.as_str()),
            ("HOME", home.to_str().unwrap()),
            ("LC_ALL", "C.UTF-8"),
        ])
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (
        out.status.code().unwrap_or(-1),
        text(out.stdout),
        text(out.stderr),
    )
}

#[test]
fn every_block_runs_in_order() {
    let home = tempfile::tempdir().unwrap();
    let mut ran = 0;
    let mut said = String::new();
    for block in blocks("sh") {
        // The installation is what built the binary under test; the tests are what runs now.
        let block = block.replace("cargo install --locked --path . && ", "");
        if block.trim() == "tests/run" {
            continue;
        }
        let (code, stdout, stderr) = run(home.path(), &block);
        assert_eq!(
            code, 0,
            "{block}\n--- stdout\n{stdout}\n--- stderr\n{stderr}"
        );
        said += &stdout;
        ran += 1;
    }
    assert!(ran >= 5, "the blocks were not found");
    for expected in [
        "hello, ana",
        "hello, caio",
        "no address",
        "permanent",
        "{\"id\":42}",
        "\"duplicate\":true",
    ] {
        assert!(
            said.contains(expected),
            "{expected:?} was not printed:\n{said}"
        );
    }
}

#[test]
fn the_first_block_installs_and_the_second_tests() {
    let blocks = blocks("sh");
    assert!(blocks[0].starts_with("cargo install --locked --path ."));
    assert_eq!(blocks[1].trim(), "tests/run");
}

#[test]
fn the_table_of_exit_codes_is_the_codes() {
    let rows: Vec<String> = Code::ALL
        .iter()
        .map(|code| format!("| {} | {} |", code.number(), code.meaning()))
        .collect();
    let start = README
        .find("| code | meaning |")
        .expect("the table is there");
    let table: Vec<&str> = README[start..]
        .lines()
        .skip(2)
        .take_while(|line| line.starts_with('|'))
        .collect();
    assert_eq!(table, rows);
}

#[test]
fn the_configuration_shown_is_one() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join(".config/qops");
    std::fs::create_dir_all(&folder).unwrap();
    let config = blocks("toml")
        .concat()
        .replace("/var/lib/app", home.path().to_str().unwrap());
    std::fs::write(folder.join("config.toml"), config).unwrap();
    let (code, _, stderr) = run(
        home.path(),
        "qops enqueue a x && qops -c local ls && qops -c prod -v ls",
    );
    assert_eq!(code, 0, "{stderr}");
    assert!(home.path().join("queue.db").exists());
}
