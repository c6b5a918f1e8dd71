//! Whether a strategy hits what follows more often than anybody can who does not know it.
//!
//! Each of three tests errs, for an honest strategy, less than once in a million: right answers are counted at the bot's own
//! expiry and at fixed distances, and the limits are divided by how many there are.

use super::super::candles::{moved, random_walk};
use super::bench::{Bench, Found, failed, passed};
use super::decoys::with_volume;
use super::hits::{Hits, Horizon, binomial_tail, excess};
use super::look_ahead::behind;
use super::subject::{Manner, Stop, Subject, first_difference};
use super::surrogate::{ERRORS, Surrogate};
use super::{Check, Checked, Market};
use crate::Candle;

/// How often an honest strategy is accused, at most, by all horizons of a test together.
const ERROR: f64 = 1e-6;
/// Nobody who does not know what follows is right more often on a random walk. It is a half, and a little for what a walk in
/// percent leans to.
const CHANCE: f64 = 0.505;

/// Candles that nobody can have seen before: a random walk.
#[derive(Clone, Copy, Debug)]
pub struct Unseen {
    /// Of its chance: another one each time, so that no file or table holds the walk.
    pub seed: u64,
    /// How many; a cheat in part of its signals needs more of them to be seen.
    pub candles: usize,
}

/// Counts right answers on candles that nobody can know, where they are half.
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

/// Whether it has seen these very candles before, in a file or a table of its own: by their times, when it hits them while it is
/// shown a random walk; by their prices, when it hits them and no others of the same moves.
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

/// Describes how the win rate collapses on candles that only resemble these, `None` if it does not.
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

/// A random walk at the times of other candles, from their first price, with their volumes in another order.
fn walk_at_times_of(candles: &[Candle], seed: u64) -> Vec<Candle> {
    let walk = random_walk(seed ^ 0x5DEE_CE66, candles.len());
    let factor = candles.first().map_or(1.0, Candle::open) / walk.first().map_or(1.0, Candle::open);
    let volumes = candles.iter().rev().map(Candle::volume);
    let candle = |((own, walked), volume): ((&Candle, &Candle), f64)| {
        with_volume(&moved(walked, own.time(), factor), volume)
    };
    candles.iter().zip(&walk).zip(volumes).map(candle).collect()
}

/// Whether a strategy knows a market by its times or its prices, as [`Check::Foresight`] looks for it, and whether it reads on in
/// memory behind a candle: what a search holds its best set to.
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
