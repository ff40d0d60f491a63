//! Batches on their way into the store, and what is said of them.

use super::super::ctx::Ctx;
use super::super::exit::Code;
use super::super::fail::{Fail, Outcome};
use super::super::report::Report;
use super::lines::{Batch, Item, Own};
use crate::backend::{Backend, Conflict, Effect, Error, Kind, Unit};
use crate::queue::message::Ttl;
use crate::queue::record::{Record, Value};
use crate::queue::{Due, Enqueued, Group, MessageId, NewMessage, QueueName};
use crate::ui::text::{counted, grouped};
use crate::ui::{Align, Cell, Column, Fit, OutError, Plan, Row, Shown, Stream};
use crate::worker::header_variable;
use std::borrow::Cow;

/// One message that was put in, as a record.
#[derive(Debug)]
pub(super) struct Put {
    queue: QueueName,
    id: MessageId,
    key: Option<String>,
    duplicate: bool,
}

impl Row for Put {
    const FIELDS: &'static [&'static str] = &["v", "id", "queue", "key", "duplicate"];

    fn record(&self) -> Record {
        Record::new()
            .with("id", Value::text(&self.id))
            .with("queue", Value::text(&self.queue))
            .with_some("key", self.key.as_ref().map(Value::text))
            .with("duplicate", Value::Bool(self.duplicate))
    }

    fn id(&self) -> &str {
        self.id.as_str()
    }
}

fn columns<'a>() -> Vec<Column<'a, Put>> {
    vec![
        Column::new("ID", Align::Right, Fit::Whole, |put: &Put| {
            Cell::new(Shown::new(&put.id))
        }),
        Column::new("KEY", Align::Left, Fit::Cut, |put: &Put| {
            Cell::new(Shown::new(put.key.as_deref().unwrap_or_default()))
        }),
        Column::new("DUPLICATE", Align::Left, Fit::Whole, |put: &Put| {
            Cell::new(Shown::new(if put.duplicate { "yes" } else { "" }))
        }),
    ]
}

/// Takes batches into the store, and counts. The store is opened with the first message: what turns out to be nothing
/// makes no store.
pub(super) struct Enqueuer<'c> {
    ctx: &'c Ctx,
    place: String,
    store: Option<Box<dyn Backend>>,
    template: NewMessage<'static>,
    conflict: Conflict,
    /// What one of several is called.
    unit: Option<&'static str>,
    stream: Option<Stream<'c, Put>>,
    report: Report,
    new: u64,
    duplicates: u64,
    empty: u64,
    /// A message stands that has no key: run again, the same would store it again.
    keyless: bool,
}

impl<'c> Enqueuer<'c> {
    /// Opens nothing yet. `unit`: what one of several is called; `plan`: how ids are printed, if they are.
    pub(super) fn new(
        ctx: &'c Ctx,
        template: NewMessage<'static>,
        conflict: Conflict,
        unit: Option<&'static str>,
        plan: Option<Plan>,
    ) -> Result<Self, Fail> {
        Ok(Self {
            ctx,
            place: ctx.place()?,
            store: None,
            template,
            conflict,
            unit,
            stream: plan.map(|plan| Stream::new(&ctx.ui, plan, columns())),
            report: Report::default(),
            new: 0,
            duplicates: 0,
            empty: 0,
            keyless: false,
        })
    }

    /// So many empty lines were skipped: the summary says it.
    pub(super) fn skip_empty(&mut self, lines: u64) {
        self.empty += lines;
    }

    /// Stores each message for itself.
    pub(super) fn each(&mut self, batch: &Batch) -> Result<(), Fail> {
        let mut rest = batch.items.as_slice();
        while !rest.is_empty() {
            let mut store = self.take_store()?;
            let limits = store.capability();
            let mut bytes = 0_usize;
            let fits = rest
                .iter()
                .take(limits.max_batch)
                .take_while(|item| {
                    let before = bytes;
                    bytes = bytes.saturating_add(batch.payload(item).len());
                    before == 0 || bytes <= limits.aim_bytes
                })
                .count();
            let (chunk, others) = rest.split_at(fits.max(1));
            let answer = store.enqueue(&self.messages(batch, chunk), Unit::Each);
            self.store = Some(store);
            match answer {
                Ok(answer) => self.count(chunk, &answer)?,
                Err(error) => return Err(self.broken(&error, chunk)),
            }
            rest = others;
        }
        Ok(())
    }

    /// Stores all messages or none.
    pub(super) fn whole(&mut self, batch: &Batch) -> Result<(), Fail> {
        if batch.items.is_empty() {
            return Ok(());
        }
        let mut store = self.take_store()?;
        let unit = Unit::Whole(self.conflict);
        let answer = store.enqueue(&self.messages(batch, &batch.items), unit);
        self.store = Some(store);
        match answer {
            Ok(answer) => self.count(&batch.items, &answer),
            Err(error) => {
                let index = error.context("line").and_then(|line| line.parse().ok());
                let at: Option<&Item> = index.and_then(|index: usize| batch.items.get(index));
                let error = match at {
                    Some(item) => {
                        let what = format!("{}{error}", self.place_of(item));
                        none(&said_again(&error, what))
                    }
                    None => none(&error),
                };
                Err(self.with_doubles(error, &batch.items))
            }
        }
    }

    fn take_store(&mut self) -> Result<Box<dyn Backend>, Fail> {
        match self.store.take() {
            Some(store) => Ok(store),
            None => self.ctx.write(),
        }
    }

    fn messages<'b>(&self, batch: &'b Batch, items: &'b [Item]) -> Vec<NewMessage<'b>> {
        let message = |item: &'b Item| {
            let payload = Cow::Borrowed(batch.payload(item));
            let Some(own) = &item.own else {
                return NewMessage {
                    payload,
                    ..self.template.clone()
                };
            };
            let Own {
                payload: _,
                key,
                group,
                priority,
                headers,
                max_attempts,
                ready_at,
                expires_at,
            } = &**own;
            // As everywhere, the message's own value beats the flag.
            let flagged = self.template.headers.iter().filter(|(name, _)| {
                let variable = header_variable(name);
                !headers
                    .iter()
                    .any(|(own, _)| header_variable(own) == variable)
            });
            let headers = headers.iter().chain(flagged).cloned().collect();
            NewMessage {
                queue: self.template.queue.clone(),
                payload,
                key: key
                    .as_deref()
                    .map(Cow::Borrowed)
                    .or_else(|| self.template.key.clone()),
                group: group
                    .as_deref()
                    .map(Group::from)
                    .or_else(|| self.template.group.clone()),
                priority: priority.unwrap_or(self.template.priority),
                due: ready_at.map_or(self.template.due, Due::At),
                ttl: expires_at.map(Ttl::At).or(self.template.ttl),
                max_attempts: max_attempts.or(self.template.max_attempts),
                headers,
            }
        };
        items.iter().map(message).collect()
    }

    /// Which of several it is, before what is said of it.
    fn place_of(&self, item: &Item) -> String {
        match self.unit {
            Some(unit) => format!("{unit} {}: ", item.number),
            None => String::new(),
        }
    }

    fn key<'i>(&'i self, item: &'i Item) -> Option<&'i str> {
        let own = item.own.as_ref().and_then(|own| own.key.as_deref());
        own.or(self.template.key.as_deref())
    }

    fn count(&mut self, items: &[Item], answer: &[Enqueued]) -> Result<(), Fail> {
        for (item, enqueued) in items.iter().zip(answer) {
            let (id, duplicate) = match enqueued {
                Enqueued::New(id) => {
                    self.new += 1;
                    self.keyless |= self.key(item).is_none();
                    (id, false)
                }
                Enqueued::Duplicate(id) => {
                    if self.conflict == Conflict::Refuse {
                        let key = self.key(item).unwrap_or_default();
                        let (place, key) = (self.place_of(item), Shown::new(key));
                        let what = format!("{place}the key '{key}' is taken by message {id}");
                        let fail = Fail::new(Kind::Conflict, what);
                        self.report.fail(self.ctx, &fail);
                        continue;
                    }
                    self.duplicates += 1;
                    (id, true)
                }
            };
            if self.stream.is_some() {
                let put = Put {
                    queue: self.template.queue.clone(),
                    id: id.clone(),
                    key: self.key(item).map(str::to_owned),
                    duplicate,
                };
                self.print(|stream| stream.push(&put))?;
            }
        }
        // Whoever reads our ids acts on messages that stand.
        self.print(|stream| stream.flush().map(drop))
    }

    /// That nobody reads the ids any more is no reason to leave messages out.
    fn print(
        &mut self,
        put: impl FnOnce(&mut Stream<'c, Put>) -> Result<(), OutError>,
    ) -> Result<(), Fail> {
        let Some(stream) = &mut self.stream else {
            return Ok(());
        };
        match put(stream) {
            Ok(()) => Ok(()),
            Err(OutError::Closed) => {
                self.stream = None;
                Ok(())
            }
            Err(error) => {
                self.stream = None;
                let stand = self.standing();
                self.ctx
                    .ui
                    .warn(format!("{stand}, and not all are printed"));
                Err(error.into())
            }
        }
    }

    fn standing(&self) -> String {
        match self.new + self.duplicates {
            0 => "nothing was enqueued".to_owned(),
            1 => "1 message stands".to_owned(),
            n => format!("{} messages stand", grouped(n)),
        }
    }

    /// The stream ends here: what came before stands.
    pub(super) fn failed(&mut self, error: &Error) -> Fail {
        if let Err(fail) = self.end_stream() {
            return fail;
        }
        let what = match self.new + self.duplicates {
            0 => format!("{error}; nothing was enqueued"),
            1 => format!("{error}; the message before it stands"),
            n => format!("{error}; the {} messages before it stand", grouped(n)),
        };
        said_again(error, what).into()
    }

    /// The store failed in the middle, at these.
    fn broken(&mut self, error: &Error, items: &[Item]) -> Fail {
        if let Err(fail) = self.end_stream() {
            return fail;
        }
        let mut what = format!("{error}; {}", self.standing());
        if error.effect() == Effect::Unknown {
            let next = counted(items.len() as u64, "message", "messages");
            what = format!("{what}, and of the next {next} it is not known");
        }
        self.with_doubles(said_again(error, what), items)
    }

    /// With a warning where a second run may store again what stands, or may stand of these. Elsewhere an error that passes
    /// invites to one.
    fn with_doubles(&self, error: Error, items: &[Item]) -> Fail {
        let may_stand =
            error.effect() == Effect::Unknown && items.iter().any(|item| self.key(item).is_none());
        if error.kind().passes() && (self.keyless || may_stand) {
            return Fail::from(error)
                .hint("only with keys (--key, --key-from) it can be run again without doubles");
        }
        error.into()
    }

    /// A signal came.
    pub(super) fn stopped(mut self, code: Code) -> Outcome {
        self.end_stream()?;
        let stand = self.standing();
        self.ctx
            .ui
            .note(format!("stopped: {stand} ({})", self.place));
        Ok(code)
    }

    /// All is in.
    pub(super) fn finish(mut self, is_stream: bool) -> Outcome {
        self.end_stream()?;
        self.report.done = self.new + self.duplicates;
        if is_stream {
            let mut summary = format!("enqueued {}", grouped(self.new));
            for (count, what) in [
                (self.duplicates, "duplicates"),
                (self.empty, "empty lines skipped"),
            ] {
                if count > 0 {
                    summary = format!("{summary}, {what} {}", grouped(count));
                }
            }
            self.ctx.ui.say(format!("{summary} ({})", self.place));
        } else if self.duplicates > 0 {
            self.ctx.ui.say(format!(
                "{} of {} there already, by the key ({})",
                grouped(self.duplicates),
                grouped(self.report.done),
                self.place
            ));
        }
        Ok(self.report.code())
    }

    fn end_stream(&mut self) -> Result<(), Fail> {
        match self.stream.take().map(Stream::finish) {
            None | Some(Ok(_) | Err(OutError::Closed)) => Ok(()),
            Some(Err(error)) => Err(error.into()),
        }
    }
}

/// The same error in other words: kind, effect and hint stay.
fn said_again(error: &Error, what: String) -> Error {
    let mut again = Error::new(error.kind(), what);
    for name in ["line", "id", "key", "queue", "path"] {
        if let Some(value) = error.context(name) {
            again = again.with(name, value);
        }
    }
    if let Some(hint) = error.hinted() {
        again = again.hint(hint.clone());
    }
    if error.effect() == Effect::Unknown {
        again = again.maybe_done();
    }
    again
}

/// An error after which nothing of a whole stands, unless that is not known.
pub(super) fn none(error: &Error) -> Error {
    let what = match error.effect() {
        Effect::None => format!("{error}; nothing was enqueued"),
        Effect::Unknown => format!("{error}; whether all or nothing was enqueued is not known"),
    };
    said_again(error, what)
}

#[cfg(test)]
mod tests {
    use super::super::super::Cli;
    use super::super::lines::Own;
    use super::*;
    use clap::Parser;

    #[test]
    fn doubles_are_feared_where_a_message_without_a_key_may_stand() {
        let cli = Cli::try_parse_from(["qops", "-u", "sqlite:/none.db", "queues"]).unwrap();
        let (ui, _, _) = crate::ui::tests::captured(false, 80);
        let ctx = Ctx::new(ui, cli.globals, vec![]);
        let key = || Own {
            key: Some("k".to_owned()),
            ..Own::default()
        };
        // (the key of all, keys of their own, something stands, it is known) -> whether the same may double
        for (of_all, own, stands, known, doubles) in [
            (false, false, false, true, false),
            (false, false, false, false, true),
            (false, false, true, true, true),
            (false, true, true, true, false),
            (false, true, true, false, false),
            (true, false, true, false, false),
        ] {
            let mut template = NewMessage::new(QueueName::parse("q").unwrap(), &b""[..]);
            template.key = of_all.then(|| "k".into());
            let mut enqueuer = Enqueuer::new(&ctx, template, Conflict::Skip, None, None).unwrap();
            let mut batch = Batch::default();
            batch.push(1, b"a", own.then(|| Box::new(key())));
            batch.push(2, b"b", own.then(|| Box::new(key())));
            if stands {
                let answer = [Enqueued::New("1".to_owned().into())];
                enqueuer.count(&batch.items[..1], &answer).unwrap();
            }
            let error = Error::new(Kind::Busy, "busy");
            let error = if known { error } else { error.maybe_done() };
            let problem = enqueuer.broken(&error, &batch.items[1..]).problem("qops");
            let hints = problem.unwrap().hints;
            let line = format!("{of_all} {own} {stands} {known}: {hints:?}");
            assert_eq!(
                hints.iter().any(|hint| hint.contains("doubles")),
                doubles,
                "{line}"
            );
        }
    }
}
