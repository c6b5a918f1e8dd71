//! Selection bias of a sweep: how much of the best set's result may be luck.

use super::{TIMELINE_PARTS, Timeline, TrialRow, rank_rows};
use candlewick_statistics::{
    BestOfMany, Bootstrap, PeriodReturns, ReturnSource, SharpeSample, Split, best_of_many, deflated_sharpe,
    probability_of_overfitting,
};
use serde::Serialize;

/// Maximum number of cross-validation blocks, which allows 924 splits into halves.
const MAX_BLOCKS: usize = 12;
/// Minimum number of cross-validation blocks, which allows 20 splits into halves.
const MIN_BLOCKS: usize = 6;
/// Minimum length of a bootstrap block in timeline parts: about the cube root of [`TIMELINE_PARTS`].
const MIN_BLOCK_PARTS: usize = 5;
const MIN_BOOTSTRAP_BLOCKS: usize = 10;
/// Number of bootstrap runs, enough for two significant digits of a p-value around 0.05.
const BOOTSTRAP_RUNS: u32 = 1_000;

/// Statistics on whether the best set of a sweep was only lucky, computed from the returns of all tried sets.
/// A statistic is `None` if there are too few candles.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SelectionBias {
    pub sets: usize,
    pub parts: usize,
    /// Length of the longest trade in timeline parts. Cross-validation drops as many at each border of its halves.
    pub purged_parts: usize,
    /// Probability that the best set looks this good if no set has an edge. It is estimated by a block bootstrap over
    /// time, from the highest ratio of mean return to standard error among all sets.
    pub p_value: Option<f64>,
    /// Probability of backtest overfitting: share of the splits into two halves in which the best set of one half ranks
    /// below the median in the other half. It is estimated by combinatorially symmetric cross-validation.
    pub overfitting: Option<f64>,
    pub overfitting_loss: Option<f64>,
    /// Deflated Sharpe ratio: probability that the best of all sets has a true Sharpe ratio above 0.
    pub deflated_sharpe: Option<f64>,
    #[serde(skip)]
    pub p_values: Vec<Option<f64>>,
}

/// Returns of all sets in each timeline part, computed on demand to save memory.
struct ReturnTable<'a> {
    timelines: Vec<&'a Timeline>,
    payout: f64,
}

impl SelectionBias {
    /// Computes the statistics from the rows of a sweep. Returns `None` if no set ran.
    ///
    /// A win pays `payout` per unit of stake. Sets that halving stopped early are included. Only the cross-validation
    /// excludes these sets, because it needs the same time span for all sets.
    pub fn new(rows: &[TrialRow], payout: f64, seed: u64) -> Option<Self> {
        let last = rows.iter().map(|row| row.rung).max()?;
        let all = ReturnTable::new(rows.iter(), payout);
        let to_the_end = ReturnTable::new(rows.iter().filter(|row| row.rung == last), payout);
        let longest = all.timelines.iter().map(|timeline| timeline.longest_trade_parts()).max()?.max(1);
        let best = rank_rows(rows).into_iter().find(|row| row.score.is_some());
        // Without trades, all sets have equal returns, so their ranks have no meaning.
        let has_trades = to_the_end.timelines.iter().any(|one| one.parts().any(|part| part != (0, 0)));
        let overfitting = count_blocks(longest).filter(|_| has_trades).and_then(|blocks| {
            probability_of_overfitting(&to_the_end, Split { blocks, purged_periods: longest }).ok()
        });
        let block_periods = longest.max(MIN_BLOCK_PARTS);
        let many = (TIMELINE_PARTS / block_periods >= MIN_BOOTSTRAP_BLOCKS)
            .then(|| best_of_many(&all, Bootstrap { block_periods, draws: BOOTSTRAP_RUNS, seed }).ok());
        let p_values = many.flatten().map(|many| align_p_values_with_rows(rows, many)).unwrap_or_default();
        let of_best = best.and_then(|best| rows.iter().position(|row| row.trial == best.trial));
        Some(Self {
            sets: all.timelines.len(),
            parts: TIMELINE_PARTS,
            purged_parts: longest,
            p_value: of_best.and_then(|place| p_values.get(place).copied().flatten()),
            overfitting: overfitting.map(|found| found.probability),
            overfitting_loss: overfitting.map(|found| found.loss_probability),
            deflated_sharpe: best.and_then(|best| all.deflated_sharpe(&best.figures()?.timeline)),
            p_values,
        })
    }

    pub fn interpretation(&self) -> &'static str {
        match (self.p_value, self.overfitting) {
            (None, _) => "too little data to tell whether the best set was only lucky",
            (Some(p_value), _) if p_value > 0.05 => {
                "even without an edge, the best of this many sets often does as well, so the result may be luck"
            }
            (_, Some(overfitting)) if overfitting > 0.2 => {
                "luck alone does not explain the best set, but sets chosen on one part of the data do badly on the \
                 rest"
            }
            _ => "luck alone does not explain the best set; test it on candles that no sweep has used",
        }
    }

    pub fn statistics(&self) -> [(&'static str, Option<f64>); 4] {
        [
            ("chance that the best set looks this good without any edge (block bootstrap)", self.p_value),
            (
                "overfitting: chance that the best in-sample set ranks below the median out of sample",
                self.overfitting,
            ),
            ("chance that the best in-sample set loses money out of sample", self.overfitting_loss),
            ("deflated Sharpe ratio: chance that the best set's true ratio is above 0", self.deflated_sharpe),
        ]
    }
}

impl<'a> ReturnTable<'a> {
    fn new(rows: impl Iterator<Item = &'a TrialRow>, payout: f64) -> Self {
        Self { timelines: rows.filter_map(|row| Some(&row.figures()?.timeline)).collect(), payout }
    }

    fn write_returns(&self, timeline: &Timeline, returns: &mut [f64]) {
        for (value, (won, lost)) in returns.iter_mut().zip(timeline.parts()) {
            *value = f64::from(won) * self.payout - f64::from(lost);
        }
    }

    fn deflated_sharpe(&self, best: &Timeline) -> Option<f64> {
        let mut returns = vec![0.0; TIMELINE_PARTS];
        let mut sample = |timeline: &Timeline| {
            self.write_returns(timeline, &mut returns);
            SharpeSample::from_returns(&returns).ok().flatten()
        };
        let ratios: Vec<f64> = self.timelines.iter().filter_map(|one| Some(sample(one)?.sharpe)).collect();
        let mean = ratios.iter().sum::<f64>() / ratios.len() as f64;
        let squares: f64 = ratios.iter().map(|ratio| (ratio - mean).powi(2)).sum();
        let variance = squares / ratios.len().saturating_sub(1).max(1) as f64;
        deflated_sharpe(sample(best)?, ratios.len() as u64, variance).ok()
    }
}

impl ReturnSource for ReturnTable<'_> {
    fn variants(&self) -> usize {
        self.timelines.len()
    }

    fn periods(&self) -> usize {
        TIMELINE_PARTS
    }

    fn write_returns(&self, variant: usize, returns: &mut [f64]) {
        self.write_returns(self.timelines[variant], returns);
    }

    fn write_periods(&self, variant: usize, periods: &mut [PeriodReturns]) {
        for (period, (won, lost)) in periods.iter_mut().zip(self.timelines[variant].parts()) {
            let [won, lost] = [won, lost].map(f64::from);
            *period = PeriodReturns {
                trades: won + lost,
                sum: won * self.payout - lost,
                squares: won * self.payout * self.payout + lost,
            };
        }
    }
}

fn count_blocks(purged: usize) -> Option<usize> {
    let most = (TIMELINE_PARTS / purged.saturating_mul(2).saturating_add(2)).min(MAX_BLOCKS) & !1;
    (most >= MIN_BLOCKS).then_some(most)
}

fn align_p_values_with_rows(rows: &[TrialRow], many: BestOfMany) -> Vec<Option<f64>> {
    let mut p_values = many.p_values.into_iter();
    rows.iter().map(|row| row.figures().and_then(|_| p_values.next().flatten())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sweep::tests::{self, figures};
    use serde_json::json;

    const PAYOUT: f64 = 0.8;

    fn row(trial: u64, longest_parts: u32, parts: impl Iterator<Item = (u32, u32)>) -> TrialRow {
        let parts: Vec<u32> = parts.flat_map(|(won, lost)| [won, lost]).collect();
        let pnl: f64 = parts.chunks(2).map(|of| f64::from(of[0]) * PAYOUT - f64::from(of[1])).sum();
        let timeline = json!({ "longest_parts": longest_parts, "parts": parts });
        tests::row(trial, Some(figures(json!({ "pnl": pnl, "timeline": timeline }))), Some(pnl))
    }

    fn chance(sweep: u64, trial: u64, probability: f64) -> impl Iterator<Item = (u32, u32)> {
        // splitmix64 (S. Vigna). The seed is mixed first, so that neighbouring paths do not overlap.
        let mixed = |state: u64| {
            let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            mixed ^ (mixed >> 31)
        };
        let mut state = mixed(mixed(sweep + 1).wrapping_add(trial));
        let mut wins = move || {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            ((mixed(state) >> 11) as f64 / (1_u64 << 53) as f64) < probability
        };
        (0..TIMELINE_PARTS).map(move |_| {
            let won = (0..9).filter(|_| wins()).count() as u32;
            (won, 9 - won)
        })
    }

    fn worthless(sweep: u64, sets: u64) -> Vec<TrialRow> {
        // The win rate is the break-even rate, at which the mean return is 0.
        (0..sets).map(|trial| row(trial, 1, chance(sweep, trial, 1.0 / (1.0 + PAYOUT)))).collect()
    }

    #[test]
    fn distinguishes_planted_edge_from_luck() {
        let mut rows = worthless(1, 60);
        rows[17] = row(17, 1, chance(1, 17, 0.7));
        let luck = SelectionBias::new(&rows, PAYOUT, 1).unwrap();
        assert_eq!((luck.sets, luck.purged_parts), (60, 1));
        assert!(luck.p_value.unwrap() < 0.01, "{luck:?}");
        assert!(luck.overfitting.unwrap() < 0.05 && luck.overfitting_loss.unwrap() < 0.05, "{luck:?}");
        assert!(luck.deflated_sharpe.unwrap() > 0.95, "{luck:?}");
        assert_eq!(luck.p_values[17], luck.p_value);
        assert!(luck.p_values.iter().flatten().filter(|p_value| **p_value < 0.05).count() < 3);
        assert!(luck.interpretation().contains("luck alone does not explain"));
    }

    #[test]
    fn compares_winner_with_the_best_of_all_sets() {
        let rows = worthless(3, 200);
        let best = rank_rows(&rows)[0].clone();
        let alone = SelectionBias::new(std::slice::from_ref(&best), PAYOUT, 1).unwrap();
        let chosen = SelectionBias::new(&rows, PAYOUT, 1).unwrap();
        assert!(alone.p_value.unwrap() < 0.02, "{alone:?}");
        assert!(chosen.p_value.unwrap() > 0.1, "{chosen:?}");
        assert!(chosen.deflated_sharpe.unwrap() < 0.95, "{chosen:?}");
        assert!(chosen.interpretation().contains("may be luck"));
        assert_eq!(alone.overfitting, None, "there is nothing to choose");
    }

    #[test]
    fn sets_that_lose_by_trading_more_are_not_ranked_by_their_number_of_trades() {
        // No set has an edge, and the payout makes each trade lose on average. By total return, the set with the fewest
        // trades would be the best in every half, so that the choice would never look overfitted.
        let sparse = |set: u64| {
            move |(index, part): (usize, (u32, u32))| {
                if (index as u64).is_multiple_of(1 + set) { part } else { (0, 0) }
            }
        };
        let probability = |sweep: u64| {
            let rows: Vec<TrialRow> = (0..20)
                .map(|set| row(set, 1, chance(sweep, set, 0.5).enumerate().map(sparse(set))))
                .collect();
            SelectionBias::new(&rows, PAYOUT, 1).unwrap().overfitting.unwrap()
        };
        let mean = (0..8).map(probability).sum::<f64>() / 8.0;
        assert!((0.3..0.7).contains(&mean), "{mean}");
    }

    #[test]
    fn halved_set_counts_as_tried_but_not_as_candidate() {
        let mut rows = worthless(4, 40);
        for row in rows.iter_mut().skip(20) {
            row.rung = 1;
        }
        let halved = SelectionBias::new(&rows, PAYOUT, 1).unwrap();
        let ended = SelectionBias::new(&rows[20..], PAYOUT, 1).unwrap();
        assert_eq!(halved.overfitting, ended.overfitting);
        assert_eq!((halved.sets, ended.sets), (40, 20));
        assert!(halved.p_value >= ended.p_value, "{halved:?} {ended:?}");
    }

    #[test]
    fn short_data_gives_no_statistics() {
        let longest = |parts| {
            let rows: Vec<TrialRow> = (0..3).map(|trial| row(trial, parts, chance(5, trial, 0.5))).collect();
            let luck = SelectionBias::new(&rows, PAYOUT, 1).unwrap();
            (luck.overfitting.is_some(), luck.p_value.is_some())
        };
        assert_eq!(
            [1, 9, 10, 12, 13].map(longest),
            [(true, true), (true, true), (false, true), (false, true), (false, false)]
        );
        assert_eq!(SelectionBias::new(&[tests::row(0, None, None)], PAYOUT, 1), None);
        let idle = SelectionBias::new(&[row(0, 0, std::iter::empty())], PAYOUT, 1).unwrap();
        assert_eq!((idle.p_value, idle.deflated_sharpe), (None, None));
        assert!(idle.interpretation().contains("too little"));
        let idle: Vec<TrialRow> = (0..8).map(|trial| row(trial, 1, std::iter::empty())).collect();
        let idle = SelectionBias::new(&idle, PAYOUT, 1).unwrap();
        assert_eq!((idle.overfitting, idle.overfitting_loss), (None, None));
    }
}
