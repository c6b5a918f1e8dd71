//! Running lower bound of the win rate, updated with each trade.

use super::{BET_SIZES, CapitalPerBet, MAX_LOSS_MULTIPLE};
use crate::statistics_error::check_confidence;
use crate::verdict::ReturnsAtOpen;
use crate::{Overlap, StatisticsError, TradeOutcome};
use serde::{Deserialize, Serialize};

const GRID_SIZE: usize = 64;
const FIRST_RATE: f64 = 0.50;
const RATE_STEP: f64 = 0.004;

type BetGrid = [CapitalPerBet; GRID_SIZE];

/// Lower bound of the win rate. It may be checked, and used for stakes, after every trade.
///
/// The bound is the one-sided bound of [`ConfidenceSequence`](super::ConfidenceSequence) for win rates of 50 to 75.2 %
/// in steps of 0.4 points. It is 0 until a win rate of 50 % is refuted. Each open trade needs 4 KB of memory.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct WinRateLowerBound {
    goal: f64,
    refuted: usize,
    #[serde(with = "figures")]
    capitals: Box<BetGrid>,
    overlap: Overlap,
    #[serde(skip)]
    spare: Vec<Box<BetGrid>>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[must_use = "a trade that is never settled stays lost"]
pub struct OpenBets {
    #[serde(with = "figures")]
    bets: Box<BetGrid>,
    mark: ReturnsAtOpen,
}

impl WinRateLowerBound {
    pub fn new(confidence: f64) -> Result<Self, StatisticsError> {
        let goal = 1.0 / (1.0 - check_confidence(confidence)?);
        let capitals = Box::new([[1.0; BET_SIZES.len()]; GRID_SIZE]);
        Ok(Self { goal, refuted: 0, capitals, overlap: Overlap::new(), spare: Vec::new() })
    }

    pub fn on_open(&mut self) -> OpenBets {
        let scale = 1.0 / self.overlap.variance_inflation();
        let mut bets = self.spare.pop().unwrap_or_else(|| Box::new([[0.0; BET_SIZES.len()]; GRID_SIZE]));
        for candidate in self.refuted..GRID_SIZE {
            let bets = bets[candidate].iter_mut();
            for ((capital, bet), share) in self.capitals[candidate].iter_mut().zip(bets).zip(BET_SIZES) {
                *bet = *capital * share * scale;
                *capital -= *bet * MAX_LOSS_MULTIPLE;
            }
        }
        OpenBets { bets, mark: self.overlap.on_open() }
    }

    /// Records the end of a trade. Drawn and cancelled trades are excluded.
    pub fn on_settled(&mut self, open: OpenBets, outcome: TradeOutcome) {
        let OpenBets { bets, mark } = open;
        self.overlap.on_settled(mark, outcome.unit_return(1.0));
        for candidate in self.refuted..GRID_SIZE {
            let gain = match outcome {
                TradeOutcome::Won => 1.0 - candidate_mean(candidate),
                TradeOutcome::Lost => -1.0 - candidate_mean(candidate),
                TradeOutcome::Draw | TradeOutcome::Cancelled => 0.0,
            };
            for (capital, bet) in self.capitals[candidate].iter_mut().zip(bets[candidate]) {
                *capital += bet * (MAX_LOSS_MULTIPLE + gain);
            }
        }
        self.spare.push(bets);
        while self.refuted < GRID_SIZE && self.mean_capital(self.refuted) >= self.goal {
            self.refuted += 1;
        }
    }

    /// Returns the largest refuted win rate of the grid, 0 if none is refuted.
    pub fn lower_bound(&self) -> f64 {
        self.refuted.checked_sub(1).map_or(0.0, candidate_rate)
    }

    fn mean_capital(&self, candidate: usize) -> f64 {
        self.capitals[candidate].iter().sum::<f64>() / BET_SIZES.len() as f64
    }
}

fn candidate_rate(candidate: usize) -> f64 {
    RATE_STEP.mul_add(candidate as f64, FIRST_RATE)
}

fn candidate_mean(candidate: usize) -> f64 {
    2.0 * candidate_rate(candidate) - 1.0
}

/// Serialization of the grid as a list, because serde does not support arrays of this length.
mod figures {
    use super::{BetGrid, CapitalPerBet};
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<S: Serializer>(figures: &BetGrid, serializer: S) -> Result<S::Ok, S::Error> {
        figures.as_slice().serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Box<BetGrid>, D::Error> {
        let figures = Vec::<CapitalPerBet>::deserialize(deserializer)?;
        figures.into_boxed_slice().try_into().map_err(|figures: Box<[CapitalPerBet]>| {
            Error::invalid_length(figures.len(), &"one for each candidate")
        })
    }
}
