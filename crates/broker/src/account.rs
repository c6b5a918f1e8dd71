//! Whose account it is, and what it holds.

use candlewick_sdk::rust_decimal::Decimal;
use std::fmt;

/// Whose money is at stake.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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

/// What is free on each account, stakes of open trades taken off.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Balances {
    /// Play money; `None` where there is no such account.
    pub demo: Option<Decimal>,
    /// Real money that may be staked without conditions; `None` where there is no such account.
    pub real: Option<Decimal>,
}

impl Balances {
    /// What an account holds; `None` where there is no such account.
    pub const fn of(&self, account: Account) -> Option<Decimal> {
        match account {
            Account::Demo => self.demo,
            Account::Real => self.real,
        }
    }
}

/// Whom the credentials belong to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Identity {
    /// The venue's identifier of the user.
    pub user: String,
    /// Why the account may not trade, in words such as `banned`; empty when nothing speaks against it.
    pub restrictions: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_balance_is_that_of_its_account_alone() {
        let balances = Balances { demo: Some(Decimal::TEN), real: None };
        assert_eq!(balances.of(Account::Demo), Some(Decimal::TEN));
        assert_eq!(balances.of(Account::Real), None);
    }
}
