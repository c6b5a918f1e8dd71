//! Bets on a return from an extreme of the stochastic oscillator while the ADX shows no trend.
//!
//! Example of a strategy with a filter: each rule has a condition on the oscillator and a condition on the ADX. A
//! missing value is NaN, and every comparison with NaN is false, so the rule gives no signal.

use candlewick_sdk::indicator::{Adx, Stochastic};
use candlewick_sdk::{
    BotContext, BuildError, Candle, Declaration, DeclaredStrategy, SeriesIndex, SeriesKey, SignalRule,
    StrategyFactory, parameters,
};

parameters! {
    /// Parameters of the oscillator and the filter.
    pub struct Params {
        /// Number of candles in the range of the oscillator.
        period: usize = 14, 2..=500;
        /// Number of candles that smooth the oscillator.
        smoothing: usize = 3, 1..=100;
        /// Buy when the oscillator closes below this level.
        oversold: f64 = 20.0, 0.0..=100.0;
        /// Sell when the oscillator closes above this level.
        overbought: f64 = 80.0, 0.0..=100.0;
        /// Number of candles in the ADX.
        adx_period: usize = 14, 2..=500;
        /// Trade while the ADX is below this level.
        trend: f64 = 25.0, 1.0..=100.0;
    }
}

/// Strategy that buys low and sells high while the market has no trend. Gives no signal on candles without movement,
/// because the oscillator of a flat range is 0 and would count as oversold.
#[derive(Clone, Debug)]
pub struct StochasticAdx {
    params: Params,
    stochastic: Stochastic,
    adx: Adx,
    /// %K line of the oscillator after the last candle.
    last_k: Option<f64>,
    last_adx: Option<f64>,
}

const OSCILLATOR: SeriesIndex = SeriesIndex::new(0);
const ADX: SeriesIndex = SeriesIndex::new(1);

impl DeclaredStrategy for StochasticAdx {
    type Numbers = [f64; 2];

    fn warmup_candles(&self) -> usize {
        self.stochastic.warmup().max(self.adx.warmup())
    }

    #[inline]
    fn update(&mut self, candle: &Candle) -> Option<[f64; 2]> {
        let moved = candle.high() > candle.low();
        self.last_k = self.stochastic.update(candle).map(|lines| lines.k).filter(|_| moved);
        self.last_adx = self.adx.update(candle).map(|lines| lines.adx);
        Some([self.last_k.unwrap_or(f64::NAN), self.last_adx.unwrap_or(f64::NAN)])
    }

    /// Returns the keys of both series. The levels are not part of a key, because they only affect the rules.
    fn series(&self) -> Vec<SeriesKey> {
        let Params { period, smoothing, adx_period, .. } = self.params;
        vec![
            SeriesKey::new("stochastic", &[period as f64, smoothing as f64]),
            SeriesKey::new("adx", &[adx_period as f64]),
        ]
    }

    #[inline]
    fn rules(&self) -> impl AsRef<[SignalRule]> {
        let Params { oversold, overbought, trend, .. } = self.params;
        [
            SignalRule::buy("oversold without a trend", OSCILLATOR.below(oversold)).and(ADX.below(trend)),
            SignalRule::sell("overbought without a trend", OSCILLATOR.above(overbought))
                .and(ADX.below(trend)),
        ]
    }

    #[inline]
    fn values(&self) -> impl IntoIterator<Item = (&'static str, f64)> {
        self.last_k.map(|k| ("k", k)).into_iter().chain(self.last_adx.map(|adx| ("adx", adx)))
    }
}

impl StrategyFactory for StochasticAdx {
    const NAME: &'static str = "stochastic-adx";
    const VERSION: &'static str = "1.0.0";
    const ABOUT: &'static str =
        "Bets on a return from an extreme of the stochastic oscillator while the ADX shows no trend.";
    type Params = Params;

    fn build(params: Params, _bot: &BotContext) -> Result<Self, BuildError> {
        let Params { period, smoothing, oversold, overbought, adx_period, .. } = params;
        if oversold >= overbought {
            return Err(format!("oversold = {oversold} must be below overbought = {overbought}").into());
        }
        Ok(Self {
            // The %D line is not used.
            stochastic: Stochastic::new(period, smoothing, 1)?,
            adx: Adx::new(adx_period)?,
            last_k: None,
            last_adx: None,
            params,
        })
    }

    fn declaration(&self) -> Option<Declaration> {
        Some(Declaration::from_strategy(self))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use candlewick_sdk::Strategy;
    use candlewick_sdk::testkit::{bot, check_conformance, flat, from_closes, random_walk, render_signals};

    fn params(trend: f64) -> Params {
        Params { period: 2, smoothing: 1, oversold: 20.0, overbought: 80.0, adx_period: 2, trend }
    }

    fn check(trend: f64, closes: &[f64], expected: &[(usize, &str)]) {
        let signals = render_signals::<StochasticAdx>(&params(trend), &bot("BTCUSDT"), &from_closes(closes));
        let signals = signals.iter().map(String::as_str).enumerate().filter(|(_, text)| !text.is_empty());
        assert_eq!(signals.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn signals_extremes_only_without_a_trend() {
        check(100.0, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], &[]);
        // The candles alternate between 9 and 12. Movements cancel out, so the ADX is 0. Closes are at the extremes.
        let expected = [
            (3, "SELL overbought without a trend k=100 adx=0"),
            (4, "BUY oversold without a trend k=0 adx=0"),
        ];
        check(1.0, &[10.0, 12.0, 9.0, 12.0, 9.0], &expected);
    }

    #[test]
    fn flat_prices_give_no_signal() {
        let mut strategy = StochasticAdx::build(params(100.0), &bot("BTCUSDT")).unwrap();
        for candle in random_walk(4, 100).iter().chain(&flat(100)) {
            let signal = strategy.on_candle(candle);
            assert!(signal.is_none() || candle.high() > candle.low(), "{signal:?}");
        }
        assert_eq!(strategy.indicators().len(), 1);
    }

    #[test]
    fn rejects_levels_in_the_wrong_order() {
        let params = Params { oversold: 80.0, ..Params::default() };
        let error = StochasticAdx::build(params, &bot("BTCUSDT")).unwrap_err();
        let expected = "the strategy's parameters: oversold = 80 must be below overbought = 80";
        assert_eq!(error.to_string(), expected);
    }

    #[test]
    fn conforms_with_warmup_of_stable_adx() {
        assert_eq!(StochasticAdx::build(Params::default(), &bot("BTCUSDT")).unwrap().warmup(), 588);
        let signals =
            check_conformance::<StochasticAdx>(&Params::default(), &bot("BTCUSDT"), &random_walk(2, 5_000));
        assert!(signals.unwrap() > 100);
    }
}
