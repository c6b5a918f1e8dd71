//! One-second candles around the present, for a venue in its own process.

use std::fmt::Write as _;

pub(crate) fn candles(now: i64, span: (i64, i64)) -> String {
    generate_candles(1_000, now, span)
}

pub(crate) fn generate_candles(length_ms: i64, now: i64, (before, after): (i64, i64)) -> String {
    let mut text = String::from("time,open,high,low,close,volume\n");
    for number in -before..after {
        let price = |number: i64| 100 + (number * number).rem_euclid(7);
        let (open, close) = (price(number), price(number + 1));
        let (low, high) = (open.min(close), open.max(close));
        let _ = writeln!(text, "{},{open},{high},{low},{close},1", now + number * length_ms);
    }
    text
}
