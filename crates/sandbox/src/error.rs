//! Why a sandbox does not come up.

use candlewick_sdk::Symbol;
use candlewick_simulator::SimulatorError;
use std::net::SocketAddr;

/// Why a sandbox does not come up. The message says what to do.
#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    /// There is nothing to serve.
    #[error("the sandbox has no candles: give it at least one file of them (`data` in [sandbox])")]
    NoCandles,
    /// A market's symbol has no candles to serve, or a series has no market.
    #[error("{symbol} has a market but no candles, or candles but no market: give both")]
    IncompleteMarket {
        /// Which one.
        symbol: Symbol,
    },
    /// A setting lies outside its range.
    #[error("[sandbox] {key} = {value}: use {allowed}")]
    InvalidSetting {
        /// The key below `[sandbox]`.
        key: &'static str,
        /// What it was.
        value: String,
        /// What is allowed.
        allowed: &'static str,
    },
    /// The simulated venue refuses its settings or its candles.
    #[error(transparent)]
    Simulator(#[from] SimulatorError),
    /// The address cannot be listened on.
    #[error("cannot listen on {address}: choose another address, or port 0 for a free one")]
    AddressInUse {
        /// What was asked for.
        address: SocketAddr,
        /// What the system says.
        source: std::io::Error,
    },
}
