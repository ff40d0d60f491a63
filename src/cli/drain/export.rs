//! Dead letters into a file or a pipe: a letter goes only after its line is there.

use super::super::apply::Job;
use super::super::exit::Code;
use super::super::fail::{Fail, Outcome};
use super::super::report::{self, Did, Report};
use crate::backend::{Backend, Change, Detail, Kind, Op, Page, Run};
use crate::queue::Hint;
use crate::queue::said::system;
use crate::queue::{Cursor, Message, MessageId, Order, Selection, State};
use crate::ui::{OutError, Shape};
use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

/// So many letters are written before they are removed: their histories may be large.
const PAGE: usize = 2_000;

/// Where the lines go.
enum Sink {
    Stdout,
    File(File),
}

/// Writes the letters out, and deletes what is written; `-` is standard output.
///
/// # Errors
/// What was not written stays in the store.
pub(super) fn run(job: &Job<'_>, path: &Path) -> Outcome {
    let to_stdout = path.as_os_str() == "-";
    let plan = Did::plan(job.ctx, Shape::One)?;
    if to_stdout && plan.is_some() {
        return Err(Fail::usage(
            "--export - puts the letters on stdout; -o would put a record among them",
        ));
    }
    refuse(job, path, to_stdout)?;
    let mut store = None;
    let (Some((meant, op)), Some(store)) = (job.begin(&mut store)?, &mut store) else {
        return Ok(Code::Done);
    };
    let count = job.agree(store.as_mut(), &meant, &op)?;
    let sink = if to_stdout {
        Sink::Stdout
    } else {
        Sink::File(open(path)?)
    };
    let stop = job.ctx.listen()?;
    let mut export = Export {
        job,
        store: store.as_mut(),
        op: &op,
        sink,
        report: Report::default(),
    };
    let bar = job.ctx.ui.progress("export", count);
    for what in meant.each() {
        let mut after: Option<Cursor> = None;
        loop {
            let before = export.report.done;
            let walked = bar.around(|| export.page(&what, after.as_ref()));
            bar.advance(export.report.done - before);
            match walked? {
                next @ Some(_) if stop.code().is_none() => after = next,
                _ => break,
            }
        }
        if stop.code().is_some() {
            break;
        }
    }
    bar.finish();
    let report = export.report;
    if stop.code().is_some() {
        job.stopped(report.done);
    } else {
        let done = job.counted(report.done);
        let place = job.ctx.place()?;
        job.ctx
            .ui
            .say(format!("exported {done} of {} ({place})", job.queue));
    }
    let did = report.did("drain", job.queue, report.done + report.skipped());
    report::print(job.ctx, plan, &[did])?;
    Ok(stop.code().unwrap_or_else(|| report.code()))
}

struct Export<'a> {
    job: &'a Job<'a>,
    store: &'a mut dyn Backend,
    op: &'a Op,
    sink: Sink,
    report: Report,
}

impl Export<'_> {
    /// Writes a page and removes what was written. None at the end.
    fn page(&mut self, what: &Selection, after: Option<&Cursor>) -> Result<Option<Cursor>, Fail> {
        let filter = &self.job.select.filter;
        let left = filter
            .limit()
            .map_or(u64::MAX, |limit| limit.saturating_sub(self.report.done));
        let rows = PAGE.min(usize::try_from(left).unwrap_or(PAGE));
        if rows == 0 {
            return Ok(None);
        }
        let page = Page {
            after,
            reverse: filter.reverse,
            detail: Detail::History,
            ..Page::first(rows, Order::Oldest)
        };
        let peeked = self.store.peek(what, &page)?;
        let is_held = |message: &Message| message.lease_until.is_some_and(|end| end > self.op.at);
        let (held, free): (Vec<Message>, Vec<Message>) = peeked.rows.into_iter().partition(is_held);
        for message in held {
            self.pass_over(&message.id, "a command holds it");
        }
        if !free.is_empty() {
            self.write(&free)?;
            self.remove(free.into_iter().map(|letter| letter.id).collect())?;
        }
        Ok(peeked.next)
    }

    fn pass_over(&mut self, id: &MessageId, why: &str) {
        let what = format!("message {id} of {} is passed over: {why}", self.job.queue);
        let fail = Fail::new(Kind::Conflict, what);
        self.report.skip(self.job.ctx, &fail);
    }

    /// The lines are on the disk, or have left for the pipe, when this returns.
    fn write(&mut self, letters: &[Message]) -> Result<(), Fail> {
        let mut lines = String::new();
        for letter in letters {
            lines += &letter.record().to_json();
            lines.push('\n');
        }
        let written = match &mut self.sink {
            Sink::Stdout => {
                let ui = &self.job.ctx.ui;
                ui.out_bytes(lines.as_bytes()).and_then(|()| ui.flush())
            }
            // A pipe's reader may go, whether the pipe is on stdout or has a name.
            Sink::File(file) => append(file, lines.as_bytes()).map_err(OutError::from),
        };
        written.map_err(|error| {
            let done = self.job.counted(self.report.done);
            match error {
                OutError::Closed => {
                    let what = format!("nobody reads the export any more: exported {done}, the rest is still dead");
                    Fail::System(Code::Partly, what)
                }
                OutError::Failed(error) => {
                    let error = system(&error);
                    let what = format!("the export cannot be written: {error}; exported {done}, the rest is still dead");
                    Fail::System(Code::Unavailable, what)
                }
            }
        })
    }

    fn remove(&mut self, ids: Vec<MessageId>) -> Result<(), Fail> {
        let rows = ids.len();
        let what = Selection {
            ids: Some(ids),
            states: vec![State::Dead],
            // One that was replayed meanwhile and died again has a history that was not written.
            until: Some(self.op.at),
            ..Selection::of(self.job.queue.clone())
        };
        let change = Change::Purge { free_keys: true };
        let page = Page::first(rows, Order::Oldest);
        let changed = self.store.change(&what, &change, self.op, &page, Run::Do)?;
        self.report.done += changed.done.len() as u64;
        for (id, why) in changed.skipped {
            self.pass_over(&id, &why);
        }
        Ok(())
    }
}

/// Refuses a place where a line is gone as soon as it is written: the letters go because of it.
fn refuse(job: &Job<'_>, path: &Path, to_stdout: bool) -> Result<(), Fail> {
    let place = |meta: &Metadata| (meta.dev(), meta.ino());
    let there = (!to_stdout).then(|| std::fs::metadata(path).ok()).flatten();
    let nowhere = match &there {
        Some(meta) => is_null_device(meta.rdev()),
        None => to_stdout && job.ctx.ui.stdout_device().is_some_and(is_null_device),
    };
    if nowhere {
        // A closed stdout is that, too.
        return Err(
            Fail::usage("the export would go nowhere: its output is closed, or /dev/null").hint(
                Hint::run_with("purge", &[job.queue.as_str()], "--dead --all")
                    .say(" deletes dead letters"),
            ),
        );
    }
    let Some(file) = there.as_ref().map(place) else {
        return Ok(());
    };
    let (_, target) = job.ctx.chosen()?;
    let ours = target
        .files()
        .into_iter()
        .filter_map(|file| std::fs::metadata(file).ok());
    if ours.map(|meta| place(&meta)).any(|place| place == file) {
        return Err(Fail::usage(format!(
            "{} is a file of the store itself",
            path.display()
        )));
    }
    Ok(())
}

/// Devices that take everything and keep nothing.
fn is_null_device(device: u64) -> bool {
    ["/dev/null", "/dev/zero"]
        .iter()
        .any(|path| std::fs::metadata(path).is_ok_and(|null| null.rdev() == device))
}

/// Opens the file at its end. A line that a crash has torn gets its end first, so that the next stands for itself.
fn open(path: &Path) -> Result<File, Fail> {
    // A pipe is opened as a writer alone: whoever could read it would be its own reader, and never hear that the other
    // one has gone.
    let is_plain = std::fs::metadata(path).map_or(true, |meta| meta.is_file());
    let mut options = OpenOptions::new();
    options.append(true).mode(0o600);
    if is_plain {
        options.read(true).create(true);
    }
    let opened = options.open(path).and_then(|mut file| {
        if is_plain {
            end_line(&mut file)?;
            // The file's name is on the disk before anything is removed because of it.
            let folder = path
                .parent()
                .filter(|folder| !folder.as_os_str().is_empty());
            File::open(folder.unwrap_or(Path::new(".")))?.sync_all()?;
        }
        Ok(file)
    });
    opened.map_err(|error| {
        let code = match error.kind() {
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => Code::Denied,
            io::ErrorKind::StorageFull => Code::Unavailable,
            _ => Code::Usage,
        };
        let what = format!(
            "{} cannot be written: {}; nothing changed",
            path.display(),
            system(&error)
        );
        Fail::System(code, what)
    })
}

fn end_line(file: &mut File) -> io::Result<()> {
    if !file.metadata()?.is_file() || file.metadata()?.len() == 0 {
        return Ok(());
    }
    let mut last = [0];
    file.seek(SeekFrom::End(-1))?;
    file.read_exact(&mut last)?;
    if last != *b"\n" {
        file.write_all(b"\n")?;
    }
    Ok(())
}

/// Appends all of it durably, or takes back what was written of it.
fn append(file: &mut File, lines: &[u8]) -> io::Result<()> {
    let meta = file.metadata()?;
    if !meta.is_file() {
        // A pipe or a device has no disk to wait for.
        return file.write_all(lines);
    }
    let written = file.write_all(lines).and_then(|()| file.sync_data());
    if written.is_err() {
        // The first error is what is said; a torn line is ended when the file is opened again.
        let _ = file.set_len(meta.len());
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_torn_line_is_ended_before_the_next() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("dead.ndjson");
        for (before, after) in [("", "{}\n"), ("{}\n", "{}\n{}\n"), ("{\"a", "{\"a\n{}\n")] {
            std::fs::write(&path, before).unwrap();
            let mut file = open(&path).unwrap();
            append(&mut file, b"{}\n").unwrap();
            assert_eq!(std::fs::read_to_string(&path).unwrap(), after);
        }
    }

    #[test]
    fn what_cannot_be_opened_changes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let fail = open(&folder.path().join("no/such")).unwrap_err();
        assert_eq!(fail.code(), Code::Usage);
        assert!(
            fail.problem("qops")
                .unwrap()
                .message
                .ends_with("nothing changed")
        );
    }
}
