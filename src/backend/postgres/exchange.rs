//! The worker's round trip: settle, then claim, in one call of one function.

use super::super::receipt::{Lease, mint};
use super::super::{
    Claim, Claimed, Error, Exchange, Exchanged, Pick, Result, Settle, Settled, Standing, Verdict,
};
use super::conn::{Param, Store, no_queue};
use super::row::message;
use super::scan::Levels;
use super::value::{Stamp, clean, count, span};
use crate::queue::{Delivery, Due, MessageId, Open, QueueName, Reason, Timestamp};
use std::collections::HashSet;
use std::time::Duration;
use tokio_postgres::Row;
use tokio_postgres::types::Type;

/// Where a message begins in a row of an answer.
const MESSAGE: usize = 5;

pub(super) fn exchange(store: &mut Store, turn: &Exchange<'_>) -> Result<Exchanged> {
    if turn.settle.is_empty() && turn.claim.is_none() {
        return Ok(Exchanged {
            settled: Vec::new(),
            claimed: Ok(Claimed::default()),
        });
    }
    if let Some(claim) = &turn.claim
        && let Pick::Dead { what, after } = claim.pick
    {
        return super::letters::exchange(store, turn.settle, claim, what, after);
    }
    let settles = Settles::of(turn.settle);
    let asked = Asked::of(store, turn.claim.as_ref());
    let skew = store.skew.micros();
    let identity = store.identity.clone();
    let mut params = settles.params(&skew, &identity);
    asked.push(&mut params);
    let rows = store.query(sql!("exchange"), &params)?;
    let mut answer = Answer::read(&rows, turn.settle.len(), turn.claim.as_ref())?;
    if let Some(claim) = &turn.claim {
        store.scan.learn(
            claim.queue,
            claim.max,
            settles.gives_back(),
            &asked.levels,
            &mut answer,
        );
    }
    Ok(Exchanged {
        settled: answer.settled,
        claimed: answer.claimed,
    })
}

/// Verdicts as the function takes them: a list a column.
#[derive(Default)]
pub(super) struct Settles<'a> {
    ids: Vec<i64>,
    tokens: Vec<Option<i64>>,
    pub(super) verdicts: Vec<i16>,
    dues: Vec<Option<Stamp>>,
    waits: Vec<i64>,
    whys: Vec<Option<&'static str>>,
    outcomes: Vec<Option<&'static str>>,
    exits: Vec<Option<i32>>,
    signals: Vec<Option<i32>>,
    tooks: Vec<Option<i64>>,
    errors: Vec<Option<String>>,
    stderrs: Vec<Option<&'a [u8]>>,
    in_order: bool,
    grouped: bool,
}

impl<'a> Settles<'a> {
    pub(super) fn of(settles: &[Settle<'a>]) -> Self {
        let mut all = Self::default();
        let mut seen = HashSet::new();
        for settle in settles {
            // A text that is no receipt at all names a message that is not there.
            let lease = Lease::of(settle.receipt).unwrap_or(Lease {
                id: 0,
                token: None,
                grouped: false,
            });
            all.in_order |= !seen.insert(lease.id);
            all.grouped |= lease.grouped;
            all.ids.push(lease.id);
            all.tokens.push(lease.token);
            let (verdict, due, why) = match settle.verdict {
                Verdict::Start => (1, Due::Now, None),
                Verdict::Extend(by) => (2, Due::After(by), None),
                Verdict::Done => (3, Due::Now, None),
                Verdict::Retry { due, charge: true } => (4, due, None),
                Verdict::Retry { due, charge: false } => (5, due, None),
                Verdict::Dead(reason) => (6, Due::Now, Some(reason.word())),
                Verdict::Release => (7, Due::Now, None),
            };
            all.verdicts.push(verdict);
            all.dues.push(match due {
                Due::At(at) => Some(Stamp(at)),
                Due::Now | Due::After(_) => None,
            });
            all.waits.push(match due {
                Due::After(wait) => span(wait),
                Due::Now | Due::At(_) => 0,
            });
            all.whys.push(why);
            let end = settle.end;
            all.outcomes.push(end.map(|end| end.outcome.word()));
            all.exits.push(end.and_then(|end| end.exit));
            all.signals.push(end.and_then(|end| end.signal));
            all.tooks.push(end.map(|end| span(end.took)));
            all.errors.push(end.and_then(|end| last_error(&end.error)));
            all.stderrs.push(
                end.map(|end| end.stderr.as_slice())
                    .filter(|stderr| !stderr.is_empty()),
            );
        }
        all
    }

    /// Whether something may become ready by them that stands before what was claimed last.
    fn gives_back(&self) -> bool {
        self.grouped || self.verdicts.iter().any(|verdict| *verdict > 3)
    }

    pub(super) fn params<'s>(&'s self, skew: &'s i64, identity: &'s String) -> Vec<Param<'s>> {
        vec![
            (skew, Type::INT8),
            (identity, Type::TEXT),
            (&self.ids, Type::INT8_ARRAY),
            (&self.tokens, Type::INT8_ARRAY),
            (&self.verdicts, Type::INT2_ARRAY),
            (&self.dues, Type::TIMESTAMPTZ_ARRAY),
            (&self.waits, Type::INT8_ARRAY),
            (&self.whys, Type::TEXT_ARRAY),
            (&self.outcomes, Type::TEXT_ARRAY),
            (&self.exits, Type::INT4_ARRAY),
            (&self.signals, Type::INT4_ARRAY),
            (&self.tooks, Type::INT8_ARRAY),
            (&self.errors, Type::TEXT_ARRAY),
            (&self.stderrs, Type::BYTEA_ARRAY),
            (&self.in_order, Type::BOOL),
            (&self.grouped, Type::BOOL),
        ]
    }
}

/// What is kept of an end's error: 4,000 bytes at most, cut at a character.
fn last_error(text: &str) -> Option<String> {
    const MOST: usize = 4_000;
    (!text.is_empty()).then(|| clean(&text[..text.floor_char_boundary(MOST)]).into_owned())
}

/// A claim as the function takes it.
#[derive(Default)]
pub(super) struct Asked {
    queue: Option<String>,
    most: i32,
    bytes: i64,
    lease: i64,
    start: bool,
    spent_at: i64,
    token: i64,
    pub(super) levels: Levels,
}

impl Asked {
    pub(super) fn of(store: &mut Store, claim: Option<&Claim<'_>>) -> Self {
        let Some(claim) = claim else {
            return Self::default();
        };
        Self {
            queue: Some(claim.queue.as_str().to_owned()),
            most: i32::try_from(claim.max).unwrap_or(i32::MAX),
            bytes: i64::try_from(claim.bytes).unwrap_or(i64::MAX),
            lease: span(claim.lease),
            start: claim.start,
            spent_at: claim.max_attempts.into(),
            // One random number for all that this claim takes: nobody else's receipt fits.
            token: fastrand::i64(..),
            levels: store.scan.levels(claim.queue),
        }
    }

    pub(super) fn push<'s>(&'s self, params: &mut Vec<Param<'s>>) {
        params.extend([
            (&self.queue as _, Type::TEXT),
            (&self.most as _, Type::INT4),
            (&self.bytes as _, Type::INT8),
            (&self.lease as _, Type::INT8),
            (&self.start as _, Type::BOOL),
            (&self.spent_at as _, Type::INT8),
            (&self.token as _, Type::INT8),
            (&self.levels.priorities as _, Type::INT2_ARRAY),
            (&self.levels.at as _, Type::TIMESTAMPTZ_ARRAY),
            (&self.levels.ids as _, Type::INT8_ARRAY),
        ]);
    }
}

/// What the function answered.
pub(super) struct Answer {
    pub(super) settled: Vec<Settled>,
    pub(super) claimed: Result<Claimed>,
    /// How long the server looked for what is ready.
    pub(super) looked: Duration,
}

impl Answer {
    pub(super) fn read(rows: &[Row], settles: usize, claim: Option<&Claim<'_>>) -> Result<Self> {
        let mut settled: Vec<Option<Settled>> = vec![None; settles];
        let mut claimed = Ok(Claimed::default());
        let mut looked = Duration::ZERO;
        for row in rows {
            let kind: i16 = row.try_get(0)?;
            if kind == 0 {
                let position: i32 = row.try_get(1)?;
                let place = usize::try_from(position - 1)
                    .ok()
                    .and_then(|position| settled.get_mut(position))
                    .ok_or_else(|| Error::bug("an answer to nothing"))?;
                *place = Some(verdict(row)?);
                continue;
            }
            let (Some(claim), Ok(so_far)) = (claim, claimed.as_mut()) else {
                return Err(Error::bug("a claim that nobody asked for"));
            };
            match kind {
                1 => so_far.got.push(delivery(row, claim.queue)?),
                2 => so_far.buried.push(buried(row)?),
                3 => {
                    let spent: Option<i32> = row.try_get(1)?;
                    looked = Duration::from_micros(count(spent.unwrap_or(0).into()));
                    match row.try_get::<_, Option<i16>>(2)? {
                        Some(2) => claimed = Err(no_queue(claim.queue)),
                        Some(1) => so_far.paused = true,
                        _ => {
                            so_far.next = row
                                .try_get::<_, Option<i64>>(4)?
                                .map(|next| Duration::from_micros(count(next)));
                        }
                    }
                }
                5 => so_far.held.push(held(row)?),
                _ => claimed = Err(failed(row.try_get(3)?)),
            }
        }
        if let Ok(claimed) = &mut claimed {
            // The server answers in any order.
            claimed.got.sort_by_key(|delivery| {
                let message = &delivery.message;
                (
                    std::cmp::Reverse(message.priority),
                    message.ready_at,
                    message.id.as_str().parse::<i64>().unwrap_or(0),
                )
            });
        }
        let settled = settled
            .into_iter()
            .collect::<Option<Vec<_>>>()
            .ok_or_else(|| Error::bug("a verdict without an answer").maybe_done())?;
        Ok(Self {
            settled,
            claimed,
            looked,
        })
    }
}

impl Answer {
    /// What a claim of letters answered, in the order in which they were asked for.
    pub(super) fn read_in_order(rows: &[Row], claim: &Claim<'_>) -> Result<Claimed> {
        let mut claimed = Claimed::default();
        for row in rows {
            match row.try_get::<_, i16>(0)? {
                1 => claimed.got.push(delivery(row, claim.queue)?),
                _ => claimed.held.push(held(row)?),
            }
        }
        Ok(claimed)
    }
}

fn verdict(row: &Row) -> Result<Settled> {
    let note: Option<String> = row.try_get(3)?;
    Ok(match row.try_get::<_, i16>(2)? {
        0 => Settled::Yes,
        1 => Settled::LeaseLost(Standing::Waiting),
        2 => Settled::LeaseLost(Standing::Leased(note.unwrap_or_default())),
        3 => Settled::LeaseLost(Standing::Dead(
            note.and_then(|word| Reason::from_word(&word))
                .unwrap_or(Reason::Attempts),
        )),
        _ => Settled::Gone,
    })
}

fn delivery(row: &Row, queue: &QueueName) -> Result<Delivery> {
    let message = message(row, MESSAGE, queue, Timestamp(i64::MAX))?;
    let fence = message.deliveries;
    let token: i64 = row.try_get(4)?;
    let id: i64 = row.try_get(MESSAGE)?;
    let doubt = row.try_get::<_, Option<Stamp>>(MESSAGE + super::row::COLUMNS)?;
    Ok(Delivery {
        receipt: mint(id, fence, token, message.group.is_some()),
        fence,
        doubt: match doubt {
            None => None,
            Some(at) => Some(Open {
                started_at: at.0,
                worker: row
                    .try_get::<_, Option<String>>(MESSAGE + super::row::COLUMNS + 1)?
                    .unwrap_or_default(),
            }),
        },
        message,
    })
}

fn buried(row: &Row) -> Result<(MessageId, Reason)> {
    let why: &str = row.try_get(3)?;
    let id: i64 = row.try_get(MESSAGE)?;
    Ok((
        id.to_string().into(),
        Reason::from_word(why).unwrap_or(Reason::Attempts),
    ))
}

fn held(row: &Row) -> Result<(MessageId, Timestamp)> {
    let id: i64 = row.try_get(MESSAGE)?;
    let end: Stamp = row.try_get(MESSAGE + 16)?;
    Ok((id.to_string().into(), end.0))
}

/// A claim that failed behind settles that stand.
fn failed(note: Option<&str>) -> Error {
    let (code, said) = note
        .and_then(|note| note.split_once(' '))
        .unwrap_or_default();
    let (kind, what) = super::conn::meaning(code, said);
    Error::new(kind, what).with("sqlstate", code)
}
