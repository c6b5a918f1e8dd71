//! Break-even win rates and the Kelly fraction.

use crate::StatisticsError;
use crate::statistics_error::{check_payout, check_probability};

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StakeWithPayout {
    pub stake: f64,
    /// Profit of a win per unit of stake: 0.8 for 80 %.
    pub payout_fraction: f64,
}

/// Returns the break-even win rate `p* = 1 / (1 + b)` for the payout fraction `b`.
/// At this rate, the expected return per unit of stake is zero: `p b - (1 - p) = 0`. Draws are not considered.
pub fn break_even(payout_fraction: f64) -> Result<f64, StatisticsError> {
    check_payout(payout_fraction).map(|b| 1.0 / (1.0 + b))
}

/// Fixed-point scale for summing break-even rates. A power of two keeps the scaling exact.
const FIXED_POINT_SCALE: f64 = (1_u64 << 60) as f64;

/// Mean break-even win rate of trades with different payouts, for comparison with their win rate. Every trade has the
/// same weight, whatever its stake. An integer sum makes the mean independent of the order of trades.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MeanBreakEven {
    sum: u128,
    trades: u64,
}

impl MeanBreakEven {
    pub fn add(&mut self, payout_fraction: f64) -> Result<(), StatisticsError> {
        self.sum += (break_even(payout_fraction)? * FIXED_POINT_SCALE) as u128;
        self.trades += 1;
        Ok(())
    }

    pub fn remove(&mut self, payout_fraction: f64) -> Result<(), StatisticsError> {
        self.sum = self.sum.saturating_sub((break_even(payout_fraction)? * FIXED_POINT_SCALE) as u128);
        self.trades = self.trades.saturating_sub(1);
        Ok(())
    }

    pub fn mean(self) -> Option<f64> {
        (self.trades > 0).then(|| (self.sum / u128::from(self.trades)) as f64 / FIXED_POINT_SCALE)
    }
}

/// Returns the stake-weighted break-even win rate: `sum(stake) / sum(stake (1 + b))`.
///
/// At this win rate, the total payout equals the total stake. To judge an actual win rate, compare it with
/// [`MeanBreakEven`] or test it with [`crate::poisson_binomial_p_value`], since each trade has its own break-even rate.
pub fn mixed_break_even(trades: &[StakeWithPayout]) -> Result<f64, StatisticsError> {
    if trades.is_empty() {
        return Err(StatisticsError::NoTrades);
    }
    // Stakes are divided by the largest stake, so that the sum of finite stakes cannot overflow.
    let largest = trades.iter().map(|trade| trade.stake).fold(0.0, f64::max);
    let (mut staked, mut returned) = (0.0, 0.0);
    for &StakeWithPayout { stake, payout_fraction } in trades {
        if !stake.is_finite() || stake <= 0.0 {
            return Err(StatisticsError::NotAStake { value: stake });
        }
        staked += stake / largest;
        returned += stake / largest * (1.0 + check_payout(payout_fraction)?);
    }
    Ok(staked / returned)
}

/// Returns the Kelly fraction `f = max(0, (p (1 + b) - 1) / b)` for the payout fraction `b`.
///
/// The formula assumes a known win probability `p` and one trade at a time. Pass a lower bound, not an estimate.
///
/// Source: J. L. Kelly, *A New Interpretation of Information Rate* (1956).
pub fn kelly_fraction(win_probability: f64, payout_fraction: f64) -> Result<f64, StatisticsError> {
    let p = check_probability("win probability", win_probability)?;
    let b = check_payout(payout_fraction)?;
    // This form equals (p (1 + b) - 1) / b, but cannot overflow.
    Ok((p - (1.0 - p) / b).max(0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_mixed(trades: &[(f64, f64)], expected: &Result<f64, StatisticsError>) {
        let paid = |&(stake, payout_fraction)| StakeWithPayout { stake, payout_fraction };
        let found = mixed_break_even(&trades.iter().map(paid).collect::<Vec<_>>());
        match (&found, expected) {
            (Ok(found), Ok(expected)) => assert!((found - expected).abs() < 1e-15, "{found} {expected}"),
            _ => assert_eq!(&found, expected),
        }
    }

    #[test]
    fn mixed_payouts_are_weighted_by_stake() {
        check_mixed(&[(10.0, 0.8), (30.0, 0.8)], &Ok(1.0 / 1.8));
        check_mixed(&[(1e308, 1.0), (1e308, 1.0)], &Ok(0.5));
        check_mixed(&[], &Err(StatisticsError::NoTrades));
        check_mixed(&[(0.0, 0.8)], &Err(StatisticsError::NotAStake { value: 0.0 }));
        check_mixed(&[(f64::INFINITY, 0.8)], &Err(StatisticsError::NotAStake { value: f64::INFINITY }));
        check_mixed(&[(1.0, -0.8)], &Err(StatisticsError::NotAPayout { value: -0.8 }));
    }

    #[test]
    fn counts_each_trade_once_regardless_of_stake() {
        let mean_of = |payouts: &[(f64, usize)]| {
            let mut mean = MeanBreakEven::default();
            for (payout, trades) in payouts {
                (0..*trades).for_each(|_| mean.add(*payout).unwrap());
            }
            mean.mean()
        };
        assert_eq!(mean_of(&[]), None);
        assert_eq!(mean_of(&[(0.8, 1_000)]), Some(1.0 / 1.8));
        assert_eq!(mean_of(&[(0.5, 7_578), (0.9, 4_720)]), mean_of(&[(0.9, 4_720), (0.5, 7_578)]));
        assert!(MeanBreakEven::default().add(0.0).is_err() && break_even(0.0).is_err());
    }

    fn check_kelly(win_probability: f64, payout_fraction: f64, expected: Option<f64>) {
        let found = kelly_fraction(win_probability, payout_fraction).ok();
        let close = match (found, expected) {
            (Some(found), Some(expected)) => (found - expected).abs() < 1e-15,
            (found, expected) => found == expected,
        };
        assert!(close, "{win_probability} {payout_fraction}: {found:?}, not {expected:?}");
    }

    #[test]
    fn kelly_stakes_only_an_edge_and_rejects_invalid_numbers() {
        check_kelly(0.6, 1.0, Some(0.2));
        check_kelly(0.6, 0.8, Some(0.1)); // (0.6 x 1.8 - 1) / 0.8 = 0.08 / 0.8
        check_kelly(1.0, 0.8, Some(1.0));
        check_kelly(0.55, 0.8, Some(0.0)); // below the break-even of 55.56 %
        check_kelly(0.0, 0.8, Some(0.0));
        check_kelly(0.5, 1.0, Some(0.0));
        check_kelly(0.6, 1e308, Some(0.6));
        check_kelly(0.6, f64::MIN_POSITIVE / 4.0, Some(0.0));
        for p in [f64::NAN, -0.1, 1.1] {
            check_kelly(p, 0.8, None);
        }
        for b in [0.0, f64::NAN, f64::INFINITY] {
            check_kelly(0.6, b, None);
        }
    }
}
