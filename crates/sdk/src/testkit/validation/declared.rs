//! Check that a strategy's declaration matches its signals.

use super::subject::{Manner, Stop, Subject, guarded};
use super::{Bench, Check, Checked, Finding, Found, failed, passed};
use crate::{Candle, Direction, ExpirationType, Expiry};
use std::cell::Cell;

type Asked = Option<(Direction, Option<Expiry>)>;

pub(super) fn declaration(bench: &Bench<'_>) -> Found {
    match undeclared_expiry(bench)? {
        Some(words) => failed(words),
        None => compare(bench.subject, bench.candles),
    }
}

fn undeclared_expiry(bench: &Bench<'_>) -> Result<Option<String>, Stop> {
    let usual = bench.subject.bot.expiry;
    let resolve = |expiry: Option<Expiry>| with_stated_type(expiry.unwrap_or(usual));
    let declared = guarded(&Cell::new(0), || Ok(bench.subject.build().map_err(Stop::Build)?.expiries()))?;
    let declared: Vec<Expiry> = declared.into_iter().map(resolve).collect();
    let undeclared = bench.answers.iter().find(|answer| !declared.contains(&resolve(answer.signal.expiry)));
    Ok(undeclared.map(|answer| {
        let Expiry { close_type, expiration_type } = resolve(answer.signal.expiry);
        format!(
            "at candle {} its signal expires by {close_type} {expiration_type}, which expiries() does not name: name every \
             expiry of its signals there",
            answer.candle
        )
    }))
}

/// Returns the expiry as the venue reads it: an unstated type is `TIME_FIXED`.
fn with_stated_type(expiry: Expiry) -> Expiry {
    match expiry.expiration_type {
        ExpirationType::Unstated => Expiry { expiration_type: ExpirationType::TimeFixed, ..expiry },
        _ => expiry,
    }
}

/// Compares the [`Declaration`](crate::Declaration) of a strategy with its signals.
/// A search that uses the declaration relies on this.
pub fn check_declaration(subject: &Subject, candles: &[Candle]) -> Checked {
    super::once(Check::Declaration, compare(subject, candles))
}

fn compare(subject: &Subject, candles: &[Candle]) -> Found {
    let built = subject.entry.build_with_declaration(&subject.params, &subject.bot).map_err(Stop::Build)?;
    let Some(declaration) = built.declaration else {
        return Ok((Finding::NotRun, "it declares nothing".to_owned()));
    };
    let (mut series, entries) = declaration.into_parts();
    let mut values = vec![Vec::with_capacity(candles.len()); series.len()];
    guarded(&Cell::new(0), || {
        // As a search does it, with all candles at hand.
        for (series, values) in series.iter_mut().zip(&mut values) {
            series.fill(candles, values);
        }
        Ok(())
    })?;
    let answers = subject.run_apart(candles, Manner::ALONE)?;
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
                "at candle {index} (opens {}) {} declares {}, and on_candle answers {}: make the series and rules say what \
                 on_candle does, from the candles up to that one alone, or let declaration() return None",
                candle.time(),
                subject.entry.name,
                to_text(declared),
                to_text(answered)
            ));
        }
    }
    passed("what it declares of its signals is what on_candle answers, candle by candle")
}

fn to_text(asked: Asked) -> String {
    match asked {
        None => "nothing".to_owned(),
        Some((direction, None)) => direction.to_string(),
        Some((direction, Some(expiry))) => format!("{direction} {}", expiry.close_type),
    }
}
