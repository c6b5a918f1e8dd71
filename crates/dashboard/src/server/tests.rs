//! Tests that attack the server over real connections.

use super::{ASSETS, Dashboard, JS};
use crate::{DashboardError, DashboardSettings, WatchedBot};
use candlewick_journal::JournalUrl;
use candlewick_runtime::control::ControlPaths;
use candlewick_sdk::Registry;
use serde_json::Value;
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

const MAX_WAIT: Duration = Duration::from_mins(1);
const ORDER: &str = "x-candlewick: 1\r\ncontent-type: application/json\r\n";

struct Served {
    dashboard: Dashboard,
    folder: tempfile::TempDir,
}

struct Answer {
    status: u16,
    head: String,
    body: String,
}

pub(super) fn settings(listen: SocketAddr, read_only: bool) -> DashboardSettings {
    DashboardSettings { listen, read_only, tls_proxy: None, allow_unencrypted_network: false }
}

pub(super) fn watched(folder: &Path) -> WatchedBot {
    let journal = folder.join("no.db");
    WatchedBot {
        journal: JournalUrl::from_path(&journal),
        paths: ControlPaths::for_journal(&journal),
        registry: Registry::default(),
    }
}

impl Answer {
    fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("{}", self.body))
    }
}

impl Served {
    async fn start(read_only: bool) -> Self {
        Self::try_start("127.0.0.1:0".parse().unwrap(), read_only).await.unwrap()
    }

    async fn try_start(listen: SocketAddr, read_only: bool) -> Result<Self, DashboardError> {
        let folder = tempfile::tempdir().unwrap();
        let dashboard = Dashboard::start(&settings(listen, read_only), watched(folder.path())).await?;
        Ok(Self { dashboard, folder })
    }

    fn address(&self) -> SocketAddr {
        self.dashboard.address
    }

    fn token(&self) -> String {
        self.dashboard.sign_in_links.borrow().url.split_once("#token=").unwrap().1.to_owned()
    }

    async fn ask(&self, line: &str, headers: &str, body: &str) -> Answer {
        self.send(line, &format!("host: {}\r\n{headers}", self.address()), body).await
    }

    async fn send(&self, line: &str, headers: &str, body: &str) -> Answer {
        let mut stream = TcpStream::connect(self.address()).await.unwrap();
        let length = body.len();
        let text = format!(
            "{line} HTTP/1.1\r\n{headers}connection: close\r\ncontent-length: {length}\r\n\r\n{body}"
        );
        // A server that refuses a request may close the connection before it has read the whole request.
        drop(stream.write_all(text.as_bytes()).await);
        let mut bytes = Vec::new();
        drop(timeout(MAX_WAIT, stream.read_to_end(&mut bytes)).await.expect("an answer in time"));
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        Answer { status, head: head.to_ascii_lowercase(), body: body.to_owned() }
    }

    async fn get(&self, path: &str, headers: &str) -> Answer {
        self.ask(&format!("GET {path}"), headers, "").await
    }

    async fn state_status(&self, headers: &str) -> u16 {
        self.get("/api/state", headers).await.status
    }

    async fn sign_in(&self, token: &str) -> Answer {
        self.ask("POST /api/session", ORDER, &format!(r#"{{"token":"{token}"}}"#)).await
    }

    async fn signed_in(&self) -> String {
        format!("cookie: {}\r\n", self.cookie().await)
    }

    async fn cookie(&self) -> String {
        let answer = self.sign_in(&self.token()).await;
        assert_eq!(answer.status, 200, "{}", answer.body);
        let line = answer.head.lines().find(|line| line.starts_with("set-cookie: ")).unwrap();
        assert!(["httponly", "samesite=strict", "path=/"].iter().all(|part| line.contains(part)), "{line}");
        line["set-cookie: ".len()..].split(';').next().unwrap().to_owned()
    }
}

#[tokio::test]
async fn serves_only_the_page_without_a_cookie() {
    let served = Served::start(false).await;
    let all = "state candles equity edge trades trades/1 lines events why?at=1 marks openapi.json";
    for path in all.split(' ') {
        let answer = served.get(&format!("/api/{path}"), "").await;
        assert_eq!(answer.status, 401, "{path}: {}", answer.body);
        assert!(answer.body.contains("open the link"), "{path}: {}", answer.body);
    }
    for path in ["halt", "resume"] {
        assert_eq!(served.ask(&format!("POST /api/{path}"), ORDER, "{}").await.status, 401, "{path}");
    }
    let page = served.get("/", "").await;
    assert_eq!(page.status, 200);
    for header in ["content-security-policy: default-src 'none'; script-src 'self'", "x-frame-options: deny"]
    {
        assert!(page.head.contains(header) && !page.head.contains("unsafe"), "{}", page.head);
    }
    assert!(!page.body.contains(&served.token()));
}

#[tokio::test]
async fn accepts_exact_token_once() {
    let served = Served::start(false).await;
    let token = served.token();
    for wrong in ["", "0", &token[1..], &format!("{token}0"), &"0".repeat(64)] {
        assert_eq!(served.sign_in(wrong).await.status, 401, "{wrong}");
    }
    assert_eq!(served.token(), token, "a wrong one changes nothing");
    assert_eq!(served.sign_in(&token).await.status, 200);
    assert_eq!(served.sign_in(&token).await.status, 401, "replayed");
    assert_ne!(served.token(), token);
    assert_eq!(served.dashboard.sign_in_links.borrow().sign_in_count, 1);
}

#[tokio::test]
async fn rejects_and_names_unknown_parameter() {
    let served = Served::start(false).await;
    let cookie = served.signed_in().await;
    for (path, problem) in [
        ("trades?limit=5&state=open", "unknown field `state`, expected one of `before`, `limit`, `bot`"),
        ("trades?limit=many", "invalid digit found in string"),
        ("lines?bot=btc", "unknown field `bot`, expected `before` or `limit`"),
        ("candles?serie=1", "unknown field `serie`, expected one of `series`, `level`, `from`"),
        ("edge?name=btc", "unknown field `name`, expected `bot`"),
        ("why?at=now", "`at` is \"now\", but must be venue time in milliseconds since 1970"),
        ("why?at=1&when=2", "unknown field `when`, expected one of `at`, `symbol`, `bot`"),
        ("state?x=1", "unknown field `x`"),
        ("trades/1?x=1", "unknown field `x`"),
    ] {
        let answer = served.get(&format!("/api/{path}"), &cookie).await;
        let told = answer.json();
        assert_eq!(answer.status, 400, "{path}: {told}");
        assert!(told["problem"].as_str().is_some_and(|told| told.contains(problem)), "{path}: {told}");
    }
}

#[tokio::test]
async fn cookie_is_valid_for_its_dashboard_until_it_ends() {
    let served = Served::start(false).await;
    let cookie = served.cookie().await;
    let told = served.get("/api/state", &format!("cookie: a=b; {cookie}\r\n")).await;
    assert_eq!((told.status, &told.json()["phase"]), (200, &"not_running".into()), "{}", told.body);
    for wrong in
        [cookie.replace('=', "=0"), cookie[..cookie.len() - 1].to_owned(), "candlewick-1=".to_owned()]
    {
        assert_eq!(served.state_status(&format!("cookie: {wrong}\r\n")).await, 401, "{wrong}");
    }
    let address = served.address();
    drop(served);
    // The listener is dropped when its task is next polled. Only then is the port free.
    let begin_again = async {
        loop {
            match Served::try_start(address, false).await {
                Ok(served) => break served,
                Err(_) => tokio::task::yield_now().await,
            }
        }
    };
    let again = timeout(MAX_WAIT, begin_again).await.expect("the port is free in time");
    assert_eq!(again.state_status(&format!("cookie: {cookie}\r\n")).await, 401, "replayed");
}

#[tokio::test]
async fn rejects_other_hosts_other_sites_and_missing_header() {
    let served = Served::start(false).await;
    let cookie = served.signed_in().await;
    let (own, port) = (served.address(), served.address().port());
    let longer = ["", "127.0.0.1."].map(|begin| format!("{begin}evil.example:{port}"));
    for host in ["evil.example", "127.0.0.1:1", &longer[0], &longer[1]] {
        let answer = served.send("GET /api/state", &format!("host: {host}\r\n{cookie}"), "").await;
        assert_eq!(answer.status, 403, "{host}: {}", answer.body);
    }
    let twice =
        served.send("GET /api/state", &format!("host: {own}\r\nhost: evil.example\r\n{cookie}"), "").await;
    assert!([400, 403].contains(&twice.status), "{}", twice.status);
    let other_port = port.wrapping_add(1);
    let foreign = format!(
        "origin: http://evil.example|origin: null|origin: https://{own}|sec-fetch-site: cross-site|\
         origin: http://127.0.0.1:{other_port}|sec-fetch-site: same-site"
    );
    for header in foreign.split('|') {
        assert_eq!(served.state_status(&format!("{header}\r\n{cookie}")).await, 403, "{header}");
    }
    let json = "content-type: application/json\r\n";
    let bare = served.ask("POST /api/halt", &format!("{json}{cookie}"), "{}").await;
    assert_eq!((bare.status, bare.body.contains("x-candlewick")), (403, true));
    let form = "x-candlewick: 1\r\ncontent-type: application/x-www-form-urlencoded\r\n";
    assert_eq!(served.ask("POST /api/halt", &format!("{form}{cookie}"), "reason=x").await.status, 415);
    let asked_first = "origin: http://evil.example\r\naccess-control-request-method: POST\r\n";
    let answer = served.ask("OPTIONS /api/halt", &format!("{asked_first}{cookie}"), "").await;
    assert_eq!((answer.status, answer.head.contains("access-control")), (403, false));
    let good = format!("origin: http://{own}\r\nsec-fetch-site: same-origin\r\n{cookie}");
    assert_eq!(served.state_status(&good).await, 200);
}

#[tokio::test]
async fn read_only_dashboard_rejects_orders() {
    let served = Served::start(true).await;
    let headers = format!("{ORDER}{}", served.signed_in().await);
    for order in ["halt", "resume"] {
        let answer = served.ask(&format!("POST /api/{order}"), &headers, "{}").await;
        assert_eq!((answer.status, answer.body.contains("--read-only")), (403, true), "{}", answer.body);
    }
    assert_eq!(std::fs::read_dir(served.folder.path()).unwrap().count(), 0, "nothing was left there");
}

#[tokio::test]
async fn rejects_path_traversal_and_long_requests() {
    let served = Served::start(false).await;
    let cookie = format!("{ORDER}{}", served.signed_in().await);
    let paths =
        "/../../etc/passwd /..%2f..%2fetc/passwd /page.js/../../Cargo.toml //etc/passwd /api/../api/x /%00";
    for path in paths.split(' ') {
        assert_eq!(served.get(path, &cookie).await.status, 404, "{path}");
    }
    assert_eq!(served.get("/api/trades/..%2f1", &cookie).await.status, 400);
    let long = format!(r#"{{"reason":"{}"}}"#, "x".repeat(20_000));
    assert_eq!(served.ask("POST /api/halt", &cookie, &long).await.status, 413);
    let claimed =
        served.ask("POST /api/halt", &format!("{cookie}transfer-encoding: chunked\r\n"), "zz").await;
    assert!([0, 400].contains(&claimed.status), "{}", claimed.status);
    let status = served.state_status(&format!("x-long: {}\r\n{cookie}", "x".repeat(100_000))).await;
    assert!([0, 431].contains(&status), "{status}");
    assert_eq!(served.state_status(&cookie).await, 200, "the session stays valid");
}

#[tokio::test]
async fn idle_connections_do_not_lock_out_signed_in_browsers() {
    let served = Served::start(false).await;
    let cookie = served.signed_in().await;
    let mut stream = TcpStream::connect(served.address()).await.unwrap();
    let events = format!("GET /api/events HTTP/1.1\r\nhost: {}\r\n{cookie}\r\n", served.address());
    stream.write_all(events.as_bytes()).await.unwrap();
    let mut bytes = [0; 512];
    assert!(timeout(MAX_WAIT, stream.read(&mut bytes)).await.unwrap().unwrap() > 0);
    let mut idle = Vec::new();
    for number in 0..1_000 {
        // The operating system may run out of sockets before the server reaches its limit.
        let Ok(Ok(mut other)) = timeout(MAX_WAIT, TcpStream::connect(served.address())).await else { break };
        if number % 2 == 0 {
            drop(other.write_all(b"GET / HTTP/1.1\r\nx:").await);
        }
        idle.push(other);
    }
    assert!(idle.len() > 200, "{}", idle.len());
    assert_eq!(served.state_status(&cookie).await, 200);
    let mut told = String::new();
    while told.matches("event: clock").count() < 2 {
        let length = timeout(MAX_WAIT, stream.read(&mut bytes)).await.unwrap().unwrap();
        assert!(length > 0, "it ended after {told}");
        told.push_str(&String::from_utf8_lossy(&bytes[..length]));
    }
}

#[tokio::test]
async fn responses_contain_no_secret() {
    let served = Served::start(false).await;
    let cookie = served.cookie().await;
    let headers = format!("cookie: {cookie}\r\n");
    let (name, secret) = cookie.split_once('=').unwrap();
    for path in ["/", "/page.js", "/api/state", "/api/openapi.json", "/api/lines", "/api/trades"] {
        let answer = served.get(path, &headers).await;
        assert!(!answer.body.contains(secret) && !answer.body.contains(name), "{path}");
        assert!(!answer.body.contains(&served.token()), "{path}");
    }
}

#[tokio::test]
async fn waits_for_missing_journal() {
    let served = Served::start(false).await;
    let headers = served.signed_in().await;
    let told = loop {
        let state = served.get("/api/state", &headers).await.json();
        if state["problem"].is_string() {
            break state;
        }
    };
    assert_eq!(told["problem"], "the journal does not exist yet");
    assert_eq!(told["run"], Value::Null);
    assert_eq!(served.get("/api/equity", &headers).await.status, 503);
}

#[test]
fn page_is_small_self_contained_and_without_inline_code() {
    let bytes: usize = ASSETS.iter().filter(|asset| asset.kind == JS).map(|asset| asset.text.len()).sum();
    assert!(bytes < 300_000, "{bytes} bytes");
    let ways =
        ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "Function(", "DOMParser"];
    for asset in ASSETS {
        assert!(ways.iter().all(|way| !asset.text.contains(way)), "{}", asset.path);
    }
    let page = ASSETS[0].text;
    for named in page.split(['"', '\'']).filter(|part| part.starts_with('/')) {
        assert!(ASSETS.iter().any(|asset| asset.path == named), "{named}");
    }
    assert!(["://", "<style", "style=", " on"].iter().all(|inline| !page.contains(inline)));
}
