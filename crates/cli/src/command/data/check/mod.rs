//! `data check`: what is wrong with candles, and a repair that leaves the original alone.

mod repair;
mod told;

use super::reading::ReadingArguments;
use super::{CatalogArgument, tell_broken};
use crate::context::Context;
use crate::failure::{Failure, FailureKind};
use crate::output::{print, print_json};
use crate::progress::{Progress, with_spinner};
use candlewick_app::candles::DataName;
use candlewick_history::{Catalog, CheckSettings, Checked, FindingKind, Session, check_file, check_series};
use candlewick_sdk::Series;
use chrono::NaiveDate;
use clap::Args;
use repair::RepairArguments;
use std::fmt;
use std::path::{Path, PathBuf};

/// Which candles, and what to hold them to.
#[derive(Debug, Args)]
#[command(
    after_help = "Problems that are certain: unreadable, not-finite, price, volume, range, misaligned, unsorted, duplicate; \
                  --fix mends them.\nDoubtful ones: closed, spike, flat, revised, mended by --fix --also KINDS; gap and jump, \
                  which nothing mends.\nWhat is left exits with 5.\n\nExamples:\n  candlewick data check\n  candlewick data \
                  check EURUSD@1m --ignore gap --json\n  candlewick data check DAT_ASCII_EURUSD_M1_2024.zip --fix --out \
                  EURUSD_1m.csv\n  candlewick data check AAPL.csv --session \"Mon-Fri 09:30-16:00 America/New_York\" \
                  --holiday 2024-01-15"
)]
pub(crate) struct CheckArguments {
    /// Series of the catalog, SYMBOL@INTERVAL, or files of any format that can be imported; the whole catalog when left out
    #[arg(value_name = "SERIES")]
    names: Vec<String>,
    /// When the market is open: always, currencies, or days, hours and a time zone; told from the symbol when left out
    #[arg(long)]
    session: Option<Session>,
    /// Day on which the market stays closed, such as 2024-12-25; repeat it
    #[arg(long, value_name = "DATE")]
    holiday: Vec<NaiveDate>,
    /// A price so many usual ranges of a candle away is a spike or a jump
    #[arg(long, value_name = "RANGES", default_value_t = CheckSettings::default().spike_ranges, value_parser = parse_ranges)]
    spike: f64,
    /// So many candles without any movement, one after the other, are a flat stretch
    #[arg(long, value_name = "CANDLES", default_value_t = CheckSettings::default().flat_candles, value_parser = clap::value_parser!(u64).range(2..))]
    flat: u64,
    /// Kinds of problems that are none here, between commas
    #[arg(long, value_name = "KINDS", value_delimiter = ',')]
    ignore: Vec<FindingKind>,
    /// How many problems of each kind the table shows
    #[arg(long, value_name = "COUNT", default_value_t = 10)]
    show: usize,
    #[command(flatten)]
    catalog: CatalogArgument,
    #[command(flatten)]
    repair: RepairArguments,
    #[command(flatten)]
    reading: ReadingArguments,
}

/// What is checked.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Subject {
    /// A series of the catalog.
    Stored(Series),
    /// A file, and what it holds where the argument says so.
    File(PathBuf, Option<Series>),
}

pub(super) fn run(arguments: &CheckArguments, context: &Context<'_>) -> Result<(), Failure> {
    let catalog = arguments.catalog.open(context)?;
    let subjects = subjects(arguments, &catalog)?;
    arguments.repair.hold_to(&subjects)?;
    let mut documents = Vec::with_capacity(subjects.len());
    let mut all = Vec::with_capacity(subjects.len());
    let mut broken = Vec::new();
    for subject in &subjects {
        let mut checked = match check(subject, arguments, &catalog, context) {
            Ok(checked) => checked,
            // One series that cannot be read hides no other.
            Err(failure) => {
                broken.push(failure);
                continue;
            }
        };
        let repaired = arguments.repair.apply(subject, &checked, &catalog, context)?;
        checked.findings = checked.findings.without(&arguments.ignore);
        let left = repaired.as_ref().map_or(&checked.findings, |repaired| &repaired.left);
        let left = left.clone().without(&arguments.ignore).total();
        if context.global.json {
            documents.push(told::document(subject, &checked, repaired.as_ref(), left));
        } else {
            print(&told::text(subject, &checked, repaired.as_ref(), arguments.show))?;
        }
        all.push((checked, left));
    }
    if context.global.json {
        print_json(&documents)?;
    } else if subjects.is_empty() {
        print(&format!("{}: the catalog is empty; there is nothing to check", catalog.folder().display()))?;
    } else if !all.is_empty() {
        print(&told::coverage(&all))?;
    }
    tell_broken(broken)?;
    judge(&all, &arguments.repair)
}

fn subjects(arguments: &CheckArguments, catalog: &Catalog) -> Result<Vec<Subject>, Failure> {
    if arguments.names.is_empty() {
        return Ok(catalog.series()?.into_iter().map(Subject::Stored).collect());
    }
    Ok(arguments.names.iter().map(|name| Subject::of(name)).collect())
}

impl Subject {
    fn of(text: &str) -> Self {
        match text.parse() {
            Ok(DataName::Stored(series)) => Self::Stored(series),
            // Only the form SYMBOL@INTERVAL=PATH: what a plain name tells, the reading of the file finds out.
            Ok(DataName::File(source)) if source.path != Path::new(text) => {
                Self::File(source.path, Some(source.series))
            }
            Ok(DataName::File(_)) | Err(_) => Self::File(PathBuf::from(text), None),
        }
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stored(series) => write!(f, "{}@{}", series.symbol, series.interval),
            Self::File(path, _) => path.display().fmt(f),
        }
    }
}

fn check(
    subject: &Subject,
    arguments: &CheckArguments,
    catalog: &Catalog,
    context: &Context<'_>,
) -> Result<Checked, Failure> {
    let settings = CheckSettings {
        session: arguments.session.clone(),
        holidays: arguments.holiday.clone(),
        spike_ranges: arguments.spike,
        flat_candles: arguments.flat,
    };
    match subject {
        Subject::Stored(series) => with_spinner(&format!("Checking {subject}"), context.global, || {
            let candles = catalog.read(*series)?.into_candles();
            Ok(check_series(&candles, &catalog.revisions(*series)?, &settings))
        }),
        Subject::File(path, named) => {
            let mut reading = arguments.reading.settings();
            if let Some(series) = named {
                reading.symbol.get_or_insert(series.symbol);
                reading.interval.get_or_insert(series.interval);
            }
            let mut progress = Progress::new(format!("Checking {subject}"), context.global);
            let mut watch = |at: candlewick_history::Progress| progress.update(at.read_bytes, at.total_bytes);
            Ok(check_file(path, &reading, &settings, &mut watch)?)
        }
    }
}

/// Fails when problems are left.
fn judge(all: &[(Checked, u64)], repair: &RepairArguments) -> Result<(), Failure> {
    let bad = all.iter().filter(|(_, left)| *left > 0).count();
    if bad == 0 {
        return Ok(());
    }
    let left: u64 = all.iter().map(|(_, left)| left).sum();
    let what = if left == 1 { "1 problem is".to_owned() } else { format!("{left} problems are") };
    let problem = format!("{what} left in {bad} of {} series", all.len());
    let help = if repair.is_wanted() {
        "what is doubtful is mended by --also KINDS, or taken for right by --ignore KINDS"
    } else {
        "--fix writes a repaired copy; --ignore KINDS takes what is doubtful for right"
    };
    Err(Failure::new(FailureKind::Check, anyhow::Error::msg(problem)).help(help))
}

/// `--spike`: a number of ranges.
fn parse_ranges(text: &str) -> Result<f64, String> {
    let ranges = text.parse().ok().filter(|ranges: &f64| *ranges >= 1.0 && ranges.is_finite());
    ranges.ok_or_else(|| "use a number of at least 1".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_a_series_of_the_catalog_or_any_file() {
        let euro = Series { symbol: "EURUSD".parse().unwrap(), interval: "1m".parse().unwrap() };
        for (text, expected) in [
            ("EURUSD@1m", Subject::Stored(euro)),
            ("EURUSD@1m=x.txt", Subject::File(PathBuf::from("x.txt"), Some(euro))),
            ("EURUSD_1m.csv", Subject::File(PathBuf::from("EURUSD_1m.csv"), None)),
            (
                "DAT_ASCII_EURUSD_M1_2024.zip",
                Subject::File(PathBuf::from("DAT_ASCII_EURUSD_M1_2024.zip"), None),
            ),
        ] {
            assert_eq!(Subject::of(text), expected, "{text}");
        }
    }
}
