//! Ladder behaviour after a trade that was not won, or after a refused level.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// With what a ladder goes on after a trade that was not won.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LadderEntry {
    /// With the next signal of the bot's strategy.
    #[default]
    NextSignal,
    /// With the next candle of the bot: the first that closes once the settlement is known, and within one interval after it. The
    /// direction and the expiry are those of the trade before. What the strategy says at that candle is not asked.
    NextCandle,
}

/// What becomes of a refused level of a ladder.
///
/// Every ladder: a level that the venue rejects, or a stake above `max_stake` or `max_stake_percent`. With `entry = "next_candle"` also a
/// level that another limit, a pause, the trading hours or an open trade refuses, or whose candle is missing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum IfRefused {
    /// It stays, and is staked on the bot's next signal that the rules let pass.
    #[default]
    Wait,
    /// The ladder is given up: the next stake is that of the first level.
    Reset,
}
