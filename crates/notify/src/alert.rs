//! Alerts and their severity.

use serde::Serialize;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Routine events, such as settlements.
    Info,
    /// Worth knowing, no action required.
    Notice,
    /// Requires attention.
    Warning,
    /// Stops trading or puts money at risk.
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
    /// Key of repeated alerts, which are throttled. `None` if each is sent.
    #[serde(skip)]
    pub repeat_key: Option<String>,
    /// Number of suppressed alerts with the same key since the previous one.
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
