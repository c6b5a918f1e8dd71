//! Grid of open times of candles of one interval.

use super::problem::Problem;
use super::row::Decoded;
use super::settings::BarTime;
use candlewick_sdk::{Interval, Millis};
use chrono::DateTime;

/// Candles off their grid but aligned to this were made in another time zone.
const FINEST_CLOCK: Millis = Millis::new(15 * Millis::MINUTE.get());
/// Minimum checked length: the grid of shorter candles is the same in all time zones.
const MIN_CHECKED_LENGTH: Millis = Millis::HOUR;

pub(super) fn apply_stamps(
    decoded: &mut Decoded,
    interval: Interval,
    stamped: BarTime,
) -> Result<(), Problem> {
    let length = interval.length();
    // `09:00:59` and `09:00:59.999` for a close at 09:01.
    let until_close = |time: Millis| Millis::new(length.get() - time.get().rem_euclid(length.get()));
    let is_last_moment = |time: Millis| {
        [Millis::new(1), Millis::SECOND].contains(&until_close(time)) && length > Millis::SECOND
    };
    let ends = decoded.rows.iter().filter(|row| is_last_moment(row.time)).count();
    let has_last_moments = ends * 10 > decoded.rows.len() * 9;
    match stamped {
        BarTime::Open if has_last_moments => {
            let row = decoded.rows.first().map_or(Millis::ZERO, |row| row.time);
            let seen = format!(
                "the bars are stamped with the end of their candle: {} is {} ms before it",
                clock(row),
                until_close(row)
            );
            Err(Problem::asking(seen, "--stamped close"))
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

pub(super) fn check(decoded: &Decoded, interval: Interval) -> Result<(), Problem> {
    let length = interval.length();
    let rows = &decoded.rows;
    let off_grid = || rows.iter().map(|row| row.time).filter(|time| !time.is_aligned_to(length));
    if off_grid().next().is_none() {
        return Ok(());
    }
    if is_month(interval) {
        return Err(refused("calendar months", "candles of one length", off_grid()));
    }
    // Stray rows are reported one by one.
    let follow_each_other = rows.windows(2).any(|pair| {
        pair[1].time - pair[0].time == length && pair.iter().all(|row| !row.time.is_aligned_to(length))
    });
    if length < MIN_CHECKED_LENGTH
        || !follow_each_other
        || !off_grid().all(|time| time.is_aligned_to(FINEST_CLOCK))
    {
        return Ok(());
    }
    let first = off_grid().next().unwrap_or(Millis::ZERO);
    let begin =
        if length > Millis::DAY { format!("on {}", day(first)) } else { format!("at {} UTC", clock(first)) };
    let grid = match length {
        Millis::DAY => "at 00:00 UTC".to_owned(),
        length if length < Millis::DAY => format!("at 00:00 UTC and each {interval} after it"),
        _ => format!("each {interval} from 1970-01-01 on"),
    };
    Err(refused(
        &format!("candles of {interval} that begin {begin}"),
        &format!("candles that begin {grid}"),
        off_grid(),
    ))
}

pub(super) fn is_month(interval: Interval) -> bool {
    interval.length() >= Millis::DAY * 28
}

fn refused(what: &str, instead: &str, times: impl Iterator<Item = Millis>) -> Problem {
    let shorter =
        [("1d", Millis::DAY), ("1h", Millis::HOUR), ("30m", Millis::MINUTE * 30), ("15m", FINEST_CLOCK)];
    let fitting = times.fold(0, |fitting, time| {
        fitting + shorter[fitting..].iter().take_while(|(_, length)| !time.is_aligned_to(*length)).count()
    });
    let (shorter, _) = shorter.get(fitting).unwrap_or(&("1m", Millis::MINUTE));
    Problem::File(format!(
        "{what} cannot be stored, only {instead}. Import candles of {shorter} or less; longer ones are made of them"
    ))
}

fn clock(time: Millis) -> String {
    let time = DateTime::from_timestamp_millis(time.get()).unwrap_or_default();
    let is_minute = time.timestamp_millis() % Millis::MINUTE.get() == 0;
    time.format(if is_minute { "%H:%M" } else { "%H:%M:%S%.f" }).to_string()
}

fn day(time: Millis) -> String {
    DateTime::from_timestamp_millis(time.get())
        .unwrap_or_default()
        .format("%A, %Y-%m-%d, %H:%M UTC")
        .to_string()
}
