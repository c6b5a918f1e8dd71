//! Figures of settled trades, taken one by one: what the metrics make of a whole list.

pub(crate) use candlewick_backtest::metric::LosingStreaks;

use candlewick_backtest::metric::DAYS_PER_YEAR;
use candlewick_sdk::{Millis, Money};
use std::ops::Range;

/// A balance that is followed, and its deepest fall, by amount.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Falls {
    start: Money,
    balance: Money,
    peak: Money,
    amount: Money,
    peak_before: Money,
}

/// The profit of each day of a span in minor units; every day counts, also those without a trade.
#[derive(Clone, Debug)]
pub(crate) struct DailyProfits {
    first: i64,
    days: Vec<f64>,
    /// The day of the last profit, by its place, and when it began and ends.
    today: usize,
    hours: Range<Millis>,
}

impl Falls {
    /// From this balance on.
    pub(crate) const fn new(start: Money) -> Self {
        Self { start, balance: start, peak: start, amount: Money::ZERO, peak_before: start }
    }

    /// Takes the next profit.
    #[inline]
    pub(crate) fn settle(&mut self, profit: Money) {
        self.balance += profit;
        self.peak = self.peak.max(self.balance);
        let amount = self.peak - self.balance;
        if amount > self.amount {
            (self.amount, self.peak_before) = (amount, self.peak);
        }
    }

    /// All profits together.
    pub(crate) fn profit(&self) -> Money {
        self.balance - self.start
    }

    /// How far the deepest went.
    pub(crate) const fn amount(&self) -> Money {
        self.amount
    }

    /// The same in percent of the peak before it.
    pub(crate) fn percent(&self) -> f64 {
        let peak = self.peak_before;
        if peak.is_positive() { self.amount.minor() as f64 / peak.minor() as f64 * 100.0 } else { 0.0 }
    }
}

impl DailyProfits {
    /// None yet.
    pub(crate) fn of(span: &Range<Millis>) -> Self {
        let first = day(span.start);
        let count = usize::try_from(day(span.end - Millis::new(1)) - first + 1).unwrap_or_default();
        Self { first, days: vec![0.0; count], today: 0, hours: Millis::ZERO..Millis::ZERO }
    }

    /// Takes the next profit.
    #[inline]
    pub(crate) fn settle(&mut self, at: Millis, profit: Money) {
        if !self.hours.contains(&at) {
            self.turn_to(at);
        }
        if let Some(day) = self.days.get_mut(self.today) {
            *day += profit.minor() as f64;
        }
    }

    /// Turns to the day of a moment.
    #[cold]
    fn turn_to(&mut self, at: Millis) {
        self.today = usize::try_from(day(at) - self.first).unwrap_or_default();
        if self.today >= self.days.len() {
            self.days.resize(self.today + 1, 0.0); // a settlement is read shortly after the last candle
        }
        let start = at.floor_to(Millis::DAY);
        self.hours = start..start + Millis::DAY;
    }

    /// Their Sharpe ratio, a year's worth. None below two days, or when all days are alike.
    pub(crate) fn sharpe(&self) -> Option<f64> {
        candlewick_statistics::sharpe(&self.days, DAYS_PER_YEAR).ok().flatten()
    }
}

const fn day(at: Millis) -> i64 {
    at.get().div_euclid(Millis::DAY.get())
}

#[cfg(test)]
mod tests {
    use super::*;
    use candlewick_backtest::metric::{daily_profits, max_drawdown};
    use candlewick_sdk::Outcome;
    use candlewick_statistics::{TradeOutcome, longest_streaks};

    /// Hours and profits in minor units.
    const TRADES: [(i64, i64); 9] =
        [(1, -30), (2, 0), (20, -20), (26, 90), (49, -100), (50, -1), (51, 70), (71, -50), (72, -45)];

    #[test]
    fn one_by_one_they_come_to_what_a_list_does() {
        let span = Millis::ZERO..Millis::DAY * 3;
        let start = Money::from_minor(1_000);
        let (mut falls, mut streaks, mut days) =
            (Falls::new(start), LosingStreaks::default(), DailyProfits::of(&span));
        let trades = TRADES.map(|(hour, profit)| (Millis::HOUR * hour, Money::from_minor(profit)));
        for (at, profit) in trades {
            falls.settle(profit);
            days.settle(at, profit);
            streaks.settle(match profit.minor() {
                0 => Outcome::Draw,
                loss if loss < 0 => Outcome::Lost,
                _ => Outcome::Won,
            });
        }
        let whole = max_drawdown(start, trades.iter().map(|(at, profit)| (Some(*at), *profit)));
        assert_eq!((falls.amount(), falls.percent()), (whole.amount, whole.percent));
        assert_eq!(falls.profit(), trades.iter().map(|(_, profit)| *profit).sum());
        assert_eq!(days.days, daily_profits(trades.into_iter(), &span));
        let outcomes = TRADES.iter().map(|(_, profit)| match profit {
            0 => TradeOutcome::Draw,
            loss if *loss < 0 => TradeOutcome::Lost,
            _ => TradeOutcome::Won,
        });
        assert_eq!(streaks.longest(), longest_streaks(outcomes).lost);
    }
}
