//! The connection: how it is opened and opened again, how a transaction runs, and what the server's errors mean.

use super::super::target::PostgresServer;
use super::super::{Access, Error, Kind, OpenOptions, Result, Target};
use super::connect::{connect, drive};
use super::schema;
use super::value::Stamp;
use crate::queue::{Hint, QueueName, Skew, Timestamp};
use std::borrow::Cow;
use std::pin::pin;
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};
use tokio_postgres::binary_copy::BinaryCopyInWriter;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Row};

/// How long all of it may take to reach a server: names, every host, encryption, who we are.
pub(super) const CONNECT: Duration = Duration::from_secs(5);
/// How long one call may take.
pub(super) const CALL: Duration = Duration::from_secs(10);
/// The same of one that goes through very much.
pub(super) const LONG_CALL: Duration = Duration::from_mins(2);
/// So often a transaction is tried that lost against others.
const TRIES: u32 = 6;

/// A parameter and its type.
pub(super) type Param<'a> = (&'a (dyn ToSql + Sync), Type);

/// An open store.
pub(super) struct Store {
    runtime: Runtime,
    client: Option<Client>,
    pub(super) server: PostgresServer,
    pub(super) identity: String,
    pub(super) access: Access,
    pub(super) skew: Skew,
    pub(super) scan: super::scan::Scan,
    /// A transaction is open: what is lost now is lost with all of it.
    in_transaction: bool,
}

/// A queue's row.
pub(super) struct QueueRow {
    pub(super) id: i32,
    pub(super) ttl_us: Option<i64>,
}

impl Store {
    pub(super) fn open(target: &Target, options: &OpenOptions) -> Result<Self> {
        let server = target
            .postgres()
            .ok_or_else(|| Error::bug("the target is no Postgres server"))?
            .clone();
        let runtime = Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| {
                Error::new(Kind::Unreachable, "the system gives no event queue").because(error)
            })?;
        let mut store = Self {
            runtime,
            client: None,
            server,
            identity: options.identity.clone(),
            access: options.access,
            skew: options.skew.clone(),
            scan: super::scan::Scan::default(),
            in_transaction: false,
        };
        schema::ready(&mut store)?;
        Ok(store)
    }

    /// A statement with the schema of this store in it.
    fn text<'a>(&self, statement: &'a str) -> Cow<'a, str> {
        schema::in_schema(statement, &self.server.schema)
    }

    /// The connection, made anew if it has ended.
    fn connected(&mut self) -> Result<()> {
        if self
            .client
            .as_ref()
            .is_some_and(|client| !client.is_closed())
        {
            return Ok(());
        }
        self.client = None;
        if self.in_transaction {
            let what = format!("the connection to {} ended", self.server.place());
            return Err(Error::new(Kind::Unreachable, what));
        }
        let reached = self
            .runtime
            .block_on(async { tokio::time::timeout(CONNECT, connect(&self.server)).await });
        let link = match reached {
            Ok(link) => link?,
            Err(_) => {
                return Err(Error::new(
                    Kind::Unreachable,
                    format!("{} does not answer within 5 s", self.server.place()),
                ));
            }
        };
        self.runtime.spawn(drive(link.driver));
        self.client = Some(link.client);
        Ok(())
    }

    /// One statement. Outside of a transaction it is its own, and is tried again where it lost against others; what it did
    /// is known unless the connection ended in it.
    pub(super) fn query(&mut self, statement: &str, params: &[Param<'_>]) -> Result<Vec<Row>> {
        self.query_within(CALL, statement, params)
    }

    /// The same within another time.
    pub(super) fn query_within(
        &mut self,
        limit: Duration,
        statement: &str,
        params: &[Param<'_>],
    ) -> Result<Vec<Row>> {
        let statement = self.text(statement).into_owned();
        let again = !self.in_transaction;
        for tries in 1.. {
            match self.ask(limit, &statement, params) {
                Err(error) if again && lost_against_others(&error) && tries < TRIES => nap(tries),
                answer => return answer,
            }
        }
        Err(Error::bug("tries without an end"))
    }

    fn ask(&mut self, limit: Duration, statement: &str, params: &[Param<'_>]) -> Result<Vec<Row>> {
        self.connected()?;
        let Some(client) = &self.client else {
            return Err(Error::bug("a connection that was just made is not there"));
        };
        let params: Vec<Param<'_>> = params.to_vec();
        let answer = self.runtime.block_on(async {
            tokio::time::timeout(limit, client.query_typed(statement, &params)).await
        });
        self.heard(answer)
    }

    /// Statements without parameters or answers.
    pub(super) fn batch(&mut self, limit: Duration, statements: &str) -> Result<()> {
        self.connected()?;
        let Some(client) = &self.client else {
            return Err(Error::bug("a connection that was just made is not there"));
        };
        let answer = self.runtime.block_on(async {
            tokio::time::timeout(limit, client.batch_execute(statements)).await
        });
        self.heard(answer)
    }

    /// What a call answered. After one that did not end the connection is of no use.
    fn heard<T>(
        &mut self,
        answer: std::result::Result<
            std::result::Result<T, tokio_postgres::Error>,
            tokio::time::error::Elapsed,
        >,
    ) -> Result<T> {
        match answer {
            Ok(Ok(value)) => Ok(value),
            Ok(Err(error)) => {
                let known = error.as_db_error().is_some();
                let error = Error::from(error);
                if known {
                    return Err(error);
                }
                self.client = None;
                Err(error.maybe_done())
            }
            Err(_) => {
                self.client = None;
                let what = format!("{} did not answer in time", self.server.place());
                Err(Error::new(Kind::Timeout, what).maybe_done())
            }
        }
    }

    /// Runs `work` in one transaction: all of it stands, or nothing. It is run again where it lost against others.
    pub(super) fn write<T>(
        &mut self,
        limit: Duration,
        work: &mut dyn FnMut(&mut Self) -> Result<T>,
    ) -> Result<T> {
        for tries in 1.. {
            match self.once(limit, work) {
                Err(error) if lost_against_others(&error) && tries < TRIES => nap(tries),
                done => return done,
            }
        }
        Err(Error::bug("tries without an end"))
    }

    fn once<T>(
        &mut self,
        limit: Duration,
        work: &mut dyn FnMut(&mut Self) -> Result<T>,
    ) -> Result<T> {
        self.batch(limit, "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE")
            .map_err(Error::undone)?;
        self.in_transaction = true;
        let done = work(self);
        let ended = match &done {
            Ok(_) => self.batch(limit, "COMMIT"),
            Err(_) if self.client.is_some() => self.batch(limit, "ROLLBACK"),
            Err(_) => Ok(()),
        };
        self.in_transaction = false;
        match (done, ended) {
            (Ok(value), Ok(())) => Ok(value),
            (Ok(_), Err(error)) => Err(error),
            (Err(error), ended) => {
                if ended.is_err() {
                    // Without a connection the server takes it back by itself.
                    self.client = None;
                }
                Err(error.undone())
            }
        }
    }

    /// The store's now.
    pub(super) fn now(&mut self) -> Result<Timestamp> {
        let skew = self.skew.micros();
        let rows = self.query(sql!("now"), &[(&skew, Type::INT8)])?;
        let row = rows
            .first()
            .ok_or_else(|| Error::bug("a server without a clock"))?;
        Ok(row.try_get::<_, Stamp>(0)?.0)
    }

    /// A queue that must be there.
    pub(super) fn queue(&mut self, name: &QueueName) -> Result<QueueRow> {
        let rows = self.query(sql!("queue_by_name"), &[(&name.as_str(), Type::TEXT)])?;
        queue_of(&rows)?.ok_or_else(|| no_queue(name))
    }

    /// Rows into a table, in the open transaction.
    pub(super) fn copy(
        &mut self,
        statement: &str,
        types: &[Type],
        rows: &[Vec<&(dyn ToSql + Sync)>],
    ) -> Result<()> {
        let statement = self.text(statement).into_owned();
        self.connected()?;
        let Some(client) = &self.client else {
            return Err(Error::bug("a connection that was just made is not there"));
        };
        let answer = self.runtime.block_on(async {
            tokio::time::timeout(LONG_CALL, async {
                let sink = client.copy_in(&statement).await?;
                let mut writer = pin!(BinaryCopyInWriter::new(sink, types));
                for row in rows {
                    writer.as_mut().write(row).await?;
                }
                writer.finish().await
            })
            .await
        });
        self.heard(answer).map(drop)
    }
}

pub(super) fn queue_of(rows: &[Row]) -> Result<Option<QueueRow>> {
    rows.first()
        .map(|row| {
            Ok(QueueRow {
                id: row.try_get(0)?,
                ttl_us: row.try_get(1)?,
            })
        })
        .transpose()
}

/// The error of a queue that was never there.
pub(super) fn no_queue(name: &QueueName) -> Error {
    Error::new(Kind::NotFound, format!("there is no queue '{name}'")).with("queue", name.as_str())
}

/// Whether a transaction was taken back because others were at the same rows: it may be run again as it is.
fn lost_against_others(error: &Error) -> bool {
    std::error::Error::source(error)
        .and_then(|source| source.downcast_ref::<tokio_postgres::Error>())
        .and_then(tokio_postgres::Error::code)
        .is_some_and(|code| {
            [
                SqlState::T_R_SERIALIZATION_FAILURE,
                SqlState::T_R_DEADLOCK_DETECTED,
                SqlState::LOCK_NOT_AVAILABLE,
            ]
            .contains(code)
        })
}

fn nap(tries: u32) {
    std::thread::sleep(Duration::from_millis(fastrand::u64(1..=4 << tries)));
}

impl From<tokio_postgres::Error> for Error {
    fn from(error: tokio_postgres::Error) -> Self {
        let Some(told) = error.as_db_error() else {
            let source = std::error::Error::source(&error).map(ToString::to_string);
            if source.as_deref() == Some("password missing") {
                return Self::new(Kind::Auth, "the server asks for a password");
            }
            let kind = if error.is_closed() || is_io(&error) {
                Kind::Unreachable
            } else {
                Kind::Bug
            };
            let what = match kind {
                Kind::Unreachable => "the connection to the server ended",
                _ => "the server answered what nobody expected",
            };
            return Self::new(kind, what).because(error);
        };
        let code = told.code().code().to_owned();
        let said = told.message().to_owned();
        let (kind, what) = meaning(&code, &said);
        let made = Self::new(kind, what)
            .with("sqlstate", code.clone())
            .because(error);
        match &*code {
            "42P01" | "3F000" | "42883" | "42704" => made.hint(Hint::run("init", &[])),
            _ => made,
        }
    }
}

fn is_io(error: &tokio_postgres::Error) -> bool {
    std::error::Error::source(error).is_some_and(<dyn std::error::Error>::is::<std::io::Error>)
}

/// What an SQLSTATE means to the tool.
pub(super) fn meaning(code: &str, said: &str) -> (Kind, String) {
    let (kind, what) = match code {
        "28P01" | "28000" => (Kind::Auth, "the server does not let us in"),
        "42501" => (Kind::Denied, "the server does not allow it"),
        "25006" => (
            Kind::ReadOnly,
            "the server can only be read: it is a replica, or set so",
        ),
        "3D000" => (Kind::NotFound, "there is no such database"),
        "42P01" | "3F000" | "42883" | "42704" | "42703" => (
            Kind::Schema,
            "the tables of qops are not there, or are others",
        ),
        "53100" => (Kind::Full, "the server's disk is full"),
        "53300" | "55P03" | "40001" | "40P01" => (Kind::Busy, "others hold the server"),
        "57014" => (Kind::Timeout, "the server ended the statement"),
        "22021" | "22P05" | "22023" | "23514" => (Kind::BadInput, "the server does not take that"),
        "54000" | "53200" => (Kind::TooLarge, "that is too large for the server"),
        "XX001" | "XX002" => (Kind::Corrupt, "the server's files are damaged"),
        _ if code.starts_with("08") || code.starts_with("57P") => {
            (Kind::Unreachable, "the server ended the connection")
        }
        _ => (Kind::Bug, "the server answered what nobody expected"),
    };
    // What the server said stands in the source; where it names what is wrong it is the message itself.
    match (kind, said.strip_prefix("qops: ")) {
        (Kind::BadInput, Some(said)) => (kind, said.to_owned()),
        _ => (kind, what.to_owned()),
    }
}
