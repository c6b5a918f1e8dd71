//! Bodies of API responses at a point in venue time: trades, pages of trades, the user and the wallets.

use super::Venue;
use super::table::Trade;
use crate::TradedWallet;
use crate::body::{
    Acknowledgement, AsyncTrade, CopyTradeParams, FullTrade, ListItem, ShortTrade, TradeListing, TradePage,
    User, UserParams, Wallet, WalletEntry, format_iso8601,
};
use crate::chance::{IdKind, RandomPurpose, RandomSource, generate_id};
use candlewick_sdk::{Millis, Money, MoneyScale};

impl Venue {
    pub(crate) fn short_trade(&mut self, id: &str, is_rich: bool, now: Millis) -> Option<ShortTrade> {
        self.advance_to(now);
        let trade = self.trades.find(id)?;
        if trade.listed_from > now {
            return None;
        }
        let rich = is_rich.then_some(trade);
        Some(ShortTrade {
            id: trade.id.clone(),
            user_id: self.account.user_id.clone(),
            tenant_id: self.account.tenant_id.clone(),
            status: trade.status(now),
            symbol: trade.order.symbol.to_string(),
            amount: self.to_amount(trade.order.stake),
            created_at: format_iso8601(trade.request_time),
            result: rich.map(|trade| trade.result(now)),
            pnl: rich.map(|trade| self.to_amount(profit_at(trade, now))),
            open_price: rich.map(|trade| self.open_price_at(trade, now).unwrap_or_default()),
            close_price: rich.map(|trade| close_price_at(trade, now)),
        })
    }

    pub(crate) fn opened_trade(&mut self, number: u64, now: Millis) -> Option<FullTrade> {
        self.advance_to(now);
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
            updated_at: format_iso8601(trade.request_time),
            ..self.full_trade(trade, now)
        })
    }

    pub(crate) fn acknowledgement(&self, number: u64) -> Option<Acknowledgement> {
        let trade = self.trades.get(number)?;
        Some(Acknowledgement { trade_id: trade.id.clone(), status: "OPEN" })
    }

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

    fn list_item(&self, trade: &Trade, now: Millis) -> ListItem {
        ListItem {
            id: trade.id.clone(),
            symbol: trade.order.symbol.to_string(),
            user_id: self.account.user_id.clone(),
            amount: self.to_amount(trade.order.stake),
            status: trade.status(now),
            created_at: format_iso8601(trade.request_time),
        }
    }

    fn full_trade(&self, trade: &Trade, now: Millis) -> FullTrade {
        let settled = trade.visible_settlement(now);
        let open_price = self.open_price_at(trade, now);
        let wallet = self.wallet_entry(trade);
        FullTrade {
            id: trade.id.clone(),
            affiliate_id: self.account.affiliate_id.clone(),
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
            amount: self.to_amount(trade.order.stake),
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
            pnl: self.to_amount(profit_at(trade, now)),
            close_price: close_price_at(trade, now),
            close_time: trade.close_time.get(),
            close_price_time: settled
                .and_then(|settled| settled.close_price)
                .map_or(0, |_| trade.close_time.get()),
            attempts_to_close: u32::from(settled.is_some()),
            result: trade.result(now),
            tenant_fee_amount: 0.0,
            created_at: format_iso8601(trade.request_time),
            updated_at: format_iso8601(settled.map_or(trade.request_time, |settled| settled.known_at)),
        }
    }

    fn wallet_entry(&self, trade: &Trade) -> WalletEntry {
        let (amount, balance) = (self.to_amount(trade.order.stake), self.to_amount(trade.balance_before));
        let (id, wallet_type) = self.account.traded_wallet();
        WalletEntry {
            id: id.to_owned(),
            wallet_type,
            amount,
            trade_percent: 100.0,
            balance_percent: if balance > 0.0 { amount / balance * 100.0 } else { 0.0 },
            balance,
        }
    }

    fn to_amount(&self, money: Money) -> f64 {
        self.account.scale.to_f64(money)
    }
}

/// Returns the net profit of a trade, or 0 until the settlement is visible.
fn profit_at(trade: &Trade, now: Millis) -> Money {
    trade.visible_settlement(now).map_or(Money::ZERO, |settled| settled.profit)
}

fn close_price_at(trade: &Trade, now: Millis) -> f64 {
    trade.visible_settlement(now).and_then(|settled| settled.close_price).unwrap_or_default()
}

/// The only user of the sandbox, who has two wallets.
pub(super) struct Account {
    user_id: String,
    tenant_id: String,
    wallet: TradedWallet,
    demo_wallet_id: String,
    real_wallet_id: String,
    affiliate_id: String,
    created: Millis,
    scale: MoneyScale,
}

impl Account {
    pub(super) fn new(
        chance: RandomSource,
        start: Millis,
        (wallet, scale): (TradedWallet, MoneyScale),
    ) -> Self {
        let make_id = |named, number| generate_id(chance, named, start, [number, 0]);
        Self {
            user_id: make_id(IdKind::User, 0),
            tenant_id: make_id(IdKind::Tenant, 0),
            wallet,
            demo_wallet_id: make_id(IdKind::Wallet, 0),
            real_wallet_id: make_id(IdKind::Wallet, 1),
            affiliate_id: make_id(IdKind::User, 1),
            created: start,
            scale,
        }
    }

    fn traded_wallet(&self) -> (&str, &'static str) {
        match self.wallet {
            TradedWallet::Demo => (&self.demo_wallet_id, "DEMO"),
            TradedWallet::Real => (&self.real_wallet_id, "REAL"),
        }
    }

    /// Returns both wallets. The wallet that is not traded is empty, which exposes clients that use the wrong wallet.
    pub(super) fn wallets(&self, balance: Money) -> Vec<Wallet> {
        let wallet = |id: &String, wallet_type, balance| Wallet {
            id: id.clone(),
            user_id: self.user_id.clone(),
            wallet_type,
            balance: self.scale.to_f64(balance),
            created_at: format_iso8601(self.created),
        };
        let (real, demo) = match self.wallet {
            TradedWallet::Demo => (Money::ZERO, balance),
            TradedWallet::Real => (balance, Money::ZERO),
        };
        vec![wallet(&self.real_wallet_id, "REAL", real), wallet(&self.demo_wallet_id, "DEMO", demo)]
    }

    pub(super) fn user(&self, now: Millis) -> User {
        User {
            id: self.user_id.clone(),
            tenant_id: self.tenant_id.clone(),
            kyc_level_id: String::new(),
            two_factor_id: String::new(),
            email: "demo@example.com".to_owned(),
            affiliate_id: self.affiliate_id.clone(),
            name: "Demo Trader".to_owned(),
            nickname: "demo".to_owned(),
            influencer: false,
            bot: false,
            public_profile: false,
            password_v2: true,
            country: "CH".to_owned(),
            language: "en".to_owned(),
            active: true,
            banned: false,
            deleted: false,
            email_verified: true,
            legacy: false,
            phone_country_code: "41".to_owned(),
            phone: "000000000".to_owned(),
            params: UserParams { max_withdrawal_amount: 0.0, ignore_tenant_user_limitation: false },
            copy_trade_params: CopyTradeParams {
                copy_commission_rate: 0.0,
                max_follower_amount_per_trade: 0.0,
                auto_approve_copy_followers: false,
            },
            last_login_at: format_iso8601(now),
            flags: Vec::new(),
            created_at: format_iso8601(self.created),
            updated_at: format_iso8601(self.created),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PageRequest {
    /// Requested page number, starting at 1.
    pub(crate) page: u64,
    pub(crate) page_size: u64,
    pub(crate) user_id: Option<String>,
}

/// Order of the trades in a list (undefined in contract 4.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RowOrder {
    NewestFirst,
    /// The order is shuffled differently for each request. Each page repeats the last row of the previous page.
    Shuffled {
        draw: u64,
    },
}

impl Venue {
    pub(crate) fn trade_page(&mut self, request: &PageRequest, order: RowOrder, now: Millis) -> TradePage {
        self.advance_to(now);
        let of_trader = request.user_id.as_ref().is_none_or(|user| *user == self.account.user_id);
        let mut rows: Vec<&Trade> =
            self.trades.newest_first().filter(|trade| of_trader && trade.listed_from <= now).collect();
        let total = rows.len() as u64;
        let mut stride = request.page_size;
        if let RowOrder::Shuffled { .. } = order {
            rows.sort_by_key(|row| self.chance.random_u64(RandomPurpose::RowOrder, [row.order.number, 0], 0));
            stride = (stride - 1).max(1);
        }
        let pages = match order {
            RowOrder::NewestFirst => total.div_ceil(stride),
            RowOrder::Shuffled { .. } => total.saturating_sub(request.page_size).div_ceil(stride) + 1,
        };
        let last_page = pages.max(1);
        let from = usize::try_from((request.page - 1).saturating_mul(stride)).unwrap_or(usize::MAX);
        let size = usize::try_from(request.page_size).unwrap_or(usize::MAX);
        let mut rows: Vec<&Trade> = rows.into_iter().skip(from).take(size).collect();
        if let RowOrder::Shuffled { draw } = order {
            shuffle(&mut rows, self.chance, draw);
        }
        TradePage {
            current_page: request.page,
            per_page: request.page_size,
            last_page,
            next_page: (request.page < last_page).then(|| request.page + 1),
            prev_page: (request.page > 1).then(|| (request.page - 1).min(last_page)),
            pages: last_page,
            total,
            count: rows.len() as u64,
            data: match request.user_id {
                Some(_) => TradeListing::Full(rows.iter().map(|trade| self.full_trade(trade, now)).collect()),
                None => TradeListing::Items(rows.iter().map(|trade| self.list_item(trade, now)).collect()),
            },
        }
    }
}

impl TradePage {
    pub(crate) fn duplicate_row(&mut self) {
        self.count += match &mut self.data {
            TradeListing::Items(rows) => repeat_first_row(rows),
            TradeListing::Full(rows) => repeat_first_row(rows),
        };
    }
}

fn repeat_first_row<T: Clone>(rows: &mut Vec<T>) -> u64 {
    let Some(first) = rows.first().cloned() else { return 0 };
    rows.push(first);
    1
}

fn shuffle<T>(rows: &mut [T], chance: RandomSource, draw: u64) {
    for last in (1..rows.len()).rev() {
        let word = chance.random_u64(RandomPurpose::PageOrder, [draw, 0], last as u64);
        rows.swap(last, (word % (last as u64 + 1)) as usize);
    }
}
