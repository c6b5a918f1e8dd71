//! Longer forex candles compared with a minute-by-minute computation from the definition (`domain 3`).
#![allow(clippy::unwrap_used, reason = "a date that does not exist fails its test")]

use candlewick_history::{ResampledSeries, count_resampled_candles, resample_with_coverage};
use candlewick_sdk::{Candle, CandleSeries, Interval, Millis, Ohlcv, Series, TradingWeek};
use chrono::{DateTime, Datelike, NaiveDate, TimeDelta, Timelike, Utc, Weekday};
use chrono_tz::America::New_York;
use std::collections::BTreeMap;

const MINUTE: i64 = 60_000;
const INTERVALS: [&str; 8] = ["5m", "15m", "1h", "2h", "3h", "4h", "12h", "1d"];

fn is_open(minute: DateTime<Utc>) -> bool {
    let there = minute.with_timezone(&New_York);
    match there.weekday() {
        Weekday::Sat => false,
        Weekday::Sun => there.hour() >= 17,
        Weekday::Fri => there.hour() < 17,
        Weekday::Mon | Weekday::Tue | Weekday::Wed | Weekday::Thu => true,
    }
}

fn at(text: &str) -> DateTime<Utc> {
    DateTime::parse_from_rfc3339(&format!("{text}:00Z")).unwrap().to_utc()
}

fn moment(millis: i64) -> DateTime<Utc> {
    DateTime::from_timestamp_millis(millis).unwrap()
}

fn open_minutes(from: DateTime<Utc>, until: DateTime<Utc>) -> Vec<i64> {
    let minutes = (0..(until - from).num_minutes()).map(|minute| from + TimeDelta::minutes(minute));
    minutes.filter(|minute| is_open(*minute)).map(|minute| minute.timestamp_millis()).collect()
}

fn candle(time: i64) -> Candle {
    let price = (time / MINUTE % 10_007) as f64 + 1.0;
    let ohlcv = Ohlcv { open: price, high: price + 0.5, low: price - 0.5, close: price + 0.25, volume: 1.0 };
    Candle::new(Millis::new(time), Interval::MINUTE, ohlcv).unwrap()
}

fn series(minutes: &[i64]) -> CandleSeries {
    let series = Series { symbol: "EURUSD".parse().unwrap(), interval: Interval::MINUTE };
    CandleSeries::new(series, minutes.iter().copied().map(candle).collect::<Vec<_>>()).unwrap()
}

type Row = (i64, f64, f64, f64, f64, f64);

fn row(candle: &Candle) -> Row {
    let (open, high, low) = (candle.open(), candle.high(), candle.low());
    (candle.time().get(), open, high, low, candle.close(), candle.volume())
}

fn reckoned(minutes: &[i64], interval: &str, percent: i64) -> Vec<Row> {
    let length = interval.parse::<Interval>().unwrap().length().get();
    let mut slots: BTreeMap<i64, Vec<i64>> = BTreeMap::new();
    for minute in minutes {
        slots.entry(minute.div_euclid(length) * length).or_default().push(*minute);
    }
    let (first, last) = (minutes[0], *minutes.last().unwrap());
    let is_built = |slot: i64, inside: &[i64]| {
        let open = |from: i64, until: i64| open_minutes(moment(from), moment(until)).len() as i64;
        let (whole, present) = (length / MINUTE, inside.len() as i64);
        let traded = open(slot, slot + length);
        let expected = if traded == 0 { whole } else { traded };
        let begins_before = slot >= first || open(slot, first) == 0;
        let is_over = last >= slot + length || open(last + MINUTE, slot + length) == 0;
        let has_share = expected * 4 >= whole && present * 100 >= percent * expected;
        is_over && (present == whole || (begins_before && has_share))
    };
    let built = slots.iter().filter(|(slot, inside)| is_built(**slot, inside));
    let joined = built.map(|(slot, inside)| {
        let candles: Vec<Candle> = inside.iter().copied().map(candle).collect();
        let high = candles.iter().map(Candle::high).fold(f64::MIN, f64::max);
        let low = candles.iter().map(Candle::low).fold(f64::MAX, f64::min);
        let volume = candles.iter().map(Candle::volume).sum();
        (*slot, candles[0].open(), high, low, candles.last().unwrap().close(), volume)
    });
    joined.collect()
}

fn check(minutes: &[i64]) -> Vec<String> {
    let series = series(minutes);
    for percent in [50, 90, 100] {
        for interval in INTERVALS {
            let expected = reckoned(minutes, interval, percent);
            let made = resample_with_coverage(&series, interval.parse().unwrap(), percent as f64);
            let made: Vec<Row> =
                made.map_or_else(|_| Vec::new(), |made| made.candles.candles().iter().map(row).collect());
            assert_eq!(made, expected, "{interval} of {percent} %");
        }
    }
    reckoned(minutes, "1d", 50).iter().map(|day| moment(day.0).format("%a %m-%d").to_string()).collect()
}

fn without_one_in(count: i64, minutes: &[i64]) -> Vec<i64> {
    // Multiples of a prime are not periodic in hours or days.
    minutes
        .iter()
        .copied()
        .filter(|minute| (minute / MINUTE * 7_919).rem_euclid(1_009) >= 1_009 / count)
        .collect()
}

#[test]
fn weeks_have_a_friday_and_no_sunday_all_year() {
    let week = open_minutes(at("2026-01-04T00:00"), at("2026-01-12T12:00"));
    assert_eq!(check(&week), ["Mon 01-05", "Tue 01-06", "Wed 01-07", "Thu 01-08", "Fri 01-09"]);
    let week = open_minutes(at("2026-07-05T00:00"), at("2026-07-13T12:00"));
    assert_eq!(check(&week), ["Mon 07-06", "Tue 07-07", "Wed 07-08", "Thu 07-09", "Fri 07-10"]);
    let shifted: Vec<i64> = week.iter().map(|minute| minute + 60 * MINUTE).collect();
    assert_eq!(check(&shifted).len(), 5);
}

#[test]
fn holiday_has_no_candle_but_the_day_before_does() {
    let week = open_minutes(at("2025-12-21T00:00"), at("2026-01-03T00:00"));
    // Closed from 18:00 UTC on Christmas Eve to 23:00 on Christmas Day, and similarly at New Year.
    let closed = [("2025-12-24T18:00", "2025-12-25T23:00"), ("2025-12-31T22:00", "2026-01-01T23:00")];
    let is_holiday = |m: i64| closed.iter().any(|(from, until)| (at(from)..at(until)).contains(&moment(m)));
    let traded: Vec<i64> = week.into_iter().filter(|minute| !is_holiday(*minute)).collect();
    let days = check(&traded);
    let expected = "Mon 12-22, Tue 12-23, Wed 12-24, Fri 12-26, Mon 12-29, Tue 12-30, Wed 12-31, Fri 01-02";
    assert_eq!(days.join(", "), expected);
}

#[test]
fn missing_minutes_do_not_remove_longer_candles() {
    for (from, to) in [("2026-01-04T00:00", "2026-01-12T12:00"), ("2026-07-05T00:00", "2026-07-13T12:00")] {
        let whole = open_minutes(at(from), at(to));
        let thin = without_one_in(20, &whole);
        let missing = (whole.len() - thin.len()) as f64 / whole.len() as f64;
        assert!((0.04..0.06).contains(&missing), "{missing}");
        assert_eq!(check(&thin).len(), 5);
        let hours = count_resampled_candles(&series(&thin), 50.0)
            .into_iter()
            .find(|(step, _)| step.to_string() == "1h");
        let (_, counts) = hours.unwrap();
        assert_eq!(counts.unbuilt, 0);
        assert!(counts.built_with_gaps > 100, "{counts:?}");
    }
}

#[test]
fn counts_stretch_without_minutes() {
    let whole = open_minutes(at("2026-01-05T00:00"), at("2026-01-06T00:00"));
    let thin: Vec<i64> = whole
        .iter()
        .enumerate()
        .filter(|(minute, _)| !(120..151).contains(minute) && !(300..330).contains(minute))
        .map(|(_, time)| *time)
        .collect();
    let ResampledSeries { candles, counts } =
        resample_with_coverage(&series(&thin), "1h".parse().unwrap(), 50.0).unwrap();
    assert_eq!(
        (candles.candles().len(), counts.built, counts.built_with_gaps, counts.unbuilt),
        (23, 23, 1, 1)
    );
}

#[test]
fn open_time_follows_new_york_for_fifty_years() {
    let first = NaiveDate::from_ymd_opt(1990, 1, 1).unwrap();
    for day in (0..50 * 365).map(|day| first + TimeDelta::days(day)) {
        // 17:00 in New York is 21:00 or 22:00 UTC, so checking hours suffices.
        let hours = (0..24).map(|hour| day.and_hms_opt(hour, 0, 0).unwrap().and_utc());
        let open = hours.filter(|hour| is_open(*hour)).count() as i64;
        let start = Millis::new(day.and_hms_opt(0, 0, 0).unwrap().and_utc().timestamp_millis());
        let found = TradingWeek::Currencies.open_duration(&(start..start + Millis::DAY));
        assert_eq!(found, Millis::HOUR * open, "{day}");
    }
}
