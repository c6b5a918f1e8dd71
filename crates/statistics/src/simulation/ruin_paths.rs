//! Ruin by trial: the same question, answered by playing it.

use super::dice::Dice;
use crate::{RuinQuestion, StakePlan, StatisticsError, kelly_fraction};

/// What the trials say.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RuinTrials {
    /// Paths that were followed.
    pub paths: u64,
    /// Paths that were ruined within the horizon.
    pub ruined: u64,
}

impl RuinTrials {
    /// The share of paths that were ruined.
    pub fn share(self) -> f64 {
        self.ruined as f64 / self.paths as f64
    }

    /// Standard errors between the share and a probability, by the deviation that the probability implies.
    pub fn standard_errors_from(self, probability: f64) -> f64 {
        let variance = probability * (1.0 - probability) / self.paths as f64;
        (self.share() - probability).abs() / variance.sqrt()
    }
}

/// Plays each path trade by trade, with whole units of money, until a stake cannot be placed or the horizon ends.
///
/// It knows nothing of chains and so is an independent check of [`crate::ruin()`].
///
/// # Errors
/// Those of [`crate::ruin()`].
pub fn simulate_ruin(
    question: &RuinQuestion,
    plan: &StakePlan,
    seed: u64,
    paths: u64,
) -> Result<RuinTrials, StatisticsError> {
    question.check()?;
    plan.check()?;
    let stakes = plan.stakes(question)?;
    let share = match *plan {
        StakePlan::Flat { .. } | StakePlan::Martingale { .. } | StakePlan::Soros { .. } => 0.0,
        StakePlan::Share { fraction, .. } => fraction,
        StakePlan::Kelly { fraction, believed_win_probability, .. } => {
            fraction * kelly_fraction(believed_win_probability, question.payout_fraction)?
        }
    };
    let is_placed = |stake: u64, balance: u64| stake >= question.minimum_stake && stake <= balance;
    let is_ruined = |path: &u64| {
        let mut dice = Dice::new(seed, *path);
        let (mut balance, mut level) = (question.balance, 0);
        for _ in 0..question.horizon_trades {
            let stake = next_stake(plan, &stakes, level, share, balance);
            if !is_placed(stake, balance) {
                return true;
            }
            if dice.happens(question.draw_share) {
                continue;
            }
            let is_won = dice.happens(question.win_probability);
            balance = if is_won { balance + question.profit(stake) } else { balance - stake };
            level = next_level(plan, level, is_won);
        }
        // The last trade may have left too little for another one.
        !is_placed(next_stake(plan, &stakes, level, share, balance), balance)
    };
    // Who stakes nothing loses nothing.
    let never_stakes = share == 0.0 && stakes.is_empty() && !matches!(plan, StakePlan::Flat { .. });
    let paths_to_play = if never_stakes { 0 } else { paths };
    let ruined = (0..paths_to_play).filter(is_ruined).count() as u64;
    Ok(RuinTrials { paths, ruined })
}

fn next_stake(plan: &StakePlan, stakes: &[u64], level: usize, share: f64, balance: u64) -> u64 {
    match *plan {
        StakePlan::Flat { stake } => stake,
        StakePlan::Share { step, .. } | StakePlan::Kelly { step, .. } => {
            (balance as f64 * share) as u64 / step * step
        }
        StakePlan::Martingale { .. } | StakePlan::Soros { .. } => stakes[level],
    }
}

const fn next_level(plan: &StakePlan, level: usize, is_won: bool) -> usize {
    match *plan {
        StakePlan::Flat { .. } | StakePlan::Share { .. } | StakePlan::Kelly { .. } => 0,
        StakePlan::Martingale { levels, .. } => {
            if is_won {
                0
            } else {
                (level + 1) % levels as usize
            }
        }
        StakePlan::Soros { wins, .. } => {
            if is_won {
                (level + 1) % (wins as usize + 1)
            } else {
                0
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ruin;

    /// Balance 1,000.00 at payout 85, smallest stake 1.00.
    fn question(balance: u64, win_probability: f64, draw_share: f64, horizon_trades: u32) -> RuinQuestion {
        let (minimum_stake, payout_fraction) = (100, 0.85);
        RuinQuestion { balance, minimum_stake, win_probability, payout_fraction, draw_share, horizon_trades }
    }

    #[test]
    fn chains_agree_with_trials_within_three_standard_errors() {
        let flat = StakePlan::Flat { stake: 5_000 };
        let double =
            StakePlan::Martingale { base: 1_000, factor: 2.0, levels: 5, most_stake: 20_000, step: 1 };
        let capped =
            StakePlan::Martingale { base: 1_000, factor: 2.0, levels: 7, most_stake: 6_000, step: 1 };
        let recover =
            StakePlan::Martingale { base: 1_000, factor: 2.176, levels: 4, most_stake: 100_000, step: 1 };
        let soros = StakePlan::Soros { base: 6_000, wins: 3, step: 1 };
        let share = StakePlan::Share { fraction: 0.1, step: 1 };
        let kelly = StakePlan::Kelly { fraction: 0.5, believed_win_probability: 0.7, step: 1 };
        for (plan, question) in [
            (flat, question(50_000, 0.5, 0.0, 200)),
            (flat, question(50_000, 0.5, 0.2, 200)),
            (double, question(60_000, 0.5, 0.0, 300)),
            (double, question(60_000, 0.54, 0.1, 300)),
            (capped, question(40_000, 0.54, 0.0, 300)),
            (recover, question(50_000, 0.5, 0.0, 200)),
            (soros, question(60_000, 0.5, 0.0, 100)),
            (share, question(20_000, 0.5, 0.0, 250)),
            (kelly, question(5_000, 0.54, 0.0, 250)),
        ] {
            let chain = ruin(&question, &plan).unwrap();
            let trials = simulate_ruin(&question, &plan, 5, 4_000).unwrap();
            let (probability, share) = (chain.probability(), trials.share());
            assert!((0.02..0.98).contains(&probability), "{plan:?}: {probability} proves nothing");
            // The chain's own error, too: the last cents of shares, a lattice made coarser.
            let allowed = chain.error() + 3.0 * (probability * (1.0 - probability) / 4_000.0).sqrt();
            assert!((probability - share).abs() <= allowed, "{plan:?}: {probability}, not {share}");
        }
    }

    #[test]
    fn a_share_is_rounded_down_to_its_step() {
        // A tenth of 123.45 is 12.34, and in steps of one 12.00; of less than ten, nothing.
        let plan = StakePlan::Share { fraction: 0.1, step: 100 };
        for (balance, expected) in [(12_345, 1_200), (12_999, 1_200), (13_000, 1_300), (999, 0)] {
            assert_eq!(next_stake(&plan, &[], 0, 0.1, balance), expected, "{balance}");
        }
    }

    #[test]
    fn sixty_of_a_hundred_are_two_standard_errors_from_one_half() {
        let trials = RuinTrials { paths: 100, ruined: 60 };
        // sqrt(0.5 x 0.5 / 100) = 0.05; and sqrt(0.8 x 0.2 / 100) = 0.04.
        for (probability, expected) in [(0.5, 2.0), (0.8, 5.0), (0.6, 0.0)] {
            let found = trials.standard_errors_from(probability);
            assert!((found - expected).abs() < 1e-12, "{probability}: {found}");
        }
    }
}
