//! What is true of Postgres: the commands against a private server, producers inside the application's transaction, many
//! workers at once.

#[path = "../support/pg.rs"]
mod pg;

use pg::Server;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

/// A schema on the server that all tests share.
struct World {
    url: String,
    home: tempfile::TempDir,
}

fn server() -> &'static Server {
    static SERVER: OnceLock<Server> = OnceLock::new();
    SERVER.get_or_init(|| Server::start(&[]))
}

impl World {
    /// Without tables.
    fn bare() -> Self {
        static SCHEMAS: AtomicU32 = AtomicU32::new(0);
        let n = SCHEMAS.fetch_add(1, Ordering::SeqCst);
        Self {
            url: server().url(&format!("w{n}")),
            home: tempfile::tempdir().unwrap(),
        }
    }

    fn new() -> Self {
        let world = Self::bare();
        assert_eq!(world.run(&["init"]).0, 0);
        world
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        let bin = Path::new(env!("CARGO_BIN_EXE_qops")).parent().unwrap();
        command
            .env_clear()
            .env("HOME", self.home.path())
            .env("PATH", format!("{}:/usr/bin:/bin", bin.display()))
            .env("QOPS_URL", &self.url)
            .current_dir(self.home.path());
        command
    }

    /// Code, stdout, stderr.
    fn run(&self, args: &[&str]) -> (i32, String, String) {
        let mut command = self.command(env!("CARGO_BIN_EXE_qops"));
        told(&command.args(args).output().unwrap())
    }

    fn sh(&self, line: &str) -> (i32, String, String) {
        told(&self.command("sh").args(["-c", line]).output().unwrap())
    }

    fn sql(&self, text: &str) -> String {
        let (url, schema) = self.url.split_once("?schema=").unwrap();
        let out = Command::new("psql")
            .args([url, "-XAtq", "-v", "ON_ERROR_STOP=1", "-c"])
            .arg(text.replace("qops.", &format!("{schema}.")))
            .output()
            .unwrap();
        assert!(
            out.status.success(),
            "{}",
            String::from_utf8_lossy(&out.stderr)
        );
        String::from_utf8(out.stdout).unwrap().trim().to_owned()
    }
}

fn told(out: &Output) -> (i32, String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (
        out.status.code().unwrap_or(-1),
        text(&out.stdout),
        text(&out.stderr),
    )
}

#[test]
fn the_main_job() {
    let world = World::new();
    let (code, _, err) = world.sh("seq 1 3000 | qops enqueue q --lines");
    assert_eq!(code, 0, "{err}");
    let (code, _, err) = world
        .sh("qops work q -j4 --max-attempts 1 -- sh -c 'read n; echo $n >> ran; test $n != 7'");
    assert_eq!(code, 1, "{err}");
    let (_, out, _) = world.sh("sort -n ran | uniq | wc -l; wc -l < ran");
    assert_eq!(out.split_whitespace().collect::<Vec<_>>(), ["3000", "3000"]);
    let (_, out, _) = world.run(&["ls", "-o", "csv", "--fields", "queue,ready,running,dead"]);
    assert_eq!(out, "queue,ready,running,dead\nq,0,0,1\n");
    assert_eq!(world.run(&["drain", "q", "--yes"]).0, 0);
    assert_eq!(world.run(&["work", "q", "--", "true"]).0, 0);
    assert_eq!(world.sql("SELECT count(*) FROM qops.message"), "0");
    assert_eq!(world.sql("SELECT count(*) FROM qops.attempt"), "0");
    assert_eq!(
        world.sql("SELECT count(*) FROM pg_prepared_statements"),
        "0"
    );
}

#[test]
fn many_workers_run_each_message_once() {
    let world = World::new();
    assert_eq!(world.sh("seq 1 4000 | qops enqueue q --lines").0, 0);
    let line = "for i in 1 2 3 4 5 6 7 8 9 10; do qops work q -q --output discard -- sh -c 'cat >> ran.'$i & done; wait; cat ran.*";
    let (code, out, err) = world.sh(line);
    assert_eq!(code, 0, "{err}");
    let mut ran: Vec<u32> = out
        .split_whitespace()
        .filter_map(|n| n.parse().ok())
        .collect();
    ran.sort_unstable();
    let whole: String = out.chars().filter(char::is_ascii_digit).collect();
    let wanted: usize = (1..=4000).map(|n: u32| n.to_string().len()).sum();
    assert_eq!(whole.len(), wanted, "each once");
    assert_eq!(world.sql("SELECT count(*) FROM qops.message"), "0");
}

#[test]
fn a_message_commits_with_the_fact_or_not_at_all() {
    let world = World::new();
    world.sql("BEGIN; SELECT qops.enqueue('q', 'gone'); ROLLBACK");
    assert_eq!(world.sql("SELECT count(*) FROM qops.message"), "0");
    let ids = world.sql(
        "BEGIN; SELECT qops.enqueue('q', 'a', key => 'k', delay => '1 hour', headers => '{\"h\":\"v\"}'); \
         SELECT qops.enqueue('q', '{\"n\": 1}'::jsonb, priority => 3); SELECT qops.enqueue('q', '\\xff00'::bytea); \
         SELECT qops.enqueue('q', 'b', key => 'k'); COMMIT",
    );
    let ids: Vec<&str> = ids.lines().collect();
    assert_eq!(ids[0], ids[3], "the key is taken");
    assert_eq!(
        world.sql("SELECT state, coalesce(payload, encode(payload_bin, 'hex')) FROM qops.messages ORDER BY id"),
        "delayed|a\nready|{\"n\": 1}\nready|ff00"
    );
    for wrong in [
        "key => ''",
        "ttl => '0'",
        "delay => '-1 s'",
        "headers => '[]'",
    ] {
        let (_, text) = world.url.split_once("?schema=").unwrap();
        let out = Command::new("psql")
            .args([world.url.split('?').next().unwrap(), "-XAtq", "-c"])
            .arg(format!("SELECT {text}.enqueue('q', 'x', {wrong})"))
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&out.stderr).into_owned();
        assert!(
            !out.status.success() && said.contains("qops: "),
            "{wrong}: {said}"
        );
    }
    assert_eq!(world.sql("SELECT count(*) FROM qops.message"), "3");
}

#[test]
fn init_is_asked_for_and_may_run_anywhere_at_once() {
    let world = World::bare();
    let (code, _, err) = world.run(&["enqueue", "q", "x"]);
    assert!(code == 6 && err.contains("qops init"), "{code} {err}");
    let (code, _, err) = world.sh("for i in 1 2 3 4 5 6 7 8; do qops init -q & done; wait");
    assert_eq!((code, err.as_str()), (0, ""));
    assert_eq!(world.sql("SELECT count(*) FROM qops.meta"), "1");
    assert_eq!(world.run(&["enqueue", "q", "x"]).0, 0);
    let first = world.run(&[
        "init",
        "--dry-run",
        "-u",
        "postgres://nobody@127.0.0.1:1/none",
    ]);
    assert!(
        first.0 == 0 && first.1.contains("CREATE TABLE qops.message"),
        "{}",
        first.2
    );
    let (code, out, _) = world.run(&["init", "--grants"]);
    assert!(code == 0 && out.contains("qops_producer"), "{out}");
}

#[test]
fn each_failure_has_its_line_and_its_code() {
    let world = World::new();
    let (_, port) = world.url.split_once("127.0.0.1:").unwrap();
    let (port, _) = port.split_once('/').unwrap();
    for (url, code, said) in [
        (
            "postgres://u:canary@127.0.0.1:1/d".to_owned(),
            8,
            "127.0.0.1:1 cannot be reached",
        ),
        (
            format!("postgres://postgres:canary@127.0.0.1:{port}/none"),
            6,
            "no database 'none'",
        ),
        (
            format!("postgres://nobody:canary@127.0.0.1:{port}/postgres"),
            5,
            "does not let 'nobody' in",
        ),
        (
            format!("postgres://postgres@127.0.0.1:{port}/postgres?sslmode=require"),
            5,
            "the server has no encryption",
        ),
        (
            format!("postgres://postgres@127.0.0.1:{port}/postgres?sslmode=verify-full"),
            2,
            "root certificate",
        ),
    ] {
        let (got, _, err) = world.run(&["ls", "-u", &url]);
        assert!(
            got == code && err.contains(said) && !err.contains("canary"),
            "{url}: {got} {err}"
        );
    }
    let (code, _, err) = world.run(&["peek", "none"]);
    assert!(code == 6 && err.contains("no queue 'none'"), "{err}");
}

/// A context's password is the one that the server asks for. With a role of its own, as the others need none.
#[test]
fn a_context_says_how_we_come_in() {
    let server = Server::start(&["password_encryption=scram-sha-256"]);
    let url = server.url("c");
    let (plain, _) = url.split_once('?').unwrap();
    let psql = |text: &str| {
        let out = Command::new("psql")
            .args([plain, "-XAtq", "-c", text])
            .output()
            .unwrap();
        assert!(
            out.status.success(),
            "{}",
            String::from_utf8_lossy(&out.stderr)
        );
        String::from_utf8(out.stdout).unwrap()
    };
    psql("CREATE ROLE app LOGIN SUPERUSER PASSWORD 's3cret'");
    // From now on whoever is not its superuser shows a password.
    let rules = "host all postgres 127.0.0.1/32 trust\nhost all all 127.0.0.1/32 scram-sha-256\n";
    std::fs::write(psql("SHOW hba_file").trim(), rules).unwrap();
    psql("SELECT pg_reload_conf()");
    let world = World {
        url: url.replace("postgres@", "app@"),
        home: tempfile::tempdir().unwrap(),
    };
    let (code, _, err) = world.run(&["init"]);
    assert!(
        code == 5 && err.contains("does not let 'app' in"),
        "{code} {err}"
    );
    let pass = world.home.path().join(".pgpass");
    std::fs::write(&pass, "*:*:*:app:s3cret\n").unwrap();
    let (code, _, err) = world.run(&["init"]);
    assert!(
        code == 2 && err.contains("can be read by others"),
        "{code} {err}"
    );
    assert_eq!(
        world
            .sh("chmod 600 .pgpass && qops init && qops enqueue q x && rm .pgpass")
            .0,
        0
    );
    let file = format!(
        "[context.a]\nurl = \"{}\"\npassword = \"cmd:echo s3cret\"\n",
        world.url
    );
    let folder = world.home.path().join(".config/qops");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("config.toml"), file).unwrap();
    let (code, _, err) = world
        .sh("unset QOPS_URL; qops -c a work q -- sh -c 'env | grep -c s3cret; qops peek q' > said");
    assert_eq!(code, 0, "{err}");
    let (_, said, _) = world.sh("cat said");
    assert!(said.starts_with("0\n"), "{said}");
}

/// A waiting worker hears of what comes at once, and producers tell nobody while nobody waits.
#[test]
fn who_waits_is_told() {
    let world = World::new();
    world.run(&["enqueue", "q", "x"]);
    assert_eq!(world.sql("SELECT count(*) FROM qops.listener"), "0");
    let line = "qops work q --max-messages 2 --follow --output discard -- sh -c 'cat >> ran; echo >> ran' & \
                until test -s ran; do :; done; qops enqueue q y; wait; cat ran";
    let (_, out, err) = world.sh(line);
    assert_eq!(
        out.split_whitespace().collect::<Vec<_>>(),
        ["2", "x", "y"],
        "{err}"
    );
    assert_eq!(world.sql("SELECT queue FROM qops.listener"), "q");
}

/// Roles may do what they are for, and no more.
#[test]
fn each_role_does_its_work() {
    let world = World::new();
    let (_, grants, _) = world.run(&["init", "--grants"]);
    let (url, _) = world.url.split_once('?').unwrap();
    let ran = Command::new("psql")
        .args([url, "-Xq", "-v", "ON_ERROR_STOP=1", "-c", &grants])
        .output()
        .unwrap();
    assert!(
        ran.status.success(),
        "{}",
        String::from_utf8_lossy(&ran.stderr)
    );
    let mut urls = vec![];
    for role in ["viewer", "producer", "worker"] {
        world.sql(&format!(
            "DO $$ BEGIN CREATE ROLE t_{role} LOGIN IN ROLE qops_{role}; EXCEPTION WHEN duplicate_object THEN NULL; END $$"
        ));
        urls.push(world.url.replace("postgres@", &format!("t_{role}@")));
    }
    let [viewer, producer, worker] = &urls[..] else {
        panic!("three")
    };
    let code = |url: &str, args: &[&str]| {
        let (code, _, err) = world.run(&[args, &["-u", url]].concat());
        (code, err)
    };
    assert_eq!(
        code(producer, &["enqueue", "q", "x", "--key", "k"]).0,
        0,
        "{:?}",
        code(producer, &["enqueue", "q", "x"])
    );
    assert_eq!(code(producer, &["peek", "q"]).0, 5);
    assert_eq!(code(viewer, &["peek", "q"]).0, 0);
    assert_eq!(code(viewer, &["stats", "q"]).0, 0);
    assert_eq!(code(viewer, &["enqueue", "q", "y"]).0, 5);
    assert_eq!(code(viewer, &["purge", "q", "--all", "--yes"]).0, 5);
    assert_eq!(code(worker, &["claim", "q"]).0, 0);
    assert_eq!(code(worker, &["queue", "set", "q", "--lease", "5m"]).0, 5);
}
