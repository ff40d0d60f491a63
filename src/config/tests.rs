use super::*;
use std::collections::HashMap;

const CANARY: &str = "hunter2-canary";

struct World {
    vars: HashMap<String, OsString>,
    home: tempfile::TempDir,
}

impl World {
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        let vars = HashMap::from([("HOME".to_owned(), home.path().into())]);
        Self { vars, home }
    }

    fn var(mut self, name: &str, value: &str) -> Self {
        self.vars.insert(name.to_owned(), value.into());
        self
    }

    fn file(self, text: &str) -> Self {
        let path = self.home.path().join(".config/qops");
        std::fs::create_dir_all(&path).unwrap();
        std::fs::write(path.join("config.toml"), text).unwrap();
        self
    }

    fn with<T>(&self, act: impl FnOnce(&Surroundings<'_>) -> T) -> T {
        act(&Surroundings {
            var: &|name| self.vars.get(name).cloned(),
            directory: "/work".into(),
        })
    }

    fn resolve(&self, url: Option<&str>, context: Option<&str>) -> Result<Store, ConfigError> {
        let flags = Flags {
            url: url.map(str::to_owned),
            context: context.map(str::to_owned),
        };
        self.with(|around| resolve(&flags, around))
    }

    fn url(&self, url: Option<&str>, context: Option<&str>) -> String {
        let store = self.resolve(url, context).unwrap();
        store.url.reveal().to_owned()
    }
}

const FILE: &str = "current = \"here\"\n[context.here]\nurl = \"sqlite:here.db\"\n\
    [context.prod]\nurl = \"sqlite:/prod/${NAME}.db\"\nread_only = true\nconfirm = true\n";

#[test]
fn each_level_beats_the_next() {
    // (--url, --context, QOPS_URL, QOPS_CONTEXT, file) -> the answer
    for flag_url in [None, Some("sqlite:flag.db")] {
        for flag_context in [None, Some("prod")] {
            for env_url in [None, Some("sqlite:env.db"), Some("")] {
                for env_context in [None, Some("here"), Some("")] {
                    for with_file in [false, true] {
                        let mut world = World::new().var("NAME", "orders");
                        for (name, value) in [("QOPS_URL", env_url), ("QOPS_CONTEXT", env_context)]
                        {
                            if let Some(value) = value {
                                world = world.var(name, value);
                            }
                        }
                        if with_file {
                            world = world.file(FILE);
                        }
                        let set = |value: Option<&str>| value.is_some_and(|v| !v.is_empty());
                        let want: Result<(&str, Origin), &str> =
                            if flag_url.is_some() && flag_context.is_some() {
                                Err("both --url and --context")
                            } else if flag_url.is_some() {
                                Ok(("sqlite:flag.db", Origin::UrlFlag))
                            } else if flag_context.is_some() {
                                if with_file {
                                    Ok(("sqlite:/prod/orders.db", Origin::ContextFlag))
                                } else {
                                    Err("no context 'prod'")
                                }
                            } else if set(env_url) && set(env_context) {
                                Err("both QOPS_URL and QOPS_CONTEXT")
                            } else if set(env_url) {
                                Ok(("sqlite:env.db", Origin::UrlVariable))
                            } else if set(env_context) {
                                if with_file {
                                    Ok(("sqlite:here.db", Origin::ContextVariable))
                                } else {
                                    Err("no context 'here'")
                                }
                            } else if with_file {
                                let path = world.home.path().join(".config/qops/config.toml");
                                Ok(("sqlite:here.db", Origin::Current(path)))
                            } else {
                                Ok(("default", Origin::Default))
                            };
                        let got = world.resolve(flag_url, flag_context);
                        match (want, got) {
                            (Err(part), Err(error)) => {
                                assert!(error.what.contains(part), "{error}");
                            }
                            (Ok((url, origin)), Ok(store)) => {
                                assert_eq!(store.origin, origin);
                                if origin == Origin::Default {
                                    let end = "/.local/share/qops/qops.db";
                                    assert!(store.url.reveal().ends_with(end));
                                } else {
                                    assert_eq!(store.url.reveal(), url);
                                }
                            }
                            (want, got) => panic!("wanted {want:?}, got {got:?}"),
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn a_context_brings_its_switches_and_its_own_directory() {
    let world = World::new().var("NAME", "x").file(FILE);
    let store = world.resolve(None, Some("prod")).unwrap();
    assert!(store.read_only && store.confirm);
    assert_eq!(store.base, world.home.path().join(".config/qops"));
    let store = world.resolve(Some("sqlite:q.db"), None).unwrap();
    assert!(!store.read_only && !store.confirm);
    assert_eq!(store.base, Path::new("/work"));
}

#[test]
fn a_url_may_come_from_a_variable() {
    let world = World::new().var("Q", "sqlite:of-a-variable.db");
    assert_eq!(world.url(Some("env:Q"), None), "sqlite:of-a-variable.db");
    let error = world.resolve(Some("env:NONE"), None).unwrap_err();
    assert!(error.what.contains("'NONE' is not set"));
}

#[test]
fn the_default_is_found_by_the_xdg_rules() {
    let world = World::new().var("XDG_DATA_HOME", "/data/100%?");
    assert_eq!(world.url(None, None), "sqlite:/data/100%25%3F/qops/qops.db");
    let world = World::new().var("XDG_DATA_HOME", "relative");
    assert!(world.url(None, None).contains("/.local/share/"));
    let mut world = World::new();
    world.vars.clear();
    assert!(world.resolve(None, None).unwrap_err().hint.is_some());
}

#[test]
fn another_tools_store_is_mentioned_only_when_nobody_chose() {
    let world = World::new().var("REDIS_URL", "redis://x");
    assert_eq!(
        world.resolve(None, None).unwrap().overlooked,
        Some("REDIS_URL")
    );
    let chosen = world.resolve(Some("sqlite:x"), None).unwrap();
    assert_eq!(chosen.overlooked, None);
}

#[test]
fn what_is_not_known_in_the_file_is_refused() {
    for (text, part, hint) in [
        (
            "curent = 'x'",
            "unknown key 'curent'",
            "did you mean 'current'?",
        ),
        (
            "[context.a]\nurl='sqlite:x'\nreadonly=true",
            "[context.a]: unknown key 'readonly'",
            "did you mean 'read_only'?",
        ),
        ("[context.a]\nread_only=true", "it has no url", ""),
        ("[context.a]\nurl=1", "'url' is a text", ""),
        (
            "[context.a]\nurl='sqlite:x'\nconfirm='yes'",
            "true or false",
            "",
        ),
        ("context = 3", "a context is a table", ""),
        ("current = 3", "'current' is a context's name", ""),
        ("x = [1,\n2", "line 2", ""),
        (
            "[context.a]\nurl='sqlite:x'\npassword='env:P'",
            "a SQLite file has no password",
            "",
        ),
        (
            "[context.a]\nurl='postgres://h'\npassword='hunter2-canary'",
            "not written down",
            "env:VAR",
        ),
        ("url = 'x://:hunter2-canary@h\n", "config.toml: line 1", ""),
        (
            "current = 'prd'\n[context.prod]\nurl='sqlite:x'",
            "no context 'prd'",
            "'prod'",
        ),
        (
            "current = 'a'\n[context.prod]\nurl='sqlite:x'",
            "no context 'a'",
            "it has: prod",
        ),
        (
            "current='a'\n[context.a]\nurl='sqlite:${NOPE}'",
            "'NOPE' is not set",
            "",
        ),
        (
            "current='a'\n[context.a]\nurl='sqlite:${NOPE'",
            "has no '}'",
            "",
        ),
    ] {
        let chosen = (text.contains("[context.a]") && !text.contains("current=")).then_some("a");
        let error = World::new().file(text).resolve(None, chosen).unwrap_err();
        assert!(error.what.contains(part), "{text}: {error}");
        assert!(
            error
                .hint
                .clone()
                .unwrap_or_default()
                .to_string()
                .contains(hint),
            "{text}"
        );
        assert!(!format!("{error:?}").contains(CANARY), "{text}");
    }
}

#[test]
fn a_broken_context_matters_where_it_is_chosen() {
    let world = World::new().file("[context.prod]\nurl = 'sqlite:x'\n[context.b]\nurl = 5\n");
    assert!(world.url(None, None).ends_with("/qops.db"));
    assert_eq!(world.url(None, Some("prod")), "sqlite:x");
    let of = |name: &str| world.resolve(None, Some(name)).unwrap_err();
    assert!(
        of("b").what.contains("[context.b]: 'url' is a text"),
        "{}",
        of("b")
    );
    for (name, what, hint) in [
        ("prd", "no context 'prd'", "did you mean 'prod'?"),
        ("xxxx", "no context 'xxxx'", "it has: b, prod"),
        ("", "the context's name is empty", "leave the flag out"),
    ] {
        let error = of(name);
        assert!(error.what.contains(what), "{error}");
        assert!(error.hint.unwrap().to_string().contains(hint), "{name}");
    }
    let error = World::new().resolve(None, Some("my store")).unwrap_err();
    let hint = error.hint.unwrap().to_string();
    assert!(
        hint.starts_with("write [context.\"my store\"] with"),
        "{hint}"
    );
}

#[test]
fn a_broken_file_does_not_hinder_who_named_a_store() {
    let world = World::new().file("][");
    assert_eq!(world.url(Some("sqlite:x"), None), "sqlite:x");
    assert!(world.resolve(None, None).is_err());
}

#[test]
fn secrets_do_not_print() {
    let text = format!("[context.a]\nurl='postgres://u:{CANARY}@h/db'\n");
    let world = World::new().file(&text);
    let store = world.resolve(None, Some("a")).unwrap();
    let config = world.with(Config::load).unwrap();
    let printed = format!("{store:?} {} {config:?}", store.url);
    assert!(!printed.contains(CANARY), "{printed}");
    assert!(store.url.reveal().contains(CANARY));
}

#[test]
fn passwords_come_from_a_variable_a_private_file_or_a_command() {
    use std::os::unix::fs::PermissionsExt;
    let world = World::new().var("P", CANARY);
    let file = world.home.path().join("pw");
    std::fs::write(&file, format!("{CANARY}\nsecond line\n")).unwrap();
    let mode = |mode| {
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    let take = |text: &str| {
        let password = Password::parse(text).unwrap();
        world.with(|around| password.take(world.home.path(), around))
    };
    mode(0o600);
    for from in ["env:P", "file:pw", "cmd:echo hunter2-canary"] {
        assert_eq!(take(from).unwrap().reveal(), CANARY, "{from}");
    }
    for bits in [0o640, 0o604, 0o660] {
        mode(bits);
        let error = take("file:pw").unwrap_err();
        assert!(error.what.contains("read by others"), "{error}");
        assert!(error.hint.unwrap().to_string().starts_with("chmod 600"));
    }
    for (from, part) in [
        ("env:NONE", "'NONE' is not set"),
        ("file:none", "No such file"),
        ("cmd:exit 3", "exit status: 3"),
        ("cmd:true", "is empty"),
    ] {
        let error = take(from).unwrap_err();
        assert!(error.what.contains(part), "{from}: {error}");
        assert!(!error.what.contains(CANARY));
    }
    for bad in ["", "env:", CANARY, "vault:x"] {
        assert!(Password::parse(bad).is_err(), "{bad}");
    }
}

#[test]
fn a_child_gets_the_context_or_the_url_and_never_both() {
    let world = World::new().var("NAME", "x").file(FILE);
    let url = || "sqlite:/abs/q.db".to_owned();
    let current = world.resolve(None, None).unwrap().for_child(url());
    assert_eq!(current.set, ("QOPS_CONTEXT", "here".to_owned()));
    assert_eq!(current.unset, "QOPS_URL");
    let flag = world.resolve(Some("sqlite:q.db"), None).unwrap();
    assert_eq!(flag.for_child(url()).set, ("QOPS_URL", url()));
    assert_eq!(flag.for_child(url()).unset, "QOPS_CONTEXT");
}

#[test]
fn what_a_url_and_a_password_come_from_is_secret() {
    let world = World::new()
        .var("NAME", "x")
        .var("U", "sqlite:u.db")
        .file(&format!(
            "{FILE}[context.home]\nurl = \"sqlite:${{HOME}}/q.db\"\n\
            [context.pg]\nurl = \"postgres://${{NAME}}@h\"\npassword = \"env:PW\"\n"
        ));
    let url = || "sqlite:/abs/q.db".to_owned();
    // What was chosen -> what is kept from a command, and by what it finds the store.
    for (flag, context, secrets, by) in [
        (Some("env:U"), None, &["U"][..], "QOPS_URL"),
        (Some("sqlite:q.db"), None, &[], "QOPS_URL"),
        (None, None, &[], "QOPS_CONTEXT"),
        (None, Some("prod"), &["NAME"], "QOPS_URL"),
        (None, Some("home"), &[], "QOPS_CONTEXT"),
        (None, Some("pg"), &["NAME", "PW"], "QOPS_CONTEXT"),
    ] {
        let store = world.resolve(flag, context).unwrap();
        assert_eq!(store.secrets, secrets, "{flag:?} {context:?}");
        assert_eq!(store.for_child(url()).set.0, by, "{flag:?} {context:?}");
    }
}
