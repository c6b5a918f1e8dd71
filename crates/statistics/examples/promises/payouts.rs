//! Payouts known only from the answer, late settlements, and win rates that change while trading.
#![allow(dead_code, reason = "the test prints no tables")]
#![allow(clippy::print_stdout, reason = "the table is what it is for")]

use crate::measured::{Bound, Measured, SEED, Scale, each};
use crate::verdict::{MIXED, wrong};
use candlewick_statistics::{
    ConfidenceSequence, EdgeTest, NotionalStake, OpenTrade, StatisticsError, TradeOutcome, Verdict,
};
use chacha20::ChaCha8Rng;
use chacha20::rand_core::{Rng, SeedableRng};

/// Edge predicted by an informative payout, per unit of stake.
const SAID: f64 = 0.15;
/// Payouts that include some above 100 %.
const WIDE: [f64; 5] = [0.6, 0.85, 1.0, 1.2, 1.4];
const CONFIDENCE: f64 = 0.95;

/// Sequence of payouts, and its relation to the mean return of a trade.
#[derive(Clone, Copy, Debug)]
enum Payouts {
    /// Each of [`MIXED`] is equally likely.
    Free,
    /// Each of [`WIDE`] is equally likely.
    Wide,
    /// A random walk of single steps between 60 and 92, one step per trade.
    Walk,
    /// Lower after a win and higher after a loss.
    AgainstLast,
    /// Like `Free`, but a trade that pays more than the last one is worse by this amount and any other
    /// trade is better. The mean at the decision stays the same.
    WorseAbove(f64),
}

/// Alternating win rates, some points above and below break-even. Each lasts a mean number of trades.
#[derive(Clone, Copy, Debug)]
struct Regimes {
    points: f64,
    lasting: f64,
}

/// A statistic that bets on the payout known at the open and learns the actual payout at the end.
trait Follows {
    type Open;
    fn open(&mut self, seen: f64) -> Result<Self::Open, StatisticsError>;
    fn settle(&mut self, open: Self::Open, outcome: TradeOutcome, pays: f64);
}

impl Follows for EdgeTest {
    type Open = NotionalStake;

    fn open(&mut self, seen: f64) -> Result<NotionalStake, StatisticsError> {
        self.on_open(seen)
    }

    fn settle(&mut self, open: NotionalStake, outcome: TradeOutcome, pays: f64) {
        Self::settle(self, open, outcome, pays);
    }
}

impl Follows for ConfidenceSequence {
    type Open = OpenTrade;

    fn open(&mut self, _: f64) -> Result<OpenTrade, StatisticsError> {
        Ok(self.on_open())
    }

    fn settle(&mut self, open: OpenTrade, outcome: TradeOutcome, pays: f64) {
        self.on_settled(open, outcome, pays);
    }
}

/// A simulated path and the statistic that follows it.
struct Path<F> {
    chance: ChaCha8Rng,
    test: F,
    seen: f64,
    has_won: bool,
    /// Last trades as bits: 1 for a win, latest in the lowest bit.
    last: u32,
    is_good: bool,
}

impl<F: Follows> Path<F> {
    fn new(test: F, trial: u64) -> Self {
        let mut chance = ChaCha8Rng::seed_from_u64(SEED);
        chance.set_stream(trial);
        Self { chance, test, seen: 0.85, has_won: false, last: 0, is_good: trial.is_multiple_of(2) }
    }

    fn share(&mut self) -> f64 {
        const STEPS: f64 = (1_u64 << 53) as f64;
        (self.chance.next_u64() >> 11) as f64 / STEPS
    }

    fn below(&mut self, count: usize) -> usize {
        (self.share() * count as f64) as usize
    }

    /// Returns the payout of the next trade and its advantage over the average.
    fn answer(&mut self, payouts: Payouts) -> (f64, f64) {
        match payouts {
            Payouts::Free => (MIXED[self.below(5)], 0.0),
            Payouts::Wide => (WIDE[self.below(5)], 0.0),
            Payouts::Walk => {
                let step = if self.share() < 0.5 { -0.01 } else { 0.01 };
                ((self.seen + step).clamp(0.6, 0.92), 0.0)
            }
            Payouts::AgainstLast => (if self.has_won { 0.75 } else { 0.9 }, 0.0),
            Payouts::WorseAbove(by) => {
                let pays = MIXED[self.below(5)];
                let above = MIXED.iter().filter(|other| **other > self.seen).count() as f64 / 5.0;
                (pays, by * if pays > self.seen { above - 1.0 } else { above })
            }
        }
    }

    fn outcome(&mut self, pays: f64, mean_return: f64) -> TradeOutcome {
        self.has_won = self.share() < (1.0 + mean_return) / (1.0 + pays);
        self.last = self.last << 1 | u32::from(self.has_won);
        if self.has_won { TradeOutcome::Won } else { TradeOutcome::Lost }
    }

    /// Plays one trade that ends before the next is decided.
    fn trade(&mut self, payouts: Payouts, mean_return: f64) -> Result<(), StatisticsError> {
        let stake = self.test.open(self.seen)?;
        let (pays, better) = self.answer(payouts);
        let outcome = self.outcome(pays, mean_return + better);
        self.test.settle(stake, outcome, pays);
        self.seen = pays;
        Ok(())
    }

    /// Plays the next trade that the bot takes at payout 85, in one of the two regimes.
    fn regime_trade(&mut self, regimes: Regimes, is_choosy: bool) -> Result<(), StatisticsError> {
        loop {
            if self.share() < 1.0 / regimes.lasting {
                self.is_good = !self.is_good;
            }
            let mean_return = regimes.points / 100.0 * 1.85 * if self.is_good { 1.0 } else { -1.0 };
            if !is_choosy || (self.last & 0x3ff).count_ones() > 5 {
                let stake = self.test.open(0.85)?;
                let outcome = self.outcome(0.85, mean_return);
                self.test.settle(stake, outcome, 0.85);
                return Ok(());
            }
            self.outcome(0.85, mean_return);
        }
    }

    /// Plays `size` simultaneous trades, the first half of them a single bet. They end in any order.
    fn unordered(&mut self, size: usize, mean_return: f64) -> Result<(), StatisticsError> {
        let mut open: Vec<(F::Open, f64, TradeOutcome)> = Vec::with_capacity(size);
        for place in 0..size {
            let stake = self.test.open(self.seen)?;
            let alike = open.first().filter(|_| place < size / 2).map(|(_, pays, outcome)| (*pays, *outcome));
            let (pays, outcome) = alike.unwrap_or_else(|| {
                let (pays, better) = self.answer(Payouts::Free);
                (pays, self.outcome(pays, mean_return + better))
            });
            open.push((stake, pays, outcome));
        }
        while !open.is_empty() {
            let place = self.below(open.len());
            let (stake, pays, outcome) = open.swap_remove(place);
            self.test.settle(stake, outcome, pays);
            self.seen = pays;
        }
        Ok(())
    }
}

/// Returns the shares of paths with the verdicts *shown* and *rejected*. `step` plays trades.
fn rates(
    scale: Scale,
    size: u64,
    step: impl Fn(&mut Path<EdgeTest>) -> Result<(), StatisticsError> + Sync,
) -> Result<(f64, f64), StatisticsError> {
    let verdicts = each(scale.trials, |trial| {
        let mut path = Path::new(EdgeTest::new(scale.plan), trial);
        for _ in 0..scale.trades / size {
            step(&mut path)?;
            if path.test.is_final() {
                break;
            }
        }
        Ok(path.test.verdict())
    })?;
    let share =
        |wanted| verdicts.iter().filter(|verdict| **verdict == wanted).count() as f64 / scale.trials as f64;
    Ok((share(Verdict::EdgeShown), share(Verdict::EdgeRejected)))
}

const MOVING: [(&str, Payouts); 4] = [
    ("independent random payouts, 60 to 92", Payouts::Free),
    ("payouts that walk from 60 to 92", Payouts::Walk),
    ("payouts lower after a win", Payouts::AgainstLast),
    ("trades worse that pay more than the last", Payouts::WorseAbove(SAID)),
];

/// Error rates of trades that are bet on before their payout is known.
pub(crate) fn errors(scale: Scale) -> Result<Vec<Measured>, StatisticsError> {
    let (alpha, beta, delta) = (scale.plan.alpha(), scale.plan.beta(), scale.plan.delta());
    let mut errors = Vec::new();
    for (name, payouts) in MOVING {
        let (shown, _) = rates(scale, 1, |path| path.trade(payouts, 0.0))?;
        errors.push(wrong(format!("edge shown: {name}, that win exactly p*"), alpha, shown, scale));
    }
    let (shown, _) = rates(scale, 8, |path| path.unordered(8, 0.0))?;
    errors.push(wrong(
        "edge shown: eight at once that end in any order, half of them one bet, moving payouts, that win exactly p*"
            .to_owned(),
        alpha,
        shown,
        scale,
    ));
    for (name, payouts) in
        [MOVING[0], ("trades better that pay more than the last", Payouts::WorseAbove(-SAID))]
    {
        let (_, rejected) = rates(scale, 1, |path| path.trade(payouts, delta))?;
        errors.push(wrong(format!("no edge: {name}, with exactly delta"), beta, rejected, scale));
    }
    let (_, rejected) = rates(scale, 8, |path| path.unordered(8, delta))?;
    errors.push(wrong(
        "no edge: eight at once that end in any order, moving payouts, with exactly delta".to_owned(),
        beta,
        rejected,
        scale,
    ));
    Ok(errors)
}

/// Share of paths on which the confidence sequence contains the edge after every trade.
pub(crate) fn coverage(scale: Scale) -> Result<Vec<Measured>, StatisticsError> {
    let delta = scale.plan.delta();
    let better = ("trades better that pay more than the last", Payouts::WorseAbove(-SAID));
    let wide = ("independent random payouts, 60 to 140", Payouts::Wide);
    let at = |mean: f64| move |(name, payouts)| (name, payouts, mean);
    let kinds = MOVING.map(at(0.0)).into_iter().chain([at(delta)(better), at(0.0)(wide)]);
    let promise = |name| format!("the sequence contains the edge after every trade: {name}");
    let mut covered = Vec::new();
    for (name, payouts, mean) in kinds {
        covered.push(Measured::share((promise(name), Bound::AtLeast, CONFIDENCE), scale.trials, |trial| {
            let mut path = Path::new(ConfidenceSequence::new(), trial);
            (0..scale.trades).try_for_each(|_| path.trade(payouts, mean))?;
            Ok(!path.test.excludes_edge(mean, CONFIDENCE)?)
        })?);
    }
    let name = "eight at once that end in any order, half of them one bet, moving payouts";
    covered.push(Measured::share((promise(name), Bound::AtLeast, CONFIDENCE), scale.trials, |trial| {
        let mut path = Path::new(ConfidenceSequence::new(), trial);
        (0..scale.trades / 8).try_for_each(|_| path.unordered(8, 0.0))?;
        Ok(!path.test.excludes_edge(0.0, CONFIDENCE)?)
    })?);
    Ok(covered)
}

/// Prints results for trades that break even on average, in random regimes. Nothing is promised.
pub(crate) fn print_regimes(scale: Scale) -> Result<(), StatisticsError> {
    println!("\nWin rates that change between two regimes, break-even on average: outside of the promise\n");
    println!(
        "| regimes, points about p* | lasting on average | trades in | shown | rejected |\n|---|---|---|---|---|"
    );
    for (points, lasting) in
        [(2.0, 100.0), (2.0, 1_000.0), (5.0, 20.0), (5.0, 100.0), (5.0, 500.0), (10.0, 20.0), (10.0, 100.0)]
    {
        for (name, is_choosy) in [("both", false), ("where six of the last ten were won", true)] {
            let regimes = Regimes { points, lasting };
            let (shown, rejected) = rates(scale, 1, |path| path.regime_trade(regimes, is_choosy))?;
            let (shown, rejected) = (100.0 * shown, 100.0 * rejected);
            println!(
                "| +{points} and -{points} | {lasting} trades | {name} | {shown:.1} % | {rejected:.1} % |"
            );
        }
    }
    Ok(())
}
