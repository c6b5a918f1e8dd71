//! Reports the ladder levels, and the rules, pauses and stakes that currently prevent bots from trading.

use super::Session;
use crate::bot::Bot;
use crate::risk::{
    self, LimitUsage, PauseScope, PayoutProbe, Proposal, Refusal, RefusalPause, RunningPause,
    bot_limit_usage, describe_refusal, limit_usage, refusals,
};
use crate::{BotId, Origin, Rule};
use candlewick_sdk::{Direction, Millis, Money, MoneyScale, Payout, Reason, Symbol};
use chrono::DateTime;
use std::collections::BTreeMap;

static NO_REASON: Reason = Reason::new("");

/// A rule that currently rejects every signal of one or more bots.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Obstacle {
    /// Affected bots, in the order of their ids.
    pub bots: Vec<BotId>,
    /// Rule that rejects the signals.
    pub rule: Rule,
    /// Description of the rule, with the compared values and the time at which it is lifted.
    pub text: String,
    /// Venue time at which the rule is lifted, `None` if only an event or an operator can lift it.
    pub until: Option<Millis>,
    /// Whether the rule usually applies only until a trade ends, a reply arrives or a candle closes.
    pub is_brief: bool,
}

impl Session {
    /// Returns the rules that prevent bots from opening trades at `now`, in the order of [`Rule::ALL`].
    /// Bots share an entry if the same rule stops them with the same values.
    pub fn obstacles(&self, now: Millis) -> Vec<Obstacle> {
        let mut by_rule: BTreeMap<usize, Vec<(BotId, Refusal)>> = BTreeMap::new();
        for bot in (0..self.bots.len()).filter_map(BotId::new) {
            let proposal = self.current_proposal(bot, now);
            for refusal in refusals(&proposal, self.risk_view(proposal.symbol), self.money_scale) {
                let place = Rule::ALL.iter().position(|rule| *rule == refusal.rule).unwrap_or_default();
                by_rule.entry(place).or_default().push((bot, refusal));
            }
        }
        by_rule.into_values().flat_map(|stopped| self.group_refusals(stopped, now)).collect()
    }

    /// Describes the values that a rule would compare for a signal of a bot at the time `at`.
    /// Returns an empty text if the rule does not compare numbers.
    pub fn describe_rule_values(&self, rule: Rule, bot: BotId, at: Millis) -> String {
        if bot.index() >= self.bots.len() {
            return String::new();
        }
        let proposal = self.current_proposal(bot, at);
        describe_refusal(rule, &proposal, self.risk_view(proposal.symbol), self.money_scale)
    }

    /// Returns the next stake of a bot, and whether the trade would be a payout probe.
    /// A probe stakes the minimum because the payout is unknown.
    pub fn next_stake(&self, bot: BotId, at: Millis) -> Option<(Money, bool)> {
        let own = self.bots.get(bot.index())?;
        let probe = PayoutProbe::for_symbol(&self.limits, &self.state, own.symbol, at);
        Some((self.stake(own, probe, at), probe == PayoutProbe::Needed))
    }

    /// Returns the rule that stops a bot until an operator or a deposit lifts the rule.
    /// Call this method at the end of a run, because pending trades may still change the result.
    pub fn stopped_by(&self, bot: BotId) -> Option<Rule> {
        let last = self.bots.get(bot.index())?.last_close;
        let proposal = self.sample_proposal(bot, last);
        risk::stopping_rule(&proposal, self.risk_view(proposal.symbol))
    }

    pub(super) fn sample_proposal(&self, id: BotId, now: Millis) -> Proposal<'static> {
        let bot = &self.bots[id.index()];
        Proposal {
            bot: id,
            symbol: bot.symbol,
            direction: Direction::Buy,
            expiry: bot.expiry,
            stake: self.stake(bot, PayoutProbe::NotNeeded, now),
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

    /// Returns the current use of each active limit of the run.
    pub fn limit_usage(&self, now: Millis) -> Vec<LimitUsage> {
        limit_usage(&self.limits, (&self.ledger, &self.intents, &self.state), now)
    }

    /// Returns the current use of each active limit of a bot.
    pub fn bot_limit_usage(&self, bot: BotId) -> Vec<LimitUsage> {
        bot_limit_usage(bot, &self.limits, (&self.ledger, &self.intents, &self.state))
    }

    fn current_proposal(&self, id: BotId, now: Millis) -> Proposal<'static> {
        let bot = &self.bots[id.index()];
        let any = self.sample_proposal(id, now);
        // Before the first candle, assume a fresh candle.
        let last_close = if bot.last_close.get() > 0 { bot.last_close.min(now) } else { now };
        let stake = self.next_stake(id, now).map_or(any.stake, |(stake, _)| stake);
        Proposal { stake, last_close, is_virtual: bot.strategy.is_gate_closed(), ..any }
    }

    fn group_refusals(&self, stopped: Vec<(BotId, Refusal)>, now: Millis) -> Vec<Obstacle> {
        let mut groups: Vec<(Vec<BotId>, Refusal)> = Vec::new();
        for (bot, refusal) in stopped {
            let same = groups.iter_mut().find(|(_, known)| known.has_same_cause(&refusal));
            match same {
                Some((bots, known)) => {
                    bots.push(bot);
                    let both = known.remaining_and_stake.zip(refusal.remaining_and_stake);
                    known.remaining_and_stake = both.map(|(one, other)| (one.0, one.1.min(other.1)));
                }
                None => groups.push((vec![bot], refusal)),
            }
        }
        let obstacle = |(bots, refusal): (Vec<BotId>, Refusal)| Obstacle {
            rule: refusal.rule,
            text: refusal.describe(bots.len(), self.money_scale, now),
            until: refusal.until,
            is_brief: refusal.rule.is_usually_brief() || refusal.waits_for_trades,
            bots,
        };
        groups.into_iter().map(obstacle).collect()
    }

    /// Returns the pauses active at `now`, each with the paused symbol or bot (`None` for all bots).
    pub fn running_pauses(&self, now: Millis) -> Vec<(RunningPause, Option<String>)> {
        let whose = |running: &RunningPause| match running.pause.scope {
            PauseScope::All => None,
            PauseScope::Symbol => self.symbols().get(running.scope_index).map(ToString::to_string),
            PauseScope::Bot => self.bot_names().get(running.scope_index).cloned(),
        };
        let running = self.state.pauses.running_pauses(now).into_iter();
        running.map(|running| (running, whose(&running))).collect()
    }

    /// Returns the bot name and the gate state of each bot whose strategy has a trade gate.
    pub fn gate_states(&self) -> impl Iterator<Item = (String, String)> {
        let gate = |(name, bot): (&String, &Bot)| Some((name.clone(), bot.strategy.gate()?.now));
        self.names.iter().zip(&self.bots).filter_map(gate)
    }

    /// Returns the last known payout of a bot's symbol, regardless of the payout's age.
    pub fn last_payout(&self, bot: BotId) -> Option<Payout> {
        let bot = self.bots.get(bot.index())?;
        self.state.payout(bot.symbol, Millis::ZERO, Millis::ZERO)
    }

    /// Returns the pauses active at `now` due to declined orders, each with its symbol (`None` for all symbols).
    pub fn refusal_pauses(&self, now: Millis) -> Vec<(RefusalPause, Option<Symbol>)> {
        let symbol = |pause: &RefusalPause| self.symbols().get(pause.symbol?.index()).copied();
        let running = self.state.venue_refusals.running_pauses(self.limits.refused_by_venue_pause, now);
        running.into_iter().map(|pause| (pause, symbol(&pause))).collect()
    }

    /// Returns whether the bot's ladder will restart if no trade opens on the next candle.
    /// Returns `false` on the first level, because a restart would not change the stake.
    pub fn gives_up_ladder(&self, bot: BotId) -> bool {
        self.bots.get(bot.index()).is_some_and(|bot| bot.stake.level() > 1 && bot.level_deadline().is_some())
    }

    /// Returns the current level of each ladder that grows after losses, in bot order.
    pub fn ladder_levels(&self, now: Millis) -> Vec<LadderLevel> {
        let ladder_level = |(place, bot): (usize, &Bot)| {
            let (level, levels) = bot.stake.ladder_position()?;
            let restarts = bot.has_missed_level(now) || self.restarts_ladder(bot);
            let level = if restarts { 1 } else { level };
            let stake = self.stake(bot, PayoutProbe::NotNeeded, now);
            Some(LadderLevel { bot: BotId::new(place)?, stake, level, levels })
        };
        self.bots.iter().enumerate().filter_map(ladder_level).collect()
    }

    /// Returns the next stakes that violate a bound, in bot order. Omits stakes that an open trade may still change.
    pub fn stake_violations(&self, now: Millis) -> Vec<StakeViolation> {
        let trouble = |(place, bot): (usize, &Bot)| {
            let id = BotId::new(place)?;
            let stake = self.stake(bot, PayoutProbe::NotNeeded, now);
            let (bound, figure) = self.find_violated_bound(id, stake)?;
            Some(StakeViolation { bot: id, stake, bound, value: figure })
        };
        self.bots.iter().enumerate().filter_map(trouble).collect()
    }

    fn find_violated_bound(&self, id: BotId, stake: Money) -> Option<(StakeBound, Money)> {
        let Self { limits, ledger, intents, .. } = self;
        // The end of an open trade may change the bot's stake and the balance.
        if intents.bot_trade_count(id) > 0 {
            return None;
        }
        let (free, equity) = (ledger.free_balance(), ledger.equity());
        let is_settled = intents.trade_count() == 0;
        let least = limits.minimum_stake;
        if stake < least {
            return is_settled.then_some((StakeBound::MinStake, least));
        }
        let own = self.names.get(id.index()).and_then(|name| limits.max_daily_loss(name, equity));
        let bounds = [
            (StakeBound::MaxStake, limits.largest_stake(), true),
            (StakeBound::MaxStakePercent, limits.max_stake_at(free), is_settled),
            (StakeBound::DailyLossLimit, limits.daily_loss_limit.amount_at(equity), is_settled),
            (StakeBound::BotDailyLossLimit, own, is_settled),
            (StakeBound::FreeBalance, Some(free), is_settled),
        ];
        let broken = |(bound, most, is_certain): (StakeBound, Option<Money>, bool)| {
            most.filter(|most| is_certain && stake > *most).map(|most| (bound, most))
        };
        bounds.into_iter().find_map(broken)
    }
}

impl Refusal {
    fn has_same_cause(&self, other: &Self) -> bool {
        let left = |refusal: &Self| refusal.remaining_and_stake.map(|(left, _)| left);
        let is_same = (self.rule, self.until, self.waits_for_trades, left(self))
            == (other.rule, other.until, other.waits_for_trades, left(other));
        is_same && (self.remaining_and_stake.is_some() || self.figures == other.figures)
    }

    fn describe(&self, bots: usize, scale: MoneyScale, now: Millis) -> String {
        let label = self.rule.label();
        let what = match self.remaining_and_stake {
            Some((left, stake)) => {
                let (left, stake) = (scale.format(left), scale.format(stake));
                let limit = if self.rule == Rule::InsufficientBalance { "free balance" } else { label };
                if bots > 1 {
                    format!("all next stakes ({stake} or more) exceed the remaining {left} of the {limit}")
                } else {
                    format!("the next stake of {stake} exceeds the remaining {left} of the {limit}")
                }
            }
            None if self.figures.is_empty() => label.to_owned(),
            None => format!("{label} ({})", self.figures),
        };
        if self.waits_for_trades {
            return format!("{what} until open trades end");
        }
        let until = self.until.map(|until| format!(" until {}", format_time(until, now)));
        let lifted = || self.rule.needs_operator().then(|| " until an operator resumes".to_owned());
        format!("{what}{}", until.or_else(lifted).unwrap_or_default())
    }
}

fn format_time(at: Millis, now: Millis) -> String {
    let Some(time) = DateTime::from_timestamp_millis(at.get()) else { return format!("{at} ms") };
    let has_seconds = at.get().rem_euclid(60_000) > 0;
    let pattern = match (at - now <= Millis::DAY, has_seconds) {
        (true, false) => "%H:%M UTC",
        (true, true) => "%H:%M:%S UTC",
        (false, _) => "%Y-%m-%d %H:%M UTC",
    };
    time.format(pattern).to_string()
}

/// The current level of a bot's ladder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LadderLevel {
    /// Bot that uses the ladder.
    pub bot: BotId,
    /// Next stake, given the trades that have ended.
    pub stake: Money,
    /// 1-based level of the next stake.
    pub level: u32,
    /// Number of levels of the ladder.
    pub levels: u32,
}

/// A bot's next stake, if it violates a bound and no open trade of the bot can still change it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StakeViolation {
    /// Bot whose next stake violates the bound.
    pub bot: BotId,
    /// Next stake of the bot.
    pub stake: Money,
    /// Bound that the stake violates.
    pub bound: StakeBound,
    /// Value of the violated bound.
    pub value: Money,
}

/// A minimum or maximum for stakes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StakeBound {
    /// `risk.min_stake`, rounded up to a multiple of `risk.stake_step`.
    MinStake,
    /// `risk.max_stake`.
    MaxStake,
    /// `risk.max_stake_percent` of the free balance.
    MaxStakePercent,
    /// The full daily loss limit, not reduced by losses: an amount or a percentage of the equity.
    DailyLossLimit,
    /// The bot's full daily loss limit, not reduced by losses: an amount or a percentage of the equity.
    BotDailyLossLimit,
    /// The free balance.
    FreeBalance,
}
