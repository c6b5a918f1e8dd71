//! Finding: prices reverse more often than on a real market, a sign of bid-ask bounce.

use super::{Finding, FindingKind, Severity};
use candlewick_sdk::CandleSeries;

/// Share of reversals that can pay for a trade. A bet against the last move wins as often, and 54 %
/// is break-even at a payout of 85 %.
const MIN_SHARE: f64 = 0.54;
/// Standard errors above one half. A random walk exceeds this in 3.4 of 1,000,000 cases (normal
/// tail).
const MIN_ERRORS: f64 = 4.5;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reversals {
    pub series: String,
    pub reversed: u64,
    pub moves: u64,
}

impl Reversals {
    /// Counts the reversals of a series. Skips candles without a move and counts nothing across a
    /// gap.
    ///
    /// On a random walk each move reverses with probability 1/2, whatever came before and even with
    /// clustered volatility. So the count is binomial.
    pub fn from_candles(candles: &CandleSeries) -> Self {
        let interval = candles.interval().length();
        let (mut reversed, mut moves, mut last) = (0, 0, None);
        for pair in candles.candles().windows(2) {
            if pair[0].time() + interval != pair[1].time() {
                last = None;
                continue;
            }
            if pair[1].close() == pair[0].close() {
                continue;
            }
            let rose = pair[1].close() > pair[0].close();
            moves += u64::from(last.is_some());
            reversed += u64::from(last == Some(!rose));
            last = Some(rose);
        }
        Self { series: format!("{}@{}", candles.symbol(), candles.interval()), reversed, moves }
    }

    fn share(&self) -> f64 {
        self.reversed as f64 / self.moves.max(1) as f64
    }

    fn is_clear(&self) -> bool {
        let errors = (self.share() - 0.5) * 2.0 * (self.moves as f64).sqrt();
        self.share() >= MIN_SHARE && errors >= MIN_ERRORS
    }
}

pub(super) fn find(reversals: &[Reversals]) -> Option<Finding> {
    let clear = reversals.iter().filter(|one| one.is_clear());
    let most = clear.max_by(|one, other| one.share().total_cmp(&other.share()))?;
    Some(Finding {
        kind: FindingKind::BidAskBounce,
        severity: Severity::Warning,
        text: format!(
            "Moves of one candle of {} reverse in {:.1} % of {} cases. So do last prices that bounce between bid and ask: the spread \
             may explain all of a profit from bets against the last move. Test on bid or mid prices.",
            most.series,
            most.share() * 100.0,
            most.moves
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use candlewick_sdk::{Candle, Interval, Millis, Ohlcv, Series};

    /// A generator of 64 bits (Steele, Lea and Flood, `SplitMix`).
    struct Random(u64);

    impl Random {
        fn unit(&mut self) -> f64 {
            self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
            let mut mixed = self.0;
            mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
            ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
        }

        /// About normal, with a variance of 1.
        fn normal(&mut self) -> f64 {
            (0..12).map(|_| self.unit()).sum::<f64>() - 6.0
        }
    }

    /// A random walk whose volatility changes, seen at bid or ask at random: half a spread up or down.
    fn reversals(seed: u64, candles: i64, spread: f64) -> Reversals {
        let mut random = Random(seed);
        let (mut mid, mut volatility) = (1_000.0, 1.0_f64);
        let rows: Vec<Candle> = (0..candles)
            .map(|minute| {
                volatility = (volatility * (0.1 * random.normal()).exp()).clamp(0.25, 4.0);
                mid += volatility * random.normal();
                let close = mid + if random.unit() < 0.5 { spread } else { -spread } / 2.0;
                let numbers = Ohlcv { open: close, high: close, low: close, close, volume: 0.0 };
                Candle::new(Millis::MINUTE * minute, Interval::MINUTE, numbers).unwrap()
            })
            .collect();
        let series = Series { symbol: "BTCUSDT".parse().unwrap(), interval: Interval::MINUTE };
        Reversals::from_candles(&CandleSeries::new(series, rows).unwrap())
    }

    #[test]
    fn random_walks_are_not_reported_and_a_spread_of_the_size_of_the_moves_is() {
        let count =
            |spread: f64| (0..400).filter(|seed| find(&[reversals(*seed, 3_000, spread)]).is_some()).count();
        assert_eq!(count(0.0), 0);
        assert!(count(3.0) >= 396, "{}", count(3.0));
    }

    #[test]
    fn reversals_are_counted_without_still_candles_and_gaps() {
        let minutes = [(0, 1.0), (1, 2.0), (2, 2.0), (3, 1.5), (4, 1.7), (6, 1.6), (7, 1.9), (8, 2.1)];
        let rows = minutes.map(|(minute, close)| {
            let numbers = Ohlcv { open: close, high: close, low: close, close, volume: 0.0 };
            Candle::new(Millis::MINUTE * minute, Interval::MINUTE, numbers).unwrap()
        });
        let series = Series { symbol: "BTCUSDT".parse().unwrap(), interval: Interval::MINUTE };
        let found = Reversals::from_candles(&CandleSeries::new(series, rows.to_vec()).unwrap());
        // Up, down, up; after the gap up, up.
        assert_eq!((found.reversed, found.moves), (2, 3));
    }
}
