//! `doctor`: what is wrong with a store, what it means, and the command that mends it.

use super::ctx::Ctx;
use super::exit::Code;
use super::fail::{Fail, Outcome};
use super::queues::reading;
use crate::backend::{Finding, Kind};
use crate::queue::record::{Record, Value};
use crate::ui::{Natural, Row, Shape, Shown, Stream, Tone};

/// `doctor`
#[derive(clap::Args, Debug)]
#[command(
    after_help = "Changes nothing. What puts messages in danger is marked DANGER and comes first.\n\n\
    Examples:\n  qops doctor\n  qops doctor -o ndjson | jq -e 'select(.severe)'"
)]
pub struct Args {}

/// Prints the findings.
pub(super) fn run(_: &Args, ctx: &Ctx) -> Outcome {
    let plan = ctx.plan::<Told>(Natural::Text, Shape::Many)?;
    let store = reading(ctx).map_err(mended)?;
    let there = store.is_some();
    let mut findings = match store {
        Some(mut store) => store.examine().map_err(|error| mended(error.into()))?,
        None => vec![],
    };
    findings.sort_by_key(|finding| !finding.severe);
    let program = ctx.program();
    let findings: Vec<Told> = findings
        .into_iter()
        .map(|finding| Told {
            mend: finding.mend.as_ref().map(|mend| mend.text(&program)),
            finding,
        })
        .collect();
    if let Some(plan) = plan {
        let mut stream = Stream::new(&ctx.ui, plan, vec![]);
        for finding in &findings {
            stream.push(finding)?;
        }
        stream.finish()?;
        return Ok(Code::Done);
    }
    let (store, target) = ctx.chosen()?;
    let said = |text: &str| (Tone::Plain, Shown::new(text));
    ctx.ui
        .out_line(&[said(&format!("{target} ({})", store.origin))])?;
    if !there {
        ctx.ui.out_line(&[said(
            "there is no store yet; the first qops enqueue makes it",
        )])?;
    } else if findings.is_empty() {
        ctx.ui
            .out_line(&[(Tone::Good, Shown::new("ok")), said("  nothing is wrong")])?;
    }
    for Told { finding, mend } in &findings {
        let (tone, word) = if finding.severe {
            (Tone::Bad, "DANGER")
        } else {
            (Tone::Warn, "notice")
        };
        ctx.ui.out_line(&[
            (tone, Shown::new(word)),
            said("  "),
            (Tone::Bold, Shown::new(finding.code)),
            said(": "),
            said(&finding.means),
        ])?;
        if let Some(mend) = mend {
            ctx.ui.out_line(&[said("        mend: "), said(mend)])?;
        }
    }
    Ok(Code::Done)
}

/// Elsewhere a damaged store sends people here.
fn mended(fail: Fail) -> Fail {
    match &fail {
        Fail::Store(error) if error.kind() == Kind::Corrupt => fail.hint(
            "restore the file from a backup, or save what is in it with the .recover of sqlite3",
        ),
        _ => fail,
    }
}

/// A finding, and what mends it in this very store.
struct Told {
    finding: Finding,
    mend: Option<String>,
}

impl Row for Told {
    const FIELDS: &'static [&'static str] = &["v", "code", "severe", "means", "mend"];

    fn record(&self) -> Record {
        Record::new()
            .with("code", Value::text(self.finding.code))
            .with("severe", Value::Bool(self.finding.severe))
            .with("means", Value::text(&self.finding.means))
            .with_some("mend", self.mend.as_ref().map(Value::text))
    }

    fn id(&self) -> &str {
        self.finding.code
    }
}
