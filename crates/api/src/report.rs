//! Converts the venue's trade records to reports, including how the stake was paid.

use crate::model::{TradeRecord, TradeResult, TradeStatus, WalletEntry, WalletType};
use candlewick_broker::{Account, Payment, TradeProgress, TradeReport, UnrecognisedData};
use candlewick_sdk::Payout;
use rust_decimal::Decimal;

pub(crate) fn build_report(
    record: TradeRecord,
    user: Option<&str>,
    unrecognised: &UnrecognisedData,
) -> TradeReport {
    let payout = record.payout.map(Payout::from_percent);
    if payout.as_ref().is_some_and(Result::is_err) {
        unrecognised.count_unreadable_field("Trade", "payout");
    }
    let by_result = record.result.as_ref().and_then(TradeResult::outcome);
    let is_by_status = by_result.is_none() && record.outcome().is_some();
    TradeReport {
        progress: read_progress(&record),
        account: read_account(&record),
        payment: read_payment(&record),
        other_user: record.user_id.filter(|owner| user.is_some_and(|user| user != owner)),
        id: record.id,
        symbol: record.symbol,
        direction: record.direction,
        amount: record.amount,
        close_type: record.close_type,
        expiration_type: record.expiration_type,
        is_opened_with_token: record.from_api_token,
        request_time: record.request_time,
        created_time: record.created_at,
        open_time: record.open_time,
        open_price: record.open_price,
        open_price_time: record.open_price_time,
        close_time: record.close_time,
        close_price: record.close_price,
        close_price_time: record.close_price_time,
        invalid_payout: record.payout.filter(|_| payout.as_ref().is_some_and(Result::is_err)),
        payout: payout.and_then(Result::ok),
        profit: record.pnl,
        is_reverted: record.reverted == Some(true),
        is_outcome_from_status: is_by_status,
    }
}

/// Derives the progress from the result; if there is no result, from the status (see `observed: values`).
fn read_progress(record: &TradeRecord) -> TradeProgress {
    if let Some(outcome) = record.outcome() {
        return TradeProgress::Over(outcome);
    }
    match (&record.result, &record.status) {
        (Some(TradeResult::Unknown(text)), _) | (_, Some(TradeStatus::Unknown(text))) => {
            TradeProgress::Unrecognised(text.clone())
        }
        (None, Some(TradeStatus::Completed)) => TradeProgress::OverWithoutOutcome,
        _ => TradeProgress::Running,
    }
}

/// Derives the account from `isDemo` or from the paying wallets. A real-money wallet overrides `isDemo`.
pub(crate) fn read_account(record: &TradeRecord) -> Option<Account> {
    let is = |wanted: WalletType| move |wallet: &WalletEntry| wallet.wallet_type == wanted;
    let wallets = &record.wallets;
    match record.is_demo {
        _ if wallets.iter().any(is(WalletType::Real)) => Some(Account::Real),
        Some(true) => Some(Account::Demo),
        Some(false) => Some(Account::Real),
        None if wallets.is_empty() => None,
        None if wallets.iter().all(is(WalletType::Demo)) => Some(Account::Demo),
        None if wallets.iter().all(is(WalletType::Bonus)) => Some(Account::Real),
        None => None,
    }
}

fn read_payment(record: &TradeRecord) -> Payment {
    let is_whole = !record.wallets.is_empty() && record.unreadable_wallets == 0;
    let bonus = record.wallets.iter().filter(|wallet| wallet.wallet_type == WalletType::Bonus);
    Payment {
        paid: is_whole.then(|| saturating_sum(record.wallets.iter().map(|wallet| wallet.amount))),
        implied_stake: record.amount.and_then(|amount| implied_stake(amount, &record.wallets)),
        bonus: saturating_sum(bonus.map(|wallet| wallet.amount)),
        fee: record.tenant_fee_amount.unwrap_or_default(),
        commission: record.copy_commission_amount.unwrap_or_default(),
    }
}

fn saturating_sum(amounts: impl Iterator<Item = Decimal>) -> Decimal {
    amounts.fold(Decimal::ZERO, |sum, amount| sum.checked_add(amount).unwrap_or(Decimal::MAX))
}

/// Returns the stake that the wallets' percentages imply (contract 2.2); `None` unless clearly above `amount`.
fn implied_stake(amount: Decimal, wallets: &[WalletEntry]) -> Option<Decimal> {
    let shares = saturating_sum(wallets.iter().map(|wallet| wallet.trade_percent));
    let by_shares = amount.checked_mul(shares).map(|product| product / Decimal::ONE_HUNDRED);
    let least = |wallet: &WalletEntry| {
        // Subtracts one unit of the last decimal place, because percentages are rounded.
        let unit = Decimal::new(1, wallet.balance_percent.scale().min(28));
        wallet.balance.checked_mul(wallet.balance_percent.checked_sub(unit)? / Decimal::ONE_HUNDRED)
    };
    let by_balances =
        wallets.iter().try_fold(Decimal::ZERO, |sum: Decimal, wallet| sum.checked_add(least(wallet)?));
    let larger = by_shares.into_iter().chain(by_balances).max()?;
    // A difference of 5 % is tolerated, because the balance may be before or after the stake was deducted.
    (larger > amount.checked_mul(Decimal::new(105, 2))?).then_some(larger)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::read_record;
    use candlewick_broker::ReportedValue;
    use candlewick_sdk::{Direction, Millis, Outcome};
    use serde_json::{Value, json};

    fn report(json: Value) -> TradeReport {
        let unrecognised = UnrecognisedData::new();
        build_report(read_record(json, &unrecognised).unwrap(), None, &unrecognised)
    }

    #[test]
    fn progress_follows_status_and_result() {
        let unrecognised = |text: &str| TradeProgress::Unrecognised(text.to_owned());
        for (status, result, expected) in [
            (json!("OPEN"), json!("PENDING"), TradeProgress::Running),
            (json!("COMPLETED"), Value::Null, TradeProgress::OverWithoutOutcome),
            (json!("COMPLETED"), json!("REFUNDED"), unrecognised("REFUNDED")),
            (json!("COMPLETED"), json!("PENDING"), TradeProgress::Running),
            (json!("COMPLETED"), json!("LOST"), TradeProgress::Over(Outcome::Lost)),
            (json!("CANCELLED"), json!("PENDING"), TradeProgress::Over(Outcome::Cancelled)),
            (json!("FROZEN"), json!("PENDING"), unrecognised("FROZEN")),
            (json!("FROZEN"), json!("won"), unrecognised("won")),
            (Value::Null, json!("WON"), TradeProgress::Over(Outcome::Won)),
            (Value::Null, Value::Null, TradeProgress::Running),
        ] {
            let found = report(json!({"id": "01JT", "status": status, "result": result})).progress;
            assert_eq!(found, expected, "{status} {result}");
        }
    }

    #[test]
    fn account_follows_the_flag_then_the_wallets() {
        let paid_by = |types: &[&str], is_demo: Value| {
            let entry = |wallet: &&str| json!({"id": "w", "type": wallet, "amount": 1, "balance": 2});
            let wallets: Vec<Value> = types.iter().map(entry).collect();
            report(json!({"id": "01JT", "wallets": wallets, "isDemo": is_demo})).account
        };
        for (types, is_demo, expected) in [
            (&["DEMO"][..], Value::Null, Some(Account::Demo)),
            (&["REAL"], Value::Null, Some(Account::Real)),
            (&["REAL", "BONUS"], Value::Null, Some(Account::Real)),
            (&["DEMO", "REAL"], Value::Null, Some(Account::Real)),
            (&["GIFT"], Value::Null, None),
            (&[], Value::Null, None),
            (&["REAL"], json!(true), Some(Account::Real)),
            (&["DEMO", "REAL"], json!(true), Some(Account::Real)),
            (&["DEMO"], json!(false), Some(Account::Real)),
            (&["BONUS"], json!(true), Some(Account::Demo)),
            (&["DEMO"], json!(true), Some(Account::Demo)),
        ] {
            assert_eq!(paid_by(types, is_demo.clone()), expected, "{types:?} {is_demo}");
        }
    }

    #[test]
    fn reports_the_user_of_a_foreign_trade() {
        let unrecognised = UnrecognisedData::new();
        let owner = |user: Option<&str>| {
            let record = read_record(json!({"id": "01JT", "userId": "u2"}), &unrecognised).unwrap();
            build_report(record, user, &unrecognised).other_user
        };
        assert_eq!([owner(None), owner(Some("u2"))], [None, None]);
        assert_eq!(owner(Some("u1")).as_deref(), Some("u2"));
    }

    #[test]
    fn all_projections_become_reports() {
        assert_eq!(report(json!({"tradeId": "01JT", "status": "OPEN"})), TradeReport::new("01JT"));
        let found = report(json!({
            "id": "01JT", "requestTime": "1795176000500", "openTime": "1795176000999", "openPrice": "64000.5",
            "closeTime": 1_795_176_060_999_i64, "closePrice": 0, "payout": "80", "result": "PENDING",
            "direction": "UP", "closeType": "01:00",
        }));
        let expected = TradeReport {
            request_time: Some(Millis::new(1_795_176_000_500)),
            open_time: Some(Millis::new(1_795_176_000_999)),
            open_price: Some(64_000.5),
            close_time: Some(Millis::new(1_795_176_060_999)),
            payout: Payout::from_parts(800_000),
            direction: Some(ReportedValue::<Direction>::Unrecognised("UP".to_owned())),
            close_type: Some(ReportedValue::Known("01:00".parse().unwrap())),
            ..TradeReport::new("01JT")
        };
        assert_eq!(found, expected);
    }

    #[test]
    fn counts_an_invalid_payout() {
        let unrecognised = UnrecognisedData::new();
        let record = read_record(json!({"id": "01JT", "payout": -5}), &unrecognised).unwrap();
        let report = build_report(record, None, &unrecognised);
        assert_eq!((report.payout, report.invalid_payout), (None, Some((-5).into())));
        assert_eq!(unrecognised.snapshot().into_keys().collect::<Vec<_>>(), ["Trade.payout unreadable"]);
    }

    fn payment(trade: &Value) -> Payment {
        read_payment(&read_record(trade.clone(), &UnrecognisedData::new()).unwrap())
    }

    /// Returns the payment of a stake of 10.00. The columns are type, amount, trade %, balance % and balance.
    fn paid_by(wallets: &[(&str, f64, f64, f64, f64)]) -> Payment {
        let entry = |(kind, amount, of_trade, of_balance, balance): &(&str, f64, f64, f64, f64)| {
            json!({"id": "w", "type": kind, "amount": amount, "tradePercent": of_trade, "balancePercent": of_balance,
                "balance": balance})
        };
        let wallets: Vec<Value> = wallets.iter().map(entry).collect();
        payment(&json!({"id": "01JT", "amount": 10, "wallets": wallets}))
    }

    #[test]
    fn sums_the_wallets_and_keeps_the_bonus_apart() {
        let payment = paid_by(&[("REAL", 6.0, 60.0, 0.6, 1_000.0), ("Bonus", 4.0, 40.0, 8.0, 50.0)]);
        assert_eq!(payment, Payment { paid: Some(10.into()), bonus: 4.into(), ..Payment::default() });
        assert_eq!(paid_by(&[("DEMO", 60.0, 100.0, 0.6, 10_000.0)]).paid, Some(60.into()));
        assert_eq!(paid_by(&[]), Payment::default());
    }

    #[test]
    fn reports_a_larger_stake_implied_by_percentages() {
        for (of_trade, of_balance, balance, expected) in [
            (100.0, 0.1, 10_000.0, None),
            // The percentages are rounded, absent, fractions, or relative to the balance after the stake was deducted.
            (99.99, 0.0, 10_000.0, None),
            (0.0, 0.0, 10_000.0, None),
            (1.0, 0.001, 10_000.0, None),
            (100.0, 1.0, 700.0, None),
            (100.0, 50.0, 20.0, None),
            (600.0, 0.1, 10_000.0, Some("60")),
            (100.0, 0.6, 10_000.0, Some("50")),
        ] {
            let found = paid_by(&[("DEMO", 10.0, of_trade, of_balance, balance)]).implied_stake;
            assert_eq!(found, expected.map(|text| text.parse().unwrap()), "{of_trade} {of_balance}");
        }
    }

    #[test]
    fn does_not_sum_partly_readable_wallets() {
        let trade = json!({"id": "01JT", "amount": 10, "tenantFeeAmount": "0.5", "copyCommissionAmount": 0.25,
            "wallets": [{"id": "w", "type": "DEMO", "amount": 10, "balance": 1}, {"id": "x"}]});
        let paid = Payment { fee: Decimal::new(5, 1), commission: Decimal::new(25, 2), ..Payment::default() };
        assert_eq!(payment(&trade), paid);
    }

    #[test]
    fn sums_of_huge_amounts_do_not_overflow() {
        let trade = json!({"id": "01JT", "amount": "79228162514264337593543950335",
            "tenantFeeAmount": "79228162514264337593543950335",
            "wallets": [{"id": "w", "type": "DEMO", "amount": 1e18, "tradePercent": "79228162514264337593543950335",
                "balancePercent": "7922816251426433759354395033", "balance": 1e18},
                {"id": "x", "type": "DEMO", "amount": "1e19", "balance": 1}]});
        assert_eq!(payment(&trade).paid, None);
    }
}
