//! What a trade earns on average.

use super::sharpe::mean_and_deviation;
use crate::StatisticsError;
use crate::statistics_error::check_numbers;

/// The mean result of a trade, and how far it may be off.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Expectancy {
    /// The mean of the results.
    pub mean: f64,
    /// Its standard error, `s / sqrt(n)`, if trades are independent.
    pub standard_error: f64,
}

/// The mean of the results of trades (returns per unit of stake, for a statement about an edge), with its standard
/// error by the sample deviation with `n - 1`.
///
/// Source: any textbook; `scipy.stats.sem`.
///
/// # Errors
/// [`StatisticsError::TooFew`] below two results, `NotANumberFor` for one that is not finite.
pub fn expectancy(results: &[f64]) -> Result<Expectancy, StatisticsError> {
    check_numbers("results", results, 2)?;
    let (mean, deviation) = mean_and_deviation(results);
    Ok(Expectancy { mean, standard_error: deviation / (results.len() as f64).sqrt() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mean_and_error_are_counted_by_hand() {
        // Deviations -1.5, -0.5, 0.5, 1.5: variance 5 / 3, over 4.
        let found = expectancy(&[1.0, 2.0, 3.0, 4.0]).unwrap();
        assert_eq!(found.mean, 2.5);
        assert!((found.standard_error - (5.0_f64 / 12.0).sqrt()).abs() < 1e-15);
        assert!(expectancy(&[1.0]).is_err() && expectancy(&[1.0, f64::INFINITY]).is_err());
    }
}
