//! Simulated trades for checking statistical guarantees; see [`TradeStream`].

mod block_bootstrap;
mod dice;
mod ruin_paths;
mod trade_stream;
mod verdict_rates;

pub use block_bootstrap::{BlockBootstrap, BlockLength, best_block_length};
pub(crate) use dice::Dice;
pub use ruin_paths::{
    MoneyStop, OversizedStake, RuinTrials, Stops, WalletLimits, simulate_limited_ruin, simulate_ruin,
};
pub use trade_stream::{StreamEvent, TradeDependence, TradeStream};
pub use verdict_rates::{PathRange, VerdictRates};
