//! The returns of many variants over the same periods.

use crate::StatisticsError;
use crate::statistics_error::check_numbers;

/// The returns of every variant that was tried, period by period (days, say): all of them, also those that were
/// thrown away, or the figures made of it flatter.
#[derive(Clone, Debug, PartialEq)]
pub struct VariantReturns {
    variants: usize,
    /// Period by period, in each the variants in their order.
    returns: Vec<f64>,
}

impl VariantReturns {
    /// From the returns of each variant.
    ///
    /// # Errors
    /// [`StatisticsError::TooFew`] without variants or below two periods, `UnequalLengths` when a variant has another
    /// number of periods, `NotANumberFor` for a return that is not finite.
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
        let periods = 0..first.len();
        let returns =
            periods.flat_map(|period| by_variant.iter().map(move |variant| variant[period])).collect();
        Ok(Self { variants: by_variant.len(), returns })
    }

    /// How many variants.
    pub const fn variants(&self) -> usize {
        self.variants
    }

    /// How many periods.
    pub fn periods(&self) -> usize {
        self.returns.len() / self.variants
    }

    /// The returns of all variants in one period.
    pub(super) fn period(&self, period: usize) -> &[f64] {
        &self.returns[period * self.variants..(period + 1) * self.variants]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variants_lie_side_by_side() {
        let returns = VariantReturns::new(&[vec![1.0, 2.0, 3.0], vec![4.0, 5.0, 6.0]]).unwrap();
        assert_eq!((returns.variants(), returns.periods()), (2, 3));
        assert_eq!(returns.period(1), [2.0, 5.0]);
    }

    #[test]
    fn returns_without_meaning_are_refused() {
        for variants in [vec![], vec![vec![1.0]], vec![vec![1.0, 2.0], vec![1.0]], vec![vec![1.0, f64::NAN]]]
        {
            assert!(VariantReturns::new(&variants).is_err(), "{variants:?}");
        }
    }
}
