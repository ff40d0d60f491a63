//! Arguments with places for the message in them. Nothing here ever passes through a shell.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

/// A word of the command line, taken apart once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Word {
    /// As it is.
    Fixed(OsString),
    /// To be put together for each message.
    Made(Vec<Piece>),
}

/// A piece of a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Piece {
    /// As it is.
    Text(Vec<u8>),
    /// Of the message.
    Place(Place),
}

/// What of a message stands in an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// `{}`
    Payload,
    /// `{file}`: the path of a file that holds the payload.
    File,
    /// `{id}`
    Id,
    /// `{key}`; empty where there is none.
    Key,
    /// `{queue}`
    Queue,
    /// `{attempt}`
    Attempt,
}

const PLACES: [(&str, Place); 6] = [
    ("{}", Place::Payload),
    ("{file}", Place::File),
    ("{id}", Place::Id),
    ("{key}", Place::Key),
    ("{queue}", Place::Queue),
    ("{attempt}", Place::Attempt),
];

impl Word {
    /// Takes a word apart; braces around anything else stay as they are.
    pub(super) fn parse(word: &OsStr) -> Self {
        let mut rest = word.as_bytes();
        let mut pieces = vec![];
        let mut text = vec![];
        while !rest.is_empty() {
            let found = PLACES
                .iter()
                .find(|(name, _)| rest.starts_with(name.as_bytes()));
            if let Some((name, place)) = found {
                if !text.is_empty() {
                    pieces.push(Piece::Text(std::mem::take(&mut text)));
                }
                pieces.push(Piece::Place(*place));
                rest = &rest[name.len()..];
            } else {
                text.push(rest[0]);
                rest = &rest[1..];
            }
        }
        if pieces.is_empty() {
            return Self::Fixed(word.to_owned());
        }
        if !text.is_empty() {
            pieces.push(Piece::Text(text));
        }
        Self::Made(pieces)
    }

    /// Whether this place stands in it.
    pub(super) fn has(&self, place: Place) -> bool {
        matches!(self, Self::Made(pieces) if pieces.contains(&Piece::Place(place)))
    }

    /// Whether any place stands in it.
    pub(super) fn is_made(&self) -> bool {
        matches!(self, Self::Made(_))
    }
}

/// What stands in the places.
#[derive(Clone, Copy, Debug)]
pub(super) struct Filling<'a> {
    /// For `{}`.
    pub(super) payload: &'a [u8],
    /// For `{file}`, if a place wants one.
    pub(super) file: Option<&'a Path>,
    /// For `{id}`.
    pub(super) id: &'a str,
    /// For `{key}`; empty without one.
    pub(super) key: &'a str,
    /// For `{queue}`.
    pub(super) queue: &'a str,
    /// For `{attempt}`, from 1.
    pub(super) attempt: u32,
}

/// Why a message cannot be an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Nul(pub(super) Place);

/// Puts a made word together.
pub(super) fn fill(pieces: &[Piece], with: &Filling<'_>) -> Result<OsString, Nul> {
    let mut word = vec![];
    for piece in pieces {
        let attempt;
        let (place, bytes) = match piece {
            Piece::Text(text) => {
                word.extend_from_slice(text);
                continue;
            }
            Piece::Place(place) => (
                *place,
                match place {
                    Place::Payload => with.payload,
                    Place::File => with
                        .file
                        .map_or(&b""[..], |path| path.as_os_str().as_bytes()),
                    Place::Id => with.id.as_bytes(),
                    Place::Key => with.key.as_bytes(),
                    Place::Queue => with.queue.as_bytes(),
                    Place::Attempt => {
                        attempt = with.attempt.to_string();
                        attempt.as_bytes()
                    }
                },
            ),
        };
        if bytes.contains(&0) {
            return Err(Nul(place));
        }
        word.extend_from_slice(bytes);
    }
    Ok(OsString::from_vec(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(word: &str, payload: &[u8]) -> Result<Vec<u8>, Nul> {
        let with = Filling {
            payload,
            file: Some(Path::new("/tmp/x y")),
            id: "42",
            key: "k:1",
            queue: "a b",
            attempt: 3,
        };
        match Word::parse(OsStr::new(word)) {
            Word::Fixed(word) => Ok(word.into_vec()),
            Word::Made(pieces) => fill(&pieces, &with).map(OsString::into_vec),
        }
    }

    #[test]
    fn places_are_filled_anywhere_in_a_word() {
        for (word, becomes) in [
            ("plain", "plain"),
            ("", ""),
            ("{}", "P"),
            ("{}.thumb.jpg", "P.thumb.jpg"),
            ("--in={file}", "--in=/tmp/x y"),
            ("{id}/{key}/{queue}/{attempt}", "42/k:1/a b/3"),
            ("{}{}", "PP"),
            ("{ }", "{ }"),
            ("{print $1}", "{print $1}"),
            ("{{}}", "{P}"),
            ("{ID}", "{ID}"),
            ("{id", "{id"),
        ] {
            assert_eq!(filled(word, b"P"), Ok(becomes.into()), "{word}");
        }
    }

    #[test]
    fn a_filling_is_never_looked_at_again() {
        assert_eq!(
            filled("{}", b"{id}$(x)`y`;'"),
            Ok(b"{id}$(x)`y`;'".to_vec())
        );
        assert_eq!(filled("{}", b"\xff\xfe"), Ok(b"\xff\xfe".to_vec()));
    }

    #[test]
    fn a_nul_cannot_be_an_argument() {
        assert_eq!(filled("a{}", b"x\0y"), Err(Nul(Place::Payload)));
        assert_eq!(filled("{id}", b"x\0y"), Ok(b"42".to_vec()));
    }
}
