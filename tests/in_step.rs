//! Two series of one symbol that are used together: in step, or refused with the lag.

use crate::candlewick::{BOT, Folder};
use crate::excerpt::MONDAY;
use std::fmt::Write as _;

const STEP: i64 = 5_000;

/// Prices of a walk, one every five seconds.
fn walk(count: usize) -> Vec<f64> {
    let mut state = 7_u64;
    let mut price = 100_000_i64;
    let next = |_| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        price += (state >> 33) as i64 % 21 - 10;
        price as f64 / 1_000.0
    };
    (0..count).map(next).collect()
}

/// Candles of so many prices each, whose open is the price before; they open so many milliseconds later than they should.
fn candles(prices: &[f64], each: usize, late: i64) -> String {
    let mut text = String::from("time,open,high,low,close,volume\n");
    for (place, inside) in prices[1..].chunks_exact(each).enumerate() {
        let (open, close) = (prices[place * each], inside[each - 1]);
        let high = inside.iter().copied().fold(open, f64::max);
        let low = inside.iter().copied().fold(open, f64::min);
        let time = MONDAY + (place * each) as i64 * STEP + late;
        let _ = writeln!(text, "{time},{open},{high},{low},{close},1");
    }
    text
}

/// A day of minutes, and of candles of five seconds that are late.
fn folder(late: i64) -> Folder {
    let prices = walk(12 * 1_440 + 1);
    Folder::new()
        .with("bot.toml", BOT)
        .with("BTCUSDT_1m.csv", &candles(&prices, 12, 0))
        .with("BTCUSDT_5s.csv", &candles(&prices, 1, late))
}

const BACKTEST: [&str; 7] =
    ["backtest", "--config", "bot.toml", "--data", "BTCUSDT_1m.csv", "--data", "BTCUSDT_5s.csv"];
const SWEEP: [&str; 9] = [
    "sweep",
    "--config",
    "bot.toml",
    "--param",
    "period=2,3",
    "--data",
    "BTCUSDT_1m.csv",
    "--data",
    "BTCUSDT_5s.csv",
];
const LAG: &str = "BTCUSDT 5s runs 15 s behind 1m: they fit when shifted by 15 s";

#[test]
fn candles_that_run_behind_price_no_trade() {
    let late = folder(3 * STEP);
    late.run(&BACKTEST).fails(3, &[LAG, "--timezone"]);
    late.run(&SWEEP).fails(3, &[LAG]);
    let in_step = folder(0);
    for command in [&BACKTEST[..], &SWEEP] {
        let run = in_step.run(command);
        assert_eq!(run.code, 0, "{}", run.stderr);
    }
}

#[test]
fn a_check_of_two_files_names_the_lag() {
    let check = ["data", "check", "BTCUSDT_1m.csv", "BTCUSDT_5s.csv", "--ignore", "spike,jump,flat"];
    let late = folder(3 * STEP).run(&check);
    assert!(late.code == 5 && late.stdout.contains(LAG), "{}", late.stdout);
    let in_step = folder(0).run(&check);
    assert_eq!(in_step.code, 0, "{}", in_step.stdout);
    let ignored = [&check[..5], &["spike,jump,flat,out-of-step"]].concat();
    assert_eq!(folder(3 * STEP).run(&ignored).code, 0);
}

#[test]
fn an_import_beside_a_series_of_another_time_is_refused() {
    let late = folder(3 * STEP);
    assert_eq!(late.run(&["data", "import", "BTCUSDT_1m.csv"]).code, 0);
    late.run(&["data", "import", "BTCUSDT_5s.csv"]).fails(3, &["BTCUSDT_5s.csv", LAG]);
    assert_eq!(folder(0).run(&["data", "import", "BTCUSDT_1m.csv", "BTCUSDT_5s.csv"]).code, 0);
    // Both at once, in either order; then nothing is stored.
    for files in [["BTCUSDT_1m.csv", "BTCUSDT_5s.csv"], ["BTCUSDT_5s.csv", "BTCUSDT_1m.csv"]] {
        let late = folder(3 * STEP);
        late.run(&[&["data", "import"], &files[..]].concat()).fails(3, &[LAG]);
        assert_eq!(late.run(&["data", "list", "--json"]).json().as_array().map(Vec::len), Some(0));
    }
}
