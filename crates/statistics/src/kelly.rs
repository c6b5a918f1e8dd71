//! Kelly fraction: the stake that maximizes the growth of an account.

use crate::StatisticsError;
use crate::statistics_error::{check_payout, check_probability};

/// Returns the Kelly fraction `f = max(0, (p (1 + b) - 1) / b)` of the balance.
///
/// The trade wins `b` per unit of stake with probability `p` and loses the stake otherwise.
///
/// Source: J. L. Kelly, *A New Interpretation of Information Rate*, Bell System Technical Journal
/// 35 (1956). It applies to a known `p` and one trade at a time; pass a lower bound of `p`, never
/// the estimate.
pub fn kelly_fraction(win_probability: f64, payout_fraction: f64) -> Result<f64, StatisticsError> {
    let p = check_probability("win probability", win_probability)?;
    let b = check_payout(payout_fraction)?;
    // The same as (p (1 + b) - 1) / b, in a form that cannot overflow.
    Ok((p - (1.0 - p) / b).max(0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(win_probability: f64, payout_fraction: f64, expected: Option<f64>) {
        let found = kelly_fraction(win_probability, payout_fraction).ok();
        let close = match (found, expected) {
            (Some(found), Some(expected)) => (found - expected).abs() < 1e-15,
            (found, expected) => found == expected,
        };
        assert!(close, "{win_probability} {payout_fraction}: {found:?}, not {expected:?}");
    }

    #[test]
    fn an_edge_is_staked_and_none_is_not() {
        check(0.6, 1.0, Some(0.2));
        check(0.6, 0.8, Some(0.1)); // (0.6 x 1.8 - 1) / 0.8 = 0.08 / 0.8
        check(1.0, 0.8, Some(1.0));
        check(0.55, 0.8, Some(0.0)); // below the break-even of 55.56 %
        check(0.0, 0.8, Some(0.0));
        check(0.5, 1.0, Some(0.0));
        check(0.6, 1e308, Some(0.6));
        check(0.6, f64::MIN_POSITIVE / 4.0, Some(0.0));
    }

    #[test]
    fn numbers_that_mean_nothing_are_refused() {
        for (p, b) in
            [(f64::NAN, 0.8), (-0.1, 0.8), (1.1, 0.8), (0.6, 0.0), (0.6, f64::NAN), (0.6, f64::INFINITY)]
        {
            check(p, b, None);
        }
    }
}
