//! How a price moves: by a market's changing regimes, by one rule all the time, or by a planted edge.

use super::calendar;
use super::dice::Dice;
use super::planted_edge::PlantedEdge;
use super::regime::Regime;
use super::regime_state::{Outlook, RegimeState};
use super::step::STEPS_PER_MINUTE;
use crate::AssetType;
use candlewick_sdk::Millis;

/// The shortest and the longest spell of a trend, in minutes.
const SPELL_MINUTES: (u32, u32) = (60, 240);

/// How a price moves.
pub(super) enum PriceModel {
    /// Regimes that change.
    Changing(RegimeState),
    /// One rule.
    Rule(Rule),
    /// Spans whose directions are drawn first.
    Planted(PlantedEdge),
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

impl PriceModel {
    /// A market that begins at `price` ticks.
    pub(super) fn new(regime: Regime, price: f64) -> Self {
        let rule = |lean, pull| Self::Rule(Rule { lean, pull, home: price, minutes_left: 0, direction: 1.0 });
        match regime {
            Regime::Mixed => Self::Changing(RegimeState::new(price)),
            Regime::RandomWalk => rule(0.0, 0.0),
            Regime::Trend { lean } => rule(lean, 0.0),
            Regime::MeanReversion { pull } => rule(0.0, pull),
            Regime::Edge { chance, span } => {
                Self::Planted(PlantedEdge::new(chance, (span.length().get() / Millis::MINUTE.get()) as usize))
            }
        }
    }

    /// The outlook of the next minute from `price`, where the deviation of an average minute is `usual`, in ticks.
    pub(super) fn outlook(&mut self, price: f64, usual: f64, dice: &mut Dice) -> Outlook {
        match self {
            Self::Changing(state) => state.outlook(price, usual, dice),
            Self::Rule(rule) => rule.outlook(price, usual, dice),
            Self::Planted(_) => Outlook { deviation: usual, drift: 0.0 },
        }
    }

    /// The planned closes of the minute's steps, in ticks, where an edge is planted. `volatility` is the deviation of an
    /// average minute in ticks.
    pub(super) fn planned(
        &mut self,
        price: i64,
        volatility: f64,
        asset_type: AssetType,
        minute: Millis,
        dice: &mut Dice,
    ) -> Option<[i64; STEPS_PER_MINUTE]> {
        let Self::Planted(edge) = self else { return None };
        let deviation = |ahead: usize| {
            volatility * calendar::activity(asset_type, minute + Millis::MINUTE * ahead as i64)
        };
        Some(edge.minute(price, deviation, dice))
    }

    /// Learns how far the minute went beside its outlook, in standard deviations.
    pub(super) fn remember(&mut self, surprise: f64) {
        match self {
            Self::Changing(state) => state.remember(surprise),
            Self::Rule(_) | Self::Planted(_) => {}
        }
    }

    /// The market was closed: what comes does not depend on what was.
    pub(super) fn forget(&mut self) {
        match self {
            Self::Changing(state) => state.forget(),
            Self::Rule(rule) => rule.minutes_left = 0,
            Self::Planted(_) => {}
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
