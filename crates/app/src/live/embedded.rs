//! Sandbox venues, either embedded in the bots' process or standalone.

use super::Connection;
use super::journal_session::exchange_observer;
use crate::candles;
use crate::configuration::{LoadedConfig, Problems, asset_types};
use crate::error::{AppError, Result};
use crate::inspection::short_body_problems;
use candlewick_api::{Credentials, HttpBroker, Secret};
use candlewick_broker::Account;
use candlewick_broker::clock::{Clock, Speed, SystemClock, VirtualClock};
use candlewick_engine::BotSettings;
use candlewick_records::TradingMode;
use candlewick_runtime::RuntimeSettings;
use candlewick_runtime::control::RunState;
use candlewick_sandbox::{
    NamedSpeed, Replies, RunningSandbox, Sandbox, SandboxInputs, SandboxSettings, SandboxSpeed, StartTime,
    build_markets,
};
use candlewick_sdk::{CandleSeries, Millis};
use candlewick_simulator::Market;
use std::net::{Ipv4Addr, SocketAddr};
use std::num::NonZeroU32;
use std::sync::Arc;

/// Minimum age, in real seconds, at which data becomes stale, since answers take real time at any clock speed.
const MIN_STALE_AGE_S: u32 = 10;

pub struct EmbeddedVenue {
    pub sandbox: RunningSandbox,
    pub connection: Connection,
    pub start: Millis,
    pub end: Millis,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplaySpan {
    /// Starts after the strategies' warm-up. Runs until stopped, or in lock-step mode until the last candle.
    Open,
    Whole,
}

impl EmbeddedVenue {
    pub async fn start(
        loaded: &LoadedConfig,
        (series, markets): (Vec<CandleSeries>, Vec<Market>),
        (span, warmups): (ReplaySpan, &[(BotSettings, usize)]),
    ) -> Result<Self> {
        let settings = &loaded.config.sandbox;
        let start = choose_start(settings, &series, (span, warmups))?;
        // In lock-step mode, the clock could otherwise run years past the last candle.
        let speed = settings.speed.to_speed();
        let ends = span == ReplaySpan::Whole || speed == Speed::Max;
        let until = ends.then(|| last_candle_end(&series, &loaded.config.bots));
        let clock: Arc<dyn Clock> = Arc::new(VirtualClock::new(start, speed));
        Self::start_with_clocks(loaded, (series, markets), (start, until), [Arc::clone(&clock), clock]).await
    }

    pub async fn start_with_clocks(
        loaded: &LoadedConfig,
        (series, markets): (Vec<CandleSeries>, Vec<Market>),
        (start, until): (Millis, Option<Millis>),
        [venue_clock, clock]: [Arc<dyn Clock>; 2],
    ) -> Result<Self> {
        Problems::check(short_body_problems(loaded))?;
        let mut settings = loaded.config.sandbox.clone();
        // Replies cannot be delayed, because the clock stops until an order is answered.
        settings.replies = Replies::AtOnce;
        if !loaded.is_set("sandbox.listen") {
            settings.listen = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        }
        loaded.check_simulation()?;
        let speed = settings.speed.to_speed();
        let end = last_candle_end(&series, &loaded.config.bots);
        let hold = clock.hold();
        let foundation = SandboxInputs {
            clock: venue_clock,
            series,
            markets,
            simulation: loaded.config.simulation.clone(),
            balance: loaded.initial_balance()?,
            scale: loaded.config.account.money_scale,
        };
        let running = Sandbox::new(settings, foundation)?.bind(std::future::pending()).await?;
        let (observer, exchanges) = exchange_observer();
        let venue = Arc::new(open_broker(&running, loaded, Arc::clone(&clock))?.with_observer(observer));
        drop(hold);
        let runtime = adapt_runtime_settings(loaded, speed);
        let connection = Connection {
            runtime,
            account: Account::Demo,
            trading: TradingMode::Sandbox,
            exchanges,
            end: until,
            ..Connection::with_http_venue(loaded, Arc::clone(&venue), venue, clock)
        };
        Ok(Self { sandbox: running, connection, start, end })
    }
}

fn open_broker(running: &RunningSandbox, loaded: &LoadedConfig, clock: Arc<dyn Clock>) -> Result<HttpBroker> {
    let mut broker = loaded.config.broker.client.clone();
    broker.base_url.clone_from(&running.base_url);
    broker.price_url.clone_from(&running.base_url);
    broker.requests_per_second = 0.0;
    broker.proxy = None;
    let secret = |text: &str| Secret::new(text).map_err(|error| AppError::invalid(error.to_string()));
    let credentials =
        Credentials { api_token: Some(secret(&running.token)?), api_key: Some(secret(&running.api_key)?) };
    let venue = HttpBroker::new(broker, credentials, clock)?;
    Ok(venue.with_asset_types(asset_types(&loaded.config.bots)))
}

fn to_venue_seconds(seconds: u32, factor: f64) -> u32 {
    (f64::from(seconds) * factor.max(1.0)).min(f64::from(u32::MAX)) as u32
}

/// Raises the polling interval to at least one real second. An interval of 0 disables polling.
fn raise_poll_interval(every_s: u32, factor: f64) -> u32 {
    if every_s == 0 { 0 } else { every_s.max(to_venue_seconds(1, factor)) }
}

/// Returns the age at which per-minute data counts as stale, in seconds of venue time.
fn stale_after_s(factor: f64) -> u32 {
    let usual = u32::try_from(RunState::SILENT_AFTER.get() / 1_000).unwrap_or(u32::MAX);
    to_venue_seconds(MIN_STALE_AGE_S, factor).max(usual)
}

/// Adapts the runtime settings to an embedded venue. In lock-step mode, disables waiting for late candles.
fn adapt_runtime_settings(loaded: &LoadedConfig, speed: Speed) -> RuntimeSettings {
    let mut runtime = loaded.config.runtime.clone();
    let delay = loaded.config.simulation.settle_delay_ms.get();
    runtime.settle_after_ms = u32::try_from(delay).unwrap_or(u32::MAX);
    // The timeout of an open trade should begin when its settlement is available.
    runtime.stop_patience_s = runtime.stop_patience_s.saturating_add(runtime.settle_after_ms.div_ceil(1_000));
    if let Speed::Times(factor) = speed {
        runtime.stop_patience_s = to_venue_seconds(runtime.stop_patience_s, factor);
        runtime.interrupt_patience_s = to_venue_seconds(runtime.interrupt_patience_s, factor);
        runtime.stale_after_s = NonZeroU32::new(stale_after_s(factor));
        runtime.wallet_every_s = raise_poll_interval(runtime.wallet_every_s, factor);
        runtime.list_every_s = raise_poll_interval(runtime.list_every_s, factor);
    }
    runtime.first_ask_ms = 0;
    // Stress makes trade prices differ from the price records of the sandbox on purpose.
    runtime.audit_settlement_prices &= loaded.config.simulation.stress == 0.0;
    if speed == Speed::Max {
        runtime.hold_ms = 0;
        runtime.quick_repeats = 0;
        // Open trades close immediately.
        runtime.interrupt_patience_s = u32::MAX;
        runtime.watch_prices = false;
        runtime.list_every_s = 0;
    }
    runtime
}

fn choose_start(
    settings: &SandboxSettings,
    series: &[CandleSeries],
    (span, warmups): (ReplaySpan, &[(BotSettings, usize)]),
) -> Result<Millis> {
    let has_bot = |one: &&CandleSeries| warmups.iter().any(|(bot, _)| bot.series() == one.series());
    let asked = settings.start.map(|StartTime(start)| start);
    match (asked, span) {
        (None, ReplaySpan::Whole) => {
            let first = series.iter().filter(has_bot).map(CandleSeries::start).min();
            Ok(first.unwrap_or_default())
        }
        (None, ReplaySpan::Open) => {
            candles::choose_venue_start(series, Some(find_warm_up_end(series, warmups)))
        }
        (Some(start), _) => candles::choose_venue_start(series, Some(start)),
    }
}

fn find_warm_up_end(series: &[CandleSeries], warmups: &[(BotSettings, usize)]) -> Millis {
    let warm_at = |(bot, warmup): &(BotSettings, usize)| {
        let own = series.iter().find(|one| one.series() == bot.series())?;
        let last = own.candles().get(warmup.saturating_sub(1)).or(own.candles().last())?;
        Some(last.close_time(own.interval()))
    };
    let latest = warmups.iter().filter_map(warm_at).max().unwrap_or_default();
    let minute = latest.floor_to(Millis::MINUTE);
    if minute < latest { minute + Millis::MINUTE } else { minute }
}

fn last_candle_end(series: &[CandleSeries], bots: &[BotSettings]) -> Millis {
    let has_bot = |one: &&CandleSeries| bots.iter().any(|bot| bot.series() == one.series());
    series.iter().filter(has_bot).map(CandleSeries::end).max().unwrap_or_default()
}

pub struct ServedSandbox {
    pub sandbox: RunningSandbox,
    pub start: Millis,
}

impl ServedSandbox {
    pub async fn start(
        settings: SandboxSettings,
        series: Vec<CandleSeries>,
        loaded: &LoadedConfig,
    ) -> Result<Self> {
        loaded.check_simulation()?;
        let (clock, start, series) = build_timeline(&settings, series)?;
        let foundation = SandboxInputs {
            clock,
            markets: build_markets(&series),
            series,
            simulation: loaded.config.simulation.clone(),
            balance: loaded.initial_balance()?,
            scale: loaded.config.account.money_scale,
        };
        let running = Sandbox::new(settings, foundation)?.bind(std::future::pending()).await?;
        Ok(Self { sandbox: running, start })
    }
}

/// Builds the clock, start time and candles. At speed 1 without a start time, shifts the candles to the present.
fn build_timeline(
    settings: &SandboxSettings,
    series: Vec<CandleSeries>,
) -> Result<(Arc<dyn Clock>, Millis, Vec<CandleSeries>)> {
    let speed = match settings.speed {
        SandboxSpeed::Times(factor) => factor,
        SandboxSpeed::Named(NamedSpeed::Max) => {
            let problem = "--speed max needs a bot in the same process, since the clock waits for the bot";
            return Err(AppError::invalid(problem)
                .with_help("use `live --sandbox --speed max`, or give --speed a factor"));
        }
    };
    if speed == 1.0 && settings.start.is_none() {
        let clock = SystemClock::new();
        let start = clock.now();
        let series = candles::shift_to(start, &series)?;
        return Ok((Arc::new(clock), start, series));
    }
    let start = candles::choose_venue_start(&series, settings.start.map(|start| start.0))?;
    Ok((Arc::new(VirtualClock::new(start, Speed::Times(speed))), start, series))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn staleness_is_at_least_three_venue_minutes_and_ten_real_seconds() {
        for (factor, seconds) in [(0.5, 180), (1.0, 180), (18.0, 180), (60.0, 600), (120.0, 1_200)] {
            assert_eq!(stale_after_s(factor), seconds, "{factor}");
        }
    }

    #[test]
    fn polls_the_wallet_at_most_once_per_real_second() {
        for (every, expected) in [(60, 600), (300, 600), (900, 900), (0, 0)] {
            assert_eq!(raise_poll_interval(every, 600.0), expected, "{every} s");
        }
        assert_eq!((raise_poll_interval(60, 1.0), raise_poll_interval(60, 60.0)), (60, 60));
        let loaded = LoadedConfig::read(&[], crate::configuration::BaseLayer::Sandbox, Vec::new()).unwrap();
        let speeds = [Speed::Times(1.0), Speed::Times(20_000.0), Speed::Max];
        assert_eq!(
            speeds.map(|speed| adapt_runtime_settings(&loaded, speed).wallet_every_s),
            [60, 20_000, 60]
        );
    }
}
