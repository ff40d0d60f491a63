//! Where a walk over a store of tables goes on: the text that outlives the process.

use super::{Error, Kind, Result};
use crate::queue::{Cursor, Timestamp};

/// A place in a segment: priority, due time (or a letter's number), id. Only a ready one uses all three.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::backend) struct Key(
    pub(in crate::backend) i64,
    pub(in crate::backend) i64,
    pub(in crate::backend) i64,
);

/// Where a walk goes on, and the instant that tells ready from delayed all along it.
pub(in crate::backend) struct Place {
    /// The walk goes through messages found by an index, not along the segments.
    pub(in crate::backend) named: bool,
    /// The instant at which the walk began.
    pub(in crate::backend) now: Timestamp,
    /// Which of the walk's segments, from 0.
    pub(in crate::backend) segment: usize,
    /// The last message that was seen in it; none at its beginning.
    pub(in crate::backend) key: Option<Key>,
}

/// How the text of a place among named messages begins.
const NAMED: &str = "n";

impl Place {
    /// As text, for whoever goes on.
    pub(in crate::backend) fn cursor(&self) -> Cursor {
        let way = if self.named { NAMED } else { "" };
        let (now, segment) = (self.now.0, self.segment);
        match self.key {
            None => format!("{way}{now}:{segment}").into(),
            Some(Key(a, b, c)) => format!("{way}{now}:{segment}:{a}:{b}:{c}").into(),
        }
    }

    /// The place of a cursor.
    ///
    /// # Errors
    /// [`Kind::BadInput`]: it is none of this store's.
    pub(in crate::backend) fn read(cursor: &Cursor) -> Result<Self> {
        let text = cursor.as_str();
        let named = text.starts_with(NAMED);
        let parts: Vec<i64> = text
            .trim_start_matches(NAMED)
            .split(':')
            .map(str::parse)
            .collect::<std::result::Result<_, _>>()
            .map_err(|error| {
                Error::new(Kind::BadInput, "the cursor is not one of this store's").because(error)
            })?;
        match parts[..] {
            [now, segment] => Ok(Self {
                named,
                now: Timestamp(now),
                segment: position(segment)?,
                key: None,
            }),
            [now, segment, a, b, c] => Ok(Self {
                named,
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
