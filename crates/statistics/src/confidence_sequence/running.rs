//! The lower end of the win rate, kept up with every trade.

use super::capital::{BETS, Capitals, RISK};
use crate::statistics_error::check_confidence;
use crate::verdict::OverlapMark;
use crate::{Overlap, StatisticsError, TradeOutcome};
use serde::{Deserialize, Serialize};

/// How many candidates there are.
const CANDIDATES: usize = 64;
/// The first of them, and how far they are apart.
const FIRST: f64 = 0.50;
const STEP: f64 = 0.004;

/// One figure for each candidate and bet.
type Figures = [Capitals; CANDIDATES];

/// A one-sided lower end of the win rate that may be looked at, and staked by, after every trade: that of
/// [`ConfidenceSequence`](super::ConfidenceSequence) for one side only, on a grid of candidates from 50 to 75.2 %, 0.4 points
/// apart. Its memory does not grow with the trades, only with those that are open at once: 4 KB each, kept for later ones.
///
/// Until 50 % is refuted the end is 0: below, no stake is worth it at a payout of up to 100 %.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RunningWinRate {
    goal: f64,
    /// How many candidates were refuted, from below.
    refuted: usize,
    #[serde(with = "figures")]
    capitals: Box<Figures>,
    overlap: Overlap,
    #[serde(skip)]
    spare: Vec<Box<Figures>>,
}

/// What was staked on a trade against each candidate: hand it back when the trade settles.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[must_use = "a trade that is never settled stays lost"]
pub struct OpenBets {
    #[serde(with = "figures")]
    bets: Box<Figures>,
    mark: OverlapMark,
}

impl RunningWinRate {
    /// No trade seen; a one-sided `confidence`.
    ///
    /// # Errors
    /// [`StatisticsError::NotAConfidence`] unless `0 < confidence < 1`.
    pub fn new(confidence: f64) -> Result<Self, StatisticsError> {
        let goal = 1.0 / (1.0 - check_confidence(confidence)?);
        let capitals = Box::new([[1.0; BETS.len()]; CANDIDATES]);
        Ok(Self { goal, refuted: 0, capitals, overlap: Overlap::new(), spare: Vec::new() })
    }

    /// A trade was opened.
    pub fn on_open(&mut self) -> OpenBets {
        let scale = 1.0 / self.overlap.variance_inflation();
        let mut bets = self.spare.pop().unwrap_or_else(|| Box::new([[0.0; BETS.len()]; CANDIDATES]));
        for candidate in self.refuted..CANDIDATES {
            let bets = bets[candidate].iter_mut();
            for ((capital, bet), share) in self.capitals[candidate].iter_mut().zip(bets).zip(BETS) {
                *bet = *capital * share * scale;
                *capital -= *bet * RISK;
            }
        }
        OpenBets { bets, mark: self.overlap.on_open() }
    }

    /// A trade ended. One that was drawn or cancelled is left out.
    pub fn on_settled(&mut self, open: OpenBets, outcome: TradeOutcome) {
        let OpenBets { bets, mark } = open;
        self.overlap.on_settled(mark, outcome.to_return(1.0));
        for candidate in self.refuted..CANDIDATES {
            let gain = match outcome {
                TradeOutcome::Won => 1.0 - mean_of(candidate),
                TradeOutcome::Lost => -1.0 - mean_of(candidate),
                TradeOutcome::Draw | TradeOutcome::Cancelled => 0.0,
            };
            for (capital, bet) in self.capitals[candidate].iter_mut().zip(bets[candidate]) {
                *capital += bet * (RISK + gain);
            }
        }
        self.spare.push(bets);
        while self.refuted < CANDIDATES && self.total(self.refuted) >= self.goal {
            self.refuted += 1;
        }
    }

    /// The lower end: the largest candidate that was refuted, 0 while none was.
    pub fn lower_end(&self) -> f64 {
        self.refuted.checked_sub(1).map_or(0.0, rate_of)
    }

    fn total(&self, candidate: usize) -> f64 {
        self.capitals[candidate].iter().sum::<f64>() / BETS.len() as f64
    }
}

fn rate_of(candidate: usize) -> f64 {
    STEP.mul_add(candidate as f64, FIRST)
}

/// The mean of 1 for a win and -1 for a loss at this rate.
fn mean_of(candidate: usize) -> f64 {
    2.0 * rate_of(candidate) - 1.0
}

/// As a list: there are more than serde knows arrays of.
mod figures {
    use super::{Capitals, Figures};
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<S: Serializer>(figures: &Figures, serializer: S) -> Result<S::Ok, S::Error> {
        figures.as_slice().serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Box<Figures>, D::Error> {
        let figures = Vec::<Capitals>::deserialize(deserializer)?;
        figures.into_boxed_slice().try_into().map_err(|figures: Box<[Capitals]>| {
            Error::invalid_length(figures.len(), &"one for each candidate")
        })
    }
}
