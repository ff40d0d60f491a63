//! `completions/` and `man/` are generated from the command line itself and committed; this proves them fresh.
//! `QOPS_BLESS=1 cargo test --test generated` writes them anew.

use clap::CommandFactory;
use clap_complete::Generator;
use clap_complete::shells::{Bash, Elvish, Fish, PowerShell, Zsh};
use clap_complete_nushell::Nushell;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};
use qops::cli::Cli;
use qops::cli::exit::Code;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

/// The day that stands in every page: a page is the same whenever it is made.
const DATE: &str = "2026-12-01";

type Files = BTreeMap<String, String>;

fn built() -> clap::Command {
    let mut command = Cli::command();
    command.build();
    command
}

fn completions() -> Files {
    fn script(shell: impl Generator) -> (String, String) {
        let (mut command, mut bytes) = (Cli::command(), vec![]);
        let name = shell.file_name("qops");
        clap_complete::generate(shell, &mut command, "qops", &mut bytes);
        (name, String::from_utf8(bytes).unwrap())
    }
    [
        script(Bash),
        script(Zsh),
        script(Fish),
        script(PowerShell),
        script(Elvish),
        script(Nushell),
    ]
    .into()
}

fn manuals() -> Files {
    let mut files = Files::new();
    let command = built();
    page(&command, "qops", &mut files);
    for verb in command.get_subcommands() {
        let name = format!("qops-{}", verb.get_name());
        page(verb, &name, &mut files);
        for second in verb.get_subcommands() {
            page(second, &format!("{name}-{}", second.get_name()), &mut files);
        }
    }
    files
}

/// The names of all pages.
fn names(command: &clap::Command) -> Vec<String> {
    let mut names = vec!["qops".to_owned()];
    for verb in command.get_subcommands() {
        let name = format!("qops-{}", verb.get_name());
        let under = verb.get_subcommands();
        let under = under.map(|second| format!("{name}-{}", second.get_name()));
        names.extend(std::iter::once(name.clone()).chain(under));
    }
    names
}

fn page(command: &clap::Command, name: &str, files: &mut Files) {
    // What follows the options is laid out here: prose is filled, examples are not.
    let after = command.get_after_help().map(ToString::to_string);
    let (prose, examples) = apart(after.as_deref().unwrap_or_default());
    let bare = command
        .clone()
        .display_name(name)
        .version(None::<&str>)
        .after_help("");
    let mut out = vec![];
    let man = Man::new(bare);
    man.render_name_section(&mut out).unwrap();
    let mut rest = Roff::new();
    rest.control("SH", ["SYNOPSIS"]);
    let usage = command.clone().render_usage().to_string();
    let usage = usage.trim_start_matches("Usage: ");
    let words = name.replace('-', " ");
    rest.text([bold(words.as_str()), roman(&usage[words.len()..])]);
    out.extend(rest.to_roff().into_bytes());
    man.render_description_section(&mut out).unwrap();
    let mut rest = Roff::new();
    for paragraph in prose {
        rest.control("PP", []);
        rest.text([roman(paragraph)]);
    }
    out.extend(rest.to_roff().into_bytes());
    if command.get_arguments().next().is_some() {
        man.render_options_section(&mut out).unwrap();
    }
    let mut rest = Roff::new();
    if command.has_subcommands() {
        rest.control("SH", ["VERBS"]);
        for verb in command.get_subcommands() {
            rest.control("TP", []);
            rest.text([bold(format!("{name}-{}(1)", verb.get_name()))]);
            let about = verb.get_about().map(ToString::to_string);
            rest.text([roman(about.unwrap_or_default())]);
        }
    }
    for (heading, lines) in examples {
        rest.control("SH", [heading.as_str()]);
        rest.control("nf", []);
        for line in lines {
            rest.text([roman(line.trim_start())]);
        }
        rest.control("fi", []);
    }
    rest.control("SH", ["EXIT STATUS"]);
    for code in Code::ALL {
        rest.control("TP", ["6"]);
        rest.text([bold(code.number().to_string())]);
        rest.text([roman(code.meaning())]);
    }
    let runs_commands = ["qops-work", "qops-drain"].contains(&name);
    environment(&mut rest, runs_commands);
    rest.control("SH", ["SEE ALSO"]);
    let others = names(&built()).into_iter().filter(|other| other != name);
    let mut pages: Vec<_> = others
        .flat_map(|other| [bold(format!("{other}(1)")), roman(", ")])
        .collect();
    pages.pop();
    rest.text(pages);
    rest.control("PP", []);
    rest.text([
        bold("qops help topics"),
        roman(" lists the texts about one thing."),
    ]);
    out.extend(rest.to_roff().into_bytes());
    let text = once(&String::from_utf8(out).unwrap());
    let (preamble, body) = text.split_at(text.find(".SH").unwrap());
    let title = name.to_uppercase();
    let version = env!("CARGO_PKG_VERSION");
    let text =
        format!("{preamble}.TH \"{title}\" \"1\" \"{DATE}\" \"qops {version}\" \"qops\"\n{body}");
    files.insert(format!("{name}.1"), text);
}

/// The page as `mandoc -T lint` wants it: its preamble in its beginning alone, where every part comes with one; no line
/// over 80 bytes, save where lines stand as they are; no break beside a space.
fn once(page: &str) -> String {
    let is_preamble = |line: &str| line.starts_with(".ie ") || line.starts_with(".el ");
    let (mut preamble, mut rest) = (vec![], Vec::<String>::new());
    let mut filled = true;
    for line in page.lines() {
        let last = rest.last().map(String::as_str);
        match line {
            ".nf" | ".fi" => filled = line == ".fi",
            // An empty line is a space by itself.
            ".br" if last == Some("") => continue,
            "" if last == Some(".br") => drop(rest.pop()),
            _ => {}
        }
        if is_preamble(line) {
            if !preamble.contains(&line) {
                preamble.push(line);
            }
        } else if filled && !line.starts_with(['.', '\'']) {
            rest.extend(broken(line.trim_end()));
        } else {
            rest.push(line.trim_end().to_owned());
        }
    }
    format!("{}\n{}\n", preamble.join("\n"), rest.join("\n"))
}

/// Lines of at most 80 bytes, broken at spaces; none begins as a request does.
fn broken(text: &str) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let line = lines.last_mut().unwrap();
        let fits = line.len() + 1 + word.len() <= 80;
        if line.is_empty() {
            line.push_str(word);
        } else if fits || word.is_empty() || word.starts_with(['.', '\'']) {
            line.push(' ');
            line.push_str(word);
        } else {
            lines.push(word.to_owned());
        }
    }
    lines
}

/// A text after a help, taken apart: its paragraphs, and its examples under their headings.
fn apart(text: &str) -> (Vec<&str>, Vec<(String, Vec<&str>)>) {
    let (mut prose, mut examples) = (vec![], vec![]);
    for paragraph in text.split("\n\n").filter(|text| !text.trim().is_empty()) {
        let (first, rest) = paragraph.split_once('\n').unwrap_or((paragraph, ""));
        let indented = !rest.is_empty() && rest.lines().all(|line| line.starts_with("  "));
        match first.strip_suffix(':') {
            Some(heading) if indented => {
                let heading = match heading {
                    "Example" | "Examples" | "A first try" => "EXAMPLES".to_owned(),
                    other => other.to_uppercase(),
                };
                examples.push((heading, rest.lines().collect()));
            }
            _ => prose.push(paragraph),
        }
    }
    (prose, examples)
}

fn environment(page: &mut Roff, runs_commands: bool) {
    let entries = |page: &mut Roff, entries: &[(&str, &str)]| {
        for (name, meaning) in entries {
            page.control("TP", []);
            page.text([bold(*name)]);
            page.text([roman(*meaning)]);
        }
    };
    page.control("SH", ["ENVIRONMENT"]);
    entries(
        page,
        &[
            (
                "QOPS_URL, QOPS_CONTEXT",
                "The store, where no flag names one: its URL, or its name in the configuration file. Not both.",
            ),
            (
                "NO_COLOR, CLICOLOR_FORCE, COLUMNS",
                "No colour; colour also off a terminal; the width of tables off a terminal.",
            ),
        ],
    );
    if runs_commands {
        page.control("PP", []);
        page.text([roman("A command that is run for a message gets:")]);
        entries(
            page,
            &[
                (
                    "QOPS_ID, QOPS_QUEUE, QOPS_KEY, QOPS_GROUP",
                    "The message's own.",
                ),
                (
                    "QOPS_ATTEMPT, QOPS_MAX_ATTEMPTS",
                    "Which start this is, and how many there are at most; a drain has no limit, and no second variable.",
                ),
                (
                    "QOPS_FENCE",
                    "A number that grows with every delivery of the message.",
                ),
                (
                    "QOPS_ENQUEUED_AT, QOPS_LEASE_UNTIL",
                    "Instants, RFC 3339 in UTC; the lease is extended while the command runs.",
                ),
                (
                    "QOPS_HEADER_NAME",
                    "A header of the message, its name in capitals, anything but A to Z and 0 to 9 as _.",
                ),
                (
                    "QOPS_URL or QOPS_CONTEXT",
                    "The worker's store, without a password.",
                ),
            ],
        );
    }
    page.control("SH", ["FILES"]);
    entries(
        page,
        &[
            (
                "$XDG_CONFIG_HOME/qops/config.toml (~/.config/qops/config.toml)",
                "Stores and their names.",
            ),
            (
                "$XDG_DATA_HOME/qops/qops.db (~/.local/share/qops/qops.db)",
                "The default store.",
            ),
        ],
    );
}

/// Compares a folder with what belongs in it, or writes it.
fn fresh(folder: &str, files: &Files) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    if std::env::var_os("QOPS_BLESS").is_some() {
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        for (name, text) in files {
            fs::write(folder.join(name), text).unwrap();
        }
        return;
    }
    let mut there: Vec<String> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    there.sort();
    let wanted: Vec<String> = files.keys().cloned().collect();
    assert_eq!(
        there, wanted,
        "run QOPS_BLESS=1 cargo test --test generated"
    );
    for (name, text) in files {
        let old = fs::read_to_string(folder.join(name)).unwrap();
        assert!(
            old == *text,
            "{name} is stale: run QOPS_BLESS=1 cargo test --test generated"
        );
    }
}

#[test]
fn completions_are_fresh() {
    fresh("completions", &completions());
}

#[test]
fn manuals_are_fresh() {
    fresh("man", &manuals());
}

#[test]
fn the_manuals_are_well_formed() {
    let pages = std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("man")).unwrap();
    let pages: Vec<_> = pages.map(|page| page.unwrap().path()).collect();
    assert!(pages.len() > 20);
    let lint = Command::new("mandoc")
        .args(["-T", "lint"])
        .args(pages)
        .output()
        .unwrap();
    let said = String::from_utf8([lint.stdout, lint.stderr].concat()).unwrap();
    assert_eq!(said, "");
}

#[test]
fn every_manual_has_its_sections() {
    for (name, text) in manuals() {
        for section in ["NAME", "SYNOPSIS", "DESCRIPTION", "ENVIRONMENT", "FILES"] {
            assert!(
                text.contains(&format!(".SH {section}\n")),
                "{name}: {section}"
            );
        }
        assert!(text.contains(".SH \"EXIT STATUS\"\n"), "{name}");
        let has_verbs = text.contains(".SH VERBS\n");
        assert!(
            has_verbs || text.contains(".SH EXAMPLES\n"),
            "{name} has no example"
        );
    }
}

#[test]
fn bash_completes_with_the_script() {
    let script = "source completions/qops.bash
        COMP_WORDS=(qops \"$@\") COMP_CWORD=$#
        _qops qops \"${COMP_WORDS[COMP_CWORD]}\" \"${COMP_WORDS[COMP_CWORD-1]}\"
        echo \"${COMPREPLY[@]}\"";
    for (typed, wanted) in [
        (&["enq"][..], "enqueue"),
        (&["work", "q", "--max-at"], "--max-attempts"),
        (&["queue", "sh"], "show"),
        (&["completions", "nu"], "nushell"),
    ] {
        let out = Command::new("bash")
            .args(["--norc", "-c", script, "bash"])
            .args(typed)
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .output()
            .unwrap();
        let said = String::from_utf8(out.stdout).unwrap();
        assert_eq!(said.trim(), wanted, "{typed:?} {out:?}", out = out.stderr);
    }
}
