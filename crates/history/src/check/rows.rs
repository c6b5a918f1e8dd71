//! Checks for invalid, unsorted or repeated rows.

use super::{Finding, FindingKind, Findings};
use crate::import::FileRows;
use candlewick_sdk::{Candle, CandleError, Interval, Millis};

pub(super) struct ValidRows {
    /// One candle per time: the complete state if the rows are states of one candle, otherwise the first row.
    pub(super) candles: Vec<Candle>,
    pub(super) conflicts: Vec<Vec<Candle>>,
}

pub(super) fn collect_valid_rows(
    decoded: FileRows,
    interval: Interval,
    findings: &mut Findings,
) -> ValidRows {
    for broken in &decoded.broken_rows {
        let (row, detail) = (Some(broken.row_number), broken.problem.clone());
        let kind = FindingKind::Unreadable;
        findings.add(Finding { kind, row, start: None, end: None, count: 1, detail });
    }
    let FileRows { rows, row_numbers: places, .. } = decoded;
    let mut sound: Vec<(usize, Candle)> = Vec::with_capacity(rows.len());
    let mut latest: Option<Millis> = None;
    for (index, row) in rows.iter().enumerate() {
        let mut note = |kind, detail| {
            findings.add(new_finding(kind, places.row_number(index), row.time, interval, detail));
        };
        match latest {
            Some(latest) if row.time < latest => {
                note(FindingKind::Unsorted, format!("time {} is before {latest} in a row above", row.time));
            }
            _ => latest = Some(row.time),
        }
        match Candle::new(row.time, interval, row.numbers) {
            Ok(candle) => sound.push((index, candle)),
            Err(error) => note(finding_kind(&error), error.to_string()),
        }
    }
    drop(rows);
    // Stable sort: rows with the same time stay in file order.
    sound.sort_by_key(|(_, candle)| candle.time());
    let mut rows = ValidRows { candles: Vec::with_capacity(sound.len()), conflicts: Vec::new() };
    for same_time in sound.chunk_by(|(_, a), (_, b)| a.time() == b.time()) {
        let complete = find_complete_candle(same_time);
        let is_conflict = complete.is_none();
        let (stored_row, kept) = complete.unwrap_or(same_time[0]);
        for (index, candle) in same_time.iter().filter(|(index, _)| *index != stored_row) {
            let is_other = is_conflict && *candle != kept;
            let kind = if is_other { FindingKind::Conflict } else { FindingKind::Duplicate };
            let detail = describe_repeat(&kept, candle, kind);
            findings.add(new_finding(kind, places.row_number(*index), candle.time(), interval, detail));
        }
        rows.candles.push(kept);
        if is_conflict {
            rows.conflicts.push(same_time.iter().map(|(_, candle)| *candle).collect());
        }
    }
    rows
}

fn find_complete_candle(rows: &[(usize, Candle)]) -> Option<(usize, Candle)> {
    let larger = |largest: (usize, Candle), row: (usize, Candle)| {
        if is_part_of(&largest.1, &row.1) { row } else { largest }
    };
    let largest = rows.iter().copied().reduce(larger)?;
    let is_complete = rows.iter().all(|(_, other)| *other == largest.1 || is_part_of(other, &largest.1));
    is_complete.then_some(largest)
}

/// Returns whether `stub` can be an earlier state of `whole`: the same open, but a smaller volume or range.
fn is_part_of(stub: &Candle, whole: &Candle) -> bool {
    let is_enclosed = stub.open() == whole.open()
        && stub.high() <= whole.high()
        && stub.low() >= whole.low()
        && stub.volume() <= whole.volume();
    let is_less = stub.high() < whole.high() || stub.low() > whole.low() || stub.volume() < whole.volume();
    is_enclosed && is_less
}

fn new_finding(kind: FindingKind, place: u64, time: Millis, interval: Interval, detail: String) -> Finding {
    let end = time + interval.length();
    Finding { kind, row: Some(place), start: Some(time), end: Some(end), count: 1, detail }
}

const fn finding_kind(error: &CandleError) -> FindingKind {
    match error {
        CandleError::NotFinite { .. } => FindingKind::NotFinite,
        CandleError::NotPositive { .. } => FindingKind::Price,
        CandleError::NegativeVolume { .. } => FindingKind::Volume,
        CandleError::OutsideRange { .. } => FindingKind::Range,
        CandleError::Misaligned { .. } => FindingKind::Misaligned,
    }
}

fn describe_repeat(kept: &Candle, other: &Candle, kind: FindingKind) -> String {
    let time = kept.time();
    let differences = describe_differences(kept, other);
    match kind {
        _ if differences.is_empty() => format!("time {time} occurs again with the same values"),
        FindingKind::Conflict => format!("time {time} occurs again with different values: {differences}"),
        _ => format!("time {time} occurs twice, and this row is incomplete: {differences}"),
    }
}

pub(super) fn describe_differences(first: &Candle, other: &Candle) -> String {
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
