//! What `ack`, `nack` and `extend` share: receipts come in, each is settled, and one that is stale changes nothing and
//! says what is known.

use super::ctx::Ctx;
use super::fail::{Fail, Outcome};
use super::report::{self, Did, Report};
use crate::backend::{Backend, Exchange, Kind, Settle, Settled, Standing, Verdict};
use crate::queue::said::{json, system};
use crate::queue::{End, Receipt};
use crate::ui::Shape;
use crate::ui::text::counted;
use serde::Deserialize;
use std::borrow::Cow;
use std::io::BufRead;

/// So many are settled in one transaction.
const BATCH: usize = 1_000;

/// A record of `claim`, as far as its receipt goes.
#[derive(Deserialize)]
struct HasReceipt<'a> {
    #[serde(borrow)]
    receipt: Cow<'a, str>,
}

/// The receipts that are typed, or stand on standard input: receipts or `claim`'s records, one a line. One at a time, so
/// that a million of them are never held; a line that is neither is an error in its place.
pub(super) fn read<'a>(
    typed: &'a [String],
    stdin: impl BufRead + 'a,
) -> Box<dyn Iterator<Item = Result<Receipt, Fail>> + 'a> {
    match typed {
        [dash] if dash == "-" => Box::new(
            (1_u64..)
                .zip(stdin.lines())
                .filter_map(|(number, line)| of_line(number, line).transpose()),
        ),
        _ => Box::new(typed.iter().map(|text| Ok(Receipt::from(text.as_str())))),
    }
}

/// The receipt of a line; none of an empty one.
fn of_line(number: u64, line: std::io::Result<String>) -> Result<Option<Receipt>, Fail> {
    let bad = |why: String| {
        Fail::new(
            Kind::BadInput,
            format!("line {number} of standard input: {why}"),
        )
    };
    let line = line.map_err(|error| bad(system(&error)))?;
    let line = line.trim();
    if line.starts_with('{') {
        let record: HasReceipt<'_> = serde_json::from_str(line)
            .map_err(|error| bad(format!("no record of claim: {}", json(&error))))?;
        return Ok(Some(Receipt::from(record.receipt.as_ref())));
    }
    Ok((!line.is_empty()).then(|| Receipt::from(line)))
}

/// A verdict and how the run ended.
pub(super) type Judged = (Verdict, Option<End>);

/// The words of a verb.
pub(super) struct Words {
    /// As it is typed.
    pub(super) verb: &'static str,
    /// What was done, as in "released".
    pub(super) past: &'static str,
}

/// Settles each receipt by what `judge` says of a batch, and reports. A line that is no receipt ends it; what stood before
/// it is settled.
pub(super) fn settle(
    ctx: &Ctx,
    words: &Words,
    receipts: impl Iterator<Item = Result<Receipt, Fail>>,
    mut judge: impl FnMut(&mut dyn Backend, &[Receipt]) -> Result<Vec<Judged>, Fail>,
) -> Outcome {
    let plan = Did::plan(ctx, Shape::One)?;
    let mut report = Report::default();
    let mut store = None;
    let mut receipts = receipts;
    let mut matched = 0;
    let mut bad = None;
    while bad.is_none() {
        let mut batch = vec![];
        for receipt in receipts.by_ref().take(BATCH) {
            match receipt {
                Ok(receipt) => batch.push(receipt),
                Err(fail) => {
                    bad = Some(fail);
                    break;
                }
            }
        }
        if batch.is_empty() {
            break;
        }
        let store = match &mut store {
            Some(store) => store,
            none => none.insert(ctx.write()?),
        };
        matched += batch.len() as u64;
        some(ctx, words, store.as_mut(), &batch, &mut judge, &mut report)?;
    }
    if let Some(bad) = bad {
        return Err(unfinished(bad, words, &report));
    }
    let done = counted(report.done, "message", "messages");
    ctx.ui
        .say(format!("{} {done} ({})", words.past, ctx.place()?));
    report::print(ctx, plan, &[report.did(words.verb, None, matched)])?;
    Ok(report.code())
}

/// Settles a batch in one transaction.
fn some(
    ctx: &Ctx,
    words: &Words,
    store: &mut dyn Backend,
    batch: &[Receipt],
    judge: &mut impl FnMut(&mut dyn Backend, &[Receipt]) -> Result<Vec<Judged>, Fail>,
    report: &mut Report,
) -> Result<(), Fail> {
    let judged = judge(store, batch)?;
    let settles: Vec<Settle<'_>> = batch
        .iter()
        .zip(&judged)
        .map(|(receipt, (verdict, end))| Settle {
            receipt,
            verdict: *verdict,
            end: end.as_ref(),
        })
        .collect();
    let turn = Exchange {
        settle: &settles,
        claim: None,
    };
    let exchanged = store
        .exchange(&turn)
        .map_err(|error| unfinished(error.into(), words, report))?;
    for (receipt, settled) in batch.iter().zip(&exchanged.settled) {
        match stale(receipt, settled) {
            None => report.done += 1,
            Some(fail) => report.fail(ctx, &fail),
        }
    }
    Ok(())
}

fn unfinished(fail: Fail, words: &Words, report: &Report) -> Fail {
    match report.done {
        0 => fail,
        done => fail.hint(format!(
            "{} before it {} {}; the same again does no harm",
            counted(done, "receipt", "receipts"),
            if done == 1 { "is" } else { "are" },
            words.past
        )),
    }
}

/// What is known of a receipt that is not good; none if it was.
fn stale(receipt: &Receipt, settled: &Settled) -> Option<Fail> {
    let id = receipt.id();
    let what = match settled {
        Settled::Yes => return None,
        Settled::Gone if id.as_str().is_empty() => {
            format!("'{receipt}' is no receipt; nothing changed")
        }
        Settled::Gone => {
            format!(
                "the receipt is used or stale: message {id} is not here (done, purged, or never there)"
            )
        }
        Settled::LeaseLost(Standing::Waiting) => {
            format!(
                "the receipt is stale: the lease of message {id} has ended, and it waits to be claimed again"
            )
        }
        Settled::LeaseLost(Standing::Leased(worker)) => {
            format!("the receipt is stale: message {id} is leased by {worker}")
        }
        Settled::LeaseLost(Standing::Dead(reason)) => {
            format!("the receipt is used or stale: message {id} is a dead letter ({reason})")
        }
    };
    Some(Fail::new(Kind::Conflict, what))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::Reason;

    #[test]
    fn receipts_are_typed_or_read() {
        let read_all = |typed: &[&str], stdin: &str| {
            let typed: Vec<String> = typed.iter().map(|&text| text.to_owned()).collect();
            read(&typed, stdin.as_bytes())
                .map(|receipt| receipt.map(|receipt| receipt.as_str().to_owned()))
                .collect::<Result<Vec<_>, _>>()
        };
        assert_eq!(
            read_all(&["1.1.a", "2.1.b"], "3.1.c").unwrap(),
            ["1.1.a", "2.1.b"]
        );
        let lines = "1.1.a\n\n {\"v\":1,\"id\":\"2\",\"receipt\":\"2.1.b\"}\r\n";
        assert_eq!(read_all(&["-"], lines).unwrap(), ["1.1.a", "2.1.b"]);
        assert!(read_all(&["-"], "").unwrap().is_empty());
        let problem = read_all(&["-"], "1.1.a\n{\"id\":1}\n")
            .unwrap_err()
            .problem("qops");
        let problem = problem.unwrap();
        assert_eq!(problem.code, 9);
        assert!(
            problem.message.starts_with("line 2 "),
            "{}",
            problem.message
        );
    }

    #[test]
    fn a_stale_receipt_says_what_is_known() {
        let receipt = Receipt::from("7.2.ab");
        assert!(stale(&receipt, &Settled::Yes).is_none());
        for (settled, part) in [
            (Settled::Gone, "message 7 is not here"),
            (Settled::LeaseLost(Standing::Waiting), "waits to be claimed"),
            (
                Settled::LeaseLost(Standing::Leased("pay-3:41".to_owned())),
                "leased by pay-3:41",
            ),
            (
                Settled::LeaseLost(Standing::Dead(Reason::Permanent)),
                "dead letter (permanent)",
            ),
        ] {
            let fail = stale(&receipt, &settled).unwrap();
            assert_eq!(fail.code().number(), 7);
            let message = fail.problem("qops").unwrap().message;
            assert!(message.contains(part), "{message}");
        }
        let message = stale(&Receipt::from("x"), &Settled::Gone)
            .unwrap()
            .problem("qops");
        assert_eq!(
            message.unwrap().message,
            "'x' is no receipt; nothing changed"
        );
    }
}
