//! Receipts that are not good any more: every verdict × everything that can have happened to the message.

use crate::cases;
use crate::desk::{ALL_FREE, Desk, MINUTE, dead_of, end, plain, q};
use qops::backend::{Features as F, Settled, Standing, Verdict};
use qops::queue::{Due, MessageId, Outcome, Reason, Receipt, Selection, State};

const RUN: F = F::PEEK.and(F::START).and(F::EXTEND).and(F::DELAY);

cases! {
    RUN => [
        after_its_lease_has_ended,
        after_it_was_claimed_again,
        after_the_second_lease_has_ended_too,
        after_it_came_back,
        after_it_was_done,
        after_it_is_dead,
        after_its_worker_was_lost,
        an_end_is_not_written_either,
        the_older_claim_of_one_worker_is_stale,
    ],
    RUN.and(F::PURGE) => [after_it_was_purged],
    RUN.and(F::REQUEUE) => [after_it_was_replayed, a_lapsed_one_that_was_requeued],
    RUN.and(F::CLAIM_SELECTED) => [a_stale_receipt_of_a_letter],
}

const VERDICTS: [Verdict; 7] = [
    Verdict::Start,
    Verdict::Extend(MINUTE),
    Verdict::Done,
    Verdict::Retry {
        due: Due::After(MINUTE),
        charge: true,
    },
    Verdict::Retry {
        due: Due::Now,
        charge: false,
    },
    Verdict::Dead(Reason::Permanent),
    Verdict::Release,
];

/// Every verdict answers so, and nothing changes.
fn refused(d: &mut Desk<'_>, id: &MessageId, receipt: &Receipt, answer: &Settled) {
    let before = d.find(id);
    for verdict in VERDICTS {
        let failed = end(Outcome::Failed, "late");
        for end in [None, Some(&failed)] {
            let settled = d.settle_end(receipt, verdict, end);
            assert_eq!(settled, *answer, "{verdict:?}");
            assert_eq!(d.find(id), before, "{verdict:?}");
        }
    }
}

fn lost(standing: Standing) -> Settled {
    Settled::LeaseLost(standing)
}

fn leased(worker: &str) -> Settled {
    lost(Standing::Leased(worker.to_owned()))
}

fn after_its_lease_has_ended(d: &mut Desk<'_>) {
    for start in [false, true] {
        let id = d.put(plain("q", "x"));
        let mut claimed = d.claim_as("q", |claim| (claim.max, claim.start) = (1, start));
        let got = claimed.got.pop().unwrap();
        d.advance(1);
        refused(d, &id, &got.receipt, &lost(Standing::Waiting));
        assert_eq!(d.get(&id).state, State::Running);
        d.finish(&id);
    }
}

impl Desk<'_> {
    /// Takes the only message out of the way.
    fn finish(&mut self, id: &MessageId) {
        let got = self.take("q");
        assert_eq!(got.message.id, *id);
        self.sure(&got, Verdict::Done);
    }
}

fn after_it_was_claimed_again(d: &mut Desk<'_>) {
    let id = d.put(plain("q", "x"));
    let first = d.start("q");
    d.advance(1);
    let second = d.other("w2").start("q");
    refused(d, &id, &first.receipt, &leased("w2"));
    assert_eq!(d.settle(&second.receipt, Verdict::Done), Settled::Yes);
}

fn the_older_claim_of_one_worker_is_stale(d: &mut Desk<'_>) {
    let id = d.put(plain("q", "x"));
    let first = d.take("q");
    d.advance(1);
    let second = d.take("q");
    refused(d, &id, &first.receipt, &leased("w1"));
    d.sure(&second, Verdict::Done);
}

fn after_the_second_lease_has_ended_too(d: &mut Desk<'_>) {
    let id = d.put(plain("q", "x"));
    let first = d.start("q");
    d.advance(1);
    d.other("w2").start("q");
    d.advance(1);
    refused(d, &id, &first.receipt, &lost(Standing::Waiting));
}

fn after_it_came_back(d: &mut Desk<'_>) {
    for due in [Due::Now, Due::After(MINUTE)] {
        let id = d.put(plain("q", "x"));
        let got = d.start("q");
        d.sure(&got, Verdict::Retry { due, charge: true });
        refused(d, &id, &got.receipt, &lost(Standing::Waiting));
        d.advance(1);
        d.finish(&id);
    }
    let id = d.put(plain("q", "x"));
    let got = d.start("q");
    d.sure(&got, Verdict::Release);
    refused(d, &id, &got.receipt, &lost(Standing::Waiting));
}

fn after_it_was_done(d: &mut Desk<'_>) {
    let id = d.put(plain("q", "x"));
    let got = d.start("q");
    d.sure(&got, Verdict::Done);
    refused(d, &id, &got.receipt, &Settled::Gone);
}

fn after_it_was_purged(d: &mut Desk<'_>) {
    let id = d.put(plain("q", "x"));
    let got = d.start("q");
    let running = Selection {
        states: vec![State::Running],
        ..Selection::of(q("q"))
    };
    assert_eq!(
        d.change(&running, &ALL_FREE).done,
        std::slice::from_ref(&id)
    );
    refused(d, &id, &got.receipt, &Settled::Gone);
}

fn after_it_is_dead(d: &mut Desk<'_>) {
    let id = d.put(plain("q", "x"));
    let got = d.start("q");
    d.sure(&got, Verdict::Dead(Reason::Temporary));
    let dead = lost(Standing::Dead(Reason::Temporary));
    refused(d, &id, &got.receipt, &dead);
}

fn after_its_worker_was_lost(d: &mut Desk<'_>) {
    let id = d.put(plain("q", "x"));
    let got = d.start("q");
    d.advance(1);
    d.claim_as("q", |claim| claim.max_attempts = 1);
    let dead = lost(Standing::Dead(Reason::WorkerLost));
    refused(d, &id, &got.receipt, &dead);
}

fn after_it_was_replayed(d: &mut Desk<'_>) {
    let id = d.put(plain("q", "x"));
    let got = d.start("q");
    d.sure(&got, Verdict::Dead(Reason::Permanent));
    d.change(&dead_of("q"), &crate::desk::REPLAY);
    refused(d, &id, &got.receipt, &lost(Standing::Waiting));
    let again = d.other("w2").start("q");
    assert!(again.fence > got.fence);
    refused(d, &id, &got.receipt, &leased("w2"));
}

fn a_lapsed_one_that_was_requeued(d: &mut Desk<'_>) {
    let id = d.put(plain("q", "x"));
    let got = d.start("q");
    d.advance(1);
    assert_eq!(
        d.change(&Selection::of(q("q")), &crate::desk::REPLAY).done,
        std::slice::from_ref(&id)
    );
    refused(d, &id, &got.receipt, &lost(Standing::Waiting));
}

fn an_end_is_not_written_either(d: &mut Desk<'_>) {
    let id = d.put(plain("q", "x"));
    let first = d.start("q");
    d.advance(1);
    d.take("q");
    let failed = end(Outcome::Failed, "late");
    d.settle_end(
        &first.receipt,
        Verdict::Dead(Reason::Permanent),
        Some(&failed),
    );
    let message = d.get(&id);
    assert_eq!(message.last_error, None);
    assert_eq!(message.history[0].outcome, Outcome::Lost);
    assert_eq!(message.history[0].error, None);
}

fn a_stale_receipt_of_a_letter(d: &mut Desk<'_>) {
    let id = d.kill(plain("q", "x"), "no");
    let first = d.claim_dead("q", 1, &dead_of("q"), None).got.remove(0);
    d.advance(1);
    let dead = lost(Standing::Dead(Reason::Permanent));
    refused(d, &id, &first.receipt, &dead);
    let second = d.claim_dead("q", 1, &dead_of("q"), None).got.remove(0);
    assert!(second.fence > first.fence);
    let before = d.get(&id);
    for verdict in VERDICTS {
        let settled = d.settle(&first.receipt, verdict);
        assert!(matches!(settled, Settled::LeaseLost(_)), "{verdict:?}");
        assert_eq!(d.get(&id), before);
    }
    d.sure(&second, Verdict::Done);
    refused(d, &id, &second.receipt, &Settled::Gone);
}
