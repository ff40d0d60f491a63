//! Ids that were named and were neither changed nor passed over: each is said, with why.

use super::super::fail::Fail;
use super::super::report::Report;
use super::super::{show, suggest};
use super::Job;
use crate::backend::{Backend, Kind, Page};
use crate::queue::{MessageId, Order, QueueName, Selection, State};
use std::collections::{HashMap, HashSet};

impl Job<'_> {
    /// Says why each id that was named and not seen is missing, and counts it as failed.
    pub(super) fn missing(
        &self,
        store: &mut dyn Backend,
        what: &Selection,
        seen: &HashSet<MessageId>,
        report: &mut Report,
    ) -> Result<(), Fail> {
        let Some(ids) = &what.ids else { return Ok(()) };
        let lost: Vec<MessageId> = ids
            .iter()
            .filter(|id| !seen.contains(id))
            .cloned()
            .collect();
        if lost.is_empty() {
            return Ok(());
        }
        let (found, gone) = look_up(store, &lost)?;
        for id in lost {
            let fail = match found.get(&id) {
                Some((queue, _)) if queue != self.queue => {
                    let what = format!(
                        "message {id} is in queue '{queue}', not in '{}'",
                        self.queue
                    );
                    Fail::new(Kind::NotFound, what)
                }
                Some((_, state)) if what.wants(*state) => {
                    // It is there, and another flag leaves it out: that is what the flag is for.
                    continue;
                }
                Some((_, state)) => Fail::new(
                    Kind::Conflict,
                    format!("message {id} is {state}, not {}", states(what)),
                ),
                None => {
                    let fail = Fail::from(show::missing(&id, gone.contains(&id)));
                    suggest::explained(fail, self.ctx)
                }
            };
            report.fail(self.ctx, &fail);
        }
        Ok(())
    }
}

fn states(what: &Selection) -> String {
    let words: Vec<&str> = what.states.iter().map(|state| state.word()).collect();
    words.join(" or ")
}

type Found = HashMap<MessageId, (QueueName, State)>;

/// Where messages are, wherever they are, and which of them are no longer here.
fn look_up(
    store: &mut dyn Backend,
    ids: &[MessageId],
) -> Result<(Found, HashSet<MessageId>), Fail> {
    let anywhere = Selection {
        ids: Some(ids.to_vec()),
        ..Selection::default()
    };
    let (mut found, mut gone) = (Found::new(), HashSet::new());
    let mut after = None;
    loop {
        let page = Page {
            after: after.as_ref(),
            ..Page::first(ids.len(), Order::Oldest)
        };
        let peeked = store.peek(&anywhere, &page)?;
        let places = peeked.rows.into_iter();
        found.extend(places.map(|message| (message.id, (message.queue, message.state))));
        gone.extend(peeked.gone);
        match peeked.next {
            None => return Ok((found, gone)),
            next => after = next,
        }
    }
}
