//! `data check`: finds problems in candles and repairs a copy.

use super::CatalogArgument;
use super::import::ReadingArguments;
use crate::command::data::existing_file_rule;
use crate::context::Context;
use crate::failure::{Ending, Failure, fail_if_any};
use crate::output::{print, print_json};
use crate::progress::StderrBars;
use candlewick_app::candles::candle_store;
use candlewick_app::data::check::{CheckResult, CheckTarget, RepairOptions, coverage_table};
use candlewick_history::{
    CheckSettings, ConflictChoice, FindingKind, MarketHours, Remedy, check_series_agreement,
};
use chrono::NaiveDate;
use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  candlewick data check\n  candlewick data \
                  check EURUSD@1m --ignore gap --json\n  candlewick data check DAT_ASCII_EURUSD_M1_2024.zip --fix --out \
                  EURUSD_1m.csv\n  candlewick data check AAPL.csv --session \"Mon-Fri 09:30-16:00 America/New_York\" \
                  --holiday 2024-01-15\n\nErrors, repaired by --fix: unreadable, not-finite, price, volume, range, misaligned, unsorted, \
                  duplicate.\nWarnings, repaired by --fix --also KINDS: closed, spike, flat, revised, conflict (different rows of one \
                  time).\nWarnings without repair: gap, jump, out-of-step.\nExits with 5 if problems are left.")]
pub(crate) struct CheckArguments {
    /// Catalog series SYMBOL@INTERVAL, or files in any import format [default: the whole catalog]
    #[arg(value_name = "SERIES")]
    names: Vec<String>,
    /// Trading hours: always, currencies, or a schedule such as "Mon-Fri 09:30-16:00 America/New_York" [default:
    /// derived from the symbol]
    #[arg(long)]
    session: Option<MarketHours>,
    /// Day without trading, such as 2024-12-25; repeatable. Currency markets reopen at 17:00 New York time. In other
    /// markets, no session starts on this day
    #[arg(long, value_name = "DATE")]
    holiday: Vec<NaiveDate>,
    /// Threshold for spikes and jumps, as a multiple of the typical candle range
    #[arg(long, value_name = "RANGES", default_value_t = CheckSettings::default().min_spike_factor, value_parser = parse_spike_threshold)]
    spike: f64,
    /// Minimum number of consecutive candles without movement that count as flat
    #[arg(long, value_name = "CANDLES", default_value_t = CheckSettings::default().min_flat_candles, value_parser = clap::value_parser!(u64).range(2..))]
    flat: u64,
    /// Kinds of problems to ignore, comma-separated
    #[arg(long, value_name = "KINDS", value_delimiter = ',')]
    ignore: Vec<FindingKind>,
    /// Maximum number of problems to list per kind
    #[arg(long, value_name = "COUNT", default_value_t = 10)]
    show: usize,
    #[command(flatten)]
    catalog: CatalogArgument,
    #[command(flatten)]
    repair: RepairArguments,
    #[command(flatten)]
    reading: ReadingArguments,
}

pub(super) fn run(arguments: &CheckArguments, context: &Context<'_>) -> Result<Ending, Failure> {
    let store = candle_store(&arguments.catalog.load_config(context)?);
    let targets = CheckTarget::parse_all(&arguments.names, &store.catalog)?;
    let repair = arguments.repair.to_repair_options();
    repair.as_ref().map_or(Ok(()), |terms| terms.check(&targets))?;
    let settings = CheckSettings {
        session: arguments.session.clone(),
        holidays: arguments.holiday.clone(),
        min_spike_factor: arguments.spike,
        min_flat_candles: arguments.flat,
    };
    let (reading, progress) = (arguments.reading.to_import_settings(), StderrBars(context.global));
    let (mut all, mut failures) = (Vec::with_capacity(targets.len()), Vec::new());
    for target in targets {
        match target.check(&settings, &reading, &store, &progress) {
            Ok(checked) => all.push((target, checked)),
            Err(error) => failures.push(error.into()),
        }
    }
    check_series_agreement(&mut all.iter_mut().map(|(_, checked)| checked).collect::<Vec<_>>());
    let mut results = Vec::with_capacity(all.len());
    for (target, checked) in all {
        let repair = repair.as_ref().map(|terms| terms.repair(&target, &checked, &store.catalog, &progress));
        let share = store.longer_share_percent;
        let result = CheckResult::new(target, checked, repair.transpose()?, &arguments.ignore, share);
        if !context.global.json {
            print(&result.text(arguments.show))?;
        }
        results.push(result);
    }
    if context.global.json {
        print_json(&results.iter().map(CheckResult::to_json).collect::<Vec<_>>())?;
    } else if !results.is_empty() {
        print(&coverage_table(&results))?;
    } else if failures.is_empty() {
        print(&format!("{}: the catalog contains no candles to check", store.catalog.folder().display()))?;
    }
    fail_if_any(failures)?;
    exit_result(&results)
}

fn exit_result(results: &[CheckResult]) -> Result<Ending, Failure> {
    let bad = results.iter().filter(|result| result.remaining_problems() > 0).count();
    if bad == 0 {
        return Ok(Ending::Done);
    }
    let left: u64 = results.iter().map(CheckResult::remaining_problems).sum();
    let problems = if left == 1 { "problem" } else { "problems" };
    let problem = format!("{left} {problems} in {bad} of {} series", results.len());
    Err(Failure::failed_check(problem).hint(CheckResult::help(results)))
}

fn parse_spike_threshold(text: &str) -> Result<f64, String> {
    let ranges = text.parse().ok().filter(|ranges: &f64| *ranges >= 1.0 && ranges.is_finite());
    ranges.ok_or_else(|| "use a number of at least 1".to_owned())
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Repair")]
pub(crate) struct RepairArguments {
    /// Write a repaired copy: to a folder "fixed" next to the file, or as a new version in the catalog
    #[arg(long)]
    fix: bool,
    /// Additional problems to repair, comma-separated: closed, spike or flat (removes the rows), revised (updates the
    /// rows), conflict=first, conflict=last or conflict=larger (keeps the first, last or largest-volume row)
    #[arg(long, value_name = "KINDS", value_delimiter = ',', requires = "fix", value_parser = parse_extra_repair)]
    also: Vec<ExtraRepair>,
    /// Output file for the repaired candles, .csv or .parquet
    #[arg(long, value_name = "FILE", requires = "fix")]
    out: Option<PathBuf>,
    /// Overwrite the repaired file if it exists
    #[arg(long, requires = "fix")]
    force: bool,
}

impl RepairArguments {
    pub(super) fn to_repair_options(&self) -> Option<RepairOptions> {
        let existing = existing_file_rule(self.force);
        let kinds = self.also.iter().filter_map(|also| match also {
            ExtraRepair::Kind(kind) => Some(*kind),
            ExtraRepair::Conflict(_) => None,
        });
        let conflicts = self.also.iter().rev().find_map(|also| match also {
            ExtraRepair::Conflict(choice) => Some(*choice),
            ExtraRepair::Kind(_) => None,
        });
        self.fix.then(|| RepairOptions {
            extra_kinds: kinds.collect(),
            conflicts,
            out: self.out.clone(),
            existing,
        })
    }
}

#[derive(Clone, Copy, Debug)]
enum ExtraRepair {
    Kind(FindingKind),
    Conflict(ConflictChoice),
}

fn parse_extra_repair(text: &str) -> Result<ExtraRepair, String> {
    if let Some(("conflict" | "duplicate", choice)) = text.split_once('=') {
        let choice: Result<ConflictChoice, _> = choice.parse();
        return choice.map(ExtraRepair::Conflict).map_err(|error| error.to_string());
    }
    let kind: FindingKind =
        text.parse().map_err(|error: candlewick_history::ParseChoiceError| error.to_string())?;
    match kind.remedy() {
        Remedy::RemoveOnRequest | Remedy::TakeLatest => Ok(ExtraRepair::Kind(kind)),
        Remedy::Choose => {
            Err("name the row to keep: conflict=first, conflict=last or conflict=larger".to_owned())
        }
        Remedy::Always => Err(format!("--fix always repairs {kind}")),
        Remedy::Nothing => {
            Err(format!("{kind} cannot be repaired; use closed, spike, flat, revised or conflict=..."))
        }
    }
}
