//! Confidence intervals for edge and win rate that may be checked after every trade (anytime-valid).

mod running;

pub use running::{OpenBets, WinRateLowerBound};

use crate::statistics_error::check_confidence;
use crate::verdict::ReturnsAtOpen;
use crate::{ConfidenceInterval, Overlap, StatisticsError, TradeOutcome};

/// Resolution of the interval ends: number of steps between -1 and 1. The ends are rounded outward.
const INTERVAL_STEPS: u32 = 1 << 16;

/// Anytime-valid intervals for the edge (mean return per unit of stake) and the win rate.
///
/// Report opens and settlements in the order in which they became known. Intervals are computed on demand.
///
/// ```
/// use candlewick_statistics::{ConfidenceSequence, TradeOutcome};
///
/// let mut sequence = ConfidenceSequence::new();
/// for _ in 0..60 {
///     let (first, second) = (sequence.on_open(), sequence.on_open()); // they overlap
///     sequence.on_settled(first, TradeOutcome::Won, 0.85);
///     sequence.on_settled(second, TradeOutcome::Won, 0.92);
/// }
/// let edge = sequence.edge(0.95)?;
/// assert!(0.0 < edge.lower && edge.upper <= 1.0);
/// # Ok::<(), candlewick_statistics::StatisticsError>(())
/// ```
///
/// # Guarantee
/// Suppose that all trades have the same mean return, given the payout and everything known at the open. With a
/// probability of at least `confidence`, the intervals after all trades then contain this mean simultaneously, however
/// often they are checked and however trades overlap. The same holds for the win rate of decided trades. If the mean
/// varies, some trade has a mean above the lower end and some trade has a mean below the upper end. Each of these two
/// statements has half the error rate. The ends may then cross.
///
/// # Method
/// For each candidate mean `m`, one capital of 1 bets that returns are above `m`, and another that they are below. A
/// bet of `lambda` gains `lambda (r - m)` in the first case and `lambda (m - r)` in the second. Until the trade
/// settles, `2 lambda` counts as lost, which is the largest possible loss for any candidate. A payout above 100 %
/// reduces the bet on lower returns. Each capital is the mean of eight capitals with constant `lambda`, divided by the
/// variance inflation of [`Overlap`] at the open. A capital that reaches `2 / (1 - confidence)` refutes its candidate
/// permanently, as in [`EdgeTest`](crate::EdgeTest). A bet returns at least 0 and is monotone in `m`, so capitals are
/// monotone too. Hence the candidates not refuted form an interval. Bisection finds its ends.
///
/// The interval is not a verdict. *Edge shown* usually comes before a lower end above 0, but neither implies the other.
///
/// Source: I. Waudby-Smith and A. Ramdas, *Estimating Means of Bounded Random Variables by Betting* (2024).
#[derive(Clone, Debug)]
pub struct ConfidenceSequence {
    events: Vec<SequenceEvent>,
    overlap: Overlap,
    free: Vec<u32>,
    places: u32,
    settled: u64,
    largest_payout: f64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum SequenceEvent {
    Opened { place: u32, scale: f64 },
    Settled { place: u32, outcome: TradeOutcome, payout_fraction: f64 },
}

#[derive(Clone, Debug, PartialEq)]
#[must_use = "a trade that is never settled stays lost"]
pub struct OpenTrade {
    place: u32,
    mark: ReturnsAtOpen,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Measure {
    Edge,
    /// Win rate of decided trades, as the mean of 1 for each win and -1 for each loss. Draws are excluded.
    WinRate,
}

impl Default for ConfidenceSequence {
    fn default() -> Self {
        Self::new()
    }
}

impl ConfidenceSequence {
    pub const fn new() -> Self {
        Self {
            events: Vec::new(),
            overlap: Overlap::new(),
            free: Vec::new(),
            places: 0,
            settled: 0,
            largest_payout: 1.0,
        }
    }

    pub fn on_open(&mut self) -> OpenTrade {
        let scale = 1.0 / self.overlap.variance_inflation();
        let place = self.free.pop().unwrap_or_else(|| {
            self.places += 1;
            self.places - 1
        });
        self.events.push(SequenceEvent::Opened { place, scale });
        OpenTrade { place, mark: self.overlap.on_open() }
    }

    /// Records the end of a trade that pays `payout_fraction` on a win. Cancelled trades are excluded.
    #[expect(clippy::needless_pass_by_value, reason = "a trade settles once")]
    pub fn on_settled(&mut self, trade: OpenTrade, outcome: TradeOutcome, payout_fraction: f64) {
        let OpenTrade { place, mark } = trade;
        self.overlap.on_settled(mark, outcome.unit_return(payout_fraction));
        self.events.push(SequenceEvent::Settled { place, outcome, payout_fraction });
        self.free.push(place);
        if outcome != TradeOutcome::Cancelled {
            self.settled += 1;
            self.largest_payout = self.largest_payout.max(payout_fraction);
        }
    }

    /// Returns the number of trades that were won, lost or drawn.
    pub const fn settled(&self) -> u64 {
        self.settled
    }

    /// Returns the interval of the mean return per unit of stake.
    /// The initial interval is -1 to the largest payout. If every mean is refuted, `lower` exceeds `upper`.
    pub fn edge(&self, confidence: f64) -> Result<ConfidenceInterval, StatisticsError> {
        let (lower, upper) = self.find_bounds(Measure::Edge, confidence)?;
        Ok(ConfidenceInterval { lower, upper: upper.unwrap_or(self.largest_payout) })
    }

    /// Returns the interval of the probability that a decided trade wins.
    /// The initial interval is 0 to 1. If every win rate is refuted, `lower` exceeds `upper`.
    pub fn win_rate(&self, confidence: f64) -> Result<ConfidenceInterval, StatisticsError> {
        let (lower, upper) = self.find_bounds(Measure::WinRate, confidence)?;
        let rate = |mean: f64| f64::midpoint(1.0, mean);
        Ok(ConfidenceInterval { lower: rate(lower), upper: rate(upper.unwrap_or(1.0)) })
    }

    /// Returns whether the interval of [`edge`](Self::edge) excludes this mean. Faster than computing the interval.
    pub fn excludes_edge(&self, mean: f64, confidence: f64) -> Result<bool, StatisticsError> {
        let goal = 2.0 / (1.0 - check_confidence(confidence)?);
        let is_refuted = |side| self.refutes(side, Measure::Edge, mean, goal);
        Ok(is_refuted(BetSide::Above) || is_refuted(BetSide::Below))
    }

    fn find_bounds(&self, measure: Measure, confidence: f64) -> Result<(f64, Option<f64>), StatisticsError> {
        let goal = 2.0 / (1.0 - check_confidence(confidence)?);
        let candidate = |step: u32| f64::from(step) / f64::from(INTERVAL_STEPS / 2) - 1.0;
        let is_refuted = |side, step| self.refutes(side, measure, candidate(step), goal);
        let lower = first_false_step(|step| is_refuted(BetSide::Above, step));
        let upper = first_false_step(|step| is_refuted(BetSide::Below, INTERVAL_STEPS - step));
        let lower_end = lower.checked_sub(1).map_or(-1.0, candidate);
        Ok((lower_end, upper.checked_sub(1).map(|step| candidate(INTERVAL_STEPS - step))))
    }

    fn refutes(&self, side: BetSide, measure: Measure, candidate: f64, goal: f64) -> bool {
        let mut capital = CandidateCapital::new(side, candidate, self.places as usize);
        self.events.iter().any(|event| {
            match *event {
                SequenceEvent::Opened { place, scale } => capital.on_open(place as usize, scale),
                SequenceEvent::Settled { place, outcome, payout_fraction } => {
                    match (measure.trade_return(outcome, payout_fraction), measure) {
                        (None, _) => capital.on_cancelled(place as usize),
                        (Some(r), Measure::Edge) => capital.on_settled(place as usize, r, payout_fraction),
                        (Some(r), Measure::WinRate) => capital.on_settled(place as usize, r, 1.0),
                    }
                }
            }
            capital.mean_capital() >= goal
        })
    }
}

impl Measure {
    const fn trade_return(self, outcome: TradeOutcome, payout_fraction: f64) -> Option<f64> {
        match (self, outcome) {
            (_, TradeOutcome::Cancelled) | (Self::WinRate, TradeOutcome::Draw) => None,
            (Self::Edge, _) => Some(outcome.unit_return(payout_fraction)),
            (Self::WinRate, _) => Some(outcome.unit_return(1.0)),
        }
    }
}

/// Returns the first step at which `holds` is false, `INTERVAL_STEPS + 1` if none. All later steps must also be false.
fn first_false_step(holds: impl Fn(u32) -> bool) -> u32 {
    let (mut first, mut end) = (0, INTERVAL_STEPS + 1);
    while first < end {
        let middle = first.midpoint(end);
        if holds(middle) { first = middle + 1 } else { end = middle }
    }
    first
}

/// Sizes of bets as fractions of a capital: Kelly fractions for edges from 0.25 to 32 % of the stake.
/// A trade loses at most `MAX_LOSS_MULTIPLE` times the bet, which is always less than the capital.
const BET_SIZES: [f64; 8] = [0.0025, 0.005, 0.01, 0.02, 0.04, 0.08, 0.16, 0.32];

/// Largest possible loss of a trade, as a multiple of the bet. The same loss is assumed for open trades of every
/// candidate, so that they do not change the ranking of the candidates by capital.
const MAX_LOSS_MULTIPLE: f64 = 2.0;

type CapitalPerBet = [f64; BET_SIZES.len()];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BetSide {
    Above,
    Below,
}

/// Capitals for bets against one candidate mean, one per bet size. Each starts at 1 and counts open bets as lost.
#[derive(Clone, Debug)]
struct CandidateCapital {
    side: BetSide,
    candidate: f64,
    capitals: CapitalPerBet,
    open: Vec<CapitalPerBet>,
}

impl CandidateCapital {
    fn new(side: BetSide, candidate: f64, places: usize) -> Self {
        Self { side, candidate, capitals: [1.0; BET_SIZES.len()], open: vec![[0.0; BET_SIZES.len()]; places] }
    }

    #[inline]
    fn on_open(&mut self, place: usize, scale: f64) {
        let bets = &mut self.open[place];
        for ((capital, bet), share) in self.capitals.iter_mut().zip(bets).zip(BET_SIZES) {
            *bet = *capital * share * scale;
            *capital -= *bet * MAX_LOSS_MULTIPLE;
        }
    }

    #[inline]
    fn on_settled(&mut self, place: usize, trade_return: f64, payout_fraction: f64) {
        let back = match self.side {
            BetSide::Above => MAX_LOSS_MULTIPLE + (trade_return - self.candidate),
            BetSide::Below => {
                let smaller = 2.0 / (1.0 + payout_fraction.max(1.0));
                MAX_LOSS_MULTIPLE + smaller * (self.candidate - trade_return)
            }
        };
        self.return_bet(place, back);
    }

    fn on_cancelled(&mut self, place: usize) {
        self.return_bet(place, MAX_LOSS_MULTIPLE);
    }

    #[inline]
    fn return_bet(&mut self, place: usize, back: f64) {
        for (capital, bet) in self.capitals.iter_mut().zip(&mut self.open[place]) {
            *capital += *bet * back;
            *bet = 0.0;
        }
    }

    #[inline]
    fn mean_capital(&self) -> f64 {
        self.capitals.iter().sum::<f64>() / BET_SIZES.len() as f64
    }
}

#[cfg(test)]
mod tests;
