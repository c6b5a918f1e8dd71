//! Tests of the indicators against TA-Lib and its Rust port, and for finite results.

use super::*;
use crate::testkit::{extreme, gappy, random_walk};
use crate::{Candle, Interval, Millis, Ohlcv};
use proptest::prelude::*;
use ta_lib::{Core, MAType};

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

fn check_reference<I: Clone, const N: usize>(
    columns: [&str; N],
    made: &I,
    warmup: usize,
    update: impl Fn(&mut I, &Candle) -> Option<[f64; N]>,
) {
    for (name, file) in [("fx", FX), ("crypto", CRYPTO)] {
        let rows = read(file, columns);
        let figures: Vec<[f64; N]> = rows.iter().filter_map(|(_, figures)| *figures).collect();
        let mut indicator = made.clone();
        assert_eq!(rows.len() - figures.len() + 1, warmup, "{name}: TA-Lib's first figure");
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

fn check_stability<I: Clone>(
    made: &I,
    (found, warmup): (usize, usize),
    scale: f64,
    update: impl Fn(&mut I, &Candle) -> Option<f64>,
) {
    const LATE: usize = 500;
    let candles = random_walk(5, 2_000);
    let (mut early, mut late) = (made.clone(), made.clone());
    assert_eq!(found, warmup);
    let mut widest = 0.0_f64;
    for (index, candle) in candles.iter().enumerate() {
        let early = update(&mut early, candle);
        if index < LATE {
            continue;
        }
        let (seen, late) = (index + 1 - LATE, update(&mut late, candle));
        let (Some(early), Some(late)) = (early, late) else { continue };
        let difference = (early - late).abs() / scale;
        if seen >= warmup {
            assert!(difference <= 2.0 * TOLERANCE, "{seen} candles: {difference:e}");
        } else if seen <= warmup / 2 {
            widest = widest.max(difference);
        }
    }
    assert!(widest > TOLERANCE, "stable much earlier than it says: {widest:e}");
}

#[test]
fn values_agree_with_ta_lib() {
    let sma = Sma::new(20).unwrap();
    check_reference(["sma"], &sma, sma.warmup(), |sma, candle| Some([sma.update(candle.close())?]));
    let ema = Ema::new(20).unwrap();
    check_reference(["ema"], &ema, ema.candles_to_first_value(), |ema, candle| {
        Some([ema.update(candle.close())?])
    });
    let rsi = Rsi::new(14).unwrap();
    check_reference(["rsi"], &rsi, rsi.candles_to_first_value(), |rsi, candle| {
        Some([rsi.update(candle.close())?])
    });
    let macd = Macd::new(12, 26, 9).unwrap();
    check_reference(
        ["macd", "macd_signal", "macd_histogram"],
        &macd,
        macd.candles_to_first_value(),
        |macd, candle| macd.update(candle.close()).map(|lines| [lines.macd, lines.signal, lines.histogram]),
    );
    let bollinger = Bollinger::new(20, 2.0).unwrap();
    let columns = ["bollinger_upper", "bollinger_middle", "bollinger_lower"];
    check_reference(columns, &bollinger, bollinger.warmup(), |bollinger, candle| {
        bollinger.update(candle.close()).map(|bands| [bands.upper, bands.middle, bands.lower])
    });
    let atr = Atr::new(14).unwrap();
    check_reference(["atr"], &atr, atr.candles_to_first_value(), |atr, candle| Some([atr.update(candle)?]));
    let adx = Adx::new(14).unwrap();
    check_reference(["adx", "plus_di", "minus_di"], &adx, adx.candles_to_first_value(), |adx, candle| {
        adx.update(candle).map(|lines| [lines.adx, lines.plus_di, lines.minus_di])
    });
    let cci = Cci::new(20).unwrap();
    check_reference(["cci"], &cci, cci.warmup(), |cci, candle| Some([cci.update(candle)?]));
    let stochastic = Stochastic::new(14, 3, 3).unwrap();
    check_reference(["stochastic_k", "stochastic_d"], &stochastic, stochastic.warmup(), |lines, candle| {
        lines.update(candle).map(|lines| [lines.k, lines.d])
    });
}

#[test]
fn a_later_start_agrees_once_stable() {
    let ema = Ema::new(20).unwrap();
    check_stability(&ema, (ema.warmup(), 228), 1.0, |ema, candle| ema.update(candle.close()));
    let rsi = Rsi::new(14).unwrap();
    check_stability(&rsi, (rsi.warmup(), 295), 100.0, |rsi, candle| rsi.update(candle.close()));
    // 34 + 270 + 93: (25/27)^270 and 0.8^93 are the first powers below 1e-9.
    let macd = Macd::new(12, 26, 9).unwrap();
    check_stability(&macd, (macd.warmup(), 397), 1.0, |macd, candle| {
        macd.update(candle.close()).map(|lines| lines.signal)
    });
    let atr = Atr::new(14).unwrap();
    check_stability(&atr, (atr.warmup(), 295), 1.0, Atr::update);
    let keltner = Keltner::new(20, 10, 2.0).unwrap();
    check_stability(&keltner, (keltner.warmup(), 228), 100.0, |keltner, candle| {
        keltner.update(candle).map(|channel| channel.upper)
    });
    let adx = Adx::new(14).unwrap();
    check_stability(&adx, (adx.warmup(), 588), 100.0, |adx, candle| {
        adx.update(candle).map(|lines| lines.adx)
    });
    let heikin_ashi = HeikinAshi::new();
    check_stability(&heikin_ashi, (heikin_ashi.warmup(), 31), 1.0, |heikin_ashi, candle| {
        heikin_ashi.update(candle).map(|smooth| smooth.open())
    });
}

pub(super) const COUNT: usize = 400;
pub(super) const END: usize = COUNT - 1;

pub(super) fn series(seed: u64, level: f64, flat: usize) -> Vec<Candle> {
    let mut candles = random_walk(seed, COUNT);
    let still = candles[flat].close();
    for (index, candle) in candles.iter_mut().enumerate() {
        let [open, high, low, close] = if (flat..flat + 60).contains(&index) {
            [still; 4]
        } else {
            [candle.open(), candle.high(), candle.low(), candle.close()]
        };
        let [open, high, low, close] = [open, high, low, close].map(|price| price * level);
        let numbers = Ohlcv { open, high, low, close, volume: 0.0 };
        *candle = Candle::new(candle.time(), Interval::MINUTE, numbers).unwrap();
    }
    candles
}

pub(super) fn check<const N: usize>(
    candles: &[Candle],
    (warmup, scale): (usize, f64),
    lines: [&[f64]; N],
    mut update: impl FnMut(&Candle) -> Option<[f64; N]>,
) {
    for (index, candle) in candles.iter().enumerate() {
        let answer = update(candle);
        assert_eq!(answer.is_some(), index + 1 >= warmup, "candle {index}");
        let Some(answer) = answer else { continue };
        for (line, answer) in answer.into_iter().enumerate() {
            let expected = lines[line][index + 1 - warmup];
            let allowed = TOLERANCE * scale.max(expected.abs());
            assert!((answer - expected).abs() <= allowed, "{index}, line {line}: {answer} {expected}");
        }
    }
}

proptest! {
    #[test]
    fn figures_over_closes_are_those_of_the_port(
        seed: u64, exponent in -6..6_i32, flat in 0..300_usize, period in 2..60_usize, more in 1..30_usize,
    ) {
        let candles = series(seed, 10_f64.powi(exponent), flat);
        let closes: Vec<f64> = candles.iter().map(Candle::close).collect();
        let (core, price, n) = (Core::new(), closes[0], period as i32);
        let (mut a, mut b, mut c) = ([0.0; COUNT], [0.0; COUNT], [0.0; COUNT]);

        core.sma(0, END, &closes, n, &mut a).unwrap();
        let mut sma = Sma::new(period).unwrap();
        check(&candles, (sma.warmup(), price), [&a], |candle| Some([sma.update(candle.close())?]));

        core.wma(0, END, &closes, n, &mut a).unwrap();
        let mut wma = Wma::new(period).unwrap();
        check(&candles, (wma.warmup(), price), [&a], |candle| Some([wma.update(candle.close())?]));
        core.ema(0, END, &closes, n, &mut a).unwrap();
        let mut ema = Ema::new(period).unwrap();
        check(&candles, (ema.candles_to_first_value(), price), [&a], |candle| Some([ema.update(candle.close())?]));

        core.rsi(0, END, &closes, n, &mut a).unwrap();
        let mut rsi = Rsi::new(period).unwrap();
        check(&candles, (rsi.candles_to_first_value(), 100.0), [&a], |candle| Some([rsi.update(candle.close())?]));

        core.macd(0, END, &closes, n, n + more as i32, more as i32, &mut a, &mut b, &mut c).unwrap();
        let mut macd = Macd::new(period, period + more, more).unwrap();
        check(&candles, (macd.candles_to_first_value(), price), [&a, &b, &c], |candle| {
            macd.update(candle.close()).map(|lines| [lines.macd, lines.signal, lines.histogram])
        });

        core.bbands(0, END, &closes, n, 2.5, 2.5, MAType::SMA, &mut a, &mut b, &mut c).unwrap();
        let mut bollinger = Bollinger::new(period, 2.5).unwrap();
        check(&candles, (bollinger.warmup(), price), [&a, &b, &c], |candle| {
            bollinger.update(candle.close()).map(|bands| [bands.upper, bands.middle, bands.lower])
        });
    }

    #[test]
    fn figures_over_candles_are_those_of_the_port(
        seed: u64, exponent in -6..6_i32, flat in 0..300_usize, period in 2..60_usize, more in 1..30_usize,
    ) {
        let candles = series(seed, 10_f64.powi(exponent), flat);
        let lane = |price: fn(&Candle) -> f64| candles.iter().map(price).collect::<Vec<f64>>();
        let (high, low, close) = (lane(Candle::high), lane(Candle::low), lane(Candle::close));
        let (core, n) = (Core::new(), period as i32);
        let (mut a, mut b, mut c) = ([0.0; COUNT], [0.0; COUNT], [0.0; COUNT]);

        core.atr(0, END, &high, &low, &close, n, &mut a).unwrap();
        let mut atr = Atr::new(period).unwrap();
        check(&candles, (atr.candles_to_first_value(), close[0] * 1e-3), [&a], |candle| Some([atr.update(candle)?]));

        core.max(0, END, &high, n, &mut a).unwrap();
        core.min(0, END, &low, n, &mut b).unwrap();
        let mut donchian = Donchian::new(period).unwrap();
        check(&candles, (donchian.warmup(), 0.0), [&a, &b], |candle| {
            donchian.update(candle).map(|channel| [channel.upper, channel.lower])
        });
        core.willr(0, END, &high, &low, &close, n, &mut a).unwrap();
        let mut williams = WilliamsR::new(period).unwrap();
        check(&candles, (williams.warmup(), 100.0), [&a], |candle| Some([williams.update(candle)?]));
        let (k, d) = (more as i32, 3);
        core.stoch(0, END, &high, &low, &close, n, k, MAType::SMA, d, MAType::SMA, &mut a, &mut b).unwrap();
        let mut stochastic = Stochastic::new(period, more, 3).unwrap();
        check(&candles, (stochastic.warmup(), 100.0), [&a, &b], |candle| {
            stochastic.update(candle).map(|lines| [lines.k, lines.d])
        });

        core.adx(0, END, &high, &low, &close, n, &mut a).unwrap();
        core.plus_di(0, END, &high, &low, &close, n, &mut b).unwrap();
        core.minus_di(0, END, &high, &low, &close, n, &mut c).unwrap();
        let mut adx = Adx::new(period).unwrap();
        let lines: [&[f64]; 3] = [&a, &b[period - 1..], &c[period - 1..]];
        check(&candles, (adx.candles_to_first_value(), 100.0), lines, |candle| {
            adx.update(candle).map(|lines| [lines.adx, lines.plus_di, lines.minus_di])
        });

        core.cci(0, END, &high, &low, &close, n, &mut a).unwrap();
        let mut cci = Cci::new(period).unwrap();
        check(&candles, (cci.warmup(), 100.0), [&a], |candle| Some([cci.update(candle)?]));
    }

    #[test]
    fn answers_are_finite_on_whatever_a_candle_can_hold(seed: u64, period in 2..30_usize) {
        let mut indicators = Indicators::new(period);
        for candle in extreme(200).iter().chain(&gappy(seed, 200)).chain(&extreme(200)) {
            for answer in indicators.update(candle).into_iter().flatten() {
                prop_assert!(answer.is_finite(), "{answer}");
            }
        }
    }

    #[test]
    fn a_value_that_is_no_number_changes_nothing(seed: u64, period in 2..30_usize) {
        let (mut plain, mut disturbed) = (Indicators::new(period), Indicators::new(period));
        for candle in random_walk(seed, 100) {
            for junk in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e101] {
                prop_assert!(disturbed.update_values(junk).iter().all(Option::is_none));
            }
            prop_assert_eq!(plain.update(&candle), disturbed.update(&candle));
        }
    }
}

type OfValues = Box<dyn FnMut(f64) -> Option<f64>>;
type OfCandles = Box<dyn FnMut(&Candle) -> Option<f64>>;

struct Indicators {
    of_values: Vec<OfValues>,
    of_candles: Vec<OfCandles>,
}

fn value_case<I: 'static>(
    made: Result<I, IndicatorError>,
    update: fn(&mut I, f64) -> Option<f64>,
) -> OfValues {
    let mut indicator = made.unwrap();
    Box::new(move |value| update(&mut indicator, value))
}

fn candle_case<I: 'static>(
    made: Result<I, IndicatorError>,
    update: fn(&mut I, &Candle) -> Option<f64>,
) -> OfCandles {
    let mut indicator = made.unwrap();
    Box::new(move |candle| update(&mut indicator, candle))
}

impl Indicators {
    fn new(period: usize) -> Self {
        let of_values = vec![
            value_case(Sma::new(period), Sma::update),
            value_case(Wma::new(period), Wma::update),
            value_case(Hull::new(period), Hull::update),
            value_case(ZScore::new(period), ZScore::update),
            value_case(Ema::new(period), Ema::update),
            value_case(Rsi::new(period), Rsi::update),
            value_case(Macd::new(period, 2 * period, period), |macd, value| {
                macd.update(value).map(|lines| lines.macd + lines.signal + lines.histogram)
            }),
            value_case(Bollinger::new(period, 2.0), |bollinger, value| {
                bollinger.update(value).map(|bands| bands.upper + bands.middle + bands.lower)
            }),
        ];
        let of_candles = vec![
            candle_case(Atr::new(period), Atr::update),
            candle_case(Stochastic::new(period, 3, 3), |stochastic, candle| {
                stochastic.update(candle).map(|lines| lines.k + lines.d)
            }),
            candle_case(Adx::new(period), |adx, candle| {
                adx.update(candle).map(|lines| lines.adx + lines.plus_di + lines.minus_di)
            }),
            candle_case(Cci::new(period), Cci::update),
            candle_case(Donchian::new(period), |donchian, candle| {
                donchian.update(candle).map(|channel| channel.upper + channel.middle + channel.lower)
            }),
            candle_case(Keltner::new(period, period, 2.0), |keltner, candle| {
                keltner.update(candle).map(|channel| channel.upper + channel.middle + channel.lower)
            }),
            candle_case(Supertrend::new(period, 3.0), |own, candle| own.update(candle).map(|own| own.line)),
            candle_case(WilliamsR::new(period), WilliamsR::update),
            candle_case(ParabolicSar::new(0.02, 0.2), |sar, candle| sar.update(candle).map(|sar| sar.stop)),
            candle_case(Ok(HeikinAshi::new()), |heikin_ashi, candle| {
                heikin_ashi.update(candle).map(|smooth| smooth.high() - smooth.low())
            }),
            candle_case(SessionRange::new(Millis::HOUR, Millis::HOUR), |session, candle| {
                session.update(candle).map(|session| session.high + session.low + session.close)
            }),
            candle_case(Pivots::new(Millis::ZERO), |pivots, candle| {
                pivots.update(candle).map(|own| own.pivot + own.resistances[2] + own.supports[2])
            }),
        ];
        Self { of_values, of_candles }
    }

    fn update_values(&mut self, value: f64) -> Vec<Option<f64>> {
        self.of_values.iter_mut().map(|update| update(value)).collect()
    }

    fn update(&mut self, candle: &Candle) -> Vec<Option<f64>> {
        let mut answers = self.update_values(candle.close());
        answers.extend(self.of_candles.iter_mut().map(|update| update(candle)));
        answers
    }
}

fn check_made<I>(made: Result<I, IndicatorError>, expected: Result<(), &str>) {
    assert_eq!(made.map(|_| ()).map_err(|error| error.to_string()), expected.map_err(str::to_owned));
}

#[test]
fn rejects_invalid_periods() {
    check_made(Sma::new(1), Ok(()));
    check_made(Sma::new(0), Err("sma: period 0 is outside 1 to 100000"));
    check_made(Ema::new(100_001), Err("ema: period 100001 is outside 1 to 100000"));
    check_made(Rsi::new(1), Err("rsi: period 1 is outside 2 to 100000"));
    check_made(Atr::new(0), Err("atr: period 0 is outside 1 to 100000"));
    check_made(Adx::new(usize::MAX), Err("adx: period 18446744073709551615 is outside 2 to 100000"));
    check_made(Cci::new(1), Err("cci: period 1 is outside 2 to 100000"));
    check_made(Stochastic::new(14, 0, 3), Err("stochastic: period 0 is outside 1 to 100000"));
    check_made(Wma::new(0), Err("wma: period 0 is outside 1 to 100000"));
    check_made(Hull::new(1), Err("hull: period 1 is outside 2 to 100000"));
    check_made(Donchian::new(0), Err("donchian: period 0 is outside 1 to 100000"));
    check_made(WilliamsR::new(0), Err("williams %r: period 0 is outside 1 to 100000"));
    check_made(ZScore::new(1), Err("z-score: period 1 is outside 2 to 100000"));
    check_made(Keltner::new(20, 0, 2.0), Err("keltner: period 0 is outside 1 to 100000"));
    check_made(Supertrend::new(0, 3.0), Err("supertrend: period 0 is outside 1 to 100000"));
    check_made(Macd::new(26, 26, 9), Err("macd: fast period 26 is not below slow period 26"));
}

#[test]
fn rejects_invalid_deviations_multiples_and_steps() {
    check_made(Bollinger::new(20, 2.5), Ok(()));
    for wrong in [0.0, -2.0, f64::NAN] {
        let refused = |name: &str| format!("{name} is out of range: use a number above 0 and at most 1000");
        let [bands, distance] = [format!("bollinger: deviations {wrong}"), format!("multiple {wrong}")];
        check_made(Bollinger::new(20, wrong), Err(&refused(&bands)));
        check_made(Keltner::new(20, 10, wrong), Err(&refused(&format!("keltner: {distance}"))));
        check_made(Supertrend::new(10, wrong), Err(&refused(&format!("supertrend: {distance}"))));
    }
    check_made(ParabolicSar::new(0.02, 1.0), Ok(()));
    for (step, limit) in [(0.0, 0.2), (0.3, 0.2), (0.1, 1.5)] {
        let refused = format!("parabolic sar: step {step} and limit {limit}: use 0 < step <= limit <= 1");
        check_made(ParabolicSar::new(step, limit), Err(&refused));
    }
}

#[test]
fn rejects_sessions_longer_than_a_day() {
    let (night, more) = (Millis::new(-1), Millis::DAY + Millis::SECOND);
    check_made(SessionRange::new(Millis::ZERO, Millis::DAY), Ok(()));
    check_made(Pivots::new(Millis::DAY - Millis::SECOND), Ok(()));
    for (start, length) in [
        (night, Millis::HOUR),
        (Millis::DAY, Millis::HOUR),
        (Millis::HOUR, more),
        (Millis::HOUR, Millis::ZERO),
    ] {
        let refused = format!(
            "session range: start {start} ms or length {length} ms is invalid: use 0 <= start < 24 h and \
             0 < length <= 24 h"
        );
        check_made(SessionRange::new(start, length), Err(&refused));
    }
}
