//! `help`: of a verb, or about a topic.

use super::ctx::Ctx;
use super::exit::Code;
use super::fail::{Fail, Outcome};
use super::{Cli, suggest};
use clap::CommandFactory;
use std::fmt::Write as _;

/// `help`
#[derive(clap::Args, Debug)]
#[command(after_help = "Topics:\n  \
    exit-codes  what each exit code means\n  \
    worker      what a command may count on, and what it owes\n  \
    producers   how an application puts messages in, in its own transaction\n  \
    schema      the tables and views, for reading and writing with SQL\n\n\
    Examples:\n  qops help work\n  qops help queue set\n  qops help worker")]
pub struct Args {
    /// A verb or a topic
    #[arg(value_name = "VERB|TOPIC")]
    pub about: Vec<String>,
}

/// Topics that are texts; the exit codes are written from their table.
const TOPICS: &[(&str, &str)] = &[
    ("worker", include_str!("topics/worker.md")),
    ("producers", include_str!("topics/producers.md")),
    ("schema", include_str!("topics/schema.md")),
];
const EXIT_CODES: &str = "exit-codes";

/// Prints help.
pub(super) fn run(args: &Args, ctx: &Ctx) -> Outcome {
    if let Some(format) = ctx.format() {
        return Err(Fail::usage(format!("help is text, and has no -o {format}")));
    }
    if let [topic] = args.about.as_slice()
        && let Some(text) = topic_text(topic)
    {
        ctx.ui.out_text(&text)?;
        return Ok(Code::Done);
    }
    let mut command = Cli::command();
    command.build();
    let mut found = &mut command;
    for (n, word) in args.about.iter().enumerate() {
        if found.find_subcommand(word).is_none() {
            return Err(unknown(&args.about[..=n], found));
        }
        // Looked for twice: the borrow of a failed search would keep the command from the error.
        found = match found.find_subcommand_mut(word) {
            Some(verb) => verb,
            None => return Err(Fail::usage(format!("no verb '{word}'"))),
        };
    }
    let help = found.render_long_help();
    let help = if ctx.ui.stdout_is_colored() {
        help.ansi().to_string()
    } else {
        help.to_string()
    };
    ctx.ui.out_bytes(help.as_bytes())?;
    Ok(Code::Done)
}

fn topic_text(name: &str) -> Option<String> {
    if name == EXIT_CODES {
        return Some(exit_codes());
    }
    let mut topics = TOPICS.iter();
    topics
        .find(|(topic, _)| *topic == name)
        .map(|(_, text)| (*text).to_owned())
}

/// The table in the code, for people.
fn exit_codes() -> String {
    let mut text = "EXIT CODES: what the program's end means\n\n".to_owned();
    for code in Code::ALL {
        let _ = writeln!(text, "  {:>3}  {}", code.number(), code.meaning());
    }
    text += "\nOne item: its code. Several that fail alike: that code. Mixed, or some done and some not: 3.\n\
        Errors read \"qops: WHAT: WHY\"; with -o json or ndjson they are records with the code, its kind, a hint, and\n\
        \"effect\": \"none\", or \"unknown\" where it may have happened all the same.\n";
    text
}

fn unknown(words: &[String], within: &clap::Command) -> Fail {
    let word = words.last().map(String::as_str).unwrap_or_default();
    let fail = Fail::usage(format!("no verb or topic '{}'", words.join(" ")));
    let mut known = super::verb_names(within);
    if words.len() == 1 {
        known.extend(TOPICS.iter().map(|(topic, _)| (*topic).to_owned()));
        known.push(EXIT_CODES.to_owned());
    }
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    match suggest::did_you_mean(&suggest::verbs(word, &known)) {
        Some(hint) => fail.hint(hint),
        None => fail.hint("qops help names the verbs, qops help help the topics"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_exit_code_stands_in_its_topic() {
        let text = topic_text(EXIT_CODES).unwrap();
        for code in Code::ALL {
            let line = format!("  {:>3}  {}\n", code.number(), code.meaning());
            assert!(text.contains(&line), "{line}");
        }
    }

    #[test]
    fn topics_fit_a_line_and_no_verb_has_their_name() {
        let verbs = super::super::verb_names(&Cli::command());
        for name in ["exit-codes", "worker", "producers", "schema"] {
            let text = topic_text(name).unwrap();
            assert!(!verbs.iter().any(|verb| verb == name), "{name}");
            assert!(!text.is_empty(), "{name}");
            assert!(crate::ui::text::safe_lines(&text) == text, "{name}");
            assert!(text.ends_with('\n'), "{name}");
        }
        assert!(topic_text("nothing").is_none());
    }
}
