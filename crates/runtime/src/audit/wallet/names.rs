//! Identity of the account's wallets. Readings of other wallets say nothing about this ledger.

use super::WalletAudit;
use candlewick_broker::WalletName;
use serde::{Deserialize, Serialize};
use std::fmt;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct KnownWallet {
    id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    user: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    currency: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NameCheck {
    Known,
    New(Vec<KnownWallet>),
    Other { known: String, found: String },
}

impl WalletAudit {
    pub(crate) fn check_names(&mut self, wallets: &[WalletName]) -> NameCheck {
        let wallets: Vec<KnownWallet> = wallets.iter().map(KnownWallet::from).collect();
        match &self.names {
            _ if wallets.is_empty() => NameCheck::Known,
            None => {
                self.names = Some(wallets.clone());
                NameCheck::New(wallets)
            }
            Some(known) if *known == wallets => NameCheck::Known,
            Some(known) => NameCheck::Other { known: describe(known), found: describe(&wallets) },
        }
    }

    pub(crate) fn recall_names(&mut self, wallets: Vec<KnownWallet>) {
        self.names = Some(wallets);
    }

    pub(crate) fn forget_names(&mut self) {
        self.names = None;
    }
}

impl From<&WalletName> for KnownWallet {
    fn from(name: &WalletName) -> Self {
        Self { id: name.id.clone(), user: name.user.clone(), currency: name.currency.clone() }
    }
}

impl fmt::Display for KnownWallet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.id)?;
        if let Some(user) = &self.user {
            write!(f, " of user {user}")?;
        }
        if let Some(currency) = &self.currency {
            write!(f, " in {currency}")?;
        }
        Ok(())
    }
}

fn describe(wallets: &[KnownWallet]) -> String {
    let wallets: Vec<String> = wallets.iter().map(ToString::to_string).collect();
    wallets.join(" and ")
}
