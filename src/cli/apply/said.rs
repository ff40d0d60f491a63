//! How much a change of many messages is, and how that is told.

use super::{ALL, Job, Meant};
use crate::backend::Backend;
use crate::cli::fail::Fail;
use crate::cli::words;
use crate::queue::{Selection, State};
use crate::ui::text::counted;

impl Job<'_> {
    /// The command line again, with one more flag: before a command, if there is one.
    pub(super) fn retyped(&self, flag: &str) -> String {
        let args = self.ctx.args();
        let mut line = vec!["qops".to_owned()];
        line.extend(words::typed(
            args.get(1..).unwrap_or_default(),
            self.ctx.globals(),
        ));
        let end = line.iter().position(|word| word == "--");
        line.insert(end.unwrap_or(line.len()), flag.to_owned());
        line.join(" ")
    }

    /// What one of them, or several, are called.
    pub(super) fn noun(&self, many: bool) -> &'static str {
        let dead = if self.select.state.is_empty() {
            self.select.dead || self.states.otherwise == [State::Dead]
        } else {
            self.select.state == [State::Dead]
        };
        let named = !(self.select.ids.is_empty() && self.select.filter.named.is_empty());
        match (dead && (!named || self.states.always), many) {
            (true, true) => "dead letters",
            (true, false) => "dead letter",
            (false, true) => "messages",
            (false, false) => "message",
        }
    }

    /// A number of them, with their noun.
    pub(in crate::cli) fn counted(&self, n: u64) -> String {
        counted(n, self.noun(false), self.noun(true))
    }

    /// Letters that expired are passed over: whoever looks for them in what was done is told where they are.
    pub(super) fn expired(
        &self,
        store: &mut dyn Backend,
        meant: &Meant,
        done: u64,
    ) -> Result<Option<String>, Fail> {
        let limit = self.select.filter.limit();
        if !meant.base.skip_expired || limit.is_some_and(|limit| done >= limit) {
            return Ok(None);
        }
        let all = Selection {
            skip_expired: false,
            ..meant.base.clone()
        };
        let expired = store
            .count(&all, ALL)?
            .n
            .saturating_sub(store.count(&meant.base, ALL)?.n);
        let letters = counted(
            expired,
            "dead letter that expired is",
            "dead letters that expired are",
        );
        Ok((expired > 0).then(|| format!("{letters} passed over: --expired takes them, too")))
    }

    /// How many are meant, the limit counted in.
    pub(super) fn count(&self, store: &mut dyn Backend, meant: &Meant) -> Result<u64, Fail> {
        let mut n = 0;
        for what in meant.each() {
            n += store.count(&what, ALL)?.n;
        }
        Ok(self.select.filter.limit().map_or(n, |limit| n.min(limit)))
    }
}
