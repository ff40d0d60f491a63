//! Dead letters into a file or a pipe: a letter goes only after its line is there.

use super::super::apply::{Job, begin};
use super::super::exit::Code;
use super::super::fail::{Fail, Outcome};
use super::super::report::{self, Did, Report};
use crate::backend::{Backend, Change, Detail, Kind, Op, Page, Run};
use crate::queue::{Cursor, Message, MessageId, Order, Selection, State};
use crate::ui::Shape;
use crate::ui::text::counted;
use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

/// So many letters are written before they are removed.
const PAGE: usize = 500;

/// Where the lines go.
enum Sink {
    Stdout,
    File(File),
}

pub(super) fn run(job: &Job<'_>, path: &Path) -> Outcome {
    let to_stdout = path.as_os_str() == "-";
    let plan = Did::plan(job.ctx, Shape::One)?;
    if to_stdout && plan.is_some() {
        return Err(Fail::usage(
            "--export - puts the letters on stdout; -o would put a record among them",
        ));
    }
    let ids = job.select.ids(std::io::stdin().lock())?;
    let mut store = job.ctx.write()?;
    let op = begin(job.ctx, store.as_mut(), "drain")?;
    let chunks = job.selections(ids, op.at);
    job.agree(store.as_mut(), &chunks, &op)?;
    let mut sink = if to_stdout {
        Sink::Stdout
    } else {
        Sink::File(open(path)?)
    };
    let stop = job.ctx.listen()?;
    let bar = job.ctx.ui.progress("export", None);
    let mut report = Report::default();
    let mut signalled = None;
    'all: for what in &chunks {
        let mut after: Option<Cursor> = None;
        loop {
            let left = job
                .select
                .limit()
                .map_or(u64::MAX, |limit| limit - report.done.min(limit));
            let rows = PAGE.min(usize::try_from(left).unwrap_or(PAGE));
            if rows == 0 {
                break 'all;
            }
            let page = Page {
                after: after.as_ref(),
                reverse: job.select.reverse,
                detail: Detail::History,
                ..Page::first(rows, Order::Oldest)
            };
            let peeked = store.peek(what, &page)?;
            let (held, free): (Vec<Message>, Vec<Message>) = peeked
                .rows
                .into_iter()
                .partition(|message| message.lease_until.is_some_and(|until| until > op.at));
            for message in held {
                let what = format!(
                    "message {} of {} is passed over: a command holds it",
                    message.id, job.queue
                );
                bar.around(|| report.skip(job.ctx, &Fail::new(Kind::Conflict, what)));
            }
            if !free.is_empty() {
                write(job, &mut sink, &free)?;
                let removed = remove(
                    job,
                    store.as_mut(),
                    &op,
                    free.iter().map(|message| message.id.clone()).collect(),
                )?;
                report.done += removed;
                bar.advance(removed);
            }
            if let Some(code) = stop.code() {
                signalled = Some(code);
                break 'all;
            }
            match peeked.next {
                Some(next) => after = Some(next),
                None => break,
            }
        }
    }
    bar.finish();
    if signalled.is_some() {
        let so_far = counted(report.done, "dead letter", "dead letters");
        job.ctx.ui.note(format!(
            "stopped: exported {so_far}; run it again and it goes on"
        ));
    } else {
        let done = counted(report.done, "dead letter", "dead letters");
        job.ctx.ui.say(format!(
            "exported {done} of {} ({})",
            job.queue,
            job.ctx.place()?
        ));
    }
    report::print(
        job.ctx,
        plan,
        &[report.did("drain", job.queue, report.done + report.skipped)],
    )?;
    Ok(signalled.unwrap_or_else(|| report.code()))
}

fn open(path: &Path) -> Result<File, Fail> {
    let opened = OpenOptions::new()
        .append(true)
        .create(true)
        .mode(0o600)
        .open(path);
    opened.map_err(|error| {
        let code = if error.kind() == std::io::ErrorKind::PermissionDenied {
            Code::Denied
        } else {
            Code::Unavailable
        };
        Fail::System(
            code,
            format!(
                "cannot write to {}: {error}; nothing changed",
                path.display()
            ),
        )
    })
}

/// The lines are on the disk, or have left for the pipe, when this returns.
fn write(job: &Job<'_>, sink: &mut Sink, letters: &[Message]) -> Result<(), Fail> {
    let mut lines = String::new();
    for letter in letters {
        lines += &letter.record().to_json();
        lines.push('\n');
    }
    match sink {
        Sink::Stdout => {
            job.ctx.ui.out_bytes(lines.as_bytes())?;
            job.ctx.ui.flush()?;
        }
        Sink::File(file) => {
            file.write_all(lines.as_bytes()).and_then(|()| file.sync_data()).map_err(|error| {
                Fail::System(Code::Unavailable, format!("the export could not be written: {error}; letters without a whole line are still dead"))
            })?;
        }
    }
    Ok(())
}

fn remove(
    job: &Job<'_>,
    store: &mut dyn Backend,
    op: &Op,
    ids: Vec<MessageId>,
) -> Result<u64, Fail> {
    let rows = ids.len();
    let what = Selection {
        ids: Some(ids),
        states: vec![State::Dead],
        ..Selection::of(job.queue.clone())
    };
    let change = Change::Purge { free_keys: true };
    let page = Page::first(rows, Order::Oldest);
    Ok(store.change(&what, &change, op, &page, Run::Do)?.done.len() as u64)
}
