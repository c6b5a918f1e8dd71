//! What has to be known before a Session can trade: whose account it is, and what the wallet holds.

use crate::RuntimeError;
use crate::runner::within_deadline;
use candlewick_broker::{Account as Kind, Broker};
use candlewick_sdk::rust_decimal::Decimal;

/// The account that a run trades on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    /// The venue's identifier of the authenticated user.
    pub user: String,
    /// Play money or real money.
    pub kind: Kind,
    /// What it holds, stakes of open trades taken off.
    pub balance: Decimal,
}

/// Asks who the user is and what the account of this kind holds.
///
/// # Errors
/// [`RuntimeError::Venue`] when the venue does not answer, [`RuntimeError::NoWallet`] without such an account.
pub async fn connect(broker: &dyn Broker, kind: Kind) -> Result<Account, RuntimeError> {
    let failed = |question: &str| {
        let question = question.to_owned();
        move |source| RuntimeError::Venue { question, source }
    };
    let identity = within_deadline(broker.identity()).await.map_err(failed("who am I"))?.value;
    let balances =
        within_deadline(broker.balances()).await.map_err(failed("what do the wallets hold"))?.value;
    let balance = balances.of(kind).ok_or(RuntimeError::NoWallet { kind: name_of(kind) })?;
    Ok(Account { user: identity.user, kind, balance })
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
    use candlewick_broker::{Balances, Identity, MockBroker, Reply};
    use candlewick_sdk::Millis;

    #[tokio::test]
    async fn an_account_has_what_its_own_wallets_hold_and_one_that_does_not_exist_is_refused() {
        let mut broker = MockBroker::new();
        broker.expect_identity().returning(|| Ok(Reply::at(Identity::default(), Millis::ZERO)));
        let balances = Balances { demo: Some(Decimal::TEN), real: None };
        broker.expect_balances().returning(move || Ok(Reply::at(balances, Millis::ZERO)));
        let demo = connect(&broker, Kind::Demo).await;
        assert_eq!(demo.map(|account| account.balance).ok(), Some(Decimal::TEN));
        assert!(matches!(connect(&broker, Kind::Real).await, Err(RuntimeError::NoWallet { kind: "REAL" })));
    }
}
