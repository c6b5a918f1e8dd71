//! Measurement hooks inside the run loop.

use crate::Notice;
use crate::coordinator::RequestId;
use std::time::Duration;

/// Measures a run. Called inside the run loop, so implementations must not block or fail.
pub trait Observer: Send + Sync {
    /// Called on each turn of the loop, every few seconds even when idle.
    fn on_turn(&self);

    /// Called for every notice, including those dropped for watchers.
    fn on_notice(&self, notice: &Notice);

    fn on_answer(&self, question: Question, took: Duration);

    fn on_written(&self, took: Duration, is_durable: bool);
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Question {
    Candles,
    Price,
    Trades,
    Account,
    Open,
}

impl Question {
    pub const ALL: [Self; 5] = [Self::Candles, Self::Price, Self::Trades, Self::Account, Self::Open];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Candles => "candles",
            Self::Price => "price",
            Self::Trades => "trades",
            Self::Account => "account",
            Self::Open => "open",
        }
    }

    pub(crate) const fn of(id: RequestId) -> Option<Self> {
        Some(match id {
            RequestId::Candles(_) => Self::Candles,
            RequestId::Price(_) | RequestId::Subscription(_) | RequestId::SettlementPrice => Self::Price,
            RequestId::Trade(_) | RequestId::Trades | RequestId::NamedTrade(_) => Self::Trades,
            RequestId::Balances | RequestId::BalancesAfterTrades | RequestId::User => Self::Account,
            RequestId::Open(_) => Self::Open,
            RequestId::Settings => return None,
        })
    }
}
