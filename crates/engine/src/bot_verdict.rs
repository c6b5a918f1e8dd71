//! The verdict on one bot, as it trades: for its present parameters and code.

use crate::{BotId, Edge, IntentId, IntentRow, Judge, Judgement, Renumbering, SymbolId};
use candlewick_sdk::{Millis, Outcome, Payout};
use candlewick_statistics::{EdgeTest, EdgeTestPlan, Verdict};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Follows each of the bot's intents; the accounts begin with 1 again when anything changes that makes it another bot.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct BotVerdict {
    judge: Judge,
    edge: Edge,
    /// Everything that its trades follow from: settings, version of the strategy, plan. None before the first run.
    identity: Option<Value>,
    since: IntentId,
    /// Nobody asks for it.
    is_left: bool,
}

impl BotVerdict {
    pub(crate) fn new(plan: EdgeTestPlan) -> Self {
        Self {
            judge: Judge::new(plan),
            edge: Edge::Open,
            identity: None,
            since: IntentId::new(1),
            is_left: false,
        }
    }

    /// As it stands after a single run that began with it, by the bot's rows of that run.
    pub fn after<'a>(rows: impl IntoIterator<Item = &'a IntentRow>, plan: EdgeTestPlan) -> Self {
        let judge = Judge::after(rows, plan);
        let edge = edge_of(&judge);
        Self { judge, edge, ..Self::new(plan) }
    }

    /// Lets it spend this share of alpha.
    pub(crate) fn set_weight(&mut self, weight: f64) {
        self.judge.set_weight(weight);
    }

    /// Whether a bot of this identity is another one than the one that it follows.
    pub(crate) fn begins_anew(&self, identity: &Value) -> bool {
        self.identity.as_ref() != Some(identity)
    }

    /// Watches a shown edge with this mean number of trades to a false alarm, unless it does already.
    pub(crate) const fn set_watch_trades(&mut self, watch_trades: u64) {
        self.judge.set_watch_trades(watch_trades);
    }

    /// The accounts, and what follows *edge shown*.
    pub const fn judge(&self) -> &Judge {
        &self.judge
    }

    /// The accounts as they stand.
    pub const fn edge_test(&self) -> &EdgeTest {
        self.judge.test()
    }

    /// What is known of the edge. Rejected, or no longer held, stays so until the bot begins anew.
    pub const fn edge(&self) -> Edge {
        self.edge
    }

    /// The first intent that it could rest on: what was decided before belongs to other parameters or other code.
    pub const fn first_intent(&self) -> IntentId {
        self.since
    }

    /// Follows another bot, whose first intent has this number at the earliest.
    pub(crate) fn begin_anew(&mut self, identity: &Value, plan: EdgeTestPlan, next: IntentId) {
        *self = Self { identity: Some(identity.clone()), since: next, ..Self::new(plan) };
    }

    /// The same by the numbers of another Session.
    pub(crate) fn under(mut self, numbers: &Renumbering) -> Self {
        self.judge.renumber(numbers);
        self
    }

    /// It follows no trade from here on.
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

    pub(crate) fn on_left_out(&mut self, intent: IntentId) {
        if !self.is_left {
            self.judge.on_left_out(intent);
        }
    }

    /// A trade ended; the verdict, if it falls or changes with that.
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
        let edge = edge_of(&self.judge);
        if edge == self.edge {
            return None;
        }
        self.edge = edge;
        Some(self.judgement(bot, at))
    }

    /// The verdict as it stands.
    pub(crate) fn judgement(&self, bot: BotId, at: Millis) -> Judgement {
        let (test, edge) = (self.judge.test(), self.edge);
        let (trades, account_for, account_against) =
            (test.settled(), test.edge_account(), test.mirror_account());
        let (weight, since) = (test.weight(), self.judge.no_longer_held_since());
        Judgement { bot, at, edge, trades, account_for, account_against, weight, since }
    }
}

/// What a verdict that may have latched says of the edge.
fn edge_of(judge: &Judge) -> Edge {
    let test = judge.test();
    if !test.is_final() {
        return Edge::Open;
    }
    match test.verdict() {
        Verdict::EdgeShown if judge.no_longer_held_since().is_some() => Edge::NoLongerHeld,
        Verdict::EdgeShown => Edge::Shown,
        Verdict::EdgeRejected => Edge::Rejected,
        Verdict::NotEnoughTrades { .. } => Edge::Open,
    }
}
