//! Accounts, balances and identities.

use candlewick_sdk::rust_decimal::Decimal;
use std::fmt;

/// Account type at the venue: demo or real.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Account {
    /// Play money.
    #[default]
    Demo,
    /// Real money.
    Real,
}

impl fmt::Display for Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Demo => "demo",
            Self::Real => "real",
        })
    }
}

/// Free balance of each account, excluding the stakes of open trades.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Balances {
    /// Balance of the demo account; `None` if there is no demo account.
    pub demo: Option<Decimal>,
    /// Balance of the real account, excluding bonuses; `None` if there is no real account.
    pub real: Option<Decimal>,
    /// Bonus money available for real trades; `None` if there is no bonus wallet.
    pub bonus: Option<Decimal>,
    /// Wallets that the venue lists; empty if the venue does not list wallets.
    pub wallets: Vec<WalletIdentity>,
}

/// Identity of a wallet at the venue.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct WalletIdentity {
    /// Wallet id at the venue.
    pub id: String,
    /// Owner of the wallet; `None` if the venue does not report an owner.
    pub user: Option<String>,
    /// Account that the wallet belongs to; `None` for bonus wallets and unknown types.
    pub account: Option<Account>,
    /// Wallet type in the venue's spelling.
    pub type_name: String,
    /// Currency of the wallet; `None` if the venue does not report a currency.
    pub currency: Option<String>,
}

impl Balances {
    /// Returns the balance of an account; `None` if the account does not exist.
    pub const fn balance(&self, account: Account) -> Option<Decimal> {
        match account {
            Account::Demo => self.demo,
            Account::Real => self.real,
        }
    }

    /// Returns the wallets of an account, sorted by id.
    pub fn account_wallets(&self, account: Account) -> Vec<WalletIdentity> {
        let is_of_account = |wallet: &&WalletIdentity| wallet.account == Some(account);
        let mut wallets: Vec<WalletIdentity> = self.wallets.iter().filter(is_of_account).cloned().collect();
        wallets.sort();
        wallets
    }
}

/// User who owns the credentials.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Identity {
    /// The venue's identifier of the user.
    pub user: String,
    /// Reasons why the account may not trade, such as `banned`; empty if the account may trade.
    pub restrictions: Vec<String>,
}
