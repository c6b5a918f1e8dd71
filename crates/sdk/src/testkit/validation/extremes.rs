//! Checks of signal contents, of signals on extreme candles, and of memory growth.

use super::super::allocator::Allocations;
use super::super::candles::{at_interval, flat, gappy, moved, random_walk, remade, shifted, wild};
use super::look_ahead::behind;
use super::subject::{
    Answer, Manner, Showing, Stop, Subject, differences, first_difference, guarded, with_room,
};
use super::surrogate::with_volume;
use super::{Bench, Finding, Found, failed, noted, passed};
use crate::{Candle, Millis, Ohlcv, Reason};
use std::cell::Cell;

const TINY: f64 = 1e-10;
const HUGE: f64 = 1e10;
const WILD: &str = "wild prices";

pub(super) fn numbers(bench: &Bench<'_>) -> Found {
    match unsound(&bench.answers) {
        Some(words) => failed(words),
        None => passed("the numbers of its reasons are finite"),
    }
}

pub(super) fn extremes(subject: &Subject, warmup: usize) -> Found {
    let count = warmup + super::SPARE_CANDLES;
    let walk = random_walk(5, count);
    let scaled = |factor: f64| walk.iter().map(|candle| moved(candle, candle.time(), factor)).collect();
    for (name, candles) in [
        ("flat prices", flat(count)),
        ("holes", gappy(1, count)),
        ("tiny prices", scaled(TINY)),
        ("huge prices", scaled(HUGE)),
        ("holes of three days", with_long_holes(&walk)),
        ("volume times a million", walk.iter().map(|one| with_volume(one, one.volume() * 1e6)).collect()),
        (WILD, wild(count)),
    ] {
        let candles = at_interval(&candles, subject.bot.interval);
        let unsound = match subject.run(&candles, Manner::LIVE) {
            // A quotient of such prices may be more than a number can hold, whoever takes it.
            Ok(_) if name == WILD => None,
            Ok(answers) => unsound(&answers),
            Err(stop) => Some(stop.to_string()),
        };
        let ahead = || -> Result<Option<String>, Stop> {
            let (apart, run) =
                (subject.run_apart(&candles, Manner::LIVE)?, subject.run(&candles, Manner::LIVE)?);
            Ok(first_difference(&apart, &run).map(behind))
        };
        if let Some(words) = unsound.map_or_else(ahead, |words| Ok(Some(words)))? {
            return failed(format!("{name}: {words}"));
        }
    }
    match after_standstill(subject, warmup)? {
        Some(answer) => failed(format!(
            "after prices that stood still, and {warmup} candles that moved, it decides at candle {} as a new one does not",
            answer.candle
        )),
        None => passed("flat, tiny, huge, wild and broken-off prices do not upset it"),
    }
}

fn with_long_holes(walk: &[Candle]) -> Vec<Candle> {
    let late = |(index, candle): (usize, &Candle)| {
        moved(candle, candle.time() + Millis::DAY * 3 * (index / 97) as i64, 1.0)
    };
    walk.iter().enumerate().map(late).collect()
}

fn after_standstill(subject: &Subject, warmup: usize) -> Result<Option<Answer>, Stop> {
    let moving = warmup + super::SPARE_CANDLES;
    let mut candles = at_interval(&random_walk(7, 3 * moving), subject.bot.interval);
    let price = candles[moving].open();
    let still = Ohlcv { open: price, high: price, low: price, close: price, volume: 0.0 };
    for candle in &mut candles[moving..2 * moving] {
        *candle = remade(candle, candle.time(), still);
    }
    let factor = price / candles[2 * moving].open();
    for candle in &mut candles[2 * moving..] {
        *candle = moved(candle, candle.time(), factor);
    }
    let fresh =
        subject.run(&candles[2 * moving..], Manner { prices_from: warmup.max(1), ..Manner::ALONE })?;
    let fresh: Vec<Answer> =
        fresh.into_iter().map(|answer| Answer { candle: answer.candle + 2 * moving, ..answer }).collect();
    let mut all = subject.run(&candles, Manner::ALONE)?;
    all.retain(|answer| answer.candle >= 2 * moving);
    let differing = differences(&fresh, &all);
    // One more than the warm-up, whose length is not the matter here.
    Ok(differing.into_iter().find(|answer| answer.history(2 * moving) > warmup))
}

pub(in crate::testkit) fn too_many_numbers(reason: &Reason) -> Option<String> {
    let most = Reason::MAX_NUMBERS;
    reason.is_cut().then(|| {
        let text = reason.text();
        format!("the signal \"{text}\" has more than {most} numbers, and those after the {most}th are left out: drop a `.with(..)`")
    })
}

fn unsound(answers: &[Answer]) -> Option<String> {
    answers.iter().find_map(|Answer { candle, signal, .. }| {
        if let Some(words) = too_many_numbers(&signal.reason) {
            return Some(format!("at candle {candle} {words}"));
        }
        let mut numbers = signal.reason.numbers();
        let (name, value) = numbers.find(|(_, value)| !value.is_finite())?;
        Some(format!("at candle {candle} the signal's {name} is {value}"))
    })
}

const SETTLE: usize = 3_000;
const TIMES: usize = 10;
const TIMES_SETTLED: usize = 4;
/// Allowed growth in bytes per candle: too little to exhaust memory within years.
const MAX_BYTES: f64 = 0.25;

pub(super) fn memory(subject: &Subject, warmup: usize) -> Found {
    if !Allocations::are_counted() {
        let words =
            "the program has no counting allocator: install candlewick_sdk::testkit::CountingAllocator";
        return Ok((Finding::NotRun, words.to_owned()));
    }
    let block = at_interval(&random_walk(29, 2 * warmup + SETTLE), subject.bot.interval);
    let alone = growth(subject, &block, TIMES, Manner::ALONE)?;
    let candles = (block.len() * (TIMES - 1)) as f64;
    let (bytes, calls) = (alone.bytes as f64 / candles, alone.calls as f64 / candles);
    if bytes > MAX_BYTES {
        return failed(format!("it holds {bytes:.1} bytes more with every candle, for ever"));
    }
    let settled = growth(subject, &block, TIMES_SETTLED, Manner::LIVE)?.bytes as f64
        / (block.len() * (TIMES_SETTLED - 1)) as f64;
    if settled > MAX_BYTES {
        return failed(format!(
            "shown how its trades end, it holds {settled:.1} bytes more with every candle, for ever: forget old settlements"
        ));
    }
    if calls > MAX_BYTES {
        return noted(format!(
            "it holds no more with time, but takes memory {calls:.1} times a candle, which is slow"
        ));
    }
    passed(format!("what it holds does not grow over {candles} candles"))
}

fn growth(subject: &Subject, block: &[Candle], times: usize, manner: Manner) -> Result<Allocations, Stop> {
    let length = subject.bot.interval.length() * block.len() as i64;
    let all: Vec<Candle> = (0..times as i64).flat_map(|time| shifted(block, length * time)).collect();
    let all = with_room(&all);
    // No answers are kept, and of open trades as many at the end of each block as at the end of the first.
    let mut showing = Showing::new(subject, manner)?;
    let mut first = None;
    let place = Cell::new(0);
    guarded(&place, || {
        while place.get() < all.len() {
            showing.show_next(&all, &place);
            showing.answers.truncate(0);
            if place.get() == block.len() {
                first = Some(Allocations::of_this_thread());
            }
        }
        Ok(())
    })?;
    let (last, first) = (Allocations::of_this_thread(), first.unwrap_or_default());
    Ok(Allocations { bytes: last.bytes - first.bytes, calls: last.calls - first.calls })
}
