//! Wallets, alone and inside a trade (contract 2.1 and 2.2).

use super::fields::{Fields, Record, Unreadable};
use super::value::WalletType;
use super::wire;
use candlewick_sdk::Millis;
use rust_decimal::Decimal;
use serde::Serialize;

/// A wallet of the authenticated user (contract 2.1).
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[allow(clippy::struct_field_names)] // `type` is a keyword
pub(crate) struct Wallet {
    /// Wallet identifier.
    pub(crate) id: String,
    /// Owner identifier.
    pub(crate) user_id: Option<String>,
    /// What it holds.
    #[serde(rename = "type")]
    pub(crate) wallet_type: WalletType,
    /// What is in it.
    #[serde(serialize_with = "wire::number")]
    pub(crate) balance: Decimal,
    /// When it was made.
    #[serde(serialize_with = "wire::optional_iso8601")]
    pub(crate) created_at: Option<Millis>,
}

impl Record for Wallet {
    const NAME: &'static str = "Wallet";

    fn read(fields: &mut Fields<'_>) -> Result<Self, Unreadable> {
        Ok(Self {
            id: fields.required("id")?,
            user_id: fields.optional("userId"),
            wallet_type: fields.required("type")?,
            balance: fields.required("balance")?,
            created_at: fields.optional("createdAt"),
        })
    }
}

/// A wallet's part in a trade (contract 2.2).
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WalletEntry {
    /// Wallet identifier.
    pub(crate) id: String,
    /// What it holds.
    #[serde(rename = "type")]
    pub(crate) wallet_type: WalletType,
    /// What it contributed to the stake.
    #[serde(serialize_with = "wire::number")]
    pub(crate) amount: Decimal,
    /// Its share of the trade, in percent.
    #[serde(serialize_with = "wire::number")]
    pub(crate) trade_percent: Decimal,
    /// The trade's share of it, in percent.
    #[serde(serialize_with = "wire::number")]
    pub(crate) balance_percent: Decimal,
    /// What was in it before the stake was taken (`observed: money`).
    #[serde(serialize_with = "wire::number")]
    pub(crate) balance: Decimal,
}

impl Record for WalletEntry {
    const NAME: &'static str = "WalletEntry";

    fn read(fields: &mut Fields<'_>) -> Result<Self, Unreadable> {
        Ok(Self {
            id: fields.required("id")?,
            wallet_type: fields.required("type")?,
            amount: fields.required("amount")?,
            trade_percent: fields.optional("tradePercent").unwrap_or_default(),
            balance_percent: fields.optional("balancePercent").unwrap_or_default(),
            balance: fields.required("balance")?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{read_list, read_record};
    use candlewick_broker::UnrecognisedData;
    use serde_json::json;

    #[test]
    fn a_wallet_is_read_and_written_with_the_contracts_names() {
        let drift = UnrecognisedData::new();
        let json = json!({
            "id": "01JAAAAAAAAAAAAAAAAAAAAAAA",
            "userId": "01JBBBBBBBBBBBBBBBBBBBBBBB",
            "type": "DEMO",
            "balance": 9990.5,
            "createdAt": "2026-11-20T12:00:00.000Z",
        });
        let wallet: Wallet = read_record(json.clone(), &drift).unwrap();
        assert_eq!((&wallet.wallet_type, wallet.balance), (&WalletType::Demo, Decimal::new(99_905, 1)));
        assert_eq!(serde_json::to_value(&wallet).unwrap(), json);
        assert!(drift.snapshot().is_empty());
    }

    #[test]
    fn a_wallet_entry_is_read_and_written_with_the_contracts_names() {
        let json = json!({
            "id": "01JAAAAAAAAAAAAAAAAAAAAAAA",
            "type": "DEMO",
            "amount": 10,
            "tradePercent": 100,
            "balancePercent": 0.1,
            "balance": 10000,
        });
        let entry: WalletEntry = read_record(json.clone(), &UnrecognisedData::new()).unwrap();
        assert_eq!(serde_json::to_value(&entry).unwrap(), json);
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
