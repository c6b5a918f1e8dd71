//! Read requests to both APIs (contract 4.1 and 4.2). The number and the total time of retries are limited.

use super::keys::TokenUse;
use super::limit::{RateLimitTimeout, RequestClass};
use super::market_data::MAX_CANDLES_PER_REQUEST;
use super::transport::ApiResponse;
use super::{Api, Body, HttpBroker, Purpose, TransportError};
use crate::model::{
    ErrorBody, PriceRecord, Record, RecordError, TradePage, TradeQuery, TradeRecord, User, Wallet,
    parse_json, read_list, read_record, read_records,
};
use backon::{ExponentialBuilder, Retryable};
use candlewick_broker::{AsOf, BrokerError, CandleQuery, CandleRow, Reply, current_priority};
use candlewick_sdk::{Millis, Symbol};
use reqwest::{Method, Request, StatusCode};
use serde_json::Value;
use std::collections::BTreeSet;
use std::time::Duration;
use tokio::time::Instant;
use url::Url;

impl HttpBroker {
    pub(super) fn url<'s>(
        &self,
        api: Api,
        segments: impl IntoIterator<Item = &'s str>,
        query: &[(&str, String)],
    ) -> Result<Url, BrokerError> {
        let mut url = self.address(api).join(segments)?;
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(query);
        }
        Ok(url)
    }

    /// Sends a GET request. If the venue rejects the token, retries with a new token.
    async fn read(&self, api: Api, url: Url) -> Result<ApiResponse, BrokerError> {
        let generation = self.credentials.generation();
        let read = self.read_with_retries(api, url.clone()).await;
        let endpoint = endpoint_name(url.path());
        match &read {
            Ok(_) if api == Api::Trading => self.credentials.record_accepted_read(generation, endpoint),
            // Trading continues, because the trade list contains the same information.
            Err(BrokerError::Credentials { text })
                if endpoint == GET_TRADE && self.is_accepted_at_other_endpoint(endpoint).await =>
            {
                self.credentials.record_endpoint_rejection(endpoint, text);
            }
            Err(BrokerError::Credentials { text }) if api == Api::Trading => {
                if self.handle_rejected_token(generation, (TokenUse::Reading, endpoint), text).await {
                    return self.read_with_retries(api, url).await;
                }
            }
            Ok(_) | Err(_) => {}
        }
        read
    }

    async fn read_with_retries(&self, api: Api, url: Url) -> Result<ApiResponse, BrokerError> {
        let deadline = Instant::now() + Duration::from_millis(self.settings.read_deadline_ms);
        let pauses = ExponentialBuilder::default()
            .with_min_delay(Duration::from_millis(self.settings.retry_pause_ms))
            .with_max_times(self.settings.read_attempts.saturating_sub(1) as usize)
            .with_jitter();
        let attempt = || self.read_once(api, url.clone(), deadline);
        attempt
            .retry(pauses)
            .when(BrokerError::is_temporary)
            .adjust(|error, pause| {
                let asked = match error {
                    BrokerError::RateLimited { retry_after, .. } => retry_after.unwrap_or_default(),
                    _ => Duration::ZERO,
                };
                let pause = pause?.max(asked.min(self.settings.retry_after_limit()));
                (pause < deadline.saturating_duration_since(Instant::now())).then_some(pause)
            })
            .notify(|error, pause| tracing::debug!(%error, ?pause, path = url.path(), "retrying a read"))
            .await
    }

    async fn read_once(&self, api: Api, url: Url, deadline: Instant) -> Result<ApiResponse, BrokerError> {
        let path = url.path().to_owned();
        let unavailable = |text: String| BrokerError::Unavailable {
            text: self.credentials.redact(&format!("{text} (GET {path})")),
        };
        let left = || deadline.saturating_duration_since(Instant::now());
        match self.rate_limit.wait(self.host(api), RequestClass::Read(current_priority()), left()).await {
            Ok(()) => {}
            Err(RateLimitTimeout::Rate(_)) => {
                let limit = self.settings.requests_per_second;
                let text = "the rate limit would delay this request for too long";
                return Err(unavailable(format!("{text} (broker.requests_per_second = {limit})")));
            }
            Err(RateLimitTimeout::Quiet(left)) => {
                let text = format!("requests are paused for another {} s (GET {path})", left.as_secs() + 1);
                return Err(BrokerError::RateLimited { text, retry_after: Some(left) });
            }
        }
        let Some(_permit) = self.connections.acquire_read(current_priority(), left()).await else {
            let most = self.settings.max_connections;
            let text = format!("no connection was free in time (broker.max_connections = {most})");
            return Err(unavailable(text));
        };
        let mut request = Request::new(Method::GET, url);
        *request.headers_mut() = self.api_headers(api)?;
        *request.timeout_mut() = Some(left().min(self.settings.timeout()));
        match self.send_request(api, (Purpose::Read, request)).await {
            Ok(answer) => self.check_status(api, answer, &path),
            Err(TransportError::NotConnected(text) | TransportError::Lost(text)) => Err(unavailable(text)),
        }
    }

    pub(super) fn check_status(
        &self,
        api: Api,
        answer: ApiResponse,
        path: &str,
    ) -> Result<ApiResponse, BrokerError> {
        let status = answer.status;
        if status == StatusCode::OK {
            return match &answer.body {
                Body::Whole(_) => Ok(answer),
                Body::TooLong(_) => {
                    let limit = self.settings.response_limit_bytes;
                    Err(self.malformed_error(
                        format!("the body is longer than broker.response_limit_bytes = {limit} (GET {path})"),
                        &answer.body,
                    ))
                }
                Body::Cut(text) => Err(BrokerError::Unavailable { text: format!("{text} (GET {path})") }),
            };
        }
        if status.is_success() {
            return Err(
                self.malformed_error(format!("{} (GET {path})", describe_status(status)), &answer.body)
            );
        }
        let ErrorBody { text, .. } = ErrorBody::parse(status.as_u16(), answer.body.bytes());
        let text = format!("{text}{}", answer.clock_hint(&text));
        let text = self.credentials.redact(&format!("{text} (GET {path})"));
        Err(match status {
            StatusCode::UNAUTHORIZED => BrokerError::Credentials { text },
            StatusCode::FORBIDDEN if api == Api::Trading => {
                BrokerError::Credentials { text: prefix_with_status(status, &text) }
            }
            StatusCode::NOT_FOUND => BrokerError::NotFound { text },
            StatusCode::SERVICE_UNAVAILABLE if answer.retry_after.is_some() => {
                BrokerError::RateLimited { text, retry_after: answer.retry_after }
            }
            StatusCode::TOO_MANY_REQUESTS => {
                BrokerError::RateLimited { text, retry_after: answer.retry_after }
            }
            StatusCode::REQUEST_TIMEOUT => BrokerError::Unavailable { text },
            _ if status.is_server_error() => BrokerError::Unavailable { text },
            _ if status.is_redirection() => BrokerError::Rejected {
                text: format!(
                    "{}; the client does not follow redirects: check broker.base_url and broker.price_url",
                    prefix_with_status(status, &text)
                ),
            },
            _ => BrokerError::Rejected { text: prefix_with_status(status, &text) },
        })
    }

    pub(super) fn parse<T>(
        &self,
        answer: &ApiResponse,
        read: impl FnOnce(Value) -> Result<T, RecordError>,
    ) -> Result<Reply<T>, BrokerError> {
        let json = parse_json(answer.body.bytes()).map_err(|error| {
            self.malformed_error(format!("the body is not valid JSON ({error})"), &answer.body)
        })?;
        let value = read(json).map_err(|error| self.malformed_error(error.to_string(), &answer.body))?;
        Ok(answer.to_reply(value))
    }

    fn malformed_error(&self, problem: String, body: &Body) -> BrokerError {
        BrokerError::Malformed { problem, head: self.credentials.redact(&body.excerpt()) }
    }
}

impl ApiResponse {
    pub(super) fn clock_hint(&self, text: &str) -> String {
        let is_about_time = text.to_ascii_lowercase().contains("timestamp");
        let Some(date) = self.date.filter(|_| is_about_time) else { return String::new() };
        // The `Date` header has a resolution of one second.
        let ahead = (date - self.sent).get().div_euclid(1_000).min((date - self.received).get() / 1_000 + 1);
        match ahead {
            2.. => format!(
                "; the venue's Date header is {ahead} s ahead of this machine: correct this machine's clock"
            ),
            ..=-2 => format!(
                "; the venue's Date header is {} s behind this machine: correct this machine's clock",
                -ahead
            ),
            _ => "; the venue's Date header agrees with this machine: check broker.timestamp".to_owned(),
        }
    }

    pub(super) const fn to_reply<T>(&self, value: T) -> Reply<T> {
        Reply { value, date: self.date, sent: self.sent, received: self.received }
    }
}

pub(super) fn describe_status(status: StatusCode) -> String {
    format!("HTTP {} instead of 200", status.as_u16())
}

pub(super) fn prefix_with_status(status: StatusCode, text: &str) -> String {
    if text.starts_with("HTTP ") { text.to_owned() } else { format!("HTTP {}: {text}", status.as_u16()) }
}

pub(super) const POST_OPEN: &str = "POST open";
pub(super) const GET_TRADE: &str = "GET /token/trades/{id}";

pub(super) fn endpoint_name(path: &str) -> &'static str {
    match path.rsplit_once("/token/").map_or("", |(_, rest)| rest) {
        "wallets" => "GET /token/wallets",
        "trades" => "GET /token/trades",
        "users/me" => "GET /token/users/me",
        trade if trade.starts_with("trades/") => GET_TRADE,
        _ => "GET (unknown path)",
    }
}

impl HttpBroker {
    pub(super) async fn fetch_wallets(&self) -> Result<Reply<Vec<Wallet>>, BrokerError> {
        let answer = self.read(Api::Trading, self.url(Api::Trading, ["token", "wallets"], &[])?).await?;
        // Every wallet must be readable, because a sum over some wallets would be a wrong balance.
        self.parse(&answer, |json| {
            let wallets: Vec<Wallet> = read_records(json, &self.unrecognised_data)?;
            let mut ids = BTreeSet::new();
            match wallets.iter().find(|wallet| !ids.insert(wallet.id.as_str())) {
                Some(again) => Err(RecordError::Duplicate { record: Wallet::NAME, id: again.id.clone() }),
                None => Ok(wallets),
            }
        })
    }

    pub(super) async fn fetch_page(&self, query: &TradeQuery) -> Result<Reply<TradePage>, BrokerError> {
        let mut pairs = vec![("page", query.page.to_string()), ("pageSize", query.page_size.to_string())];
        pairs.extend(query.user_id.iter().map(|id| ("userId", id.clone())));
        let answer = self.read(Api::Trading, self.url(Api::Trading, ["token", "trades"], &pairs)?).await?;
        let bytes = answer.body.bytes().len();
        let page = self.parse(&answer, |json| read_record::<TradePage>(json, &self.unrecognised_data))?;
        Ok(page.map(|page| TradePage { bytes, ..page }))
    }

    pub(super) async fn fetch_trade(&self, id: &str) -> Result<Reply<TradeRecord>, BrokerError> {
        let answer = self.read(Api::Trading, self.url(Api::Trading, ["token", "trades", id], &[])?).await?;
        self.parse(&answer, |json| read_record(json, &self.unrecognised_data))
    }

    /// Requests the token's user. The id is not redacted, because the URLs of trade list requests must contain it.
    pub(super) async fn fetch_user(&self) -> Result<Reply<User>, BrokerError> {
        let url = self.url(Api::Trading, ["token", "users", "me"], &[])?;
        self.parse_user(self.read(Api::Trading, url).await?)
    }

    pub(super) fn parse_user(&self, answer: ApiResponse) -> Result<Reply<User>, BrokerError> {
        let mut user: Reply<User> = self.parse(&answer, |json| read_record(json, &self.unrecognised_data))?;
        let raw = answer.raw_body.and_then(|bytes| serde_json::from_slice::<Value>(&bytes).ok());
        if let Some(id) = raw.as_ref().and_then(|user| user["id"].as_str()) {
            id.clone_into(&mut user.value.id);
        }
        Ok(user)
    }

    /// Requests a price record. `None` if the requested time is still in the future for the venue.
    pub(super) async fn fetch_price(
        &self,
        symbol: &Symbol,
        as_of: AsOf,
    ) -> Result<Reply<Option<PriceRecord>>, BrokerError> {
        let mut pairs = vec![("pair", symbol.to_string()), ("slot", self.settings.slot.clone())];
        if let AsOf::Moment(moment) = as_of {
            pairs.push(("limitTime", moment.to_string()));
        }
        let answer = self.read(Api::Prices, self.url(Api::Prices, ["symbol-price", "last"], &pairs)?).await?;
        // For a time in its future, the venue answers `OK` (contract 4.2), as plain text or as a JSON string.
        if matches!(answer.body.bytes().trim_ascii(), b"OK" | b"\"OK\"") {
            return Ok(answer.to_reply(None));
        }
        self.parse(&answer, |json| read_record(json, &self.unrecognised_data).map(Some))
    }

    /// Requests candles. The result is the same whether the venue treats the bounds as inclusive or exclusive.
    pub(super) async fn fetch_candles(
        &self,
        query: &CandleQuery,
    ) -> Result<Reply<(Vec<CandleRow>, usize)>, BrokerError> {
        let is_whole = query.end.is_aligned_to(query.interval.length());
        let end = if is_whole { query.end - Millis::new(1) } else { query.end };
        let pairs = [
            ("pair", query.symbol.to_string()),
            ("slot", self.settings.slot.clone()),
            ("type", self.asset_type(query.symbol).to_owned()),
            ("interval", query.interval.to_string()),
            ("skip", "0".to_owned()),
            ("limit", MAX_CANDLES_PER_REQUEST.to_string()),
            ("startTime", (query.start - Millis::new(1)).to_string()),
            ("endTime", end.to_string()),
        ];
        let answer =
            self.read(Api::Prices, self.url(Api::Prices, ["aggregated-prices", "prices"], &pairs)?).await?;
        self.parse(&answer, |json| read_list(json, &self.unrecognised_data))
    }
}

#[cfg(test)]
mod tests {
    use super::super::script::{Act, Script, patient, reply, unlimited};
    use super::*;
    use crate::{Settings, TimestampFormat};
    use candlewick_sdk::Interval;

    const WALLETS: &str = r#"[{"id": "w", "type": "DEMO", "balance": 10000}]"#;

    async fn check(acts: Vec<Act>, settings: Settings, expected: Result<(), &str>, requests: usize) {
        let script = Script::start(acts).await;
        let got = script.broker(settings).fetch_wallets().await;
        match (got, expected) {
            (Ok(reply), Ok(())) => assert_eq!(reply.value.len(), 1),
            (Err(error), Err(expected)) => {
                let shown = format!("{error:?}");
                assert!(shown.contains(expected), "{shown} should contain {expected}");
                assert!(!shown.contains("tok-123"), "{shown}");
            }
            (got, _) => panic!("{got:?} instead of {expected:?}"),
        }
        assert_eq!(script.requests().len(), requests);
    }

    #[tokio::test]
    async fn retries_temporary_failures() {
        for trouble in [
            reply("500 Internal Server Error", "{}"),
            reply("429 Too Many Requests\r\nRetry-After: 0", "{}"),
            Act::ReplyThenClose("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n[".into()),
            Act::Close,
            Act::Reset,
            Act::Hang,
        ] {
            // If the venue does not answer, requests must arrive before the timeout. The second request is answered.
            let timeout_ms = if matches!(trouble, Act::Hang) { 3_000 } else { patient().timeout_ms };
            let good = reply("200 OK", WALLETS);
            check(vec![trouble, good], Settings { timeout_ms, ..patient() }, Ok(()), 2).await;
        }
    }

    #[tokio::test]
    async fn gives_up_after_the_maximum_attempts() {
        let unavailable = reply("503 Service Unavailable", r#"{"message": "later"}"#);
        check(vec![unavailable], patient(), Err(r#"Unavailable { text: "later (GET /token/"#), 4).await;
        check(vec![Act::Reset], Settings { read_attempts: 1, ..patient() }, Err("Unavailable"), 1).await;
        let busy = reply("429 Too Many Requests\r\nRetry-After: 3600", "{}");
        let limited = "RateLimited { text: \"HTTP 429 (GET /token/wallets)\", retry_after: Some(3600s)";
        check(vec![busy], patient(), Err(limited), 1).await;
        let busy = reply("503 Service Unavailable\r\nRetry-After: 600", "{}");
        check(vec![busy], patient(), Err("retry_after: Some(600s)"), 1).await;
        let settings = Settings { read_deadline_ms: 30_000, retry_pause_ms: 60_000, ..patient() };
        check(vec![Act::Close], settings, Err("Unavailable"), 1).await;
    }

    #[tokio::test]
    async fn does_not_retry_permanent_failures() {
        let enveloped = r#"{"statusCode": 401, "status": "", "data": {"message": "Invalid token tok-123"}}"#;
        let plain = r#"{"statusCode": 401, "message": "Unauthorized"}"#;
        let (past, future) = ("Sat, 01 Jan 2000 00:00:00 GMT", "Fri, 01 Jan 2100 00:00:00 GMT");
        let [past, future] = [past, future].map(|date| format!("400 Bad Request\r\nDate: {date}"));
        let old = r#"{"message": "x-timestamp expired"}"#;
        for (status, body, expected) in [
            ("401 Unauthorized", enveloped, r#"Credentials { text: "Invalid token [hidden]"#),
            ("401 Unauthorized", plain, "Credentials { text: \"Unauth"),
            ("404 Not Found", r#"{"message": "pair"}"#, "NotFound { text: \"pair"),
            ("400 Bad Request", r#"{"message": ["a", "b"]}"#, r#"Rejected { text: "HTTP 400: a; b (GET"#),
            ("403 Forbidden", "<html>", r#"Credentials { text: "HTTP 403 (GET"#),
            (
                "301 Moved\r\nLocation: /else",
                "",
                r#"text: "HTTP 301 (GET /token/wallets); the client does not"#,
            ),
            ("204 No Content", "", "Malformed { problem: \"HTTP 204 instead of 200 (GET"),
            (past.as_str(), old, " s behind this machine: correct this machine's clock (GET /token/wallets)"),
            (
                future.as_str(),
                old,
                " s ahead of this machine: correct this machine's clock (GET /token/wallets)",
            ),
            (past.as_str(), r#"{"message": "no"}"#, r#"Rejected { text: "HTTP 400: no (GET"#),
            ("200 OK", "<html>tok-123", r#"head: "<html>[hidden]""#),
            ("200 OK", r#"{"message": "hello"}"#, "Malformed { problem: \"Wallet is not in an array\""),
            ("200 OK", r#"[{"id": "w"}]"#, "Malformed { problem: \"Wallet"),
        ] {
            check(vec![reply(status, body)], patient(), Err(expected), 1).await;
        }
    }

    #[tokio::test]
    async fn rejects_answers_above_the_size_limit() {
        let settings = Settings { response_limit_bytes: 1_000, ..patient() };
        for act in [reply("200 OK", &format!("[{}]", " ".repeat(100_000))), Act::Flood] {
            let expected = Err("longer than broker.response_limit_bytes = 1000");
            check(vec![act], settings.clone(), expected, 1).await;
        }
    }

    async fn open(broker: &HttpBroker, latest: Millis) -> String {
        let order = crate::http::open::tests::order();
        format!("{:?}", candlewick_broker::Broker::open(broker, &order, latest).await)
    }

    #[tokio::test]
    async fn retry_after_pauses_all_requests_up_to_its_limit() {
        let busy = reply("503 Service Unavailable\r\nRetry-After: 3600", "{}");
        let script = Script::start(vec![busy, reply("200 OK", WALLETS)]).await;
        let broker = script.broker(Settings { read_attempts: 1, ..patient() });
        assert!(broker.fetch_wallets().await.is_err());
        tokio::time::pause();
        let start = Instant::now();
        let open = open(&broker, broker.clock.now() + Millis::SECOND).await;
        assert!(open.contains("NotSent") && open.contains("asked to pause for another 60 s"), "{open}");
        let wallets = broker.url(Api::Trading, ["token", "wallets"], &[]).unwrap();
        let again = format!("{:?}", broker.read_once(Api::Trading, wallets, start).await);
        assert!(again.contains("requests are paused for another 60 s"), "{again}");
        assert_eq!(script.requests().len(), 1, "both were held back");
        tokio::time::sleep(Duration::from_secs(61)).await;
        tokio::time::resume();
        assert!(broker.fetch_wallets().await.is_ok());
    }

    #[tokio::test]
    async fn rejected_token_is_reloaded_and_a_new_one_clears_its_state() {
        let refused = reply("401 Unauthorized", r#"{"data": {"message": "no tok-123"}}"#);
        let good = reply("200 OK", WALLETS);
        let script = Script::start(vec![refused.clone(), refused.clone(), good.clone(), refused, good]).await;
        let (broker, file) = script.broker_with_file("tok-123");
        let state = broker.token_state();
        assert!(broker.fetch_wallets().await.is_err());
        assert_eq!(state.rejection(), Some("no [hidden] (GET /token/wallets)".to_owned()));
        assert!(open(&broker, Millis::MAX).await.contains("NotSent"));
        assert_eq!(script.requests().len(), 1);
        *file.lock().unwrap() = "tok-456";
        assert!(broker.fetch_wallets().await.is_ok());
        assert_eq!(state.rejection(), None);
        let tokens: Vec<_> = script.requests().iter().map(|r| r.head.contains("tok-456")).collect();
        assert_eq!(tokens, [false, false, true]);
        assert_eq!(broker.credentials.redact("tok-123 tok-456"), "[hidden] [hidden]");
        assert!(broker.fetch_wallets().await.is_err());
        assert!(state.rejection().is_some());
        assert!(broker.fetch_wallets().await.is_ok());
        assert_eq!(state.rejection(), None);
    }

    #[tokio::test]
    async fn token_cleared_by_the_operator_recovers_with_a_read() {
        let refused = reply("403 Forbidden", r#"{"message": "no right"}"#);
        let script = Script::start(vec![refused.clone(), refused, reply("200 OK", WALLETS)]).await;
        let broker = script.broker(patient());
        open(&broker, Millis::MAX).await;
        broker.token_state().clear_rejection();
        assert!(broker.fetch_wallets().await.is_err());
        assert!(broker.token_state().rejection().is_some());
        assert!(broker.fetch_wallets().await.is_ok());
        assert_eq!(broker.token_state().rejection(), None);
    }

    #[tokio::test]
    async fn reads_do_not_clear_a_token_rejected_for_opens() {
        let refused = reply("403 Forbidden", r#"{"message": "no right"}"#);
        let script = Script::start(vec![refused, reply("200 OK", WALLETS)]).await;
        let broker = script.broker(patient());
        assert!(open(&broker, Millis::MAX).await.contains("Rejected"));
        assert!(broker.fetch_wallets().await.is_ok());
        assert_eq!(broker.token_state().rejection(), Some("no right".to_owned()));
        broker.token_state().clear_rejection();
        assert!(!open(&broker, Millis::MAX).await.contains("NotSent"));
    }

    async fn script(body: &str) -> (Script, HttpBroker) {
        let script = Script::start(vec![reply("200 OK\r\nDate: Fri, 20 Nov 2026 12:00:00 GMT", body)]).await;
        let broker = script.broker(unlimited());
        (script, broker)
    }

    #[tokio::test]
    async fn read_requests_follow_the_contract() {
        let (script, broker) = script("[]").await;
        let pair: Symbol = "A&B/C D".parse().unwrap();
        let query = TradeQuery { page: 2, page_size: 100, user_id: Some("u&1".into()) };
        let (start, end) = (Millis::new(60_000), Millis::new(120_000));
        let candles = CandleQuery { symbol: pair, interval: Interval::MINUTE, start, end };
        broker.fetch_wallets().await.unwrap();
        let _ = broker.fetch_page(&TradeQuery::default()).await;
        let _ = broker.fetch_page(&query).await;
        let _ = broker.fetch_trade("01J/T").await;
        let _ = broker.fetch_user().await;
        let _ = broker.fetch_price(&pair, AsOf::Latest).await;
        let _ = broker.fetch_price(&pair, AsOf::Moment(Millis::new(7))).await;
        broker.fetch_candles(&candles).await.unwrap();
        let expected = [
            "/token/wallets",
            "/token/trades?page=1&pageSize=10",
            "/token/trades?page=2&pageSize=100&userId=u%261",
            "/token/trades/01J%2FT",
            "/token/users/me",
            "/symbol-price/last?pair=A%26B%2FC+D&slot=default",
            "/symbol-price/last?pair=A%26B%2FC+D&slot=default&limitTime=7",
            "/aggregated-prices/prices?pair=A%26B%2FC+D&slot=default&type=crypto&interval=1m&skip=0&limit=1000\
             &startTime=59999&endTime=119999",
        ];
        for (number, (request, path)) in script.requests().iter().zip(expected).enumerate() {
            assert_eq!(request.line, format!("GET {path} HTTP/1.1"));
            let headers = ["api-token: tok-123", "x-timestamp: ", "api-key: key-456"];
            let present = headers.map(|header| request.head.contains(header));
            let for_live_run = number < 5;
            assert_eq!(present, [for_live_run, for_live_run, !for_live_run], "{path}");
        }
        assert_eq!(script.requests().len(), expected.len());
    }

    #[tokio::test]
    async fn rejects_names_that_leave_the_path() {
        let (script, broker) = script("{}").await;
        assert!(matches!(broker.fetch_trade("..").await, Err(BrokerError::NotFound { .. })));
        assert_eq!(script.requests().len(), 0);
    }

    #[tokio::test]
    async fn future_price_time_yields_no_record() {
        let pair: Symbol = "BTCUSDT".parse().unwrap();
        for body in ["OK", "OK\n", "\"OK\""] {
            let (_script, broker) = script(body).await;
            let reply = broker.fetch_price(&pair, AsOf::Moment(Millis::MAX)).await.unwrap();
            assert_eq!((reply.value, reply.date), (None, Some(Millis::new(1_795_176_000_000))));
        }
        let record =
            r#"{"time": 1000, "openPrice": "1", "closePrice": "2", "highPrice": "3", "lowPrice": "0.5"}"#;
        let (_script, broker) = script(record).await;
        let got = broker.fetch_price(&pair, AsOf::Latest).await.unwrap().value;
        assert!(got.is_some_and(|record| record.prices.close == 2.0));
        let (_script, broker) = script("NOT OK").await;
        assert!(matches!(broker.fetch_price(&pair, AsOf::Latest).await, Err(BrokerError::Malformed { .. })));
    }

    #[tokio::test]
    async fn a_path_prefix_and_the_timestamp_form_are_respected() {
        let script = Script::answering(&["[]"]).await;
        let prefixed = Settings {
            base_url: format!("{}/v1/", script.address()),
            timestamp: TimestampFormat::Iso8601,
            ..Settings::default()
        };
        script.broker(prefixed).fetch_wallets().await.unwrap();
        let request = &script.requests()[0];
        assert_eq!(request.line, "GET /v1/token/wallets HTTP/1.1");
        let stamp = request.head.lines().find(|line| line.starts_with("x-timestamp: 20")).unwrap();
        assert!(stamp.ends_with('Z'), "{stamp}");
    }

    #[tokio::test]
    async fn missing_credential_is_an_error_before_sending() {
        let script = Script::answering(&["[]"]).await;
        let broker = script.broker_with(Settings::default(), crate::Credentials::default());
        let error = broker.fetch_wallets().await.unwrap_err();
        assert!(matches!(error, BrokerError::Credentials { .. }), "{error}");
        assert!(error.to_string().contains("CANDLEWICK_BROKER__API_TOKEN"), "{error}");
        assert_eq!(script.requests().len(), 0);
    }
}
