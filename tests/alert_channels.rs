//! One run with several kinds of channels: ntfy, Telegram and Discord receive what a webhook receives.
#![cfg(unix)]

use crate::alerts::{PATIENCE, receiver_that};
use crate::candlewick::{BOT, Folder, candles};
use crate::http::Request;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::os::unix::fs::PermissionsExt;
use std::sync::mpsc::Receiver;

/// A bot with accepted trades and one with rejected stakes, amid lost replies, a lagging list and a low balance.
fn settings(channels: &str) -> String {
    let second = BOT.replace("\"btc\"", "\"small\"").replace("BTCUSDT", "EURUSD");
    format!(
        "[sandbox]\nmin_amount = 10\nfaults = \"drop-after:1,list-lag:1:30000ms\"\n[risk]\nmax_open_trades = 0\n\
         max_trades_per_day = 4\nmax_drawdown_percent = 0\ndaily_loss_limit = 0\nallow_opposite = true\n\
         [notify]\ndigest_after = 1000\ndoubt_after_s = 1\nbalance_below = 1e6\nend_timeout_s = 60\n{channels}\
         {BOT}stake = {{ kind = \"fixed\", amount = 20 }}\n{second}stake = {{ kind = \"fixed\", amount = 5 }}\n"
    )
    .replace("period = 2", "period = 2, oversold = 45.0, overbought = 55.0")
}

fn bodies(requests: &Receiver<Request>) -> Vec<Value> {
    let first = requests.recv_timeout(PATIENCE).unwrap();
    let all = std::iter::once(first).chain(requests.try_iter());
    all.map(|request| serde_json::from_str(&request.body).unwrap()).collect()
}

#[test]
fn channels_receive_rejections_doubts_limits_money_and_the_end() {
    let folder = Folder::new().with("BTCUSDT_1m.csv", &candles(400)).with("EURUSD_1m.csv", &candles(400));
    let (mut sections, mut receivers) = (String::new(), Vec::new());
    for (kind, rest, path, text) in [
        ("webhook", "", "/hook", ""),
        ("ntfy", "", "/topic", "/message"),
        ("telegram", "secret_file = \"token\"\nchats = [7]\n", "", "/text"),
        ("discord", "", "/api/webhooks/1/x", "/content"),
    ] {
        let (address, requests) = receiver_that(|_| "{\"ok\":true}".to_owned());
        std::fs::write(folder.path(kind), format!("http://{address}{path}")).unwrap();
        let _ = write!(
            sections,
            "[notify.channels.{kind}]\nkind = \"{kind}\"\nurl_file = \"{kind}\"\nminimum = \"notice\"\n{rest}"
        );
        receivers.push((kind, requests, text));
    }
    let folder = folder.with("token", "123456:example").with("bot.toml", &settings(&sections));
    for secret in ["token", "webhook", "ntfy", "telegram", "discord"] {
        std::fs::set_permissions(folder.path(secret), std::fs::Permissions::from_mode(0o600)).unwrap();
    }
    let run = ["live", "--sandbox", "--config", "bot.toml", "--speed", "20", "--for", "40s", "--quiet"];
    let data = ["--data", "BTCUSDT_1m.csv", "--data", "EURUSD_1m.csv"];
    let run = folder.run(&[&run[..], &data].concat());
    assert_eq!(run.code, 0, "{}", run.stderr);

    let hook = bodies(&receivers[0].1);
    let mut messages = BTreeMap::<&str, (&str, &str)>::new();
    for alert in hook.iter().flat_map(|body| body["data"]["alerts"].as_array().unwrap()) {
        let [event, severity, text] = ["event", "severity", "text"].map(|name| alert[name].as_str().unwrap());
        messages.entry(event).or_insert((severity, text));
    }
    for (event, severity) in [
        ("started", "notice"),
        ("rejected", "warning"),
        ("doubt", "warning"),
        ("resolved", "notice"),
        ("limit", "warning"),
        ("balance", "warning"),
        ("stopping", "notice"),
        ("ended", "notice"),
    ] {
        assert_eq!(messages.get(event).map(|(found, _)| *found), Some(severity), "{event}: {messages:?}");
    }
    for (kind, requests, text) in &receivers[1..] {
        let texts = bodies(requests);
        let text: String = texts.iter().map(|body| body.pointer(text).unwrap().as_str().unwrap()).collect();
        for (event, (_, message)) in &messages {
            // Only texts that no channel wraps or escapes, unlike "#1".
            let plain = message.split_once('#').map_or(*message, |(_, rest)| rest);
            let plain = plain.trim_start_matches(|letter: char| letter.is_ascii_digit());
            let words = plain.get(..24).unwrap_or(plain);
            assert!(text.contains(words), "{kind} has no message for {event} ({words}): {text}");
        }
    }
}
