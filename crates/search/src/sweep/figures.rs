//! Metrics of a trial (one backtest of a sweep).

use super::Timeline;
use candlewick_backtest::metric::DailyProfits;
use candlewick_backtest::{BacktestResult, RunTotals, Summary, WinRateEvidence};
use candlewick_engine::Rule;
use candlewick_sdk::{Millis, Money, MoneyScale};
use candlewick_statistics::{WinRate, wilson_interval};
use serde::{Deserialize, Serialize};
use std::ops::Range;

const CONFIDENCE_LEVEL: f64 = 0.95;

/// Metrics of a trial. Rates are fractions, and amounts are in the wallet's currency.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Figures {
    pub trades: u64,
    pub won: u64,
    pub lost: u64,
    pub draw: u64,
    pub cancelled: u64,
    pub unsettled: u64,
    pub refused: u64,
    /// Fraction of decided trades that were won: `won / (won + lost)`.
    pub win_rate: Option<f64>,
    pub break_even: Option<f64>,
    /// Lower bound of the edge per unit of stake: (lower 95 % Wilson bound of the win rate) / `break_even` - 1.
    pub edge_lower: Option<f64>,
    /// Probability of winning at least as many trades without an edge, assuming independent trades.
    pub p_value: Option<f64>,
    pub pnl: f64,
    /// Expectancy: net profit as a share of the total stake.
    pub expectancy: Option<f64>,
    /// Sharpe ratio of daily profits, annualized.
    pub sharpe: Option<f64>,
    pub max_drawdown: f64,
    pub max_drawdown_percent: f64,
    pub longest_losing_streak: u64,
    /// Rule that stopped the bot for the rest of the trial: only an operator or a deposit can lift the stop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped_by: Option<Rule>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub timeline: Timeline,
}

#[derive(Clone, Copy)]
pub(crate) struct TrialEndState {
    pub(crate) unsettled: u64,
    pub(crate) refused: u64,
    pub(crate) stopped_by: Option<Rule>,
}

impl Figures {
    pub fn new(finished: &BacktestResult, balance: Money, span: &Range<Millis>) -> Self {
        let (summary, totals) =
            Summary::summarize(&finished.book, RunTotals::new(balance).with_daily_profits(span));
        let evidence = WinRateEvidence { break_even: summary.break_even, p_value: summary.p_value };
        let open = TrialEndState {
            unsettled: summary.unsettled,
            refused: summary.refused.values().sum(),
            stopped_by: finished.stopped_by.iter().find_map(|rule| *rule),
        };
        Self::from_totals(
            &totals,
            evidence,
            open,
            Timeline::from_rows(finished.book.rows(), span),
            finished.money_scale,
        )
    }

    pub(crate) fn from_totals(
        totals: &RunTotals,
        evidence: WinRateEvidence,
        open: TrialEndState,
        timeline: Timeline,
        scale: MoneyScale,
    ) -> Self {
        let WinRateEvidence { break_even, p_value } = evidence;
        let rate = totals.win_rate();
        Self {
            trades: totals.trades(),
            won: totals.won(),
            lost: totals.lost(),
            draw: totals.draws(),
            cancelled: totals.cancelled(),
            unsettled: open.unsettled,
            refused: open.refused,
            win_rate: rate.map(WinRate::to_fraction),
            break_even,
            edge_lower: edge_lower_bound(rate, break_even),
            p_value,
            pnl: scale.to_f64(totals.pnl()),
            expectancy: totals.profit_per_unit_staked(),
            sharpe: totals.daily_profits().and_then(DailyProfits::sharpe),
            max_drawdown: scale.to_f64(totals.drawdowns().max_by_amount().amount),
            max_drawdown_percent: totals.drawdowns().max_by_percent().percent,
            longest_losing_streak: u64::from(totals.longest_streaks().lost),
            stopped_by: open.stopped_by,
            timeline,
        }
    }

    #[must_use]
    pub fn without_timeline(&self) -> Self {
        Self { timeline: Timeline::default(), ..self.clone() }
    }

    pub const fn decided_trades(&self) -> u64 {
        self.won + self.lost
    }
}

fn is_default(timeline: &Timeline) -> bool {
    *timeline == Timeline::default()
}

fn edge_lower_bound(rate: Option<WinRate>, break_even: Option<f64>) -> Option<f64> {
    let break_even = break_even.filter(|break_even| *break_even > 0.0)?;
    Some(wilson_interval(rate?, CONFIDENCE_LEVEL).ok()?.lower / break_even - 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lower_edge_is_the_return_at_the_lower_win_rate() {
        // 60 of 100 won at 80 %: the Wilson interval starts at 0.502003; 0.502003 x 0.8 - 0.497997 = -0.096395.
        let rate = WinRate::new(60, 40).ok();
        let found = edge_lower_bound(rate, Some(1.0 / 1.8)).unwrap();
        assert!((found - -0.096_395).abs() < 2e-6, "{found}");
        assert_eq!(
            [
                edge_lower_bound(rate, None),
                edge_lower_bound(None, Some(0.5)),
                edge_lower_bound(rate, Some(0.0))
            ],
            [None; 3]
        );
    }
}
