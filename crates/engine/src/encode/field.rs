//! Encoding of entry fields: numbers, times, money and text.

use candlewick_sdk::{Candle, Millis, Money};

/// Writes a LEB128 number: seven bits per byte, lowest first, the eighth set while more follow.
/// Nearly always one byte.
#[inline]
pub(super) fn put_number(number: u64, out: &mut Vec<u8>) {
    let mut rest = number;
    while rest >= 0x80 {
        out.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    out.push(rest as u8);
}

#[inline]
pub(super) fn put_time(time: Millis, out: &mut Vec<u8>) {
    out.extend_from_slice(&time.get().to_le_bytes());
}

#[inline]
pub(super) fn put_money(money: Money, out: &mut Vec<u8>) {
    out.extend_from_slice(&money.minor().to_le_bytes());
}

#[inline]
pub(super) fn put_float(value: f64, out: &mut Vec<u8>) {
    out.extend_from_slice(&value.to_bits().to_le_bytes());
}

#[inline]
pub(super) fn put_text(text: &str, out: &mut Vec<u8>) {
    put_number(text.len() as u64, out);
    out.extend_from_slice(text.as_bytes());
}

#[inline]
pub(super) fn put_candle(candle: &Candle, out: &mut Vec<u8>) {
    put_time(candle.time(), out);
    for value in [candle.open(), candle.high(), candle.low(), candle.close(), candle.volume()] {
        put_float(value, out);
    }
}
