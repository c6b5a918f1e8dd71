//! Wilson score interval of a win rate.

use crate::{StatisticsError, WinRate};
use statrs::distribution::{ContinuousCDF, Normal};

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ConfidenceInterval {
    pub lower: f64,
    pub upper: f64,
}

/// Returns the two-sided Wilson score interval at `confidence` (0.95 for 95 %).
///
/// It has no continuity correction and assumes independent trades.
///
/// With `k` won of `n` and `z` the normal quantile at `(1 + confidence) / 2`, its ends are the
/// roots of `(k / n - p)^2 = z^2 p (1 - p) / n`, that is
/// `(k + z^2 / 2 ± z sqrt(k (n - k) / n + z^2 / 4)) / (n + z^2)`.
///
/// Source: E. B. Wilson, *Probable Inference, the Law of Succession, and Statistical Inference*,
/// Journal of the American Statistical Association 22 (1927).
pub fn wilson_interval(rate: WinRate, confidence: f64) -> Result<ConfidenceInterval, StatisticsError> {
    let quantile = f64::midpoint(1.0, confidence);
    // A quantile that rounds to 1 has an infinite z, and so has no interval.
    if !(confidence > 0.0 && quantile < 1.0) {
        return Err(StatisticsError::NotAConfidence { value: confidence });
    }
    let z = Normal::standard().inverse_cdf(quantile);
    let (k, n) = (rate.won() as f64, rate.decided() as f64);
    let spread = z * (k * (n - k) / n + z * z / 4.0).sqrt();
    let upper = (k + z * z / 2.0 + spread) / (n + z * z);
    // The product of the roots is k^2 / (n (n + z^2)): no difference of near numbers, and exactly 0 for k = 0.
    let lower = k / (n + z * z) * (k / n) / upper;
    Ok(ConfidenceInterval { lower: lower.min(1.0), upper: upper.min(1.0) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reference::{assert_close, rows};

    #[test]
    fn intervals_equal_the_reference_figures() {
        for [won, lost, confidence, lower, upper] in rows(include_str!("../reference/wilson.csv")) {
            let found = wilson_interval(WinRate::new(won as u64, lost as u64).unwrap(), confidence).unwrap();
            let case = format!("{won} won, {lost} lost at {confidence}");
            assert_close(found.lower, lower, 1e-11, &case);
            assert_close(found.upper, upper, 1e-11, &case);
        }
    }

    #[test]
    fn all_lost_starts_at_0_and_all_won_ends_at_1() {
        let at = |won, lost| wilson_interval(WinRate::new(won, lost).unwrap(), 0.95).unwrap();
        assert_eq!(at(0, 7).lower, 0.0);
        assert_eq!(at(7, 0).upper, 1.0);
        assert!(at(1, 0).lower > 0.0 && at(0, 1).upper < 1.0);
    }

    #[test]
    fn a_confidence_outside_0_to_1_is_refused() {
        let rate = WinRate::new(1, 1).unwrap();
        for confidence in [f64::NAN, f64::INFINITY, -0.5, 0.0, 1.0, 1.0 - f64::EPSILON / 2.0, 95.0] {
            assert!(wilson_interval(rate, confidence).is_err(), "{confidence}");
        }
    }
}
