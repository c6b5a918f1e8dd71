//! Priorities of requests under a rate limit.

use super::Coordinator;
use super::command::Ask;
use candlewick_broker::Priority;

impl Coordinator {
    pub(crate) fn priority_of(&self, ask: &Ask) -> Priority {
        match ask {
            Ask::Trade(..) | Ask::NamedTrade(..) | Ask::Subscription(..) | Ask::Settings(_) => {
                Priority::Trades
            }
            Ask::Trades | Ask::BalancesAfterTrades if self.doubts.is_searching() => Priority::Trades,
            Ask::Balances if self.token_refused.is_some() => Priority::Trades,
            Ask::Candles(..) => Priority::Candles,
            Ask::Price(symbol, ..) if self.market.is_wanted(*symbol) => Priority::Prices,
            Ask::Trades
            | Ask::BalancesAfterTrades
            | Ask::Balances
            | Ask::User
            | Ask::Price(..)
            | Ask::SettlementPrice(..) => Priority::Display,
        }
    }
}
