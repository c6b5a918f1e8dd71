//! Trade outcomes as seen by statistics.

/// Outcome of a trade. Pass [`TradeOutcome::Lost`] if draws count as losses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TradeOutcome {
    Won,
    Lost,
    /// The stake came back: a trade with a return of 0.
    Draw,
    /// The stake came back and was never at risk: no evidence.
    Cancelled,
}

impl TradeOutcome {
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
