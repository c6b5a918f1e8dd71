//! Log settings of long-running programs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The `[log]` section.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LogSettings {
    /// How `live`, `paper`, `sandbox` and `dashboard` write the lines of their log, on stderr.
    pub format: LogFormat,
}

/// How lines are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LogFormat {
    /// For people.
    #[default]
    Text,
    /// A JSON object each, and of a run one for each decision about a trade.
    Json,
}
