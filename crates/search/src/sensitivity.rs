//! Sensitivity of a backtest to venue settings: latency, payout, price path and stress.
//! A [`SensitivityRow`] depends only on the backtest and the row number, so the rows can be split among machines.

use crate::SearchError;
use crate::error::build_thread_pool;
use candlewick_backtest::NullRecorder;
use candlewick_backtest::metric::Expectancy;
use candlewick_backtest::{Backtest, BacktestError, BacktestResult, BacktestSettings, Summary};
use candlewick_engine::{IntentRow, IntentState};
use candlewick_sdk::{CandleSeries, Millis, Money, Payout, Strategy};
use candlewick_simulator::{DrawRule, Market, PathKind, SimulationSettings};
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::ops::Range;

const LATENCIES_S: [i64; 6] = [0, 1, 2, 3, 4, 5];
const PAYOUTS_PERCENT: [u32; 9] = [60, 64, 68, 72, 76, 80, 84, 88, 92];
const DEFAULT_STRESS: f64 = 0.5;

/// Results of one backtest, repeated with other venue settings. Each run changes one setting, except the worst
/// plausible case: it combines the default stress with the longest latency, and counts draws as losses.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sensitivity {
    pub curves: Vec<SensitivityCurve>,
    /// Payout at which the mean return becomes positive; `None` if the return never changes sign.
    pub break_even_payout_percent: Option<f64>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SensitivityCurve {
    pub setting: VenueSetting,
    pub points: Vec<SensitivityPoint>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum VenueSetting {
    LatencyMs,
    PayoutPercent,
    Path,
    Stress,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SensitivityPoint {
    pub label: String,
    pub value: Option<f64>,
    pub is_own: bool,
    pub trades: u64,
    pub win_rate: Option<f64>,
    pub break_even: Option<f64>,
    pub return_per_unit: Option<f64>,
    pub pnl: f64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SensitivityRow {
    /// 0-based run number. Journals store the number as `trial`.
    #[serde(rename = "trial")]
    pub run: u64,
    /// Always 0. The row format is shared with sweeps, which store their halving rung in this field.
    pub rung: u32,
    pub setting: VenueSetting,
    pub point: SensitivityPoint,
}

pub struct SensitivityAnalysis<'a> {
    pub settings: &'a BacktestSettings,
    pub wants_prices: &'a [bool],
    pub candles: &'a [CandleSeries],
    pub markets: &'a [Market],
    pub balance: Money,
    pub build_strategies: &'a (dyn Fn() -> Result<Vec<Box<dyn Strategy>>, BacktestError> + Sync),
    pub threads: NonZeroUsize,
}

/// Callback before each run. Returning `false` skips the run.
pub type RunFilter<'a> = dyn Fn() -> bool + Sync + 'a;

struct VenueCase {
    setting: VenueSetting,
    label: String,
    value: Option<f64>,
    simulation: SimulationSettings,
}

impl Sensitivity {
    pub fn from_analysis(repeat: &SensitivityAnalysis<'_>) -> Result<Self, SearchError> {
        Ok(Self::from_rows(repeat.run(0..repeat.run_count(), &|| true)?))
    }

    pub fn from_rows(rows: Vec<SensitivityRow>) -> Self {
        let mut curves: Vec<SensitivityCurve> = Vec::new();
        for SensitivityRow { setting, point, .. } in rows {
            match curves.last_mut().filter(|curve| curve.setting == setting) {
                Some(curve) => curve.points.push(point),
                None => curves.push(SensitivityCurve { setting, points: vec![point] }),
            }
        }
        let of_payouts = curves.iter().find(|curve| curve.setting == VenueSetting::PayoutPercent);
        let break_even_payout_percent = of_payouts.and_then(|curve| find_zero_crossing(&curve.points));
        Self { curves, break_even_payout_percent }
    }

    pub fn curve(&self, setting: VenueSetting) -> &[SensitivityPoint] {
        self.curves.iter().find(|curve| curve.setting == setting).map_or(&[], |curve| &curve.points)
    }
}

impl SensitivityAnalysis<'_> {
    pub fn run_count(&self) -> u64 {
        self.cases().len() as u64
    }

    pub fn run(&self, runs: Range<u64>, watcher: &RunFilter<'_>) -> Result<Vec<SensitivityRow>, SearchError> {
        let pool = build_thread_pool(self.threads)?;
        let cases: Vec<(u64, _)> = (0..).zip(self.cases()).filter(|(run, _)| runs.contains(run)).collect();
        let row = |(run, case): &(u64, VenueCase)| {
            let point = watcher().then(|| self.run_case(case))?;
            Some(point.map(|point| SensitivityRow { run: *run, rung: 0, setting: case.setting, point }))
        };
        let rows: Result<Vec<_>, BacktestError> = pool.install(|| cases.par_iter().filter_map(row).collect());
        Ok(rows?)
    }

    fn cases(&self) -> Vec<VenueCase> {
        let own = &self.settings.simulation;
        let cases = [latency_cases(own), payout_cases(own), path_cases(own), stress_cases(own)];
        cases.into_iter().flatten().collect()
    }

    fn run_case(&self, case: &VenueCase) -> Result<SensitivityPoint, BacktestError> {
        let settings = BacktestSettings { simulation: case.simulation.clone(), ..self.settings.clone() };
        let strategies = (self.build_strategies)()?;
        let backtest =
            Backtest::new(&settings, strategies, self.wants_prices, self.candles, self.markets.to_vec())?;
        let finished = backtest.run(&NullRecorder::header(), &mut NullRecorder, &mut |_, _| {})?;
        Ok(self.to_point(case, &finished))
    }

    fn to_point(&self, case: &VenueCase, finished: &BacktestResult) -> SensitivityPoint {
        let summary = Summary::new(&finished.book, self.balance);
        let settled: Vec<&IntentRow> =
            finished.book.rows().iter().filter(|row| row.state == IntentState::Settled).collect();
        let expectancy = Expectancy::new(&settled, finished.money_scale);
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

fn latency_cases(own: &SimulationSettings) -> Vec<VenueCase> {
    let mut tried: Vec<Millis> = LATENCIES_S.map(Millis::from_seconds).to_vec();
    tried.push(own.latency_ms);
    tried.sort_unstable();
    tried.dedup();
    let case = |latency_ms: Millis| VenueCase {
        setting: VenueSetting::LatencyMs,
        label: format!("{} ms", latency_ms.get()),
        value: Some(latency_ms.get() as f64),
        simulation: SimulationSettings { latency_ms, recorded_latency: None, ..own.clone() },
    };
    tried.into_iter().map(case).collect()
}

fn payout_cases(own: &SimulationSettings) -> Vec<VenueCase> {
    let mut tried: Vec<Payout> =
        PAYOUTS_PERCENT.iter().filter_map(|percent| Payout::from_percent((*percent).into()).ok()).collect();
    let is_by_symbol = !own.payout_percent_by_symbol.is_empty();
    tried.extend((!is_by_symbol).then_some(own.payout_percent));
    tried.sort_unstable();
    tried.dedup();
    let as_set = is_by_symbol.then(|| VenueCase {
        setting: VenueSetting::PayoutPercent,
        label: "by symbol, as set".to_owned(),
        value: None,
        simulation: own.clone(),
    });
    let case = |payout_percent: Payout| VenueCase {
        setting: VenueSetting::PayoutPercent,
        label: format!("{payout_percent} %"),
        value: Some(payout_percent.to_fraction() * 100.0),
        simulation: SimulationSettings {
            payout_percent,
            payout_percent_by_symbol: BTreeMap::new(),
            ..own.clone()
        },
    };
    tried.into_iter().map(case).chain(as_set).collect()
}

fn path_cases(own: &SimulationSettings) -> Vec<VenueCase> {
    let case = |(path, label): (PathKind, &str)| VenueCase {
        setting: VenueSetting::Path,
        label: label.to_owned(),
        value: None,
        simulation: SimulationSettings { path, ..own.clone() },
    };
    [(PathKind::Linear, "linear"), (PathKind::Open, "open")].map(case).into()
}

fn stress_cases(own: &SimulationSettings) -> Vec<VenueCase> {
    let case = |label: &str, value: Option<f64>, simulation: SimulationSettings| VenueCase {
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
        ..stressed(DEFAULT_STRESS.max(own.stress))
    };
    vec![
        case("none", Some(0.0), stressed(0.0)),
        case("k = 0.5", Some(DEFAULT_STRESS), stressed(DEFAULT_STRESS)),
        case("worst: k = 0.5, 5 s of latency, draws lose", None, worst),
    ]
}

fn find_zero_crossing(points: &[SensitivityPoint]) -> Option<f64> {
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
    fn interpolates_the_break_even_payout() {
        for (rows, expected) in [
            (&[(60.0, -0.03), (64.0, -0.01), (68.0, 0.01)][..], Some(66.0)),
            (&[(60.0, 0.0), (64.0, 0.02)], Some(60.0)),
            (&[(60.0, 0.1), (64.0, 0.2)], None),
            (&[(60.0, -0.2), (64.0, -0.1)], None),
            (&[], None),
        ] {
            let points: Vec<SensitivityPoint> = rows.iter().copied().map(point).collect();
            match (find_zero_crossing(&points), expected) {
                (Some(found), Some(expected)) => assert!((found - expected).abs() < 1e-9, "{found}"),
                (found, expected) => assert_eq!(found, expected),
            }
        }
    }

    #[test]
    fn every_curve_includes_the_run_itself() {
        let own = SimulationSettings { latency_ms: Millis::new(700), ..SimulationSettings::default() };
        for cases in [latency_cases(&own), payout_cases(&own), path_cases(&own), stress_cases(&own)] {
            assert_eq!(cases.iter().filter(|case| case.simulation == own).count(), 1);
        }
        let runs = [latency_cases(&own), payout_cases(&own), path_cases(&own), stress_cases(&own)]
            .map(|cases| cases.len() as u64);
        // The run's own latency is not one of the default latencies, and five cases have neither latency nor payout.
        assert_eq!(runs.iter().sum::<u64>(), (LATENCIES_S.len() + 1 + PAYOUTS_PERCENT.len() + 5) as u64);
        let values: Vec<f64> = latency_cases(&own).iter().filter_map(|case| case.value).collect();
        assert_eq!(values, [0.0, 700.0, 1_000.0, 2_000.0, 3_000.0, 4_000.0, 5_000.0]);
    }

    #[test]
    fn worst_case_is_never_milder_than_the_run() {
        let latency_ms = Millis::from_seconds(9);
        let own = SimulationSettings { latency_ms, stress: 0.7, ..SimulationSettings::default() };
        let worst = stress_cases(&own).pop().unwrap().simulation;
        assert_eq!((worst.latency_ms, worst.stress, worst.draw), (latency_ms, 0.7, DrawRule::Loss));
    }
}
