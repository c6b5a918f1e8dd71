//! Exact binomial p-value of a number of wins.

use crate::binomial_density::binomial_density;
use crate::statistics_error::check_probability;
use crate::{StatisticsError, WinRate};

/// Returns the exact one-sided binomial p-value `P(X >= won | decided, null)`.
///
/// This is the probability of at least as many wins if each trade wins with probability `null`: the
/// break-even rate, for a bot without an edge. It assumes independent trades with one payout; for
/// several payouts see [`crate::poisson_binomial_p_value`].
///
/// `sum(C(n, i) p^i (1 - p)^(n - i), i = k..=n)` is summed from the end nearer to `k`, each term
/// derived from the previous one. Nothing cancels, so the relative error is below 1e-11 in both
/// tails. Below 1e-300 the result underflows to 0.
///
/// Source: C. J. Clopper and E. S. Pearson, *The Use of Confidence or Fiducial Limits Illustrated
/// in the Case of the Binomial*, Biometrika 26 (1934), for the tail; the first term after Loader
/// (2000). The regularised incomplete beta function equals the same tail, but `statrs` stops its
/// continued fraction after 140 terms: at ten million trades it returns 0.37 instead of one half.
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

/// Returns `P(X >= k)` for `k` above the mean, where each next term is smaller.
fn upper_tail(k: u64, n: u64, p: f64) -> f64 {
    let odds = p / (1.0 - p);
    let ratios = (k..n).map(|i| (n - i) as f64 / (i + 1) as f64 * odds);
    (binomial_density(k, n, p) * sum_of_products(ratios)).min(1.0)
}

/// Returns `P(X <= k)` for `k` below the mean, where each previous term is smaller.
fn lower_tail(k: u64, n: u64, p: f64) -> f64 {
    let odds = (1.0 - p) / p;
    let ratios = (1..=k).rev().map(|i| i as f64 / (n - i + 1) as f64 * odds);
    (binomial_density(k, n, p) * sum_of_products(ratios)).min(1.0)
}

/// Sums `1 + r1 + r1 r2 + r1 r2 r3 + ...` for decreasing ratios below 1.
///
/// Stops when terms no longer change the sum. About nine standard deviations of terms suffice:
/// 14,000 of ten million trades.
fn sum_of_products(ratios: impl Iterator<Item = f64>) -> f64 {
    let (mut term, mut sum) = (1.0, 1.0);
    for ratio in ratios {
        term *= ratio;
        // The ratios fall, so that all terms to come are below the geometric series that starts here.
        if term <= sum * (1.0 - ratio) * 1e-17 {
            break;
        }
        sum += term;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::break_even;
    use crate::reference::{assert_close, rows};

    #[test]
    fn p_values_equal_the_reference_figures_in_both_tails() {
        for [won, lost, null, p_value] in rows(include_str!("../reference/binomial.csv")) {
            let rate = WinRate::new(won as u64, lost as u64).unwrap();
            let found = binomial_p_value(rate, null).unwrap();
            assert_close(found, p_value, 3e-12, &format!("{won} won, {lost} lost against {null}"));
        }
    }

    #[test]
    fn a_bot_without_expectation_passes_the_naive_test_four_times_in_five() {
        let at_least = |won, null| binomial_p_value(WinRate::new(won, 1_000 - won).unwrap(), null).unwrap();
        let called_significant = (0..=1_000).find(|won| at_least(*won, 0.5) <= 0.05).unwrap();
        assert_eq!(called_significant, 527);
        let probability = at_least(called_significant, break_even(0.85).unwrap());
        assert!((probability - 0.8136).abs() < 5e-5, "{probability}");
    }

    #[test]
    fn more_wins_are_never_more_probable() {
        for (n, null) in [(1, 0.5), (2, 1.0 / 1.8), (37, 0.9), (999, 1e-3), (1_000, 0.5)] {
            let all: Vec<f64> =
                (0..=n).map(|k| binomial_p_value(WinRate::new(k, n - k).unwrap(), null).unwrap()).collect();
            assert!(all.is_sorted_by(|less, more| less >= more), "{n} at {null}");
            assert_eq!(all[0], 1.0);
        }
    }

    #[test]
    fn certain_and_impossible_wins_are_distinguished() {
        let rate = WinRate::new(1, 1).unwrap();
        assert_eq!(binomial_p_value(rate, 0.0), Ok(0.0));
        assert_eq!(binomial_p_value(rate, 1.0), Ok(1.0));
        assert_eq!(binomial_p_value(WinRate::new(0, 2).unwrap(), 0.0), Ok(1.0));
    }

    #[test]
    fn a_null_that_is_no_probability_is_refused() {
        for null in [f64::NAN, -0.1, 1.1, f64::INFINITY] {
            assert!(binomial_p_value(WinRate::new(1, 1).unwrap(), null).is_err(), "{null}");
        }
    }

    #[test]
    fn half_of_a_thousand_million_is_as_probable_as_less() {
        // An odd number of trades with a fair coin: as many or more, or fewer.
        let rate = WinRate::new(500_000_000, 499_999_999).unwrap();
        assert_close(binomial_p_value(rate, 0.5).unwrap(), 0.5, 1e-11, "one half");
    }
}
