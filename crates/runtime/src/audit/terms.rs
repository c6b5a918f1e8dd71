//! The venue's record of a trade against what was asked for.

use super::{Audit, Finding, named};
use crate::resolver::account_of;
use candlewick_api::model::{Tolerant, TradeRecord};
use candlewick_api::{Account, OpenOrder};
use candlewick_engine::IntentId;
use candlewick_sdk::{ExpirationType, Millis};
use std::fmt::Display;

/// What the record says of whose money is at stake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Terms {
    /// The account's that was asked for, or nothing.
    Ours,
    /// Another account's: nothing more may be opened.
    OtherAccount,
}

/// Compares what the record tells with the order. What it leaves out is not held against it.
pub(crate) fn check_terms(
    intent: IntentId,
    order: &OpenOrder,
    record: &TradeRecord,
) -> (Terms, Vec<Finding>) {
    let mut differences = Vec::new();
    let mut compare = |name: &str, told: Option<String>, wanted: String| {
        if let Some(told) = told.filter(|told| *told != wanted) {
            differences.push(format!("{name} is {told}, asked for was {wanted}"));
        }
    };
    compare("symbol", record.symbol.clone(), order.symbol.to_string());
    compare("direction", known(record.direction.as_ref()), order.direction.to_string());
    let amount = record.amount.map(|amount| amount.normalize().to_string());
    compare("amount", amount, order.amount.normalize().to_string());
    compare("close type", known(record.close_type.as_ref()), order.close_type.to_string());
    let expiration = record.expiration_type.as_ref().and_then(Tolerant::known);
    let expiration = expiration.map(|told| told.as_str().to_owned());
    compare("expiration type", expiration, order.expiration_type.as_str().to_owned());
    differences.extend(check_span(order, record));
    let account = account_of(record).filter(|account| *account != order.account);
    let terms = if account.is_some() { Terms::OtherAccount } else { Terms::Ours };
    if let Some(account) = account {
        let name = |account| if account == Account::Demo { "demo" } else { "real" };
        differences.push(format!(
            "it is on the {} account, asked for was {}",
            name(account),
            name(order.account)
        ));
    }
    let finding =
        |difference| Finding::alarm(Audit::Terms, format!("{}differs: {difference}", named(intent)));
    (terms, differences.into_iter().map(finding).collect())
}

fn known<T: Display>(told: Option<&Tolerant<T>>) -> Option<String> {
    told.and_then(Tolerant::known).map(ToString::to_string)
}

/// The trade must last as long as its type says (`observed: expiry`).
fn check_span(order: &OpenOrder, record: &TradeRecord) -> Option<String> {
    let (open, close) = (record.open_time?, record.close_time?);
    let (lasts, length) = (close - open, order.close_type.duration());
    let is_sound = match order.expiration_type {
        ExpirationType::Unstated | ExpirationType::TimeFixed => lasts == length,
        // To the end of a candle; too little of one, and it is the next one's.
        ExpirationType::CandleClose => {
            lasts > Millis::ZERO && lasts <= length * 2 && close.is_aligned_to(length)
        }
        ExpirationType::NextCandle => lasts == length && close.is_aligned_to(length),
    };
    let kind = order.expiration_type.as_str();
    (!is_sound)
        .then(|| format!("it lasts {lasts} ms and closes at {close}, which is not a {kind} of {length} ms"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resolver::order_of_tests;

    fn record() -> TradeRecord {
        let order = order_of_tests();
        TradeRecord {
            symbol: Some(order.symbol.to_string()),
            direction: Some(Tolerant::Known(order.direction)),
            amount: Some(order.amount),
            close_type: Some(Tolerant::Known(order.close_type)),
            open_time: Some(Millis::new(1_999)),
            close_time: Some(Millis::new(1_999) + order.close_type.duration()),
            is_demo: Some(true),
            ..TradeRecord::default()
        }
    }

    fn check(change: impl Fn(&mut TradeRecord), expected: &[&str]) {
        let mut record = record();
        change(&mut record);
        let (terms, findings) = check_terms(IntentId::new(7), &order_of_tests(), &record);
        assert_eq!(findings.len(), expected.len(), "{findings:?}");
        for (finding, part) in findings.iter().zip(expected) {
            assert!(finding.text.starts_with("intent 7 ") && finding.text.contains(part), "{finding:?}");
        }
        assert_eq!(terms == Terms::OtherAccount, record.is_demo == Some(false));
    }

    #[test]
    fn each_term_that_differs_is_named_and_what_is_left_out_is_not() {
        check(|_| {}, &[]);
        check(|record| *record = TradeRecord::default(), &[]);
        check(|record| record.symbol = Some("XRPUSDT".to_owned()), &["symbol is XRPUSDT"]);
        check(|record| record.amount = Some("11".parse().unwrap()), &["amount is 11"]);
        check(
            |record| record.close_type = Some(Tolerant::Known("05:00".parse().unwrap())),
            &["close type is 05:00"],
        );
        check(|record| record.close_time = record.close_time.map(|at| at + Millis::SECOND), &["it lasts"]);
        check(|record| record.is_demo = Some(false), &["it is on the real account"]);
    }
}
