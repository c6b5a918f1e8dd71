//! Chronological list of the steps of an intent.

use crate::moment::format_short_time;
use candlewick_journal::{LineKind, LoggedExchange, StoredLine};
use candlewick_sdk::{Millis, Money, MoneyScale, escape_hidden, format_price};
use serde::Serialize;
use serde_json::{Map, Value};

const HIDDEN_FIELDS: [&str; 5] = ["at", "received", "event", "action", "intent"];

#[derive(Debug, Serialize)]
pub(super) struct Step {
    pub(super) time: Millis,
    pub(super) after_ms: Millis,
    /// Kind of step: `decision`, `note`, `request`, `reply`, `list request`, or the name of an event.
    pub(super) what: String,
    pub(super) detail: Value,
    #[serde(skip)]
    pub(super) summary: Option<String>,
}

impl Step {
    pub(super) fn from_line(stored: &StoredLine, decided: Millis) -> Self {
        let line = &stored.line;
        let detail = serde_json::from_str(&line.body).unwrap_or_else(|_| Value::String(line.body.clone()));
        let what = match line.kind {
            LineKind::Action => "decision",
            LineKind::Event => detail.get("event").and_then(Value::as_str).unwrap_or("event"),
            LineKind::Note | LineKind::Run => "note",
        };
        let (time, what) = (line.received, what.to_owned());
        Self { time, after_ms: time - decided, what, detail, summary: None }
    }

    pub(super) fn from_exchange(exchange: &LoggedExchange, decided: Millis) -> [Self; 2] {
        let step = |time: Millis, what: &str, detail: Value| Self {
            time,
            after_ms: time - decided,
            what: what.to_owned(),
            detail,
            summary: None,
        };
        let request = format!("{} {}", exchange.request_line, exchange.request);
        let response = exchange.response.as_deref().unwrap_or("no answer");
        let status = exchange.status.map(|status| format!("{status} ")).unwrap_or_default();
        let reply = Value::String(format!("{status}{response}"));
        [
            step(exchange.sent, "request", Value::String(request.trim_end().to_owned())),
            step(exchange.received.unwrap_or(exchange.sent), "reply", reply),
        ]
    }

    pub(super) fn sort_rank(&self) -> u8 {
        match self.what.as_str() {
            "decision" => 0,
            "request" | "list request" => 1,
            "reply" | "list reply" => 2,
            "wallet request" => 3,
            "wallet reply" => 4,
            _ => 5,
        }
    }

    pub(super) fn describe(&self, scale: MoneyScale) -> String {
        match (&self.summary, self.detail.as_str()) {
            (Some(short), _) => short.clone(),
            (None, Some(text)) => summarize_text(text),
            (None, None) => describe_entry(&self.detail, scale),
        }
    }

    pub(super) fn raw_text(&self) -> String {
        let Value::Object(fields) = &self.detail else {
            return self.detail.as_str().map_or_else(|| self.detail.to_string(), str::to_owned);
        };
        let mut fields = fields.clone();
        fields.retain(|key, value| !HIDDEN_FIELDS.contains(&key.as_str()) && !value.is_null());
        Value::Object(fields).to_string()
    }
}

const LABELS: [(&str, &str); 29] = [
    ("status", ""),
    ("result", ""),
    ("outcome", ""),
    ("error", ""),
    ("message", ""),
    ("direction", ""),
    ("symbol", ""),
    ("amount", "stake"),
    ("stake", "stake"),
    ("closeType", "for"),
    ("close_type", "for"),
    ("expirationType", ""),
    ("expiration_type", ""),
    ("payout", "payout"),
    ("openPrice", "open price"),
    ("open_price", "open price"),
    ("openTime", "open time"),
    ("open_time", "open time"),
    ("closePrice", "close price"),
    ("close_price", "close price"),
    ("closeTime", "close time"),
    ("close_time", "close time"),
    ("pnl", "profit"),
    ("profit", "profit"),
    ("balance", "balance"),
    ("reserved_until", "stake reserved until"),
    ("id", "trade"),
    ("tradeId", "trade"),
    ("venue_id", "trade"),
];
const MINOR_UNIT_FIELDS: [&str; 4] = ["stake", "profit", "amount", "fee"];
const OMITTED_FIELDS: [&str; 8] =
    ["at", "received", "event", "action", "intent", "bot", "decision_time", "reason"];
const MAX_TEXT_CHARS: usize = 180;

fn describe_entry(detail: &Value, scale: MoneyScale) -> String {
    let Value::Object(fields) = detail else { return summarize_text(&plain_text(detail)) };
    let mut fields = fields.clone();
    // Journal entries contain indices of bots and symbols, which mean nothing to a reader.
    fields.retain(|key, value| {
        !(OMITTED_FIELDS.contains(&key.as_str()) || key == "symbol" && value.is_number())
    });
    if let Some(expiry) = fields.get_mut("expiry").and_then(Value::as_object_mut) {
        expiry.retain(|_, value| value != "UNSTATED");
    }
    for (key, value) in &mut fields {
        if let (true, Some(minor)) = (MINOR_UNIT_FIELDS.contains(&key.as_str()), value.as_i64()) {
            *value = Value::String(scale.format(Money::from_minor(minor)));
        }
    }
    truncate(&describe_fields(&fields).join(", "))
}

fn summarize_text(text: &str) -> String {
    let Some(at) = text.find(['{', '[']) else { return truncate(text) };
    let (before, document) = text.split_at(at);
    let Ok(document) = serde_json::from_str::<Value>(document) else { return truncate(text) };
    truncate(&format!("{before}{}", describe_document(&document)))
}

pub(super) fn describe_document(document: &Value) -> String {
    match document {
        Value::Object(fields) => {
            let is_open = ["PENDING", "OPEN"]
                .iter()
                .any(|state| fields.get("result").is_some_and(|result| result == state));
            let mut fields = fields.clone();
            fields.retain(|key, value| {
                !(is_open && matches!(key.as_str(), "pnl" | "closePrice") && value.as_f64() == Some(0.0))
            });
            let mut known = fields.clone();
            known.retain(|key, _| LABELS.iter().any(|(name, _)| name == key));
            describe_fields(if known.is_empty() { &fields } else { &known }).join(", ")
        }
        Value::Array(items) => format!("{} in a list", items.len()),
        other => plain_text(other),
    }
}

fn describe_fields(fields: &Map<String, Value>) -> Vec<String> {
    let known = LABELS.iter().filter_map(|(name, label)| Some((*name, *label, fields.get(*name)?)));
    let mut parts: Vec<String> =
        known.filter_map(|(name, label, value)| describe_field(name, label, value)).collect();
    for (name, value) in fields.iter().filter(|(name, _)| LABELS.iter().all(|(known, _)| known != name)) {
        match value {
            Value::Object(inner) => parts.extend(describe_fields(inner)),
            value => parts.extend(describe_field(name, &name.replace('_', " "), value)),
        }
    }
    parts
}

fn describe_field(name: &str, label: &str, value: &Value) -> Option<String> {
    let is_time = name.ends_with("ime") || name.ends_with("until");
    let text = match value {
        Value::Null => return None,
        Value::Object(inner) => describe_fields(inner).join(", "),
        Value::Array(items) => format!("{} in a list", items.len()),
        value if is_time && value.as_i64() > Some(0) => format_short_time(Millis::new(value.as_i64()?)),
        value if label.ends_with("price") && value.is_f64() => value.as_f64().map(format_price)?,
        value if name == "payout" => format!("{} %", plain_text(value)),
        value => plain_text(value),
    };
    let parts = [label, &text];
    let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    (!text.is_empty()).then(|| parts.join(" "))
}

fn plain_text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn truncate(text: &str) -> String {
    let text = escape_hidden(text);
    match text.char_indices().nth(MAX_TEXT_CHARS) {
        Some((end, _)) => format!("{}... (add --raw for the full text)", &text[..end]),
        None => text.into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn describes_requests_and_replies() {
        for (text, expected) in [
            (
                r#"200 {"id":"01A","wallets":[{"balance":1.0}],"payout":80.0,"amount":10.0,"direction":"BUY","openTime":1767580503999,"openPrice":1.34068,"pnl":0.0,"closePrice":0.0,"result":"PENDING"}"#,
                "200 PENDING, BUY, stake 10.0, payout 80.0 %, open price 1.34068, open time 01-05 02:35:03, trade 01A",
            ),
            (r#"200 {"result":"DRAW","pnl":0.0}"#, "200 DRAW, profit 0.0"),
            (r#"400 {"statusCode":400,"message":"too late"}"#, "400 too late"),
            (r#"200 [{"id":1},{"id":2}]"#, "200 2 in a list"),
            (r#"200 {"not_known":{"deep":[1]},"of":true}"#, "200 deep 1 in a list, of true"),
            ("GET /token/trades/01A", "GET /token/trades/01A"),
            ("502 <html>{", "502 <html>{"),
            ("no answer", "no answer"),
        ] {
            assert_eq!(summarize_text(text), expected);
        }
        let long = summarize_text(&format!("200 {}", "x".repeat(900)));
        assert!(long.len() < 220 && long.ends_with("... (add --raw for the full text)"), "{long}");
    }

    #[test]
    fn describes_entries_in_the_wallets_currency() {
        let scale = MoneyScale::new(2).unwrap();
        for (entry, expected) in [
            (
                json!({"bot": 2, "symbol": 2, "stake": 1000, "direction": "BUY", "decision_time": 5,
                       "expiry": {"close_type": "02:00", "expiration_type": "CANDLE_CLOSE"}, "reason": {"rsi": 24.1}}),
                "BUY, stake 10.00, for 02:00, CANDLE_CLOSE",
            ),
            (
                json!({"stake": 1000, "direction": "BUY", "expiry": {"close_type": "02:00", "expiration_type": "UNSTATED"}}),
                "BUY, stake 10.00, for 02:00",
            ),
            (
                json!({"event": "settled", "outcome": "LOST", "profit": -1000, "close_price": 1.3}),
                "LOST, close price 1.3, profit -10.00",
            ),
            (json!({"intent": 9, "not_sent": "too late"}), "not sent too late"),
            (json!("a note"), "a note"),
        ] {
            assert_eq!(describe_entry(&entry, scale), expected);
        }
    }
}
