//! Profit factor: gross profit divided by gross loss.

use crate::StatisticsError;
use crate::statistics_error::check_numbers;

/// Returns `sum(r, r > 0) / -sum(r, r < 0)`, `None` without a loss; 1 is break-even.
///
/// Source: the usual definition, as in R. Pardo, *The Evaluation and Optimization of Trading
/// Strategies* (2008).
pub fn profit_factor(results: &[f64]) -> Result<Option<f64>, StatisticsError> {
    check_numbers("results", results, 1)?;
    let won: f64 = results.iter().filter(|result| **result > 0.0).sum();
    let lost: f64 = results.iter().filter(|result| **result < 0.0).sum();
    Ok((lost < 0.0).then(|| won / -lost))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn profits_are_held_against_losses() {
        for (results, expected) in [
            (&[0.85, -1.0, 0.85, -1.0, 0.0] as &[f64], Some(0.85)),
            (&[3.0, -1.0], Some(3.0)),
            (&[-1.0, -1.0], Some(0.0)),
            (&[1.0, 0.0], None),
        ] {
            assert_eq!(profit_factor(results), Ok(expected), "{results:?}");
        }
        assert!(profit_factor(&[]).is_err() && profit_factor(&[f64::NAN]).is_err());
    }
}
