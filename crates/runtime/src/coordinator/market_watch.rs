//! What is asked of the market, and when: candles of each series after their closes, prices on the price grid.

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

/// The market as a run watches it.
pub(crate) struct MarketWatch {
    series: Vec<SeriesWatch>,
    symbols: Vec<SymbolWatch>,
    /// The step of the price grid.
    price_every: Millis,
    /// Whether prices that no strategy wants are asked for, to be shown.
    watches_prices: bool,
    /// How long a streamed price of the grid is waited for.
    hold: Millis,
}

/// One series.
struct SeriesWatch {
    series: Series,
    /// Its place among the candles of an instant.
    rank: usize,
    /// None until it is warm.
    watch: Option<CandleWatch>,
}

/// One symbol.
struct SymbolWatch {
    id: SymbolId,
    symbol: Symbol,
    /// Whether a strategy wants its prices.
    is_wanted: bool,
    /// Its prices, while they come by themselves.
    stream: Option<PriceStream>,
}

/// What to do with a price of the grid.
pub(crate) enum GridPrice {
    /// A strategy wants it: it is in the queue.
    Queued,
    /// It is only to be shown.
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

    /// A series is warm: from now on its candles are asked for.
    pub(crate) fn watch_candles(&mut self, id: SeriesId, watch: CandleWatch, agenda: &mut Agenda) {
        agenda.add(watch.ask_at(), Job::Candles(id));
        self.series[id.index()].watch = Some(watch);
    }

    /// The candles of a close are due; those of one close wait for each other, however often one has to be asked for.
    pub(crate) fn ask_candles(&self, id: SeriesId, events: &mut EventQueue, step: &mut Step<'_>) -> bool {
        let SeriesWatch { series, watch: Some(watch), .. } = &self.series[id.index()] else { return false };
        events.gate.await_job(watch.due_close(), watch.ask_at(), Job::Candles(id));
        let Series { symbol, interval } = *series;
        let query = CandleQuery { symbol, interval, start: watch.window_start(), end: step.now };
        step.ask(Ask::Candles(id, query));
        true
    }

    /// Takes an answer; answers the candles that are new.
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

    /// Candles could not be had.
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

    /// The symbols whose prices strategies want, for which it is worth asking whether they stream.
    pub(crate) fn wanted(&self) -> impl Iterator<Item = (SymbolId, Symbol)> {
        self.symbols.iter().filter(|watch| watch.is_wanted).map(|watch| (watch.id, watch.symbol))
    }

    /// Of all series the one whose candle comes the latest after its close.
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

    /// Returns the series whose candles are late by more than two intervals, with their numbers.
    pub(crate) fn late_series(&self) -> impl Iterator<Item = (SeriesId, LateSeries)> {
        self.series.iter().enumerate().filter_map(|(place, watch)| {
            let (since, is_unanswered) = watch.watch.as_ref()?.late_since()?;
            let Series { symbol, interval } = watch.series;
            Some((SeriesId::new(place)?, LateSeries { symbol, interval, since, is_unanswered }))
        })
    }

    /// Returns the series without candles whose prices stand still, too, with their numbers.
    pub(crate) fn quiet_series(&self) -> impl Iterator<Item = (SeriesId, QuietSeries)> {
        self.series.iter().enumerate().filter_map(|(place, watch)| {
            let since = watch.watch.as_ref()?.quiet_since()?;
            Some((SeriesId::new(place)?, QuietSeries { series: watch.series, since }))
        })
    }

    /// Takes the time of a symbol's newest price record.
    pub(crate) fn on_price_record(&mut self, symbol: Symbol, recorded: Millis, now: Millis) {
        let watches = self.series.iter_mut().filter(|watch| watch.series.symbol == symbol);
        watches.filter_map(|watch| watch.watch.as_mut()).for_each(|watch| watch.on_price(recorded, now));
    }

    /// Returns how many candles of all series closed in `(from, to]`.
    pub(crate) fn closes_between(&self, from: Millis, to: Millis) -> i64 {
        let closes = |watch: &SeriesWatch| {
            let length = watch.series.interval.length().get();
            to.get().div_euclid(length) - from.get().div_euclid(length)
        };
        self.series.iter().map(closes).sum()
    }

    /// How many symbols stream.
    pub(crate) fn streaming(&self) -> usize {
        self.symbols.iter().filter(|watch| watch.stream.is_some()).count()
    }

    /// Whether a strategy wants the prices of a symbol.
    pub(crate) fn is_wanted(&self, id: SymbolId) -> bool {
        self.symbols.get(id.index()).is_some_and(|watch| watch.is_wanted)
    }

    /// Puts every symbol's next grid moment on the agenda.
    pub(crate) fn begin_prices(&self, now: Millis, agenda: &mut Agenda) {
        for watch in &self.symbols {
            if watch.is_wanted || self.watches_prices {
                agenda.add(self.next_grid(now), Job::Price(watch.id));
            }
        }
    }

    /// The first moment of the price grid after `now`.
    fn next_grid(&self, now: Millis) -> Millis {
        now.floor_to(self.price_every) + self.price_every
    }

    /// A moment of the price grid is due: its price is asked for, or waited for where prices stream. Answers whether it
    /// is asked for.
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

    /// Prices of a symbol come by themselves from now on.
    pub(crate) fn begin_stream(&mut self, id: SymbolId) {
        self.symbols[id.index()].stream = Some(PriceStream::default());
    }

    /// They do not any more: they are asked for from the next moment of the grid on.
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

    /// A price came by itself.
    pub(crate) fn on_tick(&mut self, id: SymbolId, tick: PriceTick) {
        if let Some(stream) = &mut self.symbols[id.index()].stream {
            stream.take(tick);
        }
    }

    /// The price of the grid that is settled by what has streamed so far: by a later price, or because it has been waited
    /// for long enough.
    pub(crate) fn settled_grid(
        &mut self,
        id: SymbolId,
        is_over: bool,
    ) -> Option<(Millis, Option<PriceTick>)> {
        self.symbols[id.index()].stream.as_mut()?.settle(is_over)
    }

    /// The price of a moment of the grid is known, or is not to be known. Only now the next: prices come one at a time,
    /// so that none overtakes another.
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
