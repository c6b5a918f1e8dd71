//! Restores a snapshot made under other settings. The result equals a fold of all journal entries.

use super::{BotState, RestoreError, Session, SessionSnapshot, SharedVerdicts};
use crate::risk::{PayoutRequirementChange, incompatible_setting};
use crate::session::earlier::position_or_push;
use crate::session::verdicts::verdict_plan;
use crate::stake::Stake;
use crate::{
    BotSettings, BotVerdict, Header, IfRefused, Renumbering, RiskSettings, SessionNames, SessionSettings,
    SymbolId,
};
use candlewick_sdk::Symbol;
use serde_json::Value;

/// Settings and run headers under which a snapshot was made.
#[derive(Clone, Copy, Debug)]
pub struct SnapshotOrigin<'a> {
    /// Settings of the last run.
    pub settings: &'a SessionSettings,
    /// Headers of all runs covered by the snapshot, in order.
    pub headers: &'a [Header],
}

impl SessionSnapshot {
    /// Returns the bot names and symbols to which the ids in the snapshot refer.
    pub fn names(&self) -> SessionNames {
        let absent = self.shared.absent.iter().map(|(name, _)| name);
        let bots = self.bots.iter().map(|bot| &bot.name).chain(absent).cloned().collect();
        SessionNames { bots, symbols: self.symbols.clone() }
    }
}

impl Session {
    /// Returns the bot names and symbols to which the ids in the Session refer.
    pub fn names(&self) -> SessionNames {
        let absent = self.shared.absent.iter().map(|(name, _)| name);
        let bots = self.names.iter().chain(absent).cloned().collect();
        SessionNames { bots, symbols: self.symbols.clone() }
    }

    /// Allocates the trade counts of a symbol. A fold does the same when it reaches a trade on the symbol.
    pub fn allocate_trade_counts(&mut self, symbol: SymbolId) {
        self.intents.make_room_for(symbol);
    }

    /// Restores a snapshot made under other settings. Returns the mapping from old to new ids of bots and symbols.
    ///
    /// The result equals a fold of the same entries under the current settings, except that the counts for session
    /// limits are only valid once the next run begins. Bots are matched by name. The verdicts of removed bots are kept.
    /// Fails with [`RestoreError::NeedsFullFold`] if only a fold of all trades can compute the state. Discard the
    /// Session after any error.
    pub fn restore_with_changes(
        &mut self,
        own: &SessionSettings,
        snapshot: SessionSnapshot,
        before: SnapshotOrigin<'_>,
    ) -> Result<Renumbering, RestoreError> {
        let old = Self::without_strategies(before.settings).map_err(|error| fold_error(error.to_string()))?;
        // Bot positions in the snapshot refer to the previous settings.
        snapshot.check(&old)?;
        if old.money_scale != self.money_scale || before.settings.balance != own.balance {
            return Err(RestoreError::OtherSettings { what: "money" });
        }
        if let Some(key) = incompatible_setting(&before.settings.risk, &own.risk) {
            return Err(fold_error(format!(
                "risk.{key} has changed, so the counts of this rule must be recomputed from all trades"
            )));
        }
        if before.headers.iter().any(|header| verdict_plan(header).is_none()) {
            return Err(fold_error("the header of an earlier run lacks the verdict settings".to_owned()));
        }
        let names = self.collect_names(before.headers);
        let there = snapshot.names();
        let numbers = there.renumbering_to(&names);
        let numbers = numbers.ok_or_else(|| fold_error("the snapshot has an unknown bot".to_owned()))?;
        let payouts = self.check_payout_probes(&old, &snapshot, &numbers, (before.settings, own))?;
        self.check_entry_delays(&old, &snapshot, &there, &numbers)?;

        let SessionSnapshot { bots, shared, state, intents, .. } = snapshot;
        let own_symbols = self.symbols.len();
        let mut places = Vec::with_capacity(self.bots.len());
        for index in 0..self.bots.len() {
            let place = old.names.iter().position(|name| *name == self.names[index]);
            match place {
                Some(at) => {
                    let both = (&before.settings.bots[at], &own.bots[index]);
                    Self::check_ladder_bounds(&bots[at].stake, both, (&before.settings.risk, &own.risk))?;
                    self.carry_over_bot(index, bots[at].clone(), both, payouts)?;
                    *self.bots[index].verdict = bots[at].verdict.clone().renumbered(&numbers);
                }
                None if there.bots.contains(&self.names[index]) => {
                    return Err(fold_error(format!(
                        "bot \"{}\" was missing in the last run, so its counts must be recomputed from all its trades",
                        self.names[index]
                    )));
                }
                None => {}
            }
            places.push(place);
        }
        let mut verdicts: Vec<(String, BotVerdict)> =
            bots.into_iter().map(|bot| (bot.name, bot.verdict)).chain(shared.absent).collect();
        let absent = names.bots[self.names.len()..].iter().filter_map(|name| {
            let place = verdicts.iter().position(|(known, _)| known == name)?;
            let (name, verdict) = verdicts.swap_remove(place);
            Some((name, verdict.renumbered(&numbers)))
        });
        let absent: Vec<_> = absent.collect();
        if self.names.len() + absent.len() != names.bots.len() {
            return Err(fold_error("the snapshot lacks a bot of an earlier run".to_owned()));
        }
        self.shared = SharedVerdicts { absent, budget: shared.budget };
        let to = (&numbers, names.symbols.len());
        self.state = state.carry_over(&self.limits, to, &places, payouts.is_unchanged);
        self.intents = intents.renumbered(&numbers, own_symbols);
        self.symbols = names.symbols;
        (self.ledger, self.second_trades) = (snapshot.ledger, snapshot.second_trades);
        self.outside = snapshot.outside.map(|known| Box::new(known.renumbered(&numbers)));
        self.next_release = self.next_due_time();
        Ok(numbers)
    }

    fn collect_names(&self, headers: &[Header]) -> SessionNames {
        let mut names = SessionNames { bots: self.names.clone(), symbols: self.symbols.clone() };
        for header in headers {
            let bots = header.settings.pointer("/session/bots").and_then(Value::as_array);
            for bot in bots.into_iter().flatten() {
                let text = |key: &str| bot.get(key).and_then(Value::as_str);
                if let Some(name) = text("name") {
                    position_or_push(&mut names.bots, name.to_owned());
                }
                if let Some(symbol) = text("symbol").and_then(|name| name.parse::<Symbol>().ok()) {
                    position_or_push(&mut names.symbols, symbol);
                }
            }
        }
        names
    }

    fn check_payout_probes(
        &self,
        old: &Self,
        snapshot: &SessionSnapshot,
        numbers: &Renumbering,
        (before, own): (&SessionSettings, &SessionSettings),
    ) -> Result<PayoutRequirementChange, RestoreError> {
        let there = (0..snapshot.symbols.len()).filter_map(SymbolId::new);
        let symbols: Vec<_> = there.map(|symbol| (symbol, numbers.map_symbol(symbol))).collect();
        let payouts = PayoutRequirementChange::compare(&old.limits, &self.limits, &symbols);
        let has_ladders = self.bots.iter().any(|bot| bot.stake.is_ladder());
        let is_under_way = snapshot.intents.bots().next().is_some();
        let problem = if payouts.is_unchanged {
            let is_rounded_otherwise = before.risk.stake_step != own.risk.stake_step;
            (payouts.was_ever_needed && has_ladders && is_rounded_otherwise)
                .then_some("risk.stake_step has changed, so ladder levels must be recomputed from all trades")
        } else if has_ladders {
            Some("the symbols or maximum age of payout probes changed, so ladder levels must be recomputed")
        } else {
            (payouts.is_needed_now && is_under_way)
                .then_some("the symbols or maximum age of payout probes changed while trades are pending")
        };
        problem.map_or(Ok(payouts), |problem| Err(fold_error(problem.to_owned())))
    }

    /// Fails if the entry delay of a bot with pending trades changed, because nominal close times depend on the delay.
    fn check_entry_delays(
        &self,
        old: &Self,
        snapshot: &SessionSnapshot,
        there: &SessionNames,
        numbers: &Renumbering,
    ) -> Result<(), RestoreError> {
        let mut under_way = snapshot.intents.bots();
        let changed = under_way.find(|bot| old.entry_delay(*bot) != self.entry_delay(numbers.map_bot(*bot)));
        let Some(bot) = changed else { return Ok(()) };
        let name = there.bots.get(bot.index()).map_or("", String::as_str);
        Err(fold_error(if self.names.iter().any(|own| own == name) {
            format!("entry_delay_s of bot \"{name}\" changed, but its pending trades use the previous value")
        } else {
            format!("bot \"{name}\" was removed, but its pending trades still use its entry_delay_s")
        }))
    }

    /// Fails if the rounding or the cap of a ladder's stakes changed, because the level depends on both.
    fn check_ladder_bounds(
        kept: &Stake,
        (bot_before, bot): (&BotSettings, &BotSettings),
        (before, risk): (&RiskSettings, &RiskSettings),
    ) -> Result<(), RestoreError> {
        if !kept.is_ladder() {
            return Ok(());
        }
        let is_moved = |risk: &RiskSettings, bot: &BotSettings| {
            risk.cap_stakes
                || (bot.stake.if_refused() == IfRefused::Reset && !bot.stake.enters_without_signal())
        };
        let bounds = |risk: &RiskSettings| (risk.max_stake, risk.max_stake_percent, risk.cap_stakes);
        let is_capped_otherwise = (is_moved(before, bot_before) || is_moved(risk, bot))
            && (bounds(before) != bounds(risk) || is_moved(before, bot_before) != is_moved(risk, bot));
        // A changed first stake is also rounded differently.
        let is_rounded_otherwise = kept.adds_profits()
            && (before.stake_step != risk.stake_step
                || (!risk.stake_step.is_zero() && bot_before.stake != bot.stake));
        let problem = if is_capped_otherwise {
            "changed stake limits, so its ladder level must be recomputed from all trades"
        } else if is_rounded_otherwise {
            "changed stake rounding, so its ladder level must be recomputed from all trades"
        } else {
            return Ok(());
        };
        Err(fold_error(format!("bot \"{}\" has {problem}", bot.name)))
    }

    fn carry_over_bot(
        &mut self,
        index: usize,
        kept: BotState,
        (before, after): (&BotSettings, &BotSettings),
        payouts: PayoutRequirementChange,
    ) -> Result<(), RestoreError> {
        let BotState { stake, last_close, reentry, .. } = kept;
        let bot = &mut self.bots[index];
        let (is_ladder, has_entries) = (bot.stake.is_ladder(), bot.reentry.is_none() || reentry.is_some());
        let is_reset = after.stake.if_refused() == IfRefused::Reset;
        let problem = if before.stake == after.stake {
            if !(bot.stake.resume_from(stake) && has_entries) {
                return Err(RestoreError::OtherSettings { what: "stakes" });
            }
            None
        } else if is_ladder && payouts.was_ever_needed {
            Some("a changed stake, so its payout probes must be found by reading all trades")
        } else {
            let is_as_patient = after.stake.if_refused() == before.stake.if_refused();
            let follows = bot.stake.migrate_from(stake) && has_entries && (is_as_patient || !is_ladder);
            (!follows).then_some("a changed stake, which must be recomputed from all its trades")
        };
        let is_missed_otherwise = is_ladder && is_reset && before.interval != after.interval;
        let problem = problem.or(is_missed_otherwise.then_some(
            "a changed interval and if_refused = \"reset\", so its ladder level must be recomputed from all trades",
        ));
        if let Some(problem) = problem {
            return Err(fold_error(format!("bot \"{}\" has {problem}", after.name)));
        }
        bot.last_close = last_close;
        if bot.reentry.is_some() {
            bot.reentry = reentry;
        }
        Ok(())
    }
}

const fn fold_error(why: String) -> RestoreError {
    RestoreError::NeedsFullFold { why }
}
