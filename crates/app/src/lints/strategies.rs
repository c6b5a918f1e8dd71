//! Lints of strategies: conditions, filters, time zones and warm-up.

use super::LintInput;
use crate::signals::zones_of_list;
use crate::warm_up::WarmUp;
use candlewick_engine::{BotSettings, without_summer_time, zone_note};
use candlewick_records::counted;
use candlewick_rules::{looks_at_volume, quoted_texts};
use candlewick_sdk::{Candle, CandleSeries, Millis};
use serde_json::Value;
use std::collections::BTreeMap;

/// True range that a short candle rarely reaches, as a share of the price.
const MAX_TRUE_RANGE: f64 = 0.05;
const MAX_SHORT_INTERVAL: Millis = Millis::HOUR;

pub(super) fn doubtful_conditions(input: &LintInput<'_>) -> Vec<String> {
    input.each_bot(|bot| {
        let strategy = (bot.strategy.as_str(), &bot.params);
        candlewick_rules::doubtful_conditions(input.registry, strategy, bot.interval).unwrap_or_default()
    })
}

pub(super) fn volatility_shares(input: &LintInput<'_>) -> Vec<String> {
    input.each_bot(|bot| {
        let filters = bot.params.get("filters").and_then(Value::as_array);
        let check = |(index, filter): (usize, &Value)| {
            let bounds = filter.get("volatility")?;
            let (key, bound) = ["min", "max"].iter().find_map(|key| {
                let bound = bounds.get(*key)?.as_f64()?;
                (bound >= MAX_TRUE_RANGE).then_some((key, bound))
            })?;
            let percent = (bound * 1e6).round() / 1e4;
            let share = (bound * 1e6).round() / 1e8;
            Some(format!(
                "filters[{index}].volatility.{key} = {bound} is {percent} % of the price in one candle of {}; did you mean {share} ({bound} %)?",
                bot.interval
            ))
        };
        let is_short = bot.interval.length() <= MAX_SHORT_INTERVAL;
        let filters = filters.into_iter().flatten().enumerate().filter(|_| is_short);
        filters.filter_map(check).collect::<Vec<_>>()
    })
}

pub(super) fn flat_volumes(input: &LintInput<'_>) -> Vec<String> {
    let check = |(bot, series): (&BotSettings, &CandleSeries)| {
        let mut volumes = series.candles().iter().map(Candle::volume);
        let first = volumes.next()?;
        let is_flat = volumes.all(|volume| volume.total_cmp(&first).is_eq());
        let is_read = is_flat && looks_at_volume(input.registry, (&bot.strategy, &bot.params)).ok()?;
        is_read.then(|| {
            format!(
                "bot \"{}\": the volume is {first} on all candles of {}@{}, so a condition on it decides nothing; use candles with volumes",
                bot.name, bot.symbol, bot.interval
            )
        })
    };
    input.bots_with_candles().filter_map(check).collect()
}

pub(super) fn long_warm_ups(input: &LintInput<'_>) -> Vec<String> {
    let warm_up = |bot: &BotSettings| WarmUp::from_bot(bot, input.registry);
    if input.candles.is_none() {
        return input.each_bot(|bot| warm_up(bot)?.describe_long());
    }
    let check = |(bot, series): (&BotSettings, &CandleSeries)| {
        let text = warm_up(bot)?.describe_share(series.candles().len(), "")?;
        Some(format!("bot \"{}\": {text}", bot.name))
    };
    input.bots_with_candles().filter_map(check).collect()
}

pub(super) fn doubtful_time_zones(input: &LintInput<'_>) -> Vec<String> {
    let config = &input.loaded.config;
    let mut found: Vec<(Option<String>, String)> = vec![
        (zone_note(&config.risk.day_timezone), "risk.day_timezone".to_owned()),
        (zone_note(&config.signals.timezone), "signals.timezone".to_owned()),
    ];
    let hours = config.risk.hours.iter();
    found.extend(hours.map(|hours| (zone_note(&hours.timezone), "risk.hours".to_owned())));
    for bot in &config.bots {
        let strategy = (bot.strategy.as_str(), &bot.params);
        let mut texts = quoted_texts(input.registry, strategy).unwrap_or_default();
        collect_zones(&bot.params, &mut texts);
        found.extend(texts.iter().map(|text| (zone_note(text), format!("bot \"{}\"", bot.name))));
    }
    let lines = zones_of_list(input.loaded).into_iter().filter(|(zone, _)| *zone != config.signals.timezone);
    found.extend(lines.map(|(zone, lines)| {
        // A line with UTC-3 is read as the zone of the inverted sign, as meant.
        let note = without_summer_time(&zone).map(str::to_owned);
        (note, format!("{} of the list", counted(lines, "line", "lines")))
    }));
    let mut places: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (note, place) in found.into_iter().filter_map(|(note, place)| Some((note?, place))) {
        let places = places.entry(note).or_default();
        if !places.contains(&place) {
            places.push(place);
        }
    }
    places.into_iter().map(|(note, places)| format!("{}: {note}", places.join(", "))).collect()
}

fn collect_zones(params: &Value, zones: &mut Vec<String>) {
    match params {
        Value::Object(keys) => {
            let own = ["day_timezone", "timezone"].into_iter().filter_map(|key| keys.get(key)?.as_str());
            zones.extend(own.map(str::to_owned));
            keys.values().for_each(|value| collect_zones(value, zones));
        }
        Value::Array(values) => values.iter().for_each(|value| collect_zones(value, zones)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
