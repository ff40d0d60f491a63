//! Where a walk goes on: the text that outlives the process.

use super::super::{Error, Kind, Result};
use crate::queue::{Cursor, Timestamp};

/// A place in a segment: priority, due time (or a letter's number), id. Only a ready one uses all three.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Key(pub(super) i64, pub(super) i64, pub(super) i64);

/// Where a walk goes on, and the instant that tells ready from delayed all along it.
pub(super) struct Place {
    pub(super) now: Timestamp,
    pub(super) segment: usize,
    pub(super) key: Option<Key>,
}

impl Place {
    pub(super) fn cursor(&self) -> Cursor {
        match self.key {
            None => format!("{}:{}", self.now.0, self.segment).into(),
            Some(Key(a, b, c)) => format!("{}:{}:{a}:{b}:{c}", self.now.0, self.segment).into(),
        }
    }

    pub(super) fn read(cursor: &Cursor) -> Result<Self> {
        let parts: Vec<i64> = cursor
            .as_str()
            .split(':')
            .map(str::parse)
            .collect::<std::result::Result<_, _>>()
            .map_err(|error| {
                Error::new(Kind::BadInput, "the cursor is not one of this store's").because(error)
            })?;
        match parts[..] {
            [now, segment] => Ok(Self {
                now: Timestamp(now),
                segment: position(segment)?,
                key: None,
            }),
            [now, segment, a, b, c] => Ok(Self {
                now: Timestamp(now),
                segment: position(segment)?,
                key: Some(Key(a, b, c)),
            }),
            _ => Err(Error::new(
                Kind::BadInput,
                "the cursor is not one of this store's",
            )),
        }
    }
}

fn position(segment: i64) -> Result<usize> {
    usize::try_from(segment).map_err(|error| {
        Error::new(Kind::BadInput, "the cursor is not one of this store's").because(error)
    })
}
