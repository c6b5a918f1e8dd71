//! Brokers that a custom binary adds to the program.

use super::Connection;
use crate::configuration::{Config, Loaded, Mode};
use crate::error::AppError;
use candlewick_broker::clock::Clock;
use candlewick_broker::{Account, Broker, BrokerError, MarketData, UnrecognisedData};
use candlewick_records::TradingMode;
use candlewick_sdk::Millis;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use tokio::sync::mpsc;

pub struct VenuePorts {
    pub market: Arc<dyn MarketData>,
    pub broker: Arc<dyn Broker>,
    pub clock: Arc<dyn Clock>,
    /// End of the venue and thus of the run; `None` if unlimited.
    pub until: Option<Millis>,
}

type Connect = Arc<dyn Fn(&Config) -> Result<VenuePorts, BrokerError> + Send + Sync>;

#[derive(Clone, Default)]
pub struct OwnBrokers(BTreeMap<String, Connect>);

impl OwnBrokers {
    /// Adds a broker. A later one replaces an earlier one of the same name.
    pub fn add(
        &mut self,
        name: &str,
        connect: impl Fn(&Config) -> Result<VenuePorts, BrokerError> + Send + Sync + 'static,
    ) {
        self.0.insert(name.to_owned(), Arc::new(connect));
    }

    pub fn connect(&self, name: &str, loaded: &Loaded) -> Result<Connection, AppError> {
        let Some(connect) = self.0.get(name) else {
            let error = AppError::invalid(format!("this program has no broker \"{name}\""));
            let known: Vec<&str> = self.0.keys().map(String::as_str).collect();
            return Err(if known.is_empty() {
                error.help("a binary of your own adds one with `App::with_broker`")
            } else {
                error.help(format!("it has {}", known.join(", ")))
            });
        };
        let VenuePorts { market, broker, clock, until } = connect(&loaded.config)?;
        let (account, trading) = match loaded.config.account.mode {
            Mode::Demo => (Account::Demo, TradingMode::Demo),
            Mode::Real => (Account::Real, TradingMode::Real),
        };
        Ok(Connection {
            market,
            broker,
            clock,
            runtime: loaded.config.runtime.clone(),
            account,
            trading,
            exchanges: mpsc::channel(1).1,
            unrecognised: Arc::new(UnrecognisedData::new()),
            requests_per_second: 0.0,
            token: Arc::default(),
            until,
            waiting: Arc::new(Vec::new),
        })
    }
}

impl fmt::Debug for OwnBrokers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}
