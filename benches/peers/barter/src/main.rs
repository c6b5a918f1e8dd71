//! `cargo run --release -- candles.csv [candles]`
//!
//! barter's backtest feeds candles as fast as possible, and the fills of its simulated exchange queue behind them. With all
//! candles in memory, hardly any fill reaches the engine before the end. So there are two measurements: unmodified, which
//! counts orders, and with a stream that waits until the orders of a candle are answered, which counts fills and compares the
//! profit with that of the loop.

mod by_hand;
mod strategy;

use barter::backtest::market_data::{BacktestMarketData, MarketDataInMemory};
use barter::backtest::summary::BacktestSummary;
use barter::backtest::{BacktestArgsConstant, BacktestArgsDynamic, backtest};
use barter::engine::state::builder::EngineStateBuilder;
use barter::engine::state::global::DefaultGlobalData;
use barter::engine::state::trading::TradingState;
use barter::error::BarterError;
use barter::statistic::time::Daily;
use barter::system::config::{ExecutionConfig, InstrumentConfig};
use barter_data::event::MarketEvent;
use barter_data::streams::consumer::MarketStreamEvent;
use barter_data::subscription::candle::Candle;
use barter_execution::UnindexedAccountSnapshot;
use barter_execution::balance::{AssetBalance, Balance};
use barter_execution::client::mock::MockExecutionConfig;
use barter_instrument::Underlying;
use barter_instrument::exchange::ExchangeId;
use barter_instrument::index::IndexedInstruments;
use barter_instrument::instrument::InstrumentIndex;
use barter_instrument::instrument::kind::InstrumentKind;
use barter_instrument::instrument::quote::InstrumentQuoteAsset;
use by_hand::{Outcome, by_hand};
use chrono::{DateTime, TimeDelta, Utc};
use futures::Stream;
use rust_decimal::Decimal;
use rust_decimal::prelude::ToPrimitive;
use std::error::Error;
use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;
use strategy::{FixedTime, Instrument, Progress, Risk, State};

const ROUNDS: usize = 3;

type Event = MarketStreamEvent<InstrumentIndex, Candle>;

/// Candles one by one: the next is sent when the engine has finished the previous one.
struct OneByOne {
    events: Arc<Vec<Event>>,
    progress: Arc<Progress>,
}

impl BacktestMarketData for OneByOne {
    type Kind = Candle;

    async fn time_first_event(&self) -> Result<DateTime<Utc>, BarterError> {
        MarketDataInMemory::new(Arc::clone(&self.events)).time_first_event().await
    }

    async fn stream(&self) -> Result<impl Stream<Item = Event> + Send + 'static, BarterError> {
        let (events, progress) = (Arc::clone(&self.events), Arc::clone(&self.progress));
        Ok(futures::stream::unfold(0, move |at| {
            let (events, progress) = (Arc::clone(&events), Arc::clone(&progress));
            async move {
                if at > 0 {
                    progress.done.notified().await;
                }
                events.get(at).map(|event| (event.clone(), at + 1))
            }
        }))
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let file = arguments.next().ok_or("usage: peer-barter candles.csv [candles]")?;
    let count = arguments.next().map_or(Ok(1_000_000), |count| count.parse())?;
    let events = Arc::new(read(&file, count)?);
    let close: Vec<f64> = events
        .iter()
        .filter_map(|event| match event {
            MarketStreamEvent::Item(event) => Some(event.kind.close),
            MarketStreamEvent::Reconnecting(_) => None,
        })
        .collect();

    let progress = Arc::new(Progress::default());
    let in_memory = constant(MarketDataInMemory::new(Arc::clone(&events)), &progress);
    measure("barter, all candles at once", &close, || {
        progress.begin();
        run(&in_memory)?;
        Ok(progress.orders.load(Ordering::Relaxed) / 2)
    })?;

    let one_by_one = constant(OneByOne { events, progress: Arc::clone(&progress) }, &progress);
    let Outcome { won, earned, .. } = by_hand(&close, &mut Vec::new());
    measure("barter, each candle answered", &close, || {
        progress.begin();
        let summary = run(&one_by_one)?;
        let figures = summary.trading_summary.instruments.values().next().ok_or("no summary")?;
        let found = figures.pnl.to_f64().ok_or("the profit is not a number")?;
        if (found - earned).abs() > 0.005 {
            return Err(format!("barter's profit is {found}, not {earned} ({won} wins)").into());
        }
        Ok(progress.fills.load(Ordering::Relaxed) / 2)
    })
}

/// Reads lines of open time in milliseconds, open, high, low, close and volume.
fn read(file: &str, count: usize) -> Result<Vec<Event>, Box<dyn Error>> {
    let text = std::fs::read_to_string(file)?;
    text.lines().skip(1).take(count).map(event).collect()
}

fn event(line: &str) -> Result<Event, Box<dyn Error>> {
    let mut fields = line.split(',');
    let time = fields.next().ok_or("the line is empty")?.parse()?;
    let opened = DateTime::from_timestamp_millis(time).ok_or("the time is out of range")?;
    let close_time = opened + TimeDelta::minutes(1);
    let mut number =
        || -> Result<f64, Box<dyn Error>> { Ok(fields.next().ok_or("the line is too short")?.parse()?) };
    let (open, high, low, close, volume) = (number()?, number()?, number()?, number()?, number()?);
    Ok(MarketStreamEvent::Item(MarketEvent {
        time_exchange: close_time,
        time_received: close_time,
        exchange: ExchangeId::Mock,
        instrument: InstrumentIndex::new(0),
        kind: Candle { close_time, open, high, low, close, volume, trade_count: 0 },
    }))
}

/// One instrument on a simulated exchange without fees or latency, with enough money for every order.
fn constant<Data>(
    market_data: Data,
    progress: &Arc<Progress>,
) -> Arc<BacktestArgsConstant<Data, Daily, State>> {
    let instruments = IndexedInstruments::new([InstrumentConfig {
        exchange: ExchangeId::Mock,
        name_exchange: "BTCUSDT".into(),
        underlying: Underlying::new("btc", "usdt"),
        quote: InstrumentQuoteAsset::UnderlyingQuote,
        kind: InstrumentKind::Spot,
        spec: None,
    }]);
    let plenty = Decimal::from(100_000_000_000_000_i64);
    let balances = ["btc", "usdt"]
        .map(|asset| AssetBalance::new(asset.into(), Balance::new(plenty, plenty), DateTime::UNIX_EPOCH))
        .to_vec();
    let account = UnindexedAccountSnapshot::new(ExchangeId::Mock, balances, Vec::new());
    let engine_state =
        EngineStateBuilder::new(&instruments, DefaultGlobalData, |_| Instrument::new(Arc::clone(progress)))
            .time_engine_start(DateTime::UNIX_EPOCH)
            .trading_state(TradingState::Enabled)
            .build();
    Arc::new(BacktestArgsConstant {
        instruments,
        executions: vec![ExecutionConfig::Mock(MockExecutionConfig::new(
            ExchangeId::Mock,
            account,
            0,
            Decimal::ZERO,
        ))],
        market_data,
        summary_interval: Daily,
        engine_state,
    })
}

fn run<Data>(
    constant: &Arc<BacktestArgsConstant<Data, Daily, State>>,
) -> Result<BacktestSummary<Daily>, Box<dyn Error>>
where
    Data: BacktestMarketData<Kind = Candle>,
{
    // The exchange answers after a timer. A paused clock skips to it when the runtime is idle.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build()?;
    let dynamic = BacktestArgsDynamic {
        id: "fixed-time".into(),
        risk_free_return: Decimal::ZERO,
        strategy: FixedTime,
        risk: Risk::default(),
    };
    Ok(runtime.block_on(backtest(Arc::clone(constant), dynamic))?)
}

/// Runs peer and reference alternately and prints the best times. Fails if their numbers of trades differ.
#[expect(clippy::disallowed_methods, reason = "it measures real time")]
fn measure(
    name: &str,
    close: &[f64],
    mut run: impl FnMut() -> Result<usize, Box<dyn Error>>,
) -> Result<(), Box<dyn Error>> {
    let mut index = Vec::new();
    let expected = by_hand(close, &mut index).trades;
    let (mut peer, mut floor) = (f64::INFINITY, f64::INFINITY);
    let mut found = 0;
    for _ in 0..ROUNDS {
        let begin = Instant::now();
        black_box(by_hand(black_box(close), &mut index));
        floor = floor.min(begin.elapsed().as_secs_f64());
        let begin = Instant::now();
        found = run()?;
        peer = peer.min(begin.elapsed().as_secs_f64());
    }
    let [peer, floor] = [peer, floor].map(|seconds| seconds / close.len() as f64 * 1e9);
    println!(
        "{name}: {peer:.1} ns per candle, {found} trades; reference {floor:.2} ns, {expected} trades; ratio {:.0}; {} candles, \
         best of {ROUNDS}",
        peer / floor,
        close.len()
    );
    if found == expected { Ok(()) } else { Err(format!("{name} made {found} trades, not {expected}").into()) }
}
