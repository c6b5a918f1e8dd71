//! Builds the strategies of the configured bots and checks their settings.

use crate::configuration::{LoadedConfig, Problem, ProblemKind, Problems};
use crate::error::AppError;
use crate::traded_symbols::TradedSymbols;
use candlewick_backtest::BacktestError;
use candlewick_engine::{Blackout, BotSettings, EngineError, RiskSettings, SessionSettings};
use candlewick_history::gaps;
use candlewick_rules::indicator_names;
use candlewick_sandbox::StartTime;
use candlewick_sdk::{
    AliasContext, AliasTarget, BuildError, CandleSeries, CloseType, GateSnapshot, Payout, Registry, Strategy,
    StrategyEntry, TradingWeek, find_alias_targets, nearest_name, suggest,
};
use candlewick_search::SearchError;
use std::borrow::Cow;
use std::collections::BTreeSet;

const MAX_REPORTED_BLACKOUTS: usize = 8;

#[derive(Default)]
pub struct BotSet {
    pub strategies: Vec<Box<dyn Strategy>>,
    pub wants_prices: Vec<bool>,
    pub versions: Vec<(String, String)>,
}

fn unknown_symbol_problems(loaded: &LoadedConfig) -> Vec<Problem> {
    let traded = TradedSymbols::new(&loaded.config.bots);
    let risk = &loaded.config.risk;
    let least = risk.min_payout_percent_by_symbol.keys();
    let least = least.map(|name| (name.as_str(), format!("risk.min_payout_percent_by_symbol.{name}")));
    let chosen = risk.best_payout_of.iter().map(|name| (name.as_str(), "risk.best_payout_of".to_owned()));
    let unknown = least.chain(chosen).filter(|(name, _)| traded.find(name).is_none());
    let problems = unknown.map(|(name, key)| loaded.problem(&key, traded.describe_unknown(name)));
    problems.chain(blackout_symbol_problems(loaded, &traded)).collect()
}

fn blackout_symbol_problems(loaded: &LoadedConfig, traded: &TradedSymbols) -> Vec<Problem> {
    let blackouts = &loaded.config.risk.blackouts;
    let mut seen = BTreeSet::new();
    let spans = blackouts.spans.iter();
    let named = spans.flat_map(|span| span.symbols.iter().map(move |name| (name.as_str(), span)));
    let unknown = named.filter(|(name, _)| traded.find_all(name).is_none() && seen.insert(*name));
    let problem = |(name, span): (&str, &Blackout)| {
        let reason = if span.reason.is_empty() { String::new() } else { format!(" ({})", span.reason) };
        let from = String::from(StartTime(span.from));
        let problem = format!("span from {from}{reason}: {}", traded.describe_unknown(name));
        let problem = loaded.problem("risk.blackouts", problem).with_value(format!("{:?}", blackouts.file));
        problem.with_kind(ProblemKind::Data)
    };
    unknown.take(MAX_REPORTED_BLACKOUTS).map(problem).collect()
}

impl BotSet {
    pub fn build(loaded: &LoadedConfig, registry: &Registry) -> Result<Self, Problems> {
        let mut set = Self::default();
        let mut problems = Vec::new();
        for (index, bot) in loaded.config.bots.iter().enumerate() {
            match build(index, bot, loaded, registry) {
                Ok((entry, strategy)) => {
                    set.strategies.push(strategy);
                    set.wants_prices.push(entry.wants_prices);
                    set.versions.push((entry.name.clone(), entry.version.clone()));
                }
                Err(problem) => problems.push(problem),
            }
        }
        if loaded.config.bots.is_empty() {
            let problem =
                "no bots are configured; add a [[bots]] section, or pass a file that has one with --config";
            problems.push(loaded.problem("bots", problem));
        }
        problems.extend(payout_fraction_problems(loaded));
        problems.extend(unknown_bot_problems(loaded));
        problems.extend(unknown_symbol_problems(loaded));
        Problems::check(problems).map(|()| set)
    }

    pub fn warmups(&self, bots: &[BotSettings]) -> Vec<(BotSettings, usize)> {
        bots.iter().zip(&self.strategies).map(|(bot, strategy)| (bot.clone(), strategy.warmup())).collect()
    }
}

fn payout_fraction_problems(loaded: &LoadedConfig) -> Vec<Problem> {
    let problem = |(key, share): (String, f64)| {
        let percent = Payout::percent_from_fraction(share)?;
        let problem = format!("payouts are in percent; did you mean {percent}?");
        Some(loaded.problem(&key, problem).with_value(share.to_string()))
    };
    minimum_payouts(&loaded.config.risk).filter_map(problem).collect()
}

pub(crate) fn minimum_payouts(risk: &RiskSettings) -> impl Iterator<Item = (String, f64)> {
    let by_symbol = risk.min_payout_percent_by_symbol.iter();
    let by_symbol = by_symbol.map(|(name, min)| (format!("risk.min_payout_percent_by_symbol.{name}"), *min));
    std::iter::once(("risk.min_payout_percent".to_owned(), risk.min_payout_percent)).chain(by_symbol)
}

fn unknown_bot_problems(loaded: &LoadedConfig) -> Vec<Problem> {
    let bots: Vec<&str> = loaded.config.bots.iter().map(|bot| bot.name.as_str()).collect();
    let unknown = loaded.config.risk.bots.keys().filter(|name| !bots.contains(&name.as_str()));
    let problem = |name: &String| {
        let problem = format!("no bot has this name; the configured bots are {}", bots.join(", "));
        loaded.problem(&format!("risk.bots.{name}"), problem)
    };
    unknown.map(problem).collect()
}

fn build<'a>(
    index: usize,
    bot: &BotSettings,
    loaded: &LoadedConfig,
    registry: &'a Registry,
) -> Result<(Cow<'a, StrategyEntry>, Box<dyn Strategy>), Problem> {
    let Some(entry) = registry.find(&bot.strategy) else {
        let problem = format!("unknown strategy; {}", suggest_strategy(&bot.strategy, registry));
        return Err(loaded
            .problem(&format!("bots[{index}].strategy"), problem)
            .with_value(format!("{:?}", bot.strategy)));
    };
    let context = bot.context(Some(loaded.config.data.longer_share_percent));
    let refused = |error: BuildError| {
        let kind = build_error_kind(&error);
        let keys = bot.params.as_object().into_iter().flatten().map(|(key, _)| key.as_str());
        let unknown = |key: &&str| entry.parameters.iter().all(|known| known.name != *key);
        let advice = |key| Some((key, find_parameter_advice(key, &bot.strategy)?.to_owned()));
        let named =
            || find_unknown_parameter(bot, entry).filter(|_| matches!(error, BuildError::Parameters { .. }));
        if let Some((key, problem)) = keys.filter(unknown).find_map(advice).or_else(named) {
            return loaded.problem(&format!("bots[{index}].params.{key}"), problem);
        }
        let key = format!("bots[{index}].params");
        let looked = match &error {
            BuildError::File { path, .. } => loaded.describe_tried_paths(&key, path),
            BuildError::Parameters { .. } | BuildError::Indicator(_) => String::new(),
        };
        loaded.problem(&key, format!("{error}{looked}")).with_kind(kind)
    };
    let entry = entry.for_params(&bot.params).map_err(refused)?;
    let strategy = entry.build(&bot.params, &context).map_err(refused)?;
    Ok((entry, strategy))
}

fn find_parameter_advice(key: &str, strategy: &str) -> Option<&'static str> {
    let mut found = find_alias_targets(AliasContext::Combination, key).filter(|_| strategy != "combine");
    found.next().map(AliasTarget::text)
}

fn find_unknown_parameter<'a>(bot: &'a BotSettings, entry: &StrategyEntry) -> Option<(&'a str, String)> {
    let entry = entry.for_params(&bot.params).ok()?;
    let known: Vec<&str> = entry.parameters.iter().map(|parameter| parameter.name.as_str()).collect();
    let given = bot.params.as_object()?;
    let key = given.keys().map(String::as_str).find(|key| !known.contains(key))?;
    let free: Vec<&str> = known.iter().copied().filter(|name| !given.contains_key(*name)).collect();
    let only = if let [only] = free.as_slice() { Some(*only) } else { None };
    let hint = match nearest_name(key, free.iter().copied()).or(only) {
        Some(name) => format!("did you mean \"{name}\"?"),
        None if known.is_empty() => "the strategy has no parameters;".to_owned(),
        None => format!("its parameters are {};", known.join(", ")),
    };
    let strategy = &bot.strategy;
    let rule_hint = match strategy.as_str() {
        "rules" => {
            "; to set a value of the rule here, declare it in the rule's [parameters]: period = { default = 14 }"
        }
        _ => "",
    };
    let problem = format!(
        "strategy \"{strategy}\" has no such parameter; {hint} see `candlewick strategy show {strategy}`{rule_hint}"
    );
    Some((key, problem))
}

pub fn build_strategies(
    settings: &SessionSettings,
    registry: &Registry,
) -> Result<Vec<Box<dyn Strategy>>, BacktestError> {
    let build = |bot: &BotSettings| {
        let context = bot.context(settings.longer_share_percent);
        let entry = registry.find(&bot.strategy).expect("bots are validated, so their strategies exist");
        let built = entry.build(&bot.params, &context);
        built.map_err(|source| EngineError::Strategy { bot: bot.name.clone(), source }.into())
    };
    settings.bots.iter().map(build).collect()
}

/// Returns the trade durations that each bot's strategy chooses; an empty list if it uses only the configured one.
pub fn declared_durations_per_bot(bots: &[BotSettings], registry: &Registry) -> Vec<Vec<CloseType>> {
    let of_bot = |bot: &BotSettings| registry.find(&bot.strategy).map(|entry| declared_durations(bot, entry));
    bots.iter().map(|bot| of_bot(bot).unwrap_or_default()).collect()
}

pub(crate) fn declared_durations(bot: &BotSettings, entry: &StrategyEntry) -> Vec<CloseType> {
    let (context, expiry) = (bot.context(None), bot.expiry());
    let Ok(strategy) = entry.build(&bot.params, &context) else { return Vec::new() };
    let mut durations = Vec::new();
    for own in strategy.expiries() {
        let duration = own.unwrap_or(expiry).close_type;
        if !durations.contains(&duration) {
            durations.push(duration);
        }
    }
    if durations == [bot.close_type] { Vec::new() } else { durations }
}

pub fn gate_snapshots(bots: &[BotSettings], registry: &Registry) -> Vec<Option<GateSnapshot>> {
    bots.iter().map(|bot| build_strategy(bot, registry)?.gate()).collect()
}

pub(crate) fn build_strategy(bot: &BotSettings, registry: &Registry) -> Option<Box<dyn Strategy>> {
    registry.find(&bot.strategy)?.build(&bot.params, &bot.context(None)).ok()
}

pub fn suggest_strategy(name: &str, registry: &Registry) -> String {
    if name.to_ascii_lowercase().ends_with(".toml") && registry.find("rules").is_some() {
        return format!("for a rule file, use strategy = \"rules\", params = {{ file = {name:?} }}");
    }
    let suggested = suggest(name, registry.entries().iter().map(|entry| entry.name.as_str()));
    if suggested.ends_with('?') {
        return suggested;
    }
    let near = nearest_name(name, indicator_names());
    if let Some(indicator) = near.filter(|_| registry.entries().iter().any(|entry| entry.name == "rules")) {
        return format!(
            "{indicator} is an indicator, not a strategy; use it in a rule with strategy = \"rules\", \
             params = {{ buy = \"...\" }} (see docs/rules.md); {suggested}"
        );
    }
    format!(
        "{suggested}; to list strategies of your own, run `cargo run --release -F program -- strategy list` in \
         the folder of the crate that registers them"
    )
}

pub fn session_settings(loaded: &LoadedConfig) -> SessionSettings {
    let config = &loaded.config;
    SessionSettings {
        money_scale: config.account.money_scale,
        balance: config.account.initial_balance,
        risk: config.risk.clone(),
        bots: config.bots.clone(),
        longer_share_percent: Some(config.data.longer_share_percent),
    }
}

/// Clears `longer_share_percent` if no strategy reads longer candles from a series that may have gaps.
/// A series may have gaps if its market closes. In live runs (`candles` is `None`), every series may have gaps.
pub(crate) fn clear_unused_longer_share(
    settings: SessionSettings,
    strategies: &[Box<dyn Strategy>],
    candles: Option<&[CandleSeries]>,
) -> SessionSettings {
    let is_whole = |bot: &BotSettings| {
        let own = candles.into_iter().flatten().find(|one| one.series() == bot.series());
        let never_closes = TradingWeek::for_symbol(bot.symbol) == TradingWeek::Always;
        never_closes && own.is_some_and(|own| gaps(own).is_empty())
    };
    let mut pairs = settings.bots.iter().zip(strategies);
    let is_read = pairs.any(|(bot, strategy)| !strategy.longer_intervals().is_empty() && !is_whole(bot));
    let share = settings.longer_share_percent.filter(|_| is_read);
    SessionSettings { longer_share_percent: share, ..settings }
}

pub fn session_problem(error: &EngineError, loaded: &LoadedConfig) -> Problem {
    match error {
        EngineError::Setting { key, problem } => loaded.problem(key, problem.clone()),
        EngineError::Amount { key, source } => loaded.problem(key, source.to_string()),
        EngineError::Strategy { source, .. } => {
            loaded.problem("bots", error.to_string()).with_kind(build_error_kind(source))
        }
    }
}

pub fn convert_search_error(error: SearchError, loaded: &LoadedConfig) -> AppError {
    match error {
        SearchError::Backtest(error) => convert_backtest_error(error, loaded),
        other => other.into(),
    }
}

pub fn convert_backtest_error(error: BacktestError, loaded: &LoadedConfig) -> AppError {
    match error {
        BacktestError::Engine(error) => session_problem(&error, loaded).into(),
        BacktestError::Simulator(error) => error.into(),
        other => AppError::Backtest(other),
    }
}

pub const fn build_error_kind(error: &BuildError) -> ProblemKind {
    match error {
        BuildError::Parameters { .. } | BuildError::Indicator(_) => ProblemKind::Setting,
        BuildError::File { .. } => ProblemKind::Data,
    }
}
