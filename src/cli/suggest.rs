//! "Did you mean": verbs by their synonyms, queues by their names.

use super::ctx::Ctx;
use super::fail::Fail;
use crate::backend::{Error, Kind, Page};
use crate::queue::near::nearest;
use crate::queue::{Hint, MessageId, Order, QueueName, Selection};

/// Words of other tools, and what they are here.
const SYNONYMS: &[(&[&str], &[&str])] = &[
    (&["list", "l", "lq", "list-queues"], &["queues"]),
    (&["get", "fetch", "receive", "read"], &["peek", "claim"]),
    (&["pop", "dequeue", "reserve", "lease", "take"], &["claim"]),
    (
        &["status", "stat", "count", "info", "metrics", "watch", "top"],
        &["stats"],
    ),
    (
        &["replay", "rerun", "resend", "reprocess", "redeliver"],
        &["requeue", "drain"],
    ),
    (
        &[
            "delete", "del", "rm", "remove", "clear", "flush", "empty", "drop",
        ],
        &["purge", "queue rm"],
    ),
    (
        &[
            "consume",
            "consumer",
            "subscribe",
            "listen",
            "process",
            "run",
            "worker",
            "start",
        ],
        &["work"],
    ),
    (
        &[
            "add", "put", "produce", "submit", "insert", "post", "enq", "schedule", "publish",
        ],
        &["enqueue"],
    ),
    (
        &[
            "look", "view", "browse", "inspect", "messages", "cat", "head", "tail", "dead", "dlq",
        ],
        &["peek"],
    ),
    (&["describe", "history", "message", "why", "job"], &["show"]),
    (
        &["done", "complete", "finish", "commit", "acknowledge"],
        &["ack"],
    ),
    (&["fail", "reject", "release", "requeue-one"], &["nack"]),
    (&["touch", "heartbeat", "renew"], &["extend"]),
    (&["stop", "hold", "suspend", "freeze"], &["pause"]),
    (&["unpause", "continue", "unfreeze"], &["resume"]),
    (
        &["config", "configure", "settings", "set", "create"],
        &["queue set"],
    ),
    (&["migrate", "setup", "install", "upgrade"], &["init"]),
    (
        &["check", "health", "diagnose", "ping", "verify"],
        &["doctor"],
    ),
    (&["completion"], &["completions"]),
    (&["man", "manual"], &["help"]),
];

/// The verbs that a word was probably meant to be.
#[must_use]
pub fn verbs(typed: &str, known: &[&str]) -> Vec<String> {
    let folded = typed.to_lowercase();
    // A synonym may stand for a verb that only a later version has.
    let is_known = |verb: &&&str| {
        let first = verb.split(' ').next().unwrap_or_default();
        known.contains(&first)
    };
    if let Some((_, meant)) = SYNONYMS
        .iter()
        .find(|(words, _)| words.contains(&folded.as_str()))
    {
        return meant
            .iter()
            .filter(is_known)
            .map(|verb| (*verb).to_owned())
            .collect();
    }
    nearest(typed, known.iter().copied())
        .map(str::to_owned)
        .into_iter()
        .collect()
}

/// `did you mean 'a' or 'b'?`; none if there is nothing to suggest.
#[must_use]
pub fn did_you_mean(meant: &[String]) -> Option<String> {
    let quoted: Vec<String> = meant.iter().map(|word| format!("'{word}'")).collect();
    (!quoted.is_empty()).then(|| format!("did you mean {}?", quoted.join(" or ")))
}

/// An error that names a queue or an id which is not there, with what was probably meant. It asks the store for that;
/// whatever goes wrong in that leaves the error as it is.
#[must_use]
pub fn explained(fail: Fail, ctx: &Ctx) -> Fail {
    match fail {
        Fail::Store(error) if error.kind() == Kind::NotFound => Fail::Store(explain(error, ctx)),
        Fail::Store(error) if error.hinted().is_none() => Fail::Store(general(error)),
        other => other,
    }
}

/// What helps against a whole kind of error, where nobody closer to it knew better.
fn general(error: Error) -> Error {
    let path = error.context("path").map(str::to_owned);
    let file = path.as_deref().unwrap_or("the store");
    let hint = match error.kind() {
        Kind::ReadOnly | Kind::Denied => {
            format!(
                "{file} and its folder must be writable to whoever runs this; or name another store with --url"
            )
            .into()
        }
        Kind::Busy | Kind::Timeout | Kind::Unreachable => {
            Hint::from("it may pass: run it again; ").then("doctor", &[]).say(" looks at the store")
        }
        Kind::Corrupt => Hint::run("doctor", &[]).say(" looks at the store"),
        Kind::Bug => Hint::run("doctor", &[])
            .say(" looks at the store; if it finds nothing, please report this"),
        _ => return error,
    };
    error.hint(hint)
}

fn explain(error: Error, ctx: &Ctx) -> Error {
    if error.hinted().is_some() {
        return error;
    }
    if error.context("store").is_some() {
        return error.hint("the first qops enqueue makes it; another store is chosen with --url");
    }
    let (queue, id) = (
        error.context("queue").map(str::to_owned),
        error.context("id").map(str::to_owned),
    );
    if queue.is_none() && id.is_none() {
        return error;
    }
    let Some(names) = ctx.queue_names() else {
        return error;
    };
    if let Some(id) = id {
        return match names.iter().find(|name| name.as_str() == id) {
            Some(name) => error.hint(
                Hint::from(format!("'{name}' is a queue, not an id: "))
                    .then("peek", &[name.as_str()]),
            ),
            None => error,
        };
    }
    let typed = queue.unwrap_or_default();
    if is_message(ctx, &typed) {
        return error
            .hint(Hint::from(format!("'{typed}' is a message's id: ")).then("show", &[&typed]));
    }
    match nearest(&typed, names.iter().map(QueueName::as_str)) {
        Some(near) => error.hint(format!("did you mean '{near}'?")),
        None if names.is_empty() => error.hint("there is no queue in this store yet"),
        None => error.hint(Hint::run("queues", &[]).say(" lists the queues of this store")),
    }
}

/// The queue of this store whose name is nearest to what was typed, if one is near.
pub(super) fn near_queue(ctx: &Ctx, typed: &str) -> Option<String> {
    let names = ctx.queue_names()?;
    nearest(typed, names.iter().map(QueueName::as_str)).map(str::to_owned)
}

fn is_message(ctx: &Ctx, id: &str) -> bool {
    let what = Selection {
        ids: Some(vec![MessageId::from(id)]),
        ..Selection::default()
    };
    let found = ctx
        .read()
        .and_then(|mut store| Ok(store.peek(&what, &Page::first(1, Order::Run))?));
    found.is_ok_and(|found| !found.rows.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::{CommandFactory, Parser};

    fn known() -> Vec<String> {
        super::super::verb_names(&super::super::Cli::command())
    }

    fn suggested(typed: &str) -> Vec<String> {
        let known = known();
        let known: Vec<&str> = known.iter().map(String::as_str).collect();
        verbs(typed, &known)
    }

    #[test]
    fn no_synonym_is_a_verb_and_none_stands_twice() {
        let known = known();
        let mut seen: Vec<&str> = vec![];
        for (words, meant) in SYNONYMS {
            assert!(!meant.is_empty());
            for word in *words {
                assert!(!known.iter().any(|verb| verb == word), "{word} is a verb");
                assert!(!seen.contains(word), "{word} stands twice");
                seen.push(word);
            }
        }
    }

    #[test]
    fn the_names_of_the_queues_are_asked_for_once_a_run() {
        use crate::backend::{Access, OpenOptions, Target, Unit, registry};
        use crate::queue::{NewMessage, Skew};
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("q.db");
        let url = format!("sqlite:{}", file.display());
        let options = OpenOptions {
            access: Access::Write,
            identity: "test:1".to_owned(),
            skew: Skew::default(),
        };
        let target = Target::parse(&url, folder.path()).unwrap();
        let mut store = registry::open(&target, &options).unwrap().backend;
        let queue = QueueName::parse("orders").unwrap();
        store
            .enqueue(&[NewMessage::new(queue, &b""[..])], Unit::Each)
            .unwrap();
        drop(store);
        let cli = super::super::Cli::try_parse_from(["qops", "-u", &url, "queues"]).unwrap();
        let (ui, _, _) = crate::ui::tests::captured(false, 80);
        let ctx = Ctx::new(ui, cli.globals, vec![]);
        let told = || {
            let error = Error::new(Kind::NotFound, "no message").with("id", "orders");
            explain(error, &ctx).hinted().map(ToString::to_string)
        };
        let first = told();
        assert_eq!(
            first.as_deref(),
            Some("'orders' is a queue, not an id: qops peek orders")
        );
        std::fs::remove_file(&file).unwrap();
        assert_eq!(told(), first);
    }

    #[test]
    fn nothing_is_guessed_from_afar() {
        assert!(suggested("frobnicate").is_empty());
        assert!(suggested("").is_empty());
    }
}
