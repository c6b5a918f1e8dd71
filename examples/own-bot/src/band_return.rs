//! Example strategy with two indicators, a number in its reason and its own expiry.

use candlewick_sdk::indicator::{Adx, Bollinger, BollingerBands};
use candlewick_sdk::{BotContext, BuildError, Candle, Expiry, Signal, Strategy, StrategyFactory, parameters};

parameters! {
    /// Parameters of the return into the band.
    pub struct Params {
        /// Period of the band and of ADX, in candles.
        period: usize = 20, 2..=200;
        /// Half the width of the band, in standard deviations.
        deviations: f64 = 2.0, 0.5..=5.0;
        /// Upper limit of ADX for a trade, 0 to 100.
        weak_trend: f64 = 25.0, 1.0..=100.0;
        /// Duration of a trade in minutes; 0 uses the bot's.
        minutes: u16 = 0, 0..=1440;
    }
}

/// Bets on a return into the Bollinger band while there is no trend.
pub(crate) struct BandReturn {
    band: Bollinger,
    trend: Adx,
    weak_trend: f64,
    expiry: Option<Expiry>,
    /// Side of the last close: 1 above the band, -1 below, 0 inside.
    side: i8,
}

impl Strategy for BandReturn {
    fn warmup(&self) -> usize {
        self.band.warmup().max(self.trend.warmup()) + 1
    }

    fn on_candle(&mut self, candle: &Candle) -> Option<Signal> {
        // Update both before `?`, so that both see every candle.
        let (bands, trend) = (self.band.update(candle.close()), self.trend.update(candle));
        let (bands, trend) = (bands?, trend?);
        let before = self.side;
        self.side = side_of(candle.close(), &bands);
        if before == 0 || self.side != 0 || trend.adx >= self.weak_trend {
            return None;
        }
        let signal =
            if before > 0 { Signal::sell("back from above") } else { Signal::buy("back from below") };
        let signal = signal.with("adx", trend.adx);
        Some(match self.expiry {
            Some(expiry) => signal.with_expiry(expiry),
            None => signal,
        })
    }

    fn expiries(&self) -> Vec<Option<Expiry>> {
        vec![self.expiry]
    }
}

fn side_of(close: f64, bands: &BollingerBands) -> i8 {
    i8::from(close > bands.upper) - i8::from(close < bands.lower)
}

impl StrategyFactory for BandReturn {
    const NAME: &'static str = "band-return";
    const VERSION: &'static str = "1.0.0";
    const ABOUT: &'static str = "Bets on a return into the Bollinger band while there is no trend.";
    type Params = Params;

    fn build(params: Params, bot: &BotContext) -> Result<Self, BuildError> {
        let expiry = match params.minutes {
            0 => None,
            minutes => Some(Expiry::minutes(minutes)?),
        };
        if expiry.is_some_and(|expiry| expiry.close_type.duration() < bot.interval.length()) {
            return Err(format!("minutes = {} is less than a candle", params.minutes).into());
        }
        let band = Bollinger::new(params.period, params.deviations)?;
        let trend = Adx::new(params.period)?;
        Ok(Self { band, trend, weak_trend: params.weak_trend, expiry, side: 0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use candlewick_sdk::testkit::{assert_signals, bot};

    /// After flat candles, the ADX over 5 candles is 100 / 5 = 20 at the first move.
    /// At the next candle it is (4 x 20 + 100) / 5 = 36.
    #[test]
    fn bets_on_a_close_that_returns_into_the_band() {
        let params = |weak_trend| Params { period: 5, deviations: 1.5, weak_trend, ..Params::default() };
        assert_signals::<BandReturn>(
            &params(36.5),
            "close     signal
             300x 100
             101
             100       SELL back from above",
        );
        assert_signals::<BandReturn>(
            &params(36.5),
            "close     signal
             300x 100
             99
             100       BUY back from below",
        );
        assert_signals::<BandReturn>(
            &params(35.5),
            "close     signal
             300x 100
             101
             100",
        );
    }

    #[test]
    fn requests_the_duration_of_its_parameter_but_at_least_one_candle() {
        let built = |minutes| BandReturn::build(Params { minutes, ..Params::default() }, &bot("EURUSD"));
        assert_eq!(built(0).unwrap().expiries(), [None]);
        let expiry = built(15).unwrap().expiries()[0].unwrap();
        assert_eq!(expiry.close_type.to_string(), "15:00");
        let hourly = BotContext { interval: "1h".parse().unwrap(), ..bot("EURUSD") };
        let refused = BandReturn::build(Params { minutes: 15, ..Params::default() }, &hourly);
        assert!(refused.err().unwrap().to_string().contains("minutes = 15 is less than a candle"));
    }
}
