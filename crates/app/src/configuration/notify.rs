//! The `[notify]` section: routing of alerts to channels.

use super::{LoadedConfig, Problem};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

const CHANNELS_PREFIX: &str = "notify__channels__";
const SECRET_SUFFIXES: [&str; 2] = ["__secret", "__url"];

/// The `[notify]` section: sends alerts from live runs to channels. Requires a program built with
/// `--features notify` or `full`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct NotifySettings {
    /// Sender name in alerts.
    pub sender: String,
    /// Maximum number of pending alerts per channel. Excess alerts are dropped and counted, the least severe first.
    #[schemars(range(min = 1, max = 100_000))]
    pub queue: u32,
    /// Maximum number of separate messages per channel and digest window. Further messages are combined into a digest.
    #[schemars(range(min = 1, max = 1_000))]
    pub digest_after: u32,
    /// Length of the digest window in seconds.
    #[schemars(range(min = 1, max = 86_400))]
    pub digest_window_s: u32,
    /// Seconds during which repeats of a warning or alarm are counted instead of sent. 0 sends each repeat.
    #[schemars(range(max = 86_400))]
    pub repeat_after_s: u32,
    /// Delay before an alert about an order of unknown status, in seconds of venue time.
    #[schemars(range(max = 86_400))]
    pub doubt_after_s: u32,
    /// Alert threshold for the free balance plus open stakes. 0 disables the alert.
    #[schemars(range(min = 0.0))]
    pub balance_below: f64,
    /// Maximum wait for pending alerts at the end of a run, in seconds.
    #[schemars(range(max = 600))]
    pub end_timeout_s: u32,
    /// Channels by name. Names consist of lower-case letters, digits and `_`.
    pub channels: BTreeMap<String, ChannelSettings>,
}

/// A `[notify.channels.NAME]` section. The secret can also be set as `CANDLEWICK_NOTIFY__CHANNELS__NAME__SECRET`.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ChannelSettings {
    /// Kind of channel.
    pub kind: ChannelKind,
    /// Service address. A Discord address is a secret: use `url_file` or `CANDLEWICK_NOTIFY__CHANNELS__NAME__URL`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// File with the address. Only its owner may read it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url_file: Option<PathBuf>,
    /// File with the webhook key, ntfy or Telegram token, or mail password. Only its owner may read it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret_file: Option<PathBuf>,
    /// Minimum severity of alerts to send.
    #[serde(default)]
    pub minimum: AlertSeverity,
    /// Events whose alerts are sent regardless of `minimum`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub include: Vec<AlertEvent>,
    /// Events whose alerts are never sent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exclude: Vec<AlertEvent>,
    /// Chat ids of a Telegram bot.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub chats: Vec<i64>,
    /// Whether anyone in these chats may use `/status` and, with a confirmation code, `/halt`.
    #[serde(default)]
    pub commands: bool,
    /// Sender address of e-mails.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Recipient addresses of e-mails.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub to: Vec<String>,
    /// User name for the mail server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
}

/// Kind of channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ChannelKind {
    /// JSON in a POST request, signed according to Standard Webhooks.
    Webhook,
    /// Topic of an ntfy server: `https://HOST/TOPIC`.
    Ntfy,
    /// Chats of a Telegram bot. `url` is the address of the Bot API.
    Telegram,
    /// Webhook of a Discord channel.
    Discord,
    /// E-mail server: `smtps://HOST`, or `smtp://HOST` with STARTTLS.
    Email,
}

/// Severity of an alert.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AlertSeverity {
    /// Routine event, such as a settlement.
    Info,
    /// Notable event that needs no action.
    #[default]
    Notice,
    /// Problem that needs attention.
    Warning,
    /// Problem that stops trading or puts money at risk.
    Critical,
}

/// Event that triggers an alert.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AlertEvent {
    /// The run started. Severity: notice.
    Started,
    /// The run ended. Severity: notice, or critical if an error or a limit ended it.
    Ended,
    /// The run opens no more trades and waits for open ones. Severity: notice.
    Stopping,
    /// A trade was opened. Severity: info.
    Opened,
    /// A trade settled. Severity: info.
    Settled,
    /// The venue declined an order. Severity: warning.
    Rejected,
    /// An order has had an unknown status for `doubt_after_s`. Severity: warning.
    Doubt,
    /// The status of an order is known again. Severity: notice.
    Resolved,
    /// The venue has a duplicate trade for an order. Severity: critical.
    SecondTrade,
    /// Trading is halted until the operator resumes it. Severity: critical.
    Halted,
    /// Trading is suspended because the journal, the token or the account is unusable. Severity: critical.
    Suspended,
    /// New trades are allowed again. Severity: notice.
    Resumed,
    /// Reloaded settings are in use. Severity: notice.
    Reloaded,
    /// An API of the venue no longer answers. Severity: critical.
    VenueSilent,
    /// An API of the venue answers again. Severity: notice.
    VenueHeard,
    /// Candles of a series are late by more than two intervals. Severity: critical.
    SeriesLate,
    /// Candles of a series that was late are arriving again. Severity: notice.
    SeriesRecovered,
    /// Signals are rejected because a limit is reached, the balance is too low, an edge is ruled out, or trading pauses
    /// after declined orders. Sent once a day per bot and reason. Severity: warning.
    Limit,
    /// Free balance plus open stakes are below `balance_below`. Severity: warning.
    Balance,
    /// The balance changed without a trade. Severity: warning.
    Deposit,
    /// A bot's edge verdict changed. Severity: notice, or warning if an edge is ruled out or no longer supported.
    Verdict,
    /// An audit found a discrepancy, or another problem needs the operator's attention. Severity: critical.
    Alarm,
    /// A problem that does not stop the run. Severity: warning.
    Warning,
    /// Events arrived faster than they could be processed, so some got no alert. Severity: warning.
    Missed,
    /// Test message from `notify test`. Severity: notice.
    Test,
}

impl Default for NotifySettings {
    fn default() -> Self {
        Self {
            sender: "candlewick".to_owned(),
            queue: 1_000,
            digest_after: 10,
            digest_window_s: 60,
            repeat_after_s: 900,
            doubt_after_s: 60,
            balance_below: 0.0,
            end_timeout_s: 10,
            channels: BTreeMap::new(),
        }
    }
}

impl ChannelKind {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Webhook => "webhook",
            Self::Ntfy => "ntfy",
            Self::Telegram => "telegram",
            Self::Discord => "discord",
            Self::Email => "email",
        }
    }
}

/// Omits the address of the channel, which may be a secret.
impl fmt::Debug for ChannelSettings {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("ChannelSettings").field("kind", &self.kind).finish_non_exhaustive()
    }
}

pub(super) fn is_channel_secret(variable: &str) -> bool {
    variable.starts_with(CHANNELS_PREFIX) && SECRET_SUFFIXES.iter().any(|part| variable.ends_with(part))
}

pub(crate) fn notify_section_problems(loaded: &LoadedConfig) -> Vec<Problem> {
    let notify = &loaded.config.notify;
    let mut problems = Vec::new();
    if notify.channels.is_empty() {
        return problems;
    }
    if !cfg!(feature = "notify") {
        let problem = "this program was built without alerts; build it with --features notify or full, or install a package \
             (docs/installing.md)";
        problems.push(loaded.problem("notify.channels", problem));
    }
    for (name, channel) in &notify.channels {
        let is_letter = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
        if name.is_empty() || !name.bytes().all(is_letter) {
            let problem = "use only lower-case letters, digits and _ in the name of a channel";
            problems.push(loaded.problem(&format!("notify.channels.{name}"), problem));
        }
        let mut report = |setting: &str, problem: &str| {
            problems.push(loaded.problem(&format!("notify.channels.{name}.{setting}"), problem));
        };
        let is = |kind| channel.kind == kind;
        for (is_given, setting, kind) in [
            (!channel.chats.is_empty(), "chats", ChannelKind::Telegram),
            (channel.commands, "commands", ChannelKind::Telegram),
            (channel.from.is_some(), "from", ChannelKind::Email),
            (!channel.to.is_empty(), "to", ChannelKind::Email),
            (channel.user.is_some(), "user", ChannelKind::Email),
        ] {
            if is_given && !is(kind) {
                report(setting, &format!("only channels of kind \"{}\" have this key", kind.as_str()));
            }
        }
        if is(ChannelKind::Discord) && channel.url.is_some() {
            let problem = "the address of a Discord channel is a secret and does not belong in a configuration file; set url_file";
            report("url", problem);
        }
        if is(ChannelKind::Telegram) && channel.chats.is_empty() {
            report("chats", "this key is missing; set the ids of the chats, such as [123456789]");
        }
        if is(ChannelKind::Email) && channel.from.is_none() {
            report("from", "this key is missing; set the sender address of e-mails");
        }
    }
    problems
}
