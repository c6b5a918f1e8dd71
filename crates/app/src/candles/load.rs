//! Loads a run's candles from named files or series, the catalog, or the synthetic generator.

use super::deduplicate;
use super::gather::is_used_by_bot;
use super::market::{missing_in_catalog_error, suggest_catalog_series};
use super::name::{CandleStore, DataName, PriceSource, can_resample, parse_data_names};
use crate::configuration::LoadedConfig;
use crate::data::generated::is_generated;
use crate::error::{AppError, Result};
use crate::evidence::SealUse;
use crate::progress::Progress;
use crate::storage::is_storage_url;
use candlewick_engine::BotSettings;
use candlewick_history::{
    Catalog, GenerateSettings, HashedSeries, HistoryError, MismatchKind, SeriesMismatch, generate,
    known_market, resample, series_mismatches,
};
use candlewick_records::format_utc;
use candlewick_sdk::{Candle, CandleSeries, Interval, Millis, Series, Symbol};
use candlewick_search::evidence::{EvidenceKind, day_of, start_of};
use chrono::NaiveDate;
use std::collections::BTreeSet;
use std::ops::Range;

pub const ALL_TIME: Range<Millis> = Millis::new(i64::MIN)..Millis::MAX;

pub struct LoadedCandles {
    pub series: Vec<HashedSeries>,
    pub evidence: EvidenceKind,
    pub prices: PriceSource,
    pub location: String,
    pub notices: Vec<String>,
    pub revised_candles: u64,
}

/// Loads candles from named files or series, the catalog, or the synthetic generator: those within `range` that a run
/// with this use of the seal may see.
///
/// Without names, uses the catalog if it has candles for any configured bot, or for all built-in bots. Otherwise,
/// fails if `data.catalog` is set, or if the catalog only has series that no configured bot uses.
pub fn load(
    loaded: &LoadedConfig,
    (range, seal): (&Range<Millis>, &SealUse),
    progress: &dyn Progress,
) -> Result<LoadedCandles> {
    let config = &loaded.config;
    let store = candle_store(loaded);
    // A catalog needs appends and locks, which object storage does not support.
    if is_storage_url(store.catalog.folder()) {
        let place = store.catalog.folder().display();
        let help = "upload a series with `candlewick data export BTCUSDT@1m --out s3://BUCKET/BTCUSDT_1m.parquet`, \
                    and read the uploaded file with --data";
        let text = format!("{place}: a catalog must be a local folder");
        return Err(AppError::invalid(text).with_help(help));
    }
    if let Some(failure) =
        config.sandbox.data.iter().find_map(|text| suggest_catalog_series(text, &store.catalog))
    {
        return Err(failure);
    }
    let named = parse_data_names(&config.sandbox.data)?;
    if !named.is_empty() {
        return load_by_name(loaded, (&named, false), &store, (range, seal), progress);
    }
    let folder = store.catalog.folder().display();
    let stored = stored_series_for(&store.catalog, &config.bots)?;
    let unserved = config.bots.iter().find(|bot| !has_candles_for(&stored, bot));
    let incomplete = unserved.filter(|_| loaded.has_built_in_bots() && !loaded.is_set("data.catalog"));
    let mut notices = Vec::new();
    if let Some(bot) = incomplete.filter(|_| !stored.is_empty()) {
        notices.push(format!(
            "the catalog {folder} is not used because it has no {} candles for the built-in example bots; \
             configure your own bots with --config",
            bot.series()
        ));
    } else if !stored.is_empty() {
        return load_by_name(loaded, (&stored, true), &store, (range, seal), progress);
    }
    let others = store.catalog.series()?;
    if let Some(bot) = unserved.filter(|_| !loaded.has_built_in_bots() && !others.is_empty()) {
        return Err(missing_in_catalog_error(bot, &others, &format!("the catalog {folder}")));
    }
    if loaded.is_set("data.catalog") {
        let found = if others.is_empty() { "none".to_owned() } else { format_series(&others) };
        let text = format!("the catalog {folder} has no candles for the bots' symbols; available: {found}");
        return Err(AppError::data(text).with_help(
            "`candlewick data generate --catalog DIR` creates synthetic candles; --data reads files",
        ));
    }
    let spinner = progress.spinner("Generating synthetic candles");
    let made = synthetic_candles()?;
    drop(spinner);
    let made = made.into_iter().map(|one| ("synthetic candles".to_owned(), HashedSeries::new(one)));
    let series = trim_all(made.collect(), range, &config.bots)?;
    let place = "the synthetic candles".to_owned();
    let prices = PriceSource::Other;
    let evidence = EvidenceKind::Practice;
    Ok(LoadedCandles { series, evidence, prices, location: place, notices, revised_candles: 0 })
}

fn load_by_name(
    loaded: &LoadedConfig,
    (names, is_catalog): (&[DataName], bool),
    store: &CandleStore,
    (range, seal): (&Range<Millis>, &SealUse),
    progress: &dyn Progress,
) -> Result<LoadedCandles> {
    let whole = read_all(names, store, progress)?;
    let is_synthetic = whole.iter().all(|(_, series)| is_generated(series));
    let days = candle_days(whole.iter().map(|(_, series)| series.candles()));
    let access = seal.decide_access(loaded, &days, is_synthetic)?;
    let range = &access.clip(range)?;
    let folder = store.catalog.folder().display();
    let (mut notices, mut revised) = (Vec::new(), 0);
    for name in names {
        if let Some(shorter) = name.resampling_source(&store.catalog)? {
            notices.push(format!("the candles of {} are resampled from {shorter}", name.series()));
        }
        if let Some(series) = name.stored_source(&store.catalog)? {
            let revisions = store.catalog.revisions(series)?.into_iter();
            revised += revisions.filter(|revision| range.contains(&revision.candle.time())).count() as u64;
        }
    }
    let place = if is_catalog { format!("the catalog {folder}") } else { "the given data".to_owned() };
    if is_catalog && loaded.has_built_in_bots() {
        notices.push(format!("using candles from the catalog {folder}"));
    }
    let series = trim_all(whole, range, &loaded.config.bots)?;
    notices.extend(access.describe_clip(&days));
    let evidence = access.record(loaded, &series)?;
    notices.extend(check_alignment(&series, &place)?);
    let prices = PriceSource::from_names(names, &store.catalog, &loaded.config.broker.client)?;
    Ok(LoadedCandles { series, evidence, prices, location: place, notices, revised_candles: revised })
}

/// Reads the candles of a run within `days`, without any check of their contents.
pub(crate) fn read_sealed(loaded: &LoadedConfig, days: &Range<NaiveDate>) -> Result<Vec<CandleSeries>> {
    let store = candle_store(loaded);
    let named = parse_data_names(&loaded.config.sandbox.data)?;
    let names =
        if named.is_empty() { stored_series_for(&store.catalog, &loaded.config.bots)? } else { named };
    let range = start_of(days.start)..start_of(days.end);
    let read =
        |name: &DataName| Ok(name.read(&store, &mut |_| {})?.into_candles().within(range.clone()).ok());
    names.iter().filter_map(|name| read(name).transpose()).collect()
}

/// Reads one file or series for exploration: its candles before the sealed day.
pub fn read_for_exploration(
    loaded: &LoadedConfig,
    name: &DataName,
    progress: &mut dyn FnMut(candlewick_history::Progress),
) -> Result<HashedSeries> {
    let whole = name.read(&candle_store(loaded), progress)?;
    let days = candle_days([whole.candles()]);
    let access = SealUse::Explore.decide_access(loaded, &days, is_generated(&whole))?;
    let clipped = trim_to_range(whole, &access.clip(&ALL_TIME)?, &name.to_string())?;
    access.record(loaded, std::slice::from_ref(&clipped))?;
    Ok(clipped)
}

pub fn candle_store(loaded: &LoadedConfig) -> CandleStore {
    let settings = &loaded.config.data;
    CandleStore {
        catalog: Catalog::new(settings.catalog.clone()),
        cache: settings.file_cache(),
        object_folder: settings.copies_folder(),
        longer_share_percent: settings.longer_share_percent,
    }
}

pub fn stored_series_for(catalog: &Catalog, bots: &[BotSettings]) -> Result<Vec<DataName>> {
    let all = catalog.series()?;
    let found = bots.iter().flat_map(|bot| {
        let of_symbol = || all.iter().copied().filter(|one| one.symbol == bot.symbol);
        let own = of_symbol().find(|one| *one == bot.series());
        let parts =
            || of_symbol().filter(|one| can_resample(*one, bot.series())).max_by_key(|one| one.interval);
        let finer = of_symbol().filter(|one| one.interval < bot.interval);
        own.or_else(parts).into_iter().chain(finer).collect::<Vec<_>>()
    });
    Ok(deduplicate(found).into_iter().map(DataName::Stored).collect())
}

pub(crate) fn has_candles_for(names: &[DataName], bot: &BotSettings) -> bool {
    let series = bot.series();
    names.iter().map(DataName::series).any(|one| one == series || can_resample(one, series))
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

fn candle_days<'a>(series: impl IntoIterator<Item = &'a CandleSeries>) -> BTreeSet<NaiveDate> {
    let mut days = BTreeSet::new();
    for one in series {
        let mut next = Millis::new(i64::MIN);
        for candle in one.candles() {
            if candle.time() >= next {
                days.insert(day_of(candle.time()));
                next = candle.time().floor_to(Millis::DAY) + Millis::DAY;
            }
        }
    }
    days
}

fn trim_all(
    series: Vec<(String, HashedSeries)>,
    range: &Range<Millis>,
    bots: &[BotSettings],
) -> Result<Vec<HashedSeries>> {
    let mut kept = Vec::with_capacity(series.len());
    let mut outside = None;
    for (place, whole) in series {
        let is_heard = is_used_by_bot(bots, whole.candles());
        match trim_to_range(whole, range, &place) {
            Ok(part) => kept.push(part),
            Err(failure) if is_heard => return Err(failure),
            Err(failure) => outside = Some(failure),
        }
    }
    match outside {
        Some(failure) if kept.is_empty() => Err(failure),
        _ => Ok(kept),
    }
}

pub fn trim_to_range(whole: HashedSeries, range: &Range<Millis>, place: &str) -> Result<HashedSeries> {
    let candles = whole.candles();
    let Ok(part) = candles.within(range.clone()) else {
        let [start, end] = [candles.start(), candles.end()].map(format_utc);
        let problem = format!("{place}: no candles of {} between --from and --to", candles.series());
        return Err(AppError::data(problem).with_help(format!("the available candles span {start} to {end}")));
    };
    let is_whole = part.candles().len() == candles.candles().len();
    Ok(if is_whole { whole } else { HashedSeries::new(part) })
}

pub(super) fn format_series(all: &[Series]) -> String {
    all.iter().map(Series::to_string).collect::<Vec<_>>().join(", ")
}

pub fn collect_candles(series: &[HashedSeries]) -> Vec<CandleSeries> {
    series.iter().map(|one| one.candles().clone()).collect()
}

pub(crate) fn check_series_match(all: &[&CandleSeries], at: &str) -> Result<Vec<String>> {
    let found = series_mismatches(all);
    if let Some(fatal) = found.iter().find(|mismatch| mismatch.is_fatal()) {
        return Err(
            AppError::data(format!("{at}: {}", describe_mismatch(fatal))).with_help(mismatch_hint(fatal))
        );
    }
    Ok(found.iter().map(describe_mismatch).collect())
}

fn check_alignment(all: &[HashedSeries], place: &str) -> Result<Vec<String>> {
    let candles: Vec<&CandleSeries> = all.iter().map(HashedSeries::candles).collect();
    check_series_match(&candles, place)
}

pub(crate) fn check_stored_series(catalog: &Catalog, symbol: Symbol) -> Result<Vec<String>> {
    let stored = catalog.series()?.into_iter().filter(|series| series.symbol == symbol);
    let all: Vec<HashedSeries> = stored.map(|series| catalog.read(series)).collect::<Result<_, _>>()?;
    check_alignment(&all, &catalog.folder().display().to_string())
}

pub(crate) fn read_other_intervals(catalog: &Catalog, series: &[Series]) -> Result<Vec<CandleSeries>> {
    let others = catalog.series()?.into_iter();
    let others = others.filter(|stored| series.iter().any(|one| differs_only_in_interval(*one, *stored)));
    others.map(|stored| Ok(catalog.read(stored)?.into_candles())).collect()
}

pub(crate) fn differs_only_in_interval(one: Series, other: Series) -> bool {
    one.symbol == other.symbol && one.interval != other.interval
}

fn describe_mismatch(mismatch: &SeriesMismatch) -> String {
    let SeriesMismatch { span, covers_all_closes: is_whole, .. } = mismatch;
    let [start, end] = [span.start, span.end].map(format_utc);
    let part = format!(" (from about {start} to {end})");
    format!("{mismatch}{}", if *is_whole { "" } else { part.as_str() })
}

fn mismatch_hint(mismatch: &SeriesMismatch) -> String {
    let SeriesMismatch { symbol, fine_interval: fine, coarse_interval: coarse, kind, .. } = mismatch;
    let fix = match kind {
        MismatchKind::Shifted(_) => {
            "Reimport the series that has wrong times, with the correct --timezone or --stamped."
        }
        MismatchKind::OtherPrices(_) | MismatchKind::Unrelated(_) => "Use candles from one source only.",
    };
    format!(
        "prices inside a {coarse} candle would come from a different time or market. {fix} Alternatively, omit \
         the {symbol} {fine} candles. `candlewick data check` compares files and series."
    )
}

const SYNTHETIC_SYMBOLS: [&str; 3] = ["BTCUSDT", "EURUSD", "GBPUSD"];
/// Start of the synthetic candles: Monday, 2026-01-05 00:00 UTC.
const SYNTHETIC_START: Millis = Millis::new(1_767_571_200_000);
const SYNTHETIC_DAYS: u32 = 14;
const SYNTHETIC_DETAIL_DAYS: i64 = 4;

fn synthetic_candles() -> Result<Vec<CandleSeries>, HistoryError> {
    let detail_from = SYNTHETIC_START + Millis::DAY * (i64::from(SYNTHETIC_DAYS) - SYNTHETIC_DETAIL_DAYS);
    let mut all = Vec::with_capacity(2 * SYNTHETIC_SYMBOLS.len());
    for name in SYNTHETIC_SYMBOLS {
        let symbol = Symbol::new(name).expect("every name is a valid symbol");
        let market = known_market(symbol).expect("the symbol has a known market");
        let interval = Interval::from_seconds(5).expect("5 s is a valid interval");
        let settings = GenerateSettings::for_market(symbol, market, SYNTHETIC_START, SYNTHETIC_DAYS);
        let fine = generate(&GenerateSettings { interval, ..settings })?;
        // Resampling gives the same candles as generating one-minute candles from this seed, and is faster.
        all.push(resample(&fine, Interval::MINUTE)?);
        let detail = fine.candles().iter().filter(|candle| candle.time() >= detail_from);
        let detail: Vec<Candle> = detail.copied().collect();
        all.push(CandleSeries::new(fine.series(), detail).expect("a suffix of a series is valid"));
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use candlewick_history::{CandleFile, data_hash, ignore_progress};
    use std::path::Path;

    #[test]
    fn synthetic_candles_equal_the_shipped_files() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../backtest-data");
        let made = synthetic_candles().unwrap();
        let shipped: Vec<CandleSeries> = made
            .iter()
            .map(|one| {
                CandleFile::in_folder(&folder, one.series()).unwrap().read(&mut ignore_progress).unwrap()
            })
            .collect();
        assert_eq!(data_hash(&made), data_hash(&shipped));
    }
}
