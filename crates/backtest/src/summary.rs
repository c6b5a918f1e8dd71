//! The figures of a run, from its trade book; the same for a backtest and a live session.

use crate::metric::{Drawdown, max_drawdown};
use candlewick_engine::{IntentId, IntentRow, IntentState, TradeBook, to_trade_outcome};
use candlewick_sdk::{Millis, Money, Outcome, Payout};
use candlewick_statistics::{
    PaidStake, WinRate, binomial_p_value, longest_streaks, mixed_break_even, poisson_binomial_p_value,
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

/// What the figures need of a settled trade: a fifth of its row, so that many pass through the cache at once.
struct Ended {
    known_at: Option<Millis>,
    close_time: Option<Millis>,
    intent: IntentId,
    outcome: Option<Outcome>,
    stake: Money,
    profit: Money,
    payout: Option<Payout>,
}

impl Summary {
    /// Of all trades in a book that started with `balance`.
    pub fn of(book: &TradeBook, balance: Money) -> Self {
        let mut settled = Vec::with_capacity(book.rows().len());
        let mut unsettled = 0;
        for row in book.rows() {
            match row.state {
                IntentState::Settled => settled.push(Ended::of(row)),
                IntentState::InFlight | IntentState::InDoubt | IntentState::Open => unsettled += 1,
                IntentState::Rejected | IntentState::NotSent | IntentState::NotOpened => {}
            }
        }
        settled.sort_by_key(|ended| (ended.known_at, ended.close_time, ended.intent));
        let outcomes = || settled.iter().filter_map(|ended| ended.outcome);
        let count = |wanted: Outcome| outcomes().filter(|outcome| *outcome == wanted).count() as u64;
        let (won, lost) = (count(Outcome::Won), count(Outcome::Lost));
        let rate = WinRate::new(won, lost).ok();
        Self {
            trades: settled.len() as u64,
            won,
            lost,
            draw: count(Outcome::Draw),
            cancelled: count(Outcome::Cancelled),
            unsettled,
            refused: book.refused(),
            pnl: settled.iter().map(|ended| ended.profit).sum(),
            win_rate: rate.map(WinRate::to_fraction),
            break_even: break_even(&settled),
            p_value: rate.and_then(|rate| p_value(&settled, rate)),
            max_drawdown: max_drawdown(balance, settled.iter().map(|ended| (ended.known_at, ended.profit))),
            longest_losing_streak: longest_streaks(outcomes().map(to_trade_outcome)).lost,
        }
    }
}

impl Ended {
    const fn of(row: &IntentRow) -> Self {
        Self {
            known_at: row.settled_at,
            close_time: row.close_time,
            intent: row.approved.intent(),
            outcome: row.outcome,
            stake: row.approved.stake(),
            profit: row.profit,
            payout: row.payout,
        }
    }
}

/// Payout fractions and stakes of the trades that won or lost and whose payout is known.
fn decided(settled: &[Ended]) -> impl Iterator<Item = PaidStake> {
    let decided = |ended: &&Ended| matches!(ended.outcome, Some(Outcome::Won | Outcome::Lost));
    settled.iter().filter(decided).filter_map(|ended| {
        let payout_fraction = ended.payout?.to_fraction();
        Some(PaidStake { stake: ended.stake.minor() as f64, payout_fraction })
    })
}

fn break_even(settled: &[Ended]) -> Option<f64> {
    let stakes: Vec<PaidStake> = decided(settled).collect();
    let first = stakes.first()?.payout_fraction;
    if stakes.iter().all(|paid| paid.payout_fraction == first) {
        candlewick_statistics::break_even(first).ok()
    } else {
        mixed_break_even(&stakes).ok()
    }
}

fn p_value(settled: &[Ended], rate: WinRate) -> Option<f64> {
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
