//! HTTP client for the venue's APIs.

mod account_proof;
mod broker;
mod client;
mod keys;
mod limit;
mod market_data;
mod open;
mod pages;
mod read;
#[cfg(test)]
#[path = "tests/script.rs"]
mod script;
#[cfg(feature = "stream")]
mod stream;
mod transport;

pub use client::install_tls_provider;
pub use transport::{Body, HttpExchange, HttpObserver, Purpose, RawResponse, Transport, TransportError};

use crate::{Credentials, Secret, Settings, TimestampFormat, TokenSource};
use account_proof::AccountProof;
use candlewick_broker::clock::Clock;
use candlewick_broker::{BrokerError, Priority, TokenState, UnrecognisedData};
use candlewick_sdk::{Millis, Symbol};
use chrono::{DateTime, SecondsFormat, Utc};
use client::{Address, Payload};
use keys::CredentialStore;
use limit::{ConnectionLimit, Host, RateLimit};
use reqwest::Request;
use reqwest::header::{HeaderMap, HeaderValue};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use tokio::sync::OnceCell;
use transport::{ApiResponse, Network, send_timed_request};

/// Client for both HTTP APIs of the venue.
pub struct HttpBroker {
    settings: Settings,
    credentials: CredentialStore,
    clock: Arc<dyn Clock>,
    unrecognised_data: Arc<UnrecognisedData>,
    asset_types: BTreeMap<Symbol, String>,
    user_id: OnceCell<String>,
    rate_limit: RateLimit,
    connections: ConnectionLimit,
    account_proof: AccountProof,
    trading: Address,
    prices: Address,
    transport: Arc<dyn Transport>,
    observer: Option<Arc<dyn HttpObserver>>,
    #[cfg(feature = "stream")]
    stream: stream::PriceStream,
}

const DEFAULT_ASSET_TYPE: &str = "crypto";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Api {
    Trading,
    Prices,
}

impl HttpBroker {
    /// Creates a client. Does not send a request. `clock` provides venue time.
    pub fn new(
        settings: Settings,
        credentials: Credentials,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, BrokerError> {
        settings.check()?;
        Self::with_transport(Arc::new(Network::new(&settings)?), settings, credentials, clock)
    }

    /// Validates settings like [`HttpBroker::new`], but works on a machine without root certificates.
    pub fn check(
        settings: Settings,
        credentials: Credentials,
        clock: Arc<dyn Clock>,
    ) -> Result<(), BrokerError> {
        settings.check()?;
        let network = Arc::new(Network::without_certificates(&settings)?);
        Self::with_transport(network, settings, credentials, clock).map(|_| ())
    }

    pub fn with_transport(
        transport: Arc<dyn Transport>,
        settings: Settings,
        credentials: Credentials,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, BrokerError> {
        settings.check()?;
        let proxy = client::parse_proxy(&settings)?;
        let address = |key, text: &str, secret: &Option<Secret>| {
            let payload = if secret.is_some() { Payload::Credential } else { Payload::Nothing };
            Address::new(key, text, payload, proxy.as_ref())
        };
        let trading = address("base_url", &settings.base_url, &credentials.api_token)?;
        let prices = address("price_url", &settings.price_url, &credentials.api_key)?;
        Ok(Self {
            rate_limit: RateLimit::new(settings.requests_per_second),
            connections: ConnectionLimit::new(settings.max_connections),
            account_proof: AccountProof::default(),
            transport,
            observer: None,
            #[cfg(feature = "stream")]
            stream: stream::PriceStream::new(),
            unrecognised_data: Arc::new(UnrecognisedData::new()),
            asset_types: BTreeMap::new(),
            user_id: OnceCell::new(),
            credentials: CredentialStore::new(credentials, &settings.headers),
            settings,
            clock,
            trading,
            prices,
        })
    }

    #[must_use]
    pub fn with_asset_types(mut self, asset_types: BTreeMap<Symbol, String>) -> Self {
        self.asset_types = asset_types;
        self
    }

    pub fn waiting_requests(&self) -> Vec<(&'static str, usize)> {
        let waiting = self.rate_limit.count_waiting_requests();
        let names = [
            (Priority::Trades, "trades"),
            (Priority::Candles, "candles"),
            (Priority::Prices, "prices"),
            (Priority::Display, "display"),
        ];
        names.map(|(priority, name)| (name, waiting.get(&priority).copied().unwrap_or_default())).to_vec()
    }

    #[must_use]
    pub fn with_token_source(mut self, source: TokenSource) -> Self {
        self.credentials.token_source = Some(source);
        self
    }

    pub fn token_state(&self) -> Arc<TokenState> {
        self.credentials.token_state()
    }

    #[must_use]
    pub fn with_observer(mut self, observer: Arc<dyn HttpObserver>) -> Self {
        self.observer = Some(observer);
        self
    }

    /// Sends a request and reads the answer. A failed request with `Retry-After` pauses all requests to the host.
    async fn send_request(
        &self,
        api: Api,
        request: (Purpose, Request),
    ) -> Result<ApiResponse, TransportError> {
        let answer = self.send_observed_request(api, request).await?;
        if let Some(pause) = answer.retry_after.filter(|_| !answer.status.is_success()) {
            self.rate_limit.pause_host(self.host(api), pause.min(self.settings.retry_after_limit()));
        }
        Ok(answer)
    }

    async fn send_observed_request(
        &self,
        api: Api,
        (purpose, request): (Purpose, Request),
    ) -> Result<ApiResponse, TransportError> {
        let limit = self.settings.response_limit_bytes;
        let (transport, clock) = (self.transport.as_ref(), self.clock.as_ref());
        let Some(observer) = self.observer.as_ref().filter(|_| api == Api::Trading) else {
            return Ok(send_timed_request(transport, (purpose, request), limit, clock)
                .await?
                .redacted(&self.credentials));
        };
        let query = request.url().query().map(|query| format!("?{query}")).unwrap_or_default();
        let what = format!("{} {}{query}", request.method(), request.url().path());
        let body = request.body().and_then(reqwest::Body::as_bytes).unwrap_or_default();
        let body = String::from_utf8_lossy(body).into_owned();
        let sent = clock.now();
        let answer = send_timed_request(transport, (purpose, request), limit, clock).await;
        let answer = answer.map(|answer| answer.redacted(&self.credentials));
        let (received, status, response) = match &answer {
            Ok(answer) => {
                let text = String::from_utf8_lossy(answer.body.bytes()).into_owned();
                (Some(answer.received), Some(answer.status.as_u16()), text)
            }
            Err(TransportError::NotConnected(text) | TransportError::Lost(text)) => {
                (None, None, text.clone())
            }
        };
        let [what, request, response] = [what, body, response].map(|text| self.credentials.redact(&text));
        observer.observe(HttpExchange {
            intent: candlewick_broker::current_intent(),
            sent,
            received,
            request_line: what,
            request,
            status,
            response,
        });
        answer
    }

    pub fn unrecognised_data(&self) -> Arc<UnrecognisedData> {
        Arc::clone(&self.unrecognised_data)
    }

    fn asset_type(&self, symbol: Symbol) -> &str {
        self.asset_types.get(&symbol).map_or(DEFAULT_ASSET_TYPE, String::as_str)
    }

    const fn address(&self, api: Api) -> &Address {
        match api {
            Api::Trading => &self.trading,
            Api::Prices => &self.prices,
        }
    }

    fn host(&self, api: Api) -> Host {
        match api {
            Api::Prices if !self.prices.is_same_host(&self.trading) => Host::Second,
            Api::Prices | Api::Trading => Host::First,
        }
    }

    /// Builds the headers for an API (contract 5). Each trading request gets a new timestamp.
    fn api_headers(&self, api: Api) -> Result<HeaderMap, BrokerError> {
        self.api_headers_with(api, self.credentials.current())
    }

    fn api_headers_with(&self, api: Api, credentials: Credentials) -> Result<HeaderMap, BrokerError> {
        let Credentials { api_token, api_key } = credentials;
        let (name, secret, variable) = match api {
            Api::Trading => ("api-token", api_token, "CANDLEWICK_BROKER__API_TOKEN"),
            Api::Prices => ("api-key", api_key, "CANDLEWICK_BROKER__API_KEY"),
        };
        let Some(secret) = secret else {
            return Err(BrokerError::Credentials { text: format!("{name} is missing: set {variable}") });
        };
        let mut headers = HeaderMap::new();
        headers.insert(name, secret.to_header());
        if api == Api::Trading {
            headers.insert("x-timestamp", timestamp_header(self.settings.timestamp, self.clock.now()));
        }
        Ok(headers)
    }
}

impl fmt::Debug for HttpBroker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Extra headers are not printed, because they may contain secrets.
        let Settings { base_url, price_url, .. } = &self.settings;
        f.debug_struct("HttpBroker")
            .field("base_url", base_url)
            .field("price_url", price_url)
            .finish_non_exhaustive()
    }
}

fn timestamp_header(format: TimestampFormat, now: Millis) -> HeaderValue {
    let iso8601 = || DateTime::<Utc>::from_timestamp_millis(now.get());
    match format {
        TimestampFormat::Ms => HeaderValue::from(now.get()),
        TimestampFormat::S => HeaderValue::from(now.get().div_euclid(1_000)),
        TimestampFormat::Iso8601 => iso8601()
            .and_then(|moment| {
                HeaderValue::from_str(&moment.to_rfc3339_opts(SecondsFormat::Millis, true)).ok()
            })
            .unwrap_or_else(|| HeaderValue::from(now.get())), // a moment outside the calendar
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use candlewick_broker::clock::SystemClock;

    fn credentials() -> Credentials {
        Credentials { api_token: Secret::new("tok-123").ok(), api_key: Secret::new("key-456").ok() }
    }

    fn problem(settings: Settings, credentials: Credentials) -> Option<String> {
        let made = HttpBroker::new(settings, credentials, Arc::new(SystemClock::new()));
        made.err().map(|error| error.to_string())
    }

    #[test]
    fn accepts_unencrypted_remote_address_without_credential() {
        let far = |key: &str| match key {
            "base_url" => Settings { base_url: "http://venue.example".into(), ..Settings::default() },
            _ => Settings { price_url: "http://venue.example".into(), ..Settings::default() },
        };
        for key in ["base_url", "price_url"] {
            let message = problem(far(key), credentials()).unwrap();
            assert!(message.starts_with(&format!("broker.{key} = \"http://venue.example\"")), "{message}");
            assert_eq!(problem(far(key), Credentials::default()), None);
        }
        assert_eq!(problem(far("price_url"), Credentials { api_key: None, ..credentials() }), None);
    }

    #[test]
    fn the_client_prints_without_its_credentials() {
        let headers = [("x-session".to_owned(), "session-789".to_owned())].into();
        let settings = Settings { headers, ..Settings::default() };
        let broker = HttpBroker::new(settings, credentials(), Arc::new(SystemClock::new())).unwrap();
        let printed = format!("{broker:?}");
        assert!(printed.contains("127.0.0.1:7701"), "{printed}");
        for secret in ["tok-123", "key-456", "session-789"] {
            assert!(!printed.contains(secret), "{printed}");
        }
    }

    #[test]
    fn timestamp_has_the_configured_format() {
        let now = Millis::new(1_795_176_000_999);
        assert_eq!(timestamp_header(TimestampFormat::Ms, now), "1795176000999");
        assert_eq!(timestamp_header(TimestampFormat::S, now), "1795176000");
        assert_eq!(timestamp_header(TimestampFormat::Iso8601, now), "2026-11-20T12:00:00.999Z");
    }
}
