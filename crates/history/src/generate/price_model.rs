//! Models of price movements: changing regimes, a fixed drift, or a planted edge.

use super::walk::STEPS_PER_MINUTE;
use super::{Dice, Regime, activity};
use crate::AssetType;
use candlewick_sdk::Millis;

const TREND_MINUTES: (u32, u32) = (60, 240);

pub(super) enum PriceModel {
    Changing(RegimeState),
    Fixed(FixedDrift),
    Planted(PlantedEdge),
}

pub(super) struct FixedDrift {
    /// Drift per minute in standard deviations, in the direction of the current trend.
    lean: f64,
    pull: f64,
    home: f64,
    minutes_left: u32,
    direction: f64,
}

impl PriceModel {
    pub(super) fn new(regime: Regime, home: f64) -> Self {
        let new = |lean, pull| Self::Fixed(FixedDrift { lean, pull, home, minutes_left: 0, direction: 1.0 });
        match regime {
            Regime::Mixed => Self::Changing(RegimeState::new(home)),
            Regime::RandomWalk => new(0.0, 0.0),
            Regime::Trend { lean } => new(lean, 0.0),
            Regime::MeanReversion { pull } => new(0.0, pull),
            Regime::Edge { chance, span } => {
                Self::Planted(PlantedEdge::new(chance, (span.length().get() / Millis::MINUTE.get()) as usize))
            }
        }
    }

    /// Returns the next minute's expected move. `usual` is the usual standard deviation of one-minute moves, in ticks.
    pub(super) fn expected_move(&mut self, price: f64, usual: f64, dice: &mut Dice) -> ExpectedMove {
        match self {
            Self::Changing(state) => state.expected_move(price, usual, dice),
            Self::Fixed(drift) => drift.expected_move(price, usual, dice),
            Self::Planted(_) => ExpectedMove { deviation: usual, drift: 0.0 },
        }
    }

    pub(super) fn planned_closes(
        &mut self,
        price: i64,
        volatility: f64,
        asset_type: AssetType,
        minute: Millis,
        dice: &mut Dice,
    ) -> Option<[i64; STEPS_PER_MINUTE]> {
        let Self::Planted(edge) = self else { return None };
        let deviation = |n: usize| volatility * activity(asset_type, minute + Millis::MINUTE * n as i64);
        Some(edge.next_minute(price, deviation, dice))
    }

    /// Updates the volatility. `surprise` is the deviation from the expected move, in standard deviations.
    pub(super) fn update_volatility(&mut self, surprise: f64) {
        match self {
            Self::Changing(state) => state.update_volatility(surprise),
            Self::Fixed(_) | Self::Planted(_) => {}
        }
    }

    pub(super) fn reset(&mut self) {
        match self {
            Self::Changing(state) => state.reset(),
            Self::Fixed(drift) => drift.minutes_left = 0,
            Self::Planted(_) => {}
        }
    }
}

impl FixedDrift {
    fn expected_move(&mut self, price: f64, usual: f64, dice: &mut Dice) -> ExpectedMove {
        if self.minutes_left == 0 {
            self.minutes_left = dice.between(TREND_MINUTES.0, TREND_MINUTES.1);
            self.direction = if dice.uniform() < 0.5 { 1.0 } else { -1.0 };
        }
        self.minutes_left -= 1;
        let drift = usual * self.lean * self.direction + (self.home - price) * self.pull;
        ExpectedMove { deviation: usual, drift }
    }
}

pub(super) struct PlantedEdge {
    chance: f64,
    minutes: usize,
    direction: i64,
    /// Planned closes of the remaining price steps in the span, in ticks. The next step is the last element.
    ahead: Vec<i64>,
}

impl PlantedEdge {
    pub(super) fn new(chance: f64, minutes: usize) -> Self {
        Self { chance, minutes, direction: 1, ahead: Vec::with_capacity(minutes * STEPS_PER_MINUTE) }
    }

    /// Returns the closes of the price steps in the next minute. At the start of a span, plans the whole span.
    pub(super) fn next_minute(
        &mut self,
        price: i64,
        deviation: impl Fn(usize) -> f64,
        dice: &mut Dice,
    ) -> [i64; STEPS_PER_MINUTE] {
        if self.ahead.is_empty() {
            self.plan_span_closes(price, deviation, dice);
        }
        std::array::from_fn(|_| self.ahead.pop().unwrap_or(price))
    }

    fn plan_span_closes(&mut self, price: i64, deviation: impl Fn(usize) -> f64, dice: &mut Dice) {
        if dice.uniform() >= self.chance {
            self.direction = -self.direction;
        }
        let mut moved = 0.0;
        let path: Vec<f64> = (0..self.minutes * STEPS_PER_MINUTE)
            .map(|step| {
                let reach = deviation(step / STEPS_PER_MINUTE) / (STEPS_PER_MINUTE as f64).sqrt();
                moved += reach * dice.normal();
                moved
            })
            .collect();
        // A path with the wrong final sign is mirrored. It stays a random walk, as its mirror image is equally likely.
        let mirror = if (moved < 0.0) == (self.direction < 0) { 1.0 } else { -1.0 };
        self.ahead.extend(path.iter().rev().map(|moved| price + (moved * mirror).round() as i64));
        if let Some(last) = self.ahead.first_mut().filter(|last| (**last - price).signum() != self.direction)
        {
            *last = price + self.direction;
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Phase {
    weight: u32,
    reach: f64,
    /// Drift per minute in standard deviations, with a random sign.
    lean: f64,
    /// Mean reversion per minute, as a fraction of the distance to the phase's first price.
    pull: f64,
    minutes: (u32, u32),
}

const CALM: Phase = Phase { weight: 40, reach: 0.65, lean: 0.0, pull: 0.0, minutes: (60, 300) };
const BUSY: Phase = Phase { weight: 25, reach: 1.35, lean: 0.0, pull: 0.0, minutes: (45, 180) };
const TRENDING: Phase = Phase { weight: 20, reach: 1.0, lean: 0.08, pull: 0.0, minutes: (60, 240) };
const REVERTING_BURST: Phase = Phase { weight: 15, reach: 1.9, lean: 0.0, pull: 0.15, minutes: (10, 40) };
const PHASES: [Phase; 4] = [CALM, BUSY, TRENDING, REVERTING_BURST];

/// Weight of the long-run variance in the GARCH(1,1) model (T. Bollerslev, Journal of Econometrics 31, 1986).
const LONG_RUN_WEIGHT: f64 = 0.03;
const MOVE_WEIGHT: f64 = 0.12;
const MEMORY_WEIGHT: f64 = 0.85;
const VARIANCE_RANGE: (f64, f64) = (0.15, 8.0);

/// Weak pull towards the first price: it bounds the price over years and is negligible over hours.
const HOME_PULL: f64 = 1.0 / 20_000.0;

pub(super) struct RegimeState {
    phase: Phase,
    minutes_left: u32,
    lean: f64,
    anchor: f64,
    home: f64,
    /// Variance relative to the average variance.
    variance: f64,
}

/// Expected move of the next minute: standard deviation and drift, in ticks.
#[derive(Clone, Copy, Debug)]
pub(super) struct ExpectedMove {
    pub(super) deviation: f64,
    pub(super) drift: f64,
}

impl RegimeState {
    pub(super) fn new(price: f64) -> Self {
        Self { phase: CALM, minutes_left: 0, lean: 0.0, anchor: price, home: price, variance: 1.0 }
    }

    pub(super) fn expected_move(&mut self, price: f64, usual: f64, dice: &mut Dice) -> ExpectedMove {
        if self.minutes_left == 0 {
            self.start_phase(price, dice);
        }
        self.minutes_left -= 1;
        let deviation = usual * self.phase.reach * self.variance.sqrt();
        let back = (self.anchor - price) * self.phase.pull + (self.home - price) * HOME_PULL;
        ExpectedMove { deviation, drift: deviation * self.lean + back }
    }

    pub(super) fn update_volatility(&mut self, surprise: f64) {
        let next = LONG_RUN_WEIGHT + self.variance * (MOVE_WEIGHT * surprise * surprise + MEMORY_WEIGHT);
        self.variance = next.clamp(VARIANCE_RANGE.0, VARIANCE_RANGE.1);
    }

    pub(super) fn reset(&mut self) {
        self.minutes_left = 0;
        self.variance = 1.0;
    }

    fn start_phase(&mut self, price: f64, dice: &mut Dice) {
        let total: u32 = PHASES.iter().map(|phase| phase.weight).sum();
        let mut drawn = dice.between(0, total - 1);
        for phase in PHASES {
            if drawn < phase.weight {
                self.phase = phase;
                break;
            }
            drawn -= phase.weight;
        }
        let (shortest, longest) = self.phase.minutes;
        self.minutes_left = dice.between(shortest, longest);
        self.lean = if dice.uniform() < 0.5 { self.phase.lean } else { -self.phase.lean };
        self.anchor = price;
    }
}
