//! `doctor`: each check runs against a real venue, journal and file, and has its mark.
#![cfg(unix)]

use crate::candlewick::{BOT, Folder, Run, candles};
use crate::consecutive_runs::{self, read_trades, venue_and_bot};
use crate::recording::write;
use crate::serving::Served;
use candlewick_journal::{Line, LineKind};
use candlewick_sdk::Millis;
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;
use std::time::Duration;

/// Part of each credential that the venue does not know.
const UNKNOWN: &str = "hush";

fn folder_with_bot(served: &Served, bot: &str) -> Folder {
    served.known_to(Folder::new().with("bot.toml", bot))
}

fn with_credentials(folder: Folder, token: &str, key: &str) -> Folder {
    folder
        .with_variable("CANDLEWICK_BROKER__API_TOKEN", token)
        .with_variable("CANDLEWICK_BROKER__API_KEY", key)
}

fn examine(folder: &Folder) -> Run {
    let run = folder.run(&["doctor", "--json", "--config", "bot.toml"]);
    assert!(!format!("{}{}", run.stdout, run.stderr).contains(UNKNOWN), "{}{}", run.stdout, run.stderr);
    run
}

/// Checks the exit code, and for each row the mark of the check's first finding and a value it names.
#[track_caller]
fn finds(run: &Run, code: i32, rows: &[(&str, &str, &str)]) {
    assert_eq!(run.code, code, "{}{}", run.stdout, run.stderr);
    let document: Value = serde_json::from_str(&run.stdout).unwrap();
    for (check, mark, part) in rows {
        let findings = document["findings"].as_array().unwrap();
        let found = findings.iter().find(|finding| finding["check"] == *check);
        let found = found.unwrap_or_else(|| panic!("no {check}: {document}"));
        assert_eq!(found["mark"], *mark, "{found}");
        assert!(found.to_string().contains(part), "no {part:?} in {found}");
    }
}

#[test]
fn all_checks_pass_at_a_healthy_venue_without_changing_anything() {
    let served = Served::start(&[]);
    let folder = folder_with_bot(&served, BOT);
    let document = examine(&folder).json();
    let findings = document["findings"].as_array().unwrap();
    assert_eq!(findings.len(), 15, "{document}");
    // The disk of the machine may be nearly full.
    assert!(findings.iter().all(|row| row["mark"] == "ok" || row["check"] == "disk"), "{document}");
    assert_eq!(folder.names(), ["bot.toml"]);
    let text = folder.run(&["doctor", "--config", "bot.toml"]).stdout;
    assert_eq!(text.lines().count(), findings.len(), "{text}");
}

#[test]
fn warns_if_the_request_limit_is_too_low_for_the_bots() {
    let bot = |number: usize| {
        BOT.replace("BTCUSDT", &format!("S{number}")).replace("\"btc", &format!("\"b{number}-"))
    };
    let folder = Folder::new().with("bot.toml", &(0..30).map(bot).collect::<String>());
    let setting = "broker.requests_per_second = 5";
    finds(&examine(&folder), 5, &[("requests", "warn", setting)]);
    let checked = folder.run(&["config", "check", "--json", "--config", "bot.toml"]).json();
    assert!(checked["notices"].to_string().contains(setting), "{checked}");
}

#[test]
fn each_unreachable_api_fails_once_and_skips_dependent_checks() {
    let nowhere = "http://127.0.0.1:1";
    let folder = Folder::new()
        .with("bot.toml", BOT)
        .with_variable("CANDLEWICK_BROKER__BASE_URL", nowhere)
        .with_variable("CANDLEWICK_BROKER__PRICE_URL", nowhere);
    let folder = with_credentials(folder, "hush-token", "hush-key");
    let rows = [
        ("trading_api", "fail", "broker.base_url"),
        ("price_api", "fail", "broker.price_url"),
        ("wallets", "warn", ""),
        ("open_trades", "warn", ""),
        ("candles", "warn", ""),
        ("clock_skew", "warn", ""),
    ];
    finds(&examine(&folder), 5, &rows);
}

#[test]
fn wrong_credentials_symbols_and_series_fail_where_they_are_used() {
    let served = Served::start(&[]);
    let (token, key) = (served.text("token"), served.text("api_key"));
    let bot = |from: &str, to: &str| BOT.replace(from, to);
    let unknown_strategy = [("configuration", "fail", "bots[0].strategy"), ("disk", "ok", "")];
    let unknown_token = [
        ("trading_api", "fail", "CANDLEWICK_BROKER__API_TOKEN"),
        ("wallets", "warn", ""),
        ("price_api", "ok", ""),
    ];
    let unknown_key =
        [("price_api", "fail", "CANDLEWICK_BROKER__API_KEY"), ("candles", "warn", ""), ("wallets", "ok", "")];
    for (config, token, key, rows) in [
        (BOT.to_owned(), "hush-4711", key, &unknown_token[..]),
        (BOT.to_owned(), token, "hush-4711", &unknown_key),
        (bot("BTCUSDT", "btc/usdt"), token, key, &[("price_api", "fail", "BTCUSDT")]),
        (bot("BTCUSDT", "GOLD"), token, key, &[("price_api", "fail", "GOLD")]),
        (bot("interval", "asset_type = \"otc\"\ninterval"), token, key, &[("candles", "fail", "asset_type")]),
        (bot("\"1m\"", "\"7s\""), token, key, &[("candles", "fail", "BTCUSDT 7s")]),
        (bot("rsi-reversal", "rsi"), token, key, &unknown_strategy),
    ] {
        finds(&examine(&with_credentials(folder_with_bot(&served, &config), token, key)), 5, rows);
    }
    let config = "[broker]\napi_token_file = \"token.secret\"\n".to_owned() + BOT;
    let folder = Folder::new().with("bot.toml", &config).with("token.secret", "hush-4711\n");
    std::fs::set_permissions(folder.path("token.secret"), PermissionsExt::from_mode(0o644)).unwrap();
    finds(&examine(&folder), 5, &[("credentials", "fail", "chmod 600 token.secret")]);
}

#[test]
fn names_only_open_trades_unknown_to_the_journal() {
    let (served, folder) = venue_and_bot("");
    let long = consecutive_runs::BOT
        .replace("\"00:01\"", "\"24:00:00\"")
        .replace("per_symbol = 5", "per_symbol = 1");
    let folder = folder.with("bot.toml", &long);
    let mut trading =
        folder.command(&["live", "--config", "bot.toml", "--quiet"]).stdout(Stdio::null()).spawn().unwrap();
    let has_opened = (0..600).any(|_| {
        std::thread::sleep(Duration::from_millis(100));
        read_trades(&folder, "candlewick.db").iter().any(|trade| !trade["venue_id"].is_null())
    });
    trading.kill().unwrap();
    trading.wait().unwrap();
    assert!(has_opened, "no trade was opened");
    finds(&examine(&folder), 0, &[("open_trades", "ok", ""), ("lease", "warn", "")]);
    let foreign = served.open(&json!({
        "isDemo": true, "symbol": "BTCUSDT", "direction": "BUY", "amount": 25, "closeType": "01:00:00", "expirationType": "TIME_FIXED",
    }));
    let warning = ("open_trades", "warn", foreign.as_str());
    finds(&examine(&folder), 0, &[warning]);
    let without_journal = folder.with_variable("CANDLEWICK_JOURNAL__URL", "sqlite://other.db");
    finds(&examine(&without_journal), 0, &[warning, ("journal", "ok", "other.db")]);
}

#[test]
fn fails_on_a_clock_difference_and_judges_candles_by_the_venue_clock() {
    let served = Served::start(&["--start", "2026-01-07"]);
    let rows = [("clock_skew", "fail", "set-ntp"), ("price_api", "ok", ""), ("candles", "ok", "")];
    finds(&examine(&folder_with_bot(&served, BOT)), 5, &rows);
}

#[test]
fn unreadable_configuration_is_the_only_finding() {
    let run = examine(&Folder::new().with("bot.toml", "[risk]\nmax_open = 1\n"));
    finds(&run, 5, &[("configuration", "fail", "risk.max_open")]);
    assert_eq!(run.stdout.matches("\"check\"").count(), 1, "{}", run.stdout);
}

fn folder_with_journal() -> Folder {
    let folder = Folder::new().with("bot.toml", BOT);
    let at = Millis::new(1_767_571_200_000);
    let note = |number: u32| {
        let body = format!("{{\"note\":\"entry {number}\"}}");
        Line { run: 1, kind: LineKind::Note, intent: None, at, received: at, body }
    };
    write(&folder.path("candlewick.db"), (0..3).map(note));
    folder
}

#[test]
fn verifies_the_journal() {
    let folder = folder_with_journal();
    finds(&examine(&folder), 5, &[("journal", "ok", "3 entries"), ("lease", "ok", "")]);
    let path = folder.path("candlewick.db");
    let mut bytes = std::fs::read(&path).unwrap();
    let at = bytes.windows(7).position(|window| window == b"entry 1").unwrap();
    bytes[at + 6] = b'7';
    std::fs::write(&path, bytes).unwrap();
    finds(&examine(&folder), 5, &[("journal", "fail", "entry 2")]);
    let folder = Folder::new().with("bot.toml", BOT).with("candlewick.db", "a text, and not a database");
    finds(&examine(&folder), 5, &[("journal", "fail", "journal.url")]);
    let folder = folder.with_variable("CANDLEWICK_JOURNAL__URL", "sqlite://no/such/folder.db");
    finds(&examine(&folder), 5, &[("disk", "fail", "mkdir -p")]);
}

#[test]
fn warns_of_gaps_in_candle_files_and_of_a_halt_file() {
    let served = Served::start(&[]);
    let whole = candles(50);
    let lines: Vec<&str> = whole.lines().collect();
    let holed = [&lines[..10], &lines[13..]].concat().join("\n");
    let config = "[sandbox]\ndata = [\"BTCUSDT_1m.csv\"]\n".to_owned() + BOT;
    let folder = folder_with_bot(&served, &config).with("BTCUSDT_1m.csv", &whole);
    finds(&examine(&folder), 0, &[("data", "ok", "50"), ("control", "ok", "")]);
    let folder = folder.with("BTCUSDT_1m.csv", &holed).with("candlewick.db.HALT", "news at noon\n");
    finds(&examine(&folder), 0, &[("data", "warn", "2026-01-05 00:09"), ("control", "warn", "news at noon")]);
    let folder = folder.with("BTCUSDT_1m.csv", "time\n");
    finds(&examine(&folder), 5, &[("data", "fail", "BTCUSDT_1m.csv")]);
}

#[test]
fn embedded_venue_works_without_root_certificates_and_doctor_names_the_package() {
    let addresses = "[broker]\nbase_url = \"https://trading.test\"\nprice_url = \"https://prices.test\"\n";
    let folder = Folder::new()
        .with("bot.toml", &format!("{addresses}{BOT}"))
        .with_variable("SSL_CERT_FILE", "/nowhere/roots.pem")
        .with_variable("SSL_CERT_DIR", "/nowhere");
    assert_eq!(folder.run(&["config", "check", "--config", "bot.toml"]).code, 0);
    assert_eq!(folder.run(&["live", "--sandbox", "--for", "2s", "--config", "bot.toml"]).code, 0);
    finds(&examine(&folder), 5, &[("configuration", "fail", "ca-certificates")]);
}
