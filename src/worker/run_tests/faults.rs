//! The store fails under the worker.

use super::*;

#[test]
fn a_store_that_comes_back_loses_nothing() {
    for kind in [Kind::Unreachable, Kind::Timeout, Kind::Busy] {
        let mut world = World::new();
        world.enqueue("q", &["a", "b", "c", "d"]);
        world.tell(&[
            Fault::Fails(kind),
            Fault::Well,
            Fault::Fails(kind),
            Fault::Fails(kind),
            Fault::Well,
            Fault::Fails(kind),
        ]);
        let plan = world.plan("echo $m >> ran");
        let summary = world.run(&plan);
        assert_eq!((summary.done, summary.ending()), (4, Ending::Clean));
        assert_eq!(sorted(&world.read("ran")), ["a", "b", "c", "d"]);
        assert_eq!(world.told("StoreLost"), world.told("StoreBack"));
        assert!(world.told("StoreBack") >= 2, "{:?}", world.told);
    }
}

#[test]
fn a_lost_answer_makes_no_second_run() {
    // Each exchange of the run has its answer lost once: claims, starts, ends.
    std::thread::scope(|scope| {
        for mute in 0..8 {
            scope.spawn(move || lose_answer(mute));
        }
    });
}

fn lose_answer(number: usize) {
    let mut world = World::new();
    world.enqueue("q", &["a", "fail", "b"]);
    let mut script = vec![Fault::Well; number];
    script.push(Fault::Mute);
    world.tell(&script);
    let mut plan = world.plan("echo $m >> ran; test $m != fail");
    plan.lease = Some(Duration::from_secs(1));
    // A claim whose answer was lost comes back when its lease ends.
    plan.mode = Mode::Wait;
    plan.limits.time = Some(Duration::from_secs(3));
    let summary = world.run(&plan);
    assert_eq!(sorted(&world.read("ran")), ["a", "b", "fail"], "{number}");
    assert_eq!(
        (summary.done, summary.retried, summary.lost),
        (2, 1, 0),
        "{number} {:?}",
        world.told
    );
    assert_eq!(world.counts("q").delayed, 1, "{number}");
    let left = &world.peek("q")[0];
    assert_eq!(left.last_error.as_deref(), Some("exit 1"));
}

#[test]
fn a_store_that_stays_away_ends_the_run_and_its_commands() {
    let mut world = World::new();
    world.enqueue("q", &["quick", "long"]);
    let mut plan = world.plan("echo $m >> ran; test $m = quick || exec sleep 100");
    plan.jobs = 2;
    let script = Arc::clone(&world.script);
    let (ran, open) = (world.path("ran"), world.opener());
    let began = Instant::now();
    let summary = world.run_while(&plan, move |_| {
        wait_for(&ran, "long");
        let mut store = open().unwrap();
        while store.count(&Selection::of(name("q")), 9).unwrap().n > 1 {
            std::thread::sleep(Duration::from_millis(2));
        }
        *script.lock().unwrap() = vec![Fault::Fails(Kind::Unreachable); 10_000];
    });
    assert_eq!(summary.ending(), Ending::Store(Kind::Unreachable));
    assert!(began.elapsed() < Duration::from_secs(20));
    assert_eq!(world.told("StoreLost"), 1);
    assert_eq!(world.counts("q").running, 1, "its lease ends by itself");
}

#[test]
fn a_signal_ends_a_worker_whose_store_is_away() {
    for signals in [1, 2] {
        let mut world = World::new();
        world.enqueue("q", &["x"]);
        let mut plan = world.plan("echo $m >> ran; sleep 0.2");
        plan.mode = Mode::Follow;
        let script = Arc::clone(&world.script);
        let ran = world.path("ran");
        let summary = world.run_while(&plan, move |desk| {
            wait_for(&ran, "x");
            *script.lock().unwrap() = vec![Fault::Fails(Kind::Unreachable); 10_000];
            for _ in 0..signals {
                desk.tell(News::Signal(15));
            }
        });
        let expected = if signals == 1 {
            Ending::Store(Kind::Unreachable)
        } else {
            Ending::Signalled(15)
        };
        assert_eq!(summary.ending(), expected);
        assert_eq!(summary.unsettled, 1);
    }
}

#[test]
fn a_store_that_refuses_for_good_is_asked_once_more_at_the_end() {
    let mut world = World::new();
    world.enqueue("q", &["x", "y"]);
    let mut plan = world.plan("echo $m >> ran; while test ! -e go; do sleep 0.01; done");
    plan.lease = Some(Duration::from_millis(900));
    let script = Arc::clone(&world.script);
    let (ran, go) = (world.path("ran"), world.path("go"));
    let summary = world.run_while(&plan, move |_| {
        wait_for(&ran, "x");
        // The next exchange is the heartbeat.
        *script.lock().unwrap() = vec![Fault::Fails(Kind::Denied)];
        while !script.lock().unwrap().is_empty() {
            std::thread::sleep(Duration::from_millis(2));
        }
        std::fs::write(go, "").unwrap();
    });
    assert_eq!(summary.ending(), Ending::Store(Kind::Denied));
    assert_eq!((summary.done, summary.unsettled), (1, 0));
    assert_eq!(world.counts("q").ready, 1);
    assert_eq!(world.peek("q")[0].attempts, 0);
}

#[test]
fn r55_on_a_full_disk_what_is_done_is_acknowledged_and_nothing_else_is_tried() {
    let mut world = World::new();
    world.enqueue("q", &["good", "bad", "next"]);
    let mut plan =
        world.plan("echo $m >> ran; while test ! -e go; do sleep 0.01; done; test $m = good");
    plan.jobs = 2;
    let script = Arc::clone(&world.script);
    let (ran, go) = (world.path("ran"), world.path("go"));
    let summary = world.run_while(&plan, move |_| {
        wait_for(&ran, "good");
        wait_for(&ran, "bad");
        *script.lock().unwrap() = vec![Fault::Full];
        std::fs::write(go, "").unwrap();
    });
    assert_eq!(summary.ending(), Ending::Store(Kind::Full));
    assert_eq!(
        (summary.done, summary.unsettled),
        (1, 1),
        "{:?}",
        world.told
    );
    let counts = world.counts("q");
    assert_eq!((counts.ready + counts.running, counts.dead), (2, 0));
}

/// What was acknowledged before it ran has nothing to settle: its end is known, and counted.
#[test]
fn on_a_full_disk_the_ends_of_what_was_acknowledged_before_are_counted() {
    let mut world = World::new();
    world.enqueue("q", &["good", "bad", "next"]);
    let mut plan =
        world.plan("echo $m >> ran; while test ! -e go; do sleep 0.01; done; test $m = good");
    plan.jobs = 2;
    plan.promise = Promise::AtMostOnce;
    let script = Arc::clone(&world.script);
    let (ran, go) = (world.path("ran"), world.path("go"));
    let summary = world.run_while(&plan, move |_| {
        wait_for(&ran, "good");
        wait_for(&ran, "bad");
        *script.lock().unwrap() = vec![Fault::Full];
        std::fs::write(go, "").unwrap();
    });
    assert_eq!(summary.ending(), Ending::Store(Kind::Full));
    assert_eq!(
        (summary.done, summary.unsettled),
        (1, 0),
        "{:?}",
        world.told
    );
    let dropped = world.told.iter().filter(|told| told.ends_with("dropped"));
    assert_eq!(dropped.count(), 1, "{:?}", world.told);
    let counts = world.counts("q");
    assert_eq!((counts.ready + counts.running, counts.dead), (1, 0));
}

#[test]
fn r55_a_lost_answer_on_a_full_disk_is_no_lost_message() {
    let mut world = World::new();
    world.enqueue("q", &["good"]);
    let plan = world.plan("echo $m >> ran; while test ! -e go; do sleep 0.01; done");
    let script = Arc::clone(&world.script);
    let (ran, go) = (world.path("ran"), world.path("go"));
    let summary = world.run_while(&plan, move |_| {
        wait_for(&ran, "good");
        *script.lock().unwrap() = vec![Fault::Fails(Kind::Full), Fault::Mute, Fault::Full];
        std::fs::write(go, "").unwrap();
    });
    assert_eq!(
        (summary.done, summary.lost, summary.unsettled),
        (1, 0, 0),
        "{:?}",
        world.told
    );
    world.tell(&[]);
    assert!(world.peek("q").is_empty());
}

#[test]
fn r55_a_worker_that_stays_waits_for_room() {
    let mut world = World::new();
    world.enqueue("q", &["good", "bad", "next"]);
    let mut plan =
        world.plan("echo $m >> ran; while test ! -e go; do sleep 0.01; done; test $m != bad");
    plan.jobs = 2;
    plan.mode = Mode::Follow;
    let (script, open) = (Arc::clone(&world.script), world.opener());
    let (ran, go) = (world.path("ran"), world.path("go"));
    let summary = world.run_while(&plan, move |desk| {
        wait_for(&ran, "good");
        wait_for(&ran, "bad");
        *script.lock().unwrap() = vec![Fault::Full];
        std::fs::write(go, "").unwrap();
        let mut store = open().unwrap();
        let mut left = |n| {
            let began = Instant::now();
            while store.count(&Selection::of(name("q")), 9).unwrap().n != n {
                assert!(began.elapsed() < Duration::from_secs(20), "{n}");
                std::thread::sleep(Duration::from_millis(2));
            }
        };
        left(2);
        // Longer than it is patient with a store that is away, were it to come to an end.
        std::thread::sleep(Duration::from_millis(2500));
        script.lock().unwrap().clear();
        wait_for(&ran, "next");
        left(1);
        desk.tell(News::Signal(15));
    });
    assert_eq!(summary.ending(), Ending::Clean, "{:?}", world.told);
    assert_eq!(
        (summary.done, summary.retried, summary.unsettled),
        (2, 1, 0)
    );
    assert_eq!((world.told("StoreFull"), world.told("Room")), (1, 1));
    assert_eq!(world.counts("q").delayed, 1);
}

#[test]
fn r55_a_signal_ends_a_worker_that_waits_for_room() {
    let mut world = World::new();
    world.enqueue("q", &["bad", "next"]);
    let mut plan = world.plan("echo $m >> ran; while test ! -e go; do sleep 0.01; done; exit 1");
    plan.mode = Mode::Follow;
    let script = Arc::clone(&world.script);
    let (ran, go) = (world.path("ran"), world.path("go"));
    let began = Instant::now();
    let summary = world.run_while(&plan, move |desk| {
        wait_for(&ran, "bad");
        *script.lock().unwrap() = vec![Fault::Full];
        std::fs::write(go, "").unwrap();
        while desk.load().busy > 0 {
            std::thread::sleep(Duration::from_millis(2));
        }
        std::thread::sleep(Duration::from_millis(100));
        desk.tell(News::Signal(15));
    });
    assert_eq!(summary.ending(), Ending::Store(Kind::Full));
    assert_eq!((summary.done, summary.unsettled), (0, 1));
    assert!(began.elapsed() < Duration::from_secs(10));
}
