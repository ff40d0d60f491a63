//! Which messages a verb means: the flags, and what they select.

use super::fail::Fail;
use super::when::When;
use super::words::something;
use crate::backend::Kind;
use crate::queue::said::{json, system};
use crate::queue::time::parse_duration;
use crate::queue::{Group, MessageId, QueueName, Selection, State, Timestamp};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use serde::Deserialize;
use std::borrow::Cow;
use std::collections::HashSet;
use std::io::BufRead;
use std::time::Duration;

/// Flags that select messages. All of them must hold; of several values of one flag, any.
#[derive(clap::Args, Clone, Debug, Default)]
#[command(next_help_heading = "Which messages")]
pub struct Flags {
    /// These messages; - reads ids or records from standard input, one a line
    #[arg(value_name = "ID", help_heading = clap::builder::Resettable::Reset)]
    pub ids: Vec<String>,
    /// In these states: ready, delayed, blocked, running, dead
    #[arg(
        long,
        value_name = "STATE,…",
        value_delimiter = ',',
        hide_possible_values = true,
        value_parser = PossibleValuesParser::new(State::ALL.iter().map(|state| state.word()))
            .try_map(|word| State::from_word(&word).ok_or("no state")),
    )]
    pub state: Vec<State>,
    /// Dead letters: the same as --state dead
    #[arg(long, conflicts_with = "state")]
    pub dead: bool,
    /// What narrows it further.
    #[command(flatten)]
    pub filter: Filter,
}

/// Flags that select messages of a state that is known.
#[derive(clap::Args, Clone, Debug, Default)]
#[command(next_help_heading = "Which messages")]
pub struct Filter {
    /// This message; may be given again
    #[arg(long = "id", value_name = "ID")]
    pub named: Vec<String>,
    /// With this key
    #[arg(long, allow_hyphen_values = true, value_parser = something)]
    pub key: Option<String>,
    /// In this group
    #[arg(long, allow_hyphen_values = true, value_parser = something)]
    pub group: Option<String>,
    /// That died (dead letters alone) or were enqueued longer ago than this
    #[arg(long, value_name = "DURATION", value_parser = parse_duration)]
    pub older_than: Option<Duration>,
    /// That died or were enqueued within this
    #[arg(long, value_name = "DURATION", value_parser = parse_duration)]
    pub newer_than: Option<Duration>,
    /// That died or were enqueued at this time or after it
    #[arg(long, value_name = "TIME")]
    pub since: Option<When>,
    /// That died or were enqueued at this time or before it
    #[arg(long, value_name = "TIME")]
    pub until: Option<When>,
    /// With this text in the last error
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, value_parser = something)]
    pub error: Option<String>,
    /// With this text in the payload
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, value_parser = something)]
    pub grep: Option<String>,
    /// At most so many, counted after the other flags; 0 is all
    #[arg(short = 'n', long, value_name = "N")]
    pub limit: Option<u64>,
    /// From the other end
    #[arg(long)]
    pub reverse: bool,
}

impl Filter {
    /// Whether any flag narrows what is meant. A limit and an order do not.
    #[must_use]
    pub fn is_given(&self) -> bool {
        let Self {
            named,
            key,
            group,
            older_than,
            newer_than,
            since,
            until,
            error,
            grep,
            limit: _,
            reverse: _,
        } = self;
        !named.is_empty()
            || key.is_some()
            || group.is_some()
            || older_than.is_some()
            || newer_than.is_some()
            || since.is_some()
            || until.is_some()
            || error.is_some()
            || grep.is_some()
    }

    /// The limit, 0 being none.
    #[must_use]
    pub fn limit(&self) -> Option<u64> {
        self.limit.filter(|limit| *limit > 0)
    }

    /// Which zone was taken for a time without one; to be said.
    pub fn assumed(&self) -> impl Iterator<Item = &str> {
        let times = [&self.since, &self.until].into_iter().flatten();
        times.filter_map(|when| when.assumed.as_deref())
    }
}

impl Flags {
    /// Whether any flag narrows what is meant. A limit and an order do not.
    #[must_use]
    pub fn is_given(&self) -> bool {
        !(self.ids.is_empty() && self.state.is_empty()) || self.dead || self.filter.is_given()
    }

    /// The ids that are named, those on standard input too; none: no id is asked for. An empty list of ids selects
    /// nothing.
    ///
    /// # Errors
    /// A line of standard input that is neither an id nor a record.
    pub fn ids(&self, stdin: impl BufRead) -> Result<Option<Ids>, Fail> {
        if self.ids.is_empty() && self.filter.named.is_empty() {
            return Ok(None);
        }
        let mut ids = Ids::named(&self.ids, stdin)?;
        let named = self.filter.named.iter();
        named.filter(|id| *id != "-").for_each(|id| ids.push(id));
        Ok(Some(ids))
    }

    /// What is selected in a queue. `otherwise`: the states that are meant where none is named. `now` is the store's.
    #[must_use]
    pub fn selection(
        &self,
        queue: QueueName,
        ids: Option<Vec<MessageId>>,
        otherwise: &[State],
        now: Timestamp,
    ) -> Selection {
        let states = if self.dead {
            vec![State::Dead]
        } else if self.state.is_empty() {
            otherwise.to_vec()
        } else {
            self.state.clone()
        };
        let Filter {
            named: _,
            key,
            group,
            older_than,
            newer_than,
            since,
            until,
            error,
            grep,
            limit: _,
            reverse: _,
        } = &self.filter;
        let since = since.as_ref().map(|when| when.at);
        let until = until.as_ref().map(|when| when.at);
        Selection {
            queue: Some(queue),
            ids,
            states,
            key: key.clone(),
            group: group.as_deref().map(Group::from),
            // Both ways to say a bound hold: the later beginning, the earlier end.
            since: since.max(newer_than.map(|age| now.minus(age))),
            until: [until, older_than.map(|age| now.minus(age))]
                .into_iter()
                .flatten()
                .min(),
            error: error.clone(),
            grep: grep.clone(),
            skip_expired: false,
        }
    }
}

/// Ids in the order in which they were named, each once. A million of them take a few bytes each.
#[derive(Clone, Debug, Default)]
pub struct Ids {
    /// Each ends with a zero byte, which stands in no id.
    text: String,
    count: u64,
    numbers: HashSet<u64>,
    others: HashSet<Box<str>>,
}

impl Ids {
    /// Those that are typed; `-` among them stands for those on standard input.
    ///
    /// # Errors
    /// A line of standard input that is neither an id nor a record.
    pub fn named(typed: &[String], stdin: impl BufRead) -> Result<Self, Fail> {
        let mut ids = Self::default();
        let words = typed.iter().filter(|id| *id != "-");
        words.for_each(|id| ids.push(id));
        if typed.iter().any(|id| id == "-") {
            ids.read(stdin)?;
        }
        Ok(ids)
    }

    /// Names one more, if it is not named yet.
    fn push(&mut self, id: &str) {
        let number = id
            .parse()
            .ok()
            .filter(|number: &u64| number.to_string() == id);
        let is_new = match number {
            Some(number) => self.numbers.insert(number),
            None => self.others.insert(id.into()),
        };
        if is_new {
            self.text.push_str(id);
            self.text.push('\0');
            self.count += 1;
        }
    }

    /// How many.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.count
    }

    /// Whether none is named.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = MessageId> {
        self.text.split_terminator('\0').map(MessageId::from)
    }

    /// All of them, so many at a time.
    pub fn chunks(&self, size: usize) -> impl Iterator<Item = Vec<MessageId>> {
        let mut ids = self.iter();
        std::iter::from_fn(move || {
            let chunk: Vec<MessageId> = ids.by_ref().take(size).collect();
            (!chunk.is_empty()).then_some(chunk)
        })
    }

    /// As [`Self::chunks`], the last named first.
    pub fn chunks_from_end(&self, size: usize) -> impl Iterator<Item = Vec<MessageId>> {
        let named = self.text.strip_suffix('\0').unwrap_or_default();
        let mut ids = named.rsplit('\0').filter(|id| !id.is_empty());
        std::iter::from_fn(move || {
            let chunk: Vec<MessageId> = ids.by_ref().take(size).map(MessageId::from).collect();
            (!chunk.is_empty()).then_some(chunk)
        })
    }

    fn read(&mut self, mut stdin: impl BufRead) -> Result<(), Fail> {
        let mut line = String::new();
        for number in 1_u64.. {
            line.clear();
            let bad = |why: String| {
                Fail::new(
                    Kind::BadInput,
                    format!("line {number} of standard input: {why}"),
                )
            };
            let read = stdin.read_line(&mut line);
            if read.map_err(|error| bad(system(&error)))? == 0 {
                break;
            }
            let text = line.trim();
            if text.is_empty() {
                continue;
            }
            if text.starts_with('{') {
                let record: HasId<'_> = serde_json::from_str(text)
                    .map_err(|error| bad(format!("no record: {}", json(&error))))?;
                self.push(&record.id);
            } else if text.contains(|c: char| c.is_whitespace() || c == '\0') {
                return Err(bad(
                    "no id: it has a space in it (one id or one record a line)".to_owned(),
                ));
            } else {
                self.push(text);
            }
        }
        Ok(())
    }
}

/// A record, as far as its id goes.
#[derive(Deserialize)]
struct HasId<'a> {
    #[serde(borrow)]
    id: Cow<'a, str>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Line {
        queue: QueueName,
        #[command(flatten)]
        select: Flags,
    }

    fn parse(line: &str) -> Flags {
        Line::try_parse_from(format!("x q {line}").split_whitespace())
            .unwrap_or_else(|error| panic!("{line}: {error}"))
            .select
    }

    const NOW: Timestamp = Timestamp(1_000_000_000_000);

    fn selection(line: &str) -> Selection {
        let args = parse(line);
        let ids = args
            .ids(&b"7\n\n{\"v\":1,\"id\":\"8\",\"x\":[]}\n7\n1\n"[..])
            .unwrap()
            .map(|ids| ids.iter().collect());
        args.selection(QueueName::parse("q").unwrap(), ids, &[State::Ready], NOW)
    }

    #[test]
    fn flags_become_a_selection() {
        let ids = |texts: &[&str]| Some(texts.iter().map(|&text| MessageId::from(text)).collect());
        let hour = Duration::from_hours(1);
        let base = || Selection {
            states: vec![State::Ready],
            ..Selection::of(QueueName::parse("q").unwrap())
        };
        for (line, want) in [
            ("", base()),
            ("-n 3 --reverse", base()),
            (
                "1 2 --id 3",
                Selection {
                    ids: ids(&["1", "2", "3"]),
                    ..base()
                },
            ),
            (
                "1 -",
                Selection {
                    ids: ids(&["1", "7", "8"]),
                    ..base()
                },
            ),
            (
                "--dead",
                Selection {
                    states: vec![State::Dead],
                    ..base()
                },
            ),
            (
                "--state dead,running",
                Selection {
                    states: vec![State::Dead, State::Running],
                    ..base()
                },
            ),
            (
                "--key -k --group -g",
                Selection {
                    key: Some("-k".to_owned()),
                    group: Some(Group::from("-g")),
                    ..base()
                },
            ),
            (
                "--older-than 1h",
                Selection {
                    until: Some(NOW.minus(hour)),
                    ..base()
                },
            ),
            (
                "--newer-than 1h",
                Selection {
                    since: Some(NOW.minus(hour)),
                    ..base()
                },
            ),
            (
                "--newer-than 1h --since 1970-01-01T00:00:00Z",
                Selection {
                    since: Some(NOW.minus(hour)),
                    ..base()
                },
            ),
            (
                "--older-than 1h --until 1970-01-01T00:00:01Z",
                Selection {
                    until: Some(Timestamp(1_000_000)),
                    ..base()
                },
            ),
            (
                "--error -1 --grep --x",
                Selection {
                    error: Some("-1".to_owned()),
                    grep: Some("--x".to_owned()),
                    ..base()
                },
            ),
        ] {
            assert_eq!(selection(line), want, "{line}");
            let narrows = !line.is_empty() && !line.starts_with("-n");
            assert_eq!(parse(line).is_given(), narrows, "{line}");
        }
        assert_eq!(parse("-n 0").filter.limit(), None);
        assert_eq!(parse("-n 4").filter.limit(), Some(4));
    }

    #[test]
    fn an_empty_list_of_ids_is_not_no_list() {
        assert!(parse("-").ids(&b"\n\n"[..]).unwrap().unwrap().is_empty());
        assert!(parse("").ids(&b"1"[..]).unwrap().is_none());
    }

    #[test]
    fn ids_are_named_once_and_come_in_chunks() {
        let ids = parse("3 07 7 x@y 3 --id 7").ids(&b""[..]).unwrap().unwrap();
        let texts = |ids: &[MessageId]| {
            let texts = ids.iter().map(MessageId::to_string);
            texts.collect::<Vec<_>>().join(" ")
        };
        let chunks: Vec<String> = ids.chunks(3).map(|chunk| texts(&chunk)).collect();
        assert_eq!(chunks, ["3 07 7", "x@y"]);
        assert_eq!(ids.len(), 4);
    }

    #[test]
    fn a_line_that_is_no_id_is_named() {
        for (input, part) in [
            ("1\n2 3\n", "line 2 of standard input: no id"),
            ("{\"x\":1}\n", "line 1 of standard input: no record"),
            ("1\n2\n{\"id\":", "line 3"),
        ] {
            let fail = parse("-").ids(input.as_bytes()).unwrap_err();
            let problem = fail.problem("qops").unwrap();
            assert_eq!(problem.code, 9, "{input}");
            assert!(problem.message.contains(part), "{}", problem.message);
        }
        assert!(parse("-").ids(&b"\xff\n"[..]).is_err());
    }

    #[test]
    fn what_is_no_flag_of_ours_is_refused() {
        for line in [
            "--state done",
            "--state dead --dead",
            "--older-than 5",
            "--since tomorrow",
            "-n x",
        ] {
            let words = format!("x q {line}");
            assert!(
                Line::try_parse_from(words.split_whitespace()).is_err(),
                "{line}"
            );
        }
        assert_eq!(parse("5").ids.len(), 1);
    }
}
