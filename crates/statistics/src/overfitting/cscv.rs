//! Probability of backtest overfitting, by combinatorially symmetric cross-validation.

use super::{GROUP_SIZE, PeriodReturns, ReturnSource};
use crate::StatisticsError;

pub const MAX_BLOCKS: usize = 16;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Split {
    /// Number of blocks into which the history is divided: an even number from 2 to [`MAX_BLOCKS`].
    pub blocks: usize,
    /// Number of periods dropped from the selection half at each border with the other half.
    /// Use at least the maximum duration of a trade, so that no trade is in both halves.
    pub purged_periods: usize,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Overfitting {
    /// Share of splits in which the selected variant ranks in the lower half out of sample. 0.5 is expected by chance.
    pub probability: f64,
    /// Share of splits in which the selected variant loses money out of sample.
    pub loss_probability: f64,
}

/// Returns the probability that selecting the best variant of a backtest overfits.
///
/// The history is divided into blocks. For each choice of half of the blocks, the variant with the best ratio of mean
/// to deviation of its returns per trade is selected, and then ranked in the other half. Let its rank be `r` of `N` variants, where 1 is the
/// worst and ties share their mean rank. The selection is overfitted if `ln(w / (1 - w)) <= 0` for `w = r / (N + 1)`.
///
/// Source: D. H. Bailey, J. M. Borwein, M. Lopez de Prado and Q. J. Zhu, *The Probability of Backtest
/// Overfitting* (2017); purging by M. Lopez de Prado, *Advances in Financial Machine Learning* (2018), chapter 7.
pub fn probability_of_overfitting(
    returns: &dyn ReturnSource,
    split: Split,
) -> Result<Overfitting, StatisticsError> {
    let Split { blocks, purged_periods } = split;
    let variants = returns.variants();
    if variants < 2 {
        return Err(StatisticsError::TooFew { what: "variants", found: variants, needed: 2 });
    }
    if !(2..=MAX_BLOCKS).contains(&blocks) || blocks % 2 == 1 {
        return Err(StatisticsError::TooFew {
            what: "number of blocks (even, from 2 to 16)",
            found: blocks,
            needed: 2,
        });
    }
    let needed = purged_periods.saturating_mul(2).saturating_add(2).saturating_mul(blocks);
    if returns.periods() < needed {
        return Err(StatisticsError::TooFew { what: "periods", found: returns.periods(), needed });
    }
    let mut divisions = BlockDivision::build_all(blocks);
    for group in PeriodGroup::build_all(returns) {
        let blocks = Block::build_all(&group, returns.periods(), split);
        for division in &mut divisions {
            division.update_choice(&group, &blocks);
        }
    }
    for group in PeriodGroup::build_all(returns) {
        let blocks = Block::build_all(&group, returns.periods(), split);
        for division in &mut divisions {
            division.rank_choice(&blocks, group.count);
        }
    }
    let share = |is: fn(&BlockDivision) -> bool| {
        divisions.iter().filter(|division| is(division)).count() as f64 / divisions.len() as f64
    };
    Ok(Overfitting {
        // The relative rank is at most one half if no more variants are below than above. Ties count half on each side.
        probability: share(|division| division.below <= division.above),
        loss_probability: share(|division| division.chosen_variant.sum < 0.0),
    })
}

struct BlockDivision {
    /// Blocks of the selection half: pairs of a block index and an index into `Block::trimmed`.
    chosen: Vec<(usize, usize)>,
    other: Vec<(usize, usize)>,
    best: f64,
    chosen_variant: ChosenVariant,
    below: usize,
    above: usize,
}

#[derive(Clone, Copy)]
struct ChosenVariant {
    sum: f64,
    ratio: f64,
}

/// Sums over a block in four versions: whole, purged at its start, purged at its end, and purged at both ends.
struct Block {
    trimmed: [Totals; 4],
}

/// Sums of each variant.
struct Totals(Vec<PeriodReturns>);

/// Variants that are processed together, and their trades: of all variants in the first period, then in the second, ...
struct PeriodGroup {
    count: usize,
    periods: Vec<PeriodReturns>,
}

impl PeriodGroup {
    fn build_all(source: &dyn ReturnSource) -> impl Iterator<Item = Self> {
        let mut own = vec![PeriodReturns::default(); source.periods()];
        (0..source.variants()).step_by(GROUP_SIZE).map(move |first| {
            let count = GROUP_SIZE.min(source.variants() - first);
            let mut periods = vec![PeriodReturns::default(); count * own.len()];
            for place in 0..count {
                source.write_periods(first + place, &mut own);
                for (period, value) in own.iter().enumerate() {
                    periods[period * count + place] = *value;
                }
            }
            Self { count, periods }
        })
    }
}

impl BlockDivision {
    fn build_all(blocks: usize) -> Vec<Self> {
        let halves = (0_u32..1 << blocks).filter(|taken| taken.count_ones() as usize * 2 == blocks);
        let division = |taken: u32| {
            let is_taken = |at: usize| taken >> at & 1 == 1;
            let cut = |block: usize| {
                let before = block > 0 && !is_taken(block - 1);
                let after = block + 1 < blocks && !is_taken(block + 1);
                usize::from(before) + 2 * usize::from(after)
            };
            Self {
                chosen: (0..blocks).filter(|at| is_taken(*at)).map(|at| (at, cut(at))).collect(),
                other: (0..blocks).filter(|at| !is_taken(*at)).map(|at| (at, 0)).collect(),
                best: f64::NEG_INFINITY,
                chosen_variant: ChosenVariant { sum: 0.0, ratio: 0.0 },
                below: 0,
                above: 0,
            }
        };
        halves.map(division).collect()
    }

    fn update_choice(&mut self, group: &PeriodGroup, blocks: &[Block]) {
        let chosen = Totals::combine(blocks, &self.chosen, group.count);
        let mut better = None;
        for variant in 0..group.count {
            let ratio = chosen.sharpe(variant);
            if ratio > self.best {
                (self.best, better) = (ratio, Some(variant));
            }
        }
        if let Some(variant) = better {
            let other = Totals::combine(blocks, &self.other, group.count);
            self.chosen_variant = ChosenVariant { sum: other.0[variant].sum, ratio: other.sharpe(variant) };
        }
    }

    fn rank_choice(&mut self, blocks: &[Block], count: usize) {
        let other = Totals::combine(blocks, &self.other, count);
        for ratio in (0..count).map(|variant| other.sharpe(variant)) {
            self.below += usize::from(ratio < self.chosen_variant.ratio);
            self.above += usize::from(ratio > self.chosen_variant.ratio);
        }
    }
}

impl Block {
    fn build_all(group: &PeriodGroup, periods: usize, split: Split) -> Vec<Self> {
        let block = |block: usize| {
            let (from, until) = (block * periods / split.blocks, (block + 1) * periods / split.blocks);
            let purged = split.purged_periods;
            let trimmed = [
                (from, until),
                (from + purged, until),
                (from, until - purged),
                (from + purged, until - purged),
            ];
            Self { trimmed: trimmed.map(|(from, until)| Totals::from_group(group, from, until)) }
        };
        (0..split.blocks).map(block).collect()
    }
}

impl Totals {
    fn new(variants: usize) -> Self {
        Self(vec![PeriodReturns::default(); variants])
    }

    fn from_group(group: &PeriodGroup, from: usize, until: usize) -> Self {
        let mut totals = Self::new(group.count);
        for period in group.periods[from * group.count..until * group.count].chunks_exact(group.count) {
            totals.add(period);
        }
        totals
    }

    fn combine(blocks: &[Block], which: &[(usize, usize)], variants: usize) -> Self {
        let mut totals = Self::new(variants);
        for (block, cut) in which {
            totals.add(&blocks[*block].trimmed[*cut].0);
        }
        totals
    }

    fn add(&mut self, more: &[PeriodReturns]) {
        for (total, more) in self.0.iter_mut().zip(more) {
            total.trades += more.trades;
            total.sum += more.sum;
            total.squares += more.squares;
        }
    }

    /// Returns the ratio of mean to deviation of the variant's returns per trade, 0 without trades.
    fn sharpe(&self, variant: usize) -> f64 {
        let PeriodReturns { trades, sum, squares } = self.0[variant];
        let mean = sum / trades.max(1.0);
        let variance = squares / trades.max(1.0) - mean * mean;
        // Treats the deviation as 0 if it is within rounding error.
        if variance <= 1e-14 * squares / trades.max(1.0) { 0.0 } else { mean / variance.sqrt() }
    }
}

#[cfg(test)]
mod tests {
    use super::super::VariantReturns;
    use super::*;
    use crate::tests::{assert_close, rows};

    #[test]
    fn probabilities_equal_the_reference_figures() {
        let periods: Vec<[f64; 6]> = rows(include_str!("../../reference/variants.csv"));
        let variants: Vec<Vec<f64>> = (0..6).map(|v| periods.iter().map(|row| row[v]).collect()).collect();
        let returns = VariantReturns::new(&variants).unwrap();
        for [blocks, purged, probability, loss] in rows(include_str!("../../reference/overfitting.csv")) {
            let split = Split { blocks: blocks as usize, purged_periods: purged as usize };
            let found = probability_of_overfitting(&returns, split).unwrap();
            let case = format!("{blocks} blocks, {purged} purged");
            assert_close(found.probability, probability, 1e-12, &case);
            assert_close(found.loss_probability, loss, 1e-12, &case);
        }
    }

    #[test]
    fn rejects_invalid_divisions() {
        let periods: Vec<f64> = (0..40).map(f64::from).collect();
        let returns = |variants| VariantReturns::new(&vec![periods.clone(); variants]).unwrap();
        let (one, two) = (returns(1), returns(2));
        let refuses = |returns, blocks, purged_periods| {
            probability_of_overfitting(returns, Split { blocks, purged_periods }).is_err()
        };
        assert!(refuses(&one, 4, 0));
        for (blocks, purged) in [(0, 0), (3, 0), (18, 0), (4, 5), (4, usize::MAX), (16, 1)] {
            assert!(refuses(&two, blocks, purged), "{blocks} {purged}");
        }
        assert!(!refuses(&two, 4, 4));
    }

    #[test]
    fn ratio_is_0_only_for_constant_returns() {
        let ratio = |returns: Vec<f64>| {
            let until = returns.len();
            let variants = VariantReturns::new(&[returns]).unwrap();
            let group = PeriodGroup::build_all(&variants).next().unwrap();
            Totals::from_group(&group, 0, until).sharpe(0)
        };
        // A deviation of one millionth is not treated as 0.
        let close = (0..100).map(|place| 1.0 + 1e-6 * f64::from(place % 2)).collect();
        assert!((ratio(close) / 2e6 - 1.0).abs() < 1e-2);
        for place in 1..=40_i32 {
            assert_eq!(ratio(vec![1e7 / f64::from(place); place as usize + 2]), 0.0, "{place}");
        }
    }
}
