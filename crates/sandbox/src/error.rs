//! Startup errors of a sandbox.

use candlewick_sdk::Symbol;
use candlewick_simulator::SimulatorError;
use std::net::SocketAddr;

#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    #[error("the sandbox has no candles: give it at least one file of them (`data` in [sandbox])")]
    NoCandles,
    #[error("{symbol} has a market but no candles, or candles but no market: give both")]
    IncompleteMarket { symbol: Symbol },
    #[error("[sandbox] {key} = {value}: use {allowed}")]
    InvalidSetting { key: &'static str, value: String, allowed: &'static str },
    #[error(transparent)]
    Simulator(#[from] SimulatorError),
    #[error("cannot listen on {address}: choose another address, or port 0 for a free one")]
    AddressInUse { address: SocketAddr, source: std::io::Error },
}
