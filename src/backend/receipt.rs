//! The receipt of a store of tables. The text is `id.delivery.token`; whoever holds it needs nothing else.

use crate::queue::{MessageId, Receipt};

/// A receipt's parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Lease {
    /// The message.
    pub(super) id: i64,
    /// None: no claim ever minted such a text. It is good for nothing, but the message may be there.
    pub(super) token: Option<i64>,
    /// It is a member of a group, where the store wants to know that before it looks.
    pub(super) grouped: bool,
}

/// How the text ends for a member of a group.
const GROUPED: &str = ".g";

/// The receipt of one delivery.
pub(super) fn mint(id: i64, delivery: u64, token: i64, grouped: bool) -> Receipt {
    let tail = if grouped { GROUPED } else { "" };
    format!("{id}.{delivery}.{token:016x}{tail}").into()
}

impl Lease {
    /// None: the text names no message.
    pub(super) fn of(receipt: &Receipt) -> Option<Self> {
        let text = receipt.as_str();
        let (id, rest) = text.split_once('.')?;
        let id = id.parse().ok()?;
        let grouped = rest.ends_with(GROUPED);
        let minted = |rest: &str| {
            let (delivery, token) = rest.split_once('.')?;
            let delivery = delivery.parse().ok()?;
            let token = u64::from_str_radix(token, 16).ok()?.cast_signed();
            (mint(id, delivery, token, grouped).as_str() == text).then_some(token)
        };
        Some(Self {
            id,
            token: minted(rest.trim_end_matches(GROUPED)),
            grouped,
        })
    }
}

/// Reads an id that a person typed; none if it cannot be a number of ours.
pub(super) fn number_of(id: &MessageId) -> Option<i64> {
    let text = id.as_str();
    let plain = !text.is_empty()
        && text.bytes().all(|byte| byte.is_ascii_digit())
        && !text.starts_with('0');
    plain.then(|| text.parse().ok()).flatten()
}
