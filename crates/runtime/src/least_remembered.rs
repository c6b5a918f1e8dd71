//! For how long what is over is remembered at least, in tests of the whole program. A debug build takes `LEAST_REMEMBERED_MS` for the twelve
//! minutes of a run and for the day of a start, so that a test sees both forget within seconds. A release build has nothing of this.

use candlewick_sdk::Millis;

/// What the environment asks for.
pub fn least_remembered() -> Option<Millis> {
    #[cfg(debug_assertions)]
    return std::env::var("LEAST_REMEMBERED_MS").ok()?.parse().ok().map(Millis::new);
    #[cfg(not(debug_assertions))]
    None
}
