//! The documents do what they say. Every block of the README runs, in order, in a home of its own, on a terminal; what it
//! shows there is what is printed; its table of exit codes and its configuration are the code's. What the topics of
//! `help` name exists.

use portable_pty::{CommandBuilder, PtySize, native_pty_system};
use qops::cli::exit::Code;
use std::collections::BTreeSet;
use std::io::Read as _;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

const README: &str = include_str!("../README.md");
const SCHEMA: &str = include_str!("../src/cli/topics/schema.md");
const PRODUCERS: &str = include_str!("../src/cli/topics/producers.md");
const RECORDS: &str = include_str!("../src/cli/topics/records.md");
const WORKER: &str = include_str!("../src/cli/topics/worker.md");

/// A block between fences: its language, its text, and the title of its section.
struct Block {
    language: String,
    text: String,
    section: String,
}

fn blocks() -> Vec<Block> {
    let (mut found, mut open, mut section) = (vec![], None::<Block>, String::new());
    for line in README.lines() {
        match (open.take(), line.strip_prefix("```")) {
            (None, Some(language)) => {
                open = Some(Block {
                    language: language.to_owned(),
                    text: String::new(),
                    section: section.clone(),
                });
            }
            (Some(block), Some(_)) => found.push(block),
            (Some(mut block), None) => {
                block.text += line;
                block.text.push('\n');
                open = Some(block);
            }
            (None, None) => {
                if let Some(title) = line.strip_prefix("## ") {
                    title.clone_into(&mut section);
                }
            }
        }
    }
    assert!(open.is_none(), "a block has no end");
    found
}

fn of_language(language: &str) -> Vec<Block> {
    let mut all = blocks();
    all.retain(|block| block.language == language);
    all
}

/// A newcomer's home: nothing configured, qops on the path.
struct Home(tempfile::TempDir);

impl Home {
    fn new() -> Self {
        let home = Self(tempfile::tempdir().unwrap());
        std::fs::create_dir(home.path().join("tmp")).unwrap();
        home
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn around(&self) -> Vec<(&'static str, String)> {
        let bin = Path::new(env!("CARGO_BIN_EXE_qops"))
            .parent()
            .unwrap()
            .display();
        let path = std::env::var("PATH").unwrap();
        vec![
            ("PATH", format!("{bin}:{path}")),
            ("HOME", self.path().display().to_string()),
            ("TMPDIR", self.path().join("tmp").display().to_string()),
            ("LC_ALL", "C.UTF-8".to_owned()),
            ("TERM", "dumb".to_owned()),
            ("NO_COLOR", "1".to_owned()),
        ]
    }

    /// Runs a block off any terminal: what it printed on both streams, and its code.
    fn run(&self, block: &str) -> (String, i32) {
        let out = Command::new("sh")
            .args(["-e", "-c", &format!("exec 2>&1\n{block}")])
            .current_dir(self.path())
            .env_clear()
            .envs(self.around())
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let text = String::from_utf8(out.stdout).unwrap();
        (text, out.status.code().unwrap_or(-1))
    }

    /// The same on a terminal of 120 columns, which draws no bars.
    fn terminal(&self, block: &str) -> (String, u32) {
        let size = PtySize {
            rows: 40,
            cols: 120,
            pixel_width: 0,
            pixel_height: 0,
        };
        let pair = native_pty_system().openpty(size).unwrap();
        let mut command = CommandBuilder::new("sh");
        command.args(["-e", "-c", block]);
        command.env_clear();
        for (name, value) in self.around() {
            command.env(name, value);
        }
        command.cwd(self.path());
        let mut reader = pair.master.try_clone_reader().unwrap();
        let mut child = pair.slave.spawn_command(command).unwrap();
        drop(pair.slave);
        let (mut shown, mut some) = (vec![], [0; 4096]);
        // The terminal's end is an error on Linux: its last holder is gone.
        while let Ok(n @ 1..) = reader.read(&mut some) {
            shown.extend_from_slice(&some[..n]);
        }
        let code = child.wait().unwrap().exit_code();
        (String::from_utf8(shown).unwrap().replace('\r', ""), code)
    }
}

/// A text without what differs from run to run: instants, durations, and which process it was.
fn loose(text: &str) -> String {
    let mut lines = vec![];
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let mut before = "";
        let words = line.split_whitespace().map(|word| {
            let number = word
                .trim_start_matches('(')
                .starts_with(|c: char| c.is_ascii_digit());
            let time = number && word.trim_end_matches(')').ends_with(['s', 'Z']);
            let was = std::mem::replace(&mut before, word);
            match was {
                "worker" => "WORKER",
                _ if time => "TIME",
                _ => word,
            }
        });
        lines.push(words.collect::<Vec<_>>().join(" "));
    }
    lines.join("\n")
}

/// Two orders that met a limit and one that is wrong, as somebody finds them at night.
const NIGHT: &str = "
    qops enqueue orders 7781 7782 7783
    qops work orders --max-attempts 1 -- sh -c '
      read n; [ $n = 7783 ] && { echo no such customer >&2; exit 65; }; echo HTTP 429 Too Many Requests >&2; exit 1' || true";

#[test]
fn every_block_runs_in_order_and_prints_what_is_shown() {
    let home = Home::new();
    let (mut ran, mut compared) = (0, 0);
    let mut last = String::new();
    for block in blocks() {
        match block.language.as_str() {
            // The tests are what runs now.
            "sh" if block.text == "tests/run\n" => {}
            "sh" => {
                if block.section == "At three in the morning" {
                    let (shown, code) = home.run(NIGHT);
                    assert_eq!(code, 0, "{shown}");
                }
                // The installation is what built the program under test.
                let text = block.text.replace(INSTALL, "");
                let (shown, code) = home.terminal(&text);
                assert_eq!(code, 0, "{text}\n--- shown\n{shown}");
                last = shown;
                ran += 1;
            }
            "text" => {
                assert_eq!(loose(&last), loose(&block.text), "--- shown\n{last}");
                compared += 1;
            }
            _ => {}
        }
    }
    assert!(ran >= 8 && compared >= 6, "the blocks were not found");
    let counts = home.run("qops ls -o csv --fields queue,ready,delayed,running,dead");
    assert_eq!(
        counts.0,
        "queue,ready,delayed,running,dead\nbills,0,1,0,0\nemails,0,0,0,0\nhello,0,0,0,0\norders,2,1,0,0\n"
    );
}

const INSTALL: &str =
    "cargo install --locked --path . && export PATH=\"${CARGO_HOME:-$HOME/.cargo}/bin:$PATH\" &&\n";

#[test]
fn the_first_block_installs_and_works_and_the_second_tests() {
    let blocks = of_language("sh");
    assert!(blocks[0].text.starts_with(INSTALL), "{}", blocks[0].text);
    assert_eq!(blocks[1].text, "tests/run\n");
    let home = Home::new();
    let (shown, code) = home.run(&blocks[0].text.replace(INSTALL, ""));
    assert_eq!(code, 0, "{shown}");
    for name in ["ana", "bia", "caio"] {
        assert!(shown.contains(&format!("hello, {name}\n")), "{shown}");
    }
}

#[test]
fn the_crontab_line_is_silent_and_succeeds() {
    let home = Home::new();
    let report = home.path().join("report");
    std::fs::write(&report, "#!/bin/sh\nexit 0\n").unwrap();
    std::fs::set_permissions(&report, PermissionsExt::from_mode(0o755)).unwrap();
    // As cron does it: HOME, and a PATH of the system alone.
    let bin = home.path().join(".cargo/bin");
    std::fs::create_dir_all(&bin).unwrap();
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_qops"), bin.join("qops")).unwrap();
    let cron = |line: &str| {
        let out = Command::new("sh")
            .args(["-c", line])
            .env_clear()
            .env("HOME", home.path())
            .env("PATH", "/usr/bin:/bin")
            .output()
            .unwrap();
        let said = [out.stdout, out.stderr].concat();
        (String::from_utf8(said).unwrap(), out.status.code())
    };
    for block in of_language("crontab") {
        let line = block.text.strip_prefix("* * * * * ").unwrap();
        let line = line.replace("/usr/local/bin/report", &report.display().to_string());
        // There is no queue yet, and then there is one with a message.
        for scene in [
            "qops -q enqueue other x > /dev/null",
            "qops enqueue reports x > /dev/null",
        ] {
            let (shown, code) = home.run(scene);
            assert_eq!((shown.as_str(), code), ("", 0));
            assert_eq!(cron(&line), (String::new(), Some(0)));
        }
        let (left, _) = home.run("qops ls -o csv --fields queue,ready,dead");
        assert_eq!(left, "queue,ready,dead\nother,1,0\nreports,0,0\n");
    }
}

#[test]
fn the_table_of_exit_codes_is_the_codes() {
    let rows: Vec<String> = Code::ALL
        .iter()
        .map(|code| format!("| {} | {} |", code.number(), code.meaning()))
        .collect();
    let start = README.find("| code | meaning |").expect("a table");
    let table: Vec<&str> = README[start..]
        .lines()
        .skip(2)
        .take_while(|line| line.starts_with('|'))
        .collect();
    assert_eq!(table, rows);
}

#[test]
fn the_configuration_shown_is_one() {
    let home = Home::new();
    let folder = home.path().join(".config/qops");
    std::fs::create_dir_all(&folder).unwrap();
    let here = home.path().display().to_string();
    let config = of_language("toml")[0]
        .text
        .replace("/var/lib/app", &here)
        .replace("/srv/app", &here);
    std::fs::write(folder.join("config.toml"), config).unwrap();
    let (shown, code) = home.run("qops enqueue a x && qops -c local ls && qops -c prod -v ls");
    assert_eq!(code, 0, "{shown}");
    assert!(home.path().join("queue.db").exists());
    // A message that is named by its id needs no question, save where the context wants one.
    for (context, wanted) in [("prod", 4), ("local", 0)] {
        let line = format!("qops -c {context} requeue a 1 --state ready");
        let (shown, code) = home.run(&line);
        assert_eq!(code, wanted, "{shown}");
    }
}

/// Every word in a text that names a table or a view of ours.
fn names(text: &str) -> BTreeSet<&str> {
    text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .filter(|word| word.len() > 5 && word.starts_with("qops_"))
        .collect()
}

#[test]
fn the_topics_name_what_the_schema_has() {
    let home = Home::new();
    let (tables, code) = home.run(
        "qops -q enqueue a x >/dev/null; sqlite3 .local/share/qops/qops.db \
         \"SELECT name FROM sqlite_master WHERE type IN ('table','view') AND name GLOB 'qops_*'\"",
    );
    assert_eq!(code, 0, "{tables}");
    assert_eq!(names(SCHEMA), names(&tables));
    assert!(names(PRODUCERS).is_subset(&names(&tables)));
    assert!(names(WORKER).is_subset(&names(&tables)));
    for view in ["qops_messages", "qops_enqueue"] {
        let told: BTreeSet<&str> = SCHEMA[SCHEMA.find(&format!("    {view}  ")).unwrap()..]
            .split("\n\n")
            .next()
            .unwrap()
            .split_whitespace()
            .skip(1)
            .collect();
        let (columns, code) = home.run(&format!(
            "sqlite3 .local/share/qops/qops.db \"SELECT name FROM pragma_table_info('{view}')\""
        ));
        assert_eq!(code, 0, "{columns}");
        assert_eq!(told, columns.split_whitespace().collect(), "{view}");
    }
}

/// The indented examples of a topic that begin with a word.
fn examples<'a>(topic: &'a str, word: &str) -> Vec<&'a str> {
    topic
        .split("\n\n")
        .filter(|part| part.starts_with("    ") && part.trim_start().starts_with(word))
        .collect()
}

#[test]
fn the_topics_statements_run() {
    let home = Home::new();
    let scene = "sqlite3 app.db \"CREATE TABLE payment(id INTEGER PRIMARY KEY, status TEXT);
        INSERT INTO payment VALUES (42, 'pending'); CREATE TABLE invoice(id, status);
        INSERT INTO invoice VALUES (7, 'pending'); CREATE TABLE ledger_entry(account, amount);
        CREATE TABLE processed_message(message_id PRIMARY KEY)\"\n qops -q init -u sqlite:app.db";
    let (shown, code) = home.run(scene);
    assert_eq!(code, 0, "{shown}");
    let mut ran = 0;
    let statements = [
        examples(PRODUCERS, "BEGIN"),
        examples(WORKER, "UPDATE"),
        examples(WORKER, "BEGIN"),
        examples(SCHEMA, "SELECT"),
    ];
    let of_sqlite = |script: &&str| !script.contains("qops.enqueue(");
    for (n, script) in statements
        .concat()
        .into_iter()
        .filter(of_sqlite)
        .enumerate()
    {
        std::fs::write(home.path().join(format!("{n}.sql")), script).unwrap();
        let (shown, code) = home.run(&format!("sqlite3 -bail app.db < {n}.sql"));
        assert_eq!(code, 0, "{script}\n{shown}");
        ran += 1;
    }
    for script in examples(PRODUCERS, "sqlite3") {
        let (shown, code) = home.run(script);
        assert_eq!(code, 0, "{script}\n{shown}");
        ran += 1;
    }
    assert_eq!(ran, 5, "the examples were not found");
    let seen = "sqlite3 app.db 'SELECT queue, payload, key FROM qops_messages ORDER BY id;
        SELECT status FROM payment; SELECT status FROM invoice; SELECT count(*) FROM ledger_entry'";
    assert_eq!(
        home.run(seen).0,
        "payments|{\"id\":42}|payment.approved:42\nemails|{\"to\":7}|\napproved\nsent\n1\n"
    );
    // The second time the mark is taken, and the effect with it.
    let (shown, code) = home.run("sqlite3 -bail app.db < 2.sql");
    assert!(code != 0 && shown.contains("UNIQUE"), "{shown}");
    // In the other languages the columns are the same.
    let inserts = PRODUCERS.matches("INSERT INTO qops_enqueue(").count();
    assert!(inserts >= 7, "{inserts}");
}

#[test]
fn every_field_of_every_record_is_told() {
    let home = Home::new();
    home.run("qops -q enqueue q x >/dev/null; qops queue set q --ttl 1h; qops claim q | qops nack - --dead");
    let told = |section: &str| -> BTreeSet<String> {
        let at = RECORDS.find(&format!("\n{section}")).expect(section);
        let fields = RECORDS[at..].split("\n\n").nth(1).unwrap();
        // A name begins after four spaces; several stand before one meaning, with commas.
        let lines = fields.lines().filter_map(|line| line.strip_prefix("    "));
        let names = lines.filter(|line| !line.starts_with(' '));
        names
            .flat_map(|line| line.split("  ").next().unwrap().split(", "))
            .map(str::to_owned)
            .collect()
    };
    let set = |fields: &[&str]| fields.iter().map(|&name| name.to_owned()).collect();
    let mut message: BTreeSet<String> = set(<qops::queue::Message as qops::ui::Row>::FIELDS);
    let delivery: BTreeSet<String> = set(<qops::queue::Delivery as qops::ui::Row>::FIELDS);
    message.extend(delivery);
    assert_eq!(told("A message (peek"), message);
    for (section, line) in [
        ("A queue (queues", "qops ls -o csv"),
        ("A queue's settings", "qops queue show q -o csv"),
        ("What was done", "qops pause q -o csv"),
        ("A message that was put in", "qops enqueue q y -o csv"),
        ("A finding", "qops doctor -o csv"),
        (
            "A migration",
            "qops init --dry-run -o csv --fields v,verb,from,to,dry_run,statements",
        ),
    ] {
        let (shown, code) = home.run(line);
        assert_eq!(code, 0, "{line}: {shown}");
        let header = shown.lines().next().unwrap().split(',');
        let fields: BTreeSet<String> = header.map(str::to_owned).collect();
        assert_eq!(told(section), fields, "{line}");
    }
    let run = told("A run");
    let (shown, _) = home.run("qops show 1 -o json");
    let shown: serde_json::Value = serde_json::from_str(&shown).unwrap();
    for name in shown["history"][0].as_object().unwrap().keys() {
        assert!(run.contains(name), "{name}");
    }
    assert_eq!(run.len(), 10);
    let (shown, _) = home.run("qops show 99 -o json");
    let shown: serde_json::Value = serde_json::from_str(&shown).unwrap();
    for name in shown["error"].as_object().unwrap().keys() {
        assert!(told("An error").contains(name), "{name}");
    }
}

#[test]
fn the_topics_fit_a_terminal() {
    for topic in [SCHEMA, PRODUCERS, RECORDS, WORKER] {
        let wide = topic.lines().find(|line| line.chars().count() > 80);
        assert_eq!(wide, None);
    }
}

#[test]
fn what_the_tests_start_is_installed_by_their_run() {
    let needs = include_str!("run");
    let needs = needs.split("needs=\"").nth(1).unwrap();
    let needs = needs.split('"').next().unwrap();
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("tests")];
    let mut started = BTreeSet::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|kind| kind == "rs") {
                let text = std::fs::read_to_string(path).unwrap();
                for start in ["Command::new(\"", "CommandBuilder::new(\"", "program(\""] {
                    let found = text.split(start).skip(1);
                    started.extend(found.map(|rest| rest.split('"').next().unwrap().to_owned()));
                }
            }
        }
    }
    // This very list of beginnings.
    started.remove("");
    started.retain(|program| !program.contains([',', '\\']));
    assert!(started.contains("sqlite3"), "{started:?}");
    for program in started {
        let listed = needs
            .split_whitespace()
            .any(|need| need.starts_with(&format!("{program}:")));
        assert!(listed, "{program} is not in tests/run");
    }
}
