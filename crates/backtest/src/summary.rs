//! Summary of a run, computed from its trade book. Backtests and live sessions share this code.

use crate::metric::Drawdown;
use crate::run_totals::{PayoutMix, RunTotals, SettledTradeFigures, WinRateEvidence};
use candlewick_engine::{IntentId, IntentRow, IntentState, TradeBook};
use candlewick_sdk::{Millis, Money, Outcome, prefetch};
use candlewick_statistics::{
    MeanBreakEven, StakeWithPayout, WinRate, mixed_break_even, poisson_binomial_p_value,
};
use std::collections::BTreeMap;

const PREFETCH_DISTANCE_ROWS: usize = 12;

#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    pub trades: u64,
    pub won: u64,
    pub lost: u64,
    pub draw: u64,
    pub cancelled: u64,
    pub unsettled: u64,
    pub refused: BTreeMap<&'static str, u64>,
    pub pnl: Money,
    /// Win rate: `won / (won + lost)`, `None` if no trade is won or lost.
    pub win_rate: Option<f64>,
    /// Win rate at which the trades would break even with equal stakes, for comparison with `win_rate`.
    pub break_even: Option<f64>,
    /// Win rate at which the trades would break even with their actual stakes.
    pub break_even_by_money: Option<f64>,
    /// Probability of at least this many wins if every trade wins at its break-even rate. Assumes independent trades.
    pub p_value: Option<f64>,
    /// Largest drawdown in money.
    pub max_drawdown: Drawdown,
    /// Largest drawdown in percent of the preceding peak. The risk rule `MaxDrawdown` limits this percentage.
    pub max_drawdown_by_percent: Drawdown,
    pub longest_winning_streak: u64,
    pub longest_losing_streak: u64,
}

struct BookTotals {
    totals: RunTotals,
    unsettled: u64,
}

impl Summary {
    pub fn new(book: &TradeBook, balance: Money) -> Self {
        Self::summarize(book, RunTotals::new(balance)).0
    }

    /// Builds the summary and adds all trades of the book to `totals`. `totals` must be empty.
    pub fn summarize(book: &TradeBook, totals: RunTotals) -> (Self, RunTotals) {
        let rows = book.rows();
        // Fast path: trades usually settle in the order in which they were decided.
        if let Some(added) = BookTotals::from_ordered_rows(totals.clone(), iterate_with_prefetch(rows)) {
            return added.finish(rows.iter(), book);
        }
        let mut sorted: Vec<&IntentRow> = rows.iter().collect();
        sorted.sort_by_key(|row| settlement_sort_key(row));
        let added = BookTotals::from_ordered_rows(totals, sorted.iter().copied());
        added.expect("rows are sorted").finish(sorted.iter().copied(), book)
    }
}

impl BookTotals {
    /// Adds up the rows. Returns `None` if they are not sorted by `settlement_sort_key`.
    fn from_ordered_rows<'a>(totals: RunTotals, rows: impl Iterator<Item = &'a IntentRow>) -> Option<Self> {
        let (mut added, mut last) = (Self { totals, unsettled: 0 }, None);
        for row in rows {
            match row.state {
                IntentState::Settled => {
                    let rank = settlement_sort_key(row);
                    if last.is_some_and(|last| rank < last) {
                        return None;
                    }
                    last = Some(rank);
                    if let Some(trade) = SettledTradeFigures::from_row(row) {
                        added.totals.add_trade(&trade);
                    }
                }
                IntentState::InFlight | IntentState::InDoubt | IntentState::Open => added.unsettled += 1,
                IntentState::Rejected | IntentState::NotSent | IntentState::NotOpened => {}
            }
        }
        Some(added)
    }

    fn finish<'a>(self, rows: impl Iterator<Item = &'a IntentRow>, book: &TradeBook) -> (Summary, RunTotals) {
        let Self { totals, unsettled } = self;
        let rate = totals.win_rate();
        let (WinRateEvidence { break_even, p_value }, break_even_by_money) = match totals.payout_mix() {
            PayoutMix::NoneYet => (WinRateEvidence::default(), None),
            PayoutMix::Uniform(payout) => {
                let evidence = totals.evidence_at(payout);
                (evidence, evidence.break_even)
            }
            PayoutMix::Mixed => evaluate_mixed_payouts(rows, rate),
        };
        let streaks = totals.longest_streaks();
        let summary = Summary {
            trades: totals.trades(),
            won: totals.won(),
            lost: totals.lost(),
            draw: totals.draws(),
            cancelled: totals.cancelled(),
            unsettled,
            refused: book.refusal_counts(),
            pnl: totals.pnl(),
            win_rate: rate.map(WinRate::to_fraction),
            break_even,
            break_even_by_money,
            p_value,
            max_drawdown: totals.drawdowns().max_by_amount(),
            max_drawdown_by_percent: totals.drawdowns().max_by_percent(),
            longest_winning_streak: u64::from(streaks.won),
            longest_losing_streak: u64::from(streaks.lost),
        };
        (summary, totals)
    }
}

/// Iterates over rows and prefetches later rows into the CPU cache (see docs/performance.md).
fn iterate_with_prefetch(rows: &[IntentRow]) -> impl Iterator<Item = &IntentRow> {
    rows.iter().enumerate().map(|(place, row)| {
        if let Some(soon) = rows.get(place + PREFETCH_DISTANCE_ROWS) {
            prefetch(&soon.state);
            prefetch(&soon.settled_at);
            prefetch(&soon.close_time);
        }
        row
    })
}

/// Returns the sort key of a settled trade: the time when its settlement became known, close time and intent id.
fn settlement_sort_key(row: &IntentRow) -> (Option<Millis>, Option<Millis>, IntentId) {
    (row.settled_at, row.close_time, row.approved.intent())
}

/// Returns the win-rate evidence and the break-even rate by money. The p-value is `None` if a payout is unknown.
fn evaluate_mixed_payouts<'a>(
    rows: impl Iterator<Item = &'a IntentRow>,
    rate: Option<WinRate>,
) -> (WinRateEvidence, Option<f64>) {
    let decided = |row: &&IntentRow| {
        row.state == IntentState::Settled && matches!(row.outcome, Some(Outcome::Won | Outcome::Lost))
    };
    let paid = rows.filter(decided).filter_map(|row| {
        let payout_fraction = row.payout?.to_fraction();
        Some(StakeWithPayout { stake: row.approved.stake().minor() as f64, payout_fraction })
    });
    let stakes: Vec<StakeWithPayout> = paid.collect();
    let mut by_trades = MeanBreakEven::default();
    let are_payouts = stakes.iter().all(|paid| by_trades.add(paid.payout_fraction).is_ok());
    let break_even = by_trades.mean().filter(|_| are_payouts);
    let known = rate.filter(|rate| stakes.len() as u64 == rate.decided());
    let p_value = known.and_then(|rate| {
        let nulls: Vec<f64> = stakes.iter().map(|paid| 1.0 / (1.0 + paid.payout_fraction)).collect();
        poisson_binomial_p_value(rate.won(), &nulls).ok()
    });
    (WinRateEvidence { break_even, p_value }, mixed_break_even(&stakes).ok())
}
