use super::super::Cli;
use super::*;
use clap::{CommandFactory, Parser};

fn said(args: &[&str]) -> String {
    let args: Vec<OsString> = std::iter::once("qops")
        .chain(args.iter().copied())
        .map(OsString::from)
        .collect();
    let error = Cli::try_parse_from(&args).unwrap_err();
    let command = Cli::command();
    let problem = problem(&error, &command, &Glance::at(&command, &args));
    assert_eq!(problem.code, 2);
    let mut lines = vec![problem.message];
    lines.extend(
        problem
            .hints
            .into_iter()
            .map(|hint| format!("hint: {hint}")),
    );
    lines.join("\n")
}

#[test]
fn what_cannot_be_meant_is_said_in_our_words() {
    for (args, lines) in [
        (
            &["pause"][..],
            "pause needs <QUEUE>...\nhint: qops pause --help",
        ),
        (
            &["pause", "--al"],
            "pause has no option '--al'\nhint: qops pause --help",
        ),
        (
            &["queue", "set", "q", "--lease", "30"],
            "--lease <DURATION>: '30' has no unit: write 30s for seconds, 30m for minutes or 30ms for \
             milliseconds\nhint: qops queue set --help",
        ),
        (
            &["queue", "shwo", "q"],
            "queue has no verb 'shwo'\nhint: did you mean 'show'?",
        ),
        (
            &["pause", "-o", "jsn", "q"],
            "-o <FORMAT>: 'jsn' is none of its values\nhint: did you mean 'json'?",
        ),
        (
            &["pause", "q", "--json", "-o", "id"],
            "--json and -o <FORMAT> cannot both be meant\nhint: qops pause --help",
        ),
        (&["frobnicate"], "no verb 'frobnicate'\nhint: qops --help"),
        (
            &["paus", "q"],
            "no verb 'paus'\nhint: did you mean 'pause'?",
        ),
        (
            &["stop", "q"],
            "no verb 'stop'\nhint: did you mean 'pause'?",
        ),
    ] {
        assert_eq!(said(args), lines, "{args:?}");
    }
}

#[test]
fn a_missing_dash_dash_has_its_own_hint() {
    for (args, hint) in [
        (
            &["work", "a", "b", "-j", "2", "sh", "-e", "x"][..],
            "put -- before the command: qops work a b -j 2 -- sh -e x",
        ),
        (
            &["work", "a", "./no-such", "--flag"],
            "put -- before the command: qops work QUEUE -- COMMAND",
        ),
        (
            &["drain", "a b", "sh", "--flag"],
            "put -- before the command: qops drain 'a b' -- sh --flag",
        ),
    ] {
        let lines = said(args);
        let second = lines.lines().nth(1).unwrap();
        assert_eq!(second, format!("hint: {hint}"), "{args:?}: {lines}");
    }
    let typed = |line: &str| {
        let args: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        no_command("work", &args)
    };
    assert_eq!(
        typed("qops work a sh -c x"),
        "put -- before the command: qops work a -- sh -c x"
    );
    assert_eq!(
        typed("qops work a --"),
        "put it after --: qops work a -- COMMAND"
    );
}

#[test]
fn a_payload_that_begins_with_a_dash_goes_after_dashes() {
    for (args, lines) in [
        (
            &["enqueue", "q", "-1"][..],
            "enqueue has no option '-1'\nhint: a payload that begins with '-' goes after --: qops enqueue q -- -1",
        ),
        (
            &["enqueue", "q", "--lnes"],
            "enqueue has no option '--lnes'\nhint: did you mean '--lines'?",
        ),
    ] {
        assert_eq!(said(args), lines, "{args:?}");
    }
}

#[test]
fn a_negative_value_is_a_bad_value_of_its_option() {
    for (args, lines) in [
        (
            &["enqueue", "q", "a", "--max-attempts", "-1"][..],
            "--max-attempts <N>: '-1' is no number of attempts\nhint: qops enqueue --help",
        ),
        (
            &["work", "q", "-j", "-1", "--", "true"],
            "--jobs <N>: '-1' is no number from 1 to 1024\nhint: qops work --help",
        ),
        (
            &["work", "q", "-j", "-1", "true"],
            "--jobs <N>: '-1' is no number from 1 to 1024\nhint: qops work --help",
        ),
        (
            &["purge", "q", "--expect", "-1"],
            "--expect <N>: '-1': it is no number from 0 on\nhint: qops purge --help",
        ),
        (
            &["queue", "set", "q", "--lease", "-1s"],
            "--lease <DURATION>: '-1s' is no duration: it needs a number before each unit, as in 250ms, 30s, 5m, 2h, 1d or \
             1h30m\nhint: qops queue set --help",
        ),
        (
            &["nack", "--delay", "-1s", "x", "-2"],
            "--delay <DURATION>: '-1s' is no duration: it needs a number before each unit, as in 250ms, 30s, 5m, 2h, 1d or \
             1h30m\nhint: qops nack --help",
        ),
        (
            &["drain", "q", "--to", "-1", "--yes"],
            "drain has no option '-1'\nhint: a value that begins with '-' is joined to its option: --to=-1",
        ),
        // After a flag without a value, and after --, nothing changes.
        (
            &["pause", "q", "--json", "-1"],
            "pause has no option '-1'\nhint: qops pause --help",
        ),
        (
            &["work", "q", "--once", "-1", "--", "-j", "-1"],
            "work has no option '-1'\nhint: qops work --help",
        ),
    ] {
        assert_eq!(said(args), lines, "{args:?}");
    }
}

#[test]
fn letters_are_drained_by_their_ids_with_a_flag() {
    for (args, hint) in [
        (
            &["drain", "a b", "1", "2"][..],
            "letters are named with --id: qops drain 'a b' --id 1 --id 2; a command goes after --",
        ),
        (
            &["drain", "q", "-"],
            "qops requeue q - reads ids from standard input; drain takes them with --id, and a command after --",
        ),
        (
            &["drain", "q", "sh", "1"],
            "put -- before the command: qops drain q -- sh 1",
        ),
    ] {
        let lines = said(args);
        let second = lines.lines().nth(1).unwrap();
        assert_eq!(second, format!("hint: {hint}"), "{args:?}: {lines}");
    }
}

#[test]
fn words_of_other_tools_are_known() {
    for (typed, hint) in [
        ("list", "did you mean 'queues'?"),
        ("get", "did you mean 'peek' or 'claim'?"),
        ("status", "did you mean 'stats'?"),
        ("replay", "did you mean 'requeue' or 'drain'?"),
        ("delete", "did you mean 'purge' or 'queue rm'?"),
        ("consume", "did you mean 'work'?"),
        ("pop", "did you mean 'claim'?"),
        ("watch", "did you mean 'stats'?"),
        ("enqeue", "did you mean 'enqueue'?"),
        ("publish", "did you mean 'enqueue'?"),
    ] {
        let expected = format!("no verb '{typed}'\nhint: {hint}");
        assert_eq!(said(&[typed, "q"]), expected);
    }
}

#[test]
fn a_glance_knows_the_format_and_the_words() {
    let command = Cli::command();
    let at = |line: &str| {
        let args: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        Glance::at(&command, &args)
    };
    for line in [
        "qops pause --json",
        "qops -o json x",
        "qops -ojson x",
        "qops -o=ndjson x",
    ] {
        assert!(at(line).json, "{line}");
    }
    for line in ["qops x -o table", "qops x -- --json", "qops -u --json"] {
        assert!(!at(line).json, "{line}");
    }
    let glance = at("qops -u sqlite:x pause a -c b d -- e");
    assert_eq!(glance.verb.as_deref(), Some("pause"));
    let words: Vec<_> = glance.words.iter().map(|(_, word)| word).collect();
    assert_eq!(words, ["a", "d"]);
    assert!(glance.dashes);
}
