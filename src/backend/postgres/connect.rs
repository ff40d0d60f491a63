//! How a server is reached: host after host, as libpq does it, with what the URL leaves open taken from the environment.

use super::super::target::PostgresServer;
use super::super::{Error, Kind, Result};
use super::passfile;
use super::tls::{self, Mode};
use crate::queue::said::system;
use std::env;
use std::future::poll_fn;
use std::path::Path;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_postgres::config::SslMode;
use tokio_postgres::{AsyncMessage, Client, Config, Connection, NoTls};

/// What a server says by itself: the connection lives while this is polled.
pub(super) type Driver =
    Box<dyn FnMut(&mut Context<'_>) -> Poll<Option<Result<AsyncMessage>>> + Send>;

/// A connection: what asks, and what keeps it going.
pub(super) struct Link {
    pub(super) client: Client,
    pub(super) driver: Driver,
}

/// Which kind of server is wanted (`target_session_attrs`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wanted {
    Any,
    ReadWrite,
    ReadOnly,
    Primary,
    Standby,
    PreferStandby,
}

/// Where and as whom.
struct Way {
    hosts: Vec<(String, u16)>,
    user: String,
    database: String,
    application: String,
    mode: Mode,
    wanted: Wanted,
}

fn variable(name: &str) -> Option<String> {
    env::var(name).ok().filter(|value| !value.is_empty())
}

impl Way {
    fn to(server: &PostgresServer) -> Result<Self> {
        let or = |own: Option<&str>, name: &str| own.map(str::to_owned).or_else(|| variable(name));
        let port = match variable("PGPORT") {
            None => 5432,
            Some(text) => text
                .parse()
                .map_err(|_| Error::new(Kind::Config, "PGPORT is no port's number"))?,
        };
        let mut hosts: Vec<(String, u16)> = server
            .hosts
            .iter()
            .map(|(host, own)| (host.clone(), own.unwrap_or(port)))
            .collect();
        if let (Some(names), true) = (
            variable("PGHOST"),
            hosts.iter().all(|(host, _)| host.is_empty()),
        ) {
            let port = hosts.first().map_or(port, |(_, port)| *port);
            hosts = names
                .split(',')
                .map(|name| (name.to_owned(), port))
                .collect();
        }
        if hosts.is_empty() {
            hosts.push((String::new(), port));
        }
        for (host, _) in hosts.iter_mut().filter(|(host, _)| host.is_empty()) {
            *host = default_host();
        }
        let user = match or(server.user.as_deref(), "PGUSER") {
            Some(user) => user,
            None => variable("USER")
                .or_else(|| variable("LOGNAME"))
                .ok_or_else(|| {
                    Error::new(Kind::Config, "nobody says as whom to connect")
                        .hint("write the user into the URL: postgres://USER@HOST/DATABASE")
                })?,
        };
        let wanted = or(
            server.option("target_session_attrs"),
            "PGTARGETSESSIONATTRS",
        );
        Ok(Self {
            hosts,
            database: or(server.database.as_deref(), "PGDATABASE").unwrap_or_else(|| user.clone()),
            user,
            application: or(server.option("application_name"), "PGAPPNAME")
                .unwrap_or_else(|| "qops".to_owned()),
            mode: Mode::of(or(server.option("sslmode"), "PGSSLMODE").as_deref())?,
            wanted: wanted_of(wanted.as_deref())?,
        })
    }
}

fn default_host() -> String {
    const FOLDER: &str = "/var/run/postgresql";
    if Path::new(FOLDER).is_dir() {
        FOLDER.to_owned()
    } else {
        "localhost".to_owned()
    }
}

fn wanted_of(word: Option<&str>) -> Result<Wanted> {
    Ok(match word {
        None | Some("any") => Wanted::Any,
        Some("read-write") => Wanted::ReadWrite,
        Some("read-only") => Wanted::ReadOnly,
        Some("primary") => Wanted::Primary,
        Some("standby") => Wanted::Standby,
        Some("prefer-standby") => Wanted::PreferStandby,
        Some(word) => {
            let what = format!(
                "target_session_attrs is any, read-write, read-only, primary, standby or prefer-standby, not '{word}'"
            );
            return Err(Error::new(Kind::Config, what));
        }
    })
}

/// Reaches a server. The caller bounds the time.
///
/// # Errors
/// Nobody answers, or who answers lets nobody in.
pub(super) async fn connect(server: &PostgresServer) -> Result<Link> {
    let way = Way::to(server)?;
    let rounds: &[Wanted] = if way.wanted == Wanted::PreferStandby {
        &[Wanted::Standby, Wanted::Any]
    } else {
        std::slice::from_ref(&way.wanted)
    };
    let mut failed = None;
    for wanted in rounds {
        for (host, port) in &way.hosts {
            match reach(server, &way, host, *port, *wanted).await {
                Ok(link) => return Ok(link),
                // What is wrong with us is wrong at every host.
                Err(error) if matches!(error.kind(), Kind::Config | Kind::Auth) => {
                    return Err(error);
                }
                Err(error) => failed = Some(error),
            }
        }
    }
    Err(failed.unwrap_or_else(|| Error::bug("a server without a host")))
}

async fn reach(
    server: &PostgresServer,
    way: &Way,
    host: &str,
    port: u16,
    wanted: Wanted,
) -> Result<Link> {
    let mut config = Config::new();
    config
        .host(host)
        .port(port)
        .user(&way.user)
        .dbname(&way.database)
        .application_name(&way.application);
    let password = match server.password.clone().or_else(|| variable("PGPASSWORD")) {
        Some(password) => Some(password),
        None => passfile::look_up(server, host, port, &way.database, &way.user)?,
    };
    if let Some(password) = password {
        config.password(password);
    }
    let there = |error: tokio_postgres::Error| at(Error::from(error), host, port, way);
    let socket = host.starts_with('/');
    let link = match way.mode {
        _ if socket => plain(&config).await.map_err(there)?,
        Mode::Disable => plain(&config).await.map_err(there)?,
        Mode::Allow => match plain(&config).await {
            Ok(link) => link,
            Err(error) if refused_plain(&error) => secure(server, &mut config, way.mode, host)
                .await
                .map_err(|error| at(error, host, port, way))?,
            Err(error) => return Err(there(error)),
        },
        mode => secure(server, &mut config, mode, host)
            .await
            .map_err(|error| at(error, host, port, way))?,
    };
    fits(link, wanted, host).await
}

async fn plain(config: &Config) -> std::result::Result<Link, tokio_postgres::Error> {
    let mut config = config.clone();
    config.ssl_mode(SslMode::Disable);
    let (client, connection) = config.connect(NoTls).await?;
    Ok(Link {
        client,
        driver: driver(connection),
    })
}

async fn secure(
    server: &PostgresServer,
    config: &mut Config,
    mode: Mode,
    host: &str,
) -> Result<Link> {
    config.ssl_mode(if mode == Mode::Prefer {
        SslMode::Prefer
    } else {
        SslMode::Require
    });
    let reached = config.connect(tls::maker(server, mode)?).await;
    let (client, connection) = reached.map_err(|error| untrusted(error, host))?;
    Ok(Link {
        client,
        driver: driver(connection),
    })
}

/// No encryption, or a certificate that is not accepted: that does not pass by itself.
fn untrusted(error: tokio_postgres::Error, host: &str) -> Error {
    let handshake = error.to_string().contains("TLS");
    let error = Error::from(error);
    if !handshake {
        return error;
    }
    let mut why = "the server has no encryption".to_owned();
    let mut source = std::error::Error::source(&error);
    while let Some(inner) = source {
        if let Some(refused) = inner
            .downcast_ref::<std::io::Error>()
            .and_then(std::io::Error::get_ref)
        {
            why = refused.to_string();
        }
        source = inner.source();
    }
    let what = format!("no connection to {host} that can be trusted: {why}");
    Error::new(Kind::Denied, what)
        .because(error)
        .hint("see ?sslmode= and ?sslrootcert= in the URL")
}

/// The server wants encryption.
fn refused_plain(error: &tokio_postgres::Error) -> bool {
    error.code().is_some_and(|code| code.code() == "28000")
}

/// Says where it was.
fn at(error: Error, host: &str, port: u16, way: &Way) -> Error {
    let place = format!("{host}:{port}");
    match error.kind() {
        Kind::Auth => {
            let what = format!("{place} does not let '{}' in", way.user);
            Error::new(Kind::Auth, what)
                .because(error)
                .hint("the password comes from PGPASSWORD, ~/.pgpass or a context's password")
        }
        Kind::NotFound => {
            let what = format!("there is no database '{}' on {place}", way.database);
            Error::new(Kind::NotFound, what)
        }
        Kind::Unreachable => Error::new(
            Kind::Unreachable,
            format!("{place} cannot be reached: {}", reason(&error)),
        ),
        _ => error.with("host", place),
    }
}

/// Why the system could not reach a place.
fn reason(error: &Error) -> String {
    let mut source = std::error::Error::source(error);
    while let Some(inner) = source {
        if let Some(error) = inner.downcast_ref::<std::io::Error>() {
            return system(error);
        }
        source = inner.source();
    }
    "the server ended the connection".to_owned()
}

/// Lets a link through whose server is of the kind that is wanted.
async fn fits(link: Link, wanted: Wanted, host: &str) -> Result<Link> {
    if wanted == Wanted::Any {
        return Ok(link);
    }
    let Link { client, mut driver } = link;
    let rows = {
        let ask = client.query_typed(
            "SELECT pg_is_in_recovery(), current_setting('transaction_read_only') = 'on'",
            &[],
        );
        let mut ask = std::pin::pin!(ask);
        // The connection goes on only while it is polled, and here nobody else does.
        poll_fn(|context| {
            while let Poll::Ready(Some(Ok(_))) = driver(context) {}
            ask.as_mut().poll(context)
        })
        .await?
    };
    let (standby, read_only): (bool, bool) = match rows.first() {
        Some(row) => (row.try_get(0)?, row.try_get(1)?),
        None => return Err(Error::bug("a server that does not say what it is")),
    };
    let fits = match wanted {
        Wanted::Any | Wanted::PreferStandby => true,
        Wanted::ReadWrite => !read_only,
        Wanted::ReadOnly => read_only,
        Wanted::Primary => !standby,
        Wanted::Standby => standby,
    };
    if fits {
        return Ok(Link { client, driver });
    }
    let what = format!("{host} is not what target_session_attrs asks for");
    Err(Error::new(Kind::Unreachable, what))
}

fn driver<S, T>(mut connection: Connection<S, T>) -> Driver
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    T: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    Box::new(move |context| {
        connection
            .poll_message(context)
            .map(|message| message.map(|message| message.map_err(Error::from)))
    })
}

/// Keeps a connection going until it ends; what the server says by itself is dropped.
pub(super) async fn drive(mut driver: Driver) {
    while let Some(Ok(_)) = poll_fn(&mut driver).await {}
}
