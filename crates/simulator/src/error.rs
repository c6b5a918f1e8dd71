//! Errors of simulator settings and markets.

use candlewick_sdk::{CloseType, Interval, Money, Symbol};

/// Invalid settings, markets or expiries.
///
/// Refused orders are not errors but answers ([`crate::Refusal`]).
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SimulatorError {
    #[error("[simulation] {key} = {value}: use {allowed}")]
    ChangeSetting { key: String, value: String, allowed: &'static str },
    /// A payout given as a fraction of the stake instead of a percentage.
    #[error("[simulation] payout_percent = {percent}: payouts are in percent; did you mean {meant}?")]
    PayoutAsShare { percent: f64, meant: f64 },
    #[error("the wallet cannot start with {} minor units: use 0 or more", balance.minor())]
    RaiseBalance { balance: Money },
    #[error("{symbol} is given twice: give one market for each symbol, with its finer candles as detail")]
    MergeMarkets { symbol: Symbol },
    #[error("the detail series of {symbol} is of {detail}: give finer candles of {symbol}")]
    ReplaceDetail { symbol: Symbol, detail: Symbol },
    #[error("the detail series of {symbol} has {detail} candles, no finer than {interval}: give finer ones")]
    RefineDetail { symbol: Symbol, interval: Interval, detail: Interval },
    #[error(
        "an expiry of {close_type} is shorter than the {interval} candles of {symbol}: use a longer expiry, \
         or add candles of {symbol} at {close_type} or finer"
    )]
    AddDetail { close_type: CloseType, interval: Interval, symbol: Symbol },
}
