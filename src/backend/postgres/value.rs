//! Values on their way to and from the server.

use crate::queue::{Due, Timestamp, time::micros};
use bytes::{BufMut as _, BytesMut};
use std::borrow::Cow;
use std::error::Error;
use std::time::Duration;
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type, accepts, to_sql_checked};

/// An instant as the server has it: microseconds since 2000, without a float in between.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stamp(pub(super) Timestamp);

/// From 1970 to 2000.
const EPOCH: i64 = 946_684_800_000_000;
/// 4714-11-24 BC: the server has no earlier instant.
const FIRST: i64 = -211_813_488_000_000_000;
/// How the server writes `infinity`, and `-infinity`.
const FOREVER: i64 = i64::MAX;

impl ToSql for Stamp {
    fn to_sql(&self, _: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        out.put_i64(self.0.0.saturating_sub(EPOCH).max(FIRST));
        Ok(IsNull::No)
    }

    accepts!(TIMESTAMPTZ);
    to_sql_checked!();
}

impl<'a> FromSql<'a> for Stamp {
    fn from_sql(_: &Type, raw: &'a [u8]) -> Result<Self, Box<dyn Error + Sync + Send>> {
        let stamp = i64::from_be_bytes(raw.try_into()?);
        Ok(Self(Timestamp(match stamp {
            FOREVER => FOREVER,
            stamp => stamp.saturating_add(EPOCH),
        })))
    }

    accepts!(TIMESTAMPTZ);
}

/// A length of time in microseconds that the server can add to any instant of ours.
pub(super) fn span(time: Duration) -> i64 {
    const LONGEST: i64 = 100 * 366 * 24 * 3_600 * 1_000_000;
    micros(time).min(LONGEST)
}

/// A number as `int` or `bigint` columns have it; ours are never negative.
pub(super) fn count(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}

/// The same, in 32 bits.
pub(super) fn small(number: i64) -> u32 {
    u32::try_from(number).unwrap_or(if number < 0 { 0 } else { u32::MAX })
}

/// A text as the server can keep it: it has no NUL.
pub(super) fn clean(text: &str) -> Cow<'_, str> {
    if text.contains('\0') {
        Cow::Owned(text.replace('\0', "\u{fffd}"))
    } else {
        Cow::Borrowed(text)
    }
}

/// A due time as the server takes it: an instant, or so long after its own now.
pub(super) fn due(due: Due) -> (Option<Stamp>, i64) {
    match due {
        Due::Now => (None, 0),
        Due::After(wait) => (None, span(wait)),
        Due::At(at) => (Some(Stamp(at)), 0),
    }
}

/// The text of a JSON value.
#[derive(Debug)]
pub(super) struct Json(pub(super) String);

impl ToSql for Json {
    fn to_sql(&self, _: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        out.put_slice(self.0.as_bytes());
        Ok(IsNull::No)
    }

    accepts!(JSON);
    to_sql_checked!();
}
