//! How sure a Sharpe ratio is, and what is left of it after many were tried.

use super::sharpe::mean_and_deviation;
use crate::StatisticsError;
use crate::statistics_error::check_numbers;
use statrs::consts::EULER_MASCHERONI;
use statrs::distribution::{ContinuousCDF, Normal};

/// What the sureness of a Sharpe ratio depends on. The ratio is that of one period (a day), not of a year.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SharpeSample {
    /// Mean over deviation, per period.
    pub sharpe: f64,
    /// How many periods.
    pub periods: f64,
    /// The skewness of the returns, 0 for normal ones.
    pub skewness: f64,
    /// The kurtosis of the returns, 3 for normal ones.
    pub kurtosis: f64,
}

impl SharpeSample {
    /// From returns per period: skewness `m3 / m2^1.5` and kurtosis `m4 / m2^2` by the moments around the mean (as
    /// `skew` and `kurtosis(fisher=False)` of `scipy.stats`). Nothing when no return differs from another.
    ///
    /// # Errors
    /// [`StatisticsError::TooFew`] below two returns, `NotANumberFor` for one that is not finite.
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

    /// `sqrt(1 - g3 S + (g4 - 1) / 4 S^2)`, the deviation of the ratio times `sqrt(n - 1)`.
    fn spread(self) -> f64 {
        let square =
            (self.kurtosis - 1.0) / 4.0 * self.sharpe * self.sharpe - self.skewness * self.sharpe + 1.0;
        square.max(0.0).sqrt()
    }
}

/// The probabilistic Sharpe ratio: the probability that the true ratio is above `benchmark` (per period, as the
/// sample's), `Phi((S - S*) sqrt(n - 1) / sqrt(1 - g3 S + (g4 - 1) / 4 S^2))`.
///
/// It is asymptotic and assumes independent periods.
///
/// Source: D. H. Bailey and M. Lopez de Prado, *The Sharpe Ratio Efficient Frontier*, Journal of Risk 15 (2012).
///
/// # Errors
/// [`StatisticsError::TooFew`] below two periods, `NotANumberFor` for a number that is not finite.
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

/// The deflated Sharpe ratio: the probability that the true ratio of the *best of `trials` variants* is above 0, that
/// is, [`probabilistic_sharpe`] against the ratio that the best of so many worthless ones reaches on average,
/// `sqrt(V) ((1 - g) Phi^-1(1 - 1 / N) + g Phi^-1(1 - 1 / (N e)))` with Euler's `g = 0.5772` and the variance `V` of
/// the ratios of all trials, per period.
///
/// `trials` is the number of *independent* variants; variants that resemble each other count for fewer.
///
/// Source: D. H. Bailey and M. Lopez de Prado, *The Deflated Sharpe Ratio*, Journal of Portfolio Management 40 (2014).
///
/// # Errors
/// As for [`probabilistic_sharpe`]; `NotANumberFor` for a variance below 0, `TooFew` without a trial.
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
    fn a_ratio_at_the_benchmark_is_even_odds_and_one_trial_is_not_deflated() {
        let sample = published();
        assert!((probabilistic_sharpe(sample, sample.sharpe).unwrap() - 0.5).abs() < 1e-12);
        assert_eq!(deflated_sharpe(sample, 1, 0.1), probabilistic_sharpe(sample, 0.0));
    }

    #[test]
    fn samples_without_meaning_are_refused() {
        assert_eq!(SharpeSample::from_returns(&[1.0; 5]), Ok(None));
        assert!(SharpeSample::from_returns(&[1.0]).is_err());
        assert!(probabilistic_sharpe(SharpeSample { periods: 1.0, ..published() }, 0.0).is_err());
        assert!(probabilistic_sharpe(published(), f64::NAN).is_err());
        assert!(deflated_sharpe(published(), 0, 0.1).is_err());
        assert!(deflated_sharpe(published(), 9, -0.1).is_err());
    }
}
