//! Subscriptions to prices: begun at the start, and begun again after an end or a failure; meanwhile prices are asked for.

use super::Coordinator;
use super::agenda::Job;
use super::command::{Ask, Step};
use super::input::{RequestId, Streams};
use candlewick_broker::{BrokerError, PriceTick};
use candlewick_engine::SymbolId;
use candlewick_sdk::Millis;

/// How soon it is tried again; an adapter has pauses of its own before it connects.
const TRY_AGAIN: Millis = Millis::from_seconds(3);
/// The same for a symbol that does not stream, as far as the venue says.
const TRY_UNKNOWN_AGAIN: Millis = Millis::from_seconds(300);
/// How far ahead of this machine's clock a price may lie: clocks differ.
const MAX_AHEAD: Millis = Millis::from_seconds(60);

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
                let (streaming, wanted) = (self.market.streaming(), self.market.wanted().count());
                if self.is_stream_missed && streaming == wanted {
                    self.is_stream_missed = false;
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
        if !std::mem::replace(&mut self.is_stream_missed, true) {
            let symbol = self.market.symbol(id);
            let text = "what does not stream is asked for, and subscribed to again";
            step.warn(format!("{symbol}: its prices do not stream: {why}; {text}"));
        }
    }
}
