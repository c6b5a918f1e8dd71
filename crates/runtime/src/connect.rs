//! What has to be known before a Session can trade: whose account it is, and what the wallet holds.

use crate::RuntimeError;
use crate::request::within_deadline;
use candlewick_api::model::{Wallet, WalletType};
use candlewick_api::{Account as Kind, Venue};
use candlewick_sdk::rust_decimal::Decimal;
use candlewick_sdk::{Money, MoneyScale};

/// The account that a run trades on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    /// The authenticated user: the trade list is asked for by it.
    pub user_id: String,
    /// Play money or real money.
    pub kind: Kind,
    /// The sum of the wallets of that kind.
    pub balance: Decimal,
}

/// Asks who the user is and what the wallets of this kind hold.
///
/// # Errors
/// [`RuntimeError::Venue`] when the venue does not answer, [`RuntimeError::OpenWallet`] without such a wallet.
pub async fn connect(venue: &dyn Venue, kind: Kind) -> Result<Account, RuntimeError> {
    let failed = |question: &str| {
        let question = question.to_owned();
        move |source| RuntimeError::Venue { question, source }
    };
    let user = within_deadline(venue.me()).await.map_err(failed("who am I"))?.value;
    let wallets = within_deadline(venue.wallets()).await.map_err(failed("what do the wallets hold"))?.value;
    let balance = balance_of(&wallets, kind).ok_or(RuntimeError::OpenWallet { kind: name_of(kind) })?;
    Ok(Account { user_id: user.id, kind, balance })
}

/// The sum of the wallets of a kind; none without one.
fn balance_of(wallets: &[Wallet], kind: Kind) -> Option<Decimal> {
    let wanted = match kind {
        Kind::Demo => WalletType::Demo,
        Kind::Real => WalletType::Real,
    };
    let mut matching = wallets.iter().filter(|wallet| wallet.wallet_type == wanted).peekable();
    matching.peek()?;
    Some(matching.map(|wallet| wallet.balance).sum())
}

/// The same as money.
pub(crate) fn money_in(wallets: &[Wallet], kind: Kind, scale: MoneyScale) -> Option<Money> {
    balance_of(wallets, kind).and_then(|balance| scale.rounded(balance).ok())
}

const fn name_of(kind: Kind) -> &'static str {
    match kind {
        Kind::Demo => "DEMO",
        Kind::Real => "REAL",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wallet(wallet_type: WalletType, balance: i64) -> Wallet {
        Wallet {
            id: String::new(),
            user_id: None,
            wallet_type,
            balance: Decimal::from(balance),
            created_at: None,
        }
    }

    #[test]
    fn wallets_of_the_kind_are_summed_and_others_left_out() {
        let wallets =
            [wallet(WalletType::Demo, 7), wallet(WalletType::Real, 100), wallet(WalletType::Demo, 5)];
        assert_eq!(balance_of(&wallets, Kind::Demo), Some(Decimal::from(12)));
        assert_eq!(balance_of(&wallets[..1], Kind::Real), None);
    }
}
