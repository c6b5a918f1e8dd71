//! What other programs call what has another name here, or none.

use crate::catalog::{Takes, find, names};
use crate::error::nearest;

/// Names that other programs give to what has another here.
const ELSEWHERE: [(&str, &str); 25] = [
    ("ma", "sma"),
    ("average", "sma"),
    ("mean", "sma"),
    ("bb", "bollinger"),
    ("bbands", "bollinger"),
    ("stoch", "stochastic"),
    ("sar", "parabolic_sar"),
    ("psar", "parabolic_sar"),
    ("willr", "williams_r"),
    ("zscore", "z_score"),
    ("crossover", "crosses_above"),
    ("crossunder", "crosses_below"),
    ("cross", "crosses_above"),
    ("crosses", "crosses_above"),
    ("cross_above", "crosses_above"),
    ("cross_below", "crosses_below"),
    ("price", "close"),
    ("hl2", "median"),
    ("hlc3", "typical"),
    ("barssince", "since"),
    ("hma", "hull"),
    ("dmi", "adx"),
    ("kc", "keltner"),
    ("wpr", "williams_r"),
    ("mom", "change"),
];

/// Names of other programs that are no name here, and how this language says it.
const OTHERWISE: [(&str, &str); 21] = [
    (
        "highest",
        "write `donchian(20).upper` for the highest high of 20 candles, and `donchian(20).upper[1]` for that before this candle",
    ),
    (
        "lowest",
        "write `donchian(20).lower` for the lowest low of 20 candles, and `donchian(20).lower[1]` for that before this candle",
    ),
    ("vwap", "no indicator here weighs prices by volume, and `sma(20, typical)` is the nearest"),
    ("obv", "no indicator here adds volume up"),
    ("if", NO_IF),
    ("iff", NO_IF),
    ("then", NO_IF),
    ("else", NO_IF),
    ("dayofweek", "write `weekday()`, which is 1 (Monday) to 7 (Sunday)"),
    ("buy", NO_OWN),
    ("sell", NO_OWN),
    ("signal", NO_OWN),
    ("signals", NO_OWN),
    ("position", NO_OWN),
    ("trades", NO_OWN),
    ("green", "write `bullish()` for a candle that closes above its open"),
    ("red", "write `bearish()` for a candle that closes below its open"),
    ("pinbar", PIN_BAR),
    ("pin_bar", PIN_BAR),
    (
        "mhi",
        "it counts the colours of the last candles: write `count(bullish(), 3) >= 2` for two of three that rose",
    ),
    ("time", "write `hour()`, `minute()`, `weekday()` or `between('08:00', '17:00')`"),
];
const PIN_BAR: &str = "write `hammer()` for a long wick below, `shooting_star()` for one above";
const NO_OWN: &str =
    "a rule knows candles, not its own signals and trades: `pauses` in [risk] keep trades apart";
const NO_IF: &str = "a rule is one condition, without `if`: join conditions with `and`, `or` and `not`";

/// What `TradingView` writes as `ta.name`, and how it is written here.
pub(crate) const TRADINGVIEW: [(&str, &str); 25] = [
    ("rsi", "rsi(14)"),
    ("sma", "sma(20)"),
    ("ema", "ema(20)"),
    ("wma", "wma(20)"),
    ("hma", "hull(20)"),
    ("macd", "macd(12, 26, 9)"),
    ("bb", "bollinger(20, 2).upper"),
    ("kc", "keltner(20, 10, 2).upper"),
    ("stoch", "stochastic(14, 1, 3).k"),
    ("atr", "atr(14)"),
    ("dmi", "adx(14)"),
    ("cci", "cci(20)"),
    ("wpr", "williams_r(14)"),
    ("sar", "parabolic_sar(0.02, 0.2)"),
    ("supertrend", "supertrend(10, 3).trend"),
    ("highest", "donchian(20).upper"),
    ("lowest", "donchian(20).lower"),
    ("change", "change(close)"),
    ("mom", "change(close, 10)"),
    ("rising", "rising(close, 3)"),
    ("falling", "falling(close, 3)"),
    ("crossover", "crosses_above(ema(9), ema(21))"),
    ("crossunder", "crosses_below(ema(9), ema(21))"),
    ("barssince", "since(close > open)"),
    ("pivot_point_levels", "pivots()"),
];

/// What of these has another sense there.
const DIFFERENCES: [(&str, &str); 3] = [
    (
        "supertrend",
        ", which is 1 while it rises and -1 while it falls: TradingView's direction is the other way round",
    ),
    ("rising", ", which is three rises in a row: TradingView asks for a close above each of the last three"),
    ("falling", ", which is three falls in a row: TradingView asks for a close below each of the last three"),
];

/// What `MetaTrader` calls by a name with an `i` before it, and how it is written here.
const METATRADER: [(&str, &str); 15] = [
    ("close", "close"),
    ("open", "open"),
    ("high", "high"),
    ("low", "low"),
    ("volume", "volume"),
    ("ma", "sma(20)"),
    ("rsi", "rsi(14)"),
    ("atr", "atr(14)"),
    ("adx", "adx(14)"),
    ("cci", "cci(20)"),
    ("macd", "macd(12, 26, 9)"),
    ("bands", "bollinger(20, 2).upper"),
    ("stochastic", "stochastic(5, 3, 3).k"),
    ("wpr", "williams_r(14)"),
    ("sar", "parabolic_sar(0.02, 0.2)"),
];

/// What other modules of `TradingView`'s language hold, which this one has no part of.
const OTHER_MODULES: [(&str, &str); 4] = [
    ("request", "a value of longer candles is written with @ behind it, such as sma(50)@1h"),
    ("strategy", NO_OWN),
    ("barstate", "leave it out: a rule sees each candle once, when it has closed"),
    ("timeframe", "a value of longer candles is written with @ behind it, such as sma(50)@1h"),
];

/// The modules of `TradingView`'s language.
const MODULES: [&str; 3] = ["ta", "math", "talib"];

/// What is said of `ta.name`; none where the first is no module of another language.
pub(crate) fn of_module(module: &str, name: &str) -> Option<String> {
    if let Some((_, cure)) = OTHER_MODULES.iter().find(|(there, _)| *there == module) {
        return Some(format!("there is no `{module}.{name}`: {cure}"));
    }
    if !MODULES.contains(&module) {
        return None;
    }
    let ours = TRADINGVIEW.iter().find(|(there, _)| *there == name);
    let otherwise = OTHERWISE.iter().find(|(there, _)| *there == name);
    let cure = match (ours, otherwise, find(name)) {
        (Some((_, ours)), _, _) => {
            let difference = DIFFERENCES.iter().find(|(there, _)| *there == name);
            format!("write it as {ours}{}", difference.map_or("", |(_, words)| *words))
        }
        (None, Some((_, cure)), _) => (*cure).to_owned(),
        (None, None, Some(function)) => format!("write {}", function.call),
        (None, None, None) => format!("leave `{module}.` out, and see the functions in docs/rules.md"),
    };
    Some(format!("there is no `{module}.{name}`: {cure}"))
}

/// What is said of a word that stands in other languages between the parts of a condition.
pub(crate) fn of_word(word: &str) -> Option<&'static str> {
    ["if", "iff", "then", "else"].contains(&word.to_lowercase().as_str()).then_some(NO_IF)
}

/// What was meant by a name that does not exist; `own` are the rule's parameters.
pub(crate) fn meant(name: &str, own: &[&str]) -> String {
    let plain = name.to_lowercase();
    if let Some((_, here)) = ELSEWHERE.iter().find(|(there, _)| *there == plain) {
        return format!("did you mean `{here}`?");
    }
    if let Some((_, cure)) = OTHERWISE.iter().find(|(there, _)| *there == plain) {
        return (*cure).to_owned();
    }
    let with_i = plain.strip_prefix('i').and_then(|rest| METATRADER.iter().find(|(there, _)| *there == rest));
    if let Some((_, here)) = with_i {
        return format!("write {here}, and {here}[1] for one candle ago, a shift of 1");
    }
    // A period that stands in the name: `rsi7`, `ema_20`.
    let function = plain.trim_end_matches(|letter: char| letter.is_ascii_digit());
    let period = &plain[function.len()..];
    let function = find(function.trim_end_matches('_'));
    if let Some(function) =
        function.filter(|one| !period.is_empty() && one.takes.first() == Some(&Takes::Period))
    {
        return format!("did you mean `{}({period})`?", function.name);
    }
    match nearest(name, own.iter().copied()).or_else(|| nearest(name, names())) {
        Some(near) => format!("did you mean `{near}`?"),
        None if own.is_empty() => {
            "a name is a field of the candle, a function, or a parameter, and the rule has no parameter"
                .to_owned()
        }
        None => format!("a name is a field of the candle, a function, or a parameter: {}", own.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rule;
    use candlewick_sdk::Interval;
    use std::collections::BTreeMap;

    #[test]
    fn no_name_of_elsewhere_is_one_of_ours() {
        let all: Vec<&str> = names().collect();
        for (there, here) in ELSEWHERE {
            assert!(all.contains(&here) && !all.contains(&there), "{there} {here}");
        }
        for (there, _) in METATRADER {
            assert!(!all.contains(&format!("i{there}").as_str()), "i{there}");
        }
        for (there, _) in OTHERWISE {
            assert!(!all.contains(&there) && !ELSEWHERE.iter().any(|(known, _)| *known == there), "{there}");
        }
    }

    #[test]
    fn what_is_proposed_is_a_sound_rule_and_stands_in_the_book() {
        let page = include_str!("../../../docs/rules.md");
        for (there, here) in TRADINGVIEW.iter().chain(&METATRADER) {
            let is_sound = |text: &str| {
                let rule = Rule::parse(Some(text), None);
                rule.is_ok_and(|rule| rule.build(&BTreeMap::new(), Interval::MINUTE, None).is_ok())
            };
            assert!(is_sound(here) || is_sound(&format!("{here} > 0")), "{here}");
            if METATRADER.contains(&(*there, *here)) {
                continue;
            }
            assert!(
                page.contains(&format!("| `ta.{there}` | `{here}`")),
                "docs/rules.md lacks {there}: {here}"
            );
        }
    }

    #[test]
    fn a_word_that_has_another_sense_there_is_told_with_the_difference() {
        let said = of_module("ta", "supertrend").unwrap();
        assert!(said.contains("supertrend(10, 3).trend, which is 1 while it rises"), "{said}");
        assert!(DIFFERENCES.iter().all(|(there, _)| TRADINGVIEW.iter().any(|(known, _)| known == there)));
    }
}
