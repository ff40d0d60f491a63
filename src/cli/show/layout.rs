//! How a message looks to a person: what it is and why it stands there on the first line, then its payload, its runs, and
//! the commands that come next.

use crate::cli::words::{command, shell_word};
use crate::queue::hint::line_with;
use crate::queue::payload::{Kind, kind};
use crate::queue::time::age_text;
use crate::queue::{Attempt, Group, Message, Outcome, Reason, State, Timestamp, said};
use crate::ui::text::{counted, size};
use crate::ui::{Piece, Shown, Tone};
use std::time::Duration;

/// Lines for people.
pub(super) type Lines = Vec<Vec<Piece>>;

/// So much of a payload is shown where the width is unlimited.
const PAYLOAD_WIDTH: usize = 2000;
/// So many lines of what a command last said.
const STDERR_LINES: usize = 20;
/// The column after the labels.
const LABEL: usize = 11;

/// What the layout depends on beside the message.
pub(super) struct View<'a> {
    /// The store's now.
    pub now: Timestamp,
    /// The width of the lines, if it is limited.
    pub width: Option<usize>,
    /// `qops`, with the flags that name this store.
    pub program: &'a str,
    /// All that a command said, of every run.
    pub verbose: bool,
}

fn plain(text: impl std::fmt::Display) -> Piece {
    (Tone::Plain, Shown::new(text))
}

fn toned(tone: Tone, text: impl std::fmt::Display) -> Piece {
    (tone, Shown::new(text))
}

fn labelled(label: &str, pieces: impl IntoIterator<Item = Piece>) -> Vec<Piece> {
    let gap = LABEL.saturating_sub(label.len()).max(2);
    let label = toned(Tone::Dim, format!("{label}{}", " ".repeat(gap)));
    std::iter::once(label).chain(pieces).collect()
}

/// The whole message.
pub(super) fn lines(message: &Message, view: &View<'_>) -> Lines {
    let mut lines = vec![first_line(message, view)];
    lines.push(payload(message, view));
    for (name, value) in &message.headers {
        lines.push(labelled("header", [plain(format!("{name}: {value}"))]));
    }
    lines.push(labelled("times", [plain(times(message, view.now))]));
    if let Some(facts) = facts(message) {
        lines.push(labelled("counts", [plain(facts)]));
    }
    runs(message, view, &mut lines);
    if let Some(error) = &message.last_error
        && message.history.last().and_then(|run| run.error.as_ref()) != Some(error)
    {
        lines.push(labelled("error", [plain(error)]));
    }
    lines.push(labelled("next", [plain(next(message, view))]));
    lines
}

fn first_line(message: &Message, view: &View<'_>) -> Vec<Piece> {
    let mut line = vec![
        toned(Tone::Bold, &message.id),
        plain("  "),
        plain(&message.queue),
        plain("  "),
    ];
    let (tone, standing) = standing(message, view.now);
    line.push(toned(tone, standing));
    for (name, value) in [
        ("key", message.key.as_deref()),
        ("group", message.group.as_ref().map(Group::as_str)),
    ] {
        if let Some(value) = value {
            line.push(toned(Tone::Dim, format!("   {name} ")));
            line.push(plain(value));
        }
    }
    if message.priority != 0 {
        line.push(toned(Tone::Dim, "   priority "));
        line.push(plain(message.priority));
    }
    line
}

/// The state, and why it is that one.
fn standing(message: &Message, now: Timestamp) -> (Tone, String) {
    let ago = |then: Timestamp| format!("{} ago", age_text(now.since(then)));
    match message.state {
        State::Dead => {
            let why = message.reason.map(|reason| why_dead(reason, message));
            let when = message.died_at.map(ago).unwrap_or_default();
            let text = format!("DEAD ({}) {when}", why.unwrap_or_default());
            (Tone::Bad, text.trim_end().to_owned())
        }
        State::Ready => {
            let since = message.ready_at.map_or(Duration::ZERO, |at| now.since(at));
            (Tone::Good, format!("READY for {}", age_text(since)))
        }
        State::Delayed => {
            let left = message.ready_at.map_or(Duration::ZERO, |at| at.since(now));
            let why = if message.last_error.is_some() {
                "waits for its next try"
            } else {
                "delayed"
            };
            let text = format!("DELAYED ({why}), due in {}", left_text(left));
            (Tone::Plain, text)
        }
        State::Blocked => {
            let text = "BLOCKED (another message of its group goes first)";
            (Tone::Plain, text.to_owned())
        }
        State::Running => {
            let worker = message.worker.as_deref().unwrap_or("a worker");
            match message.lease_until {
                Some(until) if until <= now => {
                    let text = format!(
                        "RUNNING (its lease by {worker} ended {}; it comes back with the next claim)",
                        ago(until)
                    );
                    (Tone::Warn, text)
                }
                Some(until) => {
                    let left = left_text(until.since(now));
                    let text = format!("RUNNING (by {worker}, leased for {left} more)");
                    (Tone::Good, text)
                }
                None => (Tone::Good, format!("RUNNING (by {worker})")),
            }
        }
    }
}

/// What is left is never shown as nothing while there is something.
pub(in crate::cli) fn left_text(left: Duration) -> String {
    age_text(left.saturating_add(Duration::from_millis(999)))
}

/// Whether it is a run by `drain -- CMD`: the letter was dead before it.
fn of_drain(run: &Attempt, message: &Message) -> bool {
    message.died_at.is_some_and(|died| run.started_at > died)
}

fn why_dead(reason: Reason, message: &Message) -> String {
    let last = message.history.iter().rfind(|run| !of_drain(run, message));
    match reason {
        Reason::Attempts => {
            format!(
                "after {}",
                counted(message.attempts.into(), "attempt", "attempts")
            )
        }
        Reason::Permanent | Reason::Temporary => match last.and_then(|run| run.exit) {
            Some(exit) => format!("exit {exit}: {reason}"),
            None => reason.to_string(),
        },
        Reason::WorkerLost => "its worker was lost on its last attempt".to_owned(),
        Reason::Expired => "expired: its time to live passed before it was started".to_owned(),
        Reason::Nacked => "nacked as dead".to_owned(),
        Reason::UnusableArgument => "its payload cannot be an argument of the command".to_owned(),
    }
}

fn payload(message: &Message, view: &View<'_>) -> Vec<Piece> {
    let bytes = &message.payload;
    let what = match kind(bytes) {
        _ if bytes.is_empty() => "empty",
        Kind::Json => "JSON",
        Kind::Text => "text",
        Kind::Binary => "binary",
    };
    let head = format!("{} {what}", size(bytes.len() as u64));
    let room = match view.width {
        Some(width) => width.saturating_sub(LABEL + head.len() + 2),
        None => PAYLOAD_WIDTH,
    };
    let text = Shown::preview(bytes, room.max(20));
    labelled("payload", [plain(head), plain("  "), (Tone::Plain, text)])
}

fn times(message: &Message, now: Timestamp) -> String {
    let ago = |then: Timestamp| format!("{} ago", age_text(now.since(then)));
    let mut facts = vec![format!(
        "enqueued {} ({})",
        instant(message.enqueued_at, now),
        ago(message.enqueued_at)
    )];
    if let (State::Delayed, Some(at)) = (message.state, message.ready_at) {
        facts.push(format!("due {}", instant(at, now)));
    }
    match message.expires_at {
        Some(at) if at <= now => facts.push(format!("expired {}", ago(at))),
        Some(at) => facts.push(format!("expires in {}", left_text(at.since(now)))),
        None => {}
    }
    facts.join(" · ")
}

/// Counts that are not nothing.
fn facts(message: &Message) -> Option<String> {
    let mut facts = vec![];
    if message.attempts > 0 || message.max_attempts.is_some() {
        let of = message.max_attempts.map(|max| format!(" of {max}"));
        let attempts = counted(message.attempts.into(), "attempt", "attempts");
        facts.push(format!("{attempts}{}", of.unwrap_or_default()));
    }
    for (number, one, many) in [
        (
            message.deferrals,
            "temporary end in a row",
            "temporary ends in a row",
        ),
        (message.replays, "replay", "replays"),
    ] {
        if number > 0 {
            facts.push(counted(number.into(), one, many));
        }
    }
    (!facts.is_empty()).then(|| facts.join(" · "))
}

/// A time of day with milliseconds; with its date unless that is today's.
fn instant(at: Timestamp, now: Timestamp) -> String {
    let (at, now) = (at.to_string(), now.to_string());
    let Some((date, time)) = at.split_once('T') else {
        return at;
    };
    let time = time.trim_end_matches('Z');
    let time = time.get(..12).unwrap_or(time);
    if now.starts_with(date) {
        format!("{time}Z")
    } else {
        format!("{date} {time}Z")
    }
}

fn runs(message: &Message, view: &View<'_>, lines: &mut Lines) {
    let rows: Vec<[String; 5]> = message
        .history
        .iter()
        .map(|run| {
            [
                if of_drain(run, message) {
                    "drain".to_owned()
                } else {
                    format!("attempt {}", run.attempt)
                },
                instant(run.started_at, view.now),
                format!("worker {}", run.worker),
                run.took.map_or("…".to_owned(), seconds),
                ending(run),
            ]
        })
        .map(|row| row.map(|cell| Shown::new(cell).into_string()))
        .collect();
    let mut widths = [0; 5];
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(unicode_width::UnicodeWidthStr::width(cell.as_str()));
        }
    }
    for (n, (row, run)) in rows.iter().zip(&message.history).enumerate() {
        let mut text = String::new();
        for (cell, width) in row.iter().zip(widths) {
            let gap = width - unicode_width::UnicodeWidthStr::width(cell.as_str());
            text += cell;
            text += &" ".repeat(gap + 2);
        }
        let tone = match run.outcome {
            Outcome::Failed | Outcome::Timeout | Outcome::Permanent => Tone::Plain,
            Outcome::Lost => Tone::Warn,
            Outcome::Started | Outcome::Temporary | Outcome::Released => Tone::Dim,
        };
        let error = run.error.as_deref().unwrap_or_default();
        lines.push(vec![toned(tone, text), plain(error)]);
        let last = n + 1 == message.history.len();
        if last || view.verbose {
            said(run, view.verbose, lines);
        }
    }
}

/// What the command last said on stderr, where it is more than the line that stands beside the run already.
fn said(run: &Attempt, all: bool, lines: &mut Lines) {
    let text = String::from_utf8_lossy(&run.stderr);
    let text = text.trim_end_matches(['\n', '\r']);
    if text.is_empty() || run.error.as_deref() == Some(text.trim()) {
        return;
    }
    let said: Vec<&str> = text.lines().collect();
    let left_out = if all {
        0
    } else {
        said.len().saturating_sub(STDERR_LINES)
    };
    if left_out > 0 {
        let before = counted(left_out as u64, "line", "lines");
        let text = format!("  | … {before} before; all with -v or -o json");
        lines.push(vec![toned(Tone::Dim, text)]);
    }
    for line in &said[left_out..] {
        lines.push(vec![toned(Tone::Dim, "  | "), plain(line)]);
    }
}

fn seconds(took: Duration) -> String {
    if took < Duration::from_mins(1) {
        format!("{:.1}s", took.as_secs_f64())
    } else {
        age_text(took)
    }
}

fn ending(run: &Attempt) -> String {
    match (run.outcome, run.exit, run.signal) {
        (Outcome::Started, ..) => "its end is not known".to_owned(),
        (Outcome::Lost, ..) => "lost with its worker".to_owned(),
        (Outcome::Released, ..) => "released, not charged".to_owned(),
        (Outcome::Timeout, ..) => "timeout".to_owned(),
        (Outcome::Temporary, Some(exit), _) => format!("exit {exit}, not charged"),
        (_, Some(exit), _) => format!("exit {exit}"),
        (_, None, Some(signal)) => said::signal(signal),
        (outcome, None, None) => outcome.to_string(),
    }
}

/// The commands that come next, ready to be copied.
fn next(message: &Message, view: &View<'_>) -> String {
    let with = |verb: &str| {
        let words = [message.queue.as_str(), message.id.as_str()];
        command(view.program, verb, &words)
    };
    match message.state {
        State::Dead => format!("{} · {}", with("requeue"), with("purge")),
        State::Delayed => format!("{} (makes it due now) · {}", with("requeue"), with("purge")),
        State::Ready => with("purge"),
        State::Blocked => {
            let group = message.group.as_ref().map(Group::as_str);
            let group = format!("--group {}", shell_word(group.unwrap_or_default()));
            let peek = line_with("peek", &[message.queue.as_str()], &group);
            format!("{} {peek} · {}", view.program, with("purge"))
        }
        State::Running => {
            let show = command(view.program, "show", &[message.id.as_str()]);
            format!("{show} (again, to see how it ends)")
        }
    }
}

#[cfg(test)]
mod tests;
