//! What a Session answers.

use crate::{Approved, BotId, Edge, Rule};
use candlewick_sdk::{Direction, Millis, Money, Reason};
use serde::Serialize;

/// Something for the driver to do or to record.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "action", rename_all = "snake_case")]
pub enum Action {
    /// Open this trade; the only thing that may ever be opened.
    Open(Approved),
    /// A signal was refused.
    Refuse(Refused),
    /// A day began.
    DayOpened {
        /// When it began.
        start: Millis,
        /// Free balance + open stakes at its first event.
        equity: Money,
    },
    /// The verdict on a bot's edge has fallen.
    Verdict(Judgement),
}

/// A verdict that fell. A shown edge may still turn out to hold no longer; all else stays.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Judgement {
    /// On whose edge.
    pub bot: BotId,
    /// When the settlement behind it became known.
    pub at: Millis,
    /// What it says.
    pub edge: Edge,
    /// Trades it rests on: won, lost and drawn.
    pub trades: u64,
    /// What the account that bets on an edge has become, from 1.
    pub account_for: f64,
    /// The same of the account that bets against one.
    pub account_against: f64,
    /// The share of alpha that the bot may spend: the account for an edge shows one at `1 / (alpha x weight)`.
    pub weight: f64,
    /// With which decision the edge seems to have ended, of one that no longer holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<Millis>,
}

/// A refused signal.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Refused {
    /// Whose signal.
    pub bot: BotId,
    /// When it was given.
    pub decision_time: Millis,
    /// Its direction.
    pub direction: Direction,
    /// The first rule that refused it.
    pub rule: Rule,
    /// The strategy's reason.
    pub reason: Reason,
}
