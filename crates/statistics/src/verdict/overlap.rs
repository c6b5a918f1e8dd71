//! Measurement of how much overlapping trades weaken the evidence.

use serde::{Deserialize, Serialize};

/// Overlap statistics: clusters of trades, and the variance inflation of the sum of returns.
///
/// The inflation is `1 + 2 sum(r_i r_j over pairs open at the same time) / sum(r_i^2)`: the variance of the sum of
/// returns `r`, relative to that of independent trades. It is 3 for three bots with identical trades, which give a
/// third of the evidence of independent trades. 10 is added to `sum(r_i^2)`, so that early pairs do not dominate.
///
/// Source: the design effect of L. Kish, *Survey Sampling* (1965), section 5.4, with pairs instead of clusters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Overlap {
    open: u64,
    clusters: u64,
    sum_of_returns: f64,
    sum_of_squares: f64,
    sum_of_pairs: f64,
}

/// Weight of the initial assumption that overlapping trades are independent, as a number of trades.
const PRIOR_TRADES: f64 = 10.0;

/// Sum of all returns when a trade opened. Any later change comes from trades that overlap this trade.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct ReturnsAtOpen(f64);

impl Default for Overlap {
    fn default() -> Self {
        Self::new()
    }
}

impl Overlap {
    pub(crate) const fn new() -> Self {
        Self { open: 0, clusters: 0, sum_of_returns: 0.0, sum_of_squares: 0.0, sum_of_pairs: 0.0 }
    }

    /// Returns the number of clusters, an upper bound for the number of independent observations.
    /// A new cluster begins when a trade opens while no other trade is open.
    pub const fn clusters(&self) -> u64 {
        self.clusters
    }

    pub const fn open_trades(&self) -> u64 {
        self.open
    }

    /// Returns the variance of the sum of returns, relative to that of independent trades; at least 1.
    pub fn variance_inflation(&self) -> f64 {
        1.0 + 2.0 * self.sum_of_pairs.max(0.0) / (self.sum_of_squares + PRIOR_TRADES)
    }

    /// Returns the factor by which overlap reduces the next stake: 1 / variance inflation, or less.
    /// Open trades reduce it further, most while few trades have settled, because they may be copies of the next trade.
    #[inline]
    pub(super) fn stake_factor(&self) -> f64 {
        let alone = self.sum_of_squares + PRIOR_TRADES;
        alone / (alone + 2.0 * self.sum_of_pairs.max(0.0) + PRIOR_TRADES * self.open as f64)
    }

    pub(crate) fn on_open(&mut self) -> ReturnsAtOpen {
        self.clusters += u64::from(self.open == 0);
        self.open += 1;
        ReturnsAtOpen(self.sum_of_returns)
    }

    pub(crate) fn on_settled(&mut self, mark: ReturnsAtOpen, trade_return: f64) {
        self.open = self.open.saturating_sub(1);
        self.sum_of_pairs += trade_return * (self.sum_of_returns - mark.0);
        self.sum_of_squares += trade_return * trade_return;
        self.sum_of_returns += trade_return;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlapping_chain_is_one_cluster() {
        let mut overlap = Overlap::new();
        let mut earlier = overlap.on_open();
        for _ in 0..100 {
            let later = overlap.on_open();
            overlap.on_settled(earlier, 1.0);
            earlier = later;
        }
        assert_eq!((overlap.clusters(), overlap.open_trades()), (1, 1));
        overlap.on_settled(earlier, 1.0);
        overlap.on_open();
        assert_eq!((overlap.clusters(), overlap.open_trades()), (2, 1));
    }
}
