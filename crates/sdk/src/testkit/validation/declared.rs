//! Checks that a strategy's declaration matches its signals.

use super::subject::{RunError, RunMode, Subject, catch_panic};
use super::{Bench, Check, CheckReport, CheckResult, Finding, failed, passed};
use crate::{Candle, Direction, ExpirationType, Expiry};
use std::cell::Cell;

type SignalTerms = Option<(Direction, Option<Expiry>)>;

pub(super) fn check_declared_signals(bench: &Bench<'_>) -> CheckResult {
    match find_undeclared_expiry(bench)? {
        Some(words) => failed(words),
        None => compare_with_signals(bench.subject, bench.candles),
    }
}

fn find_undeclared_expiry(bench: &Bench<'_>) -> Result<Option<String>, RunError> {
    let usual = bench.subject.bot.expiry;
    let resolve = |expiry: Option<Expiry>| with_explicit_type(expiry.unwrap_or(usual));
    let declared =
        catch_panic(&Cell::new(0), || Ok(bench.subject.build().map_err(RunError::Build)?.expiries()))?;
    let declared: Vec<Expiry> = declared.into_iter().map(resolve).collect();
    let undeclared = bench.answers.iter().find(|answer| !declared.contains(&resolve(answer.signal.expiry)));
    Ok(undeclared.map(|answer| {
        let Expiry { close_type, expiration_type } = resolve(answer.signal.expiry);
        format!(
            "at candle {} the signal has the expiry {close_type} {expiration_type}, which is missing from \
             expiries(): return all possible expiries",
            answer.candle
        )
    }))
}

/// Replaces an unstated expiration type with the type that the venue assumes, `TIME_FIXED`.
fn with_explicit_type(expiry: Expiry) -> Expiry {
    match expiry.expiration_type {
        ExpirationType::Unstated => Expiry { expiration_type: ExpirationType::TimeFixed, ..expiry },
        _ => expiry,
    }
}

/// Checks that a strategy's [`Declaration`](crate::Declaration) matches its signals.
pub fn check_declaration(subject: &Subject, candles: &[Candle]) -> CheckReport {
    super::report_result(Check::Declaration, compare_with_signals(subject, candles))
}

fn compare_with_signals(subject: &Subject, candles: &[Candle]) -> CheckResult {
    let built =
        subject.entry.build_with_declaration(&subject.params, &subject.bot).map_err(RunError::Build)?;
    let Some(declaration) = built.declaration else {
        return Ok((Finding::NotRun, "not used (optional)".to_owned()));
    };
    let (mut series, entries) = declaration.into_parts();
    let mut values = vec![Vec::with_capacity(candles.len()); series.len()];
    catch_panic(&Cell::new(0), || {
        // Passes all candles at once, as a search does.
        for (series, values) in series.iter_mut().zip(&mut values) {
            series.fill(candles, values);
        }
        Ok(())
    })?;
    let answers = subject.run_with_decoys(candles, RunMode::WITHOUT_RESULTS)?;
    let mut answers = answers.iter().peekable();
    for (index, candle) in candles.iter().enumerate() {
        let row: Vec<f64> =
            values.iter().map(|values| values.get(index).copied().unwrap_or(f64::NAN)).collect();
        let met = entries.iter().find(|entry| entry.is_met_by(&row));
        let declared = met.map(|entry| (entry.direction, entry.expiry));
        let answer = answers.next_if(|answer| answer.candle == index);
        let answered = answer.map(|answer| (answer.signal.direction, answer.signal.expiry));
        if declared != answered {
            return failed(format!(
                "at candle {index} (open time {}), {} declares {}, but on_candle returns {}: declare exactly the signals of \
                 on_candle without using later candles, or return None from declaration()",
                candle.time(),
                subject.entry.name,
                describe_signal(declared),
                describe_signal(answered)
            ));
        }
    }
    passed("the declaration matches on_candle at every candle")
}

fn describe_signal(signal: SignalTerms) -> String {
    match signal {
        None => "no signal".to_owned(),
        Some((direction, None)) => direction.to_string(),
        Some((direction, Some(expiry))) => format!("{direction} {}", expiry.close_type),
    }
}
