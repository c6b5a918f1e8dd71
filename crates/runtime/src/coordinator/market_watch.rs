//! Schedules the market data: candles at their close, and prices at the times of a price grid.

use super::Coordinator;
use super::agenda::{Agenda, EventQueue, EventRank, Job};
use super::candle_watch::CandleWatch;
use super::command::{ReadRequest, Step, StreamSupport};
use crate::RuntimeSettings;
use crate::control::{LateSeries, MarketState, QuietSeries, SlowestCandle, StreamState};
use candlewick_broker::{BrokerError, CandleQuery, Candles, PriceTick};
use candlewick_engine::{EventKind, SeriesId, Session, SymbolId};
use candlewick_sdk::{Candle, Millis, Price, Series, Symbol};
use std::collections::VecDeque;

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
    is_priced: bool,
    stream: Option<PriceStream>,
}

impl MarketWatch {
    pub(crate) fn new(session: &Session, wants: impl Fn(Symbol) -> bool, settings: &RuntimeSettings) -> Self {
        let mut ranks = vec![0; session.series().len()];
        for (rank, id) in session.series_order().into_iter().enumerate() {
            ranks[id.index()] = rank;
        }
        let series = session.series().iter().zip(ranks);
        let symbols = session.symbols().iter().filter_map(|one| Some((session.symbol_id(*one)?, *one)));
        Self {
            series: series.map(|(series, rank)| SeriesWatch { series: *series, rank, watch: None }).collect(),
            symbols: symbols
                .map(|(id, symbol)| SymbolWatch { id, symbol, is_priced: wants(symbol), stream: None })
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
        agenda.add(watch.next_request_at(), Job::Candles(id));
        self.series[id.index()].watch = Some(watch);
    }

    /// Requests candles. Events at their close wait for the answer. Returns false if the series is not watched.
    pub(crate) fn request_candles(&self, id: SeriesId, events: &mut EventQueue, step: &mut Step<'_>) -> bool {
        let SeriesWatch { series, watch: Some(watch), .. } = &self.series[id.index()] else { return false };
        events.gate.expect_job(watch.due_close_time(), watch.next_request_at(), Job::Candles(id));
        let Series { symbol, interval } = *series;
        let query = CandleQuery { symbol, interval, start: watch.request_start(), end: step.now };
        step.push_request(ReadRequest::Candles(id, query));
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
        let polled = watch.on_candles(&candles.candles, now);
        let mut new_candles = Vec::with_capacity(polled.new_candles.len());
        for (close, candle, origin) in polled.new_candles {
            new_candles.push(candle);
            events.add(close, EventRank::Candle(*rank), EventKind::Candle { series: id, candle, origin });
        }
        if polled.is_polling_done {
            events.gate.finish_job(job);
        }
        agenda.add(polled.next_request_at, job);
        new_candles
    }

    pub(crate) fn on_candle_failure(
        &mut self,
        id: SeriesId,
        now: Millis,
        (events, agenda): (&mut EventQueue, &mut Agenda),
    ) {
        let Some(watch) = &mut self.series[id.index()].watch else { return };
        let (next_request_at, is_settled) = watch.on_failure(now);
        if is_settled {
            events.gate.finish_job(Job::Candles(id));
        }
        agenda.add(next_request_at, Job::Candles(id));
    }

    pub(crate) fn priced_symbols(&self) -> impl Iterator<Item = (SymbolId, Symbol)> {
        self.symbols.iter().filter(|watch| watch.is_priced).map(|watch| (watch.id, watch.symbol))
    }

    pub(crate) fn slowest_candle(&self, now: Millis) -> Option<SlowestCandle> {
        let delay = |watch: &SeriesWatch| {
            let (delay, has_come) = watch.watch.as_ref()?.delay(now)?;
            Some(SlowestCandle::new(watch.series, delay, has_come))
        };
        // The first of several equal delays is selected, so that the result is deterministic.
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

    /// Returns the total number of candles in all series that closed in `(from, to]`.
    pub(crate) fn count_closes(&self, from: Millis, to: Millis) -> i64 {
        let closes = |watch: &SeriesWatch| {
            let length = watch.series.interval.length().get();
            to.get().div_euclid(length) - from.get().div_euclid(length)
        };
        self.series.iter().map(closes).sum()
    }

    pub(crate) fn stream_count(&self) -> usize {
        self.symbols.iter().filter(|watch| watch.stream.is_some()).count()
    }

    pub(crate) fn is_priced(&self, id: SymbolId) -> bool {
        self.symbols.get(id.index()).is_some_and(|watch| watch.is_priced)
    }

    pub(crate) fn schedule_prices(&self, now: Millis, agenda: &mut Agenda) {
        for watch in &self.symbols {
            if watch.is_priced || self.watches_prices {
                agenda.add(self.next_price_time(now), Job::Price(watch.id));
            }
        }
    }

    fn next_price_time(&self, now: Millis) -> Millis {
        now.floor_to(self.price_every) + self.price_every
    }

    pub(crate) fn on_price_due(
        &mut self,
        id: SymbolId,
        due: Millis,
        (events, agenda): (&mut EventQueue, &mut Agenda),
        step: &mut Step<'_>,
    ) -> bool {
        events.gate.expect_job(due, due, Job::Price(id));
        let SymbolWatch { symbol, stream, .. } = &mut self.symbols[id.index()];
        let Some(stream) = stream else {
            step.push_request(ReadRequest::Price(id, *symbol, due));
            return true;
        };
        stream.expect_price_at(due);
        agenda.add(due + self.hold, Job::StreamedPrice(id));
        false
    }

    fn begin_stream(&mut self, id: SymbolId) {
        self.symbols[id.index()].stream = Some(PriceStream::default());
    }

    fn end_stream(&mut self, id: SymbolId, now: Millis, (events, agenda): (&mut EventQueue, &mut Agenda)) {
        if self.symbols[id.index()].stream.take().is_some() {
            events.gate.finish_job(Job::Price(id));
            agenda.add(self.next_price_time(now), Job::Price(id));
        }
    }

    pub(crate) fn on_tick(&mut self, id: SymbolId, tick: PriceTick) {
        if let Some(stream) = &mut self.symbols[id.index()].stream {
            stream.add(tick);
        }
    }

    pub(crate) fn take_streamed_price(
        &mut self,
        id: SymbolId,
        is_over: bool,
    ) -> Option<(Millis, Option<PriceTick>)> {
        self.symbols[id.index()].stream.as_mut()?.take_price(is_over)
    }

    /// Handles the price for a grid time and schedules the next one. Returns the price if it is only for display.
    pub(crate) fn on_scheduled_price(
        &self,
        id: SymbolId,
        price: Option<Price>,
        now: Millis,
        (events, agenda): (&mut EventQueue, &mut Agenda),
    ) -> Option<(Symbol, Price)> {
        events.gate.finish_job(Job::Price(id));
        agenda.add(self.next_price_time(now), Job::Price(id));
        let (SymbolWatch { symbol, is_priced, .. }, price) = (&self.symbols[id.index()], price?);
        if !is_priced {
            return Some((*symbol, price));
        }
        events.add(price.time, EventRank::Price(id.index()), EventKind::Price { symbol: id, price });
        None
    }
}

const MAX_TICKS: usize = 1_024;

#[derive(Debug, Default)]
pub(crate) struct PriceStream {
    awaited: Option<Millis>,
    ticks: VecDeque<PriceTick>,
}

impl PriceStream {
    pub(crate) fn add(&mut self, tick: PriceTick) {
        let is_newest = self.ticks.back().is_none_or(|last| last.time <= tick.time);
        if !is_newest || !tick.price.is_finite() || tick.price <= 0.0 {
            return;
        }
        if self.ticks.len() == MAX_TICKS {
            self.ticks.pop_front();
        }
        self.ticks.push_back(tick);
    }

    fn expect_price_at(&mut self, at: Millis) {
        self.awaited = Some(at);
    }

    /// Returns the awaited grid time and the newest price up to it. `None` while a newer price may still arrive.
    pub(crate) fn take_price(&mut self, is_over: bool) -> Option<(Millis, Option<PriceTick>)> {
        let at = self.awaited?;
        let is_passed = self.ticks.back().is_some_and(|last| last.time > at);
        if !is_passed && !is_over {
            return None;
        }
        self.awaited = None;
        let newest = self.ticks.iter().rposition(|tick| tick.time <= at);
        let newest = newest.map(|place| {
            self.ticks.drain(..place);
            self.ticks[0]
        });
        Some((at, newest))
    }
}

const RETRY_DELAY: Millis = Millis::from_seconds(3);
const UNKNOWN_SYMBOL_RETRY_DELAY: Millis = Millis::from_seconds(300);
const MAX_TICK_AHEAD: Millis = Millis::from_seconds(60);

#[derive(Debug, Default)]
pub(super) struct StreamWatch {
    is_on: bool,
    missed: Option<StreamOutage>,
}

#[derive(Debug)]
struct StreamOutage {
    since: Millis,
    symbol: Symbol,
    why: String,
}

impl Coordinator {
    pub(super) fn subscribe_all(&mut self, step: &mut Step<'_>) {
        let wanted: Vec<SymbolId> = self.market.priced_symbols().map(|(id, _)| id).collect();
        for id in wanted {
            self.subscribe(id, step);
        }
    }

    pub(super) fn subscribe(&mut self, id: SymbolId, step: &mut Step<'_>) {
        self.request(ReadRequest::Subscription(id, self.market.symbol(id)), step);
    }

    pub(super) fn on_subscription(
        &mut self,
        id: SymbolId,
        answer: Result<StreamSupport, BrokerError>,
        step: &mut Step<'_>,
    ) {
        match answer {
            Ok(StreamSupport::Yes) => {
                self.market.begin_stream(id);
                self.streams.is_on = true;
                let (streaming, wanted) = (self.market.stream_count(), self.market.priced_symbols().count());
                if streaming == wanted && self.streams.missed.take().is_some() {
                    step.warn(format!("prices of {streaming} symbols are streamed again"));
                }
            }
            Ok(StreamSupport::No) => {}
            Err(error) => {
                let is_unknown = matches!(error, BrokerError::NotFound { .. });
                let pause = if is_unknown { UNKNOWN_SYMBOL_RETRY_DELAY } else { RETRY_DELAY };
                self.agenda.add(step.now + pause, Job::Subscription(id));
                self.on_stream_outage(id, &error.to_string(), step);
            }
        }
    }

    /// Handles a streamed price. Drops a price whose time is far ahead, because it would block all earlier prices.
    pub(super) fn on_tick(&mut self, id: SymbolId, tick: PriceTick, step: &mut Step<'_>) {
        if tick.time <= step.now + MAX_TICK_AHEAD {
            self.market.on_tick(id, tick);
        }
        self.apply_streamed_price(id, false, step);
    }

    pub(super) fn on_feed_ended(&mut self, id: SymbolId, step: &mut Step<'_>) {
        self.market.end_stream(id, step.now, (&mut self.events, &mut self.agenda));
        self.agenda.add(step.now + RETRY_DELAY, Job::Subscription(id));
        self.on_stream_outage(id, "the stream ended or was silent for too long", step);
    }

    /// Records a lost price stream. Warns only for the first symbol, because a lost connection affects all symbols.
    fn on_stream_outage(&mut self, id: SymbolId, why: &str, step: &mut Step<'_>) {
        self.streams.is_on = true;
        let symbol = self.market.symbol(id);
        let known = self.streams.missed.take();
        let since = known.as_ref().map_or(step.now, |missed| missed.since);
        self.streams.missed = Some(StreamOutage { since, symbol, why: why.to_owned() });
        if known.is_none() {
            step.warn(format!("no price stream for {symbol}, so prices are polled: {why}"));
        }
    }

    pub(super) fn market_state(&self, now: Millis) -> Option<MarketState> {
        let slowest_candle = self.market.slowest_candle(now);
        let missed_since = self.streams.missed.as_ref().map(|missed| missed.since);
        let stream = self.streams.is_on.then(|| StreamState {
            streaming: self.market.stream_count(),
            wanted: self.market.priced_symbols().count(),
            missed_since,
        });
        let late: Vec<_> = self.market.late_series().map(|(_, late)| late).collect();
        let is_known = slowest_candle.is_some() || stream.is_some() || !late.is_empty();
        is_known.then_some(MarketState { slowest_candle, stream, late })
    }

    pub(super) fn stream_problem(&self) -> Option<String> {
        let StreamOutage { symbol, why, .. } = self.streams.missed.as_ref()?;
        let wanted = self.market.priced_symbols().count();
        let missing = wanted - self.market.stream_count();
        let symbols = if wanted == 1 { "symbol" } else { "symbols" };
        Some(format!(
            "no price stream for {missing} of {wanted} {symbols}, so prices are polled (last error: {symbol}: {why})"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tick(time: i64, price: f64) -> PriceTick {
        PriceTick { time: Millis::new(time), price }
    }

    #[test]
    fn grid_time_uses_the_newest_price_up_to_it() {
        let mut stream = PriceStream::default();
        for one in [tick(900, 1.0), tick(1_000, 2.0), tick(1_000, 2.5), tick(950, 9.0), tick(990, f64::NAN)] {
            stream.add(one);
        }
        assert_eq!(stream.take_price(true), None, "nothing is waited for");
        stream.expect_price_at(Millis::new(1_000));
        assert_eq!(stream.take_price(false), None, "another of this moment may come");
        stream.add(tick(1_001, 3.0));
        assert_eq!(stream.take_price(false), Some((Millis::new(1_000), Some(tick(1_000, 2.5)))));
        stream.expect_price_at(Millis::new(2_000));
        assert_eq!(stream.take_price(true), Some((Millis::new(2_000), Some(tick(1_001, 3.0)))));
        stream.expect_price_at(Millis::new(3_000));
        assert_eq!(stream.take_price(true), Some((Millis::new(3_000), Some(tick(1_001, 3.0)))));
    }

    #[test]
    fn buffers_a_bounded_number_of_ticks() {
        let mut stream = PriceStream::default();
        for number in 0..5_000 {
            stream.add(tick(number, 1.0 + number as f64));
        }
        assert_eq!(stream.ticks.len(), MAX_TICKS);
    }
}
