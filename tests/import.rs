//! `data import`: sources and names of series, refused files, and an interrupted import.

use crate::candlewick::{Folder, candles, repository};
use crate::excerpt::HEADER;
use serde_json::{Value, json};

/// 2026-01-05 09:00 UTC.
const NINE: i64 = 1_767_603_600_000;

fn fixtures(names: &[&str]) -> Folder {
    let folder = Folder::new();
    for name in names {
        let from = repository().join("crates/history/tests/fixtures").join(name);
        std::fs::copy(from, folder.path(name)).unwrap();
    }
    folder
}

#[track_caller]
fn first(folder: &Folder, arguments: &str) -> Value {
    let arguments: Vec<&str> = ["data"].into_iter().chain(arguments.split(' ')).chain(["--json"]).collect();
    folder.run(&arguments).json()[0].clone()
}

#[test]
fn refuses_ambiguous_files_suggests_an_option_and_stores_nothing() {
    let row = |(minute, symbol): (i64, &str)| {
        format!("{symbol},{},1.17,1.18,1.16,1.17,5\n", NINE + minute * 60_000)
    };
    let rows: String = (0..).zip(["EURUSD", "EURUSD", "EURUSD", "GBPUSD", "GBPUSD"]).map(row).collect();
    let folder = fixtures(&["EURUSD_1m.csv", "malformed_csv.csv", "EURUSD1.csv"])
        .with("day.csv", &format!("symbol,{HEADER}{rows}"));
    for (arguments, code, parts) in [
        (
            "EURUSD_1m.csv malformed_csv.csv --symbol EURUSD --interval 1m",
            3,
            &["malformed_csv.csv, line 3"][..],
        ),
        ("nowhere.csv", 3, &["nowhere.csv"]),
        ("EURUSD1.csv", 2, &["--timezone"]),
        ("EURUSD_1m.csv --out day.csv", 2, &["day.csv", "--force"]),
        ("day.csv --symbol EURUSD", 2, &["EURUSD (3 rows", "GBPUSD (2 rows", "--only EURUSD"]),
    ] {
        let arguments: Vec<&str> = ["data", "import"].into_iter().chain(arguments.split(' ')).collect();
        folder.run(&arguments).fails(code, parts);
    }
    assert_eq!(folder.run(&["data", "list", "--json"]).json(), json!([]));
    let chosen = first(&folder, "import day.csv --symbol EURUSD --only EURUSD");
    assert_eq!((&chosen["candles"], &chosen["excluded_rows"]), (&json!(3), &json!(2)));
}

#[test]
fn joins_files_of_two_sources_only_with_mix_and_keeps_the_first_values() {
    let archive = "DAT_ASCII_EURUSD_M1_2024.zip";
    let folder = fixtures(&[archive, "EURUSD1.csv"]);
    first(&folder, &format!("import {archive} --source histdata.com --licence theirs"));
    // The same candles with other volumes.
    let again = ["data", "import", "EURUSD1.csv", "--timezone", "Europe/Athens"];
    folder.run(&again).fails(2, &["EURUSD 1m", "histdata.com", "mt4", "--mix", "--source"]);
    let mixed = first(&folder, "import EURUSD1.csv --timezone Europe/Athens --mix");
    assert_eq!((&mixed["new"], &mixed["revised"]), (&json!(0), &json!(4)));
    let listed = first(&folder, "list");
    assert_eq!((&listed["symbol"], &listed["candles"]), (&json!("EURUSD"), &json!(4)));
    let origin = &listed["origins"][0];
    assert_eq!((&origin["source"], &origin["licence"]), (&json!("histdata.com"), &json!("theirs")));
    assert_eq!(origin["files"][0], archive);
}

/// A few prices may all end with zeros. Of many, some need the last decimal.
#[test]
fn infers_the_price_step_from_written_decimals_of_few_candles_and_significant_ones_of_many() {
    let few = "2024.01.02,22:00,1.17100,1.17150,1.17100,1.17150,5\n2024.01.02,22:01,1.17150,1.17150,1.17100,1.17100,7\n";
    let row = |at: u32| {
        let (hour, minute, digit) = (at / 60, at % 60, 3 + at % 7);
        format!("2024.01.02,{hour:02}:{minute:02},150.12300,150.12{digit}00,150.12300,150.12300,5\n")
    };
    let many: String = (0..120).map(row).collect();
    for (name, rows, step) in [("EURUSD1.csv", few, 0.00001), ("USDJPY1.csv", many.as_str(), 0.001)] {
        let imported = first(&Folder::new().with(name, rows), &format!("import {name} --timezone UTC"));
        assert_eq!(imported["price_step"], step, "{name}");
    }
}

#[test]
fn second_name_or_contradicting_candles_need_mix() {
    let folder = Folder::new().with("BTCUSDT_1m.csv", &candles(50));
    first(&folder, "import BTCUSDT_1m.csv");
    let other = ["data", "import", "BTCUSDT_1m.csv", "--symbol", "BTC/USDT"];
    folder.run(&other).fails(2, &["BTC/USDT", "--symbol BTCUSDT"]);
    first(&folder, "import BTCUSDT_1m.csv --symbol BTC/USDT --catalog apart");
    assert_eq!(first(&folder, "import BTCUSDT_1m.csv")["same"], 50);
    folder.run(&["data", "import", "BTCUSDT_1m.csv", "--stamped", "close"]).fails(2, &["49", "--stamped"]);
    assert_eq!(first(&folder, "list")["revised"], 0, "nothing is stored");
    let mixed = first(&folder, "import BTCUSDT_1m.csv --stamped close --mix");
    assert!(mixed["revised"].as_u64() > Some(40), "{mixed}");
    assert_eq!(first(&folder, "import BTCUSDT_1m.csv --stamped close")["revised"], 0, "already stored");
}

/// A forming candle was stored, and a later file has the finished one.
#[test]
fn reports_a_revised_last_candle_and_replaces_it_by_a_repair() {
    let file = |last: &str| format!("{HEADER}{NINE},1.17,1.18,1.16,1.17,5\n1767603660000,{last}\n");
    let later = file("1.17,1.18,1.16,1.175,12") + "1767603720000,1.17,1.18,1.16,1.17,5\n";
    let folder = Folder::new()
        .with("EURUSD_1m.csv", &file("1.17,1.17,1.17,1.17,0.3"))
        .with("later_EURUSD_1m.csv", &later);
    first(&folder, "import EURUSD_1m.csv");
    let imported = first(&folder, "import later_EURUSD_1m.csv");
    let counts = ["new", "same", "revised"].map(|key| imported[key].as_u64());
    assert_eq!(counts, [Some(1); 3], "{imported}");
    assert!(!imported["revised_end"].is_null(), "{imported}");
    assert_eq!(folder.run(&["data", "check", "EURUSD@1m", "--fix", "--also", "revised"]).code, 0);
    assert_eq!(folder.run(&["data", "export", "EURUSD@1m", "--out", "x.csv"]).code, 0);
    assert_eq!(folder.read("x.csv"), later);
}

#[cfg(unix)]
#[test]
fn signals_interrupt_an_import() {
    use std::process::{Command, Stdio};
    let folder = Folder::new();
    let pipe = folder.path("BTCUSDT_1m.csv");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    for (signal, code) in [("INT", 130), ("TERM", 143)] {
        let mut command = folder.command(&["data", "import", "BTCUSDT_1m.csv"]);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        // The pipe is opened by the import, and never delivers a line.
        let _writer = std::fs::OpenOptions::new().write(true).open(&pipe).unwrap();
        crate::serving::send(signal, &child);
        assert_eq!(child.wait().unwrap().code(), Some(code), "{signal}");
    }
}
