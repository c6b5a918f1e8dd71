//! The `[broker]` section: venue address and protocol options. Secrets are in [`Credentials`].
//!
//! [`Credentials`]: crate::Credentials

use candlewick_broker::BrokerError;
use candlewick_sdk::CloseType;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::time::Duration;

/// Address of the venue and protocol options.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    /// URL of the trading token API, including any path prefix.
    pub base_url: String,
    /// URL of the symbol price API, including any path prefix.
    pub price_url: String,
    /// Slot (named set of price records) to request from the venue.
    pub slot: String,
    /// Path that opens trades: `/token/trades/open` or `/token/trades/open-async`.
    pub open_path: String,
    /// Shape of the request body that opens a trade.
    pub open_body: OpenBody,
    /// Duration that the venue uses for orders with `open_body = "short"`. Required for "short". Orders of
    /// another duration, or for real money, are not sent.
    #[schemars(with = "Option<String>")]
    pub short_close_type: Option<CloseType>,
    /// Format of the `x-timestamp` header.
    pub timestamp: TimestampFormat,
    /// Timeout of a request in ms, from its start to the last byte of the answer.
    #[schemars(range(min = 1))]
    pub timeout_ms: u64,
    /// Timeout for connecting, in ms.
    #[schemars(range(min = 1))]
    pub connect_timeout_ms: u64,
    /// Deadline of a read request in ms, including all retries and pauses.
    #[schemars(range(min = 1))]
    pub read_deadline_ms: u64,
    /// Maximum number of attempts per read request. An order is never sent twice.
    #[schemars(range(min = 1))]
    pub read_attempts: u32,
    /// Delay before the first retry in ms. It doubles with each retry and has jitter.
    pub retry_pause_ms: u64,
    /// Maximum requests per second to both APIs together; 0 for no limit. Orders do not wait for reads.
    #[schemars(range(min = 0.0))]
    pub requests_per_second: f64,
    /// Maximum number of concurrent connections for reads. Orders have separate connections, up to the same maximum.
    /// Requests wait for a free connection, but an order that would be too late for its signal is not sent.
    #[schemars(range(min = 1, max = 10_000))]
    pub max_connections: usize,
    /// Maximum pause in ms that `Retry-After` can impose. The pause applies to all requests to the
    /// host, including orders.
    #[schemars(range(max = 86_400_000))]
    pub retry_after_limit_ms: u64,
    /// Maximum size of an answer, in bytes.
    #[schemars(range(min = 1))]
    pub response_limit_bytes: usize,
    /// Maximum number of trades read from the venue's list. A longer list counts as incomplete, so it cannot
    /// prove that a trade does not exist.
    #[schemars(range(min = 1))]
    pub list_rows_limit: usize,
    /// Maximum total size of the pages of the trade list, in bytes.
    #[schemars(range(min = 1))]
    pub list_bytes_limit: usize,
    /// Whether to stream prices from `price_url` (Socket.IO). Prices that are not streamed are polled.
    pub stream: bool,
    /// Path of the Socket.IO endpoint, relative to `price_url`.
    pub stream_path: String,
    /// Maximum time in ms without a streamed price. After that, the pair is polled and subscribed again.
    #[schemars(range(min = 1_000, max = 60_000))]
    pub stream_silence_ms: u64,
    /// Proxy for all requests. Proxies in the environment are ignored.
    pub proxy: Option<String>,
    /// Extra headers for every request. Do not put credentials here.
    pub headers: BTreeMap<String, String>,
}

/// Shape of the request body that opens a trade (contract 4.1, endpoint 4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum OpenBody {
    /// Shape A: `isDemo`, `closeType`, `direction`, `symbol`, `amount`, and `expirationType` if set.
    #[default]
    Full,
    /// Shape B: `symbol`, `volume`, `direction`. The venue chooses the expiry and the account.
    Short,
}

/// Format of the `x-timestamp` header (see `observed: headers and hosts`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TimestampFormat {
    /// Unix time in milliseconds.
    #[default]
    Ms,
    /// Unix time in whole seconds.
    S,
    /// UTC time such as `2026-11-20T12:00:00.000Z`.
    Iso8601,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            base_url: "http://127.0.0.1:7701".into(),
            price_url: "http://127.0.0.1:7701".into(),
            slot: "default".into(),
            open_path: "/token/trades/open".into(),
            open_body: OpenBody::Full,
            short_close_type: None,
            timestamp: TimestampFormat::Ms,
            timeout_ms: 5_000,
            connect_timeout_ms: 2_000,
            read_deadline_ms: 15_000,
            read_attempts: 4,
            retry_pause_ms: 250,
            requests_per_second: 5.0,
            max_connections: 100,
            retry_after_limit_ms: 60_000,
            response_limit_bytes: 8 * 1024 * 1024,
            list_rows_limit: 100_000,
            list_bytes_limit: 256 * 1024 * 1024,
            stream: false,
            stream_path: "/socket.io".into(),
            stream_silence_ms: 5_000,
            proxy: None,
            headers: BTreeMap::new(),
        }
    }
}

impl Settings {
    /// Checks values and ranges. Addresses and headers are checked when they are used.
    pub(crate) fn check(&self) -> Result<(), BrokerError> {
        let whole_numbers = [
            ("timeout_ms", self.timeout_ms),
            ("connect_timeout_ms", self.connect_timeout_ms),
            ("read_deadline_ms", self.read_deadline_ms),
            ("read_attempts", u64::from(self.read_attempts)),
            ("response_limit_bytes", self.response_limit_bytes as u64),
            ("list_rows_limit", self.list_rows_limit as u64),
            ("list_bytes_limit", self.list_bytes_limit as u64),
        ];
        if let Some((key, value)) = whole_numbers.into_iter().find(|(_, value)| *value == 0) {
            return Err(BrokerError::settings(key, value, "use at least 1"));
        }
        if self.retry_after_limit_ms > 86_400_000 {
            let problem = "use at most 86400000 (one day)";
            return Err(BrokerError::settings("retry_after_limit_ms", self.retry_after_limit_ms, problem));
        }
        self.check_stream()?;
        let rate = self.requests_per_second;
        if rate != 0.0 && !(0.001..=10_000.0).contains(&rate) {
            let problem = "use 0 for no limit, or 0.001 to 10000";
            return Err(BrokerError::settings("requests_per_second", rate, problem));
        }
        if self.open_body == OpenBody::Short && self.short_close_type.is_none() {
            let problem = "a short body omits the duration and the account: use \"full\", or set broker.short_close_type \
                           to the duration that the venue documents, and use that duration for every bot";
            return Err(BrokerError::settings("open_body", "short", problem));
        }
        if !(1..=10_000).contains(&self.max_connections) {
            return Err(BrokerError::settings("max_connections", self.max_connections, "use 1 to 10000"));
        }
        let segments = self.open_path.strip_prefix('/').map(|path| path.split('/'));
        let sound = |segment: &str| !matches!(segment, "" | "." | "..") && !segment.contains(['?', '#']);
        if !segments.is_some_and(|mut segments| segments.all(sound)) {
            let problem = "use a path such as /token/trades/open";
            return Err(BrokerError::settings("open_path", &self.open_path, problem));
        }
        Ok(())
    }

    fn check_stream(&self) -> Result<(), BrokerError> {
        let silence = self.stream_silence_ms;
        if !(1_000..=60_000).contains(&silence) {
            return Err(BrokerError::settings("stream_silence_ms", silence, "use 1000 to 60000"));
        }
        if self.stream && !cfg!(feature = "stream") {
            let problem = "this build lacks streaming: rebuild with --features stream, or remove this key";
            return Err(BrokerError::settings("stream", true, problem));
        }
        if self.stream && self.proxy.is_some() {
            let problem = "streaming does not work with broker.proxy: remove one of these keys";
            return Err(BrokerError::settings("stream", true, problem));
        }
        Ok(())
    }

    #[cfg(feature = "stream")]
    pub(crate) const fn max_stream_silence(&self) -> Duration {
        Duration::from_millis(self.stream_silence_ms)
    }

    pub(crate) const fn timeout(&self) -> Duration {
        Duration::from_millis(self.timeout_ms)
    }

    pub(crate) const fn retry_after_limit(&self) -> Duration {
        Duration::from_millis(self.retry_after_limit_ms)
    }

    /// Returns the connect timeout, capped below the request timeout. If it expires, nothing has been sent yet.
    pub(crate) fn connect_timeout(&self) -> Duration {
        Duration::from_millis(self.connect_timeout_ms).min(self.timeout() * 3 / 4)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accepts_a_partial_section_and_rejects_unknown_keys() {
        let read = |json: &str| serde_json::from_str::<Settings>(json).map_err(|e| e.to_string());
        let expected = Settings {
            open_body: OpenBody::Short,
            short_close_type: "05:00".parse().ok(),
            timestamp: TimestampFormat::Iso8601,
            requests_per_second: 0.0,
            ..Settings::default()
        };
        let json = r#"{"open_body": "short", "short_close_type": "05:00", "timestamp": "iso8601", "requests_per_second": 0}"#;
        assert_eq!(read(json), Ok(expected));
        assert!(read(r#"{"api_token": "x"}"#).unwrap_err().contains("unknown field `api_token`"));
    }

    #[test]
    fn rejects_invalid_values() {
        let check = |change: fn(&mut Settings), expected: &str| {
            let mut settings = Settings::default();
            change(&mut settings);
            let message = settings.check().map_err(|error| error.to_string());
            assert!(message.clone().is_err_and(|message| message.starts_with(expected)), "{message:?}");
        };
        check(|s| s.timeout_ms = 0, "broker.timeout_ms = \"0\": use at least 1");
        check(|s| s.read_attempts = 0, "broker.read_attempts");
        check(|s| s.requests_per_second = -1.0, "broker.requests_per_second = \"-1\"");
        check(|s| s.requests_per_second = f64::NAN, "broker.requests_per_second");
        check(|s| s.requests_per_second = 1e-300, "broker.requests_per_second");
        check(|s| s.max_connections = 0, "broker.max_connections = \"0\": use 1 to 10000");
        check(|s| s.stream_silence_ms = 999, "broker.stream_silence_ms = \"999\": use 1000 to 60000");
        let proxied = |s: &mut Settings| (s.stream, s.proxy) = (true, Some("http://127.0.0.1:1".into()));
        check(proxied, "broker.stream = \"true\": ");
        check(|s| s.open_body = OpenBody::Short, "broker.open_body = \"short\": a short body omits");
        for path in ["", "token/open", "/", "/token//open", "/token/../open", "/open?x=1"] {
            assert!(Settings { open_path: path.into(), ..Settings::default() }.check().is_err(), "{path:?}");
        }
        assert_eq!(Settings::default().check(), Ok(()));
    }

    #[test]
    fn the_schema_documents_every_key() {
        let schema = serde_json::to_value(schemars::schema_for!(Settings)).unwrap();
        let properties = schema["properties"].as_object().unwrap();
        assert_eq!(properties.len(), 23);
        for (key, property) in properties {
            assert!(property.to_string().contains("description"), "{key}");
        }
    }
}
