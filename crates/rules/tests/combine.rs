//! Combinations compared with hand-computed tables, a naive implementation, and their parts alone.
#![allow(clippy::unwrap_used, reason = "what cannot be read or built fails its test")]

mod parts;

use candlewick_rules::combine;
use candlewick_sdk::testkit::{bot, from_closes, random_walk, trending};
use candlewick_sdk::{Direction, Expiry, Registry, Signal, Strategy, StrategyEntry};
use parts::{Scripted, answers, check_valid, extended, part, with};
use proptest::prelude::*;
use proptest::strategy::Strategy as _;
use serde_json::{Value, json};

fn registry() -> Registry {
    let prices = StrategyEntry::new("prices", "1.0.0", |_, _| Ok(Box::new(Scripted::default())));
    parts::registry([
        parts::script(),
        prices.with_prices(),
        StrategyEntry::from_factory::<rsi_reversal::RsiReversal>(),
        StrategyEntry::from_factory::<bollinger_reversal::BollingerReversal>(),
        StrategyEntry::from_factory::<trend_filter::TrendFilter>(),
        StrategyEntry::from_factory::<ema_cross::EmaCross>(),
    ])
}

fn built(params: &Value) -> Box<dyn Strategy> {
    let built = combine::entry(registry()).build(params, &bot("BTCUSDT"));
    built.unwrap_or_else(|error| panic!("{params}: {error}"))
}

fn letters(answers: Vec<Option<Signal>>) -> String {
    let letter = |answer: Option<Signal>| match answer.map(|signal| signal.direction) {
        Some(Direction::Buy) => 'b',
        Some(Direction::Sell) => 's',
        None => '.',
    };
    answers.into_iter().map(letter).collect()
}

fn script_of(params: &Value, candles: usize) -> String {
    letters(answers(built(params), &from_closes(&vec![1.0; candles])))
}

fn check_refused(params: &Value, expected: &str) {
    parts::check_refused(registry(), params, expected);
}

#[test]
fn shared_within_applies_to_all_parts_and_weights_add_as_decimals() {
    let weights = [0.7, 0.1].map(|weight| with("b", &json!({ "weight": weight })));
    for (params, expected) in [
        // With `within` 2, a signal counts for one more candle.
        (json!({ "vote": [part("b...s.b"), part(".b...b.")], "within": 2 }), ".b....b"),
        (json!({ "first_of": [part("bsbsb")], "filters": [part("b....")], "within": 3 }), "b.b.."),
        // 0.7 + 0.1 reaches 0.8 despite binary rounding.
        (json!({ "vote": weights, "quorum": 0.8 }), "b"),
    ] {
        assert_eq!(script_of(&params, expected.len()), expected, "{params}");
    }
}

#[test]
fn short_filters_equal_their_rules() {
    // The first candle closes at 00:01 UTC and has no true range. A rise from 10 to 11 has a true range of 1/11.
    for (filter, closes, expected) in [
        (json!({ "hours": ["00:02", "00:04"] }), &[1.0, 1.0, 1.0, 1.0, 1.0][..], ".bb.."),
        // Midnight UTC is 05:30 in India all year.
        (json!({ "hours": ["05:32", "05:34"], "timezone": "Asia/Kolkata" }), &[1.0; 5], ".bb.."),
        (json!({ "trend": 2 }), &[1.0, 2.0, 1.5, 1.4, 1.6], ".b..b"),
        (json!({ "volatility": { "period": 1, "min": 0.05 } }), &[10.0, 10.0, 11.0, 11.0, 11.0], "..b.."),
        (json!({ "volatility": { "period": 1, "max": 0.05 } }), &[10.0, 10.0, 11.0, 11.0, 11.0], ".b.bb"),
        (json!({ "when": "close > 10" }), &[10.0, 11.0, 12.0, 9.0, 11.0], ".bb.b"),
    ] {
        let params = json!({ "first_of": [part("bbbbb")], "filters": [filter] });
        assert_eq!(letters(answers(built(&params), &from_closes(closes))), expected, "{params}");
    }
}

#[test]
fn reason_and_expiry_come_from_the_deciding_part() {
    let numbered = |script: &str, number: f64| json!({ "strategy": "script", "params": { "script": script, "number": number } });
    let params = json!({ "vote": [numbered("b.", 1.0), numbered("bs", 2.0)], "quorum": 1.0 });
    let given = answers(built(&params), &from_closes(&[1.0, 1.0]));
    let numbers: Vec<f64> = given.iter().flatten().flat_map(|s| s.reason.values().to_vec()).collect();
    assert_eq!(numbers, [1.0, 2.0]);
    let rule = json!({ "strategy": "rules", "params": { "buy": "close > 0", "expiry": "05:00" } });
    for (more, expected) in [(json!({}), "05:00"), (json!({ "expiry": "15:00" }), "15:00")] {
        let params = extended(json!({ "first_of": [rule] }), &more);
        let given = answers(built(&params), &from_closes(&[1.0]));
        let expiry = given[0].as_ref().unwrap().expiry.unwrap();
        assert_eq!(expiry.close_type.to_string(), expected);
    }
}

#[test]
fn warm_up_covers_every_view_in_use() {
    let warm = |warmup: usize| json!({ "strategy": "script", "params": { "warmup": warmup } });
    for (params, expected) in [
        (json!({ "first_of": [warm(5), warm(3)] }), 5),
        (json!({ "first_of": [warm(5)], "within": 4 }), 5),
        (json!({ "vote": [warm(5), warm(3)], "within": 4 }), 8),
        (json!({ "vote": [warm(0), warm(0)], "within": 4 }), 4),
        (json!({ "first_of": [warm(0)] }), 0),
        (json!({ "first_of": [warm(5)], "filters": [{ "trend": 6 }] }), 6),
        (json!({ "first_of": [warm(5)], "filters": [warm(4)], "within": 3 }), 6),
    ] {
        assert_eq!(built(&params).warmup(), expected, "{params}");
    }
}

#[test]
fn single_part_is_transparent_and_two_inversions_cancel() {
    for name in ["rsi-reversal", "bollinger-reversal", "trend-filter", "ema-cross"] {
        for candles in [random_walk(3, 5_000), trending(4, 5_000)] {
            let alone = registry().find(name).unwrap().build(&json!({}), &bot("BTCUSDT")).unwrap();
            let warmup = alone.warmup();
            let expected = answers(alone, &candles);
            assert!(expected.iter().flatten().count() > 5, "{name}");
            let one = json!({ "strategy": name });
            let turned = json!({ "strategy": "combine", "params": { "first_of": [one], "invert": true } });
            for params in [
                json!({ "first_of": [one] }),
                json!({ "vote": [one] }),
                json!({ "vote": [one], "within": 7 }),
                json!({ "first_of": [turned], "invert": true }),
            ] {
                let combined = built(&params);
                let is_wider = params.get("within").is_some();
                assert_eq!(combined.warmup(), if is_wider { warmup + 6 } else { warmup }, "{params}");
                assert_eq!(answers(combined, &candles), expected, "{params}");
            }
        }
    }
}

#[derive(Clone, Debug)]
struct Plain {
    script: String,
    weight: u32,
    within: usize,
    invert: bool,
    view: &'static str,
}

impl Plain {
    /// Returns 1 for a buy signal at the candle, -1 for a sell signal, 0 for none.
    fn at(&self, candle: usize) -> i32 {
        let sign = match self.script.as_bytes()[candle] {
            b'b' => 1,
            b's' => -1,
            _ => 0,
        };
        if self.invert { -sign } else { sign }
    }

    fn view(&self, candle: usize) -> i32 {
        (0..self.within.min(candle + 1))
            .map(|back| self.at(candle - back))
            .find(|sign| *sign != 0)
            .unwrap_or(0)
    }

    fn written(&self, is_vote: bool, is_filter: bool) -> Value {
        let mut written = with(&self.script, &json!({ "invert": self.invert }));
        if is_vote || is_filter {
            written["within"] = json!(self.within);
        }
        if is_filter {
            written["view"] = json!(self.view);
        } else if is_vote {
            written["weight"] = json!(f64::from(self.weight));
        }
        written
    }
}

fn plain_answer((parts, filters): (&[Plain], &[Plain]), quorum: Option<u32>, invert: bool, i: usize) -> char {
    let chosen = match quorum {
        None => parts.iter().map(|part| part.at(i)).find(|sign| *sign != 0).unwrap_or(0),
        Some(quorum) => {
            let weight = |sign: i32| -> u32 {
                parts.iter().filter(|part| part.view(i) == sign).map(|part| part.weight).sum()
            };
            let wins = |sign: i32| {
                weight(sign) >= quorum
                    && weight(sign) > weight(-sign)
                    && parts.iter().any(|part| part.at(i) == sign)
            };
            [1, -1].into_iter().find(|sign| wins(*sign)).unwrap_or(0)
        }
    };
    let passes = filters.iter().all(|filter| match filter.view {
        "same" => filter.view(i) == chosen,
        "not_opposite" => filter.view(i) != -chosen,
        _ => filter.view(i) != 0,
    });
    let traded = if invert { -chosen } else { chosen };
    match (passes, traded) {
        (true, 1) => 'b',
        (true, -1) => 's',
        _ => '.',
    }
}

fn plain_part() -> impl proptest::strategy::Strategy<Value = Plain> {
    let view = prop::sample::select(vec!["same", "not_opposite", "any"]);
    ("[bs.]{16}", 1_u32..4, 1_usize..5, any::<bool>(), view)
        .prop_map(|(script, weight, within, invert, view)| Plain { script, weight, within, invert, view })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn combinations_agree_with_a_naive_calculation(
        parts in prop::collection::vec(plain_part(), 1..5),
        filters in prop::collection::vec(plain_part(), 0..3),
        share in prop::option::of(0.0_f64..=1.0),
        invert in any::<bool>(),
    ) {
        let total: u32 = parts.iter().map(|part| part.weight).sum();
        let least = parts.iter().map(|part| part.weight).min().unwrap_or_default();
        let quorum = share.map(|share| least + (share * f64::from(total - least)).round() as u32);
        let is_vote = quorum.is_some();
        let written: Vec<Value> = parts.iter().map(|part| part.written(is_vote, false)).collect();
        let written_filters: Vec<Value> = filters.iter().map(|part| part.written(is_vote, true)).collect();
        let key = if is_vote { "vote" } else { "first_of" };
        let mut params = json!({ key: written, "filters": written_filters, "invert": invert });
        if let Some(quorum) = quorum {
            params["quorum"] = json!(f64::from(quorum));
        }
        let expected: String =
            (0..16).map(|candle| plain_answer((&parts, &filters), quorum, invert, candle)).collect();
        prop_assert_eq!(script_of(&params, 16), expected, "{}", params);
    }
}

#[test]
fn exposes_parameters_of_parts_with_a_prefix() {
    let combine = combine::entry(registry());
    let params = json!({
        "vote": [
            { "strategy": "rsi-reversal", "params": { "period": 7 } },
            { "strategy": "rsi-reversal" },
            { "name": "rule", "strategy": "rules", "params": { "buy": "rsi(n) < 30", "parameters": { "n": { "default": 9, "min": 2, "max": 20 } } } },
        ],
        "filters": [{ "trend": 50 }, { "volatility": { "max": 0.01 } }],
    });
    let entry = combine.for_params(&params).unwrap();
    let of = |name: &str| entry.parameters.iter().find(|parameter| parameter.name == name).unwrap().clone();
    for (name, default) in [
        ("rsi-reversal.period", json!(7)),
        ("rsi-reversal-2.period", json!(14)),
        ("rule.n", json!(9)),
        ("trend.period", json!(50)),
        ("volatility.period", json!(14)),
        ("volatility.highest", json!(0.01)),
        ("quorum", json!(3.0)),
        ("within", json!(1)),
    ] {
        assert_eq!(of(name).default, default, "{name}");
    }
    assert_eq!((of("rule.n").minimum, of("rule.n").maximum), (Some(2.0), Some(20.0)));
    // Parameters of the combination override those of the part, and their ranges are checked.
    let mut other = params.clone();
    other["rule.n"] = json!(3);
    let bot = bot("BTCUSDT");
    let warmup = |params: &Value| combine.build(params, &bot).unwrap().warmup();
    let only = |n: u64| json!({ "first_of": [{ "name": "r", "strategy": "rules", "params": { "buy": "sma(n) > 1", "parameters": { "n": { "default": 9 } } } }], "r.n": n });
    assert_eq!((warmup(&only(3)), warmup(&only(30))), (3, 30));
    other["rule.n"] = json!(21);
    let refused = combine.build(&other, &bot).err().unwrap().to_string();
    assert!(refused.contains("rule.n = 21 is outside the range 2 to 20"), "{refused}");
    let version = |params: &Value| combine.for_params(params).unwrap().version.clone();
    assert_eq!(version(&only(3)), version(&only(30)));
    let mut turned = params.clone();
    turned["vote"][0]["invert"] = json!(true);
    assert_ne!(version(&params), version(&turned));
}

#[test]
fn what_is_wrong_is_named() {
    let weights = [0.7, 0.1].map(|weight| with("b", &json!({ "weight": weight })));
    let named = |name: &str| with("b", &json!({ "name": name }));
    for (params, expected) in [
        (json!({}), "a combination needs parts"),
        (json!({ "first_of": [part("b")], "vote": [part("b")] }), "not both"),
        (json!({ "first_of": { "strategy": "script" } }), "first_of must be a list"),
        (json!({ "first_of": [{ "strategy": "scrpt" }] }), "part scrpt: unknown strategy scrpt; did you"),
        (json!({ "first_of": [{ "strategy": "script", "wait": 1 }] }), "first_of[0]: unknown key `wait`"),
        (
            json!({ "first_of": [{ "strategy": "script", "params": { "scrip": "b" } }] }),
            "part script: unknown parameter scrip",
        ),
        (json!({ "first_of": [part("b")], "script.scrip": "b" }), "unknown parameter scrip"),
        (json!({ "first_of": [part("b")], "other.script": "b" }), "unknown parameter other.script"),
        (
            json!({ "first_of": [part("b")], "script.number": 10.0 }),
            "script.number = 10 is outside the range 0 to 9",
        ),
        (
            json!({ "first_of": [{ "strategy": "prices" }] }),
            "the strategy needs prices between candle closes",
        ),
        (json!({ "first_of": [with("b", &json!({ "weight": 2.0 }))] }), "weight is only valid with `vote`"),
        (json!({ "first_of": [with("b", &json!({ "within": 2 }))] }), "within is only valid in `vote`"),
        (json!({ "first_of": [part("b")], "quorum": 1.0 }), "quorum is only valid with `vote`"),
        (json!({ "vote": [with("b", &json!({ "weight": 0.0 }))] }), "weight must be a number above 0"),
        // A `nan` in the configuration arrives as null.
        (json!({ "vote": [with("b", &json!({ "weight": null }))] }), "use a number, not nothing"),
        (json!({ "vote": [part("b"), part("b")], "quorum": 3.0 }), "quorum = 3 is outside 1 to 2"),
        (json!({ "vote": weights, "quorum": 0.9 }), "is outside 0.1 to 0.8"),
        (json!({ "vote": [named("a"), named("a")] }), "two parts are named a"),
        (json!({ "vote": [named("A.b")] }), "use lower-case letters"),
        (json!({ "first_of": [part("b")], "within": 0 }), "within = 0 is outside the range 1 to 10000"),
        (json!({ "first_of": [part("b")], "expiry": "5m" }), "expiry: "),
        (
            json!({ "first_of": [part("b")], "gate": { "after_virtual_loses": 2 } }),
            "gate: unknown key `after_virtual_loses`; did you mean \"after_virtual_losses\"?",
        ),
        (json!({ "first_of": ["rsi-reversal"] }), "write { strategy = \"rsi-reversal\" }"),
    ] {
        check_refused(&params, expected);
    }
    let mut deep = part("b");
    for _ in 0..6 {
        deep = json!({ "strategy": "combine", "params": { "first_of": [deep] } });
    }
    check_refused(&json!({ "first_of": [deep] }), "combinations are nested too deeply: use at most 4 levels");
}

#[test]
fn rejects_invalid_filters() {
    for (filter, expected) in [
        (json!({}), "filters[0]: a filter needs exactly one of"),
        (json!({ "trend": 5, "when": "true" }), "a filter needs exactly one of"),
        (json!({ "huors": ["08:00", "17:00"] }), "filters[0]: unknown key `huors`; did you mean \"hours\"?"),
        (json!({ "hours": ["08:00", "17:00"], "invert": true }), "hours = [\"17:00\", \"08:00\"]"),
        (json!({ "hours": ["08:00", "17:00"], "timezone": "London" }), "did you mean Europe/London?"),
        (json!({ "hours": ["8", "17:00"] }), "part hours: "),
        (json!({ "hours": "08:00-17:00" }), "filters[0]: hours must be two times of day"),
        (json!({ "trend": 5, "timezone": "Europe/London" }), "timezone is only valid with `hours`"),
        (json!({ "trend": 5, "within": 3 }), "is only valid with a strategy"),
        (json!({ "when": "true", "within": 2 }), "filters[0]: within is only valid with a strategy"),
        (json!({ "when": "clsoe > 1" }), "did you mean `close`?"),
        (json!("adx(14) < 30"), "\"adx(14) < 30\" is not a table: write { when = \"adx(14) > 25\" }"),
        (json!({ "volatility": {} }), "min, max or both"),
        (json!({ "volatility": { "mni": 0.1 } }), "filters[0]: unknown key `mni`; did you mean \"min\"?"),
    ] {
        check_refused(&json!({ "first_of": [part("b")], "filters": [filter] }), expected);
    }
}

#[test]
fn exposes_indicators_of_parts_with_a_prefix() {
    let mut strategy = built(&json!({ "vote": [part("b"), part("s")], "within": 2 }));
    for candle in from_closes(&[1.0, 1.0, 1.0]) {
        strategy.on_candle(&candle);
        let shown: Vec<(String, f64)> =
            strategy.indicators().iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
        let count = shown.iter().filter(|(name, _)| name == "script-2.view").count();
        let is_there = shown[0].1 < 3.0;
        assert_eq!(count, usize::from(is_there), "{shown:?}");
        assert_eq!(shown[0].0, "script.shown");
    }
}

#[test]
fn combinations_pass_the_strategy_checks() {
    for params in [
        json!({
            "vote": [{ "strategy": "rsi-reversal" }, { "strategy": "bollinger-reversal", "weight": 2.0 }, { "strategy": "trend-filter" }],
            "quorum": 2.0,
            "within": 4,
            "filters": [{ "hours": ["06:00", "22:00"] }, { "volatility": { "min": 0.00001 } }],
        }),
        json!({
            "first_of": [{ "strategy": "ema-cross", "invert": true }, { "strategy": "rsi-reversal" }],
            "filters": [{ "strategy": "bollinger-reversal", "within": 30, "view": "not_opposite" }, { "trend": 50 }],
            "invert": true,
        }),
    ] {
        check_valid(combine::entry(registry()), params);
    }
}

#[test]
fn rule_files_pass_the_strategy_checks() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../strategies/rules");
    let files = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
    let files: Vec<_> = files.filter(|file| file.extension().is_some_and(|end| end == "toml")).collect();
    assert!(files.len() >= 10, "{files:?}");
    for file in files {
        check_valid(candlewick_rules::entry(), json!({ "file": file.to_str() }));
    }
}

#[test]
fn expiries_are_those_of_deciding_parts_or_its_own() {
    let rule =
        |expiry: &str| json!({ "strategy": "rules", "params": { "buy": "close > open", "expiry": expiry } });
    let filter = json!({ "strategy": "rules", "params": { "buy": "close > open", "expiry": "00:30" } });
    let registry = registry();
    let asked = |params: &Value| {
        let entry = combine::entry(registry.clone()).for_params(params).unwrap().into_owned();
        let strategy = entry.build(params, &bot("BTCUSDT")).unwrap();
        let code = |own: Option<Expiry>| own.map_or("the bot's".to_owned(), |own| own.close_type.to_string());
        strategy.expiries().into_iter().map(code).collect::<Vec<_>>()
    };
    let parts = json!([rule("00:02"), rule(""), { "strategy": "combine", "params": { "first_of": [rule("03:00")] } }]);
    assert_eq!(asked(&json!({ "first_of": parts, "filters": [filter] })), ["00:02", "the bot's", "03:00"]);
    assert_eq!(asked(&json!({ "vote": parts, "filters": [filter], "expiry": "05:00" })), ["05:00"]);
    assert_eq!(asked(&json!({ "first_of": [{ "strategy": "script" }] })), ["the bot's"]);
}
