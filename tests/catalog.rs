//! The candle catalog: ranges, exports, and its use by backtests.

use crate::candlewick::{BACKTEST, BOT, Folder, candles, folder_with_bot};
use crate::excerpt::{HEADER, MONDAY};
use serde_json::{Value, json};

const GENERATE: [&str; 8] =
    ["data", "generate", "--symbol", "BTCUSDT", "--days", "2", "--catalog", "candles"];

fn generate(folder: &Folder, symbol: &str) {
    let generate = ["data", "generate", "--symbol", symbol, "--days", "1", "--catalog"];
    assert_eq!(folder.run(&generate).code, 0, "{symbol}");
}

fn import(folder: &Folder, file: &str, catalog: &str) {
    let run = folder.run(&["data", "import", file, "--catalog", catalog]);
    assert_eq!(run.code, 0, "{}", run.stderr);
}

#[test]
fn backtest_on_the_catalog_equals_the_one_on_the_file() {
    let folder = folder_with_bot("1m", "1m");
    folder.run(&GENERATE);
    folder.run(&["data", "export", "BTCUSDT@1m", "--catalog", "candles", "--out", "two_1m.csv"]);
    let run = |data: &[&str]| {
        let mut report = folder.run(&[&["backtest", "--config", "bot.toml", "--json"], data].concat()).json();
        for key in ["elapsed_ms", "candles_per_second"] {
            report.as_object_mut().unwrap().remove(key);
        }
        report
    };
    run(&["--catalog", "candles"]);
    let file = run(&["--data", "BTCUSDT@1m=two_1m.csv"]);
    let catalog = folder.run(&["data", "list", "--catalog", "candles", "--json"]).json();
    assert_eq!((&catalog[0]["data_hash"], &file["candles"]), (&file["data_hash"], &json!(2_880)));
    for data in [
        &["--catalog", "candles"][..],
        &["--catalog", "candles", "--data", "BTCUSDT@1m"],
        &["--data", "BTCUSDT@1m=two_1m.csv"],
    ] {
        assert_eq!(run(data), file, "{data:?}");
    }
    let day = ["--from", "2026-01-06", "--to", "2026-01-07"];
    let part = run(&[&["--catalog", "candles"], &day[..]].concat());
    assert_eq!(part["candles"], 1_440);
    assert_eq!(run(&[&["--data", "BTCUSDT@1m=two_1m.csv"], &day[..]].concat()), part);
}

#[test]
fn uses_the_configured_catalog_if_it_has_the_series_of_a_bot() {
    let folder = Folder::new().with("bot.toml", BOT);
    let backtest = ["backtest", "--config", "bot.toml", "--json"];
    let count = |candles: i64| assert_eq!(folder.run(&backtest).json()["candles"], candles);
    count(20_160);
    generate(&folder, "ETHUSDT");
    let missing = folder.run(&backtest);
    missing.fails(3, &["BTCUSDT 1m for bot \"btc\"", "ETHUSDT 1m", "--symbol BTCUSDT --interval 1m"]);
    generate(&folder, "BTCUSDT");
    count(1_440);
    folder.run(&[&backtest[..], &["--catalog", "nowhere"]].concat()).fails(3, &["the catalog nowhere"]);
}

#[test]
fn range_ignores_detail_of_other_days_but_uses_their_candles() {
    let folder = Folder::new().with("bot.toml", BOT);
    let run = |range: [&str; 2]| {
        folder.run(&["backtest", "--config", "bot.toml", "--json", "--from", range[0], "--to", range[1]])
    };
    // The synthetic candles have detail from the 15th on.
    assert_eq!(run(["2026-01-06", "2026-01-07"]).json()["candles"], 1_440);
    assert_eq!(run(["2026-01-14T12:00:00Z", "2026-01-15T12:00:00Z"]).json()["candles"], 1_440);
    run(["2026-02-01", "2026-02-02"]).fails(3, &["BTCUSDT 1m", "--from", "--to"]);
}

#[test]
fn caches_a_file_once_and_never_with_the_cache_disabled() {
    let folder = folder_with_bot("1m", "1m");
    for _ in 0..2 {
        assert_eq!(folder.run(&BACKTEST).code, 0);
    }
    assert_eq!(std::fs::read_dir(folder.path(".cache/candlewick")).unwrap().count(), 1);
    let uncached = folder_with_bot("1m", "1m").with_variable("CANDLEWICK_DATA__CACHE", "");
    assert_eq!(uncached.run(&BACKTEST).code, 0);
    assert!(!uncached.path(".cache").exists());
}

fn seconds() -> String {
    let row = |second: i64| format!("{},100,101,99,{},1\n", MONDAY + second * 1_000, 100 + second % 2);
    HEADER.to_owned() + &(0..12).map(row).collect::<String>()
}

#[test]
fn short_recording_does_not_upgrade_a_run_with_short_expiries_to_fine() {
    let row = |slot: i64| {
        let (minute, price) = (slot / 12, 100 + slot / 12 % 7);
        let close = price + if slot % 12 == 11 { minute % 2 } else { slot % 2 };
        format!("{},{price},{},{price},{close},1\n", MONDAY + slot * 5_000, price + 1)
    };
    let folder = folder_with_bot("01:00", "00:30")
        .with("BTCUSDT_1s.csv", &seconds())
        .with("BTCUSDT_5s.csv", &(HEADER.to_owned() + &(0..600).map(row).collect::<String>()));
    import(&folder, "BTCUSDT_1m.csv", "short");
    import(&folder, "BTCUSDT_1s.csv", "short");
    let run = |arguments: &[&str]| folder.run(&[arguments, &["--config", "bot.toml", "--json"]].concat());
    let uncovered = ["2026-01-05T00:00:12.000Z", "2026-01-05T00:50:00.000Z"];
    run(&["backtest", "--catalog", "short"]).fails(2, &["bots[0].close_type = \"00:30\""]);
    run(&["sweep", "--param", "period=2..3", "--catalog", "short"]).fails(2, &uncovered);
    let notices = |arguments: &[&str]| run(arguments).json()["notices"].to_string();
    assert!(notices(&["backtest", "--catalog", "short", "--allow-coarse"]).contains("too coarse"));
    for file in ["BTCUSDT_1m.csv", "BTCUSDT_1s.csv", "BTCUSDT_5s.csv"] {
        import(&folder, file, "full");
    }
    assert!(!notices(&["backtest", "--catalog", "full"]).contains("coarse"));
}

#[test]
fn few_recorded_seconds_do_not_replace_minute_prices_of_a_five_minute_bot() {
    let folder = Folder::new().with("bot.toml", &BOT.replace("\"1m\"", "\"5m\"").replace("01:00", "05:00"));
    let folder = folder.with("BTCUSDT_1m.csv", &candles(600)).with("BTCUSDT_1s.csv", &seconds());
    let run = |more: &[&str]| {
        let run = folder.run(&[&BACKTEST[..], &["--trades", "trades.csv"], more].concat());
        assert_eq!(run.code, 0, "{}", run.stderr);
        folder.read("trades.csv")
    };
    let minutes = run(&[]);
    assert!(minutes.lines().count() > 10, "{minutes:?}");
    assert_eq!(run(&["--data", "BTCUSDT_1s.csv"]), minutes);
}

#[test]
fn built_in_bots_use_the_catalog_only_if_it_has_all_their_series() {
    let folder = Folder::new();
    let report = || folder.run(&["backtest", "--json"]).json();
    generate(&folder, "BTCUSDT");
    generate(&folder, "GBPUSD");
    let synthetic = report();
    assert!(synthetic["notices"].to_string().contains("EURUSD 1m"), "{synthetic}");
    assert_ne!(synthetic["candles"], 3 * 1_440);
    folder.run(&["backtest", "--catalog", "data"]).fails(3, &["EURUSD 1m", "EURUSD@1m"]);
    generate(&folder, "EURUSD");
    assert_eq!(report()["candles"], 3 * 1_440);
}

#[test]
fn reports_missing_candles_with_the_available_ones() {
    let folder = Folder::new();
    folder.run(&GENERATE);
    folder.run(&GENERATE).fails(2, &["BTCUSDT 1m", "--force"]);
    assert_eq!(folder.run(&[&GENERATE[..], &["--force", "--seed", "2"]].concat()).code, 0);
    let export = |arguments: &[&str]| {
        folder.run(&[&["data", "export", "--force", "--json", "--catalog", "candles"], arguments].concat())
    };
    let there = "BTCUSDT@1m in versions 1, 2";
    for (arguments, code, parts) in [
        (&["BTCUSD@1m", "--out", "x.csv"][..], 3, &["BTCUSD 1m", there][..]),
        (&["BTCUSDT@30s", "--out", "x.csv"], 3, &["BTCUSDT 30s", there]),
        (&["BTCUSDT@1m", "--version", "3", "--out", "x.csv"], 3, &["version 3", there]),
        (&["BTCUSDT@1m", "--from", "2027-01-01", "--out", "x.csv"], 3, &["2026-01-05T00:00:00.000Z"]),
        (&["BTCUSDT@1m", "--out", "x.txt"], 2, &["--out x.txt", ".parquet"]),
        (&["BTCUSDT@1m", "--out", "missing/x.csv"], 3, &["missing/x.csv"]),
    ] {
        export(arguments).fails(code, parts);
    }
    let empty = ["data", "export", "BTCUSDT@1m", "--catalog", "nowhere", "--out", "x.csv"];
    folder.run(&empty).fails(3, &["nowhere", "data fetch"]);
    assert_eq!(export(&["BTCUSDT@5m", "--out", "five.csv"]).json()["candles"], 576);
}

#[test]
fn broken_series_leaves_the_others_visible() {
    let folder = Folder::new();
    for symbol in ["BTCUSDT", "ETHUSDT", "SOLUSDT"] {
        generate(&folder, symbol);
    }
    // For a market with closing hours, candles are read to count the missing ones.
    let euro = format!("{HEADER}1767571200000,1,1,1,1,1\n1767571320000,1,1,1,1,1\n");
    std::fs::write(folder.path("EURUSD_1m.csv"), euro).unwrap();
    import(&folder, "EURUSD_1m.csv", "data");
    let parquet = |symbol: &str| {
        let entries = std::fs::read_dir(folder.path(&format!("data/{symbol}/1m"))).unwrap();
        let mut files = entries.map(|entry| entry.unwrap().path());
        files.find(|path| path.extension().is_some_and(|ending| ending == "parquet")).unwrap()
    };
    std::fs::write(folder.path("data/BTCUSDT/1m/manifest.json"), "{").unwrap();
    std::fs::remove_file(parquet("ETHUSDT")).unwrap();
    std::fs::write(parquet("EURUSD"), "no candles").unwrap();
    let rows = |command: &str, parts: [&str; 2]| {
        let run = folder.run(&["data", command, "--json"]);
        assert_eq!(run.code, 3, "{}", run.stderr);
        assert!(parts.iter().all(|part| run.stderr.contains(part)), "no {parts:?} in {}", run.stderr);
        let rows: Vec<Value> = serde_json::from_str(&run.stdout).unwrap();
        rows.iter().map(|row| json!([row["symbol"], row["candles"], row["missing"]])).collect::<Vec<_>>()
    };
    let [ether, euro, sol] =
        [json!(["ETHUSDT", 1_440, 0]), json!(["EURUSD", 2, null]), json!(["SOLUSDT", 1_440, 0])];
    let manifest = "BTCUSDT/1m/manifest.json";
    assert_eq!(rows("list", [manifest, "EURUSD/1m/"]), [ether, euro, sol.clone()]);
    assert_eq!(rows("check", [manifest, "ETHUSDT/1m/"]), [sol]);
    std::fs::write(folder.path("bot.toml"), BOT.replace("BTCUSDT", "SOLUSDT")).unwrap();
    assert_eq!(folder.run(&["backtest", "--config", "bot.toml", "--json"]).json()["candles"], 1_440);
}
