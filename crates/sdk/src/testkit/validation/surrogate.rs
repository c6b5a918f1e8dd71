//! Variants of given candles: surrogates, altered later candles, and decoys.
//!
//! A genuine rule wins about as often on a surrogate as on the original. A lookup table of the original candles does
//! not recognize a surrogate, so its win rate collapses. The table may be keyed by prices, shapes or signs of moves.

use super::super::candles::{Rng, rescale, with_ohlcv};
use super::foresight::Hits;
use super::subject::with_spare_capacity;
use crate::{Candle, Ohlcv};

/// Factor by which prices are raised: large enough to defeat a lookup by price, too small to affect a rule.
const PRICE_LEVEL_FACTOR: f64 = 1.0317;
/// Maximum relative change of a jittered price move. For a typical move, this is about one tick.
const MAX_JITTER_CHANGE: f64 = 0.1;
/// Maximum relative change of a reshaped price move. Shapes change, but directions do not.
const MAX_RESHAPED_CHANGE: f64 = 0.5;
/// Standard deviation of the noise, as a multiple of the typical price move. One in seven moves changes its direction.
const NOISE_DEVIATION: f64 = 0.5;
/// Minimum excess of the original's win rate over the surrogate's win rate, in standard errors.
/// A normally distributed excess is this large with a probability of one in a billion.
pub(super) const MIN_EXCESS_STANDARD_ERRORS: f64 = 6.0;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Surrogate {
    Raised,
    Jittered,
    Reshaped,
    Mirrored,
    Noisy,
}

impl Surrogate {
    pub(super) const ALL: [Self; 5] =
        [Self::Raised, Self::Jittered, Self::Reshaped, Self::Mirrored, Self::Noisy];

    pub(super) fn describe(self) -> String {
        match self {
            Self::Raised => format!("the same candles {:.0} % higher", 100.0 * (PRICE_LEVEL_FACTOR - 1.0)),
            Self::Jittered => "the same candles with moves up to 10 % larger or smaller".to_owned(),
            Self::Reshaped => "the same candles with moves up to 50 % larger or smaller".to_owned(),
            Self::Mirrored => "the same candles upside down".to_owned(),
            Self::Noisy => "the same candles with noise of half a typical move".to_owned(),
        }
    }

    pub(super) fn apply(self, candles: &[Candle], seed: u64) -> Vec<Candle> {
        let mut chance = Rng::new(seed);
        match self {
            Self::Raised => {
                candles.iter().map(|candle| rescale(candle, candle.time(), PRICE_LEVEL_FACTOR)).collect()
            }
            Self::Jittered => rebuild(candles, |shape| shape.stretch(MAX_JITTER_CHANGE, &mut chance)),
            Self::Reshaped => rebuild(candles, |shape| shape.stretch(MAX_RESHAPED_CHANGE, &mut chance)),
            Self::Mirrored => rebuild(candles, |shape| Shape {
                gap: -shape.gap,
                body: -shape.body,
                low: shape.high,
                high: shape.low,
                ..shape
            }),
            Self::Noisy => {
                let noise = NOISE_DEVIATION * typical_move(candles) * 3.0_f64.sqrt();
                rebuild(candles, |shape| Shape { body: shape.body + noise * chance.signed_unit(), ..shape })
            }
        }
    }

    /// Returns whether the win rate collapses on the surrogate (`there`). Even an honest edge may shrink moderately.
    pub(super) fn is_win_rate_collapse(self, here: &Hits, there: &Hits) -> bool {
        // Minimum win rate of the original, and maximum share of its excess over 50 % that remains after a collapse.
        let (least, remaining) = match self {
            Self::Raised | Self::Jittered => (0.0, 1.0),
            Self::Reshaped => (0.62, 0.35),
            Self::Mirrored | Self::Noisy => (0.65, 0.25),
        };
        here.hit_rate() >= least
            && here.exceeds(there, MIN_EXCESS_STANDARD_ERRORS)
            && there.hit_rate() - 0.5 < remaining * (here.hit_rate() - 0.5)
    }
}

#[derive(Clone, Copy)]
struct Shape {
    gap: f64,
    body: f64,
    high: f64,
    low: f64,
    volume: f64,
}

impl Shape {
    fn new(candle: &Candle, close_before: f64) -> Self {
        let (open, close) = (candle.open(), candle.close());
        Self {
            gap: (open / close_before).ln(),
            body: (close / open).ln(),
            high: (candle.high() / open.max(close)).ln(),
            low: (open.min(close) / candle.low()).ln(),
            volume: candle.volume(),
        }
    }

    fn stretch(self, most: f64, chance: &mut Rng) -> Self {
        let Self { gap, body, high, low, volume } = self;
        let stretched = [gap, body, high, low, volume].map(|part| part * (1.0 + most * chance.signed_unit()));
        let [gap, body, high, low, volume] = stretched;
        Self { gap, body, high, low, volume }
    }
}

fn rebuild(candles: &[Candle], mut change: impl FnMut(Shape) -> Shape) -> Vec<Candle> {
    let first = candles.first().map_or(1.0, Candle::open);
    let (mut close_before, mut rebuilt_close) = (first, first);
    candles
        .iter()
        .map(|candle| {
            let Shape { gap, body, high, low, volume } = change(Shape::new(candle, close_before));
            close_before = candle.close();
            let open = rebuilt_close * gap.exp();
            let close = open * body.exp();
            let numbers = Ohlcv {
                open,
                high: open.max(close) * high.exp(),
                low: open.min(close) / low.exp(),
                close,
                volume,
            };
            let rebuilt = with_ohlcv(candle, candle.time(), numbers);
            rebuilt_close = rebuilt.close();
            rebuilt
        })
        .collect()
}

fn typical_move(candles: &[Candle]) -> f64 {
    let moves = candles.iter().map(|candle| (candle.close() / candle.open()).ln());
    let (count, squares) = moves.fold((0.0, 0.0), |(count, squares), one| (count + 1.0, squares + one * one));
    (squares / f64::max(count, 1.0)).sqrt()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AlteredFuture {
    Truncated,
    Scrambled,
    Reversed,
    Mirrored,
}

impl AlteredFuture {
    pub(super) const ALL: [Self; 4] = [Self::Truncated, Self::Scrambled, Self::Reversed, Self::Mirrored];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Truncated => "truncated",
            Self::Scrambled => "scrambled",
            Self::Reversed => "reversed",
            Self::Mirrored => "mirrored",
        }
    }

    pub(super) fn alter(self, candles: &[Candle], cut: usize, length: usize) -> Vec<Candle> {
        let (past, future) = candles.split_at(cut);
        let future = &future[..future.len().min(length)];
        let mut order: Vec<usize> = (0..future.len()).collect();
        match self {
            Self::Truncated => order.clear(),
            Self::Scrambled => Rng::new(cut as u64).shuffle(&mut order),
            Self::Reversed => order.reverse(),
            Self::Mirrored => {}
        }
        let mut all = past.to_vec();
        let mut close = past.last().map_or(1.0, Candle::close);
        for (place, from) in order.into_iter().enumerate() {
            let (source, time) = (&future[from], future[place].time());
            let scaled = rescale(source, time, close / source.open());
            let next = if self == Self::Mirrored { mirror_candle(&scaled) } else { scaled };
            close = next.close();
            all.push(next);
        }
        all
    }
}

pub(super) fn mirror_candle(candle: &Candle) -> Candle {
    let open = candle.open();
    let mirror = |price: f64| open * open / price;
    let numbers = Ohlcv {
        open,
        high: mirror(candle.low()).max(open),
        low: mirror(candle.high()).min(open),
        close: mirror(candle.close()),
        volume: candle.volume(),
    };
    with_ohlcv(candle, candle.time(), numbers)
}

/// Mirrored candles with other volumes and the original times, to detect reads beyond the current candle.
/// Only the current candle is replaced with the original.
pub(super) struct Decoys(Vec<Candle>);

impl Decoys {
    pub(super) fn from_candles(candles: &[Candle]) -> Self {
        let mut close = candles.first().map_or(1.0, Candle::open);
        let decoy = |(candle, other): (&Candle, &Candle)| {
            let scaled = rescale(candle, candle.time(), close / candle.open());
            let turned = with_volume(&mirror_candle(&scaled), other.volume());
            close = turned.close();
            turned
        };
        let decoys: Vec<Candle> = candles.iter().zip(candles.iter().rev()).map(decoy).collect();
        Self(with_spare_capacity(&decoys))
    }

    pub(super) fn with_candle<T>(&mut self, at: usize, candle: &Candle, f: impl FnOnce(&Candle) -> T) -> T {
        let decoy = std::mem::replace(&mut self.0[at], *candle);
        let result = f(&self.0[at]);
        self.0[at] = decoy;
        result
    }
}

pub(super) fn with_volume(candle: &Candle, volume: f64) -> Candle {
    with_ohlcv(candle, candle.time(), Ohlcv { volume, ..candle.ohlcv() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testkit::random_walk;

    fn body(candle: &Candle) -> f64 {
        (candle.close() / candle.open()).ln()
    }

    fn check(surrogate: Surrogate, holds: impl Fn(f64, f64) -> bool) {
        let candles = random_walk(1, 500);
        let changed = surrogate.apply(&candles, 3);
        assert_eq!(changed.len(), candles.len());
        for (one, other) in candles.iter().zip(&changed) {
            assert_eq!(one.time(), other.time());
            let (before, after) = (body(one), body(other));
            assert!(holds(before, after), "{surrogate:?}: {before} {after}");
        }
    }

    #[test]
    fn moves_stay_within_the_stated_change() {
        let near = |one: f64, other: f64| (one - other).abs() < 1e-12;
        let within =
            |most: f64| move |before: f64, after: f64| (after - before).abs() <= most * before.abs() + 1e-12;
        check(Surrogate::Raised, near);
        check(Surrogate::Jittered, within(0.1));
        check(Surrogate::Reshaped, within(0.5));
        check(Surrogate::Mirrored, |before, after| near(-before, after));
    }

    #[test]
    fn noise_turns_some_directions_only() {
        let candles = random_walk(1, 2_000);
        let changed = Surrogate::Noisy.apply(&candles, 3);
        let turned =
            candles.iter().zip(&changed).filter(|(one, other)| body(one) * body(other) < 0.0).count();
        assert!((100..700).contains(&turned), "{turned} of 2000");
    }

    #[test]
    fn only_a_win_rate_that_collapses_is_a_memory() {
        let hits = |wins| Hits { wins, decided: 1_000 };
        for (surrogate, here, there, expected) in [
            (Surrogate::Jittered, 990, 500, true),
            (Surrogate::Jittered, 560, 550, false),
            // An honest edge of 17 points loses half of it to noise.
            (Surrogate::Noisy, 670, 585, false),
            (Surrogate::Noisy, 900, 520, true),
            (Surrogate::Reshaped, 600, 500, false),
            (Surrogate::Mirrored, 700, 500, true),
        ] {
            let is_collapse = surrogate.is_win_rate_collapse(&hits(here), &hits(there));
            assert_eq!(is_collapse, expected, "{surrogate:?} {here} {there}");
        }
    }
}
