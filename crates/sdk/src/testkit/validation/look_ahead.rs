//! Checks that decisions do not use later candles, later lines of files, or the system clock.

use super::super::candles::shift_times;
use super::subject::{Answer, RunMode, Subject, first_difference};
use super::surrogate::AlteredFuture;
use super::{Bench, Check, CheckReport, CheckResult, Finding, Market, failed, noted, passed, report_result};
use crate::Millis;
use serde_json::Value;

const CUT_COUNT: usize = 7;
const FUTURE_CANDLES: usize = 80;

/// Checks that earlier decisions do not change if later candles are altered. Also places decoys in memory after each
/// candle, to detect a strategy that reads memory beyond the candle passed to it.
pub(super) fn check_look_ahead(bench: &Bench<'_>) -> CheckResult {
    let length = bench.candles.len();
    for cut in (1..=CUT_COUNT).map(|k| k * length / (CUT_COUNT + 1) + k) {
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
        return failed(describe_read_beyond_candle(candle));
    }
    passed(format!(
        "decisions do not change if the candles after one of {CUT_COUNT} positions are removed, scrambled, reversed or mirrored, \
         or if decoys follow a candle in memory"
    ))
}

pub(super) fn describe_read_beyond_candle(candle: usize) -> String {
    format!(
        "at candle {candle} the decision changes if other data follow this candle in memory: the strategy reads beyond the \
         candle; use only the fields of the candle"
    )
}

const MAX_CLOCK_CHECK_CANDLES: usize = 2_000;
const PAST_SHIFT_COUNT: i64 = 13;

/// Parameters whose files end at a given time.
#[derive(Clone, Debug)]
pub struct TruncatedParams {
    /// Time at which the files end.
    pub end_time: Millis,
    /// Parameters that name the truncated files.
    pub params: Value,
}

/// Checks that decisions up to a time do not change if the strategy's files end at that time.
/// `cut` names the truncated files, which the caller has created.
pub fn check_files(subject: &Subject, market: &Market, cut: &[TruncatedParams]) -> CheckReport {
    report_result(Check::Files, compare_truncated_files(subject, market, cut))
}

fn compare_truncated_files(subject: &Subject, market: &Market, cut: &[TruncatedParams]) -> CheckResult {
    let whole = subject.run(&market.candles, RunMode::FULL)?;
    for TruncatedParams { end_time: moment, params } in cut {
        let knows_less = Subject { params: params.clone(), ..subject.clone() };
        let run = match knows_less.run(&market.candles, RunMode::FULL) {
            Ok(run) => run,
            Err(stop) => return noted(format!("not checked: the strategy rejects truncated files: {stop}")),
        };
        let length = subject.bot.interval.length();
        let is_known = |answer: &&Answer| market.candles[answer.candle].time() + length <= *moment;
        if let Some(candle) = first_difference(whole.iter().filter(is_known), run.iter().filter(is_known)) {
            let name = &market.name;
            return failed(format!(
                "{name}: at candle {candle} the decision changes if the file ends at {moment}: the strategy uses later lines of the file"
            ));
        }
    }
    passed(format!("earlier decisions are the same after {} truncations of the file", cut.len()))
}

/// Checks that decisions do not depend on the system time `now`.
/// Feeds the same candles, shifted into the past year and into the coming weeks. Weekdays and hours stay the same.
pub fn check_clock(subject: &Subject, market: &Market, now: Millis) -> CheckReport {
    report_result(Check::Clock, compare_shifted_times(subject, market, now))
}

fn compare_shifted_times(subject: &Subject, market: &Market, now: Millis) -> CheckResult {
    let candles = &market.candles[market.candles.len().saturating_sub(MAX_CLOCK_CHECK_CANDLES)..];
    let (Some(first), Some(last)) = (candles.first(), candles.last()) else {
        return Ok((Finding::NotRun, "no candles".to_owned()));
    };
    // Shifts by whole weeks keep hours and weekdays. One step moves the candles from last week to the coming weeks.
    let (week, span) = (Millis::DAY * 7, last.time() - first.time());
    let recent = (now - week - last.time()).floor_to(week);
    let step = (span + week * 3).floor_to(week * 4) + week * 4;
    let run = |by: Millis| subject.run(&shift_times(candles, by), RunMode::FULL);
    let answers = run(recent)?;
    // Steps over a year cover every month and day of the month, and reveal decisions that depend on the date.
    for back in 1..=PAST_SHIFT_COUNT {
        if first_difference(&run(recent - step * back)?, &answers).is_some() {
            return noted(
                "decisions depend on the dates of candles, so reads of the system clock cannot be detected",
            );
        }
    }
    if let Some(candle) = first_difference(&answers, &run(recent + step)?) {
        return failed(format!(
            "at candle {candle} the decision changes if the candles are newer than the system time: the strategy reads the system clock"
        ));
    }
    passed("decisions are the same on candles dated in the past year and in the coming weeks")
}
