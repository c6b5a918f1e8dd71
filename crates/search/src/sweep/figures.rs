//! What a trial came to.

use super::Timeline;
use candlewick_backtest::metric::DailyProfits;
use candlewick_backtest::{Evidence, Finished, RunTotals, Summary};
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
    /// The lower end of the win rate's 95 % Wilson interval, less the break-even.
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
}

impl Figures {
    /// Of a run that began with `balance`, over candles from the start to the end of `span`.
    pub fn of(finished: &Finished, balance: Money, span: &Range<Millis>) -> Self {
        let (summary, totals) = Summary::with_totals(&finished.book, RunTotals::new(balance).by_day(span));
        let evidence = Evidence { break_even: summary.break_even, p_value: summary.p_value };
        let open = OpenEnds { unsettled: summary.unsettled, refused: summary.refused.values().sum() };
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

/// What of an edge is left at the lower end of the interval.
fn edge_lower(rate: Option<WinRate>, break_even: Option<f64>) -> Option<f64> {
    Some(wilson_interval(rate?, CONFIDENCE).ok()?.lower - break_even?)
}
