//! Two-sided bounds of error rates, and verdicts, intervals, ruin and corrections that are wrong by design: each has to fail them.

use candlewick_statistics::{
    ConfidenceInterval, EdgeTest, EdgeTestPlan, PathRange, RuinQuestion, StakePlan, TradeDependence,
    TradeOutcome, TradeStream, VerdictRates, WinRate, benjamini_hochberg, clopper_pearson_interval, ruin,
    simulate_ruin, wilson_interval,
};
use chacha20::ChaCha8Rng;
use chacha20::rand_core::{Rng, SeedableRng};

fn share(chance: &mut ChaCha8Rng) -> f64 {
    const STEPS: f64 = (1_u64 << 53) as f64;
    (chance.next_u64() >> 11) as f64 / STEPS
}

/// A fair trade at payout 100, delta so large that a verdict falls early: nearly all of the promised error is made.
struct Rates {
    shown: f64,
    rejected: f64,
}

const PATHS: u64 = 3_000;
const TRADES: u64 = 500;
const DELTA: f64 = 0.2;

/// How often a verdict is wrong: *shown* without an edge, and *rejected* with exactly delta, on trades one after another.
fn wrong(verdict: impl Fn(&mut dyn FnMut() -> TradeOutcome) -> (bool, bool)) -> Rates {
    let errors = |edge: f64, kind: fn((bool, bool)) -> bool| {
        let wrong = (0..PATHS).filter(|path| {
            let mut chance = ChaCha8Rng::seed_from_u64(77);
            chance.set_stream(*path);
            let mut next = || {
                if share(&mut chance) < f64::midpoint(1.0, edge) {
                    TradeOutcome::Won
                } else {
                    TradeOutcome::Lost
                }
            };
            kind(verdict(&mut next))
        });
        wrong.count() as f64 / PATHS as f64
    };
    Rates { shown: errors(0.0, |(shown, _)| shown), rejected: errors(DELTA, |(_, rejected)| rejected) }
}

/// The verdict of a plan: whether it was shown, whether it was rejected.
fn verdict_of(plan: EdgeTestPlan) -> impl Fn(&mut dyn FnMut() -> TradeOutcome) -> (bool, bool) {
    move |next| {
        let mut test = EdgeTest::new(plan);
        for _ in 0..TRADES {
            if test.is_final() {
                break;
            }
            let stake = test.on_open(1.0).expect("a payout");
            test.settle(stake, next(), 1.0);
        }
        let verdict = test.verdict();
        (
            verdict == candlewick_statistics::Verdict::EdgeShown,
            verdict == candlewick_statistics::Verdict::EdgeRejected,
        )
    }
}

/// What a right verdict at five percent does on these plans, and one of three or eight percent does not: at most the promise
/// (and two and a half standard errors, 1 %), and not much less.
fn is_right(rates: &Rates) -> bool {
    (0.036..=0.06).contains(&rates.shown) && (0.03..=0.06).contains(&rates.rejected)
}

#[test]
fn the_verdict_errs_as_often_as_it_may_and_mutants_of_it_do_not() {
    let plan = |alpha, beta| EdgeTestPlan::new(alpha, beta, DELTA).unwrap();
    let found = wrong(verdict_of(plan(0.05, 0.05)));
    assert!(is_right(&found), "{} {}", found.shown, found.rejected);
    for (alpha, beta) in [(0.08, 0.05), (0.03, 0.05), (0.05, 0.08), (0.05, 0.025)] {
        let found = wrong(verdict_of(plan(alpha, beta)));
        assert!(!is_right(&found), "alpha {alpha}, beta {beta}: {} {}", found.shown, found.rejected);
    }
    for (name, mutant) in MUTANTS {
        let found = wrong(|next| follow(mutant, next));
        assert_eq!(is_right(&found), name == "none", "{name}: {} {}", found.shown, found.rejected);
    }
}

/// A verdict with a mistake in it, by constant fractions; what each changes is named.
#[derive(Clone, Copy)]
struct Mutant {
    paid: f64,
    lost: f64,
    goal: f64,
    mirror: f64,
    looks_ahead: bool,
}

const RIGHT: Mutant = Mutant { paid: 1.0, lost: 1.0, goal: 20.0, mirror: 1.0, looks_ahead: false };
const MUTANTS: [(&str, Mutant); 7] = [
    ("none", RIGHT),
    ("a win pays more than it pays", Mutant { paid: 1.05, ..RIGHT }),
    ("a loss costs less than the stake", Mutant { lost: 0.95, ..RIGHT }),
    ("the goal is 12", Mutant { goal: 12.0, ..RIGHT }),
    ("the goal is 40", Mutant { goal: 40.0, ..RIGHT }),
    ("the mirror's gain is of another scale", Mutant { mirror: 1.05, ..RIGHT }),
    ("the stake knows the end", Mutant { looks_ahead: true, ..RIGHT }),
];

fn follow(mutant: Mutant, next: &mut dyn FnMut() -> TradeOutcome) -> (bool, bool) {
    const SHARES: [(f64, f64); 4] = [(22.0, 0.22), (8.0, 0.35), (17.0, 0.35), (17.0, 0.35)];
    let mut edge = SHARES.map(|(part, _)| part / 64.0);
    let mut mirror = [11.0 / 16.0, 5.0 / 16.0];
    for _ in 0..TRADES {
        let is_won = next() == TradeOutcome::Won;
        let missing = mutant.goal - edge.iter().sum::<f64>();
        let whole: f64 = edge.iter().zip(SHARES).map(|(part, (_, share))| part * share).sum();
        let needed = (missing / whole).min(1.0);
        for (part, (_, share)) in edge.iter_mut().zip(SHARES) {
            let staked = *part * share * needed * if mutant.looks_ahead && !is_won { 0.97 } else { 1.0 };
            *part += if is_won { staked * mutant.paid } else { -staked * mutant.lost };
        }
        for (part, share) in mirror.iter_mut().zip([0.22 / 1.2, 0.35]) {
            let gain = if is_won { -1.0 } else { (1.0 + DELTA) / (1.0 - DELTA) * mutant.mirror };
            *part *= 1.0 + share * gain;
        }
        if edge.iter().sum::<f64>() >= mutant.goal * (1.0 - 1e-9) {
            return (true, false);
        }
        if mirror.iter().sum::<f64>() >= mutant.goal {
            return (false, true);
        }
    }
    (false, false)
}

#[test]
fn clusters_chains_and_draws_are_not_much_shyer_than_they_need_to_be() {
    let plan = EdgeTestPlan::new(0.05, 0.05, 0.2).unwrap();
    for (dependence, draws, least) in [
        (TradeDependence::SameTrade(3), 0.0, 0.02),
        (TradeDependence::Overlapping(2), 0.0, 0.02),
        (TradeDependence::Independent, 0.2, 0.03),
    ] {
        let stream = TradeStream::new(dependence, &[0.85], 0.0, draws).unwrap();
        let range = PathRange { seed: 5, first_path: 0, paths: 2_000, trades: 1_200 };
        let shown = VerdictRates::simulate(plan, &stream, range).shown();
        assert!((least..=0.0646).contains(&shown), "{dependence:?}: {shown}");
    }
}

/// The share of so many trades at so many counts that an interval covers, exactly: the sum over all counts.
fn coverage(interval: impl Fn(WinRate) -> ConfidenceInterval, trades: u64, rate: f64) -> f64 {
    let mut probability = (1.0 - rate).powf(trades as f64);
    let mut covered = 0.0;
    for won in 0..=trades {
        let interval = interval(WinRate::new(won, trades - won).expect("at least one trade"));
        if interval.lower <= rate && rate <= interval.upper {
            covered += probability;
        }
        probability *= (trades - won) as f64 / (won + 1) as f64 * rate / (1.0 - rate);
    }
    covered
}

/// The mean and the least coverage over win rates from 20 to 80 % of 60 trades.
fn coverages(interval: impl Fn(WinRate) -> ConfidenceInterval) -> (f64, f64) {
    let rates = (0..=120).map(|step| 0.2 + 0.005 * f64::from(step));
    let covered: Vec<f64> = rates.map(|rate| coverage(&interval, 60, rate)).collect();
    (covered.iter().sum::<f64>() / covered.len() as f64, covered.iter().copied().fold(1.0, f64::min))
}

#[test]
fn intervals_cover_what_they_promise_and_mutants_of_them_do_not() {
    let wilson = |(mean, least): (f64, f64)| (0.945..=0.9575).contains(&mean) && least > 0.92;
    let exact = |(mean, least): (f64, f64)| (0.95..0.956).contains(&least) && mean < 0.975;
    let moved = |confidence, by: f64| {
        move |rate| {
            let ConfidenceInterval { lower, upper } = wilson_interval(rate, confidence).unwrap();
            ConfidenceInterval { lower: lower + by, upper: upper + by }
        }
    };
    let pearson = |confidence| move |rate| clopper_pearson_interval(rate, confidence).unwrap();
    assert!(wilson(coverages(moved(0.95, 0.0))) && exact(coverages(pearson(0.95))));
    for mutant in [moved(0.93, 0.0), moved(0.97, 0.0), moved(0.95, 0.03)] {
        assert!(!wilson(coverages(mutant)));
    }
    for confidence in [0.9, 0.93, 0.97, 0.975] {
        assert!(!exact(coverages(pearson(confidence))), "{confidence}");
    }
    // Each takes itself for the other.
    assert!(!exact(coverages(moved(0.95, 0.0))) && !wilson(coverages(pearson(0.95))));
}

#[test]
fn ruin_agrees_with_its_trials_and_mutants_of_it_do_not() {
    let question = RuinQuestion {
        balance: 30_000,
        minimum_stake: 100,
        win_probability: 0.52,
        payout_fraction: 0.85,
        draw_share: 0.1,
        horizon_trades: 200,
    };
    let plan = StakePlan::Martingale { base: 1_000, factor: 2.0, levels: 4, most_stake: 20_000, step: 1 };
    let trials = simulate_ruin(&question, &plan, 9, 20_000).unwrap();
    let is_right = |question: &RuinQuestion, plan: &StakePlan| {
        trials.standard_errors_from(ruin(question, plan).unwrap().probability()) < 3.0
    };
    assert!(is_right(&question, &plan));
    for mutant in [
        RuinQuestion { horizon_trades: 150, ..question },
        RuinQuestion { draw_share: 0.0, ..question },
        RuinQuestion { win_probability: 0.53, ..question },
        RuinQuestion { payout_fraction: 0.83, ..question },
        RuinQuestion { balance: 45_000, ..question },
    ] {
        assert!(!is_right(&mutant, &plan), "{mutant:?}");
    }
    for levels in [3, 5] {
        let mutant = StakePlan::Martingale { base: 1_000, factor: 2.0, levels, most_stake: 20_000, step: 1 };
        assert!(!is_right(&question, &mutant), "{levels}");
    }
}

/// The share of false among those found at ten percent, among five bots with an edge and fifteen without: p-values even from 0
/// to 1, and of the others near 0.
fn discoveries(correct: impl Fn(&[f64]) -> Vec<f64>) -> f64 {
    const FAMILIES: u64 = 4_000;
    const TRUE_ONES: usize = 5;
    let mut false_share = 0.0;
    for family in 0..FAMILIES {
        let mut chance = ChaCha8Rng::seed_from_u64(41);
        chance.set_stream(family);
        let p: Vec<f64> =
            (0..20).map(|place| share(&mut chance) * if place < TRUE_ONES { 1e-4 } else { 1.0 }).collect();
        let found: Vec<usize> =
            correct(&p).iter().enumerate().filter(|(_, p)| **p <= 0.1).map(|(place, _)| place).collect();
        let wrong = found.iter().filter(|place| **place >= TRUE_ONES).count() as f64;
        false_share += wrong / (found.len() as f64).max(1.0);
    }
    false_share / FAMILIES as f64
}

#[test]
fn corrections_let_through_what_they_promise_and_mutants_of_them_do_not() {
    // Of twenty, five with an edge: false among those found are 10 % x 15 / 20.
    let is_bh = |false_share: f64| (0.066..=0.084).contains(&false_share);
    let bh = |p: &[f64]| benjamini_hochberg(p).unwrap();
    let bonferroni = |p: &[f64]| p.iter().map(|p| (20.0 * p).min(1.0)).collect::<Vec<f64>>();
    assert!(is_bh(discoveries(bh)));
    // A correction for fewer, for none, for the smallest alone, and a stricter one.
    assert!(!is_bh(discoveries(|p| bh(p).iter().map(|q| q * 0.8).collect())));
    assert!(!is_bh(discoveries(<[f64]>::to_vec)));
    assert!(!is_bh(discoveries(|p| bh(p).iter().map(|q| q * 1.25).collect())));
    assert!(!is_bh(discoveries(bonferroni)));
}
