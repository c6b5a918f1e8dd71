//! Rows as a file has them: what is no candle, not in order, or there twice.

use super::finding::{Finding, FindingKind, Findings};
use crate::import::{Decoded, Row};
use candlewick_sdk::{Candle, CandleError, Interval, Millis};

/// The sound candles among the rows, by time, of each moment the one that came first.
pub(super) fn sound_candles(decoded: Decoded, interval: Interval, findings: &mut Findings) -> Vec<Candle> {
    for broken in &decoded.broken {
        findings.note(Finding {
            kind: FindingKind::Unreadable,
            row: Some(broken.place),
            start: None,
            end: None,
            count: 1,
            detail: broken.problem.clone(),
        });
    }
    let Decoded { rows, places, .. } = decoded;
    let mut sound: Vec<(usize, Candle)> = Vec::with_capacity(rows.len());
    let mut latest: Option<Millis> = None;
    for (index, row) in rows.iter().enumerate() {
        let mut note = |kind, detail| findings.note(of_row(kind, places.of(index), row, interval, detail));
        match latest {
            Some(latest) if row.time < latest => {
                note(FindingKind::Unsorted, format!("time {} comes after {latest}", row.time));
            }
            _ => latest = Some(row.time),
        }
        match Candle::new(row.time, interval, row.numbers) {
            Ok(candle) => sound.push((index, candle)),
            Err(error) => note(kind_of(&error), error.to_string()),
        }
    }
    drop(rows);
    // Stable, so that of two rows of one moment the one that came first stays first.
    sound.sort_by_key(|(_, candle)| candle.time());
    let mut kept: Vec<Candle> = Vec::with_capacity(sound.len());
    for (index, candle) in sound {
        match kept.last() {
            Some(first) if first.time() == candle.time() => {
                findings.note(Finding {
                    kind: FindingKind::Duplicate,
                    row: Some(places.of(index)),
                    start: Some(candle.time()),
                    end: Some(candle.close_time(interval)),
                    count: 1,
                    detail: again(first, &candle),
                });
            }
            _ => kept.push(candle),
        }
    }
    kept
}

fn of_row(kind: FindingKind, place: u64, row: &Row, interval: Interval, detail: String) -> Finding {
    let end = row.time + interval.length();
    Finding { kind, row: Some(place), start: Some(row.time), end: Some(end), count: 1, detail }
}

const fn kind_of(error: &CandleError) -> FindingKind {
    match error {
        CandleError::NotFinite { .. } => FindingKind::NotFinite,
        CandleError::NotPositive { .. } => FindingKind::Price,
        CandleError::NegativeVolume { .. } => FindingKind::Volume,
        CandleError::OutsideRange { .. } => FindingKind::Range,
        CandleError::Misaligned { .. } => FindingKind::Misaligned,
    }
}

fn again(first: &Candle, other: &Candle) -> String {
    let differences = differences(first, other);
    if differences.is_empty() {
        format!("time {} is there again, with the same values", first.time())
    } else {
        format!("time {} is there again, with other values: {differences}", first.time())
    }
}

/// Which values of a candle differ from another's.
pub(super) fn differences(first: &Candle, other: &Candle) -> String {
    let values = |of: &Candle| {
        [
            ("open", of.open()),
            ("high", of.high()),
            ("low", of.low()),
            ("close", of.close()),
            ("volume", of.volume()),
        ]
    };
    let pairs = values(first).into_iter().zip(values(other));
    let differing = pairs.filter(|((_, before), (_, after))| before != after);
    differing
        .map(|((name, before), (_, after))| format!("{name} {after} instead of {before}"))
        .collect::<Vec<_>>()
        .join(", ")
}
