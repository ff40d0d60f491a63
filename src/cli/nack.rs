//! `nack`: a claimed message failed, or is given back.

use super::apply::begin;
use super::ctx::Ctx;
use super::fail::{Fail, Outcome};
use super::receipts::{self, Judged, Words};
use crate::backend::{Backend, Depth, Page, Verdict};
use crate::queue::retry::Settings;
use crate::queue::time::parse_duration;
use crate::queue::{
    Due, End, Message, MessageId, Order, Outcome as Ran, QueueName, Reason, Receipt, Selection,
    Timestamp,
};
use std::collections::HashMap;
use std::time::Duration;

/// `nack`
#[derive(clap::Args, Debug)]
#[command(
    after_help = "Alone it is a failed attempt: the message comes again by its queue's backoff, and is a dead letter when its attempts \
    are spent. A receipt that is stale or used changes nothing (7).\n\n\
    Examples:\n  qops nack \"$receipt\" --error 'HTTP 429'\n  qops nack \"$receipt\" --delay 10m\n  \
    qops nack \"$receipt\" --release"
)]
pub struct Args {
    /// Receipts from claim; - reads them, or claim's records, from standard input, one a line
    #[arg(required = true, value_name = "RECEIPT")]
    pub receipts: Vec<String>,
    /// A failed attempt, and again after so long instead of by the backoff
    #[arg(long, value_name = "DURATION", value_parser = parse_duration, conflicts_with_all = ["dead", "release"])]
    pub delay: Option<Duration>,
    /// A dead letter at once, with reason 'nacked'
    #[arg(long, conflicts_with = "release")]
    pub dead: bool,
    /// As if it had never been claimed: no attempt is charged
    #[arg(long)]
    pub release: bool,
    /// What went wrong; it becomes the message's last error
    #[arg(
        long,
        value_name = "TEXT",
        allow_hyphen_values = true,
        conflicts_with = "release"
    )]
    pub error: Option<String>,
}

/// Settles each.
pub(super) fn run(args: &Args, ctx: &Ctx) -> Outcome {
    let receipts = receipts::read(&args.receipts, std::io::stdin().lock());
    let words = Words {
        verb: "nack",
        past: if args.release { "released" } else { "nacked" },
    };
    let mut settings = HashMap::new();
    receipts::settle(ctx, &words, receipts, |store, batch| {
        if args.release {
            return Ok(batch.iter().map(|_| (Verdict::Release, None)).collect());
        }
        let now = begin(ctx, store, "nack")?.at;
        let found = look_up(store, batch, &mut settings)?;
        Ok(batch
            .iter()
            .map(|receipt| {
                let message = found.get(&receipt.id());
                let settings = message.and_then(|message| settings.get(&message.queue));
                judge(args, message, settings, now, fastrand::f64())
            })
            .collect())
    })
}

/// The messages of receipts, as far as they are there, and their queues' settings.
fn look_up(
    store: &mut dyn Backend,
    batch: &[Receipt],
    settings: &mut HashMap<QueueName, Settings>,
) -> Result<HashMap<MessageId, Message>, Fail> {
    let what = Selection {
        ids: Some(batch.iter().map(Receipt::id).collect()),
        ..Selection::default()
    };
    let mut found = HashMap::new();
    let mut after = None;
    loop {
        let page = Page {
            after: after.as_ref(),
            ..Page::first(batch.len(), Order::Oldest)
        };
        let peeked = store.peek(&what, &page)?;
        found.extend(peeked.rows.into_iter().map(|message| {
            // Nothing of the payload is needed, and a thousand may be large.
            let message = Message {
                payload: vec![],
                ..message
            };
            (message.id.clone(), message)
        }));
        match peeked.next {
            None => break,
            next => after = next,
        }
    }
    for message in found.values() {
        if !settings.contains_key(&message.queue) {
            let report = store.stats(Some(std::slice::from_ref(&message.queue)), Depth::Names)?;
            let own = report.into_iter().next().map(|report| report.settings);
            settings.insert(message.queue.clone(), own.unwrap_or_default());
        }
    }
    Ok(found)
}

/// The verdict over one message. One that is not there is judged all the same: the store answers what is known of it.
fn judge(
    args: &Args,
    message: Option<&Message>,
    settings: Option<&Settings>,
    now: Timestamp,
    fraction: f64,
) -> Judged {
    let started = message.and_then(|message| message.started_at);
    let end = End {
        outcome: Ran::Failed,
        exit: None,
        signal: None,
        took: started.map_or(Duration::ZERO, |started| now.since(started)),
        error: args.error.clone().unwrap_or_else(|| "nacked".to_owned()),
        stderr: vec![],
    };
    let (attempts, own) = message.map_or((1, None), |message| {
        (message.attempts, message.max_attempts)
    });
    let max = own
        .or(settings.and_then(|settings| settings.max_attempts))
        .unwrap_or(Settings::MAX_ATTEMPTS);
    let verdict = if args.dead {
        Verdict::Dead(Reason::Nacked)
    } else if attempts >= max {
        Verdict::Dead(Reason::Attempts)
    } else {
        let ladder = settings.and_then(|settings| settings.backoff.clone());
        let wait = args.delay.unwrap_or_else(|| {
            ladder
                .unwrap_or_default()
                .wait_with_jitter(attempts, fraction)
        });
        let due = if wait.is_zero() {
            Due::Now
        } else {
            Due::After(wait)
        };
        Verdict::Retry { due, charge: true }
    };
    (verdict, Some(end))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::{Ladder, State};

    fn args() -> Args {
        Args {
            receipts: vec![],
            delay: None,
            dead: false,
            release: false,
            error: None,
        }
    }

    fn message(attempts: u32, max_attempts: Option<u32>) -> Message {
        Message {
            id: "1".into(),
            queue: QueueName::parse("q").unwrap(),
            state: State::Running,
            payload: vec![],
            attempts,
            deferrals: 0,
            deliveries: 1,
            replays: 0,
            max_attempts,
            priority: 0,
            key: None,
            group: None,
            headers: vec![],
            enqueued_at: Timestamp(0),
            ready_at: None,
            expires_at: None,
            lease_until: None,
            worker: None,
            started_at: Some(Timestamp(1_000_000)),
            died_at: None,
            reason: None,
            last_error: None,
            history: vec![],
        }
    }

    fn verdict(args: &Args, message: &Message, settings: Option<&Settings>) -> Verdict {
        judge(args, Some(message), settings, Timestamp(3_000_000), 0.0).0
    }

    #[test]
    fn a_nack_climbs_the_ladder_of_its_queue_and_ends_dead() {
        let again = |secs| Verdict::Retry {
            due: Due::After(Duration::from_secs(secs)),
            charge: true,
        };
        let spent = Verdict::Dead(Reason::Attempts);
        let own = Settings {
            max_attempts: Some(3),
            backoff: Ladder::new(vec![Duration::from_secs(9)]),
            ..Settings::default()
        };
        for (attempts, max, settings, expected) in [
            (1, None, None, again(1)),
            (2, None, None, again(5)),
            (7, None, None, spent),
            (2, Some(2), None, spent),
            (2, None, Some(&own), again(9)),
            (3, None, Some(&own), spent),
            (3, Some(4), Some(&own), again(9)),
        ] {
            let message = message(attempts, max);
            assert_eq!(verdict(&args(), &message, settings), expected, "{attempts}");
        }
    }

    #[test]
    fn flags_say_otherwise() {
        let delayed = Args {
            delay: Some(Duration::from_mins(10)),
            ..args()
        };
        let expected = Verdict::Retry {
            due: Due::After(Duration::from_mins(10)),
            charge: true,
        };
        assert_eq!(verdict(&delayed, &message(2, None), None), expected);
        let spent = Verdict::Dead(Reason::Attempts);
        assert_eq!(verdict(&delayed, &message(7, None), None), spent);
        let dead = Args {
            dead: true,
            error: Some("no".to_owned()),
            ..args()
        };
        let (verdict, end) = judge(
            &dead,
            Some(&message(1, None)),
            None,
            Timestamp(3_000_000),
            0.0,
        );
        assert_eq!(verdict, Verdict::Dead(Reason::Nacked));
        let end = end.unwrap();
        assert_eq!(
            (end.error.as_str(), end.took),
            ("no", Duration::from_secs(2))
        );
    }
}
