//! Problems of the simulated venue's settings, with their origin.

use super::{Loaded, Problem};
use candlewick_simulator::SimulatorError;

impl Loaded {
    pub fn check_simulation(&self) -> Result<(), Problem> {
        self.config.simulation.check().map_err(|error| match error {
            SimulatorError::ChangeSetting { key, value, allowed } => {
                self.problem(&format!("simulation.{key}"), format!("use {allowed}")).value(value)
            }
            SimulatorError::PayoutAsShare { percent, meant } => {
                let problem = format!("payouts are in percent; did you mean {meant}?");
                self.problem("simulation.payout_percent", problem).value(percent.to_string())
            }
            other => self.problem("simulation", other.to_string()),
        })
    }
}
