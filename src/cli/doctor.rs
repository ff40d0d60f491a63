//! `doctor`: what is wrong with a store, what it means, and the command that mends it.

use super::ctx::Ctx;
use super::exit::Code;
use super::fail::Outcome;
use super::queues::reading;
use crate::backend::Finding;
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
    let plan = ctx.plan::<Finding>(Natural::Text, Shape::Many)?;
    let store = reading(ctx)?;
    let there = store.is_some();
    let mut findings = match store {
        Some(mut store) => store.examine()?,
        None => vec![],
    };
    findings.sort_by_key(|finding| !finding.severe);
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
    for finding in &findings {
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
        if let Some(mend) = &finding.mend {
            ctx.ui.out_line(&[said("        mend: "), said(mend)])?;
        }
    }
    Ok(Code::Done)
}

impl Row for Finding {
    const FIELDS: &'static [&'static str] = &["v", "code", "severe", "means", "mend"];

    fn record(&self) -> Record {
        Record::new()
            .with("code", Value::text(self.code))
            .with("severe", Value::Bool(self.severe))
            .with("means", Value::text(&self.means))
            .with_some("mend", self.mend.as_ref().map(Value::text))
    }

    fn id(&self) -> &str {
        self.code
    }
}
