//! Where a store is. Every URL is read here, by our own rules, before anything is contacted; no part of one that may be
//! secret stands in an error.

use super::error::{Error, Kind, Result};
use crate::queue::near::nearest;
use percent_encoding::{AsciiSet, CONTROLS, percent_decode_str, percent_encode};
use std::ffi::OsString;
use std::fmt;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Component, Path, PathBuf};

/// Schemes of servers: known, so that what is said about them is true.
const SERVERS: &[&str] = &[
    "postgres",
    "postgresql",
    "redis",
    "rediss",
    "redis+unix",
    "redis-sentinel",
    "redis-cluster",
];

/// What a URL can be in this build.
const STORES: &str = if cfg!(feature = "postgres") {
    "a store is sqlite:PATH or postgres://USER@HOST/DATABASE"
} else {
    "a store is sqlite:PATH"
};

/// A parsed URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    place: Place,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Place {
    Sqlite(SqliteFile),
    Postgres(PostgresServer),
}

/// A SQLite file and how it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SqliteFile {
    /// Absolute, links not followed.
    pub path: PathBuf,
    /// `?durability=`.
    pub durability: Durability,
    /// `?journal=`.
    pub journal: Journal,
}

macro_rules! choices {
    ($(#[$meta:meta])* $name:ident { $($(#[$vmeta:meta])* $variant:ident = $word:literal),* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub enum $name { $($(#[$vmeta])* $variant),* }

        impl $name {
            const WORDS: &'static [&'static str] = &[$($word),*];

            /// The word for it in a URL.
            #[must_use]
            pub fn word(self) -> &'static str {
                match self { $(Self::$variant => $word),* }
            }

            fn from_word(word: &str) -> Option<Self> {
                match word { $($word => Some(Self::$variant),)* _ => None }
            }
        }
    };
}

choices! {
    /// What a commit waits for.
    Durability {
        /// The disk: an acknowledged message outlives a power cut.
        #[default]
        Full = "full",
        /// The kernel: a power cut may take the last commits.
        Normal = "normal"
    }
}

choices! {
    /// How SQLite keeps a commit whole.
    Journal {
        /// A write-ahead log: readers and a writer at once.
        #[default]
        Wal = "wal",
        /// A rollback journal: for places where a write-ahead log does not work.
        Delete = "delete"
    }
}

fn config(what: impl Into<String>) -> Error {
    Error::new(Kind::Config, what)
}

impl Target {
    /// Reads a URL. A relative path is taken from `base`, which is absolute. Contacts nothing.
    ///
    /// # Errors
    /// [`Kind::Config`], naming the bad part, never a password.
    pub fn parse(url: &str, base: &Path) -> Result<Self> {
        if url.is_empty() {
            return Err(config("the store's URL is empty").hint("write sqlite:PATH"));
        }
        if url.chars().any(char::is_control) {
            return Err(config("the store's URL has a control character in it"));
        }
        let Some((scheme, rest)) = split_scheme(url) else {
            return Err(without_scheme(url));
        };
        match scheme.as_str() {
            "sqlite" => SqliteFile::parse(rest, base).map(|file| Self {
                place: Place::Sqlite(file),
            }),
            "postgres" | "postgresql" if cfg!(feature = "postgres") => {
                let rest = server_rest(&scheme, rest)?;
                PostgresServer::parse(rest).map(|server| Self {
                    place: Place::Postgres(server),
                })
            }
            known if SERVERS.contains(&known) => Err(not_built_in(known, rest)),
            unknown => Err(unknown_scheme(unknown, rest)),
        }
    }

    /// The scheme of the URL.
    #[must_use]
    pub fn scheme(&self) -> &'static str {
        match &self.place {
            Place::Sqlite(_) => "sqlite",
            Place::Postgres(_) => "postgres",
        }
    }

    /// The file, if it is one.
    #[must_use]
    pub fn sqlite(&self) -> Option<&SqliteFile> {
        match &self.place {
            Place::Sqlite(file) => Some(file),
            Place::Postgres(_) => None,
        }
    }

    /// The server, if it is one of Postgres.
    #[must_use]
    pub fn postgres(&self) -> Option<&PostgresServer> {
        match &self.place {
            Place::Postgres(server) => Some(server),
            Place::Sqlite(_) => None,
        }
    }

    /// The same store, entered with this password where it takes one; the URL's own goes first.
    #[must_use]
    pub fn with_password(mut self, password: &str) -> Self {
        if let Place::Postgres(server) = &mut self.place {
            server.password.get_or_insert_with(|| password.to_owned());
        }
        self
    }

    /// The files that the store lies in, and those that it keeps beside them: nothing else may be written there.
    #[must_use]
    pub fn files(&self) -> Vec<PathBuf> {
        match &self.place {
            Place::Sqlite(file) => ["", "-wal", "-shm", "-journal", ".reserve"]
                .map(|suffix| {
                    let mut name = file.path.as_os_str().to_owned();
                    name.push(suffix);
                    name.into()
                })
                .to_vec(),
            Place::Postgres(_) => Vec::new(),
        }
    }

    /// The URL of this very store for another process: absolute and without a password.
    #[must_use]
    pub fn url(&self) -> String {
        match &self.place {
            Place::Sqlite(file) => file.url(),
            Place::Postgres(server) => server.url(),
        }
    }

    /// Where it is, without its kind: the file's path, short below the home directory.
    #[must_use]
    pub fn location(&self) -> String {
        match &self.place {
            Place::Sqlite(file) => {
                shortened(&file.path, std::env::var_os("HOME").map(PathBuf::from))
            }
            Place::Postgres(server) => server.place(),
        }
    }
}

/// What it is and where: `sqlite ~/.local/share/qops/qops.db`.
impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.scheme(), self.location())
    }
}

fn shortened(path: &Path, home: Option<PathBuf>) -> String {
    home.filter(|home| home.parent().is_some())
        .and_then(|home| path.strip_prefix(home).ok())
        .map_or_else(
            || path.display().to_string(),
            |rest| format!("~/{}", rest.display()),
        )
}

/// The scheme in small letters, and what comes after its colon.
fn split_scheme(url: &str) -> Option<(String, &str)> {
    let (scheme, rest) = url.split_once(':')?;
    let mut bytes = scheme.bytes();
    let letter = bytes
        .next()
        .is_some_and(|first| first.is_ascii_alphabetic());
    (letter && bytes.all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte)))
        .then(|| (scheme.to_ascii_lowercase(), rest))
}

fn without_scheme(url: &str) -> Error {
    let error = config("the store's URL has no scheme");
    if is_path(url) {
        error.hint(format!("for a SQLite file write sqlite:{url}"))
    } else {
        error.hint(STORES)
    }
}

/// Whether a text can only be meant as a file's path. Any other may be a password, or have one in it, and is not repeated.
fn is_path(text: &str) -> bool {
    let begins = ["/", "./", "../"]
        .iter()
        .any(|start| text.starts_with(start));
    let ends = [".db", ".sqlite", ".sqlite3"]
        .iter()
        .any(|end| text.ends_with(end));
    (begins || ends) && !text.starts_with("//") && !text.contains(['@', '=', '?', '#', '%', ':'])
}

fn unknown_scheme(scheme: &str, rest: &str) -> Error {
    let synonym = match scheme {
        "file" | "sqlite3" | "db" => Some("sqlite"),
        "pg" | "psql" | "pgsql" => Some("postgres"),
        "valkey" => Some("redis"),
        "valkeys" => Some("rediss"),
        _ => None,
    };
    let known = std::iter::once("sqlite").chain(SERVERS.iter().copied());
    let near = synonym.or_else(|| nearest(scheme, known));
    if near.is_none() && !rest.starts_with("//") {
        // A word before a colon that is nothing else may be any secret.
        return config("the store's URL has an unknown scheme").hint(STORES);
    }
    let error = config(format!("unknown scheme '{scheme}:'")).with("scheme", scheme);
    match near {
        Some("sqlite") => error.hint("did you mean 'sqlite:'?"),
        Some(near) => error.hint(format!("did you mean '{near}://'?")),
        None => error.hint(STORES),
    }
}

/// What follows the `//` of a server's URL, if it cannot be misread.
fn server_rest<'a>(scheme: &str, rest: &'a str) -> Result<&'a str> {
    let Some(rest) = rest.strip_prefix("//") else {
        return Err(config(format!("a URL of {scheme} begins with {scheme}://")));
    };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    // A password with a raw / ? # ends the authority early; the @ that follows it gives that away.
    let before_query = rest.split(['?', '#']).next().unwrap_or_default();
    if authority.matches('@').count() > 1 || before_query.matches('@').count() > 1 {
        return Err(config(format!(
            "two @ in the {scheme}:// URL: which of them ends the password is a guess"
        ))
        .hint("write an @ in a user's name or password as %40"));
    }
    if !authority.contains('@') && before_query.contains('@') {
        return Err(
            config(format!("an @ after a / in the {scheme}:// URL")).hint(
                "write a / in a user's name or password as %2F, an @ in a database's name as %40",
            ),
        );
    }
    Ok(rest)
}

fn not_built_in(scheme: &str, rest: &str) -> Error {
    if let Err(error) = server_rest(scheme, rest) {
        return error;
    }
    config(format!("{scheme}:// is not built in"))
        .with("scheme", scheme)
        .hint(STORES)
}

impl SqliteFile {
    fn parse(rest: &str, base: &Path) -> Result<Self> {
        if rest.contains('#') {
            return Err(config("a # in a SQLite URL").hint("write a # in the path as %23"));
        }
        let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
        let mut file = Self {
            path: sqlite_path(path, base)?,
            durability: Durability::default(),
            journal: Journal::default(),
        };
        let mut seen: Vec<String> = vec![];
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let (name, value) = (decode_text(name)?, decode_text(value)?);
            match name.as_str() {
                "durability" => {
                    file.durability = Durability::from_word(&value)
                        .ok_or_else(|| bad_value(&name, &value, Durability::WORDS))?;
                }
                "journal" => {
                    file.journal = Journal::from_word(&value)
                        .ok_or_else(|| bad_value(&name, &value, Journal::WORDS))?;
                }
                _ => return Err(unknown_parameter(&name)),
            }
            if seen.contains(&name) {
                return Err(config(format!("?{name}= stands twice in the URL")));
            }
            seen.push(name);
        }
        Ok(file)
    }

    fn url(&self) -> String {
        const IN_PATH: &AsciiSet = &CONTROLS.add(b'?').add(b'#').add(b'%').add(b' ');
        let mut url = format!(
            "sqlite:{}",
            percent_encode(self.path.as_os_str().as_bytes(), IN_PATH)
        );
        let mut sign = "?";
        if self.durability != Durability::default() {
            url.extend([sign, "durability=", self.durability.word()]);
            sign = "&";
        }
        if self.journal != Journal::default() {
            url.extend([sign, "journal=", self.journal.word()]);
        }
        url
    }
}

fn unknown_parameter(name: &str) -> Error {
    const KNOWN: [&str; 2] = ["durability", "journal"];
    let error = config(format!("unknown parameter '{name}' in the SQLite URL"));
    match nearest(name, KNOWN) {
        Some(near) => error.hint(format!("did you mean '{near}'?")),
        None => error.hint(
            "it takes durability=full|normal and journal=wal|delete; write a ? in the path as %3F",
        ),
    }
}

fn bad_value(name: &str, value: &str, words: &[&'static str]) -> Error {
    let error = config(format!("?{name}= is {}, not '{value}'", words.join(" or ")));
    match nearest(value, words.iter().copied()) {
        Some(near) => error.hint(format!("did you mean '{near}'?")),
        None => error,
    }
}

fn sqlite_path(text: &str, base: &Path) -> Result<PathBuf> {
    // `sqlite:///x` is the absolute /x; in `sqlite://x` the x stands where a host would.
    let text = match text.strip_prefix("//") {
        None => text,
        Some(path) if path.starts_with('/') => path,
        Some(path) => {
            // A user and a password may stand where the host would.
            let path = if path.contains(['@', ':', '%']) {
                "PATH"
            } else {
                path
            };
            return Err(config("a SQLite URL has no host").hint(format!(
                "write sqlite:{path} for a relative path, sqlite:/{path} for an absolute one"
            )));
        }
    };
    let path = PathBuf::from(OsString::from_vec(decode(text)?));
    let bytes = path.as_os_str().as_bytes();
    if bytes.is_empty() {
        return Err(config("the SQLite URL has no path").hint("write sqlite:PATH"));
    }
    if bytes.contains(&0) {
        return Err(config("the path in the SQLite URL has a NUL in it"));
    }
    if bytes == b":memory:" {
        return Err(
            config("a queue in memory ends with the process that made it")
                .hint("name a file: sqlite:PATH"),
        );
    }
    if path.components().next() == Some(Component::Normal("~".as_ref())) {
        return Err(config("~ in a SQLite URL is not the home directory")
            .hint("write sqlite:$HOME/… (in the config file: sqlite:${HOME}/…)"));
    }
    let last = path.components().next_back();
    if bytes.ends_with(b"/") || !matches!(last, Some(Component::Normal(_))) {
        return Err(config("the SQLite URL names a directory").hint("name a file: sqlite:PATH"));
    }
    // Taking the components again drops every `.` between them.
    Ok(base.join(path).components().collect())
}

fn decode(text: &str) -> Result<Vec<u8>> {
    let mut rest = text;
    while let Some((_, after)) = rest.split_once('%') {
        let digits = after.as_bytes().get(..2).unwrap_or_default();
        if digits.len() < 2 || !digits.iter().all(u8::is_ascii_hexdigit) {
            return Err(config("a % in the URL that is no %XX").hint("write a % as %25"));
        }
        rest = after;
    }
    Ok(percent_decode_str(text).collect())
}

fn decode_text(text: &str) -> Result<String> {
    String::from_utf8(decode(text)?).map_err(|_| config("a parameter of the URL is not UTF-8"))
}

mod postgres;
#[cfg(test)]
mod tests;

pub use postgres::PostgresServer;
