//! What a person reads before a first run, and when something is in the way of one.
#![cfg(unix)]

use crate::candlewick::{BOT, Folder, Run, candles};
use crate::serving::Served;
use crate::two_runs::{self, trades_of, venue_and_bot};
use candlewick_journal::{Holder, JournalUrl, Line, LineKind, Store};
use candlewick_sdk::Millis;
use serde_json::Value;
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;
use std::time::Duration;

/// A folder with a bot that would trade on this sandbox, by these credentials.
fn folder(served: &Served, (token, key): (&str, &str), bot: &str) -> Folder {
    let url = served.text("base_url");
    Folder::new()
        .with("bot.toml", bot)
        .with_variable("CANDLEWICK_BROKER__BASE_URL", url)
        .with_variable("CANDLEWICK_BROKER__PRICE_URL", url)
        .with_variable("CANDLEWICK_BROKER__API_TOKEN", token)
        .with_variable("CANDLEWICK_BROKER__API_KEY", key)
}

fn sound(served: &Served) -> Folder {
    folder(served, (served.text("token"), served.text("api_key")), BOT)
}

/// The findings of a check, each as its mark, its text and its remedy in one.
fn findings(run: &Run, check: &str) -> Vec<String> {
    let document: Value = serde_json::from_str(&run.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}{}", run.stdout, run.stderr));
    let all = document["findings"].as_array().unwrap();
    let text = |finding: &Value| {
        let part = |key: &str| finding[key].as_str().unwrap_or_default().to_owned();
        format!("{}: {} -> {}", part("mark"), part("text"), part("remedy"))
    };
    all.iter().filter(|finding| finding["check"] == check).map(text).collect()
}

fn examine(folder: &Folder) -> Run {
    folder.run(&["doctor", "--json", "--config", "bot.toml"])
}

/// Asserts the one finding of a check, and the exit code that the worst of all leads to.
#[track_caller]
fn finds(run: &Run, code: i32, check: &str, parts: &[&str]) {
    assert_eq!(run.code, code, "{}{}", run.stdout, run.stderr);
    let found = findings(run, check);
    assert_eq!(found.len(), 1, "{found:?}");
    for part in parts {
        assert!(found[0].contains(part), "no {part:?} in: {}", found[0]);
    }
}

#[test]
fn before_the_first_run_all_is_well_on_a_venue_that_answers() {
    let served = Served::start(&[]);
    let folder = sound(&served);
    let run = examine(&folder);
    let bots = ["ok: bot.toml; 1 bot"];
    let printed: [(&str, &[&str]); 15] = [
        ("configuration", &bots),
        ("requests", &["ok: requests a second", " of broker.requests_per_second = 5;"]),
        ("credentials", &["ok: api-token from environment, api-key from environment"]),
        ("trading_api", &["ok: http://127.0.0.1:", "knows the token of user "]),
        ("wallets", &["ok: the DEMO wallet holds 10000 "]),
        ("open_trades", &["ok: none is open at the venue"]),
        ("price_api", &["ok: BTCUSDT: ", " s old"]),
        ("candles", &["ok: BTCUSDT 1m: ", " of 60 closed candles of the last 60 min; the forming one is "]),
        ("clock_skew", &["ok: the venue's clock is ", "allows 2000 ms"]),
        ("disk", &[" can be written; ", " MiB free"]),
        ("journal", &["ok: there is none yet: the first run begins sqlite://candlewick.db"]),
        ("lease", &["ok: nobody holds the journal"]),
        ("control", &["ok: no bot listens at candlewick.db.sock"]),
        ("data", &["ok: no files are configured"]),
        ("time_zones", &["ok: the day of the limits starts at 00:00 UTC"]),
    ];
    for (check, parts) in printed {
        finds(&run, 0, check, parts);
    }
    let names = std::fs::read_dir(folder.path(".")).unwrap().map(|entry| entry.unwrap().file_name());
    assert_eq!(names.collect::<Vec<_>>(), ["bot.toml"], "a look changes nothing");
    // For people, one line each.
    let run = folder.run(&["doctor", "--config", "bot.toml"]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    assert_eq!(run.stdout.lines().count(), 15);
    assert!(run.stdout.lines().all(|line| line.starts_with("ok    ") || line.starts_with("warn  ")));
}

#[test]
fn more_symbols_than_the_venue_is_asked_for_in_time_are_warned_of() {
    let bot = |number: usize| {
        BOT.replace("BTCUSDT", &format!("S{number}")).replace("\"btc", &format!("\"b{number}-"))
    };
    let bots: String = (0..30).map(bot).collect();
    let folder = Folder::new().with("bot.toml", &bots);
    let parts = ["broker.requests_per_second = 5 is too low for these bots", "set it to ", "fewer series"];
    finds(&examine(&folder), 5, "requests", &["warn: requests a second", parts[0], parts[1], parts[2]]);
    let checked = folder.run(&["config", "check", "--config", "bot.toml"]);
    assert_eq!(checked.code, 0, "{}", checked.stderr);
    for part in parts.into_iter().chain(["requests a second"]) {
        assert!(checked.stdout.contains(part), "no {part:?} in {}", checked.stdout);
    }
    let notices =
        folder.run(&["config", "check", "--json", "--config", "bot.toml"]).json()["notices"].to_string();
    assert!(notices.contains(parts[0]), "{notices}");
}

#[test]
fn without_a_network_each_api_fails_once_with_what_to_do() {
    let folder = Folder::new()
        .with("bot.toml", BOT)
        .with_variable("CANDLEWICK_BROKER__BASE_URL", "http://127.0.0.1:1")
        .with_variable("CANDLEWICK_BROKER__PRICE_URL", "http://127.0.0.1:1")
        .with_variable("CANDLEWICK_BROKER__API_TOKEN", "hush-token")
        .with_variable("CANDLEWICK_BROKER__API_KEY", "hush-key");
    let run = examine(&folder);
    finds(&run, 5, "trading_api", &["fail: http://127.0.0.1:1: ", "check broker.base_url and the network"]);
    finds(&run, 5, "price_api", &["fail: http://127.0.0.1:1: ", "check broker.price_url and the network"]);
    for check in ["wallets", "open_trades", "candles", "clock_skew"] {
        finds(&run, 5, check, &["warn: not "]);
    }
    let document: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!((&document["failed"], &document["warned"]), (&2.into(), &4.into()));
    assert!(run.stderr.contains("2 of 15 checks failed"), "{}", run.stderr);
    let people = folder.run(&["doctor", "--config", "bot.toml"]);
    assert_eq!(people.code, 5);
    assert_eq!(people.stdout.lines().filter(|line| line.starts_with("FAIL  ")).count(), 2);
    assert!(!format!("{}{}{}", run.stdout, run.stderr, people.stdout).contains("hush"));
}

#[test]
fn a_token_or_key_that_the_venue_does_not_know_is_distinguished_from_a_dead_venue() {
    let served = Served::start(&[]);
    let run = examine(&folder(&served, ("hush-4711", served.text("api_key")), BOT));
    finds(
        &run,
        5,
        "trading_api",
        &["fail: ", "credentials are not accepted", "CANDLEWICK_BROKER__API_TOKEN"],
    );
    finds(&run, 5, "wallets", &["warn: not asked"]);
    finds(&run, 5, "price_api", &["ok: "]);
    assert!(!run.stdout.contains("hush"), "{}", run.stdout);
    let run = examine(&folder(&served, (served.text("token"), "hush-4711"), BOT));
    finds(&run, 5, "price_api", &["fail: ", "credentials are not accepted", "CANDLEWICK_BROKER__API_KEY"]);
    finds(&run, 5, "candles", &["warn: not asked"]);
    finds(&run, 5, "wallets", &["ok: "]);
}

#[test]
fn credentials_that_are_missing_or_open_to_others_fail() {
    let missing = examine(&Folder::new().with("bot.toml", BOT));
    let found = findings(&missing, "credentials");
    assert!(
        found[0].contains("fail: there is no api-token -> set CANDLEWICK_BROKER__API_TOKEN"),
        "{found:?}"
    );
    assert!(found[1].contains("fail: there is no api-key -> set CANDLEWICK_BROKER__API_KEY"), "{found:?}");
    finds(&missing, 5, "trading_api", &["warn: not asked: there is no api-token"]);
    finds(&missing, 5, "price_api", &["warn: not asked: there is no api-key"]);
    let config = "[broker]\napi_token_file = \"token.secret\"\n".to_owned() + BOT;
    let folder = Folder::new().with("bot.toml", &config).with("token.secret", "hush-4711\n");
    let rights = std::fs::Permissions::from_mode(0o644);
    std::fs::set_permissions(folder.path("token.secret"), rights).unwrap();
    let run = examine(&folder);
    finds(&run, 5, "credentials", &["fail: broker.api_token_file = token.secret", "chmod 600 token.secret"]);
    finds(&run, 5, "configuration", &["ok: "]);
}

#[test]
fn a_pair_or_a_series_that_the_venue_does_not_have_is_reported_with_what_it_has() {
    let served = Served::start(&[]);
    let with_bot = |from: &str, to: &str| {
        examine(&folder(&served, (served.text("token"), served.text("api_key")), &BOT.replace(from, to)))
    };
    let run = with_bot("BTCUSDT", "btc/usdt");
    finds(&run, 5, "price_api", &["fail: btc/usdt: there is no such pair", "did you mean \"BTCUSDT\"?"]);
    let run = with_bot("BTCUSDT", "GOLD");
    finds(&run, 5, "price_api", &["fail: GOLD: there is no such pair", "check the bots' symbol"]);
    let run = with_bot("interval", "asset_type = \"otc\"\ninterval");
    finds(&run, 5, "price_api", &["ok: "]);
    finds(
        &run,
        5,
        "candles",
        &["fail: BTCUSDT 1m: ", "asset_type (\"otc\"; crypto, forex and otc are known)"],
    );
    let run = with_bot("\"1m\"", "\"7s\"");
    finds(&run, 5, "candles", &["fail: BTCUSDT 7s: ", "its interval"]);
}

/// The journal of a bot that has not run yet knows none.
#[test]
fn a_trade_of_somebody_else_that_is_open_at_the_venue_is_named() {
    let served = Served::start(&[]);
    let order = serde_json::json!({
        "isDemo": true, "symbol": "BTCUSDT", "direction": "BUY", "amount": 25, "closeType": "01:00:00", "expirationType": "TIME_FIXED",
    });
    let id = served.open(&order);
    let text = format!(
        "warn: 1 trade is open at the venue, and the journal does not know 1 of them: {id} (BTCUSDT)"
    );
    finds(&examine(&sound(&served)), 0, "open_trades", &[&text, "another program trade this account?"]);
}

#[test]
fn a_trade_that_a_run_opened_is_known_by_its_journal() {
    let (served, folder) = venue_and_bot("");
    let long = two_runs::BOT.replace("\"00:01\"", "\"24:00:00\"").replace("per_symbol = 5", "per_symbol = 1");
    let folder = folder.with("bot.toml", &long);
    let mut trading =
        folder.command(&["live", "--config", "bot.toml", "--quiet"]).stdout(Stdio::null()).spawn().unwrap();
    let has_opened = (0..600).any(|_| {
        std::thread::sleep(Duration::from_millis(100));
        trades_of(&folder, "candlewick.db").iter().any(|trade| !trade["venue_id"].is_null())
    });
    trading.kill().unwrap();
    trading.wait().unwrap();
    assert!(has_opened, "no trade was opened");
    finds(
        &examine(&folder),
        0,
        "open_trades",
        &["ok: 1 trade is open at the venue, and the journal knows each"],
    );
    let order = serde_json::json!({
        "isDemo": true, "symbol": "BTCUSDT", "direction": "BUY", "amount": 25, "closeType": "01:00:00", "expirationType": "TIME_FIXED",
    });
    let id = served.open(&order);
    let text = format!(
        "warn: 2 trades are open at the venue, and the journal does not know 1 of them: {id} (BTCUSDT)"
    );
    finds(&examine(&folder), 0, "open_trades", &[&text]);
}

#[test]
fn clocks_that_differ_beyond_the_limit_fail_and_the_venues_decides_what_is_recent() {
    let served = Served::start(&["--start", "2026-01-07"]);
    let run = examine(&sound(&served));
    finds(&run, 5, "clock_skew", &["fail: the venue's clock is -", "NTP"]);
    finds(&run, 5, "price_api", &["ok: "]);
    finds(&run, 5, "candles", &["ok: BTCUSDT 1m: "]);
}

#[test]
fn a_configuration_that_cannot_be_read_is_the_only_finding() {
    let folder = Folder::new().with("bot.toml", "[risk]\nmax_open = 1\n");
    let run = examine(&folder);
    finds(&run, 5, "configuration", &["fail: risk.max_open (bot.toml)", "config check"]);
    assert!(run.stdout.matches("\"check\"").count() == 1, "{}", run.stdout);
    let folder = Folder::new().with("bot.toml", &BOT.replace("rsi-reversal", "rsi"));
    let run = examine(&folder);
    finds(&run, 5, "configuration", &["fail: bots[0].strategy = \"rsi\""]);
    finds(&run, 5, "disk", &["can be written"]);
}

/// How a run ends.
#[derive(PartialEq)]
enum End {
    /// It gives the journal back.
    Clean,
    /// It dies.
    Sudden,
}

/// Makes a journal, or goes on with it, as a run does.
fn keep_journal(folder: &Folder, end: &End) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let url = JournalUrl::from_path(&folder.path("candlewick.db"));
        let now = std::time::UNIX_EPOCH.elapsed().unwrap().as_millis();
        let now = Millis::new(i64::try_from(now).unwrap());
        let mut store = Store::open(&url, &Holder::of_this_process("some bot")).await.unwrap();
        for number in 0..3 {
            let body = format!("{{\"note\":\"entry {number}\"}}");
            store.record(Line { run: 1, kind: LineKind::Note, intent: None, at: now, received: now, body });
        }
        store.commit().await.unwrap();
        if *end == End::Clean {
            store.close().await.unwrap();
        }
    });
}

#[test]
fn a_journal_is_verified_and_its_holder_named() {
    let folder = Folder::new().with("bot.toml", BOT);
    keep_journal(&folder, &End::Clean);
    let run = examine(&folder);
    finds(&run, 5, "journal", &["ok: sqlite://candlewick.db holds 3 entries, and their chain is whole"]);
    finds(&run, 5, "lease", &["ok: nobody holds the journal"]);
    keep_journal(&folder, &End::Sudden);
    let run = examine(&folder);
    finds(&run, 5, "journal", &["ok: sqlite://candlewick.db holds 6 entries"]);
    finds(&run, 5, "lease", &["ok: some bot (process ", "holds the journal"]);
}

#[test]
fn a_journal_that_was_edited_or_is_none_fails() {
    let folder = Folder::new().with("bot.toml", BOT);
    keep_journal(&folder, &End::Clean);
    let path = folder.path("candlewick.db");
    let mut bytes = std::fs::read(&path).unwrap();
    let at = bytes.windows(7).position(|window| window == b"entry 1").unwrap();
    bytes[at + 6] = b'7';
    std::fs::write(&path, bytes).unwrap();
    let run = examine(&folder);
    finds(&run, 5, "journal", &["fail: sqlite://candlewick.db is broken at entry 2", "trust no figure"]);
    let run = examine(&Folder::new().with("bot.toml", BOT).with("candlewick.db", "a poem, and no database"));
    finds(&run, 5, "journal", &["fail: sqlite://candlewick.db is not a journal", "correct journal.url"]);
    let config = "[journal]\nurl = \"sqlite://no/such/folder.db\"\n".to_owned() + BOT;
    let run = examine(&Folder::new().with("bot.toml", &config));
    finds(&run, 5, "disk", &["fail: there is no folder ", "mkdir -p "]);
}

#[test]
fn holes_in_candle_files_and_a_halt_file_are_worth_a_word() {
    let served = Served::start(&[]);
    let whole = candles(50);
    let lines: Vec<&str> = whole.lines().collect();
    let holed = [&lines[..10], &lines[13..]].concat().join("\n");
    let config = "[sandbox]\ndata = [\"BTCUSDT_1m.csv\"]\n".to_owned() + BOT;
    let bot = folder(&served, (served.text("token"), served.text("api_key")), &config);
    let bot = bot.with("BTCUSDT_1m.csv", &whole);
    finds(&examine(&bot), 0, "data", &["ok: BTCUSDT 1m: 50 candles, 2026-01-05 00:00 to 2026-01-05 00:50"]);
    let bot = bot.with("BTCUSDT_1m.csv", &holed).with("candlewick.db.HALT", "news at noon\n");
    let run = examine(&bot);
    let gap = "other gaps: 1, the longest of 3 candles from 2026-01-05 00:09";
    finds(&run, 0, "data", &["warn: BTCUSDT 1m: 47 candles", gap, "NoPrice"]);
    let control = findings(&run, "control");
    assert!(control[0].contains("warn: ") && control[0].contains("news at noon"), "{control:?}");
    assert!(control[0].contains("`candlewick resume`"), "{control:?}");
    finds(
        &examine(&bot.with("BTCUSDT_1m.csv", "time\n")),
        5,
        "data",
        &["fail: BTCUSDT_1m.csv", "sandbox.data"],
    );
}

/// A bare system or container has no root certificates.
#[test]
fn a_system_without_root_certificates_may_check_and_trade_the_embedded_venue_and_doctor_names_them() {
    let addresses = "[broker]\nbase_url = \"https://trading.test\"\nprice_url = \"https://prices.test\"\n";
    let bot = "[[bots]]\nname = \"a\"\nsymbol = \"BTCUSDT\"\ninterval = \"1m\"\nstrategy = \"rsi-reversal\"\nclose_type = \"01:00\"\nstake = { kind = \"fixed\", amount = 1.0 }\n";
    let folder = Folder::new()
        .with("bot.toml", &format!("{addresses}{bot}"))
        .with_variable("SSL_CERT_FILE", "/nowhere/roots.pem")
        .with_variable("SSL_CERT_DIR", "/nowhere");
    let config = ["--config", "bot.toml"];
    assert_eq!(folder.run(&[&["config", "check"], &config[..]].concat()).code, 0);
    let live = ["live", "--sandbox", "--for", "2s"];
    assert_eq!(folder.run(&[&live[..], &config].concat()).code, 0);
    let doctor = folder.run(&[&["doctor"], &config[..]].concat());
    assert_ne!(doctor.code, 0);
    assert!(doctor.stdout.contains("ca-certificates"), "{}", doctor.stdout);
}
