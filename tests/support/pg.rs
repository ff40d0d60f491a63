//! A private Postgres server: on loopback, in a folder of its own, gone with the test.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::chown;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A running server.
pub struct Server {
    child: Child,
    dir: PathBuf,
    port: u16,
}

/// Where the newest server's programs are; none if there is none.
pub fn programs() -> Option<PathBuf> {
    let mut found: Vec<(u32, PathBuf)> = fs::read_dir("/usr/lib/postgresql")
        .ok()?
        .filter_map(|entry| {
            let path = entry.ok()?.path();
            let version = path.file_name()?.to_str()?.parse().ok()?;
            let bin = path.join("bin");
            bin.join("postgres").exists().then_some((version, bin))
        })
        .collect();
    found.sort();
    found.pop().map(|(_, bin)| bin)
}

impl Server {
    /// Starts one; more settings as `name=value`. A shell beside it reads a pipe of ours: when that ends, however we end, it
    /// ends the server and removes its folder.
    pub fn start(settings: &[&str]) -> Self {
        let bin = programs().expect("a Postgres server is installed");
        let dir = tempfile::tempdir().expect("a temporary folder").keep();
        let user = Owner::of_servers();
        user.owns(&dir);
        let data = dir.join("data");
        let made = user
            .command(&bin.join("initdb"))
            .arg("-D")
            .arg(&data)
            .args([
                "-A",
                "trust",
                "-U",
                "postgres",
                "-E",
                "UTF8",
                "--locale=C.UTF-8",
                "-N",
            ])
            .output()
            .expect("initdb starts");
        assert!(
            made.status.success(),
            "{}",
            String::from_utf8_lossy(&made.stderr)
        );
        let port = free_port();
        let mut command = Command::new("sh");
        command
            .args([
                "-c",
                "\"$@\" </dev/null & p=$!; read -r _; kill -QUIT $p; wait $p; rm -rf \"$0\"",
            ])
            .arg(&dir);
        let server = user.command(&bin.join("postgres"));
        command.arg(server.get_program()).args(server.get_args());
        command.arg("-D").arg(&data);
        let port_setting = format!("port={port}");
        let own = [
            port_setting.as_str(),
            "listen_addresses=127.0.0.1",
            "unix_socket_directories=",
            "max_connections=200",
        ];
        for setting in own.iter().chain(settings) {
            command.args(["-c", setting]);
        }
        let log = fs::File::create(dir.join("log")).expect("a log");
        let child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .expect("the server starts");
        let server = Self { child, dir, port };
        server.wait();
        server
    }

    fn wait(&self) {
        let end = Instant::now() + Duration::from_secs(30);
        while std::net::TcpStream::connect(("127.0.0.1", self.port)).is_err() || !self.answers() {
            assert!(
                Instant::now() < end,
                "the server does not answer: {}",
                self.log()
            );
            std::thread::yield_now();
        }
    }

    fn answers(&self) -> bool {
        let bin = programs().expect("a Postgres server is installed");
        let port = self.port.to_string();
        Command::new(bin.join("pg_isready"))
            .args(["-q", "-h", "127.0.0.1", "-p", &port])
            .status()
            .is_ok_and(|status| status.success())
    }

    fn log(&self) -> String {
        fs::read_to_string(self.dir.join("log")).unwrap_or_default()
    }

    /// The URL of a schema of its own.
    pub fn url(&self, schema: &str) -> String {
        format!(
            "postgres://postgres@127.0.0.1:{}/postgres?schema={schema}",
            self.port
        )
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

fn free_port() -> u16 {
    TcpListener::bind(("127.0.0.1", 0))
        .and_then(|listener| listener.local_addr())
        .expect("a free port")
        .port()
}

/// Who a server runs as: not as root.
struct Owner(Option<(u32, u32)>);

impl Owner {
    fn of_servers() -> Self {
        Self(
            rustix::process::geteuid()
                .is_root()
                .then_some((65_534, 65_534)),
        )
    }

    fn owns(&self, path: &Path) {
        if let Some((user, group)) = self.0 {
            chown(path, Some(user), Some(group)).expect("root may give a folder away");
        }
    }

    fn command(&self, program: &Path) -> Command {
        let Some((user, group)) = self.0 else {
            return Command::new(program);
        };
        let mut command = Command::new("setpriv");
        command
            .args(["--reuid", &user.to_string(), "--regid", &group.to_string()])
            .arg("--clear-groups")
            .arg(program);
        command
    }
}
