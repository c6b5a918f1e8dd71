//! Calmar ratio: yearly growth divided by max drawdown.

use super::drawdown::max_drawdown;
use crate::StatisticsError;
use crate::statistics_error::check_numbers;

/// Returns the Calmar ratio of compounded daily returns, `None` if the curve never falls.
///
/// `((end / start)^(days / n) - 1) / max drawdown`, with the drawdown as a share of the peak.
///
/// Source: T. W. Young, *Calmar Ratio: A Smoother Tool*, Futures 20 (1991).
pub fn calmar(daily_returns: &[f64], days_per_year: f64) -> Result<Option<f64>, StatisticsError> {
    check_numbers("daily returns", daily_returns, 1)?;
    if let Some(value) = daily_returns.iter().find(|daily| **daily <= -1.0) {
        return Err(StatisticsError::NotANumberFor { what: "daily return", value: *value });
    }
    let mut equity = vec![1.0];
    equity.extend(daily_returns.iter().scan(1.0, |value, daily| {
        *value *= 1.0 + daily;
        Some(*value)
    }));
    let years = daily_returns.len() as f64 / days_per_year;
    let growth = equity[daily_returns.len()].powf(1.0 / years) - 1.0;
    Ok(max_drawdown(&equity)?.map(|drawdown| growth / drawdown.share))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growth_is_held_against_the_deepest_fall() {
        // 1, 2, 1, 4: a fall of one half; over three days of a three day year the growth is 300 %.
        assert!((calmar(&[1.0, -0.5, 3.0], 3.0).unwrap().unwrap() - 6.0).abs() < 1e-12);
        assert_eq!(calmar(&[0.1, 0.0], 252.0), Ok(None));
        assert!(calmar(&[], 252.0).is_err() && calmar(&[-1.0], 252.0).is_err());
    }

    #[test]
    fn growth_is_that_of_a_year() {
        // Fourfold in three days, of which a year has one and a half: twofold a year.
        assert!((calmar(&[1.0, -0.5, 3.0], 1.5).unwrap().unwrap() - 2.0).abs() < 1e-12);
    }
}
