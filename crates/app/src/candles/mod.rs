//! Candles for a run, from files, the catalog or the built-in synthetic set.

mod gather;
mod load;
mod market;
mod name;
mod shift;

pub use gather::{
    ALLOW_IN_SANDBOX, COARSE, CandleChoice, Candles, Fineness, SeriesContent, check_expiries, too_coarse,
};
pub use load::{ALWAYS, candle_store, candles_of, load, stored_for, within};
pub(crate) use load::{check_in_step, check_stored, is_other_interval, read_other_intervals, serves};
pub(crate) use market::{bots_without_candles, built_in_steps, suggest_catalog_series};
pub use market::{
    has_tails, help_for_history, markets_for, price_step, select_series, step_of, unset_price_steps,
};
pub(crate) use name::names as named_candles;
pub use name::{CandleStore, DataName, PriceSource, rule_bots, source_of};
pub use shift::{shift_to, start_among};

pub(crate) fn distinct<T: PartialEq>(all: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut once = Vec::new();
    for one in all {
        if !once.contains(&one) {
            once.push(one);
        }
    }
    once
}
