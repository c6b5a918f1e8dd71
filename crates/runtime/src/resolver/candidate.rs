//! Which of the venue's trades can be the one that an intent asked for.

use super::Doubt;
use candlewick_api::model::{Tolerant, TradeRecord, WalletType};
use candlewick_api::{Account, OpenOrder};
use candlewick_sdk::{ExpirationType, Millis};

/// `createdAt` stands in for a missing `requestTime`: how far the two may differ. It may be cut to whole seconds.
const CREATED_SLACK: Millis = Millis::SECOND;
/// `openTime` stands in for both: how long a request waits for it, as it is the end of its second.
const OPEN_SLACK: Millis = Millis::SECOND;

/// When a request reached the venue, ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Window {
    pub(crate) from: Millis,
    pub(crate) until: Millis,
}

/// How far a record is the trade that an intent asked for. A field that differs makes it another trade; one that
/// is missing, or holds a word that is not known, makes it unclear: such a trade is never adopted, and as long
/// as it is there the intent is never taken as not opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Likeness {
    /// It is another trade.
    Other,
    /// It may be the trade.
    Unclear,
    /// All that was asked for is as asked for.
    Same,
}

/// Compares a record with what an intent asked for.
pub(crate) fn compare(doubt: &Doubt, record: &TradeRecord, window: Window) -> Likeness {
    let by_token = if record.from_api_token == Some(false) { Likeness::Other } else { Likeness::Same };
    let by_time = compare_time(record, &doubt.order, window);
    by_token.min(compare_terms(&doubt.order, record)).min(by_time)
}

/// The same without its time and who asked for it.
pub(crate) fn compare_terms(order: &OpenOrder, record: &TradeRecord) -> Likeness {
    let respects = [
        compare_value(record.symbol.as_deref(), &order.symbol.as_str()),
        compare_tolerant(record.direction.as_ref(), &order.direction),
        compare_value(record.amount, &order.amount),
        compare_tolerant(record.close_type.as_ref(), &order.close_type),
        compare_expiration(record.expiration_type.as_ref(), order.expiration_type),
        compare_value(account_of(record), &order.account),
    ];
    respects.into_iter().min().unwrap_or(Likeness::Unclear)
}

/// When the request of a trade reached the venue, as nearly as its record tells.
pub(crate) fn request_time_of(record: &TradeRecord) -> Option<Millis> {
    record.request_time.or(record.created_at).or(record.open_time)
}

/// Whose money is at stake: `isDemo`, else what the paying wallets hold.
pub(crate) fn account_of(record: &TradeRecord) -> Option<Account> {
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

fn compare_value<T: PartialEq>(told: Option<T>, wanted: &T) -> Likeness {
    match told {
        Some(told) if told == *wanted => Likeness::Same,
        Some(_) => Likeness::Other,
        None => Likeness::Unclear,
    }
}

/// A word that is not known may mean the same.
fn compare_tolerant<T: PartialEq>(told: Option<&Tolerant<T>>, wanted: &T) -> Likeness {
    compare_value(told.and_then(Tolerant::known), &wanted)
}

/// One that was not stated is `TIME_FIXED` (`observed: expiry`).
fn compare_expiration(told: Option<&Tolerant<ExpirationType>>, wanted: ExpirationType) -> Likeness {
    let told = told.and_then(Tolerant::known).map(|told| told.as_str());
    compare_value(told, &wanted.as_str())
}

fn compare_time(record: &TradeRecord, order: &OpenOrder, window: Window) -> Likeness {
    let Some((earliest, latest)) = request_span(record, order) else { return Likeness::Unclear };
    if latest >= window.from && earliest <= window.until { Likeness::Same } else { Likeness::Other }
}

/// Between which moments the request of a trade reached the venue.
fn request_span(record: &TradeRecord, order: &OpenOrder) -> Option<(Millis, Millis)> {
    let open_wait = match order.expiration_type {
        ExpirationType::Unstated | ExpirationType::TimeFixed | ExpirationType::CandleClose => OPEN_SLACK,
        ExpirationType::NextCandle => order.close_type.duration() + OPEN_SLACK,
    };
    let by_request = record.request_time.map(|at| (at, at));
    let by_creation = || record.created_at.map(|at| (at - CREATED_SLACK, at + CREATED_SLACK));
    let by_open = || record.open_time.map(|at| (at - open_wait, at));
    by_request.or_else(by_creation).or_else(by_open)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resolver::testing;
    use candlewick_api::model::WalletEntry;
    use candlewick_sdk::Direction;
    use candlewick_sdk::rust_decimal::Decimal;

    const WINDOW: Window = Window { from: Millis::new(100_000), until: Millis::new(200_000) };

    fn check(change: impl Fn(&mut Doubt, &mut TradeRecord), expected: Likeness) {
        let mut doubt = testing::doubt(1);
        let mut record = testing::record("r", Millis::new(150_000));
        change(&mut doubt, &mut record);
        assert_eq!(compare(&doubt, &record, WINDOW), expected, "{record:?}");
    }

    fn wallet(wallet_type: WalletType) -> WalletEntry {
        let nothing = Decimal::ZERO;
        WalletEntry {
            id: String::new(),
            wallet_type,
            amount: nothing,
            trade_percent: nothing,
            balance_percent: nothing,
            balance: nothing,
        }
    }

    #[test]
    fn every_field_that_was_asked_for_must_be_the_same() {
        check(|_, _| {}, Likeness::Same);
        check(|_, record| record.symbol = Some("ETHUSDT".into()), Likeness::Other);
        check(|_, record| record.direction = Some(Tolerant::Known(Direction::Sell)), Likeness::Other);
        check(|_, record| record.amount = Some(Decimal::new(1_001, 2)), Likeness::Other);
        check(
            |_, record| record.close_type = Some(Tolerant::Known("02:00".parse().unwrap())),
            Likeness::Other,
        );
        check(|_, record| record.is_demo = Some(false), Likeness::Other);
        check(|_, record| record.from_api_token = Some(false), Likeness::Other);
        // The same number, written with other decimals.
        check(|_, record| record.amount = Some(Decimal::new(10_000, 3)), Likeness::Same);
    }

    #[test]
    fn what_is_missing_or_unknown_excludes_nothing_and_proves_nothing() {
        check(|_, record| record.symbol = None, Likeness::Unclear);
        check(|_, record| record.direction = None, Likeness::Unclear);
        check(|_, record| record.direction = Some(Tolerant::Unknown("CALL".into())), Likeness::Unclear);
        check(|_, record| record.amount = None, Likeness::Unclear);
        check(|_, record| record.close_type = None, Likeness::Unclear);
        check(|_, record| record.expiration_type = None, Likeness::Unclear);
        check(|_, record| record.is_demo = None, Likeness::Unclear);
        check(|_, record| record.from_api_token = None, Likeness::Same);
        // A list item without the filter by user has neither direction nor duration (contract 2.3).
        let bare = |record: &mut TradeRecord| (record.direction, record.close_type) = (None, None);
        check(|_, record| bare(record), Likeness::Unclear);
        check(
            |_, record| {
                bare(record);
                record.amount = Some(Decimal::ONE);
            },
            Likeness::Other,
        );
    }

    #[test]
    fn an_expiration_that_is_not_stated_is_time_fixed() {
        let types = [ExpirationType::Unstated, ExpirationType::TimeFixed];
        for (wanted, told) in types.iter().flat_map(|wanted| types.map(|told| (*wanted, told))) {
            check(
                |doubt, record| {
                    doubt.order.expiration_type = wanted;
                    record.expiration_type = Some(Tolerant::Known(told));
                },
                Likeness::Same,
            );
        }
        check(|doubt, _| doubt.order.expiration_type = ExpirationType::CandleClose, Likeness::Other);
    }

    #[test]
    fn the_account_is_told_by_the_flag_and_else_by_the_wallets() {
        let paid = |record: &mut TradeRecord, by: &[WalletType]| {
            record.is_demo = None;
            record.wallets = by.iter().cloned().map(wallet).collect();
        };
        check(|_, record| paid(record, &[WalletType::Demo]), Likeness::Same);
        check(|_, record| paid(record, &[WalletType::Real]), Likeness::Other);
        check(|_, record| paid(record, &[WalletType::Real, WalletType::Bonus]), Likeness::Other);
        check(|_, record| paid(record, &[WalletType::Demo, WalletType::Real]), Likeness::Unclear);
        check(|_, record| paid(record, &[WalletType::Unknown("GIFT".into())]), Likeness::Unclear);
        // The flag is the venue's own word.
        check(
            |_, record| {
                paid(record, &[WalletType::Real]);
                record.is_demo = Some(true);
            },
            Likeness::Same,
        );
    }

    #[test]
    fn the_request_must_have_arrived_within_the_window() {
        let at = |request: Option<i64>, created: Option<i64>, open: Option<i64>, expected| {
            check(
                |_, record| {
                    record.request_time = request.map(Millis::new);
                    record.created_at = created.map(Millis::new);
                    record.open_time = open.map(Millis::new);
                },
                expected,
            );
        };
        at(Some(99_999), Some(150_000), Some(150_000), Likeness::Other);
        at(Some(100_000), None, None, Likeness::Same);
        at(Some(200_000), None, None, Likeness::Same);
        at(Some(200_001), None, None, Likeness::Other);
        // Created up to a second before or after.
        at(None, Some(98_999), Some(150_000), Likeness::Other);
        at(None, Some(99_000), None, Likeness::Same);
        at(None, Some(201_000), None, Likeness::Same);
        at(None, Some(201_001), None, Likeness::Other);
        // Opened up to a second after.
        at(None, None, Some(99_999), Likeness::Other);
        at(None, None, Some(100_000), Likeness::Same);
        at(None, None, Some(201_000), Likeness::Same);
        at(None, None, Some(201_001), Likeness::Other);
        at(None, None, None, Likeness::Unclear);
    }

    #[test]
    fn the_open_of_a_next_candle_comes_up_to_a_candle_after_its_request() {
        for (open, expected) in [(261_000, Likeness::Same), (261_001, Likeness::Other)] {
            check(
                |doubt, record| {
                    doubt.order.expiration_type = ExpirationType::NextCandle;
                    record.expiration_type = Some(Tolerant::Known(ExpirationType::NextCandle));
                    (record.request_time, record.created_at) = (None, None);
                    record.open_time = Some(Millis::new(open));
                },
                expected,
            );
        }
    }
}
