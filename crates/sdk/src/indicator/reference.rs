//! Tests of the indicators against TA-Lib figures in `reference/`, and of their warm-up.

use crate::testkit::random_walk;
use crate::{Candle, Interval, Millis, Ohlcv};

const FX: &str = include_str!("reference/fx.csv");
const CRYPTO: &str = include_str!("reference/crypto.csv");
const TOLERANCE: f64 = 1e-9;

fn read<const N: usize>(file: &str, columns: [&str; N]) -> Vec<(Candle, Option<[f64; N]>)> {
    let mut lines = file.lines();
    let names: Vec<&str> = lines.next().unwrap().split(',').collect();
    let places = columns.map(|column| names.iter().position(|name| *name == column).unwrap());
    let row = |line: &str| {
        let fields: Vec<&str> = line.split(',').collect();
        let number = |place: usize| fields[place].parse::<f64>().ok();
        let [open, high, low, close, volume] = [1, 2, 3, 4, 5].map(|place| number(place).unwrap());
        let time = Millis::new(fields[0].parse().unwrap());
        let numbers = Ohlcv { open, high, low, close, volume };
        let figures = places.map(number);
        let figures = figures.iter().all(Option::is_some).then(|| figures.map(Option::unwrap));
        (Candle::new(time, Interval::MINUTE, numbers).unwrap(), figures)
    };
    lines.map(row).collect()
}

pub(super) fn check<I, const N: usize>(
    columns: [&str; N],
    make: impl Fn() -> I,
    warmup: impl Fn(&I) -> usize,
    update: impl Fn(&mut I, &Candle) -> Option<[f64; N]>,
) {
    for (name, file) in [("fx", FX), ("crypto", CRYPTO)] {
        let rows = read(file, columns);
        let figures: Vec<[f64; N]> = rows.iter().filter_map(|(_, figures)| *figures).collect();
        let mut indicator = make();
        assert_eq!(rows.len() - figures.len() + 1, warmup(&indicator), "{name}: TA-Lib's first figure");
        for (index, (candle, expected)) in rows.iter().enumerate() {
            let answer = update(&mut indicator, candle);
            assert_eq!(answer.is_some(), expected.is_some(), "{name} candle {index}");
            let (Some(answer), Some(expected)) = (answer, expected) else { continue };
            for line in 0..N {
                let size = figures.iter().map(|row| row[line].abs()).sum::<f64>() / figures.len() as f64;
                let allowed = TOLERANCE * expected[line].abs().max(size);
                let (column, answer, expected) = (columns[line], answer[line], expected[line]);
                assert!((answer - expected).abs() <= allowed, "{name} {index} {column}: {answer} {expected}");
            }
        }
    }
}

pub(super) fn check_stability<I>(
    make: impl Fn() -> I,
    stable_after: impl Fn(&I) -> usize,
    scale: f64,
    update: impl Fn(&mut I, &Candle) -> Option<f64>,
) {
    const LATE: usize = 500;
    let candles = random_walk(5, 2_000);
    let (mut early, mut late) = (make(), make());
    let stable_after = stable_after(&late);
    let mut widest = 0.0_f64;
    for (index, candle) in candles.iter().enumerate() {
        let early = update(&mut early, candle);
        if index < LATE {
            continue;
        }
        let (seen, late) = (index + 1 - LATE, update(&mut late, candle));
        let (Some(early), Some(late)) = (early, late) else { continue };
        let difference = (early - late).abs() / scale;
        if seen >= stable_after {
            assert!(difference <= 2.0 * TOLERANCE, "{seen} candles: {difference:e}");
        } else if seen <= stable_after / 2 {
            widest = widest.max(difference);
        }
    }
    assert!(widest > TOLERANCE, "stable much earlier than it says: {widest:e}");
}
