//! Checks that any text is either a rule that runs or an error with a position within the text.

use candlewick_rules::Rule;
use candlewick_sdk::testkit::{extreme, random_walk};
use candlewick_sdk::{CandleAnswers, CoverageRule, Interval, Strategy};
use std::collections::BTreeMap;

pub(crate) fn check(buy: &str, sell: Option<&str>) {
    let parameters = BTreeMap::from([("period".to_owned(), 3.0), ("level".to_owned(), 30.5)]);
    let built = Rule::parse(Some(buy), sell).and_then(|rule| rule.build(&parameters, Interval::MINUTE, None));
    match built {
        Err((side, error)) => {
            let text = if side.key() == "buy" { buy } else { sell.unwrap_or_default() };
            let is_within = error.span.start <= error.span.end && error.span.end <= text.len();
            assert!(is_within, "{error:?} of {text:?}");
            assert!(!error.message.is_empty() && !error.render(text).is_empty());
            assert!(error.line_and_column(text).1 >= 1);
        }
        Ok(mut strategy) => {
            let _ = strategy.declaration(CoverageRule::Complete);
            let [mut quickest, mut ahead] = [0; 2].map(|_| strategy.clone().into_optimized());
            let candles = [extreme(20), random_walk(1, 60)].concat();
            let mut signals = Vec::new();
            for candle in &candles {
                let signal = strategy.on_candle(candle);
                assert_eq!(quickest.on_candle(candle), signal, "{buy}");
                if let Some(signal) = signal {
                    assert!(signal.reason.values().iter().all(|number| number.is_finite()), "{buy}");
                    signals.push(signal);
                }
            }
            let (mut rest, mut answers) = (&candles[..], CandleAnswers::default());
            while !rest.is_empty() {
                let shown = ahead.feed_until_limit(rest, candles.len(), &mut answers);
                rest = &rest[shown..];
            }
            assert!(answers.iter().map(|answer| &answer.signal).eq(&signals), "{buy}");
        }
    }
}
