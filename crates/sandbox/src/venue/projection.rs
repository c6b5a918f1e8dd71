//! Projections of a trade as of a point in time.

use super::Venue;
use super::trade::Trade;
use crate::TradedWallet;
use crate::body::{Acknowledgement, AsyncTrade, FullTrade, ListItem, ShortTrade, WalletEntry, iso8601};
use candlewick_sdk::{Millis, Money};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ShortForm {
    /// The contract's seven fields.
    Plain,
    /// Also includes the result (`observed: results`).
    Rich,
}

impl Venue {
    pub(crate) fn short_trade(&mut self, id: &str, form: ShortForm, now: Millis) -> Option<ShortTrade> {
        self.pass_until(now);
        let trade = self.trades.find(id)?;
        if trade.listed_from > now {
            return None;
        }
        let rich = (form == ShortForm::Rich).then_some(trade);
        Some(ShortTrade {
            id: trade.id.clone(),
            user_id: self.account.user_id.clone(),
            tenant_id: self.account.tenant_id.clone(),
            status: trade.status(now),
            symbol: trade.order.symbol.to_string(),
            amount: self.amount(trade.order.stake),
            created_at: iso8601(trade.request_time),
            result: rich.map(|trade| trade.result(now)),
            pnl: rich.map(|trade| self.amount(profit_at(trade, now))),
            open_price: rich.map(|trade| self.open_price_at(trade, now).unwrap_or_default()),
            close_price: rich.map(|trade| close_price_at(trade, now)),
        })
    }

    /// Returns the full projection as of the opening (contract 2.3).
    ///
    /// It lacks the list-only fields.
    pub(crate) fn opened_trade(&mut self, number: u64, now: Millis) -> Option<FullTrade> {
        self.pass_until(now);
        let trade = self.trades.get(number)?;
        Some(FullTrade {
            status: None,
            bot_synced: None,
            open_price_time: None,
            open_price: trade.open_price.unwrap_or_default(),
            pnl: 0.0,
            close_price: 0.0,
            close_price_time: 0,
            attempts_to_close: 0,
            result: "PENDING",
            updated_at: iso8601(trade.request_time),
            ..self.full_trade(trade, now)
        })
    }

    /// Returns the answer to an open with the short body (contract 2.4).
    pub(crate) fn acknowledgement(&self, number: u64) -> Option<Acknowledgement> {
        let trade = self.trades.get(number)?;
        Some(Acknowledgement { trade_id: trade.id.clone(), status: "OPEN" })
    }

    /// Returns the answer of `open-async`: times only (`observed: opening a trade`).
    pub(crate) fn async_trade(&self, number: u64) -> Option<AsyncTrade> {
        let trade = self.trades.get(number)?;
        Some(AsyncTrade {
            id: trade.id.clone(),
            open_time: trade.open_time.get(),
            close_time: trade.close_time.get(),
            status: "PROCESSING",
            result: "HOLD",
            open_price: 0.0,
        })
    }

    pub(super) fn list_item(&self, trade: &Trade, now: Millis) -> ListItem {
        ListItem {
            id: trade.id.clone(),
            symbol: trade.order.symbol.to_string(),
            user_id: self.account.user_id.clone(),
            amount: self.amount(trade.order.stake),
            status: trade.status(now),
            created_at: iso8601(trade.request_time),
        }
    }

    pub(super) fn full_trade(&self, trade: &Trade, now: Millis) -> FullTrade {
        let settled = trade.settled_at(now);
        let open_price = self.open_price_at(trade, now);
        let wallet = self.wallet_entry(trade);
        FullTrade {
            id: trade.id.clone(),
            affiliate_id: self.account.affiliate_id(),
            is_demo: self.account.wallet == TradedWallet::Demo,
            is_influencer: false,
            from_bot: false,
            from_api_token: true,
            tenant_id: self.account.tenant_id.clone(),
            total_wallets_balance_percent: wallet.balance_percent,
            wallets: vec![wallet],
            symbol_slot_name: "default".to_owned(),
            extra_id: String::new(),
            symbol: trade.order.symbol.to_string(),
            user_id: self.account.user_id.clone(),
            payout: trade.payout.to_percent(),
            amount: self.amount(trade.order.stake),
            from_copy: false,
            bot_synced: Some(false),
            copy_commission_rate: 0.0,
            copy_commission_amount: 0.0,
            status: Some(trade.status(now)),
            direction: trade.order.direction.as_str(),
            expiration_type: trade.order.expiry.expiration_type.as_str(),
            close_type: trade.order.expiry.close_type.to_string(),
            request_time: trade.request_time.get(),
            open_time: trade.open_time.get(),
            open_price: open_price.unwrap_or_default(),
            open_price_time: Some(open_price.map_or(0, |_| trade.open_time.get())),
            pnl: self.amount(profit_at(trade, now)),
            close_price: close_price_at(trade, now),
            close_time: trade.close_time.get(),
            close_price_time: settled
                .and_then(|settled| settled.close_price)
                .map_or(0, |_| trade.close_time.get()),
            attempts_to_close: u32::from(settled.is_some()),
            result: trade.result(now),
            tenant_fee_amount: 0.0,
            created_at: iso8601(trade.request_time),
            updated_at: iso8601(settled.map_or(trade.request_time, |settled| settled.known_at)),
        }
    }

    fn wallet_entry(&self, trade: &Trade) -> WalletEntry {
        let (amount, balance) = (self.amount(trade.order.stake), self.amount(trade.balance_before));
        let (id, wallet_type) = self.account.traded();
        WalletEntry {
            id: id.to_owned(),
            wallet_type,
            amount,
            trade_percent: 100.0,
            balance_percent: if balance > 0.0 { amount / balance * 100.0 } else { 0.0 },
            balance,
        }
    }

    fn amount(&self, money: Money) -> f64 {
        self.account.scale.to_f64(money)
    }
}

/// Net profit (`observed: money`); 0 until known.
fn profit_at(trade: &Trade, now: Millis) -> Money {
    trade.settled_at(now).map_or(Money::ZERO, |settled| settled.profit)
}

fn close_price_at(trade: &Trade, now: Millis) -> f64 {
    trade.settled_at(now).and_then(|settled| settled.close_price).unwrap_or_default()
}
