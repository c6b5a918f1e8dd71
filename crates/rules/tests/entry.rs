//! The registered strategy `rules`: files and their errors, parameters, versions.
#![allow(clippy::unwrap_used, reason = "what cannot be read or built fails its test")]

mod parts;

use candlewick_rules::entry;
use candlewick_sdk::testkit::{bot, from_closes};
use candlewick_sdk::{BotContext, Candle, CandleAnswers, Millis, Ohlcv, Registry};
use serde_json::{Value, json};
use std::fs;

fn refusal(text: &str, more: &Value) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("my.toml");
    fs::write(&path, text).unwrap();
    let mut params = more.clone();
    params["file"] = json!(path.to_str());
    let refused = entry().build(&params, &bot("BTCUSDT")).err();
    let told = refused.map(|error| error.to_string()).unwrap_or_default();
    told.replace(path.to_str().unwrap(), "my.toml")
}

fn check_files(files: &[(&str, &str)]) {
    for (text, expected) in files {
        let told = refusal(text, &json!({}));
        let is_as_expected = if expected.is_empty() { told.is_empty() } else { told.contains(expected) };
        assert!(is_as_expected, "{text}\nis told:  {told}\nexpected: {expected}");
    }
}

#[test]
fn file_errors_have_line_and_column() {
    check_files(&[
        ("buy = \"rsi(14) < 30\"\nsell = \"rsi(14) > 70\"", ""),
        ("buy = \"between('08:00', '17:00')\"", ""),
        ("# Dips\nbuy = \"rsy(14) < 30\"", "line 2: column 8: buy: unknown name `rsy`: did you mean `rsi`?"),
        (
            "buy = 'close > open'\nsell = '''\nclose < open\nand clsoe < 3\n'''",
            "my.toml, line 4: column 5: sell: unknown name `clsoe`: did you mean `close`?\n  and clsoe < 3\n      ^^^^^",
        ),
        ("buy = \"between(\\\"08:00\\\", close)\"", "buy, character 18: write the time of day"),
        ("about = \"nothing\"", "my.toml: the rule needs a condition: set buy or sell"),
        ("buy = \"close > open\"\nexpiry = \"5m\"", "my.toml, line 2: "),
        ("buy = \"close > open\"\nbyu = \"doji()\"", "line 2: column 1: unknown key `byu`: did you"),
        ("buy = \"close > open\n", "line 1: column 20: the condition has no closing \""),
        ("buy = \"1 > low\"\n[parameters]\nlow = { default = 1 }", "line 3: column 1: parameters.low: `low`"),
        ("buy = \"doji()\"\n[parameters]\nperiod = { default = 14 }", "3: column 1: parameter `period`"),
        (
            "buy = \"rsi(n) < 30\"\n[parameters]\nn = { default = 14, min = 20, max = 30 }",
            "line 3: column 1: parameters.n: default = 14 is outside 20 to 30",
        ),
        (
            "buy = \"close > x\"\n[parameters]\nx = { default = 1, min = 3, max = 2 }",
            "line 3: column 1: parameters.x: min = 3 must be below max = 2",
        ),
        ("buy = \"doji()\"\n[parameters]\na-b = { default = 1 }", "line 3: column 1: parameters.a-b: use"),
        ("about = \"hours\"\nbuy = \"between(\"08:00\", \"17:00\")\"", "as in between('08:00', '17:00')"),
    ]);
}

#[test]
fn suggests_fixes_for_syntax_mistakes_in_a_file() {
    check_files(&[
        ("sell = 'close > open\n", "the condition has no closing '\n"),
        ("# Dips\nbuy = rsi(7) < 20\n", "line 2: column 7: put the condition in double quotes: buy ="),
        ("sell = between(\"08:00\", '17:00')", "double quotes: sell = \"between('08:00', '17:00')\"\n"),
        ("BUY = \"close > open\"", "my.toml, line 1: column 1: unknown key `BUY`: did you mean `buy`?\n"),
        ("call = \"close > open\"", "unknown key `call`: did you mean `buy`?\n"),
        ("buy = \"close > open\"\nPut = \"close < open\"", "unknown key `Put`: did you mean `sell`?\n"),
        ("long = \"close > open\"", "unknown key `long`: did you mean `buy`?\n"),
        ("short = \"close > open\"", "unknown key `short`: did you mean `sell`?\n"),
        ("buy = \"close > x\"\n[parameters]\nx = { defualt = 1 }", "line 3: column 7: unknown key `defualt`"),
        ("buy = \"close > open\"\nexpiry = 3", "line 2: column 10: write a duration as minutes and seconds"),
        ("buy = \"close > open\"\nexpiry = \"3:30\"", "did you mean expiry = \"03:30\"?\n"),
        ("buy = \"close > open\"\nexpiry = \"M15\"", "did you mean expiry = \"15:00\"?\n"),
        ("buy = \"close > open\"\nexpiry = \"5 min\"", "did you mean expiry = \"05:00\"?\n"),
        ("buy = \"close > open\"\nexpiry = 180", "did you mean 03:00 for 180 seconds, or 3:00:00"),
        ("buy = \"close > open\"\nexpiry = \"soon\"", "in quotes, such as expiry = \"05:00\"\n"),
        ("buy = \"close > open\" and doji()", "line 1: column 22: text follows the closing quote"),
        ("buy: \"close > open\"", "put the condition in double quotes: buy = \"close > open\"\n"),
        ("sell close > open", "double quotes: sell = \"close > open\"\n"),
        ("buy = \"close > open\"\n[parameters]\nperiod: 14", "line 3: column 7: each line must"),
        ("buy = \"close > open\" sell = \"close < open\"", "start a new line before `sell`"),
        (
            "buy = between(\u{201c}08:00\u{201d}, \u{201c}17:00\u{201d})",
            "double quotes: buy = \"between('08:00', '17:00')\"\n",
        ),
        ("rsi(7) < 30", "double quotes: buy = \"rsi(7) < 30\"\n"),
        ("buy = \u{201c}close > open\u{201d}", "double quotes: buy = \"close > open\"\n"),
        ("buy = [\"close > open\", \"doji()\"]", "join its parts with `and` or `or`"),
        ("buy = \"rsi(period) < 30\"\n[parameters]\nperiod = 14", "column 10: a parameter needs a default"),
        ("buy = \"close > x\"\n[parameters]\nx = { default = 1, step = 2 }", "key `step`: leave it out"),
    ]);
}

#[test]
fn checks_parameters_of_a_bot_against_range_and_rule() {
    let file = "buy = \"macd(fast, slow, 9) > 0\"\n[parameters]\nfast = { default = 12, min = 2, max = 50 }\nslow = { default = 26, min = 10, max = 60 }";
    assert_eq!(refusal(file, &json!({ "fast": 5, "slow": 20 })), "");
    for (params, named) in [
        (json!({ "fast": 1 }), "fast = 1 is outside the range 2 to 50"),
        (json!({ "fast": 2.5 }), "fast = 2.5: use a whole number"),
        (json!({ "fsat": 3 }), "unknown parameter fsat"),
        (
            json!({ "fast": 30, "slow": 20 }),
            "column 8: buy: macd: fast period 30 is not below slow period 20\n  macd(fast",
        ),
        (json!({ "buy": "close > open" }), "not both"),
    ] {
        let told = refusal(file, &params);
        assert!(told.contains(named), "{params}: {told}");
    }
}

#[test]
fn accepts_a_rule_in_the_parameters_of_a_bot() {
    let params = json!({
        "buy": "close > level", "expiry": "05:00", "level": 11,
        "parameters": { "level": { "default": 10, "min": 5, "max": 20 } },
    });
    let mut strategy = entry().build(&params, &bot("BTCUSDT")).unwrap();
    let signals: Vec<_> = from_closes(&[10.0, 12.0]).iter().map(|c| strategy.on_candle(c)).collect();
    assert!(signals[0].is_none());
    let signal = signals[1].as_ref().unwrap();
    assert_eq!(signal.reason.to_string(), "close > level close=12");
    assert_eq!(signal.expiry.map(|expiry| expiry.close_type.to_string()).as_deref(), Some("05:00"));
    assert_eq!(strategy.indicators(), [("close", 12.0)]);
    for (params, expected) in [
        (json!({}), "the rule is missing"),
        (
            json!({ "buy": "close > open", "expiry": 3 }),
            "in quotes: did you mean 00:03 for 3 seconds, or 03:00 for 3 minutes?",
        ),
        (json!({ "buy": "rsi(p) < 30", "parameters": { "p": 14 } }), "p = { default = 14, min = 2, max"),
        (json!({ "file": "no/such.toml" }), "no/such.toml: cannot read the rule"),
    ] {
        let told = entry().build(&params, &bot("BTCUSDT")).err().unwrap().to_string();
        assert!(told.contains(expected) && !told.contains("Written"), "{told}");
    }
}

#[test]
fn version_of_a_bot_depends_on_its_rule() {
    let registry = Registry::default().with_entry(entry()).unwrap();
    let rules = registry.find("rules").unwrap();
    let version = |buy: &str| rules.for_params(&json!({ "buy": buy })).unwrap().version.clone();
    assert_eq!(version("close > open"), version("close > open"));
    assert_ne!(version("close > open"), version("close > open[1]"));
    assert!(version("close > open").starts_with("1.0.0+"));
    // In 1.0.0, these comparisons were affected by rounding, so their version is higher.
    for buy in [
        "hammer()",
        "close - open >= 0.0005",
        "rising(range(), 2)@5m",
        "(close > median)[1]",
        "close - ema(9)[1] > 2 * atr(14)",
    ] {
        assert!(version(buy).starts_with("1.1.0+"), "{buy}: {}", version(buy));
    }
    for buy in [
        "inside_bar()",
        "rsi(14) < 30 - 5",
        "crosses_above(close, sma(9))",
        "rising(close, 3)",
        // Values that are not in the unit of a price have no rounding tolerance.
        "close / close[1] - 1 > 0.0005",
        "volume - volume[1] > 0",
        "rsi(14) - rsi(14)[1] > 0",
        "body() * volume > 5",
        "ema(9, rsi(14)) - 50 > 0",
        "supertrend(10, 3).trend + 1 > 0",
        "hour() - 1 == 7",
    ] {
        assert!(version(buy).starts_with("1.0.0+"), "{buy}: {}", version(buy));
    }
    // Parameter values are not part of the version; the journal stores them separately.
    let with_level = |level: i32| {
        let parameters = json!({ "level": { "default": 10 } });
        let params = json!({ "buy": "close > level", "parameters": parameters, "level": level });
        rules.for_params(&params).unwrap().version.clone()
    };
    assert_eq!(with_level(11), with_level(12));
    let params = json!({ "buy": "rsi(period) < 30", "parameters": { "period": { "default": 14, "min": 2, "max": 50 } } });
    let own = rules.for_params(&params).unwrap();
    let period = own.parameters.iter().find(|parameter| parameter.name == "period").unwrap();
    assert_eq!((period.minimum, period.maximum, period.kind.as_str()), (Some(2.0), Some(50.0), "integer"));
}

#[test]
fn time_functions_and_patterns_use_the_closing_candle() {
    // The first candle of a test closes on Wednesday 2025-01-01 at 00:01 UTC.
    for (rule, closes, expected) in [
        ("hour() == 0 and minute() == 2", &[1.0, 1.0, 1.0][..], &[1][..]),
        ("weekday() == 3", &[1.0, 1.0], &[0, 1]),
        ("between(\"00:02\", \"00:04\")", &[1.0; 5], &[1, 2]),
        ("between(\"23:00\", \"00:02\")", &[1.0; 3], &[0]),
        ("between('0:02', '0:04')", &[1.0; 5], &[1, 2]),
        ("bullish() and close > 1", &[1.0, 2.0, 1.5, 3.0], &[1, 3]),
        ("bullish_engulfing()", &[5.0, 4.0, 6.0], &[2]),
        ("bearish_engulfing()", &[4.0, 5.0, 3.0], &[2]),
    ] {
        let strategy = entry().build(&json!({ "buy": rule }), &bot("BTCUSDT")).unwrap();
        let answers = parts::answers(strategy, &from_closes(closes)).into_iter().enumerate();
        let met: Vec<usize> = answers.filter_map(|(index, answer)| answer.map(|_| index)).collect();
        assert_eq!(met, expected, "{rule}");
    }
}

/// London is one hour ahead of UTC from 2026-03-29 to 2026-10-25 (changes at 01:00 UTC), else at UTC.
/// New York is four hours behind UTC from 2026-03-08 to 2026-11-01, else five.
#[test]
fn hours_of_a_time_zone_follow_daylight_saving() {
    let london = "between('08:00', '17:00', 'Europe/London')";
    let an_hour = "between('01:00', '02:00', 'Europe/London')";
    let evening = "between('18:00', '24:00', 'America/New_York')";
    // Day: days after 2026-01-01, here 5 January, 1 July, 29 March and 25 October. Expected: UTC hours of closes.
    for (rule, day, expected) in [
        ("hour('Europe/London') >= 8 and hour('Europe/London') < 17", 4, &[(8, 17)][..]),
        ("hour('Europe/London') >= 8 and hour('Europe/London') < 17", 181, &[(7, 16)][..]),
        ("hour('Europe/London') == 1", 87, &[][..]),
        ("hour('Europe/London') == 1", 297, &[(0, 2)][..]),
        // 5 January is a Monday and 1 July a Wednesday. Full hours in UTC are half past in India.
        ("weekday('America/New_York') == 7", 4, &[(0, 5)][..]),
        ("weekday('America/New_York') == 2", 181, &[(0, 4)][..]),
        ("minute('Asia/Kolkata') == 30 and hour('Asia/Kolkata') < 7", 4, &[(0, 2), (19, 24)][..]),
        (london, 4, &[(8, 17)][..]),
        (london, 181, &[(7, 16)][..]),
        // Clocks change before 08:00.
        (london, 87, &[(7, 16)][..]),
        (london, 297, &[(8, 17)][..]),
        // The hour from 01:00 to 02:00 is skipped in spring and repeated in autumn.
        (an_hour, 87, &[][..]),
        (an_hour, 297, &[(0, 2)][..]),
        (evening, 4, &[(0, 5), (23, 24)][..]),
        (evening, 181, &[(0, 4), (22, 24)][..]),
        // India is 5.5 hours ahead of UTC all year, so this is 18:00 to 22:00 UTC.
        ("between('23:30', '03:30', 'Asia/Kolkata')", 4, &[(18, 22)][..]),
    ] {
        let bot = BotContext { interval: "1h".parse().unwrap(), ..bot("BTCUSDT") };
        let midnight = Millis::new(1_767_225_600_000) + Millis::DAY * day;
        let candle = |closes: i64| {
            let prices = Ohlcv { open: 1.0, high: 1.0, low: 1.0, close: 1.0, volume: 0.0 };
            Candle::new(midnight + Millis::HOUR * (closes - 1), "1h".parse().unwrap(), prices).unwrap()
        };
        let candles: Vec<Candle> = (0..24).map(candle).collect();
        let expected: Vec<i64> = expected.iter().flat_map(|(from, to)| *from..*to).collect();
        let build = || entry().build(&json!({ "buy": rule }), &bot).unwrap();
        let mut strategy = build();
        let signals = (0..).zip(&candles).filter(|(_, candle)| strategy.on_candle(candle).is_some());
        assert_eq!(signals.map(|(hour, _)| hour).collect::<Vec<i64>>(), expected, "{rule}, day {day}");
        let (mut strategy, mut answers) = (build(), CandleAnswers::default());
        strategy.feed_until_limit(&candles, candles.len(), &mut answers);
        let hours = answers.iter().map(|a| (a.candle_time - midnight).get() / Millis::HOUR.get() + 1);
        assert_eq!(hours.collect::<Vec<i64>>(), expected, "{rule}, day {day}, many candles together");
    }
}
