//! Sharpe and Sortino ratios, and the probability that a Sharpe ratio is not due to luck.

use crate::StatisticsError;
use crate::statistics_error::check_numbers;
use statrs::consts::EULER_MASCHERONI;
use statrs::distribution::{ContinuousCDF, Normal};

/// Returns the annualized Sharpe ratio `mean / s * sqrt(days_per_year)`, `None` if all returns are equal.
/// `s` is the sample deviation (`n - 1`). Include days without trades as 0: without them, the ratio would be too high.
pub fn sharpe(daily_returns: &[f64], days_per_year: f64) -> Result<Option<f64>, StatisticsError> {
    check_numbers("daily returns", daily_returns, 2)?;
    let (mean, deviation) = mean_and_deviation(daily_returns);
    Ok((deviation > 0.0).then(|| mean / deviation * days_per_year.sqrt()))
}

/// Returns the mean and sample standard deviation of two or more numbers. Equal numbers have a deviation of 0.
pub(crate) fn mean_and_deviation(numbers: &[f64]) -> (f64, f64) {
    let count = numbers.len() as f64;
    if numbers.iter().all(|number| *number == numbers[0]) {
        return (numbers[0], 0.0);
    }
    let mean = numbers.iter().sum::<f64>() / count;
    let squares: f64 = numbers.iter().map(|number| (number - mean).powi(2)).sum();
    (mean, (squares / (count - 1.0)).sqrt())
}

/// Returns the annualized Sortino ratio for a target return of 0, `None` without a losing day.
/// The ratio is `mean / sqrt(sum(min(r, 0)^2) / n) * sqrt(days_per_year)`. `n` counts all days, not just losing days.
pub fn sortino(daily_returns: &[f64], days_per_year: f64) -> Result<Option<f64>, StatisticsError> {
    check_numbers("daily returns", daily_returns, 2)?;
    let count = daily_returns.len() as f64;
    let mean = daily_returns.iter().sum::<f64>() / count;
    let losses: f64 = daily_returns.iter().map(|daily| daily.min(0.0).powi(2)).sum();
    Ok((losses > 0.0).then(|| mean / (losses / count).sqrt() * days_per_year.sqrt()))
}

/// Inputs of the probabilistic Sharpe ratio. All values are per period (such as a day), not per year.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SharpeSample {
    pub sharpe: f64,
    pub periods: f64,
    /// Skewness of the returns, 0 for a normal distribution.
    pub skewness: f64,
    /// Kurtosis of the returns, 3 for a normal distribution.
    pub kurtosis: f64,
}

impl SharpeSample {
    /// Builds a sample from the returns of all periods, `None` if all returns are equal.
    /// Skewness and kurtosis are defined as `skew` and `kurtosis(fisher=False)` in `scipy.stats`.
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

    /// Returns the standard error of the Sharpe ratio times `sqrt(periods - 1)`.
    fn standard_error_factor(self) -> f64 {
        let square =
            (self.kurtosis - 1.0) / 4.0 * self.sharpe * self.sharpe - self.skewness * self.sharpe + 1.0;
        square.max(0.0).sqrt()
    }
}

/// Returns the probability that the true Sharpe ratio is above `benchmark` (`S*`). Both ratios are per period.
///
/// The formula is asymptotic, for `n` independent periods with skewness `g3` and kurtosis `g4`:
/// `Phi((S - S*) sqrt(n - 1) / sqrt(1 - g3 S + (g4 - 1) / 4 S^2))`.
///
/// Source: D. H. Bailey and M. Lopez de Prado, *The Sharpe Ratio Efficient Frontier* (2012).
pub fn probabilistic_sharpe(sample: SharpeSample, benchmark: f64) -> Result<f64, StatisticsError> {
    let SharpeSample { sharpe, periods, skewness, kurtosis } = sample;
    check_numbers("Sharpe sample", &[sharpe, periods, skewness, kurtosis, benchmark], 5)?;
    if periods < 2.0 {
        return Err(StatisticsError::TooFew { what: "periods", found: periods.max(0.0) as usize, needed: 2 });
    }
    let z = (sharpe - benchmark) * (periods - 1.0).sqrt() / sample.standard_error_factor();
    // If the deviation is 0, the ratio is certain.
    Ok(if z.is_nan() { 0.5 } else { Normal::standard().cdf(z) })
}

/// Returns the probability that the *best of `trials` variants* has a true Sharpe ratio above 0.
///
/// This is [`probabilistic_sharpe`] with a higher benchmark: the best ratio to be expected if no variant has an edge,
/// `sqrt(V) ((1 - g) Phi^-1(1 - 1 / N) + g Phi^-1(1 - 1 / (N e)))`. `g` is Euler's 0.5772, `N` is `trials` and `V` is
/// the `variance` of all ratios per period. If variants are similar, count only the *independent* ones in `trials`.
///
/// Source: D. H. Bailey and M. Lopez de Prado, *The Deflated Sharpe Ratio* (2014).
pub fn deflated_sharpe(sample: SharpeSample, trials: u64, variance: f64) -> Result<f64, StatisticsError> {
    if !(variance >= 0.0 && variance.is_finite()) {
        return Err(StatisticsError::NotANumberFor { what: "variance of trials", value: variance });
    }
    let benchmark = match trials {
        0 => return Err(StatisticsError::TooFew { what: "trials", found: 0, needed: 1 }),
        // A single variant needs no deflation.
        1 => 0.0,
        _ => {
            let (n, normal) = (trials as f64, Normal::standard());
            let first = normal.inverse_cdf(1.0 - 1.0 / n);
            let second = normal.inverse_cdf(1.0 - 1.0 / (n * std::f64::consts::E));
            let expected = (1.0 - EULER_MASCHERONI) * first + EULER_MASCHERONI * second;
            variance.sqrt() * expected
        }
    };
    probabilistic_sharpe(sample, benchmark)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratio_requires_two_different_numbers() {
        assert_eq!((sharpe(&[0.1; 7], 252.0), sortino(&[1.0, 0.0], 4.0)), (Ok(None), Ok(None)));
        assert_eq!(SharpeSample::from_returns(&[1.0; 5]), Ok(None));
        for returns in [&[0.1][..], &[0.1, f64::NAN]] {
            assert!(sharpe(returns, 252.0).is_err() && sortino(returns, 4.0).is_err(), "{returns:?}");
            assert!(SharpeSample::from_returns(returns).is_err(), "{returns:?}");
        }
    }

    #[test]
    fn ratio_at_benchmark_has_probability_one_half() {
        let least = SharpeSample { sharpe: 0.5, periods: 2.0, skewness: 0.0, kurtosis: 3.0 };
        assert_eq!(probabilistic_sharpe(least, 0.5), Ok(0.5));
        assert!(probabilistic_sharpe(SharpeSample { periods: 1.0, ..least }, 0.0).is_err());
        assert!(probabilistic_sharpe(least, f64::NAN).is_err());
    }

    /// The paper's example: ratio 2.5 per year, 1250 days at 250 days per year, skewness -3, kurtosis 10.
    fn published() -> SharpeSample {
        SharpeSample { sharpe: 2.5 / 250.0_f64.sqrt(), periods: 1_250.0, skewness: -3.0, kurtosis: 10.0 }
    }

    #[test]
    fn deflated_sharpe_matches_published_example() {
        // Bailey and Lopez de Prado (2014): variance 1/2 per year. 46 trials, or 88 if returns are normal, give 0.9505.
        let normal = SharpeSample { skewness: 0.0, kurtosis: 3.0, ..published() };
        for (sample, trials, expected) in
            [(published(), 100, 0.9004), (published(), 46, 0.9505), (normal, 88, 0.9505)]
        {
            let found = deflated_sharpe(sample, trials, 0.5 / 250.0).unwrap();
            assert!((found - expected).abs() < 5e-5, "{trials}: {found}");
        }
        assert_eq!(deflated_sharpe(published(), 1, 0.1), probabilistic_sharpe(published(), 0.0));
        assert!(deflated_sharpe(published(), 0, 0.1).is_err());
    }

    #[test]
    fn rejects_infinite_variance() {
        // The variance is also checked for a single trial, which needs no deflation.
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
