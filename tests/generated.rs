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

fn page(command: &clap::Command, name: &str, files: &mut Files) {
    // What follows the options is laid out here: prose is filled, examples are not.
    let after = command.get_after_help().map(ToString::to_string);
    let bare = command
        .clone()
        .display_name(name)
        .version(None::<&str>)
        .after_help("");
    let man = Man::new(bare)
        .title(name.to_uppercase())
        .section("1")
        .date("")
        .source(format!("qops {}", env!("CARGO_PKG_VERSION")))
        .manual("qops");
    let mut out = vec![];
    man.render_title(&mut out).unwrap();
    man.render_name_section(&mut out).unwrap();
    man.render_synopsis_section(&mut out).unwrap();
    man.render_description_section(&mut out).unwrap();
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
    after_help(&mut rest, after.as_deref().unwrap_or_default());
    rest.control("SH", ["EXIT STATUS"]);
    for code in Code::ALL {
        rest.control("TP", ["6"]);
        rest.text([bold(code.number().to_string())]);
        rest.text([roman(code.meaning())]);
    }
    environment(&mut rest);
    rest.control("SH", ["SEE ALSO"]);
    rest.text([bold("qops(1)"), roman(", "), bold("qops help TOPIC")]);
    out.extend(rest.to_roff().into_bytes());
    files.insert(format!("{name}.1"), String::from_utf8(out).unwrap());
}

/// A text after a help: paragraphs, and examples under a heading of their own.
fn after_help(page: &mut Roff, text: &str) {
    let is_heading = |paragraph: &str| {
        let first = paragraph.lines().next().unwrap_or_default();
        first.ends_with(':') && paragraph.lines().skip(1).all(|line| line.starts_with("  "))
    };
    let mut notes = false;
    for paragraph in text.split("\n\n").filter(|text| !text.trim().is_empty()) {
        let mut lines = paragraph.lines();
        if is_heading(paragraph) && paragraph.lines().count() > 1 {
            let heading = lines.next().unwrap_or_default().trim_end_matches(':');
            let heading = match heading {
                "Example" | "Examples" | "A first try" => "EXAMPLES".to_owned(),
                other => other.to_uppercase(),
            };
            page.control("SH", [heading.as_str()]);
            page.control("nf", []);
            for line in lines {
                page.text([roman(line)]);
            }
            page.control("fi", []);
        } else {
            if !notes {
                page.control("SH", ["NOTES"]);
            }
            notes = true;
            page.control("PP", []);
            page.text([roman(paragraph)]);
        }
    }
}

fn environment(page: &mut Roff) {
    page.control("SH", ["ENVIRONMENT"]);
    for (name, meaning) in [
        (
            "QOPS_URL, QOPS_CONTEXT",
            "The store, where no flag names one: its URL, or its name in the configuration file. Not both.",
        ),
        (
            "XDG_CONFIG_HOME",
            "The configuration is qops/config.toml below it; ~/.config without it.",
        ),
        (
            "XDG_DATA_HOME",
            "The default store is qops/qops.db below it; ~/.local/share without it.",
        ),
        (
            "NO_COLOR, CLICOLOR_FORCE, COLUMNS",
            "No colour; colour also off a terminal; the width of tables off a terminal.",
        ),
    ] {
        page.control("TP", []);
        page.text([bold(name)]);
        page.text([roman(meaning)]);
    }
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
fn every_manual_has_its_sections() {
    for (name, text) in manuals() {
        for section in ["NAME", "SYNOPSIS", "DESCRIPTION", "ENVIRONMENT"] {
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
