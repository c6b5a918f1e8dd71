//! Spacing and range of the balance lattice of a stake ladder.

use super::RuinParameters;
use super::cycle::Cycle;
use crate::StatisticsError;

/// Approximate number of multiplications above which a coarser lattice is used.
const MAX_EXACT_WORK: f64 = 1.6e8;

/// Target number of multiplications on a coarser lattice. Each takes longer than on an exact lattice.
const TARGET_WORK: f64 = 6e7;

/// Maximum number of multiplications (about 1 s on one core) if the lattice cannot be made coarser.
const MAX_WORK: f64 = 2e9;

/// Range of the lattice above the expected balance, in standard deviations. Higher balances are counted as error.
const LATTICE_RANGE_DEVIATIONS: f64 = 9.0;

/// Minimum number of lattice points between 0 and the balance required for the most expensive cycle.
/// With fewer points, affordable and unaffordable cycles cannot be distinguished.
const MIN_POINTS_PER_CYCLE: f64 = 4.0;

/// Minimum number of points per standard deviation of a cycle, unless the balance spans at least
/// `MIN_POINTS_PER_SQRT_CYCLE * sqrt(cycles)` points. Either condition limits the variance that is added by
/// splitting a change between two points.
const MIN_POINTS_PER_DEVIATION: f64 = 8.0;
const MIN_POINTS_PER_SQRT_CYCLE: f64 = 5.0;

pub(super) struct Lattice {
    /// Distance between adjacent points in the smallest unit of money.
    pub(super) spacing: u64,
    pub(super) is_exact: bool,
    pub(super) top: LatticeTop,
}

#[derive(Clone, Copy)]
pub(super) struct LatticeTop {
    pub(super) balance: f64,
    /// Whether the top covers the worst case, so that ruin is impossible. If not, the balance almost never exceeds it.
    pub(super) is_never_ruined: bool,
}

impl Lattice {
    pub(super) fn new(question: &RuinParameters, cycle: &Cycle) -> Result<Self, StatisticsError> {
        let at_horizon =
            |trades| Self::try_new(&RuinParameters { horizon_trades: trades, ..*question }, cycle);
        if let Some(lattice) = at_horizon(question.horizon_trades) {
            return Ok(lattice);
        }
        // No lattice is needed if the balance covers the worst case.
        let is_answered = |trades| {
            question.balance as f64 >= cycle.worst_case_balance(trades) || at_horizon(trades).is_some()
        };
        let (mut most, mut too_many) = (0, question.horizon_trades);
        while too_many - most > 1 {
            let middle = most.midpoint(too_many);
            *(if is_answered(middle) { &mut most } else { &mut too_many }) = middle;
        }
        let trades = u64::from(question.horizon_trades);
        Err(StatisticsError::TooManyTrades { trades, most: u64::from(most) })
    }

    fn try_new(question: &RuinParameters, cycle: &Cycle) -> Option<Self> {
        let top = LatticeTop::new(question, cycle);
        let work = |spacing: u64| {
            top.balance / spacing as f64 * f64::from(question.horizon_trades) * cycle.outcomes.len() as f64
        };
        let finest = finest_spacing(cycle);
        // On a coarser lattice, a change takes two multiplications, and there are half as many points again.
        let coarse_work = |spacing: u64| 3.0 * work(spacing);
        let least = (coarse_work(1) / TARGET_WORK).ceil() as u64;
        let most = coarsest_spacing(question, cycle);
        let spacing = choose_spacing(least, most, cycle);
        let spacing = if coarse_work(spacing) <= MAX_WORK { spacing } else { most };
        if work(finest) <= MAX_EXACT_WORK || (spacing <= finest && work(finest) <= MAX_WORK) {
            return Some(Self { spacing: finest, is_exact: true, top });
        }
        (coarse_work(spacing) <= MAX_WORK).then_some(Self { spacing, is_exact: false, top })
    }
}

impl LatticeTop {
    pub(super) fn new(question: &RuinParameters, cycle: &Cycle) -> Self {
        let (highest, enough) =
            (highest_balance(question, cycle), cycle.worst_case_balance(question.horizon_trades));
        Self { balance: highest.min(enough), is_never_ruined: enough <= highest }
    }
}

fn finest_spacing(cycle: &Cycle) -> u64 {
    let divide = |mut a: u64, mut b: u64| {
        while b != 0 {
            (a, b) = (b, a % b);
        }
        a
    };
    cycle.outcomes.iter().map(|outcome| outcome.change.unsigned_abs()).fold(0, divide).max(1)
}

fn coarsest_spacing(question: &RuinParameters, cycle: &Cycle) -> u64 {
    let (_, variance, trades) = cycle.moments();
    let cycles = f64::from(question.horizon_trades) / trades.max(1.0) + 1.0;
    let needs = cycle.outcomes.iter().map(|outcome| outcome.required_balance).max().unwrap_or(0) as f64;
    let of_balance = question.balance as f64 / (MIN_POINTS_PER_SQRT_CYCLE * cycles.sqrt());
    let moved = (variance.max(0.0).sqrt() / MIN_POINTS_PER_DEVIATION).max(of_balance);
    (needs / MIN_POINTS_PER_CYCLE).min(moved).max(1.0) as u64
}

/// Returns a spacing of about `least`, at most `most`. Prefers a spacing that fits into the base stake an even number
/// of times: the loss of a base stake is then a whole number of points, even on a lattice twice as coarse.
fn choose_spacing(least: u64, most: u64, cycle: &Cycle) -> u64 {
    let base = cycle.outcomes.iter().map(|outcome| outcome.required_balance).min().unwrap_or(1);
    if least < most {
        return find_divisor_spacing(least, base).unwrap_or(least).min(most);
    }
    // The last one of those that are at least a third of `most`.
    let fewest = base.div_ceil(2 * most).max(1);
    let half_of = |often: u64| base.is_multiple_of(2 * often).then(|| base / (2 * often));
    let found = (fewest..fewest.saturating_mul(3).min(fewest + 1_000)).find_map(half_of);
    found.filter(|spacing| *spacing >= most / 3).unwrap_or(most).min(most)
}

fn find_divisor_spacing(least: u64, base: u64) -> Option<u64> {
    // Searches by spacing or by number of spacings in half the base, whichever takes fewer steps.
    let most_often = base / (2 * least);
    if most_often < 2 * least {
        let fewest = base / (6 * least) + 1;
        let half_of = |often: u64| base.is_multiple_of(2 * often).then(|| base / (2 * often));
        (fewest..=most_often).rev().find_map(half_of)
    } else {
        (least..3 * least).find(|spacing| base.is_multiple_of(2 * spacing))
    }
}

fn highest_balance(question: &RuinParameters, cycle: &Cycle) -> f64 {
    let (mean, variance, trades) = cycle.moments();
    let cycles = f64::from(question.horizon_trades) / trades.max(1.0) + 1.0;
    let likely = cycles * mean.max(0.0) + LATTICE_RANGE_DEVIATIONS * (cycles * variance).sqrt();
    let fastest = cycle.outcomes.iter().map(|outcome| outcome.change as f64 / f64::from(outcome.trades));
    let most = fastest.fold(0.0, f64::max) * f64::from(question.horizon_trades);
    question.balance as f64 + likely.min(most) + 1.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MAX_MONEY;
    use crate::ruin::StakePlan;
    use crate::ruin::tests::{LADDER, QUESTION_AT_80 as QUESTION, cycle_of};

    #[test]
    fn lattice_resolves_changes_and_spans_nine_deviations() {
        assert_eq!(finest_spacing(&cycle_of(&QUESTION, &LADDER)), 20);
        // 100 trades earn at most 80 each. 1000 trades have 1000 / 1.75 + 1 = 572.43 cycles, mean -30, variance 64500.
        // At a win rate of 90 %: 1000 / 1.11 + 1 = 901.90 cycles, mean 76.88, variance 667.07.
        for (win_probability, horizon_trades, expected) in
            [(0.5, 100, 18_001.0), (0.5, 1_000, 64_687.5), (0.9, 1_000, 86_319.99)]
        {
            let question = RuinParameters { win_probability, horizon_trades, ..QUESTION };
            let found = highest_balance(&question, &cycle_of(&question, &LADDER));
            assert!((found - expected).abs() < 1.0, "{win_probability} {horizon_trades}: {found}");
        }
    }

    #[test]
    fn doubled_coarse_spacing_divides_the_base_stake() {
        // The first even divisors of 100, 26, 34, 28 and 30 from twice the least. 101 has none, 26 none below 24.
        for (least, base, expected) in [
            (7, 100, Some(10)),
            (1, 26, Some(1)),
            (5, 26, Some(13)),
            (9, 34, Some(17)),
            (7, 101, None),
            (4, 28, Some(7)),
            (5, 30, Some(5)),
            (4, 26, None),
            // Twice the square of a prime, searched both ways; 2^34 x 25, for which 2^23 x 25 is the first; and an odd
            // number without a match.
            (700_000, 2_000_012_000_018, Some(1_000_003)),
            (900_000, 2_000_012_000_018, Some(1_000_003)),
            (200_000_000, 429_496_729_600, Some(209_715_200)),
            (1_000_000_000_000, (1 << 50) - 1, None),
        ] {
            assert_eq!(find_divisor_spacing(least, base), expected, "{least} {base}");
        }
        for (least, base) in (1_u64..40).flat_map(|least| (1_u64..400).map(move |base| (least, base))) {
            let first = (least..3 * least).find(|spacing| base % (2 * spacing) == 0);
            assert_eq!(find_divisor_spacing(least, base), first, "{least} {base}");
        }
    }

    /// Stakes from 1,000 on: ten wins multiply the stake by 357.
    /// The deviation alone would allow points many stakes apart, which could not tell whether a balance covers a stake.
    #[test]
    fn lattice_has_four_points_per_stake() {
        let plan = StakePlan::Soros { base: 1_000, wins: 10, most_stake: MAX_MONEY, step: 1 };
        let question = RuinParameters { balance: 200_000, horizon_trades: 1_000, ..QUESTION };
        let cycle = cycle_of(&question, &plan);
        let Lattice { spacing, is_exact, top } = Lattice::new(&question, &cycle).unwrap();
        assert_eq!((spacing, is_exact), (250, false));
        // A thousand losses and one stake.
        assert!(top.is_never_ruined && (top.balance - 1_001_000.0).abs() < 1e-6, "{}", top.balance);
        let far = RuinParameters { horizon_trades: 100_000, ..question };
        let refused = Lattice::new(&far, &cycle).map(|lattice| lattice.spacing);
        let Err(StatisticsError::TooManyTrades { trades: 100_000, most }) = refused else {
            panic!("{refused:?}")
        };
        // Points up to that many losses, four each, trades and 12 outcomes, three times: 144 times its square is 2e9.
        assert!((3_700..3_730).contains(&most), "{most}");
        assert!(Lattice::new(&RuinParameters { horizon_trades: most as u32, ..far }, &cycle).is_ok());
    }

    /// A spacing that divides the base stake is not used if it is much finer than needed.
    /// Half of the base would give 22 times as many points, too many to compute.
    #[test]
    fn computes_ruin_over_the_longest_horizon() {
        let plan =
            StakePlan::Martingale { base: 1_000, factor: 2.2, levels: 6, most_stake: 100_000_000, step: 1 };
        for (balance, horizon_trades) in [(30_000_000, 2_500), (500_000, 10_000)] {
            let (payout_fraction, win_probability) = (0.85, 1.0 / 1.85);
            let game =
                RuinParameters { balance, win_probability, payout_fraction, horizon_trades, ..QUESTION };
            let cycle = cycle_of(&game, &plan);
            let coarsest = coarsest_spacing(&game, &cycle);
            let Lattice { spacing, .. } = Lattice::new(&game, &cycle).unwrap();
            assert!((coarsest / 3..=coarsest).contains(&spacing), "{balance}: {spacing} of {coarsest}");
        }
    }
}
