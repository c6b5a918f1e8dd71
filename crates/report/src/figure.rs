//! Number formats of reports.

use candlewick_records::time_text;
use candlewick_sdk::{Millis, MoneyScale};

/// Formats a fraction in percent, a missing one as a dash.
pub(crate) fn percent(fraction: impl Into<Option<f64>>) -> String {
    fraction.into().map_or_else(|| "-".to_owned(), |fraction| format!("{:.2} %", fraction * 100.0))
}

pub(crate) fn signed_percent(fraction: f64) -> String {
    format!("{:+.2} %", fraction * 100.0)
}

pub(crate) fn or_dash<T>(value: Option<T>, write: impl FnOnce(T) -> String) -> String {
    value.map_or_else(|| "–".to_owned(), write)
}

pub(crate) fn signed_money(amount: f64, scale: MoneyScale) -> String {
    format!("{amount:+.*}", scale.decimals() as usize)
}

pub(crate) fn minute(at: Millis) -> String {
    time_text(at, "%Y-%m-%d %H:%M")
}

pub(crate) fn span(length: Millis) -> String {
    let part = |unit: Millis| length.get() as f64 / unit.get() as f64;
    match length {
        short if short < Millis::MINUTE => format!("{:.0} s", part(Millis::from_seconds(1))),
        short if short < Millis::HOUR => format!("{:.0} min", part(Millis::MINUTE)),
        short if short < Millis::DAY * 2 => format!("{:.1} h", part(Millis::HOUR)),
        _ => format!("{:.1} days", part(Millis::DAY)),
    }
}
