//! Signals as JSON objects, in the native format or the format of TradingView alerts.

use super::list::{from_unix_millis, parse_timeframe, signal_id_at};
use candlewick_api::parse_json;
use candlewick_engine::{SignalId, SignalReason, SignalSource};
use candlewick_runtime::control::SignalOrder;
use candlewick_sdk::{
    AliasContext, CloseType, Direction, Millis, find_key, nearest_name, simplify_parse_error,
};
use chrono::DateTime;
use serde::Deserialize;
use serde_json::{Map, Value};

const EXAMPLE_MESSAGE: &str = r#"{"bot": "...", "direction": "BUY"}"#;

/// JSON object of a signal. The secret is stored separately, so that error messages cannot leak it.
pub(super) struct RawMessage {
    body: Value,
    secret: Option<Value>,
}

const KNOWN_FIELDS: &str = "bot symbol ticker direction action id time expires_ms close_type reason comment";
const IGNORED_FIELDS: &str = "exchange, interval, price, open, high, low, close, volume, contracts, position_size, order_price, \
    market_position_size, prev_market_position";
const MARKET_POSITION: &str = "market_position";

#[derive(Deserialize)]
struct SignalFields {
    bot: Option<String>,
    #[serde(alias = "ticker")]
    symbol: Option<String>,
    #[serde(alias = "action")]
    direction: String,
    id: Option<Value>,
    time: Option<Value>,
    expires_ms: Option<u32>,
    close_type: Option<String>,
    #[serde(alias = "comment")]
    reason: Option<String>,
    market_position: Option<String>,
}

impl SignalFields {
    fn read(body: &Value) -> Result<Self, String> {
        for [one, other] in [["symbol", "ticker"], ["direction", "action"], ["reason", "comment"]] {
            if !body[one].is_null() && !body[other].is_null() {
                return Err(format!("{one} and {other} mean the same: send only one of them"));
            }
        }
        let wrong = match Self::deserialize(body) {
            Ok(fields) => return Ok(fields),
            Err(error) => simplify_parse_error(&error.to_string()),
        };
        // serde does not name the invalid key, so each key is parsed separately, together with a direction.
        let is_wrong = |(key, value): &(&String, &Value)| {
            let mut alone = Map::from_iter([((*key).clone(), (*value).clone())]);
            if !["direction", "action"].contains(&key.as_str()) {
                alone.insert("direction".to_owned(), "BUY".into());
            }
            Self::deserialize(Value::Object(alone)).is_err()
        };
        let key = body.as_object().into_iter().flatten().find(is_wrong);
        Err(key.map_or_else(|| wrong.clone(), |(key, _)| format!("{key}: {wrong}")))
    }
}

impl RawMessage {
    pub(super) fn parse(bytes: &[u8]) -> Result<Self, String> {
        let not_an_object = || format!("not a JSON object: send {EXAMPLE_MESSAGE}");
        let mut object = match parse_json(bytes) {
            Ok(Value::Object(object)) => object,
            Ok(_) => return Err(not_an_object()),
            Err(error) => {
                let problem = error.to_string();
                let twice = problem.split(" at line ").next().filter(|problem| problem.starts_with("key "));
                return Err(twice.map_or_else(not_an_object, |twice| format!("{twice}: send it only once")));
            }
        };
        let secret = object.remove("secret");
        Ok(Self { body: Value::Object(object), secret })
    }

    pub(super) fn secret(&self) -> Option<&str> {
        self.secret.as_ref()?.as_str()
    }

    /// Decodes a signal. `None` if it only closes a position. Builds a missing id from the time, or `now` and `number`.
    pub(super) fn decode(
        self,
        source: SignalSource,
        now: Millis,
        number: u64,
    ) -> Result<Option<SignalOrder>, String> {
        check_field_names(&self.body)?;
        let fields = SignalFields::read(&self.body)?;
        let position = fields.market_position.as_deref().map(parse_market_position).transpose()?;
        if position.as_deref() == Some("flat") {
            return Ok(None);
        }
        let direction = parse_direction(&fields.direction)?;
        // A sell that still leaves a long position only reduces it, like a buy that leaves a short position.
        let closes = if direction == Direction::Buy { "short" } else { "long" };
        if position.as_deref() == Some(closes) {
            return Ok(None);
        }
        let time = fields.time.map(parse_moment).transpose()?;
        let id = match (fields.id, time) {
            (Some(id), _) => parse_id(id)?,
            (None, Some(time)) => signal_id_at(time).to_string(),
            (None, None) => format!("{} {number}", signal_id_at(now)),
        };
        let reason = fields.reason.as_deref().map(SignalReason::truncated);
        let symbol = fields.symbol.map(|symbol| symbol.rsplit(':').next().unwrap_or_default().to_owned());
        Ok(Some(SignalOrder {
            bot: fields.bot,
            symbol,
            direction,
            source,
            id: SignalId::new(&id).ok_or("the id is longer than 63 bytes")?,
            time: Some(time.unwrap_or(now)),
            expires_ms: fields.expires_ms,
            close_type: fields.close_type.as_deref().map(parse_close_type).transpose()?,
            reason,
        }))
    }
}

fn check_field_names(body: &Value) -> Result<(), String> {
    let fields: Vec<&str> = KNOWN_FIELDS.split(' ').collect();
    let known = |name: &str| {
        fields.contains(&name) || IGNORED_FIELDS.split(", ").any(|one| one == name) || name == MARKET_POSITION
    };
    let mut names = body.as_object().into_iter().flatten().map(|(name, _)| name.as_str());
    let Some(unknown) = names.find(|name| !known(name)) else { return Ok(()) };
    let unknown: String = unknown.chars().take(32).collect();
    let meant = find_key(&[AliasContext::Setting], &unknown, &fields);
    let hint = meant.map_or_else(|| ".".to_owned(), |meant| format!(": did you mean {meant}?"));
    Err(format!(
        "unknown field `{unknown}`{hint} Valid fields: bot, symbol (or ticker), direction (or action), id, time, expires_ms, close_type, reason (or comment) \
         and market_position. A signal cannot set the stake. Ignored fields: {IGNORED_FIELDS}"
    ))
}

pub fn parse_close_type(text: &str) -> Result<CloseType, String> {
    parse_timeframe(text)
        .map_or_else(|| text.parse::<CloseType>().map_err(|error| format!("{error}, or M5, H1")), Ok)
}

/// English and Portuguese words for buying, followed by the words for selling.
pub(super) const DIRECTION_NAMES: [&str; 16] = [
    "BUY", "CALL", "UP", "HIGHER", "LONG", "COMPRA", "ACIMA", "CIMA", "SELL", "PUT", "DOWN", "LOWER",
    "SHORT", "VENDA", "ABAIXO", "BAIXO",
];

pub(super) fn parse_direction(text: &str) -> Result<Direction, String> {
    if let Some(place) = DIRECTION_NAMES.iter().position(|name| name.eq_ignore_ascii_case(text)) {
        return Ok(if place < DIRECTION_NAMES.len() / 2 { Direction::Buy } else { Direction::Sell });
    }
    let text: String = text.chars().take(32).collect();
    if let Some(near) = nearest_name(&text, DIRECTION_NAMES).filter(|_| text.len() >= 3) {
        return Err(format!("{text:?} is not a direction: did you mean {near}?"));
    }
    Err(format!("{text:?} is not a direction: use BUY, CALL or UP, or SELL, PUT or DOWN"))
}

fn parse_market_position(written: &str) -> Result<String, String> {
    let position = written.trim().to_ascii_lowercase();
    if ["flat", "long", "short"].contains(&position.as_str()) {
        return Ok(position);
    }
    let written: String = written.chars().take(32).collect();
    Err(format!(
        "invalid market_position {written:?}: use long, short or flat (in an alert: {{{{strategy.market_position}}}}), or omit the field"
    ))
}

fn parse_id(id: Value) -> Result<String, String> {
    match id {
        Value::String(text) if text.trim().is_empty() => {
            Err("the id is empty: omit the id, or send a different id with each signal".to_owned())
        }
        Value::String(text) if text.contains("{{") || text.contains("}}") => {
            let text: String = text.chars().take(32).collect();
            Err(format!("the id {text:?} contains an unfilled placeholder: fill it in or omit the id"))
        }
        Value::String(text) => Ok(text),
        Value::Number(number) if number.is_i64() || number.is_u64() => Ok(number.to_string()),
        Value::Number(_) => Err("an unquoted id must be a 64-bit integer: put it in quotes".to_owned()),
        _ => Err("the id is neither text nor a number".to_owned()),
    }
}

/// Parses milliseconds since 1970, or a time with a zone, such as TradingView's `{{timenow}}`.
fn parse_moment(value: Value) -> Result<Millis, String> {
    let wrong = |text: String| {
        format!("invalid time {text}: use 2026-01-05T10:30:00Z, or milliseconds since 1970 as a number")
    };
    match value {
        Value::Number(ms) => ms.as_i64().and_then(from_unix_millis).ok_or_else(|| wrong(ms.to_string())),
        Value::String(text) => match DateTime::parse_from_rfc3339(&text) {
            Ok(time) => Ok(Millis::new(time.timestamp_millis())),
            Err(_) => Err(wrong(format!("{text:?}"))),
        },
        other => Err(wrong(other.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2026-01-05 10:30 UTC.
    const NOW: Millis = Millis::new(1_767_609_000_000);

    fn read(text: &str) -> Result<Option<SignalOrder>, String> {
        RawMessage::parse(text.as_bytes())?.decode(SignalSource::truncated("webhook"), NOW, 7)
    }

    fn signal(text: &str) -> SignalOrder {
        read(text).unwrap().unwrap_or_else(|| panic!("{text}"))
    }

    #[test]
    fn parses_plain_object() {
        let all = r#"{"bot":"btc","symbol":"BTCUSDT","direction":"SELL","id":17,"time":1767608999000,"expires_ms":2000,
                      "close_type":"05:00","reason":"news"}"#;
        let expected = SignalOrder {
            bot: Some("btc".to_owned()),
            symbol: Some("BTCUSDT".to_owned()),
            direction: Direction::Sell,
            source: SignalSource::truncated("webhook"),
            id: SignalId::truncated("17"),
            time: Some(NOW - Millis::SECOND),
            expires_ms: Some(2_000),
            close_type: Some("05:00".parse().unwrap()),
            reason: Some(SignalReason::truncated("news")),
        };
        assert_eq!(signal(all), expected);
        let least = signal(r#"{"bot":"btc","direction":"buy"}"#);
        assert_eq!((least.id.as_str(), least.time), ("2026-01-05T10:30:00Z 7", Some(NOW)));
    }

    #[test]
    fn uses_time_of_tradingview_alert_as_id() {
        let alert = r#"{"secret":"0123456789abcdef","ticker":"BINANCE:BTCUSDT","action":"sell","time":"2026-01-05T10:29:59Z",
                        "comment":"Short entry","market_position":"short","exchange":"BINANCE","interval":"1","price":93000.5,
                        "close":"93000.5","volume":12.5,"contracts":"1","position_size":"-1","close_type":"M5"}"#;
        let order = signal(alert);
        assert_eq!((order.symbol.as_deref(), order.direction), (Some("BTCUSDT"), Direction::Sell));
        assert_eq!(order.id.as_str(), "2026-01-05T10:29:59Z");
        assert_eq!(order.close_type, Some("05:00".parse().unwrap()));
        assert_eq!((order.time, order.reason.unwrap().as_str()), (Some(NOW - Millis::SECOND), "Short entry"));
        assert_eq!(RawMessage::parse(alert.as_bytes()).unwrap().secret(), Some("0123456789abcdef"));
    }

    #[test]
    fn ignores_alerts_that_close_a_position() {
        let read = |action: &str, position: &str| {
            read(&format!(r#"{{"ticker":"BTCUSDT","action":"{action}","market_position":"{position}"}}"#))
        };
        for (action, held) in [("sell", "flat"), ("sell", " FLAT "), ("sell", "long"), ("buy", " Short ")] {
            assert_eq!(read(action, held), Ok(None), "{action} {held:?}");
        }
        for position in ["flatt", "", "{{strategy.market_position}}", "closed"] {
            let problem = read("sell", position).unwrap_err();
            assert!(problem.contains("use long, short or flat"), "{position:?}: {problem}");
        }
    }

    #[test]
    fn parses_direction_synonyms() {
        for (words, meant) in [
            ("CALL call up Compra BUY long higher Acima cima", Direction::Buy),
            ("Put DOWN sell VENDA short LOWER abaixo BAIXO", Direction::Sell),
        ] {
            for written in words.split(' ') {
                let order = signal(&format!(r#"{{"bot":"btc","direction":"{written}"}}"#));
                assert_eq!(order.direction, meant, "{written}");
            }
        }
    }

    #[test]
    fn explains_malformed_signals_without_leaking_the_secret() {
        let refuse = |text: &str, expected: &str| {
            let problem = read(text).unwrap_err();
            assert!(problem.contains(expected), "{text}: {problem}");
            assert!(!problem.contains("hush") && !problem.contains("4815162342"), "{problem}");
        };
        for (text, expected) in [
            ("buy!", "not a JSON object: send {\"bot\": \"...\", \"direction\": \"BUY\"}"),
            ("[]", "not a JSON object: send"),
            ("", "not a JSON object: send"),
            (r#"{"bot":"btc","side":"BUY","secret":"hush"}"#, "unknown field `side`. Valid fields: bot,"),
            (r#"{"bot":"btc","dirction":"BUY"}"#, "did you mean direction?"),
            (r#"{"bot":"btc"}"#, "the key direction is missing"),
            (r#"{"bot":"btc","direction":"HOLD"}"#, "\"HOLD\" is not a direction: use BUY, CALL or UP"),
            (r#"{"bot":"btc","direction":"PUTT"}"#, "\"PUTT\" is not a direction: did you mean PUT?"),
            (r#"{"bot":7,"direction":"BUY"}"#, "bot: use a text in quotes, not 7"),
            (r#"{"bot":"btc","action":5}"#, "action: use a text in quotes, not 5"),
            (r#"{"bot":"btc","direction":null}"#, "direction: use a text in quotes, not nothing"),
        ] {
            refuse(text, expected);
        }
        for (fields, expected) in [
            (r#""expiry":"5m""#, "did you mean close_type? Valid fields: bot, symbol"),
            (r#""stake":5"#, "stake"),
            (r#""time":1767609000"#, "invalid time 1767609000: use"),
            (r#""time":"{{timenow}}""#, "invalid time \"{{timenow}}\""),
            (r#""id":[1]"#, "the id is neither"),
            (r#""id":"""#, "the id is empty"),
            (r#""id":"{{time""#, "the id \"{{time\" contains an unfilled"),
            (r#""id":"{{time}}""#, "contains an unfilled placeholder"),
            (r#""id":123456789012345678901234567890"#, "an unquoted id must be a 64-bit integer"),
            (r#""id":1.5"#, "an unquoted id must be a 64-bit integer"),
            (r#""direction":"SELL""#, "key \"direction\" occurs twice: send it only once"),
            (r#""secret":"hushhushhushhush","secret":"hush""#, "key \"secret\" occurs twice"),
            (r#""close_type":300"#, "close_type: use a text in quotes, not 300"),
            (r#""ticker":"EURUSD","symbol":"EURUSD""#, "symbol and ticker mean the same: send only one"),
            (r#""close_type":"M90""#, "or M5, H1"),
            (r#""secret":"hushhushhushhush","expires_ms":-1"#, "expires_ms: use a whole number, not -1"),
            (r#""secret":4815162342,"stake":1"#, "stake"),
        ] {
            refuse(&format!(r#"{{"bot":"btc","direction":"BUY",{fields}}}"#), expected);
        }
        let long = format!(r#"{{"bot":"btc","direction":"BUY","id":"{}"}}"#, "x".repeat(64));
        assert!(read(&long).unwrap_err().contains("63 bytes"));
        let deep = format!(r#"{{"bot":{}1{}}}"#, "[".repeat(5_000), "]".repeat(5_000));
        assert!(read(&deep).unwrap_err().starts_with("not a JSON object"));
    }
}
