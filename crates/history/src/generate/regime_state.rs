//! Regimes and volatility clusters: how far the next minute reaches, and where it leans.

use super::dice::Dice;

/// A stretch of time in which a market behaves alike.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Regime {
    /// How often it is chosen, beside the others.
    weight: u32,
    /// How far moves reach, beside the average.
    reach: f64,
    /// Where it leans each minute, in standard deviations; its sign is drawn.
    lean: f64,
    /// Which part of the way back to where the regime began it goes each minute.
    pull: f64,
    /// Its shortest and longest duration.
    minutes: (u32, u32),
}

const CALM: Regime = Regime { weight: 40, reach: 0.65, lean: 0.0, pull: 0.0, minutes: (60, 300) };
const BUSY: Regime = Regime { weight: 25, reach: 1.35, lean: 0.0, pull: 0.0, minutes: (45, 180) };
const TRENDING: Regime = Regime { weight: 20, reach: 1.0, lean: 0.08, pull: 0.0, minutes: (60, 240) };
const REVERTING_BURST: Regime = Regime { weight: 15, reach: 1.9, lean: 0.0, pull: 0.15, minutes: (10, 40) };
const REGIMES: [Regime; 4] = [CALM, BUSY, TRENDING, REVERTING_BURST];

/// Volatility remembers itself: the next variance is made of the average, the last squared move and the last
/// variance, in these shares (GARCH(1,1); T. Bollerslev, Journal of Econometrics 31, 1986).
const AVERAGE_SHARE: f64 = 0.03;
const MOVE_SHARE: f64 = 0.12;
const MEMORY_SHARE: f64 = 0.85;
const VARIANCE_RANGE: (f64, f64) = (0.15, 8.0);

/// A weak pull to the first price keeps years of candles near it; over hours it is not felt.
const HOME_PULL: f64 = 1.0 / 20_000.0;

/// The regime and the volatility of one market.
pub(super) struct RegimeState {
    regime: Regime,
    minutes_left: u32,
    lean: f64,
    /// The price at which the regime began, in ticks.
    anchor: f64,
    /// The first price of all, in ticks.
    home: f64,
    /// 1 on average.
    variance: f64,
}

/// What the state gives for one minute, in ticks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Outlook {
    /// The standard deviation of its move.
    pub(super) deviation: f64,
    /// Its expected move.
    pub(super) drift: f64,
}

impl RegimeState {
    /// A market that begins at `price` ticks.
    pub(super) fn new(price: f64) -> Self {
        Self { regime: CALM, minutes_left: 0, lean: 0.0, anchor: price, home: price, variance: 1.0 }
    }

    /// The outlook from `price`, where the deviation of an average minute is `usual`, all in ticks.
    pub(super) fn outlook(&mut self, price: f64, usual: f64, dice: &mut Dice) -> Outlook {
        if self.minutes_left == 0 {
            self.change(price, dice);
        }
        self.minutes_left -= 1;
        let deviation = usual * self.regime.reach * self.variance.sqrt();
        let back = (self.anchor - price) * self.regime.pull + (self.home - price) * HOME_PULL;
        Outlook { deviation, drift: deviation * self.lean + back }
    }

    /// Learns how far the minute went beside its outlook, in standard deviations.
    pub(super) fn remember(&mut self, surprise: f64) {
        let next = AVERAGE_SHARE + self.variance * (MOVE_SHARE * surprise * surprise + MEMORY_SHARE);
        self.variance = next.clamp(VARIANCE_RANGE.0, VARIANCE_RANGE.1);
    }

    /// Ends the regime: the next minute begins another.
    pub(super) fn forget(&mut self) {
        self.minutes_left = 0;
        self.variance = 1.0;
    }

    fn change(&mut self, price: f64, dice: &mut Dice) {
        let total: u32 = REGIMES.iter().map(|regime| regime.weight).sum();
        let mut drawn = dice.between(0, total - 1);
        for regime in REGIMES {
            if drawn < regime.weight {
                self.regime = regime;
                break;
            }
            drawn -= regime.weight;
        }
        let (shortest, longest) = self.regime.minutes;
        self.minutes_left = dice.between(shortest, longest);
        self.lean = if dice.share() < 0.5 { self.regime.lean } else { -self.regime.lean };
        self.anchor = price;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use candlewick_sdk::Symbol;

    #[test]
    fn every_regime_comes_and_lasts_as_long_as_it_may() {
        let mut dice = Dice::new(Symbol::new("BTCUSDT").unwrap(), 1);
        let mut state = RegimeState::new(1_000.0);
        let mut spells: Vec<(Regime, u32)> = Vec::new();
        for _ in 0..100_000 {
            let fresh = state.minutes_left == 0;
            state.outlook(1_000.0, 10.0, &mut dice);
            match spells.last_mut() {
                Some((_, minutes)) if !fresh => *minutes += 1,
                _ => spells.push((state.regime, 1)),
            }
        }
        spells.pop();
        assert!(REGIMES.iter().all(|regime| spells.iter().any(|(seen, _)| seen == regime)));
        for (regime, minutes) in spells {
            assert!((regime.minutes.0..=regime.minutes.1).contains(&minutes), "{regime:?} {minutes}");
        }
    }

    #[test]
    fn big_moves_widen_the_outlook_and_quiet_narrows_it() {
        let mut dice = Dice::new(Symbol::new("BTCUSDT").unwrap(), 1);
        let mut state = RegimeState::new(1_000.0);
        let usual = state.outlook(1_000.0, 10.0, &mut dice).deviation;
        state.remember(3.0);
        let excited = state.outlook(1_000.0, 10.0, &mut dice).deviation;
        (0..50).for_each(|_| state.remember(0.0));
        let bored = state.outlook(1_000.0, 10.0, &mut dice).deviation;
        assert!(bored < usual && usual < excited, "{bored} {usual} {excited}");
        // A sum of ever smaller shares: 0.03 / (1 - 0.85).
        assert!((state.variance - 0.2).abs() < 0.001, "{}", state.variance);
    }
}
