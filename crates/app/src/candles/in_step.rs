//! Check that all series of a symbol agree in time and price.

use crate::error::AppError;
use candlewick_history::{Catalog, HashedSeries, MismatchKind, SeriesMismatch, series_mismatches};
use candlewick_records::utc;
use candlewick_sdk::{CandleSeries, Series, Symbol};

pub(crate) fn check_in_step(all: &[&CandleSeries], place: &str) -> Result<Vec<String>, AppError> {
    let found = series_mismatches(all);
    if let Some(fatal) = found.iter().find(|mismatch| mismatch.is_fatal()) {
        return Err(AppError::data(format!("{place}: {}", describe(fatal))).help(hint(fatal)));
    }
    Ok(found.iter().map(describe).collect())
}

pub(super) fn check_stock(all: &[HashedSeries], place: &str) -> Result<Vec<String>, AppError> {
    let candles: Vec<&CandleSeries> = all.iter().map(HashedSeries::candles).collect();
    check_in_step(&candles, place)
}

pub(crate) fn check_stored(catalog: &Catalog, symbol: Symbol) -> Result<Vec<String>, AppError> {
    let stored = catalog.series()?.into_iter().filter(|series| series.symbol == symbol);
    let all: Vec<HashedSeries> = stored.map(|series| catalog.read(series)).collect::<Result<_, _>>()?;
    check_stock(&all, &catalog.folder().display().to_string())
}

pub(crate) fn read_other_intervals(
    catalog: &Catalog,
    series: &[Series],
) -> Result<Vec<CandleSeries>, AppError> {
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
