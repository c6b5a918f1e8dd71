//! Largest drawdowns of the balance, by amount and in percent of the peak.

use candlewick_sdk::{Millis, Money};

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Drawdown {
    pub amount: Money,
    /// Drawdown in percent of the peak, 0 if the peak is zero or negative.
    pub percent: f64,
    /// Time of the peak, `None` if the peak is the initial balance.
    pub peak_at: Option<Millis>,
    pub trough_at: Option<Millis>,
    /// Time of the recovery, `None` if the balance never returned to the peak.
    pub recovered_at: Option<Millis>,
}

/// Tracker of a balance's largest drawdown by amount and its largest drawdown in percent of the peak.
/// These two often differ, because a larger amount can be a smaller percentage of a higher peak.
#[derive(Clone, Debug)]
pub struct DrawdownTracker {
    balance: Money,
    peak: Money,
    peak_at: Option<Millis>,
    by_amount: Decline,
    by_percent: Decline,
    is_below: bool,
}

#[derive(Clone, Copy, Debug)]
struct Decline {
    amount: Money,
    peak: Money,
    peak_at: Option<Millis>,
    trough_at: Option<Millis>,
    recovered_at: Option<Millis>,
}

impl DrawdownTracker {
    pub const fn new(from: Money) -> Self {
        let none =
            Decline { amount: Money::ZERO, peak: from, peak_at: None, trough_at: None, recovered_at: None };
        Self { balance: from, peak: from, peak_at: None, by_amount: none, by_percent: none, is_below: false }
    }

    #[inline]
    pub fn add_profit(&mut self, at: Option<Millis>, profit: Money) {
        self.balance += profit;
        if self.balance >= self.peak {
            if self.is_below {
                self.record_recovery(at);
            }
            (self.peak, self.peak_at) = (self.balance, at);
            return;
        }
        let amount = self.peak - self.balance;
        // The peak never falls, so a smaller amount cannot be a larger fraction of the peak.
        if amount > self.by_percent.amount {
            let Self { peak, peak_at, .. } = *self;
            let fall = Decline { amount, peak, peak_at, trough_at: at, recovered_at: None };
            self.record_drawdown(fall);
        }
    }

    fn record_recovery(&mut self, at: Option<Millis>) {
        for fall in [&mut self.by_amount, &mut self.by_percent] {
            if fall.recovered_at.is_none() && fall.amount.is_positive() {
                fall.recovered_at = at;
            }
        }
        self.is_below = false;
    }

    fn record_drawdown(&mut self, fall: Decline) {
        if fall.amount > self.by_amount.amount {
            (self.by_amount, self.is_below) = (fall, true);
        }
        if fall.is_larger_fraction_than(&self.by_percent) {
            (self.by_percent, self.is_below) = (fall, true);
        }
    }

    pub const fn balance(&self) -> Money {
        self.balance
    }

    pub fn max_by_amount(&self) -> Drawdown {
        self.by_amount.to_drawdown()
    }

    pub fn max_by_percent(&self) -> Drawdown {
        self.by_percent.to_drawdown()
    }
}

impl Decline {
    /// Returns whether this drawdown is a larger fraction of its peak. Exact, because it compares integer products.
    #[inline]
    fn is_larger_fraction_than(&self, other: &Self) -> bool {
        if self.peak == other.peak {
            return self.peak.is_positive() && self.amount > other.amount;
        }
        let part = |fall: &Self, peak: Money| i128::from(fall.amount.minor()) * i128::from(peak.minor());
        self.peak.is_positive() && part(self, other.peak) > part(other, self.peak)
    }

    fn to_drawdown(self) -> Drawdown {
        let Self { amount, peak, peak_at, trough_at, recovered_at } = self;
        Drawdown { amount, percent: percent_of_peak(amount, peak), peak_at, trough_at, recovered_at }
    }
}

/// Returns `fall` as a percentage of `peak`, 0 if the peak is zero or negative.
pub fn percent_of_peak(fall: Money, peak: Money) -> f64 {
    // Multiplying by 100 first is exact: 0.7 % becomes 0.7, not 0.7000000000000001.
    if peak.is_positive() { fall.minor() as f64 * 100.0 / peak.minor() as f64 } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use candlewick_statistics::max_drawdown;
    use proptest::prelude::*;

    type Seconds = Option<i64>;

    const START: Money = Money::from_minor(1_000);

    fn at(second: i64) -> Millis {
        Millis::from_seconds(second)
    }

    fn fold(profits: &[i64]) -> DrawdownTracker {
        let mut fold = DrawdownTracker::new(START);
        for (second, units) in (1..).zip(profits) {
            fold.add_profit(Some(at(second)), Money::from_minor(*units));
        }
        fold
    }

    fn drawdown(amount: i64, percent: f64, times: (Seconds, Seconds, Seconds)) -> Drawdown {
        let [peak_at, trough_at, recovered_at] = [times.0, times.1, times.2].map(|second| second.map(at));
        Drawdown { amount: Money::from_minor(amount), percent, peak_at, trough_at, recovered_at }
    }

    fn check(profits: &[i64], amount: i64, percent: f64, times: (Seconds, Seconds, Seconds)) {
        let (fold, expected) = (fold(profits), drawdown(amount, percent, times));
        assert_eq!((fold.max_by_amount(), fold.max_by_percent()), (expected, expected), "{profits:?}");
    }

    #[test]
    fn drawdown_is_measured_from_the_preceding_peak() {
        check(&[], 0, 0.0, (None, None, None));
        check(&[100, 200], 0, 0.0, (None, None, None));
        check(&[-100, 50, -30], 100, 10.0, (None, Some(1), None));
        check(&[-7], 7, 0.7, (None, Some(1), None));
        check(&[600, -400, 200, -500], 700, 43.75, (Some(1), Some(4), None));
    }

    #[test]
    fn drawdown_ends_when_the_balance_is_back_at_its_peak() {
        check(&[-100, 50, 50, 10], 100, 10.0, (None, Some(1), Some(3)));
        check(&[-100, 200, -300, 100, 250], 300, 30_000.0 / 1_100.0, (Some(2), Some(3), Some(5)));
    }

    #[test]
    fn deepest_drawdown_in_percent_may_differ_from_the_deepest_by_amount() {
        // The balance falls from 1,000 to 500, and later from 2,000 to 1,400.
        let fold = fold(&[-500, 1_500, -600]);
        assert_eq!(fold.max_by_amount(), drawdown(600, 30.0, (Some(2), Some(3), None)));
        assert_eq!(fold.max_by_percent(), drawdown(500, 50.0, (None, Some(1), Some(2))));
    }

    #[test]
    fn drawdown_from_zero_has_no_percentage() {
        let mut fold = DrawdownTracker::new(Money::ZERO);
        fold.add_profit(Some(at(1)), Money::from_minor(-100));
        assert_eq!(fold.max_by_amount(), drawdown(100, 0.0, (None, Some(1), None)));
        assert_eq!(fold.max_by_percent(), Drawdown::default());
    }

    proptest! {
        #[test]
        fn deepest_drawdown_in_percent_matches_the_curve(
            profits in prop::collection::vec(-90_i64..100, 0..60),
        ) {
            let balances = profits.iter().scan(1_000, |balance, profit| { *balance += profit; Some(*balance) });
            let curve: Vec<i64> = [1_000].into_iter().chain(balances).take_while(|balance| *balance > 0).collect();
            let found = fold(&profits[..curve.len() - 1]);
            let values: Vec<f64> = curve.iter().map(|balance| *balance as f64).collect();
            let share = max_drawdown(&values).unwrap().map_or(0.0, |deepest| deepest.share);
            prop_assert!((found.max_by_percent().percent - share * 100.0).abs() < 1e-9);
            let fall_to = |end: usize| curve[..=end].iter().max().unwrap() - curve[end];
            let amount = (0..curve.len()).map(fall_to).max().unwrap();
            prop_assert_eq!(found.max_by_amount().amount, Money::from_minor(amount));
        }
    }
}
