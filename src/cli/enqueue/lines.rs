//! A stream of messages: cut into payloads by a thread that reads, in batches that a store takes in one transaction.
//! Memory is bounded by two batches and one payload, however long the stream is.

use super::fields::Fields;
use super::term::Term;
use crate::backend::{Error, Kind};
use crate::queue::envelope::Envelope;
use crate::queue::payload::json_error;
use crate::queue::said::system;
use crate::queue::{Headers, Timestamp};
use std::fs::File;
use std::io::{BufRead, BufReader, ErrorKind, Read};
use std::os::fd::AsFd;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

/// How a stream is cut into payloads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Framing {
    /// A line feed ends one; empty lines are skipped.
    Lines,
    /// A zero byte ends one.
    Null,
    /// As lines, and each is JSON.
    Ndjson,
    /// As lines, and each is a record.
    Envelope,
}

impl Framing {
    fn end(self) -> u8 {
        match self {
            Self::Null => 0,
            Self::Lines | Self::Ndjson | Self::Envelope => b'\n',
        }
    }

    fn skips_empty(self) -> bool {
        self != Self::Null
    }

    /// What one of them is called.
    pub(super) fn unit(self) -> &'static str {
        match self {
            Self::Null => "item",
            Self::Lines | Self::Ndjson | Self::Envelope => "line",
        }
    }
}

/// How a stream is read.
#[derive(Clone, Debug)]
pub(super) struct Reading {
    /// How it is cut.
    pub(super) framing: Framing,
    /// Bytes; a longer payload is an error.
    pub(super) max_payload: u64,
    /// Where a payload's key stands.
    pub(super) key_from: Option<Fields>,
    /// Where its group stands.
    pub(super) group_from: Option<Fields>,
    /// What a record's own times must fit.
    pub(super) term: Term,
    /// All of it is one batch, and one that would be over full is refused.
    pub(super) whole: bool,
    /// A batch is full with so many messages.
    pub(super) rows: usize,
    /// A batch is full with so many bytes.
    pub(super) bytes: usize,
}

/// Messages that are stored together.
#[derive(Debug, Default)]
pub(super) struct Batch {
    bytes: Vec<u8>,
    /// The messages, in order.
    pub(super) items: Vec<Item>,
    /// Empty lines that were skipped since the last batch.
    pub(super) empty: u64,
    /// Why the stream ends after these, if it is not its end.
    pub(super) bad: Option<Error>,
}

/// One message of a batch.
#[derive(Debug)]
pub(super) struct Item {
    /// Its line or item, from 1.
    pub(super) number: u64,
    start: usize,
    end: usize,
    /// What its fields or its record say.
    pub(super) own: Option<Box<Own>>,
}

/// What a message says of itself.
#[derive(Debug, Default)]
pub(super) struct Own {
    /// The payload, where it is not the line itself.
    pub(super) payload: Option<Vec<u8>>,
    pub(super) key: Option<String>,
    pub(super) group: Option<String>,
    pub(super) priority: Option<i8>,
    pub(super) headers: Headers,
    pub(super) max_attempts: Option<u32>,
    pub(super) ready_at: Option<Timestamp>,
    pub(super) expires_at: Option<Timestamp>,
}

impl Batch {
    /// The payload of one of its messages.
    pub(super) fn payload<'b>(&'b self, item: &'b Item) -> &'b [u8] {
        match &item.own {
            Some(own) if own.payload.is_some() => own.payload.as_deref().unwrap_or_default(),
            _ => &self.bytes[item.start..item.end],
        }
    }

    /// Appends a payload that is whole.
    pub(super) fn push(&mut self, number: u64, payload: &[u8], own: Option<Box<Own>>) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(payload);
        self.items.push(Item {
            number,
            start,
            end: self.bytes.len(),
            own,
        });
    }
}

/// Reads a stream on a thread of its own. The channel ends with the stream; a batch that is `bad` is the last.
pub(super) fn read(source: File, reading: Reading) -> std::io::Result<Receiver<Batch>> {
    // None waits between the one that is being read and the one that is being stored.
    let (send, receive) = sync_channel(0);
    thread::Builder::new()
        .name("input".into())
        .spawn(move || Reader::new(source, reading).run(&send))?;
    Ok(receive)
}

struct Reader {
    source: BufReader<File>,
    reading: Reading,
    number: u64,
    batch: Batch,
}

/// So much is read at once.
const CHUNK: usize = 256 << 10;

impl Reader {
    fn new(source: File, reading: Reading) -> Self {
        Self {
            source: BufReader::with_capacity(CHUNK, source),
            reading,
            number: 0,
            batch: Batch::default(),
        }
    }

    /// Answers early when nobody takes batches any more.
    fn run(mut self, send: &SyncSender<Batch>) {
        loop {
            match self.one() {
                Ok(true) => {}
                Ok(false) => {
                    let _ = send.send(self.batch);
                    return;
                }
                Err(error) => {
                    self.batch.bad = Some(error);
                    let _ = send.send(self.batch);
                    return;
                }
            }
            if self.reading.whole {
                if self.batch.items.len() > self.reading.rows
                    || self.batch.bytes.len() > self.reading.bytes
                {
                    self.batch.bad = Some(self.too_many());
                    let _ = send.send(self.batch);
                    return;
                }
                continue;
            }
            let full = self.batch.items.len() >= self.reading.rows
                || self.batch.bytes.len() >= self.reading.bytes;
            // What has come is stored before we wait for more: a slow producer's line is not held back.
            let waits = || self.source.buffer().is_empty() && !is_readable(self.source.get_ref());
            if (full || !self.batch.items.is_empty() && waits())
                && send.send(std::mem::take(&mut self.batch)).is_err()
            {
                return;
            }
        }
    }

    /// Reads one message into the batch; false at the end of the stream.
    fn one(&mut self) -> Result<bool, Error> {
        let framing = self.reading.framing;
        let start = self.batch.bytes.len();
        let max = match framing {
            // A record is longer than its payload, in base64 by a third, escaped by up to six times.
            Framing::Envelope => self
                .reading
                .max_payload
                .saturating_mul(6)
                .saturating_add(1 << 20),
            Framing::Lines | Framing::Null | Framing::Ndjson => self.reading.max_payload,
        };
        self.number += 1;
        let mut bounded = (&mut self.source).take(max.saturating_add(1));
        let read = bounded.read_until(framing.end(), &mut self.batch.bytes);
        read.map_err(|error| {
            self.fail(
                Kind::BadInput,
                format!("cannot be read: {}", system(&error)),
            )
        })?;
        let mut end = self.batch.bytes.len();
        if end == start {
            return Ok(false);
        }
        if self.batch.bytes[end - 1] == framing.end() {
            end -= 1;
        } else if (end - start) as u64 > max {
            return Err(self.too_large());
        }
        if end == start && framing.skips_empty() {
            self.batch.bytes.truncate(start);
            self.batch.empty += 1;
            return Ok(true);
        }
        let own = self.own(start, end)?;
        self.batch.items.push(Item {
            number: self.number,
            start,
            end,
            own,
        });
        Ok(true)
    }

    fn own(&self, start: usize, end: usize) -> Result<Option<Box<Own>>, Error> {
        let bytes = &self.batch.bytes[start..end];
        let bad = |why: String| self.fail(Kind::BadInput, why);
        match self.reading.framing {
            Framing::Lines | Framing::Null => {}
            Framing::Ndjson => {
                let text = std::str::from_utf8(bytes)
                    .map_err(|_| bad("it is no JSON: it is not UTF-8".to_owned()))?;
                if let Some(error) = json_error(text) {
                    return Err(bad(format!("it is no JSON: {error}")));
                }
            }
            Framing::Envelope => {
                let text = std::str::from_utf8(bytes)
                    .map_err(|_| bad("it is no record: it is not UTF-8".to_owned()))?;
                let (envelope, payload) = Envelope::parse(text)
                    .map_err(|error| bad(format!("it is no record: {error}")))?;
                if payload.len() as u64 > self.reading.max_payload {
                    return Err(self.too_large());
                }
                if envelope
                    .priority
                    .is_some_and(|priority| !(-9..=9).contains(&priority))
                {
                    return Err(bad("its priority is not in -9..9".to_owned()));
                }
                if envelope.max_attempts == Some(0) {
                    return Err(bad("its max_attempts is 0".to_owned()));
                }
                for (name, value) in [("key", &envelope.key), ("group", &envelope.group)] {
                    if value.as_deref() == Some("") {
                        return Err(bad(format!("its {name} is empty")));
                    }
                }
                self.reading
                    .term
                    .fits(envelope.ready_at, envelope.expires_at)
                    .map_err(bad)?;
                let mut own = Own {
                    key: envelope.key,
                    group: envelope.group,
                    priority: envelope.priority,
                    headers: envelope.headers,
                    max_attempts: envelope.max_attempts,
                    ready_at: envelope.ready_at,
                    expires_at: envelope.expires_at,
                    payload: None,
                };
                self.reading.fill(&payload, &mut own).map_err(bad)?;
                own.payload = Some(payload.into_owned());
                return Ok(Some(Box::new(own)));
            }
        }
        self.reading.own(bytes).map_err(bad)
    }

    fn fail(&self, kind: Kind, why: impl std::fmt::Display) -> Error {
        let unit = self.reading.framing.unit();
        let number = self.number;
        Error::new(kind, format!("{unit} {number}: {why}")).with("line", number.to_string())
    }

    fn too_many(&self) -> Error {
        let (rows, bytes) = (self.reading.rows as u64, self.reading.bytes as u64);
        let (rows, bytes) = (crate::ui::text::grouped(rows), crate::ui::text::size(bytes));
        let why = format!("--atomic takes at most {rows} messages and {bytes}");
        self.fail(Kind::TooLarge, why)
            .hint("with keys (--key-from) it can be run again in parts without doubles")
    }

    fn too_large(&self) -> Error {
        let max = crate::ui::text::size(self.reading.max_payload);
        self.fail(Kind::TooLarge, format!("it has more than {max}"))
            .hint("--max-payload SIZE takes more; better, enqueue where it lies instead of what it is")
    }
}

impl Reading {
    /// What the fields of a payload say; none if nothing was asked.
    ///
    /// # Errors
    /// A field that is not there.
    pub(super) fn own(&self, payload: &[u8]) -> Result<Option<Box<Own>>, String> {
        if self.key_from.is_none() && self.group_from.is_none() {
            return Ok(None);
        }
        let mut own = Own::default();
        self.fill(payload, &mut own)?;
        Ok(Some(Box::new(own)))
    }

    fn fill(&self, payload: &[u8], own: &mut Own) -> Result<(), String> {
        if let (Some(fields), None) = (&self.key_from, &own.key) {
            own.key = Some(fields.of(payload)?);
        }
        if let (Some(fields), None) = (&self.group_from, &own.group) {
            own.group = Some(fields.of(payload)?);
        }
        Ok(())
    }
}

/// Whether a read would answer at once. Where the system cannot tell, it would not: better stored early than late.
fn is_readable(source: &impl AsFd) -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let mut fds = [PollFd::new(source, PollFlags::IN)];
    let at_once = Timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    matches!(poll(&mut fds, Some(&at_once)), Ok(n) if n > 0)
}

/// Reads one message: all of the input, or its only line.
///
/// # Errors
/// It has several lines and nobody said what they are, it is too large, or it cannot be read.
pub(super) fn read_one(mut source: File, whole: bool, max: u64) -> Result<Option<Vec<u8>>, One> {
    let mut bytes = vec![];
    let mut seen = 0;
    loop {
        // One more than is allowed, and a line feed.
        let room = max.saturating_add(2).saturating_sub(bytes.len() as u64);
        let step = room.min(CHUNK as u64);
        match source.by_ref().take(step).read_to_end(&mut bytes) {
            Ok(0) => break,
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(One::Unreadable(error)),
        }
        if !whole {
            let new = bytes[seen..].iter().position(|byte| *byte == b'\n');
            if let Some(at) = new.map(|at| seen + at)
                && at + 1 < bytes.len()
            {
                return Err(One::Lines);
            }
            // A line feed at the end so far is looked at again with what comes after it.
            seen = bytes.len() - usize::from(bytes.ends_with(b"\n"));
        }
    }
    if bytes.is_empty() {
        return Ok(None);
    }
    if !whole && bytes.ends_with(b"\n") {
        bytes.pop();
    }
    if bytes.len() as u64 > max {
        return Err(One::TooLarge);
    }
    Ok(Some(bytes))
}

/// Why input is not one message.
#[derive(Debug)]
pub(super) enum One {
    /// It has several lines.
    Lines,
    /// It is larger than is allowed.
    TooLarge,
    /// It cannot be read.
    Unreadable(std::io::Error),
}

#[cfg(test)]
mod tests;
