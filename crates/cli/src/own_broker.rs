//! Brokers that a binary of one's own adds to the program.

use candlewick_broker::clock::Clock;
use candlewick_broker::{Broker, MarketData};
use candlewick_sdk::Millis;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// The ports to a venue, as [`App::with_broker`](crate::App::with_broker) takes them.
pub struct VenuePorts {
    /// Candles and prices.
    pub market: Arc<dyn MarketData>,
    /// Who accepts trades.
    pub broker: Arc<dyn Broker>,
    /// The venue's time: the system's clock, or one that is made.
    pub clock: Arc<dyn Clock>,
    /// When the venue ends, and a run with it; `None` for one that goes on.
    pub until: Option<Millis>,
}

type Connect = Arc<dyn Fn() -> VenuePorts + Send + Sync>;

/// The brokers that the program knows besides the configured one, by name.
#[derive(Clone, Default)]
pub(crate) struct OwnBrokers(BTreeMap<String, Connect>);

impl OwnBrokers {
    pub(crate) fn add(&mut self, name: &str, connect: impl Fn() -> VenuePorts + Send + Sync + 'static) {
        self.0.insert(name.to_owned(), Arc::new(connect));
    }

    pub(crate) fn connect(&self, name: &str) -> Option<VenuePorts> {
        self.0.get(name).map(|connect| connect())
    }

    pub(crate) fn names(&self) -> Vec<&str> {
        self.0.keys().map(String::as_str).collect()
    }
}

impl fmt::Debug for OwnBrokers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}
