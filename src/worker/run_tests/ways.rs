//! What is taken, in which order, and when it is enough.

use super::*;

#[test]
fn what_the_exit_map_gives_back_is_left_to_others() {
    let mut world = World::new();
    world.enqueue("q", &["not-me", "a", "not-me-either", "b"]);
    let mut plan = world.plan("echo $m >> ran; case $m in not*) exit 4;; esac");
    plan.exit_map = "4=release".parse().unwrap();
    plan.jobs = 1;
    let began = Instant::now();
    let summary = world.run(&plan);
    // Not only at the next beat of a lease.
    assert!(began.elapsed() < Duration::from_secs(10));
    assert_eq!(
        (summary.done, summary.released, summary.ending()),
        (2, 2, Ending::Clean)
    );
    assert_eq!(
        sorted(&world.read("ran")),
        ["a", "b", "not-me", "not-me-either"]
    );
    let left = world.peek("q");
    assert_eq!(left.len(), 2);
    assert!(
        left.iter()
            .all(|one| one.state == State::Ready && one.attempts == 0)
    );
}

/// What is set aside is held, and its number has a bound: a run that reaches it ends, and says so.
#[test]
fn a_run_that_set_too_much_aside_says_that_it_did_not_look_behind_it() {
    for (most_aside, done, told) in [(3, 0, 1), (4, 2, 0)] {
        let mut world = World::new();
        world.most_aside = most_aside;
        world.enqueue("q", &["not-1", "not-2", "not-3", "a", "b"]);
        let mut plan = world.plan("echo $m >> ran; case $m in not*) exit 4;; esac");
        plan.exit_map = "4=release".parse().unwrap();
        plan.prefetch = Some(0);
        let summary = world.run(&plan);
        assert_eq!(
            (summary.done, summary.released, summary.ending()),
            (done, 3, Ending::Clean)
        );
        assert_eq!(world.told("AsideFull"), told, "{:?}", world.told);
        let left = world.peek("q");
        assert_eq!(left.len() as u64, 5 - done);
        assert!(
            left.iter()
                .all(|one| one.state == State::Ready && one.attempts == 0)
        );
    }
}

#[test]
fn at_most_once_is_acknowledged_before_it_runs() {
    let mut world = World::new();
    world.enqueue("q", &["a", "fail", "c"]);
    let mut plan = world.plan(
        "sqlite3 q.db 'SELECT count(*) FROM qops_message WHERE state = 1' >> held; test $m != fail",
    );
    plan.promise = Promise::AtMostOnce;
    let summary = world.run(&plan);
    assert_eq!(
        (summary.done, summary.dead, summary.ending()),
        (2, 0, Ending::Clean)
    );
    assert!(world.told.iter().any(|told| told.ends_with("dropped")));
    assert!(world.peek("q").is_empty());

    // What was acknowledged runs, even if the worker is told to stop before it does.
    world.enqueue("q", &["1", "2", "3", "4"]);
    let mut plan = world.plan("echo $m >> ran; while test ! -e go; do sleep 0.01; done");
    plan.promise = Promise::AtMostOnce;
    plan.jobs = 2;
    let (ran, go) = (world.path("ran"), world.path("go"));
    world.run_while(&plan, move |desk| {
        wait_for(&ran, "1");
        desk.tell(News::Signal(2));
        std::fs::write(go, "").unwrap();
    });
    let ran = world.read("ran").lines().count();
    assert_eq!(ran + world.peek("q").len(), 4, "none is gone unrun");
}

#[test]
fn limits_stop_as_a_signal_does() {
    let mut world = World::new();
    world.enqueue("q", &["1", "2", "3", "4", "5", "6", "7", "8"]);
    let mut plan = world.plan("echo $m >> ran");
    plan.limits.messages = Some(2);
    plan.jobs = 4;
    let summary = world.run(&plan);
    assert!(matches!(summary.why, Why::Messages));
    assert_eq!((summary.done, summary.ending()), (2, Ending::Clean));
    assert_eq!(world.counts("q").ready, 6);

    plan.limits.messages = None;
    plan.mode = Mode::Once;
    assert_eq!(world.run(&plan).done, 1);
    assert_eq!(world.counts("q").ready, 5);

    let mut plan = world.plan("exit 99");
    plan.jobs = 1;
    let summary = world.run(&plan);
    assert!(matches!(summary.why, Why::Asked));
    assert_eq!(summary.done, 1);
    assert_eq!(world.counts("q").ready, 4);

    let mut plan = world.plan("exit 1");
    // With more at once another may have begun before the second has ended.
    plan.jobs = 1;
    plan.limits.failures = Some(2);
    let summary = world.run(&plan);
    assert_eq!((summary.retried, summary.ending()), (2, Ending::LeftDead));
    let counts = world.counts("q");
    assert_eq!((counts.ready, counts.delayed), (2, 2));

    let mut plan = world.plan("sleep 100");
    plan.limits.time = Some(Duration::from_millis(200));
    plan.grace = Duration::from_millis(100);
    let summary = world.run(&plan);
    assert!(matches!(summary.why, Why::Time));
    assert_eq!(
        summary.ending(),
        Ending::Signalled(15),
        "its commands were ended"
    );
    assert_eq!(world.counts("q").ready, 2);
    assert!(world.peek("q").iter().all(|one| one.attempts <= 1));
}

/// A short command beside a long one is settled at once, not when something else has to be.
#[test]
fn an_end_does_not_wait_for_a_long_neighbour() {
    let mut world = World::new();
    let ids = world.enqueue("q", &["long", "short"]);
    let mut plan = world.plan("test $m = short || while test ! -e go; do sleep 0.01; done");
    plan.jobs = 2;
    let (open, go) = (world.opener(), world.path("go"));
    let began = Instant::now();
    let summary = world.run_while(&plan, move |_| {
        let mut store = open().unwrap();
        let what = Selection {
            ids: Some(vec![ids[1].clone()]),
            ..Selection::of(name("q"))
        };
        while store.count(&what, 10).unwrap().n > 0 {
            assert!(began.elapsed() < Duration::from_secs(15));
            std::thread::sleep(Duration::from_millis(5));
        }
        std::fs::write(go, "").unwrap();
    });
    assert_eq!(summary.done, 2);
    assert!(began.elapsed() < Duration::from_secs(10));
}

/// A message whose worker died in its first run of two; its lease ends in a second.
fn put_doubt(world: &World) -> Vec<MessageId> {
    let ids = world.enqueue("q", &["doubt"]);
    let queue = name("q");
    let claim = Claim {
        queue: &queue,
        max: 1,
        bytes: 1 << 20,
        lease: Duration::from_secs(1),
        start: true,
        max_attempts: 2,
        pick: Pick::Ready,
    };
    let turn = Exchange {
        settle: &[],
        claim: Some(claim),
    };
    let exchanged = world.store().exchange(&turn).unwrap();
    assert_eq!(exchanged.claimed.unwrap().got.len(), 1);
    ids
}

/// What was started by its claim and set aside is started already when its turn comes again: not beside a message that
/// takes its neighbours with it.
#[test]
fn what_was_set_aside_does_not_begin_beside_one_that_runs_alone() {
    let mut world = World::new();
    put_doubt(&world);
    let id = world.enqueue("q", &["aside"]).remove(0);
    let mut plan = world.plan(
        "echo + $m >> log; case $m in
         doubt) sleep 2;;
         *) test -e seen || { touch seen; echo - $m >> log; exit 4; };;
         esac; echo - $m >> log",
    );
    plan.exit_map = "4=release".parse().unwrap();
    plan.mode = Mode::Wait;
    plan.jobs = 2;
    plan.max_attempts = Some(2);
    let (open, skew) = (world.opener(), world.skew.clone());
    let summary = world.run_while(&plan, move |_| {
        let mut store = open().unwrap();
        let what = Selection {
            ids: Some(vec![id]),
            ..Selection::of(name("q"))
        };
        // Once it is claimed again nothing else is there to claim; then the other comes back.
        let page = Page::first(1, crate::queue::Order::Oldest);
        while store.peek(&what, &page).unwrap().rows[0].deliveries < 2 {
            std::thread::sleep(Duration::from_millis(2));
        }
        skew.advance(Duration::from_secs(2));
        let ring = NewMessage::new(name("other"), b"".as_slice());
        store.enqueue(&[ring], Unit::Each).unwrap();
    });
    assert_eq!((summary.done, summary.released), (2, 1));
    let log = world.read("log");
    assert!(log.contains("+ doubt\n- doubt\n"), "{log}");
}

/// The last start of a message whose worker died runs without neighbours.
#[test]
fn r10_a_message_in_doubt_runs_alone() {
    let mut world = World::new();
    let ids = put_doubt(&world);
    world.skew.advance(Duration::from_secs(2));
    world.enqueue("q", &["1", "2", "3", "4", "5", "6"]);
    let mut plan = world.plan("echo + $m >> log; sleep 0.05; echo - $m >> log");
    plan.jobs = 3;
    plan.max_attempts = Some(2);
    let summary = world.run(&plan);
    assert_eq!(summary.done, 7);
    let log = world.read("log");
    let lines: Vec<&str> = log.lines().collect();
    let at = lines.iter().position(|line| *line == "+ doubt").unwrap();
    assert_eq!(lines[at + 1], "- doubt", "{log} {ids:?}");
    let open = lines[..at]
        .iter()
        .filter(|line| line.starts_with('+'))
        .count()
        * 2;
    assert_eq!(open, at, "all before it had ended: {log}");
}

#[test]
fn several_queues_take_turns_and_a_paused_one_gives_nothing() {
    let mut world = World::new();
    let many: Vec<String> = (0..60).map(|n| format!("a{n}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    world.enqueue("a", &many);
    world.enqueue("b", &["b1", "b2"]);
    world.enqueue("c", &["c1"]);
    world
        .store()
        .configure(&name("c"), &Patch::Change(vec![Setting::Paused(true)]))
        .unwrap();
    let mut plan = world.plan("echo $m >> ran");
    plan.source = Source::Ready(vec![name("a"), name("b"), name("c")]);
    let summary = world.run(&plan);
    assert_eq!((summary.done, summary.ending()), (62, Ending::Clean));
    let ran = world.read("ran");
    let last_b = ran.lines().position(|line| line == "b2").unwrap();
    assert!(
        last_b < 30,
        "b waits for no more than a turn of a: {last_b}"
    );
    assert_eq!(world.told("Paused"), 1);
    assert_eq!(world.counts("c").ready, 1);
}

#[test]
fn what_expires_while_it_waits_is_not_started() {
    let mut world = World::new();
    let mut late = NewMessage::new(name("q"), b"late".as_slice());
    late.ttl = Some(crate::queue::Ttl::After(Duration::from_millis(300)));
    let batch = [NewMessage::new(name("q"), b"slow".as_slice()), late];
    world.store().enqueue(&batch, Unit::Each).unwrap();
    let mut plan = world.plan("echo $m >> ran; sleep 0.5");
    plan.prefetch = Some(5);
    let summary = world.run(&plan);
    assert_eq!(world.read("ran"), "slow\n");
    assert_eq!((summary.done, summary.dead), (1, 1));
    assert_eq!(world.peek("q")[0].reason, Some(Reason::Expired));
}

/// A filter that passes over many letters needs many claims; a signal is heard between two of them.
#[test]
fn a_signal_is_heard_while_a_walk_over_letters_finds_nothing() {
    let mut world = World::new();
    let text = "x".repeat(1 << 20);
    world.enqueue("q", &vec![text.as_str(); 15]);
    world.run(&world.plan("exit 65"));
    assert_eq!(world.counts("q").dead, 15);
    let mut plan = world.plan("echo $m >> ran");
    plan.source = Source::Dead(Selection {
        grep: Some("needle".to_owned()),
        ..Selection::of(name("q"))
    });
    world.tell(&[Fault::Slow; 100]);
    let script = Arc::clone(&world.script);
    let summary = world.run_while(&plan, move |desk| {
        while script.lock().unwrap().len() > 97 {
            std::thread::sleep(Duration::from_millis(2));
        }
        desk.tell(News::Signal(15));
    });
    assert!(matches!(summary.why, Why::Signal(15)), "{:?}", summary.why);
    let left = world.script.lock().unwrap().len();
    assert!(left > 89, "{left}");
}

#[test]
fn settings_of_all_queues_are_asked_for_at_once() {
    let mut world = World::new();
    for (missing, asked) in [(None, 4), (Some(name("none")), 9)] {
        for queue in ["a", "b", "c"] {
            world.enqueue(queue, &["x"]);
        }
        let mut plan = world.plan("true");
        let queues = ["a", "b", "c"].map(name).into_iter().chain(missing);
        plan.source = Source::Ready(queues.collect());
        plan.missing = Missing::Empty;
        world.asked.store(0, Ordering::Relaxed);
        assert_eq!(world.run(&plan).done, 3);
        // Each at the beginning, and all at the end; where one is not there, each again after that.
        assert_eq!(world.asked.load(Ordering::Relaxed), asked);
    }
}
