//! Test of trade directions against the same directions shifted in time.

use crate::StatisticsError;
use crate::simulation::Dice;
use crate::statistics_error::check_numbers;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TradeSide {
    Buy,
    Sell,
}

/// A trade with its returns per unit of stake in both directions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DirectedTrade {
    pub side: TradeSide,
    pub buy_return: f64,
    pub sell_return: f64,
}

/// Mean returns per trade: with the actual directions, and with shifted or constant directions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DirectionBaseline {
    pub actual_mean: f64,
    pub always_buy_mean: f64,
    pub always_sell_mean: f64,
    pub shifted_mean: f64,
    /// Probability that shifted directions have at least the actual mean return. `None` if more than 95 % of trades
    /// have the same direction or no symbol has two trades, because a shift then changes too little.
    pub p_value: Option<f64>,
}

/// Maximum share of trades in one direction. Above this share, a shift hardly changes the directions.
const MAX_SAME_DIRECTION_SHARE: f64 = 0.95;

/// Compares the directions of trades with the same directions shifted in time.
///
/// Each run rotates the directions of each symbol by a random number of trades, which preserves serial dependence. The
/// p-value is `(1 + hits) / (1 + runs)`, where a hit is a run with at least the actual mean return.
///
/// Source: B. Phipson and G. K. Smyth, *Permutation P-values Should Never Be Zero* (2010).
pub fn direction_baseline(
    by_symbol: &[Vec<DirectedTrade>],
    runs: u32,
    seed: u64,
) -> Result<DirectionBaseline, StatisticsError> {
    let all: Vec<DirectedTrade> = by_symbol.iter().flatten().copied().collect();
    let returns: Vec<f64> = all.iter().flat_map(|trade| [trade.buy_return, trade.sell_return]).collect();
    check_numbers("returns of trades", &returns, 2)?;
    if runs == 0 {
        return Err(StatisticsError::TooFew { what: "runs", found: 0, needed: 1 });
    }
    let count = all.len() as f64;
    let mean = |of: &dyn Fn(&DirectedTrade) -> f64| all.iter().map(of).sum::<f64>() / count;
    let actual = mean(&|trade| trade.return_for(trade.side));
    let bought = all.iter().filter(|trade| trade.side == TradeSide::Buy).count() as f64;
    let is_shiftable = bought.max(count - bought) <= MAX_SAME_DIRECTION_SHARE * count
        && by_symbol.iter().any(|trades| trades.len() > 1);

    let (mut hits, mut sum_of_means) = (0_u32, 0.0);
    for run in 0..runs {
        let mut dice = Dice::new(seed, u64::from(run));
        let shifted: f64 = by_symbol.iter().map(|trades| shifted_sum(&mut dice, trades)).sum::<f64>() / count;
        sum_of_means += shifted;
        // Rounding errors must not decide whether equal means count as a hit.
        hits += u32::from(shifted >= actual - 1e-12);
    }
    Ok(DirectionBaseline {
        actual_mean: actual,
        always_buy_mean: mean(&|trade| trade.buy_return),
        always_sell_mean: mean(&|trade| trade.sell_return),
        shifted_mean: sum_of_means / f64::from(runs),
        p_value: is_shiftable.then(|| f64::from(1 + hits) / (1.0 + f64::from(runs))),
    })
}

fn shifted_sum(dice: &mut Dice, trades: &[DirectedTrade]) -> f64 {
    let shift = if trades.len() > 1 { 1 + dice.index_below(trades.len() - 1) } else { 0 };
    let (first, last) = trades.split_at(shift);
    // Iterates over two slices instead of using modulo indexing, because this loop dominates the run time.
    let sides = last.iter().chain(first).map(|trade| trade.side);
    trades.iter().zip(sides).map(|(trade, side)| trade.return_for(side)).sum()
}

impl DirectedTrade {
    const fn return_for(&self, side: TradeSide) -> f64 {
        match side {
            TradeSide::Buy => self.buy_return,
            TradeSide::Sell => self.sell_return,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use TradeSide::{Buy, Sell};

    const fn trade(side: TradeSide, went: TradeSide) -> DirectedTrade {
        let (buy_return, sell_return) = match went {
            Buy => (0.85, -1.0),
            Sell => (-1.0, 0.85),
        };
        DirectedTrade { side, buy_return, sell_return }
    }

    #[test]
    fn baseline_agrees_with_hand_computation() {
        // Directions B B S S on prices that move u u d d are all correct. Shifts by 1, 2, 3 leave 2, 0, 2 correct.
        let trades = [trade(Buy, Buy), trade(Buy, Buy), trade(Sell, Sell), trade(Sell, Sell)];
        let found = direction_baseline(&[trades.to_vec()], 3_000, 1).unwrap();
        assert!((found.actual_mean - 0.85).abs() < 1e-12);
        assert!(
            (found.always_buy_mean + 0.075).abs() < 1e-12 && (found.always_sell_mean + 0.075).abs() < 1e-12
        );
        // 2 + 0 + 2 of the 12 shifted directions are correct: (4 x 0.85 - 8) / 12.
        assert!((found.shifted_mean - (4.0 * 0.85 - 8.0) / 12.0).abs() < 0.03, "{}", found.shifted_mean);
        assert_eq!(found.p_value, Some(1.0 / 3_001.0));
    }

    #[test]
    fn rejects_trades_that_cannot_be_shifted() {
        assert!(direction_baseline(&[], 9, 1).is_err());
        assert!(direction_baseline(&[vec![]], 9, 1).is_err());
        assert!(direction_baseline(&[vec![trade(Buy, Buy)]], 0, 1).is_err());
        let odd = DirectedTrade { side: Buy, buy_return: f64::NAN, sell_return: 0.0 };
        assert!(direction_baseline(&[vec![odd]], 9, 1).is_err());
    }

    #[test]
    fn treats_96_percent_in_one_direction_as_one_sided() {
        let has_p_value = |bought: usize| {
            let mut trades = vec![trade(Buy, Buy); bought];
            trades.resize(100, trade(Sell, Buy));
            direction_baseline(&[trades], 5, 1).unwrap().p_value.is_some()
        };
        assert_eq!([4, 5, 95, 96].map(has_p_value), [false, true, true, false]);
        let single = [vec![trade(Buy, Buy)], vec![trade(Sell, Buy)]];
        assert_eq!(direction_baseline(&single, 50, 1).unwrap().p_value, None);
    }
}
