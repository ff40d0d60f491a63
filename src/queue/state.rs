//! Where a message stands, why it died, and how a run of it ended.

use std::fmt;

macro_rules! words {
    ($(#[$meta:meta])* $name:ident { $($(#[$vmeta:meta])* $variant:ident = $word:literal),* $(,)? }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum $name { $($(#[$vmeta])* $variant),* }

        impl $name {
            /// All of them, in the order in which they are shown.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// The word that stands for it in records and in stores.
            #[must_use]
            pub fn word(self) -> &'static str {
                match self { $(Self::$variant => $word),* }
            }

            /// The value that a word stands for.
            #[must_use]
            pub fn from_word(word: &str) -> Option<Self> {
                match word { $($word => Some(Self::$variant),)* _ => None }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.word())
            }
        }
    };
}

words! {
    /// Where a message stands.
    State {
        /// It may be claimed now.
        Ready = "ready",
        /// Its time has not come: a delay, or the wait before a retry.
        Delayed = "delayed",
        /// Another member of its group goes first.
        Blocked = "blocked",
        /// Claimed under a lease, even one that has ended and that nobody has reclaimed yet.
        Running = "running",
        /// A dead letter.
        Dead = "dead",
    }
}

words! {
    /// Why a message is a dead letter.
    Reason {
        /// Its last allowed attempt failed.
        Attempts = "attempts",
        /// Its command said that no retry will help (exit 65 or 100).
        Permanent = "permanent",
        /// Its last allowed attempt was lost with its worker.
        WorkerLost = "worker_lost",
        /// Its command said "temporary" too many times in a row.
        Temporary = "temporary",
        /// Its time to live passed before it was started.
        Expired = "expired",
        /// A person or a program said so by `nack --dead`.
        Nacked = "nacked",
        /// Its payload cannot be an argument of the command.
        UnusableArgument = "unusable_argument",
    }
}

words! {
    /// How one run of a message ended.
    Outcome {
        /// It began; its end is not known.
        Started = "started",
        /// Its command failed.
        Failed = "failed",
        /// Its command ran out of time.
        Timeout = "timeout",
        /// Its command asked for another try, uncharged.
        Temporary = "temporary",
        /// Its command said that no retry will help.
        Permanent = "permanent",
        /// It was given back without a charge.
        Released = "released",
        /// Its worker died or lost the lease.
        Lost = "lost",
    }
}
