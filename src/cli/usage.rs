//! What clap says about a command line, said in our form: `qops: WHAT`, a hint, exit code 2.

use super::{Globals, suggest, words};
use crate::ui::{Color, Format, Problem, Shown};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use std::ffi::{OsStr, OsString};
use std::num::{IntErrorKind, ParseIntError};
use std::path::Path;

/// What can be known of a command line that cannot be parsed.
#[derive(Debug, Default)]
pub struct Glance {
    /// `-o json`, `-o ndjson` or `--json`: errors are records.
    pub json: bool,
    /// `--color`.
    pub color: Color,
    /// `--url` and `--context`, for the commands in hints.
    store: Globals,
    /// The verb, and the words after it up to `--`, each with its place in `typed`.
    verb: Option<String>,
    words: Vec<(usize, OsString)>,
    /// All of it, without the program's name.
    typed: Vec<OsString>,
    /// There is a `--`.
    dashes: bool,
}

/// Options of ours that take a value, by which the words of a command line are told from values.
fn takes_value(command: &clap::Command, verb: Option<&str>, word: &str) -> bool {
    let of = |command: &clap::Command| {
        command.get_arguments().any(|arg| {
            let long = word
                .strip_prefix("--")
                .is_some_and(|name| arg.get_long() == Some(name));
            let short = word
                .strip_prefix('-')
                .and_then(|rest| {
                    let mut chars = rest.chars();
                    chars.next().filter(|_| chars.next().is_none())
                })
                .is_some_and(|name| arg.get_short() == Some(name));
            (long || short) && arg.get_action().takes_values()
        })
    };
    of(command)
        || verb
            .and_then(|verb| command.find_subcommand(verb))
            .is_some_and(of)
}

impl Glance {
    /// Looks over the words after the program's name.
    #[must_use]
    pub fn at(command: &clap::Command, args: &[OsString]) -> Self {
        let mut glance = Self {
            typed: args.iter().skip(1).cloned().collect(),
            ..Self::default()
        };
        let mut words = args.iter().skip(1).enumerate();
        while let Some((at, word)) = words.next() {
            let text = word.to_str().unwrap_or_default();
            match text {
                "--" => {
                    glance.dashes = true;
                    break;
                }
                "--json" => glance.json = true,
                _ if text.starts_with('-') && text.len() > 1 => {
                    let (name, mut value) = match text.split_once('=') {
                        Some((name, value)) => (name, Some(value.to_owned())),
                        None => (text, None),
                    };
                    if value.is_none() && takes_value(command, glance.verb.as_deref(), name) {
                        let next = words.next();
                        value = next.map(|(_, next)| next.to_string_lossy().into_owned());
                    }
                    let attached =
                        |flag| text.strip_prefix(flag).filter(|_| !text.starts_with("--"));
                    let of = |flag| {
                        let joined = attached(flag)
                            .filter(|rest| !matches!(rest.chars().next(), None | Some('=')));
                        joined.or(value.as_deref()).map(str::to_owned)
                    };
                    match name {
                        "--url" => glance.store.url.clone_from(&value),
                        "--context" => glance.store.context.clone_from(&value),
                        _ if name.starts_with("-u") => glance.store.url = of("-u"),
                        _ if name.starts_with("-c") => glance.store.context = of("-c"),
                        _ => {}
                    }
                    match (name, value.as_deref().or(attached("-o"))) {
                        ("--color", Some("always")) => glance.color = Color::Always,
                        ("--color", Some("never")) => glance.color = Color::Never,
                        (name, Some(format)) if name.starts_with("-o") => {
                            glance.json = [Format::Json, Format::Ndjson]
                                .iter()
                                .any(|json| json.word() == format);
                        }
                        _ => {}
                    }
                }
                _ if glance.verb.is_none() => glance.verb = Some(text.to_owned()),
                _ => glance.words.push((at, word.clone())),
            }
        }
        glance
    }

    /// The verb, and the verb under it: `queue set`.
    fn path(&self, command: &clap::Command) -> String {
        let verb = self.verb(command).unwrap_or_default();
        let under = self.words.first().and_then(|(_, word)| {
            let parent = command.find_subcommand(verb)?;
            parent.find_subcommand(word).map(clap::Command::get_name)
        });
        match under {
            Some(under) => format!("{verb} {under}"),
            None => verb.to_owned(),
        }
    }

    /// The verb's own name.
    fn verb<'a>(&self, command: &'a clap::Command) -> Option<&'a str> {
        let typed = self.verb.as_deref()?;
        command.find_subcommand(typed).map(clap::Command::get_name)
    }
}

fn texts(value: Option<&ContextValue>) -> Vec<String> {
    match value {
        Some(ContextValue::String(text)) => vec![text.clone()],
        Some(ContextValue::Strings(texts)) => texts.clone(),
        Some(ContextValue::StyledStr(text)) => vec![text.to_string()],
        Some(ContextValue::StyledStrs(texts)) => texts.iter().map(ToString::to_string).collect(),
        _ => vec![],
    }
}

/// What clap found wrong, said our way.
#[must_use]
pub fn problem(error: &clap::Error, command: &clap::Command, glance: &Glance) -> Problem {
    let negative = negative_value(error, command, glance);
    let error = negative.as_ref().unwrap_or(error);
    let finding = Finding {
        error,
        command,
        glance,
        verb: glance.verb(command),
    };
    let mut hints: Vec<String> = vec![];
    match (finding.verb, glance.dashes || negative.is_some()) {
        (Some("drain"), false) => {
            hints.extend(ids(glance).or_else(|| dashes("drain", glance)));
        }
        (Some("work"), false) => hints.extend(dashes("work", glance)),
        _ => {}
    }
    hints.extend(finding.hints());
    if hints.is_empty() {
        hints.push(match finding.verb {
            Some(_) => format!("qops {} --help", glance.path(command)),
            None => "qops --help".to_owned(),
        });
    }
    Problem {
        code: super::exit::Code::Usage.number(),
        kind: "usage".to_owned(),
        // One line, whatever was typed.
        message: Shown::new(finding.message()).into_string(),
        hints,
        effect: None,
    }
}

struct Finding<'a> {
    error: &'a clap::Error,
    command: &'a clap::Command,
    glance: &'a Glance,
    verb: Option<&'a str>,
}

impl Finding<'_> {
    fn of(&self, kind: ContextKind) -> Vec<String> {
        texts(self.error.get(kind))
    }

    fn first(&self, kind: ContextKind) -> String {
        self.of(kind).into_iter().next().unwrap_or_default()
    }

    fn message(&self) -> String {
        let arg = self.first(ContextKind::InvalidArg);
        let value = self.first(ContextKind::InvalidValue);
        match (self.error.kind(), self.verb) {
            (ErrorKind::InvalidSubcommand, verb) => {
                let typed = self.first(ContextKind::InvalidSubcommand);
                match verb {
                    Some(verb) => format!("{verb} has no verb '{typed}'"),
                    None => format!("no verb '{typed}'"),
                }
            }
            (ErrorKind::UnknownArgument, Some(verb)) if arg.starts_with('-') => {
                format!("{verb} has no option '{arg}'")
            }
            (ErrorKind::UnknownArgument, Some(verb)) => format!("{verb} takes no '{arg}'"),
            (ErrorKind::UnknownArgument, None) => format!("no option '{arg}'"),
            (ErrorKind::InvalidValue, _) if value.is_empty() => format!("{arg} needs a value"),
            (ErrorKind::InvalidValue, _) => format!("{arg}: '{value}' is none of its values"),
            (ErrorKind::ValueValidation, _) => {
                let source = std::error::Error::source(self.error);
                let number = source.and_then(|why| why.downcast_ref::<ParseIntError>());
                match source.map(|why| number.map_or_else(|| why.to_string(), no_number)) {
                    Some(why) if why.contains(&format!("'{value}'")) => format!("{arg}: {why}"),
                    Some(why) => format!("{arg}: '{value}': {why}"),
                    None => format!("{arg}: '{value}' cannot be taken"),
                }
            }
            (ErrorKind::MissingRequiredArgument, verb) => {
                let missing = self.of(ContextKind::InvalidArg).join(" and ");
                match verb {
                    Some(verb) => format!("{verb} needs {missing}"),
                    None => format!("{missing} is missing"),
                }
            }
            (
                ErrorKind::MissingSubcommand | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand,
                verb,
            ) => {
                let parent = verb.and_then(|verb| self.command.find_subcommand(verb));
                let verbs = super::verb_names(parent.unwrap_or(self.command)).join(", ");
                format!("{} needs one of {verbs}", verb.unwrap_or("qops"))
            }
            (ErrorKind::ArgumentConflict, _) => {
                let prior = self.of(ContextKind::PriorArg);
                if prior.is_empty() || prior.contains(&arg) {
                    format!("{arg} is given twice")
                } else {
                    format!("{arg} and {} cannot both be meant", prior.join(", "))
                }
            }
            (ErrorKind::TooManyValues, _) => format!("{arg} takes no '{value}'"),
            (ErrorKind::InvalidUtf8, _) => "an option's value is not UTF-8".to_owned(),
            _ => {
                // Every other kind says itself in its first line.
                let text = self.error.to_string();
                let line = text.lines().next().unwrap_or_default();
                line.strip_prefix("error: ").unwrap_or(line).to_owned()
            }
        }
    }

    fn hints(&self) -> Vec<String> {
        match self.error.kind() {
            ErrorKind::InvalidSubcommand => {
                let typed = self.first(ContextKind::InvalidSubcommand);
                let parent = self
                    .verb
                    .and_then(|verb| self.command.find_subcommand(verb));
                let known = super::verb_names(parent.unwrap_or(self.command));
                let known: Vec<&str> = known.iter().map(String::as_str).collect();
                let meant = suggest::verbs(&typed, &known);
                suggest::did_you_mean(&meant).into_iter().collect()
            }
            ErrorKind::UnknownArgument => {
                let arg = self.first(ContextKind::InvalidArg);
                let near = self.of(ContextKind::SuggestedArg);
                let mut negatives = before_negatives(self.glance);
                if let Some((option, value)) =
                    negatives.find(|(option, _)| takes_value(self.command, self.verb, option))
                {
                    return vec![format!(
                        "a value that begins with '-' is joined to its option: {option}={value}"
                    )];
                }
                if self.verb == Some("enqueue") && near.is_empty() && arg.starts_with('-') {
                    let queue = self.glance.words.first();
                    let queue = queue.map_or("QUEUE".to_owned(), |(_, queue)| quoted(queue));
                    return vec![format!(
                        "a payload that begins with '-' goes after --: {} enqueue {queue} -- {}",
                        words::program(&self.glance.store),
                        quoted(OsStr::new(&arg)),
                    )];
                }
                suggest::did_you_mean(&near).into_iter().collect()
            }
            ErrorKind::InvalidValue => {
                let near = self.of(ContextKind::SuggestedValue);
                let valid = self.of(ContextKind::ValidValue);
                suggest::did_you_mean(&near)
                    .or_else(|| {
                        (!valid.is_empty()).then(|| format!("it is one of {}", valid.join(", ")))
                    })
                    .into_iter()
                    .collect()
            }
            _ => vec![],
        }
    }
}

/// `--delay -1s`: clap takes the value for options of their own, and advice on those would lead astray. Read again with the
/// value left to its option, the error is the one that the value has.
fn negative_value(
    error: &clap::Error,
    command: &clap::Command,
    glance: &Glance,
) -> Option<clap::Error> {
    if error.kind() != ErrorKind::UnknownArgument {
        return None;
    }
    let options: Vec<&str> = before_negatives(glance).map(|(option, _)| option).collect();
    if options.is_empty() {
        return None;
    }
    let words = std::iter::once(OsStr::new("qops")).chain(glance.typed.iter().map(AsRef::as_ref));
    let again = taking_hyphens(command.clone(), &options).try_get_matches_from(words);
    again.err().filter(|error| {
        matches!(
            error.kind(),
            ErrorKind::ValueValidation | ErrorKind::InvalidValue
        )
    })
}

/// Options that have a word like `-1s` behind them, each with that word.
fn before_negatives(glance: &Glance) -> impl Iterator<Item = (&str, &str)> {
    let before_dashes = glance.typed.iter().position(|word| word == "--");
    let typed = &glance.typed[..before_dashes.unwrap_or(glance.typed.len())];
    let pairs = typed.windows(2).filter_map(|pair| {
        let negative = pair[1].to_str()?;
        let digits = negative.strip_prefix('-')?;
        digits
            .starts_with(|first: char| first.is_ascii_digit())
            .then_some((pair[0].to_str()?, negative))
    });
    pairs.filter(|(option, _)| option.starts_with('-'))
}

/// The command line with these options, of whatever verb, taking any word for a value.
fn taking_hyphens(command: clap::Command, options: &[&str]) -> clap::Command {
    let names = |arg: &clap::Arg| {
        arg.get_action().takes_values()
            && options
                .iter()
                .any(|option| match option.strip_prefix("--") {
                    Some(long) => arg.get_long() == Some(long),
                    None => arg
                        .get_short()
                        .is_some_and(|short| option[1..] == *short.encode_utf8(&mut [0; 4])),
                })
    };
    let taking = command.mut_args(|arg| {
        if names(&arg) {
            arg.allow_hyphen_values(true)
        } else {
            arg
        }
    });
    taking.mut_subcommands(|verb| taking_hyphens(verb, options))
}

/// Why a word is no number, in our words.
fn no_number(error: &ParseIntError) -> String {
    match error.kind() {
        IntErrorKind::PosOverflow => "it is too large".to_owned(),
        _ => "it is no number from 0 on".to_owned(),
    }
}

/// What drain is told of letters by their ids as words: it takes them as flags, since a word may be a command's. None where
/// no word is an id.
fn ids(glance: &Glance) -> Option<String> {
    let (queue, later) = glance.words.split_first()?;
    let id = |word: &OsString| {
        let text = word.to_str().unwrap_or_default();
        (text == "-" || text.starts_with(|first: char| first.is_ascii_digit()))
            .then(|| text.to_owned())
    };
    let ids: Vec<String> = later
        .iter()
        .map(|(_, word)| id(word))
        .collect::<Option<_>>()?;
    let program = words::program(&glance.store);
    let queue = quoted(&queue.1);
    if ids.iter().any(|id| id == "-") {
        return Some(format!(
            "{program} requeue {queue} - reads ids from standard input; drain takes them with --id, and a command after --"
        ));
    }
    let named: Vec<String> = ids
        .iter()
        .map(|id| format!("--id {}", words::shell_word(id)))
        .collect();
    (!named.is_empty()).then(|| {
        format!(
            "letters are named with --id: {program} drain {queue} {}; a command goes after --",
            named.join(" ")
        )
    })
}

/// The command line with the `--` that is missing before a command: `qops work a b -- sh -c x`. Following clap's own
/// advice would make the command a queue. None if it cannot be told where the command begins.
fn dashes(verb: &str, glance: &Glance) -> Option<String> {
    let (_, later) = glance.words.split_first()?;
    let program = later.iter().find(|(_, word)| is_program(word));
    match program {
        Some((at, _)) => {
            let mut words = words::typed(&glance.typed, &glance.store);
            words.insert(*at, "--".to_owned());
            let line = words.join(" ");
            Some(format!("put -- before the command: qops {line}"))
        }
        None if later.is_empty() => None,
        None => {
            let program = words::program(&glance.store);
            Some(format!(
                "put -- before the command: {program} {verb} QUEUE -- COMMAND"
            ))
        }
    }
}

/// Whether a word stands on the command line, before any `--` and not as an option's value.
#[must_use]
pub fn has_word(args: &[OsString], word: &str) -> bool {
    use clap::CommandFactory;
    let glance = Glance::at(&super::Cli::command(), args);
    glance.words.iter().any(|(_, typed)| typed == word)
}

/// What to say where a verb that runs a command was given none.
#[must_use]
pub fn no_command(verb: &str, args: &[OsString]) -> String {
    use clap::CommandFactory;
    let glance = Glance::at(&super::Cli::command(), args);
    let queue = glance.words.first();
    let queue = queue.map_or("QUEUE".to_owned(), |(_, queue)| quoted(queue));
    let unsplit = Some(&glance).filter(|glance| !glance.dashes);
    unsplit
        .and_then(|glance| dashes(verb, glance))
        .unwrap_or_else(|| {
            let program = words::program(&glance.store);
            format!("put it after --: {program} {verb} {queue} -- COMMAND")
        })
}

/// Whether a word names a program that is there.
fn is_program(word: &OsStr) -> bool {
    let fit = |path: &Path| {
        path.is_file() && rustix::fs::access(path, rustix::fs::Access::EXEC_OK).is_ok()
    };
    if word.as_encoded_bytes().contains(&b'/') {
        return fit(Path::new(word));
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| fit(&folder.join(word)))
}

/// A word as it can be typed into a shell.
fn quoted(word: &OsStr) -> String {
    words::shell_word(&word.to_string_lossy())
}

#[cfg(test)]
mod tests;
