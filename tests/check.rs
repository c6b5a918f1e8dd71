//! `data check` as a user runs it: exit codes, what is reported, and repairs that leave the original alone.

use crate::candlewick::{BOT, Folder, candles};
use serde_json::Value;
use std::fmt::Write as _;

/// Fifty minutes, of which one is no candle, one is there twice and one is missing.
fn bad() -> String {
    let mut lines: Vec<String> = candles(50).lines().map(str::to_owned).collect();
    "1767571740000,100,99,101,100,1".clone_into(&mut lines[10]);
    lines.insert(21, lines[20].clone());
    lines.remove(31);
    lines.join("\n") + "\n"
}

fn kinds(document: &Value) -> Vec<(&str, u64)> {
    let counts = document["counts"].as_object().unwrap().iter();
    counts
        .map(|(kind, count)| (kind.as_str(), count.as_u64().unwrap()))
        .filter(|(_, count)| *count > 0)
        .collect()
}

/// The JSON of a check that found something.
fn failed(folder: &Folder, arguments: &[&str]) -> Value {
    let run = folder.run(&[&["data", "check"], arguments, &["--json"]].concat());
    assert_eq!(run.code, 5, "{}{}", run.stdout, run.stderr);
    serde_json::from_str(&run.stdout).unwrap()
}

#[test]
fn a_sound_file_passes_and_a_bad_one_fails_with_a_table() {
    let folder = Folder::new().with("BTCUSDT_1m.csv", &candles(50)).with("ETHUSDT_1m.csv", &bad());
    let good = folder.run(&["data", "check", "BTCUSDT_1m.csv"]);
    assert_eq!(good.code, 0, "{}", good.stderr);
    assert!(good.stdout.contains("50 rows of BTCUSDT 1m, session always; no problem"), "{}", good.stdout);
    assert!(good.stdout.contains("100.000 %"), "{}", good.stdout);
    let run = folder.run(&["data", "check", "BTCUSDT_1m.csv", "ETHUSDT_1m.csv"]);
    assert_eq!(run.code, 5);
    for part in [
        "50 rows of ETHUSDT 1m, session always; 1 range, 1 duplicate, 2 gap",
        "low 101 and high 99 do not enclose open 100 and close 100",
        "22: 2026-01-05T00:19:00.000Z",
        "2026-01-05T00:09:00.000Z",
        // 48 of 50 minutes.
        "96.000 %",
    ] {
        assert!(run.stdout.contains(part), "no {part} in {}", run.stdout);
    }
    assert!(run.stderr.contains("4 problems are left in 1 of 2 series"), "{}", run.stderr);
    let found = failed(&folder, &["ETHUSDT_1m.csv"]);
    assert_eq!(kinds(&found[0]), [("duplicate", 1), ("gap", 2), ("range", 1)]);
    assert_eq!((&found[0]["candles"], &found[0]["missing"]), (&48.into(), &2.into()));
    assert_eq!(found[0]["findings"][1]["row"], 22);
    assert_eq!(folder.run(&["data", "check", "ETHUSDT_1m.csv", "--ignore", "gap,range,duplicate"]).code, 0);
}

#[test]
fn a_symbol_alone_is_answered_with_its_series_in_the_catalog() {
    let folder = Folder::new().with("bot.toml", BOT);
    let put = folder.run(&["data", "generate", "--symbol", "EURUSD", "--days", "1", "--catalog"]);
    assert_eq!(put.code, 0, "{}", put.stderr);
    let says = ["EURUSD is no file; the catalog data holds EURUSD@1m", "did you mean EURUSD@1m?"];
    folder.run(&["data", "check", "EURUSD"]).fails(3, &says);
    folder.run(&["backtest", "--config", "bot.toml", "--data", "EURUSD"]).fails(3, &says);
    folder.run(&["data", "check", "GBPUSD"]).fails(3, &["GBPUSD: cannot read the file"]);
}

#[test]
fn a_day_that_currencies_rested_is_named_and_no_gap_once_it_is_told() {
    // Hours of a week in winter; the market rests from Wednesday 22:00 to Thursday 22:00 UTC, the 1st of January.
    let monday = 1_766_966_400_000_i64; // 2025-12-29
    let rows = (0..96).filter(|hour| !(70..94).contains(hour));
    let row = |hour: i64| format!("{},100,101,99,100,1\n", monday + hour * 3_600_000);
    let text = "time,open,high,low,close,volume\n".to_owned() + &rows.map(row).collect::<String>();
    let folder = Folder::new().with("EURUSD_1h.csv", &text);
    let found = folder.run(&["data", "check", "EURUSD_1h.csv", "--ignore", "flat"]);
    assert_eq!(found.code, 5);
    assert!(found.stdout.contains("24 missing; --holiday 2026-01-01, if the market was"), "{}", found.stdout);
    let told = ["data", "check", "EURUSD_1h.csv", "--ignore", "flat", "--holiday", "2026-01-01"];
    let told = folder.run(&told);
    assert_eq!(told.code, 0, "{}{}", told.stdout, told.stderr);
}

#[test]
fn a_repaired_file_is_a_new_one_that_reads_strictly() {
    let folder = Folder::new().with("ETHUSDT_1m.csv", &bad());
    folder.run(&["data", "export", "ETHUSDT_1m.csv", "--out", "x.parquet"]).fails(3, &["line 11"]);
    let fixed = failed(&folder, &["ETHUSDT_1m.csv", "--fix"]);
    let fix = &fixed[0]["fixed"];
    assert_eq!((&fix["removed"], &fix["file"]), (&2.into(), &"fixed/ETHUSDT_1m.csv".into()));
    assert_eq!((&fixed[0]["problems"], &fixed[0]["left"]), (&4.into(), &2.into()));
    assert_eq!(folder.read("ETHUSDT_1m.csv"), bad(), "the original stays");
    let expected: String = bad()
        .lines()
        .enumerate()
        .filter(|(line, _)| *line != 10 && *line != 21)
        .fold(String::new(), |text, (_, line)| text + line + "\n");
    assert_eq!(folder.read("fixed/ETHUSDT_1m.csv"), expected);
    let check = |arguments: &[&str]| folder.run(&[&["data", "check"], arguments].concat());
    assert_eq!(check(&["fixed/ETHUSDT_1m.csv", "--ignore", "gap"]).code, 0);
    for (file, way) in [
        (
            "fixed/ETHUSDT_1m.csv",
            "error: 2 problems are left in 1 of 1 series\nhelp: 2 gap: only other candles mend that",
        ),
        ("ETHUSDT_1m.csv", "1 range, 1 duplicate: --fix writes a repaired copy; 2 gap: only"),
    ] {
        let found = check(&[file]);
        assert_eq!((found.code, found.stderr.contains(way)), (5, true), "{}", found.stderr);
    }
    check(&["ETHUSDT_1m.csv", "--fix"]).fails(2, &["the file is there already", "--force"]);
    check(&["ETHUSDT_1m.csv", "--fix", "--out", "./ETHUSDT_1m.csv", "--force"]).fails(2, &["the original"]);
    check(&["ETHUSDT_1m.csv", "--fix", "--out", "x.txt"]).fails(2, &["let it end in .csv or .parquet"]);
    check(&["ETHUSDT_1m.csv", "--fix", "--also", "gap"]).fails(2, &["nothing mends a gap"]);
    check(&["ETHUSDT_1m.csv", "--out", "x.csv"]).fails(2, &["--fix"]);
    assert_eq!(check(&["ETHUSDT_1m.csv", "--fix", "--out", "x.parquet", "--ignore", "gap"]).code, 0);
    let exported = ["data", "export", "ETHUSDT@1m=x.parquet", "--out", "y.csv"];
    assert_eq!(folder.run(&exported).code, 0);
    assert_eq!(folder.read("y.csv"), expected);
}

#[test]
fn a_series_of_the_catalog_is_repaired_by_a_new_version() {
    let spiked = candles(50).replace("1767572640000,103,104,", "1767572640000,103,204,");
    assert_ne!(spiked, candles(50));
    let folder = Folder::new().with("BTCUSDT_1m.csv", &spiked);
    assert_eq!(folder.run(&["data", "check"]).code, 0, "an empty catalog has no problem");
    assert_eq!(folder.run(&["data", "import", "BTCUSDT_1m.csv"]).code, 0);
    let found = failed(&folder, &["BTCUSDT@1m"]);
    assert_eq!(kinds(&found[0]), [("spike", 1)]);
    assert_eq!(found[0]["findings"][0]["start"], 1_767_572_640_000_i64);
    let nothing = failed(&folder, &["--fix"]);
    assert_eq!((&nothing[0]["fixed"]["version"], &nothing[0]["left"]), (&Value::Null, &1.into()));
    let fixed = failed(&folder, &["--fix", "--also", "spike"]);
    assert_eq!((&fixed[0]["fixed"]["version"], &fixed[0]["fixed"]["removed"]), (&2.into(), &1.into()));
    assert_eq!(kinds(&failed(&folder, &[])[0]), [("gap", 1)]);
    let export = |version: &str, file: &str| {
        let run = folder.run(&["data", "export", "BTCUSDT@1m", "--version", version, "--out", file]);
        assert_eq!(run.code, 0, "{}", run.stderr);
        folder.read(file)
    };
    assert_eq!(export("1", "one.csv"), spiked, "the first version stays");
    assert_eq!(export("2", "two.csv").lines().count(), 50);
}

#[test]
fn what_a_repair_left_out_does_not_come_back_with_the_same_file() {
    let spiked = candles(50).replace("1767572640000,103,104,", "1767572640000,103,204,");
    let folder = Folder::new().with("BTCUSDT_1m.csv", &spiked);
    let import = || folder.run(&["data", "import", "BTCUSDT_1m.csv", "--json"]).json()[0].clone();
    assert_eq!(import()["new"], 50);
    failed(&folder, &["--fix", "--also", "spike"]);
    let again = import();
    assert_eq!((&again["new"], &again["same"], &again["revised"]), (&0.into(), &50.into(), &0.into()));
    assert_eq!(kinds(&failed(&folder, &[])[0]), [("gap", 1)], "the spike is not back");
}

/// Hours of EURUSD, from Monday, the 5th of January 2026, to the end of the Monday after it. Its market closes on Friday at
/// 22:00 and opens on Sunday at 22:00. Missing are Wednesday, a holiday perhaps (24), the last two hours before the
/// weekend (2) and the first after it (1). On Saturday at noon there is a candle that nobody expects.
fn week_with_holes() -> (String, u64) {
    let is_there = |hour: &i64| match (hour / 24, hour % 24) {
        (2, _) => false,
        (4, of_day) => of_day < 20,
        (5, of_day) => of_day == 12,
        (6, of_day) => of_day == 23,
        _ => true,
    };
    let mut text = String::from("time,open,high,low,close,volume\n");
    for hour in (0..8 * 24).filter(is_there) {
        let time = 1_767_571_200_000 + hour * 3_600_000;
        let _ = writeln!(text, "{time},1.1,1.2,1.0,1.1{},1", hour % 7);
    }
    (text, 24 + 2 + 1)
}

#[test]
fn what_is_missing_is_one_number_in_import_list_and_check() {
    let (week, missing) = week_with_holes();
    let folder = Folder::new().with("EURUSD_1h.csv", &week).with("BTCUSDT_1h.csv", &week);
    let import =
        |file: &str| folder.run(&["data", "import", file, "--json"]).json()[0]["missing"].as_u64().unwrap();
    // Coins are traded all week: 47 hours of the weekend are missing as well.
    let (euro, coin) = (import("EURUSD_1h.csv"), import("BTCUSDT_1h.csv"));
    assert_eq!((euro, coin), (missing, missing + 47));
    let text = folder.run(&["data", "import", "EURUSD_1h.csv"]).stdout;
    assert!(text.contains("to 2026-01-13T00:00:00.000Z, 27 missing; format"), "{text}");
    let list = folder.run(&["data", "list", "--json"]).json();
    let listed =
        |place: usize| (list[place]["symbol"].as_str().unwrap(), list[place]["missing"].as_u64().unwrap());
    assert_eq!((listed(0), listed(1)), (("BTCUSDT", coin), ("EURUSD", euro)));
    let table = folder.run(&["data", "list"]).stdout;
    let row = table.lines().find(|line| line.contains("EURUSD")).unwrap();
    assert!(row.split_whitespace().any(|word| word == "27"), "{table}");
    for (series, missing) in [("EURUSD@1h", euro), ("BTCUSDT@1h", coin)] {
        let checked = failed(&folder, &[series, "--ignore", "closed"]);
        assert_eq!((&checked[0]["missing"], kinds(&checked[0])), (&missing.into(), vec![("gap", 3)]));
    }
}

#[test]
fn a_repair_needs_a_choice_between_different_rows_of_one_time() {
    let minute = |minute: i64, cells: &str| format!("{},{cells}\n", 1_767_603_600_000 + minute * 60_000);
    let text = format!(
        "time,open,high,low,close,volume\n{}{}{}",
        minute(0, "1.17,1.18,1.16,1.17,5"),
        minute(1, "1.17,1.18,1.16,1.17,5"),
        minute(1, "1.19,1.195,1.185,1.19,7")
    );
    let folder = Folder::new().with("EURUSD_1m.csv", &text);
    assert_eq!(kinds(&failed(&folder, &["EURUSD_1m.csv"])[0]), [("conflict", 1)]);
    let found = folder.run(&["data", "check", "EURUSD_1m.csv"]);
    assert!(found.stderr.contains("1 conflict: --fix --also conflict=larger"), "{}", found.stderr);
    let fix = ["data", "check", "EURUSD_1m.csv", "--fix"];
    folder.run(&fix).fails(2, &["1 times have rows with different values", "conflict=first"]);
    folder.run(&[&fix[..], &["--also", "conflict"]].concat()).fails(2, &["conflict=last"]);
    for (choice, open) in
        [("conflict=first", "1.17"), ("duplicate=last", "1.19"), ("conflict=larger", "1.19")]
    {
        let fixed = folder.run(&[&fix[..], &["--also", choice, "--force"]].concat());
        assert_eq!(fixed.code, 0, "{}{}", fixed.stdout, fixed.stderr);
        let written = folder.read("fixed/EURUSD_1m.csv");
        assert!(written.contains(&format!("1767603660000,{open},")), "{choice}: {written}");
    }
}

/// A week of hours without a weekend: 48 of 168 lie in it.
#[test]
fn candles_of_a_closed_market_are_named_and_the_repaired_ones_counted() {
    let row = |hour: i64| format!("{},1.1,1.2,1.0,1.1{},1\n", 1_767_571_200_000 + hour * 3_600_000, hour % 7);
    let text = "time,open,high,low,close,volume\n".to_owned() + &(0..168).map(row).collect::<String>();
    let folder = Folder::new().with("EURUSD_1h.csv", &text);
    let imported = folder.run(&["data", "import", "EURUSD_1h.csv"]).stdout;
    assert!(
        imported.contains("warning: 48 candles (29 %) lie in hours in which the market is closed"),
        "{imported}"
    );
    let checked = folder.run(&["data", "check", "EURUSD_1h.csv", "--fix", "--also", "closed"]);
    assert_eq!(checked.code, 0, "{}{}", checked.stdout, checked.stderr);
    let row = checked.stdout.lines().rev().find(|line| line.contains("EURUSD")).unwrap().to_owned();
    assert!(row.split_whitespace().any(|word| word == "120"), "{row}");
}
