//! Buys pullbacks in a rising longer-term trend, and sells rallies in a falling one.
//!
//! Example of a strategy with several intervals: longer candles define the trend, bot candles trigger the entry.

use candlewick_sdk::indicator::{Ema, Rsi};
use candlewick_sdk::{
    BotContext, BuildError, Candle, Direction, Interval, Signal, Strategy, StrategyFactory, parameters,
};

parameters! {
    /// Parameters of the trend and the pullback.
    pub struct Params {
        /// Length of the trend's candles in seconds, a multiple of the bot's own interval.
        trend_seconds: usize = 300, 2..=86_400;
        /// Number of candles in the average of the trend.
        trend_period: usize = 20, 1..=500;
        /// Number of the bot's own candles in the RSI.
        period: usize = 7, 2..=200;
        /// Minimum distance of the RSI from 50 for a pullback.
        distance: f64 = 20.0, 0.0..=50.0;
    }
}

/// Strategy that buys on a low RSI in a rising trend and sells on a high RSI in a falling trend. The trend rises if the
/// last longer candle closed above the average of longer candles, and falls if that candle closed below the average.
#[derive(Debug)]
pub struct TrendFilter {
    longer: [Interval; 1],
    own_candles_per_longer: usize,
    average: Ema,
    /// Average after the last longer candle, and the close of that candle.
    last_average: Option<(f64, f64)>,
    trend: Option<Direction>,
    rsi: Rsi,
    last_rsi: Option<f64>,
    distance: f64,
}

impl Strategy for TrendFilter {
    /// Returns the number of candles until both indicators are stable. Includes one extra longer candle: the first may
    /// be incomplete, and the bot sees a longer candle only at its own next candle.
    fn warmup(&self) -> usize {
        self.rsi.warmup().max((self.average.warmup() + 1) * self.own_candles_per_longer)
    }

    fn longer_intervals(&self) -> &[Interval] {
        &self.longer
    }

    fn wants_settlements(&self) -> bool {
        false
    }

    fn on_longer_candle(&mut self, _interval: Interval, candle: &Candle) {
        self.last_average = self.average.update(candle.close()).map(|average| (average, candle.close()));
        let Some((average, _)) = self.last_average else { return };
        self.trend = match candle.close() - average {
            above if above > average * ROUNDING_TOLERANCE => Some(Direction::Buy),
            below if below < -average * ROUNDING_TOLERANCE => Some(Direction::Sell),
            _ => None,
        };
    }

    #[inline]
    fn on_candle(&mut self, candle: &Candle) -> Option<Signal> {
        self.last_rsi = self.rsi.update(candle.close());
        let rsi = self.last_rsi?;
        let signal = match self.trend? {
            Direction::Buy if rsi <= 50.0 - self.distance => Signal::buy("pullback in a rising trend"),
            Direction::Sell if rsi >= 50.0 + self.distance => Signal::sell("rally in a falling trend"),
            Direction::Buy | Direction::Sell => return None,
        };
        Some(signal.with("rsi", rsi))
    }

    fn indicators(&self) -> Vec<(&str, f64)> {
        let rsi = self.last_rsi.map(|rsi| ("rsi", rsi));
        let trend = self.last_average.into_iter();
        let trend = trend.flat_map(|(average, close)| [("trend average", average), ("trend close", close)]);
        rsi.into_iter().chain(trend).collect()
    }
}

/// Relative difference up to which a close counts as equal to the average, because of rounding errors.
const ROUNDING_TOLERANCE: f64 = 1e-9;

impl StrategyFactory for TrendFilter {
    const NAME: &'static str = "trend-filter";
    const VERSION: &'static str = "1.0.0";
    const ABOUT: &'static str = "Buys pullbacks in a longer-term uptrend, sells rallies in a downtrend.";
    type Params = Params;

    fn build(params: Params, bot: &BotContext) -> Result<Self, BuildError> {
        let longer = Interval::from_seconds(params.trend_seconds as i64);
        let longer = longer.map_err(|error| format!("trend_seconds: {error}"))?;
        Ok(Self {
            longer: [longer],
            own_candles_per_longer: (longer.length().get() / bot.interval.length().get()) as usize,
            average: Ema::new(params.trend_period)?,
            last_average: None,
            trend: None,
            rsi: Rsi::new(params.period)?,
            last_rsi: None,
            distance: params.distance,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use candlewick_sdk::LongerCandles;
    use candlewick_sdk::testkit::{bot, check_conformance, from_closes, random_walk, render_signals};

    /// Trend from two-minute candles, and an RSI over 2 candles.
    const SHORT: Params = Params { trend_seconds: 120, trend_period: 2, period: 2, distance: 30.0 };

    fn check(closes: &[f64], missing: &[usize], expected: &[(usize, &str)]) {
        let bot = BotContext { longer_share_percent: None, ..bot("BTCUSDT") };
        let candles = from_closes(closes).into_iter().enumerate();
        let (places, candles): (Vec<usize>, Vec<Candle>) =
            candles.filter(|(place, _)| !missing.contains(place)).unzip();
        let signals = render_signals::<TrendFilter>(&SHORT, &bot, &candles);
        let signals = places.into_iter().zip(signals.iter().map(String::as_str));
        assert_eq!(signals.filter(|(_, text)| !text.is_empty()).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn buys_pullbacks_in_rising_and_sells_rallies_in_falling_trends() {
        // Two-minute closes 12, 16, 8: the average of two is 14, so the trend rises, then 10, so it falls. Mean gain and
        // loss at candle 3 are 2 and 0; then 1 and 4 (RSI 20), 0.5 and 2 (20), and after a rise by 7.5 they are 4 and 1.
        let closes = [10.0, 12.0, 14.0, 16.0, 8.0, 8.0, 15.5];
        let [bought, sold] =
            ["BUY pullback in a rising trend rsi=20", "SELL rally in a falling trend rsi=80"];
        check(&closes, &[], &[(4, bought), (5, bought), (6, sold)]);
    }

    #[test]
    fn gives_no_signal_without_a_trend() {
        check(&[10.0, 12.0, 14.0, 16.0, 8.0, 8.0], &[2], &[]);
        check(&[5.0; 40], &[], &[]);
    }

    #[test]
    fn reports_only_known_values() {
        let mut strategy = TrendFilter::build(SHORT, &bot("BTCUSDT")).unwrap();
        let mut longer = LongerCandles::new(Interval::MINUTE, strategy.longer_intervals()).unwrap();
        let trend = [("trend average", 14.0), ("trend close", 16.0)];
        let expected: [&[(&str, f64)]; 6] = [
            &[],
            &[],
            &[("rsi", 100.0)],
            &[("rsi", 100.0)],
            &[("rsi", 20.0), trend[0], trend[1]],
            &[("rsi", 20.0), trend[0], trend[1]],
        ];
        for (candle, expected) in from_closes(&[10.0, 12.0, 14.0, 16.0, 8.0, 8.0]).iter().zip(expected) {
            strategy.on_candle(candle);
            assert_eq!(strategy.indicators(), expected);
            longer.feed_longer_candles_after(candle, &mut strategy);
        }
    }

    #[test]
    fn conforms_with_warmup_of_stable_trend() {
        let params = Params::default();
        // The seed takes 20 candles, (19/21)^208 is below 1e-9, and one more is for the cut-off candle and the delay.
        assert_eq!(TrendFilter::build(params.clone(), &bot("BTCUSDT")).unwrap().warmup(), (20 + 208 + 1) * 5);
        let signals = check_conformance::<TrendFilter>(&params, &bot("BTCUSDT"), &random_walk(3, 5_000));
        assert!(signals.unwrap() > 100);
    }
}
