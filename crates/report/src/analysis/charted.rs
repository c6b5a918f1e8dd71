//! Data for charts: rolling win rate, worst drawdowns and histograms.

use super::{DrawdownFigures, RunData, settled_rows};
use candlewick_backtest::metric::{Drawdown, percent_of_peak};
use candlewick_engine::IntentRow;
use candlewick_sdk::{Millis, Money, Outcome};
use std::cmp::Reverse;
use std::collections::VecDeque;

const MIN_DECIDED_TRADES: usize = 20;
/// Minimum and maximum window in trades. Between these limits, the window is a quarter of all decided trades.
const WINDOW_LIMITS: [usize; 2] = [10, 100];
/// 97.5 % quantile of the standard normal distribution, for two-sided 95 % intervals.
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
    pub(crate) break_even: Option<f64>,
}

/// Settlement time, result (`true` if won) and break-even win rate of a decided trade.
type DecidedTrade = (Millis, bool, Option<f64>);

impl RollingWinRate {
    pub(crate) fn from_settled(settled: &[&IntentRow]) -> Option<Self> {
        let decided = settled.iter().filter_map(|row| {
            let is_won = match row.outcome? {
                Outcome::Won => true,
                Outcome::Lost => false,
                Outcome::Draw | Outcome::Cancelled => return None,
            };
            Some((row.settled_at?, is_won, row.payout.map(|payout| 1.0 / (1.0 + payout.to_fraction()))))
        });
        Self::from_decided(&decided.collect::<Vec<DecidedTrade>>())
    }

    fn from_decided(decided: &[DecidedTrade]) -> Option<Self> {
        if decided.len() < MIN_DECIDED_TRADES {
            return None;
        }
        let [least, most] = WINDOW_LIMITS;
        let window = (decided.len() / 4).clamp(least, most);
        let mut last: VecDeque<&DecidedTrade> = VecDeque::with_capacity(window + 1);
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

    pub(crate) fn half_width_95(&self, rate: f64) -> f64 {
        Z_95 * (rate * (1.0 - rate) / self.window as f64).sqrt()
    }
}

pub(crate) fn worst_drawdowns(trades: &RunData<'_>, max_count: usize) -> Vec<DrawdownFigures> {
    let settled = settled_rows(trades.book);
    let profits = settled.iter().map(|row| (row.settled_at, row.profit));
    let mut falls = find_drawdowns(profits, trades.balance);
    falls.sort_by_key(|fall| Reverse(fall.amount));
    let figures = falls.iter().filter_map(|fall| DrawdownFigures::new(fall, trades.span.start, trades.scale));
    figures.take(max_count).collect()
}

fn find_drawdowns(profits: impl IntoIterator<Item = (Option<Millis>, Money)>, start: Money) -> Vec<Drawdown> {
    let mut falls = Vec::new();
    let (mut balance, mut peak, mut peak_at) = (start, start, None);
    let mut open: Option<Drawdown> = None;
    for (at, profit) in profits {
        balance += profit;
        if balance >= peak {
            falls.extend(open.take().map(|fall| Drawdown { recovered_at: at, ..fall }));
            (peak, peak_at) = (balance, at);
            continue;
        }
        let amount = peak - balance;
        if open.is_none_or(|fall| amount > fall.amount) {
            let percent = percent_of_peak(amount, peak);
            open = Some(Drawdown { amount, percent, peak_at, trough_at: at, recovered_at: None });
        }
    }
    falls.extend(open);
    falls
}

const MAX_BINS: f64 = 24.0;

/// A histogram bin, which contains the values in `[from, to)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Bin {
    pub(crate) from: f64,
    pub(crate) to: f64,
    pub(crate) count: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BinAlignment {
    /// One bin is centered on 0. This suits data with only a few distinct values, one of which is 0.
    AroundZero,
    /// Two bins meet at 0. This suits values whose sign matters.
    EdgeAtZero,
    /// Bins may start at any value. This suits values that are close together and far from 0.
    Unaligned,
}

pub(crate) fn histogram(values: &[f64], alignment: BinAlignment) -> Vec<Bin> {
    let (low, high) =
        values.iter().fold((f64::MAX, f64::MIN), |(low, high), value| (low.min(*value), high.max(*value)));
    if values.is_empty() || !(high - low).is_finite() {
        return Vec::new();
    }
    let range = match alignment {
        BinAlignment::Unaligned => high - low,
        BinAlignment::AroundZero | BinAlignment::EdgeAtZero => high.max(0.0) - low.min(0.0),
    };
    let width = round_width(range / MAX_BINS);
    let shift = if alignment == BinAlignment::AroundZero { 0.5 } else { 0.0 };
    // Adds a small tolerance, because rounding errors could move a value into the previous bin.
    let place = |value: f64| (value / width + shift + 1e-9).floor();
    let first = place(low);
    let mut counts = vec![0_u64; (place(high) - first) as usize + 1];
    for value in values {
        counts[(place(*value) - first) as usize] += 1;
    }
    let edge = |number: usize| (first + number as f64 - shift) * width;
    let bin = |(number, count)| Bin { from: edge(number), to: edge(number + 1), count };
    counts.into_iter().enumerate().map(bin).collect()
}

/// Rounds a bin width up to 1, 2 or 5 times a power of ten.
fn round_width(width: f64) -> f64 {
    if width <= 0.0 {
        return 1.0;
    }
    let power = 10_f64.powf(width.log10().floor());
    let steps = [1.0, 2.0, 5.0].map(|step| step * power);
    steps.into_iter().find(|step| *step >= width * (1.0 - 1e-9)).unwrap_or(power * 10.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use candlewick_backtest::metric::DrawdownTracker;
    use proptest::prelude::*;

    fn decided(outcomes: &[u8], needed: Option<f64>) -> Vec<DecidedTrade> {
        let one = |(second, outcome): (i64, &u8)| (Millis::from_seconds(second), *outcome == 1, needed);
        (1..).zip(outcomes).map(one).collect()
    }

    #[test]
    fn each_point_covers_the_last_window() {
        // Ten wins, then ten losses: the rolling win rate starts at 10 of 10 and falls by one win with each loss.
        let outcomes = [[1; 10], [0; 10]].concat();
        let rolling = RollingWinRate::from_decided(&decided(&outcomes, Some(0.5))).unwrap();
        assert_eq!((rolling.window, rolling.points.len()), (10, 11));
        for (number, point) in rolling.points.iter().enumerate() {
            assert_eq!(point.at, Millis::from_seconds(10 + number as i64));
            assert!((point.rate - (1.0 - number as f64 / 10.0)).abs() < 1e-12, "{point:?}");
            assert!((point.break_even.unwrap() - 0.5).abs() < 1e-12, "{point:?}");
        }
        // Expected value: 1.96 sqrt(0.25 / 10).
        assert!((rolling.half_width_95(0.5) - 0.309_897_51).abs() < 1e-7, "{}", rolling.half_width_95(0.5));
    }

    #[test]
    fn limits_window_and_omits_curve_of_few_trades() {
        assert_eq!(RollingWinRate::from_decided(&decided(&[1; 19], None)), None);
        for (trades, window) in [(20, 10), (200, 50), (400, 100), (1_000, 100)] {
            let rolling = RollingWinRate::from_decided(&decided(&vec![1; trades], None)).unwrap();
            assert_eq!((rolling.window, rolling.points.len()), (window, trades - window + 1), "{trades}");
            assert!(rolling.points.iter().all(|point| point.break_even.is_none()));
        }
    }

    fn at(second: i64) -> Millis {
        Millis::from_seconds(second)
    }

    fn profits(units: &[i64]) -> Vec<(Option<Millis>, Money)> {
        (1..).zip(units).map(|(second, units)| (Some(at(second)), Money::from_minor(*units))).collect()
    }

    #[test]
    fn drawdown_ends_when_the_balance_recovers() {
        // The balances are 100, 110, 90, 95, 110, 105 and 60: a recovered drawdown of 20, and an unrecovered one of 50.
        let falls = find_drawdowns(profits(&[10, -20, 5, 15, -5, -45]), Money::from_minor(100));
        let times = |fall: &Drawdown| (fall.amount.minor(), fall.peak_at, fall.trough_at, fall.recovered_at);
        let seen: Vec<_> = falls.iter().map(times).collect();
        assert_eq!(seen, [(20, Some(at(1)), Some(at(2)), Some(at(4))), (50, Some(at(4)), Some(at(6)), None)]);
        assert!(find_drawdowns(profits(&[1, 0, 2]), Money::ZERO).is_empty());
    }

    proptest! {
        #[test]
        fn worst_drawdown_is_the_max_drawdown(units in proptest::collection::vec(-60_i64..60, 0..200)) {
            let start = Money::from_minor(1_000);
            let mut fold = DrawdownTracker::new(start);
            for (at, profit) in profits(&units) {
                fold.add_profit(at, profit);
            }
            let mut falls = find_drawdowns(profits(&units), start);
            falls.sort_by_key(|fall| Reverse(fall.amount));
            prop_assert_eq!(falls.first().copied().unwrap_or_default(), fold.max_by_amount());
        }
    }

    #[test]
    fn value_at_an_edge_belongs_to_the_upper_bin() {
        let bins = histogram(&[-100.0, -100.0, 0.0, 85.0], BinAlignment::AroundZero);
        let (first, last) = (bins[0], bins[bins.len() - 1]);
        assert_eq!((first.from, first.to, first.count), (-105.0, -95.0, 2));
        assert_eq!((last.from, last.to, last.count), (85.0, 95.0, 1));
        let bins = histogram(&[-0.3, 0.0, 0.3], BinAlignment::EdgeAtZero);
        let zero: Vec<&Bin> = bins.iter().filter(|bin| bin.from.abs() < 1e-12).collect();
        assert_eq!((zero.len(), zero[0].count), (1, 1));
        assert!(histogram(&[], BinAlignment::EdgeAtZero).is_empty());
        assert!(histogram(&[f64::NAN], BinAlignment::EdgeAtZero).is_empty());
    }

    proptest! {
        #[test]
        fn counts_every_value_in_its_bin(values in proptest::collection::vec(-1e4_f64..1e4, 1..300)) {
            for alignment in [BinAlignment::AroundZero, BinAlignment::EdgeAtZero, BinAlignment::Unaligned] {
                let found = histogram(&values, alignment);
                prop_assert!(found.len() as f64 <= MAX_BINS + 2.0);
                for bin in &found {
                    let near = (bin.to - bin.from) * 1e-8;
                    let inside = |from: f64, to: f64| values.iter().filter(|value| **value >= from && **value < to).count() as u64;
                    prop_assert!(inside(bin.from + near, bin.to - near) <= bin.count);
                    prop_assert!(inside(bin.from - near, bin.to + near) >= bin.count);
                }
                prop_assert_eq!(found.iter().map(|bin| bin.count).sum::<u64>(), values.len() as u64);
            }
        }
    }
}
