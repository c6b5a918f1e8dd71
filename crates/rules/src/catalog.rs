//! Catalog of the names in the rule language: candle fields, functions, indicators and patterns.

use crate::graph::Field;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Argument {
    /// Constant whole number, usually a number of candles.
    Period,
    /// Constant number, not necessarily whole.
    Constant,
    /// Number that changes with each candle; the close by default.
    Source,
    Number,
    Condition,
    Time,
    Zone,
}

#[derive(Debug)]
pub(crate) struct Function {
    pub(crate) name: &'static str,
    pub(crate) usage: &'static str,
    pub(crate) arguments: &'static [Argument],
    pub(crate) optional_count: usize,
    pub(crate) lines: &'static [&'static str],
    /// Index in `lines` of the line used by default. `None` if a rule must name a line.
    pub(crate) main_line: Option<usize>,
}

const fn function(name: &'static str, usage: &'static str, arguments: &'static [Argument]) -> Function {
    Function { name, usage, arguments, optional_count: 0, lines: &[], main_line: None }
}

impl Function {
    const fn optional(mut self, count: usize) -> Self {
        self.optional_count = count;
        self
    }

    const fn lines(mut self, lines: &'static [&'static str], main_line: Option<usize>) -> Self {
        (self.lines, self.main_line) = (lines, main_line);
        self
    }
}

use Argument::{Condition, Constant, Number, Period, Source, Time, Zone};

/// Indicator functions of the rule language. `candlewick_sdk::indicator` implements them.
const INDICATORS: [Function; 20] = [
    function("sma", "sma(period, of)", &[Period, Source]).optional(1),
    function("ema", "ema(period, of)", &[Period, Source]).optional(1),
    function("wma", "wma(period, of)", &[Period, Source]).optional(1),
    function("hull", "hull(period, of)", &[Period, Source]).optional(1),
    function("rsi", "rsi(period, of)", &[Period, Source]).optional(1),
    function("z_score", "z_score(period, of)", &[Period, Source]).optional(1),
    function("macd", "macd(fast, slow, signal, of)", &[Period, Period, Period, Source])
        .optional(1)
        .lines(&["macd", "signal", "histogram"], Some(0)),
    function("bollinger", "bollinger(period, deviations, of)", &[Period, Constant, Source])
        .optional(1)
        .lines(&["upper", "middle", "lower"], None),
    function("atr", "atr(period)", &[Period]),
    function("adx", "adx(period)", &[Period]).lines(&["adx", "plus_di", "minus_di"], Some(0)),
    function("cci", "cci(period)", &[Period]),
    function("stochastic", "stochastic(period, k, d)", &[Period, Period, Period]).lines(&["k", "d"], None),
    function("donchian", "donchian(period)", &[Period]).lines(&["upper", "middle", "lower"], None),
    function("keltner", "keltner(period, range_period, multiple)", &[Period, Period, Constant])
        .lines(&["upper", "middle", "lower"], None),
    function("williams_r", "williams_r(period)", &[Period]),
    function("supertrend", "supertrend(period, multiple)", &[Period, Constant])
        .lines(&["line", "trend"], Some(0)),
    function("parabolic_sar", "parabolic_sar(step, limit)", &[Constant, Constant])
        .lines(&["stop", "trend"], Some(0)),
    function("heikin_ashi", "heikin_ashi()", &[]).lines(&["open", "high", "low", "close"], None),
    function("session_range", "session_range(\"from\", \"to\")", &[Time, Time])
        .lines(&["high", "low", "close", "over"], None),
    function("pivots", "pivots(\"day_start\")", &[Time])
        .optional(1)
        .lines(&["pivot", "r1", "r2", "r3", "s1", "s2", "s3"], Some(0)),
];

/// Returns the names of the indicators that rules can use.
pub fn indicator_names() -> impl Iterator<Item = &'static str> {
    INDICATORS.into_iter().map(|indicator| indicator.name)
}

const FUNCTIONS: [Function; 17] = [
    function("abs", "abs(number)", &[Number]),
    function("min", "min(one, other)", &[Number, Number]),
    function("max", "max(one, other)", &[Number, Number]),
    function("change", "change(number, candles)", &[Number, Period]).optional(1),
    function("body", "body()", &[]),
    function("range", "range()", &[]),
    function("upper_wick", "upper_wick()", &[]),
    function("lower_wick", "lower_wick()", &[]),
    function("crosses_above", "crosses_above(one, other)", &[Number, Number]),
    function("crosses_below", "crosses_below(one, other)", &[Number, Number]),
    function("rising", "rising(number, candles)", &[Number, Period]),
    function("falling", "falling(number, candles)", &[Number, Period]),
    function("since", "since(condition, within)", &[Condition, Period]).optional(1),
    function("count", "count(condition, candles)", &[Condition, Period]),
    function("hour", "hour() or hour(\"Europe/London\")", &[Zone]).optional(1),
    function("minute", "minute() or minute(\"Europe/London\")", &[Zone]).optional(1),
    function("weekday", "weekday() or weekday(\"Europe/London\")", &[Zone]).optional(1),
];

const BETWEEN: Function =
    function("between", "between(\"from\", \"to\", \"time zone\")", &[Time, Time, Zone]).optional(1);

const FIELDS: [(&str, Field); 7] = [
    ("open", Field::Open),
    ("high", Field::High),
    ("low", Field::Low),
    ("close", Field::Close),
    ("volume", Field::Volume),
    ("median", Field::Median),
    ("typical", Field::Typical),
];

/// Candle patterns after Nison, *Japanese Candlestick Charting Techniques*, 1991, with Candlewick's own bounds.
const PATTERNS: [(&str, &str); 16] = [
    ("bullish", "close > open"),
    ("bearish", "close < open"),
    ("doji", "range() > 0 and body() <= 0.1 * range()"),
    ("hammer", "body() > 0 and lower_wick() >= 2 * body() and upper_wick() <= 0.5 * body()"),
    ("shooting_star", "body() > 0 and upper_wick() >= 2 * body() and lower_wick() <= 0.5 * body()"),
    ("marubozu", "range() > 0 and body() >= 0.95 * range()"),
    ("inside_bar", "high < high[1] and low > low[1]"),
    ("outside_bar", "high > high[1] and low < low[1]"),
    (
        "bullish_engulfing",
        "bearish()[1] and bullish() and open <= close[1] and close >= open[1] and body() > body()[1]",
    ),
    (
        "bearish_engulfing",
        "bullish()[1] and bearish() and open >= close[1] and close <= open[1] and body() > body()[1]",
    ),
    ("bullish_harami", "bearish()[1] and bullish() and open > close[1] and close < open[1]"),
    ("bearish_harami", "bullish()[1] and bearish() and open < close[1] and close > open[1]"),
    (
        "piercing",
        "bearish()[1] and bullish() and open <= close[1] and close > (open[1] + close[1]) / 2 and close < open[1]",
    ),
    (
        "dark_cloud",
        "bullish()[1] and bearish() and open >= close[1] and close < (open[1] + close[1]) / 2 and close > open[1]",
    ),
    (
        "three_white_soldiers",
        "bullish() and bullish()[1] and bullish()[2] and close > close[1] and close[1] > close[2] and open > open[1] and open[1] > open[2]",
    ),
    (
        "three_black_crows",
        "bearish() and bearish()[1] and bearish()[2] and close < close[1] and close[1] < close[2] and open < open[1] and open[1] < open[2]",
    ),
];

pub(crate) fn find_function(name: &str) -> Option<&'static Function> {
    let mut all = INDICATORS.iter().chain(&FUNCTIONS).chain(std::iter::once(&BETWEEN));
    all.find(|function| function.name == name)
}

pub(crate) fn find_field(name: &str) -> Option<Field> {
    FIELDS.into_iter().find(|(known, _)| *known == name).map(|(_, field)| field)
}

pub(crate) fn find_pattern(name: &str) -> Option<&'static str> {
    PATTERNS.into_iter().find(|(known, _)| *known == name).map(|(_, definition)| definition)
}

/// Returns the reserved names. A rule cannot use them as parameter names.
pub(crate) fn reserved_names() -> impl Iterator<Item = &'static str> + Clone {
    let words = ["and", "or", "not", "true", "false", "between"];
    let functions = INDICATORS.iter().chain(&FUNCTIONS).map(|function| function.name);
    let patterns = PATTERNS.into_iter().map(|(name, _)| name);
    FIELDS.into_iter().map(|(name, _)| name).chain(functions).chain(patterns).chain(words)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn names_are_unique() {
        let all: Vec<&str> = reserved_names().collect();
        assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), all.len());
    }

    #[test]
    fn documentation_lists_all_names_and_definitions() {
        let page = include_str!("../../../docs/rule-language.md");
        for name in reserved_names() {
            let is_there = page
                .split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_')
                .any(|word| word == name);
            assert!(is_there, "docs/rule-language.md lacks {name}");
        }
        for line in INDICATORS.iter().flat_map(|indicator| indicator.lines) {
            let is_of_pivots = ["r1", "r2", "r3", "s1", "s2", "s3"].contains(line);
            let is_there = is_of_pivots || page.contains(&format!("`.{line}`"));
            assert!(is_there, "docs/rule-language.md lacks .{line}");
        }
        for (name, definition) in PATTERNS {
            let is_there = page.contains(&format!("| `{name}()` | `{definition}` |"));
            assert!(is_there, "docs/rule-language.md lacks {name}: {definition}");
        }
    }
}
