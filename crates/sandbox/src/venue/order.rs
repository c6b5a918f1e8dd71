//! Parsing and validation of order bodies (contract 4.1, endpoint 4).

use crate::{SandboxSettings, TradedWallet};
use candlewick_sdk::{CloseType, Direction, ExpirationType, Expiry, Money, MoneyScale, Symbol};
use rust_decimal::Decimal;
use serde_json::{Map, Value};
use std::borrow::Cow;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct OrderRequest {
    pub(crate) symbol: Symbol,
    pub(crate) direction: Direction,
    pub(crate) stake: Money,
    pub(crate) expiry: Expiry,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BodyShape {
    /// Shape A, with the field `amount`. The response is the full trade.
    Full,
    /// Shape B, with the field `volume`. The response is an acknowledgement.
    Short,
}

pub(crate) fn read_body(
    body: &[u8],
    settings: &SandboxSettings,
    scale: MoneyScale,
) -> Result<(BodyShape, OrderRequest), Cow<'static, str>> {
    let Ok(Value::Object(fields)) = serde_json::from_slice(body) else {
        return Err("The body must be a JSON object".into());
    };
    let shape = match (fields.contains_key("amount"), fields.contains_key("volume")) {
        (true, true) => return Err("Send amount or volume, not both".into()),
        (false, true) => BodyShape::Short,
        (true | false, false) => BodyShape::Full,
    };
    let (amount, close_type) = match shape {
        BodyShape::Short => ("volume", settings.short_close_type),
        BodyShape::Full => {
            check_wallet(&fields, settings.wallet)?;
            ("amount", read_close_type(&fields, settings)?)
        }
    };
    let symbol = read_text(&fields, "symbol").and_then(|text| Symbol::new(text).ok());
    let direction = read_text(&fields, "direction").and_then(|text| text.parse().ok());
    let request = OrderRequest {
        symbol: symbol.ok_or("symbol must be the name of a trading pair")?,
        direction: direction.ok_or("direction must be BUY or SELL")?,
        stake: read_stake(fields.get(amount), settings, scale).map_err(|text| format!("{amount} {text}"))?,
        expiry: Expiry { close_type, expiration_type: read_expiration_type(&fields)? },
    };
    Ok((shape, request))
}

fn check_wallet(fields: &Map<String, Value>, wallet: TradedWallet) -> Result<(), &'static str> {
    match (fields.get("isDemo"), wallet) {
        (Some(Value::Bool(true)), TradedWallet::Demo) | (Some(Value::Bool(false)), TradedWallet::Real) => {
            Ok(())
        }
        (Some(Value::Bool(_)), TradedWallet::Demo) => Err("Only demo trades are possible"),
        (Some(Value::Bool(_)), TradedWallet::Real) => Err("Insufficient demo balance"),
        _ => Err("isDemo must be a boolean"),
    }
}

fn read_text<'a>(fields: &'a Map<String, Value>, name: &str) -> Option<&'a str> {
    fields.get(name).and_then(Value::as_str)
}

fn read_close_type(body: &Map<String, Value>, settings: &SandboxSettings) -> Result<CloseType, &'static str> {
    let close_type = read_text(body, "closeType").and_then(|text| text.parse().ok());
    let close_type = close_type.ok_or("closeType must be a code of the form mm:ss or h:mm:ss")?;
    if settings.close_types.is_empty() || settings.close_types.contains(&close_type) {
        Ok(close_type)
    } else {
        Err("closeType is not offered")
    }
}

fn read_expiration_type(fields: &Map<String, Value>) -> Result<ExpirationType, &'static str> {
    let error = "expirationType must be TIME_FIXED, CANDLE_CLOSE or NEXT_CANDLE";
    match fields.get("expirationType") {
        None => Ok(ExpirationType::Unstated),
        Some(Value::String(text)) => text.parse().map_err(|_| error),
        Some(_) => Err(error),
    }
}

/// Parses the stake without rounding. Error texts start with a verb, because the caller prepends the field name.
fn read_stake(
    amount: Option<&Value>,
    settings: &SandboxSettings,
    scale: MoneyScale,
) -> Result<Money, &'static str> {
    let Some(Value::Number(number)) = amount else { return Err("must be a number") };
    let text = number.to_string();
    let amount: Decimal =
        text.parse().or_else(|_| Decimal::from_scientific(&text)).map_err(|_| "must be a number")?;
    if amount <= Decimal::ZERO {
        return Err("must be above zero");
    }
    if amount < settings.min_amount {
        return Err("is below the minimum");
    }
    if settings.max_amount > Decimal::ZERO && amount > settings.max_amount {
        return Err("is above the maximum");
    }
    scale.convert_exact(amount).map_err(|_| "has more decimals than the wallet allows")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(body: &[u8]) -> Result<(BodyShape, OrderRequest), Cow<'static, str>> {
        let settings = SandboxSettings {
            short_close_type: "01:00".parse().unwrap(),
            close_types: vec!["01:00".parse().unwrap(), "05:00".parse().unwrap()],
            min_amount: Decimal::ONE,
            max_amount: Decimal::from(500),
            ..SandboxSettings::default()
        };
        read_body(body, &settings, MoneyScale::default())
    }

    fn full() -> Value {
        json!({ "isDemo": true, "closeType": "05:00", "direction": "SELL", "symbol": "BTCUSDT", "amount": 12.34 })
    }

    fn check(mut body: Value, field: &str, value: Value, expected: &'static str) {
        body[field] = value;
        assert_eq!(read(body.to_string().as_bytes()), Err(expected.into()), "{body}");
    }

    #[test]
    fn both_shapes_are_read() {
        let expected = OrderRequest {
            symbol: "BTCUSDT".parse().unwrap(),
            direction: Direction::Sell,
            stake: Money::from_minor(1_234),
            expiry: Expiry {
                close_type: "05:00".parse().unwrap(),
                expiration_type: ExpirationType::Unstated,
            },
        };
        let read = |body: Value| read(body.to_string().as_bytes());
        assert_eq!(read(full()), Ok((BodyShape::Full, expected)));
        let mut next_candle = full();
        next_candle["expirationType"] = json!("NEXT_CANDLE");
        let (_, order) = read(next_candle).unwrap();
        assert_eq!(order.expiry.expiration_type, ExpirationType::NextCandle);
        let short = json!({ "symbol": "BTCUSDT", "volume": 1e1, "direction": "BUY" });
        let (shape, order) = read(short).unwrap();
        assert_eq!((shape, order.stake), (BodyShape::Short, Money::from_minor(1_000)));
        assert_eq!(order.expiry.close_type.to_string(), "01:00");
    }

    #[test]
    fn each_reason_has_its_message() {
        let kinds = "expirationType must be TIME_FIXED, CANDLE_CLOSE or NEXT_CANDLE";
        for (field, value, message) in [
            ("volume", json!(10), "Send amount or volume, not both"),
            ("isDemo", json!("true"), "isDemo must be a boolean"),
            ("isDemo", Value::Null, "isDemo must be a boolean"),
            ("isDemo", json!(false), "Only demo trades are possible"),
            ("closeType", json!("5m"), "closeType must be a code of the form mm:ss or h:mm:ss"),
            ("closeType", json!("02:00"), "closeType is not offered"),
            ("direction", json!("UP"), "direction must be BUY or SELL"),
            ("symbol", json!(""), "symbol must be the name of a trading pair"),
            ("amount", json!("12.34"), "amount must be a number"),
            ("amount", json!(0), "amount must be above zero"),
            ("amount", json!(-5), "amount must be above zero"),
            ("amount", json!(0.5), "amount is below the minimum"),
            ("amount", json!(500.01), "amount is above the maximum"),
            ("amount", json!(1.005), "amount has more decimals than the wallet allows"),
            ("amount", json!(1e300), "amount must be a number"),
            ("expirationType", json!("LATER"), kinds),
        ] {
            check(full(), field, value, message);
        }
        for body in ["", "[]", "{", "null"] {
            assert_eq!(read(body.as_bytes()), Err("The body must be a JSON object".into()));
        }
        for (volume, message) in [
            (json!("12.34"), "volume must be a number"),
            (Value::Null, "volume must be a number"),
            (json!(0), "volume must be above zero"),
            (json!(0.5), "volume is below the minimum"),
            (json!(500.01), "volume is above the maximum"),
            (json!(1.005), "volume has more decimals than the wallet allows"),
        ] {
            check(json!({ "symbol": "BTCUSDT", "direction": "BUY" }), "volume", volume, message);
        }
    }
}
