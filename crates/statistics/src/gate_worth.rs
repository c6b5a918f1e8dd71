//! What a gate before trades would have been worth: against all of them, and against chance.

use crate::simulation::Dice;
use crate::statistics_error::check_numbers;
use crate::{GateDecision, GateRule, StatisticsError, TradeGate, TradeOutcome};

/// A trade that a gate is shown.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GatedTrade {
    /// When it was decided, in any unit.
    pub decided: i64,
    /// When its result became known, in the same unit. What is known at the moment of a decision is known to it.
    pub known: i64,
    /// The day in which it was decided, by any number that no other day has: what a gate that resets daily goes by.
    pub day: i64,
    /// What it returned per unit of stake: above 0 is a win, below 0 a loss, 0 neither.
    pub unit_return: f64,
}

/// What a gate would have been worth; each mean is a return per unit of stake and trade.
#[derive(Clone, Debug, PartialEq)]
pub struct GateWorth {
    /// Trades in all.
    pub trades: u64,
    /// Those that the gate would have let be real.
    pub real: u64,
    /// The mean of all trades.
    pub mean_of_all: f64,
    /// The mean of the real ones; none without any.
    pub mean_of_real: Option<f64>,
    /// Where the mean of as many trades lies that are picked at random, in 95 of 100 draws.
    pub random_95: Option<[f64; 2]>,
    /// The mean of each draw of as many trades, the least first.
    pub random_means: Vec<f64>,
    /// The probability that as many trades picked at random do as well or better.
    pub p_random: Option<f64>,
    /// The probability that this gate does as well or better on the same results in random order. On independent trades it is exact:
    /// it falls to 0.05 or below in at most 5 of 100 runs.
    pub p_shuffled: Option<f64>,
}

/// Follows a gate over trades, and holds it against `draws` random gates that let as many trades be real, and against itself on
/// `draws` random orders of the same results.
///
/// `p = (1 + hits) / (1 + draws)`. Where the gate lets no trade be real on a random order, that order counts as a hit.
///
/// Source: B. Phipson and G. K. Smyth, *Permutation P-values Should Never Be Zero*, Statistical Applications in Genetics and
/// Molecular Biology 9 (2010). That the second p-value is needed: J. B. Miller and A. Sanjurjo, *Surprised by the Hot Hand
/// Fallacy?*, Econometrica 86 (2018): among few independent trades those after losses win more often than all on average.
///
/// # Errors
/// [`StatisticsError`] without a trade or a draw, for a return that is not finite, and for a rule as [`TradeGate::new`].
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
    let order = order_of(trades);
    let actual = real_mean(&gate, (trades, &order), &returns);
    let count = trades.len();
    let mut worth = GateWorth {
        trades: count as u64,
        real: actual.map_or(0, |(_, real)| real as u64),
        mean_of_all: returns.iter().sum::<f64>() / count as f64,
        mean_of_real: actual.map(|(mean, _)| mean),
        random_95: None,
        random_means: Vec::new(),
        p_random: None,
        p_shuffled: None,
    };
    let Some((mean, real)) = actual else { return Ok(worth) };
    let (mut means, mut random_hits, mut shuffled_hits) = (Vec::with_capacity(draws as usize), 0_u32, 0_u32);
    for draw in 0..draws {
        let mut dice = Dice::new(seed, u64::from(draw));
        for place in (1..count).rev() {
            returns.swap(place, dice.below(place + 1));
        }
        // The first so many of a random order are a random choice.
        let random = returns[..real].iter().sum::<f64>() / real as f64;
        means.push(random);
        // The order of a sum must not decide between equals.
        random_hits += u32::from(random >= mean - 1e-12);
        let shuffled = real_mean(&gate, (trades, &order), &returns);
        shuffled_hits += u32::from(shuffled.is_none_or(|(shuffled, _)| shuffled >= mean - 1e-12));
    }
    means.sort_by(f64::total_cmp);
    let at = |share: f64| means[((means.len() - 1) as f64 * share).round() as usize];
    let p_value = |hits: u32| f64::from(1 + hits) / (1.0 + f64::from(draws));
    worth.random_95 = Some([at(0.025), at(0.975)]);
    worth.random_means = means;
    (worth.p_random, worth.p_shuffled) = (Some(p_value(random_hits)), Some(p_value(shuffled_hits)));
    Ok(worth)
}

/// What a gate is told, in its order: the trade's place, and whether its result is known now.
type Step = (usize, bool);

/// Decisions and results in the order of time; at one moment results come first, except that no trade ends before it is decided.
fn order_of(trades: &[GatedTrade]) -> Vec<Step> {
    let mut steps: Vec<(i64, bool, usize)> = Vec::with_capacity(2 * trades.len());
    for (place, trade) in trades.iter().enumerate() {
        steps.push((trade.decided, true, place));
        steps.push((trade.known.max(trade.decided.saturating_add(1)), false, place));
    }
    steps.sort_unstable();
    steps.into_iter().map(|(_, is_decision, place)| (place, !is_decision)).collect()
}

/// The mean of the trades that a gate lets be real, and how many those are; none without any.
fn real_mean(
    gate: &TradeGate,
    (trades, order): (&[GatedTrade], &[Step]),
    returns: &[f64],
) -> Option<(f64, usize)> {
    let mut gate = gate.clone();
    let mut decisions: Vec<Option<GateDecision>> = vec![None; returns.len()];
    let (mut sum, mut real) = (0.0, 0);
    for &(place, is_ended) in order {
        let unit_return = returns[place];
        if is_ended {
            if let Some(decision) = decisions[place].take() {
                gate.on_ended(decision, outcome_of(unit_return));
            }
        } else {
            gate.on_day(trades[place].day);
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

fn outcome_of(unit_return: f64) -> TradeOutcome {
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
