//! A backtest and its main loop. The loop replays candles through a session and a simulated venue.

use crate::feed::{Feed, FeedItem};
use crate::translation::{to_opened_trade, to_rejection, to_settlement};
use candlewick_engine::{
    Action, BatchEnd, BotId, BotVerdict, EngineError, Entry, Event, EventKind, Header, IntentId, Origin,
    OutsideSignal, Recorder, RecorderInterest, Rule, Session, SessionSettings, StoredCandles, SymbolId,
    TradeBook, WorstStaleness,
};
use candlewick_sdk::{CandleSeries, Millis, Money, MoneyScale, Series, Strategy, Symbol};
use candlewick_simulator::{
    AnswerKind, Market, Order, SimulationSettings, Simulator, SimulatorError, VenueEvent,
};
use serde::Serialize;
use serde_json::{Value, json};
use std::io;

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BacktestSettings {
    pub session: SessionSettings,
    pub simulation: SimulationSettings,
    pub price_every_ms: Millis,
}

impl BacktestSettings {
    pub fn header(&self, strategies: Vec<(String, String)>, data_hash: Option<String>) -> Header {
        Header { format: Header::FORMAT, settings: json!(self), strategies, data_hash }
    }
}

#[derive(Debug, thiserror::Error)]
pub enum BacktestError {
    #[error(transparent)]
    Engine(#[from] EngineError),
    #[error(transparent)]
    Simulator(#[from] SimulatorError),
    #[error("no candles of {series} for bot \"{bot}\"")]
    NoCandles { series: Series, bot: String },
    #[error(
        "bot \"{bot}\" uses prices between candle closes; add candles finer than {series}, with an interval that divides {every_ms} ms"
    )]
    NoFinerCandles { series: Series, bot: String, every_ms: i64 },
    #[error("the journal cannot be written")]
    Journal(#[from] io::Error),
}

/// Recorder that records nothing, for runs that need only the trades.
pub struct NullRecorder;

impl NullRecorder {
    /// Returns a placeholder header. Its contents do not matter, because this recorder ignores headers.
    pub fn header() -> Header {
        Header { format: Header::FORMAT, settings: Value::Null, strategies: Vec::new(), data_hash: None }
    }
}

impl Recorder for NullRecorder {
    fn interest(&self) -> RecorderInterest {
        RecorderInterest::AllButCandles
    }

    fn record(&mut self, _entry: Entry<'_>) -> io::Result<()> {
        Ok(())
    }
}

/// Minimum capacity of the trade book, in intents. Growth copies the book; unused capacity takes no physical memory.
const MIN_BOOK_CAPACITY: usize = 4_096;
const CANDLES_PER_INTENT: usize = 32;

const EVENTS_PER_PROGRESS_CALL: u64 = 50_000;

pub struct Backtest {
    session: Session,
    simulator: Simulator,
    candles: Vec<CandleSeries>,
    prices: Vec<(SymbolId, CandleSeries)>,
    price_every: Millis,
    signals: Vec<(Millis, OutsideSignal)>,
    symbols: Vec<Symbol>,
    book: TradeBook,
    actions: Vec<Action>,
}

pub struct BacktestResult {
    pub book: TradeBook,
    pub candles: u64,
    /// Free balance at the end, with the stakes of unsettled trades refunded.
    pub final_balance: Money,
    /// Total stake of trades that expire after the end of the data.
    pub unsettled_stakes: Money,
    /// Number of longer candles that were not built because shorter candles are missing.
    pub unbuilt_longer_candles: u64,
    pub worst_staleness: Vec<WorstStaleness>,
    pub money_scale: MoneyScale,
    /// Edge verdicts in bot order.
    pub verdicts: Vec<BotVerdict>,
    /// For each bot, the rule that permanently stopped the bot, if any ([`Session::stopped_by`]).
    pub stopped_by: Vec<Option<Rule>>,
}

impl Backtest {
    /// Creates a backtest of one or more bots.
    /// `candles` must contain every series that a bot uses. `markets` must contain the venue's pricing data, with one
    /// market per symbol. For each bot, `wants_prices` states whether its strategy needs prices between candle closes.
    pub fn new(
        settings: &BacktestSettings,
        strategies: Vec<Box<dyn Strategy>>,
        wants_prices: &[bool],
        candles: &[CandleSeries],
        markets: Vec<Market>,
    ) -> Result<Self, BacktestError> {
        let session = Session::new(&settings.session, strategies)?;
        let mut own = Vec::with_capacity(session.series().len());
        for series in session.series() {
            let found = candles.iter().find(|candles| candles.series() == *series);
            own.push(found.cloned().ok_or_else(|| BacktestError::NoCandles {
                series: *series,
                bot: find_bot_name(settings, |bot| bot.series() == *series),
            })?);
        }
        let prices = find_price_sources(settings, &session, wants_prices, &markets)?;
        let simulator =
            Simulator::new(settings.simulation.clone(), session.ledger().free_balance(), markets)?;
        let total: usize = own.iter().map(|series| series.candles().len()).sum();
        Ok(Self {
            symbols: session.symbols().to_vec(),
            candles: own,
            prices,
            price_every: settings.price_every_ms,
            signals: Vec::new(),
            simulator,
            session,
            book: TradeBook::with_capacity(MIN_BOOK_CAPACITY.max(total / CANDLES_PER_INTENT)),
            actions: Vec::with_capacity(64),
        })
    }

    /// Hides prices after `end` from strategies. Trades that are still open at `end` settle at market prices as usual.
    #[must_use]
    pub fn with_prices_until(mut self, end: Millis) -> Self {
        let shown = Millis::new(i64::MIN)..end;
        self.prices = (self.prices.into_iter())
            .filter_map(|(symbol, detail)| Some((symbol, detail.within(shown.clone()).ok()?)))
            .collect();
        self
    }

    /// Adds external signals. Simultaneous signals keep their order.
    /// As in live trading, a signal is handled after simultaneous candles and before simultaneous prices.
    #[must_use]
    pub fn with_signals(mut self, mut signals: Vec<(Millis, OutsideSignal)>) -> Self {
        signals.sort_by_key(|(at, _)| *at);
        self.signals = signals;
        self
    }

    /// Runs the backtest to the end of the candles and settles every trade that expires by then.
    /// Calls `progress` regularly, with the number of processed events and the total number of events.
    pub fn run(
        mut self,
        header: &Header,
        recorder: &mut dyn Recorder,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<BacktestResult, BacktestError> {
        recorder.record(Entry::Header(header))?;
        let candles = std::mem::take(&mut self.candles);
        let prices = std::mem::take(&mut self.prices);
        let total = match recorder.interest() {
            RecorderInterest::AllButCandles if self.signals.is_empty() => {
                self.run_in_batches(&candles, &prices, recorder, progress)?
            }
            RecorderInterest::Everything | RecorderInterest::AllButCandles => {
                self.run_event_by_event(&candles, &prices, recorder, progress)?
            }
        };
        progress(total, total);
        let unsettled_stakes = self.session.ledger().open_stakes();
        let bots = (0..self.session.bot_names().len()).filter_map(BotId::new);
        Ok(BacktestResult {
            final_balance: self.session.ledger().free_balance() + unsettled_stakes,
            unsettled_stakes,
            unbuilt_longer_candles: self.session.unbuilt_longer_candles(),
            worst_staleness: self.session.worst_staleness(),
            money_scale: self.session.money_scale(),
            verdicts: self.session.verdicts().cloned().collect(),
            stopped_by: bots.map(|bot| self.session.stopped_by(bot)).collect(),
            candles: candles.iter().map(|series| series.candles().len() as u64).sum(),
            book: self.book,
        })
    }

    fn run_event_by_event(
        &mut self,
        candles: &[CandleSeries],
        prices: &[(SymbolId, CandleSeries)],
        recorder: &mut dyn Recorder,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<u64, BacktestError> {
        let mut feed = Feed::new();
        for id in self.session.series_order() {
            feed.add_candles(id, &candles[id.index()]);
        }
        for (symbol, detail) in prices {
            feed.add_prices(*symbol, detail, self.price_every);
        }
        let signals = std::mem::take(&mut self.signals);
        feed.add_signals(&signals);
        let total = feed.len() as u64;
        let (mut done, mut reported) = (0, 0);
        while let Some(instant) = feed.next_instant() {
            // As in a live run, events caused by candles come after all candles of the same instant.
            self.handle_venue_events(instant, recorder)?;
            done += self.handle_feed_at(&mut feed, instant, recorder)?;
            if done - reported >= EVENTS_PER_PROGRESS_CALL {
                reported = done;
                progress(done, total);
            }
        }
        self.handle_venue_events(Millis::MAX, recorder)?;
        Ok(total)
    }

    fn run_in_batches(
        &mut self,
        candles: &[CandleSeries],
        prices: &[(SymbolId, CandleSeries)],
        recorder: &mut dyn Recorder,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<u64, BacktestError> {
        let mut feed = Feed::new();
        for (symbol, detail) in prices {
            feed.add_prices(*symbol, detail, self.price_every);
        }
        let priced: Vec<SymbolId> = prices.iter().map(|(symbol, _)| *symbol).collect();
        let series = candles.iter().map(CandleSeries::candles).collect();
        let mut stored = StoredCandles::new(&self.session, series, &priced);
        let total = stored.candle_count() + feed.len() as u64;
        let (mut prices_done, mut reported) = (0, 0);
        // As in a live run, events caused by candles and prices come after all candles and prices of the same instant.
        let mut instant_end = Millis::new(i64::MIN);
        loop {
            let venue_due = self.simulator.next_due().unwrap_or(Millis::MAX).max(instant_end);
            let price_end = feed.next_instant().map_or(Millis::MAX, |instant| instant + Millis::new(1));
            let until = venue_due.min(price_end);
            let end = self.session.handle_candles(&mut stored, until, &mut self.actions);
            if !self.actions.is_empty() {
                self.execute_actions(recorder)?;
            }
            match end {
                BatchEnd::ActionsAt(instant) => instant_end = instant + Millis::new(1),
                BatchEnd::Reached if until == Millis::MAX => return Ok(total),
                BatchEnd::Reached if until == price_end => {
                    prices_done += self.handle_feed_at(&mut feed, price_end - Millis::new(1), recorder)?;
                    instant_end = price_end;
                }
                BatchEnd::Reached => self.handle_venue_events(venue_due, recorder)?,
            }
            let done = stored.processed_candle_count() + prices_done;
            if done - reported >= EVENTS_PER_PROGRESS_CALL {
                reported = done;
                progress(done, total);
            }
        }
    }

    fn handle_feed_at(
        &mut self,
        feed: &mut Feed<'_>,
        instant: Millis,
        recorder: &mut dyn Recorder,
    ) -> Result<u64, BacktestError> {
        let mut taken = 0;
        let mut signals = feed.take_signals(instant).iter();
        let event = |kind| Event { at: instant, received: instant, kind };
        for source in feed.sources() {
            let Some(item) = source.take_item_at(instant) else { continue };
            let kind = match item {
                FeedItem::Candle(series, candle) => {
                    EventKind::Candle { series, candle: *candle, origin: Origin::Live }
                }
                FeedItem::Price(symbol, price) => {
                    for (_, signal) in signals.by_ref() {
                        self.handle(&event(EventKind::OutsideSignal(*signal)), recorder)?;
                        taken += 1;
                    }
                    EventKind::Price { symbol, price }
                }
            };
            self.handle(&event(kind), recorder)?;
            taken += 1;
        }
        for (_, signal) in signals {
            self.handle(&event(EventKind::OutsideSignal(*signal)), recorder)?;
            taken += 1;
        }
        Ok(taken)
    }

    #[inline]
    fn handle_venue_events(&mut self, now: Millis, recorder: &mut dyn Recorder) -> Result<(), BacktestError> {
        match self.simulator.next_due() {
            Some(due) if due <= now => self.handle_due_events(now, recorder),
            // Fast path: no event is due at most candles.
            _ => Ok(()),
        }
    }

    #[inline(never)]
    fn handle_due_events(&mut self, now: Millis, recorder: &mut dyn Recorder) -> Result<(), BacktestError> {
        while let Some(event) = self.simulator.pop_due(now) {
            self.handle(&self.translate(&event), recorder)?;
        }
        Ok(())
    }

    fn translate(&self, event: &VenueEvent) -> Event {
        let (at, kind) = match event {
            VenueEvent::Answered(answer) => {
                let intent = IntentId::new(answer.number);
                let kind = match answer.kind {
                    AnswerKind::Opened(opening) => EventKind::Opened(to_opened_trade(intent, &opening)),
                    AnswerKind::Refused(refusal) => {
                        EventKind::Rejected { intent, rejection: to_rejection(refusal) }
                    }
                };
                (answer.at, kind)
            }
            VenueEvent::Settled(trade) => {
                let payout = self.book.row(IntentId::new(trade.number)).and_then(|row| row.payout);
                (trade.known_at, EventKind::Settled(to_settlement(trade, payout)))
            }
        };
        Event { at, received: at, kind }
    }

    #[inline]
    fn handle(&mut self, event: &Event, recorder: &mut dyn Recorder) -> Result<(), BacktestError> {
        recorder.record(Entry::Event(event))?;
        self.session.handle(event, &mut self.actions);
        self.book.record_event(event);
        if !self.actions.is_empty() {
            self.execute_actions(recorder)?;
        }
        Ok(())
    }

    fn execute_actions(&mut self, recorder: &mut dyn Recorder) -> Result<(), BacktestError> {
        for action in &self.actions {
            recorder.record(Entry::Action(action))?;
            self.book.record_action(action);
            if let Action::Open(approved) = action {
                self.simulator.submit(&Order {
                    number: approved.intent().number(),
                    symbol: self.symbols[approved.symbol().index()],
                    direction: approved.direction(),
                    stake: approved.stake(),
                    expiry: approved.expiry(),
                    time: self.session.order_time(approved.terms()),
                });
            }
        }
        self.actions.clear();
        Ok(())
    }
}

fn find_price_sources(
    settings: &BacktestSettings,
    session: &Session,
    wants_prices: &[bool],
    markets: &[Market],
) -> Result<Vec<(SymbolId, CandleSeries)>, BacktestError> {
    let mut sources = Vec::new();
    let every = settings.price_every_ms;
    for (bot, _) in settings.session.bots.iter().zip(wants_prices).filter(|(_, wants)| **wants) {
        if every <= Millis::ZERO {
            let problem = format!("{every} ms is too short; leave at least 1 ms between prices");
            return Err(EngineError::Setting { key: "runtime.price_every_ms".to_owned(), problem }.into());
        }
        let market = markets.iter().find(|market| market.symbol() == bot.symbol);
        let detail = market.map(|market| market.detail.as_slice()).unwrap_or_default();
        let fine = detail.iter().filter(|detail| every.is_aligned_to(detail.interval().length()));
        // A few recorded seconds must not replace a series with months of prices.
        let fine = fine.max_by_key(|detail| detail.interval().length() * detail.candles().len() as i64);
        let (Some(detail), Some(id)) = (fine, session.symbol_id(bot.symbol)) else {
            return Err(BacktestError::NoFinerCandles {
                series: bot.series(),
                bot: bot.name.clone(),
                every_ms: every.get(),
            });
        };
        if !sources.iter().any(|(known, _)| *known == id) {
            sources.push((id, detail.clone()));
        }
    }
    sources.sort_by_key(|(id, _)| *id);
    Ok(sources)
}

fn find_bot_name(
    settings: &BacktestSettings,
    is_it: impl Fn(&candlewick_engine::BotSettings) -> bool,
) -> String {
    let bot = settings.session.bots.iter().find(|bot| is_it(bot));
    bot.map(|bot| bot.name.clone()).unwrap_or_default()
}
