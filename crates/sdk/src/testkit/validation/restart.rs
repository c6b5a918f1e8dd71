//! Check that a strategy restarted during a run continues as before.

use super::super::candles::{at_interval, moved, random_walk};
use super::bench::{Bench, Found, failed, noted, passed};
use super::subject::{Answer, Manner, Stop, differences, first_difference};
use super::warm_up::{dithered, from, later};
use crate::{Candle, Millis};

const RESTARTS: usize = 8;
const STRETCH: usize = 150;
const HOLES: [i64; 3] = [1, 61, 3_000];

/// Restarts as a live run does, and compares the decisions.
///
/// A new instance, built after the old one was dropped, is fed the last `warmup()` candles and then
/// the rest. Once on the market, and once with gaps before the repeated candles.
pub(super) fn restart(bench: &Bench<'_>) -> Found {
    let candles = dithered(bench.candles);
    let (length, warmup) = (candles.len(), bench.warmup);
    let moments = (1..=RESTARTS).map(|k| warmup + k * (length - warmup - 1) / (RESTARTS + 1));
    if let Some(answer) = changed(bench, &candles, moments)? {
        return failed(finding_text(&answer, warmup, ""));
    }
    let broken = with_holes(bench);
    let stretches = (1..=HOLES.len()).map(|k| k * (warmup + STRETCH) + warmup + 20);
    if let Some(answer) = changed(bench, &broken, stretches)? {
        return failed(finding_text(&answer, warmup, ", with a hole in the candles before them"));
    }
    if first_difference(&bench.answers, &bench.alone).is_some() {
        return noted("its decisions depend on its own results, which a restart does not show it again");
    }
    passed(format!("restored {} times, it goes on as it was", RESTARTS + HOLES.len()))
}

fn finding_text(answer: &Answer, warmup: usize, hole: &str) -> String {
    format!(
        "restored from the last {warmup} candles{hole}, it decides at candle {} as it would not have before",
        answer.candle
    )
}

fn changed(
    bench: &Bench<'_>,
    candles: &[Candle],
    moments: impl Iterator<Item = usize>,
) -> Result<Option<Answer>, Stop> {
    let uninterrupted = bench.subject.run(candles, Manner::ALONE)?;
    for moment in moments {
        // Up to the moment there is one that ends with it, as a process does.
        bench.subject.run(&candles[..moment], Manner::ALONE)?;
        let end = candles.len().min(moment + STRETCH - 20);
        let past = bench.history(&candles[..moment]);
        let restored = later(from(bench, &candles[moment - past..end], past)?, moment - past);
        let after = |answers: Vec<Answer>| -> Vec<Answer> {
            answers.into_iter().filter(|answer| (moment..end).contains(&answer.candle)).collect()
        };
        let differing = differences(&after(restored), &after(uninterrupted.clone()));
        if let Some(first) = differing.first() {
            return Ok(Some(first.clone()));
        }
    }
    Ok(None)
}

fn with_holes(bench: &Bench<'_>) -> Vec<Candle> {
    let (interval, stretch) = (bench.subject.bot.interval, bench.warmup + STRETCH);
    let walk = at_interval(&random_walk(17, stretch * (HOLES.len() + 1)), interval);
    let mut missing = Millis::ZERO;
    let mut later = |(index, candle): (usize, &Candle)| {
        if index > 0 && index.is_multiple_of(stretch) {
            missing += interval.length() * HOLES[index / stretch - 1];
        }
        moved(candle, candle.time() + missing, 1.0)
    };
    walk.iter().enumerate().map(&mut later).collect()
}
