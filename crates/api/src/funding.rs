//! Funding of a trade's stake, derived from the wallets and charges in its record.

use crate::model::{TradeRecord, WalletEntry, WalletType};
use candlewick_broker::Funding;
use rust_decimal::Decimal;

pub(crate) fn funding_of(record: &TradeRecord) -> Funding {
    let is_whole = !record.wallets.is_empty() && record.unreadable_wallets == 0;
    let bonus = record.wallets.iter().filter(|wallet| wallet.wallet_type == WalletType::Bonus);
    Funding {
        paid: is_whole.then(|| sum(record.wallets.iter().map(|wallet| wallet.amount))),
        by_percent: record.amount.and_then(|amount| larger_by_percent(amount, &record.wallets)),
        bonus: sum(bonus.map(|wallet| wallet.amount)),
        fee: record.tenant_fee_amount.unwrap_or_default(),
        commission: record.copy_commission_amount.unwrap_or_default(),
    }
}

/// Adds amounts, saturating at the maximum.
///
/// Only a body with billions of wallet entries could overflow.
fn sum(amounts: impl Iterator<Item = Decimal>) -> Decimal {
    amounts.fold(Decimal::ZERO, |sum, amount| sum.checked_add(amount).unwrap_or(Decimal::MAX))
}

/// Returns the stake implied by the percentages if it clearly exceeds `amount`.
///
/// The difference must be larger than rounding. `tradePercent` is a wallet's share of the trade,
/// `balancePercent` the trade's share of the wallet (contract 2.2). Venues that send fractions
/// instead of percentages yield a smaller stake.
fn larger_by_percent(amount: Decimal, wallets: &[WalletEntry]) -> Option<Decimal> {
    let shares = sum(wallets.iter().map(|wallet| wallet.trade_percent));
    let by_shares = amount.checked_mul(shares).map(|product| product / Decimal::ONE_HUNDRED);
    let least = |wallet: &WalletEntry| {
        // A percentage of two decimals is rounded by up to 0.01.
        let unit = Decimal::new(1, wallet.balance_percent.scale().min(28));
        wallet.balance.checked_mul(wallet.balance_percent.checked_sub(unit)? / Decimal::ONE_HUNDRED)
    };
    let by_balances =
        wallets.iter().try_fold(Decimal::ZERO, |sum: Decimal, wallet| sum.checked_add(least(wallet)?));
    let larger = by_shares.into_iter().chain(by_balances).max()?;
    // A twentieth: the balance may be that before or after the stake was taken.
    (larger > amount.checked_mul(Decimal::new(105, 2))?).then_some(larger)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::read_record;
    use candlewick_broker::UnrecognisedData;
    use serde_json::{Value, json};

    fn funding(trade: &Value) -> Funding {
        funding_of(&read_record(trade.clone(), &UnrecognisedData::new()).unwrap())
    }

    /// A trade of 10.00 that these wallets paid: type, amount, share of the trade, share of the balance, balance.
    fn paid_by(wallets: &[(&str, f64, f64, f64, f64)]) -> Funding {
        let entry = |(kind, amount, of_trade, of_balance, balance): &(&str, f64, f64, f64, f64)| {
            json!({"id": "w", "type": kind, "amount": amount, "tradePercent": of_trade, "balancePercent": of_balance,
                "balance": balance})
        };
        let wallets: Vec<Value> = wallets.iter().map(entry).collect();
        funding(&json!({"id": "01JT", "amount": 10, "wallets": wallets}))
    }

    #[test]
    fn sums_the_wallets_and_keeps_the_bonus_apart() {
        let funding = paid_by(&[("REAL", 6.0, 60.0, 0.6, 1_000.0), ("Bonus", 4.0, 40.0, 8.0, 50.0)]);
        let expected = Funding { paid: Some(10.into()), bonus: 4.into(), ..Funding::default() };
        assert_eq!(funding, expected);
        assert_eq!(paid_by(&[("DEMO", 60.0, 100.0, 0.6, 10_000.0)]).paid, Some(60.into()));
        assert_eq!(paid_by(&[]), Funding::default());
    }

    #[test]
    fn names_a_larger_stake_that_percentages_come_to() {
        for (of_trade, of_balance, balance, expected) in [
            (100.0, 0.1, 10_000.0, None),
            // Rounded, absent, as fractions, of the balance after the stake.
            (99.99, 0.0, 10_000.0, None),
            (0.0, 0.0, 10_000.0, None),
            (1.0, 0.001, 10_000.0, None),
            (100.0, 1.0, 700.0, None),
            (100.0, 50.0, 20.0, None),
            (600.0, 0.1, 10_000.0, Some("60")),
            (100.0, 0.6, 10_000.0, Some("50")),
        ] {
            let found = paid_by(&[("DEMO", 10.0, of_trade, of_balance, balance)]).by_percent;
            assert_eq!(found, expected.map(|text| text.parse().unwrap()), "{of_trade} {of_balance}");
        }
    }

    #[test]
    fn reads_charges_and_takes_no_sum_of_wallets_that_are_not_all_readable() {
        let trade = json!({"id": "01JT", "amount": 10, "tenantFeeAmount": "0.5", "copyCommissionAmount": 0.25,
            "wallets": [{"id": "w", "type": "DEMO", "amount": 10, "balance": 1}, {"id": "x"}]});
        let expected =
            Funding { fee: Decimal::new(5, 1), commission: Decimal::new(25, 2), ..Funding::default() };
        assert_eq!(funding(&trade), expected);
    }

    #[test]
    fn no_amount_from_outside_is_too_large_to_sum() {
        let trade = json!({"id": "01JT", "amount": "79228162514264337593543950335",
            "tenantFeeAmount": "79228162514264337593543950335",
            "wallets": [{"id": "w", "type": "DEMO", "amount": 1e18, "tradePercent": "79228162514264337593543950335",
                "balancePercent": "7922816251426433759354395033", "balance": 1e18},
                {"id": "x", "type": "DEMO", "amount": "1e19", "balance": 1}]});
        assert_eq!(funding(&trade).paid, None);
    }
}
