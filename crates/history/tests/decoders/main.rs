//! No content of a file, however broken, makes a decoder panic: random bytes, and sound files with bytes changed.
//!
//! `DECODER_CASES` is the number of cases of each kind, for each decoder.
#![allow(clippy::unwrap_used, reason = "what cannot be made fails its test")]

mod edit;
mod target;

use edit::{Edit, edited, edits};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use std::sync::Once;
use target::Target;

const CASES: u32 = 150;

fn cases() -> u32 {
    let text = std::env::var("DECODER_CASES").ok();
    text.map_or(CASES, |text| text.parse().unwrap_or_else(|_| panic!("DECODER_CASES={text} is no number")))
}

/// Libraries of columns assert what a broken file contradicts; the decoders catch that, and it need not be printed.
fn mute_caught_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let default_hook = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            let file = panic.location().map_or("", |location| location.file());
            if !["/arrow-", "/parquet-", "/flatbuffers-"].iter().any(|library| file.contains(library)) {
                default_hook(panic);
            }
        }));
    });
}

fn feed(target: &Target) {
    mute_caught_panics();
    let config = Config { cases: cases(), failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new(config);
    let noise = prop::collection::vec(any::<u8>(), 0..200);
    let input = (prop::sample::select(target.seeds.clone()), edits(), noise);
    target.seeds.iter().for_each(|seed| (target.run)(seed));
    let fed = runner.run(&input, |(seed, edits, noise): (Vec<u8>, Vec<Edit>, Vec<u8>)| {
        (target.run)(&edited(&seed, &edits));
        (target.run)(&noise);
        (target.run)(&[&seed[..seed.len().min(noise.len() / 4)], &noise[..]].concat());
        Ok::<(), TestCaseError>(())
    });
    fed.unwrap_or_else(|error| panic!("{}: {error}", target.name));
}

macro_rules! decoders {
    ($($name:ident => $target:expr),+ $(,)?) => {
        $(#[test]
        fn $name() {
            feed(&$target);
        })+
    };
}

decoders! {
    csv => Target::csv(),
    binance => Target::text("binance", &["BTCUSDT-1m-2024-01-02.csv", "BTCUSDT-1m-2025-01-02.csv"]),
    histdata => Target::text("histdata", &["DAT_ASCII_EURUSD_M1_2024.csv"]),
    dukascopy => Target::text(
        "dukascopy",
        &["EURUSD_Candlestick_1_M_BID_02.01.2024-02.01.2024.csv", "EURUSD_Candlestick_1_M_ASK_local.csv"],
    ),
    meta_trader_4 => Target::text("mt4", &["EURUSD1.csv"]),
    meta_trader_5 => Target::text("mt5", &["EURUSD_M1_202401030000_202401030004.csv", "EURUSD_D1.csv"]),
    yahoo => Target::text("yahoo", &["AAPL.csv"]),
    table => Target::text("table", &["EURUSD_semicolons.csv", "EURUSD_pandas.csv"]),
    json => Target::text("freqtrade-json", &["ETH_BTC-5m.json"]),
    feather => Target::text(
        "feather",
        &["ETH_BTC-5m.feather", "ETHBTC_zstd.feather", "ETHBTC_no_zone.feather", "malformed.feather"],
    ),
    parquet => Target::parquet(),
    gzip => Target::packed(&["ETH_BTC-5m.json.gz", "malformed.json.gz"]),
    zip => Target::packed(&["DAT_ASCII_EURUSD_M1_2024.zip", "malformed.zip"]),
    cache => Target::cache(),
    manifest => Target::manifest(),
}
