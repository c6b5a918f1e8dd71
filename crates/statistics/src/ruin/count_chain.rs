//! Ruin where the number of losses decides: flat stakes and shares.

use super::{Ruin, RuinQuestion};

/// Paths less probable than this in all are taken as not ruined, on each side of the counts.
const LEFT_OUT: f64 = 1e-15;

/// The same stake every time: after `j` losses of `n` the balance is `B + (n - j) w - j s`.
pub(super) fn flat(question: &RuinQuestion, stake: u64) -> Ruin {
    let (balance, profit) = (i128::from(question.balance), i128::from(question.profit(stake)));
    if stake < question.minimum_stake {
        return curve(question, |_| -1);
    }
    let stake = i128::from(stake);
    curve(question, |trades| {
        let most = (balance + i128::from(trades) * profit - stake).div_euclid(profit + stake);
        most.clamp(-1, i128::from(trades)) as i64
    })
}

/// A share `f` of the balance: the balance is `B (1 + f b)^(n - j) (1 - f)^j`, and ends below `minimum / f`.
///
/// A stake that is rounded down is a share between `f - step / (minimum / f)` and `f`. Ruin is least when losses cost
/// the smaller and wins earn the larger, most the other way round: the answer is that of the share as it is, which
/// lies between, and the farther of the two is its error.
pub(super) fn share(question: &RuinQuestion, fraction: f64, step: u64) -> Ruin {
    if fraction == 0.0 {
        return curve(question, |_| i64::MAX);
    }
    let floor = question.minimum_stake as f64 / fraction;
    let rounded = (fraction - step as f64 / floor).max(0.0);
    let with = |lost: f64, earned: f64| {
        let (down, up) = ((-lost).ln_1p(), (earned * question.payout_fraction).ln_1p());
        let room = (question.balance as f64 / floor).ln();
        curve(question, |trades| most_losses(room, up, down, trades))
    };
    let answer = with(fraction, fraction);
    let (least, most) = (with(rounded, fraction), with(fraction, rounded));
    let error = (most.probability() - answer.probability()).max(answer.probability() - least.probability());
    answer.with_error(error)
}

/// The most losses of so many trades that leave `room + (n - j) up + j down >= 0`, -1 for none.
fn most_losses(room: f64, up: f64, down: f64, trades: u32) -> i64 {
    // A hair of tolerance: a balance exactly at the floor still places its stake.
    let reach = (room + f64::from(trades) * up) * (1.0 + 1e-12) + 1e-12;
    if reach < 0.0 {
        -1
    } else if up == down {
        i64::MAX
    } else {
        (reach / (up - down)).min(f64::from(trades)) as i64
    }
}

/// The chain over the number of losses: paths with more than `most_losses(n)` after `n` trades are ruined then.
fn curve(question: &RuinQuestion, most_losses: impl Fn(u32) -> i64) -> Ruin {
    let horizon = question.horizon_trades;
    if most_losses(0) < 0 {
        return Ruin::new(vec![1.0; horizon as usize], 0.0);
    }
    let (p, q) = (question.win_probability, 1.0 - question.win_probability);
    // alive[j] for j losses, of which only from..alive.len() differ from 0.
    let (mut alive, mut from) = (vec![1.0], 0_usize);
    let (mut ruined, mut left_out) = (0.0, 0.0);
    let mut within = Vec::with_capacity(horizon as usize);
    for trades in 1..=horizon {
        alive.push(0.0);
        for j in (from + 1..alive.len()).rev() {
            alive[j] = alive[j] * p + alive[j - 1] * q;
        }
        alive[from] *= p;
        let end = usize::try_from(most_losses(trades).saturating_add(1)).unwrap_or(0);
        while alive.len() > end.max(from) {
            ruined += alive.pop().unwrap_or(0.0);
        }
        while from + 1 < alive.len() && alive[from] < LEFT_OUT / f64::from(horizon) {
            left_out += std::mem::take(&mut alive[from]);
            from += 1;
        }
        while alive.len() > from + 1 && alive[alive.len() - 1] < LEFT_OUT / f64::from(horizon) {
            left_out += alive.pop().unwrap_or(0.0);
        }
        within.push(ruined);
    }
    Ruin::new(within, left_out + f64::from(horizon) * f64::EPSILON)
}
