//! Rolling win rate with its break-even rate.

use candlewick_engine::IntentRow;
use candlewick_sdk::{Millis, Outcome};
use std::collections::VecDeque;

const LEAST_TRADES: usize = 20;
/// Bounds of the window, which is a quarter of the decided trades.
const WINDOWS: [usize; 2] = [10, 100];
/// Two-sided 95 % quantile of the normal distribution.
const Z_95: f64 = 1.959_963_984_540_054;

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RollingWinRate {
    pub(crate) window: usize,
    pub(crate) points: Vec<RollingPoint>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct RollingPoint {
    pub(crate) at: Millis,
    pub(crate) rate: f64,
    /// Mean break-even win rate of the trades; `None` if a payout is unknown.
    pub(crate) break_even: Option<f64>,
}

/// Settlement time, won or not, and break-even rate of a decided trade.
type Decided = (Millis, bool, Option<f64>);

impl RollingWinRate {
    pub(crate) fn of(settled: &[&IntentRow]) -> Option<Self> {
        let decided = settled.iter().filter_map(|row| {
            let is_won = match row.outcome? {
                Outcome::Won => true,
                Outcome::Lost => false,
                Outcome::Draw | Outcome::Cancelled => return None,
            };
            Some((row.settled_at?, is_won, row.payout.map(|payout| 1.0 / (1.0 + payout.to_fraction()))))
        });
        Self::along(&decided.collect::<Vec<Decided>>())
    }

    fn along(decided: &[Decided]) -> Option<Self> {
        if decided.len() < LEAST_TRADES {
            return None;
        }
        let [least, most] = WINDOWS;
        let window = (decided.len() / 4).clamp(least, most);
        let mut last: VecDeque<&Decided> = VecDeque::with_capacity(window + 1);
        let mut points = Vec::with_capacity(decided.len());
        for one in decided {
            last.push_back(one);
            if last.len() > window {
                last.pop_front();
            }
            if last.len() == window {
                let won = last.iter().filter(|(_, is_won, _)| *is_won).count();
                let needed: Option<f64> = last.iter().map(|(.., needed)| *needed).sum();
                let share = |sum: f64| sum / window as f64;
                points.push(RollingPoint {
                    at: one.0,
                    rate: share(won as f64),
                    break_even: needed.map(share),
                });
            }
        }
        Some(Self { window, points })
    }

    /// Returns the half-width of the 95 % interval of a window around a true win rate:
    /// `1.96 sqrt(rate (1 - rate) / window)`, the normal approximation of the binomial.
    pub(crate) fn chance(&self, rate: f64) -> f64 {
        Z_95 * (rate * (1.0 - rate) / self.window as f64).sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decided(outcomes: &[u8], needed: Option<f64>) -> Vec<Decided> {
        let one = |(second, outcome): (i64, &u8)| (Millis::from_seconds(second), *outcome == 1, needed);
        (1..).zip(outcomes).map(one).collect()
    }

    #[test]
    fn each_point_is_of_the_last_trades() {
        // Ten won, then ten lost: 10 of 10, then one fewer with each.
        let outcomes = [[1; 10], [0; 10]].concat();
        let rolling = RollingWinRate::along(&decided(&outcomes, Some(0.5))).unwrap();
        assert_eq!((rolling.window, rolling.points.len()), (10, 11));
        for (number, point) in rolling.points.iter().enumerate() {
            assert_eq!(point.at, Millis::from_seconds(10 + number as i64));
            assert!((point.rate - (1.0 - number as f64 / 10.0)).abs() < 1e-12, "{point:?}");
            assert!((point.break_even.unwrap() - 0.5).abs() < 1e-12, "{point:?}");
        }
        // 1.96 sqrt(0.25 / 10)
        assert!((rolling.chance(0.5) - 0.309_897_51).abs() < 1e-7, "{}", rolling.chance(0.5));
    }

    #[test]
    fn few_trades_have_no_curve_and_many_have_a_window_of_a_hundred() {
        assert_eq!(RollingWinRate::along(&decided(&[1; 19], None)), None);
        for (trades, window) in [(20, 10), (200, 50), (400, 100), (1_000, 100)] {
            let rolling = RollingWinRate::along(&decided(&vec![1; trades], None)).unwrap();
            assert_eq!((rolling.window, rolling.points.len()), (window, trades - window + 1), "{trades}");
            assert!(rolling.points.iter().all(|point| point.break_even.is_none()));
        }
    }
}
