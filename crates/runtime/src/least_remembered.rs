//! Test override of the minimum retention of finished intents.
//!
//! In debug builds, `LEAST_REMEMBERED_MS` replaces the 12 minutes of a run and the day of a start,
//! so that tests see both forget within seconds. Release builds ignore it.

use candlewick_sdk::Millis;

pub fn least_remembered() -> Option<Millis> {
    #[cfg(debug_assertions)]
    return std::env::var("LEAST_REMEMBERED_MS").ok()?.parse().ok().map(Millis::new);
    #[cfg(not(debug_assertions))]
    None
}
