//! The sandbox's only user and its two wallets.

use crate::TradedWallet;
use crate::body::{CopyTradeParams, User, UserParams, Wallet, iso8601};
use crate::chance::Chance;
use crate::identifier::{Named, identify};
use candlewick_sdk::{Millis, Money, MoneyScale};

pub(super) struct Account {
    pub(super) user_id: String,
    pub(super) tenant_id: String,
    pub(super) wallet: TradedWallet,
    demo_wallet_id: String,
    real_wallet_id: String,
    affiliate_id: String,
    created: Millis,
    pub(super) scale: MoneyScale,
}

impl Account {
    pub(super) fn new(chance: Chance, start: Millis, (wallet, scale): (TradedWallet, MoneyScale)) -> Self {
        let make = |named, number| identify(chance, named, start, [number, 0]);
        Self {
            user_id: make(Named::User, 0),
            tenant_id: make(Named::Tenant, 0),
            wallet,
            demo_wallet_id: make(Named::Wallet, 0),
            real_wallet_id: make(Named::Wallet, 1),
            affiliate_id: make(Named::User, 1),
            created: start,
            scale,
        }
    }

    pub(super) fn traded(&self) -> (&str, &'static str) {
        match self.wallet {
            TradedWallet::Demo => (&self.demo_wallet_id, "DEMO"),
            TradedWallet::Real => (&self.real_wallet_id, "REAL"),
        }
    }

    /// Returns both wallets, one of them empty, so that a client must choose.
    pub(super) fn wallets(&self, balance: Money) -> Vec<Wallet> {
        let wallet = |id: &String, wallet_type, balance| Wallet {
            id: id.clone(),
            user_id: self.user_id.clone(),
            wallet_type,
            balance: self.scale.to_f64(balance),
            created_at: iso8601(self.created),
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
            last_login_at: iso8601(now),
            flags: Vec::new(),
            created_at: iso8601(self.created),
            updated_at: iso8601(self.created),
        }
    }

    pub(super) fn affiliate_id(&self) -> String {
        self.affiliate_id.clone()
    }
}
