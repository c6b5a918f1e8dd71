//! Results of a check, as text and JSON.

use super::{CheckTarget, Repaired, RepairedPlace};
use crate::data::LongerCounts;
use candlewick_history::{Checked, Finding, FindingKind, Remedy};
use candlewick_records::{table, utc};
use candlewick_sdk::CandleSeries;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::fmt::Write as _;

pub struct CheckResult {
    target: CheckTarget,
    checked: Checked,
    repaired: Option<Repaired>,
    left: BTreeMap<FindingKind, u64>,
    longer: Option<LongerCounts>,
}

impl CheckResult {
    pub fn new(
        target: CheckTarget,
        mut checked: Checked,
        repaired: Option<Repaired>,
        ignored: &[FindingKind],
        longer_share_percent: f64,
    ) -> Self {
        checked.findings = checked.findings.without(ignored);
        let left = repaired.as_ref().map_or(&checked.findings, |repaired| &repaired.left);
        let left = left.clone().without(ignored).counts().clone();
        let candles = checked.candles.as_ref();
        let longer = candles.map(|candles| LongerCounts::from_series(candles, longer_share_percent));
        Self { target, checked, repaired, left, longer }
    }

    pub fn left(&self) -> u64 {
        self.left.values().sum()
    }

    pub fn help(all: &[Self]) -> String {
        let mut left: BTreeMap<FindingKind, u64> = BTreeMap::new();
        for (kind, count) in all.iter().flat_map(|result| &result.left) {
            *left.entry(*kind).or_default() += count;
        }
        let of = |is_meant: fn(Remedy) -> bool| {
            let kinds = left.iter().filter(|(kind, _)| is_meant(kind.remedy()));
            let (counts, names): (Vec<String>, Vec<&str>) =
                kinds.map(|(kind, count)| (format!("{count} {kind}"), kind.as_str())).unzip();
            (!counts.is_empty()).then(|| (counts.join(", "), names.join(",")))
        };
        let certain = of(|remedy| remedy == Remedy::Always);
        let conflicts = of(|remedy| remedy == Remedy::Choose);
        let doubtful = of(|remedy| matches!(remedy, Remedy::LeaveOut | Remedy::TakeLatest));
        let certain = certain.map(|(counts, _)| format!("{counts}: --fix writes a repaired copy"));
        let conflicts = conflicts.map(|(counts, _)| {
            format!("{counts}: --fix --also conflict=larger (or first, last) keeps one row of each time")
        });
        let doubtful = doubtful.map(|(counts, names)| {
            format!("{counts}: --fix --also {names} mends it in a copy, --ignore {names} takes it for right")
        });
        let nothing = of(|remedy| remedy == Remedy::Nothing).map(|(counts, names)| {
            let holiday = if left.contains_key(&FindingKind::Gap) {
                ", --holiday DATE says that a market was closed"
            } else {
                ""
            };
            format!("{counts}: only other candles mend that; --ignore {names} takes it for right{holiday}")
        });
        [certain, conflicts, doubtful, nothing].into_iter().flatten().collect::<Vec<_>>().join("; ")
    }

    pub fn text(&self, most: usize) -> String {
        let Self { target, checked, repaired, .. } = self;
        let mut text = format!(
            "{target}: {} rows of {}, session {}; {}",
            checked.rows,
            checked.series,
            checked.session,
            sums(checked)
        );
        if checked.unfinished > 0 {
            let _ = write!(text, "; {} rows of unfinished candles left out", checked.unfinished);
        }
        let list = checked.findings.list();
        if !list.is_empty() && most > 0 {
            let mut table = table(["Problem", "Where", "What"]);
            for of_kind in list.chunk_by(|a, b| a.kind == b.kind) {
                for finding in of_kind.iter().take(most) {
                    table.add_row([finding.kind.to_string(), place_of(finding), finding.detail.clone()]);
                }
                let kind = of_kind[0].kind;
                let more = checked.findings.counts()[&kind].saturating_sub(of_kind.len().min(most) as u64);
                if more > 0 {
                    table.add_row([
                        kind.to_string(),
                        "...".to_owned(),
                        format!("{more} more; --show, --json"),
                    ]);
                }
            }
            let _ = write!(text, "\n{table}");
        }
        if let Some(longer) = self.longer.as_ref().and_then(LongerCounts::text) {
            let _ = write!(text, "\n  {longer}");
        }
        if let Some(repaired) = repaired {
            let _ = write!(text, "\n  {}", repair(repaired));
        }
        text
    }

    pub fn document(&self) -> Value {
        let Self { target, checked, repaired, .. } = self;
        let candles = checked.candles.as_ref();
        let counts: Map<String, Value> = FindingKind::ALL
            .iter()
            .map(|kind| (kind.to_string(), json!(checked.findings.counts().get(kind).copied().unwrap_or(0))))
            .collect();
        let file = match target {
            CheckTarget::File(path, _) => json!(path),
            CheckTarget::Stored(_) => Value::Null,
        };
        json!({
            "file": file,
            "symbol": checked.series.symbol,
            "interval": checked.series.interval,
            "session": checked.session.to_string(),
            "rows": checked.rows,
            "unfinished": checked.unfinished,
            "candles": candles.map_or(0, |candles| candles.candles().len()),
            "start": candles.map(CandleSeries::start),
            "end": candles.map(CandleSeries::end),
            "missing": checked.missing,
            "coverage": checked.coverage(),
            "longer": self.longer.as_ref().map(LongerCounts::document),
            "problems": checked.findings.total(),
            "counts": counts,
            "findings": checked.findings.list().iter().map(finding_document).collect::<Vec<_>>(),
            "fixed": repaired.as_ref().map(repair_document),
            "left": self.left(),
        })
    }
}

fn finding_document(finding: &Finding) -> Value {
    json!({
        "kind": finding.kind.as_str(),
        "row": finding.row,
        "start": finding.start,
        "end": finding.end,
        "count": finding.count,
        "detail": finding.detail,
    })
}

fn repair_document(repaired: &Repaired) -> Value {
    let (file, version) = match &repaired.place {
        Some(RepairedPlace::File(path)) => (json!(path), Value::Null),
        Some(RepairedPlace::Version(number)) => (Value::Null, json!(number)),
        None => (Value::Null, Value::Null),
    };
    json!({
        "removed": repaired.removed,
        "replaced": repaired.replaced,
        "sorted": repaired.sorted,
        "file": file,
        "version": version,
    })
}

fn sums(checked: &Checked) -> String {
    let counts = checked.findings.counts().iter().map(|(kind, count)| format!("{count} {kind}"));
    let counts: Vec<String> = counts.collect();
    if counts.is_empty() { "no problem".to_owned() } else { counts.join(", ") }
}

fn place_of(finding: &Finding) -> String {
    let start = finding.start.map(utc);
    match (finding.row, start) {
        (Some(row), Some(start)) => format!("{row}: {start}"),
        (Some(row), None) => row.to_string(),
        (None, Some(start)) if finding.count == 1 => start,
        (None, Some(start)) => format!("{start} to {}", finding.end.map(utc).unwrap_or_default()),
        (None, None) => String::new(),
    }
}

fn repair(repaired: &Repaired) -> String {
    let sorted = if repaired.sorted { ", put in order" } else { "" };
    let done =
        format!("{} left out, {} given their latest value{sorted}", repaired.removed, repaired.replaced);
    match &repaired.place {
        None => "--fix: there is nothing that it mends".to_owned(),
        Some(RepairedPlace::File(path)) => format!("--fix: {done}; written to {}", path.display()),
        Some(RepairedPlace::Version(number)) => format!("--fix: {done}; now version {number} of the series"),
    }
}

pub fn coverage_table(all: &[CheckResult]) -> String {
    let mut table = table(["Symbol", "Interval", "From", "To", "Candles", "Missing", "Coverage", "Problems"]);
    for result in all {
        // The repaired candles, since those are read from now on.
        let again = result.repaired.as_ref().and_then(|repaired| repaired.again.as_ref());
        let checked = again.unwrap_or(&result.checked);
        let candles = checked.candles.as_ref();
        let at = |moment: fn(&CandleSeries) -> candlewick_sdk::Millis| {
            candles.map(|candles| utc(moment(candles))).unwrap_or_default()
        };
        table.add_row([
            checked.series.symbol.to_string(),
            checked.series.interval.to_string(),
            at(CandleSeries::start),
            at(CandleSeries::end),
            candles.map_or(0, |candles| candles.candles().len()).to_string(),
            checked.missing.to_string(),
            format!("{:.3} %", checked.coverage() * 100.0),
            result.left().to_string(),
        ]);
    }
    format!("\n{table}")
}
