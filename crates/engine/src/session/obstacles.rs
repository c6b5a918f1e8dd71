//! Rules that currently stop bots from opening trades, by the same checks as for a signal.

use super::Session;
use crate::risk::{self, LimitUse, Probe, Proposal, Refusal, figures, limit_use, limit_use_of, refusals};
use crate::{BotId, Origin, Rule};
use candlewick_sdk::{Direction, Millis, Money, MoneyScale, Reason};
use chrono::DateTime;
use std::collections::BTreeMap;

static NO_REASON: Reason = Reason::new("");

/// A rule that refuses every signal of some bots.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Obstacle {
    /// Affected bots in order.
    pub bots: Vec<BotId>,
    /// Refusing rule.
    pub rule: Rule,
    /// Description of the rule with its figures and its end.
    pub text: String,
    /// Venue time that lifts the rule, `None` if only an event or an operator does.
    pub until: Option<Millis>,
    /// Whether the rule usually lasts no longer than a trade, a reply or a candle.
    pub is_brief: bool,
}

impl Session {
    /// Returns what stops bots from opening at `now`, in the order of the rules.
    ///
    /// Bots that a rule stops with the same figures share an entry.
    pub fn obstacles(&self, now: Millis) -> Vec<Obstacle> {
        let mut by_rule: BTreeMap<usize, Vec<(BotId, Refusal)>> = BTreeMap::new();
        for bot in (0..self.bots.len()).filter_map(BotId::new) {
            let proposal = self.present_proposal(bot, now);
            for refusal in refusals(&proposal, self.view(proposal.symbol), self.money_scale) {
                let place = Rule::ALL.iter().position(|rule| *rule == refusal.rule).unwrap_or_default();
                by_rule.entry(place).or_default().push((bot, refusal));
            }
        }
        by_rule.into_values().flat_map(|stopped| self.grouped(stopped, now)).collect()
    }

    /// Describes the values that a rule compares for a signal of a bot at `at`.
    ///
    /// Empty if they are not numbers.
    pub fn rule_figures(&self, rule: Rule, bot: BotId, at: Millis) -> String {
        if bot.index() >= self.bots.len() {
            return String::new();
        }
        let proposal = self.present_proposal(bot, at);
        figures(rule, &proposal, self.view(proposal.symbol), self.money_scale)
    }

    /// Returns the next stake of a bot, and whether it is a payout probe.
    ///
    /// A probe stakes the minimum because the payout is unknown.
    pub fn next_stake(&self, bot: BotId, at: Millis) -> Option<(Money, bool)> {
        let own = self.bots.get(bot.index())?;
        let probe = Probe::of(&self.limits, &self.state, own.symbol, at);
        Some((self.stake(own, probe, at), probe == Probe::Needed))
    }

    /// Returns the rule that stops a bot for good.
    ///
    /// Only an operator lifts it, or the balance covers no stake. Meant for the end of a run:
    /// pending trades may still change it.
    pub fn stopped_by(&self, bot: BotId) -> Option<Rule> {
        let last = self.bots.get(bot.index())?.last_close;
        let proposal = self.any_proposal(bot, last);
        risk::stopped_by(&proposal, self.view(proposal.symbol))
    }

    pub(super) fn any_proposal(&self, id: BotId, now: Millis) -> Proposal<'static> {
        let bot = &self.bots[id.index()];
        Proposal {
            bot: id,
            symbol: bot.symbol,
            direction: Direction::Buy,
            expiry: bot.expiry,
            stake: self.stake(bot, Probe::NotNeeded, now),
            at: now,
            received: now,
            origin: Origin::Live,
            last_close: now,
            interval: bot.interval,
            nominal_close: now,
            edge: bot.verdict.edge(),
            reason: &NO_REASON,
            is_virtual: false,
        }
    }

    /// Returns the utilisation of each active limit.
    pub fn limit_use(&self, now: Millis) -> Vec<LimitUse> {
        limit_use(&self.limits, (&self.ledger, &self.intents, &self.state), now)
    }

    /// Returns the utilisation of each limit of a bot's own.
    pub fn limit_use_of(&self, bot: BotId) -> Vec<LimitUse> {
        limit_use_of(bot, &self.limits, (&self.ledger, &self.intents, &self.state))
    }

    fn present_proposal(&self, id: BotId, now: Millis) -> Proposal<'static> {
        let bot = &self.bots[id.index()];
        let any = self.any_proposal(id, now);
        // Bots of a Session without candles are taken to have a fresh one.
        let last_close = if bot.last_close.get() > 0 { bot.last_close.min(now) } else { now };
        let stake = self.next_stake(id, now).map_or(any.stake, |(stake, _)| stake);
        Proposal { stake, last_close, is_virtual: bot.is_gate_closed(), ..any }
    }

    fn grouped(&self, stopped: Vec<(BotId, Refusal)>, now: Millis) -> Vec<Obstacle> {
        let mut groups: Vec<(Vec<BotId>, Refusal)> = Vec::new();
        for (bot, refusal) in stopped {
            let same = groups.iter_mut().find(|(_, known)| known.is_like(&refusal));
            match same {
                Some((bots, known)) => {
                    bots.push(bot);
                    known.room = known.room.zip(refusal.room).map(|(one, other)| (one.0, one.1.min(other.1)));
                }
                None => groups.push((vec![bot], refusal)),
            }
        }
        let obstacle = |(bots, refusal): (Vec<BotId>, Refusal)| Obstacle {
            rule: refusal.rule,
            text: refusal.describe(bots.len(), self.money_scale, now),
            until: refusal.until,
            is_brief: refusal.rule.is_brief() || refusal.waits_for_trades,
            bots,
        };
        groups.into_iter().map(obstacle).collect()
    }
}

impl Refusal {
    fn is_like(&self, other: &Self) -> bool {
        let left = |refusal: &Self| refusal.room.map(|(left, _)| left);
        let is_same = (self.rule, self.until, self.waits_for_trades, left(self))
            == (other.rule, other.until, other.waits_for_trades, left(other));
        is_same && (self.room.is_some() || self.figures == other.figures)
    }

    fn describe(&self, bots: usize, scale: MoneyScale, now: Millis) -> String {
        let label = self.rule.label();
        let what = match self.room {
            Some((left, stake)) => {
                let (left, stake) = (scale.format(left), scale.format(stake));
                let limit = if self.rule == Rule::InsufficientBalance { "free balance" } else { label };
                if bots > 1 {
                    format!("no stake fits the {limit} any more ({left} left, smallest {stake})")
                } else {
                    format!("the next stake of {stake} does not fit the {limit} any more ({left} left)")
                }
            }
            None if self.figures.is_empty() => label.to_owned(),
            None => format!("{label} ({})", self.figures),
        };
        if self.waits_for_trades {
            return format!("{what} until open trades end");
        }
        let until = self.until.map(|until| format!(" until {}", time_of(until, now)));
        let lifted = || self.rule.is_lifted_by_operator().then(|| " until an operator resumes".to_owned());
        format!("{what}{}", until.or_else(lifted).unwrap_or_default())
    }
}

fn time_of(at: Millis, now: Millis) -> String {
    let Some(time) = DateTime::from_timestamp_millis(at.get()) else { return format!("{at} ms") };
    let has_seconds = at.get().rem_euclid(60_000) > 0;
    let pattern = match (at - now <= Millis::DAY, has_seconds) {
        (true, false) => "%H:%M UTC",
        (true, true) => "%H:%M:%S UTC",
        (false, _) => "%Y-%m-%d %H:%M UTC",
    };
    time.format(pattern).to_string()
}
