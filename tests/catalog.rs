//! Stored candles as a user keeps them: the catalog, its ranges, its exports, and what a backtest takes from it.

use crate::candlewick::{BACKTEST, BOT, Folder, Run, candles, folder_with_bot, repository};
use serde_json::Value;

/// 2026-01-05 00:00 UTC.
const MONDAY: i64 = 1_767_571_200_000;
const GENERATE: [&str; 8] =
    ["data", "generate", "--symbol", "BTCUSDT", "--days", "2", "--catalog", "candles"];

fn hash(answer: &Value) -> &str {
    answer["data_hash"].as_str().unwrap()
}

#[test]
fn an_export_from_format_to_format_comes_back_byte_for_byte() {
    for name in ["BTCUSDT_1m.csv", "EURUSD_5s.csv"] {
        let shipped = std::fs::read_to_string(repository().join("backtest-data").join(name)).unwrap();
        let folder = Folder::new().with(name, &shipped);
        let (series, _) = name.split_once('.').unwrap();
        let [parquet, back] = [format!("{series}.parquet"), format!("back_{name}")];
        let first = folder.run(&["data", "export", name, "--out", &parquet, "--json"]).json();
        let second = folder.run(&["data", "export", &parquet, "--out", &back, "--json"]).json();
        assert_eq!(folder.read(&back), shipped);
        assert_eq!(hash(&first), hash(&second));
    }
}

#[test]
fn a_backtest_on_the_catalog_is_the_one_on_the_file() {
    let folder = folder_with_bot("1m", "1m");
    let listed = folder.run(&GENERATE);
    assert_eq!(listed.code, 0, "{}", listed.stderr);
    folder.run(&["data", "export", "BTCUSDT@1m", "--catalog", "candles", "--out", "two_1m.csv"]);
    let run = |data: &[&str]| {
        let mut report = folder.run(&[&["backtest", "--config", "bot.toml", "--json"], data].concat()).json();
        for key in ["elapsed_ms", "candles_per_second"] {
            report.as_object_mut().unwrap().remove(key);
        }
        report
    };
    // The first run begins the ledger of variants, and says so.
    run(&["--catalog", "candles"]);
    let file = run(&["--data", "BTCUSDT@1m=two_1m.csv"]);
    assert_eq!(run(&["--catalog", "candles"]), file);
    assert_eq!(run(&["--catalog", "candles", "--data", "BTCUSDT@1m"]), file);
    let catalog = folder.run(&["data", "list", "--catalog", "candles", "--json"]).json();
    assert_eq!(hash(&catalog[0]), hash(&file));
    // The cache of the catalog and that of the file are there by now.
    assert_eq!(run(&["--catalog", "candles"]), file);
    assert_eq!(run(&["--data", "BTCUSDT@1m=two_1m.csv"]), file);
    let day = ["--from", "2026-01-06", "--to", "2026-01-07"];
    let part = run(&[&["--catalog", "candles"], &day[..]].concat());
    assert_eq!(part["candles"], 1_440);
    assert_eq!(run(&[&["--data", "BTCUSDT@1m=two_1m.csv"], &day[..]].concat()), part);
}

#[test]
fn the_catalog_of_the_configuration_is_used_where_it_has_a_bots_series() {
    let folder = Folder::new().with("bot.toml", BOT);
    let backtest = ["backtest", "--config", "bot.toml", "--json"];
    let count = |candles: i64| assert_eq!(folder.run(&backtest).json()["candles"], candles);
    count(20_160);
    folder.run(&["data", "generate", "--symbol", "ETHUSDT", "--catalog"]);
    let absent =
        "there are no candles of BTCUSDT 1m for bot \"btc\" in the catalog data; there are: ETHUSDT 1m";
    folder
        .run(&backtest)
        .fails(3, &[absent, "candlewick data generate --symbol BTCUSDT --interval 1m --catalog"]);
    folder.run(&["data", "generate", "--symbol", "BTCUSDT", "--days", "1", "--catalog"]);
    count(1_440);
    let text = folder.run(&["backtest", "--config", "bot.toml"]).stdout;
    assert!(text.contains("1440, 2026-01-05 00:00 to 2026-01-06 00:00, "), "{text}");
    assert!(!text.contains("is not used"), "{text}");
    let other = ["--catalog", "nowhere"];
    folder.run(&[&backtest[..], &other].concat()).fails(
        3,
        &["the catalog nowhere holds no candles of the bots' symbols; it holds: nothing", "data generate"],
    );
}

#[test]
fn a_misspelled_symbol_is_answered_with_the_names_of_the_catalog() {
    let bot = |symbol: &str| BOT.replace("BTCUSDT", symbol);
    let folder = Folder::new().with("eth.toml", &bot("ETHUSDTX")).with("gold.toml", &bot("XAUUSD"));
    let put = folder.run(&["data", "generate", "--symbol", "ETHUSDT", "--days", "1", "--catalog"]);
    assert_eq!(put.code, 0, "{}", put.stderr);
    let absent =
        "there are no candles of ETHUSDTX 1m for bot \"btc\" in the catalog data; there are: ETHUSDT 1m";
    let meant = "did you mean symbol = \"ETHUSDT\"?";
    folder.run(&["backtest", "--config", "eth.toml"]).fails(3, &[absent, meant, "data fetch ETHUSDTX@1m"]);
    let other = folder.run(&["backtest", "--config", "gold.toml"]);
    assert!(!other.stderr.contains("did you mean"), "{}", other.stderr);
    let check = folder.run(&["config", "check", "--config", "eth.toml"]);
    assert_eq!(check.code, 0, "{}", check.stderr);
    assert!(check.stdout.contains(absent) && check.stdout.contains(meant), "{}", check.stdout);
}

#[test]
fn detail_of_other_days_does_not_matter_to_a_range_and_candles_of_other_days_do() {
    let folder = Folder::new().with("bot.toml", BOT);
    let run = |range: [&str; 2]| {
        folder.run(&["backtest", "--config", "bot.toml", "--json", "--from", range[0], "--to", range[1]])
    };
    // The synthetic candles have detail from the 15th on.
    assert_eq!(run(["2026-01-06", "2026-01-07"]).json()["candles"], 1_440);
    assert_eq!(run(["2026-01-14T12:00:00Z", "2026-01-15T12:00:00Z"]).json()["candles"], 1_440);
    run(["2026-02-01", "2026-02-02"]).fails(3, &["no candles of BTCUSDT 1m lie between --from and --to"]);
}

#[test]
fn a_series_that_is_missing_is_joined_and_finer_candles_price_trades() {
    let folder = folder_with_bot("interval = \"1m\"", "interval = \"5m\"");
    folder.run(&GENERATE);
    let arguments = ["backtest", "--config", "bot.toml", "--catalog", "candles", "--json"];
    let joined = folder.run(&arguments).json();
    assert_eq!(joined["candles"], 576);
    let five = ["data", "generate", "--symbol", "BTCUSDT", "--days", "2", "--interval", "5m"];
    folder.run(&[&five[..], &["--catalog", "candles"]].concat());
    let own = folder.run(&arguments).json();
    for key in ["journal_hash", "data_hash", "trades", "pnl"] {
        assert_eq!(own[key], joined[key], "{key}");
    }
}

#[test]
fn seconds_in_the_catalog_price_the_trades_of_minutes() {
    // Flat seconds that rise by 1 each, and the minutes that they make up.
    let row = |time: i64, open: i64, close: i64| format!("{time},{open},{close},{open},{close},1\n");
    let header = "time,open,high,low,close,volume\n".to_owned();
    let seconds: String = (0..300).map(|s| row(MONDAY + s * 1_000, 100 + s, 100 + s)).collect();
    let minutes: String = (0..5).map(|m| row(MONDAY + m * 60_000, 100 + m * 60, 159 + m * 60)).collect();
    let bot = "[simulation]\nlatency_ms = 500\nopen_rounding = \"none\"\n[[bots]]\nname = \"a\"\n\
               symbol = \"BTCUSDT\"\ninterval = \"1m\"\nstrategy = \"signal-list\"\n\
               params = { file = \"signals.csv\" }\nclose_type = \"01:00\"\n";
    let folder = Folder::new()
        .with("bot.toml", bot)
        .with("signals.csv", &format!("time,symbol,direction\n{},BTCUSDT,BUY\n", MONDAY + 120_000))
        .with("BTCUSDT_1m.csv", &(header.clone() + &minutes))
        .with("BTCUSDT_1s.csv", &(header + &seconds));
    let prices = || {
        let backtest = ["backtest", "--config", "bot.toml", "--catalog", "candles", "--trades", "t.csv"];
        let run = folder.run(&backtest);
        assert_eq!(run.code, 0, "{}", run.stderr);
        let trades = folder.read("t.csv");
        let column = |name: &str| {
            let [head, trade] = [0, 1].map(|line| trades.lines().nth(line).unwrap().split(','));
            let place = head.clone().position(|column| column == name).unwrap();
            trade.clone().nth(place).unwrap().parse::<f64>().unwrap()
        };
        [column("open_price"), column("close_price")]
    };
    let import = |file: &str| {
        let run = folder.run(&["data", "import", file, "--catalog", "candles"]);
        assert_eq!(run.code, 0, "{}", run.stderr);
    };
    import("BTCUSDT_1m.csv");
    // Half a second into a minute that goes from 220 to 279, and into the next.
    let of_minutes = [220.0 + 59.0 / 120.0, 280.0 + 59.0 / 120.0];
    for (found, expected) in prices().iter().zip(of_minutes) {
        assert!((found - expected).abs() < 1e-9, "{found} {expected}");
    }
    import("BTCUSDT_1s.csv");
    assert_eq!(prices(), [220.0, 280.0]);
}

#[test]
fn versions_and_ranges_are_exported_and_an_absent_one_is_reported() {
    let folder = Folder::new();
    folder.run(&GENERATE);
    folder.run(&GENERATE).fails(2, &["candles: BTCUSDT 1m is there already", "--force"]);
    let second = [&GENERATE[..], &["--seed", "2", "--force"]].concat();
    assert_eq!(folder.run(&second).code, 0);
    let export = |more: &[&str]| {
        let base = ["data", "export", "BTCUSDT@1m", "--catalog", "candles", "--force", "--json"];
        folder.run(&[&base[..], more].concat())
    };
    let [first, current] = ["1", "2"].map(|number| {
        let answer = export(&["--version", number, "--out", "x.parquet"]).json();
        hash(&answer).to_owned()
    });
    assert_ne!(first, current);
    assert_eq!(hash(&export(&["--out", "x.csv"]).json()), current);
    let hour = export(&["--out", "x.csv", "--from", "2026-01-05T01:00:00Z", "--to", "2026-01-05T02:00:00Z"]);
    let hour = hour.json();
    assert_eq!(
        (&hour["candles"], &hour["start"], &hour["end"]),
        (&60.into(), &(MONDAY + 3_600_000).into(), &(MONDAY + 7_200_000).into())
    );
    export(&["--version", "3", "--out", "x.csv"]).fails(3, &["holds no candles of BTCUSDT 1m in version 3"]);
    export(&["--from", "2027-01-01", "--out", "x.csv"])
        .fails(3, &["no candles of BTCUSDT 1m lie between", "2026-01-05T00:00:00.000Z"]);
    export(&["--from", "2026-01-07", "--to", "2026-01-06", "--out", "x.csv"]).fails(2, &["--from"]);
    export(&["--out", "x.txt"]).fails(2, &["--out x.txt", ".parquet"]);
}

#[test]
fn the_list_shows_what_there_is() {
    let folder = Folder::new();
    let table = folder.run(&["data", "list"]);
    assert!(table.code == 0 && table.stdout.contains("the catalog is empty"), "{}", table.stdout);
    folder.run(&GENERATE);
    let table = folder.run(&["data", "list", "--catalog", "candles"]).stdout;
    for part in ["BTCUSDT", "1m", "2026-01-05T00:00:00.000Z", "2026-01-07", "2880", "synthetic, seed 1"] {
        assert!(table.contains(part), "no {part} in:\n{table}");
    }
    let json = folder.run(&["data", "list", "--catalog", "candles", "--json"]).json();
    assert_eq!((json.as_array().unwrap().len(), &json[0]["missing"]), (1, &0.into()));
    assert_eq!(json[0]["origins"][0]["source"], "synthetic, seed 1");
}

#[test]
fn a_file_that_changes_is_read_anew() {
    let folder = Folder::new().with("bot.toml", BOT).with("BTCUSDT_1m.csv", &candles(50));
    let count = |expected: i64| {
        let report = folder.run(&[&BACKTEST[..], &["--json"]].concat()).json();
        assert_eq!(report["candles"], expected);
    };
    count(50);
    count(50);
    std::fs::write(folder.path("BTCUSDT_1m.csv"), candles(40)).unwrap();
    count(40);
    assert_eq!(std::fs::read_dir(folder.path(".cache/candlewick")).unwrap().count(), 1);
    let uncached = folder.with_variable("CANDLEWICK_DATA__CACHE", "");
    std::fs::remove_dir_all(uncached.path(".cache")).unwrap();
    assert_eq!(uncached.run(&BACKTEST).code, 0);
    assert!(!uncached.path(".cache").exists());
}

/// One-second candles from a second on, as `data fetch --record` keeps them.
fn seconds(from: i64, count: i64) -> String {
    let row = |second: i64| format!("{},100,101,99,{},1\n", MONDAY + second * 1_000, 100 + second % 2);
    let rows: String = (from..from + count).map(row).collect();
    format!("time,open,high,low,close,volume\n{rows}")
}

#[test]
fn a_short_recording_does_not_make_a_run_of_short_expiries_fine() {
    let bot = BOT.replace("01:00", "00:30");
    let folder = Folder::new().with("bot.toml", &bot).with("BTCUSDT_1m.csv", &candles(50));
    let folder = folder.with("BTCUSDT_1s.csv", &seconds(0, 12)).with("BTCUSDT_5s.csv", &{
        // The last of a minute closes with it.
        let row = |slot: i64| {
            let (minute, price) = (slot / 12, 100 + slot / 12 % 7);
            let close = price + if slot % 12 == 11 { minute % 2 } else { slot % 2 };
            format!("{},{price},{},{price},{close},1\n", MONDAY + slot * 5_000, price + 1)
        };
        format!("time,open,high,low,close,volume\n{}", (0..600).map(row).collect::<String>())
    });
    let import = |file: &str, catalog: &str| {
        assert_eq!(folder.run(&["data", "import", file, "--catalog", catalog]).code, 0, "{file}");
    };
    import("BTCUSDT_1m.csv", "short");
    import("BTCUSDT_1s.csv", "short");
    let run = |catalog: &str, more: &[&str]| {
        let backtest = ["backtest", "--config", "bot.toml", "--json", "--catalog", catalog];
        folder.run(&[&backtest[..], more].concat())
    };
    let what = ["bots[0].close_type = \"00:30\"", "priced inside 1m candles", "--from and --to"];
    run("short", &[]).fails(2, &what);
    let coarse = run("short", &["--allow-coarse"]).json();
    assert!(coarse["notices"][0].as_str().unwrap().starts_with("coarse: "), "{coarse}");
    let sweep = ["sweep", "--config", "bot.toml", "--param", "period=2..3", "--catalog", "short"];
    folder
        .run(&sweep)
        .fails(2, &["finer ones do not cover 2026-01-05T00:00:12.000Z to 2026-01-05T00:50:00.000Z"]);
    // Where other candles cover what the recording does not, nothing is coarse.
    for file in ["BTCUSDT_1m.csv", "BTCUSDT_1s.csv", "BTCUSDT_5s.csv"] {
        import(file, "full");
    }
    let fine = run("full", &[]).json();
    assert!(fine["trades"].as_u64().is_none_or(|trades| trades > 0), "{fine}");
    assert!(!fine["notices"].to_string().contains("coarse"), "{fine}");
}

#[test]
fn a_few_recorded_seconds_leave_the_prices_of_the_minutes_to_a_bot_of_five() {
    let folder = Folder::new().with("bot.toml", &BOT.replace("\"1m\"", "\"5m\"").replace("01:00", "05:00"));
    let folder = folder.with("BTCUSDT_1m.csv", &candles(600)).with("BTCUSDT_1s.csv", &seconds(0, 12));
    let run = |files: &[&str]| {
        let data: Vec<&str> = files.iter().flat_map(|file| ["--data", *file]).collect();
        let backtest = ["backtest", "--config", "bot.toml", "--trades", "trades.csv"];
        let run = folder.run(&[&backtest[..], &data].concat());
        assert_eq!(run.code, 0, "{}", run.stderr);
        folder.read("trades.csv")
    };
    let minutes = run(&["BTCUSDT_1m.csv"]);
    assert!(minutes.lines().count() > 10, "{minutes:?}");
    let with_seconds = run(&["BTCUSDT_1m.csv", "BTCUSDT_1s.csv"]);
    assert_eq!(with_seconds, minutes);
}

#[test]
fn bots_that_come_along_take_the_catalog_only_when_it_serves_them_all() {
    let folder = Folder::new();
    let put = |symbol: &str| {
        let generate = ["data", "generate", "--symbol", symbol, "--days", "1", "--catalog"];
        assert_eq!(folder.run(&generate).code, 0, "{symbol}");
    };
    let report = || folder.run(&["backtest", "--json"]).json();
    put("BTCUSDT");
    put("GBPUSD");
    let synthetic = report();
    let notices = synthetic["notices"].to_string();
    assert!(
        notices.contains("the catalog data is not used") && notices.contains("no EURUSD 1m"),
        "{notices}"
    );
    let asked = folder.run(&["backtest", "--catalog", "data"]);
    asked.fails(3, &["no candles of EURUSD 1m for bot", "in the catalog data", "data fetch EURUSD@1m"]);
    put("EURUSD");
    let stored = report();
    assert!(stored["notices"].to_string().contains("the candles are those of the catalog data"), "{stored}");
    assert_eq!(stored["candles"], 3 * 1_440);
}

#[test]
fn candles_that_are_not_there_are_reported_with_what_is() {
    let folder = folder_with_bot("1m", "1m");
    folder.run(&GENERATE);
    folder.run(&[&GENERATE[..], &["--force", "--seed", "2"]].concat());
    let export =
        |name: &str, out: &str| folder.run(&["data", "export", name, "--catalog", "candles", "--out", out]);
    let there = "it holds BTCUSDT@1m in versions 1, 2; did you mean BTCUSDT@1m?";
    export("BTCUSD@1m", "x.csv").fails(3, &["holds no candles of BTCUSD 1m", there]);
    export("BTCUSDT@30s", "x.csv").fails(3, &["holds no candles of BTCUSDT 30s", there]);
    let version = ["--version", "3"];
    let export_third = ["data", "export", "BTCUSDT@1m", "--catalog", "candles", "--out", "x.csv"];
    folder.run(&[&export_third[..], &version].concat()).fails(3, &["in version 3", there]);
    export("BTCUSDT@1m", "missing/x.csv").fails(3, &["missing/x.csv", "make the folder missing first"]);
    // Longer candles are joined, for an export as for a bot.
    let joined = export("BTCUSDT@5m", "five.csv");
    assert!(
        joined.stdout.contains("576 candles of BTCUSDT 5m, resampled from BTCUSDT 1m"),
        "{}",
        joined.stdout
    );
    let empty = ["data", "export", "BTCUSDT@1m", "--catalog", "nowhere", "--out", "x.csv"];
    folder.run(&empty).fails(3, &["it is empty; `candlewick data fetch` fills it"]);
}

#[test]
fn a_broken_series_hides_no_other() {
    let folder = Folder::new();
    for symbol in ["BTCUSDT", "ETHUSDT", "SOLUSDT"] {
        folder.run(&["data", "generate", "--symbol", symbol, "--days", "1", "--catalog", "candles"]);
    }
    std::fs::write(folder.path("candles/BTCUSDT/1m/manifest.json"), "{").unwrap();
    for entry in std::fs::read_dir(folder.path("candles/ETHUSDT/1m")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|ending| ending != "json") {
            std::fs::remove_file(path).unwrap();
        }
    }
    // Of a market that closes, the candles are read to count those that are missing.
    let euro = "time,open,high,low,close,volume\n1767571200000,1,1,1,1,1\n1767571320000,1,1,1,1,1\n";
    std::fs::write(folder.path("EURUSD_1m.csv"), euro).unwrap();
    let imported = folder.run(&["data", "import", "EURUSD_1m.csv", "--catalog", "candles"]);
    assert_eq!(imported.code, 0, "{}", imported.stderr);
    let mut broken = Vec::new();
    for entry in std::fs::read_dir(folder.path("candles/EURUSD/1m")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|ending| ending == "parquet") {
            std::fs::write(&path, "no candles").unwrap();
            broken.push(path.file_name().unwrap().to_string_lossy().into_owned());
        }
    }
    assert_eq!(broken.len(), 1, "{broken:?}");
    let fails = |run: &Run, parts: &[&str]| {
        assert_eq!(run.code, 3, "{}", run.stderr);
        for part in parts {
            assert!(run.stderr.contains(part), "no {part:?} in:\n{}", run.stderr);
        }
    };
    let anew = "delete the series' folder and fetch or import it anew";
    let listed = folder.run(&["data", "list", "--catalog", "candles"]);
    assert!(listed.stdout.contains("ETHUSDT") && listed.stdout.contains("SOLUSDT"), "{}", listed.stdout);
    fails(&listed, &["BTCUSDT/1m/manifest.json: this is not a sound manifest", anew, &broken[0]]);
    let row = listed.stdout.lines().find(|line| line.contains("EURUSD")).unwrap_or_default();
    assert!(
        row.contains("2026-01-05") && row.contains(" 2 ") && row.contains("not known"),
        "{}",
        listed.stdout
    );
    let document = folder.run(&["data", "list", "--catalog", "candles", "--json"]);
    let rows: serde_json::Value = serde_json::from_str(&document.stdout).unwrap();
    let of =
        |symbol: &str| rows.as_array().unwrap().iter().find(|row| row["symbol"] == symbol).unwrap().clone();
    assert_eq!(
        (of("EURUSD")["missing"].clone(), of("SOLUSDT")["missing"].as_u64()),
        (serde_json::Value::Null, Some(0))
    );
    let checked = folder.run(&["data", "check", "--catalog", "candles"]);
    assert!(checked.stdout.contains("SOLUSDT"), "{}", checked.stdout);
    fails(&checked, &["this is not a sound manifest", "ETHUSDT/1m/", "cannot open the file", anew]);
    // Nor does it stand in the way of a bot on another symbol.
    let bot = BOT.replace("BTCUSDT", "SOLUSDT");
    std::fs::write(folder.path("bot.toml"), bot).unwrap();
    let run = folder.run(&["backtest", "--config", "bot.toml", "--catalog", "candles"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
}
