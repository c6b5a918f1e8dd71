//! Preparation of `tune`: candle checks, search and window layout for a rule file or a bot.

use crate::bots::{BotSet, suggest_strategy};
use crate::candles::{
    CandleStore, DataName, candle_store, has_candles_for, parse_data_names, stored_series_for,
    suggest_catalog_series,
};
use crate::configuration::{BaseLayer, LoadedConfig};
use crate::data::check::CheckTarget;
use crate::error::AppError;
use crate::progress::Progress;
use crate::search::{LayoutSpec, PreparedSearch, SearchOptions, find_bot_index, render_best_bot};
use crate::shell::quote_for_shell;
use crate::storage::is_storage_url;
use candlewick_backtest::BacktestSettings;
use candlewick_engine::BotSettings;
use candlewick_history::{CheckSettings, CheckedSeries, ImportSettings, Remedy, check_series};
use candlewick_sdk::parameters::Parameter;
use candlewick_sdk::testkit::{Market, Subject};
use candlewick_sdk::{CandleSeries, Millis, Registry, Series};
use candlewick_search::sweep::{Replayer, Search};
use candlewick_search::walk_forward::WalkForwardData;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Maximum number of parameter sets. A larger grid is sampled instead of searched completely.
pub const MAX_SETS: u64 = 200;
/// Number of parts of the layout if no parameter is searched: one for training, five for tests.
const PART_COUNT_WITHOUT_SEARCH: i64 = 6;
/// Number of parts in the default layout: three for training, and one for each of five tests.
const DEFAULT_PART_COUNT: i64 = 8;

pub struct TunePlan<'a> {
    pub options: SearchOptions,
    pub prepared: PreparedSearch<'a>,
    pub layout: LayoutSpec,
    pub is_bot_unchanged: bool,
    pub parameters_without_range: Vec<String>,
    /// Parameters of the combination itself, such as `within`. They are searched only if they are named explicitly.
    pub combination_parameters: Vec<String>,
}

impl<'a> TunePlan<'a> {
    /// Prepares a search over all parameters that have a range. It tries at most [`MAX_SETS`] sets: the whole
    /// grid or a sample. If no parameter of the bot has a range, the bot is tested unchanged.
    pub fn prepare(
        mut terms: SearchOptions,
        (files, registry): (&[PathBuf], &'a Registry),
        progress: &dyn Progress,
    ) -> Result<Self, AppError> {
        let (_, bot) = load_bot_to_tune(&terms, files, registry)?;
        let Some(entry) = registry.find(&bot.strategy) else {
            return Err(AppError::invalid(suggest_strategy(&bot.strategy, registry)));
        };
        let entry = entry.for_params(&bot.params).map_err(|error| AppError::invalid(error.to_string()))?;
        let is_number = |one: &&Parameter| matches!(one.kind.as_str(), "integer" | "number");
        let numbers = entry.parameters.iter().filter(is_number).cloned();
        // The combination's own parameters have thousands of values. With most of them, the bot never trades.
        let is_of_combination = |one: &Parameter| one.name == "within" || one.name.starts_with("gate.");
        let (selecting, numbers): (Vec<Parameter>, Vec<Parameter>) =
            numbers.partition(|one| bot.strategy == "combine" && is_of_combination(one));
        let (ranged, bare): (Vec<Parameter>, Vec<Parameter>) =
            numbers.into_iter().partition(|one| one.minimum.is_some() && one.maximum.is_some());
        let names = |all: Vec<Parameter>| all.into_iter().map(|one| one.name).collect::<Vec<String>>();
        let (mut parameters_without_range, mut combination_parameters) = (Vec::new(), Vec::new());
        if terms.parameters.is_empty() {
            terms.parameters = names(ranged);
            (parameters_without_range, combination_parameters) = (names(bare), names(selecting));
        }
        let is_fixed = terms.parameters.is_empty();
        if is_fixed {
            // Tests a single set: the unchanged bot.
            terms.parameters = vec![format!("close_type={}", bot.close_type)];
            (terms.min_trades, terms.search, terms.trials, terms.halving) = (1, None, None, None);
        }
        let mut prepared = terms.prepare(files, registry, progress)?;
        let is_wide = prepared.space.count().is_some_and(|sets| sets > MAX_SETS);
        if terms.search.is_none() && terms.trials.is_none() && is_wide {
            (terms.search, terms.trials) = (Some(Search::Sobol), Some(MAX_SETS));
            prepared.apply_options(&terms)?;
        }
        let layout = new_layout(&prepared, is_fixed)?;
        Ok(Self {
            options: terms,
            prepared,
            layout,
            is_bot_unchanged: is_fixed,
            parameters_without_range,
            combination_parameters,
        })
    }

    pub fn validation_input(&self) -> Result<(Subject, Market), AppError> {
        let PreparedSearch { entry, candles, settings: BacktestSettings { session, .. }, .. } =
            &self.prepared;
        let no_candles = || AppError::data("the bot has no candles");
        let bot = session.bots.first().ok_or_else(no_candles)?;
        let own = candles.series.iter().find(|own| own.series() == bot.series()).ok_or_else(no_candles)?;
        let context = bot.context(session.longer_share_percent);
        let entry = entry.clone().into_owned();
        let market = Market { name: bot.series().to_string(), candles: own.candles().to_vec() };
        Ok((Subject { entry, params: bot.params.clone(), bot: context }, market))
    }

    /// Returns a folder name that identifies the rule, the candles and the program.
    pub fn folder_name(&self) -> Result<String, AppError> {
        let identity = self.options.identity(&self.prepared)?.to_string();
        Ok(format!("trials-{}", &blake3::hash(identity.as_bytes()).to_hex()[..12]))
    }

    pub fn render_unchanged_bot(&self) -> Result<Option<String>, AppError> {
        let bot = self.prepared.settings.session.bots.first();
        bot.map(|bot| render_best_bot(&self.prepared, bot)).transpose()
    }
}

fn load_bot_to_tune(
    terms: &SearchOptions,
    files: &[PathBuf],
    registry: &Registry,
) -> Result<(LoadedConfig, BotSettings), AppError> {
    let loaded = LoadedConfig::read(files, BaseLayer::Sandbox, terms.candles.flags())?;
    if loaded.has_built_in_bots() {
        let help = "pass a rule file, as in `candlewick tune rule.toml --data BTCUSDT_1m.csv`, or a configuration with a bot, \
                    as in `candlewick tune --config bot.toml`";
        return Err(AppError::invalid("the configuration has no bot to tune").with_help(help));
    }
    BotSet::build(&loaded, registry)?;
    let place = find_bot_index(&loaded.config.bots, terms.bot.as_deref())?;
    let bot = loaded.config.bots[place].clone();
    Ok((loaded, bot))
}

/// Divides the candles into periods. If no parameter is searched, a short training period is sufficient.
fn new_layout(prepared: &PreparedSearch<'_>, is_fixed: bool) -> Result<LayoutSpec, AppError> {
    let usual = LayoutSpec { anchored: true, train: None, test: None, embargo: Millis::ZERO };
    if !is_fixed {
        return Ok(usual);
    }
    let PreparedSearch { loaded, entry, settings, space, candles, .. } = prepared;
    let whole = Replayer { settings, entry, space, candles: &candles.series, markets: &candles.markets };
    let course = WalkForwardData { replay: whole, balance: loaded.initial_balance()? };
    let step = course.alignment();
    let divided = usual.build_layout(&course.span(), step, course.purge_gap())?;
    let part = Millis::new(divided.settings.test.get() * DEFAULT_PART_COUNT / PART_COUNT_WITHOUT_SEARCH)
        .floor_to(step)
        .max(step);
    Ok(LayoutSpec { train: Some(part), test: Some(part), ..usual })
}

#[derive(Clone, Debug, Serialize)]
pub struct CheckedCandles {
    pub series: String,
    pub place: String,
    pub candles: usize,
    /// Open time of the first candle.
    pub from: Millis,
    /// Close time of the last candle.
    pub to: Millis,
    /// Number of candles missing while the market was open.
    pub missing: u64,
    /// Fraction of the expected candles that are present, from 0 to 1.
    pub coverage: f64,
    /// Number of suspected problems by kind. Definite problems are reported as errors instead.
    pub problems: BTreeMap<&'static str, u64>,
    #[serde(skip)]
    pub origin: CandleOrigin,
    #[serde(skip)]
    checked: CandleSeries,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CandleOrigin {
    File,
    Synthetic,
    Imported,
    Stored,
}

pub fn check_candles(
    terms: &SearchOptions,
    (files, registry): (&[PathBuf], &Registry),
    progress: &dyn Progress,
) -> Result<Vec<CheckedCandles>, AppError> {
    let (loaded, bot) = load_bot_to_tune(terms, files, registry)?;
    let bot = &bot;
    let store = candle_store(&loaded);
    let data = &loaded.config.sandbox.data;
    if let Some(failure) = data.iter().find_map(|text| suggest_catalog_series(text, &store.catalog)) {
        return Err(failure);
    }
    let named = parse_data_names(data)?;
    let is_named = !named.is_empty();
    let names = if is_named { named } else { stored_series_for(&store.catalog, std::slice::from_ref(bot))? };
    if !has_candles_for(&names, bot) {
        return Err(missing_candles_error(bot, &describe_sources(&names, is_named, &store)));
    }
    let of_symbol = names.iter().filter(|name| name.series().symbol == bot.symbol);
    of_symbol.map(|name| check_named_series(name, bot, &store, progress)).collect()
}

fn check_named_series(
    name: &DataName,
    bot: &BotSettings,
    store: &CandleStore,
    progress: &dyn Progress,
) -> Result<CheckedCandles, AppError> {
    let target = match (name, name.stored_source(&store.catalog)?) {
        (_, Some(stored)) => CheckTarget::Stored(stored),
        (DataName::File(file), None) => CheckTarget::File(file.path.clone(), Some(file.series)),
        (DataName::Stored(series), None) => CheckTarget::Stored(*series),
    };
    match &target {
        CheckTarget::File(path, _) if !is_storage_url(path) && !path.exists() => {
            return Err(missing_candles_error(bot, &format!("{} does not exist", path.display())));
        }
        CheckTarget::Stored(series) if store.catalog.manifest(*series)?.is_none() => {
            return Err(missing_candles_error(bot, &describe_sources(&[], false, store)));
        }
        CheckTarget::File(..) | CheckTarget::Stored(_) => {}
    }
    let checked = target.check(&CheckSettings::default(), &ImportSettings::default(), store, progress)?;
    let counts = checked.findings.counts();
    let certain = counts.iter().filter(|(kind, _)| matches!(kind.remedy(), Remedy::Always | Remedy::Choose));
    let certain: Vec<String> = certain.map(|(kind, count)| format!("{count} {kind}")).collect();
    let Some(candles) = checked.candles.as_ref().filter(|_| certain.is_empty()) else {
        let found = if certain.is_empty() { "no candle is valid".to_owned() } else { certain.join(", ") };
        let problem = format!("{target}: invalid candles: {found}");
        let place = target.to_string();
        let place = quote_for_shell(&place);
        let help = format!(
            "run `candlewick data check {place}` to locate each invalid candle; add --fix to write a repaired copy"
        );
        return Err(AppError::data(problem).with_help(help));
    };
    let candles = candles.clone();
    let summary = CheckedCandles {
        series: series_argument(checked.series),
        place: target.to_string(),
        candles: 0,
        from: candles.start(),
        to: candles.end(),
        missing: 0,
        coverage: 0.0,
        problems: BTreeMap::new(),
        origin: detect_origin(&target, store)?,
        checked: candles,
    };
    Ok(summary.with_results(&checked))
}

fn detect_origin(target: &CheckTarget, store: &CandleStore) -> Result<CandleOrigin, AppError> {
    let CheckTarget::Stored(series) = target else { return Ok(CandleOrigin::File) };
    let sources = store.catalog.manifest(*series)?.map(|manifest| manifest.origins).unwrap_or_default();
    Ok(if sources.is_empty() {
        CandleOrigin::Stored
    } else if sources.iter().all(|one| one.source.starts_with("synthetic")) {
        CandleOrigin::Synthetic
    } else if sources.iter().all(|one| !one.files.is_empty()) {
        CandleOrigin::Imported
    } else {
        CandleOrigin::Stored
    })
}

impl CheckedCandles {
    fn with_results(self, checked: &CheckedSeries) -> Self {
        let problems = checked.findings.counts().iter().map(|(kind, count)| (kind.as_str(), *count));
        Self {
            candles: self.checked.candles().len(),
            missing: checked.missing,
            coverage: checked.coverage(),
            problems: problems.collect(),
            ..self
        }
    }

    /// Describes only the candles before `end`, or all if there are none.
    #[must_use]
    pub fn before(self, end: Millis) -> Self {
        match self.checked.within(self.from..end) {
            Ok(part) if end < self.to => {
                let checked = check_series(&part, &[], &CheckSettings::default());
                Self { from: part.start(), to: part.end(), checked: part, ..self }.with_results(&checked)
            }
            _ => self,
        }
    }

    pub fn more_candles_hint(&self) -> String {
        let Self { series, place, .. } = self;
        let (symbol, interval) = series.split_once('@').unwrap_or((series, ""));
        match self.origin {
            CandleOrigin::Stored => format!(
                "run `candlewick data fetch {series} --from DATE` for more candles, then repeat this command"
            ),
            CandleOrigin::Imported => format!(
                "run `candlewick data import FILE --symbol {symbol} --interval {interval}` with more candles of the same source, \
                 then repeat this command"
            ),
            CandleOrigin::Synthetic => format!(
                "synthetic candles prove nothing about a market: run `candlewick data fetch {series} --from DATE` for real candles, or \
                 `candlewick data generate --symbol {symbol} --interval {interval} --days 365 --catalog --force` for more synthetic candles"
            ),
            CandleOrigin::File => format!(
                "pass a file with more candles than {place} to --data, or run `candlewick data fetch {series} --from DATE` and \
                 then pass `--data {series}`"
            ),
        }
    }

    pub fn describe(&self) -> String {
        let problems: Vec<String> = self.problems.iter().map(|(kind, n)| format!("{n} {kind}")).collect();
        let gone = match self.missing {
            0 => "none missing".to_owned(),
            missing => format!("{missing} missing ({:.2} % present)", self.coverage * 100.0),
        };
        let doubt = if problems.is_empty() {
            "no problems".to_owned()
        } else {
            format!(
                "possible problems: {} (run `candlewick data check {}` to locate them)",
                problems.join(", "),
                quote_for_shell(&self.place)
            )
        };
        format!("{gone}; {doubt}")
    }
}

fn describe_sources(names: &[DataName], is_named: bool, store: &CandleStore) -> String {
    let there: Vec<String> = names.iter().map(|name| series_argument(name.series())).collect();
    if is_named {
        return format!("--data names {}", there.join(", "));
    }
    let folder = store.catalog.folder().display();
    match store.catalog.series().unwrap_or_default().as_slice() {
        [] => format!("the catalog {folder} is empty, and --data is not given"),
        all => {
            let held: Vec<_> = all.iter().take(MAX_LISTED_SERIES).map(|one| series_argument(*one)).collect();
            let more = all.len().saturating_sub(MAX_LISTED_SERIES);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            format!("the catalog {folder} contains {}{more}", held.join(", "))
        }
    }
}

const MAX_LISTED_SERIES: usize = 8;

fn missing_candles_error(bot: &BotSettings, searched: &str) -> AppError {
    let Series { symbol, interval } = bot.series();
    let problem = format!("no candles of {symbol}@{interval} for bot \"{}\": {searched}", bot.name);
    AppError::data(problem).with_help(format!(
        "get candles and repeat this command: `candlewick data fetch {symbol}@{interval}` fetches the last 30 days from the venue \
         (or more with --from 2025-01-01), `candlewick data import FILE --symbol {symbol} --interval {interval}` imports your file, \
         `candlewick data generate --symbol {symbol} --interval {interval} --catalog` makes synthetic candles; \
         or pass other candles, such as --data EURUSD_1m.csv"
    ))
}

fn series_argument(series: Series) -> String {
    format!("{}@{}", series.symbol, series.interval)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::flat_candles;
    use candlewick_history::{Catalog, Origin};
    use candlewick_sdk::{Candle, Interval, Ohlcv};

    #[test]
    fn suggests_the_source_of_existing_candles() {
        let candles_from = |origin| CheckedCandles {
            series: "EURUSD@5m".to_owned(),
            place: "EURUSD@5m".to_owned(),
            candles: 0,
            from: Millis::ZERO,
            to: Millis::ZERO,
            missing: 0,
            coverage: 1.0,
            problems: BTreeMap::new(),
            origin,
            checked: flat_candles("EURUSD", "5m", 0..3),
        };
        for (origin, way, other) in [
            (CandleOrigin::Imported, "data import FILE --symbol EURUSD --interval 5m`", "data fetch"),
            (CandleOrigin::Stored, "data fetch EURUSD@5m --from DATE`", "data import"),
        ] {
            let words = candles_from(origin).more_candles_hint();
            assert!(words.contains(way) && !words.contains(other), "{words}");
        }
    }

    #[test]
    fn detects_imported_and_fetched_series() {
        let folder = tempfile::tempdir().unwrap();
        let store = CandleStore {
            catalog: Catalog::new(folder.path()),
            cache: None,
            object_folder: folder.path().to_owned(),
            longer_share_percent: 50.0,
        };
        let candle = |minute: i64| {
            let prices = Ohlcv { open: 1.0, high: 1.0, low: 1.0, close: 1.0, volume: 0.0 };
            Candle::new(Millis::MINUTE * minute, Interval::MINUTE, prices).unwrap()
        };
        for (symbol, files, expected) in [
            ("EURUSD", vec!["a.csv".to_owned()], CandleOrigin::Imported),
            ("GBPUSD", Vec::new(), CandleOrigin::Stored),
        ] {
            let series = Series { symbol: symbol.parse().unwrap(), interval: Interval::MINUTE };
            let source = "x".to_owned();
            let origin = Origin { source, licence: None, fetched_at: Millis::MINUTE * 9, files };
            store.catalog.append(series, &[candle(1)], &origin).unwrap();
            assert_eq!(detect_origin(&CheckTarget::Stored(series), &store).unwrap(), expected, "{symbol}");
        }
    }
}
