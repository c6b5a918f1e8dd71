//! Source of a run's candles: named files or series, else the catalog, else synthetic candles.

use super::market::{meant_in_catalog, not_in_catalog};
use super::name::{CandleStore, DataName, PriceSource, is_part, names};
use crate::configuration::Loaded;
use crate::error::{AppError, Result};
use crate::progress::Progress;
use crate::storage::is_address;
use candlewick_engine::BotSettings;
use candlewick_history::{
    Catalog, GenerateSettings, HashedSeries, HistoryError, MismatchKind, SeriesMismatch, generate,
    known_market, resample, series_mismatches,
};
use candlewick_records::utc;
use candlewick_sdk::{Candle, CandleSeries, Interval, Millis, Series, Symbol};
use std::ops::Range;
use std::path::Path;

pub const ALWAYS: Range<Millis> = Millis::new(i64::MIN)..Millis::MAX;

pub struct LoadedCandles {
    pub series: Vec<HashedSeries>,
    pub source: CandleSource,
    pub prices: PriceSource,
    pub place: String,
    pub notices: Vec<String>,
    pub revised: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CandleSource {
    Named,
    Catalog,
    Synthetic,
}

/// Reads the candles within `range`.
///
/// - Named files and series take precedence.
/// - The catalog comes next, if configured or if it has a series of a bot (of every bot for the
///   built-in examples). It supplies the bots' series and all finer ones of their symbols.
/// - A catalog with other candles only is an error for configured bots: a symbol may be misspelled.
/// - Otherwise the candles are synthetic.
///
/// # Errors
/// Bad data (with file and line), duplicate series, series of a symbol out of step, or a configured
/// catalog without matching candles.
pub fn load(loaded: &Loaded, range: &Range<Millis>, progress: &dyn Progress) -> Result<LoadedCandles> {
    let config = &loaded.config;
    let store = candle_store(loaded);
    check_catalog(store.catalog.folder())?;
    if let Some(failure) = config.sandbox.data.iter().find_map(|text| meant_in_catalog(text, &store.catalog))
    {
        return Err(failure);
    }
    let named = names(&config.sandbox.data)?;
    if !named.is_empty() {
        return stock(loaded, (&named, CandleSource::Named), &store, range, progress);
    }
    let folder = store.catalog.folder().display();
    let stored = stored_for(&store.catalog, &config.bots)?;
    let unserved = config.bots.iter().find(|bot| !serves(&stored, bot));
    let left_aside = unserved.filter(|_| loaded.has_built_in_bots() && !loaded.is_set("data.catalog"));
    let mut notices = Vec::new();
    if let Some(bot) = left_aside.filter(|_| !stored.is_empty()) {
        notices.push(format!(
            "the catalog {folder} is not used: the built-in example bots need all their series, and it has no {}; \
             --config names bots of your own",
            bot.series()
        ));
    } else if !stored.is_empty() {
        return stock(loaded, (&stored, CandleSource::Catalog), &store, range, progress);
    }
    let others = store.catalog.series()?;
    if let Some(bot) = unserved.filter(|_| !loaded.has_built_in_bots() && !others.is_empty()) {
        return Err(not_in_catalog(bot, &others, &format!("the catalog {folder}")));
    }
    if loaded.is_set("data.catalog") {
        let problem = format!(
            "the catalog {folder} holds no candles of the bots' symbols; it holds: {}",
            listed(&others)
        );
        return Err(AppError::data(problem)
            .help("`candlewick data generate --catalog DIR` makes synthetic candles; --data takes files"));
    }
    let spinner = progress.spinner("Making synthetic candles");
    let made = synthetic_candles()?;
    drop(spinner);
    let made = made.into_iter().map(|one| ("synthetic candles".to_owned(), HashedSeries::new(one)));
    let series = kept(made.collect(), range, &config.bots)?;
    let (source, prices) = (CandleSource::Synthetic, PriceSource::Other);
    let place = "the synthetic candles".to_owned();
    Ok(LoadedCandles { series, source, prices, place, notices, revised: 0 })
}

/// Rejects catalogs on object storage, which can neither append nor lock.
fn check_catalog(folder: &Path) -> Result<()> {
    if !is_address(folder) {
        return Ok(());
    }
    let problem = format!("{}: a catalog lies in a folder of this machine", folder.display());
    Err(AppError::invalid(problem).help(
        "name files in place of it: `candlewick data export BTCUSDT@1m --out s3://BUCKET/BTCUSDT_1m.parquet` puts a series there, \
         --data takes it",
    ))
}

fn stock(
    loaded: &Loaded,
    (names, source): (&[DataName], CandleSource),
    store: &CandleStore,
    range: &Range<Millis>,
    progress: &dyn Progress,
) -> Result<LoadedCandles> {
    let folder = store.catalog.folder().display();
    let mut notices = resampled(names, store)?;
    let place = match source {
        CandleSource::Named | CandleSource::Synthetic => "the given data".to_owned(),
        CandleSource::Catalog => format!("the catalog {folder}"),
    };
    if source == CandleSource::Catalog && loaded.has_built_in_bots() {
        notices.push(format!("the candles are those of the catalog {folder}"));
    }
    let series = kept(read_all(names, store, progress)?, range, &loaded.config.bots)?;
    notices.extend(check_stock(&series, &place)?);
    let prices = PriceSource::of(names, &store.catalog, &loaded.config.broker.client)?;
    Ok(LoadedCandles { series, source, prices, place, notices, revised: revised(names, store, range)? })
}

pub fn candle_store(loaded: &Loaded) -> CandleStore {
    let settings = &loaded.config.data;
    CandleStore {
        catalog: Catalog::new(settings.catalog.clone()),
        cache: settings.file_cache(),
        objects: settings.objects(),
        longer_share_percent: settings.longer_share_percent,
    }
}

pub fn stored_for(catalog: &Catalog, bots: &[BotSettings]) -> Result<Vec<DataName>> {
    let all = catalog.series()?;
    let mut found: Vec<Series> = Vec::new();
    for bot in bots {
        let of_symbol = || all.iter().copied().filter(|one| one.symbol == bot.symbol);
        let own = of_symbol().find(|one| *one == bot.series());
        let parts = || of_symbol().filter(|one| is_part(*one, bot.series())).max_by_key(|one| one.interval);
        let finer = of_symbol().filter(|one| one.interval < bot.interval);
        for series in own.or_else(parts).into_iter().chain(finer) {
            if !found.contains(&series) {
                found.push(series);
            }
        }
    }
    Ok(found.into_iter().map(DataName::Stored).collect())
}

pub(crate) fn serves(names: &[DataName], bot: &BotSettings) -> bool {
    let series = bot.series();
    names.iter().map(DataName::series).any(|one| one == series || is_part(one, series))
}

fn resampled(names: &[DataName], store: &CandleStore) -> Result<Vec<String>> {
    let mut notices = Vec::new();
    for name in names {
        if let Some(shorter) = name.joined_from(&store.catalog)? {
            notices.push(format!("the candles of {} are resampled from {shorter}", name.series()));
        }
    }
    Ok(notices)
}

fn revised(names: &[DataName], store: &CandleStore, range: &Range<Millis>) -> Result<u64> {
    let mut count = 0;
    for name in names {
        if let Some(series) = name.read_from(&store.catalog)? {
            let revisions = store.catalog.revisions(series)?;
            let of_range = revisions.iter().filter(|revision| range.contains(&revision.candle.time()));
            count += of_range.count() as u64;
        }
    }
    Ok(count)
}

fn read_all(
    names: &[DataName],
    store: &CandleStore,
    progress: &dyn Progress,
) -> Result<Vec<(String, HashedSeries)>> {
    let read = |name: &DataName| {
        let mut bar = progress.bar(&format!("Reading {name}"));
        let whole = name.read(store, &mut |at| bar.update(at.read_bytes, at.total_bytes))?;
        Ok((name.to_string(), whole))
    };
    names.iter().map(read).collect()
}

/// Limits series to the range. Only those of a bot have to reach into it.
fn kept(
    series: Vec<(String, HashedSeries)>,
    range: &Range<Millis>,
    bots: &[BotSettings],
) -> Result<Vec<HashedSeries>> {
    let mut kept = Vec::with_capacity(series.len());
    let mut outside = None;
    for (place, whole) in series {
        let has_bot = bots.iter().any(|bot| bot.series() == whole.candles().series());
        match within(whole, range, &place) {
            Ok(part) => kept.push(part),
            Err(failure) if has_bot => return Err(failure),
            Err(failure) => outside = Some(failure),
        }
    }
    match outside {
        Some(failure) if kept.is_empty() => Err(failure),
        _ => Ok(kept),
    }
}

pub fn within(whole: HashedSeries, range: &Range<Millis>, place: &str) -> Result<HashedSeries> {
    let candles = whole.candles();
    let Ok(part) = candles.within(range.clone()) else {
        let ends = [candles.start(), candles.end()].map(candlewick_records::utc);
        let problem = format!("{place}: no candles of {} lie between --from and --to", candles.series());
        return Err(AppError::data(problem).help(format!("it has them from {} to {}", ends[0], ends[1])));
    };
    let is_whole = part.candles().len() == candles.candles().len();
    Ok(if is_whole { whole } else { HashedSeries::new(part) })
}

fn listed<'a>(all: impl IntoIterator<Item = &'a Series>) -> String {
    let names: Vec<String> = all.into_iter().map(Series::to_string).collect();
    if names.is_empty() { "nothing".to_owned() } else { names.join(", ") }
}

pub fn candles_of(series: &[HashedSeries]) -> Vec<CandleSeries> {
    series.iter().map(|one| one.candles().clone()).collect()
}

pub(crate) fn check_in_step(all: &[&CandleSeries], place: &str) -> Result<Vec<String>> {
    let found = series_mismatches(all);
    if let Some(fatal) = found.iter().find(|mismatch| mismatch.is_fatal()) {
        return Err(AppError::data(format!("{place}: {}", describe(fatal))).help(hint(fatal)));
    }
    Ok(found.iter().map(describe).collect())
}

fn check_stock(all: &[HashedSeries], place: &str) -> Result<Vec<String>> {
    let candles: Vec<&CandleSeries> = all.iter().map(HashedSeries::candles).collect();
    check_in_step(&candles, place)
}

pub(crate) fn check_stored(catalog: &Catalog, symbol: Symbol) -> Result<Vec<String>> {
    let stored = catalog.series()?.into_iter().filter(|series| series.symbol == symbol);
    let all: Vec<HashedSeries> = stored.map(|series| catalog.read(series)).collect::<Result<_, _>>()?;
    check_stock(&all, &catalog.folder().display().to_string())
}

pub(crate) fn read_other_intervals(catalog: &Catalog, series: &[Series]) -> Result<Vec<CandleSeries>> {
    let mut others = Vec::new();
    for stored in catalog.series()? {
        if series.iter().any(|one| is_other_interval(*one, stored)) {
            others.push(catalog.read(stored)?.into_candles());
        }
    }
    Ok(others)
}

pub(crate) fn is_other_interval(one: Series, other: Series) -> bool {
    one.symbol == other.symbol && one.interval != other.interval
}

fn describe(mismatch: &SeriesMismatch) -> String {
    let SeriesMismatch { span, is_whole, .. } = mismatch;
    if *is_whole {
        mismatch.to_string()
    } else {
        format!("{mismatch} (from about {} to {})", utc(span.start), utc(span.end))
    }
}

fn hint(mismatch: &SeriesMismatch) -> String {
    let SeriesMismatch { symbol, fine, coarse, kind, .. } = mismatch;
    let cause = match kind {
        MismatchKind::Shifted(_) => {
            "Import the series with the wrong times again, with --timezone or --stamped."
        }
        MismatchKind::OtherPrices(_) | MismatchKind::Unrelated(_) => "Use candles of one source.",
    };
    format!(
        "prices inside of a {coarse} candle would come from another time or market. {cause} Or omit {symbol} {fine}. \
         `candlewick data check` compares files and series."
    )
}

const SYMBOLS: [&str; 3] = ["BTCUSDT", "EURUSD", "GBPUSD"];
/// 2026-01-05 00:00 UTC, a Monday.
const START: Millis = Millis::new(1_767_571_200_000);
const DAYS: u32 = 14;
const DETAIL_DAYS: i64 = 4;

fn synthetic_candles() -> Result<Vec<CandleSeries>, HistoryError> {
    let mut all = Vec::with_capacity(2 * SYMBOLS.len());
    for name in SYMBOLS {
        let symbol = Symbol::new(name).expect("a name of the table is a symbol");
        let market = known_market(symbol).expect("a name of the table is of a known market");
        let detail_interval = Interval::from_seconds(5).expect("five seconds are an interval");
        let settings = GenerateSettings::of_market(symbol, market, START, DAYS);
        let fine = generate(&GenerateSettings { interval: detail_interval, ..settings })?;
        // Joined five-second candles of a seed are its one-minute candles, so the walk is walked once.
        all.push(resample(&fine, Interval::MINUTE)?);
        all.push(last_days(&fine));
    }
    Ok(all)
}

fn last_days(fine: &CandleSeries) -> CandleSeries {
    let from = START + Millis::DAY * (i64::from(DAYS) - DETAIL_DAYS);
    let kept: Vec<Candle> = fine.candles().iter().filter(|candle| candle.time() >= from).copied().collect();
    let series = Series { symbol: fine.symbol(), interval: fine.interval() };
    CandleSeries::new(series, kept).expect("the end of a series is a series")
}

#[cfg(test)]
mod tests {
    use super::*;
    use candlewick_history::{CandleFile, data_hash, no_progress};

    #[test]
    fn the_candles_are_those_of_the_shipped_files() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../backtest-data");
        let made = synthetic_candles().unwrap();
        let shipped: Vec<CandleSeries> = made
            .iter()
            .map(|one| CandleFile::in_folder(&folder, one.series()).unwrap().read(&mut no_progress).unwrap())
            .collect();
        assert_eq!(data_hash(&made), data_hash(&shipped));
    }
}
