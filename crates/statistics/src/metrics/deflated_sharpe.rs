//! Deflated Sharpe ratio: correction for the number of variants tried.

use super::{SharpeSample, probabilistic_sharpe};
use crate::StatisticsError;
use statrs::consts::EULER_MASCHERONI;
use statrs::distribution::{ContinuousCDF, Normal};

/// Returns the deflated Sharpe ratio.
///
/// It is the probability that the true ratio of the *best of `trials` variants* is above 0, that
/// is, [`probabilistic_sharpe`] against the mean ratio of the best of as many worthless variants,
/// `sqrt(V) ((1 - g) Phi^-1(1 - 1 / N) + g Phi^-1(1 - 1 / (N e)))`, with Euler's `g = 0.5772` and
/// the variance `V` of the ratios of all trials, per period.
///
/// `trials` is the number of *independent* variants; similar variants count for fewer.
///
/// Source: D. H. Bailey and M. Lopez de Prado, *The Deflated Sharpe Ratio*, Journal of Portfolio
/// Management 40 (2014).
pub fn deflated_sharpe(
    sample: SharpeSample,
    trials: u64,
    variance_of_trials: f64,
) -> Result<f64, StatisticsError> {
    if !(variance_of_trials >= 0.0 && variance_of_trials.is_finite()) {
        return Err(StatisticsError::NotANumberFor { what: "variance of trials", value: variance_of_trials });
    }
    let benchmark = match trials {
        0 => return Err(StatisticsError::TooFew { what: "trials", found: 0, needed: 1 }),
        // The best of one is that one: nothing to deflate.
        1 => 0.0,
        _ => {
            let (n, normal) = (trials as f64, Normal::standard());
            let first = normal.inverse_cdf(1.0 - 1.0 / n);
            let second = normal.inverse_cdf(1.0 - 1.0 / (n * std::f64::consts::E));
            let expected = (1.0 - EULER_MASCHERONI) * first + EULER_MASCHERONI * second;
            variance_of_trials.sqrt() * expected
        }
    };
    probabilistic_sharpe(sample, benchmark)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of the paper: 2.5 a year over 1250 days, 250 to the year, skewness -3, kurtosis 10.
    fn published() -> SharpeSample {
        SharpeSample { sharpe: 2.5 / 250.0_f64.sqrt(), periods: 1_250.0, skewness: -3.0, kurtosis: 10.0 }
    }

    #[test]
    fn the_published_example_is_deflated_as_published() {
        // Bailey and Lopez de Prado (2014): 100 trials of variance 1/2 a year, DSR = 0.9004.
        let found = deflated_sharpe(published(), 100, 0.5 / 250.0).unwrap();
        assert!((found - 0.9004).abs() < 5e-5, "{found}");
        // With 46 trials 0.9505; and with 88 of normal returns 0.9505 as well.
        let fewer = deflated_sharpe(published(), 46, 0.5 / 250.0).unwrap();
        assert!((fewer - 0.9505).abs() < 5e-5, "{fewer}");
        let normal = SharpeSample { skewness: 0.0, kurtosis: 3.0, ..published() };
        let found = deflated_sharpe(normal, 88, 0.5 / 250.0).unwrap();
        assert!((found - 0.9505).abs() < 5e-5, "{found}");
    }

    #[test]
    fn one_trial_is_not_deflated_and_trials_without_meaning_are_refused() {
        assert_eq!(deflated_sharpe(published(), 1, 0.1), probabilistic_sharpe(published(), 0.0));
        assert!(deflated_sharpe(published(), 0, 0.1).is_err());
    }

    #[test]
    fn a_variance_without_bounds_is_refused() {
        // Also where nothing is deflated by it: one trial.
        for (trials, variance) in
            [f64::INFINITY, f64::NAN, f64::NEG_INFINITY, -0.1].map(|one| [(9, one), (1, one)]).concat()
        {
            let found = deflated_sharpe(published(), trials, variance);
            let is_named =
                matches!(found, Err(StatisticsError::NotANumberFor { what: "variance of trials", .. }));
            assert!(is_named, "{trials} {variance}: {found:?}");
        }
    }
}
