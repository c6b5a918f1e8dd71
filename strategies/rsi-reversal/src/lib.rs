//! Buys when Wilder's RSI is oversold at the close of a candle, and sells when the RSI is overbought.
//!
//! Example of a strategy with one indicator: `build` rejects contradictory parameters, `update` computes the RSI, and
//! `rules` compares the RSI with levels.

use candlewick_sdk::indicator::Rsi;
use candlewick_sdk::{
    BotContext, BuildError, Candle, Declaration, DeclaredStrategy, SeriesIndex, SeriesKey, SignalRule,
    StrategyFactory, parameters,
};

parameters! {
    /// Parameters of the RSI and its levels.
    pub struct Params {
        /// Number of candles in the RSI.
        period: usize = 14, 2..=500;
        /// Buy when the RSI closes below this level.
        oversold: f64 = 30.0, 0.0..=100.0;
        /// Sell when the RSI closes above this level.
        overbought: f64 = 70.0, 0.0..=100.0;
    }
}

/// Strategy that bets on a return from an extreme of the relative strength index (RSI).
/// Every candle with the RSI beyond a level gives a signal, so only risk rules limit the number of trades.
#[derive(Clone, Debug)]
pub struct RsiReversal {
    period: usize,
    rsi: Rsi,
    /// RSI after the last candle.
    last: Option<f64>,
    oversold: f64,
    overbought: f64,
}

const RSI: SeriesIndex = SeriesIndex::new(0);

impl DeclaredStrategy for RsiReversal {
    type Numbers = [f64; 1];

    /// Returns the number of candles after which the RSI of a live bot equals the RSI of its backtest.
    fn warmup_candles(&self) -> usize {
        self.rsi.warmup()
    }

    #[inline]
    fn update(&mut self, candle: &Candle) -> Option<[f64; 1]> {
        self.last = self.rsi.update(candle.close());
        Some([self.last?])
    }

    /// Returns the keys of the series. The levels are not part of a key, because they only affect the rules.
    fn series(&self) -> Vec<SeriesKey> {
        vec![SeriesKey::new("rsi", &[self.period as f64])]
    }

    #[inline]
    fn rules(&self) -> impl AsRef<[SignalRule]> {
        [
            SignalRule::buy("oversold", RSI.below(self.oversold)).with_level_name("level"),
            SignalRule::sell("overbought", RSI.above(self.overbought)).with_level_name("level"),
        ]
    }

    #[inline]
    fn values(&self) -> impl IntoIterator<Item = (&'static str, f64)> {
        self.last.map(|rsi| ("rsi", rsi))
    }
}

impl StrategyFactory for RsiReversal {
    const NAME: &'static str = "rsi-reversal";
    const VERSION: &'static str = "1.0.0";
    const ABOUT: &'static str = "Buys when Wilder's RSI is oversold and sells when the RSI is overbought.";
    type Params = Params;

    fn build(params: Params, _bot: &BotContext) -> Result<Self, BuildError> {
        let Params { period, oversold, overbought } = params;
        if oversold >= overbought {
            return Err(format!("oversold = {oversold} must be below overbought = {overbought}").into());
        }
        Ok(Self { period, rsi: Rsi::new(period)?, last: None, oversold, overbought })
    }

    fn declaration(&self) -> Option<Declaration> {
        Some(Declaration::from_strategy(self))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use candlewick_sdk::Strategy;
    use candlewick_sdk::testkit::{bot, check_conformance, from_closes, random_walk, render_signals};

    fn params(period: usize, oversold: f64, overbought: f64) -> Params {
        Params { period, oversold, overbought }
    }

    /// `expected` has the candle index and text of each signal, for an RSI over 2 candles.
    fn check((oversold, overbought): (f64, f64), expected: &[(usize, &str)]) {
        let signals = render_signals::<RsiReversal>(
            &params(2, oversold, overbought),
            &bot("BTCUSDT"),
            &from_closes(&[10.0, 11.0, 10.0, 12.0, 8.0, 6.0, 14.0]),
        );
        let signals = signals.iter().map(String::as_str).enumerate().filter(|(_, text)| !text.is_empty());
        assert_eq!(signals.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn signals_beyond_a_level_and_not_on_it() {
        // Gains 1, 0, 2, 0, 0, 8 and losses 0, 1, 0, 4, 2, 0, smoothed from the second on to
        // gain 0.5, 1.25, 0.625, 0.3125, 4.15625 and loss 0.5, 0.25, 2.125, 2.0625, 1.03125:
        // RSI 50, 83.333, 22.727, 13.158, 80.120 at candles 2 to 6.
        check((20.0, 85.0), &[(5, "BUY oversold rsi=13.157895 level=20")]);
        let sold =
            [(3, "SELL overbought rsi=83.333333 level=50"), (6, "SELL overbought rsi=80.120482 level=50")];
        check((10.0, 50.0), &sold);
        check(
            (50.0, 90.0),
            &[(4, "BUY oversold rsi=22.727273 level=50"), (5, "BUY oversold rsi=13.157895 level=50")],
        );
        check((13.0, 84.0), &[]);
    }

    #[test]
    fn rejects_levels_in_the_wrong_order() {
        for (oversold, overbought) in [(70.0, 30.0), (50.0, 50.0)] {
            let error = RsiReversal::build(params(14, oversold, overbought), &bot("BTCUSDT")).unwrap_err();
            let problem = format!("oversold = {oversold} must be below overbought = {overbought}");
            assert_eq!(error.to_string(), format!("the strategy's parameters: {problem}"));
        }
    }

    #[test]
    fn conforms_with_warmup_of_stable_rsi() {
        // 14 changes need 15 candles, and (13/14)^280 is the first power below 1e-9.
        assert_eq!(RsiReversal::build(Params::default(), &bot("BTCUSDT")).unwrap().warmup(), 15 + 280);
        let signals =
            check_conformance::<RsiReversal>(&Params::default(), &bot("BTCUSDT"), &random_walk(2, 5_000));
        assert!(signals.unwrap() > 100);
    }
}
