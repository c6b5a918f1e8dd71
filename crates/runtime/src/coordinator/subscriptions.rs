//! Subscriptions to prices: begun at the start, and begun again after an end or a failure; meanwhile prices are asked for. And how
//! the market's data come, for whoever asks.

use super::Coordinator;
use super::agenda::Job;
use super::command::{Ask, Step};
use super::input::{RequestId, Streams};
use crate::control::{MarketState, StreamState};
use candlewick_broker::{BrokerError, PriceTick};
use candlewick_engine::SymbolId;
use candlewick_sdk::{Millis, Symbol};

/// How soon it is tried again; an adapter has pauses of its own before it connects.
const TRY_AGAIN: Millis = Millis::from_seconds(3);
/// The same for a symbol that does not stream, as far as the venue says.
const TRY_UNKNOWN_AGAIN: Millis = Millis::from_seconds(300);
/// How far ahead of this machine's clock a price may lie: clocks differ.
const MAX_AHEAD: Millis = Millis::from_seconds(60);

/// What is known of prices that are to stream.
#[derive(Debug, Default)]
pub(super) struct StreamWatch {
    /// Whether the venue streams: it has, or it should have.
    is_on: bool,
    /// Prices of a symbol do not stream that should, and that was said.
    missed: Option<Missed>,
}

/// Prices that do not stream.
#[derive(Debug)]
struct Missed {
    since: Millis,
    /// Of which symbol that was found last, and why.
    symbol: Symbol,
    why: String,
}

impl Coordinator {
    /// Subscribes to each symbol whose prices a strategy wants.
    pub(super) fn subscribe_all(&mut self, step: &mut Step<'_>) {
        let wanted: Vec<SymbolId> = self.market.wanted().map(|(id, _)| id).collect();
        for id in wanted {
            self.subscribe(id, step);
        }
    }

    pub(super) fn subscribe(&mut self, id: SymbolId, step: &mut Step<'_>) {
        self.requests.begin(RequestId::Subscription(id));
        step.ask(Ask::Subscription(id, self.market.symbol(id)));
    }

    /// A symbol streams from now on, or its prices are asked for.
    pub(super) fn on_subscription(
        &mut self,
        id: SymbolId,
        answer: Result<Streams, BrokerError>,
        step: &mut Step<'_>,
    ) {
        match answer {
            Ok(Streams::Yes) => {
                self.market.begin_stream(id);
                self.streams.is_on = true;
                let (streaming, wanted) = (self.market.streaming(), self.market.wanted().count());
                if streaming == wanted && self.streams.missed.take().is_some() {
                    step.warn(format!("prices stream again, of {streaming} symbols"));
                }
            }
            Ok(Streams::No) => {}
            Err(error) => {
                let is_unknown = matches!(error, BrokerError::NotFound { .. });
                let pause = if is_unknown { TRY_UNKNOWN_AGAIN } else { TRY_AGAIN };
                self.agenda.add(step.now + pause, Job::Subscription(id));
                self.miss_stream(id, &error.to_string(), step);
            }
        }
    }

    /// A price came by itself, and may settle the moment of the grid that is waited for. One from a far future would keep out all
    /// that come before it.
    pub(super) fn on_tick(&mut self, id: SymbolId, tick: PriceTick, step: &mut Step<'_>) {
        if tick.time <= step.now + MAX_AHEAD {
            self.market.on_tick(id, tick);
        }
        self.settle_streamed(id, false, step);
    }

    /// Prices of a symbol have stopped coming: they are asked for until they come again.
    pub(super) fn on_feed_ended(&mut self, id: SymbolId, step: &mut Step<'_>) {
        self.market.end_stream(id, step.now, (&mut self.events, &mut self.agenda));
        self.agenda.add(step.now + TRY_AGAIN, Job::Subscription(id));
        self.miss_stream(id, "it ended, or brought nothing for too long", step);
    }

    /// Said once, of the first symbol: where a connection ends, all its symbols do.
    fn miss_stream(&mut self, id: SymbolId, why: &str, step: &mut Step<'_>) {
        self.streams.is_on = true;
        let symbol = self.market.symbol(id);
        let known = self.streams.missed.take();
        let since = known.as_ref().map_or(step.now, |missed| missed.since);
        self.streams.missed = Some(Missed { since, symbol, why: why.to_owned() });
        if known.is_none() {
            let text = "what does not stream is asked for, and subscribed to again";
            step.warn(format!("{symbol}: its prices do not stream: {why}; {text}"));
        }
    }

    /// The candle that comes the latest, and which prices stream.
    pub(super) fn market_state(&self, now: Millis) -> Option<MarketState> {
        let slowest_candle = self.market.slowest_candle(now);
        let missed_since = self.streams.missed.as_ref().map(|missed| missed.since);
        let stream = self.streams.is_on.then(|| StreamState {
            streaming: self.market.streaming(),
            wanted: self.market.wanted().count(),
            missed_since,
        });
        let late: Vec<_> = self.market.late_series().map(|(_, late)| late).collect();
        let is_known = slowest_candle.is_some() || stream.is_some() || !late.is_empty();
        is_known.then_some(MarketState { slowest_candle, stream, late })
    }

    /// What is amiss with prices that should stream, in words.
    pub(super) fn stream_trouble(&self) -> Option<String> {
        let Missed { symbol, why, .. } = self.streams.missed.as_ref()?;
        let wanted = self.market.wanted().count();
        let missing = wanted - self.market.streaming();
        let symbols = if wanted == 1 { "symbol" } else { "symbols" };
        Some(format!(
            "prices of {missing} of {wanted} {symbols} do not stream and are asked for: {symbol}: {why}"
        ))
    }
}
