//! Requests to each kind of receiver, checked against its documentation, and misbehaving receivers.
#![allow(clippy::unwrap_used, reason = "a failed step fails the test")]

mod smtp;

use axum::Router;
use axum::body::Bytes;
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use candlewick_notify::{
    Alert, Channel, ChannelError, EmailSettings, Endpoint, Failure, Message, MessageSender, Secret, Severity,
};
use ring::hmac;
use serde_json::{Value, json};
use smtp::{GREETING, MailServer};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

const KEY: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const TOKEN: &str = "110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw";
/// 2026-01-06 01:00:00.250 UTC.
const NOW: i64 = 1_767_661_200_250;

#[derive(Clone, Debug)]
struct Seen {
    path: String,
    headers: HeaderMap,
    body: String,
}

struct Server {
    url: String,
    seen: Arc<Mutex<Vec<Seen>>>,
}

impl Server {
    async fn start(status: u16, headers: &[(&'static str, &str)], body: impl Into<String>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let seen: Arc<Mutex<Vec<Seen>>> = Arc::default();
        let answer = {
            let value = |text: &&str| HeaderValue::from_str(text).unwrap();
            let headers: HeaderMap =
                headers.iter().map(|(name, text)| (name.parse().unwrap(), value(text))).collect();
            (StatusCode::from_u16(status).unwrap(), headers, body.into())
        };
        let log = Arc::clone(&seen);
        let router = Router::new().fallback(move |uri: Uri, headers: HeaderMap, body: Bytes| async move {
            let body = String::from_utf8(body.to_vec()).unwrap();
            log.lock().unwrap().push(Seen { path: uri.to_string(), headers, body });
            answer.clone()
        });
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { url, seen }
    }

    fn only(&self) -> Seen {
        let seen = self.seen.lock().unwrap();
        assert_eq!(seen.len(), 1, "{seen:?}");
        seen[0].clone()
    }
}

fn secret(text: &str) -> Secret {
    Secret::new(text).unwrap()
}

fn endpoint(url: &str, opened_by: Option<&str>) -> Endpoint {
    Endpoint { url: secret(url), secret: opened_by.map(secret) }
}

fn open(channel: &Channel) -> Box<dyn MessageSender> {
    channel.open(Arc::new(|| NOW)).unwrap()
}

fn message() -> Message {
    let alert = Alert {
        bot: Some("btc-rsi".to_owned()),
        symbol: Some("BTCUSDT".to_owned()),
        ..Alert::new(1_767_661_200_000, Severity::Critical, "halted", "No opens: @everyone says \"noon\" ✋")
    };
    Message { id: "msg_1".to_owned(), sender: "candlewick".to_owned(), alerts: vec![alert], dropped: 0 }
}

const TITLE: &str = "[critical] candlewick: halted";
const BODY: &str = "No opens: @everyone says \"noon\" ✋\nbtc-rsi, BTCUSDT\n2026-01-06 01:00:00 UTC";

async fn delivered(message: &Message, channel: impl FnOnce(&str) -> Channel) -> Seen {
    let server = Server::start(200, &[], "{}").await;
    open(&channel(&server.url)).deliver(message).await.unwrap();
    server.only()
}

fn parse_body(seen: &Seen) -> Value {
    assert_eq!(seen.headers["content-type"], "application/json");
    serde_json::from_str(&seen.body).unwrap()
}

#[tokio::test]
async fn webhook_signature_covers_id_time_and_body() {
    let hook = |url: &str| Channel::Webhook(endpoint(&format!("{url}/hook?a=b"), Some(KEY)));
    let seen = delivered(&message(), hook).await;
    assert_eq!(seen.path, "/hook?a=b");
    let alert = json!({ "at": 1_767_661_200_000_i64, "severity": "critical", "event": "halted",
        "bot": "btc-rsi", "symbol": "BTCUSDT", "text": message().alerts[0].text, "repeated": 0 });
    let data = json!({ "sender": "candlewick", "dropped": 0, "alerts": [alert] });
    let expected = json!({ "type": "alert", "timestamp": "2026-01-06T01:00:00.250Z", "data": data });
    assert_eq!(parse_body(&seen), expected);
    assert_eq!(seen.headers["webhook-id"], "msg_1");
    assert_eq!(seen.headers["webhook-timestamp"], "1767661200");
    // From the specification: HMAC-SHA256 over id.timestamp.body, in base64.
    let key = STANDARD.decode("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap();
    let said = format!("msg_1.1767661200.{}", seen.body);
    let tag = STANDARD.encode(hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, &key), said.as_bytes()));
    assert_eq!(seen.headers["webhook-signature"], format!("v1,{tag}"));
}

#[tokio::test]
async fn webhook_without_key_has_no_signature() {
    let mut digest = message();
    digest.alerts = vec![digest.alerts[0].clone(); 70];
    digest.dropped = 3;
    let seen = delivered(&digest, |url| Channel::Webhook(endpoint(url, None))).await;
    assert!(!seen.headers.contains_key("webhook-signature"));
    let body = parse_body(&seen);
    assert_eq!(body["type"], "digest");
    assert_eq!((&body["data"]["dropped"], body["data"]["alerts"].as_array().unwrap().len()), (&json!(3), 70));
}

#[tokio::test]
async fn sends_the_document_of_each_service_without_mentions() {
    type Row = (fn(&str) -> Channel, String, Value);
    let text = format!("{TITLE}\n{BODY}");
    let escaped = text.replace('[', "\\[").replace(']', "\\]");
    let rows: [Row; 3] = [
        (
            |url| Channel::Ntfy(endpoint(&format!("{url}/my-topic_7"), Some("tk_abc"))),
            "/".to_owned(),
            json!({ "topic": "my-topic_7", "title": TITLE, "message": BODY, "priority": 5 }),
        ),
        (
            |url| Channel::Telegram(endpoint(url, Some(TOKEN)), -1_001_234),
            format!("/bot{TOKEN}/sendMessage"),
            json!({ "chat_id": -1_001_234, "text": text, "disable_notification": false,
                "link_preview_options": { "is_disabled": true } }),
        ),
        (
            |url| Channel::Discord(endpoint(&format!("{url}/api/webhooks/1/abc-DEF"), None)),
            "/api/webhooks/1/abc-DEF".to_owned(),
            json!({ "content": escaped, "allowed_mentions": { "parse": [] }, "flags": 4 }),
        ),
    ];
    for (channel, path, expected) in rows {
        let seen = delivered(&message(), channel).await;
        assert_eq!((&seen.path, parse_body(&seen)), (&path, expected));
        let login = seen.headers.get("authorization").map(|login| login.to_str().unwrap());
        assert_eq!(login, (path == "/").then_some("Bearer tk_abc"));
    }
}

#[tokio::test]
async fn ntfy_keeps_the_path_and_truncates_long_messages() {
    let mut long = message();
    long.alerts[0].text = "ä".repeat(5_000);
    let topic = |url: &str| Channel::Ntfy(endpoint(&format!("{url}/push/topic"), None));
    let seen = delivered(&long, topic).await;
    assert_eq!(seen.path, "/push/");
    assert!(!seen.headers.contains_key("authorization"));
    let text = parse_body(&seen)["message"].as_str().unwrap().to_owned();
    assert!(text.len() <= 4_096 && text.contains("ä...\nbtc-rsi"), "{}", text.len());
}

fn build_each_kind(url: &str) -> [(&'static str, Channel); 4] {
    [
        // The prefix of a key is optional.
        ("webhook", Channel::Webhook(endpoint(&format!("{url}/hush-path"), KEY.strip_prefix("whsec_")))),
        ("ntfy", Channel::Ntfy(endpoint(&format!("{url}/hush-topic"), Some("tk_hush")))),
        ("telegram", Channel::Telegram(endpoint(url, Some(TOKEN)), 7)),
        ("discord", Channel::Discord(endpoint(&format!("{url}/hush-path"), None))),
    ]
}

fn assert_no_secrets(text: &str) {
    for secret in ["hush", "127.0.0.1", "MfKQ", "AAHd", "http://"] {
        assert!(!text.contains(secret), "{text}");
    }
}

#[tokio::test]
async fn responses_determine_retry_and_delay() {
    type Row = (u16, &'static [(&'static str, &'static str)], &'static str, Result<Option<f64>, bool>);
    const DATE: (&str, &str) = ("date", "Tue, 06 Jan 2026 01:00:00 GMT");
    let rows: [Row; 16] = [
        (429, &[("retry-after", "33")], "", Ok(Some(33.0))),
        (429, &[DATE, ("retry-after", "Tue, 06 Jan 2026 01:02:00 GMT")], "", Ok(Some(120.0))),
        (429, &[DATE, ("retry-after", "Tue, 06 Jan 2026 00:02:00 GMT")], "", Ok(None)),
        (429, &[("retry-after", "7")], r#"{"retry_after":9}"#, Ok(Some(7.0))),
        (429, &[("retry-after", "soon")], r#"{"retry_after":-9}"#, Ok(None)),
        (429, &[], r#"{"message":"You are being rate limited.","retry_after":0.5}"#, Ok(Some(0.5))),
        (429, &[], r#"{"ok":false,"error_code":429,"parameters":{"retry_after":7}}"#, Ok(Some(7.0))),
        (503, &[("retry-after", "5")], "", Ok(Some(5.0))),
        (500, &[], "down", Ok(None)),
        (401, &[], r#"{"ok":false}"#, Ok(None)),
        (408, &[], "", Ok(None)),
        (403, &[], "", Err(false)),
        (404, &[], "", Err(false)),
        (410, &[("retry-after", "5")], "", Err(false)),
        (302, &[("location", "http://127.0.0.1:1/elsewhere")], "", Ok(None)),
        (400, &[], r#"{"ok":false,"description":"Bad Request: chat not found"}"#, Err(true)),
    ];
    for (status, headers, body, expected) in rows {
        let server = Server::start(status, headers, body).await;
        for (kind, channel) in build_each_kind(&server.url) {
            let failure = open(&channel).deliver(&message()).await.unwrap_err();
            assert_no_secrets(&format!("{failure} {failure:?}"));
            let told = match failure {
                Failure::TryLater { after, .. } => Ok(after.map(|after| after.as_secs_f64())),
                Failure::Rejected { .. } => Err(false),
                Failure::Permanent { .. } => Err(true),
            };
            assert_eq!(told, expected, "{kind} {status}");
        }
    }
}

#[tokio::test]
async fn does_not_follow_redirects() {
    let other = Server::start(200, &[], "").await;
    let server = Server::start(307, &[("location", &format!("{}/stolen", other.url))], "").await;
    for (_, channel) in build_each_kind(&server.url) {
        open(&channel).deliver(&message()).await.unwrap_err();
    }
    assert_eq!((server.seen.lock().unwrap().len(), other.seen.lock().unwrap().len()), (4, 0));
}

#[tokio::test]
async fn accepts_success_before_the_body_is_complete() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let _ = stream.read(&mut [0; 4_096]).await.unwrap();
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nta").await.unwrap();
        std::future::pending::<()>().await;
    });
    let channel = open(&Channel::Webhook(endpoint(&url, None)));
    let sent = tokio::time::timeout(Duration::from_secs(5), channel.deliver(&message())).await;
    assert_eq!(sent, Ok(Ok(())), "waits for the body");
}

#[tokio::test]
async fn ignores_oversized_responses() {
    // The response is not read as far as the retry delay at its end.
    let padding = "x".repeat(20_000_000);
    let server = Server::start(500, &[], format!(r#"{{"padding":"{padding}","retry_after":5}}"#)).await;
    for (_, channel) in build_each_kind(&server.url) {
        let failure = open(&channel).deliver(&message()).await.unwrap_err();
        assert!(matches!(&failure, Failure::TryLater { after: None, .. }), "{failure:?}");
        assert!(failure.to_string().contains("500"), "{failure}");
    }
}

#[tokio::test]
async fn connection_errors_contain_no_secrets() {
    // Nothing listens on port 1. The port of a closed listener may be reused.
    for (kind, channel) in build_each_kind("http://127.0.0.1:1") {
        let failure = open(&channel).deliver(&message()).await.unwrap_err();
        assert_no_secrets(&format!("{failure} {failure:?} {channel:?}"));
        assert!(failure.to_string().contains("refused"), "{kind}: {failure}");
    }
}

fn mail(server: &MailServer, user: Option<(&str, &str)>) -> Box<dyn MessageSender> {
    let (user, password) = user.unzip();
    open(&Channel::Email(endpoint(&server.url, password), mail_settings(user)))
}

fn mail_settings(user: Option<&str>) -> EmailSettings {
    EmailSettings {
        from: "Candlewick <bot@example.org>".to_owned(),
        to: vec!["ann@example.org".to_owned(), "bob@example.net".to_owned()],
        user: user.map(str::to_owned),
    }
}

#[tokio::test]
async fn mail_goes_to_each_address_with_a_message_id() {
    let server = MailServer::start(&[]).await;
    mail(&server, Some(("bot", "hush hush"))).deliver(&message()).await.unwrap();
    let said = server.said();
    // RFC 4616: the password after two zero bytes, in base64.
    let login = STANDARD.encode("\0bot\0hush hush");
    assert!(said.contains(&format!("AUTH PLAIN {login}")), "{said:?}");
    let envelope: Vec<&String> =
        said.iter().filter(|line| line.starts_with("MAIL") || line.starts_with("RCPT")).collect();
    assert_eq!(envelope.len(), 4, "{said:?}");
    assert!(envelope[0].starts_with("MAIL FROM:<bot@example.org>"));
    assert_eq!([envelope[1], envelope[3]], ["RCPT TO:<ann@example.org>", "RCPT TO:<bob@example.net>"]);
    for line in [
        "From: Candlewick <bot@example.org>",
        "To: ann@example.org, bob@example.net",
        "Subject: [critical] candlewick: halted",
        "Message-ID: <msg_1@example.org>",
        "Content-Type: text/plain; charset=utf-8",
    ] {
        assert!(said.iter().any(|heard| heard == line), "{line}: {said:?}");
    }
}

#[tokio::test]
async fn retries_busy_mail_servers_but_not_rejected_mail() {
    for (step, answer, is_refused) in [
        ("RCPT", "451 4.7.1 greylisted", false),
        ("DATA", "452 4.3.1 no room", false),
        ("AUTH", "535 5.7.8 wrong password", false),
        (GREETING, "554 no mail service here", false),
        (GREETING, "521 mail.example does not accept mail", false),
        ("RCPT", "550 5.1.1 no such user", true),
        ("RCPT", "554 5.7.1 not for you", true),
        ("MAIL", "552 5.3.4 too large", true),
    ] {
        let server = MailServer::start(&[(step, answer)]).await;
        let failure = mail(&server, Some(("bot", "hush"))).deliver(&message()).await.unwrap_err();
        assert_eq!(matches!(failure, Failure::Permanent { .. }), is_refused, "{answer}: {failure}");
        assert!(failure.to_string().contains(&answer[..3]), "{answer}: {failure}");
        assert_no_secrets(&format!("{failure} {failure:?}"));
    }
}

#[tokio::test]
async fn rejected_mailbox_does_not_affect_others() {
    let closed = ("RCPT TO:<ann", "550 5.1.1 no such user");
    let server = MailServer::start(&[closed]).await;
    mail(&server, None).deliver(&message()).await.unwrap();
    assert_eq!(server.said().iter().filter(|line| *line == ".").count(), 1);

    let server = MailServer::start(&[closed, ("RCPT TO:<bob", "451 4.7.1 greylisted")]).await;
    let channel = mail(&server, None);
    for _ in 0..2 {
        let failure = channel.deliver(&message()).await.unwrap_err();
        assert!(matches!(failure, Failure::TryLater { .. }), "{failure}");
    }
    let said = server.said();
    let tried = |name: &str| said.iter().filter(|line| line.starts_with(&format!("RCPT TO:<{name}"))).count();
    assert_eq!((tried("ann"), tried("bob")), (1, 2), "finished recipients are skipped");
}

#[tokio::test]
async fn subject_cannot_inject_headers() {
    let server = MailServer::start(&[]).await;
    let mut evil = message();
    evil.sender = "bot\r\nBcc: eve@example.com".to_owned();
    evil.alerts[0].text = "\r\n.\r\nMAIL FROM:<eve@example.com>".to_owned();
    mail(&server, None).deliver(&evil).await.unwrap();
    let said = server.said();
    assert!(!said.iter().any(|line| line.starts_with("Bcc")), "{said:?}");
    assert_eq!(said.iter().filter(|line| line.starts_with("RCPT")).count(), 2);
}

#[test]
fn rejects_invalid_settings_on_open() {
    let mail = |url: &str, user: Option<&str>, password: Option<&str>| {
        Channel::Email(endpoint(url, password), mail_settings(user))
    };
    let no_recipient = EmailSettings { to: Vec::new(), ..mail_settings(None) };
    let wrong = EmailSettings { from: "bot".to_owned(), ..mail_settings(None) };
    for (channel, part) in [
        (Channel::Webhook(endpoint("hook.example", None)), "address"),
        (Channel::Webhook(endpoint("ftp://hook.example/", None)), "https://"),
        (Channel::Webhook(endpoint("https://ann:hush@hook.example/", None)), "secret"),
        (Channel::Webhook(endpoint("https://hook.example", Some("hush"))), "base64"),
        (Channel::Webhook(endpoint("https://hook.example", Some("whsec_"))), "base64"),
        (Channel::Webhook(endpoint("https://hook.example", Some("aHVzaA=="))), "base64"),
        (Channel::Webhook(endpoint("https://hook.example", Some(&"hush ".repeat(9)))), "base64"),
        (Channel::Ntfy(endpoint("https://push.example/", None)), "topic"),
        (Channel::Ntfy(endpoint("http://push.example/topic", Some("tk_hush"))), "https://"),
        (Channel::Ntfy(endpoint("http://192.0.2.7/topic", Some("tk_hush"))), "https://"),
        (Channel::Telegram(endpoint("https://chat.example", None), 1), "token"),
        (Channel::Telegram(endpoint("https://chat.example", Some("hush/../x")), 1), "token"),
        (Channel::Discord(endpoint("http://chat.example/api/webhooks/1/hush", None)), "https://"),
        (mail("https://mail.example", None, None), "smtps://"),
        (mail("smtps://", None, None), "smtps://"),
        (mail("smtps://bot:hush@mail.example", None, None), "user"),
        (mail("smtps://mail.example", Some("bot"), None), "password"),
        (mail("smtps://mail.example", None, Some("hush")), "user"),
        (Channel::Email(endpoint("smtps://mail.example", None), no_recipient), "to"),
        (Channel::Email(endpoint("smtps://mail.example", None), wrong), "from"),
    ] {
        let problem = channel.open(Arc::new(|| NOW)).err().map(|error: ChannelError| error.to_string());
        let problem = problem.unwrap_or_else(|| panic!("{channel:?}"));
        assert!(problem.contains(part) && !problem.contains("hush"), "{problem}");
    }
    // Local addresses may be unencrypted.
    for url in ["http://localhost/topic", "http://[::1]/topic"] {
        open(&Channel::Ntfy(endpoint(url, Some("tk_abc"))));
    }
    open(&Channel::Webhook(endpoint("http://hook.example/", None)));
    assert!(Secret::new("").is_none());
}

#[tokio::test]
async fn client_times_out_on_a_silent_receiver() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let silent = tokio::spawn(async move {
        let mut held = Vec::new();
        while let Ok((stream, _)) = listener.accept().await {
            held.push(stream);
        }
    });
    tokio::time::pause();
    let channel = open(&Channel::Webhook(endpoint(&url, None)));
    let failure = tokio::time::timeout(Duration::from_mins(1), channel.deliver(&message())).await.unwrap();
    assert_eq!(failure, Err(Failure::TryLater { reason: "no response in time".to_owned(), after: None }));
    silent.abort();
}
