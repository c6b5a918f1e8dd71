//! The `[notify]` section: routing of alerts to channels.

use super::{Loaded, Problem};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

const VARIABLE: &str = "notify__channels__";
const SECRETS: [&str; 2] = ["__secret", "__url"];

/// The `[notify]` section: alerts of a live run. It sends none without a channel, and needs a program built with `--features notify` or
/// `full`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct NotifySettings {
    /// By what name alerts say who sends them.
    pub sender: String,
    /// Alerts that wait for a channel at most; beyond that the oldest of the least severe are dropped, counted and told.
    #[schemars(range(min = 1, max = 100_000))]
    pub queue: u32,
    /// Messages of a channel within the window before what follows becomes one digest.
    #[schemars(range(min = 1, max = 1_000))]
    pub digest_after: u32,
    /// That window, in seconds.
    #[schemars(range(min = 1, max = 86_400))]
    pub digest_window_s: u32,
    /// For how long the same warning or alarm is not told again, but counted, in seconds; 0: each is told.
    #[schemars(range(max = 86_400))]
    pub repeat_after_s: u32,
    /// After how many seconds of venue time an order of unknown status is told.
    #[schemars(range(max = 86_400))]
    pub doubt_after_s: u32,
    /// Free balance and open stakes below which an alert is sent; 0: never.
    #[schemars(range(min = 0.0))]
    pub balance_below: f64,
    /// How long the end of a run waits for alerts that are not sent yet, in seconds.
    #[schemars(range(max = 600))]
    pub end_timeout_s: u32,
    /// The channels, by names of small letters, digits and `_`.
    pub channels: BTreeMap<String, ChannelSettings>,
}

/// A `[notify.channels.NAME]` section. Its secret comes from `secret_file`, or from `CANDLEWICK_NOTIFY__CHANNELS__NAME__SECRET` in the environment.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ChannelSettings {
    /// How it is spoken to.
    pub kind: ChannelKind,
    /// Its address. That of Discord is a secret by itself: `url_file`, or `CANDLEWICK_NOTIFY__CHANNELS__NAME__URL` in the environment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// File that holds the address; only its owner may read it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url_file: Option<PathBuf>,
    /// File that holds what opens it: the key of a webhook, the token of ntfy or of a Telegram bot, the password of a mail server. Only its
    /// owner may read it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret_file: Option<PathBuf>,
    /// The least severity that is sent.
    #[serde(default)]
    pub minimum: AlertSeverity,
    /// Events that are sent whatever their severity.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub include: Vec<AlertEvent>,
    /// Events that are not sent whatever their severity.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exclude: Vec<AlertEvent>,
    /// The chats of a Telegram bot, by their numbers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub chats: Vec<i64>,
    /// Whether these chats may ask: `/status`, and `/halt` with a code that they are given. Whoever writes in one of them may.
    #[serde(default)]
    pub commands: bool,
    /// Who writes an e-mail.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Who an e-mail is written to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub to: Vec<String>,
    /// By which name the mail server knows the sender.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
}

/// How a channel is spoken to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ChannelKind {
    /// JSON by POST, signed as Standard Webhooks are.
    Webhook,
    /// A topic of an ntfy server: `https://HOST/TOPIC`.
    Ntfy,
    /// Chats of a Telegram bot; the address is that of the Bot API.
    Telegram,
    /// A webhook of a Discord channel.
    Discord,
    /// E-mail: `smtps://HOST`, or `smtp://HOST` with STARTTLS.
    Email,
}

/// How much an alert matters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AlertSeverity {
    /// What happens all the time, such as a settlement.
    Info,
    /// What a person wants to know, and need not act on.
    #[default]
    Notice,
    /// What a person should look at.
    Warning,
    /// What keeps the run from trading, or puts money at risk.
    Critical,
}

/// What alerts are about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AlertEvent {
    /// The run begins. Notice.
    Started,
    /// It is over: notice, critical where it broke off or a limit ended it.
    Ended,
    /// No more trades are opened, and what is open is waited for. Notice.
    Stopping,
    /// A trade was opened. Info.
    Opened,
    /// A trade settled. Info.
    Settled,
    /// The venue refused an order. Warning.
    Rejected,
    /// An order is of unknown status for `doubt_after_s`. Warning.
    Doubt,
    /// Such an order is no longer. Notice.
    Resolved,
    /// The venue has a second trade of one order. Critical.
    SecondTrade,
    /// No opens until somebody resumes. Critical.
    Halted,
    /// No opens until the journal can be written, the venue accepts the token and the account may trade. Critical.
    Suspended,
    /// Opens are allowed again. Notice.
    Resumed,
    /// Settings that were read again are in force. Notice.
    Reloaded,
    /// An API of the venue does not answer any more. Critical.
    VenueSilent,
    /// It answers again. Notice.
    VenueHeard,
    /// Candles of a series are late by more than two intervals. Critical.
    SeriesLate,
    /// They come again. Notice.
    SeriesRecovered,
    /// A limit refuses signals: of the day, of drawdown or streak, of the balance, or a pause after refusals by the venue; once a day
    /// for each bot. Warning.
    Limit,
    /// Free balance and open stakes are below `balance_below`. Warning.
    Balance,
    /// Money came or went that no trade explains. Warning.
    Deposit,
    /// The verdict on a bot's edge: notice, warning where an edge is ruled out or no longer held.
    Verdict,
    /// An audit differs, or something else that a person must see. Critical.
    Alarm,
    /// Something went wrong that the run survives. Warning.
    Warning,
    /// Events came faster than they could be looked at. Warning.
    Missed,
    /// What `notify test` sends. Notice.
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

/// Omits the address, which may be a secret.
impl fmt::Debug for ChannelSettings {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("ChannelSettings").field("kind", &self.kind).finish_non_exhaustive()
    }
}

pub(super) fn is_channel_secret(variable: &str) -> bool {
    variable.starts_with(VARIABLE) && SECRETS.iter().any(|part| variable.ends_with(part))
}

pub(crate) fn section_problems(loaded: &Loaded) -> Vec<Problem> {
    let notify = &loaded.config.notify;
    let mut problems = Vec::new();
    if notify.channels.is_empty() {
        return problems;
    }
    if !cfg!(feature = "notify") {
        let problem = "this program is built without the feature notify: build it with --features notify, or full, or install a package, \
             which has it (docs/installing.md)";
        problems.push(loaded.problem("notify.channels", problem));
    }
    for (name, channel) in &notify.channels {
        let is_letter = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
        if name.is_empty() || !name.bytes().all(is_letter) {
            let problem = "the name of a channel is made of small letters, digits and _";
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
                report(setting, &format!("only a channel of kind \"{}\" has it", kind.as_str()));
            }
        }
        if is(ChannelKind::Discord) && channel.url.is_some() {
            let problem = "the address of a Discord channel is a secret, which does not belong in a configuration file: set url_file";
            report("url", problem);
        }
        if is(ChannelKind::Telegram) && channel.chats.is_empty() {
            let problem =
                "this key is missing: the numbers of the chats that are written to, such as [123456789]";
            report("chats", problem);
        }
        if is(ChannelKind::Email) && channel.from.is_none() {
            report("from", "this key is missing: who writes the mail");
        }
    }
    problems
}
