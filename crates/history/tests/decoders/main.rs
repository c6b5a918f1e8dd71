//! Decoders never panic, neither on random bytes nor on valid files with changed bytes.
//!
//! `DECODER_CASES` is the number of cases per decoder and kind of input.
#![allow(clippy::unwrap_used, reason = "what cannot be made fails its test")]

mod target;

use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use std::sync::Once;
use target::Target;

const CASES: u32 = 150;

fn cases() -> u32 {
    let text = std::env::var("DECODER_CASES").ok();
    text.map_or(CASES, |text| text.parse().unwrap_or_else(|_| panic!("DECODER_CASES={text} is not a number")))
}

#[derive(Clone, Debug)]
struct Edit {
    place: Index,
    removed: usize,
    written: Vec<u8>,
}

const WORDS: &[u8] =
    b"NaN inf -1 0 1e999 99999999999999999999 -9223372036854775808 253402300799999 null , ; \n \
    \xEF\xBB\xBF \xFF [[ \"";
const NUMBERS: [i64; 8] = [0, -1, 1, i64::MAX, i64::MIN, i32::MAX as i64, i32::MIN as i64, 1 << 40];

fn piece() -> impl Strategy<Value = Vec<u8>> {
    let words: Vec<&[u8]> = WORDS.split(|byte| *byte == b' ').collect();
    prop_oneof![
        prop::sample::select(words).prop_map(<[u8]>::to_vec),
        prop::sample::select(NUMBERS.to_vec()).prop_map(|number| number.to_le_bytes().to_vec()),
        prop::sample::select(NUMBERS.to_vec()).prop_map(|number| number.to_le_bytes()[..4].to_vec()),
        prop::collection::vec(any::<u8>(), 1..8),
    ]
}

fn edit() -> impl Strategy<Value = Edit> {
    let change = prop_oneof![
        4 => any::<u8>().prop_map(|byte| (1, vec![byte])),
        4 => piece().prop_map(|piece| (piece.len(), piece)),
        2 => piece().prop_map(|piece| (0, piece)),
        2 => (1_usize..40).prop_map(|length| (length, Vec::new())),
        1 => Just((usize::MAX, Vec::new())),
    ];
    (any::<Index>(), change).prop_map(|(place, (removed, written))| Edit { place, removed, written })
}

fn edits() -> impl Strategy<Value = Vec<Edit>> {
    prop::collection::vec(edit(), 1..6)
}

fn edited(content: &[u8], edits: &[Edit]) -> Vec<u8> {
    let mut content = content.to_vec();
    for Edit { place, removed, written } in edits {
        if content.is_empty() {
            break;
        }
        let at = place.index(content.len());
        let end = at.saturating_add(*removed).min(content.len());
        content.splice(at..end, written.iter().copied());
    }
    content
}

/// Silences panics of the column libraries on inconsistent files, which the decoders catch.
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
