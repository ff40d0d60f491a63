//! The file: where it lies and who may read it.

use super::{World, ended, eventually, ran};
use std::os::unix::fs::PermissionsExt as _;

/// On a network filesystem (as the kernel would name it) a write-ahead log is refused, and the way out is named.
#[test]
fn r54_a_write_ahead_log_on_a_network_disk_is_refused() {
    // The first eight bytes of the kernel's answer, in the order of this machine.
    for (name, magic) in [
        ("NFS", 0x6969_u64),
        ("SMB", 0x517b),
        ("SMB", 0xfe53_4d42),
        ("FUSE", 0x6573_5546),
    ] {
        let world = World::new();
        let bytes = format!("{:016x}", u64::from_be_bytes(magic.to_ne_bytes()));
        let faked = |args: &[&str]| {
            let mut strace = world.program("strace");
            let inject = format!("inject=statfs,fstatfs:poke_exit=@arg2={bytes}");
            strace.args([
                "-f",
                "-q",
                "-o",
                "/dev/null",
                "-e",
                "trace=statfs,fstatfs",
                "-e",
                &inject,
            ]);
            strace.arg(env!("CARGO_BIN_EXE_qops")).args(args);
            ran(strace, None)
        };
        let refused = faked(&["enqueue", "q", "x"]).is(6);
        assert!(refused.err.contains(name), "{}", refused.err);
        assert!(
            refused.err.contains("journal=delete"),
            "the way out: {}",
            refused.err
        );
        assert!(refused.out.is_empty());
        // A store that came from elsewhere is refused, too, and read by nobody.
        world.run(&["enqueue", "q", "x"]).is(0);
        faked(&["enqueue", "q", "y"]).is(6);
        faked(&["work", "q", "--", "true"]).is(6);
        assert_eq!(world.count("q", "ready"), 1);
        let url = format!(
            "sqlite:{}?journal=delete",
            world.path().join("other.db").display()
        );
        faked(&["--url", &url, "enqueue", "q", "x"]).is(0);
        faked(&["--url", &url, "work", "q", "--", "true"]).is(0);
    }
}

/// Whatever the umask, nobody else reads the file, its log or its shared memory.
#[test]
fn r56_files_are_private_whatever_the_umask() {
    let world = World::new();
    world.sh("umask 000; qops enqueue q secret").is(0);
    let mut command = world.program("bash");
    command.args([
        "-c",
        "umask 000; exec qops work q --follow -- sh -c 'cat >> seen'",
    ]);
    let worker = command.spawn().expect("a worker");
    eventually("it has worked", || world.read("seen") == "secret");
    let folder = world.file().parent().expect("a folder").to_path_buf();
    let mut names = vec![];
    for entry in std::fs::read_dir(&folder).expect("a folder") {
        let entry = entry.expect("an entry");
        let mode = entry.metadata().expect("its mode").permissions().mode() & 0o777;
        assert_eq!(mode, 0o600, "{:?}", entry.path());
        names.push(entry.file_name().into_string().expect("a text"));
    }
    for name in ["qops.db", "qops.db-wal", "qops.db-shm"] {
        assert!(
            names.iter().any(|found| found == name),
            "{name} in {names:?}"
        );
    }
    let pid = rustix::process::Pid::from_child(&worker);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).expect("a signal");
    ended(worker).is(0);
}
