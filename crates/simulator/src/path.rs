//! Price path: the price of a symbol at any time, derived from its candles.

use crate::settings::{PathKind, SimulationSettings};
use crate::track::{BoundaryCandle, CandleLookup, Slot};
use crate::{Market, SimulatorError};
use candlewick_sdk::{Candle, CandleSeries, Interval, Millis, Symbol};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PriceMoment {
    /// Entry at any time. At a candle boundary, the price is the open of the later candle.
    Entry(Millis),
    /// Entry at a whole second. At a candle boundary, the price is the close of the earlier candle, as for an exit.
    SecondEntry(Millis),
    /// Exit at any time. At a candle boundary, the price is the close of the earlier candle.
    Exit(Millis),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PathPrice {
    Price(f64),
    /// No candle covers the time: the data starts later, or the gap is too long to be filled with the last close.
    Gap,
    /// The time is outside the data: an entry at or after the end of the data, or an exit after the end.
    Beyond,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Quote {
    Price(ShiftedPrice),
    Gap,
    Beyond,
}

/// A price, and the amount by which stress shifts this price against a trade (0 without stress).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ShiftedPrice {
    pub(crate) price: f64,
    pub(crate) shift: f64,
}

/// Price path of one symbol: a pure function that maps a time to a price.
///
/// On a boundary between two candles, the [`PriceMoment`] selects the candle that sets the price. Strictly inside a
/// candle, the price is `open + (close - open) * (x - open_time) / interval` at time `x`, evaluated in this order and
/// rounded to the symbol's tick size if set. With [`PathKind::Open`], the price is the candle's open. If several series
/// have a candle at the time, the finest sets the price. If none has, the last close of the price series fills gaps of
/// at most `max_gap_intervals` missing candles. The data ends with the last candle of any series.
#[derive(Clone, Debug)]
pub struct PricePath {
    symbol: Symbol,
    prices: SeriesLayer,
    detail: Box<[SeriesLayer]>,
    end: Millis,
    kind: PathKind,
    tick: Option<Tick>,
    max_gap_intervals: i64,
}

#[derive(Clone, Debug)]
struct SeriesLayer {
    track: CandleLookup,
    stress: StressShift,
}

impl PricePath {
    pub fn new(market: Market, settings: &SimulationSettings) -> Result<Self, SimulatorError> {
        settings.check()?;
        market.check()?;
        let symbol = market.symbol();
        let layer = |series: CandleSeries| SeriesLayer {
            stress: StressShift::new(settings.stress, settings.latency_ms, series.interval()),
            track: CandleLookup::new(series),
        };
        let mut finer = market.detail;
        finer.sort_by_key(CandleSeries::interval);
        let (prices, detail) =
            (layer(market.prices), finer.into_iter().map(layer).collect::<Box<[SeriesLayer]>>());
        let end = detail.iter().map(|detail| detail.track.end()).fold(prices.track.end(), Millis::max);
        let tick = settings.ticks.get(&symbol).and_then(|size| Tick::new(*size));
        let max_gap_intervals = i64::from(settings.max_gap_intervals);
        Ok(Self { symbol, prices, detail, end, kind: settings.path, tick, max_gap_intervals })
    }

    pub fn symbol(&self) -> Symbol {
        self.symbol
    }

    #[inline]
    pub(crate) fn has_symbol(&self, symbol: &Symbol) -> bool {
        self.symbol == *symbol
    }

    /// Returns the end of the data: the last candle's close time in any series.
    pub fn end(&self) -> Millis {
        self.end
    }

    pub fn price(&self, moment: PriceMoment) -> PathPrice {
        match self.quote(moment) {
            Quote::Price(priced) => PathPrice::Price(priced.price),
            Quote::Gap => PathPrice::Gap,
            Quote::Beyond => PathPrice::Beyond,
        }
    }

    #[inline]
    pub(crate) fn quote(&self, moment: PriceMoment) -> Quote {
        let (at, boundary, beyond) = match moment {
            PriceMoment::Entry(at) => (at, BoundaryCandle::Opens, at >= self.end),
            PriceMoment::SecondEntry(at) => (at, BoundaryCandle::Ends, at >= self.end),
            PriceMoment::Exit(at) => (at, BoundaryCandle::Ends, at > self.end),
        };
        if beyond {
            return Quote::Beyond;
        }
        for detail in &self.detail {
            if let Slot::Filled(candle) = detail.track.slot_at(at, boundary) {
                return detail.quote(candle, self.price_in(candle, at, &detail.track));
            }
        }
        match self.prices.track.slot_at(at, boundary) {
            Slot::Filled(candle) => self.prices.quote(candle, self.price_in(candle, at, &self.prices.track)),
            Slot::Missing { last, intervals } if intervals <= self.max_gap_intervals => {
                self.prices.quote(last, last.close())
            }
            Slot::Missing { .. } | Slot::Before => Quote::Gap,
        }
    }

    #[inline]
    fn price_in(&self, candle: &Candle, at: Millis, track: &CandleLookup) -> f64 {
        let interval = track.interval();
        if at == candle.time() {
            return candle.open();
        }
        if at == candle.close_time(interval) {
            return candle.close();
        }
        match self.kind {
            PathKind::Open => candle.open(),
            PathKind::Linear => {
                let (open, close) = (candle.open(), candle.close());
                let elapsed = (at - candle.time()).get() as f64;
                let price = open + (close - open) * elapsed / interval.length().get() as f64;
                self.tick.map_or(price, |tick| tick.round(price))
            }
        }
    }
}

impl Quote {
    pub(crate) fn to_price(self) -> Option<ShiftedPrice> {
        match self {
            Self::Price(priced) => Some(priced),
            Self::Gap | Self::Beyond => None,
        }
    }
}

impl SeriesLayer {
    #[inline]
    fn quote(&self, candle: &Candle, price: f64) -> Quote {
        Quote::Price(ShiftedPrice { price, shift: self.stress.shift(candle) })
    }
}

/// Stress shift of the prices of a series: `k x (high - low) x sqrt(max(L, 1 s) / interval)`. `k` is the stress factor
/// and `L` the order latency. `high` and `low` belong to the candle that sets the price.
#[derive(Clone, Copy, Debug, PartialEq)]
struct StressShift {
    k: f64,
    root: f64,
}

impl StressShift {
    fn new(k: f64, latency: Millis, interval: Interval) -> Self {
        let exposed = latency.max(Millis::SECOND).get() as f64;
        Self { k, root: (exposed / interval.length().get() as f64).sqrt() }
    }

    #[inline]
    fn shift(self, candle: &Candle) -> f64 {
        self.k * (candle.high() - candle.low()) * self.root
    }
}

/// Tick size of a symbol: its smallest price step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Tick {
    size: f64,
    /// Number of ticks in a price of 1.0, `None` if this number is not an integer.
    steps_per_one: Option<f64>,
}

impl Tick {
    pub(crate) fn new(size: f64) -> Option<Self> {
        if !(size.is_finite() && size > 0.0) {
            return None;
        }
        let inverse = (1.0 / size).round();
        let steps_per_one = (inverse >= 1.0 && 1.0 / inverse == size).then_some(inverse);
        Some(Self { size, steps_per_one })
    }

    /// Rounds to the nearest tick; ties round up. If 1.0 is a whole number of ticks, the result is exactly the decimal
    /// price, such as 1.23457. An entry price can then equal a candle's close, so that the trade is a draw.
    #[inline]
    fn round(self, price: f64) -> f64 {
        match self.steps_per_one {
            Some(steps) => (price * steps).round() / steps,
            None => (price / self.size).round() * self.size,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use PathPrice::{Beyond, Gap, Price};
    use PriceMoment::{Entry, Exit, SecondEntry};
    use candlewick_sdk::{Ohlcv, Series};
    use proptest::prelude::*;

    const START: i64 = 1_641_038_400_000;

    fn series(interval: &str, rows: &[(i64, f64, f64)]) -> CandleSeries {
        let interval: Interval = interval.parse().unwrap();
        let candle = |&(slot, open, close): &(i64, f64, f64)| {
            let (high, low) = (f64::max(open, close) + 1.0, f64::min(open, close) - 1.0);
            let time = Millis::new(START) + interval.length() * slot;
            Candle::new(time, interval, Ohlcv { open, high, low, close, volume: 0.0 }).unwrap()
        };
        let series = Series { symbol: Symbol::new("BTCUSDT").unwrap(), interval };
        CandleSeries::new(series, rows.iter().map(candle).collect::<Vec<_>>()).unwrap()
    }

    /// Candles for two minutes, a gap of two minutes, and two more minutes. The data ends at 360,000.
    fn minutes() -> CandleSeries {
        series("1m", &[(0, 10.0, 16.0), (1, 16.5, 14.5), (4, 20.0, 26.0), (5, 25.0, 25.0)])
    }

    fn path(detail: impl IntoIterator<Item = CandleSeries>, settings: &SimulationSettings) -> PricePath {
        let detail = detail.into_iter().collect();
        PricePath::new(Market { prices: minutes(), detail }, settings).unwrap()
    }

    fn check(path: &PricePath, moment: fn(Millis) -> PriceMoment, offset: i64, expected: PathPrice) {
        let moment = moment(Millis::new(START + offset));
        assert_eq!(path.price(moment), expected, "{moment:?}, {offset} from the start");
    }

    #[test]
    fn entry_on_a_boundary_takes_the_open_and_exit_the_previous_close() {
        let path = path(None, &SimulationSettings::default());
        check(&path, Entry, 0, Price(10.0));
        check(&path, Entry, 60_000, Price(16.5));
        check(&path, SecondEntry, 60_000, Price(16.0));
        check(&path, Exit, 60_000, Price(16.0));
        check(&path, Exit, 120_000, Price(14.5));
        check(&path, Entry, 240_000, Price(20.0));
    }

    #[test]
    fn price_inside_a_candle_is_interpolated() {
        let path = path(None, &SimulationSettings::default());
        for moment in [Entry, SecondEntry, Exit] {
            check(&path, moment, 15_000, Price(11.5)); // 10 + 6 x 15 / 60
            check(&path, moment, 90_000, Price(15.5)); // 16.5 - 2 x 30 / 60
            check(&path, moment, 59_999, Price(10.0 + 6.0 * 59_999.0 / 60_000.0));
        }
    }

    #[test]
    fn open_path_keeps_the_open_until_the_close() {
        let path = path(None, &SimulationSettings { path: PathKind::Open, ..SimulationSettings::default() });
        check(&path, Entry, 1, Price(10.0));
        check(&path, Exit, 59_999, Price(10.0));
        check(&path, Exit, 60_000, Price(16.0));
        check(&path, Entry, 60_000, Price(16.5));
    }

    #[test]
    fn only_interpolated_prices_are_rounded_to_the_tick() {
        let ticks = [(Symbol::new("BTCUSDT").unwrap(), 1.0)].into();
        let path = path(None, &SimulationSettings { ticks, ..SimulationSettings::default() });
        check(&path, Entry, 14_000, Price(11.0)); // 11.4
        check(&path, Entry, 15_000, Price(12.0)); // 11.5
        check(&path, Entry, 60_000, Price(16.5));
        check(&path, Exit, 120_000, Price(14.5));
    }

    #[test]
    fn time_without_a_candle_is_a_gap() {
        let path = path(None, &SimulationSettings::default());
        check(&path, Entry, -1, Gap);
        check(&path, Exit, 0, Gap);
        check(&path, Entry, 120_000, Gap);
        check(&path, Exit, 120_001, Gap);
        check(&path, Entry, 239_999, Gap);
        // The candle that would end at this time is missing. The candle that opens then does not replace it.
        check(&path, Exit, 240_000, Gap);
        check(&path, SecondEntry, 240_000, Gap);
    }

    #[test]
    fn last_close_fills_the_allowed_number_of_missing_candles() {
        let allow = |max_gap_intervals| {
            path(None, &SimulationSettings { max_gap_intervals, ..SimulationSettings::default() })
        };
        check(&allow(1), Entry, 120_000, Price(14.5));
        check(&allow(1), Entry, 179_999, Price(14.5));
        check(&allow(1), Exit, 180_000, Price(14.5));
        check(&allow(1), Entry, 180_000, Gap);
        check(&allow(1), Exit, 180_001, Gap);
        check(&allow(1), Exit, 240_000, Gap);
        check(&allow(2), Exit, 240_000, Price(14.5));
        check(&allow(2), Entry, 240_000, Price(20.0));
        check(&allow(9), Entry, -1, Gap);
        check(&allow(9), Entry, 360_000, Beyond);
    }

    #[test]
    fn data_ends_at_the_last_close() {
        let path = path(None, &SimulationSettings::default());
        check(&path, Entry, 359_999, Price(25.0));
        check(&path, Entry, 360_000, Beyond);
        check(&path, SecondEntry, 360_000, Beyond);
        check(&path, Exit, 360_000, Price(25.0));
        check(&path, Exit, 360_001, Beyond);
        assert_eq!(path.end(), Millis::new(START + 360_000));
    }

    #[test]
    fn detail_has_priority_over_the_price_series() {
        // 30 s candles cover 30,000 to 90,000. The next one is at 150,000, in the gap of the price series.
        let detail = series("30s", &[(1, 100.0, 106.0), (2, 107.0, 101.0), (5, 50.0, 56.0)]);
        let path = path(Some(detail), &SimulationSettings::default());
        check(&path, Entry, 15_000, Price(11.5));
        check(&path, Exit, 30_000, Price(13.0)); // no detail candle ends here: 10 + 6 x 30 / 60
        check(&path, Entry, 30_000, Price(100.0));
        check(&path, Entry, 45_000, Price(103.0)); // 100 + 6 x 15 / 30
        check(&path, Exit, 60_000, Price(106.0));
        check(&path, Entry, 60_000, Price(107.0));
        check(&path, Exit, 90_000, Price(101.0));
        check(&path, Entry, 90_000, Price(15.5));
        check(&path, Exit, 150_000, Gap);
        check(&path, Entry, 150_000, Price(50.0));
        check(&path, Exit, 180_000, Price(56.0));
        check(&path, Entry, 180_000, Gap);
        check(&path, Exit, 360_000, Price(25.0));
    }

    #[test]
    fn finest_detail_series_with_a_candle_gives_the_price() {
        // Half a minute of 10 s candles, and a minute and a half of 30 s candles. They are passed in the wrong order.
        let tens = series("10s", &[(3, 200.0, 201.0), (4, 202.0, 203.0), (5, 204.0, 205.0)]);
        let thirties = series("30s", &[(1, 100.0, 106.0), (2, 107.0, 101.0), (3, 102.0, 105.0)]);
        let path = path([thirties, tens], &SimulationSettings::default());
        check(&path, Entry, 15_000, Price(11.5)); // 10 + 6 x 15 / 60
        check(&path, Entry, 30_000, Price(200.0));
        check(&path, Entry, 45_000, Price(202.5));
        check(&path, Exit, 60_000, Price(205.0));
        check(&path, Entry, 60_000, Price(107.0));
        check(&path, Entry, 75_000, Price(104.0)); // 107 - 6 x 15 / 30
        check(&path, Exit, 120_000, Price(105.0));
        check(&path, Entry, 240_000, Price(20.0));
    }

    #[test]
    fn longer_detail_extends_the_data() {
        let detail = series("30s", &[(12, 30.0, 31.0)]);
        let path = path(Some(detail), &SimulationSettings::default());
        check(&path, Entry, 360_000, Price(30.0));
        check(&path, Exit, 390_000, Price(31.0));
        check(&path, Entry, 390_000, Beyond);
    }

    #[test]
    fn shift_depends_on_the_candle_that_gives_the_price() {
        // The shift is 0.5 x range x sqrt(15 / 60). The ranges are 8 and 4, so the shifts are 2 and 1.
        let (stress, latency_ms) = (0.5, Millis::from_seconds(15));
        let path = path(None, &SimulationSettings { latency_ms, stress, ..SimulationSettings::default() });
        for (moment, price, shift) in [
            (Entry(Millis::new(START)), 10.0, 2.0),
            (Exit(Millis::new(START + 60_000)), 16.0, 2.0),
            (Entry(Millis::new(START + 60_000)), 16.5, 1.0),
        ] {
            assert_eq!(path.quote(moment), Quote::Price(ShiftedPrice { price, shift }));
        }
    }

    fn check_shift(k: f64, latency_ms: i64, expected: f64) {
        let numbers = Ohlcv { open: 10.0, high: 12.0, low: 8.0, close: 9.0, volume: 0.0 };
        let candle = Candle::new(Millis::ZERO, Interval::MINUTE, numbers).unwrap();
        let stress = StressShift::new(k, Millis::new(latency_ms), Interval::MINUTE);
        assert_eq!(stress.shift(&candle), expected);
    }

    #[test]
    fn shift_depends_on_range_and_latency() {
        // The range is 4. The square root of 15 s / 60 s is one half, so the shift is 0.5 x 4 x 0.5 = 1.
        check_shift(0.5, 15_000, 1.0);
        check_shift(1.0, 15_000, 2.0);
        check_shift(0.5, 60_000, 2.0);
        check_shift(0.0, 15_000, 0.0);
        // A latency below one second counts as one second.
        check_shift(0.5, 0, 2.0 * (1_000.0_f64 / 60_000.0).sqrt());
        check_shift(0.5, 999, 2.0 * (1_000.0_f64 / 60_000.0).sqrt());
    }

    #[test]
    fn rounds_to_the_nearest_tick_and_rejects_sizes_not_above_zero() {
        for (size, price, expected) in [(0.25, 10.125, 10.25), (0.25, 10.12, 10.0), (5.0, 42_717.4, 42_715.0)]
        {
            assert_eq!(Tick::new(size).map(|tick| tick.round(price)), Some(expected));
        }
        assert_eq!([0.0, -0.01, f64::NAN, f64::INFINITY].map(Tick::new), [None; 4]);
    }

    proptest! {
        #[test]
        fn rounded_price_equals_its_parsed_decimal_text(steps in 1_u32..100_000_000, decimals in 0_usize..8) {
            let size: f64 = format!("1e-{decimals}").parse().unwrap();
            let price: f64 = format!("{steps}e-{decimals}").parse().unwrap();
            let tick = Tick::new(size).unwrap();
            prop_assert_eq!(tick.round(price + size * 0.3), price);
            prop_assert_eq!(tick.round(price - size * 0.3), price);
        }
    }
}
