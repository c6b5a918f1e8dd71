//! Checks for information beyond the current candle: later candles, files, the system clock.

use super::super::candles::shifted;
use super::subject::{Answer, RunMode, Subject, first_difference};
use super::surrogate::AlteredFuture;
use super::{Bench, Check, CheckReport, CheckResult, Finding, Market, failed, noted, passed, run_check};
use crate::Millis;
use serde_json::Value;

const FUTURE_CUTS: usize = 7;
const FUTURE_CANDLES: usize = 80;

/// Feeds candles up to a cut, then continues with different candles.
/// Decisions before the cut must not change. Also places decoys after each fed candle in memory: the trait never
/// passes later candles, but a strategy may find them in another way.
pub(super) fn look_ahead(bench: &Bench<'_>) -> CheckResult {
    let length = bench.candles.len();
    for cut in (1..=FUTURE_CUTS).map(|k| k * length / (FUTURE_CUTS + 1) + k) {
        for future in AlteredFuture::ALL {
            let candles = future.alter(bench.candles, cut, FUTURE_CANDLES);
            let run = bench.subject.run(&candles, RunMode::FULL)?;
            let known = |answer: &&Answer| answer.candle < cut;
            if let Some(candle) =
                first_difference(run.iter().filter(known), bench.answers.iter().filter(known))
            {
                let how = future.name();
                return failed(format!(
                    "at candle {candle} the decision changes if the candles after candle {} are {how}",
                    cut - 1
                ));
            }
        }
    }
    let apart = bench.subject.run_with_decoys(bench.candles, RunMode::FULL)?;
    if let Some(candle) = first_difference(&apart, &bench.answers) {
        return failed(reads_beyond(candle));
    }
    passed(format!(
        "{FUTURE_CUTS} truncated, scrambled, reversed and mirrored futures change no earlier decision, nor do other candles after \
         each in memory"
    ))
}

pub(super) fn reads_beyond(candle: usize) -> String {
    format!(
        "at candle {candle} the decision changes with the data after that candle in memory: the strategy reads beyond it; \
         use only the fields of the candle"
    )
}

const MAX_CANDLES: usize = 2_000;
const CALENDAR_STEPS: i64 = 13;

/// Parameters whose files end at a given time.
#[derive(Clone, Debug)]
pub struct TruncatedParams {
    /// Time at which the files end.
    pub moment: Millis,
    /// Parameters that name the truncated files.
    pub params: Value,
}

/// Compares decisions up to a time with those based on files that end at that time.
/// The caller has truncated the files.
pub fn check_files(subject: &Subject, market: &Market, cut: &[TruncatedParams]) -> CheckReport {
    run_check(Check::Files, files(subject, market, cut))
}

fn files(subject: &Subject, market: &Market, cut: &[TruncatedParams]) -> CheckResult {
    let whole = subject.run(&market.candles, RunMode::FULL)?;
    for TruncatedParams { moment, params } in cut {
        let knows_less = Subject { params: params.clone(), ..subject.clone() };
        let run = match knows_less.run(&market.candles, RunMode::FULL) {
            Ok(run) => run,
            Err(stop) => return noted(format!("not checked, a truncated file is rejected: {stop}")),
        };
        let length = subject.bot.interval.length();
        let is_known = |answer: &&Answer| market.candles[answer.candle].time() + length <= *moment;
        if let Some(candle) = first_difference(whole.iter().filter(is_known), run.iter().filter(is_known)) {
            let name = &market.name;
            return failed(format!(
                "{name}: at candle {candle} the decision changes if the file ends at {moment}: the strategy reads ahead"
            ));
        }
    }
    passed(format!("{} truncations of the file change no earlier decision", cut.len()))
}

/// Feeds the same candles shifted into the past year and into the weeks after the system time `now`.
/// Weekdays and hours stay the same.
pub fn check_clock(subject: &Subject, market: &Market, now: Millis) -> CheckReport {
    run_check(Check::Clock, clock(subject, market, now))
}

fn clock(subject: &Subject, market: &Market, now: Millis) -> CheckResult {
    let candles = &market.candles[market.candles.len().saturating_sub(MAX_CANDLES)..];
    let (Some(first), Some(last)) = (candles.first(), candles.last()) else {
        return Ok((Finding::NotRun, "no candles".to_owned()));
    };
    // Shifts by whole weeks keep hours and weekdays. One step leads from last week to the coming weeks.
    let (week, span) = (Millis::DAY * 7, last.time() - first.time());
    let recent = (now - week - last.time()).floor_to(week);
    let step = (span + week * 3).floor_to(week * 4) + week * 4;
    let run = |by: Millis| subject.run(&shifted(candles, by), RunMode::FULL);
    let answers = run(recent)?;
    // A year of such steps covers every month and day of the month, which reveals dependence on the calendar.
    for back in 1..=CALENDAR_STEPS {
        if first_difference(&run(recent - step * back)?, &answers).is_some() {
            return noted(
                "decisions depend on the date of the candles, so a read of the system clock cannot be detected",
            );
        }
    }
    if let Some(candle) = first_difference(&answers, &run(recent + step)?) {
        return failed(format!(
            "at candle {candle} the decision changes if the candles are newer than the system time: the strategy reads the clock"
        ));
    }
    passed("same decisions on candles of the past year and of the coming weeks")
}
