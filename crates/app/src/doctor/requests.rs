//! Check that the request limit suffices for the bots.

use super::finding::{Check, Finding};
use crate::configuration::Loaded;
use crate::inspection::demand_of;
use candlewick_sdk::Registry;

pub(super) fn check(loaded: &Loaded, registry: &Registry) -> Option<Finding> {
    let (demand, limit) = (demand_of(loaded, registry)?, loaded.config.broker.client.requests_per_second);
    let summary = demand.summary(limit);
    Some(match demand.shortage(limit) {
        Some(shortage) => Check::Requests.warn(summary, shortage),
        None => Check::Requests.ok(summary),
    })
}
