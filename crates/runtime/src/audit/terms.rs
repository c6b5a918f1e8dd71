//! Compares a reported trade with the terms of the order.

use super::{Audit, Finding, trade_label};
use candlewick_broker::{Account, ReportedValue, TradeOrder, TradeReport};
use candlewick_engine::IntentId;
use candlewick_sdk::rust_decimal::Decimal;
use candlewick_sdk::{ExpirationType, Millis, Payout, Symbol};
use candlewick_statistics::break_even;
use std::collections::BTreeMap;
use std::fmt::Display;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TermsCheck {
    AsOrdered,
    /// The account, symbol, direction, amount or expiry differs. The run halts until the operator reviews the trade.
    Other {
        reason: String,
    },
}

#[derive(Clone, Debug)]
pub(crate) struct ExpectedTerms {
    pub(crate) requested: TradeOrder,
    pub(crate) booked: TradeOrder,
}

/// Compares a trade report with the terms of the order. Fields that the report does not contain are accepted.
pub(crate) fn check_terms(
    intent: IntentId,
    ordered: &ExpectedTerms,
    report: &TradeReport,
) -> (TermsCheck, Vec<Finding>) {
    let ExpectedTerms { requested: asked, booked } = ordered;
    let owner = check_owner(intent, asked, report);
    let compare = |name, found: Option<String>, of: fn(&TradeOrder) -> String| {
        describe_difference(name, &found?, (&of(asked), &of(booked)))
    };
    let amount = report.amount.map(|amount| amount.normalize().to_string());
    let expiration = report.expiration_type.as_ref().and_then(ReportedValue::value);
    let expiration = expiration.map(|known| known.as_str().to_owned());
    let terms = [
        compare("symbol", report.symbol.clone(), |order| order.symbol.to_string()),
        compare("direction", reported_text(report.direction.as_ref()), |order| order.direction.to_string()),
        compare("amount", amount, |order| order.amount.normalize().to_string()),
        compare("duration", reported_text(report.close_type.as_ref()), |order| order.close_type.to_string()),
        compare("expiration type", expiration, |order| order.expiration_type.as_str().to_owned()),
    ];
    let differences: Vec<String> = terms.into_iter().flatten().collect();
    let differs = || {
        let differences = differences.join("; ");
        (!differences.is_empty()).then(|| format!("trade #{intent} ({}) differs: {differences}", report.id))
    };
    let terms = match owner.clone().or_else(differs) {
        Some(reason) => TermsCheck::Other { reason },
        None => TermsCheck::AsOrdered,
    };
    let differences = differences.into_iter().chain(check_duration(asked, report));
    let finding = |what| Finding::alarm(Audit::Terms, format!("{}differs: {what}", trade_label(intent)));
    let owner = owner.map(|why| Finding::alarm(Audit::Terms, format!("{}- {why}", trade_label(intent))));
    (terms, owner.into_iter().chain(differences.map(finding)).collect())
}

fn check_owner(intent: IntentId, order: &TradeOrder, report: &TradeReport) -> Option<String> {
    let ordered = order.account;
    if let Some(account) = report.account.filter(|account| *account != ordered) {
        let staked = describe_stake(account, report.amount.or(Some(order.amount)));
        let id = &report.id;
        return Some(format!("{staked}: trade #{intent} ({id}) was ordered for the {ordered} account"));
    }
    let user = report.other_user.as_ref()?;
    Some(format!("trade #{intent} ({}) belongs to another user of the venue ({user})", report.id))
}

pub(crate) fn describe_stake(account: Account, amount: Option<Decimal>) -> String {
    let amount = amount.map_or_else(|| "an unknown amount".to_owned(), |amount| format!("{amount:.2}"));
    let staked = format!("{amount} was staked on the {account} account");
    match account {
        Account::Real => format!("REAL MONEY: {staked}"),
        Account::Demo => staked,
    }
}

fn describe_difference(name: &str, found: &str, (asked, booked): (&str, &str)) -> Option<String> {
    if found == booked {
        None
    } else if asked == booked {
        Some(format!("{name} is {found}, but {asked} was ordered"))
    } else {
        Some(format!("{name} is {found}, but was {booked} before; {asked} was ordered"))
    }
}

fn reported_text<T: Display>(reported: Option<&ReportedValue<T>>) -> Option<String> {
    reported.and_then(ReportedValue::value).map(ToString::to_string)
}

/// Describes the trade's duration if it does not match the order's close type, as explained in `observed: expiry`.
fn check_duration(order: &TradeOrder, report: &TradeReport) -> Option<String> {
    let (open, close) = (report.open_time?, report.close_time?);
    let (lasts, length) = (close - open, order.close_type.duration());
    let is_sound = match order.expiration_type {
        ExpirationType::Unstated | ExpirationType::TimeFixed => lasts == length,
        // The trade ends with the current candle, or with the next candle if little of the current one is left.
        ExpirationType::CandleClose => {
            lasts > Millis::ZERO && lasts <= length * 2 && close.is_aligned_to(length)
        }
        ExpirationType::NextCandle => lasts == length && close.is_aligned_to(length),
    };
    let kind = order.expiration_type.as_str();
    (!is_sound).then(|| {
        format!("the trade lasts {lasts} ms and closes at {close}, but {length} ms ({kind}) were ordered")
    })
}

#[derive(Debug, Default)]
pub(crate) struct PayoutAudit {
    last: BTreeMap<Symbol, Payout>,
}

impl PayoutAudit {
    pub(crate) fn restore(&mut self, symbol: Symbol, payout: Payout) {
        self.last.insert(symbol, payout);
    }

    pub(crate) fn check(&mut self, symbol: Symbol, payout: Payout) -> Option<Finding> {
        let before = self.last.insert(symbol, payout).filter(|before| *before != payout)?;
        let needed = |payout: Payout| {
            break_even(payout.to_fraction()).map_or("-".to_owned(), |rate| format!("{:.2} %", rate * 100.0))
        };
        let text = format!(
            "{symbol} pays {payout} % instead of {before} %, so the break-even win rate is {} instead of {}",
            needed(payout),
            needed(before)
        );
        let finding = if payout < before { Finding::alarm } else { Finding::note };
        Some(finding(Audit::Payout, text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::Severity;
    use crate::resolver::{order_of_tests, report_of_tests};
    use candlewick_sdk::Direction;

    type Change = fn(&mut TradeReport);

    fn report() -> TradeReport {
        let close_time = Some(Millis::new(1_999) + Millis::MINUTE);
        TradeReport { close_time, expiration_type: None, ..report_of_tests("01JT", Millis::new(1_000)) }
    }

    fn as_ordered() -> ExpectedTerms {
        ExpectedTerms { requested: order_of_tests(), booked: order_of_tests() }
    }

    fn check(change: impl Fn(&mut TradeReport), expected: &[&str], other: Option<&str>) {
        let mut report = report();
        change(&mut report);
        let (terms, findings) = check_terms(IntentId::new(7), &as_ordered(), &report);
        assert_eq!(findings.len(), expected.len(), "{findings:?}");
        for (finding, part) in findings.iter().zip(expected) {
            assert!(finding.text.starts_with("trade #7 ") && finding.text.contains(part), "{finding:?}");
        }
        match (&terms, other) {
            (TermsCheck::AsOrdered, None) => {}
            (TermsCheck::Other { reason }, Some(part)) => assert!(reason.contains(part), "{reason}"),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn reason_names_all_differing_terms() {
        let mut report = report();
        report.symbol = Some("XRPUSDT".to_owned());
        report.amount = Some(11.into());
        let (terms, _) = check_terms(IntentId::new(7), &as_ordered(), &report);
        let is_whole = |why: &str| ["symbol is XRPUSDT", "amount is 11"].iter().all(|it| why.contains(it));
        assert!(matches!(&terms, TermsCheck::Other { reason } if is_whole(reason)), "{terms:?}");
    }

    #[test]
    fn names_differing_terms_and_accepts_missing_ones() {
        check(|_| {}, &[], None);
        check(|report| *report = TradeReport::default(), &[], None);
        let later = |row: &mut TradeReport| row.close_time = row.close_time.map(|at| at + Millis::SECOND);
        check(later, &["the trade lasts"], None);
        let next_candle = |report: &mut TradeReport| {
            report.expiration_type = Some(ReportedValue::Known(ExpirationType::NextCandle));
        };
        let changes: [(Change, &str); 7] = [
            (|report| report.symbol = Some("XRPUSDT".to_owned()), "symbol is XRPUSDT"),
            (|report| report.amount = Some(11.into()), "amount is 11"),
            (|report| report.account = Some(Account::Real), "REAL MONEY: 10.00 was staked on the real"),
            (|report| report.other_user = Some("u2".to_owned()), "another user of the venue (u2)"),
            (|report| report.direction = Some(ReportedValue::Known(Direction::Sell)), "direction is SELL"),
            (
                |report| report.close_type = Some(ReportedValue::Known("05:00".parse().unwrap())),
                "duration is 05:00, but 01:00 was ordered",
            ),
            (next_candle, "expiration type is NEXT_CANDLE"),
        ];
        for (change, part) in changes {
            check(change, &[part], Some(part));
        }
        // A value that the program does not know cannot be compared.
        check(|report| report.direction = Some(ReportedValue::Unrecognised("CALL".to_owned())), &[], None);
    }

    #[test]
    fn compares_changed_terms_with_those_in_force() {
        let booked = TradeOrder { amount: Decimal::from(50), ..order_of_tests() };
        let ordered = ExpectedTerms { requested: order_of_tests(), booked };
        let found = |amount| {
            let report = TradeReport { amount: Some(Decimal::from(amount)), ..report() };
            check_terms(IntentId::new(7), &ordered, &report).0
        };
        assert_eq!(found(50), TermsCheck::AsOrdered);
        let reason = "trade #7 (01JT) differs: amount is 10, but was 50 before; 10 was ordered".to_owned();
        assert_eq!(found(10), TermsCheck::Other { reason });
    }

    #[test]
    fn payout_change_names_both_break_evens_and_a_cut_alarms() {
        let payout = |percent: i32| Payout::from_percent(percent.into()).unwrap();
        let symbol = "BTCUSDT".parse().unwrap();
        let mut audit = PayoutAudit::default();
        audit.restore(symbol, payout(85));
        assert_eq!(audit.check(symbol, payout(85)), None);
        // The break-even win rates of the two payouts are 1 / 1.8 and 1 / 1.85.
        let cut = audit.check(symbol, payout(80)).unwrap();
        assert!(cut.text.contains("55.56 %") && cut.text.contains("54.05 %"), "{}", cut.text);
        assert_eq!(cut.severity, Severity::Alarm);
        let deeper = audit.check(symbol, payout(57)).unwrap();
        assert!(deeper.text.starts_with("BTCUSDT pays 57 % instead of 80 %"), "{}", deeper.text);
        audit.check(symbol, payout(80));
        assert_eq!(audit.check(symbol, payout(90)).map(|rise| rise.severity), Some(Severity::Note));
    }
}
