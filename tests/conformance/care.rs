//! `capability`, `migrate`, `begin`, `stats`, `configure`, `tend` and `examine`.

use crate::cases;
use crate::desk::{Desk, MINUTE, dead_of, grouped, keyed, plain, q};
use qops::backend::{Chore, Depth, Features as F, Kind, Patch, Run, Setting, Verdict};
use qops::queue::retry::{Settings, Window};
use qops::queue::{Due, Ladder, NewMessage, Reason, State, Ttl};
use std::time::Duration;

cases! {
    F::NONE => [
        what_a_handle_can_is_constant,
        a_migrated_store_has_nothing_to_migrate,
        many_may_migrate_at_once,
        an_operation_begins_now_and_writes_nothing,
        a_healthy_store_has_no_severe_finding,
        tending_an_empty_store_does_nothing,
    ],
    F::PEEK => [
        stats_are_sorted_by_name,
        stats_of_these_are_in_their_order,
        stats_of_an_unknown_queue,
        names_count_nothing,
        quick_is_exact_or_says_so,
        stats_change_nothing,
    ],
    F::PEEK.and(F::START).and(F::GROUPS).and(F::DELAY) => [counts_by_state],
    F::PEEK.and(F::DELAY) => [oldest_ready_is_how_long_it_could_have_run],
    F::SETTINGS => [
        a_queue_is_created_by_set,
        change_wants_the_queue,
        every_setting_is_kept,
        a_setting_goes_back_to_the_default,
        one_patch_may_set_several,
        a_queue_is_removed,
        settings_are_of_their_queue,
    ],
    F::SETTINGS.and(F::PEEK) => [a_queue_with_a_message_is_not_removed],
    F::PEEK.and(F::TTL) => [tending_buries_the_expired, a_letter_expires_once],
    F::PEEK.and(F::TTL).and(F::GROUPS) => [a_tended_head_frees_the_next],
    F::PEEK.and(F::KEYS) => [tending_ends_no_window_early],
}

fn what_a_handle_can_is_constant(d: &mut Desk<'_>) {
    let before = d.db.capability();
    d.put(plain("q", "x"));
    let after = d.db.capability();
    assert_eq!(before.features, after.features);
    assert!(before.max_batch >= 100, "a batch is worth its name");
    assert!(before.max_bytes >= 16 << 20, "a payload of 16 MiB fits");
    assert_eq!(d.other("w2").db.capability().features, before.features);
}

fn a_migrated_store_has_nothing_to_migrate(d: &mut Desk<'_>) {
    for run in [Run::Dry, Run::Do, Run::Do, Run::Dry] {
        let migrated = d.db.migrate(run).unwrap();
        assert_eq!(migrated.from, migrated.to);
        assert!(migrated.statements.is_empty());
    }
    d.put(plain("q", "x"));
    d.db.migrate(Run::Do).unwrap();
    assert_eq!(d.claim_all("q").len(), 1);
}

fn many_may_migrate_at_once(d: &mut Desk<'_>) {
    d.put(plain("q", "x"));
    std::thread::scope(|scope| {
        for _ in 0..8 {
            let mut handle = d.store.open("m");
            scope.spawn(move || handle.migrate(Run::Do).unwrap());
        }
    });
    assert_eq!(d.claim_all("q").len(), 1);
}

fn an_operation_begins_now_and_writes_nothing(d: &mut Desk<'_>) {
    let first = d.op();
    let second = d.op();
    assert!(first.at <= second.at);
    d.advance(10);
    let third = d.op();
    let passed = third.at.since(first.at);
    assert!(passed >= MINUTE * 10 && passed < MINUTE * 11, "{passed:?}");
    assert!(d.db.stats(None, Depth::Exact).unwrap().is_empty());
}

fn a_healthy_store_has_no_severe_finding(d: &mut Desk<'_>) {
    d.put(keyed("q", "x", "k"));
    let severe: Vec<_> =
        d.db.examine()
            .unwrap()
            .into_iter()
            .filter(|finding| finding.severe)
            .collect();
    assert!(severe.is_empty(), "{severe:?}");
}

fn tending_an_empty_store_does_nothing(d: &mut Desk<'_>) {
    let tended = d.db.tend(Chore::Sweep, Duration::from_secs(5)).unwrap();
    assert!(!tended.more);
}

fn stats_are_sorted_by_name(d: &mut Desk<'_>) {
    for name in ["b", "a", "B", "ä", "a b", "10", "9"] {
        d.put(plain(name, "x"));
    }
    let names: Vec<String> =
        d.db.stats(None, Depth::Exact)
            .unwrap()
            .iter()
            .map(|report| report.queue.to_string())
            .collect();
    assert_eq!(names, ["10", "9", "B", "a", "a b", "b", "ä"]);
}

fn stats_of_these_are_in_their_order(d: &mut Desk<'_>) {
    for name in ["a", "b", "c"] {
        d.put(plain(name, name));
    }
    d.put(plain("b", "x"));
    let asked = [q("c"), q("b")];
    for depth in [Depth::Names, Depth::Quick, Depth::Exact] {
        let reports = d.db.stats(Some(&asked), depth).unwrap();
        let names: Vec<&str> = reports.iter().map(|report| report.queue.as_str()).collect();
        assert_eq!(names, ["c", "b"]);
    }
    assert!(d.db.stats(Some(&[]), Depth::Exact).unwrap().is_empty());
}

fn stats_of_an_unknown_queue(d: &mut Desk<'_>) {
    d.put(plain("a", "x"));
    for depth in [Depth::Names, Depth::Quick, Depth::Exact] {
        let error = d.db.stats(Some(&[q("a"), q("b")]), depth).unwrap_err();
        assert_eq!(error.kind(), Kind::NotFound);
        assert_eq!(error.context("queue"), Some("b"));
    }
}

fn names_count_nothing(d: &mut Desk<'_>) {
    d.put(plain("q", "x"));
    let reports = d.db.stats(None, Depth::Names).unwrap();
    assert_eq!(reports.len(), 1);
    assert_eq!(reports[0].settings, Settings::default());
}

fn quick_is_exact_or_says_so(d: &mut Desk<'_>) {
    let batch: Vec<NewMessage<'_>> = (0..300).map(|_| plain("q", "x")).collect();
    d.put_all(&batch);
    d.claim_as("q", |claim| claim.max = 10);
    let quick = d.db.stats(None, Depth::Quick).unwrap().remove(0);
    let exact = d.db.stats(None, Depth::Exact).unwrap().remove(0);
    assert!(exact.exact);
    assert_eq!((exact.counts.ready, exact.counts.running), (290, 10));
    if quick.exact {
        assert_eq!(quick.counts, exact.counts);
    }
}

fn stats_change_nothing(d: &mut Desk<'_>) {
    let id = d.put(plain("q", "x"));
    d.take("q");
    d.advance(5);
    let before = d.get(&id);
    d.report("q");
    assert_eq!(d.get(&id), before);
}

fn counts_by_state(d: &mut Desk<'_>) {
    for n in 0..2 {
        d.kill(plain("q", &n.to_string()), "no");
    }
    d.put(plain("q", "running"));
    d.start("q");
    for text in ["head", "blocked", "blocked", "blocked"] {
        d.put(grouped("q", text, "g"));
    }
    d.put(plain("q", "ready"));
    for _ in 0..5 {
        d.put(NewMessage {
            due: Due::After(MINUTE),
            ..plain("q", "later")
        });
    }
    d.put(plain("other", "x"));
    let counts = d.counts("q");
    assert_eq!((counts.ready, counts.delayed, counts.blocked), (2, 5, 3));
    assert_eq!((counts.running, counts.dead), (1, 2));
    d.claim_dead("q", 1, &dead_of("q"), None);
    assert_eq!(d.counts("q"), counts, "a letter that is held is a letter");
    d.advance(1);
    assert_eq!(d.counts("q").ready, 7);
}

fn oldest_ready_is_how_long_it_could_have_run(d: &mut Desk<'_>) {
    d.put(NewMessage {
        due: Due::After(MINUTE * 10),
        ..plain("q", "x")
    });
    assert_eq!(d.report("q").oldest_ready, None);
    d.advance(3);
    d.put(plain("q", "y"));
    d.advance(4);
    let age = d.report("q").oldest_ready.unwrap();
    assert!(age >= MINUTE * 4 && age < MINUTE * 5, "{age:?}");
    d.claim_as("q", |claim| claim.max = 1);
    assert_eq!(d.report("q").oldest_ready, None, "it runs");
    d.advance(9);
    let age = d.report("q").oldest_ready.unwrap();
    assert!(
        age >= MINUTE * 6 && age < MINUTE * 7,
        "since it was due: {age:?}"
    );
}

fn a_queue_is_created_by_set(d: &mut Desk<'_>) {
    let settings = d.db.configure(&q("q"), &Patch::Set(vec![])).unwrap();
    assert_eq!(settings, Settings::default());
    let reports = d.db.stats(None, Depth::Exact).unwrap();
    assert_eq!(reports.len(), 1);
    assert_eq!(reports[0].queue, q("q"));
    assert!(d.claim_all("q").is_empty(), "it is known");
}

fn change_wants_the_queue(d: &mut Desk<'_>) {
    for patch in [
        Patch::Change(vec![Setting::Paused(true)]),
        Patch::Change(vec![]),
        Patch::Remove,
    ] {
        let error = d.db.configure(&q("q"), &patch).unwrap_err();
        assert_eq!(error.kind(), Kind::NotFound);
    }
    assert!(d.db.stats(None, Depth::Names).unwrap().is_empty());
}

fn full() -> Settings {
    Settings {
        max_attempts: Some(9),
        backoff: Ladder::new(vec![
            Duration::from_millis(1_500),
            Duration::from_micros(7),
            Duration::from_hours(5),
        ]),
        lease: Some(Duration::from_secs(90)),
        dedup_window: Some(Window::Forever),
        ttl: Some(Duration::from_hours(24)),
        paused: true,
    }
}

fn patches(settings: &Settings) -> Vec<Setting> {
    vec![
        Setting::MaxAttempts(settings.max_attempts),
        Setting::Backoff(settings.backoff.clone()),
        Setting::Lease(settings.lease),
        Setting::DedupWindow(settings.dedup_window),
        Setting::Ttl(settings.ttl),
        Setting::Paused(settings.paused),
    ]
}

fn settings(d: &mut Desk<'_>) -> Settings {
    let reports = d.db.stats(None, Depth::Names).unwrap();
    reports[0].settings.clone()
}

fn every_setting_is_kept(d: &mut Desk<'_>) {
    d.set("q", Setting::Paused(false));
    for one in patches(&full()) {
        let patch = Patch::Change(vec![one]);
        let now = d.db.configure(&q("q"), &patch).unwrap();
        assert_eq!(settings(d), now, "what is in force");
    }
    assert_eq!(settings(d), full());
    let other = Settings {
        dedup_window: Some(Window::For(Duration::from_secs(1))),
        ..full()
    };
    let patch = Patch::Set(patches(&other));
    assert_eq!(d.db.configure(&q("q"), &patch).unwrap(), other);
    assert_eq!(
        d.other("w2").db.stats(None, Depth::Names).unwrap()[0].settings,
        other
    );
}

fn a_setting_goes_back_to_the_default(d: &mut Desk<'_>) {
    let patch = Patch::Set(patches(&full()));
    d.db.configure(&q("q"), &patch).unwrap();
    for one in patches(&Settings::default()) {
        d.set("q", one);
    }
    assert_eq!(settings(d), Settings::default());
}

fn one_patch_may_set_several(d: &mut Desk<'_>) {
    let patch = Patch::Set(vec![
        Setting::MaxAttempts(Some(1)),
        Setting::Ttl(Some(MINUTE)),
        Setting::MaxAttempts(Some(2)),
    ]);
    let now = d.db.configure(&q("q"), &patch).unwrap();
    assert_eq!((now.max_attempts, now.ttl), (Some(2), Some(MINUTE)));
    assert_eq!(now.lease, None, "the others stay");
}

fn settings_are_of_their_queue(d: &mut Desk<'_>) {
    d.set("a", Setting::MaxAttempts(Some(1)));
    d.set("b", Setting::MaxAttempts(Some(2)));
    let own: Vec<Option<u32>> =
        d.db.stats(None, Depth::Names)
            .unwrap()
            .iter()
            .map(|report| report.settings.max_attempts)
            .collect();
    assert_eq!(own, [Some(1), Some(2)]);
}

fn a_queue_is_removed(d: &mut Desk<'_>) {
    d.set("q", Setting::MaxAttempts(Some(1)));
    d.set("r", Setting::MaxAttempts(Some(1)));
    d.db.configure(&q("q"), &Patch::Remove).unwrap();
    let names = d.db.stats(None, Depth::Names).unwrap();
    assert_eq!(names.len(), 1);
    assert_eq!(names[0].queue, q("r"));
    let error = d.db.configure(&q("q"), &Patch::Remove).unwrap_err();
    assert_eq!(error.kind(), Kind::NotFound);
    let fresh = d.db.configure(&q("q"), &Patch::Set(vec![])).unwrap();
    assert_eq!(fresh, Settings::default(), "nothing is left of it");
}

fn a_queue_with_a_message_is_not_removed(d: &mut Desk<'_>) {
    d.put(plain("q", "x"));
    let refused = |d: &mut Desk<'_>| {
        let error = d.db.configure(&q("q"), &Patch::Remove).unwrap_err();
        assert_eq!(error.kind(), Kind::Refused);
    };
    refused(d);
    let got = d.take("q");
    refused(d);
    d.sure(&got, Verdict::Dead(Reason::Permanent));
    refused(d);
    let got = d.claim_dead("q", 1, &dead_of("q"), None).got.remove(0);
    refused(d);
    d.sure(&got, Verdict::Done);
    d.db.configure(&q("q"), &Patch::Remove).unwrap();
}

fn sweep(d: &mut Desk<'_>) {
    for _ in 0..1_000 {
        if !d
            .db
            .tend(Chore::Sweep, Duration::from_secs(5))
            .unwrap()
            .more
        {
            return;
        }
    }
    panic!("there is always more");
}

fn tending_buries_the_expired(d: &mut Desk<'_>) {
    let mut expiring = vec![];
    for minutes in [1, 2, 3, 60] {
        expiring.push(d.put(NewMessage {
            ttl: Some(Ttl::After(MINUTE * minutes)),
            ..plain("q", "x")
        }));
    }
    let kept = d.put(plain("q", "y"));
    d.advance(3);
    sweep(d);
    for id in &expiring[..3] {
        let letter = d.get(id);
        assert_eq!(letter.state, State::Dead);
        assert_eq!(letter.reason, Some(Reason::Expired));
        assert!(letter.died_at.is_some());
    }
    assert_eq!(d.get(&expiring[3]).state, State::Ready);
    assert_eq!(d.get(&kept).state, State::Ready);
}

fn a_letter_expires_once(d: &mut Desk<'_>) {
    let id = d.put(NewMessage {
        ttl: Some(Ttl::After(MINUTE)),
        ..plain("q", "x")
    });
    let other = d.kill(
        NewMessage {
            ttl: Some(Ttl::After(MINUTE * 3)),
            priority: 1,
            ..plain("q", "y")
        },
        "no",
    );
    d.advance(2);
    sweep(d);
    let before = d.get(&id);
    d.advance(9);
    sweep(d);
    assert_eq!(d.get(&id), before);
    assert_eq!(d.get(&other).reason, Some(Reason::Permanent), "it was dead");
}

fn a_tended_head_frees_the_next(d: &mut Desk<'_>) {
    d.put(NewMessage {
        ttl: Some(Ttl::After(MINUTE)),
        ..grouped("q", "0", "g")
    });
    let next = d.put(grouped("q", "1", "g"));
    d.advance(1);
    sweep(d);
    assert_eq!(d.get(&next).state, State::Ready);
}

fn tending_ends_no_window_early(d: &mut Desk<'_>) {
    d.put(keyed("q", "x", "k"));
    let got = d.take("q");
    d.sure(&got, Verdict::Done);
    d.advance(7 * 24 * 60 - 1);
    sweep(d);
    let stored = d.put_all(&[keyed("q", "y", "k")]);
    assert!(matches!(stored[0], qops::queue::Enqueued::Duplicate(_)));
    d.advance(1);
    sweep(d);
    crate::desk::new_id(&d.put_all(&[keyed("q", "y", "k")])[0]);
}
