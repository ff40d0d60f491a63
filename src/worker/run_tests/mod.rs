//! The store thread over a real store that fails as it is told.

mod faults;
mod ways;

use super::command::{Command, Input, Output};
use super::note::{Ending, Fate, Note, Summary, Why};
use super::plan::{Missing, Mode, Plan, Promise, Source};
use super::run::run_with;
use super::slot::{Desk, News};
use crate::backend::*;
use crate::queue::retry::Settings;
use crate::queue::{
    Enqueued, Ladder, MessageId, NewMessage, QueueName, Reason, Selection, Skew, State,
};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// What the store does with an exchange: from the script in turn; as it should when that is at its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    /// As it should.
    Well,
    /// Nothing happens.
    Fails(Kind),
    /// As it should, after a while.
    Slow,
    /// It happens, and the answer is lost.
    Mute,
    /// From now on nothing fits but what is done.
    Full,
}

type Script = Arc<Mutex<Vec<Fault>>>;

struct Faulty {
    inner: Box<dyn Backend>,
    script: Script,
    /// How often settings were asked for.
    asked: Arc<AtomicUsize>,
}

impl Backend for Faulty {
    fn capability(&self) -> Capability {
        self.inner.capability()
    }
    fn migrate(&mut self, run: Run) -> Result<Migrated> {
        self.inner.migrate(run)
    }
    fn enqueue(&mut self, batch: &[NewMessage<'_>], unit: Unit) -> Result<Vec<Enqueued>> {
        self.inner.enqueue(batch, unit)
    }
    fn exchange(&mut self, turn: &Exchange<'_>) -> Result<Exchanged> {
        let fault = {
            let mut script = self.script.lock().unwrap();
            match script.first() {
                None => Fault::Well,
                Some(Fault::Full) => Fault::Full,
                Some(_) => script.remove(0),
            }
        };
        match fault {
            Fault::Well => self.inner.exchange(turn),
            Fault::Slow => {
                std::thread::sleep(Duration::from_millis(50));
                self.inner.exchange(turn)
            }
            Fault::Fails(kind) => Err(Error::new(kind, "as told")),
            Fault::Mute => {
                self.inner.exchange(turn)?;
                Err(Error::new(Kind::Unreachable, "the answer is lost").maybe_done())
            }
            Fault::Full => {
                let only_done = turn.settle.iter().all(|one| one.verdict == Verdict::Done);
                if only_done && turn.claim.is_none() {
                    self.inner.exchange(turn)
                } else {
                    Err(Error::new(Kind::Full, "the disk is full"))
                }
            }
        }
    }
    fn watch(&mut self, queues: &[QueueName]) -> Result<Box<dyn Watch>> {
        self.inner.watch(queues)
    }
    fn peek(&mut self, what: &Selection, page: &Page<'_>) -> Result<Peeked> {
        self.inner.peek(what, page)
    }
    fn count(&mut self, what: &Selection, cap: u64) -> Result<Count> {
        self.inner.count(what, cap)
    }
    fn begin(&mut self, intent: &Intent<'_>) -> Result<Op> {
        self.inner.begin(intent)
    }
    fn change(
        &mut self,
        what: &Selection,
        change: &Change<'_>,
        op: &Op,
        page: &Page<'_>,
        run: Run,
    ) -> Result<Changed> {
        self.inner.change(what, change, op, page, run)
    }
    fn stats(&mut self, queues: Option<&[QueueName]>, depth: Depth) -> Result<Vec<QueueReport>> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        self.inner.stats(queues, depth)
    }
    fn configure(&mut self, queue: &QueueName, patch: &Patch) -> Result<Settings> {
        self.inner.configure(queue, patch)
    }
    fn tend(&mut self, chore: Chore, budget: Duration) -> Result<Tended> {
        self.inner.tend(chore, budget)
    }
    fn examine(&mut self) -> Result<Vec<Finding>> {
        self.inner.examine()
    }
}

struct World {
    folder: tempfile::TempDir,
    script: Script,
    asked: Arc<AtomicUsize>,
    skew: Skew,
    /// What was told, in words.
    told: Vec<String>,
    /// So many messages are set aside at the most.
    most_aside: usize,
}

fn name(queue: &str) -> QueueName {
    QueueName::parse(queue).unwrap()
}

impl World {
    fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
            script: Script::default(),
            asked: Arc::default(),
            skew: Skew::movable(),
            told: vec![],
            most_aside: 100,
        }
    }

    fn path(&self, file: &str) -> PathBuf {
        self.folder.path().join(file)
    }

    fn read(&self, file: &str) -> String {
        std::fs::read_to_string(self.path(file)).unwrap_or_default()
    }

    fn opener(&self) -> impl Fn() -> Result<Box<dyn Backend>> + use<> {
        let url = format!("sqlite:{}", self.path("q.db").display());
        let (script, skew) = (Arc::clone(&self.script), self.skew.clone());
        let asked = Arc::clone(&self.asked);
        move || {
            let options = OpenOptions {
                access: Access::Write,
                identity: "worker:1".to_owned(),
                skew: skew.clone(),
            };
            let target = Target::parse(&url, Path::new("/")).unwrap();
            Ok(Box::new(Faulty {
                inner: registry::open(&target, &options)?.backend,
                script: Arc::clone(&script),
                asked: Arc::clone(&asked),
            }))
        }
    }

    fn store(&self) -> Box<dyn Backend> {
        let script = self.script.lock().unwrap().clone();
        assert!(script.is_empty(), "the test itself wants a sound store");
        self.opener()().unwrap()
    }

    fn enqueue(&self, queue: &str, payloads: &[&str]) -> Vec<MessageId> {
        let batch: Vec<NewMessage<'_>> = payloads
            .iter()
            .map(|payload| NewMessage::new(name(queue), payload.as_bytes()))
            .collect();
        let stored = self.store().enqueue(&batch, Unit::Each).unwrap();
        stored
            .into_iter()
            .map(|one| match one {
                Enqueued::New(id) | Enqueued::Duplicate(id) => id,
            })
            .collect()
    }

    fn tell(&self, faults: &[Fault]) {
        *self.script.lock().unwrap() = faults.to_vec();
    }

    /// A plan over queue `q` whose command runs this line in the world's folder.
    fn plan(&self, line: &str) -> Plan {
        let line = format!("cd {}; m=$(cat); {line}", self.folder.path().display());
        let command = Command::shell(line, Input::Stdin, Output::Discard).unwrap();
        let mut plan = Plan::new(Source::Ready(vec![name("q")]), command);
        plan.backoff = Ladder::new(vec![Duration::from_hours(1)]);
        plan.kill_after = Duration::from_millis(200);
        plan
    }

    fn run(&mut self, plan: &Plan) -> Summary {
        self.run_while(plan, |_| {})
    }

    /// Runs a plan while another thread has the desk.
    fn run_while(
        &mut self,
        plan: &Plan,
        meanwhile: impl FnOnce(&Desk) + Send + 'static,
    ) -> Summary {
        let open = self.opener();
        let told = &mut self.told;
        let mut say = |note: Note<'_>| {
            told.push(match note {
                Note::Ended { id, fate, .. } => format!("{id} {}", word(fate)),
                Note::Started { id, .. } => format!("{id} started"),
                Note::Buried { found, .. } => {
                    let each = found
                        .iter()
                        .map(|(id, reason)| format!("{id} buried {reason}"));
                    each.collect::<Vec<_>>().join("\n")
                }
                other => {
                    let text = format!("{other:?}");
                    text.split(['(', ' ', '{']).next().unwrap().to_owned()
                }
            });
        };
        run_with(
            Some(open().unwrap()),
            &mut || open(),
            plan,
            None,
            &mut say,
            self.most_aside,
            |desk| {
                let desk = Arc::clone(desk);
                std::thread::spawn(move || meanwhile(&desk));
            },
        )
        .unwrap()
    }

    fn told(&self, what: &str) -> usize {
        self.told.iter().filter(|told| *told == what).count()
    }

    fn counts(&self, queue: &str) -> crate::queue::QueueCounts {
        self.tell(&[]);
        self.store()
            .stats(Some(&[name(queue)]), Depth::Exact)
            .unwrap()[0]
            .counts
    }

    fn peek(&self, queue: &str) -> Vec<crate::queue::Message> {
        let what = Selection::of(name(queue));
        let page = Page {
            detail: Detail::History,
            ..Page::first(100, crate::queue::Order::Oldest)
        };
        self.store().peek(&what, &page).unwrap().rows
    }
}

fn word(fate: &Fate) -> &'static str {
    match fate {
        Fate::Done => "done",
        Fate::Retry { .. } => "retry",
        Fate::Deferred { .. } => "deferred",
        Fate::Dead { .. } => "dead",
        Fate::Released => "released",
        Fate::Lost => "lost",
        Fate::Dropped { .. } => "dropped",
    }
}

fn sorted(text: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    lines
}

fn wait_for(path: &Path, text: &str) {
    let began = Instant::now();
    while !std::fs::read_to_string(path).is_ok_and(|found| found.contains(text)) {
        assert!(began.elapsed() < Duration::from_secs(30), "{text}");
        std::thread::sleep(Duration::from_millis(2));
    }
}
