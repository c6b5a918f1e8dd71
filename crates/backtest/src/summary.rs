//! The figures of a run, from its trade book; the same for a backtest and a live session.

use crate::metric::{Drawdown, longest_losing_streak, max_drawdown};
use candlewick_engine::{IntentRow, IntentState, TradeBook};
use candlewick_sdk::{Money, Outcome};
use candlewick_statistics::{
    PaidStake, WinRate, binomial_p_value, mixed_break_even, poisson_binomial_p_value,
};
use std::collections::BTreeMap;

/// Counts, money and the first statistics of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
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
    /// How often each rule refused, by name.
    pub refused: BTreeMap<&'static str, u64>,
    /// Net profit of all settled trades.
    pub pnl: Money,
    /// `won / (won + lost)`; none without a decided trade.
    pub win_rate: Option<f64>,
    /// The win rate at which the decided trades would have earned nothing, stake-weighted where payouts differ.
    pub break_even: Option<f64>,
    /// Probability of so many wins or more without an edge, each trade at its own break-even. Assumes
    /// independent trades.
    pub p_value: Option<f64>,
    /// The deepest fall below a peak.
    pub max_drawdown: Drawdown,
    /// The most losses in a row.
    pub longest_losing_streak: u64,
}

impl Summary {
    /// Of all trades in a book that started with `balance`.
    pub fn of(book: &TradeBook, balance: Money) -> Self {
        let mut settled: Vec<&IntentRow> =
            book.rows().iter().filter(|row| row.state == IntentState::Settled).collect();
        settled.sort_by_key(|row| (row.settled_at, row.close_time, row.approved.intent()));
        let outcomes = || settled.iter().filter_map(|row| row.outcome);
        let count = |wanted: Outcome| outcomes().filter(|outcome| *outcome == wanted).count() as u64;
        let (won, lost) = (count(Outcome::Won), count(Outcome::Lost));
        let rate = WinRate::new(won, lost).ok();
        let unfinished = |row: &&IntentRow| {
            matches!(row.state, IntentState::InFlight | IntentState::InDoubt | IntentState::Open)
        };
        Self {
            trades: settled.len() as u64,
            won,
            lost,
            draw: count(Outcome::Draw),
            cancelled: count(Outcome::Cancelled),
            unsettled: book.rows().iter().filter(unfinished).count() as u64,
            refused: book.refused(),
            pnl: settled.iter().map(|row| row.profit).sum(),
            win_rate: rate.map(WinRate::to_fraction),
            break_even: break_even(&settled),
            p_value: rate.and_then(|rate| p_value(&settled, rate)),
            max_drawdown: max_drawdown(balance, settled.iter().map(|row| row.profit)),
            longest_losing_streak: longest_losing_streak(outcomes()),
        }
    }
}

/// Payout fractions and stakes of the trades that won or lost and whose payout is known.
fn decided<'a>(settled: &'a [&IntentRow]) -> impl Iterator<Item = PaidStake> + 'a {
    let decided = |row: &&&IntentRow| matches!(row.outcome, Some(Outcome::Won | Outcome::Lost));
    settled.iter().filter(decided).filter_map(|row| {
        let payout_fraction = row.payout?.to_fraction();
        Some(PaidStake { stake: row.approved.stake().minor() as f64, payout_fraction })
    })
}

fn break_even(settled: &[&IntentRow]) -> Option<f64> {
    let stakes: Vec<PaidStake> = decided(settled).collect();
    let first = stakes.first()?.payout_fraction;
    if stakes.iter().all(|paid| paid.payout_fraction == first) {
        candlewick_statistics::break_even(first).ok()
    } else {
        mixed_break_even(&stakes).ok()
    }
}

fn p_value(settled: &[&IntentRow], rate: WinRate) -> Option<f64> {
    let nulls: Vec<f64> = decided(settled).map(|paid| 1.0 / (1.0 + paid.payout_fraction)).collect();
    let first = *nulls.first()?;
    if nulls.len() as u64 != rate.decided() {
        return None; // a payout is unknown: there is nothing to test against
    }
    if nulls.iter().all(|null| *null == first) {
        binomial_p_value(rate, first).ok()
    } else {
        poisson_binomial_p_value(rate.won(), &nulls).ok()
    }
}
