//! Parts of our stakes that bonus wallets paid. The journal keeps the sum: wallet and ledger differ by it, also after a restart.

use super::WalletAudit;
use super::possible::Possible;
use candlewick_sdk::Money;
use serde::{Deserialize, Serialize};

/// Money of bonus wallets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct BonusWallets {
    /// Sum that they paid toward our stakes, minus the sum that they got back.
    pub(super) paid: Money,
    /// Their balance at the last reading, `None` if the venue lists no bonus wallet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) holds: Option<Money>,
}

impl WalletAudit {
    /// Returns what bonus wallets paid and hold.
    pub(crate) const fn bonus(&self) -> BonusWallets {
        self.bonus
    }

    /// Takes what an earlier run has noted of bonus wallets.
    pub(crate) fn recall_bonus(&mut self, bonus: BonusWallets) {
        self.bonus = bonus;
    }

    /// Whether bonus wallets lost or gained what the wallet is off by: they paid a part of our stakes, or got it back. If they
    /// did, returns whether that explains it to the cent.
    pub(super) fn explained_by_bonus(&mut self, bonus: Option<Money>, possible: &Possible) -> Option<bool> {
        let paid = self.bonus.holds? - bonus?;
        let is_explained = paid != Money::ZERO && possible.contains(self.confirmed + paid);
        is_explained.then(|| {
            self.bonus = BonusWallets { paid: self.bonus.paid + paid, holds: bonus };
            possible.is_raw(self.confirmed + paid)
        })
    }
}
