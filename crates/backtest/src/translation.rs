//! Conversion of simulator results into session events.

use candlewick_engine::{IntentId, OpenedTrade, Rejection, TradeSettlement};
use candlewick_sdk::{Payout, Text};
use candlewick_simulator::{Opening, Refusal, SettledTrade};

#[inline]
pub fn to_opened_trade(intent: IntentId, opening: &Opening) -> OpenedTrade {
    OpenedTrade {
        intent,
        venue_id: None,
        open_time: Some(opening.open_time),
        open_price: opening.open_price,
        close_time: Some(opening.close_time),
        payout: Some(opening.payout),
        taken: None,
    }
}

/// Converts a settled trade. `payout` is the payout at the open, which [`SettledTrade`] does not contain.
#[inline]
pub fn to_settlement(trade: &SettledTrade, payout: Option<Payout>) -> TradeSettlement {
    TradeSettlement {
        intent: IntentId::new(trade.number),
        outcome: trade.outcome,
        profit: trade.profit,
        open_time: Some(trade.open_time),
        open_price: trade.open_price,
        close_time: Some(trade.close_time),
        close_price: trade.close_price,
        payout,
    }
}

pub fn to_rejection(refusal: Refusal) -> Rejection {
    match refusal {
        Refusal::NoPrice => Rejection::NoPrice,
        Refusal::InsufficientBalance => Rejection::InsufficientBalance,
        Refusal::UnknownSymbol => Rejection::Other(Text::truncated("unknown symbol")),
    }
}
