//! Detection of strategies that predict better than possible without knowing the future.
//!
//! Each of three tests accuses an honest strategy with a probability below one in a million. Hits
//! are counted at the bot's own expiry and at fixed distances, and the limits are divided by the
//! number of these horizons.

use super::super::candles::{moved, random_walk};
use super::bench::{Bench, Found, failed, passed};
use super::decoys::with_volume;
use super::hits::{Hits, Horizon, binomial_tail, excess};
use super::look_ahead::behind;
use super::subject::{Manner, Stop, Subject, first_difference};
use super::surrogate::{ERRORS, Surrogate};
use super::{Check, Checked, Market};
use crate::Candle;

/// Maximum probability of accusing an honest strategy, per test with all horizons.
const ERROR: f64 = 1e-6;
/// Upper bound of the hit rate on a random walk without foresight.
///
/// One half, plus a little for the bias of a walk in percent.
const CHANCE: f64 = 0.505;

/// A random walk that no strategy can have seen before.
#[derive(Clone, Copy, Debug)]
pub struct Unseen {
    /// Seed of the walk, different each time, so that no file or table can contain it.
    pub seed: u64,
    /// Number of candles. Finding a cheat in only part of the signals needs more.
    pub candles: usize,
}

pub(super) fn on_unseen(bench: &Bench<'_>) -> Found {
    let (candles, walk) = (bench.candles, &bench.market.name);
    let horizons = Horizon::all(&bench.subject.bot);
    for horizon in &horizons {
        let hits = Hits::apart(&bench.answers, candles, horizon);
        if binomial_tail(hits.right, hits.decided, CHANCE) < ERROR / horizons.len() as f64 {
            return failed(format!(
                "{walk}: {hits} {horizon}, where nobody is right in more than half: it sees what follows"
            ));
        }
    }
    if let Some(candle) = first_difference(&bench.subject.run_apart(candles, Manner::LIVE)?, &bench.answers) {
        return failed(format!("{walk}: {}", behind(candle)));
    }
    passed(format!("no better than chance on {} candles that nobody knows", candles.len()))
}

/// Tests whether the strategy knows these candles from a file or table.
///
/// By their times, if it hits them while it is fed a random walk. By their prices, if it hits them
/// but not others with the same moves.
pub(super) fn foresight(bench: &Bench<'_>, seed: u64) -> Found {
    let horizons = Horizon::all(&bench.subject.bot);
    let other = walk_at_times_of(bench.candles, seed);
    let elsewhere = bench.subject.run(&other, Manner::LIVE)?;
    for horizon in &horizons {
        let hits = Hits::all(&elsewhere, bench.candles, horizon);
        if hits.decided > 0 && excess(&elsewhere, bench.candles, horizon) > ERRORS {
            return failed(format!(
                "shown a random walk at their times, {hits} {horizon} about these candles, which it was not shown: it knows \
                 them by their times, from a file or a table"
            ));
        }
    }
    let mut best: Option<(Hits, &Horizon)> = None;
    for horizon in &horizons {
        let here = Hits::apart(&bench.answers, bench.candles, horizon);
        if best.as_ref().is_none_or(|(best, _)| here.share() > best.share()) {
            best = Some((here, horizon));
        }
    }
    if let Some(words) = memory_of_candles(bench, &horizons, seed)? {
        return failed(words);
    }
    let words = best.map(|(hits, horizon)| match hits.decided {
        0 => "no signal came of these candles, so that nothing is known of it".to_owned(),
        _ => format!("{hits} {horizon} at most, and knows no candles by their times, prices or shapes"),
    });
    passed(words.unwrap_or_default())
}

fn memory_of_candles(bench: &Bench<'_>, horizons: &[Horizon], seed: u64) -> Result<Option<String>, Stop> {
    for surrogate in Surrogate::ALL {
        let candles = surrogate.apply(bench.candles, seed);
        let answers = bench.subject.run(&candles, Manner::LIVE)?;
        for horizon in horizons {
            let here = Hits::apart(&bench.answers, bench.candles, horizon);
            let there = Hits::apart(&answers, &candles, horizon);
            let is_silent = there.decided * 4 < here.decided;
            if !is_silent && !surrogate.is_collapse(&here, &there) {
                continue;
            }
            // Raised candles move in the same directions, so a different win rate is proof by itself.
            let is_certain = surrogate == Surrogate::Raised && !is_silent;
            if is_certain || excess(&bench.answers, bench.candles, horizon) > ERRORS {
                return Ok(Some(format!(
                    "{here} {horizon}; of {}, {there}: it knows these candles by their prices or shapes, from a file or a table",
                    surrogate.describe()
                )));
            }
        }
    }
    Ok(None)
}

fn walk_at_times_of(candles: &[Candle], seed: u64) -> Vec<Candle> {
    let walk = random_walk(seed ^ 0x5DEE_CE66, candles.len());
    let factor = candles.first().map_or(1.0, Candle::open) / walk.first().map_or(1.0, Candle::open);
    let volumes = candles.iter().rev().map(Candle::volume);
    let candle = |((own, walked), volume): ((&Candle, &Candle), f64)| {
        with_volume(&moved(walked, own.time(), factor), volume)
    };
    candles.iter().zip(&walk).zip(volumes).map(candle).collect()
}

/// Checks whether a strategy knows a market, as in [`Check::Foresight`].
///
/// By its times or prices. Also checks for reads beyond the current candle in memory. A search
/// applies this to its best set.
pub fn check_foresight(subject: &Subject, market: &Market, seed: u64) -> Checked {
    let found = Bench::new(subject, market, 0).and_then(|bench| {
        let apart = subject.run_apart(&market.candles, Manner::LIVE)?;
        match first_difference(&apart, &bench.answers) {
            Some(candle) => failed(behind(candle)),
            None => foresight(&bench, seed),
        }
    });
    super::bench::once(Check::Foresight, found)
}
