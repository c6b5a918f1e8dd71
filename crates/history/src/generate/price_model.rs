//! Price models: changing regimes, one fixed rule, or a planted edge.

use super::calendar;
use super::dice::Dice;
use super::planted_edge::PlantedEdge;
use super::regime::Regime;
use super::regime_state::{Outlook, RegimeState};
use super::step::STEPS_PER_MINUTE;
use crate::AssetType;
use candlewick_sdk::Millis;

const SPELL_MINUTES: (u32, u32) = (60, 240);

pub(super) enum PriceModel {
    Changing(RegimeState),
    Rule(Rule),
    Planted(PlantedEdge),
}

pub(super) struct Rule {
    /// Drift in standard deviations, in the direction of the current spell.
    lean: f64,
    pull: f64,
    home: f64,
    minutes_left: u32,
    direction: f64,
}

impl PriceModel {
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

    /// Returns the next minute's outlook. `usual` is an average deviation in ticks.
    pub(super) fn outlook(&mut self, price: f64, usual: f64, dice: &mut Dice) -> Outlook {
        match self {
            Self::Changing(state) => state.outlook(price, usual, dice),
            Self::Rule(rule) => rule.outlook(price, usual, dice),
            Self::Planted(_) => Outlook { deviation: usual, drift: 0.0 },
        }
    }

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

    /// Updates the volatility by the deviation from the outlook, in standard deviations.
    pub(super) fn remember(&mut self, surprise: f64) {
        match self {
            Self::Changing(state) => state.remember(surprise),
            Self::Rule(_) | Self::Planted(_) => {}
        }
    }

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
