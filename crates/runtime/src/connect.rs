//! What has to be known before a Session can trade: whose account it is, and what the wallet holds.

use crate::RuntimeError;
use crate::runner::within_deadline;
use candlewick_broker::{Account as Kind, Balances, Broker, Reply};
use candlewick_sdk::MoneyScale;
use candlewick_sdk::rust_decimal::Decimal;

/// The account that a run trades on.
#[derive(Clone, Debug, PartialEq)]
pub struct Account {
    /// The venue's identifier of the authenticated user.
    pub user: String,
    /// Play money or real money.
    pub kind: Kind,
    /// What it holds, stakes of open trades taken off, with no more decimals than the scale that was asked for.
    pub balance: Decimal,
    /// The reading that says so; `None` if there was none.
    pub balances: Option<Reply<Balances>>,
}

/// Decimals by which an amount may differ from what it is counted as: a thousandth of the smallest unit, far more than the
/// noise of a float and far less than money.
const NOISE_DECIMALS: u32 = 3;

/// Asks who the user is and what the account of this kind holds, counted by this scale.
///
/// # Errors
/// [`RuntimeError::Venue`] when the venue does not answer, [`RuntimeError::NoWallet`] without such an account,
/// [`RuntimeError::MoneyScaleMismatch`] when the balance has decimals that the scale does not have.
pub async fn connect(broker: &dyn Broker, kind: Kind, scale: MoneyScale) -> Result<Account, RuntimeError> {
    let failed = |question: &str| {
        let question = question.to_owned();
        move |source| RuntimeError::Venue { question, source }
    };
    let identity = within_deadline(broker.identity()).await.map_err(failed("who am I"))?.value;
    let balances = within_deadline(broker.balances()).await.map_err(failed("what do the wallets hold"))?;
    let balance = balances.value.of(kind).ok_or_else(|| no_wallet(kind, &balances.value))?;
    let balance = counted_balance(balance, scale)?;
    Ok(Account { user: identity.user, kind, balance, balances: Some(balances) })
}

fn no_wallet(kind: Kind, balances: &Balances) -> RuntimeError {
    let mut types: Vec<&str> = balances.wallets.iter().map(|wallet| wallet.type_name.as_str()).collect();
    types.sort_unstable();
    types.dedup();
    let listed = if types.is_empty() { "none".to_owned() } else { types.join(", ") };
    RuntimeError::NoWallet { kind: name_of(kind), listed }
}

/// A balance with the decimals of a scale. A venue that counts in floats sends 10000.000000000002 for 10000.
///
/// # Errors
/// [`RuntimeError::MoneyScaleMismatch`] when it has decimals that the scale does not have.
pub fn counted_balance(balance: Decimal, scale: MoneyScale) -> Result<Decimal, RuntimeError> {
    without_noise(balance, scale).ok_or_else(|| RuntimeError::MoneyScaleMismatch {
        balance: balance.normalize().to_string(),
        decimals: scale.decimals(),
    })
}

/// An amount with the decimals of a scale; none when it is money that the scale does not have.
pub(crate) fn without_noise(amount: Decimal, scale: MoneyScale) -> Option<Decimal> {
    let noise = Decimal::new(1, scale.decimals() + NOISE_DECIMALS);
    let exact = scale.rounded(amount).map(|money| scale.to_decimal(money));
    exact.ok().filter(|exact| (*exact - amount).abs() <= noise)
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
    use candlewick_broker::{Identity, MockBroker, WalletName};
    use candlewick_sdk::Millis;

    #[tokio::test]
    async fn an_account_has_what_its_own_wallets_hold_and_one_that_does_not_exist_is_refused() {
        let mut broker = MockBroker::new();
        broker.expect_identity().returning(|| Ok(Reply::at(Identity::default(), Millis::ZERO)));
        let gold = WalletName { type_name: "GOLD".to_owned(), ..WalletName::default() };
        let balances =
            Balances { demo: Some(Decimal::TEN), wallets: vec![gold.clone(), gold], ..Balances::default() };
        broker.expect_balances().returning(move || Ok(Reply::at(balances.clone(), Millis::ZERO)));
        let scale = MoneyScale::default();
        let demo = connect(&broker, Kind::Demo, scale).await;
        assert_eq!(demo.map(|account| account.balance).ok(), Some(Decimal::TEN));
        let real = connect(&broker, Kind::Real, scale).await;
        let problem = real.unwrap_err().to_string();
        assert_eq!(problem, "the account has no REAL wallet; the venue listed: GOLD");
    }

    #[test]
    fn the_noise_of_a_float_is_no_money_and_a_decimal_too_many_is_said() {
        let check = |balance: &str, decimals: u32, expected: Option<&str>| {
            let scale = MoneyScale::new(decimals).unwrap();
            let counted = counted_balance(balance.parse().unwrap(), scale);
            assert_eq!(counted.ok(), expected.map(|text| text.parse().unwrap()), "{balance} by {decimals}");
        };
        check("10000.000000000002", 2, Some("10000"));
        check("9999.999999999998", 2, Some("10000"));
        check("12.34", 2, Some("12.34"));
        check("-0.10000000000000001", 2, Some("-0.1"));
        check("0.30000000000000004", 8, Some("0.3"));
        check("12.345", 2, None);
        check("12.34002", 2, None);
        check("12.345", 3, Some("12.345"));
        check("100000000000000000000", 2, None);
        let message =
            counted_balance("12.345".parse().unwrap(), MoneyScale::default()).unwrap_err().to_string();
        assert!(message.contains("12.345") && message.contains("account.money_scale"), "{message}");
    }
}
