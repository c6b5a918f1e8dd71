//! Parser for the values of search axes: `5..30`, `5..30:5`, `1..500:log`, `1..500:log/9`, `2,5,9`.

use super::axis::{AxisScale, AxisValues};
use super::{Axis, AxisTarget, Setting};
use crate::SearchError;
use candlewick_engine::BotSettings;
use candlewick_sdk::parameters::Parameter;
use candlewick_sdk::rust_decimal::Decimal;
use candlewick_sdk::rust_decimal::prelude::ToPrimitive;
use candlewick_sdk::{CloseType, ExpirationType, StrategyEntry};
use std::sync::Arc;

const MAX_VALUES: usize = 1_000_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NumberKind {
    Whole,
    Real,
}

impl Axis {
    /// Parses `NAME=VALUES`. `NAME` alone means the full range that the strategy declares. `NAME` is
    /// a strategy parameter, or one of the bot settings `close_type` and `expiration_type`.
    pub fn parse(text: &str, entry: &StrategyEntry, bot: &BotSettings) -> Result<Self, SearchError> {
        let (name, values) = text.split_once('=').map_or((text, ""), |(name, values)| (name, values));
        let (name, values) = (name.trim(), values.trim());
        let wrong = |problem: String| SearchError::InvalidValues {
            name: name.to_owned(),
            given: values.to_owned(),
            problem,
        };
        if let Some(parameter) = entry.parameters.iter().find(|parameter| parameter.name == name) {
            let (values, scale) = parse_values(values, parameter).map_err(wrong)?;
            return Ok(Self::new(name.to_owned(), AxisTarget::Parameter, values, scale));
        }
        let (target, values) = match name {
            "close_type" => (AxisTarget::CloseType, parse_text_values::<CloseType>(values).map_err(wrong)?),
            "expiration_type" => {
                (AxisTarget::ExpirationType, parse_text_values::<ExpirationType>(values).map_err(wrong)?)
            }
            _ => {
                let own = entry.parameters.iter().map(|parameter| parameter.name.clone());
                let known = own.chain(["close_type", "expiration_type"].map(str::to_owned)).collect();
                let (name, strategy) = (name.to_owned(), bot.strategy.clone());
                return Err(SearchError::UnknownParameter { name, strategy, known });
            }
        };
        Ok(Self::new(name.to_owned(), target, values, AxisScale::Linear))
    }
}

fn parse_values(text: &str, parameter: &Parameter) -> Result<(AxisValues, AxisScale), String> {
    match parameter.kind.as_str() {
        "integer" => parse_numbers(text, parameter, NumberKind::Whole),
        "number" => parse_numbers(text, parameter, NumberKind::Real),
        "boolean" if text.is_empty() => {
            Ok(linear_axis_values(vec![Setting::Flag(false), Setting::Flag(true)]))
        }
        "boolean" => {
            let flag = |item: &str| item.parse().map(Setting::Flag).map_err(|_| "use true,false".to_owned());
            let flags = split_items(text)?.into_iter().map(flag).collect::<Result<_, _>>()?;
            check_unique(linear_axis_values(flags))
        }
        "string" if text.is_empty() => Err("list its values: NAME=one,two".to_owned()),
        "string" => {
            let texts = split_items(text)?.into_iter().map(|item| Setting::Text(Arc::from(item)));
            check_unique(linear_axis_values(texts.collect()))
        }
        other => Err(format!("a parameter of type \"{other}\" cannot be searched")),
    }
}

fn parse_numbers(text: &str, param: &Parameter, kind: NumberKind) -> Result<(AxisValues, AxisScale), String> {
    let Some((low, rest)) = split_range(text) else {
        let items = split_items(text)?.into_iter();
        let settings = items.map(|item| to_checked_setting(parse_decimal(item)?, param, kind));
        return check_unique(linear_axis_values(settings.collect::<Result<_, _>>()?));
    };
    let (high, spread) = rest.split_once(':').map_or((rest, ""), |(high, spread)| (high, spread.trim()));
    let low = parse_bound(low, param.minimum, "low", kind)?;
    let high = parse_bound(high, param.maximum, "high", kind)?;
    to_checked_setting(low, param, kind)?;
    to_checked_setting(high, param, kind)?;
    if low >= high {
        return Err(format!("the low end {low} of the range must be below the high end {high}"));
    }
    let between = |scale| Ok((AxisValues::Between(to_f64(low), to_f64(high)), scale));
    let is_log = spread == "log" || spread.starts_with("log/");
    match spread {
        "" if kind == NumberKind::Real => between(AxisScale::Linear),
        "" => Ok(linear_axis_values(evenly_spaced_values(low, high, Decimal::ONE, kind)?)),
        _ if is_log && low <= Decimal::ZERO => Err(format!("a log range must start above 0, not at {low}")),
        "log" if kind == NumberKind::Real => between(AxisScale::Log),
        "log" => {
            Ok((AxisValues::Listed(evenly_spaced_values(low, high, Decimal::ONE, kind)?), AxisScale::Log))
        }
        counted if is_log => {
            let count = counted["log/".len()..].parse().ok().filter(|count| (2..=MAX_VALUES).contains(count));
            let count = count.ok_or_else(|| format!("{counted} is invalid: use log/N with N >= 2"))?;
            Ok(linear_axis_values(log_spaced_values(to_f64(low), to_f64(high), count, kind)))
        }
        step => {
            let step = parse_decimal(step).ok().filter(|step| *step > Decimal::ZERO);
            let step = step.ok_or_else(|| {
                "the text after the colon must be a step above 0, log, or log/N for N values".to_owned()
            })?;
            if kind == NumberKind::Whole && !step.fract().is_zero() {
                return Err(format!("the step of an integer parameter must be a whole number, not {step}"));
            }
            Ok(linear_axis_values(evenly_spaced_values(low, high, step, kind)?))
        }
    }
}

/// Splits `LOW..HIGH` or `LOW..=HIGH` into the two ends. Both ends of an empty text are empty.
fn split_range(text: &str) -> Option<(&str, &str)> {
    if text.is_empty() {
        return Some(("", ""));
    }
    let (low, high) = text.split_once("..")?;
    Some((low, high.strip_prefix('=').unwrap_or(high)))
}

fn parse_bound(text: &str, declared: Option<f64>, which: &str, kind: NumberKind) -> Result<Decimal, String> {
    if !text.trim().is_empty() {
        let value = parse_decimal(text)?;
        let is_of_kind = kind == NumberKind::Real || value.fract().is_zero();
        return if is_of_kind { Ok(value) } else { Err(format!("{value} is not a whole number")) };
    }
    let bound = declared.and_then(|bound| Decimal::try_from(bound).ok());
    bound.ok_or_else(|| format!("the strategy does not declare a {which} limit: use LOW..HIGH"))
}

/// Returns the values from `low` to `high`, in decimal arithmetic, so that three steps of 0.1 give exactly 0.3.
fn evenly_spaced_values(
    low: Decimal,
    high: Decimal,
    step: Decimal,
    kind: NumberKind,
) -> Result<Vec<Setting>, String> {
    let steps = high.checked_sub(low).and_then(|width| width.checked_div(step));
    let count = steps.and_then(|steps| steps.floor().to_usize()).filter(|steps| *steps < MAX_VALUES);
    let count = count.ok_or_else(|| format!("there are more than {MAX_VALUES} values: use larger steps"))?;
    Ok((0..=count).map(|index| to_setting(low + step * Decimal::from(index), kind)).collect())
}

/// Returns `count` geometrically spaced numbers. Integers that are equal after rounding appear only once.
fn log_spaced_values(low: f64, high: f64, count: usize, kind: NumberKind) -> Vec<Setting> {
    let at = |index: usize| match index {
        0 => low,
        last if last + 1 == count => high,
        inner => low * (high / low).powf(inner as f64 / (count - 1) as f64),
    };
    let mut settings: Vec<Setting> = match kind {
        NumberKind::Whole => (0..count).map(|index| Setting::Whole(at(index).round() as i64)).collect(),
        NumberKind::Real => (0..count).map(|index| Setting::Real(at(index))).collect(),
    };
    settings.dedup();
    settings
}

fn to_checked_setting(value: Decimal, parameter: &Parameter, kind: NumberKind) -> Result<Setting, String> {
    if kind == NumberKind::Whole && !value.fract().is_zero() {
        return Err(format!("{value} is not a whole number"));
    }
    let low = parameter.minimum.unwrap_or(f64::NEG_INFINITY);
    let high = parameter.maximum.unwrap_or(f64::INFINITY);
    if !(low..=high).contains(&to_f64(value)) {
        return Err(format!("{value} is outside the declared range {low} to {high}"));
    }
    Ok(to_setting(value, kind))
}

fn to_setting(value: Decimal, kind: NumberKind) -> Setting {
    match kind {
        NumberKind::Whole => Setting::Whole(value.to_i64().unwrap_or_default()),
        NumberKind::Real => Setting::Real(to_f64(value)),
    }
}

/// Converts by formatting and parsing, so that the result equals the float parsed from a configuration file.
fn to_f64(value: Decimal) -> f64 {
    value.to_string().parse().unwrap_or_default()
}

fn parse_decimal(text: &str) -> Result<Decimal, String> {
    let text = text.trim();
    let plain = text.parse().ok().or_else(|| Decimal::from_scientific(text).ok());
    plain.ok_or_else(|| format!("\"{text}\" is not a number: use values A,B,C or a range LOW..HIGH:STEP"))
}

fn split_items(text: &str) -> Result<Vec<&str>, String> {
    let items: Vec<&str> = text.split(',').map(str::trim).collect();
    if items.iter().any(|item| item.is_empty()) {
        return Err("a value is missing between the commas".to_owned());
    }
    Ok(items)
}

fn parse_text_values<T: std::str::FromStr<Err: std::fmt::Display> + std::fmt::Display>(
    text: &str,
) -> Result<AxisValues, String> {
    if text.is_empty() {
        return Err("list its values: NAME=one,two".to_owned());
    }
    let code = |item: &str| item.parse::<T>().map(|code| Setting::Text(code.to_string().into()));
    let codes = split_items(text)?.into_iter().map(code).collect::<Result<_, _>>();
    check_unique(linear_axis_values(codes.map_err(|error| error.to_string())?)).map(|(values, _)| values)
}

const fn linear_axis_values(settings: Vec<Setting>) -> (AxisValues, AxisScale) {
    (AxisValues::Listed(settings), AxisScale::Linear)
}

fn check_unique((values, scale): (AxisValues, AxisScale)) -> Result<(AxisValues, AxisScale), String> {
    if let AxisValues::Listed(list) = &values {
        let twice = list.iter().enumerate().find(|(index, one)| list[..*index].contains(one));
        if let Some((_, twice)) = twice {
            return Err(format!("{twice} is given twice"));
        }
    }
    Ok((values, scale))
}

#[cfg(test)]
mod tests {
    use super::super::tests::bot;
    use super::*;

    fn parse(text: &str) -> Result<Axis, String> {
        let entry = StrategyEntry::new("any", "1.0.0", |_, _| unreachable!("never built"))
            .with_parameter(Parameter::new("period", 14).with_range(2.0, 500.0))
            .with_parameter(Parameter::new("level", 30.0).with_range(0.0, 100.0))
            .with_parameter(Parameter::new("both", true))
            .with_parameter(Parameter::new("source", "close"))
            .with_parameter(Parameter::new("free", 1.0));
        Axis::parse(text, &entry, &bot()).map_err(|error| error.to_string())
    }

    fn check(text: &str, expected: &str) {
        let axis = parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        let list = axis.listed_values().unwrap_or_else(|| panic!("{text}: {axis:?}"));
        let printed: Vec<String> = list.iter().map(ToString::to_string).collect();
        assert_eq!(printed.join(" "), expected, "{text}");
    }

    fn check_refused(text: &str, part: &str) {
        let error = parse(text).expect_err(text);
        assert!(error.contains(part), "{text}: {error}");
    }

    #[test]
    fn parses_ranges_and_lists() {
        check("period=5..9", "5 6 7 8 9");
        check("period=5..=9:2", "5 7 9");
        check("period = 5..30:5", "5 10 15 20 25 30");
        check("period=5..29:5", "5 10 15 20 25");
        check("period=9,2,5", "9 2 5");
        check("period=498..", "498 499 500");
        check("period=..4", "2 3 4");
        check("level=0.1..0.5:0.1", "0.1 0.2 0.3 0.4 0.5");
        check("level=20,30.5", "20 30.5");
        check("level=1..100:log/3", "1 10 100");
        check("period=2..16:log/4", "2 4 8 16");
        check("period=2..4:log/9", "2 3 4");
        check("free=-1..1:0.5", "-1 -0.5 0 0.5 1");
        check("both", "false true");
        check("both=true", "true");
        check("source=open,close", "open close");
        check("close_type=00:30,1:00:00", "00:30 1:00:00");
        check("expiration_type=CANDLE_CLOSE,TIME_FIXED", "CANDLE_CLOSE TIME_FIXED");
    }

    #[test]
    fn ranges_without_step_are_continuous() {
        for (text, low, high) in
            [("level=20..30", 20.0, 30.0), ("level", 0.0, 100.0), ("level=1..:log", 1.0, 100.0)]
        {
            let axis = parse(text).unwrap();
            let ends = (axis.value_at(0.0), axis.value_at(1.0 - f64::EPSILON / 2.0).to_number().unwrap());
            assert!(axis.count().is_none() && ends.0 == Setting::Real(low), "{text}: {ends:?}");
            assert!((ends.1 - high).abs() < 1e-9, "{text}: {ends:?}");
        }
        assert_eq!(parse("period").unwrap().count(), Some(499), "the range of the schema");
    }

    #[test]
    fn rejects_invalid_axis_values() {
        check_refused("perod=1..2", "\"any\" has no parameter \"perod\"");
        check_refused("period=1..9", "1 is outside the declared range 2 to 500");
        check_refused("period=2..501", "501 is outside the declared range 2 to 500");
        check_refused("period=9..9", "must be below the high end 9");
        check_refused("period=2.5..9", "2.5 is not a whole number");
        check_refused("period=2..9:0.5", "must be a whole number, not 0.5");
        check_refused("period=2..9:0", "a step above 0");
        check_refused("period=2..9:slow", "a step above 0, log, or log/N");
        check_refused("period=2..9:log/1", "N >= 2");
        check_refused("level=0..9:log", "a log range must start above 0");
        check_refused("period=2,,3", "missing between the commas");
        check_refused("period=2,3,2", "2 is given twice");
        check_refused("period=two", "\"two\" is not a number");
        check_refused("free", "does not declare a low limit");
        check_refused("free=0..1e9:1", "more than 1000000 values");
        check_refused("free=-7e27..7e27:1e-20", "more than 1000000 values");
        check_refused("both=yes", "use true,false");
        check_refused("source", "list its values");
        check_refused("close_type=5", "not a duration code");
        check_refused("close_type", "list its values");
    }
}
