//! Benjamini-Hochberg correction for many tested variants.

use crate::StatisticsError;
use crate::statistics_error::check_probability;

/// Returns the adjusted p-values of Benjamini and Hochberg, in the given order.
///
/// Selecting those of at most `q` gives a mean share of false discoveries of at most `q`. The
/// `i`-th smallest of `m` becomes `min(1, p_(j) m / j for all j >= i)`. This holds for independent
/// p-values and for positively dependent ones, such as those of variants of one strategy.
///
/// Source: Y. Benjamini and Y. Hochberg, *Controlling the False Discovery Rate*, Journal of the
/// Royal Statistical Society B 57 (1995); Y. Benjamini and D. Yekutieli, Annals of Statistics 29
/// (2001), for dependence.
pub fn benjamini_hochberg(p_values: &[f64]) -> Result<Vec<f64>, StatisticsError> {
    for p in p_values {
        check_probability("p-value", *p)?;
    }
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|a, b| p_values[*a].total_cmp(&p_values[*b]));
    let mut adjusted = vec![0.0; p_values.len()];
    let mut least = 1.0_f64;
    for (rank, &index) in order.iter().enumerate().rev() {
        least = least.min(p_values[index] * p_values.len() as f64 / (rank + 1) as f64);
        adjusted[index] = least;
    }
    Ok(adjusted)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reference::{assert_close, rows};
    use crate::simulation::Dice;

    #[test]
    fn adjusted_values_equal_the_reference_figures() {
        let rows: Vec<[f64; 2]> = rows(include_str!("../reference/benjamini_hochberg.csv"));
        let p_values: Vec<f64> = rows.iter().map(|[p, _]| *p).collect();
        for (found, [p, expected]) in benjamini_hochberg(&p_values).unwrap().into_iter().zip(rows) {
            assert_close(found, expected, 1e-14, &format!("{p}"));
        }
    }

    #[test]
    fn false_discoveries_are_as_rare_as_promised() {
        // 15 true nulls and 5 effects; a null's p-value is even over 0..1, an effect's its tenth power.
        let mut dice = Dice::new(4, 0);
        let mut rates = Vec::new();
        for _ in 0..4_000 {
            let p_values: Vec<f64> =
                (0..20).map(|i| if i < 15 { dice.share() } else { dice.share().powi(10) }).collect();
            let adjusted = benjamini_hochberg(&p_values).unwrap();
            let found = adjusted.iter().filter(|p| **p <= 0.1).count();
            let wrong = adjusted[..15].iter().filter(|p| **p <= 0.1).count();
            rates.push(wrong as f64 / found.max(1) as f64);
        }
        // The theory says exactly 0.1 x 15 / 20 for independent values; 0.0035 is one standard error.
        let mean = rates.iter().sum::<f64>() / rates.len() as f64;
        assert!((mean - 0.075).abs() < 0.011, "{mean}");
    }

    #[test]
    fn what_is_no_p_value_is_refused_and_none_have_none() {
        assert!(benjamini_hochberg(&[0.5, 1.1]).is_err());
        assert!(benjamini_hochberg(&[f64::NAN]).is_err());
        assert_eq!(benjamini_hochberg(&[]), Ok(vec![]));
    }
}
