//! Metrics of a run.

use super::Trades;
use candlewick_backtest::Summary;
use candlewick_backtest::metric::{
    Daily, DailyProfits, Drawdown, Expectancy, ProfitFactor, Streaks, WinRates, exposure_of, trades_per_day,
};
use candlewick_engine::IntentRow;
use candlewick_sdk::{Millis, MoneyScale};
use serde::Serialize;

/// Metrics of a run. Rates are fractions, money is in the wallet's currency, times are in
/// milliseconds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Metrics {
    pub win_rate: Option<WinRates>,
    pub expectancy: Option<Expectancy>,
    pub profit_factor: ProfitFactor,
    /// Largest drawdown by amount; `None` if the balance never fell.
    pub drawdown: Option<DrawdownFigures>,
    pub drawdown_by_percent: Option<DrawdownFigures>,
    pub streaks: Streaks,
    pub daily: Daily,
    pub exposure: Option<f64>,
    pub trades_per_day: Option<f64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct DrawdownFigures {
    pub amount: f64,
    /// In percent of the peak.
    pub percent: f64,
    /// Start of the run if the balance was never higher.
    pub peak_at: Millis,
    pub trough_at: Option<Millis>,
    pub recovered_at: Option<Millis>,
    pub fall_ms: Option<Millis>,
    pub recovery_ms: Option<Millis>,
}

impl Metrics {
    pub(super) fn of(trades: &Trades<'_>, settled: &[&IntentRow], summary: &Summary) -> Self {
        let mut days = DailyProfits::of(trades.span);
        settled
            .iter()
            .filter_map(|row| Some((row.settled_at?, row.profit)))
            .for_each(|(at, profit)| days.settle(at, profit));
        let fall = |deepest| DrawdownFigures::of(deepest, trades.span.start, trades.scale);
        Self {
            win_rate: WinRates::of(summary),
            expectancy: Expectancy::of(settled, trades.scale),
            profit_factor: ProfitFactor::of(settled),
            drawdown: fall(&summary.max_drawdown),
            drawdown_by_percent: fall(&summary.max_drawdown_by_percent),
            streaks: Streaks::of(summary),
            daily: Daily::of(days.days(), trades.balance),
            exposure: exposure_of(settled, trades.span),
            trades_per_day: trades_per_day(settled.len(), trades.span),
        }
    }
}

impl DrawdownFigures {
    pub(super) fn of(deepest: &Drawdown, start: Millis, scale: MoneyScale) -> Option<Self> {
        let peak_at = deepest.peak_at.unwrap_or(start);
        deepest.amount.is_positive().then(|| Self {
            amount: scale.to_f64(deepest.amount),
            percent: deepest.percent,
            peak_at,
            trough_at: deepest.trough_at,
            recovered_at: deepest.recovered_at,
            fall_ms: deepest.trough_at.map(|trough| trough - peak_at),
            recovery_ms: deepest.trough_at.zip(deepest.recovered_at).map(|(trough, back)| back - trough),
        })
    }
}
