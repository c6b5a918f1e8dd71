//! Cost of recovering losses with a stake ladder.

use crate::StatisticsError;
use crate::statistics_error::check_payout;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recovery {
    Losses,
    LossesAndProfit,
}

/// Returns the cost of a fully lost ladder, in first stakes.
///
/// Each stake is just large enough for a win at its level to recover:
/// `s(k) = (s(1) + ... + s(k-1)) / b`, plus one for the profit. The total is `(1 + 1/b)^(n - 1)`
/// for the losses only. With the profit, each stake is `1 + 1/b` times the previous one, and the
/// total is `((1 + 1/b)^n - 1) b`.
pub fn recovery_cost(payout_fraction: f64, levels: u32, recovery: Recovery) -> Result<f64, StatisticsError> {
    let b = check_payout(payout_fraction)?;
    if !(1..=64).contains(&levels) {
        return Err(StatisticsError::NotALadder { levels });
    }
    let growth = 1.0 + 1.0 / b;
    Ok(match recovery {
        Recovery::Losses => growth.powi(levels.cast_signed() - 1),
        Recovery::LossesAndProfit => (growth.powi(levels.cast_signed()) - 1.0) * b,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_near(found: f64, expected: f64, tolerance: f64) {
        assert!((found - expected).abs() < tolerance, "{found}, not {expected}");
    }

    #[test]
    fn six_steps_at_payout_85_cost_what_the_field_says() {
        let cost = |recovery| recovery_cost(0.85, 6, recovery).unwrap();
        assert_near(cost(Recovery::LossesAndProfit), 89.5, 0.05);
        assert_near(cost(Recovery::Losses), 48.8, 0.05);
    }

    #[test]
    fn the_sums_are_those_of_the_stakes_one_by_one() {
        for (payout, levels) in [(0.85, 6_u32), (0.6, 3), (1.0, 1), (0.92, 10)] {
            for (recovery, profit) in [(Recovery::Losses, 0.0), (Recovery::LossesAndProfit, payout)] {
                let mut spent = 1.0;
                for _ in 1..levels {
                    // This stake wins `payout` times itself: what was spent, and the profit.
                    spent += (spent + profit) / payout;
                }
                assert_near(recovery_cost(payout, levels, recovery).unwrap(), spent, 1e-9 * spent);
            }
        }
    }

    #[test]
    fn ladders_without_levels_cost_nothing_that_could_be_said() {
        for (payout, levels) in [(0.0, 3), (f64::NAN, 3), (0.85, 0), (0.85, 65)] {
            assert!(recovery_cost(payout, levels, Recovery::Losses).is_err(), "{payout} {levels}");
        }
    }
}
