//! What a trial came to.

use super::Timeline;
use candlewick_backtest::metric::DailyProfits;
use candlewick_backtest::{Evidence, Finished, RunTotals, Summary};
use candlewick_engine::Rule;
use candlewick_sdk::{Millis, Money, MoneyScale};
use candlewick_statistics::{WinRate, wilson_interval};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// The confidence of the interval whose lower end counts: two-sided, so one in forty true rates lies below it.
const CONFIDENCE: f64 = 0.95;

/// The figures of one trial. Rates are fractions; money is in the wallet's currency.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Figures {
    /// Settled trades.
    pub trades: u64,
    /// Trades that won.
    pub won: u64,
    /// Trades that lost.
    pub lost: u64,
    /// Trades that drew.
    pub draw: u64,
    /// Trades that the venue called off.
    pub cancelled: u64,
    /// Intents that are neither settled nor refused.
    pub unsettled: u64,
    /// Signals and orders that were refused.
    pub refused: u64,
    /// `won / (won + lost)`.
    pub win_rate: Option<f64>,
    /// The win rate at which the decided trades would have earned nothing.
    pub break_even: Option<f64>,
    /// The lower end of the edge, as a return per unit of stake: what a trade returns on average at the lower end of the win rate's
    /// 95 % Wilson interval, `lower / break_even - 1`.
    pub edge_lower: Option<f64>,
    /// Probability of so many wins or more without an edge, if trades are independent.
    pub p_value: Option<f64>,
    /// Net profit of all settled trades.
    pub pnl: f64,
    /// Expectancy: net profit as a part of what was staked.
    pub expectancy: Option<f64>,
    /// Mean over standard deviation of each day's profit, a year's worth.
    pub sharpe: Option<f64>,
    /// The max. drawdown, by amount.
    pub max_drawdown: f64,
    /// The max. drawdown in percent of the peak, which may be another one.
    pub max_drawdown_percent: f64,
    /// The most losses in a row.
    pub longest_losing_streak: u64,
    /// The rule by which the bot would open nothing more at the end: one that only a person lifts, or a balance that covers no stake.
    /// What came after its last trade was not traded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped_by: Option<Rule>,
    /// When it won and lost.
    #[serde(default, skip_serializing_if = "is_default")]
    pub timeline: Timeline,
}

/// Intents and signals of a trial that are no settled trades.
#[derive(Clone, Copy)]
pub(crate) struct OpenEnds {
    /// Intents that are neither settled nor refused.
    pub(crate) unsettled: u64,
    /// Signals and orders that were refused.
    pub(crate) refused: u64,
    /// The rule by which its bot would open nothing more.
    pub(crate) stopped_by: Option<Rule>,
}

impl Figures {
    /// Of a run that began with `balance`, over candles from the start to the end of `span`.
    pub fn of(finished: &Finished, balance: Money, span: &Range<Millis>) -> Self {
        let (summary, totals) = Summary::with_totals(&finished.book, RunTotals::new(balance).by_day(span));
        let evidence = Evidence { break_even: summary.break_even, p_value: summary.p_value };
        let open = OpenEnds {
            unsettled: summary.unsettled,
            refused: summary.refused.values().sum(),
            stopped_by: finished.stopped_by.iter().find_map(|rule| *rule),
        };
        Self::of_totals(
            &totals,
            evidence,
            open,
            Timeline::of_rows(finished.book.rows(), span),
            finished.money_scale,
        )
    }

    /// Of the totals of a trial's trades.
    pub(crate) fn of_totals(
        totals: &RunTotals,
        evidence: Evidence,
        open: OpenEnds,
        timeline: Timeline,
        scale: MoneyScale,
    ) -> Self {
        let Evidence { break_even, p_value } = evidence;
        let rate = totals.win_rate();
        Self {
            trades: totals.trades(),
            won: totals.won(),
            lost: totals.lost(),
            draw: totals.draw(),
            cancelled: totals.cancelled(),
            unsettled: open.unsettled,
            refused: open.refused,
            win_rate: rate.map(WinRate::to_fraction),
            break_even,
            edge_lower: edge_lower(rate, break_even),
            p_value,
            pnl: scale.to_f64(totals.pnl()),
            expectancy: totals.profit_per_unit_staked(),
            sharpe: totals.days().and_then(DailyProfits::sharpe),
            max_drawdown: scale.to_f64(totals.drawdowns().by_amount().amount),
            max_drawdown_percent: totals.drawdowns().by_percent().percent,
            longest_losing_streak: u64::from(totals.longest_streaks().lost),
            stopped_by: open.stopped_by,
            timeline,
        }
    }

    /// The same without the timeline, for people.
    #[must_use]
    pub fn without_timeline(&self) -> Self {
        Self { timeline: Timeline::default(), ..self.clone() }
    }

    /// Trades that won or lost.
    pub const fn decided(&self) -> u64 {
        self.won + self.lost
    }
}

fn is_default(timeline: &Timeline) -> bool {
    *timeline == Timeline::default()
}

/// What of an edge is left at the lower end of the interval: at the break-even `b` a win pays `1 / b - 1` of the stake, so a win rate
/// of `w` returns `w / b - 1` of it.
fn edge_lower(rate: Option<WinRate>, break_even: Option<f64>) -> Option<f64> {
    let break_even = break_even.filter(|break_even| *break_even > 0.0)?;
    Some(wilson_interval(rate?, CONFIDENCE).ok()?.lower / break_even - 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lower_end_of_an_edge_is_what_a_trade_returns_there() {
        // 60 of 100 won at 80 %: Wilson's interval begins at 0.502003, and 0.502003 x 0.8 - 0.497997 = -0.096395.
        let rate = WinRate::new(60, 40).ok();
        let found = edge_lower(rate, Some(1.0 / 1.8)).unwrap();
        assert!((found - -0.096_395).abs() < 2e-6, "{found}");
        assert_eq!(
            [edge_lower(rate, None), edge_lower(None, Some(0.5)), edge_lower(rate, Some(0.0))],
            [None; 3]
        );
    }
}
