//! The figures of a run, from its trade book; the same for a backtest and a live session.

use crate::ahead::fetch_one;
use crate::metric::{Drawdown, FallsInTime, LosingStreaks};
use candlewick_engine::{IntentId, IntentRow, IntentState, TradeBook};
use candlewick_sdk::{Millis, Money, Outcome, Payout};
use candlewick_statistics::{
    PaidStake, WinRate, binomial_p_value, mixed_break_even, poisson_binomial_p_value,
};
use std::collections::BTreeMap;

/// Rows that are asked for before they are summed up.
const ROWS_AHEAD: usize = 12;

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

/// The figures in the making, told of one row after the other. Nothing is kept of them: a list of what the figures need of
/// many trades takes longer to write and to read again than the figures take.
struct Figures {
    trades: u64,
    won: u64,
    lost: u64,
    draw: u64,
    cancelled: u64,
    unsettled: u64,
    pnl: Money,
    falls: FallsInTime,
    losing: LosingStreaks,
    payouts: Payouts,
}

/// What is known of the payouts of the trades that won or lost.
#[derive(Clone, Copy, PartialEq)]
enum Payouts {
    NoneYet,
    /// All had this one.
    Alike(Payout),
    /// They differ, or one is not known.
    Mixed,
}

impl Summary {
    /// Of all trades in a book that started with `balance`.
    pub fn of(book: &TradeBook, balance: Money) -> Self {
        let rows = book.rows();
        // Nearly always trades settle in the order in which they were decided.
        if let Some(figures) = Figures::of_ordered(asked_for(rows), balance) {
            return figures.sum_up(rows.iter(), book);
        }
        let mut sorted: Vec<&IntentRow> = rows.iter().collect();
        sorted.sort_by_key(|row| rank(row));
        let figures = Figures::of_ordered(sorted.iter().copied(), balance);
        figures.expect("they were put in order").sum_up(sorted.iter().copied(), book)
    }
}

impl Figures {
    const fn new(balance: Money) -> Self {
        Self {
            trades: 0,
            won: 0,
            lost: 0,
            draw: 0,
            cancelled: 0,
            unsettled: 0,
            pnl: Money::ZERO,
            falls: FallsInTime::of(balance),
            losing: LosingStreaks::NONE,
            payouts: Payouts::NoneYet,
        }
    }

    /// Nothing where settled trades are not in the order in which they became known.
    fn of_ordered<'a>(rows: impl Iterator<Item = &'a IntentRow>, balance: Money) -> Option<Self> {
        let (mut figures, mut last) = (Self::new(balance), None);
        for row in rows {
            match row.state {
                IntentState::Settled => {
                    let rank = rank(row);
                    if last.is_some_and(|last| rank < last) {
                        return None;
                    }
                    last = Some(rank);
                    figures.settle(row);
                }
                IntentState::InFlight | IntentState::InDoubt | IntentState::Open => figures.unsettled += 1,
                IntentState::Rejected | IntentState::NotSent | IntentState::NotOpened => {}
            }
        }
        Some(figures)
    }

    #[inline]
    fn settle(&mut self, row: &IntentRow) {
        self.trades += 1;
        self.pnl += row.profit;
        self.falls.add(row.settled_at, row.profit);
        let Some(outcome) = row.outcome else { return };
        self.losing.settle(outcome);
        match outcome {
            Outcome::Won => self.won += 1,
            Outcome::Lost => self.lost += 1,
            Outcome::Draw => self.draw += 1,
            Outcome::Cancelled => self.cancelled += 1,
        }
        if matches!(outcome, Outcome::Won | Outcome::Lost) {
            self.payouts = match (self.payouts, row.payout) {
                (Payouts::NoneYet, Some(payout)) => Payouts::Alike(payout),
                (Payouts::Alike(all), Some(payout)) if payout == all => Payouts::Alike(all),
                _ => Payouts::Mixed,
            };
        }
    }

    fn sum_up<'a>(self, rows: impl Iterator<Item = &'a IntentRow>, book: &TradeBook) -> Summary {
        let rate = WinRate::new(self.won, self.lost).ok();
        let (break_even, p_value) = match self.payouts {
            Payouts::NoneYet => (None, None),
            Payouts::Alike(payout) => {
                let fraction = payout.to_fraction();
                let null = 1.0 / (1.0 + fraction);
                let p_value = rate.and_then(|rate| binomial_p_value(rate, null).ok());
                (candlewick_statistics::break_even(fraction).ok(), p_value)
            }
            Payouts::Mixed => mixed(rows, rate),
        };
        Summary {
            trades: self.trades,
            won: self.won,
            lost: self.lost,
            draw: self.draw,
            cancelled: self.cancelled,
            unsettled: self.unsettled,
            refused: book.refused(),
            pnl: self.pnl,
            win_rate: rate.map(WinRate::to_fraction),
            break_even,
            p_value,
            max_drawdown: self.falls.deepest(),
            longest_losing_streak: self.losing.longest(),
        }
    }
}

/// Rows in their order, what is read of each asked for while those before it are summed up: a row is more than a processor reads at
/// once, and it does not guess which parts are read of the next.
fn asked_for(rows: &[IntentRow]) -> impl Iterator<Item = &IntentRow> {
    rows.iter().enumerate().map(|(place, row)| {
        if let Some(soon) = rows.get(place + ROWS_AHEAD) {
            fetch_one(&soon.state);
            fetch_one(&soon.settled_at);
            fetch_one(&soon.close_time);
        }
        row
    })
}

/// Where a settled trade stands in the order in which they became known; at one moment, in that of their closes.
fn rank(row: &IntentRow) -> (Option<Millis>, Option<Millis>, IntentId) {
    (row.settled_at, row.close_time, row.approved.intent())
}

/// The win rate that breaks even, and the probability of one so high or higher without an edge, over trades whose payouts
/// differ; the latter only where all are known.
fn mixed<'a>(rows: impl Iterator<Item = &'a IntentRow>, rate: Option<WinRate>) -> (Option<f64>, Option<f64>) {
    let decided = |row: &&IntentRow| {
        row.state == IntentState::Settled && matches!(row.outcome, Some(Outcome::Won | Outcome::Lost))
    };
    let paid = rows.filter(decided).filter_map(|row| {
        let payout_fraction = row.payout?.to_fraction();
        Some(PaidStake { stake: row.approved.stake().minor() as f64, payout_fraction })
    });
    let stakes: Vec<PaidStake> = paid.collect();
    let Some(first) = stakes.first().map(|paid| paid.payout_fraction) else { return (None, None) };
    let is_alike = stakes.iter().all(|paid| paid.payout_fraction == first);
    let break_even =
        if is_alike { candlewick_statistics::break_even(first).ok() } else { mixed_break_even(&stakes).ok() };
    let known = rate.filter(|rate| stakes.len() as u64 == rate.decided());
    let p_value = known.and_then(|rate| {
        let nulls: Vec<f64> = stakes.iter().map(|paid| 1.0 / (1.0 + paid.payout_fraction)).collect();
        poisson_binomial_p_value(rate.won(), &nulls).ok()
    });
    (break_even, p_value)
}
