//! Candles for a run, from files, the catalog or the built-in synthetic set.

mod gather;
mod load;
mod market;
mod name;
mod shift;

pub use gather::{
    ALLOW_COARSE_HINT, COARSE_NOTICE, CandleChoice, Candles, FineCandleCoverage, SeriesContent,
    check_expiries, describe_coarse_expiry,
};
pub use load::{
    ALL_TIME, candle_store, collect_candles, load, read_for_exploration, stored_series_for, trim_to_range,
};
pub(crate) use load::{
    check_series_match, check_stored_series, differs_only_in_interval, has_candles_for, read_other_intervals,
    read_sealed,
};
pub(crate) use market::{built_in_steps, suggest_catalog_series};
pub use market::{
    format_price_step, has_float_noise, help_for_history_error, markets_for, missing_price_steps, price_step,
    select_series,
};
pub(crate) use name::parse_data_names;
pub use name::{CandleStore, DataName, PriceSource, build_rule_bots, describe_source};
pub use shift::{choose_venue_start, shift_to};

pub(crate) fn deduplicate<T: PartialEq>(all: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut once = Vec::new();
    for one in all {
        if !once.contains(&one) {
            once.push(one);
        }
    }
    once
}
