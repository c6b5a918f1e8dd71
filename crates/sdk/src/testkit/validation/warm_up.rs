//! Checks that decisions after the warm-up do not depend on where the run started.

use super::super::candles::{Rng, at_interval, random_walk, rescale};
use super::subject::{Answer, RunError, RunMode, differences, first_difference};
use super::{Bench, CheckResult, failed, noted, passed};
use crate::{Candle, Millis};

const LATER_START_COUNT: usize = 12;

/// Checks that runs with a later start make the same decisions as the full run, after their warm-up.
/// Sets `needed` to the smallest sufficient warm-up.
pub(super) fn check_warm_up(bench: &Bench<'_>, needed: &mut usize) -> CheckResult {
    let candles = dither_prices(bench.candles);
    let full = bench.subject.run(&candles, RunMode::WITHOUT_RESULTS)?;
    let (length, warmup) = (candles.len(), bench.warmup);
    // Odd distances between starts reveal a strategy that acts on every second, fourth or tenth candle.
    let last = length - warmup - super::MIN_CHECKED_CANDLES / 2;
    let mut is_one_too_few = false;
    for k in 0..LATER_START_COUNT {
        let start = 25 + k * (last - 25) / LATER_START_COUNT + k;
        // Each run continues to the last candle, to reveal a strategy that counts candles from its start.
        let late = shift_answers(run_from(bench, &candles[start..], warmup)?, start);
        let part: Vec<Answer> =
            full.iter().filter(|answer| answer.fed_candle_count(0) > start).cloned().collect();
        let differing = differences(&late, &part);
        // The required history exceeds the warm-up if candles are missing within longer candles.
        let wanted =
            |answer: &Answer| bench.required_history(&candles[..start + answer.fed_candle_count(start)]);
        // A live run trades only after this candle, so a warm-up without the current candle is not a failure there.
        if let Some(answer) = differing.iter().find(|answer| {
            answer.fed_candle_count(start) > warmup && answer.fed_candle_count(start) > wanted(answer)
        }) {
            let after = answer.fed_candle_count(start);
            return failed(format!(
                "warmup() returns {warmup}, which is too small: at candle {}, a run from candle {start} on ({after} candles) \
                 decides differently than the full run; return a larger number, such as warmup() of the indicator",
                answer.candle
            ));
        }
        is_one_too_few |= (differing.iter())
            .any(|answer| answer.fed_candle_count(start) == warmup && warmup > 0 && wanted(answer) == warmup);
        let seen = differing.iter().map(|answer| answer.fed_candle_count(start) + 1);
        *needed = seen.filter(|seen| *seen <= warmup + 1).fold(*needed, usize::max);
    }
    if is_one_too_few {
        return noted(format!(
            "warmup() returns {warmup}, which is one too few: the signal of candle {warmup} is traded but needs one \
             more candle of history; return {}",
            warmup + 1
        ));
    }
    passed(format!("warmup() returns {warmup}; on these candles the strategy needed {needed}"))
}

/// Runs the strategy as in a live run, which receives no prices during the first `history` candles.
fn run_from(bench: &Bench<'_>, candles: &[Candle], history: usize) -> Result<Vec<Answer>, RunError> {
    bench.subject.run(candles, RunMode { prices_from: history.max(1), ..RunMode::WITHOUT_RESULTS })
}

fn shift_answers(answers: Vec<Answer>, start: usize) -> Vec<Answer> {
    answers.into_iter().map(|answer| Answer { candle: answer.candle + start, ..answer }).collect()
}

/// Adds tiny noise to the prices, because rounding errors that depend on a run's start could decide exact ties.
fn dither_prices(candles: &[Candle]) -> Vec<Candle> {
    let mut chance = Rng::new(3);
    candles.iter().map(|candle| rescale(candle, candle.time(), 1.0 + 1e-7 * chance.signed_unit())).collect()
}

const RESTART_COUNT: usize = 8;
const COMPARED_CANDLES: usize = 150;
const GAP_CANDLES: [i64; 3] = [1, 61, 3_000];

/// Checks that a new instance, fed the last `warmup()` candles and then the rest, decides like the uninterrupted run.
/// Restarts are checked on the market itself, and on candles with gaps.
pub(super) fn check_restart(bench: &Bench<'_>) -> CheckResult {
    let candles = dither_prices(bench.candles);
    let (length, warmup) = (candles.len(), bench.warmup);
    let moments = (1..=RESTART_COUNT).map(|k| warmup + k * (length - warmup - 1) / (RESTART_COUNT + 1));
    if let Some(answer) = find_restart_difference(bench, &candles, moments)? {
        return failed(describe_difference(&answer, warmup, ""));
    }
    let broken = with_gaps(bench);
    let stretches = (1..=GAP_CANDLES.len()).map(|k| k * (warmup + COMPARED_CANDLES) + warmup + 20);
    if let Some(answer) = find_restart_difference(bench, &broken, stretches)? {
        return failed(describe_difference(&answer, warmup, " after a gap"));
    }
    if first_difference(&bench.answers, &bench.answers_without_results).is_some() {
        return noted("decisions depend on settlements, but settlements are not replayed after a restart");
    }
    passed(format!("decisions are the same after {} restarts", RESTART_COUNT + GAP_CANDLES.len()))
}

fn describe_difference(answer: &Answer, warmup: usize, gap: &str) -> String {
    format!("after a restart with {warmup} candles{gap}, the decision at candle {} differs", answer.candle)
}

fn find_restart_difference(
    bench: &Bench<'_>,
    candles: &[Candle],
    moments: impl Iterator<Item = usize>,
) -> Result<Option<Answer>, RunError> {
    let uninterrupted = bench.subject.run(candles, RunMode::WITHOUT_RESULTS)?;
    for moment in moments {
        // Drops the old instance at this moment, as if the process had stopped.
        bench.subject.run(&candles[..moment], RunMode::WITHOUT_RESULTS)?;
        let end = candles.len().min(moment + COMPARED_CANDLES - 20);
        let past = bench.required_history(&candles[..moment]);
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
    let walk = at_interval(&random_walk(17, stretch * (GAP_CANDLES.len() + 1)), interval);
    let mut missing = Millis::ZERO;
    let mut later = |(index, candle): (usize, &Candle)| {
        if index > 0 && index.is_multiple_of(stretch) {
            missing += interval.length() * GAP_CANDLES[index / stretch - 1];
        }
        rescale(candle, candle.time() + missing, 1.0)
    };
    walk.iter().enumerate().map(&mut later).collect()
}
