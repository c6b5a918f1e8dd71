//! Candles and prices of all series, and signals from outside, instant by instant.

use candlewick_engine::{OutsideSignal, SeriesId, SymbolId};
use candlewick_sdk::{Candle, CandleSeries, Millis, Price};

/// Several sources walked together; at one instant in the order in which they were added.
pub(crate) struct Feed<'a> {
    sources: Vec<Source<'a>>,
    /// Ascending in their moments.
    signals: &'a [(Millis, OutsideSignal)],
}

/// What a source has at an instant. Candles are lent, not copied: handing one through an event costs as
/// much as all else that is done with it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Item<'a> {
    Candle(SeriesId, &'a Candle),
    Price(SymbolId, Price),
}

/// One series, in the order of time.
pub(crate) struct Source<'a> {
    rest: &'a [Candle],
    interval: Millis,
    /// The moment of its next item; the end of time when there is none.
    next_at: Millis,
    kind: Kind,
}

#[derive(Clone, Copy)]
enum Kind {
    Candles(SeriesId),
    /// Closes of detail candles that end on the price grid.
    Prices(SymbolId, Millis),
}

impl<'a> Feed<'a> {
    pub(crate) const fn new() -> Self {
        Self { sources: Vec::new(), signals: &[] }
    }

    /// Adds the candles of a series. Series are added in the Session's own order, prices after all of them.
    pub(crate) fn add_candles(&mut self, id: SeriesId, candles: &'a CandleSeries) {
        self.add(candles, Kind::Candles(id));
    }

    /// Adds a symbol's prices: the closes of its detail candles that end on a multiple of `every`.
    pub(crate) fn add_prices(&mut self, id: SymbolId, detail: &'a CandleSeries, every: Millis) {
        self.add(detail, Kind::Prices(id, every));
    }

    /// Hands in signals from outside, ascending in their moments.
    pub(crate) const fn add_signals(&mut self, signals: &'a [(Millis, OutsideSignal)]) {
        self.signals = signals;
    }

    fn add(&mut self, candles: &'a CandleSeries, kind: Kind) {
        let interval = candles.interval().length();
        let mut source = Source { rest: candles.candles(), interval, next_at: Millis::MAX, kind };
        source.find_next();
        self.sources.push(source);
    }

    /// How many items are left at most.
    pub(crate) fn len(&self) -> usize {
        self.signals.len() + self.sources.iter().map(|source| source.rest.len()).sum::<usize>()
    }

    /// The next instant at which anything is known; `None` at the end of all series.
    #[inline]
    pub(crate) fn next_instant(&self) -> Option<Millis> {
        let signal = self.signals.first().map_or(Millis::MAX, |(at, _)| *at);
        let next = self.sources.iter().map(|source| source.next_at).fold(signal, Millis::min);
        (next != Millis::MAX).then_some(next)
    }

    /// Takes the signals of this instant.
    #[inline]
    pub(crate) fn take_signals(&mut self, instant: Millis) -> &'a [(Millis, OutsideSignal)] {
        let count = self.signals.iter().take_while(|(at, _)| *at == instant).count();
        let (taken, rest) = self.signals.split_at(count);
        self.signals = rest;
        taken
    }

    /// The sources, in their order.
    #[inline]
    pub(crate) fn sources(&mut self) -> impl Iterator<Item = &mut Source<'a>> {
        self.sources.iter_mut()
    }
}

impl<'a> Source<'a> {
    /// Takes its item of this instant, if it has one.
    #[inline]
    pub(crate) fn take_at(&mut self, instant: Millis) -> Option<Item<'a>> {
        if self.next_at != instant {
            return None;
        }
        let (candle, rest) = self.rest.split_first()?;
        let item = match self.kind {
            Kind::Candles(series) => Item::Candle(series, candle),
            Kind::Prices(symbol, _) => Item::Price(symbol, Price { time: instant, value: candle.close() }),
        };
        self.rest = rest;
        self.find_next();
        Some(item)
    }

    #[inline]
    fn find_next(&mut self) {
        if let Kind::Prices(_, every) = self.kind {
            let on_grid = |candle: &Candle| (candle.time() + self.interval).is_aligned_to(every);
            let skipped = self.rest.iter().take_while(|candle| !on_grid(candle)).count();
            self.rest = &self.rest[skipped..];
        }
        self.next_at = self.rest.first().map_or(Millis::MAX, |candle| candle.time() + self.interval);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use candlewick_sdk::{Ohlcv, Series};

    fn series(interval: &str, minutes: &[i64]) -> CandleSeries {
        let interval: candlewick_sdk::Interval = interval.parse().unwrap();
        let numbers = Ohlcv { open: 1.0, high: 1.0, low: 1.0, close: 1.0, volume: 0.0 };
        let candle = |minute: &i64| Candle::new(Millis::MINUTE * *minute, interval, numbers).unwrap();
        let series = Series { symbol: "BTCUSDT".parse().unwrap(), interval };
        CandleSeries::new(series, minutes.iter().map(candle).collect::<Vec<_>>()).unwrap()
    }

    #[test]
    fn items_come_by_moment_and_at_one_moment_in_the_order_of_their_sources() {
        let (minutes, fives) = (series("1m", &[0, 1, 2, 3, 4, 5]), series("5m", &[0, 5]));
        let mut feed = Feed::new();
        feed.add_candles(SeriesId::FIRST, &minutes);
        feed.add_candles(SeriesId::FIRST, &fives);
        feed.add_prices(SymbolId::FIRST, &minutes, Millis::MINUTE * 2);
        assert_eq!(feed.len(), 13);
        let mut items = Vec::new();
        while let Some(instant) = feed.next_instant() {
            for item in feed.sources().filter_map(|source| source.take_at(instant)) {
                let name = match item {
                    Item::Candle(_, candle) => format!("candle of {}", candle.time().get() / 60_000),
                    Item::Price(..) => "price".to_owned(),
                };
                items.push(format!("{} {name}", instant.get() / 60_000));
            }
        }
        let expected = [
            "1 candle of 0",
            "2 candle of 1",
            "2 price",
            "3 candle of 2",
            "4 candle of 3",
            "4 price",
            "5 candle of 4",
            "5 candle of 0",
            "6 candle of 5",
            "6 price",
            "10 candle of 5",
        ];
        assert_eq!(items, expected);
    }
}
