//! What a store lacks it refuses before any effect. For each feature: a request that needs it and nothing else that is
//! optional, which is refused where it is missing and taken where it is there.

use crate::desk::{Desk, MINUTE, dead_of, plain, q};
use crate::support::stage::{ModelStore, every_feature};
use libtest_mimic::Trial;
use qops::backend::{
    Claim, Conflict, Error, Exchange, Features as F, Kind, Page, Patch, Pick, Result, Run, Settle,
    Unit, Verdict,
};
use qops::queue::{Due, Group, NewMessage, Order, Receipt, Selection, Ttl};

/// What a store can do is asked of it in many ways; what it cannot do is refused in these.
enum Refusal {
    /// A request that is refused.
    Of(fn(&mut Desk<'_>) -> Result<()>),
    /// Nothing is refused: its absence only makes answers poorer, and whoever needs it asks for the capability.
    Nothing,
}

fn put(d: &mut Desk<'_>, change: impl FnOnce(&mut NewMessage<'_>)) -> Result<()> {
    let mut new = plain("q", "refused");
    change(&mut new);
    d.db.enqueue(&[plain("q", "first"), new], Unit::Each)?;
    Ok(())
}

fn settle(d: &mut Desk<'_>, verdict: Verdict) -> Result<()> {
    let receipt = match d.claim_as("q", |claim| claim.max = 1).got.pop() {
        Some(got) => got.receipt,
        None => Receipt::from("1.1"),
    };
    let settle = [Settle {
        receipt: &receipt,
        verdict,
        end: None,
    }];
    let claim = None;
    d.db.exchange(&Exchange {
        settle: &settle,
        claim,
    })?;
    Ok(())
}

fn claim(d: &mut Desk<'_>, start: bool, pick: Pick<'_>) -> Result<()> {
    let queue = q("q");
    let claim = Some(Claim {
        queue: &queue,
        max: 1,
        bytes: 100,
        lease: MINUTE,
        start,
        max_attempts: 3,
        pick,
    });
    d.db.exchange(&Exchange { settle: &[], claim })?
        .claimed
        .map(drop)
}

fn change(d: &mut Desk<'_>, change: &qops::backend::Change<'_>) -> Result<()> {
    let (op, page) = (d.op(), Page::first(9, Order::Oldest));
    d.db.change(&dead_of("q"), change, &op, &page, Run::Do)?;
    Ok(())
}

fn requeue(d: &mut Desk<'_>, due: Due, to: Option<&str>) -> Result<()> {
    let to = to.map(q);
    let requeue = qops::backend::Change::Requeue {
        due,
        to: to.as_ref(),
        reset: true,
    };
    change(d, &requeue)
}

fn refusal(name: &str) -> Refusal {
    Refusal::Of(match name {
        "KEYS" => |d| put(d, |new| new.key = Some("k".into())),
        "GROUPS" => |d| put(d, |new| new.group = Some(Group::from("g"))),
        "PRIORITY" => |d| put(d, |new| new.priority = 1),
        "DELAY" => |d| put(d, |new| new.due = Due::After(MINUTE)),
        "TTL" => |d| put(d, |new| new.ttl = Some(Ttl::After(MINUTE))),
        "ZERO_BYTES" => |d| put(d, |new| new.group = Some(Group::from("g\0"))),
        "HEADERS" => |d| put(d, |new| new.headers = vec![("a".into(), "b".into())]),
        "WHOLE" => |d| {
            let whole = Unit::Whole(Conflict::Skip);
            d.db.enqueue(&[plain("q", "refused")], whole).map(drop)
        },
        "START" => |d| settle(d, Verdict::Start),
        "EXTEND" => |d| settle(d, Verdict::Extend(MINUTE)),
        "CLAIM_SELECTED" => |d| {
            let what = dead_of("q");
            let pick = Pick::Dead {
                what: &what,
                after: None,
            };
            claim(d, false, pick)
        },
        "PEEK" => |d| {
            let what = Selection::of(q("q"));
            d.db.peek(&what, &Page::first(9, Order::Run)).map(drop)
        },
        "REQUEUE" => |d| requeue(d, Due::Now, None),
        "TRANSFER" => |d| requeue(d, Due::Now, Some("there")),
        "PURGE" => |d| change(d, &crate::desk::ALL_FREE),
        "SETTINGS" => |d| d.db.configure(&q("q"), &Patch::Set(vec![])).map(drop),
        "PORTABLE_RECEIPT" | "HISTORY" | "BELL" | "DUE_ORDER" => return Refusal::Nothing,
        other => panic!("a new feature: say here how a store without {other} refuses"),
    })
}

fn is_refused(result: Result<()>, name: &str) {
    let error: Error = result.expect_err(name);
    assert_eq!(error.kind(), Kind::Unsupported, "{name}: {error}");
    assert_eq!(error.context("feature"), Some(name));
    assert_eq!(error.effect(), qops::backend::Effect::None);
}

/// A store that lacks these refuses what needs them.
pub fn prove(d: &mut Desk<'_>, lacking: F) {
    d.put(plain("q", "here"));
    d.put(plain("there", "here"));
    for name in lacking.names() {
        match refusal(name) {
            Refusal::Of(request) => is_refused(request(d), name),
            Refusal::Nothing => {}
        }
    }
}

/// For every feature: a model without it refuses and nothing changes; a whole model takes the same request.
fn both_sides(name: &str, feature: F) {
    let Refusal::Of(request) = refusal(name) else {
        return;
    };
    let without = ModelStore::with(every_feature().missing(feature));
    let mut d = Desk::at(&without);
    d.put(plain("q", "here"));
    d.put(plain("there", "here"));
    d.claim_all("q");
    let before = without.dump();
    is_refused(request(&mut d), name);
    assert_eq!(without.dump(), before, "nothing changed");
    let whole = ModelStore::with(every_feature());
    let mut d = Desk::at(&whole);
    d.put(plain("q", "here"));
    d.put(plain("there", "here"));
    request(&mut d).unwrap_or_else(|error| panic!("{name}: {error}"));
}

/// A retry that waits and a requeue that waits need DELAY; a claim that starts needs START.
fn the_other_ways() {
    let no_delay = ModelStore::with(every_feature().missing(F::DELAY));
    let mut d = Desk::at(&no_delay);
    d.kill(plain("q", "x"), "no");
    let before = no_delay.dump();
    let due = Due::After(MINUTE);
    is_refused(requeue(&mut d, due, None), "DELAY");
    assert_eq!(no_delay.dump(), before);
    d.put(plain("q", "y"));
    is_refused(
        settle(&mut d, Verdict::Retry { due, charge: true }),
        "DELAY",
    );
    let no_start = ModelStore::with(every_feature().missing(F::START));
    let mut d = Desk::at(&no_start);
    d.put(plain("q", "x"));
    let before = no_start.dump();
    is_refused(claim(&mut d, true, Pick::Ready), "START");
    assert_eq!(no_start.dump(), before);
    let no_peek = ModelStore::with(every_feature().missing(F::PEEK));
    let mut d = Desk::at(&no_peek);
    d.put(plain("q", "x"));
    is_refused(d.db.count(&Selection::of(q("q")), 9).map(drop), "PEEK");
}

/// A call over a limit is a fault of its caller, and has no effect.
fn limits() {
    let model = ModelStore::with(every_feature());
    let mut d = Desk::at(&model);
    d.put(plain("q", "x"));
    let max = d.db.capability().max_batch;
    let before = model.dump();
    let batch: Vec<NewMessage<'_>> = (0..=max).map(|_| plain("q", "x")).collect();
    let error = d.db.enqueue(&batch, Unit::Each).unwrap_err();
    assert_eq!(error.kind(), Kind::Bug);
    let what = Selection::of(q("q"));
    let page = Page::first(max + 1, Order::Run);
    assert_eq!(d.db.peek(&what, &page).unwrap_err().kind(), Kind::Bug);
    let (op, everywhere) = (d.op(), Selection::default());
    let purge = crate::desk::ALL_FREE;
    let error =
        d.db.change(
            &everywhere,
            &purge,
            &op,
            &Page::first(1, Order::Run),
            Run::Do,
        )
        .unwrap_err();
    assert_eq!(error.kind(), Kind::Bug, "a change names its queue");
    assert_eq!(model.dump(), before);
}

/// The trials that need no stage.
pub fn trials() -> Vec<Trial> {
    let mut trials: Vec<Trial> = F::NAMED
        .iter()
        .map(|(name, feature)| {
            let title = format!("refusal::{}", name.to_lowercase());
            Trial::test(title, move || {
                both_sides(name, *feature);
                Ok(())
            })
        })
        .collect();
    for (name, play) in [
        ("refusal::the_other_ways", the_other_ways as fn()),
        ("refusal::limits", limits),
    ] {
        trials.push(Trial::test(name, move || {
            play();
            Ok(())
        }));
    }
    trials
}
