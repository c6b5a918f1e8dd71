//! Candles and prices of all series in the order in which they become known.

use candlewick_engine::{Event, EventKind, Origin, SeriesId, SymbolId};
use candlewick_sdk::{Candle, CandleSeries, Millis, Price};

/// Several sources merged by moment; at one moment in the order in which they were added.
pub(crate) struct Feed<'a> {
    sources: Vec<Source<'a>>,
}

struct Source<'a> {
    rest: &'a [Candle],
    interval: Millis,
    /// The moment of its next item; the end of time when there is none.
    next_at: Millis,
    kind: Kind,
    /// The event that it tells, written anew for each item: one that is made and handed on is moved several times,
    /// which takes as long as all else that is done with a candle.
    event: Event,
}

#[derive(Clone, Copy)]
enum Kind {
    Candles(SeriesId),
    /// Closes of detail candles that end on the price grid.
    Prices(SymbolId, Millis),
}

impl<'a> Feed<'a> {
    pub(crate) const fn new() -> Self {
        Self { sources: Vec::new() }
    }

    /// Adds the candles of a series. Series are added in the Session's own order, prices after all of them.
    pub(crate) fn add_candles(&mut self, id: SeriesId, candles: &'a CandleSeries) {
        self.add(candles, Kind::Candles(id));
    }

    /// Adds a symbol's prices: the closes of its detail candles that end on a multiple of `every`.
    pub(crate) fn add_prices(&mut self, id: SymbolId, detail: &'a CandleSeries, every: Millis) {
        self.add(detail, Kind::Prices(id, every));
    }

    fn add(&mut self, candles: &'a CandleSeries, kind: Kind) {
        let interval = candles.interval().length();
        let event = Event { at: Millis::MAX, received: Millis::MAX, kind: EventKind::Time };
        let mut source = Source { rest: candles.candles(), interval, next_at: Millis::MAX, kind, event };
        source.find_next();
        self.sources.push(source);
    }

    /// How many items are left at most.
    pub(crate) fn len(&self) -> usize {
        self.sources.iter().map(|source| source.rest.len()).sum()
    }

    /// The event of the next item.
    #[inline]
    pub(crate) fn next(&mut self) -> Option<&Event> {
        let source = match self.sources.as_mut_slice() {
            [only] => only,
            many => many.iter_mut().min_by_key(|source| source.next_at)?,
        };
        source.take()
    }
}

impl Source<'_> {
    #[inline]
    fn take(&mut self) -> Option<&Event> {
        let (candle, rest) = self.rest.split_first()?;
        let at = self.next_at;
        (self.event.at, self.event.received) = (at, at);
        match (self.kind, &mut self.event.kind) {
            (Kind::Candles(_), EventKind::Candle { candle: told, .. }) => *told = *candle,
            (Kind::Candles(series), first) => {
                *first = EventKind::Candle { series, candle: *candle, origin: Origin::Live };
            }
            (Kind::Prices(symbol, _), told) => {
                let price = Price { time: at, value: candle.close() };
                *told = EventKind::Price { symbol, price };
            }
        }
        self.rest = rest;
        self.find_next();
        Some(&self.event)
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
        let mut told = Vec::new();
        while let Some(Event { at, kind, .. }) = feed.next() {
            let name = match kind {
                EventKind::Candle { candle, .. } => format!("candle of {}", candle.time().get() / 60_000),
                EventKind::Price { .. } => "price".to_owned(),
                _ => unreachable!("a feed has candles and prices"),
            };
            told.push(format!("{} {name}", at.get() / 60_000));
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
        assert_eq!(told, expected);
    }
}
