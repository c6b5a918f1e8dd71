//! Assigns candle series to bots and markets, explains missing candles, and derives tick sizes from prices.

use super::load::format_series;
use super::name::can_resample;
use crate::configuration::LoadedConfig;
use crate::error::{AppError, Result};
use crate::shell::{quote_for_shell, suggest_nearby_files};
use candlewick_engine::BotSettings;
use candlewick_history::{Catalog, HashedSeries, HistoryError, Manifest, resample_with_coverage};
use candlewick_sdk::{Candle, CandleSeries, Series, Symbol, nearest_name};
use candlewick_simulator::Market;
use std::collections::{BTreeMap, BTreeSet};
use std::io::ErrorKind;
use std::path::Path;

/// Selects the candle series of each bot, and all other series of the traded symbols.
///
/// A missing series is resampled from the longest candles whose interval divides the missing interval. `place` names
/// the data source in error messages.
pub fn select_series(
    bots: &[BotSettings],
    mut all: Vec<HashedSeries>,
    (place, longer_share_percent): (&str, f64),
) -> Result<Vec<HashedSeries>> {
    for bot in bots {
        if all.iter().any(|one| one.candles().series() == bot.series()) {
            continue;
        }
        let parts =
            all.iter().map(HashedSeries::candles).filter(|one| can_resample(one.series(), bot.series()));
        let Some(longest) = parts.max_by_key(|one| one.interval()) else {
            let there: Vec<Series> = all.iter().map(|one| one.candles().series()).collect();
            let Series { symbol, interval } = bot.series();
            let help = suggest_series(bot.series(), &there).unwrap_or_else(|| {
                format!(
                    "use a file with --data {symbol}_{interval}.csv, download candles with \
                     `candlewick data fetch {symbol}@{interval}`, create synthetic candles with \
                     `candlewick data generate`, or choose another catalog with --catalog"
                )
            });
            return Err(AppError::data(describe_missing_candles(bot, &there, place)).with_help(help));
        };
        let joined = resample_with_coverage(longest, bot.interval, longer_share_percent)?;
        all.push(HashedSeries::new(joined.candles));
    }
    let is_traded = |symbol: Symbol| bots.iter().any(|bot| bot.symbol == symbol);
    Ok(all.into_iter().filter(|one| is_traded(one.candles().symbol())).collect())
}

/// Builds one market per symbol. `prices` are the shortest candles that a bot uses, `detail` all shorter ones.
pub fn markets_for(bots: &[BotSettings], series: &[CandleSeries]) -> Vec<Market> {
    let mut markets: Vec<Market> = Vec::new();
    for bot in bots {
        if markets.iter().any(|market| market.symbol() == bot.symbol) {
            continue;
        }
        let is_heard = |one: &&CandleSeries| bots.iter().any(|bot| bot.series() == one.series());
        let of_symbol = || series.iter().filter(|one| one.symbol() == bot.symbol);
        let Some(prices) = of_symbol().filter(is_heard).min_by_key(|one| one.interval()) else { continue };
        let mut detail: Vec<CandleSeries> =
            of_symbol().filter(|one| one.interval() < prices.interval()).cloned().collect();
        detail.sort_by_key(CandleSeries::interval);
        markets.push(Market { prices: prices.clone(), detail });
    }
    markets
}

pub(super) fn missing_in_catalog_error(bot: &BotSettings, there: &[Series], place: &str) -> AppError {
    let Series { symbol, interval } = bot.series();
    let meant =
        suggest_series(bot.series(), there).map(|meant| format!("{meant} Otherwise, ")).unwrap_or_default();
    AppError::data(describe_missing_candles(bot, there, place)).with_help(format!(
        "{meant}download candles with `candlewick data fetch {symbol}@{interval}`, import a file with \
         `candlewick data import`, or create synthetic candles with \
         `candlewick data generate --symbol {symbol} --interval {interval} --catalog`"
    ))
}

fn describe_missing_candles(bot: &BotSettings, there: &[Series], place: &str) -> String {
    let (series, name, available) = (bot.series(), &bot.name, format_series(there));
    format!("no candles of {series} for bot \"{name}\" in {place}; available: {available}")
}

fn suggest_series(wanted: Series, there: &[Series]) -> Option<String> {
    if let Some(other) = there.iter().find(|one| one.symbol == wanted.symbol) {
        return Some(format!("did you mean interval = \"{}\"?", other.interval));
    }
    let near = nearest_name(wanted.symbol.as_str(), there.iter().map(|one| one.symbol.as_str()))?;
    Some(format!("did you mean symbol = \"{near}\"?"))
}

fn describe_catalog(folder: &Path, wanted: &str) -> String {
    let catalog = Catalog::new(folder);
    let all: Vec<Series> = catalog.series().unwrap_or_default();
    if all.is_empty() {
        return "the catalog is empty; `candlewick data fetch` fills it from the venue, `candlewick data import` from files"
            .to_owned();
    }
    let symbol = wanted.split(' ').next().unwrap_or_default();
    let near = nearest_name(symbol, all.iter().map(|series| series.symbol.as_str()));
    let meant = all.iter().find(|series| near == Some(series.symbol.as_str()));
    let meant = meant.map(|series| format!("; did you mean {}@{}?", series.symbol, series.interval));
    let there: Vec<String> = all.iter().map(|series| describe_catalog_series(&catalog, *series)).collect();
    format!("it has {}{}", there.join(", "), meant.unwrap_or_default())
}

pub(crate) fn suggest_catalog_series(text: &str, catalog: &Catalog) -> Option<AppError> {
    if Path::new(text).exists() || Symbol::new(text).is_err() {
        return None;
    }
    let all = catalog.series().ok()?;
    let there = all.iter().filter(|series| series.symbol.as_str().eq_ignore_ascii_case(text));
    let there: Vec<String> = there.map(|series| format!("{}@{}", series.symbol, series.interval)).collect();
    let first = there.first()?;
    let (folder, available) = (catalog.folder().display(), there.join(", "));
    let problem = format!("{text} is not a file; the catalog {folder} has the series {available}");
    Some(AppError::data(problem).with_help(format!("did you mean {first}?")))
}

fn describe_catalog_series(catalog: &Catalog, series: Series) -> String {
    let Series { symbol, interval } = series;
    // A broken manifest is reported elsewhere.
    let manifest: Option<Manifest> = catalog.manifest(series).ok().flatten();
    let versions = manifest.map(|manifest| manifest.versions).unwrap_or_default();
    if versions.len() < 2 {
        return format!("{symbol}@{interval}");
    }
    let numbers: Vec<String> = versions.iter().map(|version| version.number.to_string()).collect();
    format!("{symbol}@{interval} in versions {}", numbers.join(", "))
}

pub fn help_for_history_error(error: &HistoryError) -> Option<String> {
    match error {
        HistoryError::NotInCatalog { folder, what } => Some(describe_catalog(folder, what)),
        // Line 1 is the header, which a repair cannot remove.
        HistoryError::InvalidLine { path, line: 2.., .. } => Some(format!(
            "`candlewick data check {}` lists all problems; --fix writes a copy without invalid lines",
            quote_for_shell(&path.display().to_string())
        )),
        HistoryError::Io { path, action, source } if source.kind() == ErrorKind::NotFound => {
            help_for_missing_file(path, action)
        }
        _ => None,
    }
}

fn help_for_missing_file(path: &Path, action: &str) -> Option<String> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    match action {
        "write" if !folder.exists() => Some(format!("create the folder {} first", folder.display())),
        "open" | "read" if folder.join("manifest.json").exists() => {
            Some("restore the file, or delete its folder and fetch or import the series again".to_owned())
        }
        "open" | "read" => Some(format!(
            "{} without --data, `candlewick backtest` and `candlewick live --sandbox` use synthetic candles",
            suggest_nearby_files(path, &["csv", "parquet"])
        )),
        _ => None,
    }
}

/// Number of newest candles from which the price step is derived. Older candles may have an outdated step.
const STEP_SAMPLE_CANDLES: usize = 1_000;

/// Returns the price step of recent candles: one unit of the last decimal of the most precise price.
pub fn price_step(candles: &[Candle]) -> Option<String> {
    Some(format_price_step(newest_prices(candles).map(count_decimals).max()?))
}

pub fn has_float_noise(candles: &[Candle]) -> bool {
    newest_prices(candles).any(|price| round_to_15_digits(price) != price)
}

fn newest_prices(candles: &[Candle]) -> impl Iterator<Item = f64> {
    let newest = &candles[candles.len().saturating_sub(STEP_SAMPLE_CANDLES)..];
    newest.iter().flat_map(|candle| [candle.open(), candle.high(), candle.low(), candle.close()])
}

pub fn format_price_step(decimals: usize) -> String {
    if decimals == 0 { "1".to_owned() } else { format!("0.{}1", "0".repeat(decimals - 1)) }
}

pub fn missing_price_steps(markets: &[Market], set: &BTreeMap<Symbol, f64>) -> BTreeMap<Symbol, f64> {
    suggested_steps(markets, set).filter_map(|(symbol, step)| Some((symbol, step.parse().ok()?))).collect()
}

fn suggested_steps(all: &[Market], set: &BTreeMap<Symbol, f64>) -> impl Iterator<Item = (Symbol, String)> {
    let unset = all.iter().filter(move |market| !set.contains_key(&market.symbol()));
    unset.filter_map(|market| Some((market.symbol(), price_step(market.prices.candles())?)))
}

pub(super) fn missing_tick_notice(markets: &[Market], set: &BTreeMap<Symbol, f64>) -> Option<String> {
    let suggested: Vec<String> =
        suggested_steps(markets, set).map(|(symbol, step)| format!("{symbol} = {step}")).collect();
    (!suggested.is_empty()).then(|| {
        format!(
            "no tick size is set, so prices inside candles are not rounded and draws are rare; suggested from these candles: \
             [simulation.ticks] {}",
            suggested.join(", ")
        )
    })
}

pub(crate) fn built_in_steps(loaded: &LoadedConfig) -> Vec<String> {
    let symbols: BTreeSet<Symbol> = loaded.config.bots.iter().map(|bot| bot.symbol).collect();
    let step = |symbol: Symbol| {
        let step = loaded.config.simulation.ticks.get(&symbol)?;
        loaded.is_built_in(&format!("simulation.ticks.{symbol}")).then(|| format!("{symbol} = {step}"))
    };
    if loaded.has_built_in_bots() { Vec::new() } else { symbols.into_iter().filter_map(step).collect() }
}

pub(super) fn built_in_tick_notice(loaded: &LoadedConfig) -> Option<String> {
    let steps = built_in_steps(loaded);
    (!steps.is_empty()).then(|| {
        format!(
            "without --config, prices inside candles are rounded to built-in tick sizes; for the same results with \
             --config, set [simulation.ticks] {}",
            steps.join(", ")
        )
    })
}

fn count_decimals(price: f64) -> usize {
    round_to_15_digits(price).to_string().split_once('.').map_or(0, |(_, fraction)| fraction.len())
}

/// Rounds to 15 significant digits, which every double preserves. 1.0832100000000002 becomes 1.08321.
fn round_to_15_digits(price: f64) -> f64 {
    format!("{price:.14e}").parse().unwrap_or(price)
}

#[cfg(test)]
mod tests {
    use super::super::collect_candles;
    use super::*;
    use crate::tests::{bot, flat_candles};
    use candlewick_sdk::{Interval, Millis, Ohlcv};

    fn series(text: &str) -> HashedSeries {
        let (symbol, interval) = text.split_once(' ').unwrap();
        let length = interval.parse::<Interval>().unwrap().length();
        HashedSeries::new(flat_candles(symbol, interval, 0..(Millis::HOUR.get() / length.get()).max(1)))
    }

    fn check(bots: &[(&str, &str)], there: &[&str], expected: &[&str]) {
        let bots: Vec<BotSettings> = bots.iter().map(|(symbol, interval)| bot(symbol, interval)).collect();
        let all: Vec<HashedSeries> = there.iter().map(|text| series(text)).collect();
        let markets = markets_for(&bots, &collect_candles(&select_series(&bots, all, ("x", 50.0)).unwrap()));
        let words = |market: &Market| {
            let all = std::iter::once(&market.prices).chain(&market.detail);
            all.map(|one| one.series().to_string()).collect::<Vec<_>>().join(", ")
        };
        assert_eq!(markets.iter().map(words).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn prices_trades_by_the_finest_candles_of_a_bot_and_all_finer_ones() {
        let all = ["A 5m", "A 30s", "A 1m", "A 5s", "B 1m"];
        check(&[("A", "1m")], &all, &["A 1m, A 5s, A 30s"]);
        check(&[("A", "5m")], &all, &["A 5m, A 5s, A 30s, A 1m"]);
        check(&[("A", "5m"), ("A", "1m")], &all, &["A 1m, A 5s, A 30s"]);
        check(&[("B", "1m"), ("A", "5s")], &all, &["B 1m", "A 5s"]);
    }

    #[test]
    fn resamples_a_missing_series_from_the_longest_matching_candles() {
        check(&[("A", "15m")], &["A 5s", "A 5m", "A 10m"], &["A 15m, A 5s, A 5m, A 10m"]);
        let joined =
            select_series(&[bot("A", "15m")], vec![series("A 5s"), series("A 5m")], ("x", 50.0)).unwrap();
        let own = joined.iter().find(|one| one.candles().series() == bot("A", "15m").series()).unwrap();
        assert_eq!((own.candles().candles().len(), own.candles().candles()[0].volume()), (4, 0.0));
    }

    #[test]
    fn names_a_missing_series_and_the_available_ones() {
        for (symbol, interval, help) in [
            ("A", "90s", "did you mean interval = \"1m\"?"),
            ("BTCUSD", "1m", "did you mean symbol = \"BTCUSDT\"?"),
            ("Gold", "1m", "use a file with --data Gold_1m.csv"),
        ] {
            let all = vec![series("A 1m"), series("BTCUSDT 1m")];
            let failure = select_series(&[bot(symbol, interval)], all, ("data", 50.0)).unwrap_err().text();
            let missing = format!("{symbol} {interval}");
            let parts = [missing.as_str(), "A 1m, BTCUSDT 1m", help];
            assert!(parts.iter().all(|part| failure.contains(part)), "{failure}");
        }
    }

    fn candle(prices: [f64; 4]) -> Candle {
        let [open, high, low, close] = prices;
        Candle::new(Millis::ZERO, Interval::MINUTE, Ohlcv { open, high, low, close, volume: 1.0 }).unwrap()
    }

    #[test]
    fn price_step_is_the_last_decimal_of_any_price() {
        for (prices, expected) in [
            ([1.1, 1.13, 1.09, 1.1], "0.01"),
            ([1.08, 1.08123, 1.07, 1.08], "0.00001"),
            ([94_000.0, 94_001.0, 93_999.0, 94_000.0], "1"),
            ([94_000.0, 94_000.5, 94_000.0, 94_000.0], "0.1"),
            // The prices include the inexact floating-point results of 1.0833 - 0.00009 and of 0.1 + 0.2.
            ([1.08, 1.083_210_000_000_000_2, 1.07, 1.08], "0.00001"),
            ([1.0, 1.0, 0.300_000_000_000_000_04, 1.0], "0.1"),
            ([0.000_001_23, 0.000_001_24, 0.000_001_2, 0.000_001_23], "0.00000001"),
        ] {
            assert_eq!(price_step(&[candle([1.0; 4]), candle(prices)]).as_deref(), Some(expected));
        }
        assert_eq!(price_step(&[]), None);
    }

    #[test]
    fn suggests_steps_only_for_symbols_without_one() {
        let market = |symbol: &str, price: f64| {
            let candles = vec![candle([price; 4])];
            let series = Series { symbol: symbol.parse().unwrap(), interval: Interval::MINUTE };
            Market { prices: CandleSeries::new(series, candles).unwrap(), detail: Vec::new() }
        };
        let markets = [market("EURUSD", 1.08123), market("BTCUSDT", 94_000.5)];
        let set = |symbols: &[&str]| symbols.iter().map(|symbol| (symbol.parse().unwrap(), 0.5)).collect();
        let notice = |symbols: &[&str]| missing_tick_notice(&markets, &set(symbols));
        assert!(notice(&[]).unwrap().ends_with("[simulation.ticks] EURUSD = 0.00001, BTCUSDT = 0.1"));
        assert!(notice(&["EURUSD"]).unwrap().ends_with("[simulation.ticks] BTCUSDT = 0.1"));
        assert_eq!(notice(&["EURUSD", "BTCUSDT"]), None);
        let steps = missing_price_steps(&markets, &set(&["EURUSD"]));
        assert_eq!(steps.into_iter().collect::<Vec<_>>(), [("BTCUSDT".parse().unwrap(), 0.1)]);
    }
}
