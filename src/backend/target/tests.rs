use super::*;

fn parse(url: &str) -> Result<Target> {
    Target::parse(url, Path::new("/base"))
}

#[test]
fn r34_urls_that_are_taken() {
    for (url, path, again) in [
        ("sqlite:q.db", "/base/q.db", "sqlite:/base/q.db"),
        ("SQLite:q.db", "/base/q.db", "sqlite:/base/q.db"),
        ("sqlite:./q.db", "/base/q.db", "sqlite:/base/q.db"),
        ("sqlite:../q.db", "/base/../q.db", "sqlite:/base/../q.db"),
        ("sqlite:/a/./b/q.db", "/a/b/q.db", "sqlite:/a/b/q.db"),
        ("sqlite:///a/q.db", "/a/q.db", "sqlite:/a/q.db"),
        ("sqlite:q.db?", "/base/q.db", "sqlite:/base/q.db"),
        ("sqlite:/a b/é.db", "/a b/é.db", "sqlite:/a%20b/%C3%A9.db"),
        ("sqlite:/a%20b", "/a b", "sqlite:/a%20b"),
        (
            "sqlite:/x%3Fy%23z%25.db",
            "/x?y#z%.db",
            "sqlite:/x%3Fy%23z%25.db",
        ),
        (
            "sqlite:/u@h/p@ss:w/q.db",
            "/u@h/p@ss:w/q.db",
            "sqlite:/u@h/p@ss:w/q.db",
        ),
        ("sqlite:/[]{}$&=+.db", "/[]{}$&=+.db", "sqlite:/[]{}$&=+.db"),
        ("sqlite:./~/q.db", "/base/~/q.db", "sqlite:/base/~/q.db"),
        (
            "sqlite:/q?durability=normal",
            "/q",
            "sqlite:/q?durability=normal",
        ),
        (
            "sqlite:/q?journal=delete&durability=normal",
            "/q",
            "sqlite:/q?durability=normal&journal=delete",
        ),
        ("sqlite:/q?durability=full&journal=wal", "/q", "sqlite:/q"),
        ("sqlite:/q?&journal=wal&", "/q", "sqlite:/q"),
        ("sqlite:/q?journal=%77al", "/q", "sqlite:/q"),
    ] {
        let target = parse(url).unwrap_or_else(|error| panic!("{url}: {error}"));
        assert_eq!(target.sqlite().unwrap().path, Path::new(path), "{url}");
        assert_eq!(target.url(), again, "{url}");
        assert_eq!(parse(&target.url()).unwrap(), target, "{url}");
    }
}

#[test]
fn bytes_that_are_no_utf8_can_be_a_path() {
    let target = parse("sqlite:/a%FF.db").unwrap();
    let path = &target.sqlite().unwrap().path;
    assert_eq!(path.as_os_str().as_bytes(), b"/a\xff.db");
    assert_eq!(parse(&target.url()).unwrap(), target);
}

#[test]
fn r34_urls_that_are_refused_name_the_bad_part_and_no_secret() {
    const PASSWORD: &str = "hunter2-canary";
    for (url, what, hint) in [
        ("", "is empty", "sqlite:PATH"),
        ("sqlite:", "has no path", ""),
        ("sqlite://", "has no host", ""),
        ("sqlite:///", "names a directory", ""),
        ("sqlite:/tmp/", "names a directory", ""),
        ("sqlite:..", "names a directory", ""),
        ("sqlite:.", "names a directory", ""),
        ("sqlite://q.db", "has no host", "sqlite:q.db"),
        ("sqlite:q.db#x", "a # in", "%23"),
        ("sqlite:a%zz", "no %XX", "%25"),
        ("sqlite:a%2", "no %XX", "%25"),
        ("sqlite:a%é", "no %XX", "%25"),
        ("sqlite:a%00b", "NUL", ""),
        ("sqlite::memory:", "in memory", ""),
        ("sqlite:~/q.db", "home directory", "$HOME"),
        ("sqlite:q.db\n", "control character", ""),
        (
            "sqlite:q?durabilty=full",
            "unknown parameter 'durabilty'",
            "'durability'",
        ),
        (
            "sqlite:q?mode=ro",
            "unknown parameter 'mode'",
            "durability=full|normal",
        ),
        (
            "sqlite:q?schema=a%22;drop",
            "unknown parameter 'schema'",
            "",
        ),
        ("sqlite:q?prefix=../x", "unknown parameter 'prefix'", ""),
        (
            "sqlite:q?durability=ful",
            "full or normal, not 'ful'",
            "'full'",
        ),
        ("sqlite:q?journal", "wal or delete, not ''", ""),
        ("sqlite:q?journal=wal&journal=wal", "stands twice", ""),
        ("./q.db", "no scheme", "sqlite:./q.db"),
        ("/a/q.db", "no scheme", "sqlite:/a/q.db"),
        ("q.db", "no scheme", "sqlite:q.db"),
        ("u@hunter2-canary", "no scheme", ""),
        ("password=hunter2-canary host=x", "no scheme", ""),
        ("sqlit:q.db", "unknown scheme 'sqlit:'", "'sqlite:'"),
        ("file:q.db", "unknown scheme 'file:'", "'sqlite:'"),
        (
            "pg://u:hunter2-canary@h/d",
            "unknown scheme 'pg:'",
            "'postgres://'",
        ),
        ("valkey://h", "unknown scheme", "'redis://'"),
        (
            "amqp://u:hunter2-canary@h",
            "unknown scheme 'amqp:'",
            "sqlite:PATH",
        ),
        ("postgres://u:hunter2/canary@h/d", "an @ after a /", "%2F"),
        ("postgres://u:hunter2-canary@h:x/d", "no number", ""),
        ("postgres://h/d?shcema=a", "'shcema'", "'schema'"),
        ("postgres://h/d?schema=a-b", "a plain name", ""),
        ("postgres://h/d?schema=a&schema=b", "stands twice", ""),
        ("postgres://h/d?notify=maybe", "on or off", ""),
        (
            "postgres://h/d?sslmode=verify_full",
            "sslmode",
            "'verify-full'",
        ),
        ("postgres://[::1/d", "without its ]", ""),
        ("postgres://h/d#x", "a #", "%23"),
        ("postgres:h/d", "begins with postgres://", ""),
        ("postgres://u:hunter2-canary@ss@h/d", "two @", "%40"),
        ("postgres://u:a/b@hunter2-canary@h/d", "two @", "%40"),
        (
            "redis://:hunter2-canary@h:6379/0",
            "redis:// is not built in",
            "",
        ),
        ("redis://u:p@hunter2-canary@h/0", "two @", "%40"),
        ("rediss://h", "not built in", ""),
        ("redis+unix:///tmp/s", "not built in", ""),
        ("redis-sentinel://h:26379/m", "not built in", ""),
        ("redis-cluster://h:7000", "not built in", ""),
    ] {
        let Err(error) = parse(url) else {
            panic!("{url} was taken")
        };
        assert_eq!(error.kind(), Kind::Config, "{url}");
        assert!(error.what().contains(what), "{url}: {error}");
        let said = error.hinted().map(ToString::to_string).unwrap_or_default();
        assert!(said.contains(hint), "{url}: {said}");
        assert!(
            !format!("{error:?}{error}{said}").contains(PASSWORD),
            "{url}"
        );
    }
}

#[test]
fn what_may_be_a_secret_is_not_repeated() {
    for url in [
        "sqlite://u:hunter2-canary@h/x",
        "sqlite://hunter2-canary@h/x",
        "sqlite://u:hunter2-canary%40h/x",
        "hunter2-canary",
        "hunter2-canary/x",
        "//hunter2-canary.db",
        "hunter2-canary:",
        "hunter2-canary:x@h",
    ] {
        let error = parse(url).unwrap_err();
        let said = error.hinted().map(ToString::to_string).unwrap_or_default();
        assert!(said.contains("sqlite:PATH"), "{url}: {said}");
        let all = format!("{error:?}{error}{said}");
        assert!(!all.contains("canary"), "{url}: {all}");
    }
}

#[test]
fn a_path_below_home_is_shown_short() {
    let home = || Some(PathBuf::from("/home/ana"));
    for (path, shown) in [
        ("/home/ana/q.db", "~/q.db"),
        ("/home/anabel/q.db", "/home/anabel/q.db"),
        ("/q.db", "/q.db"),
    ] {
        assert_eq!(shortened(Path::new(path), home()), shown);
    }
    assert_eq!(shortened(Path::new("/q.db"), Some("/".into())), "/q.db");
}

#[test]
fn a_postgres_url_is_read_and_goes_on_without_its_password() {
    for (url, again, place) in [
        ("postgres://", "postgres://", "localhost"),
        (
            "postgresql://u:hunter2-canary@h:5433/d?schema=jobs&notify=off",
            "postgres://u@h:5433/d?schema=jobs&notify=off",
            "h/d",
        ),
        (
            "postgres://u@a,b:5433/d?target_session_attrs=read-write",
            "postgres://u@a,b:5433/d?target%5Fsession%5Fattrs=read%2Dwrite",
            "a,b/d",
        ),
        (
            "postgres://[::1]:5432/d",
            "postgres://[::1]:5432/d",
            "::1/d",
        ),
        (
            "postgres:///d?host=/tmp&user=u&password=hunter2-canary",
            "postgres://u@%2Ftmp/d",
            "/tmp/d",
        ),
    ] {
        let target = parse(url).unwrap();
        assert_eq!(target.url(), again, "{url}");
        assert_eq!(target.location(), place, "{url}");
        let (again, shown) = (parse(&target.url()).unwrap(), format!("{target:?}"));
        assert_eq!(again.url(), target.url(), "{url}");
        assert!(!shown.contains("canary"), "{shown}");
    }
}
