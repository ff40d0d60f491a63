//! `watch`: a bell that never misses what came.

use crate::cases;
use crate::desk::{Desk, MINUTE, plain, q};
use qops::backend::{Features as F, Ring, Verdict};
use std::time::{Duration, Instant};

const LONG: Duration = Duration::from_secs(20);
const SHORT: Duration = Duration::from_millis(50);

cases! {
    F::NONE => [
        it_rings_at_first,
        it_is_quiet_when_nothing_comes,
        it_is_owned_by_its_thread,
    ],
    F::BELL => [
        it_rings_when_another_handle_enqueues,
        what_came_before_the_wait_is_not_missed,
        it_rings_again_and_again,
        every_bell_rings,
        it_rings_while_it_waits,
        it_rings_for_what_was_given_back,
    ],
}

fn it_rings_at_first(d: &mut Desk<'_>) {
    d.put(plain("q", "x"));
    let mut bell = d.db.watch(&[q("q")]).unwrap();
    let begun = Instant::now();
    assert_eq!(bell.wait(LONG).unwrap(), Ring::Rang);
    assert!(begun.elapsed() < Duration::from_secs(5), "at once");
}

/// It may ring for nothing, but a bell that always rings is a busy loop.
fn it_is_quiet_when_nothing_comes(d: &mut Desk<'_>) {
    d.put(plain("q", "x"));
    let mut bell = d.db.watch(&[q("q")]).unwrap();
    let quiet = (0..20).any(|_| bell.wait(SHORT).unwrap() == Ring::Quiet);
    assert!(quiet);
}

fn it_is_owned_by_its_thread(d: &mut Desk<'_>) {
    d.put(plain("q", "x"));
    let mut bell = d.db.watch(&[q("q")]).unwrap();
    let waiting = std::thread::spawn(move || bell.wait(LONG).unwrap());
    assert_eq!(waiting.join().unwrap(), Ring::Rang);
    assert_eq!(d.claim_all("q").len(), 1, "the handle goes on");
}

/// A bell that has said all that it had to say.
fn hushed(d: &mut Desk<'_>) -> Box<dyn qops::backend::Watch> {
    let mut bell = d.db.watch(&[q("q")]).unwrap();
    for _ in 0..100 {
        if bell.wait(SHORT).unwrap() == Ring::Quiet {
            return bell;
        }
    }
    panic!("it never stops ringing");
}

fn rings(bell: &mut Box<dyn qops::backend::Watch>) {
    let begun = Instant::now();
    assert_eq!(bell.wait(LONG).unwrap(), Ring::Rang);
    assert!(begun.elapsed() < LONG / 2, "{:?}", begun.elapsed());
}

fn it_rings_when_another_handle_enqueues(d: &mut Desk<'_>) {
    d.put(plain("q", "x"));
    let mut bell = hushed(d);
    d.other("producer").put(plain("q", "y"));
    rings(&mut bell);
}

fn what_came_before_the_wait_is_not_missed(d: &mut Desk<'_>) {
    d.put(plain("q", "x"));
    let mut bell = hushed(d);
    let mut producer = d.other("producer");
    for _ in 0..5 {
        producer.put(plain("q", "y"));
    }
    rings(&mut bell);
}

fn it_rings_again_and_again(d: &mut Desk<'_>) {
    d.put(plain("q", "x"));
    let mut producer = d.other("producer");
    let mut bell = hushed(d);
    for n in 0..5 {
        producer.put(plain("q", &n.to_string()));
        rings(&mut bell);
        while bell.wait(SHORT).unwrap() == Ring::Rang {}
    }
}

fn every_bell_rings(d: &mut Desk<'_>) {
    d.put(plain("q", "x"));
    let mut bells: Vec<_> = (0..3).map(|_| hushed(d)).collect();
    d.other("producer").put(plain("q", "y"));
    for bell in &mut bells {
        rings(bell);
    }
}

fn it_rings_while_it_waits(d: &mut Desk<'_>) {
    d.put(plain("q", "x"));
    let mut bell = hushed(d);
    let mut producer = d.other("producer");
    std::thread::scope(|scope| {
        let waiting = scope.spawn(move || rings(&mut bell));
        producer.put(plain("q", "y"));
        waiting.join().unwrap();
    });
}

fn it_rings_for_what_was_given_back(d: &mut Desk<'_>) {
    d.put(plain("q", "x"));
    let mut other = d.other("w2");
    let got = other.take("q");
    let mut bell = hushed(d);
    other.sure(&got, Verdict::Release);
    rings(&mut bell);
    assert_eq!(d.claim_as("q", |claim| claim.lease = MINUTE).got.len(), 1);
}
