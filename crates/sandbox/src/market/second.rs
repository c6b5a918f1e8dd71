//! One-second prices of a pair, from one-second candles or else from the bridge.

use super::board::Board;
use super::bridge::Bridge;
use candlewick_sdk::{Candle, CandleSeries, Millis};
use candlewick_simulator::{PathPrice, PriceMoment};

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Second {
    pub(crate) time: Millis,
    pub(crate) open: f64,
    pub(crate) high: f64,
    pub(crate) low: f64,
    pub(crate) close: f64,
    pub(crate) volume: f64,
}

impl Board {
    pub(crate) fn newest_second(&self, latest: Millis) -> Option<Second> {
        let latest = latest.floor_to(Millis::SECOND);
        // The finest series comes first: where two cover the same second, it speaks.
        let last_of = |series: &CandleSeries| {
            let candle = last_candle(series, latest)?;
            Some(latest.min(candle.close_time(series.interval()) - Millis::SECOND))
        };
        let newest = self.stored.iter().filter_map(last_of).max()?;
        self.second_at(newest)
    }

    pub(crate) fn second_at(&self, time: Millis) -> Option<Second> {
        self.stored.iter().find_map(|series| {
            let candle = last_candle(series, time)?;
            (time < candle.close_time(series.interval())).then(|| self.second_in(candle, series, time))
        })
    }

    fn second_in(&self, candle: &Candle, series: &CandleSeries, time: Millis) -> Second {
        let seconds = (series.interval().length().get() / 1_000).cast_unsigned();
        let volume = candle.volume() / seconds as f64;
        if seconds == 1 {
            let (open, high, low, close) = (candle.open(), candle.high(), candle.low(), candle.close());
            return self.with_trades(Second { time, open, high, low, close, volume });
        }
        let (tick, chance, symbol_key) = (self.tick, self.chance, self.symbol_key);
        let bridge = Bridge { candle, seconds, tick, chance, symbol_key };
        let elapsed = ((time - candle.time()).get() / 1_000).cast_unsigned();
        let (open, close) = (bridge.price_after(elapsed), bridge.price_after(elapsed + 1));
        let (high, low) = (open.max(close), open.min(close));
        self.with_trades(Second { time, open, high, low, close, volume })
    }

    /// Extends the range of a second by the prices at which trades open and close.
    ///
    /// Trades follow the price path, a straight line through the candle, so that a backtest gives
    /// the same result.
    fn with_trades(&self, second: Second) -> Second {
        let moments = [PriceMoment::Entry(second.time), PriceMoment::Exit(second.time + Millis::SECOND)];
        let priced = self.path.iter().flat_map(|path| moments.map(|moment| path.price(moment)));
        priced.fold(second, |second, price| match price {
            PathPrice::Price(price) => {
                Second { high: second.high.max(price), low: second.low.min(price), ..second }
            }
            PathPrice::Gap | PathPrice::Beyond => second,
        })
    }
}

fn last_candle(series: &CandleSeries, time: Millis) -> Option<&Candle> {
    let candles = series.candles();
    let after = candles.partition_point(|candle| candle.time() <= time);
    candles.get(after.checked_sub(1)?)
}
