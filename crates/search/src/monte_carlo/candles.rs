//! Resampling of candles. Blocks of observed price moves are drawn at random and joined, starting at the first candle.

use candlewick_sdk::{Candle, CandleSeries, Ohlcv};
use candlewick_simulator::Market;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ResampleInputError {
    #[error("{one} and {other} have different intervals: use one candle interval for all bots and prices")]
    Intervals { one: String, other: String },
    /// Two series have different candle times, but a block must cover the same times in all series.
    #[error(
        "{one} and {other} have different candle times: resample them separately, or cut them with --from and --to"
    )]
    Times { one: String, other: String },
    #[error("resampling needs at least two candles")]
    TooFew,
}

pub struct CandleResampler<'a> {
    candles: &'a [CandleSeries],
    markets: &'a [Market],
}

impl<'a> CandleResampler<'a> {
    pub fn new(candles: &'a [CandleSeries], markets: &'a [Market]) -> Result<Self, ResampleInputError> {
        let prices = markets.iter().map(|market| &market.prices);
        let detail = markets.iter().flat_map(|market| &market.detail);
        let mut all = candles.iter().chain(prices).chain(detail);
        let first =
            all.next().filter(|first| first.candles().len() >= 2).ok_or(ResampleInputError::TooFew)?;
        for other in all {
            let names = || (series_name(first), series_name(other));
            if other.interval() != first.interval() {
                let (one, other) = names();
                return Err(ResampleInputError::Intervals { one, other });
            }
            let times = |series: &CandleSeries| series.candles().iter().map(Candle::time).collect::<Vec<_>>();
            if other.candles().len() != first.candles().len() || times(other) != times(first) {
                let (one, other) = names();
                return Err(ResampleInputError::Times { one, other });
            }
        }
        Ok(Self { candles, markets })
    }

    pub fn move_count(&self) -> usize {
        self.candles.first().map_or(0, |series| series.candles().len() - 1)
    }

    pub fn move_sizes(&self) -> Vec<f64> {
        let Some(series) = self.candles.first() else { return Vec::new() };
        series.candles().windows(2).map(|pair| (pair[1].close() / pair[0].close()).ln().abs()).collect()
    }

    /// Builds one resampled path from the first candle and the price moves at `indices` (0-based).
    pub fn build_path(&self, indices: &[usize]) -> (Vec<CandleSeries>, Vec<Market>) {
        let candles = self.candles.iter().map(|series| resample_series(series, indices)).collect();
        let market = |market: &Market| Market {
            prices: resample_series(&market.prices, indices),
            detail: market.detail.iter().map(|detail| resample_series(detail, indices)).collect(),
        };
        (candles, self.markets.iter().map(market).collect())
    }
}

fn series_name(series: &CandleSeries) -> String {
    format!("{}@{}", series.symbol(), series.interval())
}

fn resample_series(series: &CandleSeries, indices: &[usize]) -> CandleSeries {
    let observed = series.candles();
    let mut made = Vec::with_capacity(observed.len());
    made.push(observed[0]);
    let mut last = observed[0].close();
    for (time, index) in observed[1..].iter().map(Candle::time).zip(indices) {
        let (before, candle) = (&observed[*index], &observed[*index + 1]);
        let factor = last / before.close();
        let at = |price: f64| price * factor;
        let (open, close) = (at(candle.open()), at(candle.close()));
        // Rounding must not put the open or the close outside the range from low to high.
        let high = at(candle.high()).max(open).max(close);
        let low = at(candle.low()).min(open).min(close);
        let numbers = Ohlcv { open, high, low, close, volume: candle.volume() };
        // If a price overflows, a flat candle at the last price replaces the candle.
        let sound =
            Candle::new(time, series.interval(), numbers).unwrap_or_else(|_| flat_candle(time, series, last));
        last = sound.close();
        made.push(sound);
    }
    CandleSeries::from_validated(series.series(), made).expect("there is at least one candle")
}

fn flat_candle(time: candlewick_sdk::Millis, series: &CandleSeries, price: f64) -> Candle {
    let numbers = Ohlcv { open: price, high: price, low: price, close: price, volume: 0.0 };
    Candle::new(time, series.interval(), numbers).expect("a flat candle at a valid price is valid")
}

#[cfg(test)]
mod tests {
    use super::*;
    use candlewick_sdk::{Interval, Millis, Series};

    fn series(rows: &[[f64; 5]]) -> CandleSeries {
        let minute = Interval::MINUTE;
        let candle = |(index, row): (i64, &[f64; 5])| {
            let [open, high, low, close, volume] = *row;
            Candle::new(Millis::MINUTE * index, minute, Ohlcv { open, high, low, close, volume }).unwrap()
        };
        let candles: Vec<Candle> = (0..).zip(rows).map(candle).collect();
        CandleSeries::new(Series { symbol: "BTCUSDT".parse().unwrap(), interval: minute }, candles).unwrap()
    }

    #[test]
    fn resampled_moves_match_a_hand_computed_path() {
        let observed = series(&[
            [100.0, 110.0, 90.0, 100.0, 1.0],
            [101.0, 125.0, 100.0, 120.0, 2.0], // opens at 1.01 of the close before, closes at 1.2
            [120.0, 120.0, 60.0, 60.0, 3.0],   // halves
        ]);
        let candles = [observed];
        let resampled = CandleResampler::new(&candles, &[]).unwrap();
        assert_eq!(resampled.move_count(), 2);
        assert_eq!(resampled.build_path(&[0, 1]).0[0].candles(), candles[0].candles(), "the observed order");
        let (other, _) = resampled.build_path(&[1, 0]);
        let numbers = |one: &Candle| [one.open(), one.high(), one.low(), one.close(), one.volume()];
        let made: Vec<[f64; 5]> = other[0].candles().iter().map(numbers).collect();
        assert_eq!(made[1], [100.0, 100.0, 50.0, 50.0, 3.0]);
        assert_eq!(made[2], [50.5, 62.5, 50.0, 60.0, 2.0]);
        assert_eq!(other[0].candles()[2].time(), Millis::MINUTE * 2);
    }

    #[test]
    fn rejects_series_with_different_times() {
        let one = [1.0; 5];
        let pair = [series(&[one, one, one]), series(&[one, one])];
        assert!(matches!(CandleResampler::new(&pair, &[]), Err(ResampleInputError::Times { .. })));
        assert!(matches!(CandleResampler::new(&pair[..0], &[]), Err(ResampleInputError::TooFew)));
    }
}
