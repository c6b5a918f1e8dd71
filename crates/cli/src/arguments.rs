//! Global arguments, and parsers for arguments that several commands share.

use candlewick_sandbox::{NamedSpeed, SandboxSpeed};
use candlewick_sdk::{Interval, Millis, Payout};
use clap::{ArgAction, Args};
use std::path::PathBuf;

/// Arguments of every command.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Global options")]
pub(crate) struct GlobalArguments {
    /// Configuration file; repeat it, and later ones win
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) config: Vec<PathBuf>,
    /// Print one JSON document on stdout, all else on stderr
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// No progress bars, notices or warnings
    #[arg(long, short, global = true, conflicts_with = "verbose")]
    pub(crate) quiet: bool,
    /// More detail on stderr; repeat for more still
    #[arg(long, short, global = true, action = ArgAction::Count)]
    pub(crate) verbose: u8,
}

/// Parses a percentage with or without its sign: `85`, `85%`, `85 %`.
///
/// `None` if it is not a finite number.
pub(crate) fn parse_percent(text: &str) -> Option<f64> {
    let number = text.trim().strip_suffix('%').unwrap_or(text).trim();
    number.parse().ok().filter(|percent: &f64| percent.is_finite())
}

pub(crate) fn parse_payout_percent(text: &str) -> Result<f64, String> {
    let percent = parse_percent(text).filter(|percent| *percent > 0.0 && *percent <= 1_000.0);
    let percent = percent.ok_or_else(|| "use a payout in percent, such as 85".to_owned())?;
    match Payout::percent_of_share(percent) {
        Some(meant) => Err(format!("payouts are in percent; did you mean {meant}?")),
        None => Ok(percent),
    }
}

pub(crate) fn parse_speed(text: &str) -> Result<SandboxSpeed, String> {
    if text == "max" {
        return Ok(SandboxSpeed::Named(NamedSpeed::Max));
    }
    let factor = text.parse().ok().filter(|factor: &f64| *factor > 0.0 && *factor <= 1e6);
    factor
        .map(SandboxSpeed::Times)
        .ok_or_else(|| "use a factor above 0 and at most 1000000, or max".to_owned())
}

#[expect(clippy::unnecessary_wraps, reason = "the form that clap asks for")]
pub(crate) fn parse_journal(text: &str) -> Result<String, String> {
    Ok(if text.contains("://") { text.to_owned() } else { format!("sqlite://{text}") })
}

pub(crate) fn parse_span(text: &str) -> Result<Millis, String> {
    let span = text.parse().map(Interval::length);
    span.map_err(|_| {
        "use a whole number and a unit s, m, h or d, such as 90s or 10m (at most 31d)".to_owned()
    })
}

/// A span of candle time, which may exceed a month.
pub(crate) fn parse_length(text: &str) -> Result<Millis, String> {
    let unit = text.chars().last().and_then(|unit| match unit {
        'm' => Some(Millis::MINUTE),
        'h' => Some(Millis::HOUR),
        'd' => Some(Millis::DAY),
        'w' => Some(Millis::DAY * 7),
        _ => None,
    });
    let count = unit.and_then(|_| text[..text.len() - 1].parse().ok());
    let length = unit.zip(count.filter(|count: &i64| (0..=100_000).contains(count)));
    length
        .map(|(unit, count)| unit * count)
        .ok_or_else(|| "use a whole number and a unit m, h, d or w, such as 90d or 12h".to_owned())
}

/// Parses a moment: a date, a time in ISO 8601, or a number since 1970 in the unit of its size.
pub(crate) fn parse_moment(text: &str) -> Result<Millis, String> {
    candlewick_sandbox::parse_moment(text).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentages_are_read_with_or_without_their_sign() {
        for (text, expected) in [
            ("85", Some(85.0)),
            ("85%", Some(85.0)),
            ("85 %", Some(85.0)),
            ("92.5%", Some(92.5)),
            ("85%%", None),
            ("%", None),
            ("NaN", None),
            ("inf%", None),
            ("much", None),
        ] {
            assert_eq!(parse_percent(text), expected, "{text}");
        }
        assert_eq!(parse_payout_percent("85%"), Ok(85.0));
        assert_eq!(parse_payout_percent("0.85").unwrap_err(), "payouts are in percent; did you mean 85?");
        assert!(["0", "-5", "1001", "x"].iter().all(|text| parse_payout_percent(text).is_err()));
    }

    #[test]
    fn speeds_are_factors_or_max() {
        for (text, expected) in [
            ("max", Some(SandboxSpeed::Named(NamedSpeed::Max))),
            ("0.5", Some(SandboxSpeed::Times(0.5))),
            ("120", Some(SandboxSpeed::Times(120.0))),
            ("0", None),
            ("-1", None),
            ("NaN", None),
            ("inf", None),
            ("fast", None),
        ] {
            assert_eq!(parse_speed(text).ok(), expected, "{text}");
        }
    }

    #[test]
    fn moments_are_dates_times_or_milliseconds() {
        for (text, expected) in [
            ("2026-01-05", Some(1_767_571_200_000)),
            ("2026-01-05T01:00:00+01:00", Some(1_767_571_200_000)),
            ("2026-01-05 00:00", Some(1_767_571_200_000)),
            ("1767571200000", Some(1_767_571_200_000)),
            ("1767571200", Some(1_767_571_200_000)),
            ("2026-01-05T01:00+01:00", Some(1_767_571_200_000)),
            ("17", None),
            ("2026-13-05", None),
            ("yesterday", None),
        ] {
            assert_eq!(parse_moment(text).ok(), expected.map(Millis::new), "{text}");
        }
    }

    #[test]
    fn lengths_have_a_unit_and_may_be_long() {
        for (text, expected) in [
            ("90d", Some(Millis::DAY * 90)),
            ("12w", Some(Millis::DAY * 84)),
            ("0m", Some(Millis::ZERO)),
            ("36h", Some(Millis::HOUR * 36)),
            ("-1d", None),
            ("90", None),
            ("90\u{e9}", None),
            ("d", None),
            ("99999999999999999999d", None),
        ] {
            assert_eq!(parse_length(text).ok(), expected, "{text}");
        }
    }

    #[test]
    fn spans_have_a_unit() {
        assert_eq!(parse_span("10m"), Ok(Millis::MINUTE * 10));
        assert!(parse_span("10").is_err() && parse_span("soon").is_err());
    }
}
