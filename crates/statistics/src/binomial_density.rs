//! Binomial probability of exactly `k` wins, without loss of precision.
//!
//! `n! / (k! (n - k)!) p^k q^(n - k)` by log-factorials loses ten digits at ten million trades,
//! because it is the small difference of numbers near 10^8. Loader's form computes the logarithm as
//! a sum of Stirling errors (small) and deviances (exact near the mean, where it matters).
//!
//! Source: C. Loader, *Fast and Accurate Computation of Binomial Probabilities* (2000).

use std::f64::consts::TAU;

/// Returns `P(X = k)` for `X` binomial over `n` trades, for `0 <= k <= n` and `0 < p < 1`.
///
/// The relative error is below 1e-11 up to 10^9 trades and down to results of 1e-300.
pub(crate) fn binomial_density(k: u64, n: u64, p: f64) -> f64 {
    let (wins, losses, trades) = (k as f64, (n - k) as f64, n as f64);
    if k == 0 {
        return (trades * (-p).ln_1p()).exp();
    }
    if k == n {
        return (trades * p.ln()).exp();
    }
    // k - n p, rounded once; the excess of the losses over n q is the same with the other sign.
    let excess = -trades.mul_add(p, -wins);
    let exponent = stirling_error(n)
        - stirling_error(k)
        - stirling_error(n - k)
        - deviance(wins, trades * p, excess)
        - deviance(losses, trades * (1.0 - p), -excess);
    exponent.exp() * (trades / wins / (TAU * losses)).sqrt()
}

/// Returns the error of Stirling's formula: `ln n! - ((n + 1/2) ln n - n + ln(2 pi) / 2)`, for
/// `n >= 1`.
fn stirling_error(n: u64) -> f64 {
    let x = n as f64;
    if n < 16 {
        let factorial: f64 = (2..=n).map(|factor| factor as f64).product();
        return factorial.ln() - (x + 0.5) * x.ln() + x - 0.5 * TAU.ln();
    }
    // Stirling's series; its next term is below 1.1e-16 from n = 16.
    let square = x * x;
    (1.0 / 12.0
        - (1.0 / 360.0 - (1.0 / 1260.0 - (1.0 / 1680.0 - 1.0 / 1188.0 / square) / square) / square) / square)
        / x
}

/// Computes `x ln(x / mean) + mean - x`, given also the exact `excess = x - mean`.
fn deviance(x: f64, mean: f64, excess: f64) -> f64 {
    if excess.abs() >= 0.1 * (x + mean) {
        return x * (x / mean).ln() - excess;
    }
    // With v = excess / (x + mean), ln(x / mean) = 2 (v + v^3 / 3 + v^5 / 5 + ...), and the first term meets the
    // excess in excess * v. The terms shrink at least a hundredfold, so twenty are more than enough.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reference::assert_close;

    #[test]
    fn a_few_trades_have_the_probabilities_of_the_hand() {
        for (k, n, p, expected) in [
            (0, 1, 0.25, 0.75),
            (1, 1, 0.25, 0.25),
            (2, 4, 0.5, 0.375),
            (1, 3, 0.25, 0.421_875),
            (16, 32, 0.5, 601_080_390.0 / 4_294_967_296.0),
        ] {
            assert_close(binomial_density(k, n, p), expected, 1e-14, &format!("{k} of {n} at {p}"));
        }
    }

    #[test]
    fn all_counts_together_are_certain() {
        for (n, p) in [(1, 0.3), (17, 0.9), (1_000, 1.0 / 1.85), (200_000, 0.01)] {
            let total: f64 = (0..=n).map(|k| binomial_density(k, n, p)).sum();
            assert_close(total, 1.0, 1e-12, &format!("{n} at {p}"));
        }
    }

    #[test]
    fn far_from_the_mean_and_near_it_among_many_trades_digits_are_kept() {
        // One win of a hundred with a fair coin: 100 / 2^100.
        assert_close(binomial_density(1, 100, 0.5), 100.0 * 0.5_f64.powi(100), 1e-12, "1 of 100");
        // Twenty of a thousand: 1000 x 999 x ... x 981 / 20! / 2^1000.
        let ways: f64 = (0..20).map(|i| f64::from(1_000 - i) / f64::from(i + 1)).product();
        assert_close(binomial_density(20, 1_000, 0.5), ways * 0.5_f64.powi(1_000), 1e-11, "20 of 1000");
        // Each density is that of one win fewer, times (n - k) / (k + 1).
        let (n, half) = (1_000_000_000_u64, 500_000_000_u64);
        let ratio = |k: u64| (n - k) as f64 / (k + 1) as f64;
        for further in [300, 10_000] {
            let product: f64 = (half..half + further).map(ratio).product();
            let found = binomial_density(half + further, n, 0.5) / binomial_density(half, n, 0.5);
            assert_close(found, product, 1e-11, &format!("{further} from the mean"));
        }
    }
}
