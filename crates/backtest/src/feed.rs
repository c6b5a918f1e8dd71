//! Merge of candles, prices and external signals into one chronological feed.

use candlewick_engine::{OutsideSignal, SeriesId, SymbolId};
use candlewick_sdk::{Candle, CandleSeries, Millis, Price};

/// Chronological merge of several sources. Simultaneous items keep the order in which their sources were added.
pub(crate) struct Feed<'a> {
    sources: Vec<FeedSource<'a>>,
    /// External signals in chronological order.
    signals: &'a [(Millis, OutsideSignal)],
}

/// Item of a feed. Candles are borrowed, because copying them would double the cost of an event.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum FeedItem<'a> {
    Candle(SeriesId, &'a Candle),
    Price(SymbolId, Price),
}

pub(crate) struct FeedSource<'a> {
    rest: &'a [Candle],
    interval: Millis,
    next_at: Millis,
    kind: SourceKind,
}

#[derive(Clone, Copy)]
enum SourceKind {
    Candles(SeriesId),
    Prices(SymbolId, Millis),
}

impl<'a> Feed<'a> {
    pub(crate) const fn new() -> Self {
        Self { sources: Vec::new(), signals: &[] }
    }

    /// Adds the candles of a series. Call this for all series, in the session's order, before adding any prices.
    pub(crate) fn add_candles(&mut self, id: SeriesId, candles: &'a CandleSeries) {
        self.add(candles, SourceKind::Candles(id));
    }

    /// Adds prices of a symbol: the close of each `detail` candle that ends on a multiple of `every`.
    pub(crate) fn add_prices(&mut self, id: SymbolId, detail: &'a CandleSeries, every: Millis) {
        self.add(detail, SourceKind::Prices(id, every));
    }

    pub(crate) const fn add_signals(&mut self, signals: &'a [(Millis, OutsideSignal)]) {
        self.signals = signals;
    }

    fn add(&mut self, candles: &'a CandleSeries, kind: SourceKind) {
        let interval = candles.interval().length();
        let mut source = FeedSource { rest: candles.candles(), interval, next_at: Millis::MAX, kind };
        source.advance_to_next();
        self.sources.push(source);
    }

    pub(crate) fn len(&self) -> usize {
        self.signals.len() + self.sources.iter().map(|source| source.rest.len()).sum::<usize>()
    }

    #[inline]
    pub(crate) fn next_instant(&self) -> Option<Millis> {
        let signal = self.signals.first().map_or(Millis::MAX, |(at, _)| *at);
        let next = self.sources.iter().map(|source| source.next_at).fold(signal, Millis::min);
        (next != Millis::MAX).then_some(next)
    }

    #[inline]
    pub(crate) fn take_signals(&mut self, instant: Millis) -> &'a [(Millis, OutsideSignal)] {
        let count = self.signals.iter().take_while(|(at, _)| *at == instant).count();
        let (taken, rest) = self.signals.split_at(count);
        self.signals = rest;
        taken
    }

    #[inline]
    pub(crate) fn sources(&mut self) -> impl Iterator<Item = &mut FeedSource<'a>> {
        self.sources.iter_mut()
    }
}

impl<'a> FeedSource<'a> {
    #[inline]
    pub(crate) fn take_item_at(&mut self, instant: Millis) -> Option<FeedItem<'a>> {
        if self.next_at != instant {
            return None;
        }
        let (candle, rest) = self.rest.split_first()?;
        let item = match self.kind {
            SourceKind::Candles(series) => FeedItem::Candle(series, candle),
            SourceKind::Prices(symbol, _) => {
                FeedItem::Price(symbol, Price { time: instant, value: candle.close() })
            }
        };
        self.rest = rest;
        self.advance_to_next();
        Some(item)
    }

    #[inline]
    fn advance_to_next(&mut self) {
        if let SourceKind::Prices(_, every) = self.kind {
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
    fn items_are_sorted_by_time_then_by_source() {
        let (minutes, fives) = (series("1m", &[0, 1, 2, 3, 4, 5]), series("5m", &[0, 5]));
        let mut feed = Feed::new();
        feed.add_candles(SeriesId::FIRST, &minutes);
        feed.add_candles(SeriesId::FIRST, &fives);
        feed.add_prices(SymbolId::FIRST, &minutes, Millis::MINUTE * 2);
        assert_eq!(feed.len(), 13);
        let mut items = Vec::new();
        while let Some(instant) = feed.next_instant() {
            for item in feed.sources().filter_map(|source| source.take_item_at(instant)) {
                let name = match item {
                    FeedItem::Candle(_, candle) => format!("candle of {}", candle.time().get() / 60_000),
                    FeedItem::Price(..) => "price".to_owned(),
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
