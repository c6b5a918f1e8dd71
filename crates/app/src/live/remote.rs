//! Connection to a venue over the network.

use super::journal_session::observer;
use super::{Connection, WaitingRequests};
use crate::configuration::{Loaded, Mode, Problems, asset_types, credentials, token_source};
use crate::error::AppError;
use crate::inspection::short_body_problems;
use candlewick_api::HttpBroker;
use candlewick_broker::Account;
use candlewick_broker::clock::{Clock, SystemClock};
use candlewick_records::TradingMode;
use std::sync::Arc;

/// Checks that a venue is configured by address or token.
///
/// Called before a journal is created for it.
///
/// # Errors
/// No venue is configured, or a credential cannot be read.
pub fn check_venue(loaded: &Loaded) -> Result<(), AppError> {
    if loaded.is_set("broker.base_url") || credentials(loaded)?.api_token.is_some() {
        return Ok(());
    }
    Err(AppError::invalid("no venue is configured: neither broker.base_url nor a token is set").help(
        "for the embedded venue add --sandbox; for one over the network set [broker] base_url and CANDLEWICK_BROKER__API_TOKEN, as \
         config/demo.toml shows; `candlewick paper` needs no token",
    ))
}

pub fn connect_remote(loaded: &Loaded) -> Result<Connection, AppError> {
    Problems::check(short_body_problems(loaded))?;
    let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
    let venue =
        HttpBroker::new(loaded.config.broker.client.clone(), credentials(loaded)?, Arc::clone(&clock))?;
    let (observer, exchanges) = observer();
    let venue = venue.with_observer(observer).with_asset_types(asset_types(&loaded.config.bots));
    let (account, trading) = match loaded.config.account.mode {
        Mode::Demo => (Account::Demo, TradingMode::Demo),
        Mode::Real => (Account::Real, TradingMode::Real),
    };
    let runtime = loaded.config.runtime.clone();
    let venue = match token_source(loaded) {
        Some(source) => venue.with_token_source(source),
        None => venue,
    };
    let (unrecognised, token) = (venue.unrecognised(), venue.token_state());
    let venue = Arc::new(venue);
    let asked = Arc::clone(&venue);
    let waiting: WaitingRequests = Arc::new(move || asked.waiting_requests());
    Ok(Connection {
        market: Arc::clone(&venue) as _,
        broker: venue,
        clock,
        runtime,
        account,
        trading,
        exchanges,
        unrecognised,
        requests_per_second: loaded.config.broker.client.requests_per_second,
        token,
        until: None,
        waiting,
    })
}
