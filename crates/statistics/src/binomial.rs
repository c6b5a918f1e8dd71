//! Binomial and Poisson-binomial probabilities and p-values.

use crate::statistics_error::check_probability;
use crate::{StatisticsError, WinRate};
use std::f64::consts::TAU;

/// Returns the binomial probability `P(X = k)` of `k` wins in `n` trades, for `0 <= k <= n` and `0 < p < 1`.
/// The relative error is below 1e-11 for up to 10^9 trades and for results down to 1e-300. The logarithm is
/// a sum of Stirling errors and deviances, because log-factorials would lose ten digits at ten million trades.
/// Source: C. Loader, *Fast and Accurate Computation of Binomial Probabilities* (2000).
pub(crate) fn binomial_density(k: u64, n: u64, p: f64) -> f64 {
    let (wins, losses, trades) = (k as f64, (n - k) as f64, n as f64);
    if k == 0 {
        return (trades * (-p).ln_1p()).exp();
    }
    if k == n {
        return (trades * p.ln()).exp();
    }
    // The difference k - n p, rounded only once. The losses exceed n q by the negative of this difference.
    let excess = -trades.mul_add(p, -wins);
    let exponent = stirling_error(n)
        - stirling_error(k)
        - stirling_error(n - k)
        - deviance(wins, trades * p, excess)
        - deviance(losses, trades * (1.0 - p), -excess);
    exponent.exp() * (trades / wins / (TAU * losses)).sqrt()
}

/// Returns `ln n! - ((n + 1/2) ln n - n + ln(2 pi) / 2)`, the error of Stirling's formula, for `n >= 1`.
fn stirling_error(n: u64) -> f64 {
    let x = n as f64;
    if n < 16 {
        let factorial: f64 = (2..=n).map(|factor| factor as f64).product();
        return factorial.ln() - (x + 0.5) * x.ln() + x - 0.5 * TAU.ln();
    }
    // Stirling's series. The first omitted term is below 1.1e-16 if n is at least 16.
    let square = x * x;
    (1.0 / 12.0
        - (1.0 / 360.0 - (1.0 / 1260.0 - (1.0 / 1680.0 - 1.0 / 1188.0 / square) / square) / square) / square)
        / x
}

/// Returns `x ln(x / mean) + mean - x`. `excess` must be the exact value of `x - mean`.
fn deviance(x: f64, mean: f64, excess: f64) -> f64 {
    if excess.abs() >= 0.1 * (x + mean) {
        return x * (x / mean).ln() - excess;
    }
    // Let v = excess / (x + mean). Then ln(x / mean) is 2 (v + v^3 / 3 + v^5 / 5 + ...). x times the first
    // term, minus excess, is excess * v. Terms shrink at least a hundredfold, so twenty terms are more than enough.
    let v = excess / (x + mean);
    let mut power = 2.0 * x * v;
    let mut sum = excess * v;
    for odd in (3..43).step_by(2) {
        power *= v * v;
        let next = sum + power / f64::from(odd);
        if next == sum {
            break;
        }
        sum = next;
    }
    sum
}

/// Returns the exact one-sided binomial p-value `P(X >= won | decided, null)`.
///
/// `null` is the break-even rate, the win probability of each trade without an edge. Trades must be independent and
/// have the same payout. For several payouts, use [`crate::poisson_binomial_p_value`].
///
/// The tail is summed from the end nearer to `won` (Clopper and Pearson, Biometrika 26, 1934), so the relative error is
/// below 1e-11 in both tails. Results below 1e-300 underflow to 0. `statrs` is not used, because it truncates a
/// continued fraction at 140 terms: at ten million trades, it returns 0.37 instead of 0.5.
pub fn binomial_p_value(rate: WinRate, null: f64) -> Result<f64, StatisticsError> {
    let p = check_probability("probability of a win", null)?;
    let (k, n) = (rate.won(), rate.decided());
    Ok(if k == 0 || p == 1.0 {
        1.0
    } else if p == 0.0 {
        0.0
    } else if k as f64 > n as f64 * p {
        upper_tail(k, n, p)
    } else {
        1.0 - lower_tail(k - 1, n, p)
    })
}

/// Returns `P(X >= k)` for `k` above the mean, where the terms of the sum decrease.
fn upper_tail(k: u64, n: u64, p: f64) -> f64 {
    let odds = p / (1.0 - p);
    let ratios = (k..n).map(|i| (n - i) as f64 / (i + 1) as f64 * odds);
    (binomial_density(k, n, p) * sum_of_products(ratios)).min(1.0)
}

/// Returns `P(X <= k)` for `k` below the mean, where the terms decrease from `k` down to 0.
fn lower_tail(k: u64, n: u64, p: f64) -> f64 {
    let odds = (1.0 - p) / p;
    let ratios = (1..=k).rev().map(|i| i as f64 / (n - i + 1) as f64 * odds);
    (binomial_density(k, n, p) * sum_of_products(ratios)).min(1.0)
}

/// Sums `1 + r1 + r1 r2 + r1 r2 r3 + ...` for decreasing ratios below 1, to full precision.
fn sum_of_products(ratios: impl Iterator<Item = f64>) -> f64 {
    let (mut term, mut sum) = (1.0, 1.0);
    for ratio in ratios {
        term *= ratio;
        // The ratios decrease, so a geometric series with the current ratio bounds the sum of the remaining terms.
        if term <= sum * (1.0 - ratio) * 1e-17 {
            break;
        }
        sum += term;
    }
    sum
}

/// Maximum number of trades for [`poisson_binomial_p_value`], which takes quadratic time.
pub const MAX_POISSON_BINOMIAL_TRADES: usize = 10_000;

/// Returns the exact one-sided p-value `P(X >= won)`, where trade `i` wins with probability `nulls[i]`.
///
/// The trades must be independent. With equal `nulls`, the result equals [`crate::binomial_p_value()`]. The recursion
/// over trades adds only positive numbers, so small p-values keep their precision.
///
/// Source: R. E. Barlow and K. D. Heidtmann, *Computing k-out-of-n System Reliability* (1984).
pub fn poisson_binomial_p_value(won: u64, nulls: &[f64]) -> Result<f64, StatisticsError> {
    let trades = nulls.len() as u64;
    if nulls.is_empty() {
        return Err(StatisticsError::NoTrades);
    }
    if nulls.len() > MAX_POISSON_BINOMIAL_TRADES {
        return Err(StatisticsError::TooManyTrades { trades, most: MAX_POISSON_BINOMIAL_TRADES as u64 });
    }
    if won > trades {
        return Err(StatisticsError::MoreWonThanTrades { won, trades });
    }
    for null in nulls {
        check_probability("probability of a win", *null)?;
    }
    // `fewer[j]` is the probability of j wins so far (j < `won`). `reached` is the probability of `won` wins or more.
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
    use crate::break_even;
    use crate::tests::{assert_close, rows};

    #[test]
    fn p_values_equal_the_reference_figures_in_both_tails() {
        for [won, lost, null, p_value] in rows(include_str!("../reference/binomial.csv")) {
            let found = binomial_p_value(WinRate::new(won as u64, lost as u64).unwrap(), null).unwrap();
            assert_close(found, p_value, 3e-12, &format!("{won} won, {lost} lost against {null}"));
        }
    }

    #[test]
    fn distinguishes_certain_wins_and_rejects_invalid_probabilities() {
        let rate = WinRate::new(1, 1).unwrap();
        assert_eq!(binomial_p_value(rate, 0.0), Ok(0.0));
        assert_eq!(binomial_p_value(rate, 1.0), Ok(1.0));
        assert_eq!(binomial_p_value(WinRate::new(0, 2).unwrap(), 0.0), Ok(1.0));
        for null in [f64::NAN, -0.1, 1.1, f64::INFINITY] {
            assert!(binomial_p_value(rate, null).is_err(), "{null}");
        }
    }

    #[test]
    fn digits_are_kept_among_a_thousand_million_trades() {
        // Each density is the density of one win fewer, times (n - k) / (k + 1).
        let (n, half) = (1_000_000_000_u64, 500_000_000_u64);
        let ratio = |k: u64| (n - k) as f64 / (k + 1) as f64;
        for further in [300, 10_000] {
            let product: f64 = (half..half + further).map(ratio).product();
            let found = binomial_density(half + further, n, 0.5) / binomial_density(half, n, 0.5);
            assert_close(found, product, 1e-11, &format!("{further} from the mean"));
        }
        // In an odd number of tosses of a fair coin, a majority of heads has probability 1/2.
        let rate = WinRate::new(500_000_000, 499_999_999).unwrap();
        assert_close(binomial_p_value(rate, 0.5).unwrap(), 0.5, 1e-11, "one half");
    }

    fn repeat_nulls(counts: [(usize, f64); 3]) -> Vec<f64> {
        let null = |payout: f64| break_even(payout / 100.0).unwrap();
        counts.into_iter().flat_map(|(count, payout)| std::iter::repeat_n(null(payout), count)).collect()
    }

    #[test]
    fn p_values_equal_the_reference_figures() {
        for [won, at_70, at_80, at_92, p_value] in rows(include_str!("../reference/poisson_binomial.csv")) {
            let nulls =
                repeat_nulls([(at_70 as usize, 70.0), (at_80 as usize, 80.0), (at_92 as usize, 92.0)]);
            let found = poisson_binomial_p_value(won as u64, &nulls).unwrap();
            assert_close(found, p_value, 1e-11, &format!("{won} of {at_70} + {at_80} + {at_92}"));
        }
    }

    #[test]
    fn rejects_too_many_trades_and_invalid_numbers() {
        let mut nulls = vec![0.5; MAX_POISSON_BINOMIAL_TRADES];
        assert_eq!(poisson_binomial_p_value(0, &nulls), Ok(1.0));
        nulls.push(0.5);
        let most = MAX_POISSON_BINOMIAL_TRADES as u64;
        let many = StatisticsError::TooManyTrades { trades: most + 1, most };
        assert_eq!(poisson_binomial_p_value(u64::MAX, &nulls), Err(many));
        assert_eq!(poisson_binomial_p_value(0, &[]), Err(StatisticsError::NoTrades));
        let more = StatisticsError::MoreWonThanTrades { won: 2, trades: 1 };
        assert_eq!(poisson_binomial_p_value(2, &[0.5]), Err(more));
        assert!(poisson_binomial_p_value(1, &[0.5, f64::NAN]).is_err());
    }
}
