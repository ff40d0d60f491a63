//! Clocks.

use super::{World, claim, instant, queue, settle};
use qops::backend::{Settled, Standing, Unit, Verdict};
use qops::queue::{NewMessage, Skew};
use std::time::Duration;

const HOUR: Duration = Duration::from_hours(1);
const YEARS: Duration = Duration::from_hours(10 * 366 * 24);

/// On this store the machine's clock is the store's. A clock that steps forward may hand a message out early: the older
/// receipt is fenced off, and nothing is lost.
#[test]
fn r58_a_clock_that_steps_forward_is_fenced() {
    for step in [HOUR, YEARS] {
        let world = World::new();
        world.run(&["enqueue", "q", "x"]).is(0);
        let ahead = Skew::movable();
        ahead.advance(step);
        let mut here = world.handle("here", Skew::default());
        let mut there = world.handle("there", ahead);
        let first = claim(&mut *here, "q", 1, Duration::from_mins(10)).remove(0);
        let again = claim(&mut *there, "q", 1, Duration::from_mins(10)).remove(0);
        assert_eq!(first.message.id, again.message.id);
        assert!(again.fence > first.fence);
        assert!(again.doubt.is_some(), "the second run knows of the first");
        let lost = settle(&mut *here, &first, Verdict::Done);
        assert_eq!(lost, Settled::LeaseLost(Standing::Leased("there".into())));
        assert_eq!(settle(&mut *there, &again, Verdict::Done), Settled::Yes);
        assert_eq!(settle(&mut *here, &first, Verdict::Done), Settled::Gone);
    }
}

/// A clock that is behind runs nothing early and takes no lease.
#[test]
fn r58_a_clock_that_is_behind_steals_nothing() {
    for step in [HOUR, YEARS] {
        let world = World::new();
        world
            .run(&["enqueue", "q", "--delay", "30m", "later"])
            .is(0);
        world.run(&["enqueue", "q", "now"]).is(0);
        let now = Skew::movable();
        now.advance(step);
        let mut right = world.handle("right", now);
        let mut behind = world.handle("behind", Skew::default());
        let batch = [NewMessage::new(queue("q"), &b"ahead"[..])];
        right.enqueue(&batch, Unit::Each).expect("an enqueue");
        let held = claim(&mut *right, "q", 10, Duration::from_mins(10));
        assert_eq!(held.len(), 3, "for the right clock all is due");
        assert!(claim(&mut *behind, "q", 10, Duration::from_mins(1)).is_empty());
        for got in &held {
            assert_eq!(settle(&mut *right, got, Verdict::Done), Settled::Yes);
        }
    }
}

/// A day of delay is 86,400 seconds, whatever the calendar does.
#[test]
fn r60_a_day_of_delay_is_a_day_of_seconds() {
    let world = World::new();
    for (delay, seconds) in [
        ("24h", 86_400),
        ("1d", 86_400),
        ("1h30m", 5_400),
        ("250ms", 0),
    ] {
        let mut command = world.qops(&["enqueue", "q", "x", "--delay", delay]);
        command.env("TZ", "America/Sao_Paulo");
        let ran = super::ran(command, None).is(0);
        let message = world.show(ran.text().trim());
        let wait = instant(&message["ready_at"]).since(instant(&message["enqueued_at"]));
        assert_eq!(wait.as_secs(), seconds, "{delay}");
    }
}
