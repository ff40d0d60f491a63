//! The last words of a command, in bounded memory.

/// The first and the last of what was written, never more than [`HEAD`] + [`TAIL`] bytes of it.
#[derive(Debug, Default)]
pub(super) struct Capture {
    head: Vec<u8>,
    /// A ring once it is full; `at` is its oldest byte then.
    tail: Vec<u8>,
    at: usize,
    seen: u64,
}

/// How much of the beginning is kept: what a program says first often names the cause.
pub(super) const HEAD: usize = 8 << 10;
/// How much of the end is kept.
pub(super) const TAIL: usize = 56 << 10;

impl Capture {
    /// Takes what was written.
    pub(super) fn push(&mut self, mut bytes: &[u8]) {
        self.seen += bytes.len() as u64;
        let into_head = (HEAD - self.head.len()).min(bytes.len());
        self.head.extend_from_slice(&bytes[..into_head]);
        bytes = &bytes[into_head..];
        if bytes.len() > TAIL {
            bytes = &bytes[bytes.len() - TAIL..];
        }
        let grow = (TAIL - self.tail.len()).min(bytes.len());
        self.tail.extend_from_slice(&bytes[..grow]);
        let over = &bytes[grow..];
        if !over.is_empty() {
            let (first, rest) = over.split_at(over.len().min(TAIL - self.at));
            self.tail[self.at..self.at + first.len()].copy_from_slice(first);
            self.tail[..rest.len()].copy_from_slice(rest);
            self.at = (self.at + over.len()) % TAIL;
        }
    }

    /// What is kept: all of it, or its two ends cut at characters with the gap named between them.
    pub(super) fn finish(self) -> Vec<u8> {
        let kept = (self.head.len() + self.tail.len()) as u64;
        let mut tail = self.tail;
        tail.rotate_left(self.at);
        let mut text = self.head;
        if self.seen > kept {
            text.truncate(end_of_whole(&text));
            let from = start_of_whole(&tail);
            let left_out = self.seen - text.len() as u64 - (tail.len() - from) as u64;
            text.extend_from_slice(format!("\n[{left_out} bytes left out]\n").as_bytes());
            text.extend_from_slice(&tail[from..]);
        } else {
            text.extend_from_slice(&tail);
        }
        text
    }
}

/// Where the text ends without a character that was cut in the middle.
fn end_of_whole(text: &[u8]) -> usize {
    for back in 1..=text.len().min(4) {
        let lead = text[text.len() - back];
        let length = match lead {
            0x80..=0xBF => continue,
            0xC0..=0xDF => 2,
            0xE0..=0xEF => 3,
            0xF0..=0xF7 => 4,
            _ => 1,
        };
        return if length > back {
            text.len() - back
        } else {
            text.len()
        };
    }
    text.len()
}

/// Where the first whole character begins.
fn start_of_whole(text: &[u8]) -> usize {
    let cut = text
        .iter()
        .take(4)
        .take_while(|byte| matches!(byte, 0x80..=0xBF))
        .count();
    // Four in a row are no rest of a character but bytes of another kind: they stay.
    if cut < 4 { cut } else { 0 }
}

/// The last line that says something, for the message's last error: at most 500 characters of it.
pub(super) fn last_line(stderr: &[u8]) -> Option<String> {
    let line = stderr
        .rsplit(|byte| matches!(byte, b'\n' | b'\r'))
        .find(|line| line.iter().any(|byte| !byte.is_ascii_whitespace()))?;
    let text = String::from_utf8_lossy(line);
    Some(text.trim().chars().take(500).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn captured(pieces: &[&[u8]]) -> Vec<u8> {
        let mut capture = Capture::default();
        for piece in pieces {
            capture.push(piece);
        }
        capture.finish()
    }

    #[test]
    fn what_fits_is_kept_whole() {
        assert_eq!(captured(&[]), b"");
        assert_eq!(captured(&[b"ab", b"", b"c"]), b"abc");
        let all: Vec<u8> = (0..=250).cycle().take(HEAD + TAIL).collect();
        assert_eq!(captured(&[&all]), all);
        let halves = all.chunks(1000).collect::<Vec<_>>();
        assert_eq!(captured(&halves), all);
    }

    #[test]
    fn r20_of_too_much_both_ends_are_kept() {
        let all: Vec<u8> = (0..1_000_003u32).map(|n| b'a' + (n % 23) as u8).collect();
        for size in [1, 7, 4096, 65_536, 70_000, all.len()] {
            let pieces: Vec<&[u8]> = all.chunks(size).collect();
            let kept = captured(&pieces);
            assert_eq!(kept[..HEAD], all[..HEAD], "{size}");
            assert_eq!(kept[kept.len() - TAIL..], all[all.len() - TAIL..], "{size}");
            let gap = format!("\n[{} bytes left out]\n", all.len() - HEAD - TAIL);
            assert_eq!(kept[HEAD..kept.len() - TAIL], *gap.as_bytes(), "{size}");
        }
    }

    #[test]
    fn r20_the_cut_is_at_a_character() {
        for shift in 0..4 {
            let text = "x".repeat(shift) + &"é€😀".repeat(20_000);
            let kept = captured(&[text.as_bytes()]);
            let kept = String::from_utf8(kept).expect("no character is cut");
            assert!(kept.len() > HEAD + TAIL - 8 && kept.len() < HEAD + TAIL + 40);
        }
    }

    #[test]
    fn memory_is_bounded() {
        let mut capture = Capture::default();
        let much = vec![b'x'; 100_000];
        for _ in 0..1000 {
            capture.push(&much);
        }
        assert!(capture.head.capacity() + capture.tail.capacity() < 256 << 10);
    }

    #[test]
    fn the_last_line_is_the_last_that_says_something() {
        assert_eq!(last_line(b"a\nb\n\n  \n"), Some("b".into()));
        assert_eq!(last_line(b"10%\r50%\r"), Some("50%".into()));
        assert_eq!(last_line(b" \n"), None);
        assert_eq!(last_line(b""), None);
        assert_eq!(last_line(&[b'z'; 9000]).unwrap().len(), 500);
    }
}
