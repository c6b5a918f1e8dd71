//! From a rule to a validated result: its candles, its search and the division of the candles.

use crate::bots::{BotSet, suggest_strategy};
use crate::candles::{
    CandleStore, DataName, candle_store, meant_in_catalog, named_candles, serves, stored_for,
};
use crate::configuration::{Base, Loaded};
use crate::data::check::CheckTarget;
use crate::error::AppError;
use crate::progress::Progress;
use crate::search::{Layout, LayoutTerms, PreparedSearch, SearchTerms, best_bot, chosen_bot};
use crate::shell::shell_word;
use crate::storage::is_address;
use candlewick_backtest::BacktestSettings;
use candlewick_engine::BotSettings;
use candlewick_history::{CheckSettings, ImportSettings, Remedy};
use candlewick_sdk::parameters::Parameter;
use candlewick_sdk::testkit::{Market, Subject};
use candlewick_sdk::{Millis, Registry, Series};
use candlewick_search::sweep::{Replay, Search};
use candlewick_search::walk_forward::Course;
use serde::Serialize;
use serde_json::json;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Larger grids are sampled with this many sets instead.
pub const MOST_SETS: u64 = 200;
/// Parts before the hold-out if nothing is searched: one for training, the others for tests.
const FIXED_PARTS: i64 = 6;
/// Parts of the default layout: a training as long as three tests, and five tests.
const USUAL_PARTS: i64 = 8;

pub struct TunePlan<'a> {
    pub terms: SearchTerms,
    pub prepared: PreparedSearch<'a>,
    pub layout: LayoutTerms,
    pub is_fixed: bool,
    pub without_range: Vec<String>,
    /// Parameters that select the signals of a combination. They stay unchanged unless named.
    pub of_combination: Vec<String>,
}

impl<'a> TunePlan<'a> {
    /// Searches all parameters that have a range, with at most [`MOST_SETS`] sets: the whole grid, or a
    /// sample of it. A bot without such parameters is tested unchanged.
    pub fn prepare(
        mut terms: SearchTerms,
        hold_out: f64,
        (files, registry): (&[PathBuf], &'a Registry),
        progress: &dyn Progress,
    ) -> Result<Self, AppError> {
        let (_, bot) = tuned_bot(&terms, files, registry)?;
        let Some(entry) = registry.find(&bot.strategy) else {
            return Err(AppError::invalid(suggest_strategy(&bot.strategy, registry)));
        };
        let entry = entry.for_params(&bot.params).map_err(|error| AppError::invalid(error.to_string()))?;
        let is_number = |one: &&Parameter| matches!(one.kind.as_str(), "integer" | "number");
        let numbers = entry.parameters.iter().filter(is_number).cloned();
        // Ranges of the combination itself span thousands of values, and most leave nothing to trade.
        let is_of_combination = |one: &Parameter| one.name == "within" || one.name.starts_with("gate.");
        let (selecting, numbers): (Vec<Parameter>, Vec<Parameter>) =
            numbers.partition(|one| bot.strategy == "combine" && is_of_combination(one));
        let (ranged, bare): (Vec<Parameter>, Vec<Parameter>) =
            numbers.into_iter().partition(|one| one.minimum.is_some() && one.maximum.is_some());
        let names = |all: Vec<Parameter>| all.into_iter().map(|one| one.name).collect::<Vec<String>>();
        let (mut without_range, mut of_combination) = (Vec::new(), Vec::new());
        if terms.parameters.is_empty() {
            terms.parameters = names(ranged);
            (without_range, of_combination) = (names(bare), names(selecting));
        }
        let is_fixed = terms.parameters.is_empty();
        if is_fixed {
            // One set: the bot as it stands.
            terms.parameters = vec![format!("close_type={}", bot.close_type)];
            (terms.min_trades, terms.search, terms.trials, terms.halving) = (1, None, None, None);
        }
        let mut prepared = terms.prepare(files, registry, progress)?;
        let is_wide = prepared.space.count().is_some_and(|sets| sets > MOST_SETS);
        if terms.search.is_none() && terms.trials.is_none() && is_wide {
            (terms.search, terms.trials) = (Some(Search::Sobol), Some(MOST_SETS));
            prepared.spread(&terms)?;
        }
        let layout = layout_of(&prepared, hold_out, is_fixed)?;
        Ok(Self { terms, prepared, layout, is_fixed, without_range, of_combination })
    }

    pub fn before_hold_out(&self, layout: &Layout) -> SearchTerms {
        let mut terms = self.terms.clone();
        let end = layout.hold_out.as_ref().map(|range| range.start - layout.settings.gap);
        terms.candles.to = end.or(terms.candles.to);
        terms
    }

    pub fn subject(&self, layout: &Layout) -> Result<(Subject, Market), AppError> {
        let PreparedSearch { entry, candles, settings: BacktestSettings { session, .. }, .. } =
            &self.prepared;
        let none = || AppError::data("the bot has no candles before the hold-out");
        let bot = session.bots.first().ok_or_else(none)?;
        let own = candles.series.iter().find(|own| own.series() == bot.series()).ok_or_else(none)?;
        let shown = own.within(layout.walked.clone()).map_err(|_| none())?;
        let context = bot.context(session.longer_share_percent);
        let entry = entry.clone().into_owned();
        let market = Market { name: bot.series().to_string(), candles: shown.candles().to_vec() };
        Ok((Subject { entry, params: bot.params.clone(), bot: context }, market))
    }

    /// The name differs for another rule, other candles or another program.
    pub fn folder_name(&self) -> Result<String, AppError> {
        let whole = json!([self.terms.identity(&self.prepared)?, self.layout.hold_out]);
        Ok(format!("trials-{}", &blake3::hash(whole.to_string().as_bytes()).to_hex()[..12]))
    }

    pub fn bot_as_it_stands(&self) -> Result<Option<String>, AppError> {
        let bot = self.prepared.settings.session.bots.first();
        bot.map(|bot| best_bot(&self.prepared, bot)).transpose()
    }
}

fn tuned_bot(
    terms: &SearchTerms,
    files: &[PathBuf],
    registry: &Registry,
) -> Result<(Loaded, BotSettings), AppError> {
    let loaded = Loaded::read(files, Base::Sandbox, terms.candles.flags())?;
    if loaded.has_built_in_bots() {
        let help = "name the file of a rule, `candlewick tune rule.toml --data BTCUSDT_1m.csv`, or a configuration with a bot, \
                    `--config bot.toml`";
        return Err(AppError::invalid("there is no bot to tune").help(help));
    }
    BotSet::build(&loaded, registry)?;
    let place = chosen_bot(&loaded.config.bots, terms.bot.as_deref())?;
    let bot = loaded.config.bots[place].clone();
    Ok((loaded, bot))
}

/// A bot without parameters to choose needs only a short training.
fn layout_of(prepared: &PreparedSearch<'_>, hold_out: f64, is_fixed: bool) -> Result<LayoutTerms, AppError> {
    let usual = LayoutTerms { anchored: true, train: None, test: None, embargo: Millis::ZERO, hold_out };
    if !is_fixed {
        return Ok(usual);
    }
    let PreparedSearch { loaded, entry, settings, space, candles, .. } = prepared;
    let whole = Replay { settings, entry, space, candles: &candles.series, markets: &candles.markets };
    let course = Course { whole, balance: loaded.initial_balance()? };
    let step = course.step();
    let divided = usual.divide(&course.span(), step, course.purge())?;
    let part = Millis::new(divided.settings.test.get() * USUAL_PARTS / FIXED_PARTS).floor_to(step).max(step);
    Ok(LayoutTerms { train: Some(part), test: Some(part), ..usual })
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
    /// Candles missing while the market was open.
    pub missing: u64,
    /// Fraction of the possible candles, from 0 to 1.
    pub coverage: f64,
    /// Suspected problems by kind. Definite ones are an error.
    pub problems: BTreeMap<&'static str, u64>,
    #[serde(skip)]
    pub origin: CandleOrigin,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CandleOrigin {
    File,
    Made,
    Imported,
    Stored,
}

pub fn check_candles(
    terms: &SearchTerms,
    (files, registry): (&[PathBuf], &Registry),
    progress: &dyn Progress,
) -> Result<Vec<CheckedCandles>, AppError> {
    let (loaded, bot) = tuned_bot(terms, files, registry)?;
    let bot = &bot;
    let store = candle_store(&loaded);
    let data = &loaded.config.sandbox.data;
    if let Some(failure) = data.iter().find_map(|text| meant_in_catalog(text, &store.catalog)) {
        return Err(failure);
    }
    let named = named_candles(data)?;
    let is_named = !named.is_empty();
    let names = if is_named { named } else { stored_for(&store.catalog, std::slice::from_ref(bot))? };
    if !serves(&names, bot) {
        return Err(missing(bot, &where_looked(&names, is_named, &store)));
    }
    let of_symbol = names.iter().filter(|name| name.series().symbol == bot.symbol);
    of_symbol.map(|name| check(name, bot, &store, progress)).collect()
}

fn check(
    name: &DataName,
    bot: &BotSettings,
    store: &CandleStore,
    progress: &dyn Progress,
) -> Result<CheckedCandles, AppError> {
    let target = match (name, name.read_from(&store.catalog)?) {
        (_, Some(stored)) => CheckTarget::Stored(stored),
        (DataName::File(file), None) => CheckTarget::File(file.path.clone(), Some(file.series)),
        (DataName::Stored(series), None) => CheckTarget::Stored(*series),
    };
    match &target {
        CheckTarget::File(path, _) if !is_address(path) && !path.exists() => {
            return Err(missing(bot, &format!("there is no file {}", path.display())));
        }
        CheckTarget::Stored(series) if store.catalog.manifest(*series)?.is_none() => {
            return Err(missing(bot, &where_looked(&[], false, store)));
        }
        CheckTarget::File(..) | CheckTarget::Stored(_) => {}
    }
    let checked = target.check(&CheckSettings::default(), &ImportSettings::default(), store, progress)?;
    let counts = checked.findings.counts();
    let certain = counts.iter().filter(|(kind, _)| matches!(kind.remedy(), Remedy::Always | Remedy::Choose));
    let certain: Vec<String> = certain.map(|(kind, count)| format!("{count} {kind}")).collect();
    let Some(candles) = checked.candles.as_ref().filter(|_| certain.is_empty()) else {
        let found = if certain.is_empty() { "no candle is sound".to_owned() } else { certain.join(", ") };
        let problem = format!("{target}: the candles are not sound: {found}");
        let place = target.to_string();
        let place = shell_word(&place);
        let help = format!(
            "`candlewick data check {place}` shows each with its place, and with --fix writes a repaired copy: tune on that"
        );
        return Err(AppError::data(problem).help(help));
    };
    Ok(CheckedCandles {
        series: argument_of(checked.series),
        place: target.to_string(),
        candles: candles.candles().len(),
        from: candles.start(),
        to: candles.end(),
        missing: checked.missing,
        coverage: checked.coverage(),
        problems: counts.iter().map(|(kind, count)| (kind.as_str(), *count)).collect(),
        origin: origin_of(&target, store)?,
    })
}

fn origin_of(target: &CheckTarget, store: &CandleStore) -> Result<CandleOrigin, AppError> {
    let CheckTarget::Stored(series) = target else { return Ok(CandleOrigin::File) };
    let sources = store.catalog.manifest(*series)?.map(|manifest| manifest.origins).unwrap_or_default();
    Ok(if sources.is_empty() {
        CandleOrigin::Stored
    } else if sources.iter().all(|one| one.source.starts_with("synthetic")) {
        CandleOrigin::Made
    } else if sources.iter().all(|one| !one.files.is_empty()) {
        CandleOrigin::Imported
    } else {
        CandleOrigin::Stored
    })
}

impl CheckedCandles {
    pub fn more_words(&self) -> String {
        let Self { series, place, .. } = self;
        let (symbol, interval) = series.split_once('@').unwrap_or((series, ""));
        match self.origin {
            CandleOrigin::Stored => format!(
                "bring more candles, earlier or later ones, and give the same command again: `candlewick data fetch {series} --from DATE`"
            ),
            CandleOrigin::Imported => format!(
                "bring more candles of the source of these, earlier or later ones, and give the same command again: `candlewick data import FILE \
                 --symbol {symbol} --interval {interval}`"
            ),
            CandleOrigin::Made => format!(
                "these candles are made by chance: `candlewick data generate --symbol {symbol} --interval {interval} --days 365 --catalog --force` makes \
                 more to try things out, and none of them says anything of a market; `candlewick data fetch {series} --from DATE` brings one's own"
            ),
            CandleOrigin::File => format!(
                "name a longer file than {place} with --data, or the catalog's candles: `candlewick data fetch {series} --from DATE` \
                 brings them there from a venue, and `--data {series}` names them"
            ),
        }
    }

    pub fn words(&self) -> String {
        let problems: Vec<String> =
            self.problems.iter().map(|(kind, count)| format!("{count} {kind}")).collect();
        let gone = match self.missing {
            0 => "none missing".to_owned(),
            missing => format!("{missing} missing ({:.2} % there)", self.coverage * 100.0),
        };
        let doubt = if problems.is_empty() {
            "no problem".to_owned()
        } else {
            format!(
                "doubtful: {} (`candlewick data check {}` shows where)",
                problems.join(", "),
                shell_word(&self.place)
            )
        };
        format!("{gone}; {doubt}")
    }
}

fn where_looked(names: &[DataName], is_named: bool, store: &CandleStore) -> String {
    let there: Vec<String> = names.iter().map(|name| argument_of(name.series())).collect();
    if is_named {
        return format!("--data names {}", there.join(", "));
    }
    let folder = store.catalog.folder().display();
    match store.catalog.series().unwrap_or_default().as_slice() {
        [] => format!("the catalog {folder} is empty, and --data names none"),
        all => {
            let held: Vec<String> = all.iter().take(MOST_LISTED).map(|series| argument_of(*series)).collect();
            let more = all.len().saturating_sub(MOST_LISTED);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            format!("the catalog {folder} holds {}{more}", held.join(", "))
        }
    }
}

const MOST_LISTED: usize = 8;

fn missing(bot: &BotSettings, looked: &str) -> AppError {
    let Series { symbol, interval } = bot.series();
    let problem = format!("there are no candles of {symbol}@{interval} for bot \"{}\": {looked}", bot.name);
    AppError::data(problem).help(format!(
        "bring them, and give the same command again: `candlewick data fetch {symbol}@{interval}` takes the last thirty days \
         from the venue (--from 2025-01-01 takes more), `candlewick data import FILE --symbol {symbol} --interval {interval}` \
         takes a file of yours, `candlewick data generate --symbol {symbol} --interval {interval} --catalog` makes synthetic ones to try things out; \
         --data names other candles, such as --data EURUSD_1m.csv"
    ))
}

fn argument_of(series: Series) -> String {
    format!("{}@{}", series.symbol, series.interval)
}

#[cfg(test)]
mod tests {
    use super::*;
    use candlewick_history::{Catalog, Origin};
    use candlewick_sdk::{Candle, Interval, Ohlcv};

    #[test]
    fn more_candles_come_from_where_those_that_are_there_came() {
        let of = |origin| CheckedCandles {
            series: "EURUSD@5m".to_owned(),
            place: "EURUSD@5m".to_owned(),
            candles: 0,
            from: Millis::ZERO,
            to: Millis::ZERO,
            missing: 0,
            coverage: 1.0,
            problems: BTreeMap::new(),
            origin,
        };
        for (origin, way, other) in [
            (CandleOrigin::Imported, "data import FILE --symbol EURUSD --interval 5m`", "data fetch"),
            (CandleOrigin::Stored, "data fetch EURUSD@5m --from DATE`", "data import"),
        ] {
            let words = of(origin).more_words();
            assert!(words.contains(way) && !words.contains(other), "{words}");
        }
    }

    #[test]
    fn an_imported_series_is_told_from_one_of_a_venue() {
        let folder = tempfile::tempdir().unwrap();
        let store = CandleStore {
            catalog: Catalog::new(folder.path()),
            cache: None,
            objects: folder.path().to_owned(),
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
            assert_eq!(origin_of(&CheckTarget::Stored(series), &store).unwrap(), expected, "{symbol}");
        }
    }
}
