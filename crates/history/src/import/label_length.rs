//! Parsing of candle lengths in labels.

use candlewick_sdk::{Interval, Millis};

pub(super) enum Length {
    Exact(Millis),
    Number(i64),
}

/// Parses an interval label such as `1m`, `M1`, `5 min`, `PT1H`, `D` or `60`.
pub(super) fn parse_length(text: &str) -> Option<Length> {
    const LONGEST_NUMBER: i64 = 2_678_400_000;
    let text = text.trim();
    if let Ok(number) = text.parse::<i64>() {
        return (1..=LONGEST_NUMBER).contains(&number).then_some(Length::Number(number));
    }
    let days = match text.to_ascii_lowercase().as_str() {
        "d" | "day" | "daily" => Some(1),
        "w" | "week" | "weekly" => Some(7),
        "mn" | "mn1" | "month" | "monthly" => Some(31),
        _ => None,
    };
    if let Some(days) = days {
        return Some(Length::Exact(Millis::DAY * days));
    }
    let text = text.strip_prefix("PT").or_else(|| text.strip_prefix('P')).unwrap_or(text);
    let lower = text.to_ascii_lowercase();
    [text, lower.as_str()]
        .into_iter()
        .find_map(|text| match text.parse::<Interval>() {
            Ok(interval) => Some(interval.length()),
            Err(error) => error.meant()?.parse::<Interval>().ok().map(Interval::length),
        })
        .map(Length::Exact)
}
