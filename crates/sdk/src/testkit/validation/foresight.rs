//! Whether a strategy hits what follows more often than anybody can who does not know it.
//!
//! Each of three tests errs, for an honest strategy, less than once in a million: right answers are counted at the bot's own
//! expiry and at fixed distances, and the limits are divided by how many there are.

use super::super::candles::{at_interval, moved, random_walk};
use super::bench::{Bench, Found, failed, passed};
use super::decoys::with_volume;
use super::hits::{Hits, Horizon, binomial_tail, excess};
use super::look_ahead::behind;
use super::subject::{Manner, Subject, first_difference};
use super::{Check, Checked, Market};
use crate::Candle;

/// How often an honest strategy is accused, at most, by all horizons of a test together.
const ERROR: f64 = 1e-6;
/// Nobody who does not know what follows is right more often on a random walk. It is a half, and a little for what a walk in
/// percent leans to.
const CHANCE: f64 = 0.505;
/// Standard errors beyond chance: once in a thousand million cases if they were normal, which few answers are not quite.
const ERRORS: f64 = 6.0;
/// Another price level: beyond what a comparison of prices takes for the same price, too little to change a rule.
const LEVEL: f64 = 1.0317;

/// Candles that nobody can have seen before: a random walk.
#[derive(Clone, Copy, Debug)]
pub struct Unseen {
    /// Of its chance: another one each time, so that no file or table holds the walk.
    pub seed: u64,
    /// How many; a cheat in part of its signals needs more of them to be seen.
    pub candles: usize,
}

/// Counts right answers on candles that nobody can know, where they are half.
pub(super) fn on_unseen(subject: &Subject, unseen: Unseen) -> Found {
    let candles = at_interval(&random_walk(unseen.seed, unseen.candles), subject.bot.interval);
    let answers = subject.run(&candles, Manner::LIVE)?;
    let horizons = Horizon::all(&subject.bot);
    for horizon in &horizons {
        let hits = Hits::apart(&answers, &candles, horizon);
        if binomial_tail(hits.right, hits.decided, CHANCE) < ERROR / horizons.len() as f64 {
            return failed(format!(
                "a random walk of seed {}: {hits} {horizon}, where nobody is right in more than half: it sees what follows",
                unseen.seed
            ));
        }
    }
    if let Some(candle) = first_difference(&subject.run_apart(&candles, Manner::LIVE)?, &answers) {
        return failed(format!("a random walk of seed {}: {}", unseen.seed, behind(candle)));
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
    let lifted: Vec<Candle> =
        bench.candles.iter().map(|candle| moved(candle, candle.time(), LEVEL)).collect();
    let level = bench.subject.run(&lifted, Manner::LIVE)?;
    let mut best: Option<(Hits, &Horizon)> = None;
    for horizon in &horizons {
        let here = Hits::apart(&bench.answers, bench.candles, horizon);
        let there = Hits::apart(&level, &lifted, horizon);
        let is_silent =
            there.decided * 4 < here.decided && excess(&bench.answers, bench.candles, horizon) > ERRORS;
        if is_silent || here.is_beyond(&there, ERRORS) {
            return failed(format!(
                "{here} {horizon}; of the same candles {:.0} % higher, {there}: it knows these by their prices, from a file or a \
                 table",
                100.0 * (LEVEL - 1.0)
            ));
        }
        if best.as_ref().is_none_or(|(best, _)| here.share() > best.share()) {
            best = Some((here, horizon));
        }
    }
    let words = best.map(|(hits, horizon)| match hits.decided {
        0 => "no signal came of these candles, so that nothing is known of it".to_owned(),
        _ => format!("{hits} {horizon} at most, and knows no candles by their times or prices"),
    });
    passed(words.unwrap_or_default())
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
