//! Conversion of the venue's trade records to reports.

use crate::funding::funding_of;
use crate::model::{Tolerant, TradeRecord, TradeResult, TradeStatus, WalletType};
use candlewick_broker::{Account, Progress, Reported, TradeReport, UnrecognisedData};
use candlewick_sdk::Payout;

pub(crate) fn report_of(
    record: TradeRecord,
    user: Option<&str>,
    unrecognised: &UnrecognisedData,
) -> TradeReport {
    let payout = record.payout.map(Payout::from_percent);
    if payout.as_ref().is_some_and(Result::is_err) {
        unrecognised.count_unreadable("Trade", "payout");
    }
    let by_result = record.result.as_ref().and_then(TradeResult::outcome);
    let is_by_status = by_result.is_none() && record.outcome().is_some();
    TradeReport {
        progress: progress_of(&record),
        account: account_of(&record),
        funding: funding_of(&record),
        other_user: record.user_id.filter(|owner| user.is_some_and(|user| user != owner)),
        id: record.id,
        symbol: record.symbol,
        direction: record.direction.map(reported),
        amount: record.amount,
        close_type: record.close_type.map(reported),
        expiration_type: record.expiration_type.map(reported),
        from_token: record.from_api_token,
        request_time: record.request_time,
        created_time: record.created_at,
        open_time: record.open_time,
        open_price: record.open_price,
        open_price_time: record.open_price_time,
        close_time: record.close_time,
        close_price: record.close_price,
        close_price_time: record.close_price_time,
        impossible_payout: record.payout.filter(|_| payout.as_ref().is_some_and(Result::is_err)),
        payout: payout.and_then(Result::ok),
        profit: record.pnl,
        is_reverted: record.reverted == Some(true),
        is_by_status,
    }
}

/// Returns the progress by result, then by status (`observed: values`).
///
/// The short projection only says that a trade is over, not its outcome. An unrecognized value
/// never ends a trade.
fn progress_of(record: &TradeRecord) -> Progress {
    if let Some(outcome) = record.outcome() {
        return Progress::Over(outcome);
    }
    match (&record.result, &record.status) {
        (Some(TradeResult::Unknown(text)), _) | (_, Some(TradeStatus::Unknown(text))) => {
            Progress::Unrecognised(text.clone())
        }
        (None, Some(TradeStatus::Completed)) => Progress::OverUnreported,
        _ => Progress::Running,
    }
}

/// Returns the account by `isDemo`, else by the paying wallets.
///
/// A real-money wallet overrides `isDemo`.
pub(crate) fn account_of(record: &TradeRecord) -> Option<Account> {
    if record.wallets.iter().any(|wallet| wallet.wallet_type == WalletType::Real) {
        return Some(Account::Real);
    }
    match record.is_demo {
        Some(true) => return Some(Account::Demo),
        Some(false) => return Some(Account::Real),
        None => {}
    }
    let is = |wanted: &[WalletType]| record.wallets.iter().all(|wallet| wanted.contains(&wallet.wallet_type));
    if record.wallets.is_empty() {
        None
    } else if is(&[WalletType::Demo]) {
        Some(Account::Demo)
    } else if is(&[WalletType::Real, WalletType::Bonus]) {
        Some(Account::Real)
    } else {
        None
    }
}

fn reported<T>(value: Tolerant<T>) -> Reported<T> {
    match value {
        Tolerant::Known(value) => Reported::Known(value),
        Tolerant::Unknown(text) => Reported::Unrecognised(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::read_record;
    use candlewick_sdk::{Direction, Millis, Outcome};
    use serde_json::{Value, json};

    fn report(json: Value) -> TradeReport {
        let unrecognised = UnrecognisedData::new();
        report_of(read_record(json, &unrecognised).unwrap(), None, &unrecognised)
    }

    #[test]
    fn a_trade_is_over_when_the_venue_says_it_and_its_outcome_known_when_it_says_that() {
        let unrecognised = |text: &str| Progress::Unrecognised(text.to_owned());
        for (status, result, expected) in [
            (json!("OPEN"), json!("PENDING"), Progress::Running),
            (json!("COMPLETED"), Value::Null, Progress::OverUnreported),
            (json!("COMPLETED"), json!("REFUNDED"), unrecognised("REFUNDED")),
            (json!("COMPLETED"), json!("PENDING"), Progress::Running),
            (json!("COMPLETED"), json!("LOST"), Progress::Over(Outcome::Lost)),
            (json!("CANCELLED"), json!("PENDING"), Progress::Over(Outcome::Cancelled)),
            (json!("FROZEN"), json!("PENDING"), unrecognised("FROZEN")),
            (json!("FROZEN"), json!("won"), unrecognised("won")),
            (Value::Null, json!("WON"), Progress::Over(Outcome::Won)),
            (Value::Null, Value::Null, Progress::Running),
        ] {
            let found = report(json!({"id": "01JT", "status": status, "result": result})).progress;
            assert_eq!(found, expected, "{status} {result}");
        }
    }

    #[test]
    fn the_account_is_known_by_the_flag_and_else_by_the_wallets() {
        let paid_by = |types: &[&str], is_demo: Value| {
            let entry = |wallet: &&str| json!({"id": "w", "type": wallet, "amount": 1, "balance": 2});
            let wallets: Vec<Value> = types.iter().map(entry).collect();
            report(json!({"id": "01JT", "wallets": wallets, "isDemo": is_demo})).account
        };
        for (types, expected) in [
            (&["DEMO"][..], Some(Account::Demo)),
            (&["REAL"], Some(Account::Real)),
            (&["REAL", "BONUS"], Some(Account::Real)),
            (&["DEMO", "REAL"], Some(Account::Real)),
            (&["GIFT"], None),
            (&[], None),
        ] {
            assert_eq!(paid_by(types, Value::Null), expected, "{types:?}");
        }
        for (types, is_demo, expected) in [
            (&["REAL"][..], true, Account::Real),
            (&["DEMO", "REAL"], true, Account::Real),
            (&["DEMO"], false, Account::Real),
            (&["BONUS"], true, Account::Demo),
            (&["DEMO"], true, Account::Demo),
        ] {
            assert_eq!(paid_by(types, json!(is_demo)), Some(expected), "{types:?} {is_demo}");
        }
    }

    #[test]
    fn a_trade_of_another_user_says_whose_it_is() {
        let unrecognised = UnrecognisedData::new();
        let owner = |user: Option<&str>| {
            let record = read_record(json!({"id": "01JT", "userId": "u2"}), &unrecognised).unwrap();
            report_of(record, user, &unrecognised).other_user
        };
        assert_eq!([owner(None), owner(Some("u2"))], [None, None]);
        assert_eq!(owner(Some("u1")).as_deref(), Some("u2"));
    }

    #[test]
    fn every_form_of_reply_is_a_trade_and_what_is_missing_is_none() {
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
            direction: Some(Reported::<Direction>::Unrecognised("UP".to_owned())),
            close_type: Some(Reported::Known("01:00".parse().unwrap())),
            ..TradeReport::new("01JT")
        };
        assert_eq!(found, expected);
    }

    #[test]
    fn a_payout_that_is_none_is_counted() {
        let unrecognised = UnrecognisedData::new();
        let record = read_record(json!({"id": "01JT", "payout": -5}), &unrecognised).unwrap();
        let report = report_of(record, None, &unrecognised);
        assert_eq!((report.payout, report.impossible_payout), (None, Some((-5).into())));
        assert_eq!(unrecognised.snapshot().into_keys().collect::<Vec<_>>(), ["Trade.payout unreadable"]);
    }
}
