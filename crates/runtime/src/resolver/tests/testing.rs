use crate::resolver::OrderAttempt;
use candlewick_broker::{Account, ReportedValue, TradeListing, TradeOrder, TradeReport};
use candlewick_engine::IntentId;
use candlewick_sdk::rust_decimal::Decimal;
use candlewick_sdk::{Direction, ExpirationType, Millis, Money};

pub(crate) fn doubt(number: u64) -> OrderAttempt {
    OrderAttempt {
        intent: IntentId::new(number),
        order: order(),
        stake: Money::from_minor(1_000),
        sent: Millis::from_seconds(100),
        ended: Millis::from_seconds(110),
        latest_expected_close: Millis::from_seconds(201),
    }
}

pub(crate) fn order() -> TradeOrder {
    TradeOrder {
        symbol: "BTCUSDT".parse().expect("it is a symbol"),
        direction: Direction::Buy,
        amount: Decimal::TEN,
        close_type: "01:00".parse().expect("it is a duration code"),
        expiration_type: ExpirationType::Unstated,
        account: Account::Demo,
    }
}

pub(crate) fn report(id: &str, at: Millis) -> TradeReport {
    let order = doubt(1).order;
    TradeReport {
        id: id.to_owned(),
        symbol: Some(order.symbol.to_string()),
        direction: Some(ReportedValue::Known(order.direction)),
        expiration_type: Some(ReportedValue::Known(ExpirationType::TimeFixed)),
        close_type: Some(ReportedValue::Known(order.close_type)),
        amount: Some(order.amount),
        request_time: Some(at),
        created_time: Some(at),
        open_time: Some(at.floor_to(Millis::SECOND) + Millis::new(999)),
        account: Some(order.account),
        is_opened_with_token: Some(true),
        ..TradeReport::default()
    }
}

pub(crate) fn listing(at: i64, trades: Vec<TradeReport>) -> TradeListing {
    let at = Millis::new(at);
    TradeListing { began: at, ended: at, is_complete: true, trades, end_error: None }
}
