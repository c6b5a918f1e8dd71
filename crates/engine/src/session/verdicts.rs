//! Verdicts on the edge of each bot. Backtests, live runs and journal folds process the same events.

use super::Session;
use super::history::HistoryEntry;
use crate::{BotId, BotVerdict, Header, Judgement, TradeSettlement, VerdictSettings};
use candlewick_sdk::Millis;
use candlewick_statistics::{AlphaBudget, BudgetedBot, EdgeTestPlan};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

#[derive(Clone, Default, Serialize, Deserialize)]
pub(super) struct SharedVerdicts {
    pub(super) budget: AlphaBudget,
    /// Bots that only earlier runs had. Their trades may still end, and new bots may inherit their alpha.
    pub(super) absent: Vec<(String, BotVerdict)>,
}

pub(super) fn new_verdict(plan: EdgeTestPlan, budget: &AlphaBudget, bot: &str) -> BotVerdict {
    let mut verdict = BotVerdict::new(plan);
    verdict.set_weight(budget.weight(bot).unwrap_or(1.0));
    verdict
}

impl Session {
    /// Begins a run with the given header. Each verdict continues or restarts. A verdict restarts if the series,
    /// expiry, parameters, strategy, strategy version or test plan changed. The restarts determine each bot's share of
    /// alpha ([`AlphaBudget`]). If session limits apply to runs, a new session begins as well.
    pub fn begin_run(&mut self, header: &Header) {
        self.resume_run(header);
        if self.records_history() {
            self.record_entry(HistoryEntry::Run(Box::new(header.clone())));
        }
    }

    pub(super) fn resume_run(&mut self, header: &Header) {
        self.begin_run_session();
        let named = header.settings.pointer("/session/bots").and_then(Value::as_array);
        let named: Vec<(&str, Value)> = (named.into_iter().flatten().enumerate())
            .map(|(index, bot)| (bot["name"].as_str().unwrap_or_default(), bot_identity(header, bot, index)))
            .collect();
        let (plan, next) = (verdict_plan(header), self.next_intent());
        let mut budget = std::mem::take(&mut self.shared.budget);
        let bots: Vec<BudgetedBot<'_>> = (named.iter())
            .map(|(name, identity)| {
                let id = self.remember_bot(name);
                let verdict = self.verdict_mut(id);
                let is_other = verdict.is_some_and(|verdict| verdict.differs_from(identity));
                let is_new = budget.weight(name).is_none();
                BudgetedBot { name, is_changed: is_other || is_new }
            })
            .collect();
        budget.begin_run(&bots, |name| self.budget_weight(name));
        for (bot, (_, identity)) in bots.iter().zip(&named) {
            let id = self.remember_bot(bot.name);
            if let Some(own) = self.bots.get_mut(id.index()).filter(|_| bot.is_changed) {
                own.stake.reset_evidence();
            }
            let Some(verdict) = self.verdict_mut(id) else { continue };
            if bot.is_changed {
                let plan = plan.unwrap_or_else(|| verdict.edge_test().plan());
                verdict.restart(identity, plan, next);
            }
            verdict.set_weight(budget.weight(bot.name).unwrap_or_default());
            if let Some(plan) = plan {
                verdict.set_watch_trades(plan.watch_trades());
            }
        }
        self.shared.budget = budget;
    }

    /// Returns the verdicts in the order of the bots.
    pub fn verdicts(&self) -> impl Iterator<Item = &BotVerdict> {
        self.bots.iter().map(|bot| &*bot.verdict)
    }

    /// Returns the weight of the joint verdict on the trades of all bots, as a fraction of alpha.
    /// The weight is 0 without a joint verdict ([`AlphaBudget::joint_verdict_weight`]).
    pub fn joint_verdict_weight(&self) -> f64 {
        if self.shared.budget == AlphaBudget::default() {
            return AlphaBudget::for_first_run(self.names.iter().map(String::as_str)).joint_verdict_weight();
        }
        self.shared.budget.joint_verdict_weight()
    }

    /// Returns the names of the bots whose verdict forbids trades, because an edge is ruled out or no longer held.
    pub fn bots_without_edge(&self) -> impl Iterator<Item = &str> {
        let bots = self.verdicts().zip(&self.names);
        bots.filter(|(verdict, _)| verdict.edge().forbids_trades()).map(|(_, name)| name.as_str())
    }

    pub(super) fn judge(&mut self, id: BotId, settled: &TradeSettlement, at: Millis) -> Option<Judgement> {
        let verdict = self.verdict_mut(id)?;
        verdict.on_settled((id, settled.intent), (settled.outcome, settled.payout), at)
    }

    #[inline]
    pub(super) fn verdict_mut(&mut self, id: BotId) -> Option<&mut BotVerdict> {
        let own = self.bots.len();
        match self.bots.get_mut(id.index()) {
            Some(bot) => Some(&mut bot.verdict),
            None => self.shared.absent.get_mut(id.index() - own).map(|(_, verdict)| verdict),
        }
    }

    pub(crate) fn remember_bot(&mut self, name: &str) -> BotId {
        let known = self.names.iter().chain(self.shared.absent.iter().map(|(name, _)| name));
        let place = known.clone().position(|known| known == name).unwrap_or_else(|| known.count());
        let Some(id) = BotId::new(place) else { return BotId::RETIRED };
        if place == self.bots.len() + self.shared.absent.len() {
            let plan =
                self.bots.first().map_or_else(EdgeTestPlan::default, |bot| bot.verdict.edge_test().plan());
            self.shared.absent.push((name.to_owned(), BotVerdict::new(plan)));
        }
        id
    }

    fn budget_weight(&self, name: &str) -> f64 {
        let own = self.names.iter().zip(&self.bots).map(|(name, bot)| (name, &*bot.verdict));
        let mut all = own.chain(self.shared.absent.iter().map(|(name, verdict)| (name, verdict)));
        all.find(|(known, _)| *known == name)
            .map_or(1.0, |(_, verdict)| verdict.edge_test().edge_account_minimum())
    }
}

/// Returns the data that restarts a verdict if it changes. Excludes the stake, because returns are per unit of stake.
fn bot_identity(header: &Header, settings: &Value, index: usize) -> Value {
    let mut identity = settings.as_object().cloned().unwrap_or_default();
    identity.retain(|key, _| !["name", "stake"].contains(&key.as_str()));
    let version = header.strategies.get(index).map(|(_, version)| version);
    identity.insert("version".to_owned(), json!(version));
    let mut plan = json!(header.settings.pointer("/session/risk/verdict"));
    // A changed `watch_trades` does not restart the verdict.
    plan.as_object_mut().and_then(|plan| plan.remove("watch_trades"));
    identity.insert("plan".to_owned(), plan);
    Value::Object(identity)
}

pub(super) fn verdict_plan(header: &Header) -> Option<EdgeTestPlan> {
    let settings = header.settings.pointer("/session/risk/verdict")?;
    let settings: VerdictSettings = serde_json::from_value(settings.clone()).ok()?;
    settings.to_plan().ok()
}
