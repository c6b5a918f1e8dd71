//! Availability and quality check of the candles that a bot needs.

use super::tuned_bot;
use crate::candles::{
    CandleStore, DataName, candle_store, meant_in_catalog, named_candles, serves, stored_for,
};
use crate::data::check::CheckTarget;
use crate::error::AppError;
use crate::progress::Progress;
use crate::search::SearchTerms;
use crate::shell::shell_word;
use crate::storage::is_address;
use candlewick_engine::BotSettings;
use candlewick_history::{CheckSettings, ImportSettings, Remedy};
use candlewick_sdk::{Millis, Registry, Series};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::PathBuf;

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
