//! Detection of strategies that know future prices.
//!
//! Correct signals (hits) are counted at several horizons: the bot's own expiry and fixed numbers of candles. Over all
//! horizons, each of three tests rejects an honest strategy with a probability below one in a million.

use super::super::candles::{Rng, random_walk, rescale};
use super::look_ahead::describe_read_beyond_candle;
use super::subject::{
    Answer, PRICES_PER_CANDLE, RunError, RunMode, Subject, first_difference, trade_outcome,
};
use super::surrogate::{MIN_EXCESS_STANDARD_ERRORS, Surrogate, with_volume};
use super::{Bench, Check, CheckReport, CheckResult, Market, failed, passed};
use crate::{BotContext, Candle, Millis, Outcome, group_thousands};
use std::fmt;

/// Maximum probability that one test, over all horizons, rejects an honest strategy.
const MAX_ERROR_RATE: f64 = 1e-6;
/// Maximum hit rate without foresight on a random walk: one half, plus a margin for its downward drift.
const CHANCE_HIT_RATE: f64 = 0.505;

/// A random walk that no strategy can have seen before.
#[derive(Clone, Copy, Debug)]
pub struct UnseenWalk {
    /// Seed of the walk. A new seed for each check ensures that no file or table contains the walk.
    pub seed: u64,
    /// Number of candles. More candles reveal strategies that cheat on only some of their signals.
    pub candles: usize,
}

pub(super) fn check_unseen_walk(bench: &Bench<'_>) -> CheckResult {
    let (candles, walk) = (bench.candles, &bench.market.name);
    let horizons = Horizon::for_bot(&bench.subject.bot);
    for horizon in &horizons {
        let hits = Hits::count_independent(&bench.answers, candles, horizon);
        if binomial_tail(hits.wins, hits.decided, CHANCE_HIT_RATE) < MAX_ERROR_RATE / horizons.len() as f64 {
            return failed(format!(
                "{walk}: {hits} {horizon}, but only about 50 % can be expected on random candles: the strategy knows later candles"
            ));
        }
    }
    if let Some(candle) =
        first_difference(&bench.subject.run_with_decoys(candles, RunMode::FULL)?, &bench.answers)
    {
        return failed(format!("{walk}: {}", describe_read_beyond_candle(candle)));
    }
    let count = group_thousands(&candles.len().to_string());
    passed(format!("the strategy does not beat chance on {count} random candles"))
}

/// Checks that the strategy does not recognize the market's candles from a file or table.
/// A strategy recognizes timestamps if it predicts the market even when fed a random walk with the same timestamps.
/// A strategy recognizes prices if its hit rate is much higher on the market than on similar candles.
pub(super) fn check_market_recognition(bench: &Bench<'_>, seed: u64) -> CheckResult {
    let horizons = Horizon::for_bot(&bench.subject.bot);
    let other = random_walk_at_times(bench.candles, seed);
    let elsewhere = bench.subject.run(&other, RunMode::FULL)?;
    for horizon in &horizons {
        let hits = Hits::count_all(&elsewhere, bench.candles, horizon);
        if hits.decided > 0
            && hit_rate_excess(&elsewhere, bench.candles, horizon) > MIN_EXCESS_STANDARD_ERRORS
        {
            return failed(format!(
                "on a random walk with the timestamps of these candles, the strategy still predicts the original candles ({hits} \
                 {horizon}): the strategy recognizes the candles by their timestamps, for example from a file or table"
            ));
        }
    }
    let mut best: Option<(Hits, &Horizon)> = None;
    for horizon in &horizons {
        let here = Hits::count_independent(&bench.answers, bench.candles, horizon);
        if best.as_ref().is_none_or(|(best, _)| here.hit_rate() > best.hit_rate()) {
            best = Some((here, horizon));
        }
    }
    if let Some(words) = find_market_recognition(bench, &horizons, seed)? {
        return failed(words);
    }
    let words = best.map(|(hits, horizon)| match hits.decided {
        0 => "no signals on these candles".to_owned(),
        _ => format!("the strategy recognized no times, prices or shapes (best hit rate: {hits} {horizon})"),
    });
    passed(words.unwrap_or_default())
}

fn find_market_recognition(
    bench: &Bench<'_>,
    horizons: &[Horizon],
    seed: u64,
) -> Result<Option<String>, RunError> {
    for surrogate in Surrogate::ALL {
        let candles = surrogate.apply(bench.candles, seed);
        let answers = bench.subject.run(&candles, RunMode::FULL)?;
        for horizon in horizons {
            let here = Hits::count_independent(&bench.answers, bench.candles, horizon);
            let there = Hits::count_independent(&answers, &candles, horizon);
            let is_silent = there.decided * 4 < here.decided;
            if !is_silent && !surrogate.is_win_rate_collapse(&here, &there) {
                continue;
            }
            // Raised candles move in the same directions, so a different win rate is sufficient proof.
            let is_certain = surrogate == Surrogate::Raised && !is_silent;
            if is_certain
                || hit_rate_excess(&bench.answers, bench.candles, horizon) > MIN_EXCESS_STANDARD_ERRORS
            {
                return Ok(Some(format!(
                    "{here} {horizon} on these candles, but only {there} on {}: the strategy recognizes these candles by their prices or shapes, for example from a table",
                    surrogate.describe()
                )));
            }
        }
    }
    Ok(None)
}

fn random_walk_at_times(candles: &[Candle], seed: u64) -> Vec<Candle> {
    let walk = random_walk(seed ^ 0x5DEE_CE66, candles.len());
    let factor = candles.first().map_or(1.0, Candle::open) / walk.first().map_or(1.0, Candle::open);
    let volumes = candles.iter().rev().map(Candle::volume);
    let candle = |((own, walked), volume): ((&Candle, &Candle), f64)| {
        with_volume(&rescale(walked, own.time(), factor), volume)
    };
    candles.iter().zip(&walk).zip(volumes).map(candle).collect()
}

/// Checks that a strategy does not recognize a market by its times or prices (see [`Check::Foresight`]).
/// Also detects reads beyond the current candle in memory. A search applies this check to its best parameter set.
pub fn check_foresight(subject: &Subject, market: &Market, seed: u64) -> CheckReport {
    let found = Bench::new(subject, market, 0).and_then(|bench| {
        let apart = subject.run_with_decoys(&market.candles, RunMode::FULL)?;
        match first_difference(&apart, &bench.answers) {
            Some(candle) => failed(describe_read_beyond_candle(candle)),
            None => check_market_recognition(&bench, seed),
        }
    });
    super::report_result(Check::Foresight, found)
}

const FIXED_HORIZONS: [usize; 7] = [1, 2, 3, 5, 10, 30, 60];
const SHIFT_COUNT: usize = 40;

#[derive(Clone, Copy, Debug)]
pub(super) enum Horizon {
    Own { interval: Millis, expiry: Millis },
    Candles(usize),
}

/// Number of signals followed by a price change (`decided`), and how many of them were correct (`wins`).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Hits {
    pub(super) wins: usize,
    pub(super) decided: usize,
}

impl Horizon {
    pub(super) fn for_bot(bot: &BotContext) -> Vec<Self> {
        let own = Self::Own { interval: bot.interval.length(), expiry: bot.expiry.close_type.duration() };
        [own].into_iter().chain(FIXED_HORIZONS.map(Self::Candles)).collect()
    }

    fn candles_ahead(&self, answer: &Answer) -> usize {
        match *self {
            Self::Candles(count) => count,
            Self::Own { interval, expiry } => {
                let duration = answer.signal.expiry.map_or(expiry, |own| own.close_type.duration());
                usize::try_from(duration.get() / interval.get()).unwrap_or(1).max(1)
            }
        }
    }
}

impl fmt::Display for Horizon {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Own { .. } => write!(f, "at expiry"),
            Self::Candles(1) => write!(f, "after 1 candle"),
            Self::Candles(count) => write!(f, "after {count} candles"),
        }
    }
}

impl fmt::Display for Hits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {} right ({:.1} %)", self.wins, self.decided, 100.0 * self.hit_rate())
    }
}

impl Hits {
    pub(super) fn count_all(answers: &[Answer], candles: &[Candle], horizon: &Horizon) -> Self {
        let mut hits = Self::default();
        for (answer, ahead) in answers_with_horizons(answers, horizon) {
            hits.count(answer, candles, answer.candle, ahead);
        }
        hits
    }

    /// Counts hits, skipping signals within the horizon of the last counted signal, so that hits are independent.
    pub(super) fn count_independent(answers: &[Answer], candles: &[Candle], horizon: &Horizon) -> Self {
        let (mut hits, mut free) = (Self::default(), 0);
        for (answer, ahead) in answers_with_horizons(answers, horizon) {
            if answer.candle >= free {
                free = answer.candle + ahead;
                hits.count(answer, candles, answer.candle, ahead);
            }
        }
        hits
    }

    fn count(&mut self, answer: &Answer, candles: &[Candle], place: usize, ahead: usize) {
        let (Some(now), Some(later)) = (candles.get(place), candles.get(place + ahead)) else { return };
        let outcome = trade_outcome(answer.signal.direction, now.close(), later.close());
        self.decided += usize::from(outcome != Outcome::Draw);
        self.wins += usize::from(outcome == Outcome::Won);
    }

    pub(super) fn hit_rate(&self) -> f64 {
        self.wins as f64 / self.decided.max(1) as f64
    }

    pub(super) fn exceeds(&self, other: &Self, standard_errors: f64) -> bool {
        if self.decided == 0 || other.decided == 0 {
            return false;
        }
        let (n, m) = (self.decided as f64, other.decided as f64);
        // Adds a hit and a miss, so that a hit rate of 0 or 1 has a nonzero error.
        let pooled = (self.wins + other.wins + 1) as f64 / (n + m + 2.0);
        let error = (pooled * (1.0 - pooled) * (1.0 / n + 1.0 / m)).sqrt();
        self.hit_rate() - other.hit_rate() > standard_errors * error
    }
}

fn answers_with_horizons<'a>(
    answers: &'a [Answer],
    horizon: &'a Horizon,
) -> impl Iterator<Item = (&'a Answer, usize)> + 'a {
    let closed = answers.iter().filter(|answer| answer.moment == PRICES_PER_CANDLE);
    closed.map(|answer| (answer, horizon.candles_ahead(answer)))
}

/// Returns how far the hit rate exceeds the mean hit rate of circularly shifted signals, in standard errors.
/// This comparison removes the effect of biases and streaks in signals and prices.
pub(super) fn hit_rate_excess(answers: &[Answer], candles: &[Candle], horizon: &Horizon) -> f64 {
    let length = candles.len();
    let mut chance = Rng::new(length as u64);
    let shares: Vec<f64> = (0..SHIFT_COUNT)
        .map(|_| {
            let shift = length / 10 + chance.index_below((length * 8 / 10).max(1));
            let mut hits = Hits::default();
            for (answer, ahead) in answers_with_horizons(answers, horizon) {
                hits.count(answer, candles, (answer.candle + shift) % length, ahead);
            }
            hits.hit_rate()
        })
        .collect();
    let mean = shares.iter().sum::<f64>() / SHIFT_COUNT as f64;
    let spread = shares.iter().map(|share| (share - mean).powi(2)).sum::<f64>() / (SHIFT_COUNT - 1) as f64;
    let hits = Hits::count_all(answers, candles, horizon);
    let independent = mean * (1.0 - mean) / hits.decided.max(1) as f64;
    let error = spread.max(independent).sqrt();
    if error > 0.0 { (hits.hit_rate() - mean) / error } else { 0.0 }
}

fn binomial_tail(wins: usize, decided: usize, chance: f64) -> f64 {
    let (odds, n) = (chance / (1.0 - chance), decided as f64);
    let falling = (0..wins).map(|k| ((n - k as f64) / (wins - k) as f64).ln()).sum::<f64>();
    let mut term = (falling + wins as f64 * chance.ln() + (n - wins as f64) * (1.0 - chance).ln()).exp();
    let mut tail = 0.0;
    for hits in wins..=decided {
        tail += term;
        term *= odds * (decided - hits) as f64 / (hits + 1) as f64;
    }
    tail.min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tails_are_those_of_the_binomial() {
        // Calculated by hand for fair coins: 3 or more of 5 (16 of 32 cases); all of 10; 9 or more of 10 (11 of 1,024).
        assert!((binomial_tail(3, 5, 0.5) - 0.5).abs() < 1e-12);
        assert!((binomial_tail(10, 10, 0.5) - 1.0 / 1_024.0).abs() < 1e-15);
        assert!((binomial_tail(9, 10, 0.5) - 11.0 / 1_024.0).abs() < 1e-14);
        assert!((binomial_tail(0, 7, 0.3) - 1.0).abs() < 1e-12);
        // A strategy that knows 30 % of 1,000 answers and guesses the others has 650 correct answers.
        assert!(binomial_tail(650, 1_000, 0.505) < 1e-18);
    }

    #[test]
    fn shares_differ_by_more_than_their_error() {
        let hits = |wins, decided| Hits { wins, decided };
        assert!(hits(95, 100).exceeds(&hits(50, 100), 6.0));
        assert!(!hits(60, 100).exceeds(&hits(50, 100), 6.0));
        assert!(!hits(10, 10).exceeds(&hits(0, 0), 6.0));
    }
}
