//! What a verb has: the printer, and two ways to a store.

use super::fail::Fail;
use super::{Globals, stop::Stop};
use crate::backend::target::Durability;
use crate::backend::{self, Access, Backend, Depth, Kind, OpenOptions, Target, registry};
use crate::config::{self, ConfigError, Flags, Origin, Store, Surroundings};
use crate::queue::hint::shell_word;
use crate::queue::said::system;
use crate::queue::{QueueName, Skew};
use crate::ui::error::ErrorStyle;
use crate::ui::{Format, Natural, Plan, Row, Shape, Ui};
use std::cell::{Cell, OnceCell};
use std::ffi::OsString;

/// The surroundings of one run of a verb.
pub struct Ctx {
    /// The only printer.
    pub ui: Ui,
    globals: Globals,
    args: Vec<OsString>,
    chosen: OnceCell<(Store, Target)>,
    announced: Cell<bool>,
    names: OnceCell<Option<Vec<QueueName>>>,
}

impl Ctx {
    /// Looks at nothing yet. `args`: the command line, the program's name first.
    pub(super) fn new(ui: Ui, globals: Globals, args: Vec<OsString>) -> Self {
        Self {
            ui,
            globals,
            args,
            chosen: OnceCell::new(),
            announced: Cell::new(false),
            names: OnceCell::new(),
        }
    }

    /// The command line as it was typed, the program's name first.
    #[must_use]
    pub fn args(&self) -> &[OsString] {
        &self.args
    }

    /// The format that was asked for.
    #[must_use]
    pub fn format(&self) -> Option<Format> {
        self.globals.format()
    }

    /// The options of every verb.
    pub(super) fn globals(&self) -> &Globals {
        &self.globals
    }

    /// Says an error, as a record where the records are JSON. That nobody reads our output any more is none.
    pub fn complain(&self, fail: &Fail) {
        let Some(problem) = fail.problem(&self.program()) else {
            return;
        };
        let style = match self.format() {
            Some(format) if format.is_json() => ErrorStyle::Json,
            _ => ErrorStyle::Text,
        };
        self.ui.error(&problem, style);
    }

    /// How records will be put out; called before a store is opened, so that a wrong flag contacts nobody.
    ///
    /// # Errors
    /// A format or a field that does not fit.
    pub fn plan<R: Row>(&self, natural: Natural, shape: Shape) -> Result<Option<Plan>, Fail> {
        self.plan_as::<R>(self.format(), natural, shape)
    }

    /// As [`Self::plan`], with a format of the verb's own choice.
    ///
    /// # Errors
    /// A format or a field that does not fit.
    pub fn plan_as<R: Row>(
        &self,
        format: Option<Format>,
        natural: Natural,
        shape: Shape,
    ) -> Result<Option<Plan>, Fail> {
        let fields = self.globals.fields.as_deref().unwrap_or_default();
        Ok(Plan::new::<R>(&self.ui, format, fields, natural, shape)?)
    }

    /// Which store is meant, and where it is. Contacts nothing.
    ///
    /// # Errors
    /// The configuration or the URL cannot be used.
    pub fn chosen(&self) -> Result<&(Store, Target), Fail> {
        if let Some(chosen) = self.chosen.get() {
            return Ok(chosen);
        }
        let var = |name: &str| std::env::var_os(name);
        let around = Surroundings {
            var: &var,
            directory: std::env::current_dir().map_err(|error| {
                ConfigError::new(format!(
                    "the working directory is not there: {}",
                    system(&error)
                ))
            })?,
        };
        let flags = Flags {
            url: self.globals.url.clone(),
            context: self.globals.context.clone(),
        };
        let store = config::resolve(&flags, &around)?;
        let target = Target::parse(store.url.reveal(), &store.base)?;
        if store.password.is_some() && target.sqlite().is_some() {
            let context = store.context.as_deref().unwrap_or_default();
            return Err(ConfigError::new(format!(
                "context '{context}' has a password, and a SQLite file takes none"
            ))
            .into());
        }
        Ok(self.chosen.get_or_init(|| (store, target)))
    }

    /// Says which store is meant where that may surprise, and with `-v` always. Once a run: of two processes the outer one
    /// says it.
    ///
    /// # Errors
    /// As [`Self::chosen`].
    pub fn announce(&self) -> Result<(), Fail> {
        let (store, target) = self.chosen()?;
        if self.announced.replace(true) {
            return Ok(());
        }
        self.ui
            .detail(format!("store: {target} ({})", store.origin));
        if let (Some(variable), true) = (store.overlooked, self.ui.stderr_is_terminal()) {
            self.ui.note(format!(
                "using the default store; {variable} is set and not read (-u env:{variable} takes it)"
            ));
        }
        Ok(())
    }

    /// The outer process has said what there is to say of the store.
    pub(super) fn is_inner(&self) {
        self.announced.set(true);
    }

    /// The store's name in questions and summaries: its context, else its kind and place.
    ///
    /// # Errors
    /// As [`Self::chosen`].
    pub fn place(&self) -> Result<String, Fail> {
        let (store, target) = self.chosen()?;
        Ok(match &store.context {
            Some(context) => context.clone(),
            None => target.to_string(),
        })
    }

    /// Whether this store wants a queue's name typed before something is changed in bulk.
    ///
    /// # Errors
    /// As [`Self::chosen`].
    pub fn wants_name(&self) -> Result<bool, Fail> {
        Ok(self.chosen()?.0.confirm)
    }

    /// A handle that changes nothing.
    ///
    /// # Errors
    /// The store is not there, or whatever it says.
    pub fn read(&self) -> Result<Box<dyn Backend>, Fail> {
        self.open(Access::Read)
    }

    /// A handle that may change the store, and creates what it needs in one that is ours alone.
    ///
    /// # Errors
    /// The context is read-only (nothing is contacted then), or whatever the store says.
    pub fn write(&self) -> Result<Box<dyn Backend>, Fail> {
        self.writable()?;
        self.open(Access::Write)
    }

    /// As [`Self::write`], for `init`: the schema is left to it.
    ///
    /// # Errors
    /// As [`Self::write`].
    pub fn init(&self) -> Result<Box<dyn Backend>, Fail> {
        self.writable()?;
        self.open(Access::Init)
    }

    /// As [`Self::init`], to see what it would do: creates and changes nothing, also in a read-only context.
    ///
    /// # Errors
    /// Whatever the store says.
    pub fn dry_init(&self) -> Result<Box<dyn Backend>, Fail> {
        self.open(Access::Plan)
    }

    /// Refuses what would change a read-only context.
    ///
    /// # Errors
    /// [`Kind::Refused`].
    pub fn writable(&self) -> Result<(), Fail> {
        let (store, _) = self.chosen()?;
        match (&store.context, store.read_only) {
            (Some(context), true) => Err(Fail::new(
                Kind::Refused,
                format!("context '{context}' is read-only"),
            )
            .hint("choose another store with --context or --url")),
            _ => Ok(()),
        }
    }

    /// Refuses a store that may lose what it acknowledged.
    ///
    /// # Errors
    /// [`Kind::Refused`].
    pub fn require_durable(&self) -> Result<(), Fail> {
        let (_, target) = self.chosen()?;
        match target.sqlite() {
            Some(file) if file.durability == Durability::Normal => Err(Fail::new(
                Kind::Refused,
                "durability=normal: a power cut may take acknowledged messages",
            )
            .hint("leave ?durability=normal out of the URL, or --require-durable")),
            _ => Ok(()),
        }
    }

    /// The names of the store's queues, for what was probably meant: asked for once a run, as many names may be wrong. None
    /// where the store does not tell.
    pub(super) fn queue_names(&self) -> Option<&[QueueName]> {
        let ask = || {
            let reports = self.read().ok()?.stats(None, Depth::Names).ok()?;
            Some(reports.into_iter().map(|report| report.queue).collect())
        };
        self.names.get_or_init(ask).as_deref()
    }

    fn open(&self, access: Access) -> Result<Box<dyn Backend>, Fail> {
        self.announce()?;
        let (store, target) = self.chosen()?;
        let options = OpenOptions {
            access,
            identity: identity(),
            skew: Skew::default(),
        };
        if matches!(access, Access::Write | Access::Init) {
            folder_is_there(store, target)?;
        }
        let entered = match &store.password {
            None => None,
            Some(password) => {
                let var = |name: &str| std::env::var_os(name);
                let around = Surroundings {
                    var: &var,
                    directory: store.base.clone(),
                };
                let secret = password.take(&store.base, &around)?;
                Some(target.clone().with_password(secret.reveal()))
            }
        };
        let opened = registry::open(entered.as_ref().unwrap_or(target), &options)?;
        if opened.created {
            let why = match store.origin {
                Origin::Default => " (the default store; choose another with --url)",
                _ => "",
            };
            self.ui.note(format!("created {}{why}", target.location()));
        }
        Ok(opened.backend)
    }

    /// Hears signals from now on; see [`Stop::listen`].
    ///
    /// # Errors
    /// The system refuses handlers.
    pub fn listen(&self) -> Result<Stop, Fail> {
        Stop::listen().map_err(|error| {
            backend::Error::bug("signal handlers cannot be installed")
                .because(error)
                .into()
        })
    }
}

/// Refuses a file in a folder that is not there: only the default store's own is made, since a path that somebody wrote
/// may be mistyped.
fn folder_is_there(store: &Store, target: &Target) -> Result<(), Fail> {
    let folder = target.sqlite().and_then(|file| file.path.parent());
    let Some(folder) = folder.filter(|_| store.origin != Origin::Default) else {
        return Ok(());
    };
    match std::fs::metadata(folder) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            let folder = folder.display().to_string();
            let what = format!(
                "cannot make {}: there is no folder {folder}",
                target.location()
            );
            Err(Fail::new(Kind::NotFound, what).hint(format!("mkdir -p {}", shell_word(&folder))))
        }
        // Whatever else is wrong, the store says it.
        _ => Ok(()),
    }
}

/// Who we are in leases and history: host and process.
#[must_use]
pub fn identity() -> String {
    let name = rustix::system::uname();
    let host = name.nodename().to_string_lossy();
    let host = host.split('.').next().unwrap_or_default();
    format!("{host}:{}", std::process::id())
}

/// Who we are as a person: user, host and process.
#[must_use]
pub fn who() -> String {
    let user = ["USER", "LOGNAME"]
        .iter()
        .find_map(|name| std::env::var(name).ok().filter(|user| !user.is_empty()))
        .unwrap_or_else(|| format!("uid {}", rustix::process::getuid().as_raw()));
    format!("{user}@{}", identity())
}
