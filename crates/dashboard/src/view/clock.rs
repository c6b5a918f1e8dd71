//! Clock of the venue, for the countdowns of the page.

use candlewick_sdk::Millis;
use serde::Serialize;
use utoipa::ToSchema;

/// What the venue's clock says, and how fast it runs.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
pub(crate) struct Clock {
    /// Venue time, in milliseconds; null while no bot answers.
    #[schema(value_type = Option<i64>)]
    pub(crate) now: Option<Millis>,
    /// How many times faster than real time it runs: 1 but at an embedded venue.
    pub(crate) speed: f64,
    /// Venue time at which the venue last answered anything.
    #[schema(value_type = Option<i64>)]
    pub(crate) heard: Option<Millis>,
    /// The number of the last line that was read.
    pub(crate) seq: u64,
}
