//! Checks that decisions do not depend on the start of the run after the warm-up.

use super::super::candles::{Rng, at_interval, random_walk, rescale};
use super::subject::{Answer, RunError, RunMode, differences, first_difference};
use super::{Bench, CheckResult, failed, noted, passed};
use crate::{Candle, Millis};

const LATER_STARTS: usize = 12;

/// Compares runs from later starts with the full run, each after its warm-up.
/// Sets `needed` to the smallest sufficient warm-up.
pub(super) fn warm_up(bench: &Bench<'_>, needed: &mut usize) -> CheckResult {
    let candles = dither_prices(bench.candles);
    let full = bench.subject.run(&candles, RunMode::WITHOUT_RESULTS)?;
    let (length, warmup) = (candles.len(), bench.warmup);
    // Odd distances reveal a strategy that counts in twos, fours or tens.
    let last = length - warmup - super::MIN_CHECKED_CANDLES / 2;
    let mut is_one_too_few = false;
    for k in 0..LATER_STARTS {
        let start = 25 + k * (last - 25) / LATER_STARTS + k;
        // Runs up to the last candle, which reveals any counting from the start.
        let late = shift_answers(run_from(bench, &candles[start..], warmup)?, start);
        let part: Vec<Answer> = full.iter().filter(|answer| answer.history(0) > start).cloned().collect();
        let differing = differences(&late, &part);
        // Larger than the warm-up if candles are missing inside longer ones.
        let wanted = |answer: &Answer| bench.history(&candles[..start + answer.history(start)]);
        // A live run trades only after this candle, so a warm-up without the current candle is not a failure there.
        if let Some(answer) = differing
            .iter()
            .find(|answer| answer.history(start) > warmup && answer.history(start) > wanted(answer))
        {
            let after = answer.history(start);
            return failed(format!(
                "warmup() returns {warmup}, which is too small: at candle {}, a run that started at candle {start}, {after} candles \
                 earlier, decides differently; return a larger number, such as stable_after() of the indicator",
                answer.candle
            ));
        }
        is_one_too_few |= (differing.iter())
            .any(|answer| answer.history(start) == warmup && warmup > 0 && wanted(answer) == warmup);
        let seen = differing.iter().map(|answer| answer.history(start) + 1);
        *needed = seen.filter(|seen| *seen <= warmup + 1).fold(*needed, usize::max);
    }
    if is_one_too_few {
        return noted(format!(
            "warmup() returns {warmup}, one too few: the signal of candle {warmup} is traded, and needs one more candle; \
             return {}",
            warmup + 1
        ));
    }
    passed(format!("warmup() returns {warmup}; these candles needed {needed}", needed = *needed))
}

/// Runs these candles, the first `past` ones without prices, which a live start does not have either.
fn run_from(bench: &Bench<'_>, candles: &[Candle], past: usize) -> Result<Vec<Answer>, RunError> {
    bench.subject.run(candles, RunMode { prices_from: past.max(1), ..RunMode::WITHOUT_RESULTS })
}

fn shift_answers(answers: Vec<Answer>, start: usize) -> Vec<Answer> {
    answers.into_iter().map(|answer| Answer { candle: answer.candle + start, ..answer }).collect()
}

/// Multiplies the prices of each candle by a factor close to 1.
/// Otherwise sums of exactly equal prices could depend on the order of rounding.
fn dither_prices(candles: &[Candle]) -> Vec<Candle> {
    let mut chance = Rng::new(3);
    candles.iter().map(|candle| rescale(candle, candle.time(), 1.0 + 1e-7 * chance.step())).collect()
}

const RESTARTS: usize = 8;
const COMPARED_CANDLES: usize = 150;
const GAP_LENGTHS: [i64; 3] = [1, 61, 3_000];

/// Restarts as a live run does, and compares the decisions.
/// A new instance, built after the old one was dropped, is fed the last `warmup()` candles and then the rest.
/// Restarts are checked on the market itself, and with gaps before the repeated candles.
pub(super) fn restart(bench: &Bench<'_>) -> CheckResult {
    let candles = dither_prices(bench.candles);
    let (length, warmup) = (candles.len(), bench.warmup);
    let moments = (1..=RESTARTS).map(|k| warmup + k * (length - warmup - 1) / (RESTARTS + 1));
    if let Some(answer) = first_change(bench, &candles, moments)? {
        return failed(describe_difference(&answer, warmup, ""));
    }
    let broken = with_gaps(bench);
    let stretches = (1..=GAP_LENGTHS.len()).map(|k| k * (warmup + COMPARED_CANDLES) + warmup + 20);
    if let Some(answer) = first_change(bench, &broken, stretches)? {
        return failed(describe_difference(&answer, warmup, " after a gap"));
    }
    if first_difference(&bench.answers, &bench.alone).is_some() {
        return noted("decisions depend on settlements, which are not repeated after a restart");
    }
    passed(format!("same decisions after {} restarts", RESTARTS + GAP_LENGTHS.len()))
}

fn describe_difference(answer: &Answer, warmup: usize, gap: &str) -> String {
    format!("restarted from the last {warmup} candles{gap}, the decision at candle {} differs", answer.candle)
}

fn first_change(
    bench: &Bench<'_>,
    candles: &[Candle],
    moments: impl Iterator<Item = usize>,
) -> Result<Option<Answer>, RunError> {
    let uninterrupted = bench.subject.run(candles, RunMode::WITHOUT_RESULTS)?;
    for moment in moments {
        // Drops the old instance at this moment, like that of a stopped process.
        bench.subject.run(&candles[..moment], RunMode::WITHOUT_RESULTS)?;
        let end = candles.len().min(moment + COMPARED_CANDLES - 20);
        let past = bench.history(&candles[..moment]);
        let restored = shift_answers(run_from(bench, &candles[moment - past..end], past)?, moment - past);
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

fn with_gaps(bench: &Bench<'_>) -> Vec<Candle> {
    let (interval, stretch) = (bench.subject.bot.interval, bench.warmup + COMPARED_CANDLES);
    let walk = at_interval(&random_walk(17, stretch * (GAP_LENGTHS.len() + 1)), interval);
    let mut missing = Millis::ZERO;
    let mut later = |(index, candle): (usize, &Candle)| {
        if index > 0 && index.is_multiple_of(stretch) {
            missing += interval.length() * GAP_LENGTHS[index / stretch - 1];
        }
        rescale(candle, candle.time() + missing, 1.0)
    };
    walk.iter().enumerate().map(&mut later).collect()
}
