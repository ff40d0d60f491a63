//! A Postgres URL, read by libpq's rules. What it leaves open the environment fills in when the server is reached.

use super::{config, decode_text, nearest};
use crate::backend::error::{Error, Result};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use std::fmt;

/// A Postgres server, and how it is reached.
#[derive(Clone, PartialEq, Eq)]
pub struct PostgresServer {
    /// Names, addresses or folders of sockets, each with its port; tried in order. Empty: the environment's, else this
    /// machine's own.
    pub hosts: Vec<(String, Option<u16>)>,
    /// Who we are.
    pub user: Option<String>,
    /// How we show it. Never printed.
    pub password: Option<String>,
    /// The database.
    pub database: Option<String>,
    /// `?schema=`: where our tables are.
    pub schema: String,
    /// `?notify=off`: nobody listens and nobody is told; the store is looked at from time to time.
    pub notify: bool,
    /// libpq's other parameters, as they were given.
    pub options: Vec<(&'static str, String)>,
}

/// libpq's parameters that are handed on or looked at when the server is reached.
const OPTIONS: &[&str] = &[
    "application_name",
    "connect_timeout",
    "passfile",
    "sslcert",
    "sslkey",
    "sslmode",
    "sslrootcert",
    "target_session_attrs",
];

/// Every parameter of a URL.
const KNOWN: &[&str] = &[
    "host", "port", "user", "password", "dbname", "schema", "notify",
];

impl fmt::Debug for PostgresServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.url())
    }
}

impl PostgresServer {
    /// Reads what follows `postgres://`.
    pub(super) fn parse(rest: &str) -> Result<Self> {
        if rest.contains('#') {
            return Err(config("a # in a Postgres URL").hint("write a # in it as %23"));
        }
        let (before, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (authority, path) = before.split_once('/').unwrap_or((before, ""));
        let mut server = Self {
            hosts: Vec::new(),
            user: None,
            password: None,
            database: text(path)?,
            schema: "qops".to_owned(),
            notify: true,
            options: Vec::new(),
        };
        let hosts = match authority.split_once('@') {
            None => authority,
            Some((who, hosts)) => {
                let (user, password) = match who.split_once(':') {
                    Some((user, password)) => (user, text(password)?),
                    None => (who, None),
                };
                server.user = text(user)?;
                server.password = password;
                hosts
            }
        };
        for host in hosts.split(',').filter(|host| !host.is_empty()) {
            server.hosts.push(host_and_port(host)?);
        }
        let mut seen: Vec<String> = vec![];
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let name = decode_text(name)?;
            server.set(&name, decode_text(value)?)?;
            if seen.contains(&name) {
                return Err(config(format!("?{name}= stands twice in the URL")));
            }
            seen.push(name);
        }
        Ok(server)
    }

    fn set(&mut self, name: &str, value: String) -> Result<()> {
        match name {
            "host" => {
                let ports: Vec<Option<u16>> = self.hosts.iter().map(|(_, port)| *port).collect();
                self.hosts = value
                    .split(',')
                    .enumerate()
                    .map(|(n, host)| (host.to_owned(), ports.get(n).copied().flatten()))
                    .collect();
            }
            "port" => {
                let ports: Vec<u16> = value.split(',').map(port).collect::<Result<_>>()?;
                if self.hosts.is_empty() {
                    self.hosts.push((String::new(), None));
                }
                for (n, (_, own)) in self.hosts.iter_mut().enumerate() {
                    *own = ports.get(n).or(ports.first()).copied();
                }
            }
            "user" => self.user = Some(value),
            "password" => self.password = Some(value),
            "dbname" => self.database = Some(value),
            "schema" => self.schema = schema(value)?,
            "notify" => {
                self.notify = match value.as_str() {
                    "on" => true,
                    "off" => false,
                    _ => return Err(config(format!("?notify= is on or off, not '{value}'"))),
                };
            }
            "sslmode" => {
                sslmode(&value)?;
                self.options.push(("sslmode", value));
            }
            _ => match OPTIONS.iter().find(|known| **known == name) {
                Some(known) => self.options.push((known, value)),
                None => return Err(unknown(name)),
            },
        }
        Ok(())
    }

    /// A parameter of libpq's.
    #[must_use]
    pub fn option(&self, name: &str) -> Option<&str> {
        self.options
            .iter()
            .find(|(known, _)| *known == name)
            .map(|(_, value)| value.as_str())
    }

    /// The URL for another process: without the password.
    pub(super) fn url(&self) -> String {
        let safe = |text: &str| utf8_percent_encode(text, NON_ALPHANUMERIC).to_string();
        let mut url = "postgres://".to_owned();
        if let Some(user) = &self.user {
            url.push_str(&safe(user));
            url.push('@');
        }
        let hosts: Vec<String> = self
            .hosts
            .iter()
            .map(|(host, port)| {
                let host = if host.contains(':') {
                    format!("[{host}]")
                } else {
                    host.split('.').map(safe).collect::<Vec<_>>().join(".")
                };
                match port {
                    Some(port) => format!("{host}:{port}"),
                    None => host,
                }
            })
            .collect();
        url.push_str(&hosts.join(","));
        if let Some(database) = &self.database {
            url.push('/');
            url.push_str(&safe(database));
        }
        let mut sign = '?';
        let mut add = |name: &str, value: &str| {
            url.push(sign);
            url.extend([&safe(name), "=", &safe(value)]);
            sign = '&';
        };
        if self.schema != "qops" {
            add("schema", &self.schema);
        }
        if !self.notify {
            add("notify", "off");
        }
        for (name, value) in &self.options {
            add(name, value);
        }
        url
    }

    /// Where it is, for a person: hosts and database.
    #[must_use]
    pub fn place(&self) -> String {
        let hosts: Vec<&str> = self.hosts.iter().map(|(host, _)| host.as_str()).collect();
        let hosts = if hosts.iter().all(|host| host.is_empty()) {
            "localhost".to_owned()
        } else {
            hosts.join(",")
        };
        match &self.database {
            Some(database) => format!("{hosts}/{database}"),
            None => hosts,
        }
    }
}

/// A text of the URL; none where nothing stands.
fn text(encoded: &str) -> Result<Option<String>> {
    if encoded.is_empty() {
        return Ok(None);
    }
    decode_text(encoded).map(Some)
}

fn host_and_port(host: &str) -> Result<(String, Option<u16>)> {
    if let Some(rest) = host.strip_prefix('[') {
        let Some((address, after)) = rest.split_once(']') else {
            return Err(config("a [ in the Postgres URL without its ]"));
        };
        let port = match after.strip_prefix(':') {
            Some(number) => Some(port(number)?),
            None if after.is_empty() => None,
            None => return Err(config("something stands after the ] in the Postgres URL")),
        };
        return Ok((address.to_owned(), port));
    }
    match host.split_once(':') {
        Some((name, number)) => Ok((decode_text(name)?, Some(port(number)?))),
        None => Ok((decode_text(host)?, None)),
    }
}

fn port(text: &str) -> Result<u16> {
    text.parse()
        .ok()
        .filter(|port| *port > 0)
        .ok_or_else(|| config("the port in the Postgres URL is no number from 1 to 65535"))
}

/// A schema's name stands in statements: it is a plain one.
fn schema(name: String) -> Result<String> {
    let plain = name
        .bytes()
        .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_');
    let begins = name
        .bytes()
        .next()
        .is_some_and(|byte| !byte.is_ascii_digit());
    if plain && begins && name.len() <= 63 {
        Ok(name)
    } else {
        Err(config(
            "?schema= is a plain name: small letters, digits and _, at most 63 of them",
        ))
    }
}

fn sslmode(value: &str) -> Result<()> {
    const WORDS: [&str; 6] = [
        "disable",
        "allow",
        "prefer",
        "require",
        "verify-ca",
        "verify-full",
    ];
    if WORDS.contains(&value) {
        return Ok(());
    }
    let error = config(format!(
        "?sslmode= is {}, not '{value}'",
        WORDS.join(" or ")
    ));
    Err(match nearest(value, WORDS) {
        Some(near) => error.hint(format!("did you mean '{near}'?")),
        None => error,
    })
}

fn unknown(name: &str) -> Error {
    let error = config(format!("unknown parameter '{name}' in the Postgres URL"));
    match nearest(name, KNOWN.iter().chain(OPTIONS).copied()) {
        Some(near) => error.hint(format!("did you mean '{near}'?")),
        None => error.hint("it takes libpq's parameters, schema=NAME and notify=off"),
    }
}
