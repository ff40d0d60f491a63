//! `init`: creates the schema, or brings it to this program's version.

use super::ctx::Ctx;
use super::exit::Code;
use super::fail::{Fail, Outcome};
use crate::backend::{Kind, Migrated, Run};
use crate::queue::record::{Record, Value};
use crate::ui::{Align, Cell, Column, Fit, Natural, Row, Shape, Shown, Stream};

/// `init`
#[derive(clap::Args, Debug)]
#[command(
    after_help = "A SQLite file that qops makes itself needs no init. Another application's file does: its tables \
    stay as they are, ours are named qops_*. Any number of processes may run it at once.\n\n\
    Examples:\n  qops init -u sqlite:/srv/app/app.db\n  qops init -u sqlite:/srv/app/app.db --dry-run"
)]
pub struct Args {
    /// Print the statements; change and create nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Print what gives others their rights; change nothing
    #[arg(long, conflicts_with = "dry_run")]
    pub grants: bool,
}

/// Creates or upgrades, or prints how.
pub(super) fn run(args: &Args, ctx: &Ctx) -> Outcome {
    if args.grants {
        return grants(ctx);
    }
    let plan = ctx.plan::<Done>(Natural::Nothing, Shape::One)?;
    let place = ctx.place()?;
    let (mut store, run) = if args.dry_run {
        (ctx.dry_init()?, Run::Dry)
    } else {
        (ctx.init()?, Run::Do)
    };
    let migrated = store.migrate(run)?;
    let Migrated {
        from,
        to,
        statements,
    } = &migrated;
    if let Some(plan) = plan {
        let mut stream = Stream::new(&ctx.ui, plan, columns());
        stream.push(&Done {
            migrated: migrated.clone(),
            dry: args.dry_run,
        })?;
        stream.finish()?;
    } else if args.dry_run {
        for statement in statements {
            ctx.ui.out_text(statement)?;
        }
    }
    let now = if args.dry_run {
        "; nothing changed"
    } else {
        ""
    };
    match (from, to) {
        (from, to) if from == to => {
            ctx.ui
                .say(format!("nothing to do: {place} has schema {to}"));
        }
        (0, to) if args.dry_run => ctx
            .ui
            .say(format!("would make schema {to} in {place}{now}")),
        (0, to) => ctx.ui.say(format!("made schema {to} in {place}")),
        (from, to) if args.dry_run => {
            let text = format!("would bring schema {from} to {to} in {place}{now}");
            ctx.ui.say(text);
        }
        (from, to) => ctx
            .ui
            .say(format!("brought schema {from} to {to} in {place}")),
    }
    Ok(Code::Done)
}

fn grants(ctx: &Ctx) -> Outcome {
    if let Some(format) = ctx.format() {
        let what = format!("--grants prints text, and there is no -o {format} of it");
        return Err(Fail::usage(what));
    }
    let (_, target) = ctx.chosen()?;
    #[cfg(feature = "postgres")]
    if let Some(server) = target.postgres() {
        ctx.ui
            .out_text(&crate::backend::postgres::grants(&server.schema))?;
        return Ok(Code::Done);
    }
    let file = target.sqlite().ok_or_else(|| {
        Fail::new(
            Kind::Unsupported,
            format!("{}: stores have no grants", target.scheme()),
        )
    })?;
    let path = super::words::shell_word(&file.path.to_string_lossy());
    let folder = file.path.parent().map(|folder| folder.to_string_lossy());
    let folder = super::words::shell_word(folder.as_deref().unwrap_or("/"));
    ctx.ui.out_text(&format!(
        "# A SQLite file has no roles and no grants: the file's mode is all there is. Whoever may read the file reads every\n\
         # message; whoever may write it and its folder may do everything. qops makes it for its owner alone (mode 600).\n\
         # To share it with a group (the log and its index are made beside it, so that the folder counts too):\n\
         chgrp GROUP {folder} {path}\n\
         chmod 2770 {folder}\n\
         chmod 660 {path}\n"
    ))?;
    Ok(Code::Done)
}

/// What `init` did, as a record.
struct Done {
    migrated: Migrated,
    dry: bool,
}

impl Row for Done {
    const FIELDS: &'static [&'static str] = &["v", "verb", "from", "to", "dry_run", "statements"];
    const NESTED: &'static [&'static str] = &["statements"];

    fn record(&self) -> Record {
        Record::new()
            .with("verb", Value::text("init"))
            .with("from", Value::Int(self.migrated.from.into()))
            .with("to", Value::Int(self.migrated.to.into()))
            .with("dry_run", Value::Bool(self.dry))
            .with_some(
                "statements",
                self.dry
                    .then(|| Value::Text(self.migrated.statements.join("\n"))),
            )
    }

    fn id(&self) -> &'static str {
        "init"
    }
}

fn columns<'a>() -> Vec<Column<'a, Done>> {
    let number = |title, of: fn(&Done) -> u32| {
        Column::new(title, Align::Right, Fit::Whole, move |done: &Done| {
            Cell::new(Shown::new(of(done)))
        })
    };
    vec![
        number("FROM", |done| done.migrated.from),
        number("TO", |done| done.migrated.to),
    ]
}
