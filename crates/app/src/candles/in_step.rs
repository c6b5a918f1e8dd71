//! Check that series of one symbol are in step.

use crate::error::AppError;
use candlewick_history::{HashedSeries, MismatchKind, SeriesMismatch, series_mismatches};
use candlewick_records::utc;
use candlewick_sdk::CandleSeries;

/// Compares the series of each symbol; returns notices about slightly different prices.
///
/// # Errors
/// Two series that are out of step, with the lag.
pub(crate) fn check_in_step(all: &[&CandleSeries], place: &str) -> Result<Vec<String>, AppError> {
    let found = series_mismatches(all);
    if let Some(fatal) = found.iter().find(|mismatch| mismatch.is_fatal()) {
        return Err(AppError::data(format!("{place}: {}", describe(fatal))).help(hint(fatal)));
    }
    Ok(found.iter().map(describe).collect())
}

/// Like [`check_in_step`], for hashed series.
pub(super) fn check_stock(all: &[HashedSeries], place: &str) -> Result<Vec<String>, AppError> {
    let candles: Vec<&CandleSeries> = all.iter().map(HashedSeries::candles).collect();
    check_in_step(&candles, place)
}

/// Describes a mismatch, with its time unless it is everywhere.
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
