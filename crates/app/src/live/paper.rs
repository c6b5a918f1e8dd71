//! Paper trading: real candles and prices with simulated trades.

use super::{Connection, WaitingRequests};
use crate::configuration::{Loaded, Problems, asset_types, credentials};
use crate::error::AppError;
use candlewick_api::{Credentials, HttpBroker};
use candlewick_broker::Account;
use candlewick_broker::clock::{Clock, SystemClock};
use candlewick_records::TradingMode;
use candlewick_runtime::paper::PaperBroker;
use std::sync::Arc;
use tokio::sync::mpsc;

/// Connects to the price API with simulated trades.
///
/// The trading token is never used.
///
/// # Errors
/// Invalid settings, or an unreadable key.
pub fn connect_paper(loaded: &Loaded) -> Result<Connection, AppError> {
    let config = &loaded.config;
    loaded.check_simulation().map_err(Problems::from)?;
    let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
    let credentials = Credentials { api_token: None, ..credentials(loaded)? };
    let market = HttpBroker::new(config.broker.client.clone(), credentials, Arc::clone(&clock))?;
    let balance = config.account.initial_balance;
    let market = Arc::new(market.with_asset_types(asset_types(&config.bots)));
    let unrecognised = market.unrecognised();
    let broker =
        PaperBroker::new(Arc::clone(&market) as _, Arc::clone(&clock), config.simulation.clone(), balance);
    let mut runtime = config.runtime.clone();
    let delay = config.simulation.settle_delay_ms.get();
    runtime.settle_after_ms = u32::try_from(delay).unwrap_or(u32::MAX);
    // The paper wallet holds what it began with; there is nothing to audit and no list to look through.
    runtime.wallet_every_s = 0;
    runtime.list_every_s = 0;
    let asked = Arc::clone(&market);
    let waiting: WaitingRequests = Arc::new(move || asked.waiting_requests());
    Ok(Connection {
        market,
        broker: Arc::new(broker),
        clock,
        runtime,
        account: Account::Demo,
        trading: TradingMode::Paper,
        exchanges: mpsc::channel(1).1,
        unrecognised,
        requests_per_second: loaded.config.broker.client.requests_per_second,
        token: Arc::default(),
        until: None,
        waiting,
    })
}
