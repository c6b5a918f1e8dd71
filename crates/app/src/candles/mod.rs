//! Candles for a run: from files, from the catalog, or the synthetic ones that come along; and what each is for.

mod absent;
mod coarse;
mod gather;
mod load;
mod market;
mod name;
mod price_source;
mod shift;
mod synthetic;

pub(crate) use absent::what_there_is;
pub(crate) use coarse::{COARSE, Fineness, check_expiries, too_coarse};
pub(crate) use gather::{CandleArguments, Candles};
pub(crate) use load::{ALWAYS, candles_of, load, shelves, stored_for, within};
pub(crate) use market::{markets_for, select_series};
pub(crate) use name::{DataName, Shelves};
pub(crate) use price_source::{PriceSource, source_of};
pub(crate) use shift::{shift_to, start_among};
