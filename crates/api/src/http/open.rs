//! Opens trades. At most one request is sent per trade, and its outcome may remain unknown (`domain 5`).

use super::keys::TokenUse;
use super::limit::{Permit, RateLimitTimeout, RequestClass};
use super::read::{POST_OPEN, describe_status, prefix_with_status};
use super::transport::ApiResponse;
use super::{Api, Body, HttpBroker, Purpose, TransportError};
use crate::model::{ErrorBody, TradeRecord, read_record};
use crate::rejection::classify_rejection;
use crate::{OpenBody, Settings};
use candlewick_broker::clock::BootClock;
use candlewick_broker::{Account, OpenOutcome, Rejection, RejectionReason, Reply, TradeOrder};
use candlewick_sdk::{CloseType, Direction, ExpirationType, Millis};
use reqwest::header::{CONTENT_TYPE, HeaderValue};
use reqwest::{Method, Request, StatusCode};
use rust_decimal::Decimal;
use rust_decimal::prelude::ToPrimitive;
use serde::ser::Error;
use serde::{Serialize, Serializer};
use std::time::Duration;
use tokio::time::Instant;

const SUSPEND_TOLERANCE: Duration = Duration::from_secs(2);

impl HttpBroker {
    pub(super) async fn open_once(&self, order: &TradeOrder, leave_by: Millis) -> OpenOutcome {
        match self.send_open(order, leave_by).await {
            Ok(reply) => OpenOutcome::Opened(reply.map(|record| Box::new(self.to_report(record)))),
            Err(outcome) => outcome,
        }
    }

    async fn send_open(
        &self,
        order: &TradeOrder,
        leave_by: Millis,
    ) -> Result<Reply<TradeRecord>, OpenOutcome> {
        let not_sent = |reason| OpenOutcome::NotSent { reason };
        let is_short = self.settings.open_body == OpenBody::Short;
        if let Some(reason) = unsupported_order_reason(order, &self.settings) {
            return Err(not_sent(reason));
        }
        if is_short {
            self.account_proof.admit_order(order, self.clock.now()).map_err(not_sent)?;
        }
        let outcome = self.send_admitted_order(order, leave_by).await;
        match &outcome {
            Ok(reply) if is_short => self.account_proof.record_accepted_order(&reply.value),
            Err(OpenOutcome::NotSent { .. } | OpenOutcome::Rejected(_)) if is_short => {
                self.account_proof.withdraw_order();
            }
            Ok(_) | Err(_) => {}
        }
        outcome
    }

    async fn send_admitted_order(
        &self,
        order: &TradeOrder,
        leave_by: Millis,
    ) -> Result<Reply<TradeRecord>, OpenOutcome> {
        let generation = self.credentials.generation();
        let (request, _permit) = self.build_open_request(order, leave_by).await?;
        match self.send_request(Api::Trading, (Purpose::Open, request)).await {
            Ok(answer) => {
                let outcome = self.classify_answer(&answer);
                if let Err(OpenOutcome::Rejected(rejection)) = &outcome
                    && rejection.reason == RejectionReason::Credentials
                {
                    // The rejection affects only later opens, since this order was already sent.
                    self.handle_rejected_token(generation, (TokenUse::Opening, POST_OPEN), &rejection.text)
                        .await;
                }
                outcome
            }
            Err(TransportError::NotConnected(text)) => {
                Err(OpenOutcome::NotSent { reason: self.credentials.redact(&text) })
            }
            Err(TransportError::Lost(text)) => Err(self.unknown_outcome(&text)),
        }
    }

    /// Waits for the rate limit and a free connection. Then builds the request, but does not send it.
    async fn build_open_request(
        &self,
        order: &TradeOrder,
        leave_by: Millis,
    ) -> Result<(Request, Permit), OpenOutcome> {
        let not_sent = |reason: String| OpenOutcome::NotSent { reason };
        let segments = self.settings.open_path.split('/').skip(1);
        let url = self.address(Api::Trading).join(segments).map_err(|error| not_sent(error.to_string()))?;
        let body = build_body(order, self.settings.open_body).map_err(|error| not_sent(error.to_string()))?;
        let longest = self.settings.timeout().min(self.time_until(leave_by));
        let (awake, began) = (BootClock::start(), Instant::now());
        match self.rate_limit.wait(self.host(Api::Trading), RequestClass::Open, longest).await {
            Ok(()) => {}
            Err(RateLimitTimeout::Rate(wait)) => {
                return Err(not_sent(format!("the rate limit would delay the order by {wait:?}")));
            }
            Err(RateLimitTimeout::Quiet(left)) => {
                let seconds = left.as_secs() + 1;
                return Err(not_sent(format!("the venue asked to pause for another {seconds} s")));
            }
        }
        let left = longest.saturating_sub(began.elapsed());
        let Some(permit) = self.connections.acquire_open(left).await else {
            let most = self.settings.max_connections;
            return Err(not_sent(format!("all connections are in use (broker.max_connections = {most})")));
        };
        if let Some(text) = self.credentials.token_state().rejection() {
            return Err(not_sent(format!("the venue rejects the token: {text}")));
        }
        // The wait may have taken too long, or the clock may have been adjusted.
        let late = self.clock.now() - leave_by;
        if late > Millis::ZERO {
            return Err(not_sent(format!("the order was {late} ms too late for its signal")));
        }
        // The other clocks stop while the machine is suspended. Meanwhile, another process may have taken over.
        if awake.elapsed() > longest.saturating_add(SUSPEND_TOLERANCE) {
            return Err(not_sent("the machine was suspended before the order was sent".to_owned()));
        }
        let mut request = Request::new(Method::POST, url);
        *request.headers_mut() =
            self.api_headers(Api::Trading).map_err(|error| not_sent(error.to_string()))?;
        request.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        *request.timeout_mut() = Some(self.settings.timeout());
        *request.body_mut() = Some(body.into());
        Ok((request, permit))
    }

    /// Returns the time left until `leave_by`; unlimited with a virtual clock, because the rate limit uses real time.
    fn time_until(&self, leave_by: Millis) -> Duration {
        if self.clock.is_virtual() {
            return Duration::MAX;
        }
        Duration::from_millis(u64::try_from((leave_by - self.clock.now()).get()).unwrap_or(0))
    }

    /// Decides if a trade was opened or rejected. If the status shows neither, the outcome is unknown (`domain 5.2`).
    fn classify_answer(&self, answer: &ApiResponse) -> Result<Reply<TradeRecord>, OpenOutcome> {
        let status = answer.status.as_u16();
        match answer.status {
            StatusCode::OK => self.parse_accepted(answer),
            StatusCode::BAD_REQUEST
            | StatusCode::UNAUTHORIZED
            | StatusCode::FORBIDDEN
            | StatusCode::NOT_FOUND
            | StatusCode::UNPROCESSABLE_ENTITY => {
                let ErrorBody { text, code, venue_time } = ErrorBody::parse(status, answer.body.bytes());
                let reason = classify_rejection(answer.status, code.as_deref(), &text);
                let text = format!("{text}{}", answer.clock_hint(&text));
                let rejection = Rejection { reason, text: self.credentials.redact(&text), venue_time };
                Err(OpenOutcome::Rejected(rejection))
            }
            status if status.is_success() => Err(self.unknown_outcome(&describe_status(status))),
            _ => {
                let text = ErrorBody::parse(status, answer.body.bytes()).text;
                Err(self.unknown_outcome(&prefix_with_status(answer.status, &text)))
            }
        }
    }

    fn parse_accepted(&self, answer: &ApiResponse) -> Result<Reply<TradeRecord>, OpenOutcome> {
        match &answer.body {
            Body::Whole(_) => self
                .parse(answer, |json| read_record::<TradeRecord>(json, &self.unrecognised_data))
                .map_err(|error| self.unknown_outcome(&error.to_string())),
            Body::TooLong(_) => Err(self.unknown_outcome("HTTP 200, but the body exceeds the size limit")),
            Body::Cut(text) => {
                Err(self.unknown_outcome(&format!("HTTP 200 with an incomplete body: {text}")))
            }
        }
    }

    fn unknown_outcome(&self, text: &str) -> OpenOutcome {
        OpenOutcome::Unknown { reason: self.credentials.redact(text) }
    }
}

/// Request body that opens a trade, in shape A (contract 4.1, endpoint 4).
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct FullBody<'a> {
    is_demo: bool,
    close_type: CloseType,
    direction: Direction,
    symbol: &'a str,
    #[serde(serialize_with = "serialize_number")]
    amount: Decimal,
    #[serde(skip_serializing_if = "Option::is_none")]
    expiration_type: Option<&'static str>,
}

/// Request body that opens a trade, in shape B (contract 4.1, endpoint 4).
#[derive(Serialize)]
struct ShortBody<'a> {
    symbol: &'a str,
    #[serde(serialize_with = "serialize_number")]
    volume: Decimal,
    direction: Direction,
}

/// Returns why the configured request body would open a different trade; `None` if the body fits the order.
fn unsupported_order_reason(order: &TradeOrder, settings: &Settings) -> Option<String> {
    if settings.open_body == OpenBody::Full {
        return None;
    }
    let TradeOrder { account, close_type, expiration_type, .. } = order;
    let default = settings.short_close_type;
    let is_default = default == Some(*close_type)
        && matches!(expiration_type, ExpirationType::Unstated | ExpirationType::TimeFixed);
    if *account == Account::Real {
        Some("broker.open_body = \"short\" does not name the account: use \"full\" for real money".to_owned())
    } else if !is_default {
        let default = default.map_or_else(String::new, |default| format!(" of {default} (TIME_FIXED)"));
        Some(format!(
            "broker.open_body = \"short\" cannot send the expiry {close_type} ({expiration_type}), which is not the venue's default{default}: use \"full\""
        ))
    } else {
        None
    }
}

fn build_body(order: &TradeOrder, shape: OpenBody) -> serde_json::Result<Vec<u8>> {
    let symbol = order.symbol.as_str();
    match shape {
        OpenBody::Full => serde_json::to_vec(&FullBody {
            is_demo: order.account == Account::Demo,
            close_type: order.close_type,
            direction: order.direction,
            symbol,
            amount: order.amount,
            expiration_type: match order.expiration_type {
                ExpirationType::Unstated => None,
                stated => Some(stated.as_str()),
            },
        }),
        OpenBody::Short => {
            serde_json::to_vec(&ShortBody { symbol, volume: order.amount, direction: order.direction })
        }
    }
}

/// Serializes a decimal as a JSON integer or as the shortest float, which is exact for up to 15 digits.
fn serialize_number<S: Serializer>(amount: &Decimal, serializer: S) -> Result<S::Ok, S::Error> {
    match amount.to_i64().filter(|_| amount.fract().is_zero()) {
        Some(whole) => serializer.serialize_i64(whole),
        None => serializer.serialize_f64(amount.to_string().parse().map_err(S::Error::custom)?),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::script::{Act, Script, answer, patient, reply, unlimited};
    use super::*;
    use candlewick_broker::Broker;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    const REPLY: &str = r#"{"tradeId": "01JT", "status": "OPEN"}"#;

    pub(in crate::http) fn order() -> TradeOrder {
        TradeOrder {
            symbol: "BTC/USDT".parse().unwrap(),
            direction: Direction::Buy,
            amount: Decimal::TEN,
            close_type: "01:00".parse().unwrap(),
            expiration_type: ExpirationType::Unstated,
            account: Account::Demo,
        }
    }

    fn short_settings() -> Settings {
        let short_close_type = "01:00".parse().ok();
        Settings { open_body: OpenBody::Short, short_close_type, ..unlimited() }
    }

    #[derive(Default)]
    struct RecordingObserver(std::sync::Mutex<Vec<crate::HttpExchange>>);

    impl crate::HttpObserver for RecordingObserver {
        fn observe(&self, exchange: crate::HttpExchange) {
            self.0.lock().unwrap().push(exchange);
        }
    }

    #[tokio::test]
    async fn observer_receives_both_bodies_without_credentials() {
        let echo = r#"{"message": "token tok-123 has no right"}"#;
        let script = Script::start(vec![reply("403 Forbidden", echo)]).await;
        let seen = std::sync::Arc::new(RecordingObserver::default());
        let broker = script.broker(patient()).with_observer(std::sync::Arc::clone(&seen) as _);
        let _ = candlewick_broker::with_intent(7, broker.open(&order(), Millis::MAX)).await;
        let seen = seen.0.lock().unwrap();
        let [exchange] = &seen[..] else { panic!("{seen:?}") };
        assert_eq!((exchange.intent, exchange.status), (Some(7), Some(403)));
        assert_eq!(exchange.request_line, "POST /token/trades/open");
        assert!(exchange.request.contains("BTC/USDT") && exchange.response.contains("has no right"));
        assert!(!format!("{exchange:?}").contains("tok-123"));
    }

    async fn check(act: Act, expected: &str) {
        // If the venue does not answer, the request must arrive before the timeout.
        let timeout_ms = if matches!(act, Act::Hang) { 3_000 } else { patient().timeout_ms };
        let settings = Settings { timeout_ms, ..patient() };
        let script = Script::start(vec![act, reply("200 OK", REPLY)]).await;
        let shown = format!("{:?}", script.broker(settings).open(&order(), Millis::MAX).await);
        assert!(shown.contains(expected), "{shown} should contain {expected}");
        assert!(!shown.contains("tok-123"), "{shown}");
        // A retry would have arrived by now, because the script's second act answers immediately.
        assert_eq!(script.requests().len(), 1, "{expected}");
    }

    #[tokio::test]
    async fn sends_an_order_exactly_once_on_every_failure() {
        check(reply("200 OK", REPLY), "Opened(Reply { value: TradeReport { id: \"01JT\"").await;
        let moved = "307 Temporary Redirect\r\nLocation: /token/trades/open";
        check(reply(moved, ""), "Unknown { reason: \"HTTP 307").await;
        check(reply("308 Permanent Redirect\r\nLocation: /x", ""), "Unknown").await;
        check(reply("500 Internal Server Error", "{}"), "Unknown { reason: \"HTTP 500").await;
        check(reply("502 Bad Gateway", "<html>tok-123"), "Unknown").await;
        check(reply("429 Too Many Requests\r\nRetry-After: 0", "{}"), "Unknown { reason: \"HTTP 429").await;
        check(reply("503 Service Unavailable\r\nRetry-After: 0", "{}"), "Unknown").await;
        check(reply("408 Request Timeout", ""), "Unknown").await;
        check(Act::Reset, "Unknown").await;
        check(Act::Close, "Unknown").await;
        check(Act::Hang, "Unknown").await;
        check(reply("200 OK", "<html>tok-123"), "Unknown").await;
        check(reply("200 OK", "{}"), "Unknown").await;
        check(Act::ReplyThenClose("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{".into()), "Unknown").await;
        check(Act::ReplyThenClose("garbage\r\n\r\n".into()), "Unknown").await;
        check(Act::Flood, "Unknown").await;
    }

    #[tokio::test]
    async fn a_rejection_is_certain_and_carries_the_venues_time() {
        let body = r#"{"statusCode": 400, "timestamp": "2026-11-20T12:00:00.000Z", "data": {"message": "tok-123 low"}}"#;
        let expected = format!(
            "Rejected(Rejection {{ reason: Other, text: \"[hidden] low\", venue_time: Some({:?})",
            Millis::new(1_795_176_000_000)
        );
        check(reply("400 Bad Request", body), &expected).await;
        for status in ["401 Unauthorized", "403 Forbidden", "404 Not Found", "422 Unprocessable Entity"] {
            check(reply(status, ""), "Rejected(Rejection").await;
        }
        for (status, expected) in [
            ("405 Method Not Allowed", "Unknown { reason: \"HTTP 405\" }"),
            ("409 Conflict", "Unknown { reason: \"HTTP 409\" }"),
            ("201 Created", "Unknown { reason: \"HTTP 201 instead of 200\" }"),
        ] {
            check(reply(status, ""), expected).await;
        }
    }

    #[tokio::test]
    async fn orders_never_reuse_a_connection() {
        // The venue closes connections that should stay alive. A client that reuses one might resend a request.
        let closing = Act::ReplyThenClose(answer("200 OK", REPLY));
        for (act, count) in [(closing, 50), (reply("200 OK", REPLY), 5)] {
            let script = Script::start(vec![act]).await;
            let broker = script.broker(unlimited());
            for _ in 0..count {
                broker.open(&order(), Millis::MAX).await;
            }
            assert_eq!((script.requests().len(), script.connections()), (count, count));
        }
    }

    #[tokio::test]
    async fn open_without_connection_is_not_sent() {
        let script = Script::answering(&[REPLY]).await;
        let unreachable = Settings { base_url: "http://127.0.0.1:1".into(), ..patient() };
        let got = script.broker(unreachable).open(&order(), Millis::MAX).await;
        assert!(matches!(&got, OpenOutcome::NotSent { .. }), "{got:?}");

        // The TLS handshake gets no answer. The request timeout would be much longer.
        let base_url = script.address().replace("http", "https");
        let silent = Settings { base_url, connect_timeout_ms: 100, ..patient() };
        let got = script.broker(silent).open(&order(), Millis::MAX).await;
        let hint = "the server did not answer with TLS; if it serves plain HTTP, start its URL with http://";
        assert!(matches!(&got, OpenOutcome::NotSent { reason } if reason.ends_with(hint)), "{got:?}");
        assert_eq!(script.requests().len(), 0);
    }

    #[tokio::test]
    async fn late_open_is_not_sent() {
        let script = Script::answering(&[REPLY]).await;
        let broker = script.broker(patient());
        let now = broker.clock.now();
        let got = broker.open(&order(), now - Millis::SECOND).await;
        assert!(matches!(&got, OpenOutcome::NotSent { reason } if reason.contains("too late")), "{got:?}");
        assert_eq!(script.requests().len(), 0);
        // The next turn is in about 15 min. This is within the request timeout, but after the signal's deadline.
        let slow = Settings { requests_per_second: 0.001, timeout_ms: 2_000_000, ..patient() };
        let broker = script.broker(slow);
        broker.open(&order(), now + Millis::HOUR).await;
        let got = broker.open(&order(), now + Millis::MINUTE * 5).await;
        assert!(matches!(&got, OpenOutcome::NotSent { reason } if reason.contains("rate limit")), "{got:?}");
        assert_eq!(script.requests().len(), 1);
    }

    #[tokio::test]
    async fn open_waits_for_a_connection_until_its_signal_expires() {
        let wallets = reply("200 OK", r#"[{"id": "w", "type": "DEMO", "balance": 10000}]"#);
        let script = Script::start(vec![Act::Hang, Act::Hang, wallets, reply("200 OK", REPLY)]).await;
        let broker = std::sync::Arc::new(script.broker(Settings { max_connections: 2, ..unlimited() }));
        let open = || {
            let broker = std::sync::Arc::clone(&broker);
            tokio::spawn(async move { broker.open(&order(), Millis::MAX).await })
        };
        let [first, second] = [open(), open()];
        while script.requests().len() < 2 {
            tokio::task::yield_now().await;
        }
        let late = format!("{:?}", broker.open(&order(), broker.clock.now() + Millis::new(100)).await);
        assert!(late.contains("NotSent") && late.contains("max_connections = 2"), "{late}");
        assert!(broker.fetch_wallets().await.is_ok());
        let fourth = open();
        tokio::task::yield_now().await;
        first.abort();
        let opened = fourth.await.unwrap();
        assert!(matches!(&opened, OpenOutcome::Opened(_)), "{opened:?}");
        assert_eq!(script.requests().len(), 4);
        second.abort();
    }

    #[tokio::test]
    async fn open_request_follows_the_contract() {
        let script = Script::answering(&[REPLY]).await;
        script.broker(patient()).open(&order(), Millis::MAX).await;
        let headers = [("x-partner".to_owned(), "7".to_owned())].into();
        let short = Settings { open_path: "/token/trades/open-async".into(), headers, ..short_settings() };
        script.broker(short).open(&order(), Millis::MAX).await;
        let requests = script.requests();
        assert_eq!(requests[0].line, "POST /token/trades/open HTTP/1.1");
        for header in ["api-token: tok-123", "content-type: application/json", "x-timestamp: "] {
            assert!(requests[0].head.contains(header), "{}", requests[0].head);
        }
        let body: Value = serde_json::from_str(&requests[0].body).unwrap();
        let expected = json!({
            "isDemo": true, "closeType": "01:00", "direction": "BUY", "symbol": "BTC/USDT", "amount": 10,
        });
        assert_eq!(body, expected);
        assert_eq!(requests[1].line, "POST /token/trades/open-async HTTP/1.1");
        assert!(requests[1].head.contains("x-partner: 7"));
        let body: Value = serde_json::from_str(&requests[1].body).unwrap();
        assert_eq!(body, json!({"symbol": "BTC/USDT", "volume": 10, "direction": "BUY"}));
    }

    #[tokio::test]
    async fn a_second_short_order_waits_for_the_record_of_the_first() {
        let (running, user) = (r#"{"id": "01JT", "status": "OPEN"}"#, r#"{"id": "u1"}"#);
        for is_demo in [true, false] {
            let list = format!(r#"{{"lastPage": 1, "data": [{{"id": "01JT", "isDemo": {is_demo}}}]}}"#);
            let script = Script::answering(&[REPLY, running, user, &list, REPLY]).await;
            let broker = script.broker(short_settings());
            let open = async || format!("{:?}", broker.open(&order(), Millis::MAX).await);
            assert!(open().await.contains("Opened"));
            let second = open().await;
            assert!(second.contains("NotSent") && second.contains("trade 01JT"), "{second}");
            let report = broker.trade("01JT", candlewick_broker::DetailLevel::Progress).await.unwrap().value;
            assert_eq!(report.account == Some(Account::Demo), is_demo);
            let third = open().await;
            if is_demo {
                assert!(third.contains("Opened"), "{third}");
            } else {
                assert!(third.contains("NotSent") && third.contains("real account"), "{third}");
            }
            assert_eq!(script.requests().len(), if is_demo { 5 } else { 4 });
        }
    }

    fn check_body(expiration_type: ExpirationType, account: Account, shape: OpenBody, expected: &Value) {
        let order = TradeOrder {
            symbol: "A&B/\"C\"".parse().unwrap(),
            direction: Direction::Sell,
            amount: Decimal::new(1_250, 2),
            expiration_type,
            account,
            ..order()
        };
        let body: Value = serde_json::from_slice(&build_body(&order, shape).unwrap()).unwrap();
        assert_eq!(&body, expected);
    }

    #[test]
    fn shape_a_omits_an_unstated_expiration_type() {
        let body = json!({
            "isDemo": true, "closeType": "01:00", "direction": "SELL", "symbol": "A&B/\"C\"", "amount": 12.5,
        });
        check_body(ExpirationType::Unstated, Account::Demo, OpenBody::Full, &body);
        let mut stated = body;
        stated["isDemo"] = json!(false);
        stated["expirationType"] = json!("NEXT_CANDLE");
        check_body(ExpirationType::NextCandle, Account::Real, OpenBody::Full, &stated);
    }

    #[test]
    fn shape_b_sends_three_fields() {
        let body = json!({"symbol": "A&B/\"C\"", "volume": 12.5, "direction": "SELL"});
        check_body(ExpirationType::TimeFixed, Account::Demo, OpenBody::Short, &body);
    }

    #[test]
    fn serializes_decimals_without_extra_digits() {
        for (text, written) in
            [("10", "10"), ("10.00", "10"), ("0.10", "0.1"), ("-12.34", "-12.34"), ("0.00000001", "1e-8")]
        {
            let mut buffer = Vec::new();
            let mut serializer = serde_json::Serializer::new(&mut buffer);
            serialize_number(&text.parse().unwrap(), &mut serializer).unwrap();
            assert_eq!(String::from_utf8(buffer).unwrap(), written);
        }
    }

    #[test]
    fn short_body_requires_default_expiry_and_demo_account() {
        use Account::{Demo, Real};
        use ExpirationType::{CandleClose, TimeFixed, Unstated};
        for (close_type, expiration_type, account, problem) in [
            ("01:00", Unstated, Demo, None),
            ("01:00", TimeFixed, Demo, None),
            ("01:00", CandleClose, Demo, Some("01:00 (CANDLE_CLOSE), which is not the venue's default")),
            ("05:00", TimeFixed, Demo, Some("05:00 (TIME_FIXED), which is not the venue's default of 01:00")),
            ("01:00", TimeFixed, Real, Some("use \"full\" for real money")),
        ] {
            let close_type = close_type.parse().unwrap();
            let order = TradeOrder { close_type, expiration_type, account, ..order() };
            let found = unsupported_order_reason(&order, &short_settings());
            match problem {
                None => assert_eq!(found, None),
                Some(problem) => assert!(found.is_some_and(|text| text.contains(problem)), "{problem}"),
            }
            assert_eq!(unsupported_order_reason(&order, &Settings::default()), None);
        }
    }

    proptest! {
        #[test]
        fn an_amount_of_up_to_fifteen_digits_survives_json(units in -999_999_999_999_999_i64..=999_999_999_999_999, scale in 0_u32..=8) {
            let amount = Decimal::new(units, scale);
            let mut buffer = Vec::new();
            serialize_number(&amount, &mut serde_json::Serializer::new(&mut buffer)).unwrap();
            let json: Value = serde_json::from_slice(&buffer).unwrap();
            prop_assert!(json.is_number());
            let text = json.to_string();
            let read = text.parse::<Decimal>().or_else(|_| Decimal::from_scientific(&text));
            prop_assert_eq!(read.ok(), Some(amount));
        }
    }
}
