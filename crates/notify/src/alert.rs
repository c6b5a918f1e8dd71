//! What is told.

use serde::Serialize;

/// How much it matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// What happens all the time, such as a settlement.
    Info,
    /// What a person wants to know, and need not act on.
    Notice,
    /// What a person should look at.
    Warning,
    /// What keeps a run from trading, or puts money at risk.
    Critical,
}

/// Something that a person or a program is told.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Alert {
    /// When it happened, in ms since 1970, UTC, by the clock of whoever tells it.
    pub at: i64,
    /// How much it matters.
    pub severity: Severity,
    /// What kind of event it is, in lower case, such as `halted`.
    pub event: String,
    /// The bot that it is about, if it is about one.
    pub bot: Option<String>,
    /// The symbol that it is about, if it is about one.
    pub symbol: Option<String>,
    /// What happened, in a sentence or two.
    pub text: String,
    /// Alerts with the same key say the same again; none: each is sent.
    #[serde(skip)]
    pub repeat_key: Option<String>,
    /// How many of the same key were not sent since the one before.
    pub repeated: u64,
}

impl Severity {
    /// Its name.
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
    /// An alert about no bot in particular.
    pub fn new(at: i64, severity: Severity, event: &str, text: impl Into<String>) -> Self {
        let (event, text) = (event.to_owned(), text.into());
        Self { at, severity, event, bot: None, symbol: None, text, repeat_key: None, repeated: 0 }
    }
}
