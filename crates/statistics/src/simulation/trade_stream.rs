//! Simulated trades with a known true edge.

use super::Dice;
use crate::statistics_error::{check_payout, check_probability};
use crate::{StatisticsError, TradeOutcome};
use statrs::distribution::{ContinuousCDF, Normal};
use std::ops::ControlFlow;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamDependence {
    Independent,
    /// Each trade is taken by this many bots at once, so all bots win or all bots lose.
    SameTrade(usize),
    /// Each trade lasts this number of steps of a random walk. One trade opens at each step.
    Overlapping(usize),
}

/// Generator of trades with a known edge, in percentage points of win rate above break-even. Each trade has one of
/// several payouts, which are equally likely.
#[derive(Clone, Debug, PartialEq)]
pub struct TradeStream {
    dependence: StreamDependence,
    payouts: Vec<PayoutOdds>,
    draw_share: f64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct PayoutOdds {
    payout_fraction: f64,
    win_probability: f64,
    /// Threshold that a standard normal variable exceeds with a probability equal to the win rate.
    threshold: f64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum StreamEvent {
    Opened { slot: usize, payout_fraction: f64 },
    Settled { slot: usize, payout_fraction: f64, outcome: TradeOutcome },
}

impl TradeStream {
    /// Creates a generator of trades. For a payout fraction of `b`, a trade that is not drawn wins with a probability
    /// of `1 / (1 + b) + points / 100`.
    pub fn new(
        dependence: StreamDependence,
        payout_fractions: &[f64],
        points: f64,
        draw_share: f64,
    ) -> Result<Self, StatisticsError> {
        let payouts: Vec<PayoutOdds> =
            payout_fractions.iter().map(|b| PayoutOdds::new(*b, points)).collect::<Result<_, _>>()?;
        let stream =
            Self { dependence, payouts, draw_share: check_probability("share of draws", draw_share)? };
        if stream.payouts.is_empty() || stream.max_open_trades() == 0 {
            return Err(StatisticsError::NoTrades);
        }
        Ok(stream)
    }

    /// Returns the maximum number of simultaneously open trades.
    pub const fn max_open_trades(&self) -> usize {
        match self.dependence {
            StreamDependence::Independent => 1,
            StreamDependence::SameTrade(trades) | StreamDependence::Overlapping(trades) => trades,
        }
    }

    pub fn play(&self, seed: u64, path: u64, trades: u64, visit: impl FnMut(StreamEvent) -> ControlFlow<()>) {
        let mut dice = Dice::new(seed, path);
        // A break means only that the listener stopped the stream.
        let _ = match self.dependence {
            StreamDependence::Independent => self.play_groups(&mut dice, 1, trades, visit),
            StreamDependence::SameTrade(size) => self.play_groups(&mut dice, size, trades, visit),
            StreamDependence::Overlapping(steps) => self.play_overlapping(&mut dice, steps, trades, visit),
        };
    }

    fn play_groups(
        &self,
        dice: &mut Dice,
        size: usize,
        trades: u64,
        mut listen: impl FnMut(StreamEvent) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        for _ in 0..trades / size as u64 {
            let paid = self.draw_payout(dice);
            let payout_fraction = paid.payout_fraction;
            for slot in 0..size {
                listen(StreamEvent::Opened { slot, payout_fraction })?;
            }
            let is_won = dice.random_bool(paid.win_probability);
            let outcome = self.random_outcome(dice, is_won);
            for slot in 0..size {
                listen(StreamEvent::Settled { slot, payout_fraction, outcome })?;
            }
        }
        ControlFlow::Continue(())
    }

    /// Plays overlapping trades on one random walk. A trade wins if the walk rises enough in the next `steps` steps.
    /// These steps are drawn after the open, so nothing known at the open affects the win probability.
    fn play_overlapping(
        &self,
        dice: &mut Dice,
        steps: usize,
        trades: u64,
        mut listen: impl FnMut(StreamEvent) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let scale = (steps as f64).sqrt();
        let mut open = vec![(0.0, self.payouts[0]); steps];
        let mut walk = 0.0;
        for trade in 0..trades + steps as u64 {
            let slot = (trade % steps as u64) as usize;
            if trade >= steps as u64 {
                let (start, PayoutOdds { payout_fraction, threshold, .. }) = open[slot];
                let outcome = self.random_outcome(dice, (walk - start) / scale > threshold);
                listen(StreamEvent::Settled { slot, payout_fraction, outcome })?;
            }
            if trade < trades {
                open[slot] = (walk, self.draw_payout(dice));
                listen(StreamEvent::Opened { slot, payout_fraction: open[slot].1.payout_fraction })?;
            }
            walk += dice.normal();
        }
        ControlFlow::Continue(())
    }

    fn draw_payout(&self, dice: &mut Dice) -> PayoutOdds {
        match &*self.payouts {
            [only] => *only,
            several => several[dice.index_below(several.len())],
        }
    }

    fn random_outcome(&self, dice: &mut Dice, is_won: bool) -> TradeOutcome {
        if self.draw_share > 0.0 && dice.random_bool(self.draw_share) {
            TradeOutcome::Draw
        } else if is_won {
            TradeOutcome::Won
        } else {
            TradeOutcome::Lost
        }
    }
}

impl PayoutOdds {
    fn new(payout_fraction: f64, points: f64) -> Result<Self, StatisticsError> {
        let win_rate = 1.0 / (1.0 + check_payout(payout_fraction)?) + points / 100.0;
        let win_probability = check_probability("win rate", win_rate)?;
        let threshold = Normal::standard().inverse_cdf(1.0 - win_probability);
        Ok(Self { payout_fraction, win_probability, threshold })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the win rate of decided trades, the share of draws, and the mean product of adjacent returns.
    fn observe(stream: &TradeStream, trades: u64) -> (f64, f64, f64) {
        let (mut won, mut lost, mut drawn, mut product, mut before) = (0.0, 0.0, 0.0, 0.0, 0.0);
        let mut opened = 0;
        stream.play(7, 0, trades, |event| {
            match event {
                StreamEvent::Opened { .. } => opened += 1,
                StreamEvent::Settled { outcome, .. } => {
                    match outcome {
                        TradeOutcome::Won => won += 1.0,
                        TradeOutcome::Lost => lost += 1.0,
                        TradeOutcome::Draw | TradeOutcome::Cancelled => drawn += 1.0,
                    }
                    let sign = outcome.unit_return(1.0);
                    product += sign * before;
                    before = sign;
                }
            }
            ControlFlow::Continue(())
        });
        let all = won + lost + drawn;
        assert_eq!((all as u64, opened), (trades, trades));
        (won / (won + lost), drawn / all, product / all)
    }

    #[test]
    fn stream_wins_at_its_configured_rate() {
        for (dependence, points, draw_share, expected) in [
            (StreamDependence::Independent, 0.0, 0.0, 0.540_541),
            (StreamDependence::Independent, 5.0, 0.1, 0.590_541),
            (StreamDependence::SameTrade(3), 2.0, 0.0, 0.560_541),
            (StreamDependence::Overlapping(4), -2.0, 0.0, 0.520_541),
            (StreamDependence::Overlapping(4), 20.0, 0.0, 0.740_541),
        ] {
            let stream = TradeStream::new(dependence, &[0.85], points, draw_share).unwrap();
            let (win_rate, drawn, _) = observe(&stream, 300_000);
            // Three standard errors of 300,000 trades, 100,000 groups or the chain of four: at most 0.0055.
            assert!((win_rate - expected).abs() < 0.0055, "{dependence:?}: {win_rate}, not {expected}");
            assert!((drawn - draw_share).abs() < 0.002, "{drawn}");
        }
    }

    #[test]
    fn neighbours_depend_on_each_other_as_they_overlap() {
        let product = |kind| observe(&TradeStream::new(kind, &[1.0], 0.0, 0.0).unwrap(), 300_000).2;
        assert!(product(StreamDependence::Independent).abs() < 0.01);
        assert!((product(StreamDependence::SameTrade(5)) - 0.8).abs() < 0.01); // four neighbours of five are twins
        // Half of the walk is shared: the correlation of the signs is 2 asin(1/2) / pi = 1/3.
        assert!((product(StreamDependence::Overlapping(2)) - 1.0 / 3.0).abs() < 0.01);
    }

    #[test]
    fn rejects_invalid_streams() {
        let new = |kind, payouts: &[f64], points, draw| TradeStream::new(kind, payouts, points, draw);
        assert_eq!(new(StreamDependence::Independent, &[], 0.0, 0.0), Err(StatisticsError::NoTrades));
        assert_eq!(new(StreamDependence::SameTrade(0), &[0.85], 0.0, 0.0), Err(StatisticsError::NoTrades));
        assert!(new(StreamDependence::Independent, &[0.0], 0.0, 0.0).is_err());
        assert!(new(StreamDependence::Independent, &[0.85], 50.0, 0.0).is_err());
        assert!(new(StreamDependence::Independent, &[0.85], 0.0, 1.1).is_err());
    }
}
