//! Checks of the distances between open times and of the alignment of open times.

use super::row::{FileRows, Problem, Row};
use super::table::BarTime;
use crate::gap::{MixedInterval, find_mixed_interval};
use candlewick_sdk::{Interval, Millis};
use chrono::DateTime;
use std::collections::BTreeMap;

const MIN_REPEATED_TIMES: usize = 5;

fn count_distances(rows: &[Row]) -> BTreeMap<Millis, u64> {
    let mut found = BTreeMap::new();
    let mut note = |from: &Row, to: &Row| {
        let distance = to.time - from.time;
        if distance > Millis::ZERO {
            *found.entry(distance).or_insert(0) += 1;
        }
    };
    if rows.is_sorted_by_key(|row| row.time) {
        rows.windows(2).for_each(|pair| note(&pair[0], &pair[1]));
    } else {
        let mut sorted = rows.to_vec();
        sorted.sort_unstable_by_key(|row| row.time);
        sorted.windows(2).for_each(|pair| note(&pair[0], &pair[1]));
    }
    found
}

/// Derives the candle interval from the shortest distance, if it is frequent and divides all other distances.
pub(super) fn derive_interval(rows: &[Row]) -> Result<Interval, Problem> {
    let found = count_distances(rows);
    let total: u64 = found.values().sum();
    let unclear = || {
        let apart = |(distance, count): (&Millis, &u64)| format!("{} ({count} times)", describe(*distance));
        let shown: Vec<String> = found.iter().take(3).map(apart).collect();
        let seen = if shown.is_empty() {
            "a single row does not reveal the candle interval".to_owned()
        } else {
            format!("the candle interval is unclear: rows are {} apart", shown.join(", "))
        };
        Problem::with_example(seen, interval_hint(&found))
    };
    let (shortest, count) = found.first_key_value().ok_or_else(unclear)?;
    let months = Millis::DAY * 28..=Millis::DAY * 31;
    if found.keys().all(|distance| months.contains(distance))
        && let Ok(month) = Interval::from_seconds(31 * 86_400)
    {
        return Ok(month);
    }
    let interval = Interval::from_seconds(shortest.get() / 1_000).map_err(|_| unclear())?;
    let is_clear = *count >= 2
        && count * 2 >= total
        && interval.length() == *shortest
        && found.keys().all(|distance| distance.is_aligned_to(*shortest));
    if is_clear { Ok(interval) } else { Err(unclear()) }
}

pub(super) fn check_stated_interval(rows: &[Row], interval: Interval, source: &str) -> Result<(), Problem> {
    let found = count_distances(rows);
    let total: u64 = found.values().sum();
    let Some((shortest, _)) = found.first_key_value() else { return Ok(()) };
    let contradicts = |what: String| {
        Err(Problem::with_example(format!("{source} says {interval}, but {what}"), interval_hint(&found)))
    };
    if *shortest < interval.length() {
        return contradicts(format!("rows are {} apart", describe(*shortest)));
    }
    if total >= 3 && !found.contains_key(&interval.length()) {
        return contradicts(format!("no two rows are closer than {}", describe(*shortest)));
    }
    Ok(())
}

pub(super) fn check_single_interval(decoded: &FileRows, interval: Interval) -> Result<(), Problem> {
    let mut order: Vec<(Millis, u32)> = Vec::new();
    let rows = &decoded.rows;
    let is_sorted = rows.is_sorted_by_key(|row| row.time);
    if !is_sorted {
        order = (0..).zip(rows).map(|(index, row)| (row.time, index)).collect();
        order.sort_unstable();
    }
    let time = |index: usize| if is_sorted { rows[index].time } else { order[index].0 };
    let place = |at: usize| decoded.row_numbers.row_number(if is_sorted { at } else { order[at].1 as usize });
    let unit = decoded.unit.as_str();
    if let Some(MixedInterval { distance, count, start }) = find_mixed_interval(rows.len(), time, interval) {
        let other = describe(distance);
        let seen = format!(
            "the file mixes two intervals: {interval}, but {other} between {unit} {} and \
             {unit} {} ({count} times)",
            place(start),
            place(start + count)
        );
        return Err(Problem::ambiguous(seen, format!("one file for {interval} and another for {other}")));
    }
    // Repeated times suggest that the file mixes rows of a longer and a shorter interval.
    let doubled: Vec<Millis> = (1..rows.len()).filter(|at| time(*at) == time(at - 1)).map(time).collect();
    let Some(other) = doubled.windows(2).map(|pair| pair[1] - pair[0]).min() else { return Ok(()) };
    let is_regular =
        doubled.windows(2).filter(|pair| pair[1] - pair[0] == other).count() * 10 > doubled.len() * 8;
    if doubled.len() >= MIN_REPEATED_TIMES
        && is_regular
        && other > interval.length()
        && other.is_aligned_to(interval.length())
    {
        let (count, other) = (doubled.len(), describe(other));
        let seen = format!(
            "{count} timestamps occur twice, at least {other} apart: the file seems to mix {interval} and {other} candles"
        );
        return Err(Problem::ambiguous(seen, "one file per interval"));
    }
    Ok(())
}

fn interval_hint(found: &BTreeMap<Millis, u64>) -> String {
    let usual = found.iter().rev().max_by_key(|(_, count)| **count).map(|(distance, _)| *distance);
    let interval = usual.and_then(|distance| {
        let interval = Interval::from_seconds(distance.get() / 1_000).ok()?;
        (interval.length() == distance).then_some(interval)
    });
    format!("--interval {}", interval.unwrap_or(Interval::MINUTE))
}

fn describe(distance: Millis) -> String {
    let whole =
        distance.is_aligned_to(Millis::SECOND).then(|| Interval::from_seconds(distance.get() / 1_000).ok());
    whole.flatten().map_or_else(|| format!("{distance} ms"), |interval| interval.to_string())
}

/// Alignment of candles that begin at round local times. All UTC offsets are multiples of 15 minutes.
const ZONE_ALIGNMENT: Millis = Millis::new(15 * Millis::MINUTE.get());
/// Minimum length of candles whose alignment is checked. Shorter candles are aligned in all time zones.
const MIN_CHECKED_LENGTH: Millis = Millis::HOUR;

pub(super) fn apply_bar_time(
    decoded: &mut FileRows,
    interval: Interval,
    bar: BarTime,
) -> Result<(), Problem> {
    let length = interval.length();
    // The timestamp of a close at 09:01 may be `09:00:59` or `09:00:59.999`.
    let until_close = |time: Millis| Millis::new(length.get() - time.get().rem_euclid(length.get()));
    let is_last_moment = |time: Millis| {
        [Millis::new(1), Millis::SECOND].contains(&until_close(time)) && length > Millis::SECOND
    };
    let ends = decoded.rows.iter().filter(|row| is_last_moment(row.time)).count();
    let has_last_moments = ends * 10 > decoded.rows.len() * 9;
    match bar {
        BarTime::Open if has_last_moments => {
            let row = decoded.rows.first().map_or(Millis::ZERO, |row| row.time);
            let (row, before) = (format_clock(row), until_close(row));
            let seen = format!("the times are close times: {row} is {before} ms before its candle's end");
            Err(Problem::with_example(seen, "--stamped close"))
        }
        BarTime::Open => Ok(()),
        BarTime::Close => {
            for row in &mut decoded.rows {
                let rest = if has_last_moments && is_last_moment(row.time) {
                    until_close(row.time)
                } else {
                    Millis::ZERO
                };
                row.time = row.time + rest - length;
            }
            Ok(())
        }
    }
}

pub(super) fn check_alignment(decoded: &FileRows, interval: Interval) -> Result<(), Problem> {
    let length = interval.length();
    let rows = &decoded.rows;
    let off_grid = || rows.iter().map(|row| row.time).filter(|time| !time.is_aligned_to(length));
    if off_grid().next().is_none() {
        return Ok(());
    }
    if is_month(interval) {
        return Err(alignment_problem("calendar months", "candles of fixed length", off_grid()));
    }
    let follow_each_other = rows.windows(2).any(|pair| {
        pair[1].time - pair[0].time == length && pair.iter().all(|row| !row.time.is_aligned_to(length))
    });
    if length < MIN_CHECKED_LENGTH
        || !follow_each_other
        || !off_grid().all(|time| time.is_aligned_to(ZONE_ALIGNMENT))
    {
        return Ok(());
    }
    let first = off_grid().next().unwrap_or(Millis::ZERO);
    let begin =
        if length > Millis::DAY { format_day(first) } else { format!("at {} UTC", format_clock(first)) };
    let grid = match length {
        Millis::DAY => "at 00:00 UTC".to_owned(),
        length if length < Millis::DAY => format!("at 00:00 UTC and every {interval} after it"),
        _ => format!("every {interval} from 1970-01-01 on"),
    };
    Err(alignment_problem(
        &format!("candles of {interval} that begin {begin}"),
        &format!("candles that begin {grid}"),
        off_grid(),
    ))
}

pub(super) fn is_month(interval: Interval) -> bool {
    interval.length() >= Millis::DAY * 28
}

fn alignment_problem(what: &str, instead: &str, times: impl Iterator<Item = Millis>) -> Problem {
    let shorter =
        [("1d", Millis::DAY), ("1h", Millis::HOUR), ("30m", Millis::MINUTE * 30), ("15m", ZONE_ALIGNMENT)];
    let fitting = times.fold(0, |fitting, time| {
        fitting + shorter[fitting..].iter().take_while(|(_, length)| !time.is_aligned_to(*length)).count()
    });
    let (shorter, _) = shorter.get(fitting).unwrap_or(&("1m", Millis::MINUTE));
    Problem::File(format!(
        "{what} cannot be stored: the program supports only {instead}. Import candles of {shorter} or less to build longer candles"
    ))
}

fn format_clock(time: Millis) -> String {
    let time = DateTime::from_timestamp_millis(time.get()).unwrap_or_default();
    let is_minute = time.timestamp_millis() % Millis::MINUTE.get() == 0;
    time.format(if is_minute { "%H:%M" } else { "%H:%M:%S%.f" }).to_string()
}

fn format_day(time: Millis) -> String {
    let time = DateTime::from_timestamp_millis(time.get()).unwrap_or_default();
    time.format("on %A, %Y-%m-%d, %H:%M UTC").to_string()
}
