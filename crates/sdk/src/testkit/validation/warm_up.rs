//! Checks that decisions do not depend on the start of the run after the warm-up.

use super::super::candles::{Chance, at_interval, moved, random_walk};
use super::subject::{Answer, Manner, Stop, differences, first_difference};
use super::{Bench, Found, failed, noted, passed};
use crate::{Candle, Millis};

const STARTS: usize = 12;

/// Compares runs from later starts with the full run, each after its warm-up.
/// Sets `needed` to the smallest sufficient warm-up.
pub(super) fn warm_up(bench: &Bench<'_>, needed: &mut usize) -> Found {
    let candles = dithered(bench.candles);
    let full = bench.subject.run(&candles, Manner::ALONE)?;
    let (length, warmup) = (candles.len(), bench.warmup);
    // Odd distances, so that counting in twos, fours or tens does not go unseen.
    let last = length - warmup - super::SPARE_CANDLES / 2;
    let mut is_one_short = false;
    for k in 0..STARTS {
        let start = 25 + k * (last - 25) / STARTS + k;
        // To the end of the candles, where counting from the start shows however far it goes.
        let late = later(from(bench, &candles[start..], warmup)?, start);
        let part: Vec<Answer> = full.iter().filter(|answer| answer.history(0) > start).cloned().collect();
        let differing = differences(&late, &part);
        // What it has to have seen by then: more than its warm-up where candles are missing inside longer ones.
        let wanted = |answer: &Answer| bench.history(&candles[..start + answer.history(start)]);
        // A signal counts from the candle that completes the warm-up on. Live that one is past, so that a warm-up which leaves the
        // present candle out misses nothing there.
        if let Some(answer) = differing
            .iter()
            .find(|answer| answer.history(start) > warmup && answer.history(start) > wanted(answer))
        {
            let after = answer.history(start);
            return failed(format!(
                "warmup() says {warmup}, and at candle {} a run that began at candle {start}, {after} candles before, \
                 still decides otherwise: say more, the present candle counted; an indicator that never \
                 quite forgets says in stable_after() how many it takes",
                answer.candle
            ));
        }
        is_one_short |= (differing.iter())
            .any(|answer| answer.history(start) == warmup && warmup > 0 && wanted(answer) == warmup);
        let seen = differing.iter().map(|answer| answer.history(start) + 1);
        *needed = seen.filter(|seen| *seen <= warmup + 1).fold(*needed, usize::max);
    }
    if is_one_short {
        return noted(format!(
            "warmup() says {warmup}, which counts the present candle: the signal of candle {warmup} is traded, and needs one more; \
             say {}",
            warmup + 1
        ));
    }
    passed(format!("warmup() says {warmup}; decisions on these candles needed {needed}", needed = *needed))
}

/// Runs these candles, without prices for the first `past` ones. A live start has no prices for past candles.
pub(super) fn from(bench: &Bench<'_>, candles: &[Candle], past: usize) -> Result<Vec<Answer>, Stop> {
    bench.subject.run(candles, Manner { prices_from: past.max(1), ..Manner::ALONE })
}

pub(super) fn later(answers: Vec<Answer>, start: usize) -> Vec<Answer> {
    answers.into_iter().map(|answer| Answer { candle: answer.candle + start, ..answer }).collect()
}

/// Multiplies the prices of each candle by a factor close to 1, as sums of exactly equal prices could differ by
/// the order of rounding.
fn dithered(candles: &[Candle]) -> Vec<Candle> {
    let mut chance = Chance::new(3);
    candles.iter().map(|candle| moved(candle, candle.time(), 1.0 + 1e-7 * chance.step())).collect()
}

const RESTARTS: usize = 8;
const STRETCH: usize = 150;
const HOLES: [i64; 3] = [1, 61, 3_000];

/// Restarts as a live run does, and compares the decisions.
/// A new instance, built after the old one was dropped, is fed the last `warmup()` candles and then the rest.
/// Once on the market, and once with gaps before the repeated candles.
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
