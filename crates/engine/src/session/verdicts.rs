//! The verdicts on the bots' edges: they follow the same events in a backtest, live, and when a journal is folded.

use super::Session;
use crate::{BotId, BotVerdict, Edge, Header, Judgement, Settled};
use candlewick_sdk::Millis;
use serde_json::{Value, json};

impl Session {
    /// A run with this header begins: the verdict of each of its bots goes on where it stood, if the same bot traded
    /// last, and begins anew if its series, expiry, parameters, strategy, the strategy's version or the plan has changed.
    pub fn begin_run(&mut self, header: &Header) {
        let named = header.settings.pointer("/session/bots").and_then(Value::as_array);
        let next = self.next_intent();
        for (index, settings) in named.into_iter().flatten().enumerate() {
            let name = settings["name"].as_str().unwrap_or_default();
            let place = self.names.iter().position(|known| known == name);
            if let Some(bot) = place.and_then(|place| self.bots.get_mut(place)) {
                bot.verdict.begin_run(&identity(header, settings, index), next);
            }
        }
    }

    /// The verdict on each bot, in the bots' order.
    pub fn verdicts(&self) -> impl Iterator<Item = &BotVerdict> {
        self.bots.iter().map(|bot| &*bot.verdict)
    }

    /// The bots whose edge the verdict has ruled out.
    pub fn edge_rejected_bots(&self) -> impl Iterator<Item = &str> {
        let bots = self.verdicts().zip(&self.names);
        bots.filter(|(verdict, _)| verdict.edge() == Edge::Rejected).map(|(_, name)| name.as_str())
    }

    /// Counts a settlement in the verdict of its bot; the verdict, if it falls with that.
    pub(super) fn judge(&mut self, id: BotId, settled: &Settled, at: Millis) -> Option<Judgement> {
        let bot = self.bots.get_mut(id.index())?;
        bot.verdict.on_settled((id, settled.intent), (settled.outcome, settled.payout), at)
    }
}

/// All that a bot's trades and its verdict follow from. Neither its name nor how much it stakes is part of it: judged are
/// returns per unit of stake.
fn identity(header: &Header, settings: &Value, index: usize) -> Value {
    let mut identity = settings.as_object().cloned().unwrap_or_default();
    identity.retain(|key, _| !["name", "stake"].contains(&key.as_str()));
    let version = header.strategies.get(index).map(|(_, version)| version);
    identity.insert("version".to_owned(), json!(version));
    identity.insert("plan".to_owned(), json!(header.settings.pointer("/session/risk/verdict")));
    Value::Object(identity)
}
