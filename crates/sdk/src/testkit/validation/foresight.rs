//! Whether a strategy hits what follows in these candles, and in no others.

use super::bench::{Bench, Found, failed, passed};
use super::future::redealt;
use super::subject::{Answer, Manner, PRICES_IN_CANDLE};
use crate::{Candle, Direction};

/// So many candles ahead.
const HORIZONS: [usize; 4] = [1, 2, 3, 5];
/// Standard errors of the bounds.
const ERRORS: f64 = 4.0;
/// Above this, at the lower bound, a share of hits is more than the past of a market shows.
const TOO_GOOD: f64 = 0.7;
/// What is left of it where only the past was shown.
const ORDINARY: f64 = 0.6;

/// Counts how often the price goes on as each answer says, and counts again where blocks of the candles follow each
/// other otherwise. An edge that comes out of the last candles is the same in both; one that comes from having seen these
/// very candles before, in a file or a table of its own, is gone.
pub(super) fn foresight(bench: &Bench<'_>) -> Found {
    let other = redealt(bench.candles);
    let elsewhere = bench.subject.run(&other, Manner::LIVE)?;
    let mut best = (0.0, 0);
    for horizon in HORIZONS {
        let here = Hits::of(&bench.answers, bench.candles, horizon);
        let there = Hits::of(&elsewhere, &other, horizon);
        let is_gone = there.decided * 4.0 < here.decided || there.bound(ERRORS) < ORDINARY;
        if here.bound(-ERRORS) > TOO_GOOD && is_gone {
            return failed(format!(
                "{:.0} % of its answers are right {horizon} candles later, but {:.0} % when the same candles come in \
                 another order: it knows these from elsewhere",
                100.0 * here.share(),
                100.0 * there.share(),
            ));
        }
        if here.share() > best.0 {
            best = (here.share(), horizon);
        }
    }
    passed(format!("right in {:.1} % of cases at most, {} candles later", 100.0 * best.0, best.1))
}

struct Hits {
    right: f64,
    decided: f64,
}

impl Hits {
    fn of(answers: &[Answer], candles: &[Candle], horizon: usize) -> Self {
        let mut hits = Self { right: 0.0, decided: 0.0 };
        for answer in answers.iter().filter(|answer| answer.moment == PRICES_IN_CANDLE) {
            let Some(later) = candles.get(answer.candle + horizon) else { continue };
            let moved = later.close() - candles[answer.candle].close();
            if moved != 0.0 {
                hits.decided += 1.0;
                let is_right = match answer.signal.direction {
                    Direction::Buy => moved > 0.0,
                    Direction::Sell => moved < 0.0,
                };
                hits.right += f64::from(u8::from(is_right));
            }
        }
        hits
    }

    fn share(&self) -> f64 {
        if self.decided > 0.0 { self.right / self.decided } else { 0.0 }
    }

    /// The end of Wilson's interval (1927) that lies `z` standard errors above, or below.
    fn bound(&self, z: f64) -> f64 {
        if self.decided == 0.0 {
            return f64::from(u8::from(z > 0.0));
        }
        let (n, p) = (self.decided, self.share());
        let reach = z * (p * (1.0 - p) / n + z * z / (4.0 * n * n)).sqrt();
        (p + z * z / (2.0 * n) + reach) / (1.0 + z * z / n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_those_of_wilson() {
        // 9 of 10 at 1.96 standard errors: 0.596 to 0.982 (Newcombe 1998 gives the method; worked out by hand).
        let hits = Hits { right: 9.0, decided: 10.0 };
        assert!((hits.bound(-1.96) - 0.5958).abs() < 1e-3 && (hits.bound(1.96) - 0.9821).abs() < 1e-3);
        let none = Hits { right: 0.0, decided: 0.0 };
        assert_eq!((none.bound(-4.0), none.bound(4.0)), (0.0, 1.0));
    }
}
