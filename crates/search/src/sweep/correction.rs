//! P-values of many sets, corrected for multiple testing.

use super::TrialRow;
use candlewick_statistics::benjamini_hochberg;

/// Returns the Benjamini-Hochberg p-value of each row, over all rows that have one.
///
/// All of them were tested, whether they qualify or not. If the sets with at most `q` are taken for
/// edges, the average share of false ones is at most `q`. This holds for similar sets, but does not
/// correct for overlapping trades.
pub fn corrected_p_values(rows: &[TrialRow]) -> Vec<Option<f64>> {
    let own: Vec<Option<f64>> = rows.iter().map(|row| row.figures()?.p_value).collect();
    let tested: Vec<f64> = own.iter().flatten().copied().collect();
    // A p-value is a probability, so none is refused.
    let mut corrected = benjamini_hochberg(&tested).unwrap_or_default().into_iter();
    own.iter().map(|p_value| p_value.and_then(|_| corrected.next())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sweep::{Figures, Outcome};

    fn row((trial, p_value): (u64, Option<f64>)) -> TrialRow {
        let figures: Figures = serde_json::from_value(serde_json::json!({
            "trades": 0, "won": 0, "lost": 0, "draw": 0, "cancelled": 0, "unsettled": 0, "refused": 0,
            "win_rate": null, "break_even": null, "edge_lower": null, "p_value": p_value, "pnl": 0.0,
            "expectancy": null, "sharpe": null, "max_drawdown": 0.0, "max_drawdown_percent": 0.0,
            "longest_losing_streak": 0
        }))
        .unwrap();
        let outcome = Outcome::Figures(Box::new(figures));
        TrialRow { trial, candidate: [].into(), rung: 0, share: 1.0, outcome, score: None }
    }

    #[test]
    fn every_set_that_was_tested_counts_for_the_correction() {
        let p_values = [Some(0.01), None, Some(0.5), Some(0.02), Some(0.04)];
        let rows: Vec<TrialRow> = (0..).zip(p_values).map(row).collect();
        // 0.01 4/1, 0.02 4/2, 0.04 4/3, 0.5 4/4, none above those after it.
        let expected = [Some(0.04), None, Some(0.5), Some(0.04), Some(0.04 * 4.0 / 3.0)];
        for (found, expected) in corrected_p_values(&rows).into_iter().zip(expected) {
            match (found, expected) {
                (Some(found), Some(expected)) => {
                    assert!((found - expected).abs() < 1e-12, "{found} {expected}");
                }
                _ => assert_eq!(found, expected),
            }
        }
    }
}
