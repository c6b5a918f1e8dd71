//! Capital of the bets against one candidate mean.

/// Bet fractions before division by the variance inflation of overlap.
///
/// They are Kelly fractions of edges from a quarter to 32 percent of the stake, at a variance of 1.
/// Twice the largest is below 1, so that no bet can lose more than the capital.
pub(super) const BETS: [f64; 8] = [0.0025, 0.005, 0.01, 0.02, 0.04, 0.08, 0.16, 0.32];

/// Amount of a bet of 1 that counts as lost until the trade ends.
///
/// It is the largest loss against any candidate. Most candidates would need less, but a common
/// value keeps the order of capitals the same, whatever is open, lost or returned.
pub(super) const RISK: f64 = 2.0;

pub(super) type Capitals = [f64; BETS.len()];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Above,
    Below,
}

/// Capitals of the bets against one candidate.
///
/// Each starts at 1 and counts open stakes as lost.
#[derive(Clone, Debug)]
pub(super) struct Capital {
    side: Side,
    candidate: f64,
    capitals: Capitals,
    open: Vec<Capitals>,
}

impl Capital {
    pub(super) fn new(side: Side, candidate: f64, places: usize) -> Self {
        Self { side, candidate, capitals: [1.0; BETS.len()], open: vec![[0.0; BETS.len()]; places] }
    }

    #[inline]
    pub(super) fn on_open(&mut self, place: usize, scale: f64) {
        let bets = &mut self.open[place];
        for ((capital, bet), share) in self.capitals.iter_mut().zip(bets).zip(BETS) {
            *bet = *capital * share * scale;
            *capital -= *bet * RISK;
        }
    }

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

    #[inline]
    pub(super) fn total(&self) -> f64 {
        self.capitals.iter().sum::<f64>() / BETS.len() as f64
    }
}
