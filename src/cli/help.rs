//! `help`: of a verb, or about a topic.

use super::ctx::Ctx;
use super::exit::Code;
use super::fail::{Fail, Outcome};
use super::{Cli, suggest};
use crate::backend::Error;
use clap::CommandFactory;
use std::fmt::Write as _;

/// The list of the topics, for whoever asks for help of anything.
macro_rules! topics {
    () => {
        "Topics:\n  \
        qops help exit-codes  what each exit code means\n  \
        qops help records     what is printed, field by field\n  \
        qops help worker      what a command may count on, and what it owes\n  \
        qops help producers   how an application enqueues in its own transaction\n  \
        qops help schema      the tables and views, for reading and writing with SQL"
    };
}
pub(super) use topics;

/// `help`
#[derive(clap::Args, Debug)]
#[command(after_help = concat!(
    topics!(),
    "\n\nExamples:\n  qops help work\n  qops help queue set\n  qops help worker"
))]
pub struct Args {
    /// A verb or a topic
    #[arg(value_name = "VERB|TOPIC")]
    pub about: Vec<String>,
}

/// Topics that are texts; the exit codes are written from their table.
const TOPICS: &[(&str, &str)] = &[
    ("topics", concat!(topics!(), "\n")),
    ("records", include_str!("topics/records.md")),
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
    let command = Cli::command();
    let mut found = &command;
    for (n, word) in args.about.iter().enumerate() {
        found = found
            .find_subcommand(word)
            .ok_or_else(|| unknown(&args.about[..=n], found))?;
    }
    // The very text of the flag: one help, however it is asked for.
    let words = args.about.iter().map(String::as_str);
    let line = std::iter::once("qops").chain(words).chain(["--help"]);
    let Err(help) = command.clone().try_get_matches_from(line) else {
        return Err(Error::bug("--help was not taken for a question").into());
    };
    let help = help.render();
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
        let mut lines = wrapped(code.meaning(), 73).into_iter();
        let first = lines.next().unwrap_or_default();
        let _ = writeln!(text, "  {:>3}  {first}", code.number());
        for line in lines {
            let _ = writeln!(text, "       {line}");
        }
    }
    text += "\nOne item: its code. Several that fail alike: that code. Mixed, or some done and\n\
        some not: 3. Errors read \"qops: WHAT: WHY\"; with -o json or ndjson they are\n\
        records with the code, its kind, a hint, and \"effect\": \"none\", or \"unknown\"\n\
        where it may have happened all the same.\n";
    text
}

/// Lines of at most so many characters, broken at spaces.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        if let Some(line) = lines.last_mut() {
            if line.is_empty() {
                line.push_str(word);
            } else if line.chars().count() + 1 + word.chars().count() <= width {
                line.push(' ');
                line.push_str(word);
            } else {
                lines.push(word.to_owned());
            }
        }
    }
    lines
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
        None => fail.hint("qops help names the verbs and the topics"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_exit_code_stands_in_its_topic() {
        let text = topic_text(EXIT_CODES).unwrap();
        let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        for code in Code::ALL {
            let line = format!("{} {}", code.number(), code.meaning());
            assert!(words(&text).contains(&words(&line)), "{line}");
        }
    }

    #[test]
    fn topics_fit_a_line_and_no_verb_has_their_name() {
        let verbs = super::super::verb_names(&Cli::command());
        let names = TOPICS.iter().map(|(name, _)| *name).chain([EXIT_CODES]);
        for name in names {
            let text = topic_text(name).unwrap();
            assert!(!verbs.iter().any(|verb| verb == name), "{name}");
            assert!(!text.is_empty(), "{name}");
            assert!(crate::ui::text::safe_lines(&text) == text, "{name}");
            assert!(text.ends_with('\n'), "{name}");
            let wide = text.lines().find(|line| line.chars().count() > 80);
            assert_eq!(wide, None, "{name}");
            let listed = topics!().contains(&format!("qops help {name} "));
            assert!(listed || name == "topics", "{name}");
        }
        assert!(topic_text("nothing").is_none());
    }
}
