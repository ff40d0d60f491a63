//! Many handles at once: nothing is handed out twice, nothing is lost, nobody sees a lock.

use crate::cases;
use crate::desk::{Desk, MINUTE, dead_of, end, keyed, plain, q};
use qops::backend::{Features as F, Settle, Settled, Verdict};
use qops::queue::{Enqueued, MessageId, NewMessage, Outcome, Reason, Selection};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Barrier;

cases! {
    F::PEEK.and(F::START) => [
        eight_claim_ten_thousand_once_each,
        one_message_goes_to_one,
        enqueues_and_claims_at_once_conserve,
    ],
    F::PEEK.and(F::KEYS) => [r66_many_enqueue_the_same_keys],
    F::PEEK.and(F::START).and(F::REQUEUE).and(F::PURGE).and(F::CLAIM_SELECTED)
        => [r73_everything_at_once_without_a_deadlock],
}

fn eight_claim_ten_thousand_once_each(d: &mut Desk<'_>) {
    let batch: Vec<NewMessage<'_>> = (0..1_000).map(|_| plain("q", "x")).collect();
    for _ in 0..10 {
        d.put_all(&batch);
    }
    let barrier = Barrier::new(8);
    let taken: Vec<Vec<MessageId>> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..8)
            .map(|n| {
                let mut worker = d.other(&format!("w{n}"));
                let barrier = &barrier;
                scope.spawn(move || {
                    barrier.wait();
                    let mut mine = vec![];
                    loop {
                        let got = worker
                            .claim_as("q", |claim| {
                                (claim.max, claim.lease) = (50, MINUTE * 60);
                            })
                            .got;
                        if got.is_empty() {
                            return mine;
                        }
                        let settle: Vec<Settle<'_>> = got
                            .iter()
                            .map(|delivery| Settle {
                                receipt: &delivery.receipt,
                                verdict: Verdict::Done,
                                end: None,
                            })
                            .collect();
                        let settled = worker.exchange(&settle, None).settled;
                        assert!(settled.iter().all(|settled| *settled == Settled::Yes));
                        mine.extend(got.into_iter().map(|delivery| delivery.message.id));
                    }
                })
            })
            .collect();
        workers
            .into_iter()
            .map(|worker| worker.join().expect("a worker"))
            .collect()
    });
    let n: usize = taken.iter().map(Vec::len).sum();
    let once: BTreeSet<MessageId> = taken.into_iter().flatten().collect();
    assert_eq!((n, once.len()), (10_000, 10_000));
    assert!(d.all("q").is_empty());
}

fn one_message_goes_to_one(d: &mut Desk<'_>) {
    for _ in 0..20 {
        let id = d.put(plain("q", "x"));
        let barrier = Barrier::new(4);
        let got: usize = std::thread::scope(|scope| {
            let workers: Vec<_> = (0..4)
                .map(|n| {
                    let mut worker = d.other(&format!("w{n}"));
                    let barrier = &barrier;
                    scope.spawn(move || {
                        barrier.wait();
                        worker.claim_all("q").len()
                    })
                })
                .collect();
            workers.into_iter().map(|w| w.join().unwrap()).sum()
        });
        assert_eq!(got, 1);
        let message = d.get(&id);
        assert_eq!(message.deliveries, 1);
        d.store.advance(MINUTE);
        let again = d.take("q");
        d.sure(&again, Verdict::Done);
    }
}

fn enqueues_and_claims_at_once_conserve(d: &mut Desk<'_>) {
    d.put(plain("q", "first"));
    let done: usize = std::thread::scope(|scope| {
        for n in 0..3 {
            let mut producer = d.other(&format!("p{n}"));
            scope.spawn(move || {
                for _ in 0..100 {
                    producer.put_all(&[plain("q", "x"), plain("q", "y")]);
                }
            });
        }
        let workers: Vec<_> = (0..3)
            .map(|n| {
                let mut worker = d.other(&format!("w{n}"));
                scope.spawn(move || {
                    let mut done = 0;
                    for _ in 0..60 {
                        let got = worker.claim_as("q", |claim| claim.max = 7).got;
                        for delivery in got {
                            worker.sure(&delivery, Verdict::Done);
                            done += 1;
                        }
                    }
                    done
                })
            })
            .collect();
        workers.into_iter().map(|w| w.join().unwrap()).sum()
    });
    let counts = d.counts("q");
    assert_eq!(counts.running, 0);
    assert_eq!(u64::try_from(done).unwrap() + counts.ready, 601);
}

/// Of the messages of one key one is new; everybody else gets its id.
fn r66_many_enqueue_the_same_keys(d: &mut Desk<'_>) {
    const WRITERS: usize = 64;
    const KEYS: usize = 100;
    let keys: Vec<String> = (0..KEYS).map(|n| format!("payment:{n}")).collect();
    let barrier = Barrier::new(WRITERS);
    let answers: Vec<Vec<Enqueued>> = std::thread::scope(|scope| {
        let writers: Vec<_> = (0..WRITERS)
            .map(|n| {
                let mut writer = d.other(&format!("p{n}"));
                let (keys, barrier) = (&keys, &barrier);
                scope.spawn(move || {
                    let mut mine = keys.clone();
                    mine.rotate_left(n * 7 % KEYS);
                    barrier.wait();
                    let mut answers = BTreeMap::new();
                    for part in mine.chunks(10) {
                        let batch: Vec<NewMessage<'_>> =
                            part.iter().map(|key| keyed("q", key, key)).collect();
                        answers.extend(part.iter().cloned().zip(writer.put_all(&batch)));
                    }
                    keys.iter().map(|key| answers[key].clone()).collect()
                })
            })
            .collect();
        writers
            .into_iter()
            .map(|writer| writer.join().expect("a writer"))
            .collect()
    });
    for n in 0..KEYS {
        let mut news = 0;
        let mut ids = BTreeSet::new();
        for answer in &answers {
            match &answer[n] {
                Enqueued::New(id) => {
                    news += 1;
                    ids.insert(id);
                }
                Enqueued::Duplicate(id) => {
                    ids.insert(id);
                }
            }
        }
        assert_eq!((news, ids.len()), (1, 1), "key {n}");
    }
    assert_eq!(d.counts("q").ready, 100);
}

/// Workers, a purge, replays, drains, enqueues and lapsing leases at once: no lock reaches anybody, and nothing is lost.
fn r73_everything_at_once_without_a_deadlock(d: &mut Desk<'_>) {
    const ROUNDS: usize = 25;
    d.put(plain("q", "first"));
    let (done, purged) = std::thread::scope(|scope| {
        for n in 0..2 {
            let mut producer = d.other(&format!("p{n}"));
            scope.spawn(move || {
                for _ in 0..ROUNDS {
                    producer.put_all(&[plain("q", "x"), plain("q", "y"), plain("q", "z")]);
                }
            });
        }
        let workers: Vec<_> = (0..6)
            .map(|n| {
                let mut worker = d.other(&format!("w{n}"));
                scope.spawn(move || {
                    let mut done = 0_u64;
                    for round in 0..ROUNDS {
                        let got = worker.claim_as("q", |claim| claim.start = true).got;
                        for (k, delivery) in got.iter().enumerate() {
                            let failed = end(Outcome::Failed, "no");
                            let (verdict, end) = match (round + k) % 3 {
                                0 => (Verdict::Dead(Reason::Permanent), Some(&failed)),
                                1 => (Verdict::Release, None),
                                _ => (Verdict::Done, None),
                            };
                            let settled = worker.settle_end(&delivery.receipt, verdict, end);
                            done += u64::from(settled == Settled::Yes && verdict == Verdict::Done);
                        }
                    }
                    done
                })
            })
            .collect();
        let mut replayer = d.other("replayer");
        scope.spawn(move || {
            for _ in 0..ROUNDS {
                replayer.change(&dead_of("q"), &crate::desk::REPLAY);
            }
        });
        let mut mender = d.other("drainer");
        let drained = scope.spawn(move || {
            let mut done = 0_u64;
            for _ in 0..ROUNDS {
                let claimed = mender.claim_dead("q", 3, &dead_of("q"), None);
                for got in claimed.got {
                    done += u64::from(mender.settle(&got.receipt, Verdict::Done) == Settled::Yes);
                }
            }
            done
        });
        let mut eraser = d.other("eraser");
        let purged = scope.spawn(move || {
            let mut n = 0;
            for _ in 0..5 {
                let what = Selection {
                    grep: Some("z".into()),
                    ..Selection::of(q("q"))
                };
                n += eraser.change(&what, &crate::desk::ALL_FREE).done.len();
            }
            u64::try_from(n).unwrap()
        });
        let done: u64 = workers.into_iter().map(|w| w.join().unwrap()).sum();
        (done + drained.join().unwrap(), purged.join().unwrap())
    });
    let counts = d.counts("q");
    let here = counts.ready + counts.delayed + counts.running + counts.dead;
    assert_eq!(done + purged + here, 2 * 3 * 25 + 1);
}
