//! The `[signals]` section: sources of external signals, all disabled by default.

use super::secret::read_private_file;
use super::{LoadedConfig, Problem};
use crate::signals::parse_offset_zone;
use candlewick_engine::invalid_time_zone_hint;
use chrono_tz::Tz;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::str::FromStr;

const SECRET_VARIABLE: &str = "CANDLEWICK_SIGNALS__SECRET";
const MIN_SECRET_BYTES: usize = 16;
const MAX_SECRET_BYTES: usize = 256;

/// The `[signals]` section: signal sources of `live` and `paper` runs. `backtest` only uses the signal list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[allow(clippy::struct_excessive_bools, reason = "each is a setting")]
pub struct SignalSettings {
    /// CSV file with entry times and directions, reread after each change. Default: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub list: Option<PathBuf>,
    /// Time zone of list entries without a time zone: an IANA name, `UTC-3` or `UTC+5:30`.
    pub timezone: String,
    /// Day and month order of list dates such as 05/01. Default: inferred; an ambiguous list is rejected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dates: Option<DateOrder>,
    /// Whether to skip and count list lines that are not entries or whose symbol no bot trades.
    /// If `false`, a list with such a line is rejected as a whole and raises an alarm.
    pub skip_unknown: bool,
    /// Whether to read signals from standard input, one JSON object per line.
    pub stdin: bool,
    /// Address of the webhook, such as `127.0.0.1:7790`. Default: disabled. Port 0 selects a free port.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub listen: Option<SocketAddr>,
    /// File with the webhook's secret, readable only by its owner. `CANDLEWICK_SIGNALS__SECRET` takes precedence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secret_file: Option<PathBuf>,
    /// Whether other machines may reach `listen`. Anyone with the secret can then trade.
    /// The secret is transmitted unencrypted.
    pub allow_remote: bool,
    /// Addresses or networks, such as `10.0.0.0/8`, from which to accept signals. Empty: all.
    pub allowed_addresses: Vec<String>,
    /// Whether the webhook is behind your own proxy. The sender is then the last address in `X-Forwarded-For`.
    pub behind_proxy: bool,
    /// Maximum number of webhook signals per minute. Excess signals are rejected and counted.
    #[schemars(range(min = 1, max = 6_000))]
    pub requests_per_minute: u32,
}

/// Day and month order of dates such as 05/01.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DateOrder {
    /// Day first, as in most of the world.
    DayFirst,
    /// Month first, as in the United States.
    MonthFirst,
}

impl DateOrder {
    #[must_use]
    pub(crate) const fn opposite(self) -> Self {
        match self {
            Self::DayFirst => Self::MonthFirst,
            Self::MonthFirst => Self::DayFirst,
        }
    }

    pub(crate) const fn describe(self) -> &'static str {
        match self {
            Self::DayFirst => "day first",
            Self::MonthFirst => "month first",
        }
    }
}

impl Default for SignalSettings {
    fn default() -> Self {
        Self {
            list: None,
            timezone: "UTC".to_owned(),
            dates: None,
            skip_unknown: false,
            stdin: false,
            listen: None,
            secret_file: None,
            allow_remote: false,
            allowed_addresses: Vec::new(),
            behind_proxy: false,
            requests_per_minute: 120,
        }
    }
}

impl SignalSettings {
    /// Returns the time zone of the list, or UTC for a name that [`signal_problems`] rejects.
    pub(crate) fn zone(&self) -> Tz {
        self.parse_zone().unwrap_or(Tz::UTC)
    }

    fn parse_zone(&self) -> Option<Tz> {
        self.timezone.parse().ok().or_else(|| parse_offset_zone(&self.timezone))
    }

    pub(crate) fn networks(&self) -> Vec<Network> {
        self.allowed_addresses.iter().filter_map(|text| text.parse().ok()).collect()
    }

    pub(crate) fn secret(&self) -> Result<WebhookSecret, String> {
        let text = match (std::env::var(SECRET_VARIABLE), &self.secret_file) {
            (Ok(text), _) => text,
            (Err(_), Some(path)) => {
                read_private_file(path).map_err(|problem| format!("{}: {problem}", path.display()))?
            }
            (Err(_), None) => {
                return Err(format!(
                    "the webhook needs a secret; set signals.secret_file to a file that only you can read, or {SECRET_VARIABLE} in \
                     the environment"
                ));
            }
        };
        WebhookSecret::new(text.trim())
    }
}

#[derive(Clone)]
pub(crate) struct WebhookSecret(blake3::Hash);

impl WebhookSecret {
    pub(crate) fn new(text: &str) -> Result<Self, String> {
        let is_plain = text.bytes().all(|byte| byte.is_ascii_graphic());
        if !is_plain || !(MIN_SECRET_BYTES..=MAX_SECRET_BYTES).contains(&text.len()) {
            return Err(format!(
                "the webhook's secret needs {MIN_SECRET_BYTES} to {MAX_SECRET_BYTES} letters, digits and symbols without spaces; \
                 `openssl rand -hex 24` creates one"
            ));
        }
        Ok(Self(blake3::hash(text.as_bytes())))
    }

    /// Returns whether `given` equals this secret. Compares hashes in constant time.
    pub(crate) fn matches(&self, given: &str) -> bool {
        self.0 == blake3::hash(given.as_bytes())
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Network {
    address: IpAddr,
    prefix: u8,
}

impl Network {
    pub(crate) fn contains(&self, address: IpAddr) -> bool {
        let shifted = |bits: u128, all: u8| bits.checked_shr(u32::from(all - self.prefix)).unwrap_or(0);
        match (self.address, address.to_canonical()) {
            (IpAddr::V4(own), IpAddr::V4(other)) => {
                shifted(own.to_bits().into(), 32) == shifted(other.to_bits().into(), 32)
            }
            (IpAddr::V6(a), IpAddr::V6(b)) => shifted(a.to_bits(), 128) == shifted(b.to_bits(), 128),
            _ => false,
        }
    }
}

impl FromStr for Network {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong =
            || format!("{text:?} is not an address such as 52.89.214.238, or a network such as 10.0.0.0/8");
        let (base, prefix) = text.split_once('/').map_or((text, None), |(base, rest)| (base, Some(rest)));
        let address = base.parse::<IpAddr>().map_err(|_| wrong())?.to_canonical();
        let all = if address.is_ipv4() { 32 } else { 128 };
        let prefix = prefix.map_or(Ok(all), |prefix| prefix.parse::<u8>().map_err(|_| wrong()))?;
        if prefix > all { Err(wrong()) } else { Ok(Self { address, prefix }) }
    }
}

pub fn signal_problems(loaded: &LoadedConfig) -> Vec<Problem> {
    let signals = &loaded.config.signals;
    let mut problems = Vec::new();
    if signals.parse_zone().is_none() {
        let problem = format!("unknown time zone; {}", invalid_time_zone_hint(&signals.timezone));
        let value = format!("{:?}", signals.timezone);
        problems.push(loaded.problem("signals.timezone", problem).with_value(value));
    }
    for (index, text) in signals.allowed_addresses.iter().enumerate() {
        if let Err(problem) = text.parse::<Network>() {
            problems.push(loaded.problem(&format!("signals.allowed_addresses[{index}]"), problem));
        }
    }
    if !(1..=6_000).contains(&signals.requests_per_minute) {
        problems.push(loaded.problem("signals.requests_per_minute", "use 1 to 6000"));
    }
    let Some(listen) = signals.listen else { return problems };
    if !listen.ip().is_loopback() && !signals.allow_remote {
        let problem = "other machines can reach this address, and anyone with the secret can trade; use 127.0.0.1 behind an \
                       encrypting proxy, or set signals.allow_remote = true";
        problems.push(loaded.problem("signals.listen", problem).with_value(format!("\"{listen}\"")));
    }
    if let Err(problem) = signals.secret() {
        problems.push(loaded.problem("signals.secret_file", problem));
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(section: &str, expected: &[&str]) {
        let (_folder, secret) = crate::tests::webhook_secret();
        let section = section.replace("SECRET", &format!("secret_file = {:?}", secret.display().to_string()));
        let loaded = LoadedConfig::from_text(&format!("[signals]\n{section}\n")).unwrap();
        crate::tests::assert_problems(&signal_problems(&loaded), expected);
    }

    #[test]
    fn webhooks_need_a_secret_and_remote_addresses_a_second_setting() {
        check("", &[]);
        check("listen = \"127.0.0.1:0\"", &["needs a secret"]);
        check("listen = \"127.0.0.1:0\"\nSECRET", &[]);
        check("listen = \"0.0.0.0:7790\"\nSECRET", &["allow_remote"]);
        check("listen = \"0.0.0.0:7790\"\nallow_remote = true\nSECRET", &[]);
        check("timezone = \"Berlin\"", &["did you mean Europe/Berlin?"]);
        for zone in ["GMT-3", "UTC -3", "UTC+5:30", "UTC+0530", "GMT +5:30", "Asia/Kolkata"] {
            check(&format!("timezone = \"{zone}\""), &[]);
        }
        check("timezone = \"UTC+3:30\"", &["use an IANA name"]);
        check("allowed_addresses = [\"10.0.0.0/33\", \"10.0.0.1\", \"here\"]", &["10.0.0.0/33", "here"]);
    }

    #[test]
    fn compares_secrets_and_rejects_short_ones() {
        for text in ["", "short", "0123456789abcde", "0123456789 abcdef", &"x".repeat(257)] {
            assert!(WebhookSecret::new(text).is_err(), "{text}");
        }
        let secret = WebhookSecret::new("0123456789abcdef").unwrap();
        assert!(secret.matches("0123456789abcdef"));
        for wrong in ["", "0123456789abcdeg", "0123456789abcde", "0123456789abcdef0"] {
            assert!(!secret.matches(wrong), "{wrong}");
        }
    }

    #[test]
    fn networks_contain_addresses_with_their_prefix() {
        let holds = |network: &str, address: &str| {
            network.parse::<Network>().unwrap().contains(address.parse().unwrap())
        };
        assert!(holds("10.1.0.0/16", "10.1.255.3") && !holds("10.1.0.0/16", "10.2.0.0"));
        assert!(holds("10.1.2.3", "10.1.2.3") && !holds("10.1.2.3", "10.1.2.2"));
        assert!(holds("10.1.2.3", "::ffff:10.1.2.3") && holds("0.0.0.0/0", "8.8.8.8"));
        assert!(holds("fd00::/8", "fd12::1") && !holds("fd00::/8", "fe00::1") && holds("::/0", "::1"));
        assert!(!holds("0.0.0.0/0", "::1"));
    }
}
