//! Value of a trade gate, compared with no gate and with random gates.

use crate::simulation::Dice;
use crate::statistics_error::check_numbers;
use crate::{GateDecision, GateRule, StatisticsError, TradeGate, TradeOutcome};

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GatedTrade {
    /// Time of the decision to trade, in any unit.
    pub decided_at: i64,
    /// Time at which the result became known, in the unit of `decided_at`. Decisions from this time on may use it.
    pub known_at: i64,
    /// Number that identifies the day of the decision. Used by gates that reset daily.
    pub day: i64,
    /// Return per unit of stake: positive for a win, negative for a loss, 0 otherwise.
    pub unit_return: f64,
}

/// Value of a gate. Means are mean returns per trade, for a stake of 1. *Real* trades are those that passed the gate.
#[derive(Clone, Debug, PartialEq)]
pub struct GateWorth {
    pub trades: u64,
    pub real_trades: u64,
    pub mean_of_all_trades: f64,
    pub mean_of_real_trades: Option<f64>,
    /// Central 95 % range of the mean returns of random gates, which pick as many trades as this gate.
    pub random_95: Option<[f64; 2]>,
    pub random_means: Vec<f64>,
    /// Probability that a random gate has at least the mean return of this gate.
    pub p_value_random: Option<f64>,
    /// Probability that this gate has at least the same mean return on shuffled results. Exact for independent trades.
    pub p_value_shuffled: Option<f64>,
}

/// Compares a gate with `draws` random gates, and with the same gate on `draws` shuffles of the results.
///
/// A random gate picks as many trades as the gate lets pass. A p-value is `(1 + hits) / (1 + draws)`, where a hit is a
/// draw at least as good as the gate. A shuffle in which the gate lets no trade pass counts as a hit.
///
/// Sources: Phipson and Smyth (2010); J. B. Miller and A. Sanjurjo, *Surprised by the Hot Hand Fallacy?* (2018): in
/// short independent sequences, trades after losses win more often on average. Shuffling corrects for this.
pub fn gate_worth(
    trades: &[GatedTrade],
    rule: GateRule,
    draws: u32,
    seed: u64,
) -> Result<GateWorth, StatisticsError> {
    let mut returns: Vec<f64> = trades.iter().map(|trade| trade.unit_return).collect();
    check_numbers("returns of trades", &returns, 1)?;
    if draws == 0 {
        return Err(StatisticsError::TooFew { what: "draws", found: 0, needed: 1 });
    }
    let gate = TradeGate::new(rule)?;
    let order = build_replay_steps(trades);
    let actual = mean_of_real_trades(&gate, (trades, &order), &returns);
    let count = trades.len();
    let mut worth = GateWorth {
        trades: count as u64,
        real_trades: actual.map_or(0, |(_, real)| real as u64),
        mean_of_all_trades: returns.iter().sum::<f64>() / count as f64,
        mean_of_real_trades: actual.map(|(mean, _)| mean),
        random_95: None,
        random_means: Vec::new(),
        p_value_random: None,
        p_value_shuffled: None,
    };
    let Some((mean, real)) = actual else { return Ok(worth) };
    let (mut means, mut random_hits, mut shuffled_hits) = (Vec::with_capacity(draws as usize), 0_u32, 0_u32);
    for draw in 0..draws {
        let mut dice = Dice::new(seed, u64::from(draw));
        for place in (1..count).rev() {
            returns.swap(place, dice.index_below(place + 1));
        }
        // The first elements of a random permutation are a random sample.
        let random = returns[..real].iter().sum::<f64>() / real as f64;
        means.push(random);
        // Rounding errors must not decide whether equal means count as a hit.
        random_hits += u32::from(random >= mean - 1e-12);
        let shuffled = mean_of_real_trades(&gate, (trades, &order), &returns);
        shuffled_hits += u32::from(shuffled.is_none_or(|(shuffled, _)| shuffled >= mean - 1e-12));
    }
    means.sort_by(f64::total_cmp);
    let at = |share: f64| means[((means.len() - 1) as f64 * share).round() as usize];
    let p_value = |hits: u32| f64::from(1 + hits) / (1.0 + f64::from(draws));
    worth.random_95 = Some([at(0.025), at(0.975)]);
    worth.random_means = means;
    (worth.p_value_random, worth.p_value_shuffled) =
        (Some(p_value(random_hits)), Some(p_value(shuffled_hits)));
    Ok(worth)
}

/// Step of a replay: index of a trade, and whether the step is the trade's result (`true`) or decision (`false`).
type ReplayStep = (usize, bool);

/// Sorts decisions and results by time. At equal times, results come first. A result always follows its own decision.
fn build_replay_steps(trades: &[GatedTrade]) -> Vec<ReplayStep> {
    let mut steps: Vec<(i64, bool, usize)> = Vec::with_capacity(2 * trades.len());
    for (place, trade) in trades.iter().enumerate() {
        steps.push((trade.decided_at, true, place));
        steps.push((trade.known_at.max(trade.decided_at.saturating_add(1)), false, place));
    }
    steps.sort_unstable();
    steps.into_iter().map(|(_, is_decision, place)| (place, !is_decision)).collect()
}

fn mean_of_real_trades(
    gate: &TradeGate,
    (trades, order): (&[GatedTrade], &[ReplayStep]),
    returns: &[f64],
) -> Option<(f64, usize)> {
    let mut gate = gate.clone();
    let mut decisions: Vec<Option<GateDecision>> = vec![None; returns.len()];
    let (mut sum, mut real) = (0.0, 0);
    for &(place, is_ended) in order {
        let unit_return = returns[place];
        if is_ended {
            if let Some(decision) = decisions[place].take() {
                gate.on_ended(decision, outcome_from_return(unit_return));
            }
        } else {
            gate.set_day(trades[place].day);
            let decision = gate.on_decided();
            if decision.is_real() {
                sum += unit_return;
                real += 1;
            }
            decisions[place] = Some(decision);
        }
    }
    (real > 0).then(|| (sum / real as f64, real))
}

fn outcome_from_return(unit_return: f64) -> TradeOutcome {
    if unit_return > 0.0 {
        TradeOutcome::Won
    } else if unit_return < 0.0 {
        TradeOutcome::Lost
    } else {
        TradeOutcome::Draw
    }
}

#[cfg(test)]
mod tests;
