//! Stakes of the two accounts of a verdict. The stake fractions are fixed in advance.

use serde::{Deserialize, Serialize};

/// Edges on which the parts of the edge account bet, as multiples of `delta`. With these multiples and initial values,
/// the median number of trades to *shown* is close to the optimum for a known edge of 1 to 6 `delta`.
const EDGE_MULTIPLES: [f64; 4] = [1.1, 1.99, 3.59, 6.5];
const INITIAL_EDGE_PARTS: [f64; 4] = [22.0 / 64.0, 8.0 / 64.0, 17.0 / 64.0, 17.0 / 64.0];

/// Each part of the mirror account bets that the edge falls short of `delta` by this multiple of `delta`.
const SHORTFALL_MULTIPLES: [f64; 2] = [1.1, 3.0];
const INITIAL_MIRROR_PARTS: [f64; 2] = [11.0 / 16.0, 5.0 / 16.0];

const MAX_STAKE_FRACTION: f64 = 0.35;

/// Values of the parts of an account, or the stakes of these parts. Each part has its own stake fraction.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(into = "Vec<f64>", try_from = "Vec<f64>")]
pub(super) struct AccountParts<const N: usize>([f64; N]);

pub(super) type EdgeParts = AccountParts<4>;
pub(super) type MirrorParts = AccountParts<2>;

impl<const N: usize> From<AccountParts<N>> for Vec<f64> {
    fn from(parts: AccountParts<N>) -> Self {
        parts.0.to_vec()
    }
}

impl<const N: usize> TryFrom<Vec<f64>> for AccountParts<N> {
    type Error = String;

    fn try_from(parts: Vec<f64>) -> Result<Self, String> {
        parts.try_into().map(Self).map_err(|parts: Vec<f64>| format!("{} parts, not {N}", parts.len()))
    }
}

impl<const N: usize> AccountParts<N> {
    pub(super) const NONE: Self = Self([0.0; N]);

    #[inline]
    fn stake(&mut self, shares: [f64; N]) -> Self {
        let mut staked = shares;
        for (part, share) in self.0.iter_mut().zip(&mut staked) {
            *share *= *part;
            *part -= *share;
        }
        Self(staked)
    }

    #[inline]
    pub(super) fn return_stake(&mut self, stake: &Self, factor: f64) {
        for (part, staked) in self.0.iter_mut().zip(&stake.0) {
            *part += staked * factor;
        }
    }
}

impl EdgeParts {
    pub(super) const INITIAL: Self = Self(INITIAL_EDGE_PARTS);

    /// Returns the sum of the parts. This order of additions uses vector registers well; other orders are slower.
    #[inline]
    pub(super) fn total(&self) -> f64 {
        let [a, b, c, d] = self.0;
        (a + c) + (b + d)
    }

    /// Stakes the Kelly fraction `e / b` of each part, for the part's edge `e`. `factor` reduces stakes for overlap.
    /// If a win would raise the account from `held` above `goal`, stakes are reduced so that it just reaches `goal`.
    #[inline]
    pub(super) fn bet(&mut self, (delta, b): (f64, f64), factor: f64, (held, goal): (f64, f64)) -> Self {
        let unit = delta / b * factor;
        let shares = EDGE_MULTIPLES.map(|edge| (edge * unit).min(MAX_STAKE_FRACTION));
        if held * (1.0 + MAX_STAKE_FRACTION * b) <= goal {
            self.stake(shares)
        } else {
            self.stake_up_to_goal(shares, b, goal - held)
        }
    }

    #[cold]
    fn stake_up_to_goal(&mut self, shares: [f64; 4], b: f64, missing: f64) -> Self {
        let staked = self.stake(shares);
        let win = staked.total() * b;
        if win <= missing {
            return staked;
        }
        // Slightly more than needed, because rounding could otherwise leave the account slightly below the goal.
        let needed = (missing / win * (1.0 + 1e-9)).clamp(0.0, 1.0);
        self.return_stake(&staked, 1.0 - needed);
        Self(staked.0.map(|stake| stake * needed))
    }
}

impl MirrorParts {
    pub(super) const INITIAL: Self = Self(INITIAL_MIRROR_PARTS);

    #[inline]
    pub(super) fn total(&self) -> f64 {
        let [a, b] = self.0;
        a + b
    }

    /// For each part, stakes the Kelly fraction `s / (1 + delta)`, where `delta - s` is the edge that the part expects.
    /// If `b` is below 1, stakes are multiplied by `(1 - delta) / (b - delta)`. `factor` reduces stakes for overlap.
    #[inline]
    pub(super) fn bet(&mut self, (delta, b): (f64, f64), factor: f64) -> Self {
        if b <= delta {
            return Self::NONE;
        }
        let unit = delta * (max_mirror_payout(b) - delta) / ((1.0 + delta) * (b - delta)) * factor;
        self.stake(SHORTFALL_MULTIPLES.map(|shortfall| (shortfall * unit).min(MAX_STAKE_FRACTION)))
    }
}

/// Returns the payout (at least 1) at which a win costs the mirror account its whole stake.
pub(super) const fn max_mirror_payout(payout_fraction: f64) -> f64 {
    payout_fraction.max(1.0)
}
