//! Where the next minute goes: by a market's regimes, by one rule all the time, or by a plan.

use super::calendar;
use super::dice::Dice;
use super::plan::Plan;
use super::regime::Regime;
use super::regime_state::{Outlook, RegimeState};
use crate::AssetType;
use candlewick_sdk::Millis;

/// The shortest and the longest spell of a trend, in minutes.
const SPELL_MINUTES: (u32, u32) = (60, 240);

/// The state of a regime.
pub(super) enum Course {
    /// Changing that change.
    Changing(RegimeState),
    /// One rule.
    Rule(Rule),
    /// Spans whose directions are planned.
    Planned(Plan),
}

/// A minute has a drift, or reverts to a mean.
pub(super) struct Rule {
    /// In standard deviations, in the direction of the spell.
    lean: f64,
    pull: f64,
    /// The first price, in ticks.
    home: f64,
    minutes_left: u32,
    direction: f64,
}

impl Course {
    /// A market that begins at `price` ticks.
    pub(super) fn new(regime: Regime, price: f64) -> Self {
        let rule = |lean, pull| Self::Rule(Rule { lean, pull, home: price, minutes_left: 0, direction: 1.0 });
        match regime {
            Regime::Mixed => Self::Changing(RegimeState::new(price)),
            Regime::RandomWalk => rule(0.0, 0.0),
            Regime::Trend { lean } => rule(lean, 0.0),
            Regime::MeanReversion { pull } => rule(0.0, pull),
            Regime::Edge { chance, span } => {
                Self::Planned(Plan::new(chance, (span.length().get() / Millis::MINUTE.get()) as usize))
            }
        }
    }

    /// The outlook of the next minute from `price`, where the deviation of an average minute is `usual`, in ticks.
    pub(super) fn outlook(&mut self, price: f64, usual: f64, dice: &mut Dice) -> Outlook {
        match self {
            Self::Changing(state) => state.outlook(price, usual, dice),
            Self::Rule(rule) => rule.outlook(price, usual, dice),
            Self::Planned(_) => Outlook { deviation: usual, drift: 0.0 },
        }
    }

    /// The planned closes of the minute's steps, in ticks, where there is a plan. `volatility` is the deviation of an
    /// average minute in ticks.
    pub(super) fn planned(
        &mut self,
        price: i64,
        volatility: f64,
        asset_type: AssetType,
        minute: Millis,
        dice: &mut Dice,
    ) -> Option<[i64; super::walk::STEPS_PER_MINUTE]> {
        let Self::Planned(plan) = self else { return None };
        let deviation = |ahead: usize| {
            volatility * calendar::activity(asset_type, minute + Millis::MINUTE * ahead as i64)
        };
        Some(plan.minute(price, deviation, dice))
    }

    /// Learns how far the minute went beside its outlook, in standard deviations.
    pub(super) fn remember(&mut self, surprise: f64) {
        match self {
            Self::Changing(state) => state.remember(surprise),
            Self::Rule(_) | Self::Planned(_) => {}
        }
    }

    /// The market was closed: what comes is another story.
    pub(super) fn forget(&mut self) {
        match self {
            Self::Changing(state) => state.forget(),
            Self::Rule(rule) => rule.minutes_left = 0,
            Self::Planned(_) => {}
        }
    }
}

impl Rule {
    fn outlook(&mut self, price: f64, usual: f64, dice: &mut Dice) -> Outlook {
        if self.minutes_left == 0 {
            self.minutes_left = dice.between(SPELL_MINUTES.0, SPELL_MINUTES.1);
            self.direction = if dice.share() < 0.5 { 1.0 } else { -1.0 };
        }
        self.minutes_left -= 1;
        let drift = usual * self.lean * self.direction + (self.home - price) * self.pull;
        Outlook { deviation: usual, drift }
    }
}
