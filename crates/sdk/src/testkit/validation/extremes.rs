//! Checks of signal contents, and of signals on extreme candles.

use super::super::candles::{at_interval, flat, gappy, moved, random_walk, wild};
use super::bench::{Bench, Found, failed, passed};
use super::decoys::with_volume;
use super::look_ahead::behind;
use super::subject::{Answer, Manner, Stop, Subject, differences, first_difference};
use crate::{Candle, Millis, Reason};

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
    for candle in &mut candles[moving..2 * moving] {
        *candle = still(candle, price);
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

fn still(candle: &Candle, price: f64) -> Candle {
    let numbers = crate::Ohlcv { open: price, high: price, low: price, close: price, volume: 0.0 };
    Candle::new(candle.time(), crate::Interval::SECOND, numbers).unwrap_or(*candle)
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
