//! Checks for knowledge that a candle does not give: later candles, files, the system clock.

use super::super::candles::shifted;
use super::subject::{Answer, Manner, Subject, first_difference};
use super::surrogate::Future;
use super::{Bench, Check, Checked, Finding, Found, Market, failed, noted, once, passed};
use crate::Millis;
use serde_json::Value;

const CUTS: usize = 7;
const FUTURE: usize = 80;

/// Feeds candles up to a cut, then another future.
/// Earlier decisions must stay the same. Also feeds each candle with decoys after it in memory. The trait
/// never passes a later candle, but a strategy may know them from elsewhere.
pub(super) fn look_ahead(bench: &Bench<'_>) -> Found {
    let length = bench.candles.len();
    for cut in (1..=CUTS).map(|k| k * length / (CUTS + 1) + k) {
        for future in Future::ALL {
            let candles = future.of(bench.candles, cut, FUTURE);
            let run = bench.subject.run(&candles, Manner::LIVE)?;
            let known = |answer: &&Answer| answer.candle < cut;
            if let Some(candle) =
                first_difference(run.iter().filter(known), bench.answers.iter().filter(known))
            {
                let how = future.name();
                return failed(format!(
                    "at candle {candle} it decides otherwise when what follows candle {} is {how}",
                    cut - 1
                ));
            }
        }
    }
    let apart = bench.subject.run_apart(bench.candles, Manner::LIVE)?;
    if let Some(candle) = first_difference(&apart, &bench.answers) {
        return failed(behind(candle));
    }
    passed(format!(
        "{CUTS} futures cut off, scrambled, reversed and mirrored change nothing before them, nor do other candles behind \
         each in memory"
    ))
}

pub(super) fn behind(candle: usize) -> String {
    format!(
        "at candle {candle} it decides otherwise when other candles lie behind that one in memory: it reads beyond what it is \
         shown; use the fields of the candle alone"
    )
}

const MAX_CANDLES: usize = 2_000;
const STEPS_BACK: i64 = 13;

/// Parameters whose files contain only what was known at a given time.
#[derive(Clone, Debug)]
pub struct KnownUntil {
    /// Time up to which the files reach.
    pub moment: Millis,
    /// Parameters that name such files.
    pub params: Value,
}

/// Compares decisions up to a time with those based on files that end at that time.
/// The caller has truncated the files.
pub fn check_files(subject: &Subject, market: &Market, cut: &[KnownUntil]) -> Checked {
    once(Check::Files, files(subject, market, cut))
}

fn files(subject: &Subject, market: &Market, cut: &[KnownUntil]) -> Found {
    let whole = subject.run(&market.candles, Manner::LIVE)?;
    for KnownUntil { moment, params } in cut {
        let knows_less = Subject { params: params.clone(), ..subject.clone() };
        let run = match knows_less.run(&market.candles, Manner::LIVE) {
            Ok(run) => run,
            Err(stop) => return noted(format!("a part of its file does not do: {stop}")),
        };
        let length = subject.bot.interval.length();
        let is_known = |answer: &&Answer| market.candles[answer.candle].time() + length <= *moment;
        if let Some(candle) = first_difference(whole.iter().filter(is_known), run.iter().filter(is_known)) {
            let name = &market.name;
            return failed(format!(
                "{name}: at candle {candle} it decides otherwise when its file ends with the moment {moment}: it reads ahead"
            ));
        }
    }
    passed(format!("cut off at {} moments, its file changes nothing before them", cut.len()))
}

/// Feeds the same candles as if they were from other times.
/// From the past year, and from weeks after the system time `now`. Weekdays and hours stay the same.
pub fn check_clock(subject: &Subject, market: &Market, now: Millis) -> Checked {
    once(Check::Clock, clock(subject, market, now))
}

fn clock(subject: &Subject, market: &Market, now: Millis) -> Found {
    let candles = &market.candles[market.candles.len().saturating_sub(MAX_CANDLES)..];
    let (Some(first), Some(last)) = (candles.first(), candles.last()) else {
        return Ok((Finding::NotRun, "no candles".to_owned()));
    };
    // Whole weeks, so that hours and days of the week stay, and a step that leads from last week into next.
    let (week, span) = (Millis::DAY * 7, last.time() - first.time());
    let recent = (now - week - last.time()).floor_to(week);
    let step = (span + week * 3).floor_to(week * 4) + week * 4;
    let run = |by: Millis| subject.run(&shifted(candles, by), Manner::LIVE);
    let answers = run(recent)?;
    // A year of such steps meets every month and every day of a month: who goes by the calendar shows it here.
    for back in 1..=STEPS_BACK {
        if first_difference(&run(recent - step * back)?, &answers).is_some() {
            return noted(
                "it decides by the date of the candles: whether it reads the machine's clock as well cannot be seen",
            );
        }
    }
    if let Some(candle) = first_difference(&answers, &run(recent + step)?) {
        return failed(format!(
            "at candle {candle} it decides otherwise when the candles are newer than the machine's clock: it reads the clock"
        ));
    }
    passed("candles of the past year and of weeks to come give the same decisions")
}
