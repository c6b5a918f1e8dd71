//! Exact p-value of a number of wins if every trade has its own payout.

use crate::StatisticsError;
use crate::statistics_error::check_probability;

/// Maximum number of trades of [`poisson_binomial_p_value`], whose time is quadratic.
pub const MAX_MIXED_TRADES: usize = 10_000;

/// Returns the exact one-sided p-value `P(X >= won)`.
///
/// It is the upper tail of the Poisson-binomial distribution: trade `i` wins with probability
/// `nulls[i]`, its own break-even. It assumes independent trades. With equal `nulls` it equals
/// [`crate::binomial_p_value()`].
///
/// Recursion over trades: `P_i(j) = p_i P_(i-1)(j - 1) + (1 - p_i) P_(i-1)(j)`, where `won` is
/// absorbing. Only positive numbers are added, so small p-values keep their precision.
///
/// Source: R. E. Barlow and K. D. Heidtmann, *Computing k-out-of-n System Reliability*, IEEE
/// Transactions on Reliability 33 (1984).
pub fn poisson_binomial_p_value(won: u64, nulls: &[f64]) -> Result<f64, StatisticsError> {
    let trades = nulls.len() as u64;
    if nulls.is_empty() {
        return Err(StatisticsError::NoTrades);
    }
    if nulls.len() > MAX_MIXED_TRADES {
        return Err(StatisticsError::TooManyTrades { trades, most: MAX_MIXED_TRADES as u64 });
    }
    if won > trades {
        return Err(StatisticsError::MoreWonThanTrades { won, trades });
    }
    for null in nulls {
        check_probability("probability of a win", *null)?;
    }
    // `fewer[j]` is the probability of j wins so far, for j below `won`; `reached` is that of the rest.
    let mut fewer = vec![0.0; won as usize];
    let mut reached = match fewer.first_mut() {
        Some(none) => {
            *none = 1.0;
            0.0
        }
        None => 1.0,
    };
    for &p in nulls {
        reached += fewer.last().map_or(0.0, |last| last * p);
        for j in (1..fewer.len()).rev() {
            fewer[j] = fewer[j - 1] * p + fewer[j] * (1.0 - p);
        }
        if let Some(none) = fewer.first_mut() {
            *none *= 1.0 - p;
        }
    }
    Ok(reached.min(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reference::{assert_close, rows};
    use crate::{WinRate, binomial_p_value, break_even};

    fn nulls_of(counts: [(usize, f64); 3]) -> Vec<f64> {
        let null = |payout: f64| break_even(payout / 100.0).unwrap();
        counts.into_iter().flat_map(|(count, payout)| std::iter::repeat_n(null(payout), count)).collect()
    }

    #[test]
    fn p_values_equal_the_reference_figures() {
        for [won, at_70, at_80, at_92, p_value] in rows(include_str!("../reference/poisson_binomial.csv")) {
            let nulls = nulls_of([(at_70 as usize, 70.0), (at_80 as usize, 80.0), (at_92 as usize, 92.0)]);
            let found = poisson_binomial_p_value(won as u64, &nulls).unwrap();
            assert_close(found, p_value, 1e-11, &format!("{won} of {at_70} + {at_80} + {at_92}"));
        }
    }

    #[test]
    fn equal_payouts_are_the_binomial() {
        let null = break_even(0.85).unwrap();
        for won in [0, 1, 270, 300, 499, 500] {
            let binomial = binomial_p_value(WinRate::new(won, 500 - won).unwrap(), null).unwrap();
            let found = poisson_binomial_p_value(won, &vec![null; 500]).unwrap();
            assert_close(found, binomial, 1e-12, &format!("{won} of 500"));
        }
    }

    #[test]
    fn two_trades_have_the_probabilities_of_the_hand() {
        for (won, expected) in [(0, 1.0), (1, 0.625), (2, 0.125)] {
            assert_eq!(poisson_binomial_p_value(won, &[0.5, 0.25]), Ok(expected));
        }
    }

    #[test]
    fn numbers_that_mean_nothing_are_refused() {
        assert_eq!(poisson_binomial_p_value(0, &[]), Err(StatisticsError::NoTrades));
        let more = StatisticsError::MoreWonThanTrades { won: 2, trades: 1 };
        assert_eq!(poisson_binomial_p_value(2, &[0.5]), Err(more));
        let most = MAX_MIXED_TRADES as u64;
        let many = StatisticsError::TooManyTrades { trades: most + 1, most };
        assert_eq!(poisson_binomial_p_value(u64::MAX, &vec![0.5; MAX_MIXED_TRADES + 1]), Err(many));
        assert!(poisson_binomial_p_value(1, &[0.5, f64::NAN]).is_err());
    }

    #[test]
    fn as_many_trades_as_said_are_taken() {
        assert_eq!(poisson_binomial_p_value(0, &vec![0.5; MAX_MIXED_TRADES]), Ok(1.0));
    }
}
