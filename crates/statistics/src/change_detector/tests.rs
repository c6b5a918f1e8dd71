//! Moments of change, planted and found.

use super::*;
use crate::simulation::Dice;
use TradeOutcome::{Cancelled, Draw, Lost, Won};

#[test]
fn an_account_follows_overlapping_trades_by_hand() {
    let mut detector = ChangeDetector::new(0.1, 100).unwrap();
    // Nothing is there to be staked until a trade has ended, which adds 1.
    let first = detector.on_open(1, 1.0);
    assert_eq!(detector.account(), 0.0);
    detector.on_settled(first, Won, 0.85);
    assert_eq!(detector.account(), 1.0);
    // Of 1 it stakes 0.04, 0.08 and 0.16, 0.09333 on average, and counts nine tenths of that as lost.
    let second = detector.on_open(2, 1.0);
    assert!((detector.account() - (1.0 - 0.28 / 3.0 * 0.9)).abs() < 1e-12);
    // A third in step: half of those shares of what is left.
    let third = detector.on_open(3, 2.0);
    let left: [f64; 3] = BETS.map(|share| 1.0 - share * 0.9);
    let staked: Vec<f64> = left.iter().zip(BETS).map(|(left, share)| left * share / 2.0).collect();
    detector.on_settled(third, Lost, 0.85);
    // A loss is 1.1 below the edge of 0.1; a win that pays 85 is 0.75 above it. The second has no part of the 1 of the third.
    let after: f64 = left.iter().zip(&staked).map(|(left, staked)| left + staked * 1.1 + 1.0).sum();
    assert!((detector.account() - after / 3.0).abs() < 1e-12);
    detector.on_settled(second, Won, 0.85);
    let after = after + BETS.iter().map(|share| share * (0.9 - 0.75) + 1.0).sum::<f64>();
    assert!((detector.account() - after / 3.0).abs() < 1e-12);
}

#[test]
fn what_is_called_off_adds_nothing_and_a_large_payout_costs_no_more_than_the_stake() {
    for (outcome, payout, expected) in [(Cancelled, 0.85, 1.0), (Won, 4.0, 2.0 - 0.28 / 3.0 * 0.96)] {
        let mut detector = ChangeDetector::new(0.04, 100).unwrap();
        let first = detector.on_open(0, 1.0);
        detector.on_settled(first, Won, 0.85);
        let stake = detector.on_open(1, 1.0);
        detector.on_settled(stake, outcome, payout);
        assert!((detector.account() - expected).abs() < 1e-12, "{outcome:?} {}", detector.account());
    }
}

#[test]
fn the_account_is_the_sum_of_one_that_begins_with_each_trades_end() {
    for size in [1_i64, 4] {
        let mut dice = Dice::new(31, size.unsigned_abs());
        let mut detector = ChangeDetector::new(0.04, 1_000_000).unwrap();
        // Each from the end of its own trade on, and with which open the next after that had its mark.
        let mut begun: Vec<([f64; 3], i64)> = Vec::new();
        for group in 0..60_i64 {
            let inflation = 1.0 + dice.share();
            let mut open = Vec::new();
            for trade in 0..size {
                open.push((detector.on_open(group * size + trade, inflation), begun.clone()));
                for (account, _) in &mut begun {
                    for j in 0..3 {
                        account[j] -= account[j] * BETS[j] / inflation * 0.96;
                    }
                }
            }
            for (stake, held) in open {
                let outcome = [Won, Lost, Draw, Cancelled][[0, 0, 1, 1, 1, 2, 3][dice.below(7)]];
                let gain = if outcome == Cancelled { 0.0 } else { 0.04 - outcome.to_return(0.85) };
                detector.on_settled(stake, outcome, 0.85);
                for ((account, _), (held, _)) in begun.iter_mut().zip(&held) {
                    for j in 0..3 {
                        account[j] += held[j] * BETS[j] / inflation * (0.96 + gain);
                    }
                }
                if outcome != Cancelled {
                    begun.push(([1.0; 3], (group + 1) * size));
                }
            }
            let sum = begun.iter().flat_map(|(account, _)| account).sum::<f64>() / 3.0;
            assert!((detector.account() - sum).abs() <= 1e-9 * sum, "{} {sum}", detector.account());
            let by_share = |j: usize| begun.iter().map(move |(account, since)| (account[j], *since));
            let total = |j: usize| by_share(j).map(|(account, _)| account).sum::<f64>();
            let Some(j) = (0..3).max_by(|a, b| total(*a).total_cmp(&total(*b))) else { continue };
            let Some((largest, since)) = by_share(j).max_by(|a, b| a.0.total_cmp(&b.0)) else { continue };
            if size == 1 && largest > 1.0 {
                // The first trade that the largest of all betted on is where the edge seems to have ended.
                assert_eq!(detector.since(), Some(since));
            }
        }
    }
}

/// The mean number of trades to a false alarm at `goal`, on trades of an edge of exactly 0.04, `size` of them open at once, of
/// which the losses become known first; of all that are opened a share is cancelled, and is no trade.
fn mean_trades(size: usize, cancelled: f64, goal: u64) -> f64 {
    const PATHS: u64 = 250;
    let trades = |path| {
        let mut dice = Dice::new(32, path);
        let mut detector = ChangeDetector::new(0.04, goal).unwrap();
        let mut trades = 0.0;
        loop {
            let mut open: Vec<(WatchStake, TradeOutcome)> = (0..size)
                .map(|_| {
                    let end = if dice.happens(1.04 / 1.85) { Won } else { Lost };
                    (detector.on_open(0, 1.0), if dice.happens(cancelled) { Cancelled } else { end })
                })
                .collect();
            open.sort_by_key(|(_, outcome)| *outcome == Won);
            for (stake, outcome) in open {
                trades += f64::from(u8::from(outcome != Cancelled));
                if detector.on_settled(stake, outcome, 0.85).is_some() {
                    return trades;
                }
            }
        }
    };
    (0..PATHS).map(trades).sum::<f64>() / PATHS as f64
}

#[test]
fn false_alarms_are_as_rare_as_promised_and_not_much_rarer() {
    // The standard error of the mean of 250 waits that are about exponential is 6 % of it.
    for (size, cancelled, most) in [(1, 0.0, 1.5), (12, 0.0, 2.5), (1, 0.5, 1.5), (12, 0.8, 2.5)] {
        let mean = mean_trades(size, cancelled, 80) / 80.0;
        assert!((0.85..most).contains(&mean), "{size} together, {cancelled} cancelled: {mean}");
    }
}

#[test]
fn an_account_that_has_not_fallen_goes_on_over_trades_that_open_meanwhile() {
    let mut detector = ChangeDetector::new(0.04, 100).unwrap();
    let first = detector.on_open(0, 1.0);
    detector.on_settled(first, Lost, 0.85);
    // It begins with 1 at the second trade, and holds that as long as none of these has settled.
    let _open = [1, 2, 3].map(|mark| detector.on_open(mark, 3.0));
    assert_eq!(detector.since(), Some(1));
}

#[test]
fn the_alarm_comes_once_and_stays() {
    let mut detector = ChangeDetector::new(0.04, 50).unwrap();
    assert_eq!(detector.alarm(), None);
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
