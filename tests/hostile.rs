//! A venue that sends what would move a cursor, name a window, turn the reading around, begin a formula or give a
//! credential away, in every text that it has a say in; and the program on a terminal, with all that it prints and writes.
//!
//! What the terminal gets is read by a parser of terminals, which knows nothing of the program.
#![cfg(unix)]

use crate::candlewick::{BINARY, Folder};
use candlewick_sdk::is_hidden;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::time::{SystemTime, UNIX_EPOCH};

/// Names the window, empties the screen, colours, ends the line, turns around, hides, calculates.
const HOSTILE: &str = "\u{1b}]0;t\u{7}\u{1b}[2J\u{9b}1A\r\n\u{202e}\u{200b}\u{2028}";
const TOKEN: &str = "tQ7x/Vd2+Lk9TzPw4RmB8sYh";
const KEY: &str = "kJ5c/Ws3+Ua8HyGe6NbX2qZm";
const STEP: i64 = 5_000;

/// What a terminal is told to do besides showing letters, lines and colours.
#[derive(Default)]
struct Moved(Vec<String>);

impl vte::Perform for Moved {
    fn print(&mut self, letter: char) {
        if is_hidden(letter) {
            self.0.push(format!("prints {letter:?}"));
        }
    }

    fn execute(&mut self, byte: u8) {
        if !matches!(byte, b'\n' | b'\r') {
            self.0.push(format!("executes {byte:#x}"));
        }
    }

    fn csi_dispatch(&mut self, parameters: &vte::Params, intermediates: &[u8], _: bool, action: char) {
        if action != 'm' || !intermediates.is_empty() {
            self.0.push(format!("moves: {action} {parameters:?}"));
        }
    }

    fn osc_dispatch(&mut self, parameters: &[&[u8]], _: bool) {
        self.0.push(format!("names the window: {parameters:?}"));
    }

    fn esc_dispatch(&mut self, _: &[u8], _: bool, byte: u8) {
        self.0.push(format!("escapes {byte:#x}"));
    }

    fn hook(&mut self, _: &vte::Params, _: &[u8], _: bool, action: char) {
        self.0.push(format!("hooks {action}"));
    }
}

fn moves_of(bytes: &[u8]) -> Vec<String> {
    let (mut parser, mut moved) = (vte::Parser::new(), Moved::default());
    parser.advance(&mut moved, bytes);
    moved.0
}

/// A line that goes back to its beginning without ending: a progress bar, or something that overwrites.
fn overwrites(bytes: &[u8]) -> bool {
    bytes.windows(2).any(|pair| pair[0] == b'\r' && !matches!(pair[1], b'\n' | b'\r'))
}

/// Runs the program on a terminal; all that it printed there, and its exit code.
fn on_terminal(folder: &Folder, arguments: &[&str]) -> (Vec<u8>, i32) {
    on_terminal_of(0, folder, arguments)
}

/// The same on one of so many columns; 0 where it does not say.
pub(crate) fn on_terminal_of(columns: u16, folder: &Folder, arguments: &[&str]) -> (Vec<u8>, i32) {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let size = Winsize { ws_row: 40, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(&master, size).unwrap();
    let name = ptsname(&master, Vec::new()).unwrap().into_string().unwrap();
    let end = || Stdio::from(OpenOptions::new().read(true).write(true).open(&name).unwrap());
    let mut command = folder.command(arguments);
    let mut child = command.env("TERM", "xterm-256color").stdout(end()).stderr(end()).spawn().unwrap();
    drop(command);
    let mut bytes = Vec::new();
    // A terminal whose other end is closed ends with an error.
    let _ = File::from(master).read_to_end(&mut bytes);
    (bytes, child.wait().unwrap().code().unwrap_or(-1))
}

#[test]
fn the_parser_sees_what_is_hostile() {
    assert!(moves_of(b"plain \x1b[1;32mgreen\x1b[0m\r\n").is_empty());
    let seen = moves_of(HOSTILE.as_bytes()).join("; ");
    for part in ["names the window", "moves: J", "'\\u{202e}'", "'\\u{200b}'", "'\\u{2028}'"] {
        assert!(seen.contains(part), "{seen}");
    }
    assert!(overwrites(b"a\rb") && !overwrites(b"a\r\n"));
}

/// The venue: honest about money, hostile in every name.
struct Venue {
    url: String,
}

#[derive(Default)]
struct Trades {
    open: Vec<Value>,
    asked: u64,
}

fn now() -> i64 {
    #[allow(clippy::disallowed_methods, reason = "a venue has a clock of its own")]
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    i64::try_from(now.as_millis()).unwrap()
}

/// The price at a moment: it rises.
fn price(at: i64) -> f64 {
    100.0 + (at % 100_000_000) as f64 / 1e6
}

impl Venue {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let trades = Arc::new(Mutex::new(Trades::default()));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (stream, trades) = (stream.unwrap(), Arc::clone(&trades));
                std::thread::spawn(move || answer(stream, &trades));
            }
        });
        Self { url }
    }
}

fn answer(mut stream: TcpStream, trades: &Mutex<Trades>) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let (mut line, mut header, mut length) = (String::new(), String::new(), 0);
    if reader.read_line(&mut line).unwrap_or(0) == 0 {
        return;
    }
    while reader.read_line(&mut header).unwrap_or(0) > 2 {
        if let Some(value) = header.to_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        header.clear();
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    let mut parts = line.split(' ');
    let (method, path) = (parts.next().unwrap(), parts.next().unwrap());
    let (status, mut document) = reply((method, path), &body, &mut trades.lock().unwrap());
    poison(&mut document);
    let text = document.to_string();
    let head = format!(
        "HTTP/1.1 {status} x\r\nx-echo: {TOKEN}\r\ncontent-length: {}\r\nconnection: close",
        text.len()
    );
    // A client that has gone needs no answer.
    let _ = stream.write_all(format!("{head}\r\n\r\n{text}").as_bytes());
}

/// What the contract says, to requests that begin so.
fn reply((method, path): (&str, &str), body: &[u8], trades: &mut Trades) -> (u16, Value) {
    let query = |name: &str| {
        let pairs = path.split_once('?').map_or("", |(_, query)| query).split('&');
        pairs
            .filter_map(|pair| pair.split_once('='))
            .find(|(key, _)| *key == name)
            .map(|(_, value)| value.to_owned())
    };
    let number = |name: &str| query(name).and_then(|text| text.parse::<i64>().ok());
    trades.asked += 1;
    let refusal = (500, json!({ "statusCode": 500, "message": format!("={HOSTILE} {TOKEN} {KEY}") }));
    match (method, path.split('?').next().unwrap()) {
        ("POST", _) => {
            let order: Value = serde_json::from_slice(body).unwrap();
            let count = trades.open.len();
            if count % 4 == 3 {
                return (400, refusal.1);
            }
            let trade = open(count, &order);
            trades.open.push(trade.clone());
            (200, trade)
        }
        (_, "/token/wallets") => {
            (200, json!([{ "id": "W", "userId": "U", "type": "DEMO", "balance": 10_000.0, "name": HOSTILE }]))
        }
        (_, "/token/users/me") => {
            (200, json!({ "id": format!("U{TOKEN}"), "name": HOSTILE, "active": true }))
        }
        (_, "/token/trades") => {
            let rows: Vec<Value> = trades.open.iter().map(settled).collect();
            (
                200,
                json!({ "currentPage": 1, "lastPage": 1, "total": rows.len(), "count": rows.len(), "data": rows }),
            )
        }
        (_, of_price) if of_price.starts_with("/symbol-price") => {
            if trades.asked.is_multiple_of(3) {
                return refusal;
            }
            let at = number("limitTime").unwrap_or(i64::MAX).min(now());
            (200, candle(at / 1_000 * 1_000, 1_000))
        }
        (_, "/aggregated-prices/prices") => {
            let (from, to) = (number("startTime").unwrap(), number("endTime").unwrap().min(now() - STEP));
            let opens = ((from + STEP - 1).div_euclid(STEP)..=to.div_euclid(STEP))
                .map(|place| candle(place * STEP, STEP));
            (200, opens.take(1_000).collect())
        }
        (_, by_id) => {
            let id = by_id.rsplit('/').next().unwrap();
            let found = trades.open.iter().find(|trade| id.starts_with(&trade["id"].as_str().unwrap()[..7]));
            found.map_or((404, refusal.1), |trade| (200, settled(trade)))
        }
    }
}

fn candle(open_time: i64, length: i64) -> Value {
    let (open, close) = (price(open_time), price(open_time + length));
    json!({ "id": "P", "slot": "default", "pair": HOSTILE, "time": open_time, "volume": 1.0,
        "openPrice": open, "closePrice": close, "highPrice": open.max(close), "lowPrice": open.min(close) })
}

fn open(count: usize, order: &Value) -> Value {
    let opened = now() / 1_000 * 1_000 + 999;
    json!({ "id": format!("01J{count:04}{HOSTILE}{TOKEN}"), "userId": format!("U{TOKEN}"), "isDemo": true, "fromApiToken": true,
        "symbol": order["symbol"], "amount": order["amount"], "direction": order["direction"],
        "closeType": order["closeType"], "expirationType": "TIME_FIXED", "payout": 80.0, "pnl": 0.0, "result": "PENDING",
        "requestTime": now(), "openTime": opened, "openPrice": price(opened), "closeTime": opened + 5_000, "closePrice": 0.0 })
}

/// The trade as it stands now.
fn settled(trade: &Value) -> Value {
    let mut trade = trade.clone();
    let close = trade["closeTime"].as_i64().unwrap();
    trade["status"] = json!("OPEN");
    if now() > close {
        let (stake, is_won) = (trade["amount"].as_f64().unwrap(), trade["direction"] == "BUY");
        trade["status"] = json!("COMPLETED");
        trade["closePrice"] = json!(price(close));
        trade["result"] = json!(if is_won { "WON" } else { "LOST" });
        trade["pnl"] = json!(if is_won { stake * 0.8 } else { -stake });
    }
    trade
}

/// Names and values that nobody documented, in every object.
fn poison(document: &mut Value) {
    match document {
        Value::Array(items) => items.iter_mut().for_each(poison),
        Value::Object(fields) => {
            fields.values_mut().for_each(poison);
            fields.insert(format!("{HOSTILE}{KEY}"), json!(format!("{TOKEN}{HOSTILE}")));
            fields.insert("part".to_owned(), json!({ format!("x{}", &TOKEN[..16]): &KEY[6..] }));
        }
        _ => {}
    }
}

/// A folder with a bot that trades at the venue every five seconds.
fn folder(venue: &Venue) -> Folder {
    let first = now() / STEP * STEP;
    let mut signals = String::from("time,symbol,direction\n");
    for place in 1..40 {
        let direction = if place % 2 == 0 { "BUY" } else { "SELL" };
        let _ = writeln!(signals, "{},EURUSD,{direction}", first + place * STEP);
    }
    let config = format!(
        "[broker]\nbase_url = \"{0}\"\nprice_url = \"{0}\"\nrequests_per_second = 0\nretry_pause_ms = 20\n\
         [risk]\nmax_open_trades = 0\nmax_open_trades_per_symbol = 2\nallow_opposite = true\nallow_duplicate = true\n\
         [[bots]]\nname = \"=HYPERLINK('x')\\u001B]0;t\\u0007\\u202E\"\nsymbol = \"EURUSD\"\ninterval = \"5s\"\n\
         strategy = \"signal-list\"\nclose_type = \"00:05\"\nparams = {{ file = \"signals.csv\" }}\n",
        venue.url
    );
    Folder::new()
        .with("bot.toml", &config)
        .with("signals.csv", &signals)
        .with_variable("CANDLEWICK_BROKER__API_TOKEN", TOKEN)
        .with_variable("CANDLEWICK_BROKER__API_KEY", KEY)
}

/// Whether a credential or a part of one is there.
fn leak(bytes: &[u8]) -> Option<&'static str> {
    let text = String::from_utf8_lossy(bytes);
    [TOKEN, KEY]
        .into_iter()
        .find(|secret| (0..=secret.len() - 12).any(|from| text.contains(&secret[from..from + 12])))
}

#[test]
fn nothing_moves_nothing_is_titled_and_no_credential_is_seen() {
    let venue = Venue::start();
    let folder = folder(&venue);
    let live = ["live", "--config", "bot.toml", "--for", "16s", "--trades", "trades.csv"];
    let (shown, code) = on_terminal(&folder, &live);
    let text = String::from_utf8_lossy(&shown).into_owned();
    assert!([0, 6].contains(&code), "exit {code}: {text}");
    let commands: &[&[&str]] = &[
        &["status", "--config", "bot.toml"],
        &["status", "--json", "--config", "bot.toml"],
        &["trades", "--config", "bot.toml"],
        &["trades", "--csv", "--config", "bot.toml"],
        &["trades", "--json", "--config", "bot.toml"],
        &["explain", "1", "--config", "bot.toml"],
        &["explain", "1", "--json", "--config", "bot.toml"],
        &["report", "--html", "report.html", "--config", "bot.toml"],
        &["report", "--json", "--quiet", "--config", "bot.toml"],
        &["parity", "--config", "bot.toml"],
        &["doctor", "--config", "bot.toml"],
        &["config", "show", "--config", "bot.toml"],
        &["live", "--quiet", "--config", "bot.toml", "--for", "1s"],
        &["live", "--config", HOSTILE],
        &["trades", "--bot", HOSTILE, "--config", "bot.toml"],
        &[HOSTILE],
    ];
    let mut outputs = vec![("live".to_owned(), shown)];
    outputs.extend(commands.iter().map(|arguments| (arguments.join(" "), on_terminal(&folder, arguments).0)));
    for (command, bytes) in &outputs {
        let text = String::from_utf8_lossy(bytes);
        assert_eq!(moves_of(bytes), [""; 0], "{command}: {text}");
        assert!(!overwrites(bytes), "{command}: {text}");
        assert_eq!(leak(bytes), None, "{command}: {text}");
        assert!(!bytes.is_empty() || command.contains("--quiet"), "{command}");
    }
    // It is told what was there.
    let told = |command: &str, part: &str| {
        let (_, bytes) = outputs.iter().find(|(name, _)| name.starts_with(command)).unwrap();
        let text = String::from_utf8_lossy(bytes);
        assert!(text.contains(part), "no {part} in {command}: {text}");
    };
    let id = "01J0000\\u{1b}]0;t\\u{7}\\u{1b}[2J\\u{9b}1A\\r\\n\\u{202e}\\u{200b}\\u{2028}[hidden]";
    told("live", id);
    told("live", "\\u{202e}");
    told("explain 1 --config", id);
    told("trades --csv", "'=HYPERLINK('x')\\u{1b}]0;t\\u{7}\\u{202e}");
    told("trades --json", "\\u202e");
    for name in ["report.html", "trades.csv"] {
        let bytes = std::fs::read(folder.path(name)).unwrap();
        let text = String::from_utf8(bytes).unwrap();
        let raw: Vec<char> = text.chars().filter(|letter| *letter != '\n' && is_hidden(*letter)).collect();
        assert!(name.ends_with("html") || raw.is_empty(), "{name}: {raw:?}");
        assert!(!raw.iter().any(|letter| HOSTILE.contains(*letter) && *letter != '\r'), "{name}: {raw:?}");
    }
    let mut files = 0;
    for file in std::fs::read_dir(folder.path("")).unwrap() {
        let path = file.unwrap().path();
        if path.is_file() {
            let bytes = std::fs::read(&path).unwrap();
            assert_eq!(leak(&bytes), None, "{}", path.display());
            files += 1;
        }
    }
    assert!(files >= 5, "the journal, the page and the list are there");
    assert!(std::path::Path::new(BINARY).exists());
}

#[test]
fn a_log_of_json_hides_nothing_and_gives_no_credential_away() {
    let venue = Venue::start();
    let run = folder(&venue)
        .with_variable("CANDLEWICK_LOG__FORMAT", "json")
        .run(&["live", "--config", "bot.toml", "--for", "8s"]);
    let is_raw = |letter: char| letter != '\n' && is_hidden(letter);
    assert!(!run.stderr.chars().any(is_raw), "{:?}", run.stderr);
    assert_eq!(leak(run.stderr.as_bytes()), None, "{}", run.stderr);
    let lines: Vec<Value> = run.stderr.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let opened = lines.iter().find(|line| line["event"] == "opened").unwrap();
    assert!(opened["venue_id"].as_str().unwrap().contains("[hidden]"), "{opened}");
    assert!(opened["bot"].as_str().unwrap().contains('\u{202e}'), "read back it is what it was: {opened}");
}
