//! Signals for verbs other than work: the first is heard after the chunk, the second ends the program at once.

use super::exit::Code;
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
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            if is_ignored(signal) {
                continue;
            }
            let again = Arc::new(AtomicBool::new(false));
            // The order matters: the second handler arms the first for the next signal.
            signal_hook::flag::register_conditional_shutdown(
                signal,
                Code::of_signal(signal).number().into(),
                Arc::clone(&again),
            )?;
            signal_hook::flag::register(signal, again)?;
            signal_hook::flag::register_usize(
                signal,
                Arc::clone(&heard),
                usize::try_from(signal).unwrap_or(0),
            )?;
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

/// Whether a signal was ignored when the program began; where the system does not tell, it was not.
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status
        .lines()
        .find_map(|line| line.strip_prefix("SigIgn:"))
        .and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .unwrap_or(0);
    mask >> (signal - 1) & 1 == 1
}
