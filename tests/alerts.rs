//! Alerts of a run reach whoever is to know, and nobody who is slow or gone holds the run up.
#![cfg(unix)]

use crate::candlewick::{BOT, Folder, candles};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A key that is in no public list; it must be seen nowhere.
const KEY: &str = "whsec_dGhlIGtleSBvZiBhIHRlc3QgdGhhdCBub2JvZHkga25vd3M=";
/// Long enough for a machine under load; nobody waits for it where all is well.
pub(crate) const PATIENCE: Duration = Duration::from_mins(2);

/// A request to the receiver: its headers by their names in small letters, and its body.
pub(crate) struct Request {
    head: String,
    pub(crate) body: String,
}

impl Request {
    fn header(&self, name: &str) -> &str {
        let line = self.head.lines().find(|line| line.to_lowercase().starts_with(&format!("{name}:")));
        line.and_then(|line| line.split_once(':')).map(|(_, value)| value.trim()).unwrap_or_default()
    }

    fn alerts(&self) -> Vec<Value> {
        let body: Value = serde_json::from_str(&self.body).unwrap();
        body["data"]["alerts"].as_array().unwrap().clone()
    }

    /// Whether it bears the signature of the specification: HMAC-SHA256 over name, time and body.
    fn is_signed(&self) -> bool {
        let key = STANDARD.decode(KEY.trim_start_matches("whsec_")).unwrap();
        let said =
            format!("{}.{}.{}", self.header("webhook-id"), self.header("webhook-timestamp"), self.body);
        self.header("webhook-signature")
            == format!("v1,{}", STANDARD.encode(hmac_sha256(&key, said.as_bytes())))
    }
}

/// As RFC 2104 defines it, for keys that are no longer than a block.
fn hmac_sha256(key: &[u8], text: &[u8]) -> Vec<u8> {
    let padded = |with: u8| {
        let mut block = [with; 64];
        block.iter_mut().zip(key).for_each(|(byte, key)| *byte ^= key);
        block
    };
    let inner = Sha256::new().chain_update(padded(0x36)).chain_update(text).finalize();
    Sha256::new().chain_update(padded(0x5c)).chain_update(inner).finalize().to_vec()
}

/// A receiver that takes all it is sent: its address, and what it was sent.
fn receiver() -> (String, Receiver<Request>) {
    receiver_that(|_| "{}".to_owned())
}

/// The same, with what it answers.
pub(crate) fn receiver_that(
    answer: impl Fn(&Request) -> String + Send + Sync + 'static,
) -> (String, Receiver<Request>) {
    let answer = Arc::new(answer);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let (taken, requests) = mpsc::channel();
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let (taken, answer) = (taken.clone(), Arc::clone(&answer));
            std::thread::spawn(move || {
                while let Some(request) = take(&stream, &*answer)
                    && taken.send(request).is_ok()
                {}
            });
        }
    });
    (address, requests)
}

fn take(mut stream: &TcpStream, answer: &dyn Fn(&Request) -> String) -> Option<Request> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        (reader.read_line(&mut head).ok()? > 0).then_some(())?;
    }
    let mut request = Request { head, body: String::new() };
    let mut body = vec![0; request.header("content-length").parse().ok()?];
    reader.read_exact(&mut body).ok()?;
    request.body = String::from_utf8(body).ok()?;
    let answer = answer(&request);
    let length = answer.len();
    stream
        .write_all(format!("HTTP/1.1 200 OK\r\ncontent-length: {length}\r\n\r\n{answer}").as_bytes())
        .ok()?;
    Some(request)
}

/// A bot with this section, and the key in a file that only its owner can read.
fn folder(section: &str) -> Folder {
    let folder = Folder::new().with("bot.toml", &format!("{section}\n{BOT}")).with("key", KEY);
    std::fs::set_permissions(folder.path("key"), std::fs::Permissions::from_mode(0o600)).unwrap();
    folder.with("BTCUSDT_1m.csv", &candles(600))
}

fn webhook(address: &str) -> String {
    format!(
        "[notify]\nend_timeout_s = 60\n[notify.channels.hook]\nkind = \"webhook\"\nurl = \"http://{address}/alerts\"\n\
         secret_file = \"key\"\nminimum = \"info\"\n"
    )
}

#[test]
fn a_run_tells_its_begin_its_trades_a_halt_and_its_end_in_signed_messages() {
    let (address, requests) = receiver();
    let folder = folder(&webhook(&address));
    let mut command =
        folder.command(&["live", "--sandbox", "-vv", "--config", "bot.toml", "--journal", "run.db"]);
    let bot = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut ids = Vec::new();
    let mut wait_for = |event: &str| loop {
        let request = requests.recv_timeout(PATIENCE).unwrap_or_else(|_| panic!("no alert of {event}"));
        assert!(request.is_signed(), "{}", request.head);
        assert!(
            !ids.contains(&request.header("webhook-id").to_owned()),
            "each message has a name of its own"
        );
        ids.push(request.header("webhook-id").to_owned());
        assert!(!request.body.contains("halted: "), "a halt is told once: {}", request.body);
        if let Some(alert) = request.alerts().into_iter().find(|alert| alert["event"] == event) {
            return alert;
        }
    };
    let started = wait_for("started");
    assert_eq!((&started["severity"], &started["bot"]), (&"notice".into(), &Value::Null));
    let settled = wait_for("settled");
    assert_eq!(
        (&settled["severity"], &settled["bot"], &settled["symbol"]),
        (&"info".into(), &"btc".into(), &"BTCUSDT".into())
    );
    let halt =
        folder.run(&["halt", "--config", "bot.toml", "--journal", "run.db", "--reason", "news at noon"]);
    assert_eq!(halt.code, 0, "{}", halt.stderr);
    let halted = wait_for("halted");
    assert_eq!(halted["severity"], "critical");
    assert!(halted["text"].as_str().unwrap().contains("news at noon"), "{halted}");
    assert!(Command::new("kill").args(["-s", "TERM", &bot.id().to_string()]).status().unwrap().success());
    let ended = wait_for("ended");
    assert!(ended["text"].as_str().unwrap().contains("terminated"), "{ended}");
    let output = bot.wait_with_output().unwrap();
    assert!(output.status.success());
    for printed in [output.stdout, output.stderr, std::fs::read(folder.path("run.db")).unwrap()] {
        assert!(
            !String::from_utf8_lossy(&printed).contains("dGhlIGtleSBv"),
            "the key is in what the run left behind"
        );
    }
}

#[test]
fn a_receiver_that_says_nothing_changes_no_trade() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let section =
        webhook(&silent.local_addr().unwrap().to_string()).replace("end_timeout_s = 60", "end_timeout_s = 0");
    let run = |section: &str| {
        let folder = folder(section);
        let arguments = [
            "live",
            "--sandbox",
            "--config",
            "bot.toml",
            "--speed",
            "max",
            "--until-end",
            "--data",
            "BTCUSDT_1m.csv",
            "--trades",
            "trades.csv",
        ];
        let run = folder.run(&arguments);
        assert_eq!(run.code, 0, "{}", run.stderr);
        (folder.read("trades.csv"), run.stderr)
    };
    let (with, said) = run(&section);
    let (without, _) = run("");
    assert!(with.lines().count() > 20 && with == without, "{} trades", with.lines().count());
    assert!(said.contains("alerts for the channel hook were not sent within 0 s"), "{said}");
}

#[test]
fn whoever_asks_again_does_not_wait_for_a_receiver_that_says_nothing() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let section = webhook(&silent.local_addr().unwrap().to_string())
        .replace("end_timeout_s = 60", "end_timeout_s = 600");
    let folder = folder(&section);
    let arguments = ["live", "--sandbox", "--config", "bot.toml", "--journal", "run.db"];
    let mut bot = folder.command(&arguments).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    // The alert of its begin is on its way.
    drop(silent.accept().unwrap());
    // For two minutes, where it may wait for ten.
    let is_over = (0..600).any(|_| {
        Command::new("kill").args(["-s", "TERM", &bot.id().to_string()]).status().unwrap();
        std::thread::sleep(Duration::from_millis(200));
        bot.try_wait().unwrap().is_some()
    });
    if !is_over {
        bot.kill().unwrap();
    }
    assert!(is_over, "it waits for the receiver");
    let said = bot.wait_with_output().unwrap().stderr;
    let said = String::from_utf8_lossy(&said);
    assert!(said.contains("not waited for"), "{said}");
}

#[test]
fn a_test_says_of_each_channel_whether_it_took_a_message() {
    let (address, requests) = receiver();
    // Nothing listens there.
    let topic = "[notify.channels.phone]\nkind = \"ntfy\"\nurl = \"http://127.0.0.1:1/topic\"\n";
    let folder = folder(&format!("{}{topic}", webhook(&address)));
    let both = folder.run(&["notify", "test", "--config", "bot.toml"]);
    assert_eq!(both.code, 5, "{}", both.stderr);
    let row =
        |name: &str| both.stdout.lines().find(|line| line.trim_start().starts_with(name)).unwrap_or_default();
    assert!(row("hook").contains("yes") && row("phone").contains("no"), "{}", both.stdout);
    assert!(row("phone").contains("refused"), "{}", both.stdout);
    let request = requests.recv_timeout(PATIENCE).unwrap();
    assert!(request.is_signed() && request.alerts()[0]["event"] == "test", "{}", request.body);
    let one = folder.run(&["notify", "test", "--config", "bot.toml", "--channel", "hook", "--json"]).json();
    assert_eq!((&one["failed"], &one["channels"][0]["channel"]), (&0.into(), &"hook".into()));
    assert_eq!(one["channels"][0]["problem"], Value::Null);
    folder.run(&["notify", "test", "--config", "bot.toml", "--channel", "hok"]).fails(2, &["hok", "hook"]);
}

#[test]
fn settings_of_alerts_are_checked_and_no_secret_is_shown() {
    let check = |section: &str, parts: &[&str]| {
        let folder = folder(&format!("[notify.channels.hook]\n{section}\n"));
        let check = folder.run(&["config", "check", "--config", "bot.toml"]);
        check.fails(2, parts);
        assert!(!check.stderr.contains("hush"), "{}", check.stderr);
    };
    check("kind = \"pigeon\"", &["notify.channels.hook.kind", "webhook"]);
    check("url = \"https://hook.example\"", &["notify.channels.hook.kind", "missing"]);
    check("kind = \"webhook\"", &["notify.channels.hook.url"]);
    check("kind = \"webhook\"\nurl = \"https://hook.example\"\nminimum = \"warn\"", &["minimum", "warning"]);
    check(
        "kind = \"webhook\"\nurl = \"https://hook.example\"\ninclude = [\"setled\"]",
        &["include", "settled"],
    );
    check(
        "kind = \"webhook\"\nurl = \"https://hook.example\"\nsecret = \"hush\"",
        &["secret", "SECRET", "secret_file"],
    );
    check("kind = \"webhook\"\nurl = \"https://ann:hush@hook.example\"", &["hook.url", "url_file"]);
    check("kind = \"discord\"\nurl = \"https://chat.example/hush\"", &["hook.url", "HOOK__URL", "url_file"]);
    check("kind = \"telegram\"\nurl = \"https://chat.example\"\nsecret_file = \"key\"", &["chats"]);
    check("kind = \"ntfy\"\nurl = \"https://push.example/topic\"\nuser = \"ann\"", &["user", "email"]);
    check(
        "kind = \"ntfy\"\nurl = \"https://push.example/topic\"\nsecret_file = \"none\"",
        &["secret_file", "none"],
    );
    let folder = folder("[notify.channels.chat]\nkind = \"discord\"\n")
        .with_variable("CANDLEWICK_NOTIFY__CHANNELS__CHAT__URL", "https://chat.example/api/webhooks/1/hush");
    let sound = folder.run(&["config", "check", "--config", "bot.toml"]);
    assert_eq!(sound.code, 0, "{}", sound.stderr);
    let split = folder
        .with("topic.toml", "[notify.channels.topic]\nkind = \"ntfy\"\nurl = \"https://push.example/hush\"\n")
        .with("split.toml", "[notify.channels.chat]\nurl = \"https://chat.example/hush\"\n");
    let folder = &split;
    let check = folder.run(&["config", "check", "--config", "bot.toml", "--config", "split.toml"]);
    check.fails(2, &["chat.url", "url_file"]);
    assert!(!check.stderr.contains("hush"), "{}", check.stderr);
    let shown = folder.run(&["config", "show", "--config", "bot.toml", "--config", "topic.toml"]);
    assert!(shown.stdout.contains("https://push.example/"), "{}", shown.stdout);
    assert!(shown.stdout.contains("discord") && !shown.stdout.contains("hush"), "{}", shown.stdout);
}

/// What a person writes to the bot of a chat, and reads there.
#[derive(Default)]
struct Written {
    updates: Mutex<Vec<Value>>,
}

impl Written {
    fn write(&self, id: i64, text: &str) {
        let message = json!({ "chat": { "id": 7 }, "from": { "id": 42 }, "text": text });
        self.updates.lock().unwrap().push(json!({ "update_id": id, "message": message }));
    }

    /// Answers a poll as the server of a chat does: with what is not confirmed.
    fn answer(&self, request: &Request) -> String {
        if request.head.contains("/getUpdates ") {
            let asked: Value = serde_json::from_str(&request.body).unwrap();
            let offset = asked["offset"].as_i64().unwrap();
            let mut updates = self.updates.lock().unwrap();
            updates.retain(|update| update["update_id"].as_i64().unwrap() >= offset);
            return json!({ "ok": true, "result": *updates }).to_string();
        }
        json!({ "ok": true, "result": {} }).to_string()
    }
}

#[test]
fn a_chat_halts_a_run_by_a_code_and_cannot_resume_it() {
    let written = Arc::new(Written::default());
    let (answering, token) = (Arc::clone(&written), "110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw");
    let (address, requests) = receiver_that(move |request| answering.answer(request));
    let folder = folder(&format!(
        "[notify.channels.chat]\nkind = \"telegram\"\nurl = \"http://{address}\"\nchats = [7]\ncommands = true\n"
    ))
    .with_variable("CANDLEWICK_NOTIFY__CHANNELS__CHAT__SECRET", token);
    let arguments = ["live", "--sandbox", "-vv", "--config", "bot.toml", "--journal", "run.db"];
    let bot = folder.command(&arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let wait_for = |part: &str| loop {
        let request = requests.recv_timeout(PATIENCE).unwrap_or_else(|_| panic!("nobody says {part}"));
        assert!(request.head.contains(token), "{}", request.head);
        let body: Value = serde_json::from_str(&request.body).unwrap();
        let said = body["text"].as_str().unwrap_or_default().to_owned();
        if said.contains(part) || (part.is_empty() && body["timeout"] == 50) {
            return said;
        }
    };
    wait_for("the run begins");
    // What was written before it listens is passed over.
    wait_for("");
    written.write(1, "/status");
    wait_for("The bot opens trades");
    written.write(2, "/halt");
    let code = wait_for("send within a minute").rsplit(' ').next().unwrap().to_owned();
    written.write(3, &format!("/halt {code}"));
    wait_for("UTC: by a chat (chat 7, sender 42)");
    for (id, text) in [(4, "/resume"), (5, "/halt"), (6, "/status")] {
        written.write(id, text);
    }
    wait_for("The bot is halted");
    let status = folder.run(&["status", "--config", "bot.toml", "--journal", "run.db", "--json"]).json();
    assert!(status.to_string().contains("by a chat (chat 7, sender 42)"), "{status}");
    assert!(Command::new("kill").args(["-s", "TERM", &bot.id().to_string()]).status().unwrap().success());
    let output = bot.wait_with_output().unwrap();
    for printed in [output.stdout, output.stderr, std::fs::read(folder.path("run.db")).unwrap()] {
        assert!(
            !String::from_utf8_lossy(&printed).contains("AAHdqTcv"),
            "the token is in what the run left behind"
        );
    }
}
