//! One suite for every backend. A case is a name, the features it needs, and a function at a desk. Each is played on
//! each stage; a stage that is not there shows its cases as ignored, or as failed where `QOPS_REQUIRE` names it. On a
//! store that lacks what a case needs, the case is that the store refuses.

#[path = "../support/mod.rs"]
mod support;

mod bell;
mod bytes;
mod care;
mod change;
mod claim;
mod dead;
mod desk;
mod enqueue;
mod filters;
mod groups;
mod history;
mod keys;
mod lease;
mod look;
mod many;
mod pages;
mod random;
mod refusal;
mod settle;
mod stale;
mod transfer;

use desk::Desk;
use libtest_mimic::{Arguments, Failed, Trial};
use qops::backend::Features;
use std::sync::Arc;
use support::stage::{self, Stage};

/// One case.
#[derive(Clone, Copy)]
struct Case {
    name: &'static str,
    needs: Features,
    play: fn(&mut Desk<'_>),
}

/// Lists the cases of a file: what they need, and their functions.
macro_rules! cases {
    ($($needs:expr => [$($name:ident),* $(,)?]),* $(,)?) => {
        pub(crate) const CASES: &[crate::Case] = &[$($(crate::Case {
            name: concat!(module_path!(), "::", stringify!($name)),
            needs: $needs,
            play: $name,
        }),*),*];
    };
}
pub(crate) use cases;

const SUITE: &[&[Case]] = &[
    bell::CASES,
    bytes::CASES,
    care::CASES,
    change::CASES,
    claim::CASES,
    dead::CASES,
    enqueue::CASES,
    filters::CASES,
    groups::CASES,
    history::CASES,
    keys::CASES,
    lease::CASES,
    look::CASES,
    many::CASES,
    pages::CASES,
    random::CASES,
    settle::CASES,
    stale::CASES,
    transfer::CASES,
];

fn play(stage: &dyn Stage, case: Case) {
    let store = stage.fresh();
    let mut desk = Desk::at(&*store);
    let lacking = case.needs.missing(desk.db.capability().features);
    if lacking == Features::NONE {
        (case.play)(&mut desk);
    } else {
        refusal::prove(&mut desk, lacking);
    }
}

fn main() {
    let arguments = Arguments::from_args();
    let required = std::env::var("QOPS_REQUIRE").unwrap_or_default();
    let mut trials = refusal::trials();
    let stages: Vec<Arc<dyn Stage>> = stage::all().into_iter().map(Arc::from).collect();
    for stage in &stages {
        let name = stage.name();
        let absent = stage.absent();
        let must = required.split(',').any(|required| required.trim() == name);
        for case in SUITE.iter().copied().flatten().copied() {
            let (stage, why) = (Arc::clone(stage), absent.clone());
            let title = case.name.trim_start_matches("conformance::");
            let trial = Trial::test(title, move || {
                if let Some(why) = why {
                    return Err(Failed::from(why));
                }
                play(&*stage, case);
                Ok(())
            });
            trials.push(
                trial
                    .with_kind(name)
                    .with_ignored_flag(absent.is_some() && !must),
            );
        }
    }
    let conclusion = libtest_mimic::run(&arguments, trials);
    // A server ends with its stage.
    drop(stages);
    conclusion.exit();
}
