//! Observation of exchanges with the trading API, without credentials.

use candlewick_sdk::Millis;

/// A request of the trading API with its answer.
///
/// It never contains credentials: headers are omitted, and echoed credentials are redacted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exchange {
    pub intent: Option<u64>,
    pub sent: Millis,
    pub received: Option<Millis>,
    /// Method, path and query, such as `GET /token/trades?page=1`.
    pub what: String,
    pub request: String,
    pub status: Option<u16>,
    pub response: String,
}

/// Receives every exchange; must return quickly.
pub trait HttpObserver: Send + Sync {
    fn observe(&self, exchange: Exchange);
}
