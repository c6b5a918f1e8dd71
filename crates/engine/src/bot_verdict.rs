//! Verdict on the edge of one bot with its current parameters and code.

use crate::{BotId, EdgeVerdict, IntentId, IntentRow, Judge, Judgement, Renumbering, SymbolId};
use candlewick_sdk::{Millis, Outcome, Payout};
use candlewick_statistics::{EdgeTest, EdgeTestPlan, Verdict};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A running test of a bot's edge. A change of the bot's parameters or code restarts the test.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct BotVerdict {
    judge: Judge,
    edge: EdgeVerdict,
    /// Settings, strategy version and test plan of the bot, `None` before the first run.
    identity: Option<Value>,
    since: IntentId,
    is_left: bool,
}

impl BotVerdict {
    pub(crate) fn new(plan: EdgeTestPlan) -> Self {
        Self {
            judge: Judge::new(plan),
            edge: EdgeVerdict::Open,
            identity: None,
            since: IntentId::new(1),
            is_left: false,
        }
    }

    /// Builds the verdict from the rows of a bot, starting with a new test.
    pub fn from_rows<'a>(rows: impl IntoIterator<Item = &'a IntentRow>, plan: EdgeTestPlan) -> Self {
        let judge = Judge::from_rows(rows, plan);
        let edge = to_edge(&judge);
        Self { judge, edge, ..Self::new(plan) }
    }

    pub(crate) fn set_weight(&mut self, weight: f64) {
        self.judge.set_weight(weight);
    }

    pub(crate) fn differs_from(&self, identity: &Value) -> bool {
        self.identity.as_ref() != Some(identity)
    }

    pub(crate) const fn set_watch_trades(&mut self, watch_trades: u64) {
        self.judge.set_watch_trades(watch_trades);
    }

    /// Returns the judge, which runs the edge test and monitors the edge once it is shown.
    pub const fn judge(&self) -> &Judge {
        &self.judge
    }

    /// Returns the edge test in its current state, including the capital of its notional bets.
    pub const fn edge_test(&self) -> &EdgeTest {
        self.judge.test()
    }

    /// Returns the verdict on the edge. `Rejected` and `NoLongerHeld` remain until the bot's parameters or code change.
    pub const fn edge(&self) -> EdgeVerdict {
        self.edge
    }

    /// Returns the first intent that counts for the verdict. Earlier intents were traded with other parameters or code.
    pub const fn first_intent(&self) -> IntentId {
        self.since
    }

    pub(crate) fn restart(&mut self, identity: &Value, plan: EdgeTestPlan, next: IntentId) {
        *self = Self { identity: Some(identity.clone()), since: next, ..Self::new(plan) };
    }

    pub(crate) fn renumbered(mut self, numbers: &Renumbering) -> Self {
        self.judge.renumber(numbers);
        self
    }

    pub(crate) const fn disable(&mut self) {
        self.is_left = true;
    }

    #[inline]
    pub(crate) fn on_decided(&mut self, intent: IntentId, symbol: SymbolId, at: Millis) {
        if !self.is_left {
            self.judge.on_decided(intent, symbol, at);
        }
    }

    #[inline]
    pub(crate) fn on_answered(&mut self, intent: IntentId, symbol: SymbolId, payout: Payout) {
        if !self.is_left {
            self.judge.on_answered(intent, symbol, payout);
        }
    }

    pub(crate) fn on_excluded(&mut self, intent: IntentId) {
        if !self.is_left {
            self.judge.on_excluded(intent);
        }
    }

    pub(crate) fn on_settled(
        &mut self,
        (bot, intent): (BotId, IntentId),
        (outcome, payout): (Outcome, Option<Payout>),
        at: Millis,
    ) -> Option<Judgement> {
        if self.is_left {
            return None;
        }
        self.judge.on_settled(intent, outcome, payout);
        if !self.edge_test().is_final() {
            return None;
        }
        let edge = to_edge(&self.judge);
        if edge == self.edge {
            return None;
        }
        self.edge = edge;
        Some(self.judgement(bot, at))
    }

    pub(crate) fn judgement(&self, bot: BotId, at: Millis) -> Judgement {
        let (test, edge) = (self.judge.test(), self.edge);
        let (trades, account_for, account_against) =
            (test.settled(), test.edge_account(), test.mirror_account());
        let (weight, since) = (test.weight(), self.judge.no_longer_held_since());
        Judgement { bot, at, edge, trades, account_for, account_against, weight, since }
    }
}

fn to_edge(judge: &Judge) -> EdgeVerdict {
    let test = judge.test();
    if !test.is_final() {
        return EdgeVerdict::Open;
    }
    match test.verdict() {
        Verdict::EdgeShown if judge.no_longer_held_since().is_some() => EdgeVerdict::NoLongerHeld,
        Verdict::EdgeShown => EdgeVerdict::Shown,
        Verdict::EdgeRejected => EdgeVerdict::Rejected,
        Verdict::NotEnoughTrades { .. } => EdgeVerdict::Open,
    }
}
