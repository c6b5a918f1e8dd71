//! `data check`: exit codes, reported problems, and repairs that leave the original unchanged.

use crate::candlewick::{BOT, Folder, candles};
use crate::excerpt::{HEADER, HOUR, MONDAY};
use serde_json::{Value, json};

/// Fifty minutes: one row is invalid, one is duplicated and one is missing.
fn faulty_candles() -> String {
    let mut lines: Vec<String> = candles(50).lines().map(str::to_owned).collect();
    "1767571740000,100,99,101,100,1".clone_into(&mut lines[10]);
    lines.insert(21, lines[20].clone());
    lines.remove(31);
    lines.join("\n") + "\n"
}

fn hours(count: i64, is_there: impl Fn(i64) -> bool) -> String {
    let row = |hour: i64| format!("{},1.1,1.2,1.0,1.1{},1\n", MONDAY + hour * HOUR, hour % 7);
    HEADER.to_owned() + &(0..count).filter(|hour| is_there(*hour)).map(row).collect::<String>()
}

fn kinds(document: &Value) -> Vec<(&str, u64)> {
    let counts = document["counts"].as_object().unwrap().iter();
    let counts = counts.map(|(kind, count)| (kind.as_str(), count.as_u64().unwrap()));
    counts.filter(|(_, count)| *count > 0).collect()
}

#[track_caller]
fn check(folder: &Folder, arguments: &[&str], code: i32) -> Value {
    let run = folder.run(&[&["data", "check", "--json"], arguments].concat());
    assert_eq!(run.code, code, "{}{}", run.stdout, run.stderr);
    serde_json::from_str::<Value>(&run.stdout).unwrap()[0].clone()
}

#[test]
fn lists_the_catalog_series_of_a_bare_symbol() {
    let folder = Folder::new().with("bot.toml", BOT);
    folder.run(&["data", "generate", "--symbol", "EURUSD", "--days", "1", "--catalog"]);
    folder.run(&["data", "check", "EURUSD"]).fails(3, &["EURUSD@1m"]);
    folder.run(&["backtest", "--config", "bot.toml", "--data", "EURUSD"]).fails(3, &["EURUSD@1m"]);
    folder.run(&["data", "check", "GBPUSD"]).fails(3, &["GBPUSD"]);
}

#[test]
fn writes_a_repair_to_a_new_strictly_readable_file() {
    let folder = Folder::new().with("ETHUSDT_1m.csv", &faulty_candles());
    let export = |file: &str| folder.run(&["data", "export", file, "--out", "strict.csv"]);
    export("ETHUSDT_1m.csv").fails(3, &["line 11"]);
    let fixed = check(&folder, &["ETHUSDT_1m.csv", "--fix"], 5);
    assert_eq!([&fixed["problems"], &fixed["left"], &fixed["fixed"]["removed"]], [4, 2, 2]);
    assert_eq!(folder.read("ETHUSDT_1m.csv"), faulty_candles(), "the original stays");
    assert_eq!(export("fixed/ETHUSDT_1m.csv").code, 0);
    assert_eq!(folder.read("strict.csv"), folder.read("fixed/ETHUSDT_1m.csv"));
    for (arguments, part) in [
        (&["--fix"][..], "--force"),
        (&["--fix", "--out", "./ETHUSDT_1m.csv", "--force"], "original"),
        (&["--fix", "--out", "x.txt"], ".parquet"),
        (&["--out", "x.csv"], "--fix"),
    ] {
        folder.run(&[&["data", "check", "ETHUSDT_1m.csv"], arguments].concat()).fails(2, &[part]);
    }
}

/// EURUSD closes from Friday to Sunday, 22:00. Missing: Wednesday (24), two hours before the weekend, one after it.
#[test]
fn import_list_and_check_agree_on_missing_candles() {
    let week = hours(8 * 24, |hour| match (hour / 24, hour % 24) {
        (2, _) => false,
        (4, of_day) => of_day < 20,
        (5, of_day) => of_day == 12,
        (6, of_day) => of_day == 23,
        _ => true,
    });
    let folder = Folder::new().with("EURUSD_1h.csv", &week).with("BTCUSDT_1h.csv", &week);
    // Crypto trades all week: 47 hours of the weekend are missing as well.
    for (symbol, missing) in [("BTCUSDT", 74), ("EURUSD", 27)] {
        let import = folder.run(&["data", "import", &format!("{symbol}_1h.csv"), "--json"]).json();
        let list = folder.run(&["data", "list", "--json"]).json();
        let listed = list.as_array().unwrap().iter().find(|row| row["symbol"] == symbol).unwrap();
        let checked = check(&folder, &[&format!("{symbol}@1h"), "--ignore", "closed"], 5);
        let counts = [&import[0]["missing"], &listed["missing"], &checked["missing"]];
        assert_eq!(counts, [&json!(missing); 3], "{symbol}");
        assert_eq!(kinds(&checked), [("gap", 3)]);
    }
}

#[test]
fn repair_needs_a_choice_between_conflicting_rows() {
    let (first, second) = (format!("{MONDAY},1,3,1,2,5\n"), format!("{MONDAY},2,4,2,3,7\n"));
    let folder = Folder::new().with("EURUSD_1m.csv", &[HEADER, &first, &second].concat());
    let fix = ["data", "check", "EURUSD_1m.csv", "--fix"];
    folder.run(&fix).fails(2, &["conflict=first"]);
    folder.run(&[&fix[..], &["--also", "conflict"]].concat()).fails(2, &["conflict=last"]);
    for (choice, kept) in [("conflict=first", &first), ("duplicate=last", &second)] {
        check(&folder, &["EURUSD_1m.csv", "--fix", "--also", choice, "--force"], 0);
        assert_eq!(folder.read("fixed/EURUSD_1m.csv"), format!("{HEADER}{kept}"), "{choice}");
    }
}
