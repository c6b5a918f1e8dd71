//! The deepest fall of the balance below its peak.

use candlewick_sdk::{Millis, Money};

/// A fall from a peak.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Drawdown {
    /// How far, as an amount.
    pub amount: Money,
    /// How far, in percent of the peak that it fell from.
    pub percent: f64,
    /// When the peak was reached; nothing when it is the balance at the start.
    pub peak_at: Option<Millis>,
    /// When the bottom was.
    pub trough_at: Option<Millis>,
    /// When the balance was back at the peak; nothing when it never was.
    pub recovered_at: Option<Millis>,
}

/// The deepest fall in the making, by amount, of a balance that changes by each settled profit in turn.
#[derive(Clone, Debug)]
pub(crate) struct FallsInTime {
    balance: Money,
    peak: Money,
    peak_at: Option<Millis>,
    deepest: Drawdown,
}

impl FallsInTime {
    /// Of a balance that starts so.
    pub(crate) const fn of(start: Money) -> Self {
        let none = Drawdown {
            amount: Money::ZERO,
            percent: 0.0,
            peak_at: None,
            trough_at: None,
            recovered_at: None,
        };
        Self { balance: start, peak: start, peak_at: None, deepest: none }
    }

    /// The next profit, with the moment at which it became known, where that is known.
    #[inline]
    pub(crate) fn add(&mut self, at: Option<Millis>, profit: Money) {
        let deepest = &mut self.deepest;
        self.balance += profit;
        if self.balance >= self.peak {
            // Back at the peak: what fell from it, the deepest among them, has recovered.
            if deepest.recovered_at.is_none() && deepest.amount.is_positive() {
                deepest.recovered_at = at;
            }
            (self.peak, self.peak_at) = (self.balance, at);
            return;
        }
        let (amount, peak) = (self.peak - self.balance, self.peak);
        if amount > deepest.amount {
            let percent =
                if peak.is_positive() { amount.minor() as f64 / peak.minor() as f64 * 100.0 } else { 0.0 };
            let peak_at = self.peak_at;
            *deepest = Drawdown { amount, percent, peak_at, trough_at: at, recovered_at: None };
        }
    }

    /// The deepest so far.
    pub(crate) const fn deepest(&self) -> Drawdown {
        self.deepest
    }
}

/// The deepest fall, by amount, of a balance that starts at `start` and changes by each settled profit in turn. Profits
/// come with the moment at which they became known, where that is known.
pub fn max_drawdown(start: Money, profits: impl Iterator<Item = (Option<Millis>, Money)>) -> Drawdown {
    let mut falls = FallsInTime::of(start);
    profits.for_each(|(at, profit)| falls.add(at, profit));
    falls.deepest()
}

#[cfg(test)]
mod tests {
    use super::*;

    type Seconds = Option<i64>;

    /// Profits become known at seconds 1, 2, 3 ...; `expected` times are such seconds.
    fn check(profits: &[i64], amount: i64, percent: f64, (peak, trough, back): (Seconds, Seconds, Seconds)) {
        let at = |second: i64| Some(Millis::from_seconds(second));
        let told = (1..).zip(profits).map(|(second, units)| (at(second), Money::from_minor(*units)));
        let times = [peak, trough, back].map(|second| second.and_then(at));
        let [peak_at, trough_at, recovered_at] = times;
        let expected =
            Drawdown { amount: Money::from_minor(amount), percent, peak_at, trough_at, recovered_at };
        assert_eq!(max_drawdown(Money::from_minor(1_000), told), expected, "{profits:?}");
    }

    #[test]
    fn the_deepest_fall_is_from_the_peak_before_it() {
        check(&[], 0, 0.0, (None, None, None));
        check(&[100, 200], 0, 0.0, (None, None, None));
        check(&[-100, 50, -30], 100, 10.0, (None, Some(1), None));
        check(&[600, -400, 200, -500], 700, 43.75, (Some(1), Some(4), None));
    }

    #[test]
    fn a_fall_ends_when_the_balance_is_back_at_its_peak() {
        check(&[-100, 50, 50, 10], 100, 10.0, (None, Some(1), Some(3)));
        check(&[100, -50, -60, 200, -20], 110, 10.0, (Some(1), Some(3), Some(4)));
        // A later, deeper fall has a recovery of its own.
        check(&[-100, 200, -300, 100, 250], 300, 300.0 / 1_100.0 * 100.0, (Some(2), Some(3), Some(5)));
    }
}
