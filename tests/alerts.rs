//! Delivery of alerts, without delay to a run by a slow or dead receiver.
#![cfg(unix)]

use crate::candlewick::{BOT, Folder, candles};
use crate::http::{Reply, Request, serve};
use crate::serving::Process;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex};
use std::time::Duration;

const KEY: &str = "whsec_dGhlIGtleSBvZiBhIHRlc3QgdGhhdCBub2JvZHkga25vd3M=";
pub(crate) const PATIENCE: Duration = Duration::from_mins(2);

fn alerts(request: &Request) -> Vec<Value> {
    let body: Value = serde_json::from_str(&request.body).unwrap();
    body["data"]["alerts"].as_array().unwrap().clone()
}

fn is_signed(request: &Request) -> bool {
    request.header("webhook-signature").starts_with("v1,")
}

pub(crate) fn receiver_that(
    answer: impl Fn(&Request) -> String + Send + Sync + 'static,
) -> (String, Receiver<Request>) {
    let (sender, requests) = mpsc::channel();
    let url = serve(move |request| {
        let reply = Reply::new(200, answer(&request));
        // The channel is closed after the end of a test.
        let _ = sender.send(request);
        reply
    });
    (url.strip_prefix("http://").unwrap().to_owned(), requests)
}

fn folder(section: &str) -> Folder {
    let folder = Folder::new().with("bot.toml", &format!("{section}\n{BOT}")).with("key", KEY);
    std::fs::set_permissions(folder.path("key"), std::fs::Permissions::from_mode(0o600)).unwrap();
    folder.with("BTCUSDT_1m.csv", &candles(600))
}

fn webhook(address: &dyn std::fmt::Display) -> String {
    format!(
        "[notify]\nend_timeout_s = 60\n[notify.channels.hook]\nkind = \"webhook\"\nurl = \"http://{address}/alerts\"\n\
         secret_file = \"key\"\nminimum = \"info\"\n"
    )
}

fn start(folder: &Folder) -> Child {
    let arguments = ["live", "--sandbox", "-vv", "--config", "bot.toml", "--journal", "run.db"];
    folder.command(&arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

#[track_caller]
fn end_without(bot: Child, folder: &Folder, secret: &str) -> ExitStatus {
    assert!(Command::new("kill").args(["-s", "TERM", &bot.id().to_string()]).status().unwrap().success());
    let output = bot.wait_with_output().unwrap();
    for printed in [output.stdout, output.stderr, std::fs::read(folder.path("run.db")).unwrap()] {
        assert!(!String::from_utf8_lossy(&printed).contains(secret));
    }
    output.status
}

#[test]
fn sends_signed_messages_for_start_trades_halt_and_end() {
    let (address, requests) = receiver_that(|_| "{}".to_owned());
    let folder = folder(&webhook(&address));
    let bot = start(&folder);
    let mut ids = BTreeSet::new();
    let mut wait_for = |event: &str| loop {
        let request = requests.recv_timeout(PATIENCE).unwrap_or_else(|_| panic!("no alert of {event}"));
        assert!(is_signed(&request), "{}", request.body);
        assert!(ids.insert(request.header("webhook-id").to_owned()), "an id was repeated");
        assert!(!request.body.contains("halted: "), "a halt is reported once: {}", request.body);
        if let Some(alert) = alerts(&request).into_iter().find(|alert| alert["event"] == event) {
            let [severity, bot, symbol] = ["severity", "bot", "symbol"].map(|key| alert[key].clone());
            return (json!([severity, bot, symbol]), alert["text"].to_string());
        }
    };
    assert_eq!(wait_for("started").0, json!(["notice", null, null]));
    assert_eq!(wait_for("settled").0, json!(["info", "btc", "BTCUSDT"]));
    let halt = ["halt", "--config", "bot.toml", "--journal", "run.db", "--reason", "news at noon"];
    assert_eq!(folder.run(&halt).code, 0);
    let (halted, text) = wait_for("halted");
    assert_eq!(halted, json!(["critical", null, null]));
    assert!(text.contains("news at noon"), "{text}");
    assert!(end_without(bot, &folder, "dGhlIGtleSBv").success());
    wait_for("ended");
}

#[test]
fn silent_receiver_does_not_affect_trades() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let section = webhook(&silent.local_addr().unwrap()).replace("end_timeout_s = 60", "end_timeout_s = 0");
    let run = |section: &str| {
        let folder = folder(section);
        let live = ["live", "--sandbox", "--config", "bot.toml", "--speed", "max", "--until-end"];
        let run = folder.run(&[&live[..], &["--data", "BTCUSDT_1m.csv", "--trades", "trades.csv"]].concat());
        assert_eq!(run.code, 0, "{}", run.stderr);
        (folder.read("trades.csv"), run.stderr)
    };
    let (with, text) = run(&section);
    assert!(with.lines().count() > 20, "{with}");
    assert_eq!(with, run("").0);
    assert!(text.contains("the channel hook"), "{text}");
}

#[test]
fn repeated_sigterm_does_not_wait_for_a_silent_receiver() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let section = webhook(&silent.local_addr().unwrap()).replace("end_timeout_s = 60", "end_timeout_s = 600");
    let folder = folder(&section);
    let mut bot = Process(start(&folder));
    // The start alert is in flight.
    drop(silent.accept().unwrap());
    // Two minutes of signals, while the timeout is ten.
    let is_over = (0..600).any(|_| {
        let _ = Command::new("kill").args(["-s", "TERM", &bot.0.id().to_string()]).status();
        std::thread::sleep(Duration::from_millis(200));
        bot.0.try_wait().unwrap().is_some()
    });
    assert!(is_over, "the run waits for the receiver");
    let text = std::io::read_to_string(bot.0.stderr.take().unwrap()).unwrap();
    assert!(text.lines().any(|line| line.contains("WARN") && line.contains("alerts")), "{text}");
}

#[test]
fn alert_test_reports_the_result_of_each_channel() {
    let (address, requests) = receiver_that(|_| "{}".to_owned());
    let topic = "[notify.channels.phone]\nkind = \"ntfy\"\nurl = \"http://127.0.0.1:1/topic\"\n";
    let folder = folder(&format!("{}{topic}", webhook(&address)));
    let test = |more: &str| folder.run_line(&format!("notify test --json --config bot.toml {more}"));
    let both = test("");
    assert_eq!(both.code, 5, "{}", both.stderr);
    let tested: Value = serde_json::from_str(&both.stdout).unwrap();
    assert_eq!(tested["failed"], 1, "{tested}");
    for (place, channel, is_taken) in [(0, "hook", true), (1, "phone", false)] {
        let row = &tested["channels"][place];
        assert_eq!((&row["channel"], row["problem"].is_null()), (&json!(channel), is_taken), "{tested}");
    }
    let request = requests.recv_timeout(PATIENCE).unwrap();
    assert!(is_signed(&request) && alerts(&request)[0]["event"] == "test", "{}", request.body);
    let one = test("--channel hook").json();
    assert_eq!((&one["failed"], one["channels"].as_array().map(Vec::len)), (&json!(0), Some(1)));
    test("--channel hok").fails(2, &["hok", "hook"]);
}

#[test]
fn checks_alert_settings_without_revealing_secrets() {
    let check = |folder: &Folder, files: &[&str], parts: &[&str]| {
        let files = files.iter().flat_map(|file| ["--config", *file]);
        let check = folder.run(&["config", "check"].into_iter().chain(files).collect::<Vec<_>>());
        check.fails(2, parts);
        assert!(!check.stderr.contains("hush"), "{}", check.stderr);
    };
    let kind =
        |kind: &str, url: &str, more: &str| format!("kind = \"{kind}\"\nurl = \"https://{url}\"\n{more}");
    for (section, parts) in [
        ("kind = \"pigeon\"".to_owned(), &["hook.kind", "webhook"][..]),
        ("url = \"https://hook.example\"".to_owned(), &["hook.kind"]),
        ("kind = \"webhook\"".to_owned(), &["hook.url"]),
        (kind("webhook", "hook.example", "minimum = \"warn\""), &["minimum", "warning"]),
        (kind("webhook", "hook.example", "include = [\"setled\"]"), &["include", "settled"]),
        (kind("webhook", "hook.example", "secret = \"hush\""), &["SECRET", "secret_file"]),
        (kind("webhook", "ann:hush@hook.example", ""), &["hook.url", "url_file"]),
        (kind("discord", "chat.example/hush", ""), &["hook.url", "HOOK__URL", "url_file"]),
        (kind("telegram", "chat.example", "secret_file = \"key\""), &["chats"]),
        (kind("ntfy", "push.example/topic", "user = \"ann\""), &["user", "email"]),
        (kind("ntfy", "push.example/topic", "secret_file = \"none\""), &["secret_file", "none"]),
    ] {
        check(&folder(&format!("[notify.channels.hook]\n{section}\n")), &["bot.toml"], parts);
    }
    let folder = folder("[notify.channels.chat]\nkind = \"discord\"\n")
        .with_variable("CANDLEWICK_NOTIFY__CHANNELS__CHAT__URL", "https://chat.example/api/webhooks/1/hush")
        .with("topic.toml", &format!("[notify.channels.topic]\n{}", kind("ntfy", "push.example/hush", "")))
        .with("split.toml", "[notify.channels.chat]\nurl = \"https://chat.example/hush\"\n");
    assert_eq!(folder.run(&["config", "check", "--config", "bot.toml"]).code, 0);
    check(&folder, &["bot.toml", "split.toml"], &["chat.url", "url_file"]);
    let shown = folder.run(&["config", "show", "--config", "bot.toml", "--config", "topic.toml"]).stdout;
    assert!(shown.contains("https://push.example/") && shown.contains("discord"), "{shown}");
    assert!(!shown.contains("hush"), "{shown}");
}

#[test]
fn chat_halts_a_run_with_a_code_and_cannot_resume_it() {
    let updates = Arc::<Mutex<Vec<Value>>>::default();
    let (written, token) = (Arc::clone(&updates), "110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw");
    let (address, requests) = receiver_that(move |request| {
        let asked: Value = serde_json::from_str(&request.body).unwrap();
        let mut updates = updates.lock().unwrap();
        updates.retain(|update| update["update_id"].as_i64() >= asked["offset"].as_i64());
        let is_poll = request.path.ends_with("/getUpdates");
        let result = if is_poll { json!(*updates) } else { json!({}) };
        json!({ "ok": true, "result": result }).to_string()
    });
    let write = |id: i64, text: &str| {
        let message = json!({ "chat": { "id": 7 }, "from": { "id": 42 }, "text": text });
        written.lock().unwrap().push(json!({ "update_id": id, "message": message }));
    };
    let folder = folder(&format!(
        "[notify.channels.chat]\nkind = \"telegram\"\nurl = \"http://{address}\"\nchats = [7]\ncommands = true\n"
    ))
    .with_variable("CANDLEWICK_NOTIFY__CHANNELS__CHAT__SECRET", token);
    let bot = start(&folder);
    let wait_for = |part: &str| loop {
        let request = requests.recv_timeout(PATIENCE).unwrap_or_else(|_| panic!("no message has {part}"));
        assert!(request.path.contains(token), "{}", request.path);
        let body: Value = serde_json::from_str(&request.body).unwrap();
        let text = body["text"].as_str().unwrap_or_default().to_owned();
        if text.contains(part) || (part.is_empty() && body["timeout"] == 50) {
            return text;
        }
    };
    wait_for("the run starts");
    // Messages sent before the bot listens are skipped.
    wait_for("");
    write(1, "/status");
    wait_for("The bot opens trades");
    write(2, "/halt");
    let code = wait_for("within the next minute").rsplit(' ').next().unwrap().to_owned();
    write(3, &format!("/halt {code}"));
    wait_for("UTC: by a chat (chat 7, sender 42)");
    for (id, text) in [(4, "/resume"), (5, "/halt"), (6, "/status")] {
        write(id, text);
    }
    wait_for("The bot is halted");
    let status = folder.run(&["status", "--config", "bot.toml", "--journal", "run.db", "--json"]).json();
    assert!(status.to_string().contains("chat 7, sender 42"), "{status}");
    end_without(bot, &folder, "AAHdqTcv");
}
