//! Checks of signal contents, of signals on extreme candles, and of memory growth.

use super::super::allocator::Allocations;
use super::super::candles::{
    at_interval, extreme, flat, gappy, random_walk, rescale, shift_times, with_ohlcv,
};
use super::look_ahead::describe_read_beyond_candle;
use super::subject::{
    Answer, Feed, RunError, RunMode, Subject, catch_panic, differences, first_difference, with_spare_capacity,
};
use super::surrogate::with_volume;
use super::{Bench, CheckResult, Finding, failed, noted, passed};
use crate::{Candle, Millis, Ohlcv, Reason, group_thousands};
use std::cell::Cell;

const TINY_PRICE_FACTOR: f64 = 1e-10;
const HUGE_PRICE_FACTOR: f64 = 1e10;
const EXTREME_PRICES_NAME: &str = "extreme prices";

pub(super) fn check_numbers(bench: &Bench<'_>) -> CheckResult {
    match find_invalid_signal(&bench.answers) {
        Some(words) => failed(words),
        None => passed("all numbers in signals are finite"),
    }
}

pub(super) fn check_extremes(subject: &Subject, warmup: usize) -> CheckResult {
    let count = warmup + super::MIN_CHECKED_CANDLES;
    let walk = random_walk(5, count);
    let scaled = |factor: f64| walk.iter().map(|candle| rescale(candle, candle.time(), factor)).collect();
    for (name, candles) in [
        ("flat prices", flat(count)),
        ("gaps", gappy(1, count)),
        ("tiny prices", scaled(TINY_PRICE_FACTOR)),
        ("huge prices", scaled(HUGE_PRICE_FACTOR)),
        ("gaps of three days", with_long_gaps(&walk)),
        ("volume times a million", walk.iter().map(|one| with_volume(one, one.volume() * 1e6)).collect()),
        (EXTREME_PRICES_NAME, extreme(count)),
    ] {
        let candles = at_interval(&candles, subject.bot.interval);
        let invalid_signal = match subject.run(&candles, RunMode::FULL) {
            // A quotient of such prices may overflow in any strategy.
            Ok(_) if name == EXTREME_PRICES_NAME => None,
            Ok(answers) => find_invalid_signal(&answers),
            Err(stop) => Some(stop.to_string()),
        };
        let ahead = || -> Result<Option<String>, RunError> {
            let (apart, run) =
                (subject.run_with_decoys(&candles, RunMode::FULL)?, subject.run(&candles, RunMode::FULL)?);
            Ok(first_difference(&apart, &run).map(describe_read_beyond_candle))
        };
        if let Some(words) = invalid_signal.map_or_else(ahead, |words| Ok(Some(words)))? {
            return failed(format!("{name}: {words}"));
        }
    }
    match find_flat_price_effect(subject, warmup)? {
        Some(answer) => failed(format!(
            "flat prices affect the decision at candle {}, although they ended more than {warmup} candles earlier",
            answer.candle
        )),
        None => passed("flat, tiny, huge and extreme prices and gaps cause no failure"),
    }
}

fn with_long_gaps(walk: &[Candle]) -> Vec<Candle> {
    let late = |(index, candle): (usize, &Candle)| {
        rescale(candle, candle.time() + Millis::DAY * 3 * (index / 97) as i64, 1.0)
    };
    walk.iter().enumerate().map(late).collect()
}

fn find_flat_price_effect(subject: &Subject, warmup: usize) -> Result<Option<Answer>, RunError> {
    let moving = warmup + super::MIN_CHECKED_CANDLES;
    let mut candles = at_interval(&random_walk(7, 3 * moving), subject.bot.interval);
    let price = candles[moving].open();
    let still = Ohlcv { open: price, high: price, low: price, close: price, volume: 0.0 };
    for candle in &mut candles[moving..2 * moving] {
        *candle = with_ohlcv(candle, candle.time(), still);
    }
    let factor = price / candles[2 * moving].open();
    for candle in &mut candles[2 * moving..] {
        *candle = rescale(candle, candle.time(), factor);
    }
    let fresh = subject
        .run(&candles[2 * moving..], RunMode { prices_from: warmup.max(1), ..RunMode::WITHOUT_RESULTS })?;
    let fresh: Vec<Answer> =
        fresh.into_iter().map(|answer| Answer { candle: answer.candle + 2 * moving, ..answer }).collect();
    let mut all = subject.run(&candles, RunMode::WITHOUT_RESULTS)?;
    all.retain(|answer| answer.candle >= 2 * moving);
    let differing = differences(&fresh, &all);
    // The comparison starts one candle after the warm-up, because another check verifies the warm-up's length.
    Ok(differing.into_iter().find(|answer| answer.fed_candle_count(2 * moving) > warmup))
}

pub(in crate::testkit) fn check_number_count(reason: &Reason) -> Option<String> {
    let most = Reason::MAX_NUMBERS;
    reason.is_truncated().then(|| {
        let text = reason.text();
        format!("the signal \"{text}\" has more than {most} numbers, and the rest are dropped: remove a `.with(..)`")
    })
}

fn find_invalid_signal(answers: &[Answer]) -> Option<String> {
    answers.iter().find_map(|Answer { candle, signal, .. }| {
        if let Some(words) = check_number_count(&signal.reason) {
            return Some(format!("at candle {candle} {words}"));
        }
        let mut numbers = signal.reason.numbers();
        let (name, value) = numbers.find(|(_, value)| !value.is_finite())?;
        Some(format!("at candle {candle} the signal's {name} is {value}, but numbers must be finite"))
    })
}

const MIN_BLOCK_CANDLES: usize = 3_000;
const BLOCK_COUNT: usize = 10;
const SETTLEMENT_BLOCK_COUNT: usize = 4;
/// Maximum memory growth in bytes per candle. At this rate, a run takes years to exhaust the memory.
const MAX_GROWTH_BYTES_PER_CANDLE: f64 = 0.25;

pub(super) fn check_memory(subject: &Subject, warmup: usize) -> CheckResult {
    if !Allocations::is_counting() {
        let words =
            "memory is not measured: install candlewick_sdk::testkit::CountingAllocator in the program";
        return Ok((Finding::NotRun, words.to_owned()));
    }
    let block = at_interval(&random_walk(29, 2 * warmup + MIN_BLOCK_CANDLES), subject.bot.interval);
    let alone = measure_growth(subject, &block, BLOCK_COUNT, RunMode::WITHOUT_RESULTS)?;
    let candles = (block.len() * (BLOCK_COUNT - 1)) as f64;
    let (bytes, calls) = (alone.bytes as f64 / candles, alone.calls as f64 / candles);
    if bytes > MAX_GROWTH_BYTES_PER_CANDLE {
        return failed(format!("memory grows by {bytes:.1} bytes per candle without limit"));
    }
    let settled = measure_growth(subject, &block, SETTLEMENT_BLOCK_COUNT, RunMode::FULL)?.bytes as f64
        / (block.len() * (SETTLEMENT_BLOCK_COUNT - 1)) as f64;
    if settled > MAX_GROWTH_BYTES_PER_CANDLE {
        return failed(format!(
            "with settlements, memory grows by {settled:.1} bytes per candle without limit: drop old settlements"
        ));
    }
    if calls > MAX_GROWTH_BYTES_PER_CANDLE {
        return noted(format!(
            "memory does not grow, but the strategy makes {calls:.1} allocations per candle, which is slow"
        ));
    }
    passed(format!("memory does not grow over {} candles", group_thousands(&candles.to_string())))
}

fn measure_growth(
    subject: &Subject,
    block: &[Candle],
    times: usize,
    mode: RunMode,
) -> Result<Allocations, RunError> {
    let length = subject.bot.interval.length() * block.len() as i64;
    let all: Vec<Candle> = (0..times as i64).flat_map(|time| shift_times(block, length * time)).collect();
    let all = with_spare_capacity(&all);
    // Answers are dropped, and each block ends with the same number of open trades.
    let mut feed = Feed::new(subject, mode)?;
    let mut first = None;
    let place = Cell::new(0);
    catch_panic(&place, || {
        while place.get() < all.len() {
            feed.feed_next(&all, &place);
            feed.answers.truncate(0);
            if place.get() == block.len() {
                first = Some(Allocations::current_thread());
            }
        }
        Ok(())
    })?;
    let (last, first) = (Allocations::current_thread(), first.unwrap_or_default());
    Ok(Allocations { bytes: last.bytes - first.bytes, calls: last.calls - first.calls })
}
