//! Compares trades at the venue with the order of an intent.

use super::OrderAttempt;
use candlewick_broker::{ReportedValue, TradeOrder, TradeReport};
use candlewick_sdk::{ExpirationType, Millis};

/// Tolerance for creation times, used if the request time is missing. The venue may truncate creation times to seconds.
const CREATION_TOLERANCE: Millis = Millis::SECOND;
/// Tolerance for open times, used if the request time is missing. The venue rounds open times up to full seconds.
const OPEN_TOLERANCE: Millis = Millis::SECOND;

/// Period in which the request must have reached the venue, including both ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Window {
    pub(crate) from: Millis,
    pub(crate) until: Millis,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Match {
    Different,
    /// Fields are missing or unknown. The trade is never adopted, but keeps the intent in doubt.
    Unclear,
    Same,
}

pub(crate) fn compare(attempt: &OrderAttempt, report: &TradeReport, window: Window) -> Match {
    let is_foreign = report.is_opened_with_token == Some(false) || report.other_user.is_some();
    let by_token = if is_foreign { Match::Different } else { Match::Same };
    let by_time = compare_time(report, &attempt.order, window);
    by_token.min(compare_terms(&attempt.order, report)).min(by_time)
}

/// Returns whether symbol, account and time match the order, but the amount, direction or expiry differs.
pub(crate) fn is_deviating_trade(attempt: &OrderAttempt, report: &TradeReport, uncertainty: Millis) -> bool {
    is_deviating_trade_within(attempt, report, attempt.arrival_window(uncertainty))
}

pub(super) fn is_deviating_trade_within(
    attempt: &OrderAttempt,
    report: &TradeReport,
    window: Window,
) -> bool {
    let order = &attempt.order;
    report.is_opened_with_token != Some(false)
        && report.other_user.is_none()
        && compare_value(report.symbol.as_deref(), &order.symbol.as_str()) == Match::Same
        && compare_value(report.account, &order.account) != Match::Different
        && compare_time(report, order, window) == Match::Same
        && compare_terms(order, report) == Match::Different
}

pub(crate) fn states_all_terms(report: &TradeReport) -> bool {
    let direction = report.direction.as_ref().and_then(ReportedValue::value);
    let duration = report.close_type.as_ref().and_then(ReportedValue::value);
    direction.is_some() && duration.is_some() && report.amount.is_some()
}

pub(crate) fn compare_terms(order: &TradeOrder, report: &TradeReport) -> Match {
    let respects = [
        compare_value(report.symbol.as_deref(), &order.symbol.as_str()),
        compare_reported(report.direction.as_ref(), &order.direction),
        compare_value(report.amount, &order.amount),
        compare_reported(report.close_type.as_ref(), &order.close_type),
        compare_expiration(report.expiration_type.as_ref(), order.expiration_type),
        compare_value(report.account, &order.account),
    ];
    respects.into_iter().min().unwrap_or(Match::Unclear)
}

pub(crate) fn reported_request_time(report: &TradeReport) -> Option<Millis> {
    report.request_time.or(report.created_time).or(report.open_time)
}

fn compare_value<T: PartialEq>(reported: Option<T>, wanted: &T) -> Match {
    match reported {
        Some(value) if value == *wanted => Match::Same,
        Some(_) => Match::Different,
        None => Match::Unclear,
    }
}

fn compare_reported<T: PartialEq>(reported: Option<&ReportedValue<T>>, wanted: &T) -> Match {
    compare_value(reported.and_then(ReportedValue::value), &wanted)
}

/// Compares expiration types. An unstated type means `TIME_FIXED` (see `observed: expiry`).
fn compare_expiration(reported: Option<&ReportedValue<ExpirationType>>, wanted: ExpirationType) -> Match {
    let reported = reported.and_then(ReportedValue::value).map(|known| known.as_str());
    compare_value(reported, &wanted.as_str())
}

fn compare_time(report: &TradeReport, order: &TradeOrder, window: Window) -> Match {
    let Some((earliest, latest)) = request_span(report, order) else { return Match::Unclear };
    if latest >= window.from && earliest <= window.until { Match::Same } else { Match::Different }
}

fn request_span(report: &TradeReport, order: &TradeOrder) -> Option<(Millis, Millis)> {
    let open_wait = match order.expiration_type {
        ExpirationType::Unstated | ExpirationType::TimeFixed | ExpirationType::CandleClose => OPEN_TOLERANCE,
        ExpirationType::NextCandle => order.close_type.duration() + OPEN_TOLERANCE,
    };
    let by_request = report.request_time.map(|at| (at, at));
    let by_creation = || report.created_time.map(|at| (at - CREATION_TOLERANCE, at + CREATION_TOLERANCE));
    let by_open = || report.open_time.map(|at| (at - open_wait, at));
    by_request.or_else(by_creation).or_else(by_open)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resolver::testing;
    use candlewick_broker::Account;
    use candlewick_sdk::Direction;
    use candlewick_sdk::rust_decimal::Decimal;

    const WINDOW: Window = Window { from: Millis::new(100_000), until: Millis::new(200_000) };

    fn check(change: impl Fn(&mut OrderAttempt, &mut TradeReport), expected: Match) {
        let mut doubt = testing::doubt(1);
        let mut report = testing::report("r", Millis::new(150_000));
        change(&mut doubt, &mut report);
        assert_eq!(compare(&doubt, &report, WINDOW), expected, "{report:?}");
    }

    #[test]
    fn all_ordered_fields_must_match() {
        check(|_, _| {}, Match::Same);
        check(|_, report| report.symbol = Some("ETHUSDT".into()), Match::Different);
        check(|_, report| report.direction = Some(ReportedValue::Known(Direction::Sell)), Match::Different);
        check(|_, report| report.amount = Some(Decimal::new(1_001, 2)), Match::Different);
        check(
            |_, row| row.close_type = Some(ReportedValue::Known("02:00".parse().unwrap())),
            Match::Different,
        );
        check(|_, report| report.account = Some(Account::Real), Match::Different);
        check(|_, report| report.is_opened_with_token = Some(false), Match::Different);
        check(|_, report| report.amount = Some(Decimal::new(10_000, 3)), Match::Same);
    }

    #[test]
    fn departure_matches_time_symbol_and_account() {
        let same = || testing::report("r", Millis::new(130_000));
        let sold = || TradeReport { direction: Some(ReportedValue::Known(Direction::Sell)), ..same() };
        for (report, expected) in [
            (same(), false),
            (sold(), true),
            (TradeReport { amount: Some(Decimal::from(50)), ..same() }, true),
            (
                TradeReport { close_type: Some(ReportedValue::Known("02:00".parse().unwrap())), ..same() },
                true,
            ),
            (TradeReport { symbol: Some("ETHUSDT".into()), ..sold() }, false),
            (TradeReport { symbol: None, ..sold() }, false),
            (TradeReport { account: Some(Account::Real), ..sold() }, false),
            (TradeReport { is_opened_with_token: Some(false), ..sold() }, false),
            // The request was sent at 100 s and ended at 110 s. It arrives at the venue up to 30 s later.
            (TradeReport { request_time: Some(Millis::new(97_999)), ..sold() }, false),
            (TradeReport { request_time: Some(Millis::new(141_001)), ..sold() }, false),
        ] {
            assert_eq!(
                is_deviating_trade(&testing::doubt(1), &report, Millis::SECOND),
                expected,
                "{report:?}"
            );
        }
    }

    #[test]
    fn missing_or_unknown_fields_are_unclear() {
        check(|_, report| report.symbol = None, Match::Unclear);
        check(|_, report| report.direction = None, Match::Unclear);
        check(
            |_, report| report.direction = Some(ReportedValue::Unrecognised("CALL".into())),
            Match::Unclear,
        );
        check(|_, report| report.amount = None, Match::Unclear);
        check(|_, report| report.close_type = None, Match::Unclear);
        check(|_, report| report.expiration_type = None, Match::Unclear);
        check(|_, report| report.account = None, Match::Unclear);
        check(|_, report| report.is_opened_with_token = None, Match::Same);
        // A venue's list may omit direction and duration.
        for (amount, expected) in [(Decimal::TEN, Match::Unclear), (Decimal::ONE, Match::Different)] {
            let bare = |_: &mut OrderAttempt, report: &mut TradeReport| {
                (report.direction, report.close_type, report.amount) = (None, None, Some(amount));
            };
            check(bare, expected);
        }
        // An expiration type that is not stated means TIME_FIXED.
        let types = [ExpirationType::Unstated, ExpirationType::TimeFixed];
        for (wanted, requested) in types.into_iter().flat_map(|wanted| types.map(|other| (wanted, other))) {
            let state = |doubt: &mut OrderAttempt, report: &mut TradeReport| {
                doubt.order.expiration_type = wanted;
                report.expiration_type = Some(ReportedValue::Known(requested));
            };
            check(state, Match::Same);
        }
        check(|doubt, _| doubt.order.expiration_type = ExpirationType::CandleClose, Match::Different);
    }

    #[test]
    fn the_request_must_have_arrived_within_the_window() {
        let at = |request: Option<i64>, created: Option<i64>, open: Option<i64>, expected| {
            let [request_time, created_time, open_time] =
                [request, created, open].map(|time| time.map(Millis::new));
            check(
                |_, report| *report = TradeReport { request_time, created_time, open_time, ..report.clone() },
                expected,
            );
        };
        at(Some(99_999), Some(150_000), Some(150_000), Match::Different);
        at(Some(100_000), None, None, Match::Same);
        at(Some(200_000), None, None, Match::Same);
        at(Some(200_001), None, None, Match::Different);
        // The creation time may be a second too early or too late.
        at(None, Some(98_999), Some(150_000), Match::Different);
        at(None, Some(99_000), None, Match::Same);
        at(None, Some(201_000), None, Match::Same);
        at(None, Some(201_001), None, Match::Different);
        // The open time may be a second too late.
        at(None, None, Some(99_999), Match::Different);
        at(None, None, Some(100_000), Match::Same);
        at(None, None, Some(201_000), Match::Same);
        at(None, None, Some(201_001), Match::Different);
        at(None, None, None, Match::Unclear);
    }

    #[test]
    fn next_candle_may_open_one_candle_after_the_request() {
        for (open, expected) in [(261_000, Match::Same), (261_001, Match::Different)] {
            let change = |doubt: &mut OrderAttempt, report: &mut TradeReport| {
                doubt.order.expiration_type = ExpirationType::NextCandle;
                report.expiration_type = Some(ReportedValue::Known(ExpirationType::NextCandle));
                (report.request_time, report.created_time) = (None, None);
                report.open_time = Some(Millis::new(open));
            };
            check(change, expected);
        }
    }
}
