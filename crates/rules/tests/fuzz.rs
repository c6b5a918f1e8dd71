//! Arbitrary rules and files never panic, and errors have a position within the text.
#![allow(clippy::unwrap_used, reason = "what cannot be read or built fails its test")]

mod anything;

use anything::check;
use candlewick_rules::Rule;
use candlewick_sdk::testkit::bot;
use proptest::prelude::*;

const PIECES: &str = "rsi(14)|sma(3)|close|open[1]|macd(2, 3, 2).signal|bollinger(5, 2).upper|\
    donchian(3).lower[1]|period|0|1|30|1e300|0.5| and | or |not | < | > | <= | >= | == | != | + | - | * | / |\
    (|)|[|]|,|.|@5m|@1h|@1m|@90s|@x|\"08:00\"|'17:00'|between(\"08:00\", \"17:00\")|hour()|doji()|\
    bullish_engulfing()|since(close > open)|count(close > open, 3)|crosses_above(close, sma(2))|\
    rising(close, 2)|abs(|min(|supertrend(3, 2)|pivots()|session_range(\"00:00\", \"08:00\").high|\
    true|false|\n|é|=|\u{202e}";

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn any_text_parses_or_fails_with_a_position(letters in prop::collection::vec(any::<char>(), 0..60)) {
        check(&letters.into_iter().collect::<String>(), None);
    }

    #[test]
    fn any_bytes_parse_or_fail_with_a_position(bytes in prop::collection::vec(any::<u8>(), 0..120)) {
        check(&String::from_utf8_lossy(&bytes), None);
    }

    #[test]
    fn random_sequences_of_tokens_never_panic(
        pieces in prop::collection::vec(prop::sample::select(PIECES.split('|').collect::<Vec<_>>()), 0..25),
    ) {
        check(&pieces.concat(), None);
    }

    #[test]
    fn any_file_parses_or_fails(
        lines in prop::collection::vec("(buy|sell|expiry|about|[a-z]{1,4}|\\[parameters\\])( = )?(\"[ -~]{0,20}\"|[0-9.]{1,5}|\\{ default = [0-9]{1,3}(, min = [0-9]{1,2})? \\})?", 0..6),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("any.rules.toml");
        std::fs::write(&path, lines.join("\n")).unwrap();
        let _ = candlewick_rules::entry().build(&serde_json::json!({ "file": path.to_str() }), &bot("BTCUSDT"));
    }
}

#[test]
fn rejects_deep_and_long_rules_without_recursing() {
    for text in [
        "(".repeat(3_000),
        "not ".repeat(900),
        "-".repeat(3_000),
        format!("close{}", "[1]".repeat(1_200)),
        "1+".repeat(1_900),
    ] {
        check(&text, None);
        assert!(Rule::parse(Some(&text), None).is_err());
    }
    check(&"close > open and ".repeat(400), None);
}
