//! Whether the venue is asked often enough for these bots.

use super::finding::{Check, Finding};
use crate::configuration::Loaded;
use crate::inspection::demand_of;
use candlewick_sdk::Registry;

/// What the bots need beside the limit; none where they cannot be built, which the configuration has reported.
pub(super) fn check(loaded: &Loaded, registry: &Registry) -> Option<Finding> {
    let (demand, limit) = (demand_of(loaded, registry)?, loaded.config.broker.client.requests_per_second);
    let summary = demand.summary(limit);
    Some(match demand.shortage(limit) {
        Some(shortage) => Check::Requests.warn(summary, shortage),
        None => Check::Requests.ok(summary),
    })
}
