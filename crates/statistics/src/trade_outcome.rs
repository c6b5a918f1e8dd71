//! How a trade ended, as far as statistics care.

/// How a trade ended. Whoever counts draws as losses says [`TradeOutcome::Lost`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TradeOutcome {
    /// The stake came back with the payout.
    Won,
    /// The stake is gone.
    Lost,
    /// The stake came back: a return of 0, and a trade all the same.
    Draw,
    /// The stake came back and nothing was risked: no evidence of anything.
    Cancelled,
}

impl TradeOutcome {
    /// The return per unit of stake: the payout fraction, -1, or 0.
    pub const fn to_return(self, payout_fraction: f64) -> f64 {
        match self {
            Self::Won => payout_fraction,
            Self::Lost => -1.0,
            Self::Draw | Self::Cancelled => 0.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_wins_earn_and_only_losses_cost() {
        for (outcome, expected) in [
            (TradeOutcome::Won, 0.85),
            (TradeOutcome::Lost, -1.0),
            (TradeOutcome::Draw, 0.0),
            (TradeOutcome::Cancelled, 0.0),
        ] {
            assert_eq!(outcome.to_return(0.85), expected, "{outcome:?}");
        }
    }
}
