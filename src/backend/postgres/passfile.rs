//! `~/.pgpass`: lines of `host:port:database:user:password`, `*` for any, `\` before a `:` or `\` that is meant.

use super::super::target::PostgresServer;
use super::super::{Error, Kind, Result};
use crate::queue::said::system;
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;
use std::{env, fs, io};

/// The password for a place; none where the file has none, or is not there.
///
/// # Errors
/// Others may read the file, or it cannot be read.
pub(super) fn look_up(
    server: &PostgresServer,
    host: &str,
    port: u16,
    database: &str,
    user: &str,
) -> Result<Option<String>> {
    let named = server
        .option("passfile")
        .map(PathBuf::from)
        .or_else(|| env::var_os("PGPASSFILE").map(PathBuf::from));
    let Some(path) = named.or_else(|| Some(PathBuf::from(env::var_os("HOME")?).join(".pgpass")))
    else {
        return Ok(None);
    };
    let meta = match fs::metadata(&path) {
        Ok(meta) => meta,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(unreadable(&path, &error)),
    };
    if meta.mode() & 0o077 != 0 {
        let what = format!("{} can be read by others: it is not used", path.display());
        return Err(Error::new(Kind::Config, what).hint(format!("chmod 600 {}", path.display())));
    }
    let text = fs::read_to_string(&path).map_err(|error| unreadable(&path, &error))?;
    // A socket stands in it as localhost.
    let host = if host.starts_with('/') {
        "localhost"
    } else {
        host
    };
    let port = port.to_string();
    Ok(find(&text, [host, &port, database, user]))
}

fn unreadable(path: &std::path::Path, error: &io::Error) -> Error {
    let what = format!("{} cannot be read: {}", path.display(), system(error));
    Error::new(Kind::Config, what)
}

fn find(text: &str, wanted: [&str; 4]) -> Option<String> {
    text.lines()
        .filter(|line| !line.starts_with('#'))
        .find_map(|line| {
            let mut fields = fields(line);
            let password = (fields.len() == 5).then(|| fields.pop())??;
            let fits = fields
                .iter()
                .zip(wanted)
                .all(|(field, wanted)| field == "*" || field == wanted);
            (fits && !password.is_empty()).then_some(password)
        })
}

fn fields(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        let (letter, meant) = match letter {
            '\\' => (letters.next().unwrap_or('\\'), true),
            letter => (letter, false),
        };
        // What comes after the fourth is the password whole.
        if letter == ':' && !meant && fields.len() < 5 {
            fields.push(String::new());
        } else if let Some(last) = fields.last_mut() {
            last.push(letter);
        }
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_that_fits_counts() {
        let text = "# a:1:b:c:no\nh:5432:d:u:one\n*:*:*:u:t\\:w:o\\\\\nh:*:d:*:three\n";
        let at = |host, user| find(text, [host, "5432", "d", user]);
        assert_eq!(at("h", "u").as_deref(), Some("one"));
        assert_eq!(at("g", "u").as_deref(), Some("t:w:o\\"));
        assert_eq!(at("h", "v").as_deref(), Some("three"));
        assert_eq!(at("g", "v"), None);
    }
}
