//! Expectancy: the mean result of a trade.

use super::sharpe::mean_and_deviation;
use crate::StatisticsError;
use crate::statistics_error::check_numbers;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Expectancy {
    pub mean: f64,
    /// Standard error `s / sqrt(n)`, for independent trades.
    pub standard_error: f64,
}

/// Returns the mean trade result with its standard error.
///
/// The error uses the sample deviation with `n - 1`. For a statement about an edge, pass returns
/// per unit of stake.
///
/// Source: any textbook; `scipy.stats.sem`.
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
