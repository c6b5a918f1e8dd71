//! The deepest fall of the balance below its peak.

use candlewick_sdk::Money;

/// A fall from a peak.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Drawdown {
    /// How far, as an amount.
    pub amount: Money,
    /// How far, in percent of the peak that it fell from.
    pub percent: f64,
}

/// The deepest fall, by amount, of a balance that starts at `start` and changes by each settled profit in turn.
pub fn max_drawdown(start: Money, profits: impl Iterator<Item = Money>) -> Drawdown {
    let (mut balance, mut peak, mut deepest) = (start, start, Drawdown::default());
    for profit in profits {
        balance += profit;
        peak = peak.max(balance);
        let amount = peak - balance;
        if amount > deepest.amount {
            let percent =
                if peak.is_positive() { amount.minor() as f64 / peak.minor() as f64 * 100.0 } else { 0.0 };
            deepest = Drawdown { amount, percent };
        }
    }
    deepest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(profits: &[i64], amount: i64, percent: f64) {
        let profits = profits.iter().map(|units| Money::from_minor(*units));
        let expected = Drawdown { amount: Money::from_minor(amount), percent };
        assert_eq!(max_drawdown(Money::from_minor(1_000), profits), expected);
    }

    #[test]
    fn the_deepest_fall_is_from_the_peak_before_it() {
        check(&[], 0, 0.0);
        check(&[100, 200], 0, 0.0);
        check(&[-100, 50, -30], 100, 10.0);
        check(&[600, -400, 200, -500], 700, 43.75);
    }
}
