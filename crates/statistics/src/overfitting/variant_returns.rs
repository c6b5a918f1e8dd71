//! The returns of many variants over the same periods.

use crate::StatisticsError;
use crate::statistics_error::check_numbers;

/// How many variants are looked at together, so that their figures stay in the cache.
const GROUP: usize = 32;

/// The returns of many variants, however they are kept: none of what is made of them needs all at once.
pub trait Variants {
    /// How many variants there are.
    fn variants(&self) -> usize;

    /// How many periods each has.
    fn periods(&self) -> usize;

    /// Fills in the return of each period of one variant; they are finite.
    fn put(&self, variant: usize, returns: &mut [f64]);
}

/// The returns of every variant that was tried, period by period (days, say): all of them, also those that were
/// thrown away, or the figures made of it flatter.
#[derive(Clone, Debug, PartialEq)]
pub struct VariantReturns {
    variants: usize,
    /// Variant by variant, each with its periods.
    returns: Vec<f64>,
}

/// Some variants side by side.
pub(super) struct Group {
    count: usize,
    /// Period by period, in each the variants of the group.
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
    /// All variants, some at a time, in their order.
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

    /// How many variants.
    pub(super) const fn count(&self) -> usize {
        self.count
    }

    /// The returns of all of them in one period.
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
