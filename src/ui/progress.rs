//! A bar for long work: on stderr, on a terminal, and nowhere else. It never hides the cursor, so that nothing is to be
//! shown again when the program is stopped in the middle.

use super::text::{Shown, grouped};
use super::{Loudness, Ui};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use std::fmt::Write;
use std::time::Duration;

/// How far a piece of work is. It leaves the line when it is dropped.
pub struct Progress(ProgressBar);

impl Ui {
    /// A bar over `total` items; without a total it counts. Hidden off a terminal and with `-q`.
    #[must_use]
    pub fn progress(&self, what: &str, total: Option<u64>) -> Progress {
        let visible = self.decided.stderr && self.decided.loudness > Loudness::Quiet;
        let target = if visible {
            ProgressDrawTarget::stderr()
        } else {
            ProgressDrawTarget::hidden()
        };
        let bar = ProgressBar::with_draw_target(total, target);
        let template = match total {
            Some(_) => "{msg} {wide_bar} {done} of {all}  {eta}",
            None => "{msg} {spinner} {done}  {elapsed}",
        };
        let count = |n: fn(&ProgressState) -> u64| {
            move |state: &ProgressState, out: &mut dyn Write| {
                let _ = out.write_str(&grouped(n(state)));
            }
        };
        if let Ok(style) = ProgressStyle::with_template(template) {
            let style = style
                .with_key("done", count(ProgressState::pos))
                .with_key("all", count(|state| state.len().unwrap_or(0)));
            bar.set_style(style);
        }
        bar.set_message(Shown::new(what).into_string());
        if visible && total.is_none() {
            bar.enable_steady_tick(Duration::from_millis(200));
        }
        Progress(bar)
    }
}

impl Ui {
    /// A line that says how things stand; hidden off a terminal and with `-q`.
    #[must_use]
    pub fn status(&self, text: &str) -> Progress {
        let visible = self.decided.stderr && self.decided.loudness > Loudness::Quiet;
        let target = if visible {
            ProgressDrawTarget::stderr()
        } else {
            ProgressDrawTarget::hidden()
        };
        let bar = ProgressBar::with_draw_target(None, target);
        if let Ok(style) = ProgressStyle::with_template("{msg}") {
            bar.set_style(style);
        }
        bar.set_message(Shown::new(text).into_string());
        bar.tick();
        Progress(bar)
    }
}

impl Progress {
    /// So many more are done.
    pub fn advance(&self, by: u64) {
        self.0.inc(by);
    }

    /// Runs something that prints while the bar is out of the way.
    pub fn around<T>(&self, act: impl FnOnce() -> T) -> T {
        self.0.suspend(act)
    }

    /// Takes the bar away.
    pub fn finish(self) {
        drop(self);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
