//! Property tests of the indicators against the Rust port of TA-Lib, and for finite results.

use super::{
    Adx, Atr, Bollinger, Cci, Donchian, Ema, HeikinAshi, Hull, Keltner, Macd, ParabolicSar, Pivots, Rsi,
    SessionRange, Sma, Stochastic, Supertrend, WilliamsR, Wma, ZScore,
};
use crate::testkit::{gappy, random_walk, wild};
use crate::{Candle, Interval, Millis, Ohlcv};
use proptest::prelude::*;
use ta_lib::{Core, MAType};

pub(super) const COUNT: usize = 400;
pub(super) const END: usize = COUNT - 1;
const TOLERANCE: f64 = 1e-9;

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

        core.ema(0, END, &closes, n, &mut a).unwrap();
        let mut ema = Ema::new(period).unwrap();
        check(&candles, (ema.warmup(), price), [&a], |candle| Some([ema.update(candle.close())?]));

        core.rsi(0, END, &closes, n, &mut a).unwrap();
        let mut rsi = Rsi::new(period).unwrap();
        check(&candles, (rsi.warmup(), 100.0), [&a], |candle| Some([rsi.update(candle.close())?]));

        core.macd(0, END, &closes, n, n + more as i32, more as i32, &mut a, &mut b, &mut c).unwrap();
        let mut macd = Macd::new(period, period + more, more).unwrap();
        check(&candles, (macd.warmup(), price), [&a, &b, &c], |candle| {
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
        check(&candles, (atr.warmup(), close[0] * 1e-3), [&a], |candle| Some([atr.update(candle)?]));

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
        // The directional indicators begin earlier than the index.
        let lines: [&[f64]; 3] = [&a, &b[period - 1..], &c[period - 1..]];
        check(&candles, (adx.warmup(), 100.0), lines, |candle| {
            adx.update(candle).map(|lines| [lines.adx, lines.plus_di, lines.minus_di])
        });

        core.cci(0, END, &high, &low, &close, n, &mut a).unwrap();
        let mut cci = Cci::new(period).unwrap();
        check(&candles, (cci.warmup(), 100.0), [&a], |candle| Some([cci.update(candle)?]));
    }

    #[test]
    fn answers_are_finite_on_whatever_a_candle_can_hold(seed: u64, period in 2..30_usize) {
        let mut indicators = Indicators::new(period);
        for candle in wild(200).iter().chain(&gappy(seed, 200)).chain(&wild(200)) {
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

struct Indicators {
    sma: Sma,
    wma: Wma,
    hull: Hull,
    z_score: ZScore,
    donchian: Donchian,
    keltner: Keltner,
    supertrend: Supertrend,
    williams: WilliamsR,
    sar: ParabolicSar,
    heikin_ashi: HeikinAshi,
    session: SessionRange,
    pivots: Pivots,
    ema: Ema,
    rsi: Rsi,
    macd: Macd,
    bollinger: Bollinger,
    atr: Atr,
    stochastic: Stochastic,
    adx: Adx,
    cci: Cci,
}

impl Indicators {
    fn new(period: usize) -> Self {
        Self {
            sma: Sma::new(period).unwrap(),
            wma: Wma::new(period).unwrap(),
            hull: Hull::new(period).unwrap(),
            z_score: ZScore::new(period).unwrap(),
            donchian: Donchian::new(period).unwrap(),
            keltner: Keltner::new(period, period, 2.0).unwrap(),
            supertrend: Supertrend::new(period, 3.0).unwrap(),
            williams: WilliamsR::new(period).unwrap(),
            sar: ParabolicSar::new(0.02, 0.2).unwrap(),
            heikin_ashi: HeikinAshi::new(),
            session: SessionRange::new(Millis::HOUR, Millis::HOUR).unwrap(),
            pivots: Pivots::new(Millis::ZERO).unwrap(),
            ema: Ema::new(period).unwrap(),
            rsi: Rsi::new(period).unwrap(),
            macd: Macd::new(period, 2 * period, period).unwrap(),
            bollinger: Bollinger::new(period, 2.0).unwrap(),
            atr: Atr::new(period).unwrap(),
            stochastic: Stochastic::new(period, 3, 3).unwrap(),
            adx: Adx::new(period).unwrap(),
            cci: Cci::new(period).unwrap(),
        }
    }

    fn update_values(&mut self, value: f64) -> [Option<f64>; 8] {
        [
            self.sma.update(value),
            self.wma.update(value),
            self.hull.update(value),
            self.z_score.update(value),
            self.ema.update(value),
            self.rsi.update(value),
            self.macd.update(value).map(|lines| lines.macd + lines.signal + lines.histogram),
            self.bollinger.update(value).map(|bands| bands.upper + bands.middle + bands.lower),
        ]
    }

    fn update(&mut self, candle: &Candle) -> Vec<Option<f64>> {
        let mut answers = self.update_values(candle.close()).to_vec();
        answers.extend([
            self.atr.update(candle),
            self.stochastic.update(candle).map(|lines| lines.k + lines.d),
            self.adx.update(candle).map(|lines| lines.adx + lines.plus_di + lines.minus_di),
            self.cci.update(candle),
            self.donchian.update(candle).map(|channel| channel.upper + channel.middle + channel.lower),
            self.keltner.update(candle).map(|channel| channel.upper + channel.middle + channel.lower),
            self.supertrend.update(candle).map(|supertrend| supertrend.line),
            self.williams.update(candle),
            self.sar.update(candle).map(|sar| sar.stop),
            self.heikin_ashi.update(candle).map(|smooth| smooth.high() - smooth.low()),
            self.session.update(candle).map(|session| session.high + session.low + session.close),
            self.pivots
                .update(candle)
                .map(|levels| levels.pivot + levels.resistances[2] + levels.supports[2]),
        ]);
        answers
    }
}
