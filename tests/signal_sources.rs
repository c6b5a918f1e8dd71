//! Signals from the webhook, from standard input and from a list: each opens at most one trade.
#![cfg(unix)]

use crate::candlewick::Folder;
use crate::control::venue_of_short_trades;
use crate::outside_signals::{check_parity, count, venue_time};
use crate::serving::{Process, request, send};
use candlewick_broker::clock::Stopwatch;
use serde_json::Value;
use std::fs::File;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;
use std::time::Duration;

const SECRET: &str = "0123456789abcdef0123456789abcdef";
const PATIENCE: Duration = Duration::from_mins(2);

#[track_caller]
pub(crate) fn wait_for<T>(what: &str, poll: impl Fn() -> Option<T>) -> T {
    let watch = Stopwatch::start();
    loop {
        if let Some(found) = poll() {
            return found;
        }
        assert!(watch.elapsed() < PATIENCE, "no {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

struct Bot(Process);

impl Bot {
    fn start(folder: &Folder, arguments: &[&str]) -> Self {
        let file = |name: &str| File::create(folder.path(name)).unwrap();
        let mut command = folder.command(&[&["live", "-v", "--config", "bot.toml"], arguments].concat());
        let command = command.stdin(Stdio::piped()).stdout(file("out")).stderr(file("log"));
        let bot = Self(Process(command.spawn().unwrap()));
        wait_for("start of the run", || (!folder.read("out").is_empty()).then_some(()));
        bot
    }

    fn end(mut self) {
        send("INT", &self.0.0);
        self.0.0.wait().unwrap();
    }
}

fn post(address: &str, secret: &str, body: &str) -> u16 {
    let headers = format!("x-candlewick-secret: {secret}\r\n");
    let answer = request(address, "POST /signal", (&headers, body), "");
    answer.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or_default()
}

fn status(folder: &Folder) -> Value {
    let run = folder.run(&["status", "--json", "--config", "bot.toml"]);
    if run.code == 0 { run.json() } else { Value::Null }
}

fn tally_when(folder: &Folder, source: &str, is_it: impl Fn(&Value) -> bool) -> Value {
    wait_for(source, || Some(status(folder)["bot"]["signals"]["by_source"][source].clone()).filter(&is_it))
}

fn number(tally: &Value, key: &str) -> u64 {
    tally[key].as_u64().unwrap_or_default()
}

fn decided(tally: &Value) -> u64 {
    number(tally, "approved") + number(tally, "refused")
}

/// Returns a message, its secret and the expected answer: new, repeated, late, malformed and forged in turn.
fn message(number: u64, now: i64) -> (String, &'static str, u16) {
    let signal = |id: u64, more: &str| {
        let action = if id.is_multiple_of(8) { "buy" } else { "sell" };
        format!(
            r#"{{"bot":"btc","ticker":"VENUE:BTCUSDT","action":"{action}","id":"{id}","close":"1.5"{more}}}"#
        )
    };
    match number % 8 {
        0 | 4 => (signal(number, ""), SECRET, 202),
        1 | 2 => (signal(number - number % 8, ""), SECRET, 202),
        3 if number % 16 == 3 => (signal(number, ",\"time\":\"1970-01-01T00:00:00Z\""), SECRET, 400),
        3 => (signal(number, &format!(",\"time\":{}", now - 600_000)), SECRET, 202),
        5 => (signal(number, "").replace("btc", "unknown"), SECRET, 400),
        6 => (signal(number, "").replace("buy", "hold").replace("sell", "hold"), SECRET, 400),
        7 if number % 16 == 7 => ("{\"bot\":[".to_owned(), SECRET, 400),
        _ => (signal(number, ""), "fedcba9876543210fedcba9876543210", 403),
    }
}

#[test]
fn each_of_a_thousand_alerts_opens_at_most_one_trade_and_parity_explains_all() {
    let (_served, folder) = venue_of_short_trades();
    let folder = folder.with("hook.secret", SECRET);
    std::fs::set_permissions(folder.path("hook.secret"), PermissionsExt::from_mode(0o600)).unwrap();
    let folder = folder
        .with_variable("CANDLEWICK_SIGNALS__LISTEN", "127.0.0.1:0")
        .with_variable("CANDLEWICK_SIGNALS__SECRET_FILE", "hook.secret")
        .with_variable("CANDLEWICK_SIGNALS__REQUESTS_PER_MINUTE", "1000");
    let bot = Bot::start(&folder, &[]);
    let address = wait_for("webhook", || {
        let log = folder.read("log");
        let (_, rest) = log.split_once("signals are accepted at http://")?;
        Some(rest.split_once("/signal")?.0.to_owned())
    });
    let now = venue_time(&folder);
    for number in 0..1_000 {
        let (body, secret, expected) = message(number, now);
        let mut status = post(&address, secret, &body);
        // A run that lags behind refuses senders, which then retry.
        while status == 429 {
            status = post(&address, secret, &body);
        }
        assert_eq!(status, expected, "{body}");
    }
    let is_done = |tally: &Value| decided(tally) == 250 && number(tally, "malformed") == 438;
    let tally = tally_when(&folder, "webhook", is_done);
    assert_eq!((number(&tally, "duplicates"), number(&tally, "late")), (250, 62), "{tally}");
    bot.end();
    // Dropped signals have no entries of their own: the run records their counts at its end.
    let after = status(&folder);
    assert_eq!((&after["bot"], &after["signals"]["by_source"]["webhook"]), (&Value::Null, &tally));
    let approved = number(&tally, "approved");
    assert!(approved > 0, "{tally}");
    assert_eq!(count(&folder, "\"event\":\"outside_signal\""), 312, "duplicates must not be events");
    let refused = number(&tally, "refused") + number(&tally, "late");
    assert_eq!(count(&folder, "signal from webhook") - refused, approved, "a trade each");
    check_parity(&folder, "candlewick.db");
    let journal = std::fs::read(folder.path("candlewick.db")).unwrap();
    assert!(!journal.windows(SECRET.len()).any(|bytes| bytes == SECRET.as_bytes()));
    assert!(!folder.read("log").contains(SECRET), "{}", folder.read("log"));
}

#[test]
fn reads_standard_input_by_line_and_survives_its_end() {
    let (_served, folder) = venue_of_short_trades();
    let mut bot = Bot::start(&folder, &["--signals", "-"]);
    let late = venue_time(&folder) - 600_000;
    let late = format!("{{\"bot\":\"btc\",\"direction\":\"BUY\",\"time\":{late}}}");
    let lines = [
        r#"{"bot":"btc","direction":"BUY","id":"one"}"#,
        r#"{"bot":"btc","direction":"BUY","id":"one"}"#,
        "",
        "garbage",
        r#"{"bot":"btc","direction":"BUY","stake":100}"#,
        r#"{"bot":"eth","direction":"BUY"}"#,
        r#"{"bot":"btc","direction":"BUY","time":"2026-01-01T00:00:00Z"}"#,
        &late,
    ];
    let mut stdin = bot.0.0.stdin.take().unwrap();
    stdin.write_all(lines.join("\n").as_bytes()).unwrap();
    drop(stdin);
    let is_done =
        |tally: &Value| number(tally, "malformed") == 4 && number(tally, "late") == 1 && decided(tally) == 1;
    let tally = tally_when(&folder, "stdin", is_done);
    assert_eq!(number(&tally, "duplicates"), 1, "{tally}");
    let reasons = tally["reasons"].as_object().unwrap();
    assert!(reasons.len() == 4 && reasons.values().all(|times| *times == 1), "{tally}");
    bot.end();
    assert!(folder.read("log").contains("invalid signal (stdin)"), "{}", folder.read("log"));
    assert_eq!(count(&folder, "\"event\":\"outside_signal\""), 2);
}

#[test]
fn refuses_a_list_for_an_unknown_bot_and_a_webhook_without_secret() {
    let (_served, folder) = venue_of_short_trades();
    let folder = folder.with("list.csv", "time,bot,direction\n10:30,eth,BUY\n");
    let live = |list: &str| folder.run(&["live", "--config", "bot.toml", "--signals", list]);
    live("list.csv").fails(3, &["list.csv", "line 2", "\"eth\""]);
    live("none.csv").fails(3, &["none.csv"]);
    let folder = folder.with_variable("CANDLEWICK_SIGNALS__LISTEN", "0.0.0.0:0");
    for command in [&["live"][..], &["config", "check"]] {
        let run = folder.run(&[command, &["--config", "bot.toml"]].concat());
        run.fails(2, &["signals.listen", "CANDLEWICK_SIGNALS__SECRET"]);
    }
}

#[test]
fn status_shows_skipped_lines_until_the_list_is_corrected() {
    let (_served, folder) = venue_of_short_trades();
    let folder = folder
        .with("list.csv", "10:30 btc BUY\nhello world\n25:99 btc BUY\n")
        .with_variable("CANDLEWICK_SIGNALS__LIST", "list.csv")
        .with_variable("CANDLEWICK_SIGNALS__SKIP_UNKNOWN", "true");
    let bot = Bot::start(&folder, &[]);
    let skipped_when = |is_it: fn(&Value) -> bool| {
        wait_for("list", || {
            let signals = status(&folder)["bot"]["signals"].clone();
            Some(signals["passed_over"].clone()).filter(|lines| !signals["next"].is_null() && is_it(lines))
        })
    };
    let skipped = skipped_when(|skipped| !skipped.is_null());
    assert!(skipped.as_str().unwrap().contains("(2, 3)"), "{skipped}");
    std::fs::write(folder.path("list.csv"), "10:30 btc BUY\n").unwrap();
    skipped_when(Value::is_null);
    bot.end();
    let after = status(&folder);
    assert!(after["bot"].is_null() && after["signals"]["passed_over"].is_null(), "{after}");
}
