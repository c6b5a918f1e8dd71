//! Price subscriptions, renewed after an end or failure; prices are polled in between.

use super::Coordinator;
use super::agenda::Job;
use super::command::{Ask, Step};
use super::input::{RequestId, Streams};
use crate::control::{MarketState, StreamState};
use candlewick_broker::{BrokerError, PriceTick};
use candlewick_engine::SymbolId;
use candlewick_sdk::{Millis, Symbol};

/// Delay before a new subscription. Adapters add their own reconnect backoff.
const TRY_AGAIN: Millis = Millis::from_seconds(3);
const TRY_UNKNOWN_AGAIN: Millis = Millis::from_seconds(300);
const MAX_AHEAD: Millis = Millis::from_seconds(60);

#[derive(Debug, Default)]
pub(super) struct StreamWatch {
    is_on: bool,
    missed: Option<Missed>,
}

#[derive(Debug)]
struct Missed {
    since: Millis,
    symbol: Symbol,
    why: String,
}

impl Coordinator {
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

    /// Handles a streamed price. One from the far future would block all earlier ones, so it is
    /// dropped.
    pub(super) fn on_tick(&mut self, id: SymbolId, tick: PriceTick, step: &mut Step<'_>) {
        if tick.time <= step.now + MAX_AHEAD {
            self.market.on_tick(id, tick);
        }
        self.settle_streamed(id, false, step);
    }

    pub(super) fn on_feed_ended(&mut self, id: SymbolId, step: &mut Step<'_>) {
        self.market.end_stream(id, step.now, (&mut self.events, &mut self.agenda));
        self.agenda.add(step.now + TRY_AGAIN, Job::Subscription(id));
        self.miss_stream(id, "it ended, or brought nothing for too long", step);
    }

    /// Reports a lost stream once, for the first symbol, because a connection loss affects all
    /// symbols.
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
