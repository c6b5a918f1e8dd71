//! Sharpe ratio: mean of daily returns divided by their deviation.

use crate::StatisticsError;
use crate::statistics_error::check_numbers;

/// Returns the annualized Sharpe ratio of daily returns, `None` if all days are equal.
///
/// `mean / s sqrt(days_per_year)`, with the sample deviation `s` (`n - 1`) and no risk-free rate.
/// Include days without a trade as 0: omitting them inflates the ratio.
///
/// Source: W. F. Sharpe, *The Sharpe Ratio*, Journal of Portfolio Management 21 (1994).
pub fn sharpe(daily_returns: &[f64], days_per_year: f64) -> Result<Option<f64>, StatisticsError> {
    check_numbers("daily returns", daily_returns, 2)?;
    let (mean, deviation) = mean_and_deviation(daily_returns);
    Ok((deviation > 0.0).then(|| mean / deviation * days_per_year.sqrt()))
}

/// Returns mean and sample deviation of at least two numbers.
///
/// The deviation of equal numbers is exactly 0.
pub(crate) fn mean_and_deviation(numbers: &[f64]) -> (f64, f64) {
    let count = numbers.len() as f64;
    if numbers.iter().all(|number| *number == numbers[0]) {
        return (numbers[0], 0.0);
    }
    let mean = numbers.iter().sum::<f64>() / count;
    let squares: f64 = numbers.iter().map(|number| (number - mean).powi(2)).sum();
    (mean, (squares / (count - 1.0)).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ratio_is_counted_by_hand() {
        // Mean 1, deviation sqrt(2): 1 / sqrt(2) a day, times sqrt(8).
        assert!((sharpe(&[0.0, 2.0], 8.0).unwrap().unwrap() - 2.0).abs() < 1e-15);
        assert_eq!(sharpe(&[0.1; 7], 252.0), Ok(None));
        assert!(sharpe(&[0.1], 252.0).is_err() && sharpe(&[0.1, f64::NAN], 252.0).is_err());
    }
}
