//! Exit codes: one table, and total functions into it from everything that can go wrong.

use crate::backend::Kind;
use crate::worker::Ending;
use std::process::ExitCode;

macro_rules! codes {
    ($($(#[$meta:meta])* $name:ident = $number:literal, $meaning:literal;)*) => {
        /// What the program's end means.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Code { $($(#[$meta])* $name),* }

        impl Code {
            /// The whole table, in the order of the numbers.
            pub const ALL: &'static [Self] = &[$(Self::$name),*];

            /// The number that the shell sees.
            #[must_use]
            pub fn number(self) -> u8 {
                match self { $(Self::$name => $number),* }
            }

            /// What it means, in a line.
            #[must_use]
            pub fn meaning(self) -> &'static str {
                match self { $(Self::$name => $meaning),* }
            }
        }
    };
}

codes! {
    /// All is well.
    Done = 0, "done; also: there was nothing to do";
    /// Nothing there.
    Nothing = 1, "nothing there (claim on an empty queue, peek -e without a match), or work left a message dead";
    /// Usage.
    Usage = 2, "usage, configuration or filter; the worker's command cannot run";
    /// Partly done.
    Partly = 3, "partly done; each failed item is named";
    /// Refused.
    Refused = 4, "refused: not confirmed, another count than --expect, a read-only context, queue rm of a queue that is not empty";
    /// Denied.
    Denied = 5, "authentication or permission; a replica, a read-only file or directory";
    /// Not found.
    NotFound = 6, "not found: queue, message, store; schema missing, older or newer; a file that is not ours; WAL refused on a network disk";
    /// Conflict.
    Conflict = 7, "conflict: a stale receipt, a key that exists with --on-conflict error, a message that is running";
    /// Unavailable.
    Unavailable = 8, "store unavailable, timed out, busy or full: worth retrying (an enqueue only with keys)";
    /// Bad input.
    BadInput = 9, "bad or too large input";
    /// A bug.
    Bug = 70, "a bug in qops, or a store that answers nonsense";
    /// SIGHUP.
    HungUp = 129, "stopped by SIGHUP (work: the second signal, or its grace was over)";
    /// SIGINT.
    Interrupted = 130, "stopped by SIGINT (work: the second signal, or its grace was over)";
    /// SIGKILL.
    Killed = 137, "the worker process was killed, and its outer process cleaned up";
    /// SIGTERM.
    Terminated = 143, "stopped by SIGTERM (work: the second signal, or its grace was over)";
}

impl Code {
    /// What a signal that ended the program means.
    #[must_use]
    pub fn of_signal(signal: i32) -> Self {
        match signal {
            signal_hook::consts::SIGHUP => Self::HungUp,
            signal_hook::consts::SIGTERM => Self::Terminated,
            signal_hook::consts::SIGKILL => Self::Killed,
            _ => Self::Interrupted,
        }
    }

    /// The code with this number.
    #[must_use]
    pub fn from_number(number: u8) -> Option<Self> {
        Self::ALL
            .iter()
            .copied()
            .find(|code| code.number() == number)
    }
}

impl From<Kind> for Code {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Config | Kind::Unsupported => Self::Usage,
            Kind::Refused => Self::Refused,
            Kind::Auth | Kind::Denied | Kind::ReadOnly => Self::Denied,
            Kind::Schema | Kind::NotFound | Kind::Corrupt => Self::NotFound,
            Kind::Conflict => Self::Conflict,
            Kind::Unreachable | Kind::Busy | Kind::Timeout | Kind::Full => Self::Unavailable,
            Kind::BadInput | Kind::TooLarge => Self::BadInput,
            Kind::Bug => Self::Bug,
        }
    }
}

impl From<Ending> for Code {
    fn from(ending: Ending) -> Self {
        match ending {
            Ending::CannotRun => Self::Usage,
            Ending::Signalled(signal) => Self::of_signal(signal),
            Ending::Store(kind) => kind.into(),
            Ending::LeftDead => Self::Nothing,
            Ending::Clean => Self::Done,
        }
    }
}

impl From<Code> for ExitCode {
    fn from(code: Code) -> Self {
        code.number().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_order_and_every_number_stands_once() {
        let numbers: Vec<u8> = Code::ALL.iter().map(|code| code.number()).collect();
        assert!(numbers.is_sorted_by(|a, b| a < b));
        assert_eq!(
            numbers,
            [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 70, 129, 130, 137, 143]
        );
        for code in Code::ALL {
            assert_eq!(Code::from_number(code.number()), Some(*code));
            assert!(!code.meaning().is_empty());
        }
    }

    #[test]
    fn every_kind_of_error_has_its_code() {
        let table = [
            (Kind::Config, 2),
            (Kind::Unsupported, 2),
            (Kind::Refused, 4),
            (Kind::Auth, 5),
            (Kind::Denied, 5),
            (Kind::ReadOnly, 5),
            (Kind::Schema, 6),
            (Kind::NotFound, 6),
            (Kind::Corrupt, 6),
            (Kind::Conflict, 7),
            (Kind::Unreachable, 8),
            (Kind::Busy, 8),
            (Kind::Timeout, 8),
            (Kind::Full, 8),
            (Kind::BadInput, 9),
            (Kind::TooLarge, 9),
            (Kind::Bug, 70),
        ];
        assert_eq!(table.len(), Kind::ALL.len());
        for (kind, number) in table {
            assert_eq!(Code::from(kind).number(), number, "{kind:?}");
        }
    }

    #[test]
    fn every_end_of_a_worker_has_its_code() {
        for (ending, number) in [
            (Ending::Clean, 0),
            (Ending::LeftDead, 1),
            (Ending::CannotRun, 2),
            (Ending::Store(Kind::Full), 8),
            (Ending::Store(Kind::Schema), 6),
            (Ending::Signalled(1), 129),
            (Ending::Signalled(2), 130),
            (Ending::Signalled(15), 143),
        ] {
            assert_eq!(Code::from(ending).number(), number, "{ending:?}");
        }
    }
}
