use super::*;
use crate::queue::{MessageId, QueueName};

const NOW: &str = "2026-12-01T02:42:09.000000Z";

fn at(text: &str) -> Timestamp {
    Timestamp::parse(text).unwrap()
}

fn run(n: u32, started: &str, worker: &str, millis: u64, exit: i32, error: &str) -> Attempt {
    Attempt {
        delivery: n.into(),
        attempt: n,
        started_at: at(started),
        took: Some(Duration::from_millis(millis)),
        worker: worker.to_owned(),
        outcome: Outcome::Failed,
        exit: Some(exit),
        signal: None,
        error: Some(error.to_owned()),
        stderr: format!("{error}\n").into_bytes(),
    }
}

fn message() -> Message {
    Message {
        id: MessageId::from("88120"),
        queue: QueueName::parse("orders").unwrap(),
        state: State::Dead,
        payload: br#"{"order":7781,"cnpj":"12.345.678/0001-0x"}"#.to_vec(),
        attempts: 2,
        max_attempts: None,
        priority: 0,
        key: Some("order:7781".to_owned()),
        group: None,
        headers: vec![],
        enqueued_at: at("2026-12-01T02:11:00.000000Z"),
        ready_at: None,
        expires_at: None,
        lease_until: None,
        worker: None,
        started_at: None,
        died_at: Some(at("2026-12-01T02:11:09.000000Z")),
        reason: Some(Reason::Permanent),
        last_error: Some("invalid CNPJ".to_owned()),
        replays: 0,
        deferrals: 0,
        deliveries: 2,
        history: vec![
            run(
                1,
                "2026-12-01T02:11:03.120000Z",
                "pay-3:4121",
                1400,
                1,
                "stripe: 429 Too Many Requests",
            ),
            Attempt {
                outcome: Outcome::Permanent,
                ..run(
                    2,
                    "2026-12-01T02:11:08.544000Z",
                    "pay-1:3377",
                    200,
                    65,
                    "invalid CNPJ",
                )
            },
        ],
    }
}

fn text(message: &Message, verbose: bool) -> String {
    let view = View {
        now: at(NOW),
        width: Some(80),
        program: "qops",
        verbose,
    };
    let mut text = String::new();
    for line in lines(message, &view) {
        let line: String = line.iter().map(|(_, piece)| piece.as_str()).collect();
        text += line.trim_end();
        text.push('\n');
    }
    text
}

#[test]
fn a_dead_letter_says_why_and_what_comes_next() {
    assert_eq!(
        text(&message(), false),
        "88120  orders  DEAD (exit 65: permanent) 31m ago   key order:7781\n\
         payload    42 B JSON  {\"order\":7781,\"cnpj\":\"12.345.678/0001-0x\"}\n\
         times      enqueued 02:11:00.000Z (31m9s ago)\n\
         counts     2 attempts\n\
         attempt 1  02:11:03.120Z  worker pay-3:4121  1.4s  exit 1   stripe: 429 Too Many Requests\n\
         attempt 2  02:11:08.544Z  worker pay-1:3377  0.2s  exit 65  invalid CNPJ\n\
         next       qops requeue orders 88120 · qops purge orders 88120\n"
    );
}

#[test]
fn a_run_of_a_drain_is_no_attempt_and_does_not_say_why_it_died() {
    let mut message = message();
    let mut drained = run(2, "2026-12-01T02:12:00.000000Z", "ops:1", 100, 3, "later");
    drained.delivery = 3;
    message.history.push(drained);
    message.last_error = Some("later".to_owned());
    let text = text(&message, false);
    assert!(text.contains("DEAD (exit 65: permanent)"), "{text}");
    assert!(
        text.contains("\ndrain      02:12:00.000Z  worker ops:1       0.1s  exit 3   later\n"),
        "{text}"
    );
    assert!(!text.contains("\nerror "), "{text}");
}

#[test]
fn an_error_that_no_run_said_is_shown() {
    let mut message = message();
    message.history.clear();
    message.last_error = Some("said by nack".to_owned());
    let text = text(&message, false);
    assert!(text.contains("\nerror      said by nack\n"), "{text}");
}

#[test]
fn what_the_command_said_stands_below_its_last_run() {
    let mut message = message();
    let many: Vec<String> = (1..=30).map(|n| format!("line {n}\u{1b}[2J")).collect();
    message.history[1].stderr = many.join("\n").into_bytes();
    message.history[0].stderr = b"first\nof several\n".to_vec();
    let short = text(&message, false);
    assert!(short.contains("  | … 10 lines before; all with -v or -o json\n  | line 11\\x1b[2J\n"));
    assert!(!short.contains("of several") && short.contains("  | line 30"));
    let long = text(&message, true);
    assert!(long.contains("  | of several") && long.contains("  | line 1\\x1b[2J\n"));
}

#[test]
fn every_state_says_why_it_stands_there() {
    let mut message = message();
    let check = |message: &Message, first: &str, next: &str| {
        let text = text(message, false);
        assert!(text.lines().next().unwrap().contains(first), "{text}");
        assert!(text.lines().last().unwrap().contains(next), "{text}");
    };
    for (reason, first) in [
        (Reason::Attempts, "DEAD (after 2 attempts) 31m ago"),
        (Reason::Permanent, "DEAD (exit 65: permanent)"),
        (Reason::WorkerLost, "its worker was lost"),
        (Reason::Temporary, "exit 65: temporary"),
        (Reason::Expired, "time to live passed"),
        (Reason::Nacked, "nacked as dead"),
        (Reason::UnusableArgument, "cannot be an argument"),
    ] {
        message.reason = Some(reason);
        check(&message, first, "qops requeue orders 88120");
    }
    (message.died_at, message.reason) = (None, None);
    message.state = State::Ready;
    message.ready_at = Some(at("2026-12-01T02:42:05.000000Z"));
    check(&message, "READY for 4s", "qops purge orders 88120");
    message.state = State::Delayed;
    message.ready_at = Some(at("2026-12-01T02:42:09.200000Z"));
    check(
        &message,
        "waits for its next try), due in 1s",
        "makes it due now",
    );
    message.state = State::Blocked;
    message.group = Some(Group::from("customer 7"));
    check(&message, "BLOCKED", "peek orders --group 'customer 7'");
    message.state = State::Running;
    message.worker = Some("w:1".to_owned());
    message.lease_until = Some(at("2026-12-01T02:42:39.000000Z"));
    check(&message, "by w:1, leased for 30s more", "show 88120");
    message.lease_until = Some(at("2026-12-01T02:42:00.000000Z"));
    check(&message, "lease by w:1 ended 9s ago", "show 88120");
}

#[test]
fn another_day_is_named() {
    let now = at(NOW);
    assert_eq!(
        instant(at("2026-11-30T23:59:59.999999Z"), now),
        "2026-11-30 23:59:59.999Z"
    );
    assert_eq!(
        instant(at("2026-12-01T00:00:00.000001Z"), now),
        "00:00:00.000Z"
    );
}

#[test]
fn names_that_a_shell_would_read_otherwise_are_quoted() {
    let mut message = message();
    message.queue = QueueName::parse("';drop").unwrap();
    let text = text(&message, false);
    assert!(text.contains("qops purge ''\\'';drop' 88120"), "{text}");
}
