//! Settings of a backtest.

use candlewick_engine::{Header, SessionSettings};
use candlewick_sdk::Millis;
use candlewick_simulator::SimulationSettings;
use serde::Serialize;
use serde_json::json;

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BacktestSettings {
    pub session: SessionSettings,
    pub simulation: SimulationSettings,
    pub price_every_ms: Millis,
}

impl BacktestSettings {
    pub fn header(&self, strategies: Vec<(String, String)>, data_hash: Option<String>) -> Header {
        Header { format: Header::FORMAT, settings: json!(self), strategies, data_hash }
    }
}
