//! Tosses a coin: the strategy that has no edge.
//!
//! A model for a null, to hold a strategy against: what a run makes of it is what luck makes. The toss is computed from the candle's time and
//! a seed, and from no price, so that it is the same in every run and knows nothing of what follows.

use candlewick_sdk::{
    BotContext, BuildError, Candle, Declaration, DeclaredStrategy, SeriesKey, SeriesPlace, SignalRule,
    StrategyFactory, parameters,
};

parameters! {
    /// Which coin, and how often it is tossed.
    pub struct Params {
        /// Another seed is another coin. Bots with one seed toss alike at one time, whatever their symbols.
        seed: usize = 1, 0..=1_000_000;
        /// The share of candles at which it signals.
        share: f64 = 0.1, 0.0..=1.0;
    }
}

/// Signals at a share of all candles, each direction as often as the other.
#[derive(Clone, Debug)]
pub struct Coin {
    seed: u64,
    /// A toss beyond this, on either side of 0, is a signal.
    level: f64,
    last: Option<f64>,
}

/// The place of the toss, from -1 to 1, among the strategy's numbers.
const TOSS: SeriesPlace = SeriesPlace::new(0);

impl DeclaredStrategy for Coin {
    type Numbers = [f64; 1];

    fn warm_after(&self) -> usize {
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

/// Evenly spread between -1 and 1, the ends left out.
fn toss(seed: u64, time: u64) -> f64 {
    // Of the 64 bits 52 are kept, and half of one more, so that no toss is 0 and each has its opposite.
    let kept = mixed(mixed(seed).wrapping_add(time)) >> 12;
    (kept as f64 + 0.5) / (1_u64 << 51) as f64 - 1.0
}

/// The finisher of `SplitMix64` (Steele, Lea and Flood 2014), after a step of its sequence.
const fn mixed(state: u64) -> u64 {
    let mut mixed = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}

impl StrategyFactory for Coin {
    const NAME: &'static str = "coin";
    const VERSION: &'static str = "1.0.0";
    const ABOUT: &'static str = "Tosses a coin: the strategy that has no edge.";
    type Params = Params;

    fn build(params: Params, _bot: &BotContext) -> Result<Self, BuildError> {
        Ok(Self { seed: params.seed as u64, level: 1.0 - params.share, last: None })
    }

    fn declaration(&self) -> Option<Declaration> {
        Some(Declaration::of(self))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use candlewick_sdk::testkit::{bot, conformance, random_walk, trending};
    use candlewick_sdk::{Direction, Strategy};

    fn tosses(params: Params, candles: &[Candle]) -> Vec<Option<Direction>> {
        let mut coin = Coin::build(params, &bot("BTCUSDT")).unwrap();
        candles.iter().map(|candle| coin.on_candle(candle).map(|signal| signal.direction)).collect()
    }

    #[test]
    fn the_mixed_bits_are_those_of_the_published_sequence() {
        // The first numbers of SplitMix64 from the seed 1234567, as its authors' code gives them.
        let step = |n: u64| mixed(1_234_567_u64.wrapping_add(0x9E37_79B9_7F4A_7C15_u64.wrapping_mul(n)));
        let expected = [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423];
        assert_eq!([step(0), step(1), step(2)], expected);
    }

    #[test]
    fn it_goes_by_the_time_and_the_seed_and_by_no_price() {
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
    fn it_signals_at_the_share_of_candles_and_one_direction_as_often_as_the_other() {
        let candles = random_walk(1, 20_000);
        for share in [0.0, 0.1, 0.5, 1.0] {
            let tosses = tosses(Params { seed: 7, share }, &candles);
            let count = |direction| tosses.iter().filter(|toss| **toss == Some(direction)).count() as f64;
            // Four standard errors.
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
    fn a_toss_says_nothing_of_the_next() {
        let candles = random_walk(1, 20_001);
        let tosses = tosses(Params { seed: 3, share: 1.0 }, &candles);
        let repeated = tosses.windows(2).filter(|pair| pair[0] == pair[1]).count() as f64;
        assert!((repeated - 10_000.0).abs() < 4.0 * 5_000.0_f64.sqrt(), "{repeated}");
    }

    #[test]
    fn it_conforms() {
        let signals = conformance::<Coin>(&Params::default(), &bot("BTCUSDT"), &random_walk(2, 5_000));
        assert!(signals.unwrap() > 400);
    }
}
