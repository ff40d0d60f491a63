//! Signals for verbs other than work: the first is heard after the chunk, the second ends the program at once.

use super::exit::Code;
use crate::worker::ignored_signals;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Whether the person, or whoever started us, wants an end.
#[derive(Clone, Debug)]
pub struct Stop(Arc<AtomicUsize>);

impl Stop {
    /// Hears SIGINT, SIGTERM and SIGHUP from now on, except those that are ignored (`nohup`). Called after a question
    /// was asked: until then a signal ends the program as it always does.
    ///
    /// # Errors
    /// The system refuses handlers.
    pub fn listen() -> io::Result<Self> {
        let heard = Arc::new(AtomicUsize::new(0));
        let ignored = ignored_signals();
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            if ignored.contains(&signal) {
                continue;
            }
            let again = Arc::new(AtomicBool::new(false));
            // First, so that no signal is lost between these lines: from the first handler on the system ends nothing by itself.
            signal_hook::flag::register_usize(
                signal,
                Arc::clone(&heard),
                usize::try_from(signal).unwrap_or(0),
            )?;
            // The order matters: the second handler arms the first for the next signal.
            signal_hook::flag::register_conditional_shutdown(
                signal,
                Code::of_signal(signal).number().into(),
                Arc::clone(&again),
            )?;
            signal_hook::flag::register(signal, again)?;
        }
        Ok(Self(heard))
    }

    /// The code to end with, once a signal has come.
    #[must_use]
    pub fn code(&self) -> Option<Code> {
        match self.0.load(Ordering::SeqCst) {
            0 => None,
            signal => Some(Code::of_signal(i32::try_from(signal).unwrap_or(SIGINT))),
        }
    }
}
