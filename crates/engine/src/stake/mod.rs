//! Stake rules, one per file. A rule returns the next stake of a bot and is updated by the bot's trades.

mod excluded_trades;
mod given_up;
mod kelly;
mod martingale;
mod soros;

use crate::settings::is_default;
use crate::{EngineError, IntentId};
use candlewick_sdk::rust_decimal::Decimal;
use candlewick_sdk::{Money, MoneyScale, Outcome, Payout};
use kelly::Kelly;
use martingale::Martingale;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use soros::Soros;

/// Staking rule of a bot, such as `stake = { kind = "fixed", amount = 10.0 }`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum StakeSettings {
    /// A fixed amount.
    Fixed {
        /// Stake in the wallet's currency, such as `10.0`.
        #[schemars(with = "f64")]
        amount: Decimal,
    },
    /// A percentage of the free balance.
    Share {
        /// Percent of the free balance, such as `1.0`.
        percent: f64,
    },
    /// A stake that is multiplied by a factor after each loss, up to a number of levels.
    /// A win, or a loss on the last level, restarts the ladder. `gale` is an alias.
    #[serde(alias = "gale")]
    #[schemars(transform = add_gale_alias)]
    Martingale {
        /// Stake of the first level in the wallet's currency, such as `5.0`.
        #[schemars(with = "f64")]
        amount: Decimal,
        /// Factor between the stakes of consecutive levels, such as `2.2`.
        factor: f64,
        /// Number of levels, including the first stake, such as `2`. One gale means two levels.
        levels: u32,
        /// When to enter the next level after a trade that was not won. The default is `next_signal`.
        #[serde(default, skip_serializing_if = "is_default")]
        entry: LadderEntry,
        /// Behaviour when a level is rejected. The default is `wait`.
        #[serde(default, skip_serializing_if = "is_default")]
        if_refused: IfRefused,
    },
    /// First stake plus the profits of up to `wins` consecutive wins. A loss or one more win restarts the ladder.
    Soros {
        /// First stake in the wallet's currency, such as `5.0`.
        #[schemars(with = "f64")]
        amount: Decimal,
        /// Number of consecutive wins whose profit is staked again, such as `2`.
        wins: u32,
        /// Behaviour when a stake is rejected. The default is `wait`.
        #[serde(default, skip_serializing_if = "is_default")]
        if_refused: IfRefused,
    },
    /// A fraction of the Kelly stake, based on the lower bound of the win rate and the lowest recent payout.
    Kelly {
        /// Fraction of the full Kelly stake, above 0 and at most 1, such as `0.25`.
        fraction: f64,
        /// Number of initial trades at the minimum stake.
        #[serde(default = "default_kelly_floor_trades")]
        kelly_floor_trades: u32,
        /// Lower bound of the win rate that determines the stake.
        #[serde(default)]
        bound: KellyBound,
    },
}

/// When a ladder enters its next level after a trade that was not won.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LadderEntry {
    /// On the next signal of the bot's strategy.
    #[default]
    NextSignal,
    /// On the bot's next candle: the first candle that closes within one interval after the settlement is known.
    /// The trade repeats the previous direction and expiry. A signal of the strategy on that candle is ignored.
    NextCandle,
}

/// Behaviour of a ladder when a level is rejected.
///
/// A level is rejected if the venue declines its order, or if its stake is above `max_stake` or `max_stake_percent`.
/// With `entry = "next_candle"`, a level is also rejected if its candle is missing, or if another limit, a pause, the
/// trading hours or an open trade prevents the trade.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum IfRefused {
    /// The ladder stays on the level until a signal of the bot passes the rules.
    #[default]
    Wait,
    /// The ladder restarts at the first level.
    Reset,
}

fn add_gale_alias(schema: &mut schemars::Schema) {
    if let Some(kind) = schema.pointer_mut("/properties/kind") {
        *kind = serde_json::json!({ "type": "string", "enum": ["martingale", "gale"] });
    }
}

/// Lower bound of the win rate for Kelly stakes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum KellyBound {
    /// Confidence bound that is valid after every trade, even if trades overlap.
    /// The bot stakes the minimum unless the bound is above break-even.
    #[default]
    ConfidenceSequence,
    /// Wilson bound for independent trades and a single evaluation, the default in earlier journals.
    /// The bot stakes nothing unless the bound is above break-even, so most bots stop permanently.
    Wilson,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct StakeContext {
    /// Free balance, with open stakes counted as lost.
    pub(crate) free: Money,
    pub(crate) minimum: Money,
    /// Maximum number of open trades, at least 1.
    pub(crate) max_open_trades: u32,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(crate) enum Stake {
    Fixed {
        amount: Money,
    },
    Share {
        fraction: f64,
    },
    Martingale(Martingale),
    Soros(Soros),
    /// Boxed because [`Kelly`] is much larger than the other variants, and every signal reads a value of this type.
    Kelly(Box<Kelly>),
}

impl StakeSettings {
    /// Returns the behaviour when a ladder level is rejected.
    pub const fn if_refused(&self) -> IfRefused {
        match self {
            Self::Martingale { if_refused, .. } | Self::Soros { if_refused, .. } => *if_refused,
            Self::Fixed { .. } | Self::Share { .. } | Self::Kelly { .. } => IfRefused::Wait,
        }
    }

    /// Returns whether the ladder continues on the next candle instead of waiting for a signal.
    pub const fn enters_without_signal(&self) -> bool {
        matches!(self, Self::Martingale { entry: LadderEntry::NextCandle, .. })
    }

    /// Returns whether the next stake is larger after a loss.
    /// Many small wins of such a rule hide the risk of large losses.
    pub const fn climbs_after_losses(&self) -> bool {
        match self {
            Self::Martingale { .. } => true,
            Self::Fixed { .. } | Self::Share { .. } | Self::Soros { .. } | Self::Kelly { .. } => false,
        }
    }
}

impl Default for StakeSettings {
    fn default() -> Self {
        Self::Fixed { amount: Decimal::TEN }
    }
}

const fn default_kelly_floor_trades() -> u32 {
    200
}

impl Stake {
    pub(crate) fn new(settings: &StakeSettings, scale: MoneyScale, key: &str) -> Result<Self, EngineError> {
        let money = |amount: Decimal| positive_amount(scale, amount, key);
        match settings {
            StakeSettings::Fixed { amount } => Ok(Self::Fixed { amount: money(*amount)? }),
            StakeSettings::Share { percent } => {
                check_range(*percent, 0.0, 100.0, &format!("{key}.percent"))?;
                Ok(Self::Share { fraction: percent / 100.0 })
            }
            StakeSettings::Martingale { amount, factor, levels, .. } => {
                check_range(*factor, 1.0, 100.0, &format!("{key}.factor"))?;
                let help = "the first stake counts as a level, so one gale is levels = 2";
                check_count(*levels, &format!("{key}.levels"), help)?;
                Ok(Self::Martingale(Martingale::new(money(*amount)?, *factor, *levels)))
            }
            StakeSettings::Soros { amount, wins, .. } => {
                check_count(*wins, &format!("{key}.wins"), "consecutive wins whose profit is staked again")?;
                Ok(Self::Soros(Soros::new(money(*amount)?, *wins)))
            }
            StakeSettings::Kelly { fraction, kelly_floor_trades, bound } => {
                check_range(*fraction, 0.0, 1.0, &format!("{key}.fraction"))?;
                Ok(Self::Kelly(Box::new(Kelly::new(*fraction, *kelly_floor_trades, *bound))))
            }
        }
    }

    /// Continues from the state of a rule with the same settings. Returns `false` if the settings differ.
    pub(crate) fn resume_from(&mut self, kept: Self) -> bool {
        match (self, kept) {
            (Self::Fixed { amount }, Self::Fixed { amount: kept }) => *amount == kept,
            (Self::Share { fraction }, Self::Share { fraction: kept }) => *fraction == kept,
            (Self::Martingale(rule), Self::Martingale(kept)) => rule.resume_from(kept),
            (Self::Soros(rule), Self::Soros(kept)) => rule.resume_from(kept),
            (Self::Kelly(rule), Self::Kelly(kept)) => rule.resume_from(*kept),
            _ => false,
        }
    }

    /// Continues from a rule with other settings, as if this rule had seen the same trades.
    /// Returns `false` if the old state does not determine the new state, such as for a ladder with payout probes.
    pub(crate) fn migrate_from(&mut self, kept: Self) -> bool {
        match (self, kept) {
            (Self::Fixed { .. } | Self::Share { .. }, _) => true,
            (Self::Martingale(rule), Self::Martingale(kept)) => rule.migrate_from(&kept),
            (Self::Soros(rule), Self::Soros(kept)) => rule.migrate_from(&kept),
            (Self::Kelly(rule), Self::Kelly(kept)) => rule.migrate_from(*kept),
            (Self::Martingale(_) | Self::Soros(_) | Self::Kelly(_), _) => false,
        }
    }

    pub(crate) const fn depends_on_win_rate(&self) -> bool {
        matches!(self, Self::Kelly(_))
    }

    /// Returns whether the rule is a ladder. Payout probes do not move a ladder.
    pub(crate) const fn is_ladder(&self) -> bool {
        matches!(self, Self::Martingale(_) | Self::Soros(_))
    }

    /// Returns whether profits are added to the stake, so that rounding a stake affects later stakes.
    pub(crate) const fn adds_profits(&self) -> bool {
        matches!(self, Self::Soros(_))
    }

    pub(crate) fn restart_ladder(&mut self) {
        match self {
            Self::Martingale(rule) => rule.restart(),
            Self::Soros(rule) => rule.restart(),
            Self::Fixed { .. } | Self::Share { .. } | Self::Kelly(_) => {}
        }
    }

    pub(crate) fn give_up_ladder(&mut self, intent: IntentId) {
        match self {
            Self::Martingale(rule) => rule.give_up(intent),
            Self::Soros(rule) => rule.give_up(intent),
            Self::Fixed { .. } | Self::Share { .. } | Self::Kelly(_) => {}
        }
    }

    pub(crate) fn restore_ladder(&mut self, intent: IntentId) {
        match self {
            Self::Martingale(rule) => rule.restore(intent),
            Self::Soros(rule) => rule.restore(intent),
            Self::Fixed { .. } | Self::Share { .. } | Self::Kelly(_) => {}
        }
    }

    #[inline]
    pub(crate) fn round_next_stake(&mut self, rounded: impl FnOnce(Money) -> Money) {
        if let Self::Soros(rule) = self {
            rule.set_stake(rounded(rule.next()));
        }
    }

    pub(crate) fn first(&self, context: StakeContext) -> Money {
        match self {
            Self::Martingale(rule) => rule.first(),
            Self::Soros(rule) => rule.first(),
            Self::Fixed { .. } | Self::Share { .. } | Self::Kelly(_) => self.next(context),
        }
    }

    pub(crate) fn next(&self, context: StakeContext) -> Money {
        match self {
            Self::Fixed { amount } => *amount,
            Self::Share { fraction } => context.free.mul_rounded_down(*fraction),
            Self::Martingale(rule) => rule.next(),
            Self::Soros(rule) => rule.next(),
            Self::Kelly(rule) => rule.next(context),
        }
    }

    #[inline]
    pub(crate) fn on_decided(&mut self, intent: IntentId) {
        match self {
            Self::Fixed { .. } | Self::Share { .. } => {}
            Self::Martingale(rule) => rule.given_up = None,
            Self::Soros(rule) => rule.given_up = None,
            Self::Kelly(rule) => rule.on_decided(intent),
        }
    }

    pub(crate) fn exclude(&mut self, intent: IntentId) {
        match self {
            Self::Martingale(rule) => rule.excluded.add(intent),
            Self::Soros(rule) => rule.excluded.add(intent),
            Self::Fixed { .. } | Self::Share { .. } | Self::Kelly(_) => {}
        }
    }

    pub(crate) fn on_unopened(&mut self, intent: IntentId) {
        if let Self::Kelly(rule) = self {
            rule.on_unopened(intent);
        }
    }

    pub(crate) fn reset_evidence(&mut self) {
        if let Self::Kelly(rule) = self {
            rule.reset_evidence();
        }
    }

    pub(crate) fn on_settled(
        &mut self,
        intent: IntentId,
        (outcome, profit, payout): (Outcome, Money, Option<Payout>),
    ) {
        match self {
            Self::Fixed { .. } | Self::Share { .. } => {}
            Self::Martingale(rule) => rule.on_settled(intent, outcome),
            Self::Soros(rule) => rule.on_settled(intent, outcome, profit),
            Self::Kelly(rule) => rule.on_settled(intent, outcome, payout),
        }
    }

    /// Returns the 1-based martingale level of the next stake. Returns 1 for other rules.
    pub(crate) const fn level(&self) -> u32 {
        match self {
            Self::Martingale(rule) => rule.level(),
            Self::Fixed { .. } | Self::Share { .. } | Self::Soros(_) | Self::Kelly(_) => 1,
        }
    }

    pub(crate) const fn ladder_position(&self) -> Option<(u32, u32)> {
        match self {
            Self::Martingale(rule) => Some((rule.level(), rule.levels())),
            Self::Fixed { .. } | Self::Share { .. } | Self::Soros(_) | Self::Kelly(_) => None,
        }
    }

    pub(crate) fn level_stakes(&self) -> Vec<Money> {
        match self {
            Self::Martingale(rule) => rule.stakes().to_vec(),
            Self::Fixed { .. } | Self::Share { .. } | Self::Soros(_) | Self::Kelly(_) => Vec::new(),
        }
    }

    pub(crate) fn ladder_cost(&self) -> Option<LadderCost> {
        match self {
            Self::Fixed { .. } | Self::Share { .. } | Self::Kelly(_) | Self::Soros(_) => None,
            Self::Martingale(rule) => Some(rule.cost()),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LadderCost {
    pub(crate) total: Money,
    pub(crate) largest: Money,
}

fn positive_amount(scale: MoneyScale, amount: Decimal, key: &str) -> Result<Money, EngineError> {
    let key = format!("{key}.amount");
    let money = EngineError::exact_money(scale, amount, &key)?;
    if money.is_positive() { Ok(money) } else { Err(EngineError::setting(key, "a stake must be above 0")) }
}

fn check_count(value: u32, key: &str, help: &str) -> Result<(), EngineError> {
    if (1..=64).contains(&value) {
        return Ok(());
    }
    Err(EngineError::setting(key, format!("{value} is out of range; use a number from 1 to 64 ({help})")))
}

fn check_range(value: f64, above: f64, most: f64, key: &str) -> Result<(), EngineError> {
    if value > above && value <= most {
        return Ok(());
    }
    Err(EngineError::setting(
        key,
        format!("{value} is out of range; use a number above {above} and at most {most}"),
    ))
}
