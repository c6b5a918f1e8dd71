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

/// The deepest fall, by amount, of a balance that starts at `start` and changes by each settled profit in turn. Profits
/// come with the moment at which they became known, where that is known.
pub fn max_drawdown(start: Money, profits: impl Iterator<Item = (Option<Millis>, Money)>) -> Drawdown {
    let (mut balance, mut peak, mut peak_at) = (start, start, None);
    let mut deepest = Drawdown::default();
    for (at, profit) in profits {
        balance += profit;
        if balance >= peak {
            // Back at the peak: what fell from it, the deepest among them, has recovered.
            if deepest.recovered_at.is_none() && deepest.amount.is_positive() {
                deepest.recovered_at = at;
            }
            (peak, peak_at) = (balance, at);
            continue;
        }
        let amount = peak - balance;
        if amount > deepest.amount {
            let percent =
                if peak.is_positive() { amount.minor() as f64 / peak.minor() as f64 * 100.0 } else { 0.0 };
            deepest = Drawdown { amount, percent, peak_at, trough_at: at, recovered_at: None };
        }
    }
    deepest
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
