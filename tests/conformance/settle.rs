//! `exchange`: what each verdict does while its receipt is good.

use crate::cases;
use crate::desk::{Desk, MINUTE, end, keyed, plain};
use qops::backend::{Features as F, Settle, Settled, Standing, Verdict};
use qops::queue::{Delivery, Due, Message, NewMessage, Outcome, Reason, State, Ttl};
use std::time::Duration;

const RUN: F = F::PEEK.and(F::START);

cases! {
    RUN => [
        a_start_is_counted_once,
        done_removes,
        a_retry_comes_back_at_once,
        a_charged_retry_ends_the_run_of_uncharged_ends,
        an_uncharged_retry_takes_the_attempt_back,
        a_retry_of_what_was_not_started_takes_nothing_back,
        dead_is_a_dead_letter,
        every_reason_is_kept,
        the_last_error_is_kept,
        a_retry_without_an_end_keeps_the_last_error,
        release_restores_everything,
        release_of_what_was_not_started,
        answers_are_positional,
        one_call_may_start_and_settle,
        a_message_settles_once,
    ],
    RUN.and(F::DELAY) => [
        a_retry_waits,
        release_keeps_the_place,
        a_retry_takes_its_new_place,
    ],
    RUN.and(F::EXTEND) => [an_extension_counts_from_now, an_extension_may_shorten],
    RUN.and(F::TTL) => [a_start_past_its_time_is_buried],
    RUN.and(F::PORTABLE_RECEIPT) => [a_receipt_is_good_in_another_handle],
    RUN.and(F::KEYS).and(F::PRIORITY).and(F::HEADERS) => [a_retry_keeps_what_was_given],
}

fn retry(charge: bool) -> Verdict {
    let due = Due::Now;
    Verdict::Retry { due, charge }
}

fn a_start_is_counted_once(d: &mut Desk<'_>) {
    let id = d.put(plain("q", "x"));
    let got = d.take("q");
    let before = d.op().at;
    d.sure(&got, Verdict::Start);
    let after = d.op().at;
    let first = d.get(&id);
    assert_eq!((first.attempts, first.deliveries), (1, 1));
    let started = first.started_at.unwrap();
    assert!(before <= started && started <= after);
    d.sure(&got, Verdict::Start);
    assert_eq!(d.get(&id), first, "twice counts once");
}

fn done_removes(d: &mut Desk<'_>) {
    let id = d.put(plain("q", "x"));
    let got = d.start("q");
    d.sure(&got, Verdict::Done);
    assert!(d.find(&id).is_none());
    let counts = d.counts("q");
    assert_eq!((counts.ready, counts.running, counts.dead), (0, 0, 0));
}

fn a_retry_comes_back_at_once(d: &mut Desk<'_>) {
    let id = d.put(plain("q", "x"));
    let got = d.start("q");
    d.sure_end(&got, retry(true), &end(Outcome::Failed, "no"));
    let message = d.get(&id);
    assert_eq!(message.state, State::Ready);
    assert_eq!((message.attempts, message.deferrals), (1, 0));
    assert_eq!((message.lease_until, message.worker.clone()), (None, None));
    assert_eq!(message.started_at, None);
    assert!(message.ready_at > Some(message.enqueued_at));
    assert_eq!(d.start("q").message.attempts, 2);
}

fn a_retry_waits(d: &mut Desk<'_>) {
    let id = d.put(plain("q", "x"));
    let got = d.start("q");
    let before = d.op().at;
    let due = Due::After(MINUTE * 5);
    d.sure(&got, Verdict::Retry { due, charge: true });
    let after = d.op().at;
    let message = d.get(&id);
    assert_eq!(message.state, State::Delayed);
    let ready = message.ready_at.unwrap();
    assert!(before.plus(MINUTE * 5) <= ready && ready <= after.plus(MINUTE * 5));
    d.advance(4);
    assert!(d.claim_all("q").is_empty());
    d.advance(1);
    let again = d.start("q");
    let at = d.op().at.plus(MINUTE * 9);
    let due = Due::At(at);
    d.sure(&again, Verdict::Retry { due, charge: true });
    assert_eq!(d.get(&id).ready_at, Some(at));
}

fn a_retry_takes_its_new_place(d: &mut Desk<'_>) {
    let first = d.put(plain("q", "1"));
    let got = d.start("q");
    d.put(plain("q", "2"));
    d.sure(&got, retry(true));
    assert_eq!(d.take("q").message.payload, b"2", "it waits at the end");
    assert_eq!(d.take("q").message.id, first);
}

fn uncharged(d: &mut Desk<'_>, got: &Delivery) {
    d.sure_end(got, retry(false), &end(Outcome::Temporary, "busy"));
}

fn an_uncharged_retry_takes_the_attempt_back(d: &mut Desk<'_>) {
    let id = d.put(plain("q", "x"));
    for n in 1..=3 {
        let got = d.start("q");
        assert_eq!(got.message.attempts, 1);
        uncharged(d, &got);
        let message = d.get(&id);
        assert_eq!((message.attempts, message.deferrals), (0, n));
    }
}

fn a_charged_retry_ends_the_run_of_uncharged_ends(d: &mut Desk<'_>) {
    let id = d.put(plain("q", "x"));
    for _ in 0..2 {
        let got = d.start("q");
        uncharged(d, &got);
    }
    let got = d.start("q");
    d.sure(&got, retry(true));
    let message = d.get(&id);
    assert_eq!((message.attempts, message.deferrals), (1, 0));
}

fn a_retry_of_what_was_not_started_takes_nothing_back(d: &mut Desk<'_>) {
    let id = d.put(plain("q", "x"));
    let got = d.start("q");
    d.sure(&got, retry(true));
    let got = d.take("q");
    d.sure(&got, retry(false));
    let message = d.get(&id);
    assert_eq!((message.attempts, message.deferrals), (1, 1));
}

fn dead_is_a_dead_letter(d: &mut Desk<'_>) {
    let id = d.put(plain("q", "x"));
    let got = d.start("q");
    let before = d.op().at;
    d.sure_end(
        &got,
        Verdict::Dead(Reason::Permanent),
        &end(Outcome::Permanent, "no such address"),
    );
    let after = d.op().at;
    let letter = d.get(&id);
    assert_eq!(letter.state, State::Dead);
    assert_eq!(letter.reason, Some(Reason::Permanent));
    let died = letter.died_at.unwrap();
    assert!(before <= died && died <= after);
    assert_eq!(letter.payload, b"x");
    assert_eq!((letter.attempts, letter.deliveries), (1, 1));
    assert_eq!((letter.lease_until, letter.worker), (None, None));
    assert_eq!(letter.started_at, None);
    assert_eq!(letter.last_error.as_deref(), Some("no such address"));
    assert!(d.claim_all("q").is_empty(), "never by itself again");
    d.advance(60 * 24 * 365);
    assert!(d.claim_all("q").is_empty());
    assert_eq!(d.counts("q").dead, 1);
}

fn every_reason_is_kept(d: &mut Desk<'_>) {
    for reason in Reason::ALL {
        let id = d.put(plain("q", "x"));
        let got = d.take("q");
        d.sure(&got, Verdict::Dead(*reason));
        assert_eq!(d.get(&id).reason, Some(*reason));
    }
}

fn the_last_error_is_kept(d: &mut Desk<'_>) {
    let id = d.put(plain("q", "x"));
    for error in ["first", "second \u{1F980}\n\u{1b}[2J"] {
        let got = d.start("q");
        d.sure_end(&got, retry(true), &end(Outcome::Failed, error));
        assert_eq!(d.get(&id).last_error.as_deref(), Some(error));
    }
}

fn a_retry_without_an_end_keeps_the_last_error(d: &mut Desk<'_>) {
    let id = d.put(plain("q", "x"));
    let got = d.start("q");
    d.sure_end(&got, retry(true), &end(Outcome::Failed, "no"));
    let got = d.start("q");
    d.sure(&got, retry(true));
    assert_eq!(d.get(&id).last_error.as_deref(), Some("no"));
    let got = d.start("q");
    d.sure(&got, Verdict::Dead(Reason::Nacked));
    assert_eq!(d.get(&id).last_error.as_deref(), Some("no"));
}

/// All but what a claim leaves behind.
fn at_rest(message: Message) -> Message {
    Message {
        deliveries: 0,
        history: vec![],
        ..message
    }
}

fn release_restores_everything(d: &mut Desk<'_>) {
    let id = d.put(plain("q", "x"));
    let got = d.start("q");
    d.sure_end(&got, retry(true), &end(Outcome::Failed, "no"));
    let got = d.start("q");
    uncharged(d, &got);
    let before = d.get(&id);
    let got = d.start("q");
    d.sure_end(&got, Verdict::Release, &end(Outcome::Released, "stopped"));
    let after = d.get(&id);
    assert_eq!(after.deliveries, before.deliveries + 1);
    assert_eq!(at_rest(after), at_rest(before), "even its last error");
}

fn release_of_what_was_not_started(d: &mut Desk<'_>) {
    let id = d.put(plain("q", "x"));
    let before = d.get(&id);
    let got = d.take("q");
    d.sure(&got, Verdict::Release);
    let after = d.get(&id);
    assert!(after.history.is_empty(), "no run, no row");
    assert_eq!(at_rest(after), at_rest(before));
}

fn release_keeps_the_place(d: &mut Desk<'_>) {
    for text in ["1", "2", "3"] {
        d.put(plain("q", text));
    }
    d.advance(5);
    let first = d.start("q");
    let second = d.take("q");
    d.sure(&second, Verdict::Release);
    d.sure(&first, Verdict::Release);
    let got = d.claim_all("q");
    assert_eq!(crate::desk::texts(&got), ["1", "2", "3"]);
}

fn answers_are_positional(d: &mut Desk<'_>) {
    let texts: Vec<String> = (0..6).map(|n| n.to_string()).collect();
    let batch: Vec<NewMessage<'_>> = texts.iter().map(|text| plain("q", text)).collect();
    d.put_all(&batch);
    let got = d.claim_all("q");
    d.sure(&got[1], Verdict::Done);
    d.sure(&got[3], Verdict::Dead(Reason::Nacked));
    let verdicts = [
        Verdict::Done,
        Verdict::Start,
        Verdict::Release,
        Verdict::Done,
        retry(true),
        Verdict::Dead(Reason::Permanent),
    ];
    let settle: Vec<Settle<'_>> = got
        .iter()
        .zip(verdicts)
        .map(|(delivery, verdict)| Settle {
            receipt: &delivery.receipt,
            verdict,
            end: None,
        })
        .collect();
    let settled = d.exchange(&settle, None).settled;
    let lost = Settled::LeaseLost(Standing::Dead(Reason::Nacked));
    let yes = || Settled::Yes;
    assert_eq!(settled, [yes(), Settled::Gone, yes(), lost, yes(), yes()]);
    assert_eq!(d.counts("q").ready, 2);
    assert_eq!(d.counts("q").dead, 2);
}

fn one_call_may_start_and_settle(d: &mut Desk<'_>) {
    let id = d.put(plain("q", "x"));
    let got = d.take("q");
    let failed = end(Outcome::Failed, "no");
    let both = |verdict, end| Settle {
        receipt: &got.receipt,
        verdict,
        end,
    };
    let settle = [both(Verdict::Start, None), both(retry(true), Some(&failed))];
    let settled = d.exchange(&settle, None).settled;
    assert_eq!(settled, [Settled::Yes, Settled::Yes], "in order");
    let message = d.get(&id);
    assert_eq!((message.attempts, message.history.len()), (1, 1));
}

fn a_message_settles_once(d: &mut Desk<'_>) {
    d.put(plain("q", "x"));
    let got = d.take("q");
    let done = Settle {
        receipt: &got.receipt,
        verdict: Verdict::Done,
        end: None,
    };
    let settled = d.exchange(&[done, done], None).settled;
    assert_eq!(settled, [Settled::Yes, Settled::Gone]);
}

fn an_extension_counts_from_now(d: &mut Desk<'_>) {
    let id = d.put(plain("q", "x"));
    let got = d.take("q");
    for _ in 0..5 {
        d.store.advance(MINUTE / 2);
        d.sure(&got, Verdict::Extend(MINUTE));
    }
    let (now, until) = (d.op().at, d.get(&id).lease_until.unwrap());
    assert!(until <= now.plus(MINUTE) && until > now.plus(MINUTE / 2));
    assert!(d.other("w2").claim_all("q").is_empty());
    assert_eq!(d.get(&id).deliveries, 1);
    d.advance(1);
    assert_eq!(d.other("w2").claim_all("q").len(), 1);
}

fn an_extension_may_shorten(d: &mut Desk<'_>) {
    let id = d.put(plain("q", "x"));
    let mut claimed = d.claim_as("q", |claim| claim.lease = MINUTE * 60);
    let got = claimed.got.pop().unwrap();
    d.sure(&got, Verdict::Extend(Duration::from_secs(30)));
    d.advance(1);
    assert_eq!(d.take("q").message.id, id);
}

fn a_start_past_its_time_is_buried(d: &mut Desk<'_>) {
    let id = d.put(NewMessage {
        ttl: Some(Ttl::After(MINUTE * 5)),
        ..plain("q", "x")
    });
    let mut claimed = d.claim_as("q", |claim| claim.lease = MINUTE * 30);
    let got = claimed.got.pop().unwrap();
    d.advance(5);
    let lost = Settled::LeaseLost(Standing::Dead(Reason::Expired));
    assert_eq!(d.settle(&got.receipt, Verdict::Start), lost);
    let letter = d.get(&id);
    assert_eq!(letter.state, State::Dead);
    assert_eq!(letter.reason, Some(Reason::Expired));
    assert_eq!((letter.attempts, letter.lease_until), (0, None));
    assert!(letter.history.is_empty());
    assert_eq!(d.settle(&got.receipt, Verdict::Start), lost, "again");
}

fn a_receipt_is_good_in_another_handle(d: &mut Desk<'_>) {
    let id = d.put(plain("q", "x"));
    let got = d.take("q");
    let receipt = qops::queue::Receipt::from(got.receipt.as_str());
    assert_eq!(
        d.other("somebody else").settle(&receipt, Verdict::Done),
        Settled::Yes
    );
    assert!(d.find(&id).is_none());
}

fn a_retry_keeps_what_was_given(d: &mut Desk<'_>) {
    let id = d.put(NewMessage {
        priority: 4,
        max_attempts: Some(9),
        headers: vec![("a".into(), "b".into())],
        ..keyed("q", "x", "k")
    });
    let got = d.start("q");
    d.sure(&got, retry(true));
    let message = d.get(&id);
    assert_eq!((message.priority, message.max_attempts), (4, Some(9)));
    assert_eq!(message.key.as_deref(), Some("k"));
    assert_eq!(message.headers, [("a".to_owned(), "b".to_owned())]);
    assert_eq!(message.payload, b"x");
}
