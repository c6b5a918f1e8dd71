//! How much of a result hangs on the settings of the venue: the same run, repeated with others.
//!
//! Each run on another setting is a [`SensitivityRow`], numbered from 0, and a pure function of the run and its number, so that any part of them can run
//! anywhere; [`Sensitivity::of_rows`] puts all of them together.

use crate::SearchError;
use candlewick_backtest::NullRecorder;
use candlewick_backtest::metric::Expectancy;
use candlewick_backtest::{Backtest, BacktestError, BacktestSettings, Finished, Summary};
use candlewick_engine::{IntentRow, IntentState};
use candlewick_sdk::{CandleSeries, Millis, Money, Payout, Strategy};
use candlewick_simulator::{DrawRule, Market, PathKind, SimulationSettings};
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::ops::Range;

/// Latencies that are tried, in seconds.
const LATENCIES_S: [i64; 6] = [0, 1, 2, 3, 4, 5];
/// Payouts that are tried, in percent.
const PAYOUTS: [u32; 9] = [60, 64, 68, 72, 76, 80, 84, 88, 92];
/// The usual factor of the price path's stress.
const USUAL_STRESS: f64 = 0.5;

/// The same run on other settings of the venue, one changed at a time. The worst plausible case changes several: usual
/// stress, the longest latency that is tried, and draws that lose.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sensitivity {
    /// By what a setting was changed, and what became of the run.
    pub curves: Vec<Curve>,
    /// The payout at which the mean return per unit of stake is 0, between two of the payouts that were tried; nothing
    /// when it is on one side of 0 at all of them.
    pub break_even_payout_percent: Option<f64>,
}

/// One setting, in several values.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Curve {
    /// Which.
    pub setting: VenueSetting,
    /// Its values, ascending where they are numbers.
    pub points: Vec<SensitivityPoint>,
}

/// A setting of the venue that is changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum VenueSetting {
    /// From the decision to the arrival, 0 to 5 s.
    LatencyMs,
    /// What a win pays, 60 to 92 %.
    PayoutPercent,
    /// The price inside a candle.
    Path,
    /// Prices moved against each trade.
    Stress,
}

/// What became of the run on one value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SensitivityPoint {
    /// The value as people read it.
    pub label: String,
    /// The value, where it is a number.
    pub value: Option<f64>,
    /// Whether it is the one of the run itself.
    pub is_own: bool,
    /// Settled trades.
    pub trades: u64,
    /// `won / (won + lost)`.
    pub win_rate: Option<f64>,
    /// The rate at which the trades would have earned nothing.
    pub break_even: Option<f64>,
    /// The mean return per unit of stake.
    pub return_per_unit: Option<f64>,
    /// Profit in money.
    pub pnl: f64,
}

/// One run on another setting, by its number.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SensitivityRow {
    /// Which of the runs, from 0: the trial of a shard's journal.
    #[serde(rename = "trial")]
    pub run: u64,
    /// As in a sweep's journal; always 0.
    pub rung: u32,
    /// The setting that is another.
    pub setting: VenueSetting,
    /// What became of it.
    pub point: SensitivityPoint,
}

/// What it takes to repeat a run.
pub struct Repeat<'a> {
    /// As the run had them.
    pub settings: &'a BacktestSettings,
    /// As for [`Backtest::new`].
    pub wants_prices: &'a [bool],
    /// As for [`Backtest::new`].
    pub candles: &'a [CandleSeries],
    /// As for [`Backtest::new`].
    pub markets: &'a [Market],
    /// The balance at the start.
    pub balance: Money,
    /// Builds the bots' strategies anew, in their order.
    pub strategies: &'a (dyn Fn() -> Result<Vec<Box<dyn Strategy>>, BacktestError> + Sync),
    /// How many runs go on side by side; the result does not depend on it.
    pub threads: NonZeroUsize,
}

/// Says before each run whether to go on.
pub type RepeatWatcher<'a> = dyn Fn() -> bool + Sync + 'a;

/// A run that is to be repeated.
struct Case {
    setting: VenueSetting,
    label: String,
    value: Option<f64>,
    simulation: SimulationSettings,
}

impl Sensitivity {
    /// How many runs it takes at least.
    pub const RUNS: u64 = (LATENCIES_S.len() + PAYOUTS.len()) as u64 + 5;

    /// Repeats a run on all settings.
    ///
    /// # Errors
    /// Those of a run; the run itself had none.
    pub fn of(repeat: &Repeat<'_>) -> Result<Self, SearchError> {
        Ok(Self::of_rows(repeat.run(0..repeat.runs(), &|| true)?))
    }

    /// Of all runs, in the order of their numbers.
    pub fn of_rows(rows: Vec<SensitivityRow>) -> Self {
        let mut curves: Vec<Curve> = Vec::new();
        for SensitivityRow { setting, point, .. } in rows {
            match curves.last_mut().filter(|curve| curve.setting == setting) {
                Some(curve) => curve.points.push(point),
                None => curves.push(Curve { setting, points: vec![point] }),
            }
        }
        let of_payouts = curves.iter().find(|curve| curve.setting == VenueSetting::PayoutPercent);
        let break_even_payout_percent = of_payouts.and_then(|curve| crossing(&curve.points));
        Self { curves, break_even_payout_percent }
    }

    /// The points of one setting.
    pub fn curve(&self, setting: VenueSetting) -> &[SensitivityPoint] {
        self.curves.iter().find(|curve| curve.setting == setting).map_or(&[], |curve| &curve.points)
    }
}

impl Repeat<'_> {
    /// How many runs there are.
    pub fn runs(&self) -> u64 {
        self.cases().len() as u64
    }

    /// Repeats the run on the settings of these numbers; on fewer where the watcher stopped it.
    ///
    /// # Errors
    /// Those of a run; there can be no threads.
    pub fn run(
        &self,
        runs: Range<u64>,
        watcher: &RepeatWatcher<'_>,
    ) -> Result<Vec<SensitivityRow>, SearchError> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(self.threads.get()).build();
        let pool = pool.map_err(|error| SearchError::InvalidSearch { problem: error.to_string() })?;
        let cases: Vec<(u64, Case)> = (0..).zip(self.cases()).filter(|(run, _)| runs.contains(run)).collect();
        let row = |(run, case): &(u64, Case)| {
            let point = watcher().then(|| self.repeat(case))?;
            Some(point.map(|point| SensitivityRow { run: *run, rung: 0, setting: case.setting, point }))
        };
        let rows: Result<Vec<SensitivityRow>, BacktestError> =
            pool.install(|| cases.par_iter().filter_map(row).collect());
        Ok(rows?)
    }

    fn cases(&self) -> Vec<Case> {
        let own = &self.settings.simulation;
        [latencies(own), payouts(own), paths(own), stresses(own)].into_iter().flatten().collect()
    }

    fn repeat(&self, case: &Case) -> Result<SensitivityPoint, BacktestError> {
        let settings = BacktestSettings { simulation: case.simulation.clone(), ..self.settings.clone() };
        let strategies = (self.strategies)()?;
        let backtest =
            Backtest::new(&settings, strategies, self.wants_prices, self.candles, self.markets.to_vec())?;
        let finished = backtest.run(&NullRecorder::header(), &mut NullRecorder, &mut |_, _| {})?;
        Ok(self.point(case, &finished))
    }

    fn point(&self, case: &Case, finished: &Finished) -> SensitivityPoint {
        let summary = Summary::of(&finished.book, self.balance);
        let settled: Vec<&IntentRow> =
            finished.book.rows().iter().filter(|row| row.state == IntentState::Settled).collect();
        let expectancy = Expectancy::of(&settled, finished.money_scale);
        SensitivityPoint {
            label: case.label.clone(),
            value: case.value,
            is_own: case.simulation == self.settings.simulation,
            trades: summary.trades,
            win_rate: summary.win_rate,
            break_even: summary.break_even,
            return_per_unit: expectancy.map(|expectancy| expectancy.return_per_unit),
            pnl: finished.money_scale.to_f64(summary.pnl),
        }
    }
}

/// Fixed latencies, the run's own among them.
fn latencies(own: &SimulationSettings) -> Vec<Case> {
    let mut tried: Vec<Millis> = LATENCIES_S.map(Millis::from_seconds).to_vec();
    tried.push(own.latency_ms);
    tried.sort_unstable();
    tried.dedup();
    let case = |latency_ms: Millis| Case {
        setting: VenueSetting::LatencyMs,
        label: format!("{} ms", latency_ms.get()),
        value: Some(latency_ms.get() as f64),
        simulation: SimulationSettings { latency_ms, recorded_latency: None, ..own.clone() },
    };
    tried.into_iter().map(case).collect()
}

fn payouts(own: &SimulationSettings) -> Vec<Case> {
    let mut tried: Vec<Payout> =
        PAYOUTS.iter().filter_map(|percent| Payout::from_percent((*percent).into()).ok()).collect();
    let is_by_symbol = !own.payout_percent_by_symbol.is_empty();
    tried.extend((!is_by_symbol).then_some(own.payout_percent));
    tried.sort_unstable();
    tried.dedup();
    let as_set = is_by_symbol.then(|| Case {
        setting: VenueSetting::PayoutPercent,
        label: "by symbol, as set".to_owned(),
        value: None,
        simulation: own.clone(),
    });
    let case = |payout_percent: Payout| Case {
        setting: VenueSetting::PayoutPercent,
        label: format!("{payout_percent} %"),
        value: Some(payout_percent.to_fraction() * 100.0),
        // One for all symbols.
        simulation: SimulationSettings {
            payout_percent,
            payout_percent_by_symbol: BTreeMap::new(),
            ..own.clone()
        },
    };
    tried.into_iter().map(case).chain(as_set).collect()
}

fn paths(own: &SimulationSettings) -> Vec<Case> {
    let case = |(path, label): (PathKind, &str)| Case {
        setting: VenueSetting::Path,
        label: label.to_owned(),
        value: None,
        simulation: SimulationSettings { path, ..own.clone() },
    };
    [(PathKind::Linear, "linear"), (PathKind::Open, "open")].map(case).into()
}

fn stresses(own: &SimulationSettings) -> Vec<Case> {
    let case = |label: &str, value: Option<f64>, simulation: SimulationSettings| Case {
        setting: VenueSetting::Stress,
        label: label.to_owned(),
        value,
        simulation,
    };
    let stressed = |stress: f64| SimulationSettings { stress, ..own.clone() };
    let worst = SimulationSettings {
        latency_ms: LATENCIES_S.map(Millis::from_seconds)[LATENCIES_S.len() - 1].max(own.latency_ms),
        recorded_latency: None,
        draw: DrawRule::Loss,
        ..stressed(USUAL_STRESS.max(own.stress))
    };
    vec![
        case("none", Some(0.0), stressed(0.0)),
        case("k = 0.5", Some(USUAL_STRESS), stressed(USUAL_STRESS)),
        case("worst: k = 0.5, 5 s of latency, draws lose", None, worst),
    ]
}

/// Where the return is 0, on the straight line between the two values on either side.
fn crossing(points: &[SensitivityPoint]) -> Option<f64> {
    points.windows(2).find_map(|pair| {
        let [(low, below), (high, above)] = [&pair[0], &pair[1]].map(|p| (p.value, p.return_per_unit));
        let (low, high, below, above) = (low?, high?, below?, above?);
        (below <= 0.0 && above > 0.0).then(|| low - below * (high - low) / (above - below))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point((value, return_per_unit): (f64, f64)) -> SensitivityPoint {
        SensitivityPoint {
            label: String::new(),
            value: Some(value),
            is_own: false,
            trades: 1,
            win_rate: None,
            break_even: None,
            return_per_unit: Some(return_per_unit),
            pnl: 0.0,
        }
    }

    #[test]
    fn the_payout_that_breaks_even_lies_between_those_that_were_tried() {
        for (rows, expected) in [
            (&[(60.0, -0.03), (64.0, -0.01), (68.0, 0.01)][..], Some(66.0)),
            (&[(60.0, 0.0), (64.0, 0.02)], Some(60.0)),
            (&[(60.0, 0.1), (64.0, 0.2)], None),
            (&[(60.0, -0.2), (64.0, -0.1)], None),
            (&[], None),
        ] {
            let points: Vec<SensitivityPoint> = rows.iter().copied().map(point).collect();
            match (crossing(&points), expected) {
                (Some(found), Some(expected)) => assert!((found - expected).abs() < 1e-9, "{found}"),
                (found, expected) => assert_eq!(found, expected),
            }
        }
    }

    #[test]
    fn every_curve_holds_the_settings_of_the_run_itself() {
        let latency_ms = Millis::new(700);
        let own = SimulationSettings { latency_ms, ..SimulationSettings::default() };
        for cases in [latencies(&own), payouts(&own), paths(&own), stresses(&own)] {
            assert_eq!(cases.iter().filter(|case| case.simulation == own).count(), 1);
        }
        let runs =
            [latencies(&own), payouts(&own), paths(&own), stresses(&own)].map(|cases| cases.len() as u64);
        // The run's own latency is none of the usual ones.
        assert_eq!(runs.iter().sum::<u64>(), Sensitivity::RUNS + 1);
        let values: Vec<f64> = latencies(&own).iter().filter_map(|case| case.value).collect();
        assert_eq!(values, [0.0, 700.0, 1_000.0, 2_000.0, 3_000.0, 4_000.0, 5_000.0]);
    }

    #[test]
    fn the_worst_case_is_never_milder_than_the_run() {
        let latency_ms = Millis::from_seconds(9);
        let own = SimulationSettings { latency_ms, stress: 0.7, ..SimulationSettings::default() };
        let worst = stresses(&own).pop().unwrap().simulation;
        assert_eq!((worst.latency_ms, worst.stress, worst.draw), (latency_ms, 0.7, DrawRule::Loss));
    }
}
