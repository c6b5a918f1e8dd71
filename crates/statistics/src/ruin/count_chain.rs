//! Risk of ruin with flat and fractional stakes, which only depends on the number of losses.

use super::{RuinCurve, RuinParameters};

/// Maximum total probability of the rare paths dropped on each side. Dropped paths count as not ruined.
const MAX_DROPPED_MASS: f64 = 1e-15;

/// Computes the ruin curve for a flat stake `s` that wins `w`. With `j` losses, `n` trades earn `(n - j) w - j s`.
pub(super) fn flat_stake_ruin(question: &RuinParameters, stake: u64) -> RuinCurve {
    let (balance, profit) = (i128::from(question.balance), i128::from(question.profit(stake)));
    if stake < question.minimum_stake {
        return compute_curve(question, |_| -1);
    }
    let stake = i128::from(stake);
    compute_curve(question, |trades| {
        let most = (balance + i128::from(trades) * profit - stake).div_euclid(profit + stake);
        most.clamp(-1, i128::from(trades)) as i64
    })
}

/// Computes the ruin curve for stakes of a fraction `f` of the balance and a payout fraction `b`.
/// With `j` losses, `n` trades multiply the balance by `(1 + f b)^(n - j) (1 - f)^j`. Ruin means a balance below
/// `minimum_stake / f`. The result ignores that stakes are rounded down. Rounding reduces `f` by at most
/// `step / (minimum_stake / f)`. Ruin is least likely if only losing stakes are rounded, and most likely if only
/// winning stakes are. The error is the larger distance to these two bounds.
pub(super) fn fractional_stake_ruin(question: &RuinParameters, fraction: f64, step: u64) -> RuinCurve {
    if fraction == 0.0 {
        return compute_curve(question, |_| i64::MAX);
    }
    let floor = question.minimum_stake as f64 / fraction;
    let rounded = (fraction - step as f64 / floor).max(0.0);
    let with = |lost: f64, earned: f64| {
        let (down, up) = ((-lost).ln_1p(), (earned * question.payout_fraction).ln_1p());
        let room = (question.balance as f64 / floor).ln();
        compute_curve(question, |trades| max_losses(room, up, down, trades))
    };
    let answer = with(fraction, fraction);
    let (least, most) = (with(rounded, fraction), with(fraction, rounded));
    let error = (most.probability() - answer.probability()).max(answer.probability() - least.probability());
    answer.add_error(error)
}

/// Returns the maximum losses without ruin, -1 if ruin is certain. `room`, `up`, `down` are logs of balance ratios.
fn max_losses(room: f64, up: f64, down: f64, trades: u32) -> i64 {
    // A small tolerance, so that a balance exactly at the floor can still place its stake.
    let reach = (room + f64::from(trades) * up) * (1.0 + 1e-12) + 1e-12;
    if reach < 0.0 {
        -1
    } else if up == down {
        i64::MAX
    } else {
        (reach / (up - down)).min(f64::from(trades)) as i64
    }
}

fn compute_curve(question: &RuinParameters, max_losses: impl Fn(u32) -> i64) -> RuinCurve {
    let horizon = question.horizon_trades;
    if max_losses(0) < 0 {
        return RuinCurve::new(vec![1.0; horizon as usize], 0.0);
    }
    let (p, q) = (question.win_probability, 1.0 - question.win_probability);
    // alive[j] is the probability of j losses. Only from..alive.len() are not 0.
    let (mut alive, mut from) = (vec![1.0], 0_usize);
    let (mut ruined, mut left_out) = (0.0, 0.0);
    let mut within = Vec::with_capacity(horizon as usize);
    for trades in 1..=horizon {
        alive.push(0.0);
        for j in (from + 1..alive.len()).rev() {
            alive[j] = alive[j] * p + alive[j - 1] * q;
        }
        alive[from] *= p;
        let end = usize::try_from(max_losses(trades).saturating_add(1)).unwrap_or(0);
        while alive.len() > end.max(from) {
            ruined += alive.pop().unwrap_or(0.0);
        }
        while from + 1 < alive.len() && alive[from] < MAX_DROPPED_MASS / f64::from(horizon) {
            left_out += std::mem::take(&mut alive[from]);
            from += 1;
        }
        while alive.len() > from + 1 && alive[alive.len() - 1] < MAX_DROPPED_MASS / f64::from(horizon) {
            left_out += alive.pop().unwrap_or(0.0);
        }
        within.push(ruined);
    }
    RuinCurve::new(within, left_out + f64::from(horizon) * f64::EPSILON)
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUESTION: RuinParameters = RuinParameters { horizon_trades: 2, ..crate::ruin::tests::QUESTION };

    #[test]
    fn dropped_paths_are_included_in_the_error() {
        // Two trades, so paths less probable than 5e-16 are dropped. The error is their probability plus rounding.
        let left_out = |balance, win_probability| {
            flat_stake_ruin(&RuinParameters { balance, win_probability, ..QUESTION }, 1).error()
                - 2.0 * f64::EPSILON
        };
        let step = f64::EPSILON / 2.0;
        for (balance, win_probability, expected) in [
            // The first trade is won, and so is the second.
            (10, 1e-16, 2e-16),
            // The first trade is lost, and so is the second.
            (10, 1.0 - step, 2.0 * step),
            // A path as probable as the bound is not dropped. The same holds for slightly more probable losses.
            (10, 5e-16, 0.0),
            (10, 1.0 - 6.0 * step, 0.0),
            // The first trade ruins all but one path in 1e16, which is kept because it is the only one.
            (1, 1e-16, 0.0),
        ] {
            let found = left_out(balance, win_probability);
            assert!((found - expected).abs() < 1e-24, "{balance} {win_probability}: {found}, not {expected}");
        }
    }

    #[test]
    fn pruned_chain_stays_within_its_stated_error() {
        let trades = 1_000;
        for win_probability in [0.5, 0.56, 0.9, 0.999] {
            let question = RuinParameters {
                balance: 300,
                win_probability,
                payout_fraction: 0.8,
                horizon_trades: trades,
                ..QUESTION
            };
            let found = flat_stake_ruin(&question, 10);
            // Every reachable balance, by the number of losses on the way.
            let mut alive = vec![1.0];
            let mut ruined = 0.0;
            for n in 1..=trades {
                let mut next = vec![0.0; alive.len() + 1];
                for (losses, probability) in alive.iter().enumerate() {
                    next[losses] += probability * win_probability;
                    next[losses + 1] += probability * (1.0 - win_probability);
                }
                for (losses, probability) in (0_i64..).zip(&mut next) {
                    if 300 + 8 * (i64::from(n) - losses) - 10 * losses < 10 {
                        ruined += std::mem::take(probability);
                    }
                }
                alive = next;
                let off = (found.risk_within(n) - ruined).abs();
                assert!(off <= found.error(), "{win_probability}, {n} trades: off by {off}");
            }
            // Apart from rounding, at most the probability dropped on both sides.
            let left_out = found.error() - f64::from(trades) * f64::EPSILON;
            assert!((0.0..=2.0 * MAX_DROPPED_MASS).contains(&left_out), "{win_probability}: {left_out}");
        }
    }

    #[test]
    fn share_is_staked_down_to_the_minimum_stake() {
        // Half of 2^21, then half of the rest each time: twenty losses leave 2, and half of 2 is the minimum stake.
        // Only a twenty-first consecutive loss ruins: with one win among them, 2 x 1.5 = 3 is left.
        let found = fractional_stake_ruin(
            &RuinParameters { balance: 1 << 21, horizon_trades: 21, ..QUESTION },
            0.5,
            1,
        );
        assert_eq!(found.risk_within(20), 0.0);
        assert!((found.risk_within(21) - 0.5_f64.powi(21)).abs() < 1e-15, "{}", found.risk_within(21));
    }
}
