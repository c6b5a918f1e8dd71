//! Report of a sweep: a table of the best parameter sets, or one JSON document.

mod page;

use crate::figure::{
    capitalise, format_json_value, format_number, format_percent, p_value_text, prefixed_lines,
};
use crate::page::DataTable;
use crate::run::describe_evidence;
use candlewick_records::{count_text, table_text};
use candlewick_search::evidence::EvidenceKind;
use candlewick_search::sweep::{
    Figures, Objective, SelectionBias, Space, SweepSettings, TrialEnd, TrialRow, corrected_p_values,
    rank_rows,
};
use serde::Serialize;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

pub use page::write_sweep_page;

pub struct SweepResults<'a> {
    pub rows: &'a [TrialRow],
    pub luck: Option<SelectionBias>,
    pub space: &'a Space,
    pub sweep: &'a SweepSettings,
    pub resumed: usize,
    pub elapsed: Duration,
    pub files: Vec<PathBuf>,
    pub evidence: &'a EvidenceKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RejectedSets<'a> {
    pub count: usize,
    pub first_problem: Option<&'a str>,
}

impl<'a> RejectedSets<'a> {
    pub fn from_rows(rows: &'a [TrialRow]) -> Self {
        let refused = |row: &'a TrialRow| match &row.outcome {
            TrialEnd::Refused(problem) => Some(problem.as_str()),
            TrialEnd::Figures(_) => None,
        };
        let mut refused = rows.iter().filter_map(refused);
        let first = refused.next();
        Self { count: usize::from(first.is_some()) + refused.count(), first_problem: first }
    }

    fn describe(self, sets: usize, parameters: &[String]) -> Option<String> {
        let of = count_text(sets, "set", "sets");
        let why = self.first_problem?;
        let hint = suggest_condition(why, parameters).map_or_else(String::new, |condition| {
            format!("; add --where \"{condition}\" to exclude such sets and try others instead")
        });
        Some(format!("the strategy rejected {} of {of}; first reason: {why}{hint}", self.count))
    }
}

/// Suggests `fast < slow` for the error "fast = 21 must be below slow = 21" if both parameters are searched.
fn suggest_condition(why: &str, parameters: &[String]) -> Option<String> {
    let (low, high) = why.split_once(" must be below ")?;
    let named = |text: &str| {
        let is_named =
            |name: &&String| text.strip_prefix(name.as_str()).is_some_and(|rest| rest.starts_with(" = "));
        parameters.iter().find(is_named)
    };
    Some(format!("{} < {}", named(low.rsplit(": ").next()?)?, named(high)?))
}

#[derive(Debug, Serialize)]
pub struct SweepReport {
    search: &'static str,
    objective: &'static str,
    trials: usize,
    counting: usize,
    parameters_refused: usize,
    /// Number of parameter sets that a risk rule stopped before the last candle, for each rule.
    stopped: BTreeMap<&'static str, usize>,
    resumed: usize,
    evidence: EvidenceKind,
    pub(crate) luck: Option<SelectionBias>,
    best: Vec<BestLine>,
    data_hash: String,
    files: Vec<PathBuf>,
    elapsed_ms: u64,
    pub(crate) notices: Vec<String>,
    #[serde(skip)]
    parameters: Vec<String>,
    #[serde(skip)]
    objective_kind: Objective,
}

#[derive(Debug, Serialize)]
struct BestLine {
    rank: usize,
    trial: u64,
    score: f64,
    parameters: Map<String, Value>,
    p_value_corrected: Option<f64>,
    /// Probability that the best of all sets would do at least this well if no set had an edge.
    p_value_of_many: Option<f64>,
    figures: Figures,
}

impl SweepReport {
    pub fn new(tried: &SweepResults<'_>, candles: (&str, &[String]), top: usize) -> Self {
        let SweepResults { rows, luck, space, sweep, resumed, elapsed, files, evidence } = tried;
        let counting = rows.iter().filter(|row| row.score.is_some()).count();
        let refusals = RejectedSets::from_rows(rows);
        let by_trial = |p_values: &[Option<f64>]| -> HashMap<u64, f64> {
            rows.iter().zip(p_values).filter_map(|(row, p_value)| Some((row.trial, (*p_value)?))).collect()
        };
        let corrected = by_trial(&corrected_p_values(rows));
        let of_many = by_trial(luck.as_ref().map_or(&[][..], |luck| &luck.p_values));
        let best = rank_rows(rows).into_iter().zip(1..).filter_map(|(row, rank)| {
            best_line(row, rank, space, (corrected.get(&row.trial), of_many.get(&row.trial)))
        });
        let (data_hash, notices) = candles;
        let mut notices = notices.to_vec();
        let parameters: Vec<String> = space.axes().iter().map(|axis| axis.name().to_owned()).collect();
        notices.extend(refusals.describe(rows.len(), &parameters));
        if counting > 1 {
            let kind = capitalise(&describe_evidence(evidence));
            notices.push(format!("{kind}: the best of {counting} sets is partly luck"));
        }
        Self {
            search: sweep.search.search.as_str(),
            objective: sweep.objective.as_str(),
            trials: rows.len(),
            counting,
            parameters_refused: refusals.count,
            stopped: count_stopped(rows),
            resumed: *resumed,
            evidence: (*evidence).clone(),
            luck: luck.clone(),
            best: best.take(top).collect(),
            data_hash: data_hash.to_owned(),
            files: files.clone(),
            elapsed_ms: u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX),
            notices,
            parameters,
            objective_kind: sweep.objective,
        }
    }

    fn stopped_text(&self) -> Option<String> {
        let all: usize = self.stopped.values().sum();
        let rules: Vec<_> = self.stopped.iter().map(|(rule, count)| format!("{rule}: {count}")).collect();
        (all > 0).then(|| {
            format!(
                "{all} of {} stopped trading early ({}), so their figures cover only the time before the stop",
                count_text(self.trials, "set", "sets"),
                rules.join(", ")
            )
        })
    }
}

fn count_stopped(rows: &[TrialRow]) -> BTreeMap<&'static str, usize> {
    let mut stopped = BTreeMap::new();
    for rule in rows.iter().filter_map(|row| row.figures()?.stopped_by) {
        *stopped.entry(rule.as_str()).or_default() += 1;
    }
    stopped
}

fn best_line(
    row: &TrialRow,
    rank: usize,
    space: &Space,
    (corrected, of_many): (Option<&f64>, Option<&f64>),
) -> Option<BestLine> {
    let parameters = space.axes().iter().zip(row.candidate.iter());
    Some(BestLine {
        rank,
        trial: row.trial,
        score: row.score?,
        parameters: parameters.map(|(axis, setting)| (axis.name().to_owned(), setting.to_json())).collect(),
        p_value_corrected: corrected.copied(),
        p_value_of_many: of_many.copied(),
        // Omits the timeline, because the journal of the sweep contains it.
        figures: row.figures()?.without_timeline(),
    })
}

impl fmt::Display for SweepReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_any_stopped = self.best.iter().any(|line| line.figures.stopped_by.is_some());
        let mut header = vec!["rank".to_owned(), "trial".to_owned()];
        header.extend(self.column_names());
        header.push("max drawdown".to_owned());
        header.extend(is_any_stopped.then(|| "stopped by".to_owned()));
        let row = |line: &BestLine| {
            let mut row = vec![line.rank.to_string(), line.trial.to_string()];
            row.extend(self.cells(line));
            row.push(format_number(format!("{:.2}", line.figures.max_drawdown)));
            let stopped_by = line.figures.stopped_by.map_or("-", |rule| rule.as_str());
            row.extend(is_any_stopped.then(|| stopped_by.to_owned()));
            row
        };
        writeln!(f, "{}", table_text(header, self.best.iter().map(row)))?;
        let Self { trials, counting, parameters_refused, resumed, .. } = self;
        let seconds = self.elapsed_ms as f64 / 1_000.0;
        let sets = count_text(*trials, "set", "sets");
        write!(f, "\n{sets} by {}, {counting} with a score", self.search)?;
        if *parameters_refused > 0 {
            write!(f, ", {parameters_refused} rejected by the strategy")?;
        }
        if self.best.len() < *counting {
            write!(f, ", best {} shown (--top N for more, results.csv has all)", self.best.len())?;
        }
        write!(f, "; {seconds:.1} s")?;
        if *resumed > 0 {
            write!(f, ", {} resumed", count_text(*resumed, "run", "runs"))?;
        }
        f.write_str(&prefixed_lines("", self.stopped_text()))?;
        if let Some(luck) = &self.luck {
            write!(f, "\n\nBest of {}: {}", count_text(luck.sets, "set", "sets"), luck.interpretation())?;
            let chances = format_statistics(luck).map(|(name, found)| [name.to_owned(), found]);
            writeln!(f, "\n{}", table_text(["luck of the best set", "probability"], chances))?;
        }
        let files = self.files.iter().map(|file| file.display());
        write!(f, "{}{}", prefixed_lines("wrote ", files), prefixed_lines("note: ", &self.notices))
    }
}

fn format_statistics(luck: &SelectionBias) -> impl Iterator<Item = (&'static str, String)> {
    let words = |found: Option<f64>| found.map_or("unknown".to_owned(), |found| format!("{found:.3}"));
    luck.statistics().into_iter().map(move |(name, found)| (name, words(found)))
}

impl SweepReport {
    pub(crate) fn summary(&self) -> String {
        let (sets, Self { search, counting, .. }) = (count_text(self.trials, "set", "sets"), self);
        let sets = format!("{sets} by {search}, {counting} with a score");
        let Some(best) = self.best.first() else {
            return format!("{sets}: no set has enough trades to be chosen");
        };
        let BestLine { score, p_value_corrected, figures, .. } = best;
        let chance = p_value_corrected.map_or(String::new(), |p| format!(", corrected p-value {p:.4}"));
        format!(
            "{sets}. Best: {} ({} {}, {}, win rate {}, break-even {}{chance})",
            self.parameters_text(best),
            self.objective_kind.title(),
            self.objective_kind.format_score(*score),
            count_text(figures.trades, "trade", "trades"),
            format_percent(figures.win_rate),
            format_percent(figures.break_even),
        )
    }

    pub(crate) fn best_table(&self) -> DataTable {
        let header = std::iter::once("rank".to_owned()).chain(self.column_names()).collect();
        let row = |line: &BestLine| -> Vec<String> {
            std::iter::once(line.rank.to_string()).chain(self.cells(line)).collect()
        };
        DataTable { header, rows: self.best.iter().map(row).collect() }
    }

    fn column_names(&self) -> impl Iterator<Item = String> {
        let figures =
            [self.objective_kind.title(), "trades", "win rate", "break-even", "corrected p-value", "profit"];
        self.parameters.iter().cloned().chain(figures.map(str::to_owned))
    }

    fn cells(&self, line: &BestLine) -> impl Iterator<Item = String> {
        let Figures { trades, win_rate, break_even, pnl, .. } = &line.figures;
        let figures = [
            self.objective_kind.format_score(line.score),
            format_number(trades),
            format_percent(*win_rate),
            format_percent(*break_even),
            p_value_text(line.p_value_corrected),
            format_number(format!("{pnl:+.2}")),
        ];
        let values =
            self.parameters.iter().filter_map(|name| line.parameters.get(name)).map(format_json_value);
        values.chain(figures)
    }

    fn parameters_text(&self, line: &BestLine) -> String {
        let named = self.parameters.iter().filter_map(|name| Some((name, line.parameters.get(name)?)));
        named
            .map(|(name, value)| format!("{name} {}", format_json_value(value)))
            .collect::<Vec<_>>()
            .join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suggests_condition_that_excludes_rejected_sets() {
        let parameters = ["fast", "slow", "period", "deviations"].map(str::to_owned);
        for (why, expected) in [
            ("fast = 21 must be below slow = 21", Some("fast < slow")),
            ("strategy \"ema-cross\": fast = 21 must be below slow = 21", Some("fast < slow")),
            // This error does not compare two parameters.
            ("deviations = 2 must be below 2.00: no close of period = 5 is farther", None),
            ("faster = 21 must be below slow = 21", None),
            ("fast = 21 must be below rsi_period = 14", None),
            ("fast is missing", None),
        ] {
            assert_eq!(suggest_condition(why, &parameters).as_deref(), expected, "{why}");
        }
    }
}
