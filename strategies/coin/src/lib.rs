//! Tosses a coin: a strategy without an edge.
//!
//! Baseline for other strategies, because all its results are luck. A toss depends on the time of the candle and on a
//! seed, but not on prices. The tosses are therefore the same in every run, and no toss looks ahead.

use candlewick_sdk::{
    BotContext, BuildError, Candle, Declaration, DeclaredStrategy, SeriesIndex, SeriesKey, SignalRule,
    StrategyFactory, parameters,
};

parameters! {
    /// Parameters of the coin.
    pub struct Params {
        /// Seed of the tosses. Bots with the same seed toss alike at the same time, on any symbol.
        seed: usize = 1, 0..=1_000_000;
        /// Share of candles with a signal.
        share: f64 = 0.1, 0.0..=1.0;
    }
}

/// Strategy that signals at randomly chosen candles. Both directions are equally frequent.
#[derive(Clone, Debug)]
pub struct Coin {
    seed: u64,
    /// Threshold for signals: a toss above `level` buys, and a toss below `-level` sells.
    level: f64,
    last: Option<f64>,
}

/// Index of the toss in `Numbers`.
const TOSS: SeriesIndex = SeriesIndex::new(0);

impl DeclaredStrategy for Coin {
    type Numbers = [f64; 1];

    fn warmup_candles(&self) -> usize {
        1
    }

    #[inline]
    fn update(&mut self, candle: &Candle) -> Option<[f64; 1]> {
        let toss = toss(self.seed, candle.time().get() as u64);
        self.last = Some(toss);
        Some([toss])
    }

    fn series(&self) -> Vec<SeriesKey> {
        vec![SeriesKey::new("coin", &[self.seed as f64])]
    }

    #[inline]
    fn rules(&self) -> impl AsRef<[SignalRule]> {
        [SignalRule::buy("heads", TOSS.above(self.level)), SignalRule::sell("tails", TOSS.below(-self.level))]
    }

    #[inline]
    fn values(&self) -> impl IntoIterator<Item = (&'static str, f64)> {
        self.last.map(|toss| ("toss", toss))
    }
}

/// Returns a random toss for a time, uniform in (-1, 1).
fn toss(seed: u64, time: u64) -> f64 {
    // The number has 52 bits plus one half, so that no toss is 0 and every toss has an opposite.
    let bits = split_mix(split_mix(seed).wrapping_add(time)) >> 12;
    (bits as f64 + 0.5) / (1_u64 << 51) as f64 - 1.0
}

/// Returns the next number of the `SplitMix64` generator (Steele, Lea and Flood 2014).
const fn split_mix(state: u64) -> u64 {
    let mut mixed = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}

impl StrategyFactory for Coin {
    const NAME: &'static str = "coin";
    const VERSION: &'static str = "1.0.0";
    const ABOUT: &'static str = "Tosses a coin: a strategy without an edge.";
    type Params = Params;

    fn build(params: Params, _bot: &BotContext) -> Result<Self, BuildError> {
        Ok(Self { seed: params.seed as u64, level: 1.0 - params.share, last: None })
    }

    fn declaration(&self) -> Option<Declaration> {
        Some(Declaration::from_strategy(self))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use candlewick_sdk::testkit::{bot, check_conformance, random_walk, trending};
    use candlewick_sdk::{Direction, Strategy};

    fn tosses(params: Params, candles: &[Candle]) -> Vec<Option<Direction>> {
        let mut coin = Coin::build(params, &bot("BTCUSDT")).unwrap();
        candles.iter().map(|candle| coin.on_candle(candle).map(|signal| signal.direction)).collect()
    }

    #[test]
    fn split_mix_agrees_with_published_sequence() {
        // These are the first numbers that the authors' code gives for the seed 1234567.
        let step = |n: u64| split_mix(1_234_567_u64.wrapping_add(0x9E37_79B9_7F4A_7C15_u64.wrapping_mul(n)));
        let expected = [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423];
        assert_eq!([step(0), step(1), step(2)], expected);
    }

    #[test]
    fn depends_on_time_and_seed_only() {
        let (seed, share) = (1, 0.5);
        let on = |candles: &[Candle], seed| tosses(Params { seed, share }, candles);
        let (walk, trend) = (random_walk(1, 2_000), trending(2, 2_000));
        assert_eq!(on(&walk, seed), on(&trend, seed));
        let (one, other) = (on(&walk, seed), on(&walk, 2));
        let both: Vec<_> = one.iter().zip(&other).filter_map(|(a, b)| Some((*a)? == (*b)?)).collect();
        let alike = both.iter().filter(|alike| **alike).count() as f64;
        let (count, half) = (both.len() as f64, both.len() as f64 / 2.0);
        assert!(count > 400.0 && (alike - half).abs() < 2.0 * count.sqrt(), "{alike} of {count}");
    }

    #[test]
    fn signals_at_its_share_of_candles_in_both_directions() {
        let candles = random_walk(1, 20_000);
        for share in [0.0, 0.1, 0.5, 1.0] {
            let tosses = tosses(Params { seed: 7, share }, &candles);
            let count = |direction| tosses.iter().filter(|toss| **toss == Some(direction)).count() as f64;
            // The tolerance is four standard errors.
            let (expected, allowed) = (share * 10_000.0, 4.0 * (share * 10_000.0).sqrt());
            for direction in [Direction::Buy, Direction::Sell] {
                assert!(
                    (count(direction) - expected).abs() <= allowed,
                    "{share} {direction}: {}",
                    count(direction)
                );
            }
        }
        assert!(tosses(Params { seed: 7, share: 1.0 }, &candles).iter().all(Option::is_some));
    }

    #[test]
    fn tosses_are_independent() {
        let candles = random_walk(1, 20_001);
        let tosses = tosses(Params { seed: 3, share: 1.0 }, &candles);
        let repeated = tosses.windows(2).filter(|pair| pair[0] == pair[1]).count() as f64;
        assert!((repeated - 10_000.0).abs() < 4.0 * 5_000.0_f64.sqrt(), "{repeated}");
    }

    #[test]
    fn conforms() {
        let signals = check_conformance::<Coin>(&Params::default(), &bot("BTCUSDT"), &random_walk(2, 5_000));
        assert!(signals.unwrap() > 400);
    }
}
