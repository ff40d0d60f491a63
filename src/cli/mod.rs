//! The command line: what is typed becomes a typed request, and what comes back becomes lines and an exit code.

pub mod apply;
mod buried;
pub mod ctx;
pub mod engine;
pub mod exit;
pub mod fail;
pub mod report;
pub mod select;
pub mod stop;
pub mod suggest;
pub mod usage;
pub mod when;
pub mod words;

pub mod ack;
pub mod claim;
pub mod completions;
pub mod doctor;
pub mod drain;
pub mod enqueue;
pub mod extend;
pub mod help;
pub mod init;
pub mod nack;
pub mod pause;
pub mod peek;
pub mod purge;
pub mod queue;
pub mod queues;
pub mod receipts;
pub mod requeue;
pub mod resume;
pub mod show;
pub mod stats;
pub mod work;

use crate::ui::{Color, Format, Loudness, Ui, error::ErrorStyle};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, CommandFactory, Parser, Subcommand};
use ctx::Ctx;
use exit::Code;
use fail::{Fail, Outcome};
use std::ffi::OsString;

/// Operates work queues: put messages in, run a command for each, look inside, replay what failed.
#[derive(Debug, Parser)]
#[command(
    name = "qops",
    version,
    max_term_width = 100,
    arg_required_else_help = true,
    subcommand_required = true,
    disable_help_subcommand = true,
    subcommand_value_name = "VERB",
    subcommand_help_heading = "Verbs",
    after_help = concat!(
        "A first try:\n  \
        qops enqueue emails '{\"to\":\"ana@example.com\"}'\n  \
        qops work emails -- sh -c 'echo \"sending $(cat)\"'\n\n",
        help::topics!()
    )
)]
pub struct Cli {
    /// Options of every verb.
    #[command(flatten)]
    pub globals: Globals,
    /// The verb.
    #[command(subcommand)]
    pub command: Command,
}

/// Options that every verb takes.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Options of every verb")]
pub struct Globals {
    /// The store, as in sqlite:./jobs.db; env:NAME takes its URL from a variable
    #[arg(short, long, global = true, value_name = "URL")]
    pub url: Option<String>,
    /// The store, by its name in the config file
    #[arg(short, long, global = true, value_name = "NAME")]
    pub context: Option<String>,
    /// How records are printed: table, json, ndjson, csv, tsv, id or raw (qops help records)
    #[arg(
        short = 'o',
        global = true,
        value_name = "FORMAT",
        hide_possible_values = true,
        value_parser = PossibleValuesParser::new(Format::ALL.iter().map(|format| format.word()))
            .try_map(|word| format_of(&word)),
    )]
    pub format: Option<Format>,
    /// The same as -o json
    #[arg(long, global = true, conflicts_with = "format")]
    pub json: bool,
    /// Only these fields of a record, in this order
    #[arg(long, global = true, value_name = "A,B", value_delimiter = ',')]
    pub fields: Option<Vec<String>>,
    /// Say nothing but errors
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub quiet: bool,
    /// Say more: which store, and why
    #[arg(short, long, global = true)]
    pub verbose: bool,
    /// When to use colour
    #[arg(
        long,
        global = true,
        value_name = "WHEN",
        value_parser = PossibleValuesParser::new(["auto", "always", "never"]).map(|word| match word.as_str() {
            "always" => Color::Always,
            "never" => Color::Never,
            _ => Color::Auto,
        }),
    )]
    pub color: Option<Color>,
}

fn format_of(word: &str) -> Result<Format, String> {
    let mut all = Format::ALL.iter().copied();
    all.find(|format| format.word() == word)
        .ok_or_else(|| format!("'{word}' is no format"))
}

impl Globals {
    /// The format that was asked for.
    #[must_use]
    pub fn format(&self) -> Option<Format> {
        self.format.or(self.json.then_some(Format::Json))
    }

    fn loudness(&self) -> Loudness {
        match (self.quiet, self.verbose) {
            (true, _) => Loudness::Quiet,
            (_, true) => Loudness::Verbose,
            _ => Loudness::Normal,
        }
    }
}

/// A verb: one file each, with its arguments (their comments are the help) and its `run`.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Put messages in
    #[command(visible_aliases = ["push", "send"])]
    Enqueue(Box<enqueue::Args>),
    /// The queues with their counts
    #[command(visible_alias = "ls")]
    Queues(queues::Args),
    /// Look at messages; nothing changes
    Peek(Box<peek::Args>),
    /// One message in full, every attempt, and what one can do next
    Show(show::Args),
    /// Counts and ages of queues
    Stats(stats::Args),
    // Changing many.
    /// Make selected messages ready again
    #[command(visible_alias = "retry")]
    Requeue(requeue::Args),
    /// Empty the dead letters: replay them, move them, export them, or run a command for each
    #[command(visible_alias = "redrive")]
    Drain(Box<drain::Args>),
    /// Delete selected messages
    Purge(purge::Args),
    // Working.
    /// Run a command for each message
    Work(Box<work::Args>),
    /// Take messages under a lease, for a loop in any language
    Claim(claim::Args),
    /// A claimed message is done
    Ack(ack::Args),
    /// A claimed message failed: again later, or dead
    Nack(nack::Args),
    /// Hold a claimed message longer
    Extend(extend::Args),
    // Settings.
    /// Show or change a queue's settings, or remove an empty queue
    Queue(queue::Args),
    /// Hand out nothing of a queue until resume; what runs is finished
    Pause(pause::Args),
    /// Hand out a paused queue again
    Resume(resume::Args),
    /// Create the schema, or bring it to this program's version
    Init(init::Args),
    /// What is wrong with the store, what it means, and what mends it
    Doctor(doctor::Args),
    /// The script that completes command lines in a shell
    Completions(completions::Args),
    /// Help of a verb, or about a topic
    Help(help::Args),
}

fn dispatch(command: Command, ctx: &Ctx) -> Outcome {
    match command {
        Command::Enqueue(args) => enqueue::run(&args, ctx),
        Command::Queues(args) => queues::run(&args, ctx),
        Command::Peek(args) => peek::run(&args, ctx),
        Command::Show(args) => show::run(&args, ctx),
        Command::Stats(args) => stats::run(&args, ctx),
        Command::Requeue(args) => requeue::run(&args, ctx),
        Command::Drain(args) => drain::run(&args, ctx),
        Command::Purge(args) => purge::run(&args, ctx),
        Command::Work(args) => work::run(&args, ctx),
        Command::Claim(args) => claim::run(&args, ctx),
        Command::Ack(args) => ack::run(&args, ctx),
        Command::Nack(args) => nack::run(&args, ctx),
        Command::Extend(args) => extend::run(&args, ctx),
        Command::Init(args) => init::run(&args, ctx),
        Command::Doctor(args) => doctor::run(&args, ctx),
        Command::Completions(args) => completions::run(&args, ctx),
        Command::Help(args) => help::run(&args, ctx),
        Command::Queue(args) => queue::run(args, ctx),
        Command::Pause(args) => pause::run(&args, ctx),
        Command::Resume(args) => resume::run(&args, ctx),
    }
}

/// The names of a command's verbs, without their short forms.
#[must_use]
pub fn verb_names(command: &clap::Command) -> Vec<String> {
    let verbs = command.get_subcommands();
    verbs.map(|verb| verb.get_name().to_owned()).collect()
}

/// Runs one command line: parses it, runs the verb, says what went wrong, and answers the code.
#[must_use]
pub fn main(args: Vec<OsString>) -> Code {
    let parsed = match Cli::try_parse_from(&args) {
        Ok(parsed) => parsed,
        Err(error) => return not_parsed(&error, &args),
    };
    let Cli { globals, command } = parsed;
    let ui = Ui::of_process(globals.color.unwrap_or_default(), globals.loudness());
    let ctx = Ctx::new(ui, globals, args);
    let outcome = dispatch(command, &ctx);
    // What was printed is not printed before it has left.
    let outcome = outcome.and_then(|code| Ok(ctx.ui.flush().map(|()| code)?));
    match outcome {
        Ok(code) => code,
        Err(fail) => {
            let fail = suggest::explained(fail, &ctx);
            ctx.complain(&fail);
            fail.code()
        }
    }
}

/// Help and versions go to stdout; everything else that clap answers is our error with code 2.
fn not_parsed(error: &clap::Error, args: &[OsString]) -> Code {
    use clap::error::ErrorKind;
    let command = Cli::command();
    let glance = usage::Glance::at(&command, args);
    let ui = Ui::of_process(glance.color, Loudness::Normal);
    let code = match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            let text = error.render();
            let text = if ui.stdout_is_colored() {
                text.ansi().to_string()
            } else {
                text.to_string()
            };
            let printed = ui
                .out_bytes(text.as_bytes())
                .and_then(|()| ui.flush())
                .map_err(Fail::from);
            return match printed {
                Ok(()) => Code::Done,
                Err(fail) => {
                    if let Some(problem) = fail.problem("qops") {
                        ui.error(&problem, ErrorStyle::Text);
                    }
                    fail.code()
                }
            };
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand if args.len() <= 1 => {
            ui.tell(error.render());
            return Code::Usage;
        }
        _ => Code::Usage,
    };
    let style = if glance.json {
        ErrorStyle::Json
    } else {
        ErrorStyle::Text
    };
    ui.error(&usage::problem(error, &command, &glance), style);
    code
}

#[cfg(test)]
mod tests;
