//! What measures a run from within its loop.

use crate::Notice;
use crate::coordinator::RequestId;
use std::time::Duration;

/// Measures a run. It is called in the run's own loop, so it neither waits nor fails: it counts, and somebody else shows that.
pub trait Observer: Send + Sync {
    /// The loop goes round: it does so every few seconds, however little happens.
    fn on_turn(&self);

    /// What whoever watches is told; nothing is left out.
    fn on_notice(&self, notice: &Notice);

    /// A question was answered, or given up, after so much real time.
    fn on_answer(&self, question: Question, took: Duration);

    /// The journal was written, or could not be, after so much real time.
    fn on_written(&self, took: Duration, is_durable: bool);
}

/// What is asked of the venue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Question {
    /// Closed candles.
    Candles,
    /// A price.
    Price,
    /// A trade, or the list of them.
    Trades,
    /// What the wallets hold, and whose they are.
    Account,
    /// That it opens a trade.
    Open,
}

impl Question {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Candles, Self::Price, Self::Trades, Self::Account, Self::Open];

    /// Its name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Candles => "candles",
            Self::Price => "price",
            Self::Trades => "trades",
            Self::Account => "account",
            Self::Open => "open",
        }
    }

    /// What kind a request is of; this process's own settings are no question to the venue.
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
