//! What is wrong with the settings or the markets, and what to do about it.

use candlewick_sdk::{CloseType, Interval, Money, Symbol};

/// Why a simulated venue cannot be made, or an expiry cannot be simulated. Refused orders are not errors:
/// they are answers ([`crate::Refusal`]).
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SimulatorError {
    /// A setting lies outside its range.
    #[error("[simulation] {key} = {value}: use {allowed}")]
    ChangeSetting {
        /// The key below `[simulation]`.
        key: String,
        /// What it was.
        value: String,
        /// What is allowed.
        allowed: &'static str,
    },
    /// A payout that no venue pays, and that is a usual one as a share of the stake.
    #[error("[simulation] payout_percent = {percent}: payouts are in percent; did you mean {meant}?")]
    PayoutAsShare {
        /// What it was.
        percent: f64,
        /// What was meant by it.
        meant: f64,
    },
    /// The wallet would start below zero.
    #[error("the wallet cannot start with {} minor units: use 0 or more", balance.minor())]
    RaiseBalance {
        /// What it was.
        balance: Money,
    },
    /// Two markets have the same symbol.
    #[error("{symbol} is given twice: give one market for each symbol, with its finer candles as detail")]
    MergeMarkets {
        /// The symbol.
        symbol: Symbol,
    },
    /// The detail series is of another symbol.
    #[error("the detail series of {symbol} is of {detail}: give finer candles of {symbol}")]
    ReplaceDetail {
        /// The market's symbol.
        symbol: Symbol,
        /// The symbol of its detail series.
        detail: Symbol,
    },
    /// The detail series is not finer than the price series.
    #[error("the detail series of {symbol} has {detail} candles, no finer than {interval}: give finer ones")]
    RefineDetail {
        /// The market's symbol.
        symbol: Symbol,
        /// The interval of the price series.
        interval: Interval,
        /// The interval of the detail series.
        detail: Interval,
    },
    /// An expiry is shorter than the candles that would price it.
    #[error(
        "an expiry of {close_type} is shorter than the {interval} candles of {symbol}: use a longer expiry, \
         or add candles of {symbol} at {close_type} or finer"
    )]
    AddDetail {
        /// The expiry's duration code.
        close_type: CloseType,
        /// The finest interval at hand.
        interval: Interval,
        /// The symbol.
        symbol: Symbol,
    },
}
