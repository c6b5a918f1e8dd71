//! Whatever bytes a file of a rule has: it is a rule that runs, or an error with a place within the text. Nothing panics.
//!
//! `cargo fuzz run rule -- -max_total_time=600` in the folder above `fuzz`, with cargo-fuzz and a nightly toolchain. Without them, `cargo build --release
//! --target x86_64-unknown-linux-gnu` here makes the same program where RUSTFLAGS is `--cfg fuzzing -Cpasses=sancov-module
//! -Cllvm-args=-sanitizer-coverage-level=4 -Cllvm-args=-sanitizer-coverage-inline-8bit-counters
//! -Cllvm-args=-sanitizer-coverage-pc-table -Cllvm-args=-sanitizer-coverage-trace-compares`.
#![no_main]

use candlewick_rules::Rule;
use candlewick_sdk::testkit::{bot, random_walk, wild};
use candlewick_sdk::{Candle, Interval, Strategy};
use libfuzzer_sys::fuzz_target;
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::LazyLock;

static CANDLES: LazyLock<Vec<Candle>> =
    LazyLock::new(|| wild(20).into_iter().chain(random_walk(1, 40)).collect());

fuzz_target!(|bytes: &[u8]| {
    // The first byte says what the rest is.
    let Some((kind, rest)) = bytes.split_first() else { return };
    let text = String::from_utf8_lossy(rest);
    match kind % 3 {
        0 => as_condition(&text, None),
        1 => match text.split_once('\n') {
            Some((buy, sell)) => as_condition(buy, Some(sell)),
            None => as_condition(&text, None),
        },
        _ => as_file(&text),
    }
});

fn as_condition(buy: &str, sell: Option<&str>) {
    let parameters = BTreeMap::from([("period".to_owned(), 3.0), ("level".to_owned(), 30.5)]);
    let built = Rule::parse(Some(buy), sell).and_then(|rule| rule.build(&parameters, Interval::MINUTE, None));
    match built {
        Err((side, error)) => {
            let text = if side.key() == "buy" { buy } else { sell.unwrap_or_default() };
            assert!(error.place.start <= error.place.end && error.place.end <= text.len(), "{error:?}");
            assert!(!error.message.is_empty() && !error.shown(text).is_empty());
            assert!(error.line_and_column(text).1 >= 1);
        }
        Ok(mut strategy) => {
            // A declaration says the same: it is built of the same values.
            let _ = strategy.declaration();
            for candle in CANDLES.iter() {
                if let Some(signal) = strategy.on_candle(candle) {
                    assert!(signal.reason.values().iter().all(|number| number.is_finite()));
                }
            }
        }
    }
}

fn as_file(text: &str) {
    let path = std::env::temp_dir().join(format!("candlewick-rule-{}.toml", std::process::id()));
    std::fs::write(&path, text).expect("a temporary file can be written");
    let (params, entry) = (json!({ "file": path.to_str() }), candlewick_rules::entry());
    match entry.for_params(&params).and_then(|own| own.build(&params, &bot("BTCUSDT"))) {
        Err(error) => assert!(!error.to_string().is_empty()),
        Ok(mut strategy) => {
            for candle in CANDLES.iter() {
                let _ = strategy.on_candle(candle);
            }
        }
    }
}
