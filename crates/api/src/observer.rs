//! Observing exchanges: requests and answers of the trading API as they were, without credentials.

use candlewick_sdk::Millis;

/// One request of the trading API and what came back. Credentials never stand in it: headers are left out, and a
/// credential that the venue echoes is hidden.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exchange {
    /// The intent that it was for ([`for_intent`](candlewick_broker::for_intent)).
    pub intent: Option<u64>,
    /// When it left, by our clock.
    pub sent: Millis,
    /// When the answer was complete; none when there was none.
    pub received: Option<Millis>,
    /// Method, path and query, such as `GET /token/trades?page=1`.
    pub what: String,
    /// The request's body; empty when it had none.
    pub request: String,
    /// The answer's status.
    pub status: Option<u16>,
    /// The answer's body, or why there was none.
    pub response: String,
}

/// Is given every exchange; must return quickly.
pub trait HttpObserver: Send + Sync {
    /// An exchange has ended.
    fn observe(&self, exchange: Exchange);
}
