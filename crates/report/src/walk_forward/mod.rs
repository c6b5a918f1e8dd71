//! Walk-forward report: one struct that renders as a table or as JSON.

mod figures;

use crate::analysis::{Finding, StakingResult, settled_rows};
use crate::figure::{format_span, running_sum_sparkline};
use crate::run::{Caveats, EdgeLine};
use candlewick_backtest::BacktestResult;
use candlewick_backtest::metric::WinRates;
use candlewick_engine::judge;
use candlewick_sdk::{Millis, Money};
use candlewick_search::evidence::EvidenceKind;
use candlewick_search::sweep::{Figures, Objective, Space, SweepSettings};
use candlewick_search::walk_forward::{Robustness, Window, WindowResult, WindowSettings, join_tests};
use candlewick_statistics::{
    ConfidenceInterval, EdgeTestPlan, WinRate, clopper_pearson_interval, wilson_interval,
};
use serde::Serialize;
use serde_json::{Map, Value};
use std::ops::Range;
use std::path::PathBuf;
use std::time::Duration;

pub use figures::write_windows;

const CONFIDENCE: f64 = 0.95;

pub struct WalkForwardResult<'a> {
    pub steps: &'a [WindowResult],
    pub space: &'a Space,
    pub sweep: &'a SweepSettings,
    pub windows: WindowSettings,
    /// Length of the purge between training and test: the longest duration of a trade, rounded up to whole candles.
    pub purge: Millis,
    pub range: &'a Range<Millis>,
    pub data_hash: &'a str,
    pub notices: &'a [String],
    pub balance: Money,
    pub caveats: &'a Caveats,
}

/// Reproducible walk-forward result: independent of interruptions and of the machine.
#[derive(Debug, Serialize)]
pub struct WalkForwardReport {
    scheme: &'static str,
    train_ms: Millis,
    test_ms: Millis,
    purge_ms: Millis,
    /// Gap between training and test: the sum of purge and embargo.
    gap_ms: Millis,
    search: &'static str,
    pub(super) objective: &'static str,
    #[serde(skip)]
    pub(super) objective_kind: Objective,
    pub(crate) verdict: &'static str,
    pub(crate) evidence: EvidenceKind,
    pub(crate) edge: EdgeLine,
    pub(super) findings: Vec<Finding>,
    pub(super) out_of_sample: Option<TestTotals>,
    /// Out-of-sample expectancy divided by in-sample expectancy, over all windows.
    pub(super) efficiency: Option<f64>,
    pub(super) robustness: RobustnessLine,
    pub(super) windows: Vec<WindowLine>,
    data_hash: String,
    pub(crate) notices: Vec<String>,
    #[serde(skip)]
    pub(super) parameters: Vec<String>,
    #[serde(skip)]
    pub(super) curve: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct VerifiedSets {
    pub verified: usize,
    pub chosen: usize,
}

/// Walk-forward report with details of this particular execution, such as the elapsed time.
#[derive(Debug, Serialize)]
pub struct WalkForwardSummary<'a> {
    #[serde(flatten)]
    pub report: &'a WalkForwardReport,
    pub resumed: usize,
    pub verified: VerifiedSets,
    pub elapsed_ms: u64,
    pub files: Vec<PathBuf>,
}

#[derive(Debug, Serialize)]
pub(super) struct TestTotals {
    /// Confidence interval of the win rate. Covers the true rate with at least 95 % probability under its assumptions.
    pub(super) win_rate_interval: Option<IntervalLine>,
    win_rate_wilson: Option<IntervalLine>,
    #[serde(flatten)]
    pub(super) figures: Figures,
}

#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct IntervalLine {
    confidence: f64,
    assumes: &'static str,
    pub(super) lower: f64,
    pub(super) upper: f64,
}

#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct RobustnessLine {
    #[serde(flatten)]
    pub(super) counts: Robustness,
    pub(super) share: Option<f64>,
}

#[derive(Debug, Serialize)]
pub struct WindowLine {
    /// 1-based number of the window in chronological order.
    window: usize,
    pub(super) training: RangeLine,
    pub(super) test: RangeLine,
    pub(super) trials: usize,
    pub(super) counting: usize,
    pub(super) chosen: Option<ChosenSetLine>,
}

#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct RangeLine {
    pub(super) from: Millis,
    pub(super) to: Millis,
}

#[derive(Debug, Serialize)]
pub(super) struct ChosenSetLine {
    pub(super) parameters: Map<String, Value>,
    pub(super) score: f64,
    /// Score on the test range, regardless of the number of trades.
    pub(super) out_of_sample_score: Option<f64>,
    pub(super) efficiency: Option<f64>,
    pub(super) robustness: RobustnessLine,
    pub(super) in_sample: Figures,
    pub(super) out_of_sample: Figures,
}

impl WalkForwardReport {
    pub fn new(walked: &WalkForwardResult<'_>) -> (Self, Option<BacktestResult>) {
        let &WalkForwardResult { steps, space, sweep, windows, purge, balance, caveats, .. } = walked;
        let all = join_tests(steps, balance);
        let rows = all.as_ref().map(|all| all.book.rows()).unwrap_or_default();
        let mut caveats = caveats.clone();
        if let Some(all) = &all {
            caveats.add_gap_reason(&all.book);
        }
        let edge = EdgeLine::new(&judge(rows, edge_test_plan(steps)), rows, &caveats);
        let span = steps.first().zip(steps.last()).map(|(a, b)| a.window.test.start..b.window.test.end);
        let out_of_sample = all
            .as_ref()
            .zip(span)
            .map(|(all, span)| TestTotals::new(Figures::new(all, balance, &span).without_timeline()));
        let chosen = || steps.iter().filter_map(|step| step.chosen.as_ref());
        let report = Self {
            scheme: windows.scheme.as_str(),
            train_ms: windows.train,
            test_ms: windows.test,
            purge_ms: purge,
            gap_ms: windows.gap,
            search: sweep.search.search.as_str(),
            objective: sweep.objective.as_str(),
            objective_kind: sweep.objective,
            verdict: edge.verdict,
            evidence: caveats.evidence,
            findings: all.as_ref().and_then(stake_finding).into_iter().chain(edge.finding()).collect(),
            edge,
            efficiency: efficiency(chosen().map(|chosen| (&chosen.in_sample, &chosen.out_of_sample))),
            out_of_sample,
            robustness: RobustnessLine::new(Robustness::pool(chosen().map(|chosen| &chosen.robustness))),
            windows: (1..)
                .zip(steps)
                .map(|(number, step)| WindowLine::new(step, number, space, sweep.objective))
                .collect(),
            data_hash: walked.data_hash.to_owned(),
            notices: walked
                .notices
                .iter()
                .cloned()
                .chain(describe_untested(walked.range, windows, steps))
                .collect(),
            parameters: space.axes().iter().map(|axis| axis.name().to_owned()).collect(),
            curve: all.as_ref().and_then(|all| {
                running_sum_sparkline(all.book.rows().iter().map(|row| all.money_scale.to_f64(row.profit)))
            }),
        };
        (report, all)
    }
}

impl<'a> WalkForwardSummary<'a> {
    pub fn new(
        report: &'a WalkForwardReport,
        (resumed, verified): (usize, VerifiedSets),
        elapsed: Duration,
        files: Vec<PathBuf>,
    ) -> Self {
        let elapsed_ms = u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX);
        Self { report, resumed, verified, elapsed_ms, files }
    }
}

impl TestTotals {
    fn new(figures: Figures) -> Self {
        let interval = |interval: ConfidenceInterval| {
            let ConfidenceInterval { lower, upper } = interval;
            IntervalLine { confidence: CONFIDENCE, assumes: WinRates::ASSUMPTIONS, lower, upper }
        };
        let rate = WinRate::new(figures.won, figures.lost).ok();
        let exact = rate.and_then(|rate| clopper_pearson_interval(rate, CONFIDENCE).ok());
        let wilson = rate.and_then(|rate| wilson_interval(rate, CONFIDENCE).ok());
        Self { win_rate_interval: exact.map(interval), win_rate_wilson: wilson.map(interval), figures }
    }
}

impl RobustnessLine {
    fn new(counts: Robustness) -> Self {
        Self { counts, share: counts.share_above_break_even() }
    }

    pub(super) fn describe(&self) -> String {
        format!("{} of {}", self.counts.beat_break_even, self.counts.neighbours)
    }
}

impl WindowLine {
    fn new(step: &WindowResult, window: usize, space: &Space, goal: Objective) -> Self {
        let Window { training, test } = &step.window;
        let chosen = step.chosen.as_ref().map(|chosen| {
            let parameters = space.axes().iter().zip(chosen.candidate.iter());
            ChosenSetLine {
                parameters: parameters.map(|(axis, one)| (axis.name().to_owned(), one.to_json())).collect(),
                score: chosen.score,
                out_of_sample_score: goal.score(&chosen.out_of_sample, 0),
                efficiency: chosen.efficiency(),
                robustness: RobustnessLine::new(chosen.robustness),
                in_sample: chosen.in_sample.without_timeline(),
                out_of_sample: chosen.out_of_sample.without_timeline(),
            }
        });
        let line = |range: &Range<Millis>| RangeLine { from: range.start, to: range.end };
        let (trials, counting) = (step.rows.len(), step.scored_sets);
        Self { window, training: line(training), test: line(test), trials, counting, chosen }
    }
}

fn edge_test_plan(steps: &[WindowResult]) -> EdgeTestPlan {
    let verdict = steps.iter().find_map(|step| step.chosen.as_ref()?.test_result.verdicts.first());
    verdict.map_or_else(EdgeTestPlan::default, |verdict| verdict.edge_test().plan())
}

fn describe_untested(
    walked: &Range<Millis>,
    windows: WindowSettings,
    steps: &[WindowResult],
) -> Option<String> {
    let left = walked.end - steps.last()?.window.test.end;
    let (unused, missing) = (format_span(left), format_span(windows.test - left));
    (left.get() > windows.test.get() / 10)
        .then(|| format!("the last {unused} are untested: another test window would need {missing} more"))
}

fn stake_finding(all: &BacktestResult) -> Option<Finding> {
    StakingResult::from_rows(&settled_rows(&all.book), all.money_scale)?.finding(&[])
}

/// Divides out-of-sample by in-sample expectancy, weighted by trades; `None` unless the latter is positive.
fn efficiency<'a>(windows: impl Iterator<Item = (&'a Figures, &'a Figures)>) -> Option<f64> {
    let (mut before, mut after) = (0.0, 0.0);
    for (in_sample, out_of_sample) in windows {
        let trades = out_of_sample.trades as f64;
        before += in_sample.expectancy.unwrap_or_default() * trades;
        after += out_of_sample.expectancy.unwrap_or_default() * trades;
    }
    (before > 0.0).then(|| after / before)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures(trades: u64, expectancy: Option<f64>) -> Figures {
        serde_json::from_value(serde_json::json!({
            "trades": trades, "won": trades, "lost": 0, "draw": 0, "cancelled": 0, "unsettled": 0, "refused": 0,
            "win_rate": null, "break_even": null, "edge_lower": null, "p_value": null, "pnl": 0.0,
            "expectancy": expectancy, "sharpe": null, "max_drawdown": 0.0, "max_drawdown_percent": 0.0,
            "longest_losing_streak": 0
        }))
        .unwrap()
    }

    #[test]
    fn efficiency_is_the_retained_share_of_the_expectancy() {
        let windows = [
            (figures(400, Some(0.04)), figures(100, Some(0.02))),
            (figures(400, Some(0.01)), figures(300, Some(-0.01))),
            (figures(400, Some(0.09)), figures(0, None)),
        ];
        let found = efficiency(windows.iter().map(|(before, after)| (before, after)));
        // Expected value: (2 - 3) / (4 + 3).
        assert!((found.unwrap() + 1.0 / 7.0).abs() < 1e-12, "{found:?}");
        let nothing = [(figures(400, Some(-0.04)), figures(100, Some(0.02)))];
        assert_eq!(efficiency(nothing.iter().map(|(before, after)| (before, after))), None);
    }
}
