//! Doubts, records and listings for the tests.

use super::{Doubt, Listing};
use candlewick_api::model::{Tolerant, TradeRecord};
use candlewick_api::{Account, OpenOrder};
use candlewick_engine::IntentId;
use candlewick_sdk::rust_decimal::Decimal;
use candlewick_sdk::{Direction, ExpirationType, Millis, Money};

/// A purchase for 10.00 over one minute, sent at 100 s, whose request ended at 110 s.
pub(super) fn doubt(number: u64) -> Doubt {
    Doubt {
        intent: IntentId::new(number),
        order: order(),
        stake: Money::from_minor(1_000),
        sent: Millis::from_seconds(100),
        ended: Millis::from_seconds(110),
        expected_close_latest: Millis::from_seconds(201),
    }
}

/// A purchase for 10.00 over one minute on the demo account.
pub(crate) fn order() -> OpenOrder {
    OpenOrder {
        symbol: "BTCUSDT".parse().expect("it is a symbol"),
        direction: Direction::Buy,
        amount: Decimal::TEN,
        close_type: "01:00".parse().expect("it is a duration code"),
        expiration_type: ExpirationType::Unstated,
        account: Account::Demo,
    }
}

/// A trade that is what [`doubt`] asked for, requested at `at`.
pub(super) fn record(id: &str, at: Millis) -> TradeRecord {
    let order = doubt(1).order;
    TradeRecord {
        id: id.to_owned(),
        symbol: Some(order.symbol.to_string()),
        direction: Some(Tolerant::Known(order.direction)),
        expiration_type: Some(Tolerant::Known(ExpirationType::TimeFixed)),
        close_type: Some(Tolerant::Known(order.close_type)),
        amount: Some(order.amount),
        request_time: Some(at),
        created_at: Some(at),
        open_time: Some(at.floor_to(Millis::SECOND) + Millis::new(999)),
        is_demo: Some(true),
        from_api_token: Some(true),
        ..TradeRecord::default()
    }
}

/// A complete listing taken at a moment.
pub(super) fn listing(at: i64, trades: Vec<TradeRecord>) -> Listing {
    let at = Millis::new(at);
    Listing { began: at, ended: at, is_complete: true, trades }
}
