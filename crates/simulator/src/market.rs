//! The candles of a symbol, and the expiries that they can price.

use crate::SimulatorError;
use candlewick_sdk::{CandleSeries, Expiry, Interval, Symbol};

#[derive(Clone, Debug)]
pub struct Market {
    pub prices: CandleSeries,
    /// Finer candles of the same symbol.
    ///
    /// At any moment, the finest series with a candle gives the price.
    pub detail: Vec<CandleSeries>,
}

impl Market {
    pub fn symbol(&self) -> Symbol {
        self.prices.symbol()
    }

    pub fn finest_interval(&self) -> Interval {
        self.detail.iter().map(CandleSeries::interval).fold(self.prices.interval(), Interval::min)
    }

    pub fn check(&self) -> Result<(), SimulatorError> {
        let symbol = self.symbol();
        for detail in &self.detail {
            if detail.symbol() != symbol {
                return Err(SimulatorError::ReplaceDetail { symbol, detail: detail.symbol() });
            }
            if detail.interval() >= self.prices.interval() {
                let (interval, detail) = (self.prices.interval(), detail.interval());
                return Err(SimulatorError::RefineDetail { symbol, interval, detail });
            }
        }
        Ok(())
    }
}

/// Checks that the market has candles fine enough for this expiry somewhere.
///
/// [`coarse_stretches`](crate::coarse_stretches) returns the stretches where they are missing. The
/// caller may run a shorter expiry anyway (`--allow-coarse`); it is priced inside a single candle.
pub fn check_expiry(expiry: Expiry, market: &Market) -> Result<(), SimulatorError> {
    let interval = market.finest_interval();
    if expiry.close_type.duration() < interval.length() {
        let (close_type, symbol) = (expiry.close_type, market.symbol());
        return Err(SimulatorError::AddDetail { close_type, interval, symbol });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use candlewick_sdk::{Candle, ExpirationType, Millis, Ohlcv, Series};

    fn series(symbol: &str, interval: &str) -> CandleSeries {
        let interval = interval.parse().unwrap();
        let numbers = Ohlcv { open: 1.0, high: 1.0, low: 1.0, close: 1.0, volume: 0.0 };
        let candle = Candle::new(Millis::ZERO, interval, numbers).unwrap();
        CandleSeries::new(Series { symbol: symbol.parse().unwrap(), interval }, vec![candle]).unwrap()
    }

    fn check(detail: Option<(&str, &str)>, close_type: &str, expected: Result<(), &str>) {
        let detail = detail.map(|(symbol, interval)| series(symbol, interval)).into_iter().collect();
        let market = Market { prices: series("EURUSD", "1m"), detail };
        let close_type = close_type.parse().unwrap();
        let expiry = Expiry { close_type, expiration_type: ExpirationType::TimeFixed };
        let checked = market.check().and_then(|()| check_expiry(expiry, &market));
        assert_eq!(checked.map_err(|error| error.to_string()), expected.map_err(str::to_owned));
    }

    #[test]
    fn an_expiry_needs_candles_that_are_no_longer() {
        check(None, "01:00", Ok(()));
        check(None, "05:00", Ok(()));
        check(
            None,
            "00:59",
            Err("an expiry of 00:59 is shorter than the 1m candles of EURUSD: use a longer expiry, \
                 or add candles of EURUSD at 00:59 or finer"),
        );
        check(Some(("EURUSD", "5s")), "00:05", Ok(()));
        check(
            Some(("EURUSD", "5s")),
            "00:04",
            Err("an expiry of 00:04 is shorter than the 5s candles of EURUSD: use a longer expiry, \
                 or add candles of EURUSD at 00:04 or finer"),
        );
    }

    #[test]
    fn detail_is_of_the_same_symbol_and_finer() {
        check(
            Some(("GBPUSD", "5s")),
            "01:00",
            Err("the detail series of EURUSD is of GBPUSD: give finer candles of EURUSD"),
        );
        check(
            Some(("EURUSD", "1m")),
            "01:00",
            Err("the detail series of EURUSD has 1m candles, no finer than 1m: give finer ones"),
        );
    }
}
