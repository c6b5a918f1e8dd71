//! The canonical bytes of journal entries: tags, little-endian numbers, and counts in as few bytes as they need, so
//! that hashing costs little.
//!
//! A change of this form changes every `journal_hash`; the header's `format` changes with it.

use crate::{
    Action, Approved, Control, Edge, Entry, Event, EventKind, Header, Judgement, Opened, Origin, Refused,
    Rejection, Settled,
};
use candlewick_sdk::{Candle, Direction, ExpirationType, Expiry, Millis, Money, Outcome, Payout, Reason};

/// Appends the canonical bytes of an entry.
pub(crate) fn encode(entry: Entry<'_>, out: &mut Vec<u8>) {
    match entry {
        Entry::Header(header) => encode_header(header, out),
        Entry::Event(event) => encode_event(event, out),
        Entry::Action(action) => encode_action(action, out),
    }
}

fn encode_header(header: &Header, out: &mut Vec<u8>) {
    out.push(b'H');
    out.extend_from_slice(&header.format.to_le_bytes());
    // serde_json writes object keys in sorted order, so equal settings have equal bytes.
    put_text(&header.settings.to_string(), out);
    put_number(header.strategies.len() as u64, out);
    for (name, version) in &header.strategies {
        put_text(name, out);
        put_text(version, out);
    }
    put_text(header.data_hash.as_deref().unwrap_or_default(), out);
}

fn encode_event(event: &Event, out: &mut Vec<u8>) {
    put_tagged(b'E', event.at.get().to_le_bytes(), out);
    put_delay(event.received - event.at, out);
    match &event.kind {
        EventKind::Candle { series, candle, origin } => {
            out.push(0);
            put_number(series.index() as u64, out);
            put_candle(candle, out);
            out.push(match origin {
                Origin::Live => 0,
                Origin::Backfill => 1,
            });
        }
        EventKind::Price { symbol, price } => {
            out.push(1);
            put_number(symbol.index() as u64, out);
            put_time(price.time, out);
            put_float(price.value, out);
        }
        EventKind::Opened(opened) => {
            out.push(2);
            encode_opened(opened, out);
        }
        EventKind::Rejected { intent, rejection } => {
            out.push(3);
            put_number(intent.number(), out);
            match rejection {
                Rejection::NoPrice => out.push(0),
                Rejection::InsufficientBalance => out.push(1),
                Rejection::Other(text) => {
                    out.push(2);
                    put_text(text.as_str(), out);
                }
            }
        }
        EventKind::NotSent { intent } => {
            out.push(4);
            put_number(intent.number(), out);
        }
        EventKind::InDoubt { intent } => {
            out.push(5);
            put_number(intent.number(), out);
        }
        EventKind::Settled(settled) => {
            out.push(6);
            encode_settled(settled, out);
        }
        EventKind::Balance { amount } => {
            out.push(7);
            put_money(*amount, out);
        }
        EventKind::Skew { offset } => {
            out.push(8);
            put_time(*offset, out);
        }
        EventKind::Time => out.push(10),
        EventKind::Adopted(opened) => {
            out.push(12);
            encode_opened(opened, out);
        }
        EventKind::NotOpened { intent, reserved_until } => {
            out.push(13);
            put_number(intent.number(), out);
            put_time(*reserved_until, out);
        }
        EventKind::Deposit { amount } => {
            out.push(14);
            put_money(*amount, out);
        }
        EventKind::Control { control: Control::Halt } => out.extend_from_slice(&[11, 0]),
        EventKind::Control { control: Control::Resume } => out.extend_from_slice(&[11, 1]),
        EventKind::Control { control: Control::Suspend } => out.extend_from_slice(&[11, 2]),
        EventKind::Control { control: Control::Continue } => out.extend_from_slice(&[11, 3]),
    }
}

fn encode_opened(opened: &Opened, out: &mut Vec<u8>) {
    put_number(opened.intent.number(), out);
    put_option(opened.venue_id.as_ref(), out, |id, out| put_text(id.as_str(), out));
    put_optional_time(opened.open_time, out);
    put_optional_float(opened.open_price, out);
    put_optional_time(opened.close_time, out);
    put_option(opened.payout, out, put_payout);
}

fn encode_settled(settled: &Settled, out: &mut Vec<u8>) {
    put_number(settled.intent.number(), out);
    out.push(match settled.outcome {
        Outcome::Won => 0,
        Outcome::Lost => 1,
        Outcome::Draw => 2,
        Outcome::Cancelled => 3,
    });
    put_money(settled.profit, out);
    put_optional_time(settled.open_time, out);
    put_optional_float(settled.open_price, out);
    put_optional_time(settled.close_time, out);
    put_optional_float(settled.close_price, out);
    put_option(settled.payout, out, put_payout);
}

fn encode_action(action: &Action, out: &mut Vec<u8>) {
    match action {
        Action::Open(approved) => {
            out.extend_from_slice(b"AO");
            encode_approved(approved, out);
        }
        Action::Refuse(refused) => {
            out.extend_from_slice(b"AR");
            encode_refused(refused, out);
        }
        Action::Verdict(judgement) => {
            out.extend_from_slice(b"AV");
            encode_judgement(judgement, out);
        }
        Action::DayOpened { start, equity } => {
            out.extend_from_slice(b"AD");
            put_time(*start, out);
            put_money(*equity, out);
        }
    }
}

fn encode_judgement(judgement: &Judgement, out: &mut Vec<u8>) {
    put_number(judgement.bot.index() as u64, out);
    put_time(judgement.at, out);
    out.push(match judgement.edge {
        Edge::Open => 0,
        Edge::Shown => 1,
        Edge::Rejected => 2,
    });
    put_number(judgement.trades, out);
    put_float(judgement.account_for, out);
    put_float(judgement.account_against, out);
}

fn encode_approved(approved: &Approved, out: &mut Vec<u8>) {
    put_number(approved.intent().number(), out);
    put_number(approved.bot().index() as u64, out);
    put_number(approved.symbol().index() as u64, out);
    out.push(direction_byte(approved.direction()));
    put_expiry(approved.expiry(), out);
    put_money(approved.stake(), out);
    put_time(approved.decision_time(), out);
    put_reason(&approved.reason(), out);
}

fn encode_refused(refused: &Refused, out: &mut Vec<u8>) {
    put_number(refused.bot.index() as u64, out);
    let mut fixed = [0; 10];
    fixed[..8].copy_from_slice(&refused.decision_time.get().to_le_bytes());
    fixed[8..].copy_from_slice(&[direction_byte(refused.direction), refused.rule as u8]);
    out.extend_from_slice(&fixed);
    put_reason(&refused.reason, out);
}

/// Seven bits a byte, lowest first, the eighth set while more follow (LEB128): nearly always one byte.
#[inline]
fn put_number(number: u64, out: &mut Vec<u8>) {
    let mut rest = number;
    while rest >= 0x80 {
        out.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    out.push(rest as u8);
}

/// Usually nothing; below zero where clocks differ, so the sign goes last (zigzag).
#[inline]
fn put_delay(delay: Millis, out: &mut Vec<u8>) {
    let delay = delay.get();
    put_number((delay.wrapping_shl(1) ^ (delay >> 63)) as u64, out);
}

fn put_time(time: Millis, out: &mut Vec<u8>) {
    out.extend_from_slice(&time.get().to_le_bytes());
}

fn put_money(money: Money, out: &mut Vec<u8>) {
    out.extend_from_slice(&money.minor().to_le_bytes());
}

fn put_float(value: f64, out: &mut Vec<u8>) {
    out.extend_from_slice(&value.to_bits().to_le_bytes());
}

fn put_payout(payout: Payout, out: &mut Vec<u8>) {
    out.extend_from_slice(&payout.parts().to_le_bytes());
}

fn put_text(text: &str, out: &mut Vec<u8>) {
    put_number(text.len() as u64, out);
    out.extend_from_slice(text.as_bytes());
}

/// A byte and a word in one piece: each piece that is appended costs as much as its bytes, or more.
#[inline]
fn put_tagged(tag: u8, word: [u8; 8], out: &mut Vec<u8>) {
    let mut bytes = [tag; 9];
    bytes[1..].copy_from_slice(&word);
    out.extend_from_slice(&bytes);
}

fn put_optional_time(time: Option<Millis>, out: &mut Vec<u8>) {
    put_optional_word(time.map(|time| time.get().to_le_bytes()), out);
}

fn put_optional_float(value: Option<f64>, out: &mut Vec<u8>) {
    put_optional_word(value.map(|value| value.to_bits().to_le_bytes()), out);
}

#[inline]
fn put_optional_word(word: Option<[u8; 8]>, out: &mut Vec<u8>) {
    match word {
        None => out.push(0),
        Some(word) => put_tagged(1, word, out),
    }
}

fn put_option<T>(value: Option<T>, out: &mut Vec<u8>, put: impl Fn(T, &mut Vec<u8>)) {
    match value {
        None => out.push(0),
        Some(value) => {
            out.push(1);
            put(value, out);
        }
    }
}

const fn direction_byte(direction: Direction) -> u8 {
    match direction {
        Direction::Buy => 0,
        Direction::Sell => 1,
    }
}

fn put_expiry(expiry: Expiry, out: &mut Vec<u8>) {
    put_time(expiry.close_type.duration(), out);
    out.push(match expiry.expiration_type {
        ExpirationType::Unstated => 0,
        ExpirationType::TimeFixed => 1,
        ExpirationType::CandleClose => 2,
        ExpirationType::NextCandle => 3,
    });
}

fn put_candle(candle: &Candle, out: &mut Vec<u8>) {
    put_time(candle.time(), out);
    for value in [candle.open(), candle.high(), candle.low(), candle.close(), candle.volume()] {
        put_float(value, out);
    }
}

fn put_reason(reason: &Reason, out: &mut Vec<u8>) {
    put_text(reason.text(), out);
    out.push(reason.numbers().len() as u8);
    for (name, value) in reason.numbers() {
        put_text(name, out);
        put_float(*value, out);
    }
}
