//! The stages: how a store of each kind is started, and how its time is moved.

use super::model::Model;
use super::pg::{self, Server};
use qops::backend::{Access, Backend, Checked, Features, OpenOptions, Run, Target, registry};
use qops::queue::Skew;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tempfile::TempDir;

/// A kind of store on which the suite can be played.
pub trait Stage: Send + Sync {
    /// Its name, as in `QOPS_REQUIRE`.
    fn name(&self) -> &'static str;

    /// Why it cannot be played on here; none if it can.
    fn absent(&self) -> Option<String>;

    /// An empty store that nobody else sees.
    fn fresh(&self) -> Box<dyn Store>;
}

/// One store. Every handle is behind the checked door, as in production.
pub trait Store: Send + Sync {
    /// Another handle, that may write.
    fn open(&self, identity: &str) -> Box<dyn Backend>;

    /// Another handle, that only looks. The store must be there.
    fn open_to_read(&self, identity: &str) -> Box<dyn Backend>;

    /// Moves the store's clock on.
    fn advance(&self, by: Duration);

    /// Another empty store of the same kind.
    fn sibling(&self) -> Box<dyn Store>;
}

/// Every stage, the model first.
pub fn all() -> Vec<Box<dyn Stage>> {
    vec![
        Box::new(ModelStage),
        Box::new(SqliteStage),
        Box::new(PostgresStage::default()),
    ]
}

/// Every feature that there is.
pub fn every_feature() -> Features {
    Features::NAMED
        .iter()
        .fold(Features::NONE, |all, (_, one)| all.and(*one))
}

/// The reference model.
pub struct ModelStage;

impl Stage for ModelStage {
    fn name(&self) -> &'static str {
        "model"
    }

    fn absent(&self) -> Option<String> {
        None
    }

    fn fresh(&self) -> Box<dyn Store> {
        Box::new(ModelStore::with(every_feature()))
    }
}

/// A model in memory.
pub struct ModelStore {
    model: Model,
    skew: Skew,
}

impl ModelStore {
    /// An empty model that can do this much.
    pub fn with(features: Features) -> Self {
        let skew = Skew::movable();
        let model = Model::new(skew.clone(), features);
        Self { model, skew }
    }

    /// All that it holds.
    pub fn dump(&self) -> String {
        self.model.dump()
    }
}

impl Store for ModelStore {
    fn open(&self, identity: &str) -> Box<dyn Backend> {
        Box::new(Checked::over(Box::new(self.model.handle(identity))))
    }

    fn open_to_read(&self, identity: &str) -> Box<dyn Backend> {
        self.open(identity)
    }

    fn advance(&self, by: Duration) {
        self.skew.advance(by);
    }

    fn sibling(&self) -> Box<dyn Store> {
        ModelStage.fresh()
    }
}

/// A SQLite file a store.
pub struct SqliteStage;

impl Stage for SqliteStage {
    fn name(&self) -> &'static str {
        "sqlite"
    }

    fn absent(&self) -> Option<String> {
        let built_in = registry::DRIVERS
            .iter()
            .any(|driver| driver.schemes.contains(&"sqlite"));
        (!built_in).then(|| "sqlite is not built in".to_owned())
    }

    fn fresh(&self) -> Box<dyn Store> {
        let dir = tempfile::tempdir().expect("a temporary directory");
        Box::new(SqliteStore {
            path: dir.path().join("queue.db"),
            skew: Skew::movable(),
            _dir: dir,
        })
    }
}

struct SqliteStore {
    path: PathBuf,
    skew: Skew,
    _dir: TempDir,
}

impl SqliteStore {
    fn handle(&self, identity: &str, access: Access) -> Box<dyn Backend> {
        // What a power cut could take does not matter here; what a commit costs does.
        let url = format!("sqlite:{}?durability=normal", self.path.display());
        let target = Target::parse(&url, self.path.parent().expect("it is in a directory"))
            .expect("a good URL");
        let options = OpenOptions {
            access,
            identity: identity.to_owned(),
            skew: self.skew.clone(),
        };
        registry::open(&target, &options)
            .expect("a store that opens")
            .backend
    }
}

impl Store for SqliteStore {
    fn open(&self, identity: &str) -> Box<dyn Backend> {
        self.handle(identity, Access::Write)
    }

    fn open_to_read(&self, identity: &str) -> Box<dyn Backend> {
        self.handle(identity, Access::Read)
    }

    fn advance(&self, by: Duration) {
        self.skew.advance(by);
    }
    fn sibling(&self) -> Box<dyn Store> {
        SqliteStage.fresh()
    }
}

/// A schema a store, on one server.
#[derive(Default)]
pub struct PostgresStage {
    server: Arc<OnceLock<Server>>,
    schemas: Arc<AtomicU32>,
}

impl Stage for PostgresStage {
    fn name(&self) -> &'static str {
        "postgres"
    }

    fn absent(&self) -> Option<String> {
        let built_in = registry::DRIVERS
            .iter()
            .any(|driver| driver.schemes.contains(&"postgres"));
        if !built_in {
            return Some("postgres is not built in".to_owned());
        }
        pg::programs()
            .is_none()
            .then(|| "no Postgres server is installed".to_owned())
    }

    fn fresh(&self) -> Box<dyn Store> {
        let server = self.server.get_or_init(|| Server::start(&[]));
        let n = self.schemas.fetch_add(1, Ordering::SeqCst);
        let store = PostgresStore {
            url: server.url(&format!("t{n}")),
            skew: Skew::movable(),
            stage: Self {
                server: Arc::clone(&self.server),
                schemas: Arc::clone(&self.schemas),
            },
        };
        store
            .handle("init", Access::Init)
            .migrate(Run::Do)
            .expect("a schema");
        Box::new(store)
    }
}

struct PostgresStore {
    url: String,
    skew: Skew,
    stage: PostgresStage,
}

impl PostgresStore {
    fn handle(&self, identity: &str, access: Access) -> Box<dyn Backend> {
        let target = Target::parse(&self.url, Path::new("/")).expect("a good URL");
        let options = OpenOptions {
            access,
            identity: identity.to_owned(),
            skew: self.skew.clone(),
        };
        registry::open(&target, &options)
            .expect("a store that opens")
            .backend
    }
}

impl Store for PostgresStore {
    fn open(&self, identity: &str) -> Box<dyn Backend> {
        self.handle(identity, Access::Write)
    }

    fn open_to_read(&self, identity: &str) -> Box<dyn Backend> {
        self.handle(identity, Access::Read)
    }

    fn advance(&self, by: Duration) {
        self.skew.advance(by);
    }

    fn sibling(&self) -> Box<dyn Store> {
        self.stage.fresh()
    }
}
