//! Moments of change, planted and found.

use super::*;
use crate::simulation::Dice;
use TradeOutcome::{Cancelled, Draw, Lost, Won};

#[test]
fn an_account_follows_two_overlapping_trades_by_hand() {
    let mut detector = ChangeDetector::new(0.1, 100).unwrap();
    // Of 1 it stakes 0.04, 0.08 and 0.16, 0.09333 on average, and counts nine tenths of that as lost.
    let first = detector.on_open(1, 1.0);
    assert!((detector.account() - (1.0 - 0.28 / 3.0 * 0.9)).abs() < 1e-12);
    // A second in step: half of those shares of what is left and of 1 more.
    let second = detector.on_open(2, 2.0);
    let left: [f64; 3] = BETS.map(|share| 1.0 - share * 0.9);
    let staked: Vec<f64> = left.iter().zip(BETS).map(|(left, share)| (left + 1.0) * share / 2.0).collect();
    detector.on_settled(second, Lost, 0.85);
    // A loss is 1.1 below the edge of 0.1; a win that pays 85 is 0.75 above it.
    let after: f64 = left.iter().zip(&staked).map(|(left, staked)| left + 1.0 + staked * 1.1).sum();
    assert!((detector.account() - after / 3.0).abs() < 1e-12);
    detector.on_settled(first, Won, 0.85);
    let after = after + BETS.iter().map(|share| share * (0.9 - 0.75)).sum::<f64>();
    assert!((detector.account() - after / 3.0).abs() < 1e-12);
}

#[test]
fn what_is_called_off_changes_nothing_and_a_large_payout_costs_no_more_than_the_stake() {
    for (outcome, payout, expected) in [(Cancelled, 0.85, 1.0), (Won, 4.0, 1.0 - 0.28 / 3.0 * 0.96)] {
        let mut detector = ChangeDetector::new(0.04, 100).unwrap();
        let stake = detector.on_open(0, 1.0);
        detector.on_settled(stake, outcome, payout);
        assert!((detector.account() - expected).abs() < 1e-12, "{outcome:?} {}", detector.account());
    }
}

#[test]
fn the_account_is_the_sum_of_one_that_begins_with_each_trade() {
    for size in [1, 4] {
        let mut dice = Dice::new(31, size as u64);
        let mut detector = ChangeDetector::new(0.04, 1_000_000).unwrap();
        // Each from its own trade on: where it began, and what it has by share.
        let mut begun: Vec<[f64; 3]> = Vec::new();
        for group in 0..60_i64 {
            let inflation = 1.0 + dice.share();
            let first = begun.len();
            begun.extend(vec![[1.0; 3]; size]);
            let mut bets = vec![vec![[0.0; 3]; begun.len()]; size];
            let mut open = Vec::new();
            for (trade, bets) in bets.iter_mut().enumerate() {
                open.push(detector.on_open(group * size as i64 + trade as i64, inflation));
                for (account, bet) in begun.iter_mut().zip(bets).take(first + trade + 1) {
                    for j in 0..3 {
                        bet[j] = account[j] * BETS[j] / inflation;
                        account[j] -= bet[j] * 0.96;
                    }
                }
            }
            for bets in &bets {
                let outcome = [Won, Lost, Draw, Cancelled][[0, 0, 1, 1, 1, 2, 3][dice.below(7)]];
                let gain = if outcome == Cancelled { 0.0 } else { 0.04 - outcome.to_return(0.85) };
                detector.on_settled(open.remove(0), outcome, 0.85);
                for (account, bet) in begun.iter_mut().zip(bets) {
                    for j in 0..3 {
                        account[j] += bet[j] * (0.96 + gain);
                    }
                }
            }
            let sum = begun.iter().flatten().sum::<f64>() / 3.0;
            assert!((detector.account() / sum - 1.0).abs() < 1e-9, "{} {sum}", detector.account());
            if size == 1 {
                // Where the largest of all began is where the edge seems to have ended.
                let by_share = |j: usize| begun.iter().map(move |account| account[j]);
                let j =
                    (0..3).max_by(|a, b| by_share(*a).sum::<f64>().total_cmp(&by_share(*b).sum())).unwrap();
                let largest = by_share(j).fold(0.0, f64::max);
                let since = detector.since().unwrap();
                assert!((begun[since as usize][j] - largest).abs() < 1e-9, "{since}");
            }
        }
    }
}

/// The mean number of opens to a false alarm on trades of an edge of exactly 0.04, `size` of them open at once, of which the
/// losses become known first; of an alarm at `goal`.
fn mean_trades(size: usize, goal: u64) -> f64 {
    const PATHS: u64 = 250;
    let opens = |path| {
        let mut dice = Dice::new(32, path);
        let mut detector = ChangeDetector::new(0.04, goal).unwrap();
        for opened in (size..).step_by(size) {
            let mut open: Vec<(WatchStake, bool)> =
                (0..size).map(|_| (detector.on_open(0, 1.0), dice.happens(1.04 / 1.85))).collect();
            open.sort_by_key(|(_, is_won)| *is_won);
            for (stake, is_won) in open {
                if detector.on_settled(stake, if is_won { Won } else { Lost }, 0.85).is_some() {
                    return opened as f64;
                }
            }
        }
        0.0
    };
    (0..PATHS).map(opens).sum::<f64>() / PATHS as f64
}

#[test]
fn false_alarms_are_as_rare_as_promised_and_not_much_rarer() {
    // The standard error of the mean of 250 waits that are about exponential is 6 % of it.
    for (size, most) in [(1, 1.5), (12, 2.5)] {
        let mean = mean_trades(size, 80) / 80.0;
        assert!((0.85..most).contains(&mean), "{size} together: {mean}");
    }
}

#[test]
fn the_alarm_comes_once_and_stays() {
    let mut detector = ChangeDetector::new(0.04, 50).unwrap();
    let mut alarms = Vec::new();
    for trade in 0..200 {
        let stake = detector.on_open(trade, 1.0);
        alarms.extend(detector.on_settled(stake, Lost, 0.85));
    }
    assert_eq!((alarms.len(), detector.alarm()), (1, alarms.first().copied()));
}

#[test]
fn what_cannot_be_watched_for_is_refused() {
    for (delta, mean_trades) in [(-0.1, 100), (1.1, 100), (f64::NAN, 100), (0.04, 0)] {
        assert!(ChangeDetector::new(delta, mean_trades).is_err(), "{delta} {mean_trades}");
    }
}
