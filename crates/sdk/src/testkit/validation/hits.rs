//! Hit rates of signals, compared with chance.

use super::super::chance::Chance;
use super::subject::{Answer, PRICES_IN_CANDLE};
use crate::{BotContext, Candle, Direction, Millis, compare_prices};
use std::cmp::Ordering;
use std::fmt;

const AHEAD: [usize; 7] = [1, 2, 3, 5, 10, 30, 60];
const SHIFTS: usize = 40;

#[derive(Clone, Copy, Debug)]
pub(super) enum Horizon {
    Own { interval: Millis, usual: Millis },
    Candles(usize),
}

/// Hits among the signals after which the price changed.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Hits {
    pub(super) right: usize,
    pub(super) decided: usize,
}

impl Horizon {
    pub(super) fn all(bot: &BotContext) -> Vec<Self> {
        let own = Self::Own { interval: bot.interval.length(), usual: bot.expiry.close_type.duration() };
        [own].into_iter().chain(AHEAD.map(Self::Candles)).collect()
    }

    fn of(&self, answer: &Answer) -> usize {
        match *self {
            Self::Candles(count) => count,
            Self::Own { interval, usual } => {
                let expiry = answer.signal.expiry.map_or(usual, |expiry| expiry.close_type.duration());
                usize::try_from(expiry.get() / interval.get()).unwrap_or(1).max(1)
            }
        }
    }
}

impl fmt::Display for Horizon {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Own { .. } => write!(f, "at the trades' own end"),
            Self::Candles(1) => write!(f, "1 candle later"),
            Self::Candles(count) => write!(f, "{count} candles later"),
        }
    }
}

impl fmt::Display for Hits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "right in {:.1} % of {} cases", 100.0 * self.share(), self.decided)
    }
}

impl Hits {
    pub(super) fn all(answers: &[Answer], candles: &[Candle], horizon: &Horizon) -> Self {
        let mut hits = Self::default();
        for (answer, ahead) in judged(answers, horizon) {
            hits.count(answer, candles, answer.candle, ahead);
        }
        hits
    }

    /// Counts only signals given after the previous one was decided.
    ///
    /// On a walk these are independent.
    pub(super) fn apart(answers: &[Answer], candles: &[Candle], horizon: &Horizon) -> Self {
        let (mut hits, mut free) = (Self::default(), 0);
        for (answer, ahead) in judged(answers, horizon) {
            if answer.candle >= free {
                free = answer.candle + ahead;
                hits.count(answer, candles, answer.candle, ahead);
            }
        }
        hits
    }

    fn count(&mut self, answer: &Answer, candles: &[Candle], place: usize, ahead: usize) {
        let (Some(now), Some(later)) = (candles.get(place), candles.get(place + ahead)) else { return };
        let order = compare_prices(later.close(), now.close());
        let wins = match answer.signal.direction {
            Direction::Buy => Ordering::Greater,
            Direction::Sell => Ordering::Less,
        };
        self.decided += usize::from(order.is_ne());
        self.right += usize::from(order == wins);
    }

    pub(super) fn share(&self) -> f64 {
        self.right as f64 / self.decided.max(1) as f64
    }

    pub(super) fn is_beyond(&self, other: &Self, errors: f64) -> bool {
        if self.decided == 0 || other.decided == 0 {
            return false;
        }
        let (n, m) = (self.decided as f64, other.decided as f64);
        // One more of each kind, so that a share of 0 or 1 has an error too.
        let pooled = (self.right + other.right + 1) as f64 / (n + m + 2.0);
        let error = (pooled * (1.0 - pooled) * (1.0 / n + 1.0 / m)).sqrt();
        self.share() - other.share() > errors * error
    }
}

fn judged<'a>(answers: &'a [Answer], horizon: &'a Horizon) -> impl Iterator<Item = (&'a Answer, usize)> + 'a {
    let closed = answers.iter().filter(|answer| answer.moment == PRICES_IN_CANDLE);
    closed.map(|answer| (answer, horizon.of(answer)))
}

/// Returns the excess of hits over circularly shifted signals, in standard errors.
///
/// This removes the effect of biases and runs in signals and prices.
pub(super) fn excess(answers: &[Answer], candles: &[Candle], horizon: &Horizon) -> f64 {
    let length = candles.len();
    let mut chance = Chance::new(length as u64);
    let shares: Vec<f64> = (0..SHIFTS)
        .map(|_| {
            let shift = length / 10 + chance.below((length * 8 / 10).max(1));
            let mut hits = Hits::default();
            for (answer, ahead) in judged(answers, horizon) {
                hits.count(answer, candles, (answer.candle + shift) % length, ahead);
            }
            hits.share()
        })
        .collect();
    let mean = shares.iter().sum::<f64>() / SHIFTS as f64;
    let spread = shares.iter().map(|share| (share - mean).powi(2)).sum::<f64>() / (SHIFTS - 1) as f64;
    let hits = Hits::all(answers, candles, horizon);
    let independent = mean * (1.0 - mean) / hits.decided.max(1) as f64;
    let error = spread.max(independent).sqrt();
    if error > 0.0 { (hits.share() - mean) / error } else { 0.0 }
}

pub(super) fn binomial_tail(right: usize, decided: usize, chance: f64) -> f64 {
    let (odds, n) = (chance / (1.0 - chance), decided as f64);
    let falling = (0..right).map(|k| ((n - k as f64) / (right - k) as f64).ln()).sum::<f64>();
    let mut term = (falling + right as f64 * chance.ln() + (n - right as f64) * (1.0 - chance).ln()).exp();
    let mut tail = 0.0;
    for hits in right..=decided {
        tail += term;
        term *= odds * (decided - hits) as f64 / (hits + 1) as f64;
    }
    tail.min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tails_are_those_of_the_binomial() {
        // By hand: 3 or more of 5 fair coins, 16 of 32; all of 10; 9 or more of 10, 11 of 1,024.
        assert!((binomial_tail(3, 5, 0.5) - 0.5).abs() < 1e-12);
        assert!((binomial_tail(10, 10, 0.5) - 1.0 / 1_024.0).abs() < 1e-15);
        assert!((binomial_tail(9, 10, 0.5) - 11.0 / 1_024.0).abs() < 1e-14);
        assert!((binomial_tail(0, 7, 0.3) - 1.0).abs() < 1e-12);
        // 30 % of 1,000 answers known, the rest by chance: 650 right.
        assert!(binomial_tail(650, 1_000, 0.505) < 1e-18);
    }

    #[test]
    fn shares_differ_by_more_than_their_error() {
        let hits = |right, decided| Hits { right, decided };
        assert!(hits(95, 100).is_beyond(&hits(50, 100), 6.0));
        assert!(!hits(60, 100).is_beyond(&hits(50, 100), 6.0));
        assert!(!hits(10, 10).is_beyond(&hits(0, 0), 6.0));
    }
}
