//! A venue that sends control sequences, hidden characters, formulas and credentials, checked by a terminal parser.
#![cfg(unix)]

use crate::candlewick::Folder;
use crate::http::{Reply, serve};
use crate::lying_venue::LyingVenue;
use candlewick_broker::clock::{Clock, SystemClock};
use candlewick_sdk::is_hidden;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::fs::{File, OpenOptions};
use std::io::Read;
use std::os::fd::OwnedFd;
use std::process::Stdio;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Sets the window title, clears the screen, moves the cursor, ends the line, reverses the text and hides it.
const HOSTILE: &str = "\u{1b}]0;t\u{7}\u{1b}[2J\u{9b}1A\r\n\u{202e}\u{200b}\u{2028}";
const TOKEN: &str = "tQ7x/Vd2+Lk9TzPw4RmB8sYh";
const KEY: &str = "kJ5c/Ws3+Ua8HyGe6NbX2qZm";
const STEP: i64 = 5_000;

#[derive(Default)]
struct CursorMoves(Vec<String>);

impl vte::Perform for CursorMoves {
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

fn cursor_moves(bytes: &[u8]) -> Vec<String> {
    let (mut parser, mut moved) = (vte::Parser::new(), CursorMoves::default());
    parser.advance(&mut moved, bytes);
    moved.0
}

fn overwrites(bytes: &[u8]) -> bool {
    bytes.windows(2).any(|pair| pair[0] == b'\r' && !matches!(pair[1], b'\n' | b'\r'))
}

pub(crate) fn open_terminal(rows: u16, columns: u16) -> (OwnedFd, impl Fn() -> Stdio) {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let size = Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(&master, size).unwrap();
    let name = ptsname(&master, Vec::new()).unwrap().into_string().unwrap();
    (master, move || Stdio::from(OpenOptions::new().read(true).write(true).open(&name).unwrap()))
}

pub(crate) fn run_on_terminal(columns: u16, folder: &Folder, arguments: &[&str]) -> (Vec<u8>, i32) {
    let (master, end) = open_terminal(40, columns);
    let mut command = folder.command(arguments);
    let mut child = command.env("TERM", "xterm-256color").stdout(end()).stderr(end()).spawn().unwrap();
    drop(command);
    let mut bytes = Vec::new();
    // Reading a terminal whose other end is closed returns an error.
    let _ = File::from(master).read_to_end(&mut bytes);
    (bytes, child.wait().unwrap().code().unwrap_or(-1))
}

#[test]
fn parser_detects_hostile_sequences() {
    assert!(cursor_moves(b"plain \x1b[1;32mgreen\x1b[0m\r\n").is_empty());
    let seen = cursor_moves(HOSTILE.as_bytes()).join("; ");
    for part in ["names the window", "moves: J", "'\\u{202e}'", "'\\u{200b}'", "'\\u{2028}'"] {
        assert!(seen.contains(part), "{seen}");
    }
    assert!(overwrites(b"a\rb") && !overwrites(b"a\r\n"));
}

fn start_venue() -> String {
    let venue = LyingVenue::start(|_, _, _| {});
    let (requests, opens) = (AtomicUsize::new(0), AtomicUsize::new(0));
    serve(move |mut request| {
        // The text that poison() appends to the id of a trade.
        let end = request.path.find('\u{1b}').unwrap_or(request.path.len());
        request.path.truncate(end);
        let refusal = json!({ "statusCode": 500, "message": format!("={HOSTILE} {TOKEN} {KEY}") });
        let (status, mut document) = if request.method == "POST" && opens.fetch_add(1, Relaxed) % 4 == 3 {
            (400, refusal)
        } else if request.path.contains("/symbol-price") && requests.fetch_add(1, Relaxed).is_multiple_of(3) {
            (500, refusal)
        } else {
            venue.answer(&request)
        };
        poison(&mut document);
        Reply { head: format!("x-echo: {TOKEN}\r\n"), ..Reply::new(status, document.to_string()) }
    })
}

fn poison(document: &mut Value) {
    match document {
        Value::String(text) if text.starts_with("trade-") => *text = format!("{text}{HOSTILE}{TOKEN}"),
        Value::String(text) if text.starts_with("user-") => *text += TOKEN,
        Value::Array(items) => items.iter_mut().for_each(poison),
        Value::Object(fields) => {
            fields.values_mut().for_each(poison);
            for name in ["pair", "name"] {
                fields.insert(name.to_owned(), json!(HOSTILE));
            }
            fields.insert(format!("{HOSTILE}{KEY}"), json!(format!("{TOKEN}{HOSTILE}")));
            fields.insert("part".to_owned(), json!({ format!("x{}", &TOKEN[..16]): &KEY[6..] }));
        }
        _ => {}
    }
}

fn folder() -> Folder {
    let venue = start_venue();
    let first = SystemClock::new().now().get() / STEP * STEP;
    let mut signals = String::from("time,symbol,direction\n");
    for place in 1..40 {
        let direction = if place % 2 == 0 { "BUY" } else { "SELL" };
        let _ = writeln!(signals, "{},EURUSD,{direction}", first + place * STEP);
    }
    let config = format!(
        "[broker]\nbase_url = \"{venue}\"\nprice_url = \"{venue}\"\nrequests_per_second = 0\nretry_pause_ms = 20\n\
         [risk]\nmax_open_trades = 0\nmax_open_trades_per_symbol = 2\nallow_opposite = true\nallow_duplicate = true\n\
         [[bots]]\nname = \"=HYPERLINK('x')\\u001B]0;t\\u0007\\u202E\"\nsymbol = \"EURUSD\"\ninterval = \"1s\"\n\
         strategy = \"signal-list\"\nclose_type = \"00:05\"\nparams = {{ file = \"signals.csv\" }}\n"
    );
    Folder::new()
        .with("bot.toml", &config)
        .with("signals.csv", &signals)
        .with_variable("CANDLEWICK_BROKER__API_TOKEN", TOKEN)
        .with_variable("CANDLEWICK_BROKER__API_KEY", KEY)
}

fn leak(bytes: &[u8]) -> Option<&'static str> {
    let text = String::from_utf8_lossy(bytes);
    [TOKEN, KEY].into_iter().find(|key| (0..=key.len() - 12).any(|from| text.contains(&key[from..from + 12])))
}

#[test]
fn venue_texts_never_move_the_cursor_or_reveal_credentials() {
    let folder = folder();
    let on_terminal = |arguments: &[&str]| run_on_terminal(0, &folder, arguments);
    let live = ["live", "--config", "bot.toml", "--for", "16s", "--trades", "trades.csv"];
    let (shown, code) = on_terminal(&live);
    assert!([0, 6].contains(&code), "exit {code}: {}", String::from_utf8_lossy(&shown));
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
    outputs.extend(commands.iter().map(|arguments| (arguments.join(" "), on_terminal(arguments).0)));
    for (command, bytes) in &outputs {
        let text = String::from_utf8_lossy(bytes);
        assert_eq!(cursor_moves(bytes), [""; 0], "{command}: {text}");
        assert!(!overwrites(bytes), "{command}: {text}");
        assert_eq!(leak(bytes), None, "{command}: {text}");
        assert!(!bytes.is_empty() || command.contains("--quiet"), "{command}");
    }
    let id = "trade-1\\u{1b}]0;t\\u{7}\\u{1b}[2J\\u{9b}1A\\r\\n\\u{202e}\\u{200b}\\u{2028}[hidden]";
    for (command, part) in [
        ("live", id),
        ("explain 1 --config", id),
        ("trades --csv", "'=HYPERLINK('x')\\u{1b}]0;t\\u{7}\\u{202e}"),
        ("trades --json", "\\u202e"),
    ] {
        let (_, bytes) = outputs.iter().find(|(name, _)| name.starts_with(command)).unwrap();
        let text = String::from_utf8_lossy(bytes);
        assert!(text.contains(part), "no {part} in {command}: {text}");
    }
    for name in ["report.html", "trades.csv"] {
        let text = folder.read(name);
        let raw: Vec<char> = text.chars().filter(|letter| *letter != '\n' && is_hidden(*letter)).collect();
        assert!(name.ends_with("html") || raw.is_empty(), "{name}: {raw:?}");
        assert!(!raw.iter().any(|letter| HOSTILE.contains(*letter) && *letter != '\r'), "{name}: {raw:?}");
    }
    let entries = std::fs::read_dir(folder.path("")).unwrap().map(|file| file.unwrap().path());
    let files: Vec<_> = entries.filter(|path| path.is_file()).collect();
    assert!(files.len() >= 5, "{files:?}");
    for path in files {
        assert_eq!(leak(&std::fs::read(&path).unwrap()), None, "{}", path.display());
    }
}

#[test]
fn json_log_escapes_hidden_characters_and_reveals_no_credential() {
    let folder = folder().with_variable("CANDLEWICK_LOG__FORMAT", "json");
    let run = folder.run(&["live", "--config", "bot.toml", "--for", "8s"]);
    let is_raw = |letter: char| letter != '\n' && is_hidden(letter);
    assert!(!run.stderr.chars().any(is_raw), "{:?}", run.stderr);
    assert_eq!(leak(run.stderr.as_bytes()), None, "{}", run.stderr);
    let lines: Vec<Value> = run.stderr.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let opened = lines.iter().find(|line| line["event"] == "opened").unwrap();
    assert!(opened["venue_id"].as_str().unwrap().contains("[hidden]"), "{opened}");
    assert!(opened["bot"].as_str().unwrap().contains('\u{202e}'), "the text must decode: {opened}");
}
