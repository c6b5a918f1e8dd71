//! Fuzz target: any bytes are a rule that runs, or an error with a position within the text.
//!
//! Run `cargo fuzz run rule -- -max_total_time=600` in the folder above `fuzz`, with a nightly toolchain. Without
//! cargo-fuzz, run `cargo build --release --target x86_64-unknown-linux-gnu` here with RUSTFLAGS set to `--cfg fuzzing
//! -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 -Cllvm-args=-sanitizer-coverage-inline-8bit-counters
//! -Cllvm-args=-sanitizer-coverage-pc-table -Cllvm-args=-sanitizer-coverage-trace-compares`.
#![no_main]

#[path = "../../tests/anything/mod.rs"]
mod anything;

use candlewick_sdk::testkit::{bot, random_walk};
use libfuzzer_sys::fuzz_target;
use serde_json::json;

fuzz_target!(|bytes: &[u8]| {
    // The first byte selects how the rest is used.
    let Some((kind, rest)) = bytes.split_first() else { return };
    let text = String::from_utf8_lossy(rest);
    match (kind % 3, text.split_once('\n')) {
        (2, _) => as_file(&text),
        (1, Some((buy, sell))) => anything::check(buy, Some(sell)),
        _ => anything::check(&text, None),
    }
});

fn as_file(text: &str) {
    let path = std::env::temp_dir().join(format!("candlewick-rule-{}.toml", std::process::id()));
    std::fs::write(&path, text).expect("a temporary file can be written");
    let (params, entry) = (json!({ "file": path.to_str() }), candlewick_rules::entry());
    match entry.for_params(&params).and_then(|own| own.build(&params, &bot("BTCUSDT"))) {
        Err(error) => assert!(!error.to_string().is_empty()),
        Ok(mut strategy) => {
            for candle in random_walk(1, 40) {
                let _ = strategy.on_candle(&candle);
            }
        }
    }
}
