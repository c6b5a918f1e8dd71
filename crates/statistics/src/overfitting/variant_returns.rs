//! Returns of many variants over the same periods.

use crate::StatisticsError;
use crate::statistics_error::check_numbers;

/// Number of variants processed together, so that their numbers stay in the CPU cache.
const GROUP: usize = 32;

/// Source of the returns of many variants, which are never needed all at once.
pub trait Variants {
    fn variants(&self) -> usize;

    fn periods(&self) -> usize;

    /// Writes the return of each period of one variant; all must be finite.
    fn put(&self, variant: usize, returns: &mut [f64]);
}

/// Returns of every variant tried, by period (day, for example).
///
/// Include discarded variants too, otherwise all results are too optimistic.
#[derive(Clone, Debug, PartialEq)]
pub struct VariantReturns {
    variants: usize,
    /// One row of periods per variant.
    returns: Vec<f64>,
}

pub(super) struct Group {
    count: usize,
    /// One row of variants per period.
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

impl Variants for VariantReturns {
    fn variants(&self) -> usize {
        self.variants
    }

    fn periods(&self) -> usize {
        self.returns.len() / self.variants
    }

    fn put(&self, variant: usize, returns: &mut [f64]) {
        let periods = self.periods();
        returns.copy_from_slice(&self.returns[variant * periods..(variant + 1) * periods]);
    }
}

impl Group {
    pub(super) fn all_of(variants: &dyn Variants) -> impl Iterator<Item = Self> {
        let mut own = vec![0.0; variants.periods()];
        (0..variants.variants()).step_by(GROUP).map(move |first| {
            let count = GROUP.min(variants.variants() - first);
            let mut returns = vec![0.0; count * own.len()];
            for place in 0..count {
                variants.put(first + place, &mut own);
                for (period, value) in own.iter().enumerate() {
                    returns[period * count + place] = *value;
                }
            }
            Self { count, returns }
        })
    }

    pub(super) const fn count(&self) -> usize {
        self.count
    }

    pub(super) fn period(&self, period: usize) -> &[f64] {
        &self.returns[period * self.count..(period + 1) * self.count]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variants_lie_side_by_side() {
        let returns = VariantReturns::new(&[vec![1.0, 2.0, 3.0], vec![4.0, 5.0, 6.0]]).unwrap();
        assert_eq!((returns.variants(), returns.periods()), (2, 3));
        let group = Group::all_of(&returns).next().unwrap();
        assert_eq!(group.period(1), [2.0, 5.0]);
    }

    #[test]
    fn groups_hold_every_variant_once() {
        let many: Vec<Vec<f64>> = (0..2 * GROUP + 5).map(|variant| vec![variant as f64; 2]).collect();
        let returns = VariantReturns::new(&many).unwrap();
        let groups: Vec<Group> = Group::all_of(&returns).collect();
        assert_eq!(groups.iter().map(Group::count).collect::<Vec<_>>(), [GROUP, GROUP, 5]);
        let seen: Vec<f64> = groups.iter().flat_map(|group| group.period(1).to_vec()).collect();
        assert_eq!(seen, many.iter().map(|variant| variant[1]).collect::<Vec<_>>());
    }

    #[test]
    fn returns_without_meaning_are_refused() {
        for variants in [vec![], vec![vec![1.0]], vec![vec![1.0, 2.0], vec![1.0]], vec![vec![1.0, f64::NAN]]]
        {
            assert!(VariantReturns::new(&variants).is_err(), "{variants:?}");
        }
    }
}
