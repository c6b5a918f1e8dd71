//! Ruin of a stake ladder, by a Markov chain over the balances at cycle starts. The balances are on a lattice.

use super::cycle::{Cycle, CycleCutoff, Outcome};
use super::spacing::{Lattice, LatticeTop};
use super::{RuinCurve, RuinParameters};
use crate::StatisticsError;

/// Probability below which points at the ends of the range are dropped and counted as error.
const MIN_POINT_PROBABILITY: f64 = 1e-22;

pub(super) fn ruin(question: &RuinParameters, cycle: &Cycle) -> Result<RuinCurve, StatisticsError> {
    let always =
        |probability: f64| Ok(RuinCurve::new(vec![probability; question.horizon_trades as usize], 0.0));
    if cycle.outcomes.is_empty() {
        return always(1.0);
    }
    if question.balance as f64 >= cycle.worst_case_balance(question.horizon_trades) {
        return always(0.0);
    }
    let Lattice { spacing, is_exact, top } = Lattice::new(question, cycle)?;
    let solve = |spacing| BalanceChain::new(question, cycle, spacing, top).solve();
    let fine = solve(spacing);
    if is_exact {
        return Ok(fine);
    }
    let coarse = solve(2 * spacing);
    let error = fine.error() + (fine.probability() - coarse.probability()).abs();
    Ok(RuinCurve::new((1..=question.horizon_trades).map(|trades| fine.risk_within(trades)).collect(), error))
}

/// Markov chain. For each balance, `starts[n % len]` holds the probability that a cycle starts there after `n` trades.
/// Index `i` stands for the balance `remainder + i * spacing`.
struct BalanceChain<'a> {
    cycle: &'a Cycle,
    spacing: u64,
    remainder: u64,
    is_exact: bool,
    starts: Vec<PointProbabilities>,
    ruined_at: Vec<f64>,
    left_out: f64,
    counts_top: bool,
}

/// Probabilities by lattice point. All points outside `from..to` are 0.
#[derive(Clone)]
struct PointProbabilities {
    probabilities: Vec<f64>,
    from: usize,
    to: usize,
}

impl<'a> BalanceChain<'a> {
    fn new(question: &RuinParameters, cycle: &'a Cycle, spacing: u64, top: LatticeTop) -> Self {
        let points = (top.balance / spacing as f64) as usize + 2;
        let longest = cycle.outcomes.iter().map(|outcome| outcome.trades).max().unwrap_or(0) as usize;
        let none = PointProbabilities { probabilities: vec![0.0; points], from: points, to: 0 };
        let mut starts = vec![none; longest + 1];
        let start = (question.balance / spacing) as usize;
        starts[0].probabilities[start] = 1.0;
        (starts[0].from, starts[0].to) = (start, start + 1);
        Self {
            cycle,
            spacing,
            remainder: question.balance % spacing,
            is_exact: cycle.outcomes.iter().all(|outcome| outcome.change.unsigned_abs() % spacing == 0),
            starts,
            ruined_at: vec![0.0; question.horizon_trades as usize + 1],
            left_out: 0.0,
            counts_top: !top.is_never_ruined,
        }
    }

    fn solve(mut self) -> RuinCurve {
        let slots = self.starts.len();
        for trades in 0..self.ruined_at.len() {
            let empty = PointProbabilities { probabilities: Vec::new(), from: 0, to: 0 };
            let mut start = std::mem::replace(&mut self.starts[trades % slots], empty);
            self.left_out += start.trim();
            if start.from < start.to {
                self.step(trades, &start);
            }
            start.clear();
            self.starts[trades % slots] = start;
        }
        let mut sum = self.ruined_at[0];
        let within = self.ruined_at[1..].iter().map(|ruined| {
            sum += ruined;
            sum.min(1.0)
        });
        RuinCurve::new(within.collect(), self.left_out + 1e-13)
    }

    fn step(&mut self, trades: usize, start: &PointProbabilities) {
        let cycle = self.cycle;
        for CycleCutoff { trades: more, probability, balance_start, balance_end } in
            cycle.cutoffs.iter().copied()
        {
            let (from, below) = (
                self.point_index(balance_start).max(start.from),
                self.point_index(balance_end).min(start.to),
            );
            if let Some(ruined) = self.ruined_at.get_mut(trades + more as usize)
                && from < below
            {
                *ruined += probability * start.probabilities[from..below].iter().sum::<f64>();
            }
        }
        for Outcome { trades: more, probability, change, required_balance: needs } in
            cycle.outcomes.iter().copied()
        {
            if trades + more as usize >= self.ruined_at.len() {
                continue;
            }
            let from = self.point_index(needs).max(start.from);
            let slot = (trades + more as usize) % self.starts.len();
            let spacing = self.spacing.cast_signed();
            let (points, rest) = (change.div_euclid(spacing), change.rem_euclid(spacing));
            let upper = rest as f64 / spacing as f64;
            let target = &mut self.starts[slot];
            let mut passed = target.add_shifted(start, from, points, probability * (1.0 - upper));
            if rest != 0 {
                passed += target.add_shifted(start, from, points + 1, probability * upper);
            }
            if self.counts_top {
                self.left_out += passed;
            }
        }
    }

    /// Returns the index of the first point at or above `balance`. On a coarse lattice, the nearest point is used.
    fn point_index(&self, balance: u64) -> usize {
        let above = balance.saturating_sub(self.remainder);
        let up = if self.is_exact { self.spacing - 1 } else { self.spacing / 2 };
        usize::try_from(above.saturating_add(up) / self.spacing).unwrap_or(usize::MAX)
    }
}

impl PointProbabilities {
    /// Adds the probabilities of `other` from index `from` on, multiplied by `weight` and shifted by `shift` points.
    /// Returns the total probability that was shifted above the top.
    fn add_shifted(&mut self, other: &Self, from: usize, shift: i64, weight: f64) -> f64 {
        // Balances below 0 are impossible: stakes are covered. On a coarse lattice, the lowest point takes the rest.
        let lowest = usize::try_from(-shift).unwrap_or(0);
        let mut lost = 0.0;
        if from < lowest.min(other.to) {
            let below: f64 = other.probabilities[from..lowest.min(other.to)].iter().sum();
            self.probabilities[0] += weight * below;
            (self.from, self.to) = (0, self.to.max(1));
        }
        let from = from.max(lowest);
        if from >= other.to {
            return lost;
        }
        let start = (from as i64 + shift) as usize;
        let room = self.probabilities.len().saturating_sub(start);
        let fit = (other.to - from).min(room);
        lost += weight * other.probabilities[from + fit..other.to].iter().sum::<f64>();
        if fit > 0 {
            let (targets, sources) =
                (&mut self.probabilities[start..start + fit], &other.probabilities[from..from + fit]);
            for (target, source) in targets.iter_mut().zip(sources) {
                *target += weight * source;
            }
            (self.from, self.to) = (self.from.min(start), self.to.max(start + fit));
        }
        lost
    }

    fn trim(&mut self) -> f64 {
        let mut left_out = 0.0;
        while self.from < self.to && self.probabilities[self.from] < MIN_POINT_PROBABILITY {
            left_out += std::mem::take(&mut self.probabilities[self.from]);
            self.from += 1;
        }
        while self.from < self.to && self.probabilities[self.to - 1] < MIN_POINT_PROBABILITY {
            left_out += std::mem::take(&mut self.probabilities[self.to - 1]);
            self.to -= 1;
        }
        left_out
    }

    fn clear(&mut self) {
        if self.from < self.to {
            self.probabilities[self.from..self.to].fill(0.0);
        }
        (self.from, self.to) = (self.probabilities.len(), 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MAX_MONEY;
    use crate::ruin::StakePlan;
    use crate::ruin::tests::{LADDER, QUESTION_AT_80 as QUESTION, cycle_of};

    /// A stake that wins 1 or loses 1.
    const EVEN: StakePlan = StakePlan::Soros { base: 1, wins: 0, most_stake: MAX_MONEY, step: 1 };

    const fn top(balance: f64) -> LatticeTop {
        LatticeTop { balance, is_never_ruined: false }
    }

    fn points(probabilities: &[f64], from: usize, to: usize) -> PointProbabilities {
        PointProbabilities { probabilities: probabilities.to_vec(), from, to }
    }

    #[test]
    fn points_at_the_edge_that_are_hardly_probable_are_left_out_and_counted() {
        let mut edges = points(&[1e-23, 2e-23, 0.5, 0.0, 0.5, MIN_POINT_PROBABILITY, 4e-23, 8e-23], 0, 8);
        let left_out = edges.trim();
        assert!((left_out - 15e-23).abs() < 1e-30, "{left_out}");
        assert_eq!((edges.from, edges.to), (2, 6));
        assert_eq!(edges.probabilities, [0.0, 0.0, 0.5, 0.0, 0.5, MIN_POINT_PROBABILITY, 0.0, 0.0]);
        let mut nothing = points(&[0.0, 1e-23, 2e-23, 0.0], 1, 3);
        assert!((nothing.trim() - 3e-23).abs() < 1e-30 && nothing.from == nothing.to);
    }

    #[test]
    fn probability_above_the_top_leaves_the_lattice() {
        let other = points(&[0.5, 0.25, 0.125, 0.0625], 0, 4);
        // From 1 on, one up, by half: the last point has no target.
        let mut up = points(&[0.0; 4], 4, 0);
        assert_eq!(up.add_shifted(&other, 1, 1, 0.5), 0.03125);
        assert_eq!((up.probabilities, up.from, up.to), (vec![0.0, 0.0, 0.125, 0.0625], 2, 4));
        // Two down: the second point has no target below the first.
        let mut down = points(&[0.25, 0.0, 0.0, 0.0], 0, 1);
        assert_eq!(down.add_shifted(&other, 1, -2, 0.5), 0.0);
        assert_eq!((down.probabilities, down.from, down.to), (vec![0.4375, 0.03125, 0.0, 0.0], 0, 2));
        // All of it above the top, or nothing to move.
        let mut none = points(&[0.0; 4], 4, 0);
        assert_eq!(none.add_shifted(&other, 0, 4, 1.0), 0.9375);
        assert_eq!(none.add_shifted(&other, 4, 1, 1.0), 0.0);
        assert_eq!((none.probabilities, none.from, none.to), (vec![0.0; 4], 4, 0));
    }

    #[test]
    fn balances_map_to_lattice_points() {
        let question = RuinParameters { balance: 43, ..QUESTION };
        let cycle = cycle_of(&question, &LADDER);
        // Points at 3, 23, 43, ...: takes the first one at or above.
        let exact = BalanceChain::new(&question, &cycle, 20, top(100.0));
        assert_eq!([0, 3, 4, 23, 24, 43].map(|balance| exact.point_index(balance)), [0, 0, 1, 1, 2, 2]);
        // Points at 3, 43, ...: 60 is not a multiple of the spacing. Takes the nearest point, the upper one of two.
        let coarse = BalanceChain::new(&question, &cycle, 40, top(100.0));
        assert_eq!([0, 3, 22, 23, 43, 63].map(|balance| coarse.point_index(balance)), [0, 0, 0, 1, 1, 2]);
        assert_eq!(exact.point_index(u64::MAX), ((u64::MAX - 3) / 20) as usize);
    }

    #[test]
    fn probability_above_the_top_counts_as_error() {
        // From 2, with points up to 3: two wins give 4, and two losses give 0, which is ruin.
        let question = RuinParameters { balance: 2, payout_fraction: 1.0, horizon_trades: 2, ..QUESTION };
        let cycle = cycle_of(&question, &EVEN);
        let found = BalanceChain::new(&question, &cycle, 1, top(2.0)).solve();
        assert_eq!((found.risk_within(1), found.risk_within(2)), (0.0, 0.25));
        assert!((found.error() - (0.25 + 1e-13)).abs() < 1e-15, "{}", found.error());
        // Points of 2 from 4 up to 6: half of a win is one point up, a quarter. Half of another is a sixteenth.
        let found =
            BalanceChain::new(&RuinParameters { balance: 4, ..question }, &cycle, 2, top(4.0)).solve();
        assert!((found.error() - (0.0625 + 1e-13)).abs() < 1e-15, "{}", found.error());
    }

    #[test]
    fn lattice_stays_within_its_stated_error() {
        // Changes of a prime above a million and of seven times that prime: few points, all of them multiples of it.
        let large =
            StakePlan::Martingale { base: 1_000_003, factor: 2.0, levels: 3, most_stake: 9_000_000, step: 1 };
        let game = RuinParameters { balance: 20_000_060, payout_fraction: 1.0, ..QUESTION };
        let found = ruin(&game, &cycle_of(&game, &large)).unwrap();
        assert!(found.error() < 2e-13 && found.probability() > 0.01, "{found:?}");
        // Changes of 850, 850, 848, 848 and -18213 have no common divisor: too many points.
        let recover =
            StakePlan::Martingale { base: 1_000, factor: 2.176, levels: 4, most_stake: 100_000, step: 1 };
        let game = RuinParameters { balance: 50_000, payout_fraction: 0.85, horizon_trades: 200, ..QUESTION };
        let cycle = cycle_of(&game, &recover);
        let found = ruin(&game, &cycle).unwrap();
        let exact = BalanceChain::new(&game, &cycle, 1, LatticeTop::new(&game, &cycle)).solve();
        let off = (found.probability() - exact.probability()).abs();
        assert!(exact.probability() > 0.1 && exact.error() < 2e-13, "{}", exact.probability());
        assert!(off <= found.error() && found.error() < 0.01, "off by {off}, says {}", found.error());
        assert!(found.error() > 1e-9, "{} is of an exact lattice", found.error());
        // Up to 220001, 200 trades and 5 outcomes: 3 x 2.2e8 / 6e7 requires 12, and 2 x 20 divides 1000.
        let [fine, coarse] =
            [20, 40].map(|by| BalanceChain::new(&game, &cycle, by, LatticeTop::new(&game, &cycle)).solve());
        assert_eq!(found.probability(), fine.probability());
        assert_eq!(found.error(), fine.error() + (fine.probability() - coarse.probability()).abs());
    }
}
