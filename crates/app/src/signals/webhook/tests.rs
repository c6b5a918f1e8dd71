//! Answers of the webhook, and signals that reach the run.

use super::*;
use candlewick_broker::clock::{Speed, VirtualClock};
use candlewick_runtime::control::{ControlOrder, ControlRequest, SignalBots};
use http_body_util::Full;

const SECRET: &str = "0123456789abcdef";
const BODY: &str = r#"{"bot":"btc","direction":"BUY","id":"1"}"#;

struct Bench {
    webhook: Webhook,
    sink: SignalSink,
    waiting: mpsc::Receiver<SignalOrder>,
    orders: mpsc::Receiver<ControlRequest>,
    _sender: mpsc::Sender<ControlRequest>,
}

impl Bench {
    fn new(change: impl FnOnce(&mut SignalSettings)) -> Self {
        let mut settings = SignalSettings::default();
        change(&mut settings);
        let (queue, waiting) = mpsc::channel(4);
        let (sender, orders) = mpsc::channel(16);
        let clock = Arc::new(VirtualClock::new(Millis::new(1_767_609_000_000), Speed::Max));
        let bots = SignalBots::new([("btc".to_owned(), "BTCUSDT".to_owned())]);
        let sink = SignalSink::new("webhook", clock, Arc::new(bots), sender.downgrade());
        let secret = WebhookSecret::new(SECRET).unwrap();
        let webhook = Webhook::new((&settings, secret), Millis::SECOND * 5, queue, sink.clone());
        Self { webhook, sink, waiting, orders, _sender: sender }
    }

    async fn send(&self, request: Request<Full<Bytes>>, peer: &str) -> (u16, String, Option<String>) {
        let answer = self.webhook.answer(request, peer.parse().unwrap()).await;
        let retry = answer.headers().get(RETRY_AFTER).map(|value| value.to_str().unwrap().to_owned());
        let status = answer.status().as_u16();
        let body = answer.into_body().collect().await.unwrap().to_bytes();
        (status, String::from_utf8(body.to_vec()).unwrap(), retry)
    }

    async fn post(&self, body: &str) -> (u16, String, Option<String>) {
        self.send(request(body, &[(SECRET_HEADER, SECRET)]), "127.0.0.1").await
    }

    /// Returns the reported counts of malformed and throttled signals, and the problems in the last report.
    async fn read_reports(&mut self, count: u64) -> (u64, u64, [String; 2]) {
        let mut all = (0, 0);
        for _ in 0..3 {
            let order = self.orders.recv().await.unwrap().order;
            let ControlOrder::SignalProblem { first, last, malformed, turned_away, .. } = order else {
                panic!("expected a problem: {order:?}")
            };
            all = (all.0 + malformed, all.1 + turned_away);
            if all.0 + all.1 == count {
                return (all.0, all.1, [first, last]);
            }
        }
        panic!("{all:?}")
    }
}

fn with_secret(secret: &str) -> String {
    BODY.replace("{\"bot\"", &format!("{{\"secret\":\"{secret}\",\"bot\""))
}

fn request(body: &str, headers: &[(&str, &str)]) -> Request<Full<Bytes>> {
    let request = Request::post(PATH);
    let request = headers.iter().fold(request, |request, (name, value)| request.header(*name, *value));
    request.body(Full::new(Bytes::from(body.to_owned()))).unwrap()
}

#[tokio::test]
async fn accepts_signals_with_the_secret_in_header_or_body() {
    let mut bench = Bench::new(|_| {});
    let bearer = format!("Bearer {SECRET}");
    let with_secret = with_secret(SECRET);
    for (body, header, expected) in [
        (BODY, (SECRET_HEADER, SECRET), "accepted"),
        (BODY, ("authorization", bearer.as_str()), "duplicate"),
        (with_secret.as_str(), ("content-type", "text/plain; charset=utf-8"), "duplicate"),
    ] {
        let (status, answer, _) = bench.send(request(body, &[header]), "127.0.0.1").await;
        assert_eq!((status, answer), (202, format!("{{\"id\":\"1\",\"status\":\"{expected}\"}}\n")));
        let order = bench.waiting.recv().await.unwrap();
        assert_eq!((order.bot.as_deref(), order.time), (Some("btc"), Some(Millis::new(1_767_609_000_000))));
    }
    assert!(bench.orders.try_recv().is_err(), "nothing is wrong");
}

#[tokio::test(start_paused = true)]
async fn rejects_wrong_secrets_without_leaking_them() {
    let mut bench = Bench::new(|_| {});
    let wrong = "fedcba9876543210";
    let [with_wrong, with_right] = [wrong, SECRET].map(with_secret);
    for (body, headers) in [
        (BODY, vec![]),
        (BODY, vec![(SECRET_HEADER, wrong)]),
        (BODY, vec![(SECRET_HEADER, "")]),
        (BODY, vec![("authorization", SECRET)]),
        (with_wrong.as_str(), vec![]),
        (with_right.as_str(), vec![(SECRET_HEADER, wrong)]),
        ("garbage", vec![]),
        ("garbage", vec![(SECRET_HEADER, wrong)]),
        (r#"{"secret":4815162342,"bot":"btc","direction":"BUY"}"#, vec![]),
    ] {
        let (status, answer, _) = bench.send(request(body, &headers), "127.0.0.1").await;
        assert_eq!(status, 403, "{body}");
        assert!(![wrong, SECRET, "4815162342"].iter().any(|secret| answer.contains(secret)), "{answer}");
    }
    let (malformed, turned_away, [problem, _]) = bench.read_reports(9).await;
    assert_eq!((malformed, turned_away), (9, 0));
    assert_eq!(problem, "the secret in a request from 127.0.0.1 is wrong or missing");
    assert!(bench.waiting.try_recv().is_err());
}

#[tokio::test(start_paused = true)]
async fn explains_malformed_requests() {
    let mut bench = Bench::new(|_| {});
    for body in ["", r#"{"bot":"btc","direction":"HOLD"}"#, r#"{"bot":"btc","direction":"BUY","stake":1}"#] {
        assert_eq!(bench.post(body).await.0, 400, "{body}");
    }
    assert_eq!(bench.post(&"x".repeat(MAX_BODY_BYTES + 1)).await.0, 413);
    assert_eq!(bench.post(r#"{"ticker":"BTCUSDT","action":"sell","market_position":"flat"}"#).await.0, 200);
    assert_eq!(bench.read_reports(4).await.0, 4);
    let quiet = [(Request::get(PATH), 405), (Request::post("/"), 404), (Request::post("/signal/x"), 404)];
    for (request, expected) in quiet {
        let request = request.header(SECRET_HEADER, SECRET).body(Full::new(Bytes::from(BODY))).unwrap();
        assert_eq!(bench.send(request, "127.0.0.1").await.0, expected);
    }
    assert!(bench.waiting.try_recv().is_err() && bench.orders.try_recv().is_err());
}

#[tokio::test(start_paused = true)]
async fn rejects_signals_for_unknown_bots_and_stale_times() {
    let mut bench = Bench::new(|_| {});
    let bodies = [
        (r#"{"bot":"eth","direction":"BUY"}"#, "unknown bot \\\"eth\\\"; the bots are btc"),
        (r#"{"ticker":"ETHUSDT","action":"buy"}"#, "no bot trades \\\"ETHUSDT\\\"; the bots trade BTCUSDT"),
        (r#"{"direction":"BUY"}"#, "neither bot nor symbol is named; the bots are btc"),
        (
            r#"{"bot":"btc","direction":"BUY","time":"1970-01-01T00:00:00Z"}"#,
            "is more than a day behind venue time",
        ),
        (r#"{"bot":"btc","direction":"BUY","time":"2027-01-05T10:30:00Z"}"#, "is ahead of venue time"),
    ];
    for (body, expected) in bodies {
        let (status, answer, _) = bench.post(body).await;
        assert!(status == 400 && answer.contains(expected), "{body}: {status} {answer}");
    }
    assert_eq!(bench.read_reports(5).await.0, 5, "each is counted, and told");
    assert!(bench.waiting.try_recv().is_err());
    let late = r#"{"ticker":"btc/usdt","action":"buy","time":"2026-01-05T10:00:00Z"}"#;
    assert_eq!(bench.post(late).await.0, 202);
}

/// Venue time is 2026-01-05 10:30:00; the default expiry is 5 s.
#[tokio::test]
async fn reports_duplicate_and_late_signals_to_the_sender() {
    let mut bench = Bench::new(|_| {});
    for (rest, status) in [
        (r#""id":"a""#, "accepted"),
        (r#""id":"a""#, "duplicate"),
        (r#""time":"2026-01-05T10:29:55Z""#, "accepted"),
        (r#""time":"2026-01-05T10:29:55Z""#, "duplicate"),
        (r#""time":"2026-01-05T10:29:54Z""#, "late"),
        (r#""time":"2026-01-05T10:29:50Z","expires_ms":10000"#, "accepted"),
        (r#""time":"2026-01-05T10:29:58Z","expires_ms":1000"#, "late"),
    ] {
        let (code, answer, _) = bench.post(&format!(r#"{{"bot":"btc","direction":"BUY",{rest}}}"#)).await;
        assert!(code == 202 && answer.contains(&format!("\"status\":\"{status}\"")), "{rest}: {answer}");
        assert!(bench.waiting.recv().await.is_some(), "the run decides in any case");
    }
}

async fn read_status(bench: &Bench, id: usize) -> String {
    let (code, answer, _) = bench.post(&format!(r#"{{"bot":"btc","direction":"BUY","id":"{id}"}}"#)).await;
    let answer: serde_json::Value = serde_json::from_str(&answer).unwrap();
    answer["status"].as_str().map_or_else(|| code.to_string(), str::to_owned)
}

#[tokio::test(start_paused = true)]
async fn throttled_signal_is_not_a_duplicate_when_retried() {
    let mut bench = Bench::new(|_| {});
    for id in 0..4 {
        assert_eq!(read_status(&bench, id).await, "accepted");
    }
    assert_eq!(read_status(&bench, 4).await, "429");
    bench.waiting.recv().await.unwrap();
    assert_eq!(read_status(&bench, 4).await, "accepted");
}

#[tokio::test(start_paused = true)]
async fn remembers_only_the_last_1024_signals() {
    let mut bench = Bench::new(|settings| settings.requests_per_minute = 10_000);
    for id in 0..1_024 {
        assert_eq!(read_status(&bench, id).await, "accepted");
        bench.waiting.recv().await.unwrap();
    }
    for (id, status) in [(0, "duplicate"), (1_024, "accepted"), (0, "accepted"), (2, "duplicate")] {
        assert_eq!(read_status(&bench, id).await, status, "{id}");
        bench.waiting.recv().await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn reports_first_and_last_of_several_problems_with_a_count() {
    let mut bench = Bench::new(|_| {});
    for line in ["line 2: a", "line 5: b", "line 7: c"] {
        bench.sink.report_malformed_input(line);
    }
    assert_eq!(bench.read_reports(3).await, (3, 0, ["line 2: a", "line 7: c"].map(str::to_owned)));
}

#[tokio::test(start_paused = true)]
async fn throttles_a_flood_and_condenses_its_reports() {
    let mut bench = Bench::new(|settings| settings.requests_per_minute = 3);
    for _ in 0..3 {
        assert_eq!(bench.post(BODY).await.0, 202);
        bench.waiting.recv().await.unwrap();
    }
    for _ in 0..1_000 {
        let (status, _, retry) = bench.post(BODY).await;
        assert_eq!((status, retry.as_deref()), (429, Some("20")));
    }
    let (malformed, turned_away, _) = bench.read_reports(1_000).await;
    assert_eq!((malformed, turned_away), (0, 1_000));
    assert_eq!(bench.send(request(BODY, &[]), "127.0.0.1").await.0, 403);
    tokio::time::advance(Duration::from_secs(20)).await;
    assert_eq!(bench.post(BODY).await.0, 202);
}

#[tokio::test]
async fn accepts_only_allowed_addresses_also_behind_a_proxy() {
    let allowed = vec!["10.0.0.0/8".to_owned()];
    let mut bench = Bench::new(|settings| settings.allowed_addresses.clone_from(&allowed));
    let secret = (SECRET_HEADER, SECRET);
    for (peer, headers, expected) in [
        ("10.1.2.3", vec![secret], 202),
        ("::ffff:10.1.2.3", vec![secret], 202),
        ("11.1.2.3", vec![secret], 403),
        ("11.1.2.3", vec![secret, ("x-forwarded-for", "10.1.2.3")], 403),
    ] {
        assert_eq!(bench.send(request(BODY, &headers), peer).await.0, expected, "{peer}");
    }
    while bench.waiting.try_recv().is_ok() {}
    let bench = Bench::new(|settings| {
        settings.allowed_addresses = allowed;
        settings.behind_proxy = true;
    });
    for (forwarded, expected) in
        [("10.1.2.3", 202), ("10.1.2.3, 11.1.2.3", 403), ("11.1.2.3, 10.1.2.3", 202), ("?", 403)]
    {
        let request = request(BODY, &[secret, ("x-forwarded-for", forwarded)]);
        assert_eq!(bench.send(request, "127.0.0.1").await.0, expected, "{forwarded}");
    }
    assert_eq!(bench.send(request(BODY, &[secret]), "10.1.2.3").await.0, 403, "the proxy says nothing");
}

#[tokio::test(start_paused = true)]
async fn rate_allows_a_burst_and_refills_within_a_minute() {
    let rate = RateLimiter::new(3);
    for (after_ms, expected) in [(0, 3), (19_999, 0), (1, 1), (3_600_000, 3), (40_000, 2)] {
        tokio::time::advance(Duration::from_millis(after_ms)).await;
        assert_eq!((0..10).filter(|_| rate.allow_signal().is_ok()).count(), expected, "{after_ms}");
    }
}
