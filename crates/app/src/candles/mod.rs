//! Candles for a run, from files, the catalog or the built-in synthetic set.

mod absent;
mod coarse;
mod gather;
mod in_step;
mod load;
mod market;
mod name;
mod price_source;
mod price_step;
mod rule_bots;
mod shift;
mod synthetic;

pub use absent::help_for_history;
pub(crate) use absent::{bots_without_candles, meant_in_catalog};
pub use coarse::{ALLOW_IN_SANDBOX, COARSE, Fineness, check_expiries, too_coarse};
pub use gather::{CandleChoice, Candles, SeriesContent};
pub(crate) use in_step::{check_in_step, check_stored, is_other_interval, read_other_intervals};
pub(crate) use load::serves;
pub use load::{ALWAYS, candle_store, candles_of, load, stored_for, within};
pub use market::{markets_for, select_series};
pub(crate) use name::names as named_candles;
pub use name::{CandleStore, DataName};
pub use price_source::{PriceSource, source_of};
pub(crate) use price_step::built_in_steps;
pub use price_step::{has_tails, price_step, step_of, unset_price_steps};
pub use rule_bots::rule_bots;
pub use shift::{shift_to, start_among};
