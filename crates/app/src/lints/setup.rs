//! Lints of symbols, expiries, blackouts and signal sources.

use super::LintInput;
use crate::bots::{own_durations, simulated_for_nobody};
use crate::configuration::{Config, Loaded, asset_type_of_bot};
use crate::signals::refused_of_list;
use crate::traded_symbols::{TradedSymbols, usual_spelling};
use candlewick_engine::{Blackouts, BotSettings};
use candlewick_history::{AssetType, is_currency_pair};
use candlewick_sandbox::StartTime;
use candlewick_sdk::{CloseType, Millis, Symbol};
use std::collections::{BTreeMap, BTreeSet};

/// Number of candles per expiry above which a wrong unit is likely.
const MAX_EXPIRY_CANDLES: i64 = 60;

pub(super) fn doubtful_expiries(input: &LintInput<'_>) -> Vec<String> {
    let durations = own_durations(input.bots(), input.registry);
    let check = |(bot, own): (&BotSettings, Vec<CloseType>)| {
        let own = if own.is_empty() { vec![bot.close_type] } else { own };
        let texts = own.into_iter().filter_map(|expiry| doubtful_expiry(bot, expiry));
        texts.map(|text| format!("bot \"{}\": {text}", bot.name)).collect::<Vec<_>>()
    };
    input.bots().iter().zip(durations).flat_map(check).collect()
}

fn doubtful_expiry(bot: &BotSettings, expiry: CloseType) -> Option<String> {
    let (length, candle) = (expiry.duration().get(), bot.interval.length().get());
    if length < candle {
        let minutes = CloseType::new(Millis::new(length * 60)).ok();
        let minutes = minutes.filter(|_| length < Millis::MINUTE.get());
        let hint = minutes.map_or_else(String::new, |minutes| format!("; did you mean {minutes}?"));
        return Some(format!(
            "an expiry of {expiry} ({} s) is shorter than its candles of {}, and a backtest needs finer candles for it{hint}",
            length / 1_000,
            bot.interval
        ));
    }
    let is_long = length >= Millis::HOUR.get() && length > MAX_EXPIRY_CANDLES * candle;
    is_long.then(|| {
        format!(
            "an expiry of {expiry} ({} min) is {} of its candles of {}",
            length / Millis::MINUTE.get(),
            length / candle,
            bot.interval
        )
    })
}

pub(super) fn doubtful_symbols(input: &LintInput<'_>) -> Vec<String> {
    let symbols: BTreeSet<Symbol> = input.bots().iter().map(|bot| bot.symbol).collect();
    let mut found: Vec<String> = symbols.into_iter().filter_map(unusual_spelling).collect();
    found.extend(input.each_bot(|bot| {
        let is_crypto = asset_type_of_bot(bot) == AssetType::Crypto.as_str();
        (is_crypto && is_currency_pair(bot.symbol)).then(|| {
            format!(
                "asset_type = \"crypto\" for {}, a pair of two currencies: venues list these as \"forex\", and find no candles under another type",
                bot.symbol
            )
        })
    }));
    found
}

pub(crate) fn unusual_spelling(symbol: Symbol) -> Option<String> {
    let usual = usual_spelling(symbol.as_str());
    (usual != symbol.as_str() && !usual.is_empty()).then(|| {
        format!("the symbol {symbol}: requests use this very name, and most venues spell it {usual}")
    })
}

pub(super) fn untraded_symbols(input: &LintInput<'_>) -> Vec<String> {
    let traded = TradedSymbols::new(input.bots());
    let describe = |(name, key): (String, String)| {
        format!(
            "{key}: only other programs at `candlewick sandbox` use it: {}",
            traded.describe_unknown(&name)
        )
    };
    simulated_for_nobody(input.loaded).into_iter().map(describe).collect()
}

pub(crate) fn idle_blackouts(loaded: &Loaded, now: Millis) -> Vec<String> {
    let Config { risk, bots, .. } = &loaded.config;
    let Blackouts { file, spans, .. } = &risk.blackouts;
    let mut found = Vec::new();
    match spans.iter().map(|span| span.to).max() {
        None if file.is_empty() => {}
        None => found.push(format!("risk.blackouts: {file} has no span, so it blocks no trade")),
        Some(last) if last <= now => {
            let last: String = StartTime(last).into();
            found.push(format!("risk.blackouts: every span of {file} is over, the last one since {last}"));
        }
        Some(_) => {}
    }
    let traded = TradedSymbols::new(bots);
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for name in spans.iter().flat_map(|span| span.symbols.iter().map(Symbol::as_str)) {
        if traded.find_all(name).is_some_and(|pairs| pairs.is_empty()) {
            *counts.entry(name).or_default() += 1;
        }
    }
    let describe = |(name, count): (&str, usize)| {
        format!("{name} ({count} {})", if count == 1 { "span" } else { "spans" })
    };
    let names: Vec<String> = counts.into_iter().map(describe).collect();
    if !names.is_empty() {
        let names = names.join(", ");
        found.push(format!("risk.blackouts: no bot trades a pair of {names}, so these spans block nothing"));
    }
    found
}

pub(super) fn silent_bots(input: &LintInput<'_>) -> Vec<String> {
    let signals = &input.loaded.config.signals;
    if signals.list.is_some() || signals.listen.is_some() || signals.stdin {
        return Vec::new();
    }
    input.each_bot(|bot| {
        (bot.strategy == "none").then(|| {
            format!(
                "the strategy \"none\" never signals and no signal source is open, so it only trades what `candlewick signal {}` sends; set \
                 signals.list, signals.listen or signals.stdin",
                bot.name
            )
        })
    })
}

pub(super) fn refused_entries(input: &LintInput<'_>) -> Vec<String> {
    refused_of_list(input.loaded).into_iter().collect()
}
