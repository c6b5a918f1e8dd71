//! Share of the free balance.

use super::Purse;
use candlewick_sdk::Money;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Share {
    fraction: f64,
}

impl Share {
    pub(super) fn new(percent: f64) -> Self {
        Self { fraction: percent / 100.0 }
    }

    pub(super) fn next(&self, purse: Purse) -> Money {
        purse.free.scaled_down(self.fraction)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stake_is_the_share_of_what_is_free_rounded_down() {
        for (free, percent, stake) in [(1_000_000, 1.0, 10_000), (999, 10.0, 99), (0, 50.0, 0)] {
            let purse = Purse { free: Money::from_minor(free), minimum: Money::ZERO, together: 1 };
            assert_eq!(Share::new(percent).next(purse), Money::from_minor(stake));
        }
    }
}
