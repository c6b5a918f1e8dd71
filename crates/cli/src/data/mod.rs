//! Candles for a run: from files, or the synthetic ones that come along; and what each of them is for.

mod market;
mod shift;
mod synthetic;

pub(crate) use market::{check_expiries, markets_for, select_series};
pub(crate) use shift::{shift_to, start_among};

use crate::arguments::GlobalArguments;
use crate::failure::Failure;
use crate::progress::{Progress, with_spinner};
use candlewick_history::DataSource;
use candlewick_sdk::CandleSeries;

/// Reads every source, or makes the synthetic candles when there is none.
///
/// # Errors
/// Bad data, with file and line; a series that is given twice.
pub(crate) fn load(sources: &[DataSource], global: &GlobalArguments) -> Result<Vec<CandleSeries>, Failure> {
    for (index, source) in sources.iter().enumerate() {
        if let Some(other) = sources[..index].iter().find(|other| other.series == source.series) {
            let (first, second) = (other.path.display(), source.path.display());
            let problem = format!("{} is given twice: {first} and {second}", source.series);
            return Err(Failure::configuration(problem).help("leave one of the two out"));
        }
    }
    if sources.is_empty() {
        return with_spinner("Making synthetic candles", global, synthetic::candles).map_err(Failure::from);
    }
    let read = |source: &DataSource| {
        let mut progress = Progress::new(format!("Reading {}", source.path.display()), global);
        source.read(&mut |at| progress.update(at.read_bytes, at.total_bytes))
    };
    sources.iter().map(|source| read(source).map_err(Failure::from)).collect()
}

/// The sources that are configured (`[sandbox].data`, or `--data` in its place).
///
/// # Errors
/// A name that does not tell its series.
pub(crate) fn sources(configured: &[String]) -> Result<Vec<DataSource>, Failure> {
    configured.iter().map(|text| text.parse::<DataSource>().map_err(Failure::from)).collect()
}
