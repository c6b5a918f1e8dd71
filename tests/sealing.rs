//! Exploring commands see nothing from the sealed day on, until it is moved on purpose.

use crate::candlewick::{BOT, Folder, Run};
use crate::excerpt::{DAY, HEADER, HOUR, MONDAY};
use crate::sweep::assert_same;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::fs;
use std::ops::Range;

const LEDGER: &str = ".state/candlewick/evidence.jsonl";
const SEAL: &str = "CANDLEWICK_EVIDENCE__SEAL";
const FILE: &str = "BTCUSDT_15m.csv";

const DAYS: i64 = 40;
/// 80 % of the days.
const EXPLORED_DAYS: i64 = 32;
/// First sealed day of candles that start on 2026-01-05.
const SEALED_DAY: &str = "2026-02-06";

const CANDLES_PER_DAY: i64 = 96;
const BACKTEST: &str = "backtest --config bot.toml --data BTCUSDT_15m.csv --json";
const SWEEP: &str = "--config bot.toml --data BTCUSDT_15m.csv --min-trades 5 --param period=2..4";
const EXPLORING: [&str; 7] = [
    "backtest --trades trades.csv",
    "sweep --min-trades 5 --param period=2..4",
    "walk-forward --min-trades 5 --param period=2..4",
    "tune --param period=2..4",
    "monte-carlo --paths 10",
    "sensitivity",
    "strategy check rsi-reversal --seed 3 --unseen 1500 --timeout 600",
];
const FILES: [&str; 6] = [
    "trades.csv",
    "sweep/results.csv",
    "walk-forward/windows.csv",
    "walk-forward/trades.csv",
    "monte-carlo/paths.csv",
    "sensitivity/points.csv",
];
/// Keys of values that depend on the speed of the machine.
const MEASURED: [&str; 5] = ["elapsed_ms", "candles_per_second", "candle_ns", "floor_ns", "found"];

/// Returns the days of a random walk in whole prices.
fn candles(seed: u64, days: Range<i64>) -> String {
    let (mut state, mut open) = (seed, 10_000_i64);
    // Knuth's generator (MMIX): its upper bits are evenly distributed.
    let mut toss = |sides: i64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as i64 % sides
    };
    let mut text = HEADER.to_owned();
    for index in 0..days.end * CANDLES_PER_DAY {
        let close = open + toss(41) - 20;
        let (high, low) = (open.max(close) + toss(5), open.min(close) - toss(5));
        if index >= days.start * CANDLES_PER_DAY {
            let time = MONDAY + index * (DAY / CANDLES_PER_DAY);
            let _ = writeln!(text, "{time},{open},{high},{low},{close},1");
        }
        open = close;
    }
    text
}

/// Doubles the prices from the sealed day on and removes every fifth of these candles, but not the last one.
fn altered(candles: &str) -> String {
    let rows: Vec<Vec<i64>> = (candles.lines().skip(1))
        .map(|row| row.split(',').map(|cell| cell.parse().unwrap()).collect())
        .collect();
    let mut text = HEADER.to_owned();
    for (index, row) in rows.iter().enumerate() {
        let is_sealed = row[0] >= MONDAY + EXPLORED_DAYS * DAY;
        let factor = if is_sealed { 2 } else { 1 };
        if !is_sealed || index % 5 != 0 || index + 1 == rows.len() {
            let [open, high, low, close] = [1, 2, 3, 4].map(|cell| row[cell] * factor);
            let _ = writeln!(text, "{},{open},{high},{low},{close},1", row[0]);
        }
    }
    text
}

fn bot(symbol: &str) -> String {
    BOT.replace("BTCUSDT", symbol).replace("\"1m\"", "\"15m\"").replace("01:00", "15:00")
}

fn folder(candles: &str) -> Folder {
    Folder::new().with_variable(SEAL, "true").with("bot.toml", &bot("BTCUSDT")).with(FILE, candles)
}

fn backtest(folder: &Folder, more: &str) -> Run {
    folder.run_line(&format!("{BACKTEST} {more}"))
}

#[track_caller]
fn check_explored(report: &Value, days: i64, until: &str) {
    assert_eq!(
        (&report["evidence"]["kind"], &report["evidence"]["until"]),
        (&json!("exploratory"), &json!(until))
    );
    assert_eq!(report["candles"], days * CANDLES_PER_DAY);
}

fn hide_measured(value: &mut Value) {
    match value {
        Value::Array(values) => values.iter_mut().for_each(hide_measured),
        Value::Object(object) => {
            for (key, value) in object {
                if MEASURED.contains(&key.as_str()) { *value = Value::Null } else { hide_measured(value) }
            }
        }
        _ => {}
    }
}

fn documents(folder: &Folder) -> Vec<String> {
    let document = |command: &&str| {
        let line = format!("{command} --config bot.toml --data {FILE} --json --quiet");
        let mut document = folder.run_line(&line).json();
        hide_measured(&mut document);
        document.to_string()
    };
    EXPLORING.iter().map(document).collect()
}

#[test]
fn first_run_seals_the_last_fifth_of_the_days_and_later_candles_stay_sealed() {
    let folder = folder(&candles(1, 0..DAYS));
    for (run, days) in [(1, DAYS), (2, DAYS), (3, DAYS + 20)] {
        fs::write(folder.path(FILE), candles(1, 0..days)).unwrap();
        let report = backtest(&folder, "").json();
        check_explored(&report, EXPLORED_DAYS, SEALED_DAY);
        assert_eq!(report["evidence"]["run"], run);
    }
}

#[test]
fn documents_and_files_do_not_depend_on_sealed_candles() {
    let whole = candles(1, 0..DAYS);
    let [folder, other] = [whole.clone(), altered(&whole)].map(|candles| folder(&candles));
    let [documents, others] = [&folder, &other].map(documents);
    for ((command, document), other) in EXPLORING.iter().zip(&documents).zip(&others) {
        let same = document.bytes().zip(other.bytes()).take_while(|(one, other)| one == other).count();
        let [document_rest, other_rest] = [document, other].map(|text| text.get(same..).unwrap_or_default());
        assert!(document == other, "{command} differs: {document_rest:.200}\n{other_rest:.200}");
    }
    assert!(documents[0].contains(&format!("\"until\":\"{SEALED_DAY}\"")), "{}", documents[0]);
    assert_same(&folder.path(""), &other.path(""), &FILES);
    let [seen, changed] =
        [folder, other].map(|folder| backtest(&folder.with_variable(SEAL, "false"), "").json());
    assert_ne!(seen["pnl"], changed["pnl"], "the sealed candles must differ");
}

#[test]
fn moving_the_seal_needs_a_confirmation_and_applies_to_all_symbols() {
    let folder = folder(&candles(1, 0..DAYS))
        .with("eth.toml", &bot("ETHUSDT"))
        .with("ETHUSDT_15m.csv", &candles(2, 0..DAYS));
    let other = || folder.run_line("backtest --config eth.toml --data ETHUSDT_15m.csv --json").json();
    check_explored(&backtest(&folder, "").json(), EXPLORED_DAYS, SEALED_DAY);
    for flag in ["--until 2026-02-10", "--all"] {
        backtest(&folder, flag).fails(2, &["--yes"]);
    }
    check_explored(&other(), EXPLORED_DAYS, SEALED_DAY);
    for (flag, days, until) in [("--until 2026-02-10", 36, "2026-02-10"), ("--all", DAYS, "2026-02-14")] {
        check_explored(&backtest(&folder, &format!("{flag} --yes")).json(), days, until);
        check_explored(&other(), days, until);
    }
}

#[test]
fn candles_after_the_sealed_day_are_an_error_that_suggests_until() {
    let folder = folder(&candles(1, 0..DAYS));
    backtest(&folder, "").json();
    fs::write(folder.path(FILE), candles(1, EXPLORED_DAYS + 1..DAYS)).unwrap();
    backtest(&folder, "").fails(3, &["sealed", SEALED_DAY, "--until"]);
}

#[test]
fn nothing_is_sealed_if_sealing_is_off_or_candles_are_synthetic() {
    let folder = folder(&candles(1, 0..DAYS));
    let generate = format!("data generate --symbol BTCUSDT --interval 15m --days {DAYS} --out generated");
    assert_eq!(folder.run_line(&generate).code, 0);
    for candles in
        ["--from 2026-01-06 --to 2026-01-06T12:00", "--config bot.toml --data generated/BTCUSDT_15m.csv"]
    {
        let report = folder.run_line(&format!("backtest {candles} --json")).json();
        assert_eq!(report["evidence"], json!({ "kind": "practice" }), "{candles}");
    }
    assert!(!folder.path(LEDGER).exists());
    let folder = folder.with_variable(SEAL, "false");
    let report = backtest(&folder, "").json();
    assert_eq!(report["candles"], DAYS * CANDLES_PER_DAY);
    assert_eq!(report["evidence"], json!({ "kind": "exploratory", "until": null, "run": null }));
    // The candles were seen, so sealing them later would prove nothing.
    check_explored(&backtest(&folder.with_variable(SEAL, "true"), "").json(), DAYS, "2026-02-14");
}

#[test]
fn damaged_ledger_is_an_error_with_file_and_line() {
    let folder = folder(&candles(1, 0..DAYS));
    for _ in 0..2 {
        backtest(&folder, "").json();
    }
    let whole = folder.read(LEDGER);
    let count = whole.lines().count();
    let (rest, _) = whole.trim_end().rsplit_once('\n').unwrap();
    let last = format!("evidence.jsonl:{count}:");
    for (damage, text, place) in [
        ("edited line", whole.replacen(SEALED_DAY, "2026-02-13", 1), "evidence.jsonl:"),
        ("removed line", format!("{rest}\n"), &*last),
        ("truncated line", whole[..whole.len() - 9].to_owned(), &*last),
        ("no line", String::new(), "evidence.jsonl:1:"),
    ] {
        assert_ne!(text, whole, "{damage}");
        fs::write(folder.path(LEDGER), text).unwrap();
        backtest(&folder, "").fails(1, &[place, "evidence.ledger"]);
    }
    fs::write(folder.path(LEDGER), whole).unwrap();
    assert_eq!(backtest(&folder, "").json()["evidence"]["run"], 3);
}

/// The last of the 36 days that each file mentions is 2026-02-09.
#[test]
fn days_in_files_of_earlier_versions_are_not_sealed() {
    let variants = format!(
        "{{\"chain\":\"dbc89bec75209dd7\",\"key\":\"9bcb4fe7d7f7e1c6\",\"strategy\":\"rsi-reversal\",\
         \"kind\":\"backtest\",\"candles\":\"3485d3f0eebc3c96\",\"seen\":[[0,3364]],\"from\":{MONDAY},\
         \"to\":{},\"variants\":[[\"3477fe6bb8997a01\",null,null]]}}\n",
        MONDAY + 35 * DAY + HOUR
    );
    let opening = format!(
        "{{\"opened_at\":\"2026-02-20T15:18:46.642Z\",\"key\":\"5d\",\"run\":\"a3\",\"from\":{},\"to\":{},\
         \"hypothesis\":{{\"data_hash\":\"e5\",\"series\":\"BTCUSDT 15m\",\"strategy\":[\"rsi-reversal\",\"1.0.0\"],\
         \"parameters\":[\"period=2..4\"],\"conditions\":[]}},\"candles\":null,\"looks\":[],\"unknown\":null}}\n",
        MONDAY + 28 * DAY,
        MONDAY + 36 * DAY
    );
    for (file, text) in [("variants.jsonl", variants), ("hold-outs.jsonl", opening)] {
        let folder = folder(&candles(1, 0..DAYS));
        fs::create_dir_all(folder.path(".state/candlewick")).unwrap();
        fs::write(folder.path(&format!(".state/candlewick/{file}")), text).unwrap();
        check_explored(&backtest(&folder, "").json(), 36, "2026-02-10");
    }
}

#[test]
fn shards_see_the_candles_of_their_plan_and_use_no_ledger() {
    let whole = candles(1, 0..DAYS);
    let (here, there) = (folder(&whole), folder(&whole));
    here.run_line(&format!("sweep --out whole --json {SWEEP}")).json();
    here.run_line(&format!("sweep plan --shards 1 --json {SWEEP}")).json();
    fs::copy(here.path("sweep/plan.json"), there.path("plan.json")).unwrap();
    let run = format!("sweep run --plan plan.json --shard 1 --data BTCUSDT@15m={FILE} --json");
    there.run_line(&run).json();
    assert!(!there.path(LEDGER).exists());
    fs::copy(there.path("shard-1.jsonl"), here.path("sweep/shard-1.jsonl")).unwrap();
    here.run_line("sweep merge --json").json();
    assert_same(&here.path("whole"), &here.path("sweep"), &["results.csv", "luck.json", "best.toml"]);
}
