//! Reads the user and the wallet balance, which a session needs before it can trade.

use crate::RuntimeError;
use crate::runner::within_deadline;
use candlewick_broker::{Account as Kind, Balances, Broker, Reply};
use candlewick_sdk::MoneyScale;
use candlewick_sdk::rust_decimal::Decimal;

#[derive(Clone, Debug, PartialEq)]
pub struct ConnectedAccount {
    pub user: String,
    pub kind: Kind,
    /// Free balance, which excludes the stakes of open trades, rounded to the money scale.
    pub balance: Decimal,
    pub balances: Option<Reply<Balances>>,
}

/// Number of decimals between the smallest money unit (such as 0.01) and the largest floating-point noise (0.00001).
const NOISE_DECIMALS: u32 = 3;

pub async fn connect(
    broker: &dyn Broker,
    kind: Kind,
    scale: MoneyScale,
) -> Result<ConnectedAccount, RuntimeError> {
    let failed = |question: &str| {
        let question = question.to_owned();
        move |source| RuntimeError::Venue { question, source }
    };
    let identity = within_deadline(broker.identity()).await.map_err(failed("the user"))?.value;
    let balances = within_deadline(broker.balances()).await.map_err(failed("the wallet balances"))?;
    let balance = balances.value.balance(kind).ok_or_else(|| missing_wallet_error(kind, &balances.value))?;
    let balance = rounded_balance(balance, scale)?;
    Ok(ConnectedAccount { user: identity.user, kind, balance, balances: Some(balances) })
}

fn missing_wallet_error(kind: Kind, balances: &Balances) -> RuntimeError {
    let mut types: Vec<&str> = balances.wallets.iter().map(|wallet| wallet.type_name.as_str()).collect();
    types.sort_unstable();
    types.dedup();
    let listed = if types.is_empty() { "none".to_owned() } else { types.join(", ") };
    RuntimeError::NoWallet { kind: account_label(kind), listed }
}

/// Rounds a balance to the money scale. A venue that uses floats may send 10000.000000000002 instead of 10000.
pub fn rounded_balance(balance: Decimal, scale: MoneyScale) -> Result<Decimal, RuntimeError> {
    without_rounding_noise(balance, scale).ok_or_else(|| RuntimeError::MoneyScaleMismatch {
        balance: balance.normalize().to_string(),
        decimals: scale.decimals(),
    })
}

/// Rounds an amount to the money scale. `None` if this would remove more than floating-point noise.
pub(crate) fn without_rounding_noise(amount: Decimal, scale: MoneyScale) -> Option<Decimal> {
    let noise = Decimal::new(1, scale.decimals() + NOISE_DECIMALS);
    let exact = scale.convert_rounded(amount).map(|money| scale.to_decimal(money));
    exact.ok().filter(|exact| (*exact - amount).abs() <= noise)
}

const fn account_label(kind: Kind) -> &'static str {
    match kind {
        Kind::Demo => "DEMO",
        Kind::Real => "REAL",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use candlewick_broker::{Identity, MockBroker, WalletIdentity};
    use candlewick_sdk::Millis;

    #[tokio::test]
    async fn reads_the_balance_of_the_account_and_rejects_a_missing_wallet() {
        let mut broker = MockBroker::new();
        broker.expect_identity().returning(|| Ok(Reply::without_latency(Identity::default(), Millis::ZERO)));
        let gold = WalletIdentity { type_name: "GOLD".to_owned(), ..WalletIdentity::default() };
        let balances =
            Balances { demo: Some(Decimal::TEN), wallets: vec![gold.clone(), gold], ..Balances::default() };
        broker
            .expect_balances()
            .returning(move || Ok(Reply::without_latency(balances.clone(), Millis::ZERO)));
        let scale = MoneyScale::default();
        let demo = connect(&broker, Kind::Demo, scale).await;
        assert_eq!(demo.map(|account| account.balance).ok(), Some(Decimal::TEN));
        let problem = connect(&broker, Kind::Real, scale).await.unwrap_err().to_string();
        assert!(problem.contains("REAL") && problem.ends_with("GOLD"), "{problem}");
    }

    #[test]
    fn rounds_float_noise_and_rejects_extra_decimals() {
        let check = |balance: &str, decimals: u32, expected: Option<&str>| {
            let scale = MoneyScale::new(decimals).unwrap();
            let counted = rounded_balance(balance.parse().unwrap(), scale);
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
    }
}
