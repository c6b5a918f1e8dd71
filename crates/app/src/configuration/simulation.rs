//! Problems with the settings of the simulated venue, with the file that they come from.

use super::{Loaded, Problem};
use candlewick_simulator::SimulatorError;

impl Loaded {
    /// Checks `[simulation]`.
    ///
    /// # Errors
    /// A value out of its range.
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
