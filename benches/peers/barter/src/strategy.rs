//! The workload in barter: the instrument decides at each candle, the strategy sends the orders.

use crate::by_hand::{HOLD, Rsi, side};
use barter::engine::clock::HistoricalClock;
use barter::engine::execution_tx::MultiExchangeTxMap;
use barter::engine::state::EngineState;
use barter::engine::state::global::DefaultGlobalData;
use barter::engine::state::instrument::data::InstrumentDataState;
use barter::engine::state::instrument::filter::InstrumentFilter;
use barter::engine::state::order::in_flight_recorder::InFlightRequestRecorder;
use barter::engine::{Engine, Processor};
use barter::risk::DefaultRiskManager;
use barter::strategy::algo::AlgoStrategy;
use barter::strategy::close_positions::ClosePositionsStrategy;
use barter::strategy::on_disconnect::OnDisconnectStrategy;
use barter::strategy::on_trading_disabled::OnTradingDisabled;
use barter_data::event::MarketEvent;
use barter_data::subscription::candle::Candle;
use barter_execution::order::id::{ClientOrderId, StrategyId};
use barter_execution::order::request::{OrderRequestCancel, OrderRequestOpen, RequestOpen};
use barter_execution::order::{OrderKey, OrderKind, TimeInForce};
use barter_execution::{AccountEvent, AccountEventKind};
use barter_instrument::Side;
use barter_instrument::asset::AssetIndex;
use barter_instrument::exchange::{ExchangeId, ExchangeIndex};
use barter_instrument::instrument::InstrumentIndex;
use rust_decimal::Decimal;
use rust_decimal::prelude::FromPrimitive;
use std::iter;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::sync::Notify;

pub type State = EngineState<DefaultGlobalData, Instrument>;
pub type Risk = DefaultRiskManager<State>;

/// Progress of a run.
#[derive(Debug, Default)]
pub struct Progress {
    /// Orders that the engine sent.
    pub orders: AtomicUsize,
    /// Fills that the engine received.
    pub fills: AtomicUsize,
    /// Notified once per candle, when the engine has finished it.
    pub done: Notify,
}

impl Progress {
    pub fn begin(&self) {
        self.orders.store(0, Ordering::Relaxed);
        self.fills.store(0, Ordering::Relaxed);
    }
}

/// State of the instrument: RSI, open trade and order of the current candle.
#[derive(Clone, Debug)]
pub struct Instrument {
    progress: Arc<Progress>,
    rsi: Rsi,
    close: f64,
    open: Option<(Side, usize)>,
    wanted: Option<Side>,
    /// Number of pending messages about the last order: its answer and its fill.
    awaited: u8,
}

impl Instrument {
    pub fn new(progress: Arc<Progress>) -> Self {
        Self { progress, rsi: Rsi::default(), close: 0.0, open: None, wanted: None, awaited: 0 }
    }

    fn decide(&mut self, index: Option<f64>) -> Option<Side> {
        if let Some((side, candles)) = &mut self.open {
            *candles += 1;
            if *candles < HOLD {
                return None;
            }
            let ended = *side;
            self.open = None;
            return Some(if ended == Side::Buy { Side::Sell } else { Side::Buy });
        }
        let opened = match side(index?) {
            1 => Side::Buy,
            -1 => Side::Sell,
            _ => return None,
        };
        self.open = Some((opened, 0));
        Some(opened)
    }
}

impl Processor<&MarketEvent<InstrumentIndex, Candle>> for Instrument {
    type Audit = ();

    fn process(&mut self, event: &MarketEvent<InstrumentIndex, Candle>) {
        self.close = event.kind.close;
        let index = self.rsi.next(self.close);
        self.wanted = self.decide(index);
        if self.wanted.is_none() {
            self.progress.done.notify_one();
        }
    }
}

impl Processor<&AccountEvent> for Instrument {
    type Audit = ();

    fn process(&mut self, event: &AccountEvent) {
        match event.kind {
            AccountEventKind::Trade(_) => {
                self.progress.fills.fetch_add(1, Ordering::Relaxed);
            }
            AccountEventKind::OrderSnapshot(_) => {}
            _ => return,
        }
        self.awaited = self.awaited.saturating_sub(1);
        if self.awaited == 0 {
            self.progress.done.notify_one();
        }
    }
}

impl InFlightRequestRecorder for Instrument {
    fn record_in_flight_cancel(&mut self, _: &OrderRequestCancel<ExchangeIndex, InstrumentIndex>) {}

    fn record_in_flight_open(&mut self, _: &OrderRequestOpen<ExchangeIndex, InstrumentIndex>) {
        self.progress.orders.fetch_add(1, Ordering::Relaxed);
        self.wanted = None;
        self.awaited = 2;
    }
}

impl InstrumentDataState for Instrument {
    type MarketEventKind = Candle;

    fn price(&self) -> Option<Decimal> {
        Decimal::from_f64(self.close)
    }
}

#[derive(Clone, Debug)]
pub struct FixedTime;

impl AlgoStrategy for FixedTime {
    type State = State;

    fn generate_algo_orders(
        &self,
        state: &State,
    ) -> (impl IntoIterator<Item = OrderRequestCancel>, impl IntoIterator<Item = OrderRequestOpen>) {
        let opens = state.instruments.instruments(&InstrumentFilter::None).filter_map(|instrument| {
            let side = instrument.data.wanted?;
            Some(OrderRequestOpen {
                key: OrderKey {
                    exchange: instrument.instrument.exchange,
                    instrument: instrument.key,
                    strategy: StrategyId::new("fixed-time"),
                    cid: ClientOrderId::random(),
                },
                state: RequestOpen {
                    side,
                    price: instrument.data.price()?,
                    quantity: Decimal::ONE,
                    kind: OrderKind::Market,
                    time_in_force: TimeInForce::ImmediateOrCancel,
                },
            })
        });
        (iter::empty(), opens)
    }
}

impl ClosePositionsStrategy for FixedTime {
    type State = State;

    fn close_positions_requests<'a>(
        &'a self,
        _: &'a State,
        _: &'a InstrumentFilter,
    ) -> (impl IntoIterator<Item = OrderRequestCancel> + 'a, impl IntoIterator<Item = OrderRequestOpen> + 'a)
    where
        ExchangeIndex: 'a,
        AssetIndex: 'a,
        InstrumentIndex: 'a,
    {
        (iter::empty(), iter::empty())
    }
}

impl OnDisconnectStrategy<HistoricalClock, State, MultiExchangeTxMap, Risk> for FixedTime {
    type OnDisconnect = ();

    fn on_disconnect(_: &mut Engine<HistoricalClock, State, MultiExchangeTxMap, Self, Risk>, _: ExchangeId) {}
}

impl OnTradingDisabled<HistoricalClock, State, MultiExchangeTxMap, Risk> for FixedTime {
    type OnTradingDisabled = ();

    fn on_trading_disabled(_: &mut Engine<HistoricalClock, State, MultiExchangeTxMap, Self, Risk>) {}
}
