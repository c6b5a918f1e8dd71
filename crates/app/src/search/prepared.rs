//! Options of a search, and the prepared search.

use crate::backtest::thread_count;
use crate::bots::{BotSet, convert_search_error, session_settings, suggest_strategy};
use crate::candles::{COARSE_NOTICE, CandleChoice, Candles, FineCandleCoverage, describe_coarse_expiry};
use crate::configuration::{BaseLayer, LoadedConfig, RealMoneyRequest, to_json};
use crate::error::{AppError, Result};
use crate::lints::{self, LintInput, Stage};
use crate::program_hash::program_hash;
use crate::progress::Progress;
use crate::signals::warn_about_unused_list;
use candlewick_backtest::BacktestSettings;
use candlewick_engine::BotSettings;
use candlewick_sdk::{CloseType, CoverageRule, Expiry, Millis, Registry, StrategyEntry, suggest};
use candlewick_search::SearchError;
use candlewick_search::sweep::{
    Axis, AxisTarget, DEFAULT_BATCH, Halving, Objective, Search, SearchSettings, Setting, Space,
    SweepSettings,
};
use candlewick_simulator::Market;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::iter::once;
use std::num::{NonZeroU64, NonZeroUsize};
use std::path::{Path, PathBuf};

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SearchOptions {
    /// Searched parameters: `NAME=VALUES`, or `NAME` for the full range declared by the strategy.
    #[serde(rename = "param")]
    pub parameters: Vec<String>,
    #[serde(rename = "where")]
    pub conditions: Vec<String>,
    pub bot: Option<String>,
    /// Search method. `None` selects a grid if all ranges are finite and `trials` is `None`, else Sobol.
    pub search: Option<Search>,
    /// Number of sets to try, 200 by default. Must be `None` for a grid search, which tries all sets.
    pub trials: Option<u64>,
    pub seed: u64,
    /// Number of sets that TPE chooses per round, 16 by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batch: Option<NonZeroU64>,
    pub objective: Objective,
    pub min_trades: u64,
    /// Factor N of successive halving: the best 1/N of the sets continue on N times as many candles.
    pub halving: Option<u32>,
    pub rungs: u32,
    #[serde(skip)]
    pub threads: Option<NonZeroUsize>,
    #[serde(skip)]
    pub candles: CandleChoice,
}

pub struct PreparedSearch<'a> {
    pub loaded: LoadedConfig,
    pub configured_bot: Value,
    pub(super) sections: Value,
    pub entry: Cow<'a, StrategyEntry>,
    pub settings: BacktestSettings,
    pub space: Space,
    pub sweep: SweepSettings,
    /// Hashes of all files that parameters name, including parameters that are not searched.
    pub files: BTreeMap<String, String>,
    pub candles: Candles,
}

impl PreparedSearch<'_> {
    pub(crate) fn apply_options(&mut self, terms: &SearchOptions) -> Result<()> {
        let sweep = configure_sweep(terms, &self.space);
        self.sweep = sweep.map_err(|error| convert_search_error(error, &self.loaded))?;
        Ok(())
    }
}

impl SearchOptions {
    pub fn prepare<'a>(
        &self,
        files: &[PathBuf],
        registry: &'a Registry,
        progress: &dyn Progress,
    ) -> Result<PreparedSearch<'a>> {
        let loaded = LoadedConfig::read(files, BaseLayer::Sandbox, self.candles.flags())?;
        self.prepare_loaded(loaded, registry, progress)
    }

    pub(super) fn prepare_loaded<'a>(
        &self,
        mut loaded: LoadedConfig,
        registry: &'a Registry,
        progress: &dyn Progress,
    ) -> Result<PreparedSearch<'a>> {
        loaded.check_mode(RealMoneyRequest::NotRequested)?;
        loaded.check_simulation()?;
        warn_about_unused_list(&loaded);
        BotSet::build(&loaded, registry)?;
        let index = find_bot_index(&loaded.config.bots, self.bot.as_deref())?;
        let bot = loaded.config.bots[index].clone();
        let sections = sections_affecting_results(&loaded);
        let written_bot = sections["bots"][index].clone();
        let Some(entry) = registry.find(&bot.strategy) else {
            return Err(AppError::invalid(suggest_strategy(&bot.strategy, registry)));
        };
        let entry = entry.for_params(&bot.params).map_err(|error| AppError::invalid(error.to_string()))?;
        if self.parameters.is_empty() {
            let problem = format!("nothing to search: pass --param for the strategy \"{}\"", entry.name);
            return Err(AppError::invalid(problem).with_help(describe_parameters(&entry)));
        }
        let space = Space::new(&entry, &bot, &self.parameters, &self.conditions);
        let space = space.map_err(|error| convert_search_error(error, &loaded))?;
        let sweep = configure_sweep(self, &space).map_err(|error| convert_search_error(error, &loaded))?;
        loaded.config.bots = vec![bot];
        let mut candles = self.candles.gather(&loaded, progress)?;
        candles.notices.extend(check_expiries((&entry, &space), &candles, &loaded, self)?);
        candles.notices.extend(close_types_problem((&entry, &space), &loaded.config.bots));
        candles.notices.extend(lints::collect_texts(&LintInput::new(&loaded, registry), Stage::Search));
        let settings = BacktestSettings {
            session: session_settings(&loaded),
            simulation: loaded.config.simulation.clone(),
            price_every_ms: Millis::new(i64::from(loaded.config.runtime.price_every_ms)),
        };
        let files = hash_search_files(&settings.session.bots, &space)?;
        Ok(PreparedSearch {
            loaded,
            configured_bot: written_bot,
            sections,
            entry,
            settings,
            space,
            sweep,
            files,
            candles,
        })
    }

    pub fn identity(&self, prepared: &PreparedSearch<'_>) -> Result<Value> {
        let SweepSettings { search, objective, min_trades, halving } = &prepared.sweep;
        let mut identity = json!({
            // A different build may produce different trials, even if its version is the same.
            "program": program_hash()?,
            "strategy": [prepared.entry.name, prepared.entry.version],
            "data_hash": prepared.candles.hash,
            "parameters": self.parameters,
            "conditions": self.conditions,
            "files": prepared.files,
            "search": search.search,
            "trials": search.trials,
            "seed": search.seed,
            "objective": objective,
            "min_trades": min_trades,
            "halving": [halving.keep_one_in(), halving.rungs()],
            "settings": prepared.settings,
        });
        if search.search.is_adaptive() {
            identity["batch"] = json!(search.batch);
        }
        Ok(identity)
    }

    pub(super) fn coarse_candles_notice(&self, problem: String) -> Result<Option<String>> {
        if self.candles.allow_coarse {
            return Ok(Some(COARSE_NOTICE.to_owned()));
        }
        let help = "pass --allow-coarse to run anyway, but the result proves nothing";
        Err(AppError::invalid(problem).with_help(help))
    }

    pub fn threads(&self) -> NonZeroUsize {
        thread_count(self.threads)
    }
}

pub(crate) fn sections_affecting_results(loaded: &LoadedConfig) -> Value {
    let mut all = to_json(loaded)["configuration"].take();
    let mut section = |name: &str| (name.to_owned(), all[name].take());
    let mut sections: Map<String, Value> =
        ["account", "simulation", "risk", "bots"].into_iter().map(&mut section).collect();
    let price_every = all["runtime"]["price_every_ms"].take();
    let share = all["data"]["longer_share_percent"].take();
    if share != json!(CoverageRule::DEFAULT_SHARE_PERCENT) {
        sections.insert("data".to_owned(), json!({ "longer_share_percent": share }));
    }
    sections.insert("runtime".to_owned(), json!({ "price_every_ms": price_every }));
    Value::Object(sections)
}

pub(crate) fn find_bot_index(bots: &[BotSettings], named: Option<&str>) -> Result<usize> {
    let names = || bots.iter().map(|bot| bot.name.as_str());
    let Some(named) = named else {
        let problem = "several bots are configured: choose one with --bot";
        let known = names().collect::<Vec<_>>().join(", ");
        let several = || AppError::invalid(problem).with_help(format!("known bots: {known}"));
        return if bots.len() == 1 { Ok(0) } else { Err(several()) };
    };
    names().position(|name| name == named).ok_or_else(|| {
        let help = suggest(named, names().collect::<Vec<_>>());
        AppError::invalid(format!("--bot {named}: unknown bot")).with_help(help)
    })
}

fn describe_parameters(entry: &StrategyEntry) -> String {
    let range = |one: &candlewick_sdk::parameters::Parameter| match (one.minimum, one.maximum) {
        (Some(low), Some(high)) => format!("{} ({low} to {high})", one.name),
        _ => format!("{} ({})", one.name, one.kind),
    };
    let own = entry.parameters.iter().map(range);
    let all: Vec<String> = own.chain(["close_type", "expiration_type"].map(str::to_owned)).collect();
    format!("parameters are: {}", all.join(", "))
}

fn configure_sweep(arguments: &SearchOptions, space: &Space) -> Result<SweepSettings, SearchError> {
    let is_grid = arguments.trials.is_none() && space.count().is_some();
    let search = arguments.search.unwrap_or(if is_grid { Search::Grid } else { Search::Sobol });
    let problem = match (search, arguments.trials, arguments.halving) {
        (Search::Grid, Some(_), _) => "a grid tries every set: remove --trials, or choose another --search",
        (search, ..) if !search.is_adaptive() && arguments.batch.is_some() => {
            "--batch requires an adaptive search: remove --batch, or use --search tpe"
        }
        (search, _, Some(_)) if search.is_adaptive() => {
            "an adaptive search must run every set on all candles: remove --halving, or choose another --search"
        }
        _ => "",
    };
    if !problem.is_empty() {
        return Err(SearchError::InvalidSearch { problem: problem.to_owned() });
    }
    let halving = arguments.halving.map(|one_in| Halving::new(one_in, arguments.rungs)).transpose()?;
    let search = SearchSettings {
        search,
        trials: arguments.trials.unwrap_or(200),
        seed: arguments.seed,
        batch: arguments.batch.map_or(DEFAULT_BATCH, NonZeroU64::get),
    };
    search.check(space)?;
    Ok(SweepSettings {
        search,
        objective: arguments.objective,
        min_trades: arguments.min_trades,
        halving: halving.unwrap_or(Halving::NONE),
    })
}

fn check_expiries(
    (entry, space): (&StrategyEntry, &Space),
    candles: &Candles,
    loaded: &LoadedConfig,
    terms: &SearchOptions,
) -> Result<Option<String>> {
    let markets = &candles.markets;
    let coarse = match space.axes().iter().find(|axis| axis.target() == AxisTarget::CloseType) {
        None => terms.candles.check_expiries(loaded, markets, FineCandleCoverage::Throughout)?,
        Some(axis) => check_searched_close_types(axis, markets, loaded, terms)?,
    };
    if coarse.is_some() {
        return Ok(coarse);
    }
    for (bot, market) in bots_with_markets(loaded, markets) {
        let tried = boundary_bots(bot, space);
        let why = tried.iter().find_map(|(flag, bot)| {
            let mut own = strategy_expiries(entry, bot).into_iter().flatten().flatten();
            let why = own
                .find_map(|expiry| describe_coarse_expiry(expiry, market, FineCandleCoverage::Throughout))?;
            Some(format!("{flag}the strategy of bot {} sets its own expiry: {why}", bot.name))
        });
        if let Some(why) = why {
            return terms.coarse_candles_notice(why);
        }
    }
    Ok(None)
}

fn close_types_problem((entry, space): (&StrategyEntry, &Space), bots: &[BotSettings]) -> Option<String> {
    let axis = space.axes().iter().find(|axis| axis.target() == AxisTarget::CloseType)?;
    let values = axis.listed_values().filter(|values| values.len() > 1)?;
    let is_idle = |bot: &BotSettings| {
        let lasting = values.iter().map(|value| {
            let close_type = value.to_string().parse().unwrap_or(bot.close_type);
            let bot = BotSettings { close_type, ..bot.clone() };
            let all: Option<Vec<CloseType>> =
                strategy_expiries(entry, &bot)?.into_iter().map(|expiry| Some(expiry?.close_type)).collect();
            all.filter(|all| !all.is_empty())
        });
        let lasting: Vec<_> = lasting.collect();
        lasting[0].is_some() && lasting.windows(2).all(|pair| pair[0] == pair[1])
    };
    let mut tried = bots.iter().flat_map(|bot| boundary_bots(bot, space));
    tried.all(|(_, bot)| is_idle(&bot)).then(|| {
        "--param close_type has no effect: the strategy sets the duration of each trade, so rows that differ only in close type are equal"
            .to_owned()
    })
}

fn check_searched_close_types(
    axis: &Axis,
    markets: &[Market],
    loaded: &LoadedConfig,
    terms: &SearchOptions,
) -> Result<Option<String>> {
    for (bot, market) in bots_with_markets(loaded, markets) {
        for setting in axis.listed_values().into_iter().flatten() {
            let close_type = setting.to_string().parse().unwrap_or(bot.close_type);
            let expiry = Expiry { close_type, ..bot.expiry() };
            let Some(why) = describe_coarse_expiry(expiry, market, FineCandleCoverage::Throughout) else {
                continue;
            };
            return terms.coarse_candles_notice(format!("--param close_type: {why}"));
        }
    }
    Ok(None)
}

fn bots_with_markets<'a>(
    loaded: &'a LoadedConfig,
    markets: &'a [Market],
) -> impl Iterator<Item = (&'a BotSettings, &'a Market)> {
    let bots = loaded.config.bots.iter();
    bots.filter_map(|bot| Some((bot, markets.iter().find(|market| market.symbol() == bot.symbol)?)))
}

/// Returns one bot per listed value of each axis (first and last of a numeric axis), with its `--param` flag.
fn boundary_bots(bot: &BotSettings, space: &Space) -> Vec<(String, BotSettings)> {
    let mut first = bot.clone();
    let axes = space.axes().iter().filter(|axis| axis.target() == AxisTarget::Parameter);
    let axes: Vec<(&Axis, &[Setting])> = axes.filter_map(|one| Some((one, one.listed_values()?))).collect();
    for (axis, values) in &axes {
        if let Some(value) = values.first() {
            set_parameter(&mut first, axis.name(), value);
        }
    }
    let mut tried = vec![(String::new(), first.clone())];
    for (axis, values) in axes {
        let step = if axis.is_numeric() { values.len().saturating_sub(1).max(1) } else { 1 };
        for value in values.iter().step_by(step) {
            let mut other = first.clone();
            set_parameter(&mut other, axis.name(), value);
            tried.push((format!("--param {}={value}: ", axis.name()), other));
        }
    }
    tried
}

fn set_parameter(bot: &mut BotSettings, name: &str, value: &Setting) {
    if !bot.params.is_object() {
        bot.params = Value::Object(serde_json::Map::new());
    }
    bot.params[name] = value.to_json();
}

/// Returns the strategy's expiries. `None` if it cannot be built, which its trial reports.
fn strategy_expiries(entry: &StrategyEntry, bot: &BotSettings) -> Option<Vec<Option<Expiry>>> {
    entry.build(&bot.params, &bot.context(None)).ok().map(|strategy| strategy.expiries())
}

pub fn hash_bot_files(bots: &[BotSettings]) -> Result<BTreeMap<String, String>> {
    hash_files(bots.iter().map(|bot| &bot.params))
}

fn hash_search_files(bots: &[BotSettings], space: &Space) -> Result<BTreeMap<String, String>> {
    let searched = space.axes().iter().filter_map(|axis| axis.listed_values()).flatten();
    let texts = json!(searched.map(ToString::to_string).collect::<Vec<_>>());
    hash_files(bots.iter().map(|bot| &bot.params).chain(once(&texts)))
}

/// Hashes all files that are named in `values`.
fn hash_files<'a>(values: impl Iterator<Item = &'a Value>) -> Result<BTreeMap<String, String>> {
    let mut texts = Vec::new();
    values.for_each(|value| collect_strings(value, &mut texts));
    let mut files = BTreeMap::new();
    for text in texts {
        if !files.contains_key(text) && Path::new(text).is_file() {
            let hash = hash_file(Path::new(text)).map_err(|error| {
                let problem = format!("cannot read the file {text} named in a parameter");
                AppError::invalid(problem).with_source(error)
            })?;
            files.insert(text.to_owned(), hash);
        }
    }
    Ok(files)
}

fn collect_strings<'a>(value: &'a Value, texts: &mut Vec<&'a str>) {
    match value {
        Value::String(text) => texts.push(text),
        Value::Array(values) => values.iter().for_each(|value| collect_strings(value, texts)),
        Value::Object(values) => values.values().for_each(|value| collect_strings(value, texts)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn hash_file(path: &Path) -> io::Result<String> {
    let mut hasher = blake3::Hasher::new();
    hasher.update_reader(File::open(path)?)?;
    Ok(hasher.finalize().to_hex().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_named_files_by_content() {
        let folder = tempfile::tempdir().unwrap();
        let hash = |file: &str, content: &str| {
            let path = folder.path().join(file);
            std::fs::write(&path, content).unwrap();
            let params = json!({ "lists": [{ "file": path }, "no file", 3] });
            hash_files(once(&params)).unwrap().into_values().collect::<Vec<_>>()
        };
        let first = hash("a.csv", "one");
        assert_eq!((first.len(), hash("b.csv", "one")), (1, first.clone()));
        assert_ne!(hash("a.csv", "two"), first);
    }
}
