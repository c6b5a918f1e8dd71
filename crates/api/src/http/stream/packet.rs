//! Parses text packets of Engine.IO 4 and Socket.IO 4, and the prices in them (see `observed: prices and candles`).

use crate::model::{PriceRecord, read_record, to_one_line};
use candlewick_broker::{PriceTick, UnrecognisedData};
use candlewick_sdk::Millis;
use serde_json::Value;
use std::time::Duration;

const NAMESPACE: &str = "/symbol-prices";
const SUBSCRIBE_EVENT: &str = "last-symbol-price";
pub(super) const PONG: &str = "3";
const SILENCE_TIMEOUT_BOUNDS: [Duration; 2] = [Duration::from_secs(1), Duration::from_mins(1)];

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Packet {
    /// The connection is open. The value is the timeout for the next ping.
    Open(Duration),
    Ping,
    Joined,
    Refused(String),
    End,
    Event(Vec<Value>),
    Other,
    Unreadable,
}

pub(super) fn parse(text: &str) -> Packet {
    let mut letters = text.chars();
    match letters.next() {
        Some('0') => parse_handshake(letters.as_str()),
        Some('1') => Packet::End,
        Some('2') => Packet::Ping,
        Some('4') => parse_message(letters.as_str()),
        Some('3' | '5' | '6') => Packet::Other,
        _ => Packet::Unreadable,
    }
}

fn parse_handshake(text: &str) -> Packet {
    let Ok(Value::Object(fields)) = serde_json::from_str(text) else { return Packet::Unreadable };
    let span = |name: &str| fields.get(name).and_then(Value::as_u64);
    let (Some(interval), Some(timeout)) = (span("pingInterval"), span("pingTimeout")) else {
        return Packet::Unreadable;
    };
    let [least, most] = SILENCE_TIMEOUT_BOUNDS;
    Packet::Open(Duration::from_millis(interval.saturating_add(timeout)).clamp(least, most))
}

fn parse_message(text: &str) -> Packet {
    let mut letters = text.chars();
    let Some(kind) = letters.next() else { return Packet::Unreadable };
    let rest = letters.as_str();
    let (namespace, rest) =
        if rest.starts_with('/') { rest.split_once(',').unwrap_or((rest, "")) } else { ("/", rest) };
    if !('0'..='6').contains(&kind) {
        return Packet::Unreadable;
    }
    if namespace.split('?').next() != Some(NAMESPACE) {
        return Packet::Other;
    }
    match kind {
        '0' => Packet::Joined,
        '1' => Packet::End,
        '2' => parse_event(rest.trim_start_matches(|letter: char| letter.is_ascii_digit())),
        '4' => Packet::Refused(to_one_line(rest).chars().take(200).collect()),
        _ => Packet::Other,
    }
}

fn parse_event(text: &str) -> Packet {
    match serde_json::from_str(text) {
        Ok(Value::Array(arguments)) => Packet::Event(arguments),
        _ => Packet::Unreadable,
    }
}

pub(super) fn build_join_packet() -> String {
    format!("40{NAMESPACE},")
}

pub(super) fn build_subscribe_packet(slot: &str, pair: &str) -> String {
    let arguments = Value::from(vec![SUBSCRIBE_EVENT.to_owned(), format!("{slot}:{pair}")]);
    format!("42{NAMESPACE},{arguments}")
}

const PRICE_EVENT: &str = "message";
const PRICE_UPDATE: &str = "symbol.price.update";
/// Maximum time by which a streamed price may be behind our clock (age) or ahead of it (lead).
const MAX_PRICE_AGE: Millis = Millis::from_seconds(60);
const MAX_PRICE_LEAD: Millis = Millis::from_seconds(5);

#[derive(Clone, Debug, PartialEq)]
pub(super) struct PriceUpdate {
    pub(super) pair: String,
    pub(super) tick: PriceTick,
}

/// Reads the price in an event. If the event is invalid, counts it as unrecognised data and returns `None`.
pub(super) fn read_price(
    arguments: Vec<Value>,
    slot: &str,
    now: Millis,
    drift: &UnrecognisedData,
) -> Option<PriceUpdate> {
    let refuse = |reason: &str| {
        drift.count_unreadable_field("Stream", reason);
        None
    };
    let mut arguments = arguments.into_iter();
    let name = arguments.next();
    let name = name.as_ref().and_then(Value::as_str).unwrap_or_default();
    if name != PRICE_EVENT && name != PRICE_UPDATE {
        drift.count_value("Stream", "event", name);
        return None;
    }
    let body = arguments.next().and_then(|body| extract_record(body, name == PRICE_UPDATE));
    let Some(body) = body else { return refuse("message") };
    let Ok(record) = read_record::<PriceRecord>(body, drift) else { return refuse("record") };
    if record.slot.as_ref().is_some_and(|of_record| of_record != slot) {
        return refuse("slot");
    }
    let price = record.prices.close;
    if !price.is_finite() || price <= 0.0 {
        return refuse("price");
    }
    let time = record_end_time(record.time);
    if time < now - MAX_PRICE_AGE || time > now + MAX_PRICE_LEAD {
        return refuse("time");
    }
    let Some(pair) = record.pair else { return refuse("pair") };
    Some(PriceUpdate { pair, tick: PriceTick { time, price } })
}

fn extract_record(message: Value, is_named: bool) -> Option<Value> {
    let Value::Object(mut fields) = message else { return None };
    let wrapped = ["data", "payload", PRICE_UPDATE]
        .into_iter()
        .find(|name| fields.get(*name).is_some_and(Value::is_object));
    // In a record without a wrapper, `type` is the asset type.
    let names: &[&str] = if wrapped.is_some() { &["event", "name", "type"] } else { &["event", "name"] };
    let said = names.iter().find_map(|name| fields.get(*name)).and_then(Value::as_str);
    if said.is_some_and(|said| said != PRICE_UPDATE)
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

/// Returns the time of the last price in a one-second record, which is the end of that second.
fn record_end_time(time: Millis) -> Millis {
    if time.get() == i64::MAX || !time.is_aligned_to(Millis::SECOND) { time } else { time + Millis::new(999) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn the_packets_of_the_protocol_are_read() {
        let open = |interval, timeout| {
            parse(&format!(
                r#"0{{"sid":"x","upgrades":[],"pingInterval":{interval},"pingTimeout":{timeout}}}"#
            ))
        };
        assert_eq!(open(25_000, 20_000), Packet::Open(Duration::from_secs(45)));
        assert_eq!(open(u64::MAX, 1), Packet::Open(Duration::from_mins(1)), "a dead server is noticed");
        assert_eq!(open(0, 0), Packet::Open(Duration::from_secs(1)));
        assert_eq!(parse("2"), Packet::Ping);
        assert_eq!(parse(r#"40/symbol-prices,{"sid":"y"}"#), Packet::Joined);
        let refused = Packet::Refused(r#"{"message":"no"}"#.into());
        assert_eq!(parse(r#"44/symbol-prices,{"message":"no"}"#), refused);
        assert_eq!([parse("1"), parse("41/symbol-prices,")], [Packet::End, Packet::End]);
        let arguments = vec![json!("message"), json!({"a": 1})];
        for text in [r#"42/symbol-prices,["message",{"a":1}]"#, r#"42/symbol-prices,17["message",{"a":1}]"#] {
            assert_eq!(parse(text), Packet::Event(arguments.clone()), "{text}");
        }
        assert_eq!(parse(r#"42/other,["message",{"a":1}]"#), Packet::Other);
        assert_eq!(parse(r#"42["message",{"a":1}]"#), Packet::Other, "the main namespace");
    }

    #[test]
    fn sent_packets_match_observed_ones() {
        assert_eq!(build_join_packet(), "40/symbol-prices,");
        let expected = r#"42/symbol-prices,["last-symbol-price","default:BTCUSDT"]"#;
        assert_eq!(build_subscribe_packet("default", "BTCUSDT"), expected);
        assert!(
            build_subscribe_packet("default", "a\"\n]").contains(r#""default:a\"\n]""#),
            "nothing leaves its text"
        );
    }

    #[test]
    fn classifies_invalid_packets() {
        let nested = format!("42/symbol-prices,{}", "[".repeat(10_000));
        for s in ["", "x", "9", "0", "0[]", "4", "4x", "42/symbol-prices,", "42/symbol-prices,{}", &nested] {
            assert_eq!(parse(s), Packet::Unreadable, "{}", &s[..s.len().min(40)]);
        }
    }

    proptest! {
        #[test]
        fn no_text_panics(text in ".*", kind in "(0|42/symbol-prices,|44/symbol-prices,|4)") {
            let (_, _) = (parse(&text), parse(&format!("{kind}{text}")));
        }
    }

    const NOW: Millis = Millis::new(1_795_176_001_300);

    fn record() -> Value {
        json!({
            "slot": "default", "pair": "BTCUSDT", "type": "crypto", "time": 1_795_176_000_000_i64, "volume": 1.5,
            "openPrice": "64000.5", "closePrice": 64001.25, "highPrice": 64002.5, "lowPrice": 63999.75,
        })
    }

    fn read_message(message: Value) -> (Option<PriceUpdate>, Vec<String>) {
        let drift = UnrecognisedData::new();
        let update = read_price(vec![json!("message"), message], "default", NOW, &drift);
        (update, drift.snapshot().into_keys().collect())
    }

    #[test]
    fn reads_prices_in_all_wrappings() {
        let tick = PriceTick { time: Millis::new(1_795_176_000_999), price: 64001.25 };
        let expected = Some(PriceUpdate { pair: "BTCUSDT".into(), tick });
        for message in [
            json!({"event": "symbol.price.update", "data": record()}),
            json!({"type": "symbol.price.update", "payload": record()}),
            json!({"symbol.price.update": record()}),
            record(),
        ] {
            let (update, met) = read_message(message.clone());
            assert_eq!((update, met), (expected.clone(), vec![]), "{message}");
        }
    }

    #[test]
    fn counts_implausible_prices() {
        let with = |name: &str, value: Value| {
            let mut record = record();
            record[name] = value;
            json!({"event": "symbol.price.update", "data": record})
        };
        let mut messages = vec![json!(7), json!({"event": "other", "data": record()}), json!({})];
        for (name, values) in [
            ("closePrice", json!([0, -1, "NaN", "1e999", []])),
            ("time", json!([1_795_175_000_000_i64, 1_795_176_900_000_i64, i64::MAX, i64::MIN, "\u{0}"])),
            ("slot", json!(["other"])),
            ("pair", json!([null])),
        ] {
            messages.extend(values.as_array().unwrap().iter().map(|value| with(name, value.clone())));
        }
        for message in messages {
            let (update, met) = read_message(message.clone());
            assert_eq!(update, None, "{message}");
            assert!(!met.is_empty(), "{message} is counted");
        }
    }
}
