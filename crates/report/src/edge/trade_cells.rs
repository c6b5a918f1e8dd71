//! Parsing of cells of a CSV of trades.

use candlewick_sdk::rust_decimal::Decimal;
use candlewick_sdk::rust_decimal::prelude::ToPrimitive;
use candlewick_sdk::{Millis, Outcome, Payout};

/// Smallest number read as seconds since 1970: in September 2001.
const MIN_SECONDS: i64 = 1_000_000_000;
/// Smallest number read as milliseconds: in March 1973. As seconds it is in the year 5138.
const MIN_MILLIS: i64 = 100_000_000_000;
/// Smallest number read as microseconds. As milliseconds it is in the year 5138.
const MIN_MICROS: i64 = 100_000_000_000_000;
/// Smallest number read as nanoseconds.
const MIN_NANOS: i64 = 100_000_000_000_000_000;

pub(super) fn parse_outcome(text: &str) -> Result<Option<Outcome>, String> {
    let outcomes = [Outcome::Won, Outcome::Lost, Outcome::Draw, Outcome::Cancelled];
    if text.is_empty() {
        return Ok(None);
    }
    let found = outcomes.into_iter().find(|outcome| outcome.as_str().eq_ignore_ascii_case(text));
    found.map(Some).ok_or_else(|| format!("\"{text}\" is not a result: use WON, LOST, DRAW or CANCELLED"))
}

pub(super) fn parse_payout(text: &str) -> Result<Payout, String> {
    let percent = text.trim_end_matches('%').trim_end().parse::<Decimal>();
    let percent = percent.map_err(|_| format!("\"{text}\" is not a payout"))?;
    Payout::from_percent(percent).map_err(|error| error.to_string())
}

/// Parses a payout of a file from another program. Rejects fractions (0.85), odds (1.85) and
/// returns that include the stake (185).
pub(super) fn parse_foreign_payout(text: &str) -> Result<Payout, String> {
    let payout = parse_payout(text)?;
    match Payout::percent_meant_by(payout.to_percent()) {
        Some(meant) => Err(format!("invalid payout {text}: payouts are percentages, did you mean {meant}?")),
        None => Ok(payout),
    }
}

/// Parses milliseconds since 1970, or seconds, microseconds or nanoseconds, depending on their
/// size.
///
/// Smaller numbers are not dates. They only order the trades.
pub(super) fn parse_time(text: &str) -> Result<Millis, String> {
    let number: i64 = text.parse().map_err(|_| format!("\"{text}\" is not a time in milliseconds"))?;
    Ok(Millis::new(match number {
        MIN_SECONDS..MIN_MILLIS => number * 1_000,
        MIN_MICROS..MIN_NANOS => number / 1_000,
        MIN_NANOS.. => number / 1_000_000,
        _ => number,
    }))
}

pub(crate) fn is_date(time: Millis) -> bool {
    time.get() >= MIN_MILLIS
}

pub(super) fn parse_amount(text: &str) -> Option<Decimal> {
    text.parse().ok().or_else(|| Decimal::from_scientific(text).ok())
}

pub(super) fn to_f64(amount: Decimal) -> f64 {
    amount.to_f64().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_odds_and_returns_are_refused_with_the_percent_they_mean() {
        for (text, expected) in [
            ("0.85", Some("did you mean 85?")),
            ("1.85", Some("did you mean 85?")),
            ("185", Some("did you mean 85?")),
            ("185%", Some("did you mean 85?")),
            ("0.92", Some("did you mean 92?")),
            ("192.5", Some("did you mean 92.5?")),
            ("85", None),
            ("85 %", None),
            ("100", None),
            // Unusual, but nothing else can be meant: the report has a finding.
            ("12", None),
            ("110", None),
        ] {
            let problem = parse_foreign_payout(text).err();
            let is_expected = match (&problem, expected) {
                (Some(problem), Some(expected)) => problem.contains(expected),
                (None, None) => true,
                _ => false,
            };
            assert!(is_expected, "{text}: {problem:?}");
        }
    }

    #[test]
    fn times_are_read_in_the_unit_of_their_size() {
        let expected = Millis::new(1_767_880_800_000);
        for text in ["1767880800", "1767880800000", "1767880800000000", "1767880800000000000"] {
            assert_eq!(parse_time(text), Ok(expected), "{text}");
        }
        assert_eq!(parse_time("17"), Ok(Millis::new(17)));
        assert!(is_date(expected) && !is_date(Millis::new(17)));
        assert!(parse_time("soon").is_err());
    }
}
