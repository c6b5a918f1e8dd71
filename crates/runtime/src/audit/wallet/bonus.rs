//! Bonus wallets that pay part of a stake. Wallet and ledger differ by this sum across restarts.

use super::WalletAudit;
use super::possible::Possible;
use candlewick_sdk::Money;
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct BonusWallets {
    pub(super) paid: Money,
    /// Balance at the last reading, `None` if the venue lists no bonus wallet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) holds: Option<Money>,
}

impl WalletAudit {
    pub(crate) const fn bonus(&self) -> BonusWallets {
        self.bonus
    }

    pub(crate) fn recall_bonus(&mut self, bonus: BonusWallets) {
        self.bonus = bonus;
    }

    /// Books the difference to bonus wallets if their change explains it.
    ///
    /// Returns whether the explanation is exact, `None` if there is none.
    pub(super) fn explained_by_bonus(&mut self, bonus: Option<Money>, possible: &Possible) -> Option<bool> {
        let paid = self.bonus.holds? - bonus?;
        let is_explained = paid != Money::ZERO && possible.contains(self.confirmed + paid);
        is_explained.then(|| {
            self.bonus = BonusWallets { paid: self.bonus.paid + paid, holds: bonus };
            possible.is_raw(self.confirmed + paid)
        })
    }
}
