//! What bets against one candidate have become.

/// The shares that are bet, before overlap divides them: Kelly fractions of edges of a quarter to 32 percent of the stake, at a
/// variance of 1. Twice the largest is below 1, so that no bet can lose more than there is.
pub(super) const BETS: [f64; 8] = [0.0025, 0.005, 0.01, 0.02, 0.04, 0.08, 0.16, 0.32];

/// What counts as lost of a bet of 1 until the trade ends: the most that it can lose against any candidate. Less would do against
/// most; but being the same for all, it makes one capital larger than another whatever is open, lost and given back.
pub(super) const RISK: f64 = 2.0;

/// One capital for each of [`BETS`].
pub(super) type Capitals = [f64; BETS.len()];

/// On which side of the candidate the mean is bet to lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Above,
    Below,
}

/// Capitals that bet against one candidate, from 1, open stakes counted as lost.
#[derive(Clone, Debug)]
pub(super) struct Capital {
    side: Side,
    candidate: f64,
    capitals: Capitals,
    /// What each open trade has at stake, by its place.
    open: Vec<Capitals>,
}

impl Capital {
    pub(super) fn new(side: Side, candidate: f64, places: usize) -> Self {
        Self { side, candidate, capitals: [1.0; BETS.len()], open: vec![[0.0; BETS.len()]; places] }
    }

    /// The bets of a trade are placed, each times `scale`.
    #[inline]
    pub(super) fn on_open(&mut self, place: usize, scale: f64) {
        let bets = &mut self.open[place];
        for ((capital, bet), share) in self.capitals.iter_mut().zip(bets).zip(BETS) {
            *bet = *capital * share * scale;
            *capital -= *bet * RISK;
        }
    }

    /// The bets come back with what they gained.
    #[inline]
    pub(super) fn on_settled(&mut self, place: usize, trade_return: f64, payout_fraction: f64) {
        let back = match self.side {
            Side::Above => RISK + (trade_return - self.candidate),
            Side::Below => {
                let smaller = 2.0 / (1.0 + payout_fraction.max(1.0));
                RISK + smaller * (self.candidate - trade_return)
            }
        };
        self.give_back(place, back);
    }

    /// The bets come back as they were.
    pub(super) fn on_cancelled(&mut self, place: usize) {
        self.give_back(place, RISK);
    }

    #[inline]
    fn give_back(&mut self, place: usize, back: f64) {
        for (capital, bet) in self.capitals.iter_mut().zip(&mut self.open[place]) {
            *capital += *bet * back;
            *bet = 0.0;
        }
    }

    /// The mean of the capitals.
    #[inline]
    pub(super) fn total(&self) -> f64 {
        self.capitals.iter().sum::<f64>() / BETS.len() as f64
    }
}
