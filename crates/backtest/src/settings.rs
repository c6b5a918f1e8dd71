//! What a backtest is made from.

use candlewick_engine::{Header, SessionSettings};
use candlewick_sdk::Millis;
use candlewick_simulator::SimulationSettings;
use serde::Serialize;
use serde_json::json;

/// Everything besides strategies and candles that decides a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BacktestSettings {
    /// Bots, risk, money.
    pub session: SessionSettings,
    /// The simulated venue.
    pub simulation: SimulationSettings,
    /// The pace at which prices reach strategies that want them.
    pub price_every_ms: Millis,
}

impl BacktestSettings {
    /// The first entry of the run's journal.
    pub fn header(&self, strategies: Vec<(String, String)>, data_hash: Option<String>) -> Header {
        Header { format: Header::FORMAT, settings: json!(self), strategies, data_hash }
    }
}
