//! Connections to a venue: remote, for paper trading, or through a broker of a custom binary.

use super::Connection;
use super::journal_session::exchange_observer;
use crate::configuration::{Config, LoadedConfig, Problems, asset_types, credentials, token_source};
use crate::error::{AppError, Result};
use crate::inspection::short_body_problems;
use candlewick_api::{Credentials, HttpBroker};
use candlewick_broker::clock::{Clock, SystemClock};
use candlewick_broker::{Account, Broker, BrokerError, CandleQuery, MarketData};
use candlewick_engine::BotSettings;
use candlewick_records::TradingMode;
use candlewick_runtime::paper::PaperBroker;
use candlewick_sdk::Millis;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// Checks that the venue's address or the API token is set, before the run creates a journal.
pub fn check_venue(loaded: &LoadedConfig) -> Result<()> {
    if loaded.is_set("broker.base_url") || credentials(loaded)?.api_token.is_some() {
        return Ok(());
    }
    Err(AppError::invalid("no venue is configured: broker.base_url and the token are not set").with_help(
        "add --sandbox for the embedded venue. For a remote venue, set [broker] base_url and \
         CANDLEWICK_BROKER__API_TOKEN, as in config/demo.toml. `candlewick paper` needs no token",
    ))
}

pub fn connect_remote(loaded: &LoadedConfig) -> Result<Connection> {
    Problems::check(short_body_problems(loaded))?;
    let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
    let venue =
        HttpBroker::new(loaded.config.broker.client.clone(), credentials(loaded)?, Arc::clone(&clock))?;
    let (observer, exchanges) = exchange_observer();
    let venue = venue.with_observer(observer).with_asset_types(asset_types(&loaded.config.bots));
    let venue = Arc::new(match token_source(loaded) {
        Some(source) => venue.with_token_source(source),
        None => venue,
    });
    Ok(Connection {
        exchanges,
        requests_per_second: loaded.config.broker.client.requests_per_second,
        ..Connection::with_http_venue(loaded, Arc::clone(&venue), venue, clock)
    })
}

pub fn connect_paper(loaded: &LoadedConfig) -> Result<Connection> {
    let config = &loaded.config;
    loaded.check_simulation()?;
    let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
    let credentials = Credentials { api_token: None, ..credentials(loaded)? };
    let market = HttpBroker::new(config.broker.client.clone(), credentials, Arc::clone(&clock))?;
    let balance = config.account.initial_balance;
    let market = Arc::new(market.with_asset_types(asset_types(&config.bots)));
    let broker =
        PaperBroker::new(Arc::clone(&market) as _, Arc::clone(&clock), config.simulation.clone(), balance);
    let mut runtime = config.runtime.clone();
    let delay = config.simulation.settle_delay_ms.get();
    runtime.settle_after_ms = u32::try_from(delay).unwrap_or(u32::MAX);
    // The paper wallet always reports its initial balance, so there is nothing to audit or list.
    runtime.wallet_every_s = 0;
    runtime.list_every_s = 0;
    Ok(Connection {
        runtime,
        account: Account::Demo,
        trading: TradingMode::Paper,
        requests_per_second: config.broker.client.requests_per_second,
        token: Arc::default(),
        ..Connection::with_http_venue(loaded, market, Arc::new(broker), clock)
    })
}

pub struct VenuePorts {
    pub market: Arc<dyn MarketData>,
    pub broker: Arc<dyn Broker>,
    pub clock: Arc<dyn Clock>,
    /// Time at which the venue closes and the run ends, or `None` if there is no limit.
    pub end: Option<Millis>,
}

type ConnectFunction = Arc<dyn Fn(&Config) -> Result<VenuePorts, BrokerError> + Send + Sync>;

#[derive(Clone, Default)]
pub struct CustomBrokers(BTreeMap<String, ConnectFunction>);

impl CustomBrokers {
    /// Adds a broker. Replaces an earlier broker with the same name.
    pub fn add(
        &mut self,
        name: &str,
        connect: impl Fn(&Config) -> Result<VenuePorts, BrokerError> + Send + Sync + 'static,
    ) {
        self.0.insert(name.to_owned(), Arc::new(connect));
    }

    pub fn connect(&self, name: &str, loaded: &LoadedConfig) -> Result<Connection> {
        let Some(connect) = self.0.get(name) else {
            let error = AppError::invalid(format!("this program contains no broker \"{name}\""));
            let known: Vec<&str> = self.0.keys().map(String::as_str).collect();
            return Err(if known.is_empty() {
                error.with_help("a custom binary can add brokers with `App::with_broker`")
            } else {
                error.with_help(format!("known brokers: {}", known.join(", ")))
            });
        };
        let VenuePorts { market, broker, clock, end } = connect(&loaded.config)?;
        Ok(Connection { end, ..Connection::new(loaded, market, broker, clock) })
    }
}

impl fmt::Debug for CustomBrokers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

/// Delays between connection attempts, in seconds. The last delay repeats.
const RETRY_DELAYS_S: [u64; 6] = [1, 2, 5, 10, 20, 30];

/// Waits until the trading and price APIs answer, or until a permanent error.
pub async fn wait_for_venue(connection: &Connection, bots: &[BotSettings], announce: &dyn Fn(&str)) {
    let mut announced = None;
    for attempt in 0.. {
        let Err((api, error)) = probe_api(connection, bots).await else { break };
        if !error.is_temporary() {
            break;
        }
        let pause = RETRY_DELAYS_S[RETRY_DELAYS_S.len().min(attempt + 1) - 1];
        let longest = RETRY_DELAYS_S[5];
        let text = format!("waiting for {api} of the venue (next attempt within {longest} s): {error}");
        if announced.as_ref() != Some(&text) {
            announce(&format!("{text}; press Ctrl-C to quit\n"));
            announced = Some(text);
        }
        tokio::time::sleep(Duration::from_secs(pause)).await;
    }
    if announced.is_some() {
        announce("the venue answers\n");
    }
}

async fn probe_api(connection: &Connection, bots: &[BotSettings]) -> Result<(), (&'static str, BrokerError)> {
    let Connection { broker, market, clock, .. } = connection;
    broker.identity().await.map_err(|error| ("the trading token API", error))?;
    let Some(bot) = bots.first() else { return Ok(()) };
    let now = clock.now();
    let query = CandleQuery {
        symbol: bot.symbol,
        interval: bot.interval,
        start: now - bot.interval.length() * 3,
        end: now,
    };
    market.candles(&query).await.map(|_| ()).map_err(|error| ("the symbol price API", error))
}

pub(crate) const WAIT_HINT: &str = "use `candlewick live --wait` to wait until the venue answers";
