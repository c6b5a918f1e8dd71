//! Chronological steps of an intent.

use super::plain;
use candlewick_journal::{LineKind, LoggedExchange, StoredLine};
use candlewick_sdk::{Millis, MoneyScale};
use serde::Serialize;
use serde_json::Value;

const COLUMNS: [&str; 5] = ["at", "received", "event", "action", "intent"];

#[derive(Debug, Serialize)]
pub(super) struct Step {
    pub(super) time: Millis,
    pub(super) after_ms: Millis,
    /// `decision`, the name of an event, `request`, `reply` or `note`. The prefix `list` or
    /// `wallet` marks an exchange that concerns no particular intent.
    pub(super) what: String,
    pub(super) detail: Value,
    #[serde(skip)]
    pub(super) short: Option<String>,
}

impl Step {
    pub(super) fn of_line(stored: &StoredLine, decided: Millis) -> Self {
        let line = &stored.line;
        let detail: Value =
            serde_json::from_str(&line.body).unwrap_or_else(|_| Value::String(line.body.clone()));
        let what = match line.kind {
            LineKind::Action => "decision",
            LineKind::Event => detail.get("event").and_then(Value::as_str).unwrap_or("event"),
            LineKind::Note | LineKind::Run => "note",
        };
        let (time, what) = (line.received, what.to_owned());
        Self { time, after_ms: time - decided, what, detail, short: None }
    }

    pub(super) fn of_exchange(exchange: &LoggedExchange, decided: Millis) -> [Self; 2] {
        let step = |time: Millis, what: &str, detail: Value| Self {
            time,
            after_ms: time - decided,
            what: what.to_owned(),
            detail,
            short: None,
        };
        let request = format!("{} {}", exchange.what, exchange.request);
        let response = exchange.response.as_deref().unwrap_or("no answer");
        let status = exchange.status.map(|status| format!("{status} ")).unwrap_or_default();
        let reply = Value::String(format!("{status}{response}"));
        [
            step(exchange.sent, "request", Value::String(request.trim_end().to_owned())),
            step(exchange.received.unwrap_or(exchange.sent), "reply", reply),
        ]
    }

    pub(super) fn rank(&self) -> u8 {
        match self.what.as_str() {
            "decision" => 0,
            "request" | "list request" => 1,
            "reply" | "list reply" => 2,
            "wallet request" => 3,
            "wallet reply" => 4,
            _ => 5,
        }
    }

    pub(super) fn words(&self, scale: MoneyScale) -> String {
        match (&self.short, self.detail.as_str()) {
            (Some(short), _) => short.clone(),
            (None, Some(text)) => plain::of_text(text),
            (None, None) => plain::of_entry(&self.detail, scale),
        }
    }

    pub(super) fn raw(&self) -> String {
        let Value::Object(fields) = &self.detail else {
            return self.detail.as_str().map_or_else(|| self.detail.to_string(), str::to_owned);
        };
        let mut fields = fields.clone();
        fields.retain(|key, value| !COLUMNS.contains(&key.as_str()) && !value.is_null());
        Value::Object(fields).to_string()
    }
}
