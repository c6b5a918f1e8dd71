//! Encoding of signals from outside.

use super::field::{put_number, put_text, put_time};
use super::{direction_byte, expiration_byte};
use crate::OutsideSignal;

pub(super) fn encode(signal: &OutsideSignal, out: &mut Vec<u8>) {
    let OutsideSignal { bot, direction, source, id, expires, expiry, reason } = signal;
    put_number(bot.index() as u64, out);
    let known = u8::from(expires.is_some()) | u8::from(expiry.is_some()) << 1;
    out.extend_from_slice(&[direction_byte(*direction), known]);
    if let Some(expires) = expires {
        put_time(*expires, out);
    }
    if let Some(expiry) = expiry {
        put_time(expiry.close_type.duration(), out);
        out.push(expiration_byte(expiry.expiration_type));
    }
    for text in [source.as_str(), id.as_str(), reason.as_str()] {
        put_text(text, out);
    }
}
