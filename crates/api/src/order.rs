//! Request bodies for opening a trade (contract 4.1, endpoint 4).

use crate::settings::{OpenBody, Settings};
use candlewick_broker::{Account, OpenOrder};
use candlewick_sdk::{CloseType, Direction, ExpirationType};
use rust_decimal::Decimal;
use rust_decimal::prelude::ToPrimitive;
use serde::ser::Error;
use serde::{Serialize, Serializer};

/// Shape A (contract 4.1, endpoint 4).
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct FullBody<'a> {
    is_demo: bool,
    close_type: CloseType,
    direction: Direction,
    symbol: &'a str,
    #[serde(serialize_with = "number")]
    amount: Decimal,
    #[serde(skip_serializing_if = "Option::is_none")]
    expiration_type: Option<&'static str>,
}

/// Shape B (contract 4.1, endpoint 4).
#[derive(Serialize)]
struct ShortBody<'a> {
    symbol: &'a str,
    #[serde(serialize_with = "number")]
    volume: Decimal,
    direction: Direction,
}

/// Returns why the configured body shape cannot express an order.
///
/// A short body would silently open a different trade.
pub(crate) fn unstatable(order: &OpenOrder, settings: &Settings) -> Option<String> {
    if settings.open_body == OpenBody::Full {
        return None;
    }
    let OpenOrder { account, close_type, expiration_type, .. } = order;
    let default = settings.short_close_type;
    let is_default = default == Some(*close_type)
        && matches!(expiration_type, ExpirationType::Unstated | ExpirationType::TimeFixed);
    let problem = if *account == Account::Real {
        "on which account a trade is opened, so the real one is never traded with it".to_owned()
    } else if !is_default {
        let default = default.map_or_else(String::new, |default| format!(", {default} TIME_FIXED"));
        format!("how long a trade lasts, and {close_type} {expiration_type} is not the venue's own{default}")
    } else {
        return None;
    };
    Some(format!("broker.open_body = \"short\" cannot state {problem}"))
}

pub(crate) fn body_of(order: &OpenOrder, shape: OpenBody) -> serde_json::Result<Vec<u8>> {
    let symbol = order.symbol.as_str();
    match shape {
        OpenBody::Full => serde_json::to_vec(&FullBody {
            is_demo: order.account == Account::Demo,
            close_type: order.close_type,
            direction: order.direction,
            symbol,
            amount: order.amount,
            expiration_type: match order.expiration_type {
                ExpirationType::Unstated => None,
                stated => Some(stated.as_str()),
            },
        }),
        OpenBody::Short => {
            serde_json::to_vec(&ShortBody { symbol, volume: order.amount, direction: order.direction })
        }
    }
}

/// Serializes a decimal as a JSON number.
///
/// Integers stay integers; other values become the shortest float, exact up to 15 digits.
fn number<S: Serializer>(amount: &Decimal, serializer: S) -> Result<S::Ok, S::Error> {
    match amount.to_i64().filter(|_| amount.fract().is_zero()) {
        Some(whole) => serializer.serialize_i64(whole),
        None => serializer.serialize_f64(amount.to_string().parse().map_err(S::Error::custom)?),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    fn check_body(expiration_type: ExpirationType, account: Account, shape: OpenBody, expected: &Value) {
        let order = OpenOrder {
            symbol: "A&B/\"C\"".parse().unwrap(),
            direction: Direction::Sell,
            amount: Decimal::new(1_250, 2),
            close_type: "01:00".parse().unwrap(),
            expiration_type,
            account,
        };
        let body: Value = serde_json::from_slice(&body_of(&order, shape).unwrap()).unwrap();
        assert_eq!(&body, expected);
    }

    #[test]
    fn shape_a_sends_the_expiration_type_only_when_it_is_stated() {
        let body = json!({
            "isDemo": true, "closeType": "01:00", "direction": "SELL", "symbol": "A&B/\"C\"", "amount": 12.5,
        });
        check_body(ExpirationType::Unstated, Account::Demo, OpenBody::Full, &body);
        let mut stated = body;
        stated["isDemo"] = json!(false);
        stated["expirationType"] = json!("NEXT_CANDLE");
        check_body(ExpirationType::NextCandle, Account::Real, OpenBody::Full, &stated);
    }

    #[test]
    fn shape_b_sends_three_fields() {
        let body = json!({"symbol": "A&B/\"C\"", "volume": 12.5, "direction": "SELL"});
        check_body(ExpirationType::TimeFixed, Account::Demo, OpenBody::Short, &body);
    }

    #[test]
    fn decimals_are_written_as_numbers_with_their_own_digits() {
        for (text, written) in
            [("10", "10"), ("10.00", "10"), ("0.10", "0.1"), ("-12.34", "-12.34"), ("0.00000001", "1e-8")]
        {
            let mut buffer = Vec::new();
            let mut serializer = serde_json::Serializer::new(&mut buffer);
            number(&text.parse().unwrap(), &mut serializer).unwrap();
            assert_eq!(String::from_utf8(buffer).unwrap(), written);
        }
    }

    #[test]
    fn a_short_body_is_for_the_venues_own_expiry_on_the_demo_account() {
        let of = |close_type: &str, expiration_type, account| OpenOrder {
            symbol: "S".parse().unwrap(),
            direction: Direction::Buy,
            amount: Decimal::TEN,
            close_type: close_type.parse().unwrap(),
            expiration_type,
            account,
        };
        let short = Settings {
            open_body: OpenBody::Short,
            short_close_type: "01:00".parse().ok(),
            ..Settings::default()
        };
        for (close_type, expiration_type, account, problem) in [
            ("01:00", ExpirationType::Unstated, Account::Demo, None),
            ("01:00", ExpirationType::TimeFixed, Account::Demo, None),
            (
                "01:00",
                ExpirationType::CandleClose,
                Account::Demo,
                Some("01:00 CANDLE_CLOSE is not the venue's own"),
            ),
            (
                "05:00",
                ExpirationType::TimeFixed,
                Account::Demo,
                Some("05:00 TIME_FIXED is not the venue's own, 01:00"),
            ),
            ("01:00", ExpirationType::TimeFixed, Account::Real, Some("the real one is never traded")),
        ] {
            let order = of(close_type, expiration_type, account);
            let found = unstatable(&order, &short);
            match problem {
                None => assert_eq!(found, None),
                Some(problem) => {
                    assert!(found.clone().is_some_and(|text| text.contains(problem)), "{found:?}");
                }
            }
            assert_eq!(unstatable(&order, &Settings::default()), None);
        }
    }

    proptest! {
        #[test]
        fn an_amount_of_up_to_fifteen_digits_survives_json(units in -999_999_999_999_999_i64..=999_999_999_999_999, scale in 0_u32..=8) {
            let amount = Decimal::new(units, scale);
            let mut buffer = Vec::new();
            number(&amount, &mut serde_json::Serializer::new(&mut buffer)).unwrap();
            let json: Value = serde_json::from_slice(&buffer).unwrap();
            prop_assert!(json.is_number());
            let text = json.to_string();
            let read = text.parse::<Decimal>().or_else(|_| Decimal::from_scientific(&text));
            prop_assert_eq!(read.ok(), Some(amount));
        }
    }
}
