//! Gate values compared with hand-computed trades, random gates and the theory of two-state Markov chains.

use super::*;
use crate::GateOpening;

const PAYOUT: f64 = 0.85;
const SEED: u64 = 20_260_101;

fn hook(losses: u32) -> GateRule {
    GateRule { close_after_trades: 1, ..GateRule::from_opening(GateOpening::AfterVirtualLosses(losses)) }
}

fn after_a_win() -> GateRule {
    GateRule::from_opening(GateOpening::WinRate { rate: 1.0, over: 1 })
}

/// Gate that allows one real trade per day, after virtual losses. Used with ten trades per day.
fn daily(losses: u32) -> GateRule {
    GateRule { resets_daily: true, max_daily_openings: 1, ..hook(losses) }
}

const A_DAY: usize = 10;

fn one_by_one(returns: impl IntoIterator<Item = f64>) -> Vec<GatedTrade> {
    let trade = |(place, unit_return)| {
        let decided = 10 * place as i64;
        GatedTrade { decided_at: decided, known_at: decided + 10, day: (place / A_DAY) as i64, unit_return }
    };
    returns.into_iter().enumerate().map(trade).collect()
}

fn unit_return(won: bool) -> f64 {
    if won { PAYOUT } else { -1.0 }
}

#[test]
fn real_trades_of_a_hook_follow_two_losses() {
    // The third trade (won) and the sixth trade (lost) are real: v v r v v r.
    let worth = gate_worth(&one_by_one([-1.0, -1.0, 0.8, -1.0, -1.0, -1.0]), hook(2), 99, SEED).unwrap();
    assert_eq!((worth.trades, worth.real_trades), (6, 2));
    assert!((worth.mean_of_real_trades.unwrap() + 0.1).abs() < 1e-12);
    assert!((worth.mean_of_all_trades + 4.2 / 6.0).abs() < 1e-12);
}

#[test]
fn late_results_do_not_open_the_gate() {
    let late = |known| {
        [(0, known, -1.0), (10, known + 10, -1.0), (20, 30, 0.8)].map(|(decided, known, unit_return)| {
            GatedTrade { decided_at: decided, known_at: known, day: 0, unit_return }
        })
    };
    assert_eq!(gate_worth(&late(10), hook(2), 9, SEED).unwrap().real_trades, 1);
    assert_eq!(gate_worth(&late(11), hook(2), 9, SEED).unwrap().real_trades, 0);
    assert_eq!(gate_worth(&late(11), hook(2), 9, SEED).unwrap().p_value_shuffled, None);
}

#[test]
fn worthless_and_perfect_gates() {
    let equal = gate_worth(&one_by_one([-1.0; 30]), hook(2), 199, SEED).unwrap();
    assert_eq!((equal.p_value_random, equal.p_value_shuffled), (Some(1.0), Some(1.0)));
    let picked = gate_worth(&one_by_one([-1.0, -1.0, 0.8].repeat(30)), hook(2), 199, SEED).unwrap();
    assert_eq!(
        (picked.real_trades, picked.p_value_random, picked.p_value_shuffled),
        (30, Some(0.005), Some(0.005))
    );
}

#[test]
fn the_same_seed_gives_the_same_figures() {
    let trades = one_by_one((0..200).map(|place| unit_return(place % 7 < 4)));
    let worth = |seed| gate_worth(&trades, hook(1), 99, seed).unwrap();
    assert_eq!(worth(1), worth(1));
    assert_ne!(worth(1).random_95, worth(2).random_95);
}

#[test]
fn rejects_empty_trades() {
    assert!(gate_worth(&[], hook(1), 9, SEED).is_err());
    assert!(gate_worth(&one_by_one([0.8]), hook(1), 0, SEED).is_err());
    assert!(gate_worth(&one_by_one([f64::NAN]), hook(1), 9, SEED).is_err());
}

/// Returns the total return of the real trades minus `expected` for each real trade, and the number of real trades.
fn beyond(rule: GateRule, trades: &[GatedTrade], expected: f64) -> (f64, f64) {
    let returns: Vec<f64> = trades.iter().map(|trade| trade.unit_return).collect();
    let real =
        mean_of_real_trades(&TradeGate::new(rule).unwrap(), (trades, &build_replay_steps(trades)), &returns);
    real.map_or((0.0, 0.0), |(mean, real)| ((mean - expected) * real as f64, real as f64))
}

#[test]
fn p_values_hold_their_error_rate_on_independent_trades() {
    const PATHS: u64 = 2_000;
    let (mut random, mut shuffled) = (0_u32, 0_u32);
    for path in 0..PATHS {
        let mut dice = Dice::new(SEED + 1, path);
        let trades = one_by_one((0..100).map(|_| unit_return(dice.random_bool(0.56))));
        let worth = gate_worth(&trades, hook(2), 99, path).unwrap();
        random += u32::from(worth.p_value_random.is_some_and(|p| p <= 0.05));
        shuffled += u32::from(worth.p_value_shuffled.is_some_and(|p| p <= 0.05));
    }
    let share = |hits: u32| f64::from(hits) / PATHS as f64;
    // The bound is 5 % plus three and a half standard errors over 2,000 paths.
    assert!(share(shuffled) < 0.05 + 3.5 * (0.05_f64 * 0.95 / PATHS as f64).sqrt());
    assert!(share(random) > 0.02 && share(random) < 0.12);
}

#[derive(Clone, Copy)]
struct Clusters {
    win: [f64; 2],
    leave: [f64; 2],
}

impl Clusters {
    fn shares(self) -> [f64; 2] {
        let all = self.leave[0] + self.leave[1];
        [self.leave[1] / all, self.leave[0] / all]
    }

    fn win_rate(self) -> f64 {
        let shares = self.shares();
        shares[0] * self.win[0] + shares[1] * self.win[1]
    }

    /// Covariance of consecutive wins: the variance of the state that remains after one step.
    fn covariance(self) -> f64 {
        let shares = self.shares();
        let spread = self.win[0] - self.win[1];
        (1.0 - self.leave[0] - self.leave[1]) * shares[0] * shares[1] * spread * spread
    }

    /// Win rate of the gate's real trades, by the stationary distribution of (state, consecutive losses).
    fn win_rate_after(self, losses: usize) -> f64 {
        let mut at = vec![[0.5 / (losses + 1) as f64; 2]; losses + 1];
        for _ in 0..2_000 {
            let mut next = vec![[0.0; 2]; losses + 1];
            for (streak, shares) in at.iter().enumerate() {
                for (state, share) in shares.iter().enumerate() {
                    for (other, moves) in [(state, 1.0 - self.leave[state]), (1 - state, self.leave[state])] {
                        let mass = share * moves;
                        if streak == losses {
                            next[0][other] += mass;
                        } else {
                            next[0][other] += mass * self.win[state];
                            next[streak + 1][other] += mass * (1.0 - self.win[state]);
                        }
                    }
                }
            }
            at = next;
        }
        let [good, bad] = at[losses];
        (good * self.win[0] + bad * self.win[1]) / (good + bad)
    }

    /// Win rate of the daily gate's real trades. The state is stationary at day start, and virtual after a trade.
    fn win_rate_of_day_after(self, losses: usize) -> f64 {
        let mut at = vec![[0.0; 2]; losses + 1];
        at[0] = self.shares();
        let (mut won, mut real) = (0.0, 0.0);
        for _ in 0..A_DAY {
            let due = std::mem::replace(&mut at[losses], [0.0; 2]);
            real += due[0] + due[1];
            won += due[0] * self.win[0] + due[1] * self.win[1];
            let mut next = vec![[0.0; 2]; losses + 1];
            for (streak, shares) in at.iter().enumerate().take(losses) {
                for (state, share) in shares.iter().enumerate() {
                    for (other, moves) in [(state, 1.0 - self.leave[state]), (1 - state, self.leave[state])] {
                        next[0][other] += share * moves * self.win[state];
                        next[streak + 1][other] += share * moves * (1.0 - self.win[state]);
                    }
                }
            }
            at = next;
        }
        won / real
    }

    fn played(self, rule: GateRule, seed: u64) -> (f64, f64) {
        let (mut rates, mut real) = (Vec::new(), 0.0);
        for path in 0..400 {
            let mut dice = Dice::new(seed, path);
            let mut state = usize::from(!dice.random_bool(self.shares()[0]));
            let results = (0..4_000).map(|_| {
                let won = dice.random_bool(self.win[state]);
                state = if dice.random_bool(self.leave[state]) { 1 - state } else { state };
                unit_return(won)
            });
            // With `expected` = -1, the sum of returns above expectation gives the number of wins.
            let (sum, count) = beyond(rule, &one_by_one(results), -1.0);
            rates.push((sum / (1.0 + PAYOUT), count));
            real += count;
        }
        let rate = rates.iter().map(|(wins, _)| wins).sum::<f64>() / real;
        let squares: f64 = rates.iter().map(|(wins, count)| (wins - rate * count).powi(2)).sum();
        (rate, squares.sqrt() / real)
    }
}

#[test]
fn gate_on_clusters_agrees_with_theory() {
    let clusters = Clusters { win: [0.68, 0.42], leave: [0.02, 0.03] };
    let of_all = clusters.win_rate();
    // After a win: P(win after win) = mean + covariance / mean.
    let mut rows = vec![(after_a_win(), of_all + clusters.covariance() / of_all)];
    rows.extend([1, 2, 3].map(|losses| (hook(losses), clusters.win_rate_after(losses as usize))));
    rows.extend([2, 3].map(|losses| (daily(losses), clusters.win_rate_of_day_after(losses as usize))));
    for (rule, theory) in rows {
        let (rate, error) = clusters.played(rule, SEED);
        assert!((rate - theory).abs() < 4.0 * error, "{rule:?}: {rate} +- {error}, theory {theory}");
        assert!((theory - of_all).abs() > 8.0 * error, "{rule:?}: indistinguishable from no effect");
    }
}
