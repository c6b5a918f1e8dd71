//! Candle selection of a plan and its location on other machines.

use super::plan::PlanPlace;
use crate::candles::CandleChoice;
use crate::configuration::Loaded;
use candlewick_sdk::Millis;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct PlannedCandles {
    data: Vec<String>,
    catalog: Option<PathBuf>,
    from: Option<Millis>,
    to: Option<Millis>,
    allow_coarse: bool,
}

impl PlannedCandles {
    pub(crate) fn of(choice: &CandleChoice, loaded: &Loaded) -> Self {
        Self {
            data: loaded.config.sandbox.data.clone(),
            catalog: loaded.is_set("data.catalog").then(|| loaded.config.data.catalog.clone()),
            from: choice.from,
            to: choice.to,
            allow_coarse: choice.allow_coarse,
        }
    }
}

impl CandleChoice {
    /// Reads from `place` if it names a location, else from the paths of the plan.
    pub(crate) fn of_plan(planned: PlannedCandles, place: PlanPlace) -> Self {
        let is_elsewhere = !place.data.is_empty() || place.catalog.is_some();
        let (data, catalog) =
            if is_elsewhere { (place.data, place.catalog) } else { (planned.data, planned.catalog) };
        Self {
            data,
            catalog,
            from: planned.from,
            to: planned.to,
            allow_coarse: planned.allow_coarse,
            // The plan's bots trade by it, and its venue pays so.
            rules: None,
            payout: None,
        }
    }
}
