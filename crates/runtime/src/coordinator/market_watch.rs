//! Schedules market requests: candles at their close, prices on the price grid.

use super::agenda::{Agenda, Job};
use super::candle_watch::CandleWatch;
use super::command::{Ask, Step};
use super::event_queue::{EventQueue, Place};
use super::price_stream::PriceStream;
use crate::RuntimeSettings;
use crate::control::{LateSeries, QuietSeries, SlowestCandle};
use candlewick_broker::{CandleQuery, Candles, PriceTick};
use candlewick_engine::{EventKind, SeriesId, Session, SymbolId};
use candlewick_sdk::{Candle, Millis, Price, Series, Symbol};

pub(crate) struct MarketWatch {
    series: Vec<SeriesWatch>,
    symbols: Vec<SymbolWatch>,
    price_every: Millis,
    watches_prices: bool,
    hold: Millis,
}

struct SeriesWatch {
    series: Series,
    rank: usize,
    watch: Option<CandleWatch>,
}

struct SymbolWatch {
    id: SymbolId,
    symbol: Symbol,
    is_wanted: bool,
    stream: Option<PriceStream>,
}

pub(crate) enum GridPrice {
    Queued,
    Shown(Symbol, Price),
}

impl MarketWatch {
    pub(crate) fn new(
        session: &Session,
        is_wanted: impl Fn(Symbol) -> bool,
        settings: &RuntimeSettings,
    ) -> Self {
        let mut ranks = vec![0; session.series().len()];
        for (rank, id) in session.series_order().into_iter().enumerate() {
            ranks[id.index()] = rank;
        }
        let series = session.series().iter().zip(ranks);
        let symbols =
            session.symbols().iter().filter_map(|symbol| Some((session.symbol_id(*symbol)?, *symbol)));
        Self {
            series: series.map(|(series, rank)| SeriesWatch { series: *series, rank, watch: None }).collect(),
            symbols: symbols
                .map(|(id, symbol)| SymbolWatch { id, symbol, is_wanted: is_wanted(symbol), stream: None })
                .collect(),
            price_every: Millis::new(i64::from(settings.price_every_ms.max(100))),
            watches_prices: settings.watch_prices,
            hold: Millis::new(i64::from(settings.hold_ms)),
        }
    }

    pub(crate) fn series(&self, id: SeriesId) -> Series {
        self.series[id.index()].series
    }

    pub(crate) fn symbol(&self, id: SymbolId) -> Symbol {
        self.symbols[id.index()].symbol
    }

    pub(crate) fn watch_candles(&mut self, id: SeriesId, watch: CandleWatch, agenda: &mut Agenda) {
        agenda.add(watch.ask_at(), Job::Candles(id));
        self.series[id.index()].watch = Some(watch);
    }

    /// Requests candles at a close. All series of the same close wait for each other.
    pub(crate) fn ask_candles(&self, id: SeriesId, events: &mut EventQueue, step: &mut Step<'_>) -> bool {
        let SeriesWatch { series, watch: Some(watch), .. } = &self.series[id.index()] else { return false };
        events.gate.await_job(watch.due_close(), watch.ask_at(), Job::Candles(id));
        let Series { symbol, interval } = *series;
        let query = CandleQuery { symbol, interval, start: watch.window_start(), end: step.now };
        step.ask(Ask::Candles(id, query));
        true
    }

    pub(crate) fn on_candles(
        &mut self,
        id: SeriesId,
        candles: &Candles,
        now: Millis,
        (events, agenda): (&mut EventQueue, &mut Agenda),
    ) -> Vec<Candle> {
        let job = Job::Candles(id);
        let SeriesWatch { rank, watch: Some(watch), .. } = &mut self.series[id.index()] else {
            return Vec::new();
        };
        let polled = watch.take(&candles.candles, now);
        let mut news = Vec::with_capacity(polled.news.len());
        for (close, candle, origin) in polled.news {
            news.push(candle);
            events.add(close, Place::Candle(*rank), EventKind::Candle { series: id, candle, origin });
        }
        if polled.is_settled {
            events.gate.settle_job(job);
        }
        agenda.add(polled.ask_at, job);
        news
    }

    pub(crate) fn on_no_candles(
        &mut self,
        id: SeriesId,
        now: Millis,
        (events, agenda): (&mut EventQueue, &mut Agenda),
    ) {
        let Some(watch) = &mut self.series[id.index()].watch else { return };
        let (ask_at, is_settled) = watch.fail(now);
        if is_settled {
            events.gate.settle_job(Job::Candles(id));
        }
        agenda.add(ask_at, Job::Candles(id));
    }

    pub(crate) fn wanted(&self) -> impl Iterator<Item = (SymbolId, Symbol)> {
        self.symbols.iter().filter(|watch| watch.is_wanted).map(|watch| (watch.id, watch.symbol))
    }

    pub(crate) fn slowest_candle(&self, now: Millis) -> Option<SlowestCandle> {
        let delay = |watch: &SeriesWatch| {
            let (delay, has_come) = watch.watch.as_ref()?.delay(now)?;
            Some(SlowestCandle::of(watch.series, delay, has_come))
        };
        // Of equals the first, so that the answer is steady.
        self.series
            .iter()
            .filter_map(delay)
            .reduce(|slowest, next| if next.delay_ms > slowest.delay_ms { next } else { slowest })
    }

    pub(crate) fn late_series(&self) -> impl Iterator<Item = (SeriesId, LateSeries)> {
        self.series.iter().enumerate().filter_map(|(place, watch)| {
            let (since, is_unanswered) = watch.watch.as_ref()?.late_since()?;
            let Series { symbol, interval } = watch.series;
            Some((SeriesId::new(place)?, LateSeries { symbol, interval, since, is_unanswered }))
        })
    }

    pub(crate) fn quiet_series(&self) -> impl Iterator<Item = (SeriesId, QuietSeries)> {
        self.series.iter().enumerate().filter_map(|(place, watch)| {
            let since = watch.watch.as_ref()?.quiet_since()?;
            Some((SeriesId::new(place)?, QuietSeries { series: watch.series, since }))
        })
    }

    pub(crate) fn on_price_record(&mut self, symbol: Symbol, recorded: Millis, now: Millis) {
        let watches = self.series.iter_mut().filter(|watch| watch.series.symbol == symbol);
        watches.filter_map(|watch| watch.watch.as_mut()).for_each(|watch| watch.on_price(recorded, now));
    }

    /// Returns the number of candles of all series that closed in `(from, to]`.
    pub(crate) fn closes_between(&self, from: Millis, to: Millis) -> i64 {
        let closes = |watch: &SeriesWatch| {
            let length = watch.series.interval.length().get();
            to.get().div_euclid(length) - from.get().div_euclid(length)
        };
        self.series.iter().map(closes).sum()
    }

    pub(crate) fn streaming(&self) -> usize {
        self.symbols.iter().filter(|watch| watch.stream.is_some()).count()
    }

    pub(crate) fn is_wanted(&self, id: SymbolId) -> bool {
        self.symbols.get(id.index()).is_some_and(|watch| watch.is_wanted)
    }

    pub(crate) fn begin_prices(&self, now: Millis, agenda: &mut Agenda) {
        for watch in &self.symbols {
            if watch.is_wanted || self.watches_prices {
                agenda.add(self.next_grid(now), Job::Price(watch.id));
            }
        }
    }

    fn next_grid(&self, now: Millis) -> Millis {
        now.floor_to(self.price_every) + self.price_every
    }

    pub(crate) fn on_price_due(
        &mut self,
        id: SymbolId,
        due: Millis,
        (events, agenda): (&mut EventQueue, &mut Agenda),
        step: &mut Step<'_>,
    ) -> bool {
        events.gate.await_job(due, due, Job::Price(id));
        let SymbolWatch { symbol, stream, .. } = &mut self.symbols[id.index()];
        let Some(stream) = stream else {
            step.ask(Ask::Price(id, *symbol, due));
            return true;
        };
        stream.await_grid(due);
        agenda.add(due + self.hold, Job::StreamedPrice(id));
        false
    }

    pub(crate) fn begin_stream(&mut self, id: SymbolId) {
        self.symbols[id.index()].stream = Some(PriceStream::default());
    }

    pub(crate) fn end_stream(
        &mut self,
        id: SymbolId,
        now: Millis,
        (events, agenda): (&mut EventQueue, &mut Agenda),
    ) {
        if self.symbols[id.index()].stream.take().is_some() {
            events.gate.settle_job(Job::Price(id));
            agenda.add(self.next_grid(now), Job::Price(id));
        }
    }

    pub(crate) fn on_tick(&mut self, id: SymbolId, tick: PriceTick) {
        if let Some(stream) = &mut self.symbols[id.index()].stream {
            stream.take(tick);
        }
    }

    pub(crate) fn settled_grid(
        &mut self,
        id: SymbolId,
        is_over: bool,
    ) -> Option<(Millis, Option<PriceTick>)> {
        self.symbols[id.index()].stream.as_mut()?.settle(is_over)
    }

    /// Handles a settled grid price, then schedules the next one. This keeps prices in order.
    pub(crate) fn on_grid_price(
        &self,
        id: SymbolId,
        price: Option<Price>,
        now: Millis,
        (events, agenda): (&mut EventQueue, &mut Agenda),
    ) -> GridPrice {
        events.gate.settle_job(Job::Price(id));
        agenda.add(self.next_grid(now), Job::Price(id));
        let SymbolWatch { symbol, is_wanted, .. } = &self.symbols[id.index()];
        match price {
            Some(price) if *is_wanted => {
                events.add(price.time, Place::Price(id.index()), EventKind::Price { symbol: id, price });
                GridPrice::Queued
            }
            Some(price) => GridPrice::Shown(*symbol, price),
            None => GridPrice::Queued,
        }
    }
}
