//! What commands write, on its way to our own output: without a deadlock, and in bounded memory.

use super::capture::Capture;
use rustix::event::{PollFd, PollFlags};
use rustix::io::Errno;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
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
    /// The stream that is in the middle of a line: two lines never mix.
    pen: AtomicUsize,
    /// A stream ended in the middle of a line: whoever is next begins a new one.
    torn: AtomicBool,
    closed: AtomicBool,
}

impl Sink {
    /// A stream that nobody has the pen of.
    pub(super) fn new(fd: OwnedFd) -> Self {
        Self {
            fd,
            pen: AtomicUsize::new(NOBODY),
            torn: AtomicBool::new(false),
            closed: AtomicBool::new(false),
        }
    }

    /// Whether nobody reads it any more.
    pub(super) fn closed(&self) -> bool {
        self.closed.load(Ordering::Relaxed)
    }

    fn take_pen(&self, stream: usize) -> bool {
        self.pen
            .compare_exchange(NOBODY, stream, Ordering::AcqRel, Ordering::Acquire)
            .is_ok()
            || self.pen.load(Ordering::Acquire) == stream
    }

    fn drop_pen(&self, stream: usize) {
        let _ = self
            .pen
            .compare_exchange(stream, NOBODY, Ordering::AcqRel, Ordering::Acquire);
    }
}

/// Our standard output and error.
#[derive(Debug)]
pub(super) struct Sinks {
    pub(super) stdout: Arc<Sink>,
    /// The same sink where both are one file, pipe or terminal.
    pub(super) stderr: Arc<Sink>,
}

impl Sinks {
    /// Those of this process.
    pub(super) fn ours() -> io::Result<Self> {
        let copy = |fd| rustix::io::fcntl_dupfd_cloexec(fd, 3);
        Self::over(
            copy(rustix::stdio::stdout())?,
            copy(rustix::stdio::stderr())?,
        )
    }

    /// Over these two.
    pub(super) fn over(stdout: OwnedFd, stderr: OwnedFd) -> io::Result<Self> {
        let (out, err) = (rustix::fs::fstat(&stdout)?, rustix::fs::fstat(&stderr)?);
        let is_one = (out.st_dev, out.st_ino) == (err.st_dev, err.st_ino);
        let stdout = Arc::new(Sink::new(stdout));
        let stderr = if is_one {
            Arc::clone(&stdout)
        } else {
            Arc::new(Sink::new(stderr))
        };
        Ok(Self { stdout, stderr })
    }

    /// Takes the pens away from the streams of a slot whose run has panicked.
    pub(super) fn release(&self, slot: usize) {
        for sink in [&self.stdout, &self.stderr] {
            for which in [Which::Stdout, Which::Stderr] {
                let stream = number(slot, which);
                if sink.pen.load(Ordering::Acquire) == stream {
                    sink.torn.store(true, Ordering::Release);
                    sink.drop_pen(stream);
                }
            }
        }
    }
}

/// The number of a stream among all that are relayed now.
fn number(slot: usize, which: Which) -> usize {
    2 * slot + which as usize
}

/// Which of a command's streams.
#[derive(Clone, Copy, Debug)]
pub(super) enum Which {
    Stdout,
    Stderr,
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
    /// Its number among all streams that are relayed now.
    number: usize,
    /// A line that is not whole yet.
    line: Vec<u8>,
    pending: Vec<u8>,
    /// How much of `pending` is written already.
    written: usize,
    /// What was written ends in the middle of a line.
    in_line: bool,
    capture: Option<Capture>,
}

impl Stream {
    /// Of this pipe, whose command runs in this slot; read without blocking from now on.
    pub(super) fn new(
        source: OwnedFd,
        style: Style,
        (slot, which): (usize, Which),
        capture: Option<Capture>,
    ) -> io::Result<Self> {
        rustix::fs::fcntl_setfl(&source, rustix::fs::OFlags::NONBLOCK)?;
        Ok(Self {
            source: Some(source),
            style,
            number: number(slot, which),
            line: vec![],
            pending: vec![],
            written: 0,
            in_line: false,
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
        (self.owes() && sink.take_pen(self.number)).then(|| PollFd::new(&sink.fd, PollFlags::OUT))
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

    /// How far to write: as far as the sink surely takes, and to the end of a line if one ends there, so that lines are
    /// whole beside those of other processes, too.
    fn end(&self) -> usize {
        let end = self.pending.len().min(self.written + ATOMIC);
        let last = match self.style {
            Style::Lines(_) => self.pending[self.written..end]
                .iter()
                .rposition(|byte| *byte == b'\n'),
            Style::Raw | Style::Silent => None,
        };
        last.map_or(end, |last| self.written + last + 1)
    }

    /// Writes what the sink surely takes, unless another stream is in the middle of a line.
    pub(super) fn write(&mut self, sink: &Sink) {
        if sink.closed() {
            self.written = self.pending.len();
            self.in_line = false;
        }
        if self.owes() {
            if !sink.take_pen(self.number) {
                return;
            }
            if sink.torn.swap(false, Ordering::AcqRel) {
                self.pending.insert(self.written, b'\n');
            }
            let end = self.end();
            match rustix::io::write(&sink.fd, &self.pending[self.written..end]) {
                Ok(length) => {
                    self.written += length;
                    self.in_line = matches!(self.style, Style::Lines(_))
                        && self.pending[..self.written].last() != Some(&b'\n');
                }
                Err(Errno::INTR | Errno::AGAIN) => return,
                Err(_) => {
                    self.in_line = false;
                    sink.closed.store(true, Ordering::Relaxed);
                    self.written = self.pending.len();
                }
            }
        }
        if !self.in_line {
            sink.drop_pen(self.number);
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
        if self.in_line {
            sink.torn.store(true, Ordering::Release);
        }
        sink.drop_pen(self.number);
        self.capture.map(Capture::finish).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: (usize, Which) = (0, Which::Stdout);

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
        let mut stream = Stream::new(source, Style::Lines(b"[7] ".to_vec()), ONE, None).unwrap();
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
                let stream = Stream::new(source, style, (slot, Which::Stdout), None);
                (stream.unwrap(), command)
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

    /// Two commands with both their streams, all into one pipe.
    #[test]
    fn lines_into_one_output_are_whole() {
        let (reader, out) = pipes();
        let err = out.try_clone().unwrap();
        let sinks = Sinks::over(out, err).unwrap();
        let sink = |which| match which {
            Which::Stdout => &sinks.stdout,
            Which::Stderr => &sinks.stderr,
        };
        let mut buffer = vec![0; 65_536];
        let mut streams = vec![];
        for slot in 0..2 {
            for which in [Which::Stdout, Which::Stderr] {
                let (source, command) = pipes();
                let style = Style::Lines(format!("[{slot}] ").into_bytes());
                let mut stream = Stream::new(source, style, (slot, which), None).unwrap();
                let letter = ["a", "b", "c", "d"][2 * slot + which as usize];
                let lines = [letter.repeat(9_000), "\n".into()].concat().repeat(2);
                rustix::io::write(&command, lines.as_bytes()).unwrap();
                stream.read(&mut buffer);
                streams.push((stream, which));
            }
        }
        let mut got = vec![];
        while streams.iter().any(|(stream, _)| stream.owes()) {
            for (stream, which) in &mut streams {
                let before = stream.written;
                if stream.writable(sink(*which)).is_some() {
                    stream.write(sink(*which));
                }
                if stream.written != before {
                    got.extend(drain(&reader));
                }
            }
        }
        let text = String::from_utf8(got).unwrap();
        let mut lines: Vec<&str> = text.lines().collect();
        lines.sort_unstable();
        let line = |slot, letter: &str| format!("[{slot}] {}", letter.repeat(9_000));
        let expected = [line(0, "a"), line(0, "b"), line(1, "c"), line(1, "d")];
        let twice: Vec<&String> = expected.iter().flat_map(|line| [line, line]).collect();
        assert_eq!(lines, twice);
    }

    #[test]
    fn who_comes_after_a_torn_line_begins_a_new_one() {
        let (reader, sink) = pipes();
        let sink = Sink::new(sink);
        let mut buffer = vec![0; 65_536];
        let mut stream = |slot, text: &str| {
            let (source, command) = pipes();
            let style = Style::Lines(format!("[{slot}] ").into_bytes());
            let mut stream = Stream::new(source, style, (slot, Which::Stdout), None).unwrap();
            rustix::io::write(&command, text.as_bytes()).unwrap();
            stream.read(&mut buffer);
            stream
        };
        let mut torn = stream(0, &("x".repeat(9_000) + "\n"));
        torn.write(&sink);
        torn.finish(&sink);
        let mut next = stream(1, "whole\n");
        next.write(&sink);
        assert!(!next.owes());
        let got = drain(&reader);
        assert!(got.ends_with(b"x\n[1] whole\n"));
        drop(next);

        let mut panics = stream(0, &("x".repeat(9_000) + "\n"));
        panics.write(&sink);
        drop(panics);
        let mut next = stream(1, "whole\n");
        assert!(next.writable(&sink).is_none());
        let sinks = Sinks {
            stderr: Arc::new(Sink::new(pipes().1)),
            stdout: Arc::new(sink),
        };
        sinks.release(0);
        next.write(&sinks.stdout);
        assert!(drain(&reader).ends_with(b"x\n[1] whole\n"));
    }

    #[test]
    fn a_slow_reader_stops_the_reading_and_loses_nothing() {
        let (source, command) = pipes();
        let (reader, sink) = pipes();
        let sink = Sink::new(sink);
        let mut stream = Stream::new(source, Style::Raw, ONE, None).unwrap();
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
        let mut stream = Stream::new(source, Style::Raw, ONE, None).unwrap();
        rustix::io::write(&command, b"x").unwrap();
        stream.read(&mut [0; 10]);
        stream.write(&sink);
        assert!(sink.closed() && !stream.owes());
    }
}
