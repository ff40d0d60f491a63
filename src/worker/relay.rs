//! What commands write, on its way to our own output: without a deadlock, and in bounded memory.

use super::capture::Capture;
use rustix::event::{PollFd, PollFlags};
use rustix::io::Errno;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// What a pipe that is writable surely takes without blocking.
const ATOMIC: usize = 4096;
/// What waits for a slow reader before we stop reading the command: it waits then, as it would without us.
const PENDING: usize = 64 << 10;
/// A longer line is given out in pieces.
const LINE: usize = 32 << 10;
/// Nobody holds the pen.
const NOBODY: usize = usize::MAX;

/// One of our own outputs.
#[derive(Debug)]
pub(super) struct Sink {
    fd: OwnedFd,
    /// The slot that is in the middle of a line: lines of two commands never mix.
    pen: AtomicUsize,
    closed: AtomicBool,
}

impl Sink {
    pub(super) fn new(fd: OwnedFd) -> Self {
        Self {
            fd,
            pen: AtomicUsize::new(NOBODY),
            closed: AtomicBool::new(false),
        }
    }

    /// Whether nobody reads it any more.
    pub(super) fn closed(&self) -> bool {
        self.closed.load(Ordering::Relaxed)
    }

    fn take_pen(&self, slot: usize) -> bool {
        self.pen
            .compare_exchange(NOBODY, slot, Ordering::AcqRel, Ordering::Acquire)
            .is_ok_and(|_| true)
            || self.pen.load(Ordering::Acquire) == slot
    }

    fn drop_pen(&self, slot: usize) {
        let _ = self
            .pen
            .compare_exchange(slot, NOBODY, Ordering::AcqRel, Ordering::Acquire);
    }
}

/// Our standard output and error.
#[derive(Debug)]
pub(super) struct Sinks {
    pub(super) stdout: Sink,
    pub(super) stderr: Sink,
}

impl Sinks {
    /// Those of this process.
    pub(super) fn ours() -> io::Result<Self> {
        let copy = |fd| rustix::io::fcntl_dupfd_cloexec(fd, 3);
        Ok(Self {
            stdout: Sink::new(copy(rustix::stdio::stdout())?),
            stderr: Sink::new(copy(rustix::stdio::stderr())?),
        })
    }
}

/// How a stream is given on.
#[derive(Debug)]
pub(super) enum Style {
    /// As it is.
    Raw,
    /// In whole lines, with this before each.
    Lines(Vec<u8>),
    /// Not at all.
    Silent,
}

/// One stream of one command.
#[derive(Debug)]
pub(super) struct Stream {
    source: Option<OwnedFd>,
    style: Style,
    slot: usize,
    /// A line that is not whole yet.
    line: Vec<u8>,
    pending: Vec<u8>,
    /// How much of `pending` is written already.
    written: usize,
    capture: Option<Capture>,
}

impl Stream {
    /// Of this pipe; read without blocking from now on.
    pub(super) fn new(
        source: OwnedFd,
        style: Style,
        slot: usize,
        capture: Option<Capture>,
    ) -> io::Result<Self> {
        rustix::fs::fcntl_setfl(&source, rustix::fs::OFlags::NONBLOCK)?;
        Ok(Self {
            source: Some(source),
            style,
            slot,
            line: vec![],
            pending: vec![],
            written: 0,
            capture,
        })
    }

    /// What to wait for to read on.
    pub(super) fn readable(&self) -> Option<PollFd<'_>> {
        self.source
            .as_ref()
            .filter(|_| self.pending.len() - self.written < PENDING)
            .map(|source| PollFd::new(source, PollFlags::IN))
    }

    /// What to wait for to write on.
    pub(super) fn writable<'a>(&self, sink: &'a Sink) -> Option<PollFd<'a>> {
        (self.owes() && sink.take_pen(self.slot)).then(|| PollFd::new(&sink.fd, PollFlags::OUT))
    }

    /// Whether something waits to be written.
    pub(super) fn owes(&self) -> bool {
        self.written < self.pending.len()
    }

    /// Whether it is not read for now, because too much of it waits to be written.
    pub(super) fn is_held_up(&self) -> bool {
        self.source.is_some() && self.pending.len() - self.written >= PENDING
    }

    /// Reads what is there, unless too much waits to be written; how much it was.
    pub(super) fn read(&mut self, buffer: &mut [u8]) -> usize {
        if self.pending.len() - self.written >= PENDING {
            return 0;
        }
        while let Some(source) = &self.source {
            match rustix::io::read(source, &mut *buffer) {
                Ok(0) => self.source = None,
                Ok(length) => {
                    self.take(&buffer[..length]);
                    return length;
                }
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return 0,
                Err(_) => self.source = None,
            }
        }
        0
    }

    /// Nothing more is read: whoever still holds the other end is no part of the command.
    pub(super) fn close(&mut self) {
        self.source = None;
        if !self.line.is_empty() {
            let line = std::mem::take(&mut self.line);
            self.put_line(&line);
        }
    }

    fn take(&mut self, bytes: &[u8]) {
        if let Some(capture) = &mut self.capture {
            capture.push(bytes);
        }
        match &self.style {
            Style::Silent => {}
            Style::Raw => self.pending.extend_from_slice(bytes),
            Style::Lines(_) => {
                let mut rest = bytes;
                while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
                    let mut line = std::mem::take(&mut self.line);
                    line.extend_from_slice(&rest[..end]);
                    self.put_line(&line);
                    rest = &rest[end + 1..];
                }
                self.line.extend_from_slice(rest);
                if self.line.len() >= LINE {
                    let line = std::mem::take(&mut self.line);
                    self.put_line(&line);
                }
            }
        }
    }

    fn put_line(&mut self, line: &[u8]) {
        if let Style::Lines(prefix) = &self.style {
            self.pending.extend_from_slice(prefix);
            self.pending.extend_from_slice(line);
            self.pending.push(b'\n');
        }
    }

    /// Writes what the sink surely takes.
    pub(super) fn write(&mut self, sink: &Sink) {
        if sink.closed() {
            self.written = self.pending.len();
        }
        if self.owes() {
            let end = self.pending.len().min(self.written + ATOMIC);
            match rustix::io::write(&sink.fd, &self.pending[self.written..end]) {
                Ok(length) => self.written += length,
                Err(Errno::INTR | Errno::AGAIN) => return,
                Err(_) => {
                    sink.closed.store(true, Ordering::Relaxed);
                    self.written = self.pending.len();
                }
            }
        }
        let at_line = !matches!(self.style, Style::Lines(_))
            || self.written == 0
            || self.pending[self.written - 1] == b'\n';
        if at_line {
            sink.drop_pen(self.slot);
        }
        if !self.owes() {
            self.pending.clear();
            self.written = 0;
        } else if self.written >= PENDING {
            self.pending.drain(..self.written);
            self.written = 0;
        }
    }

    /// Ends it: what was kept. What is still owed is dropped.
    pub(super) fn finish(self, sink: &Sink) -> Vec<u8> {
        sink.drop_pen(self.slot);
        self.capture.map(Capture::finish).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pipes() -> (OwnedFd, OwnedFd) {
        super::super::unix::pipe().unwrap()
    }

    fn drain(fd: &OwnedFd) -> Vec<u8> {
        let mut buffer = vec![0; 1 << 20];
        let length = rustix::io::read(fd, &mut buffer[..]).unwrap();
        buffer.truncate(length);
        buffer
    }

    #[test]
    fn whole_lines_are_prefixed_and_an_open_one_is_closed() {
        let (source, command) = pipes();
        let (reader, sink) = pipes();
        let sink = Sink::new(sink);
        let mut stream = Stream::new(source, Style::Lines(b"[7] ".to_vec()), 0, None).unwrap();
        let mut buffer = [0; 100];
        for piece in [&b"a\nb"[..], b"c\n\nd"] {
            rustix::io::write(&command, piece).unwrap();
            stream.read(&mut buffer);
        }
        drop(command);
        stream.read(&mut buffer);
        stream.close();
        while stream.owes() {
            stream.write(&sink);
        }
        assert_eq!(drain(&reader), b"[7] a\n[7] bc\n[7] \n[7] d\n");
    }

    #[test]
    fn lines_of_two_commands_never_mix() {
        let (reader, sink) = pipes();
        let sink = Sink::new(sink);
        let mut streams: Vec<(Stream, OwnedFd)> = (0..2)
            .map(|slot| {
                let (source, command) = pipes();
                let style = Style::Lines(format!("[{slot}] ").into_bytes());
                (Stream::new(source, style, slot, None).unwrap(), command)
            })
            .collect();
        let mut buffer = vec![0; 65_536];
        for (slot, (stream, command)) in streams.iter_mut().enumerate() {
            let line = [format!("{slot}").repeat(10_000), "\n".into()].concat();
            rustix::io::write(&*command, line.as_bytes()).unwrap();
            stream.read(&mut buffer);
        }
        let mut got = vec![];
        while streams.iter().any(|(stream, _)| stream.owes()) {
            for (stream, _) in &mut streams {
                if stream.writable(&sink).is_some() {
                    stream.write(&sink);
                    got.extend(drain(&reader));
                }
            }
        }
        let text = String::from_utf8(got).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 2);
        assert_eq!(lines[0], format!("[0] {}", "0".repeat(10_000)));
        assert_eq!(lines[1], format!("[1] {}", "1".repeat(10_000)));
    }

    #[test]
    fn a_slow_reader_stops_the_reading_and_loses_nothing() {
        let (source, command) = pipes();
        let (reader, sink) = pipes();
        let sink = Sink::new(sink);
        let mut stream = Stream::new(source, Style::Raw, 0, None).unwrap();
        let mut buffer = vec![0; 32 << 10];
        let mut sent = 0;
        while stream.readable().is_some() {
            sent += rustix::io::write(&command, &[b'x'; 4096]).unwrap();
            stream.read(&mut buffer);
        }
        assert!((PENDING..PENDING + (32 << 10)).contains(&sent));
        let mut got = 0;
        while stream.owes() {
            stream.write(&sink);
            got += drain(&reader).len();
        }
        assert_eq!(got, sent);
        assert!(stream.readable().is_some());
    }

    #[test]
    fn r85_a_closed_sink_is_noticed() {
        let (source, command) = pipes();
        let (reader, sink) = pipes();
        let sink = Sink::new(sink);
        drop(reader);
        let mut stream = Stream::new(source, Style::Raw, 0, None).unwrap();
        rustix::io::write(&command, b"x").unwrap();
        stream.read(&mut [0; 10]);
        stream.write(&sink);
        assert!(sink.closed() && !stream.owes());
    }
}
