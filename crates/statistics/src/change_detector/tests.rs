//! Tests that end an edge at a known trade and check where the detector finds the end.

use super::*;
use crate::simulation::Dice;
use TradeOutcome::{Cancelled, Draw, Lost, Won};

#[test]
fn cancelled_trades_add_nothing_and_losses_are_limited_to_the_stake() {
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
fn account_is_the_sum_of_accounts_per_settlement() {
    for size in [1_i64, 4] {
        let mut dice = Dice::new(31, size.unsigned_abs());
        let mut detector = ChangeDetector::new(0.04, 1_000_000).unwrap();
        // Accounts that each start when their own trade settles, with the mark of the next open.
        let mut begun: Vec<([f64; 3], i64)> = Vec::new();
        for group in 0..60_i64 {
            let inflation = 1.0 + dice.uniform();
            let mut open = Vec::new();
            for trade in 0..size {
                open.push((detector.on_open(group * size + trade, inflation), begun.clone()));
                for (account, _) in &mut begun {
                    for j in 0..3 {
                        account[j] -= account[j] * BET_FRACTIONS[j] / inflation * 0.96;
                    }
                }
            }
            for (stake, held) in open {
                let outcome = [Won, Lost, Draw, Cancelled][[0, 0, 1, 1, 1, 2, 3][dice.index_below(7)]];
                let gain = if outcome == Cancelled { 0.0 } else { 0.04 - outcome.unit_return(0.85) };
                detector.on_settled(stake, outcome, 0.85);
                for ((account, _), (held, _)) in begun.iter_mut().zip(&held) {
                    for j in 0..3 {
                        account[j] += held[j] * BET_FRACTIONS[j] / inflation * (0.96 + gain);
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
                // The estimated end of the edge is the first trade on which the largest account bet.
                assert_eq!(detector.estimated_end(), Some(since));
            }
        }
    }
}

#[test]
fn account_continues_while_it_has_not_fallen() {
    let mut detector = ChangeDetector::new(0.04, 100).unwrap();
    let first = detector.on_open(0, 1.0);
    detector.on_settled(first, Lost, 0.85);
    // The account restarts at 1 with the second trade, and stays at 1 until one of these trades settles.
    let _open = [1, 2, 3].map(|mark| detector.on_open(mark, 3.0));
    assert_eq!(detector.estimated_end(), Some(1));
}

#[test]
fn raises_the_alarm_once() {
    let mut detector = ChangeDetector::new(0.04, 50).unwrap();
    assert_eq!(detector.alarm(), None);
    let mut alarms = Vec::new();
    for trade in 0..200 {
        let stake = detector.on_open(trade, 1.0);
        let alarm = detector.on_settled(stake, Lost, 0.85);
        assert_eq!(alarm.is_some(), alarms.is_empty() && detector.account() >= 50.0, "{trade}");
        alarms.extend(alarm);
    }
    assert_eq!((alarms.len(), detector.alarm()), (1, alarms.first().copied()));
}

#[test]
fn rejects_invalid_detectors() {
    for (delta, mean_trades) in [(-0.1, 100), (1.1, 100), (f64::NAN, 100), (0.04, 0)] {
        assert!(ChangeDetector::new(delta, mean_trades).is_err(), "{delta} {mean_trades}");
    }
}
