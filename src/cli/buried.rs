//! Messages that a claim found past their time or their attempts: a few are named, however many there are.

use super::ctx::Ctx;
use super::words;
use crate::queue::{MessageId, QueueName, Reason};
use crate::ui::text::counted;

/// So many are named.
const NAMED: u64 = 5;

/// Tells of them as they are found.
pub(super) struct Buried<'a> {
    ctx: &'a Ctx,
    queue: &'a QueueName,
    /// What did not happen to them.
    not: &'static str,
    found: u64,
}

impl<'a> Buried<'a> {
    /// `not`: what did not happen to them, in a clause.
    pub(super) fn new(ctx: &'a Ctx, queue: &'a QueueName, not: &'static str) -> Self {
        Self {
            ctx,
            queue,
            not,
            found: 0,
        }
    }

    /// Names the first.
    pub(super) fn hear(&mut self, found: &[(MessageId, Reason)]) {
        for (id, reason) in found {
            self.found += 1;
            if self.found <= NAMED {
                self.ctx.ui.warn(format!(
                    "message {id} is a dead letter now ({reason}); {}",
                    self.not
                ));
            }
        }
    }
}

/// Counts the others.
impl Drop for Buried<'_> {
    fn drop(&mut self) {
        if let Some(more @ 1..) = self.found.checked_sub(NAMED) {
            let look = words::command(&self.ctx.program(), "peek --dead", &[self.queue.as_str()]);
            let more = counted(
                more,
                "more message is a dead letter",
                "more messages are dead letters",
            );
            self.ctx.ui.warn(format!("{more} now: {look} shows them"));
        }
    }
}
