//! Canonical byte encoding of journal entries, designed for cheap hashing.
//!
//! An entry consists of a tag, little-endian numbers, and enums encoded by variant order. Each reason text is written
//! only once. Fields common to all trades are collected in a fixed-size buffer, to reduce the number of appends. Any
//! change to this encoding changes every `journal_hash`, so the header's `format` must change too.

use crate::reasons::ReasonTexts;
use crate::{
    Action, Entry, Event, EventKind, Header, Judgement, OpenedTrade, OrderTerms, OutsideSignal,
    RefusedSignal, Rejection, SecondTrade, TradeSettlement, VenueTerms,
};
use candlewick_sdk::{Candle, Expiry, Millis, Money, Payout, Reason};

const SHAPE_ID_BYTES: usize = size_of::<u32>();
const VALUE_BYTES: usize = size_of::<f64>();

#[derive(Debug, Default)]
pub(crate) struct Encoder {
    shapes: ReasonTexts,
}

struct FixedBuffer<const N: usize> {
    bytes: [u8; N],
    length: usize,
}

impl Encoder {
    #[inline]
    pub(crate) fn encode(&mut self, entry: Entry<'_>, out: &mut Vec<u8>) {
        match entry {
            Entry::Header(header) => encode_header(header, out),
            Entry::Event(event) => encode_event(event, out),
            Entry::Action(action) => self.encode_action(action, out),
        }
    }

    fn encode_action(&mut self, action: &Action, out: &mut Vec<u8>) {
        match action {
            Action::Open(approved) => {
                encode_terms(approved.terms(), out);
                self.encode_reason(approved.reason(), out);
            }
            Action::Refuse(refused) => {
                encode_refused(refused, out);
                self.encode_reason(&refused.reason, out);
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

    #[inline]
    fn encode_reason(&mut self, reason: &Reason, out: &mut Vec<u8>) {
        let known = self.shapes.len();
        let shape = self.shapes.put(reason);
        if self.shapes.len() > known {
            encode_new_reason(shape, reason, out);
            return;
        }
        let mut buffer = FixedBuffer::<{ SHAPE_ID_BYTES + Reason::MAX_NUMBERS * VALUE_BYTES }>::new();
        buffer.put(shape.to_le_bytes());
        reason.padded_values().iter().for_each(|value| {
            buffer.put(value.to_bits().to_le_bytes());
        });
        out.extend_from_slice(&buffer.bytes);
        out.truncate(out.len() - (Reason::MAX_NUMBERS - reason.values().len()) * VALUE_BYTES);
    }
}

#[cold]
fn encode_new_reason(shape: u32, reason: &Reason, out: &mut Vec<u8>) {
    out.extend_from_slice(&shape.to_le_bytes());
    put_text(reason.text(), out);
    out.push(reason.values().len() as u8);
    reason.numbers().for_each(|(name, _)| put_text(name, out));
    reason.values().iter().for_each(|value| put_float(*value, out));
}

fn encode_header(header: &Header, out: &mut Vec<u8>) {
    out.push(b'H');
    out.extend_from_slice(&header.format.to_le_bytes());
    // serde_json writes object keys in sorted order, so equal settings have equal bytes.
    put_text(&header.settings.to_string(), out);
    put_varint(header.strategies.len() as u64, out);
    for (name, version) in &header.strategies {
        put_text(name, out);
        put_text(version, out);
    }
    put_text(header.data_hash.as_deref().unwrap_or_default(), out);
}

fn encode_event(event: &Event, out: &mut Vec<u8>) {
    match &event.kind {
        EventKind::Opened(opened) => encode_opened(event, 2, opened, out),
        EventKind::Settled(settled) => encode_settled(event, settled, out),
        EventKind::Adopted(opened) => encode_opened(event, 12, opened, out),
        EventKind::Candle { .. } => put_head(event, 0, out),
        EventKind::Price { .. } => put_head(event, 1, out),
        EventKind::Rejected { .. } => put_head(event, 3, out),
        EventKind::NotSent { .. } => put_head(event, 4, out),
        EventKind::InDoubt { .. } => put_head(event, 5, out),
        EventKind::Balance { .. } => put_head(event, 7, out),
        EventKind::Skew { .. } => put_head(event, 8, out),
        // 10 is the code of a removed event.
        EventKind::Control { .. } => put_head(event, 11, out),
        EventKind::NotOpened { .. } => put_head(event, 13, out),
        EventKind::Deposit { .. } => put_head(event, 14, out),
        EventKind::SecondTrade(_) => put_head(event, 15, out),
        EventKind::SecondTradeSettled { .. } => put_head(event, 16, out),
        EventKind::SettledByPerson { .. } => put_head(event, 17, out),
        EventKind::OutsideSignal(_) => put_head(event, 18, out),
        EventKind::Correction { .. } => put_head(event, 19, out),
        EventKind::Reinstated(_) => put_head(event, 20, out),
        EventKind::WalletDifference { .. } => put_head(event, 21, out),
    }
    encode_fields(&event.kind, out);
}

#[inline]
fn encode_fields(kind: &EventKind, out: &mut Vec<u8>) {
    match kind {
        EventKind::Opened(_) | EventKind::Adopted(_) | EventKind::Settled(_) => {}
        EventKind::Candle { series, candle, origin } => {
            put_varint(series.index() as u64, out);
            put_candle(candle, out);
            out.push(*origin as u8);
        }
        EventKind::Price { symbol, price } => {
            put_varint(symbol.index() as u64, out);
            put_time(price.time, out);
            put_float(price.value, out);
        }
        EventKind::Rejected { intent, rejection } => {
            put_varint(intent.number(), out);
            encode_rejection(rejection, out);
        }
        EventKind::NotSent { intent } | EventKind::InDoubt { intent } => put_varint(intent.number(), out),
        EventKind::Balance { amount }
        | EventKind::Deposit { amount }
        | EventKind::WalletDifference { amount } => put_money(*amount, out),
        EventKind::Skew { offset } => put_time(*offset, out),
        EventKind::SecondTrade(SecondTrade { intent, venue_id, stake: amount })
        | EventKind::SecondTradeSettled { intent, venue_id, profit: amount } => {
            put_varint(intent.number(), out);
            put_money(*amount, out);
            put_text(venue_id.as_str(), out);
        }
        EventKind::Reinstated(terms) => encode_terms(terms, out),
        EventKind::NotOpened { intent, reserved_until } => {
            put_varint(intent.number(), out);
            put_time(*reserved_until, out);
        }
        EventKind::OutsideSignal(signal) => encode_outside_signal(signal, out),
        EventKind::SettledByPerson { intent, outcome, profit }
        | EventKind::Correction { intent, outcome, profit } => {
            put_varint(intent.number(), out);
            out.push(*outcome as u8);
            put_money(*profit, out);
        }
        EventKind::Control { control } => out.push(*control as u8),
    }
}

#[allow(clippy::inline_always, reason = "a call would copy the buffer for each of its fields")]
#[inline(always)]
fn encode_head<const N: usize>(event: &Event, kind: u8) -> FixedBuffer<N> {
    let delay = event.received - event.at;
    let mut buffer = FixedBuffer::new();
    buffer.put([b'E', kind]).put(time_bytes(event.at)).put(time_bytes(delay));
    buffer
}

fn put_head(event: &Event, kind: u8, out: &mut Vec<u8>) {
    out.extend_from_slice(&encode_head::<18>(event, kind).bytes);
}

fn encode_opened(event: &Event, kind: u8, opened: &OpenedTrade, out: &mut Vec<u8>) {
    let OpenedTrade { intent, venue_id, open_time, open_price, close_time, payout, taken } = opened;
    let known = [
        venue_id.is_some(),
        open_time.is_some(),
        open_price.is_some(),
        close_time.is_some(),
        payout.is_some(),
    ];
    let mut buffer = encode_head::<55>(event, kind);
    buffer
        .put(intent.number().to_le_bytes())
        .put([pack_flags(known) | u8::from(taken.is_some()) << known.len()])
        .put(optional_time_bytes(*open_time))
        .put(optional_float_bytes(*open_price))
        .put(optional_time_bytes(*close_time))
        .put(optional_payout_bytes(*payout));
    out.extend_from_slice(&buffer.bytes);
    if let Some(id) = venue_id {
        put_text(id.as_str(), out);
    }
    if let Some(taken) = taken {
        encode_venue_terms(taken, out);
    }
}

#[cold]
fn encode_venue_terms(taken: &VenueTerms, out: &mut Vec<u8>) {
    let VenueTerms { symbol, direction, stake } = taken;
    out.extend_from_slice(&[u8::from(symbol.is_some()), *direction as u8]);
    put_money(*stake, out);
    if let Some(symbol) = symbol {
        put_text(symbol.as_str(), out);
    }
}

fn encode_settled(event: &Event, settled: &TradeSettlement, out: &mut Vec<u8>) {
    let TradeSettlement { intent, outcome, profit, open_time, open_price, close_time, close_price, payout } =
        settled;
    let known = [
        open_time.is_some(),
        open_price.is_some(),
        close_time.is_some(),
        close_price.is_some(),
        payout.is_some(),
    ];
    let mut buffer = encode_head::<72>(event, 6);
    buffer
        .put(intent.number().to_le_bytes())
        .put([*outcome as u8, pack_flags(known)])
        .put(profit.minor().to_le_bytes())
        .put(optional_time_bytes(*open_time))
        .put(optional_float_bytes(*open_price))
        .put(optional_time_bytes(*close_time))
        .put(optional_float_bytes(*close_price))
        .put(optional_payout_bytes(*payout));
    out.extend_from_slice(&buffer.bytes);
}

fn encode_rejection(rejection: &Rejection, out: &mut Vec<u8>) {
    match rejection {
        Rejection::NoPrice => out.push(0),
        Rejection::InsufficientBalance => out.push(1),
        Rejection::Other(text) => {
            out.push(2);
            put_text(text.as_str(), out);
        }
        Rejection::Refused { reason, text } => {
            out.extend_from_slice(&[3, *reason as u8]);
            put_text(text.as_str(), out);
        }
    }
}

fn encode_judgement(judgement: &Judgement, out: &mut Vec<u8>) {
    put_varint(judgement.bot.index() as u64, out);
    put_time(judgement.at, out);
    out.push(judgement.edge as u8);
    put_varint(judgement.trades, out);
    put_float(judgement.account_for, out);
    put_float(judgement.account_against, out);
    // A single bot has the whole alpha, so its weight is omitted.
    if judgement.weight != 1.0 {
        put_float(judgement.weight, out);
    }
    if let Some(since) = judgement.since {
        put_time(since, out);
    }
}

fn encode_terms(terms: &OrderTerms, out: &mut Vec<u8>) {
    let Expiry { close_type, expiration_type } = terms.expiry();
    let mut buffer = FixedBuffer::<44>::new();
    buffer
        .put(*b"AO")
        .put(terms.intent().number().to_le_bytes())
        .put((terms.bot().index() as u32).to_le_bytes())
        .put((terms.symbol().index() as u32).to_le_bytes())
        .put([terms.direction() as u8, expiration_type as u8])
        .put(time_bytes(close_type.duration()))
        .put(terms.stake().minor().to_le_bytes())
        .put(time_bytes(terms.decision_time()));
    out.extend_from_slice(&buffer.bytes);
}

fn encode_refused(refused: &RefusedSignal, out: &mut Vec<u8>) {
    let mut buffer = FixedBuffer::<16>::new();
    buffer
        .put(*b"AR")
        .put((refused.bot.index() as u32).to_le_bytes())
        .put([refused.direction as u8, refused.rule.number_in_hash()])
        .put(time_bytes(refused.decision_time));
    out.extend_from_slice(&buffer.bytes);
}

impl<const N: usize> FixedBuffer<N> {
    const fn new() -> Self {
        Self { bytes: [0; N], length: 0 }
    }

    /// Appends a field. After inlining, the offset is a constant, so the compiler removes the bounds check.
    #[allow(clippy::inline_always, reason = "a call would copy the buffer for each of its fields")]
    #[inline(always)]
    fn put<const M: usize>(&mut self, field: [u8; M]) -> &mut Self {
        self.bytes[self.length..self.length + M].copy_from_slice(&field);
        self.length += M;
        self
    }
}

#[inline]
fn pack_flags(flags: [bool; 5]) -> u8 {
    flags.iter().rev().fold(0, |bits, flag| bits << 1 | u8::from(*flag))
}

#[inline]
fn time_bytes(time: Millis) -> [u8; 8] {
    time.get().to_le_bytes()
}

/// Encodes `None` as zeros. A separate flag bit distinguishes `None` from a time of zero.
#[inline]
fn optional_time_bytes(time: Option<Millis>) -> [u8; 8] {
    time.map_or([0; 8], time_bytes)
}

#[inline]
fn optional_float_bytes(value: Option<f64>) -> [u8; 8] {
    value.map_or([0; 8], |value| value.to_bits().to_le_bytes())
}

#[inline]
fn optional_payout_bytes(payout: Option<Payout>) -> [u8; 4] {
    payout.map_or([0; 4], |payout| payout.parts().to_le_bytes())
}

fn encode_outside_signal(signal: &OutsideSignal, out: &mut Vec<u8>) {
    let OutsideSignal { bot, direction, source, id, expires, expiry, reason } = signal;
    put_varint(bot.index() as u64, out);
    let known = u8::from(expires.is_some()) | u8::from(expiry.is_some()) << 1;
    out.extend_from_slice(&[*direction as u8, known]);
    if let Some(expires) = expires {
        put_time(*expires, out);
    }
    if let Some(expiry) = expiry {
        put_time(expiry.close_type.duration(), out);
        out.push(expiry.expiration_type as u8);
    }
    for text in [source.as_str(), id.as_str(), reason.as_str()] {
        put_text(text, out);
    }
}

/// Writes a LEB128 number: seven bits per byte, lowest first. The eighth bit is set if more bytes follow.
#[inline]
fn put_varint(number: u64, out: &mut Vec<u8>) {
    let mut rest = number;
    while rest >= 0x80 {
        out.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    out.push(rest as u8);
}

#[inline]
fn put_time(time: Millis, out: &mut Vec<u8>) {
    out.extend_from_slice(&time.get().to_le_bytes());
}

#[inline]
fn put_money(money: Money, out: &mut Vec<u8>) {
    out.extend_from_slice(&money.minor().to_le_bytes());
}

#[inline]
fn put_float(value: f64, out: &mut Vec<u8>) {
    out.extend_from_slice(&value.to_bits().to_le_bytes());
}

#[inline]
fn put_text(text: &str, out: &mut Vec<u8>) {
    put_varint(text.len() as u64, out);
    out.extend_from_slice(text.as_bytes());
}

#[inline]
fn put_candle(candle: &Candle, out: &mut Vec<u8>) {
    put_time(candle.time(), out);
    for value in [candle.open(), candle.high(), candle.low(), candle.close(), candle.volume()] {
        put_float(value, out);
    }
}
