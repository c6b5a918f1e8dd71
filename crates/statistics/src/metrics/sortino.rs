//! Sortino ratio: mean of daily returns divided by their downside deviation.

use crate::StatisticsError;
use crate::statistics_error::check_numbers;

/// Returns the annualized Sortino ratio for a target of 0, `None` without a losing day.
///
/// `mean / sqrt(sum(min(r, 0)^2) / n) sqrt(days_per_year)`, with the squared losses averaged over
/// *all* days.
///
/// Source: F. A. Sortino and L. N. Price, *Performance Measurement in a Downside Risk Framework*,
/// Journal of Investing 3 (1994).
pub fn sortino(daily_returns: &[f64], days_per_year: f64) -> Result<Option<f64>, StatisticsError> {
    check_numbers("daily returns", daily_returns, 2)?;
    let count = daily_returns.len() as f64;
    let mean = daily_returns.iter().sum::<f64>() / count;
    let losses: f64 = daily_returns.iter().map(|daily| daily.min(0.0).powi(2)).sum();
    Ok((losses > 0.0).then(|| mean / (losses / count).sqrt() * days_per_year.sqrt()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_losses_deviate() {
        // Mean 0.5; losses 1 over four days: deviation 0.5.
        assert_eq!(sortino(&[1.0, -1.0, 2.0, 0.0], 4.0), Ok(Some(2.0)));
        assert_eq!(sortino(&[1.0, 0.0], 4.0), Ok(None));
        assert!(sortino(&[1.0], 4.0).is_err() && sortino(&[1.0, f64::NAN], 4.0).is_err());
    }
}
