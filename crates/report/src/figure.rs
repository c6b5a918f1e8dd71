//! Number formats and sparklines for reports.

use crate::analysis::EquityPoint;
pub(crate) use candlewick_records::format_number;
use candlewick_records::format_time;
use candlewick_sdk::{Millis, MoneyScale, Payout, group_thousands};
use serde_json::Value;
use std::fmt::Display;

pub(crate) fn format_percent(fraction: impl Into<Option<f64>>) -> String {
    fraction.into().map_or_else(|| "-".to_owned(), |fraction| format!("{:.2} %", fraction * 100.0))
}

pub(crate) fn format_signed_percent(fraction: f64) -> String {
    format!("{:+.2} %", fraction * 100.0)
}

pub(crate) fn or_dash<T>(value: Option<T>, format: impl FnOnce(T) -> String) -> String {
    value.map_or_else(|| "–".to_owned(), format)
}

pub(crate) fn prefixed_lines(prefix: &str, lines: impl IntoIterator<Item = impl Display>) -> String {
    lines.into_iter().map(|line| format!("\n{prefix}{line}")).collect::<Vec<_>>().concat()
}

pub(crate) fn format_money(amount: f64, scale: MoneyScale) -> String {
    group_thousands(&format!("{amount:.*}", scale.decimals() as usize))
}

pub(crate) fn format_signed_money(amount: f64, scale: MoneyScale) -> String {
    group_thousands(&format!("{amount:+.*}", scale.decimals() as usize))
}

pub(crate) fn format_minute(at: Millis) -> String {
    format_time(at, "%Y-%m-%d %H:%M")
}

pub(crate) fn format_span(length: Millis) -> String {
    let part = |unit: Millis| length.get() as f64 / unit.get() as f64;
    match length {
        short if short < Millis::MINUTE => format!("{:.0} s", part(Millis::from_seconds(1))),
        short if short < Millis::HOUR => format!("{:.0} min", part(Millis::MINUTE)),
        short if short < Millis::DAY * 2 => format!("{:.1} h", part(Millis::HOUR)),
        _ => format!("{:.1} days", part(Millis::DAY)),
    }
}

pub(crate) fn p_value_text(p_value: Option<f64>) -> String {
    p_value.map_or_else(|| "-".to_owned(), |p_value| format!("{p_value:.4}"))
}

pub(crate) fn capitalise(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

const MAX_PAYOUT_PERCENT: f64 = 100.0;

/// Returns a warning about a payout above 100 %. No venue pays that much, because even a coin toss would be profitable.
pub(crate) fn describe_high_payout(payouts: impl Iterator<Item = Payout>, how: &str) -> Option<String> {
    let highest = payouts.max()?.to_percent();
    (highest > MAX_PAYOUT_PERCENT).then(|| {
        format!("a payout of {highest} % is {how}; above {MAX_PAYOUT_PERCENT} % a coin toss is profitable")
    })
}

/// Formats a break-even payout: a dash if no trade was lost, `none` if the payout would have to exceed 100 %.
pub(crate) fn break_even_payout_text(percent: f64) -> String {
    if percent <= 0.0 {
        return "-".to_owned();
    }
    if percent > MAX_PAYOUT_PERCENT { "none (above 100 %)".to_owned() } else { format!("{percent:.2} %") }
}

pub(crate) fn format_json_value(value: &Value) -> String {
    match value {
        Value::Number(number) if number.is_f64() => {
            let text = format!("{:.6}", number.as_f64().unwrap_or_default());
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        }
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

const BLOCKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
const SPARKLINE_COLUMNS: usize = 48;
const RUNNING_SUM_COLUMNS: usize = 60;

pub(crate) fn sparkline(curve: &[EquityPoint]) -> Option<String> {
    let width = curve.len().min(SPARKLINE_COLUMNS);
    let last_of = |column: usize| curve[((column + 1) * curve.len()).div_ceil(width) - 1].balance;
    let values: Vec<f64> = (0..width).map(last_of).collect();
    let (low, high) = value_range(&values, (f64::INFINITY, f64::NEG_INFINITY));
    (high > low).then(|| draw_blocks(&values, (low, high)))
}

pub(crate) fn running_sum_sparkline(numbers: impl IntoIterator<Item = f64>) -> Option<String> {
    let sums: Vec<f64> = (numbers.into_iter())
        .scan(0.0, |sum, number| {
            *sum += number;
            Some(*sum)
        })
        .collect();
    let columns = sums.len().min(RUNNING_SUM_COLUMNS);
    let shown: Vec<f64> = (1..=columns).map(|column| sums[column * sums.len() / columns - 1]).collect();
    (sums.len() > 1).then(|| draw_blocks(&shown, value_range(&shown, (0.0, 0.0))))
}

fn value_range(values: &[f64], from: (f64, f64)) -> (f64, f64) {
    values.iter().fold(from, |(low, high), value| (low.min(*value), high.max(*value)))
}

fn draw_blocks(values: &[f64], (low, high): (f64, f64)) -> String {
    let step = ((high - low) / BLOCKS.len() as f64).max(f64::MIN_POSITIVE);
    let block = |value: &f64| BLOCKS[(((value - low) / step) as usize).min(BLOCKS.len() - 1)];
    values.iter().map(block).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_break_even_payout_above_100_percent() {
        for (percent, expected) in [
            (78.571_4, "78.57 %"),
            (100.0, "100.00 %"),
            (0.0, "-"),
            (103.4, "none (above 100 %)"),
            (f64::INFINITY, "none (above 100 %)"),
        ] {
            assert_eq!(break_even_payout_text(percent), expected);
        }
    }

    fn curve(balances: impl IntoIterator<Item = f64>) -> Vec<EquityPoint> {
        balances.into_iter().map(|balance| EquityPoint { at: Millis::ZERO, balance }).collect()
    }

    #[test]
    fn sparkline_spans_all_blocks_and_thins_long_curves() {
        for (balances, expected) in [
            (&[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0][..], Some("▁▂▃▄▅▆▇█")),
            (&[10.0, 5.0, 20.0], Some("▃▁█")),
            (&[10.0, 10.0], None),
            (&[10.0], None),
            (&[], None),
        ] {
            assert_eq!(sparkline(&curve(balances.iter().copied())).as_deref(), expected, "{balances:?}");
        }
        let line: Vec<char> = sparkline(&curve((0..500).map(f64::from))).unwrap().chars().collect();
        assert_eq!((line.len(), line[0], line[SPARKLINE_COLUMNS - 1]), (SPARKLINE_COLUMNS, '▁', '█'));
        assert!(line.is_sorted());
    }

    #[test]
    fn running_sum_spans_all_blocks() {
        for (numbers, expected) in [
            (&[][..], None),
            (&[1.0], None),
            (&[1.0, 1.0, 1.0, 1.0], Some("▃▅▇█")),
            (&[-4.0, 2.0, 6.0], Some("▁▃█")),
            (&[0.0, 0.0], Some("▁▁")),
        ] {
            assert_eq!(running_sum_sparkline(numbers.iter().copied()).as_deref(), expected, "{numbers:?}");
        }
        let long = running_sum_sparkline((0..1_000).map(|_| 1.0)).unwrap();
        assert!(long.chars().count() == RUNNING_SUM_COLUMNS && long.ends_with('█'), "{long}");
    }
}
