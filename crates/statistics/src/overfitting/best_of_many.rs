//! Test of whether the best of many variants is significant.

use super::{ReturnSource, VariantGroup};
use crate::StatisticsError;
use crate::simulation::Dice;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bootstrap {
    /// Length of a resampled block, in periods. To preserve dependence, use at least the duration of the longest trade.
    pub block_periods: usize,
    pub draws: u32,
    pub seed: u64,
}

#[derive(Clone, Debug, PartialEq)]
pub struct BestOfMany {
    pub best_variant: usize,
    /// Mean return of the best variant, divided by the standard error of the mean.
    pub statistic: f64,
    /// Probability that the best variant is at least this good if no variant has an edge.
    pub p_value: f64,
    /// p-value of each variant, corrected for the number of variants. `None` if the variant's results never vary.
    pub p_values: Vec<Option<f64>>,
}

/// Tests whether the best of many variants is better than chance, by a block bootstrap of the maximum statistic.
///
/// A variant's statistic is the sum of its returns, divided by the standard error of that sum. With `k` blocks, the
/// error is `sqrt(k / (k - 1) sum((B - E)^2))`, where `B` is the sum over a block and `E` is the mean return times the
/// length of the block. A draw resamples blocks of the history for all variants together, which preserves dependence
/// over time and between variants. All means are shifted to 0, so no variant of a draw has an edge. The p-value is
/// `(1 + d) / (1 + draws)` if `d` draws have a statistic at least as large. Constant variants are excluded.
///
/// The result is approximate, and less accurate with few blocks. `docs/statistics.md` has measurements of its accuracy.
///
/// Sources: H. White, *A Reality Check for Data Snooping* (2000); P. R. Hansen, *A Test for Superior Predictive
/// Ability* (2005); D. N. Politis and J. P. Romano (1992); F. Goetze and H. R. Kuensch (1996).
pub fn best_of_many(source: &dyn ReturnSource, bootstrap: Bootstrap) -> Result<BestOfMany, StatisticsError> {
    let needs = |what, found: usize, needed: usize| {
        if found < needed { Err(StatisticsError::TooFew { what, found, needed }) } else { Ok(()) }
    };
    needs("periods of a block", bootstrap.block_periods, 1)?;
    needs("bootstrap runs", bootstrap.draws as usize, 1)?;
    needs("blocks", source.periods().div_ceil(bootstrap.block_periods), 2)?;
    let draws = BootstrapDraws::new(source.periods(), bootstrap);
    let mut statistics: Vec<Option<f64>> = Vec::with_capacity(source.variants());
    // Largest statistic of each draw among the variants processed so far.
    let mut largest = vec![f64::NEG_INFINITY; bootstrap.draws as usize];
    for group in VariantGroup::build_all(source) {
        draws.evaluate_group(&group, &mut statistics, &mut largest);
    }
    let named = statistics.iter().enumerate().filter_map(|(index, found)| found.map(|found| (index, found)));
    let Some((best, statistic)) = named.reduce(|best, other| if other.1 > best.1 { other } else { best })
    else {
        return Err(StatisticsError::TooFew { what: "variants that traded", found: 0, needed: 1 });
    };
    largest.sort_by(f64::total_cmp);
    let p_value = |statistic: f64| {
        let as_good = largest.len() - largest.partition_point(|of_draw| *of_draw < statistic);
        (1.0 + as_good as f64) / (1.0 + largest.len() as f64)
    };
    let p_values = statistics.iter().map(|statistic| statistic.map(p_value)).collect();
    Ok(BestOfMany { best_variant: best, statistic, p_value: p_value(statistic), p_values })
}

struct BootstrapDraws {
    periods: usize,
    block: usize,
    own: Vec<usize>,
    drawn: Vec<usize>,
}

impl BootstrapDraws {
    fn new(periods: usize, bootstrap: Bootstrap) -> Self {
        let Bootstrap { block_periods: block, draws: runs, seed } = bootstrap;
        let own: Vec<usize> = (0..periods.div_ceil(block)).map(|place| place * block).collect();
        let draw = |run: u32| {
            let mut dice = Dice::new(seed, u64::from(run));
            own.iter().map(|_| dice.index_below(periods)).collect::<Vec<_>>()
        };
        let drawn = (0..runs).flat_map(draw).collect();
        Self { periods, block, own, drawn }
    }

    fn evaluate_group(&self, group: &VariantGroup, statistics: &mut Vec<Option<f64>>, largest: &mut [f64]) {
        let history = CumulativeSums::new(group, self);
        let mut blocks = BlockSums::new(group.variant_count());
        history.add_blocks(&mut blocks, &self.own);
        let named: Vec<Option<f64>> = (0..group.variant_count()).map(|v| blocks.statistic(v, 0.0)).collect();
        let totals = blocks.sums.clone();
        for (starts, largest) in self.drawn.chunks_exact(self.own.len()).zip(largest) {
            history.add_blocks(&mut blocks, starts);
            for (variant, total) in totals.iter().enumerate().filter(|(variant, _)| named[*variant].is_some())
            {
                if let Some(found) = blocks.statistic(variant, *total) {
                    *largest = largest.max(found);
                }
            }
        }
        statistics.extend(named);
    }
}

struct CumulativeSums<'a> {
    sums: Vec<f64>,
    count: usize,
    draws: &'a BootstrapDraws,
}

impl<'a> CumulativeSums<'a> {
    fn new(group: &VariantGroup, draws: &'a BootstrapDraws) -> Self {
        let count = group.variant_count();
        let mut sums = vec![0.0; count];
        for period in 0..2 * draws.periods {
            for (variant, value) in group.returns_in_period(period % draws.periods).iter().enumerate() {
                sums.push(sums[period * count + variant] + value);
            }
        }
        Self { sums, count, draws }
    }

    fn add_blocks(&self, blocks: &mut BlockSums, starts: &[usize]) {
        blocks.clear();
        let BootstrapDraws { periods, block, .. } = *self.draws;
        let until = |period: usize| &self.sums[period * self.count..(period + 1) * self.count];
        for (place, from) in starts.iter().enumerate() {
            let length = block.min(periods - place * block);
            blocks.add(until(*from), until(from + length), length);
        }
    }
}

struct BlockSums {
    count: f64,
    periods: f64,
    squared_lengths: f64,
    sums: Vec<f64>,
    squares: Vec<f64>,
    by_length: Vec<f64>,
}

impl BlockSums {
    fn new(variants: usize) -> Self {
        let none = vec![0.0; variants];
        Self {
            count: 0.0,
            periods: 0.0,
            squared_lengths: 0.0,
            sums: none.clone(),
            squares: none.clone(),
            by_length: none,
        }
    }

    fn clear(&mut self) {
        (self.count, self.periods, self.squared_lengths) = (0.0, 0.0, 0.0);
        self.sums.fill(0.0);
        self.squares.fill(0.0);
        self.by_length.fill(0.0);
    }

    fn add(&mut self, from: &[f64], until: &[f64], length: usize) {
        let length = length as f64;
        self.count += 1.0;
        self.periods += length;
        self.squared_lengths += length * length;
        let into = self.sums.iter_mut().zip(&mut self.squares).zip(&mut self.by_length);
        for (((sum, square), by_length), (from, until)) in into.zip(from.iter().zip(until)) {
            let block = until - from;
            *sum += block;
            *square += block * block;
            *by_length += block * length;
        }
    }

    fn statistic(&self, variant: usize, expected: f64) -> Option<f64> {
        let mean = self.sums[variant] / self.periods;
        // Expanded form of sum((B - mean length)^2).
        let squares =
            self.squares[variant] - 2.0 * mean * self.by_length[variant] + mean * mean * self.squared_lengths;
        let variance = squares * self.count / (self.count - 1.0);
        // Treats the deviation as 0 if it is within rounding error.
        (squares > 1e-12 * self.squares[variant]).then(|| (self.sums[variant] - expected) / variance.sqrt())
    }
}

#[cfg(test)]
mod tests {
    use super::super::VariantReturns;
    use super::*;

    const BOOTSTRAP: Bootstrap = Bootstrap { block_periods: 1, draws: 400, seed: 9 };

    fn noise(variants: usize, periods: usize, together: usize, path: u64) -> Vec<Vec<f64>> {
        let mut dice = Dice::new(77, path);
        let variant = |_| {
            let blocks = (0..periods / together).map(|_| dice.normal()).collect::<Vec<_>>();
            blocks.into_iter().flat_map(|value| std::iter::repeat_n(value, together)).collect()
        };
        (0..variants).map(variant).collect()
    }

    fn p_value(variants: &[Vec<f64>], bootstrap: Bootstrap) -> f64 {
        best_of_many(&VariantReturns::new(variants).unwrap(), bootstrap).unwrap().p_value
    }

    #[test]
    fn blocks_preserve_dependence() {
        // Of 250 families without an edge, the share that is significant at 10 %. The standard error is 1.9 points.
        let called_significant = |block_periods| {
            let bootstrap = |seed| Bootstrap { block_periods, draws: 59, seed };
            let called = |path: &u64| p_value(&noise(5, 80, 4, *path), bootstrap(*path)) <= 0.1;
            (0..250).filter(called).count() as f64 / 250.0
        };
        let (blind, aware) = (called_significant(1), called_significant(12));
        assert!(blind > 0.3, "periods in fours, drawn one by one: {blind}");
        assert!(aware < 0.2, "drawn in twelves: {aware}");
    }

    #[test]
    fn finds_a_profitable_variant_among_many() {
        let mut variants = noise(50, 250, 1, 8);
        variants[17].iter_mut().for_each(|value| *value += 0.4);
        variants.push(vec![0.0; 250]);
        let found = best_of_many(&VariantReturns::new(&variants).unwrap(), BOOTSTRAP).unwrap();
        assert_eq!(found.best_variant, 17);
        assert!(found.p_value < 0.01, "{}", found.p_value);
        assert_eq!(found.p_values[17], Some(found.p_value));
        assert_eq!(found.p_values[50], None);
        let others = (0..50).filter(|variant| *variant != 17);
        assert!(others.filter_map(|variant| found.p_values[variant]).all(|p_value| p_value > 0.05));
    }

    #[test]
    fn two_periods_agree_with_hand_computation() {
        // If a draw contains both blocks, in either order, the actual minus the expected sum is 0. A draw with the same
        // block twice has no statistic and never counts as good. A statistic of 0 is as good as a variant that earns 0
        // or less, but never as good as a variant that earns more.
        let of_both = (0..BOOTSTRAP.draws).filter(|run| {
            let mut dice = Dice::new(BOOTSTRAP.seed, u64::from(*run));
            dice.index_below(2) != dice.index_below(2)
        });
        let both = of_both.count();
        assert!((150..250).contains(&both), "{both} of {}", BOOTSTRAP.draws);
        let as_good = (1.0 + both as f64) / 401.0;
        for (returns, statistic, expected) in
            [([1.0, 3.0], 2.0, 1.0 / 401.0), ([-1.0, 1.0], 0.0, as_good), ([-1.0, -3.0], -2.0, as_good)]
        {
            let found = best_of_many(&VariantReturns::new(&[returns.to_vec()]).unwrap(), BOOTSTRAP).unwrap();
            assert_eq!((found.statistic, found.p_value), (statistic, expected), "{returns:?}");
            assert_eq!(found.p_values, [Some(expected)], "{returns:?}");
        }
    }

    #[test]
    fn first_of_equal_variants_is_best() {
        let variants = [[1.0, 2.0, 0.0], [3.0, 1.0, 2.0], [2.0, 3.0, 1.0]].map(|one| one.to_vec());
        let found = best_of_many(&VariantReturns::new(&variants).unwrap(), BOOTSTRAP).unwrap();
        assert_eq!(found.best_variant, 1);
        assert_eq!(found.p_values[1], found.p_values[2]);
    }

    #[test]
    fn truncates_the_last_block() {
        // Blocks of three periods with sums 4 and 2, and of one period with sum 1. At mean 1: (1 + 1 + 0) x 3 / 2.
        let variant = vec![2.0, 1.0, 1.0, 1.0, 0.0, 1.0, 1.0];
        let bootstrap = Bootstrap { block_periods: 3, ..BOOTSTRAP };
        let found = best_of_many(&VariantReturns::new(&[variant]).unwrap(), bootstrap).unwrap();
        assert!((found.statistic - 7.0 / 3.0_f64.sqrt()).abs() < 1e-12, "{}", found.statistic);
    }

    #[test]
    fn rejects_families_without_trades_and_empty_draws() {
        assert!(best_of_many(&VariantReturns::new(&[vec![0.0; 9]]).unwrap(), BOOTSTRAP).is_err());
        let busy = VariantReturns::new(&[vec![0.0, 1.0]]).unwrap();
        assert!(best_of_many(&busy, Bootstrap { block_periods: 0, ..BOOTSTRAP }).is_err());
        assert!(best_of_many(&busy, Bootstrap { draws: 0, ..BOOTSTRAP }).is_err());
        assert!(best_of_many(&busy, Bootstrap { block_periods: 2, ..BOOTSTRAP }).is_err());
        assert!(best_of_many(&busy, BOOTSTRAP).is_ok());
    }

    fn blocks_of(blocks: &[(f64, usize)]) -> BlockSums {
        let mut sums = BlockSums::new(1);
        for (sum, length) in blocks {
            sums.add(&[1.0], &[1.0 + sum], *length);
        }
        sums
    }

    #[test]
    fn constant_blocks_have_no_statistic() {
        for place in 1..=40 {
            let each = 1e7 / f64::from(place);
            assert_eq!(blocks_of(&[(2.0 * each, 2), (3.0 * each, 3), (each, 1)]).statistic(0, 0.0), None);
        }
    }
}
