//! What a store can do.

macro_rules! features {
    ($($(#[$meta:meta])* $name:ident = $bit:literal),* $(,)?) => {
        /// A set, so that what a request needs and what a store has meet in one line of the checked door.
        #[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
        pub struct Features(u64);

        impl Features {
            $($(#[$meta])* pub const $name: Self = Self(1 << $bit);)*

            /// Every feature with its name.
            pub const NAMED: &'static [(&'static str, Self)] = &[$((stringify!($name), Self::$name)),*];
        }
    };
}

features! {
    /// A key per message, unique in its queue while the message lives and for a window after it is done.
    KEYS = 0,
    /// Groups: members run one at a time, in order.
    GROUPS = 1,
    /// Priorities −9 to 9.
    PRIORITY = 2,
    /// A message or a retry can wait.
    DELAY = 3,
    /// A message can expire.
    TTL = 4,
    /// Headers beside the payload.
    HEADERS = 5,
    /// A batch can be stored all or none.
    WHOLE = 6,
    /// A start can be marked durably, and attempts count starts.
    START = 7,
    /// A lease can be extended.
    EXTEND = 8,
    /// A receipt is good in another process.
    PORTABLE_RECEIPT = 9,
    /// Dead letters can be claimed where they lie.
    CLAIM_SELECTED = 10,
    /// Messages can be looked at without a claim, selected and counted.
    PEEK = 11,
    /// Dead letters and waiting messages can be made ready.
    REQUEUE = 12,
    /// Dead letters can go to another queue.
    TRANSFER = 13,
    /// Messages can be deleted.
    PURGE = 14,
    /// The runs of a message are kept.
    HISTORY = 15,
    /// A queue has settings of its own, and can be paused.
    SETTINGS = 16,
    /// A watch rings when something comes, not only by the clock.
    BELL = 17,
    /// What became due takes its place by its due time among the ready.
    DUE_ORDER = 18,
    /// A key or a group may have a zero byte in it.
    ZERO_BYTES = 19,
}

impl Features {
    /// No feature.
    pub const NONE: Self = Self(0);

    /// Both.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// These, or none.
    #[must_use]
    pub const fn when(self, on: bool) -> Self {
        if on { self } else { Self::NONE }
    }

    /// What of these is not in `has`.
    #[must_use]
    pub const fn missing(self, has: Self) -> Self {
        Self(self.0 & !has.0)
    }

    /// Whether all of `other` are here.
    #[must_use]
    pub const fn has(self, other: Self) -> bool {
        other.missing(self).0 == 0
    }

    /// The names of the set, in order.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        Self::NAMED
            .iter()
            .filter(move |(_, feature)| self.has(*feature))
            .map(|(name, _)| *name)
    }
}

/// What a handle can do, and its limits.
#[derive(Clone, Copy, Debug)]
pub struct Capability {
    /// What it can do.
    pub features: Features,
    /// The most messages, settles or rows of one call.
    pub max_batch: usize,
    /// The most payload bytes of one call, and of one message.
    pub max_bytes: usize,
    /// A batch that may be split is best split at so many payload bytes; one larger message goes alone.
    pub aim_bytes: usize,
}
