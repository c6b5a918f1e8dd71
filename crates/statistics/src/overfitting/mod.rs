//! Corrections for selecting among many variants: false discovery rate and tests of the best variant.

mod best_of_many;
mod cscv;

pub use best_of_many::{BestOfMany, Bootstrap, best_of_many};
pub use cscv::{MAX_BLOCKS, Overfitting, Split, probability_of_overfitting};

use crate::StatisticsError;
use crate::statistics_error::{check_numbers, check_probability};

/// Number of variants that are processed together. Their data fits into the CPU cache.
const GROUP_SIZE: usize = 32;

/// Source of the returns of many variants. Only some variants are in memory at any time.
pub trait ReturnSource {
    fn variants(&self) -> usize;

    fn periods(&self) -> usize;

    /// Writes the return of each period of one variant to `returns`. All returns must be finite.
    fn write_returns(&self, variant: usize, returns: &mut [f64]);

    /// Writes the trades of each period of one variant to `periods`. By default, each period is a single trade.
    fn write_periods(&self, variant: usize, periods: &mut [PeriodReturns]) {
        let mut returns = vec![0.0; periods.len()];
        self.write_returns(variant, &mut returns);
        for (period, value) in periods.iter_mut().zip(returns) {
            *period = PeriodReturns { trades: 1.0, sum: value, squares: value * value };
        }
    }
}

/// Trades of one variant in one period: their number, and the sums of their returns and of the squares of the returns.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PeriodReturns {
    pub trades: f64,
    pub sum: f64,
    pub squares: f64,
}

/// Per-period returns of all tried variants. Include discarded variants: otherwise, all results are biased.
#[derive(Clone, Debug, PartialEq)]
pub struct VariantReturns {
    variants: usize,
    /// All returns of the first variant, then of the second, and so on.
    returns: Vec<f64>,
}

struct VariantGroup {
    count: usize,
    /// Returns of all variants in the first period, then in the second, and so on.
    returns: Vec<f64>,
}

impl VariantReturns {
    pub fn new(by_variant: &[Vec<f64>]) -> Result<Self, StatisticsError> {
        let Some(first) = by_variant.first() else {
            return Err(StatisticsError::TooFew { what: "variants", found: 0, needed: 1 });
        };
        for variant in by_variant {
            check_numbers("returns of a variant", variant, 2)?;
            if variant.len() != first.len() {
                let (found, expected) = (variant.len(), first.len());
                return Err(StatisticsError::UnequalLengths {
                    what: "returns of a variant",
                    found,
                    expected,
                });
            }
        }
        Ok(Self { variants: by_variant.len(), returns: by_variant.concat() })
    }
}

impl ReturnSource for VariantReturns {
    fn variants(&self) -> usize {
        self.variants
    }

    fn periods(&self) -> usize {
        self.returns.len() / self.variants
    }

    fn write_returns(&self, variant: usize, returns: &mut [f64]) {
        let periods = self.periods();
        returns.copy_from_slice(&self.returns[variant * periods..(variant + 1) * periods]);
    }
}

impl VariantGroup {
    fn build_all(variants: &dyn ReturnSource) -> impl Iterator<Item = Self> {
        let mut own = vec![0.0; variants.periods()];
        (0..variants.variants()).step_by(GROUP_SIZE).map(move |first| {
            let count = GROUP_SIZE.min(variants.variants() - first);
            let mut returns = vec![0.0; count * own.len()];
            for place in 0..count {
                variants.write_returns(first + place, &mut own);
                for (period, value) in own.iter().enumerate() {
                    returns[period * count + place] = *value;
                }
            }
            Self { count, returns }
        })
    }

    const fn variant_count(&self) -> usize {
        self.count
    }

    fn returns_in_period(&self, period: usize) -> &[f64] {
        &self.returns[period * self.count..(period + 1) * self.count]
    }
}

/// Returns the adjusted p-values of Benjamini and Hochberg, in the given order.
///
/// If adjusted p-values of at most `q` are selected, the mean share of false discoveries is at most `q`. The adjusted
/// value of the `i`-th smallest of `m` is the minimum of 1 and `p_(j) m / j` for all `j >= i`. The guarantee holds for
/// independent p-values, and for positively dependent ones, such as the p-values of variants of one strategy.
///
/// Sources: Y. Benjamini and Y. Hochberg (1995); Y. Benjamini and D. Yekutieli (2001), for dependence.
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
    use crate::tests::{assert_close, rows};

    #[test]
    fn groups_hold_every_variant_once() {
        let many: Vec<Vec<f64>> = (0..2 * GROUP_SIZE + 5).map(|variant| vec![variant as f64; 2]).collect();
        let returns = VariantReturns::new(&many).unwrap();
        assert_eq!((returns.variants(), returns.periods()), (2 * GROUP_SIZE + 5, 2));
        let groups: Vec<VariantGroup> = VariantGroup::build_all(&returns).collect();
        assert_eq!(
            groups.iter().map(VariantGroup::variant_count).collect::<Vec<_>>(),
            [GROUP_SIZE, GROUP_SIZE, 5]
        );
        let seen: Vec<f64> = groups.iter().flat_map(|group| group.returns_in_period(1).to_vec()).collect();
        assert_eq!(seen, many.iter().map(|variant| variant[1]).collect::<Vec<_>>());
    }

    #[test]
    fn rejects_invalid_returns() {
        for variants in [vec![], vec![vec![1.0]], vec![vec![1.0, 2.0], vec![1.0]], vec![vec![1.0, f64::NAN]]]
        {
            assert!(VariantReturns::new(&variants).is_err(), "{variants:?}");
        }
    }

    #[test]
    fn adjusted_values_equal_the_reference_figures() {
        let rows: Vec<[f64; 2]> = rows(include_str!("../../reference/benjamini_hochberg.csv"));
        let p_values: Vec<f64> = rows.iter().map(|[p, _]| *p).collect();
        for (found, [p, expected]) in benjamini_hochberg(&p_values).unwrap().into_iter().zip(rows) {
            assert_close(found, expected, 1e-14, &format!("{p}"));
        }
    }

    #[test]
    fn rejects_invalid_p_values() {
        assert!(benjamini_hochberg(&[0.5, 1.1]).is_err());
        assert!(benjamini_hochberg(&[f64::NAN]).is_err());
        assert_eq!(benjamini_hochberg(&[]), Ok(vec![]));
    }
}
