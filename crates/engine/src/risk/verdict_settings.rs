//! The `[risk.verdict]` section: parameters that are fixed before the first trade of a verdict.

use crate::EngineError;
use candlewick_statistics::EdgeTestPlan;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The errors that a verdict may make and the edge that it looks for. A change lets the verdict of every bot begin anew.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct VerdictSettings {
    /// The most probable wrong *edge shown*.
    #[schemars(extend("exclusiveMinimum" = 0.0), range(max = 1.0))]
    pub alpha: f64,
    /// The most probable wrong *no edge*.
    #[schemars(extend("exclusiveMinimum" = 0.0), range(max = 1.0))]
    pub beta: f64,
    /// The edge that is worth finding, as a return per unit of stake.
    #[schemars(extend("exclusiveMinimum" = 0.0), range(max = 1.0))]
    pub delta: f64,
    /// How much the notional accounts stake.
    pub lambda: LambdaRule,
    /// After *edge shown*: the mean number of trades to a false alarm that an edge of `delta` or more is no longer held, while it
    /// is; 0 watches nothing, as does a journal that does not say. A change restarts no verdict.
    #[serde(default)]
    pub watch_trades: u64,
}

/// How much the notional accounts of a verdict stake; a rule that changes gets another name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LambdaRule {
    /// The Kelly fractions of four edges from 1.1 to 6.5 `delta`, each of a part of its own. `shrunk_kelly400`, the rule of
    /// earlier versions, is read as this one: what it judged stands in its journals, and every verdict begins anew.
    #[default]
    #[serde(alias = "shrunk_kelly400")]
    FixedFractions,
}

impl Default for VerdictSettings {
    fn default() -> Self {
        let plan = EdgeTestPlan::default();
        let (alpha, beta, delta) = (plan.alpha(), plan.beta(), plan.delta());
        Self { alpha, beta, delta, lambda: LambdaRule::default(), watch_trades: plan.watch_trades() }
    }
}

impl VerdictSettings {
    /// Builds the test plan of the settings.
    ///
    /// # Errors
    /// [`EngineError`] with the invalid value.
    pub fn to_plan(self) -> Result<EdgeTestPlan, EngineError> {
        let LambdaRule::FixedFractions = self.lambda;
        EdgeTestPlan::new(self.alpha, self.beta, self.delta)
            .map(|plan| plan.watching(self.watch_trades))
            .map_err(|error| EngineError::setting("risk.verdict", error.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_are_the_plan_of_the_statistics() {
        assert_eq!(VerdictSettings::default().to_plan().unwrap(), EdgeTestPlan::default());
    }

    #[test]
    fn the_rule_of_earlier_versions_is_read_and_written_as_the_one_that_is_used() {
        let read: VerdictSettings = serde_json::from_str(r#"{"lambda":"shrunk_kelly400"}"#).unwrap();
        assert_eq!(read, VerdictSettings { watch_trades: 0, ..VerdictSettings::default() });
        assert!(serde_json::to_string(&read).unwrap().contains("fixed_fractions"));
    }

    #[test]
    fn a_plan_that_cannot_be_kept_is_refused_with_its_key() {
        for (alpha, beta, delta) in
            [(0.0, 0.05, 0.04), (0.05, 1.0, 0.04), (0.05, 0.05, 0.0), (0.05, 0.05, 1.5)]
        {
            let settings = VerdictSettings { alpha, beta, delta, ..VerdictSettings::default() };
            assert!(
                settings.to_plan().unwrap_err().to_string().starts_with("risk.verdict: "),
                "{settings:?}"
            );
        }
    }
}
