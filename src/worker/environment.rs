//! A command's environment: ours, without what is not its business, and the message's.

use crate::queue::{Delivery, Message};
use std::collections::BTreeMap;
use std::ffi::{CString, OsString};
use std::os::unix::ffi::OsStrExt;

/// No variable of ours is longer, so that a command can always be started (in bytes).
const LONGEST: usize = 4096;

/// What every command of a run gets, as the system wants it: `NAME=VALUE`.
#[derive(Clone, Debug)]
pub(super) struct Base(Vec<CString>);

impl Base {
    /// What we have, without the variables that name a store or a message (of a worker around us) and without `scrub`;
    /// then the store of this worker.
    pub(super) fn new(
        inherited: impl Iterator<Item = (OsString, OsString)>,
        scrub: &[String],
        store: &[(String, String)],
    ) -> Self {
        let inherited = inherited
            .filter(|(name, _)| {
                !is_ours(name) && !scrub.iter().any(|secret| name == secret.as_str())
            })
            .map(|(name, value)| [name.as_bytes(), b"=", value.as_bytes()].concat());
        let store = store
            .iter()
            .map(|(name, value)| format!("{name}={value}").into_bytes());
        let all = inherited.chain(store);
        // The system has none with a NUL byte, and a store whose URL has one cannot be opened.
        Self(all.filter_map(|set| CString::new(set).ok()).collect())
    }

    /// The variables, as they are.
    pub(super) fn iter(&self) -> impl ExactSizeIterator<Item = &CString> {
        self.0.iter()
    }
}

/// Names that a worker sets or that name a store; a nested worker's command must not see the outer one's.
fn is_ours(name: &OsString) -> bool {
    const NAMES: [&str; 12] = [
        "QOPS_ID",
        "QOPS_QUEUE",
        "QOPS_ATTEMPT",
        "QOPS_MAX_ATTEMPTS",
        "QOPS_KEY",
        "QOPS_GROUP",
        "QOPS_ENQUEUED_AT",
        "QOPS_LEASE_UNTIL",
        "QOPS_FENCE",
        "QOPS_URL",
        "QOPS_CONTEXT",
        super::guard::VARIABLE,
    ];
    NAMES.iter().any(|known| name == *known) || name.as_bytes().starts_with(b"QOPS_HEADER_")
}

/// The variables of one message. The payload is never among them.
pub(super) fn of_message(
    delivery: &Delivery,
    attempt: u32,
    max_attempts: Option<u32>,
) -> BTreeMap<String, String> {
    let Delivery { message, fence, .. } = delivery;
    let Message {
        id,
        queue,
        key,
        group,
        headers,
        enqueued_at,
        lease_until,
        ..
    } = message;
    let mut all = BTreeMap::new();
    let mut set = |name: String, value: &str| {
        if let Some(value) = fit(value) {
            // Of two headers whose names become one, the first stands.
            all.entry(name).or_insert_with(|| value.to_owned());
        }
    };
    set("QOPS_ID".into(), id.as_str());
    set("QOPS_QUEUE".into(), queue.as_str());
    set("QOPS_ATTEMPT".into(), &attempt.to_string());
    if let Some(most) = max_attempts {
        set("QOPS_MAX_ATTEMPTS".into(), &most.to_string());
    }
    set("QOPS_FENCE".into(), &fence.to_string());
    set("QOPS_ENQUEUED_AT".into(), &enqueued_at.to_string());
    if let Some(until) = lease_until {
        set("QOPS_LEASE_UNTIL".into(), &until.to_string());
    }
    if let Some(key) = key {
        set("QOPS_KEY".into(), key);
    }
    if let Some(group) = group {
        set("QOPS_GROUP".into(), group.as_str());
    }
    for (name, value) in headers {
        set(header_variable(name), value);
    }
    all
}

/// The variable that has a header's value for a command, `QOPS_HEADER_NAME`: in capitals, anything but A–Z and 0–9 as `_`.
#[must_use]
pub fn header_variable(header: &str) -> String {
    let name = header.chars().map(|letter| {
        let letter = letter.to_ascii_uppercase();
        if letter.is_ascii_uppercase() || letter.is_ascii_digit() {
            letter
        } else {
            '_'
        }
    });
    "QOPS_HEADER_".chars().chain(name).collect()
}

/// A value cut to its length at a character; none where the system cannot carry it.
fn fit(value: &str) -> Option<&str> {
    if value.contains('\0') {
        return None;
    }
    Some(&value[..value.floor_char_boundary(LONGEST)])
}

/// The two variables by which a process is known to belong to a job, as they stand in its environment.
pub(super) fn mark(delivery: &Delivery) -> [Vec<u8>; 2] {
    let id = delivery.message.id.as_str();
    [
        format!("QOPS_ID={}", &id[..id.floor_char_boundary(LONGEST)]).into_bytes(),
        format!("QOPS_FENCE={}", delivery.fence).into_bytes(),
    ]
}

#[cfg(test)]
mod tests {
    use super::super::fake::delivery;
    use super::*;

    #[test]
    fn r15_every_value_is_bounded_and_the_payload_is_nowhere() {
        let mut delivery = delivery("7", b"the payload");
        delivery.message.key = Some("é".repeat(9000));
        delivery.message.headers = vec![
            ("Trace-Id.v2".into(), "x".repeat(9000)),
            ("trace_id_v2".into(), "second".into()),
            ("ünï".into(), "y".into()),
            ("nul".into(), "a\0b".into()),
        ];
        let all = of_message(&delivery, 2, Some(7));
        assert!(all.values().all(|value| value.len() <= 4096));
        assert!(!all.values().any(|value| value.contains("the payload")));
        assert_eq!(all["QOPS_KEY"].len(), 4096);
        assert_eq!(all["QOPS_HEADER_TRACE_ID_V2"].len(), 4096);
        assert_eq!(all["QOPS_HEADER__N_"], "y");
        assert!(!all.contains_key("QOPS_HEADER_NUL"));
        assert_eq!(all["QOPS_ATTEMPT"], "2");
        assert_eq!(all["QOPS_MAX_ATTEMPTS"], "7");
        assert_eq!(all["QOPS_ID"], "7");
        assert!(!all.contains_key("QOPS_GROUP"));
        // Without a limit there is no number that would tell it.
        let all = of_message(&delivery, 2, None);
        assert!(!all.contains_key("QOPS_MAX_ATTEMPTS"));
    }

    #[test]
    fn r82_what_names_a_store_or_an_outer_message_is_taken_out() {
        let inherited = [
            ("PATH", "/bin"),
            ("QOPS_URL", "postgres://u:canary@h"),
            ("QOPS_CONTEXT", "prod"),
            ("QOPS_KEY", "outer"),
            ("QOPS_HEADER_X", "outer"),
            ("QOPS_REQUIRE", "all"),
            ("MY_URL", "canary"),
            ("PGPASSWORD", "the user's own"),
        ]
        .map(|(name, value)| (OsString::from(name), OsString::from(value)));
        let base = Base::new(
            inherited.into_iter(),
            &["MY_URL".to_owned()],
            &[("QOPS_URL".to_owned(), "postgres://u@h".to_owned())],
        );
        let names: Vec<_> = base.iter().map(|set| set.to_str().unwrap()).collect();
        assert_eq!(
            names,
            [
                "PATH=/bin",
                "QOPS_REQUIRE=all",
                "PGPASSWORD=the user's own",
                "QOPS_URL=postgres://u@h"
            ]
        );
    }
}
