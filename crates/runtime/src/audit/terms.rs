//! The venue's report of a trade against what was asked for.

use super::{Audit, Finding, named};
use candlewick_broker::{OpenOrder, Reported, TradeReport};
use candlewick_engine::IntentId;
use candlewick_sdk::{ExpirationType, Millis};
use std::fmt::Display;

/// What the report says of whose money is at stake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Terms {
    /// The account's that was asked for, or nothing.
    Ours,
    /// Another account's: nothing more may be opened.
    OtherAccount,
}

/// Compares what the report says with the order. What it leaves out is not held against it.
pub(crate) fn check_terms(
    intent: IntentId,
    order: &OpenOrder,
    report: &TradeReport,
) -> (Terms, Vec<Finding>) {
    let mut differences = Vec::new();
    let mut compare = |name: &str, reported: Option<String>, wanted: String| {
        if let Some(found) = reported.filter(|found| *found != wanted) {
            differences.push(format!("{name} is {found}, asked for was {wanted}"));
        }
    };
    compare("symbol", report.symbol.clone(), order.symbol.to_string());
    compare("direction", known(report.direction.as_ref()), order.direction.to_string());
    let amount = report.amount.map(|amount| amount.normalize().to_string());
    compare("amount", amount, order.amount.normalize().to_string());
    compare("close type", known(report.close_type.as_ref()), order.close_type.to_string());
    let expiration = report.expiration_type.as_ref().and_then(Reported::known);
    let expiration = expiration.map(|known| known.as_str().to_owned());
    compare("expiration type", expiration, order.expiration_type.as_str().to_owned());
    differences.extend(check_span(order, report));
    let account = report.account.filter(|account| *account != order.account);
    let terms = if account.is_some() { Terms::OtherAccount } else { Terms::Ours };
    if let Some(account) = account {
        differences.push(format!("it is on the {account} account, asked for was {}", order.account));
    }
    let finding =
        |difference| Finding::alarm(Audit::Terms, format!("{}differs: {difference}", named(intent)));
    (terms, differences.into_iter().map(finding).collect())
}

fn known<T: Display>(reported: Option<&Reported<T>>) -> Option<String> {
    reported.and_then(Reported::known).map(ToString::to_string)
}

/// The trade must last as long as its type says (`observed: expiry`).
fn check_span(order: &OpenOrder, report: &TradeReport) -> Option<String> {
    let (open, close) = (report.open_time?, report.close_time?);
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
    use candlewick_broker::Account;

    fn report() -> TradeReport {
        let order = order_of_tests();
        TradeReport {
            symbol: Some(order.symbol.to_string()),
            direction: Some(Reported::Known(order.direction)),
            amount: Some(order.amount),
            close_type: Some(Reported::Known(order.close_type)),
            open_time: Some(Millis::new(1_999)),
            close_time: Some(Millis::new(1_999) + order.close_type.duration()),
            account: Some(Account::Demo),
            ..TradeReport::default()
        }
    }

    fn check(change: impl Fn(&mut TradeReport), expected: &[&str]) {
        let mut report = report();
        change(&mut report);
        let (terms, findings) = check_terms(IntentId::new(7), &order_of_tests(), &report);
        assert_eq!(findings.len(), expected.len(), "{findings:?}");
        for (finding, part) in findings.iter().zip(expected) {
            assert!(finding.text.starts_with("intent 7 ") && finding.text.contains(part), "{finding:?}");
        }
        assert_eq!(terms == Terms::OtherAccount, report.account == Some(Account::Real));
    }

    #[test]
    fn each_term_that_differs_is_named_and_what_is_left_out_is_not() {
        check(|_| {}, &[]);
        check(|report| *report = TradeReport::default(), &[]);
        check(|report| report.symbol = Some("XRPUSDT".to_owned()), &["symbol is XRPUSDT"]);
        check(|report| report.amount = Some("11".parse().unwrap()), &["amount is 11"]);
        check(
            |report| report.close_type = Some(Reported::Known("05:00".parse().unwrap())),
            &["close type is 05:00"],
        );
        check(|report| report.close_time = report.close_time.map(|at| at + Millis::SECOND), &["it lasts"]);
        check(|report| report.account = Some(Account::Real), &["it is on the real account"]);
    }
}
