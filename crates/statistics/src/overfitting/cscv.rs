//! How often is the best variant of one half of the history below the middle in the other half?

use super::VariantReturns;
use crate::StatisticsError;

/// The most blocks: 12,870 ways to choose half of them.
pub const MOST_BLOCKS: usize = 16;

/// How the history is divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Split {
    /// How many blocks, an even number from 2 to [`MOST_BLOCKS`].
    pub blocks: usize,
    /// Periods that are left out of the choosing half wherever it touches the other half, before it (purged) and after
    /// it (embargoed): at least as many as a trade is long, so that no trade is in both.
    pub purged_periods: usize,
}

/// What choosing the best variant is worth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Overfitting {
    /// The share of divisions in which the variant chosen in one half is in the lower half of the other: 0.5 when
    /// choosing is worth nothing.
    pub probability: f64,
    /// The share of divisions in which the chosen variant loses in the other half.
    pub loss_probability: f64,
}

/// The probability of backtest overfitting, by combinatorially symmetric cross-validation.
///
/// The history is divided into blocks. For each way to take half of them, the variant with the best ratio of mean to
/// deviation there is looked up in the other half: with its rank `r` of `N` (1 the worst, ties share their mean), it is
/// overfitted when `ln(w / (1 - w)) <= 0` for `w = r / (N + 1)`.
///
/// Source: D. H. Bailey, J. M. Borwein, M. Lopez de Prado and Q. J. Zhu, *The Probability of Backtest Overfitting*,
/// Journal of Computational Finance 20 (2017); purging and embargo by M. Lopez de Prado, *Advances in Financial
/// Machine Learning* (2018), chapter 7.
///
/// # Errors
/// [`StatisticsError::TooFew`] below two variants, for blocks that are not an even number from 2 to [`MOST_BLOCKS`],
/// and for a history in which a purged block would be shorter than two periods.
pub fn probability_of_overfitting(
    returns: &VariantReturns,
    split: Split,
) -> Result<Overfitting, StatisticsError> {
    let Split { blocks, purged_periods } = split;
    let variants = returns.variants();
    if variants < 2 {
        return Err(StatisticsError::TooFew { what: "variants", found: variants, needed: 2 });
    }
    if !(2..=MOST_BLOCKS).contains(&blocks) || blocks % 2 == 1 {
        return Err(StatisticsError::TooFew {
            what: "even number of blocks up to 16",
            found: blocks,
            needed: 2,
        });
    }
    let needed = purged_periods.saturating_mul(2).saturating_add(2).saturating_mul(blocks);
    if returns.periods() < needed {
        return Err(StatisticsError::TooFew { what: "periods", found: returns.periods(), needed });
    }
    let blocks: Vec<Block> = (0..blocks).map(|block| Block::new(returns, split, block)).collect();
    let (mut chosen, mut other) = (Moments::new(variants), Moments::new(variants));
    let (mut divisions, mut overfitted, mut lost) = (0_u32, 0_u32, 0_u32);
    for taken in 0_u32..1 << blocks.len() {
        if taken.count_ones() as usize * 2 != blocks.len() {
            continue;
        }
        chosen.clear();
        other.clear();
        for (index, block) in blocks.iter().enumerate() {
            let is_taken = |at: usize| taken >> at & 1 == 1;
            if is_taken(index) {
                let before = index > 0 && !is_taken(index - 1);
                let after = index + 1 < blocks.len() && !is_taken(index + 1);
                chosen.add(&block.trimmed[usize::from(before) + 2 * usize::from(after)]);
            } else {
                other.add(&block.trimmed[0]);
            }
        }
        let best = chosen.best();
        divisions += 1;
        overfitted += u32::from(other.is_in_lower_half(best));
        lost += u32::from(other.sums[best] < 0.0);
    }
    let share = |count: u32| f64::from(count) / f64::from(divisions);
    Ok(Overfitting { probability: share(overfitted), loss_probability: share(lost) })
}

/// A block, whole and without its first, its last and its first and last periods.
struct Block {
    trimmed: [Moments; 4],
}

/// Sums and sums of squares of each variant.
struct Moments {
    count: usize,
    sums: Vec<f64>,
    squares: Vec<f64>,
}

impl Block {
    fn new(returns: &VariantReturns, split: Split, block: usize) -> Self {
        let (from, until) =
            (block * returns.periods() / split.blocks, (block + 1) * returns.periods() / split.blocks);
        let purged = split.purged_periods;
        let trimmed =
            [(from, until), (from + purged, until), (from, until - purged), (from + purged, until - purged)];
        Self { trimmed: trimmed.map(|(from, until)| Moments::of(returns, from, until)) }
    }
}

impl Moments {
    fn new(variants: usize) -> Self {
        Self { count: 0, sums: vec![0.0; variants], squares: vec![0.0; variants] }
    }

    fn of(returns: &VariantReturns, from: usize, until: usize) -> Self {
        let mut moments = Self::new(returns.variants());
        moments.count = until - from;
        for period in from..until {
            let into = moments.sums.iter_mut().zip(&mut moments.squares);
            for ((sum, square), value) in into.zip(returns.period(period)) {
                *sum += value;
                *square += value * value;
            }
        }
        moments
    }

    fn clear(&mut self) {
        self.count = 0;
        self.sums.fill(0.0);
        self.squares.fill(0.0);
    }

    fn add(&mut self, other: &Self) {
        self.count += other.count;
        let into = self.sums.iter_mut().zip(&mut self.squares);
        for ((sum, square), (more, more_squares)) in into.zip(other.sums.iter().zip(&other.squares)) {
            *sum += more;
            *square += more_squares;
        }
    }

    /// Mean over deviation; 0 for a variant that never differs.
    fn ratio(&self, variant: usize) -> f64 {
        let count = self.count as f64;
        let mean = self.sums[variant] / count;
        let variance = self.squares[variant] / count - mean * mean;
        // Rounding leaves a little of nothing: a deviation that small is none.
        if variance <= 1e-14 * self.squares[variant] / count { 0.0 } else { mean / variance.sqrt() }
    }

    fn best(&self) -> usize {
        let ratios = (0..self.sums.len()).map(|variant| (variant, self.ratio(variant)));
        let best = ratios.reduce(|best, other| if other.1 > best.1 { other } else { best });
        best.expect("there are at least two variants").0
    }

    /// Whether the rank of a variant, over `N + 1`, is at most one half.
    fn is_in_lower_half(&self, variant: usize) -> bool {
        let own = self.ratio(variant);
        let (mut below, mut equal) = (0_usize, 0_usize);
        for other in (0..self.sums.len()).map(|other| self.ratio(other)) {
            below += usize::from(other < own);
            equal += usize::from(other == own);
        }
        // The mean rank of those that are equal is below + (equal + 1) / 2.
        2 * below + equal < self.sums.len() + 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reference::{assert_close, rows};
    use crate::simulation::Dice;

    fn noise(variants: usize, periods: usize, path: u64) -> Vec<Vec<f64>> {
        let mut dice = Dice::new(5, path);
        (0..variants).map(|_| (0..periods).map(|_| dice.normal()).collect()).collect()
    }

    fn overfitting(variants: &[Vec<f64>], blocks: usize, purged_periods: usize) -> Overfitting {
        let returns = VariantReturns::new(variants).unwrap();
        probability_of_overfitting(&returns, Split { blocks, purged_periods }).unwrap()
    }

    #[test]
    fn probabilities_equal_the_reference_figures() {
        let periods: Vec<[f64; 6]> = rows(include_str!("../../reference/variants.csv"));
        let variants: Vec<Vec<f64>> =
            (0..6).map(|variant| periods.iter().map(|row| row[variant]).collect()).collect();
        for [blocks, purged, probability, loss] in rows(include_str!("../../reference/overfitting.csv")) {
            let found = overfitting(&variants, blocks as usize, purged as usize);
            let case = format!("{blocks} blocks, {purged} purged");
            assert_close(found.probability, probability, 1e-12, &case);
            assert_close(found.loss_probability, loss, 1e-12, &case);
        }
    }

    #[test]
    fn choosing_among_noise_is_worth_nothing() {
        let mean: f64 =
            (0..40).map(|path| overfitting(&noise(21, 160, path), 8, 1).probability).sum::<f64>() / 40.0;
        // The divisions of one history hang together: a single figure is anywhere from 0.1 to 0.9.
        assert!((mean - 0.5).abs() < 0.12, "{mean}");
    }

    #[test]
    fn a_variant_that_truly_earns_is_no_overfitting() {
        let mut variants = noise(20, 160, 1);
        variants[3].iter_mut().for_each(|value| *value += 1.0);
        let found = overfitting(&variants, 8, 2);
        assert_eq!((found.probability, found.loss_probability), (0.0, 0.0));
    }

    #[test]
    fn divisions_that_cannot_be_are_refused() {
        let two = VariantReturns::new(&noise(2, 40, 0)).unwrap();
        let one = VariantReturns::new(&noise(1, 40, 0)).unwrap();
        let refuses = |returns, blocks, purged_periods| {
            probability_of_overfitting(returns, Split { blocks, purged_periods }).is_err()
        };
        assert!(refuses(&one, 4, 0));
        for (blocks, purged) in [(0, 0), (3, 0), (18, 0), (4, 5), (4, usize::MAX), (16, 1)] {
            assert!(refuses(&two, blocks, purged), "{blocks} {purged}");
        }
        assert!(!refuses(&two, 4, 4));
    }
}
