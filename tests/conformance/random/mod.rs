//! Random sequences of calls, played on a store and on the reference model side by side; after each step the answers
//! and all that both hold are compared.
//!
//! `QOPS_STEPS` says how many steps (default: a bounded number), `QOPS_SEED` where to begin; a failure prints its seed
//! and the steps of its sequence, and `QOPS_SEED=… QOPS_STEPS=…` plays that very sequence again.

mod compare;
mod play;
mod step;

use crate::cases;
use crate::desk::Desk;
use play::Pair;
use qops::backend::Features as F;
use std::panic::{AssertUnwindSafe, catch_unwind};
use step::Step;

const EVERYTHING: F = F::PEEK
    .and(F::START)
    .and(F::EXTEND)
    .and(F::KEYS)
    .and(F::GROUPS)
    .and(F::PRIORITY)
    .and(F::DELAY)
    .and(F::TTL)
    .and(F::WHOLE)
    .and(F::CLAIM_SELECTED)
    .and(F::REQUEUE)
    .and(F::TRANSFER)
    .and(F::PURGE)
    .and(F::HISTORY)
    .and(F::SETTINGS)
    .and(F::DUE_ORDER);

cases! {
    EVERYTHING => [the_store_is_the_model],
}

/// The steps of one sequence: short enough that the machine's clock hardly moves in it, long enough to get anywhere.
const SEQUENCE: usize = 60;
const STEPS: usize = 2_400;

fn number(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(
        text.parse()
            .unwrap_or_else(|_| panic!("{name}={text} is no number")),
    )
}

fn the_store_is_the_model(d: &mut Desk<'_>) {
    let steps = number("QOPS_STEPS").map_or(STEPS, |n| usize::try_from(n).expect("a count"));
    let first = number("QOPS_SEED").unwrap_or(0x00c0_ffee);
    for sequence in 0..steps.div_ceil(SEQUENCE) {
        let seed = first.wrapping_add(u64::try_from(sequence).expect("a count"));
        if let Err(what) = run(d, &steps_of(seed)) {
            let (steps, what) = shrink(d, steps_of(seed), what);
            let listed: Vec<String> = steps
                .iter()
                .enumerate()
                .map(|(n, step)| format!("  {n}: {step:?}"))
                .collect();
            panic!(
                "the store and the model part (QOPS_SEED={seed} QOPS_STEPS={SEQUENCE}):\n{}\n{what}",
                listed.join("\n")
            );
        }
    }
}

fn steps_of(seed: u64) -> Vec<Step> {
    let mut random = fastrand::Rng::with_seed(seed);
    (0..SEQUENCE).map(|_| Step::random(&mut random)).collect()
}

/// One sequence from an empty pair; where and how they part, if they do.
fn run(d: &Desk<'_>, steps: &[Step]) -> Result<(), (usize, String)> {
    let mut pair = Pair::new(d.store);
    for (n, step) in steps.iter().enumerate() {
        catch_unwind(AssertUnwindSafe(|| pair.play(step)))
            .unwrap_or_else(|panic| Err(text_of(&*panic)))
            .map_err(|what| (n, what))?;
    }
    Ok(())
}

fn text_of(panic: &(dyn std::any::Any + Send)) -> String {
    panic
        .downcast_ref::<String>()
        .cloned()
        .or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string))
        .unwrap_or_default()
}

/// Leaves out what is not needed for the two to part: first the rest, then ever smaller pieces.
fn shrink(
    d: &Desk<'_>,
    mut steps: Vec<Step>,
    (at, mut what): (usize, String),
) -> (Vec<Step>, String) {
    steps.truncate(at + 1);
    let mut size = steps.len() / 2;
    while size > 0 {
        let mut from = 0;
        while from < steps.len() {
            let mut fewer = steps.clone();
            fewer.drain(from..(from + size).min(steps.len()));
            match run(d, &fewer) {
                Err((at, message)) => {
                    fewer.truncate(at + 1);
                    (steps, what) = (fewer, message);
                }
                Ok(()) => from += size,
            }
        }
        size /= 2;
    }
    (steps, what)
}
