//! Lints of strategies, symbols, expiries, blackouts and signal sources.

use super::LintInput;
use crate::bots::{declared_durations, untraded_simulation_symbols};
use crate::configuration::{Config, LoadedConfig, bot_asset_type};
use crate::signals::count_list_zones;
use crate::traded_symbols::{TradedSymbols, usual_spelling};
use crate::warm_up::WarmUp;
use candlewick_engine::{Blackouts, BotSettings, misleading_zone_note, missing_dst_note};
use candlewick_history::{AssetType, is_currency_pair};
use candlewick_records::count_text;
use candlewick_rules::{quoted_texts, uses_volume};
use candlewick_sandbox::StartTime;
use candlewick_sdk::{CloseType, Millis, Symbol};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Maximum plausible expiry, in candles. A longer expiry suggests a wrong unit.
const MAX_EXPIRY_CANDLES: i64 = 60;
/// A true range that short candles rarely reach, as a fraction of the price.
const MAX_TRUE_RANGE: f64 = 0.05;
const MAX_SHORT_INTERVAL: Millis = Millis::HOUR;

pub(super) fn lint_conditions(input: &LintInput<'_>) -> Vec<String> {
    input.check_bots(|bot| {
        let strategy = (bot.strategy.as_str(), &bot.params);
        candlewick_rules::lint_conditions(input.registry, strategy, bot.interval).unwrap_or_default()
    })
}

pub(super) fn volatility_shares(input: &LintInput<'_>) -> Vec<String> {
    input.check_bots(|bot| {
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
                "filters[{index}].volatility.{key} = {bound} means {percent} % of the price within one {} candle; did you mean {share} ({bound} %)?",
                bot.interval
            ))
        };
        let is_short = bot.interval.length() <= MAX_SHORT_INTERVAL;
        let filters = filters.into_iter().flatten().enumerate().filter(|_| is_short);
        filters.filter_map(check).collect::<Vec<_>>()
    })
}

pub(super) fn flat_volumes(input: &LintInput<'_>) -> Vec<String> {
    input.check_bots_with_candles(|bot, candles| {
        let first = candles.first()?.volume();
        let is_flat = candles.iter().all(|candle| candle.volume().total_cmp(&first).is_eq());
        let is_read = is_flat && uses_volume(input.registry, (&bot.strategy, &bot.params)).ok()?;
        is_read.then(|| {
            format!(
                "all candles of {}@{} have the volume {first}, so volume conditions have no effect",
                bot.symbol, bot.interval
            )
        })
    })
}

pub(super) fn long_warm_ups(input: &LintInput<'_>) -> Vec<String> {
    let warm_up = |bot: &BotSettings| WarmUp::from_bot(bot, input.registry);
    if input.candles.is_none() {
        return input.check_bots(|bot| warm_up(bot)?.describe_long_warm_up());
    }
    input.check_bots_with_candles(|bot, candles| warm_up(bot)?.describe_warm_up_share(candles.len(), ""))
}

pub(super) fn doubtful_time_zones(input: &LintInput<'_>) -> Vec<String> {
    let config = &input.loaded.config;
    let mut places: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut add = |note: Option<String>, place: &str| {
        let Some(note) = note else { return };
        let places = places.entry(note).or_default();
        if places.iter().all(|other| other != place) {
            places.push(place.to_owned());
        }
    };
    add(misleading_zone_note(&config.risk.day_timezone), "risk.day_timezone");
    add(misleading_zone_note(&config.signals.timezone), "signals.timezone");
    config.risk.hours.iter().for_each(|hours| add(misleading_zone_note(&hours.timezone), "risk.hours"));
    for bot in &config.bots {
        let strategy = (bot.strategy.as_str(), &bot.params);
        let mut texts = quoted_texts(input.registry, strategy).unwrap_or_default();
        collect_zones(&bot.params, &mut texts);
        for text in &texts {
            add(misleading_zone_note(text), &format!("bot \"{}\"", bot.name));
        }
    }
    let lines = count_list_zones(input.loaded).into_iter().filter(|(tz, _)| *tz != config.signals.timezone);
    for (zone, lines) in lines {
        // An offset such as UTC-3 has already been mapped to its zone, whose name has the opposite sign.
        let note = missing_dst_note(&zone).map(str::to_owned);
        add(note, &format!("{} of the signal list", count_text(lines, "line", "lines")));
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
        _ => {}
    }
}

pub(super) fn doubtful_expiries(input: &LintInput<'_>) -> Vec<String> {
    input.check_bots(|bot| {
        let entry = input.registry.find(&bot.strategy);
        let own = entry.map(|entry| declared_durations(bot, entry)).filter(|own| !own.is_empty());
        let own = own.unwrap_or_else(|| vec![bot.close_type]);
        own.into_iter().filter_map(|expiry| doubtful_expiry(bot, expiry)).collect::<Vec<_>>()
    })
}

fn doubtful_expiry(bot: &BotSettings, expiry: CloseType) -> Option<String> {
    let (length, candle) = (expiry.duration().get(), bot.interval.length().get());
    if length < candle {
        let minutes = CloseType::new(Millis::new(length * 60)).ok();
        let minutes = minutes.filter(|_| length < Millis::MINUTE.get());
        let hint = minutes.map_or_else(String::new, |minutes| format!("; did you mean {minutes}?"));
        return Some(format!(
            "an expiry of {expiry} ({} s) is shorter than a {} candle, so backtests need finer candles{hint}",
            length / 1_000,
            bot.interval
        ));
    }
    let is_long = length >= Millis::HOUR.get() && length > MAX_EXPIRY_CANDLES * candle;
    is_long.then(|| {
        format!(
            "an expiry of {expiry} ({} min) spans {} candles of {}, which is unusually long",
            length / Millis::MINUTE.get(),
            length / candle,
            bot.interval
        )
    })
}

pub(super) fn doubtful_symbols(input: &LintInput<'_>) -> Vec<String> {
    let symbols: BTreeSet<Symbol> = input.bots().iter().map(|bot| bot.symbol).collect();
    let mut found: Vec<String> = symbols.into_iter().filter_map(unusual_spelling).collect();
    found.extend(input.check_bots(|bot| {
        let is_crypto = bot_asset_type(bot) == AssetType::Crypto.as_str();
        (is_crypto && is_currency_pair(bot.symbol)).then(|| {
            format!(
                "asset_type is \"crypto\" for currency pair {}, but venues list currency pairs as \"forex\"",
                bot.symbol
            )
        })
    }));
    found
}

pub(crate) fn unusual_spelling(symbol: Symbol) -> Option<String> {
    let usual = usual_spelling(symbol.as_str());
    (usual != symbol.as_str() && !usual.is_empty())
        .then(|| format!("requests use the exact symbol {symbol}, but most venues write {usual}"))
}

pub(super) fn untraded_symbols(input: &LintInput<'_>) -> Vec<String> {
    let traded = TradedSymbols::new(input.bots());
    let describe = |(name, key): (String, String)| {
        format!(
            "{key} affects only other clients of `candlewick sandbox`, not these bots; {}",
            traded.describe_unknown(&name)
        )
    };
    untraded_simulation_symbols(input.loaded).into_iter().map(describe).collect()
}

pub(crate) fn idle_blackouts(loaded: &LoadedConfig, now: Millis) -> Vec<String> {
    let Config { risk, bots, .. } = &loaded.config;
    let Blackouts { file, spans, .. } = &risk.blackouts;
    let mut found = Vec::new();
    match spans.iter().map(|span| span.to).max() {
        None if !file.is_empty() => {
            found.push(format!("risk.blackouts: {file} contains no time span, so no trade is blocked"));
        }
        Some(last) if last <= now => {
            let last: String = StartTime(last).into();
            found.push(format!("risk.blackouts: all time spans of {file} are in the past (until {last})"));
        }
        _ => {}
    }
    let traded = TradedSymbols::new(bots);
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for name in spans.iter().flat_map(|span| span.symbols.iter().map(Symbol::as_str)) {
        if traded.find_all(name).is_some_and(|pairs| pairs.is_empty()) {
            *counts.entry(name).or_default() += 1;
        }
    }
    let describe = |(name, count): (&str, usize)| format!("{name} ({})", count_text(count, "span", "spans"));
    let names = counts.into_iter().map(describe).collect::<Vec<_>>().join(", ");
    if !names.is_empty() {
        found.push(format!("risk.blackouts: no bot trades a pair with {names}, so the spans block no trade"));
    }
    found
}

pub(super) fn silent_bots(input: &LintInput<'_>) -> Vec<String> {
    let signals = &input.loaded.config.signals;
    if signals.list.is_some() || signals.listen.is_some() || signals.stdin {
        return Vec::new();
    }
    input.check_bots(|bot| {
        (bot.strategy == "none").then(|| {
            format!(
                "strategy \"none\" never signals and no signal source is enabled, so the bot only trades on `candlewick signal {}`; \
                 set signals.list, signals.listen or signals.stdin",
                bot.name
            )
        })
    })
}
