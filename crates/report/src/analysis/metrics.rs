//! The figures of a run, together.

use super::Trades;
use candlewick_backtest::Summary;
use candlewick_backtest::metric::{
    Daily, DailyProfits, Drawdown, Expectancy, ProfitFactor, Streaks, WinRates, exposure_of, trades_per_day,
};
use candlewick_engine::IntentRow;
use candlewick_sdk::{Millis, MoneyScale};
use serde::Serialize;

/// The figures of a run. Rates are fractions, money is in the wallet's currency, times are milliseconds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Metrics {
    /// Win rate and break-even; nothing without a decided trade.
    pub win_rate: Option<WinRates>,
    /// The mean result of a trade; nothing without one.
    pub expectancy: Option<Expectancy>,
    /// Profits over losses.
    pub profit_factor: ProfitFactor,
    /// The fall that is the deepest by amount; nothing when the balance never fell.
    pub drawdown: Option<DrawdownFigures>,
    /// The fall that is the deepest in percent of its peak; nothing when the balance never fell.
    pub drawdown_by_percent: Option<DrawdownFigures>,
    /// The longest streaks.
    pub streaks: Streaks,
    /// Ratios of daily results.
    pub daily: Daily,
    /// The share of time in which a trade was open.
    pub exposure: Option<f64>,
    /// Settled trades a day.
    pub trades_per_day: Option<f64>,
}

/// A fall below a peak, with its times.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct DrawdownFigures {
    /// How far, in money.
    pub amount: f64,
    /// How far, in percent of the peak.
    pub percent: f64,
    /// When the peak was reached: the start of the run where nothing was won before.
    pub peak_at: Millis,
    /// When the bottom was.
    pub trough_at: Option<Millis>,
    /// When the balance was back at the peak; nothing when it never was.
    pub recovered_at: Option<Millis>,
    /// From the peak to the bottom.
    pub fall_ms: Option<Millis>,
    /// From the bottom to the recovery.
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
