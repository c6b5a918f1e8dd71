//! Access of runs to candles: exploring runs see candles up to the sealed day of the evidence ledger.

mod live;

pub use live::live_evidence;
pub(crate) use live::record_days;

use crate::configuration::{LoadedConfig, state_folder};
use crate::error::{AppError, ErrorKind, Result};
use candlewick_broker::clock::{Clock, SystemClock};
use candlewick_history::{HashedSeries, combine_series_hashes};
use candlewick_records::format_utc;
use candlewick_sdk::Millis;
use candlewick_search::evidence::{
    DayMoves, Entry, Evidence, EvidenceKind, EvidenceLedger, LedgerError, SeenMoves, day_moves, day_of,
    first_sealed_day, next_day, start_of,
};
use chrono::NaiveDate;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::ops::Range;
use std::path::PathBuf;

/// The `[evidence]` section: candles that no exploring run sees, so that `confirm` can test on them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct EvidenceSettings {
    /// Whether the last candles are sealed for `confirm`. Without a seal, runs see all candles, which can then never be
    /// confirmed.
    pub seal: bool,
    /// Evidence ledger: sealed day, seen days and tests.
    /// Default: `evidence.jsonl` in `$XDG_STATE_HOME/candlewick` or `~/.local/state/candlewick`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ledger: Option<PathBuf>,
}

/// Use of sealed candles by a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum SealUse {
    /// Sees candles before the sealed day only.
    #[default]
    Explore,
    /// Moves the sealed day forward, so that more days may be explored. They are then seen for all symbols.
    Open {
        /// The new sealed day; `None` for the day after the last candle.
        until: Option<NaiveDate>,
        is_confirmed: bool,
    },
    /// Sees the days that a confirmation tests, and nothing else.
    Confirm(Range<NaiveDate>),
    /// Sees the candles of a plan, whose end was decided when the plan was made.
    Planned { until: Option<NaiveDate> },
}

/// Visible candles of a run, and its kind of evidence.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct CandleAccess {
    pub(crate) range: Range<Millis>,
    evidence: EvidenceKind,
    /// The sealed day of an exploring run; `None` if sealing is off.
    sealed_day: Option<NaiveDate>,
    is_exploring: bool,
}

impl Default for EvidenceSettings {
    fn default() -> Self {
        Self { seal: true, ledger: None }
    }
}

impl EvidenceSettings {
    pub fn ledger(&self) -> Result<EvidenceLedger> {
        let path = self.ledger.clone().or_else(|| Some(state_folder()?.join("evidence.jsonl")));
        let missing = || {
            AppError::invalid("no folder for the evidence ledger: neither XDG_STATE_HOME nor HOME is set")
                .with_help("set evidence.ledger to a file")
        };
        Ok(EvidenceLedger::new(path.ok_or_else(missing)?))
    }

    /// Returns the file of the moves that exploring runs saw, which is next to the ledger.
    pub(crate) fn seen_moves(&self) -> Result<SeenMoves> {
        let mut name = self.ledger()?.path().as_os_str().to_owned();
        name.push(".days");
        Ok(SeenMoves::new(PathBuf::from(name)))
    }

    /// Appends the entries that `decide` returns. A new ledger begins with the days that `decide` gets as its second
    /// argument: those of earlier program versions.
    fn update<T>(&self, decide: impl FnOnce(&Evidence, &[Entry]) -> Result<(Vec<Entry>, T)>) -> Result<T> {
        self.ledger()?.update(SystemClock::new().now(), |evidence| {
            let mut all = if evidence.born.is_none() { migrate() } else { Vec::new() };
            let (entries, result) = decide(evidence, &all)?;
            all.extend(entries);
            Ok((all, result))
        })
    }
}

impl SealUse {
    /// Decides which candles of these days the run may see. Seals days if none are sealed yet.
    pub(crate) fn decide_access(
        &self,
        loaded: &LoadedConfig,
        days: &BTreeSet<NaiveDate>,
        is_synthetic: bool,
    ) -> Result<CandleAccess> {
        let [first, last] = [days.first(), days.last()].map(|day| day.copied().unwrap_or_default());
        let span = &(start_of(first)..start_of(next_day(last)));
        let settings = &loaded.config.evidence;
        match self {
            _ if is_synthetic => return Ok(CandleAccess::unrecorded(span.clone(), EvidenceKind::Practice)),
            Self::Confirm(days) => {
                let range = start_of(days.start)..start_of(days.end);
                return Ok(CandleAccess::unrecorded(range, EvidenceKind::default()));
            }
            Self::Planned { until } => {
                let evidence = EvidenceKind::Exploratory { until: *until, run: None };
                let end = until.map_or(span.end, |until| span.end.min(start_of(until)));
                return Ok(CandleAccess::unrecorded(span.start..end, evidence));
            }
            Self::Explore | Self::Open { .. } if !settings.seal => {
                record_unsealed_run(settings, span);
                let access = CandleAccess::unrecorded(span.clone(), EvidenceKind::default());
                return Ok(CandleAccess { is_exploring: true, ..access });
            }
            Self::Explore | Self::Open { .. } => {}
        }
        settings.update(|evidence, migrated| {
            let (until, entries) = self.find_sealed_day(evidence, migrated, days)?;
            let range = span.start..span.end.min(start_of(until));
            let evidence = EvidenceKind::Exploratory { until: Some(until), run: None };
            Ok((entries, CandleAccess { range, evidence, sealed_day: Some(until), is_exploring: true }))
        })
    }

    /// Returns the sealed day of an exploring run, and the entries that change it.
    fn find_sealed_day(
        &self,
        evidence: &Evidence,
        migrated: &[Entry],
        days: &BTreeSet<NaiveDate>,
    ) -> Result<(NaiveDate, Vec<Entry>)> {
        let seen_until = migrated.iter().filter_map(|entry| match entry {
            Entry::Seen { until, .. } => Some(*until),
            _ => None,
        });
        let first_choice = first_sealed_day(days).max(seen_until.max().unwrap_or(NaiveDate::MIN));
        let sealed = evidence.sealed_from;
        let after_candles = days.last().map_or(NaiveDate::MAX, |last| next_day(*last));
        let (until, is_confirmed) = match self {
            Self::Open { until, is_confirmed } => {
                (until.map_or(after_candles, |until| until.min(after_candles)), *is_confirmed)
            }
            _ => (sealed.unwrap_or(first_choice), true),
        };
        match sealed {
            _ if !is_confirmed && sealed < Some(until) => {
                Err(not_confirmed(sealed.unwrap_or(first_choice), until))
            }
            Some(sealed) if until > sealed => {
                let by = "opened".to_owned();
                Ok((until, vec![Entry::Seen { from: sealed, until, by }, Entry::Sealed { from: until }]))
            }
            Some(sealed) if days.first().is_some_and(|first| until <= *first) => {
                Err(all_sealed(sealed, days))
            }
            Some(_) => Ok((until, Vec::new())),
            None => Ok((until, vec![Entry::Sealed { from: until }])),
        }
    }
}

impl CandleAccess {
    const fn unrecorded(range: Range<Millis>, evidence: EvidenceKind) -> Self {
        Self { range, evidence, sealed_day: None, is_exploring: false }
    }

    /// Returns the part of `range` that the run may see.
    pub(crate) fn clip(&self, range: &Range<Millis>) -> Result<Range<Millis>> {
        let clipped = range.start.max(self.range.start)..range.end.min(self.range.end);
        match self.sealed_day {
            Some(sealed) if clipped.is_empty() && range.start >= start_of(sealed) => {
                let from = format_utc(range.start);
                let problem = format!("--from {from} is not before the sealed day {sealed}");
                Err(AppError::invalid(problem)
                    .with_help("explore earlier candles, or open these with --until"))
            }
            _ => Ok(clipped),
        }
    }

    /// Describes the clip if most days of the candles are sealed.
    pub(crate) fn describe_clip(&self, days: &BTreeSet<NaiveDate>) -> Option<String> {
        let sealed = self.sealed_day?;
        let explored = days.range(..sealed).count();
        (2 * explored < days.len()).then(|| {
            format!(
                "only {explored} of {} days of these candles may be explored, because the sealed day is {sealed}; \
                 `--until DATE --yes` opens more of them",
                days.len()
            )
        })
    }

    /// Records an exploring run on `series` durably, before its results are shown.
    pub(crate) fn record(self, loaded: &LoadedConfig, series: &[HashedSeries]) -> Result<EvidenceKind> {
        let settings = &loaded.config.evidence;
        if !self.is_exploring {
            return Ok(self.evidence);
        }
        if self.sealed_day.is_none() {
            if let Err(error) = store_moves(settings, series) {
                tracing::warn!("cannot record this run in the evidence ledger: {error}");
            }
            return Ok(self.evidence);
        }
        let candles = combine_series_hashes(series).to_hex()[..16].to_owned();
        settings.update(|evidence, _| {
            if !evidence.explored_candles.contains(&candles) {
                store_moves(settings, series)?;
            }
            let run = Some(evidence.explored + 1);
            Ok((vec![Entry::Explored { candles }], EvidenceKind::Exploratory { until: self.sealed_day, run }))
        })
    }
}

/// Stores the moves of candles, by which a confirmation recognizes copies of them.
fn store_moves(settings: &EvidenceSettings, series: &[HashedSeries]) -> Result<()> {
    let days: Vec<DayMoves> = series.iter().flat_map(|one| day_moves(one.candles())).collect();
    Ok(settings.seen_moves()?.add(&days)?)
}

/// Records that a run without a seal saw all candles, so that they cannot be sealed later.
fn record_unsealed_run(settings: &EvidenceSettings, span: &Range<Millis>) {
    let (from, until) = (day_of(span.start), day_of(span.end));
    let recorded = settings.update(|evidence, _| {
        let is_recorded = evidence.seen.covers(&(from..until)) && evidence.sealed_from >= Some(until);
        let by = "unsealed run".to_owned();
        let entries = vec![Entry::Seen { from, until, by }, Entry::Sealed { from: until }];
        Ok((if is_recorded { Vec::new() } else { entries }, ()))
    });
    if let Err(error) = recorded {
        tracing::warn!("cannot record this run in the evidence ledger: {error}");
    }
}

impl From<LedgerError> for AppError {
    fn from(error: LedgerError) -> Self {
        Self::new(ErrorKind::SystemFailed, error.to_string()).with_source(error).with_help(
            "restore it from a backup, set evidence.ledger to another file, or set evidence.seal = false (then only \
             live trading can show an edge)",
        )
    }
}

fn not_confirmed(sealed: NaiveDate, until: NaiveDate) -> AppError {
    let problem = format!(
        "candles from {sealed} on are sealed; opening them until {until} is permanent and applies to all symbols"
    );
    AppError::invalid(problem).with_help("pass --yes to open them anyway")
}

fn all_sealed(sealed: NaiveDate, days: &BTreeSet<NaiveDate>) -> AppError {
    let [first, last] = [days.first(), days.last()].map(|day| day.copied().unwrap_or_default());
    let problem =
        format!("all candles are sealed: they span {first} to {last}, and the sealed day is {sealed}");
    let suggested = first_sealed_day(days);
    AppError::data(problem).with_help(format!(
        "use earlier candles, or pass `--until {suggested} --yes` to explore 80 % of these days"
    ))
}

/// Returns the days that the ledgers of earlier program versions mention: tried variants and opened hold-outs.
fn migrate() -> Vec<Entry> {
    let state = state_folder().unwrap_or_default();
    let of_user = ["variants.jsonl", "hold-outs.jsonl"].map(|name| state.join(name));
    let of_folder = ["candlewick.variants.jsonl", ".candlewick/hold-outs.jsonl"].map(PathBuf::from);
    let spans =
        of_user.into_iter().chain(of_folder).filter_map(|file| fs::read_to_string(file).ok()).flat_map(
            |text| {
                text.lines()
                    .filter_map(|line| serde_json::from_str(line).ok())
                    .filter_map(|line| read_span(&line))
                    .collect::<Vec<_>>()
            },
        );
    let seen = |span: Range<Millis>| Entry::Seen {
        from: day_of(span.start),
        until: next_day(day_of(span.end - Millis::new(1))),
        by: "earlier version".to_owned(),
    };
    let mut entries: Vec<Entry> = Vec::new();
    for entry in spans.map(seen) {
        if !entries.contains(&entry) {
            entries.push(entry);
        }
    }
    entries
}

/// Returns the time range in a line of an earlier ledger: `from` and `to`, or those of its candles.
fn read_span(line: &Value) -> Option<Range<Millis>> {
    let range = |value: &Value| {
        let [from, to] = ["from", "to"].map(|key| value.get(key).and_then(Value::as_i64));
        Some(Millis::new(from?)..Millis::new(to?)).filter(|range| !range.is_empty())
    };
    let samples = line.get("sample").and_then(Value::as_array).into_iter().flatten().filter_map(range);
    let of_samples = samples.reduce(|one, two| one.start.min(two.start)..one.end.max(two.end));
    range(line).or(of_samples)
}
