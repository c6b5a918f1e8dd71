//! Wallets on their own and within a trade (contract 2.1 and 2.2).

use super::fields::{Fields, Record, Unreadable};
use super::value::WalletType;
use candlewick_sdk::Millis;
use rust_decimal::Decimal;

/// Maximum readable amount, so that sums of wallets cannot overflow.
const MAX_AMOUNT: Decimal = Decimal::from_parts(2_808_348_672, 232_830_643, 0, false, 0);

#[derive(Clone, Debug, PartialEq)]
#[allow(clippy::struct_field_names)] // `type` is a keyword
pub(crate) struct Wallet {
    pub(crate) id: String,
    pub(crate) user_id: Option<String>,
    pub(crate) wallet_type: WalletType,
    pub(crate) balance: Decimal,
    pub(crate) created_at: Option<Millis>,
    /// Currency; not in the contract.
    pub(crate) currency: Option<String>,
}

impl Record for Wallet {
    const NAME: &'static str = "Wallet";

    fn read(fields: &mut Fields<'_>) -> Result<Self, Unreadable> {
        Ok(Self {
            id: fields.required("id")?,
            user_id: fields.optional("userId"),
            wallet_type: fields.required("type")?,
            balance: amount(fields, "balance")?,
            created_at: fields.optional("createdAt"),
            currency: fields.optional("currency"),
        })
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct WalletEntry {
    pub(crate) id: String,
    pub(crate) wallet_type: WalletType,
    pub(crate) amount: Decimal,
    /// The wallet's share of the trade, in percent.
    pub(crate) trade_percent: Decimal,
    /// The trade's share of the wallet, in percent.
    pub(crate) balance_percent: Decimal,
    /// Balance before the stake was deducted (`observed: money`).
    pub(crate) balance: Decimal,
}

impl Record for WalletEntry {
    const NAME: &'static str = "WalletEntry";

    fn read(fields: &mut Fields<'_>) -> Result<Self, Unreadable> {
        Ok(Self {
            id: fields.required("id")?,
            wallet_type: fields.required("type")?,
            amount: amount(fields, "amount")?,
            trade_percent: fields.optional("tradePercent").unwrap_or_default(),
            balance_percent: fields.optional("balancePercent").unwrap_or_default(),
            balance: amount(fields, "balance")?,
        })
    }
}

fn amount(fields: &mut Fields<'_>, field: &'static str) -> Result<Decimal, Unreadable> {
    let amount: Decimal = fields.required(field)?;
    if amount.abs() <= MAX_AMOUNT { Ok(amount) } else { fields.unreadable(field) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{read_list, read_record};
    use candlewick_broker::UnrecognisedData;
    use serde_json::json;

    #[test]
    fn a_wallet_is_read_by_the_contracts_names() {
        let drift = UnrecognisedData::new();
        let json = json!({
            "id": "01JAAAAAAAAAAAAAAAAAAAAAAA",
            "userId": "01JBBBBBBBBBBBBBBBBBBBBBBB",
            "type": "DEMO",
            "balance": 9990.5,
            "createdAt": "2026-11-20T12:00:00.000Z",
        });
        let wallet: Wallet = read_record(json, &drift).unwrap();
        let expected = Wallet {
            id: "01JAAAAAAAAAAAAAAAAAAAAAAA".into(),
            user_id: Some("01JBBBBBBBBBBBBBBBBBBBBBBB".into()),
            wallet_type: WalletType::Demo,
            balance: Decimal::new(99_905, 1),
            created_at: Some(Millis::new(1_795_176_000_000)),
            currency: None,
        };
        assert_eq!(wallet, expected);
        assert!(drift.snapshot().is_empty());
    }

    #[test]
    fn a_wallet_entry_is_read_by_the_contracts_names() {
        let json = json!({
            "id": "01JAAAAAAAAAAAAAAAAAAAAAAA",
            "type": "DEMO",
            "amount": 10,
            "tradePercent": 100,
            "balancePercent": 0.1,
            "balance": 10000,
        });
        let drift = UnrecognisedData::new();
        let entry: WalletEntry = read_record(json, &drift).unwrap();
        let expected = WalletEntry {
            id: "01JAAAAAAAAAAAAAAAAAAAAAAA".into(),
            wallet_type: WalletType::Demo,
            amount: Decimal::TEN,
            trade_percent: Decimal::ONE_HUNDRED,
            balance_percent: Decimal::new(1, 1),
            balance: Decimal::from(10_000),
        };
        assert_eq!(entry, expected);
        assert!(drift.snapshot().is_empty());
    }

    #[test]
    fn a_wallet_without_a_balance_is_unreadable_and_counted() {
        let drift = UnrecognisedData::new();
        let rows = json!([{"id": "1", "type": "DEMO", "balance": {}}, {"id": "2", "type": "GOLD", "balance": "7"}, 3]);
        let (wallets, unreadable) = read_list::<Wallet>(rows, &drift).unwrap();
        assert_eq!((wallets.len(), unreadable), (1, 2));
        assert_eq!(wallets[0].wallet_type, WalletType::Unknown("GOLD".into()));
        let names: Vec<_> = drift.snapshot().into_keys().collect();
        assert_eq!(names, ["Wallet.balance unreadable", "Wallet.row unreadable", "Wallet.type=GOLD"]);
    }
}
