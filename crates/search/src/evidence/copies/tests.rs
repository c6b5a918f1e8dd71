//! Tests of copies against altered candles, unrelated candles and a linear search.

use super::*;
use candlewick_sdk::testkit::random_walk;
use candlewick_sdk::{Ohlcv, Series};

type Closes = Vec<(Millis, f64)>;

/// Returns the closes of a market with large moves, volatile days and hours, and news at 13:30.
fn market(seed: u64, days: usize, minutes: i64) -> Closes {
    let per_day = (DAY_MINUTES / minutes) as usize;
    let log_moves = |seed, count: usize| {
        let walk = random_walk(seed, count + 1);
        walk.windows(2).map(|pair| 250.0 * (pair[1].close() / pair[0].close()).ln()).collect::<Vec<f64>>()
    };
    let (moves, of_days) = (log_moves(seed, days * per_day), log_moves(!seed, days));
    let first = random_walk(seed, 1)[0].time();
    let mut log_price = 0.2;
    let price = |(index, size): (usize, &f64)| {
        let minute = (index % per_day) as i64 * minutes;
        let hours = if (12 * 60..16 * 60).contains(&minute) { 3.0 } else { 1.0 };
        let news = if minute == 13 * 60 + 30 { 10.0 } else { 1.0 };
        log_price += 2e-4 * (minutes as f64).sqrt() * size * hours * news * of_days[index / per_day].exp();
        (first + Millis::MINUTE * (minutes * index as i64), log_price.exp())
    };
    moves.iter().enumerate().map(price).collect()
}

fn series(minutes: i64, closes: &[(Millis, f64)]) -> CandleSeries {
    let interval = Interval::from_seconds(60 * minutes).unwrap();
    let candle = |(time, close): &(Millis, f64)| {
        let (open, high, low, close, volume) = (*close, *close, *close, *close, 1.0);
        Candle::new(*time, interval, Ohlcv { open, high, low, close, volume }).unwrap()
    };
    let candles: Vec<Candle> = closes.iter().map(candle).collect();
    CandleSeries::new(Series { symbol: "EURUSD".parse().unwrap(), interval }, candles).unwrap()
}

fn with_prices(closes: &[(Millis, f64)], change: impl Fn(usize, f64) -> f64) -> Closes {
    closes.iter().enumerate().map(|(index, (time, close))| (*time, change(index, *close))).collect()
}

fn later(closes: &[(Millis, f64)], minutes: i64) -> Closes {
    closes.iter().map(|(time, close)| (*time + Millis::MINUTE * minutes, *close)).collect()
}

fn joined(closes: &[(Millis, f64)], minutes: i64) -> Closes {
    let length = Millis::MINUTE * minutes;
    let parts = closes.chunk_by(|one, two| one.0.floor_to(length) == two.0.floor_to(length));
    parts.map(|part| (part[0].0.floor_to(length), part[part.len() - 1].1)).collect()
}

fn round_to_four_digits(price: f64) -> f64 {
    let unit = 10_f64.powf(price.log10().floor() - 3.0);
    (price / unit).round() * unit
}

/// Returns prices with independent noise of 10 % of the RMS of a half-hour move.
fn with_noise(closes: &[(Millis, f64)]) -> Closes {
    let moves = closes.windows(31).map(|part| (part[30].1 / part[0].1).ln().powi(2));
    let rms = (moves.sum::<f64>() / (closes.len() - 30) as f64).sqrt();
    // A uniform number in `[0, 1)` has the standard deviation 1 / sqrt(12), and a move has the noise of two prices.
    let scale = 0.1 * rms * 12_f64.sqrt() / 2_f64.sqrt();
    with_prices(closes, |index, close| close * (scale * (index as f64 * 0.618_034).fract()).exp())
}

fn copies(sealed: (i64, &[(Millis, f64)]), seen: (i64, &[(Millis, f64)])) -> Vec<CopiedDays> {
    find_copies(&series(sealed.0, sealed.1), &day_moves(&series(seen.0, seen.1)))
}

fn days(first: i64, until: i64) -> Range<NaiveDate> {
    let first_day = random_walk(1, 1)[0].time().get() / Millis::DAY.get();
    date(first_day + first).unwrap()..date(first_day + until).unwrap()
}

#[test]
fn finds_altered_copies() {
    let sealed = market(1, 12, 1);
    let redated = later(&sealed, -1_000 * DAY_MINUTES);
    let inverted = with_prices(&redated, |_, close| 10.0 / close);
    let mirrored = with_prices(&redated, |_, close| 100.0 - close);
    let rounded = with_prices(&redated, |_, close| round_to_four_digits(close));
    let everything = with_prices(&later(&with_noise(&inverted), 120), |_, close| round_to_four_digits(close));
    for (name, minutes, seen) in [
        ("same prices", 1, redated.clone()),
        ("rescaled", 1, with_prices(&redated, |_, close| close * 1_234.5)),
        ("inverted", 1, inverted),
        ("mirrored", 1, mirrored),
        ("rounded", 1, rounded),
        ("noise", 1, with_noise(&redated)),
        ("all", 1, everything),
        ("5m", 5, joined(&redated, 5)),
        ("30m", 30, joined(&redated, 30)),
        ("1h", 60, joined(&redated, 60)),
    ] {
        for sealed_minutes in [1, 5, 15, 30, 60] {
            let found = copies((sealed_minutes, &joined(&sealed, sealed_minutes)), (minutes, &seen));
            let is_whole = found.len() == 1 && found[0].sealed == days(0, 12);
            assert!(is_whole, "{name}, sealed {sealed_minutes}m: {found:?}");
            let seen = &found[0].seen;
            assert!(seen.start <= days(-999, 0).start && days(-990, 0).start <= seen.end, "{name}: {seen:?}");
        }
    }
}

#[test]
fn finds_copies_after_any_shift() {
    let sealed = market(2, 12, 1);
    for minutes in (1..30).chain([45, 61, 119, 600, 1_439, 1_440, 1_560, -1, -90, -1_560, -9 * DAY_MINUTES]) {
        let found = copies((1, &sealed), (1, &later(&sealed, minutes)));
        assert_eq!(found.len(), 1, "{minutes} minutes: {found:?}");
        assert_eq!(found[0].sealed, days(0, 12), "{minutes} minutes");
    }
    for days in [1, 2, 3, 7, 364, 365, 3_650] {
        // Shifts between the closes of longer candles blur the moves.
        let seen = later(&sealed, 2 - days * DAY_MINUTES);
        assert_eq!(copies((5, &joined(&sealed, 5)), (1, &seen)).is_empty(), days == 1, "{days} days");
    }
}

#[test]
fn finds_a_few_copied_days_within_other_candles() {
    let (sealed, mut seen) = (market(3, 60, 1), market(4, 300, 1));
    let minutes = |days: Range<usize>| days.start * 1_440..days.end * 1_440;
    let factor = seen[100 * 1_440].1 / sealed[20 * 1_440].1;
    for (seen, copied) in seen[minutes(100..104)].iter_mut().zip(&sealed[minutes(20..24)]) {
        seen.1 = copied.1 * factor;
    }
    let found = copies((1, &sealed), (1, &seen));
    // Windows of four days may contain days that are not copied.
    let is_about = |found: &Range<NaiveDate>, first: i64| {
        let (start, end) = (days(first - 2, first), days(first + 4, first + 6));
        (start.start..=start.end).contains(&found.start) && (end.start..=end.end).contains(&found.end)
    };
    assert!(found.len() == 1 && is_about(&found[0].sealed, 20) && is_about(&found[0].seen, 100), "{found:?}");
    let two_days = &sealed[minutes(7..9)];
    let found = copies((1, two_days), (1, &later(two_days, -77 * DAY_MINUTES)));
    assert_eq!(found, [CopiedDays { sealed: days(7, 9), seen: days(-70, -68) }]);
}

#[test]
fn finds_days_in_another_order_and_without_weekends() {
    let sealed = market(5, 14, 1);
    let mut weekdays = sealed.clone();
    // 2025-01-01 is a Wednesday.
    weekdays.retain(|(time, _)| ![3, 4].contains(&((*time - sealed[0].0).get() / Millis::DAY.get() % 7)));
    let in_order = |order: &[usize]| -> Closes {
        let day = |(place, from): (usize, &usize)| {
            later(&weekdays[from * 1_440..(from + 1) * 1_440], 0).into_iter().enumerate().map(
                move |(minute, close)| {
                    (Millis::DAY * (15_000 + place as i64) + Millis::MINUTE * minute as i64, close.1)
                },
            )
        };
        order.iter().enumerate().flat_map(day).collect()
    };
    for order in [[0, 1, 2, 3, 4, 5, 6, 7, 8, 9], [7, 2, 9, 4, 0, 6, 1, 8, 3, 5]] {
        let found = copies((1, &weekdays), (1, &in_order(&order)));
        let all = day_moves(&series(1, &weekdays));
        let copied = all.iter().filter(|day| found.iter().any(|copy| copy.sealed.contains(&day.day))).count();
        assert_eq!(copied, all.len(), "{found:?}");
    }
}

#[test]
fn does_not_find_unrelated_candles() {
    for pair in 0..60 {
        let minutes = [5, 15, 30, 60][pair as usize % 4];
        let sealed = market(1_000 + pair, 40, minutes);
        let seen = later(&market(2_000 + pair, 300, 30), -400 * DAY_MINUTES);
        assert_eq!(copies((minutes, &sealed), (30, &seen)), [], "pair {pair}");
    }
    assert_eq!(copies((1, &[(Millis::ZERO, 1.0)]), (1, &market(1, 5, 1))), []);
}

#[test]
fn tells_twin_markets_of_the_same_dates_from_copies() {
    for seed in 0..8 {
        let common = market(3 * seed, 40, 5);
        // The moves of both have a correlation of 0.9.
        let [one, two] = [1, 2].map(|number| {
            let own = market(3 * seed + number, 40, 5);
            with_prices(&common, |index, close| (3.0 * close.ln() + own[index].1.ln()).exp())
        });
        assert_eq!(copies((5, &one), (5, &two)), [], "{seed}");
        assert_eq!(copies((5, &one), (5, &one)).len(), 1);
    }
}

#[test]
fn moves_agree_with_a_linear_search() {
    for (minutes, length) in [(1, 1), (7, 1), (15, 1), (30, 1), (60, 2), (90, 3), (120, 4)] {
        let aligned = joined(&market(7, 6, 1), minutes);
        let holes = aligned.iter().enumerate().filter(|(index, _)| minutes > 60 || index % 17 != 3);
        let closes: Closes = holes.map(|(_, close)| *close).collect();
        let close_at = |slot: i64| {
            let within =
                Millis::MINUTE * (SLOT_MINUTES * (slot - 1))..=Millis::MINUTE * (SLOT_MINUTES * slot);
            let closed_at = |time: Millis| time + Millis::MINUTE * minutes;
            let is_within = |time| *within.start() < closed_at(time) && closed_at(time) <= *within.end();
            closes.iter().rev().find(|(time, _)| is_within(*time)).map(|(_, close)| close.ln())
        };
        let found = day_moves(&series(minutes, &closes));
        assert!(found.len() >= 4, "{minutes}m");
        for day in found {
            let slots = (0..48).map(|slot| i64::from(day.day.to_epoch_days()) * 48 + slot);
            let moves: Vec<Option<f64>> =
                slots.map(|slot| Some(close_at(slot + 1)? - close_at(slot + 1 - length)?)).collect();
            let mut present: Vec<f64> = moves.iter().copied().flatten().map(f64::abs).collect();
            present.sort_by(f64::total_cmp);
            let median = present[present.len() / 2];
            let unit = |size: f64| (30.0 * size.abs() / median).ceil().min(127.0).copysign(size) as i8;
            let expected = moves.iter().map(|size| size.map_or(-128, unit));
            assert_eq!(day.moves.to_vec(), expected.collect::<Vec<i8>>(), "{minutes}m {}", day.day);
        }
    }
    for minutes in [40, 150, 240, 1_440] {
        assert_eq!(day_moves(&series(minutes, &joined(&market(8, 10, 5), minutes))), [], "{minutes}m");
    }
    let flat = with_prices(&market(9, 3, 5), |_, _| 1.1);
    assert_eq!(day_moves(&series(5, &flat)), []);
}

#[test]
fn file_keeps_each_day_once_and_ignores_a_partial_record() {
    let folder = tempfile::tempdir().unwrap();
    let seen = SeenMoves::new(folder.path().join("new").join("evidence.days"));
    assert_eq!(seen.read().unwrap(), []);
    let days = day_moves(&series(5, &market(10, 9, 5)));
    seen.add(&days[..5]).unwrap();
    seen.add(&days[3..7]).unwrap();
    assert_eq!(seen.read().unwrap(), days[..7]);
    let bytes = fs::read(&seen.path).unwrap();
    assert_eq!(bytes.len(), 7 * 60);
    fs::write(&seen.path, &bytes[..7 * 60 - 1]).unwrap();
    assert_eq!(seen.read().unwrap(), days[..6]);
    seen.add(&days).unwrap();
    assert_eq!(seen.read().unwrap(), days);
    // Other moves of a stored day do not replace it.
    let changed = DayMoves { moves: [1; SLOTS], ..days[0].clone() };
    seen.add(std::slice::from_ref(&changed)).unwrap();
    assert_eq!(seen.read().unwrap(), [&days[..], &[changed]].concat());
    let outside = [[0; 8].as_slice(), &i32::MAX.to_le_bytes(), &[0; 48]].concat();
    assert_eq!(DayMoves::from_bytes(outside.as_slice().try_into().unwrap()), None);
}
