//! Actions that a Session returns for an event.

use crate::{ApprovedTrade, BotId, EdgeVerdict, Rule};
use candlewick_sdk::{Direction, Millis, Money, Reason};
use serde::Serialize;

/// A decision of the Session, which its driver executes or records.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "action", rename_all = "snake_case")]
pub enum Action {
    /// Order to open a trade. Trades are opened only through this action.
    Open(ApprovedTrade),
    /// Rejection of a signal.
    Refuse(RefusedSignal),
    /// Start of a new day.
    DayOpened {
        /// Start time of the day.
        start: Millis,
        /// Free balance plus open stakes at the first event of the day.
        equity: Money,
    },
    /// New verdict on the edge of a bot.
    Verdict(Judgement),
}

/// A verdict on whether a bot has an edge.
/// [`EdgeVerdict::Shown`] can later change to [`EdgeVerdict::NoLongerHeld`]. All other verdicts are final.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Judgement {
    /// Bot that the verdict is about.
    pub bot: BotId,
    /// Time at which the deciding settlement became known.
    pub at: Millis,
    /// Verdict on the edge.
    pub edge: EdgeVerdict,
    /// Number of judged trades: won, lost and drawn.
    pub trades: u64,
    /// Evidence for an edge: the value of a notional account that starts at 1 and bets on an edge.
    pub account_for: f64,
    /// Evidence against an edge: the value of a notional account that starts at 1 and bets against an edge.
    pub account_against: f64,
    /// Bot's share of the error rate alpha. An edge is shown once `account_for` reaches `1 / (alpha x weight)`.
    pub weight: f64,
    /// Estimated decision time of the first trade without the edge. Set only for [`EdgeVerdict::NoLongerHeld`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<Millis>,
}

/// A rejected signal.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RefusedSignal {
    /// Bot that gave the signal.
    pub bot: BotId,
    /// Time of the signal.
    pub decision_time: Millis,
    /// Direction of the signal.
    pub direction: Direction,
    /// First rule that rejected the signal.
    pub rule: Rule,
    /// Reason that the strategy gave for the signal.
    pub reason: Reason,
}
