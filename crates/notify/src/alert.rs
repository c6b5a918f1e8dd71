//! Alerts, the alert filter of a channel, and messages that contain one alert or a digest of several alerts.

use chrono::DateTime;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write as _;

const MAX_DIGEST_ALERTS: usize = 5;
const MAX_TEXT_CHARS: usize = 300;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    Info,
    /// The event is worth knowing, but no action is required.
    Notice,
    Warning,
    /// The event stops trading or puts money at risk.
    Critical,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Alert {
    /// Time of the event in Unix milliseconds, by the sender's clock.
    pub at: i64,
    pub severity: Severity,
    pub event: String,
    pub bot: Option<String>,
    pub symbol: Option<String>,
    pub text: String,
    /// Key shared by alerts that count as repetitions of each other; `None` to send every alert.
    #[serde(skip)]
    pub repeat_key: Option<String>,
    /// Number of alerts with the same key that were suppressed since the previous alert.
    pub repeated: u64,
}

impl Severity {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Notice => "notice",
            Self::Warning => "warning",
            Self::Critical => "critical",
        }
    }
}

impl Alert {
    pub fn new(at: i64, severity: Severity, event: &str, text: impl Into<String>) -> Self {
        let (event, text) = (event.to_owned(), text.into());
        Self { at, severity, event, bot: None, symbol: None, text, repeat_key: None, repeated: 0 }
    }
}

/// Alert filter by severity. Events in `include` pass at any severity, and events in `exclude` never pass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AlertFilter {
    pub min_severity: Severity,
    pub include: Vec<String>,
    pub exclude: Vec<String>,
}

impl AlertFilter {
    pub fn accepts(&self, alert: &Alert) -> bool {
        let is_among = |events: &[String]| events.contains(&alert.event);
        !is_among(&self.exclude) && (alert.severity >= self.min_severity || is_among(&self.include))
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    pub id: String,
    pub sender: String,
    pub alerts: Vec<Alert>,
    pub dropped: u64,
}

impl Message {
    pub fn severity(&self) -> Severity {
        let of_loss = if self.dropped > 0 { Severity::Warning } else { Severity::Info };
        self.alerts.iter().map(|alert| alert.severity).fold(of_loss, Severity::max)
    }

    pub fn title(&self) -> String {
        let (severity, sender) = (self.severity().as_str(), &self.sender);
        match self.alerts.as_slice() {
            [only] => format!("[{severity}] {sender}: {}", only.event),
            alerts => format!("[{severity}] {sender}: {} alerts", alerts.len()),
        }
    }

    pub fn body(&self) -> String {
        self.render_body(usize::MAX, |_| 1)
    }

    /// Renders the body in at most `most` units, as counted by `length`. Truncates only the text, never the details.
    pub(crate) fn render_body(&self, most: usize, length: impl Fn(char) -> usize) -> String {
        let (text, mut end) = match self.alerts.as_slice() {
            [only] => (only.text.clone(), render_details(only)),
            alerts => (render_digest(alerts), String::new()),
        };
        if self.dropped > 0 {
            let _ = write!(end, "\n{} earlier alerts were dropped because the queue was full.", self.dropped);
        }
        truncate(&text, most.saturating_sub(end.chars().map(&length).sum()), length) + &end
    }

    pub(crate) fn chat_text(&self, most: usize, length: fn(char) -> usize) -> String {
        let title = self.title() + "\n";
        let left = most.saturating_sub(title.chars().map(length).sum());
        truncate(&(title + &self.render_body(left, length)), most, length)
    }
}

pub(crate) fn truncate(text: &str, most: usize, length: impl Fn(char) -> usize) -> String {
    if text.chars().map(&length).sum::<usize>() <= most {
        return text.to_owned();
    }
    let (mut left, mut short) = (most.saturating_sub(3), String::new());
    for letter in text.chars() {
        let Some(rest) = left.checked_sub(length(letter)) else { break };
        left = rest;
        short.push(letter);
    }
    short + "..."
}

fn render_details(alert: &Alert) -> String {
    let mut text = String::new();
    if alert.repeated > 0 {
        let _ = write!(text, "\n{} repetitions suppressed.", alert.repeated);
    }
    let about: Vec<&str> = [&alert.bot, &alert.symbol].into_iter().flatten().map(String::as_str).collect();
    if !about.is_empty() {
        let _ = write!(text, "\n{}", about.join(", "));
    }
    let _ = write!(text, "\n{}", format_time(alert.at));
    text
}

fn render_digest(alerts: &[Alert]) -> String {
    let mut counts = BTreeMap::<&str, u64>::new();
    for alert in alerts {
        *counts.entry(&alert.event).or_default() += 1 + alert.repeated;
    }
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let counted: Vec<String> = counts.iter().map(|(event, count)| format!("{event} {count}")).collect();
    let mut text = counted.join(", ");
    // Most severe first, then earliest first.
    let mut shown: Vec<&Alert> = alerts.iter().collect();
    shown.sort_by_key(|alert| std::cmp::Reverse(alert.severity));
    for alert in shown.iter().take(MAX_DIGEST_ALERTS) {
        let (severity, text_start) = (alert.severity.as_str(), truncate(&alert.text, MAX_TEXT_CHARS, |_| 1));
        let bot = alert.bot.as_deref().map_or(String::new(), |bot| format!("{bot}: "));
        let more = if alert.repeated > 0 { format!(" ({} more)", alert.repeated) } else { String::new() };
        let _ = write!(text, "\n{} [{severity}] {bot}{text_start}{more}", format_time(alert.at));
    }
    let rest = alerts.len().saturating_sub(MAX_DIGEST_ALERTS);
    if rest > 0 {
        let _ = write!(text, "\nand {rest} more");
    }
    text
}

fn format_time(at: i64) -> String {
    let moment = DateTime::from_timestamp_millis(at);
    moment.map_or_else(|| at.to_string(), |moment| moment.format("%Y-%m-%d %H:%M:%S UTC").to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(alerts: Vec<Alert>, dropped: u64) -> Message {
        Message { id: "id".to_owned(), sender: "night bot".to_owned(), alerts, dropped }
    }

    #[test]
    fn digest_counts_all_alerts_and_shows_the_most_severe() {
        let mut alerts: Vec<Alert> =
            (0..9).map(|n| Alert::new(n * 1_000, Severity::Info, "settled", format!("trade {n}"))).collect();
        let halted = Alert::new(9_000, Severity::Critical, "halted", "the operator halted the run");
        alerts.push(Alert { repeated: 6, ..halted });
        let message = message(alerts, 12);
        assert_eq!(message.title(), "[critical] night bot: 10 alerts");
        let expected = "settled 9, halted 7\n\
                        1970-01-01 00:00:09 UTC [critical] the operator halted the run (6 more)\n\
                        1970-01-01 00:00:00 UTC [info] trade 0\n\
                        1970-01-01 00:00:01 UTC [info] trade 1\n\
                        1970-01-01 00:00:02 UTC [info] trade 2\n\
                        1970-01-01 00:00:03 UTC [info] trade 3\n\
                        and 5 more\n\
                        12 earlier alerts were dropped because the queue was full.";
        assert_eq!(message.body(), expected);
    }

    #[test]
    fn truncation_keeps_numbers_and_time() {
        let long = Alert {
            bot: Some("btc-rsi".to_owned()),
            repeated: 2,
            ..Alert::new(1_767_661_200_000, Severity::Info, "alarm", "x".repeat(9_000))
        };
        let text = message(vec![long], 3).chat_text(2_000, char::len_utf16);
        let expected = "x...\n2 repetitions suppressed.\nbtc-rsi\n2026-01-06 01:00:00 UTC\n\
                        3 earlier alerts were dropped because the queue was full.";
        assert!(text.len() == 2_000 && text.ends_with(expected), "{text}");
    }

    #[test]
    fn include_and_exclude_override_severity() {
        let rules = AlertFilter {
            min_severity: Severity::Warning,
            include: vec!["settled".to_owned(), "both".to_owned()],
            exclude: vec!["alarm".to_owned(), "both".to_owned()],
        };
        for (severity, event, is_wanted) in [
            (Severity::Info, "opened", false),
            (Severity::Notice, "started", false),
            (Severity::Warning, "doubt", true),
            (Severity::Critical, "halted", true),
            (Severity::Info, "settled", true),
            (Severity::Critical, "alarm", false),
            (Severity::Critical, "both", false),
        ] {
            assert_eq!(rules.accepts(&Alert::new(0, severity, event, "")), is_wanted, "{event}");
        }
    }
}
