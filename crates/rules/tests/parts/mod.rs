//! Shared fixtures: scripted parts of combinations, and the signals of strategies.
#![allow(dead_code, reason = "no test needs all of it")]

use candlewick_rules::{RuleStrategy, combine, entry};
use candlewick_sdk::testkit::{
    Finding, FirstRun, Market, Subject, UnseenWalk, bot, candles_needed, random_walk, validate,
};
use candlewick_sdk::{
    Candle, CoverageRule, Direction, Interval, LongerCandles, Parameter, Registry, Signal, Strategy,
    StrategyEntry,
};
use serde_json::{Value, json};

/// Strategy that follows a script with one letter per candle: `b` for buy, `s` for sell, else none.
#[derive(Default)]
pub(crate) struct Scripted {
    script: Vec<char>,
    number: f64,
    warmup: usize,
    shown: usize,
}

impl Strategy for Scripted {
    fn warmup(&self) -> usize {
        self.warmup
    }

    fn on_candle(&mut self, _: &Candle) -> Option<Signal> {
        let letter = self.script.get(self.shown).copied();
        self.shown += 1;
        let signal = match letter {
            Some('b') => Signal::buy("scripted"),
            Some('s') => Signal::sell("scripted"),
            _ => return None,
        };
        Some(signal.with("number", self.number))
    }

    fn indicators(&self) -> Vec<(&str, f64)> {
        vec![("shown", self.shown as f64)]
    }
}

pub(crate) fn script() -> StrategyEntry {
    let entry = StrategyEntry::new("script", "1.0.0", |values, _| {
        Ok(Box::new(Scripted {
            script: values["script"].as_str().unwrap().chars().collect(),
            number: values["number"].as_f64().unwrap(),
            warmup: values["warmup"].as_u64().unwrap() as usize,
            shown: 0,
        }))
    });
    entry
        .with_parameter(Parameter::new("script", ""))
        .with_parameter(Parameter::new("number", 0.0).with_range(0.0, 9.0))
        .with_parameter(Parameter::new("warmup", 0))
}

pub(crate) fn registry(others: impl IntoIterator<Item = StrategyEntry>) -> Registry {
    [entry()].into_iter().chain(others).try_fold(Registry::default(), Registry::with_entry).unwrap()
}

pub(crate) fn with_combinations(parts: Registry) -> Registry {
    parts.clone().with_entry(combine::entry(parts)).unwrap()
}

pub(crate) fn part(script: &str) -> Value {
    json!({ "strategy": "script", "params": { "script": script } })
}

pub(crate) fn with(script: &str, more: &Value) -> Value {
    extended(part(script), more)
}

pub(crate) fn extended(mut value: Value, more: &Value) -> Value {
    value.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    value
}

pub(crate) fn answers(mut strategy: Box<dyn Strategy>, candles: &[Candle]) -> Vec<Option<Signal>> {
    let mut longer = LongerCandles::new(Interval::MINUTE, strategy.longer_intervals()).unwrap();
    let answer = |candle| {
        let answer = strategy.on_candle(candle);
        longer.feed_longer_candles_after(candle, &mut *strategy);
        answer
    };
    candles.iter().map(answer).collect()
}

pub(crate) fn declared(strategy: &RuleStrategy, candles: &[Candle]) -> Vec<Option<Direction>> {
    let (mut series, entries) = strategy.declaration(CoverageRule::Complete).into_parts();
    let mut values = vec![Vec::new(); series.len()];
    series.iter_mut().zip(&mut values).for_each(|(series, values)| series.fill(candles, values));
    let row = |at: usize| values.iter().map(|values| values[at]).collect::<Vec<f64>>();
    let met = |at: usize| entries.iter().find(|entry| entry.is_met_by(&row(at))).map(|entry| entry.direction);
    (0..candles.len()).map(met).collect()
}

pub(crate) fn check_refused(registry: Registry, params: &Value, expected: &str) {
    let refused = combine::entry(registry).build(params, &bot("BTCUSDT")).err();
    let told = refused.map(|error| error.to_string()).unwrap_or_default();
    assert!(told.contains(expected), "{params}\nis told:  {told}\nexpected: {expected}");
}

pub(crate) fn check_valid(entry: StrategyEntry, params: Value) {
    let subject = Subject { entry, params, bot: bot("BTCUSDT") };
    let markets = |warmup| {
        let candles = random_walk(2, candles_needed(warmup) + 3_000);
        vec![Market { name: "the candles".to_owned(), candles }]
    };
    let (first, markets) = FirstRun::new(&subject, markets, &mut || false).unwrap();
    let unseen = UnseenWalk { seed: 7, candles: 2_000 };
    let validation = validate(&subject, &markets, &first, unseen, &mut |_| {}).unwrap();
    for checked in &validation.checked {
        let case = format!("{}: {}: {}", subject.params, checked.check, checked.words);
        assert_ne!(checked.finding, Finding::Failed, "{case}");
    }
    assert!(validation.signals > 5, "{}: {} signals", subject.params, validation.signals);
}
