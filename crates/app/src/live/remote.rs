//! A venue over the network.

use super::Connection;
use super::journal_session::tap;
use crate::configuration::{Loaded, Mode, credentials};
use crate::error::AppError;
use candlewick_api::clock::{Clock, SystemClock};
use candlewick_api::{Account, HttpVenue};
use candlewick_records::Trading;
use std::sync::Arc;

/// The client of the configured venue, on the system's clock.
///
/// # Errors
/// Wrong settings or credentials that cannot be read.
pub fn connect_remote(loaded: &Loaded) -> Result<Connection, AppError> {
    let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
    let venue =
        HttpVenue::new(loaded.config.broker.client.clone(), credentials(loaded)?, Arc::clone(&clock))?;
    let (tap, exchanges) = tap();
    let venue = venue.with_tap(tap);
    let (account, trading) = match loaded.config.account.mode {
        Mode::Demo => (Account::Demo, Trading::Demo),
        Mode::Real => (Account::Real, Trading::Real),
    };
    let runtime = loaded.config.runtime.clone();
    let drift = venue.drift();
    Ok(Connection { venue: Arc::new(venue), clock, runtime, account, trading, exchanges, drift, until: None })
}
