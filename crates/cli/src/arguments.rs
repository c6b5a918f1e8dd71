//! Arguments that several commands share, and parsers of argument values.
#![allow(clippy::doc_markdown, reason = "the documentation of arguments is the help printed by clap")]

use crate::context::Context;
use crate::question::ask_yes_or_no;
use candlewick_app::candles::{CandleChoice, PriceSource};
use candlewick_app::evidence::SealUse;
use candlewick_records::format_utc;
use candlewick_report::run::ReplayBasis;
use candlewick_sandbox::{NamedSpeed, SandboxSpeed};
use candlewick_sdk::{Interval, Millis, Payout};
use chrono::{DateTime, Datelike, Days, NaiveDate, NaiveDateTime, NaiveTime};
use clap::{ArgAction, Args};
use std::path::PathBuf;

#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Global options")]
pub(crate) struct GlobalArguments {
    /// Configuration file; repeatable, later files override earlier ones
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) config: Vec<PathBuf>,
    /// Print one JSON document on stdout, and all other output on stderr
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Hide progress bars, notices and warnings
    #[arg(long, short, global = true, conflicts_with = "verbose")]
    pub(crate) quiet: bool,
    /// Print more details on stderr; repeat for even more
    #[arg(long, short, global = true, action = ArgAction::Count)]
    pub(crate) verbose: u8,
}

/// Parses a finite percentage, with or without a percent sign: `85`, `85%`, `85 %`.
pub(crate) fn parse_percent(text: &str) -> Option<f64> {
    let number = text.trim().strip_suffix('%').unwrap_or(text).trim();
    number.parse().ok().filter(|percent: &f64| percent.is_finite())
}

pub(crate) fn parse_payout_percent(text: &str) -> Result<f64, String> {
    let percent = parse_percent(text).filter(|percent| *percent > 0.0 && *percent <= 1_000.0);
    let percent = percent.ok_or_else(|| "use a payout in percent, such as 85".to_owned())?;
    match Payout::percent_from_fraction(percent) {
        Some(meant) => Err(format!("payouts are in percent; did you mean {meant}?")),
        None => Ok(percent),
    }
}

pub(crate) fn parse_speed(text: &str) -> Result<SandboxSpeed, String> {
    if text == "max" {
        return Ok(SandboxSpeed::Named(NamedSpeed::Max));
    }
    let factor = text.parse().ok().filter(|factor: &f64| *factor > 0.0 && *factor <= 1e6);
    factor.map(SandboxSpeed::Times).ok_or_else(|| "use max, or a factor above 0 and up to 1000000".to_owned())
}

#[expect(clippy::unnecessary_wraps, reason = "the signature required by clap")]
pub(crate) fn parse_journal(text: &str) -> Result<String, String> {
    Ok(if text.contains("://") { text.to_owned() } else { format!("sqlite://{text}") })
}

pub(crate) fn parse_short_duration(text: &str) -> Result<Millis, String> {
    text.parse().map(Interval::length).map_err(|_| {
        "use a whole number with a unit (s, m, h or d), such as 90s or 10m, up to 31d".to_owned()
    })
}

pub(crate) fn parse_long_duration(text: &str) -> Result<Millis, String> {
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
        .ok_or_else(|| "use a whole number with a unit (m, h, d or w), such as 90d or 12h".to_owned())
}

/// Parses a date, an ISO 8601 time, or a Unix time in seconds or (for large numbers) milliseconds.
pub(crate) fn parse_moment(text: &str) -> Result<Millis, String> {
    candlewick_sandbox::parse_any_time(text).map_err(|error| error.to_string())
}

#[derive(Clone, Debug, Args)]
pub(crate) struct CandleArguments {
    /// Candle source; repeatable. One of: a file SYMBOL_INTERVAL.csv or .parquet; SYMBOL@INTERVAL=PATH for a file with
    /// another name or in object storage (s3://BUCKET/...); a catalog series SYMBOL@INTERVAL. Trades are priced on the
    /// symbol's finest candles
    #[arg(long, value_name = "FILE")]
    data: Vec<String>,
    /// Catalog folder to read candles from if --data is not given
    #[arg(long, value_name = "DIR")]
    catalog: Option<PathBuf>,
    /// Skip candles that open before this time: a date, an ISO 8601 time, or Unix seconds or milliseconds
    #[arg(long, value_name = "TIME", value_parser = parse_moment)]
    from: Option<Millis>,
    /// Skip candles that close after this time
    #[arg(long, value_name = "TIME", value_parser = parse_moment)]
    to: Option<Millis>,
    /// Allow trades shorter than a candle; their results prove nothing
    #[arg(long)]
    allow_coarse: bool,
    /// Rule file that replaces the configured bots. Each symbol of --data gets one bot, which trades on the
    /// symbol's longest interval. Trades last one candle unless the rule sets a duration
    #[arg(long, value_name = "FILE")]
    rules: Option<PathBuf>,
    /// Payout of a win, in percent of the stake [default: simulation.payout_percent]
    #[arg(long, value_name = "PERCENT", value_parser = parse_payout_percent)]
    payout: Option<f64>,
    /// Move the sealed day forward to this day, so that earlier days may be explored. They are then seen, for all symbols
    #[arg(long, value_name = "DATE", conflicts_with = "all")]
    until: Option<NaiveDate>,
    /// Explore all candles, so that no day of them can be used by `confirm`
    #[arg(long)]
    all: bool,
    /// Do not ask before sealed days are opened
    #[arg(long)]
    yes: bool,
}

impl CandleArguments {
    pub(crate) const fn allows_coarse(&self) -> bool {
        self.allow_coarse
    }

    /// Converts the arguments. Asks first if they open sealed days.
    pub(crate) fn to_candle_choice(&self) -> CandleChoice {
        let Self { data, catalog, from, to, allow_coarse, rules, payout, until, all, yes } = self.clone();
        let seal = if until.is_some() || all {
            let days =
                until.map_or_else(|| "all days".to_owned(), |until| format!("the days before {until}"));
            let question = format!(
                "Explore {days}? Sealed days among them can then never confirm an edge, for any symbol."
            );
            SealUse::Open { until, is_confirmed: yes || ask_yes_or_no(&question) }
        } else {
            SealUse::Explore
        };
        CandleChoice { data, catalog, from, to, allow_coarse, rules, payout, seal }
    }
}

pub(crate) fn replay_basis(allows_coarse: bool, prices: PriceSource) -> ReplayBasis {
    ReplayBasis {
        may_have_coarse_candles: allows_coarse,
        has_venue_prices: prices == PriceSource::Venue,
        has_simulated_latency: false,
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RequestedTime {
    Moment(Millis),
    /// Time of day without a date. Means its last occurrence in the journal.
    TimeOfDay(NaiveTime, String),
    WithoutYear(String),
}

const TIME_FORMATS: [&str; 2] = ["%H:%M", "%H:%M:%S"];
const DATE_FORMATS: [&str; 2] = ["%Y %m-%d %H:%M", "%Y %m-%d %H:%M:%S"];

/// Parses the formats of [`parse_moment`] and the times that `live` prints, such as `17:08` or `01-05 17:08:30`.
pub(crate) fn parse_requested_time(text: &str) -> Result<RequestedTime, String> {
    if let Some(time) = TIME_FORMATS.iter().find_map(|form| NaiveTime::parse_from_str(text, form).ok()) {
        return Ok(RequestedTime::TimeOfDay(time, text.to_owned()));
    }
    // The year is 2024, because it is a leap year and accepts 02-29.
    if parse_in_year(2_024, text).is_some() {
        return Ok(RequestedTime::WithoutYear(text.to_owned()));
    }
    parse_moment(text).map(RequestedTime::Moment).map_err(|problem| {
        format!("{problem}; times printed by `live` are also valid, such as 17:08 or \"01-05 17:08:30\"")
    })
}

fn parse_in_year(year: i32, text: &str) -> Option<NaiveDateTime> {
    let whole = format!("{year} {text}");
    DATE_FORMATS.iter().find_map(|form| NaiveDateTime::parse_from_str(&whole, form).ok())
}

impl RequestedTime {
    /// Returns the last matching time up to `last`, in UTC. A complete date and time is returned unchanged.
    pub(crate) fn resolve_before(&self, last: Millis) -> Option<Millis> {
        let end = DateTime::from_timestamp_millis(last.get())?.naive_utc();
        let day = |back: u64| end.date().checked_sub_days(Days::new(back));
        // The previous 29 February was at most eight years ago.
        let found = match self {
            Self::Moment(moment) => return Some(*moment),
            Self::TimeOfDay(time, _) => {
                (0..2).filter_map(|back| Some(day(back)?.and_time(*time))).find(|at| *at <= end)
            }
            Self::WithoutYear(text) => {
                (0..=8).filter_map(|back| parse_in_year(end.year() - back, text)).find(|at| *at <= end)
            }
        };
        found.map(|at| Millis::new(at.and_utc().timestamp_millis()))
    }

    pub(crate) fn print_resolved(&self, last: Millis, context: &Context<'_>) {
        let (Self::TimeOfDay(_, text) | Self::WithoutYear(text)) = self else { return };
        if let Some(moment) = self.resolve_before(last) {
            let moment = format_utc(moment);
            context.print_notice(&format!("note: {text} means {moment}, the last such time in the journal"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentages_are_read_with_or_without_their_sign() {
        for (texts, expected) in
            [("85|85%|85 %", Some(85.0)), ("92.5%", Some(92.5)), ("85%%|%|NaN|inf%|much", None)]
        {
            assert!(texts.split('|').all(|text| parse_percent(text) == expected), "{texts}");
        }
        assert_eq!(parse_payout_percent("85%"), Ok(85.0));
        assert_eq!(parse_payout_percent("0.85").unwrap_err(), "payouts are in percent; did you mean 85?");
        assert!(["0", "-5", "1001", "x"].iter().all(|text| parse_payout_percent(text).is_err()));
    }

    #[test]
    fn speeds_are_factors_or_max() {
        for (texts, expected) in [
            ("max", Some(SandboxSpeed::Named(NamedSpeed::Max))),
            ("0.5", Some(SandboxSpeed::Times(0.5))),
            ("120", Some(SandboxSpeed::Times(120.0))),
            ("0|-1|NaN|inf|fast", None),
        ] {
            assert!(texts.split('|').all(|text| parse_speed(text).ok() == expected), "{texts}");
        }
    }

    #[test]
    fn parses_lengths_with_a_unit() {
        for (text, expected) in [
            ("90d", Some(Millis::DAY * 90)),
            ("12w", Some(Millis::DAY * 84)),
            ("0m", Some(Millis::ZERO)),
            ("36h", Some(Millis::HOUR * 36)),
        ] {
            assert_eq!(parse_long_duration(text).ok(), expected, "{text}");
        }
        for text in ["-1d", "90", "90\u{e9}", "d", "99999999999999999999d"] {
            assert!(parse_long_duration(text).is_err(), "{text}");
        }
        let spans = ["10m", "10", "soon"].map(|text| parse_short_duration(text).ok());
        assert_eq!(spans, [Some(Millis::MINUTE * 10), None, None]);
    }

    #[test]
    fn time_of_day_means_its_last_occurrence_in_the_journal() {
        // 2026-01-05T17:08:30Z, from `date -u -d '2026-01-05 17:08:30' +%s000`.
        let last = Millis::new(1_767_632_910_000);
        for (text, expected) in [
            ("17:08", "2026-01-05T17:08:00.000Z"),
            ("17:08:30", "2026-01-05T17:08:30.000Z"),
            ("17:08:31", "2026-01-04T17:08:31.000Z"),
            ("00:00", "2026-01-05T00:00:00.000Z"),
            ("01-05 17:08:30", "2026-01-05T17:08:30.000Z"),
            ("01-05 17:09", "2025-01-05T17:09:00.000Z"),
            ("12-31 23:59", "2025-12-31T23:59:00.000Z"),
            ("02-29 10:00", "2024-02-29T10:00:00.000Z"),
            ("2027-01-01", "2027-01-01T00:00:00.000Z"),
            ("1767580260000", "2026-01-05T02:31:00.000Z"),
        ] {
            let asked = parse_requested_time(text).unwrap_or_else(|problem| panic!("{text}: {problem}"));
            assert_eq!(asked.resolve_before(last).map(format_utc).as_deref(), Some(expected), "{text}");
        }
        for text in ["24:00", "5 pm", "17", "02-30 10:00", "17:8:"] {
            assert!(parse_requested_time(text).is_err(), "{text}");
        }
    }
}
