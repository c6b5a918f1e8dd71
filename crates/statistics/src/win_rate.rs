//! Win rate of decided trades.

use crate::StatisticsError;

/// Maximum number of decided trades; all results are exact up to here.
pub const MAX_TRADES: u64 = 1_000_000_000;

/// Wins among decided trades; at least one trade is decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WinRate {
    won: u64,
    lost: u64,
}

impl WinRate {
    /// Creates a win rate from counts; draws and cancelled trades belong to neither.
    pub fn new(won: u64, lost: u64) -> Result<Self, StatisticsError> {
        match won.saturating_add(lost) {
            0 => Err(StatisticsError::NoTrades),
            1..=MAX_TRADES => Ok(Self { won, lost }),
            trades => Err(StatisticsError::TooManyTrades { trades, most: MAX_TRADES }),
        }
    }

    pub const fn won(self) -> u64 {
        self.won
    }

    pub const fn decided(self) -> u64 {
        self.won + self.lost
    }

    pub fn to_fraction(self) -> f64 {
        self.won as f64 / self.decided() as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(won: u64, lost: u64, expected: &Result<f64, StatisticsError>) {
        assert_eq!(&WinRate::new(won, lost).map(WinRate::to_fraction), expected);
    }

    #[test]
    fn a_win_rate_is_won_over_decided() {
        check(3, 1, &Ok(0.75));
        check(0, 5, &Ok(0.0));
        check(5, 0, &Ok(1.0));
        check(MAX_TRADES, 0, &Ok(1.0));
    }

    #[test]
    fn counts_without_a_rate_are_refused() {
        check(0, 0, &Err(StatisticsError::NoTrades));
        let too_many = |trades| Err(StatisticsError::TooManyTrades { trades, most: MAX_TRADES });
        check(MAX_TRADES, 1, &too_many(MAX_TRADES + 1));
        check(u64::MAX, u64::MAX, &too_many(u64::MAX));
    }

    #[test]
    fn counts_are_given_back() {
        let rate = WinRate::new(3, 4).unwrap();
        assert_eq!((rate.won(), rate.decided()), (3, 7));
    }
}
