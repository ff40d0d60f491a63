//! Names and opaque texts. Only the backend that minted an opaque text reads it.

use std::fmt;
use std::sync::Arc;

macro_rules! text {
    ($($(#[$meta:meta])* $name:ident),* $(,)?) => { $(
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(Arc<str>);

        impl $name {
            /// The text as it is.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    )* };
}

text! {
    /// A queue's name: a value, never part of an identifier, a pattern or a path. See [`QueueName::parse`].
    QueueName,
    /// The group of a message: members run one at a time, in the order of their enqueue.
    Group,
    /// Unique in its store and never used again. A number in SQLite; a string in every record.
    MessageId,
    /// Names one delivery of one message (id and fence); whole in itself, so that `ack` in another process needs
    /// nothing else.
    Receipt,
    /// A place in a walk. It outlives the handle and the process.
    Cursor,
}

macro_rules! opaque {
    ($($name:ident),*) => { $(
        impl<T: Into<Arc<str>>> From<T> for $name {
            fn from(text: T) -> Self {
                Self(text.into())
            }
        }
    )* };
}
opaque!(Group, MessageId, Receipt, Cursor);

impl Receipt {
    /// The message that it is a receipt of: whoever holds one can look the message up. Every store writes a receipt as
    /// the id, a dot, and two parts of its own without a dot.
    #[must_use]
    pub fn id(&self) -> MessageId {
        let id = self.0.rsplitn(3, '.').nth(2).unwrap_or_default();
        MessageId::from(id)
    }
}

/// The number of an operation (one run of requeue, drain or purge), from [`crate::backend::Backend::begin`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct OpId(pub u64);

/// Why a text is no queue's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameError {
    /// No character at all.
    Empty,
    /// More than 200 bytes.
    TooLong,
    /// A C0, DEL or C1 character.
    Control,
    /// White space at the beginning or the end.
    OuterSpace,
    /// The name `-`, which means standard input.
    Dash,
    /// Not UTF-8.
    NotUtf8,
}

impl fmt::Display for NameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Empty => "a queue's name cannot be empty",
            Self::TooLong => "a queue's name has at most 200 bytes",
            Self::Control => "a queue's name has no control character",
            Self::OuterSpace => "a queue's name has no space at its beginning or end",
            Self::Dash => "'-' is no queue's name: it stands for standard input",
            Self::NotUtf8 => "a queue's name is UTF-8",
        })
    }
}

impl std::error::Error for NameError {}

impl QueueName {
    /// The longest name, in bytes.
    pub const MAX_BYTES: usize = 200;

    /// Takes a text as a queue's name: 1–200 bytes, no control character, no outer space, not `-`.
    ///
    /// # Errors
    /// The rule that the text breaks.
    pub fn parse(text: &str) -> Result<Self, NameError> {
        if text.is_empty() {
            return Err(NameError::Empty);
        }
        if text.len() > Self::MAX_BYTES {
            return Err(NameError::TooLong);
        }
        if text.chars().any(char::is_control) {
            return Err(NameError::Control);
        }
        if text.trim() != text {
            return Err(NameError::OuterSpace);
        }
        if text == "-" {
            return Err(NameError::Dash);
        }
        Ok(Self(text.into()))
    }
}

impl std::str::FromStr for QueueName {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        Self::parse(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_are_allowed() {
        let long = "x".repeat(200);
        for name in [
            "a",
            "a-b",
            "Ação",
            "a\"b",
            "o'brien",
            "a$$b",
            "x.job",
            "';drop table message;--",
            "../x",
            "*",
            "%",
            "_",
            "--",
            "a b",
            &long,
        ] {
            assert_eq!(QueueName::parse(name).unwrap().as_str(), name);
        }
    }

    #[test]
    fn a_receipt_names_its_message() {
        for (receipt, id) in [
            ("7.1.00ff", "7"),
            ("1700000000000-0@a.b.3.x", "1700000000000-0@a.b"),
            ("nonsense", ""),
            ("", ""),
        ] {
            assert_eq!(Receipt::from(receipt).id().as_str(), id);
        }
    }

    #[test]
    fn names_that_are_refused() {
        let long = "x".repeat(201);
        for (name, why) in [
            ("", NameError::Empty),
            (long.as_str(), NameError::TooLong),
            ("a\nb", NameError::Control),
            ("a\u{7f}", NameError::Control),
            ("a\u{85}b", NameError::Control),
            (" a", NameError::OuterSpace),
            ("a\u{a0}", NameError::OuterSpace),
            ("-", NameError::Dash),
        ] {
            assert_eq!(QueueName::parse(name), Err(why), "{name:?}");
        }
    }
}
