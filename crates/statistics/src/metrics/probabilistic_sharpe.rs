//! Probabilistic Sharpe ratio: confidence in a Sharpe ratio.

use super::sharpe::mean_and_deviation;
use crate::StatisticsError;
use crate::statistics_error::check_numbers;
use statrs::distribution::{ContinuousCDF, Normal};

/// Inputs of the probabilistic Sharpe ratio, per period (a day), not per year.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SharpeSample {
    pub sharpe: f64,
    pub periods: f64,
    /// Skewness of the returns, 0 for normal ones.
    pub skewness: f64,
    /// Kurtosis of the returns, 3 for normal ones.
    pub kurtosis: f64,
}

impl SharpeSample {
    /// Builds a sample from returns per period, `None` if all returns are equal.
    ///
    /// Skewness `m3 / m2^1.5` and kurtosis `m4 / m2^2` by central moments, as `skew` and
    /// `kurtosis(fisher=False)` of `scipy.stats`.
    pub fn from_returns(returns: &[f64]) -> Result<Option<Self>, StatisticsError> {
        check_numbers("returns", returns, 2)?;
        let (mean, deviation) = mean_and_deviation(returns);
        if deviation == 0.0 {
            return Ok(None);
        }
        let periods = returns.len() as f64;
        let moment = |power| returns.iter().map(|r| (r - mean).powi(power)).sum::<f64>() / periods;
        let variance = moment(2);
        Ok(Some(Self {
            sharpe: mean / deviation,
            periods,
            skewness: moment(3) / variance.powf(1.5),
            kurtosis: moment(4) / variance.powi(2),
        }))
    }

    /// Returns `sqrt(1 - g3 S + (g4 - 1) / 4 S^2)`, the deviation of the ratio times `sqrt(n - 1)`.
    fn spread(self) -> f64 {
        let square =
            (self.kurtosis - 1.0) / 4.0 * self.sharpe * self.sharpe - self.skewness * self.sharpe + 1.0;
        square.max(0.0).sqrt()
    }
}

/// Returns the probabilistic Sharpe ratio.
///
/// It is the probability that the true ratio is above `benchmark`, both per period:
/// `Phi((S - S*) sqrt(n - 1) / sqrt(1 - g3 S + (g4 - 1) / 4 S^2))`. It is asymptotic and assumes
/// independent periods.
///
/// Source: D. H. Bailey and M. Lopez de Prado, *The Sharpe Ratio Efficient Frontier*, Journal of
/// Risk 15 (2012).
pub fn probabilistic_sharpe(sample: SharpeSample, benchmark: f64) -> Result<f64, StatisticsError> {
    let SharpeSample { sharpe, periods, skewness, kurtosis } = sample;
    check_numbers("Sharpe sample", &[sharpe, periods, skewness, kurtosis, benchmark], 5)?;
    if periods < 2.0 {
        return Err(StatisticsError::TooFew { what: "periods", found: periods.max(0.0) as usize, needed: 2 });
    }
    let z = (sharpe - benchmark) * (periods - 1.0).sqrt() / sample.spread();
    // No spread at all: the ratio is what it is.
    Ok(if z.is_nan() { 0.5 } else { Normal::standard().cdf(z) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ratio_at_the_benchmark_is_even_odds_and_far_above_it_is_sure() {
        // Normal returns, 101 periods: the deviation is sqrt(1 + S^2 / 2) / 10. Phi(1.959964) = 0.975.
        let normal = SharpeSample { sharpe: 0.0, periods: 101.0, skewness: 0.0, kurtosis: 3.0 };
        for (benchmark, expected) in [(0.0, 0.5), (-0.195_996_4, 0.975), (0.195_996_4, 0.025)] {
            let found = probabilistic_sharpe(normal, benchmark).unwrap();
            assert!((found - expected).abs() < 1e-7, "{benchmark}: {found}");
        }
    }

    #[test]
    fn samples_without_meaning_are_refused() {
        let sample = SharpeSample { sharpe: 0.1, periods: 30.0, skewness: 0.0, kurtosis: 3.0 };
        assert_eq!(SharpeSample::from_returns(&[1.0; 5]), Ok(None));
        assert!(SharpeSample::from_returns(&[1.0]).is_err());
        assert!(probabilistic_sharpe(SharpeSample { periods: 1.0, ..sample }, 0.0).is_err());
        assert!(probabilistic_sharpe(sample, f64::NAN).is_err());
    }

    #[test]
    fn a_sample_of_four_returns_is_counted_by_hand() {
        // Mean 1; around it -1, -1, -1, 3: moments 12 / 4, 24 / 4, 84 / 4, and a deviation of sqrt(12 / 3).
        let found = SharpeSample::from_returns(&[0.0, 0.0, 0.0, 4.0]).unwrap().unwrap();
        for (found, expected) in [
            (found.sharpe, 0.5),
            (found.periods, 4.0),
            (found.skewness, 6.0 / 27.0_f64.sqrt()),
            (found.kurtosis, 21.0 / 9.0),
        ] {
            assert!((found - expected).abs() < 1e-12, "{found}, not {expected}");
        }
    }

    #[test]
    fn two_periods_are_enough() {
        let sample = SharpeSample { sharpe: 0.5, periods: 2.0, skewness: 0.0, kurtosis: 3.0 };
        // Against itself: even odds.
        assert_eq!(probabilistic_sharpe(sample, 0.5), Ok(0.5));
    }
}
