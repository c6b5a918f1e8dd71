//! Pushed prices, read as tolerantly as polled ones and checked against the same bounds.

use crate::model::{PriceRecord, read_record};
use candlewick_broker::{PriceTick, UnrecognisedData};
use candlewick_sdk::Millis;
use serde_json::Value;

const EVENT: &str = "message";
const UPDATE: &str = "symbol.price.update";
/// Maximum age of a price, and maximum lead over our clock.
const OLDEST: Millis = Millis::from_seconds(60);
const NEWEST: Millis = Millis::from_seconds(5);

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Update {
    pub(super) pair: String,
    pub(super) tick: PriceTick,
}

pub(super) fn read(
    arguments: Vec<Value>,
    slot: &str,
    now: Millis,
    drift: &UnrecognisedData,
) -> Option<Update> {
    let refuse = |reason: &str| {
        drift.count_unreadable("Stream", reason);
        None
    };
    let mut arguments = arguments.into_iter();
    let name = arguments.next();
    let name = name.as_ref().and_then(Value::as_str).unwrap_or_default();
    if name != EVENT && name != UPDATE {
        drift.count_value("Stream", "event", name);
        return None;
    }
    let body = arguments.next().and_then(|body| body_of(body, name == UPDATE));
    let Some(body) = body else { return refuse("message") };
    let Ok(record) = read_record::<PriceRecord>(body, drift) else { return refuse("record") };
    if record.slot.as_ref().is_some_and(|of_record| of_record != slot) {
        return refuse("slot");
    }
    let price = record.close_price;
    if !price.is_finite() || price <= 0.0 {
        return refuse("price");
    }
    let time = made_at(record.time);
    if time < now - OLDEST || time > now + NEWEST {
        return refuse("time");
    }
    let Some(pair) = record.pair else { return refuse("pair") };
    Some(Update { pair, tick: PriceTick { time, price } })
}

fn body_of(message: Value, is_named: bool) -> Option<Value> {
    let Value::Object(mut fields) = message else { return None };
    let wrapped =
        ["data", "payload", UPDATE].into_iter().find(|name| fields.get(*name).is_some_and(Value::is_object));
    // `type` of a record itself is its asset type.
    let names: &[&str] = if wrapped.is_some() { &["event", "name", "type"] } else { &["event", "name"] };
    let said = names.iter().find_map(|name| fields.get(*name)).and_then(Value::as_str);
    if said.is_some_and(|said| said != UPDATE)
        || (said.is_none() && wrapped.is_none() && !is_named && !fields.contains_key("closePrice"))
    {
        return None;
    }
    if let Some(name) = wrapped {
        return fields.remove(name);
    }
    fields.remove("event");
    fields.remove("name");
    Some(Value::Object(fields))
}

/// Returns the time of a record's last price.
///
/// A record is a one-second bar, so its last price belongs just before the end of that second.
fn made_at(time: Millis) -> Millis {
    if time.get() == i64::MAX || !time.is_aligned_to(Millis::SECOND) { time } else { time + Millis::new(999) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const NOW: Millis = Millis::new(1_795_176_001_300);

    fn record() -> Value {
        json!({
            "slot": "default", "pair": "BTCUSDT", "type": "crypto", "time": 1_795_176_000_000_i64, "volume": 1.5,
            "openPrice": "64000.5", "closePrice": 64001.25, "highPrice": 64002.5, "lowPrice": 63999.75,
        })
    }

    fn of(message: Value) -> (Option<Update>, Vec<String>) {
        let drift = UnrecognisedData::new();
        let update = read(vec![json!("message"), message], "default", NOW, &drift);
        (update, drift.snapshot().into_keys().collect())
    }

    #[test]
    fn a_price_is_read_however_it_is_wrapped() {
        let tick = PriceTick { time: Millis::new(1_795_176_000_999), price: 64001.25 };
        let expected = Some(Update { pair: "BTCUSDT".into(), tick });
        for message in [
            json!({"event": "symbol.price.update", "data": record()}),
            json!({"type": "symbol.price.update", "payload": record()}),
            json!({"symbol.price.update": record()}),
            record(),
        ] {
            let (update, met) = of(message.clone());
            assert_eq!((update, met), (expected.clone(), vec![]), "{message}");
        }
    }

    #[test]
    fn what_no_price_can_be_is_left_out_and_counted() {
        let with = |name: &str, value: Value| {
            let mut record = record();
            record[name] = value;
            json!({"event": "symbol.price.update", "data": record})
        };
        for message in [
            json!(7),
            json!({"event": "other", "data": record()}),
            json!({}),
            with("closePrice", json!(0)),
            with("closePrice", json!(-1)),
            with("closePrice", json!("NaN")),
            with("closePrice", json!("1e999")),
            with("closePrice", json!([])),
            with("time", json!(1_795_175_000_000_i64)),
            with("time", json!(1_795_176_900_000_i64)),
            with("time", json!(i64::MAX)),
            with("time", json!(i64::MIN)),
            with("time", json!("\u{0}")),
            with("slot", json!("other")),
            with("pair", Value::Null),
        ] {
            let (update, met) = of(message.clone());
            assert_eq!(update, None, "{message}");
            assert!(!met.is_empty(), "{message} is counted");
        }
    }
}
