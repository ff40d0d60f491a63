use super::error::ErrorStyle;
use super::text::is_dangerous;
use super::*;
use crate::queue::{Message, MessageId, QueueName, State, Timestamp};
use std::collections::HashMap;
use std::sync::Arc;

/// What was written, for a test to read.
#[derive(Clone, Default)]
pub(crate) struct Captured(Arc<Mutex<Vec<u8>>>);

impl Captured {
    pub(crate) fn take(&self) -> String {
        let bytes = std::mem::take(&mut *self.0.lock().unwrap());
        String::from_utf8(bytes).unwrap()
    }

    fn bytes(&self) -> Vec<u8> {
        self.0.lock().unwrap().clone()
    }
}

impl Write for Captured {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A Ui of a test: every stream is a terminal, or none is.
pub(crate) fn captured(terminal: bool, width: usize) -> (Ui, Captured, Captured) {
    captured_with(terminal, width, Color::Never, Loudness::Normal)
}

pub(crate) fn captured_with(
    terminal: bool,
    width: usize,
    color: Color,
    loudness: Loudness,
) -> (Ui, Captured, Captured) {
    let (out, err) = (Captured::default(), Captured::default());
    let columns = width.to_string();
    let streams = Streams {
        stdin: terminal,
        stdout: terminal,
        stderr: terminal,
        width: terminal.then_some(width),
        var: &|name| (name == "COLUMNS").then(|| columns.clone().into()),
    };
    let ui = Ui::new(
        color,
        loudness,
        &streams,
        Box::new(out.clone()),
        Box::new(err.clone()),
    );
    (ui, out, err)
}

fn message(id: &str, payload: &[u8]) -> Message {
    Message {
        id: MessageId::from(id),
        queue: QueueName::parse("jobs").unwrap(),
        state: State::Ready,
        payload: payload.to_vec(),
        attempts: 0,
        max_attempts: None,
        priority: 0,
        key: None,
        group: None,
        headers: vec![],
        enqueued_at: Timestamp(0),
        ready_at: None,
        expires_at: None,
        lease_until: None,
        worker: None,
        started_at: None,
        died_at: None,
        reason: None,
        last_error: None,
        replays: 0,
        deferrals: 0,
        deliveries: 0,
        history: vec![],
    }
}

fn put(
    terminal: bool,
    format: Format,
    fields: &[&str],
    shape: Shape,
    rows: &[Message],
) -> Result<Vec<u8>, Usage> {
    let (ui, out, _) = captured(terminal, 80);
    let fields: Vec<String> = fields.iter().map(|&field| field.to_owned()).collect();
    let plan = Plan::new::<Message>(&ui, Some(format), &fields, Natural::Records, shape)?;
    let columns = vec![
        Column::new("ID", Align::Right, Fit::Whole, |row: &Message| {
            Cell::new(Shown::new(&row.id))
        }),
        Column::new("PAYLOAD", Align::Left, Fit::Cut, |row: &Message| {
            Cell::new(Shown::preview(&row.payload, 60))
        }),
    ];
    let mut stream = Stream::new(&ui, plan.unwrap(), columns);
    for row in rows {
        stream.push(row).unwrap();
    }
    assert_eq!(stream.finish().unwrap(), rows.len() as u64);
    Ok(out.bytes())
}

fn text(terminal: bool, format: Format, fields: &[&str], rows: &[Message]) -> String {
    let bytes = put(terminal, format, fields, Shape::Many, rows).unwrap();
    String::from_utf8(bytes).unwrap()
}

#[test]
fn colour_is_decided_by_flag_then_environment_then_terminal() {
    let decide = |color, terminal, vars: &[(&str, &str)]| {
        let vars: HashMap<&str, &str> = vars.iter().copied().collect();
        let streams = Streams {
            stdin: terminal,
            stdout: terminal,
            stderr: terminal,
            width: None,
            var: &|name| vars.get(name).map(|value| (*value).into()),
        };
        Decided::decide(color, Loudness::Normal, &streams).color_out
    };
    for (color, terminal, vars, want) in [
        (Color::Auto, true, &[][..], true),
        (Color::Auto, false, &[], false),
        (Color::Auto, true, &[("NO_COLOR", "1")], false),
        (Color::Auto, true, &[("NO_COLOR", "")], true),
        (Color::Auto, false, &[("CLICOLOR_FORCE", "1")], true),
        (Color::Auto, false, &[("CLICOLOR_FORCE", "0")], false),
        (
            Color::Auto,
            true,
            &[("NO_COLOR", "1"), ("CLICOLOR_FORCE", "1")],
            false,
        ),
        (Color::Auto, true, &[("TERM", "dumb")], false),
        (Color::Auto, true, &[("TERM", "xterm")], true),
        (Color::Always, false, &[("NO_COLOR", "1")], true),
        (Color::Never, true, &[("CLICOLOR_FORCE", "1")], false),
    ] {
        assert_eq!(decide(color, terminal, vars), want, "{color:?} {vars:?}");
    }
}

#[test]
fn the_width_is_the_terminals_or_columns_or_any() {
    for (terminal, told, columns, want) in [
        (true, Some(132), None, Some(132)),
        (true, Some(132), Some("40"), Some(132)),
        (true, None, Some("40"), Some(40)),
        (true, None, None, Some(80)),
        (true, Some(3), None, Some(20)),
        (false, None, Some("40"), Some(40)),
        (false, None, Some("0"), None),
        (false, None, Some("wide"), None),
        (false, None, None, None),
    ] {
        let streams = Streams {
            stdin: terminal,
            stdout: terminal,
            stderr: terminal,
            width: told,
            var: &|name| {
                columns
                    .filter(|_| name == "COLUMNS")
                    .map(|value: &str| value.into())
            },
        };
        let decided = Decided::decide(Color::Auto, Loudness::Normal, &streams);
        assert_eq!(decided.width, want, "{told:?} {columns:?}");
    }
}

#[test]
fn what_is_said_depends_on_loudness_and_terminal() {
    let all = |terminal, loudness| {
        let (ui, out, err) = captured_with(terminal, 80, Color::Never, loudness);
        ui.say("say");
        ui.tell("tell");
        ui.note("note");
        ui.warn("warn\u{1b}[2J");
        ui.detail("detail");
        ui.error(
            &Problem {
                code: 6,
                kind: "not_found".to_owned(),
                message: "no queue 'a\u{9b}'".to_owned(),
                hints: vec!["did you mean 'b'?".to_owned()],
                effect: None,
            },
            ErrorStyle::Text,
        );
        assert_eq!(out.take(), "");
        err.take()
    };
    let error = "qops: no queue 'a\\x9b'\nhint: did you mean 'b'?\n";
    let common = "tell\nqops: note\nqops: warning: warn\\x1b[2J\n";
    assert_eq!(all(true, Loudness::Normal), format!("say\n{common}{error}"));
    assert_eq!(all(false, Loudness::Normal), format!("{common}{error}"));
    assert_eq!(all(true, Loudness::Quiet), error);
    assert_eq!(
        all(false, Loudness::Verbose),
        format!("{common}qops: detail\n{error}")
    );
}

#[test]
fn an_error_can_be_a_record() {
    let (ui, _, err) = captured(true, 80);
    ui.error(
        &Problem {
            code: 8,
            kind: "busy".to_owned(),
            message: "busy \"x\" \u{9b}".to_owned(),
            hints: vec![],
            effect: Some("unknown"),
        },
        ErrorStyle::Json,
    );
    assert_eq!(
        err.take(),
        "{\"v\":1,\"error\":{\"code\":8,\"kind\":\"busy\",\"message\":\"busy \\\"x\\\" \\u009b\",\"effect\":\"unknown\"}}\n"
    );
}

#[test]
fn json_is_one_value() {
    let rows = [message("1", b"{\"a\":1}"), message("2", b"x")];
    for count in 0..=2 {
        let json = text(false, Format::Json, &[], &rows[..count]);
        let value: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert_eq!(value.as_array().unwrap().len(), count);
        assert!(json.ends_with("]\n"));
    }
    let one = put(false, Format::Json, &[], Shape::One, &rows[..1]).unwrap();
    let value: serde_json::Value = serde_json::from_slice(&one).unwrap();
    assert_eq!(value["payload"]["a"], 1);
    let lines = text(false, Format::Ndjson, &[], &rows);
    assert_eq!(lines.lines().count(), 2);
    for line in lines.lines() {
        let value: serde_json::Value = serde_json::from_str(line).unwrap();
        assert_eq!(value["v"], 1);
    }
}

#[test]
fn fields_come_in_the_order_asked_and_a_payload_with_its_other_form() {
    let rows = [message("1", b"\xff"), message("2", b"t")];
    assert_eq!(
        text(false, Format::Ndjson, &["payload", "id"], &rows),
        "{\"payload_b64\":\"/w==\",\"id\":\"1\"}\n{\"payload\":\"t\",\"id\":\"2\"}\n"
    );
    assert_eq!(
        text(false, Format::Csv, &["id", "payload"], &rows),
        "id,payload,payload_b64\n1,,/w==\n2,t,\n"
    );
    assert_eq!(
        text(false, Format::Table, &["id", "payload"], &rows),
        "id  payload\n1   \\xff\n2   t\n"
    );
    let error = put(false, Format::Ndjson, &["paylod"], Shape::Many, &[]).unwrap_err();
    let hint = error.hint.unwrap().to_string();
    assert!(
        hint.starts_with("did you mean 'payload'?\nthe fields are v, id, queue,"),
        "{hint}"
    );
}

#[test]
fn tables_of_values_are_quoted() {
    let rows = [
        message("1", b"a,b \"c\"\nd"),
        message("2", b" s\t\\"),
        message("3", b""),
    ];
    assert_eq!(
        text(false, Format::Csv, &["id", "payload"], &rows),
        "id,payload,payload_b64\n1,\"a,b \"\"c\"\"\nd\",\n2,\" s\t\\\",\n3,,\n"
    );
    assert_eq!(
        text(false, Format::Tsv, &["id", "payload"], &rows),
        "id\tpayload\tpayload_b64\n1\ta,b \"c\"\\nd\t\n2\t s\\t\\\\\t\n3\t\t\n"
    );
    let all = text(false, Format::Csv, &[], &[]);
    assert!(all.starts_with("v,id,queue,state,payload,payload_b64,") && !all.contains("history"));
}

#[test]
fn raw_is_the_bytes_of_one_and_lines_of_several_and_never_for_a_terminal() {
    let rows = [
        message("1", b"\xff\n"),
        message("2", b"b"),
        message("3", b"c"),
    ];
    let raw = |n: usize| put(false, Format::Raw, &[], Shape::Many, &rows[..n]).unwrap();
    assert_eq!(raw(0), b"");
    assert_eq!(raw(1), b"\xff\n");
    assert_eq!(raw(2), b"\xff\n\nb\n");
    assert_eq!(raw(3), b"\xff\n\nb\nc\n");
    assert!(put(true, Format::Raw, &[], Shape::Many, &rows).is_err());
    assert!(put(false, Format::Raw, &["id"], Shape::Many, &rows).is_err());
}

#[test]
fn a_verb_has_its_natural_format() {
    use Format::{Json, Ndjson, Table};
    use Natural::{Nothing, Records, Text};
    let plan = |terminal, asked, fields: &[&str], natural| {
        let (ui, _, _) = captured(terminal, 80);
        let fields: Vec<String> = fields.iter().map(|&field| field.to_owned()).collect();
        Plan::new::<Message>(&ui, asked, &fields, natural, Shape::Many)
            .map(|plan| plan.map(|plan| plan.format()))
            .ok()
    };
    assert_eq!(plan(true, None, &[], Records), Some(Some(Table)));
    assert_eq!(plan(false, None, &[], Records), Some(Some(Ndjson)));
    assert_eq!(plan(false, Some(Table), &[], Records), Some(Some(Table)));
    assert_eq!(plan(true, None, &[], Text), Some(None));
    assert_eq!(plan(true, Some(Table), &[], Text), Some(None));
    assert_eq!(plan(true, Some(Json), &[], Text), Some(Some(Json)));
    assert_eq!(plan(true, None, &[], Nothing), Some(None));
    assert_eq!(plan(true, Some(Json), &[], Nothing), Some(Some(Json)));
    assert_eq!(plan(true, None, &["id"], Nothing), None);
    assert_eq!(plan(true, None, &["id"], Text), None);
}

#[test]
fn r83_nothing_dangerous_reaches_a_terminal_in_any_format() {
    let all: String = ('\0'..'\u{2100}').collect();
    let mut row = message("1", "{\"a\":\"\u{7f}\u{9b}\u{202e}\",\t\"b\":1}".as_bytes());
    row.id = MessageId::from(all.as_str());
    row.key = Some(all.clone());
    row.last_error = Some(all.clone());
    row.headers = vec![(all.clone(), all.clone())];
    let texts = message("2", all.as_bytes());
    for format in Format::ALL.iter().filter(|format| **format != Format::Raw) {
        for fields in [&[][..], &["id", "key", "headers", "last_error", "payload"]] {
            if *format == Format::Id && !fields.is_empty() {
                continue;
            }
            let text = text(true, *format, fields, &[row.clone(), texts.clone()]);
            let separators: &[char] = if *format == Format::Tsv {
                &['\n', '\t']
            } else {
                &['\n']
            };
            let bad = text
                .chars()
                .find(|c| is_dangerous(*c) && !separators.contains(c));
            assert_eq!(bad, None, "{format} {fields:?}");
            // Lines that a payload made would be more than the rows and what a table breaks.
            if format.is_json() || *format == Format::Id {
                assert_eq!(text.lines().count(), 2, "{format}");
            }
        }
    }
    // A human format is as safe in a pipe.
    let piped = text(false, Format::Table, &[], &[row, texts]);
    assert!(!piped.replace('\n', "").contains(is_dangerous));
}

#[test]
fn a_table_fits_the_width_and_keeps_its_columns() {
    let rows = [
        message("1", "漢字".repeat(60).as_bytes()),
        message("200000", b"short"),
        message(
            "3",
            "e\u{301}👍👨\u{200d}👩\u{200d}👧".repeat(30).as_bytes(),
        ),
    ];
    for width in [20, 40, 60, 80] {
        let (ui, out, _) = captured(false, width);
        let head = |title, align, fit| super::table::Head {
            title,
            align,
            fit,
            optional: false,
        };
        let heads = vec![
            head("ID", Align::Right, Fit::Whole),
            head("PAYLOAD", Align::Left, Fit::Cut),
        ];
        let mut table = Table::new(&ui, heads);
        for row in &rows {
            let payload = Cell::new(Shown::preview(&row.payload, 200)).tone(Tone::Bad);
            table
                .row(vec![Cell::new(Shown::new(&row.id)), payload])
                .unwrap();
        }
        table.finish().unwrap();
        ui.flush().unwrap();
        let text = out.take();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 4, "{text}");
        assert_eq!(lines[0], "    ID  PAYLOAD");
        assert!(lines[1].starts_with("     1  漢"));
        assert_eq!(lines[2], "200000  short");
        for line in lines {
            let shown = unicode_width::UnicodeWidthStr::width(line);
            assert!(shown <= width, "{shown} > {width}: {line}");
            assert_eq!(line.trim_end(), line);
        }
    }
}

#[test]
fn a_column_that_may_not_be_cut_is_broken_into_lines() {
    let (ui, out, _) = captured(false, 20);
    let heads = ["A", "B"].map(|title| super::table::Head {
        title,
        align: Align::Left,
        fit: Fit::Whole,
        optional: false,
    });
    let mut table = Table::new(&ui, heads.to_vec());
    let cell = |text: &str| Cell::new(Shown::new(text));
    table
        .row(vec![cell("12345678901234567890"), cell("abcdefghijkl")])
        .unwrap();
    table.finish().unwrap();
    ui.flush().unwrap();
    let text = out.take();
    let column = |range: std::ops::Range<usize>| {
        let lines = text.lines().skip(1);
        lines
            .map(|line| {
                line.get(range.start..range.end.min(line.len()))
                    .unwrap_or("")
            })
            .map(str::trim)
            .collect::<String>()
    };
    let width = text.lines().next().unwrap().find('B').unwrap();
    assert_eq!(column(0..width), "12345678901234567890");
    assert_eq!(column(width..20), "abcdefghijkl");
}

/// An id that grew longer is not broken: what is copied from a table is whole.
#[test]
fn a_later_page_gives_room_to_what_is_shown_whole() {
    for width in [0, 30] {
        let (ui, out, _) = captured(false, width);
        let head = |title, fit| super::table::Head {
            title,
            align: Align::Left,
            fit,
            optional: false,
        };
        let heads = vec![head("ID", Fit::Whole), head("TEXT", Fit::Cut)];
        let mut table = Table::new(&ui, heads);
        for n in 0..2_500_u32 {
            let id = if n < 1_000 { n } else { n + 1_000_000_000 };
            let cells = [id.to_string(), "x".repeat(40)];
            let cells = cells.map(|text| Cell::new(Shown::new(text)));
            table.row(cells.to_vec()).unwrap();
        }
        table.finish().unwrap();
        ui.flush().unwrap();
        let text = out.take();
        assert_eq!(text.lines().count(), 2_501, "{width}");
        assert!(text.contains("\n1000002499  xxx"), "{width}");
        assert!(width == 0 || text.lines().all(|line| line.chars().count() <= width));
    }
}

#[test]
fn pages_keep_the_header_and_the_widths_of_the_first() {
    let (ui, out, _) = captured(false, 80);
    let heads = ["N", "TEXT"].map(|title| super::table::Head {
        title,
        align: Align::Left,
        fit: Fit::Cut,
        optional: false,
    });
    let mut table = Table::new(&ui, heads.to_vec());
    for n in 0..2500_u32 {
        let text = if n == 2400 {
            "x".repeat(70)
        } else {
            "abcdefghij".to_owned()
        };
        table
            .row(vec![
                Cell::new(Shown::new(n % 10)),
                Cell::new(Shown::new(text)),
            ])
            .unwrap();
    }
    table.finish().unwrap();
    ui.flush().unwrap();
    let text = out.take();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 2501);
    assert_eq!(lines.iter().filter(|line| line.contains("TEXT")).count(), 1);
    assert_eq!(lines[2401], "0  xxxxxxxxx…");
}

#[test]
fn r85_a_closed_pipe_is_known_as_such() {
    struct Gone;
    impl Write for Gone {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::BrokenPipe.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let streams = Streams {
        stdin: false,
        stdout: false,
        stderr: false,
        width: None,
        var: &|_| None,
    };
    let ui = Ui::new(
        Color::Auto,
        Loudness::Normal,
        &streams,
        Box::new(Gone),
        Box::new(io::sink()),
    );
    ui.out_text("x").unwrap();
    assert!(matches!(ui.flush(), Err(OutError::Closed)));
}

#[test]
fn r86_without_a_terminal_nobody_is_asked() {
    let (ui, out, err) = captured(false, 80);
    let samples = [Shown::new("a")];
    assert_eq!(ui.confirm("Sure?", &samples).unwrap(), Answer::Nobody);
    let by_name = ui.confirm_by_name("Sure?", "jobs", &samples).unwrap();
    assert_eq!(by_name, Answer::Nobody);
    assert_eq!((out.take(), err.take()), (String::new(), String::new()));
}

#[test]
fn an_optional_column_without_text_is_left_out_of_one_page() {
    let print = |rows: usize, last: &str| {
        let (ui, out, _) = captured(false, 80);
        let heads = ["A", "B", "C"].map(|title| super::table::Head {
            title,
            align: Align::Left,
            fit: Fit::Whole,
            optional: title == "B",
        });
        let mut table = Table::new(&ui, heads.to_vec());
        for n in 0..rows {
            let b = if n + 1 == rows { last } else { "" };
            let cells = ["a", b, "c"].map(|text| Cell::new(Shown::new(text)));
            table.row(cells.to_vec()).unwrap();
        }
        table.finish().unwrap();
        ui.flush().unwrap();
        out.take().lines().next().unwrap().to_owned()
    };
    assert_eq!(print(3, ""), "A  C");
    assert_eq!(print(3, "b"), "A  B  C");
    assert_eq!(print(1500, ""), "A  B  C");
}
