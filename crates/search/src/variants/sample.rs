//! Identification of candles by a sample of their content, regardless of names and file formats.
//!
//! A candle is identified by close time and close price. The hash of both decides whether the candle is sampled, so
//! samples of the same candles agree. Volumes, other prices, digits beyond the seventh and the interval do not matter.
//! Rescaled, rounded, inverted or noisy candles are recognized by their moves ([`Steps`], or [`Moves`] in older
//! ledgers). Shifted candles are recognized by [`CandleSample::is_seen_in`].

use super::moves::Moves;
use super::steps::Steps;
use candlewick_sdk::{CandleSeries, Millis};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::fmt::Write as _;
use std::ops::Range;
use std::sync::Arc;

const MAX_SAMPLED_CANDLES: usize = 4096;
/// Minimum number of sampled candles in the common time range to tell two series of one symbol apart.
const MIN_COMPARED_POINTS: usize = 16;
/// Minimum number of matching candles between two symbols, because prices of two markets coincide occasionally.
const MIN_COMMON_POINTS: usize = 4;
/// Reciprocal of the minimum share of matching candles in the smaller sample.
const COMMON_POINTS_DIVISOR: usize = 20;
const POINT_HEX_DIGITS: usize = 12;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CandleSample(pub(super) Vec<SeriesSample>);

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct SeriesSample {
    symbol: String,
    interval: String,
    pub(super) from: Millis,
    pub(super) to: Millis,
    candles: usize,
    /// Sampling exponent: one candle in `2^rarity` is in the sample.
    rarity: u32,
    points: Points,
    /// Price moves; `None` in older ledgers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    moves: Option<Moves>,
    /// Price moves in shorter steps than `moves`; `None` in older ledgers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    steps: Option<Steps>,
    /// Close time of each point; empty if only the ledger line is available.
    #[serde(skip)]
    times: Vec<Millis>,
}

/// Candle hashes in time order. All parts of a sample share one slice, and each part is a range of the slice.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
struct Points {
    all: Arc<[u64]>,
    part: Range<usize>,
}

impl CandleSample {
    pub fn from_series<'a>(series: impl IntoIterator<Item = &'a CandleSeries>) -> Self {
        Self(series.into_iter().map(SeriesSample::from_series).collect())
    }

    pub fn span(&self) -> Option<Range<Millis>> {
        let start = self.0.iter().map(|one| one.from).min()?;
        Some(start..self.0.iter().map(|one| one.to).max()?)
    }

    pub(super) fn ends_at(&self, end: Millis) -> bool {
        self.0.iter().all(|one| one.to == end)
    }

    /// Returns the part of the sample within a time range. The close times must be available.
    #[must_use]
    pub fn within(&self, range: &Range<Millis>) -> Self {
        let parts = self.0.iter().zip(self.index_ranges(range)).map(|(one, places)| one.part(places, range));
        Self(parts.filter(|one| one.from < one.to).collect())
    }

    pub(super) fn index_ranges(&self, range: &Range<Millis>) -> Vec<[usize; 2]> {
        let place = |one: &SeriesSample, at: Millis| one.times.partition_point(|time| *time <= at);
        self.0.iter().map(|one| [place(one, range.start), place(one, range.end)]).collect()
    }

    pub(super) fn part(&self, places: &[[usize; 2]], range: &Range<Millis>) -> Self {
        let parts = self.0.iter().zip(places).map(|(one, places)| one.part(*places, range));
        Self(parts.filter(|one| one.from < one.to).collect())
    }

    /// Returns an id that does not depend on symbols or file names.
    pub(super) fn id(&self) -> String {
        let mut hashes: Vec<[u8; 32]> = self.0.iter().map(SeriesSample::hash).collect();
        hashes.sort_unstable();
        blake3::hash(hashes.as_flattened()).to_hex()[..16].to_owned()
    }

    pub(super) fn is_extension_of(&self, other: &Self) -> bool {
        let pairs = || self.0.iter().zip(&other.0);
        self.0.len() == other.0.len() && pairs().all(|(one, other)| one.is_extension_of(other))
    }

    pub fn range_seen_in(&self, other: &Self) -> Option<Range<Millis>> {
        let pairs = self.0.iter().flat_map(|own| other.0.iter().map(move |other| (own, other)));
        let stretches = pairs.filter_map(|(own, other)| own.common_range(other));
        stretches.reduce(|one, two| one.start.min(two.start)..one.end.max(two.end))
    }

    pub fn is_seen_in(&self, other: &Self) -> bool {
        let moved = |own: &SeriesSample, other: &SeriesSample| {
            own.steps
                .as_ref()
                .zip(other.steps.as_ref())
                .is_some_and(|(own, other)| own.is_shifted_from(other))
        };
        self.range_seen_in(other).is_some()
            || self.0.iter().any(|own| other.0.iter().any(|one| moved(own, one)))
    }
}

impl SeriesSample {
    fn from_series(series: &CandleSeries) -> Self {
        let interval = series.interval();
        let (mut rarity, mut kept) = (0, Vec::new());
        for candle in series.candles() {
            let time = candle.close_time(interval);
            let point = hash_candle(time, candle.close());
            if point.trailing_zeros() < rarity {
                continue;
            }
            if kept.len() == MAX_SAMPLED_CANDLES {
                while kept.len() == MAX_SAMPLED_CANDLES {
                    rarity += 1;
                    kept.retain(|(_, point): &(Millis, u64)| point.trailing_zeros() >= rarity);
                }
                if point.trailing_zeros() < rarity {
                    continue;
                }
            }
            kept.push((time, point));
        }
        let (times, points) = kept.into_iter().unzip();
        Self {
            symbol: series.series().symbol.to_string(),
            interval: interval.to_string(),
            from: series.start(),
            to: series.end(),
            candles: series.candles().len(),
            rarity,
            points: Points::from_points(points),
            moves: Moves::from_series(series),
            steps: Steps::from_series(series),
            times,
        }
    }

    pub(super) fn without_points(symbol: &str, interval: &str, span: &Range<Millis>) -> Self {
        let (symbol, interval) = (symbol.to_owned(), interval.to_owned());
        let (points, times) = (Points::default(), Vec::new());
        let (from, to, moves, steps) = (span.start, span.end, None, None);
        Self { symbol, interval, from, to, candles: 0, rarity: 0, points, moves, steps, times }
    }

    fn part(&self, [first, end]: [usize; 2], range: &Range<Millis>) -> Self {
        Self {
            from: self.from.max(range.start),
            to: self.to.min(range.end),
            points: self.points.part(first..end),
            times: self.times.get(first..end).unwrap_or_default().to_vec(),
            steps: self.steps.as_ref().map(|steps| steps.within(range)),
            ..self.clone()
        }
    }

    fn hash(&self) -> [u8; 32] {
        let Self { from, to, candles, points, interval, .. } = self;
        let mut hasher = blake3::Hasher::new();
        hasher.update(format!("{from} {to} {candles} {interval} ").as_bytes());
        hasher.update(String::from(points.clone()).as_bytes());
        *hasher.finalize().as_bytes()
    }

    fn points_of_rarity(&self, rarity: u32) -> impl Iterator<Item = u64> {
        self.points.as_slice().iter().copied().filter(move |point| point.trailing_zeros() >= rarity)
    }

    fn is_extension_of(&self, other: &Self) -> bool {
        let rarity = self.rarity.max(other.rarity);
        let own: Vec<u64> = self.points_of_rarity(rarity).collect();
        let before: Vec<u64> = other.points_of_rarity(rarity).collect();
        let is_longer = (self.to, self.candles) >= (other.to, other.candles);
        (&self.interval, self.from) == (&other.interval, other.from) && is_longer && own.starts_with(&before)
    }

    fn common_range(&self, other: &Self) -> Option<Range<Millis>> {
        let both = self.from.max(other.from)..self.to.min(other.to);
        if both.is_empty() {
            return None;
        }
        let rarity = self.rarity.max(other.rarity);
        let theirs: HashSet<u64> = other.points_of_rarity(rarity).collect();
        let in_both = |time: &Millis| both.start < *time && *time <= both.end;
        let timed = self.points.as_slice().iter().zip(&self.times);
        let own: Vec<u64> = timed
            .filter(|(point, time)| point.trailing_zeros() >= rarity && in_both(time))
            .map(|(point, _)| *point)
            .collect();
        let alike = own.iter().filter(|point| theirs.contains(point)).count();
        let is_same = if self.symbol == other.symbol {
            alike > 0 || own.len() < MIN_COMPARED_POINTS || theirs.is_empty()
        } else {
            alike >= MIN_COMMON_POINTS && alike * COMMON_POINTS_DIVISOR >= own.len().min(theirs.len())
        };
        let of_moves = || Some(self.moves.as_ref()?.are_alike(other.moves.as_ref()?, &both));
        let of_steps = || Some(self.steps.as_ref()?.are_alike(other.steps.as_ref()?, &both));
        (is_same || of_moves() == Some(true) || of_steps() == Some(true)).then_some(both)
    }
}

fn hash_candle(time: Millis, close: f64) -> u64 {
    let price = u64::from((close as f32).to_bits());
    let mixed = time.get().cast_unsigned().wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mixed = mixed ^ price.wrapping_add(0xD1B5_4A32_D192_ED03).wrapping_mul(0x2545_F491_4F6C_DD1D);
    // The final mixing step of SplitMix64.
    let mixed = (mixed ^ mixed >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    (mixed ^ mixed >> 31) & ((1 << (4 * POINT_HEX_DIGITS)) - 1)
}

impl Points {
    fn from_points(points: Vec<u64>) -> Self {
        Self { part: 0..points.len(), all: points.into() }
    }

    fn as_slice(&self) -> &[u64] {
        self.all.get(self.part.clone()).unwrap_or_default()
    }

    fn part(&self, places: Range<usize>) -> Self {
        let part = self.part.start + places.start..self.part.start + places.end;
        let is_inside = places.start <= places.end && part.end <= self.part.end;
        Self { all: Arc::clone(&self.all), part: if is_inside { part } else { 0..0 } }
    }
}

impl PartialEq for Points {
    fn eq(&self, other: &Self) -> bool {
        self.as_slice() == other.as_slice()
    }
}

impl Eq for Points {}

impl From<Points> for String {
    fn from(points: Points) -> Self {
        let mut text = Self::with_capacity(points.as_slice().len() * POINT_HEX_DIGITS);
        for point in points.as_slice() {
            let _ = write!(text, "{point:0POINT_HEX_DIGITS$x}");
        }
        text
    }
}

impl From<String> for Points {
    fn from(text: String) -> Self {
        let digits = text.as_bytes().chunks_exact(POINT_HEX_DIGITS);
        let parsed = digits.map(|digits| u64::from_str_radix(str::from_utf8(digits).unwrap_or_default(), 16));
        Self::from_points(parsed.map(Result::unwrap_or_default).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{candles, changed, closes, longer_candles, series};
    use super::*;
    use candlewick_sdk::testkit::random_walk;

    #[test]
    fn the_same_candles_are_known_under_another_name_cut_longer_and_exported_again() {
        let (all, prices) = (random_walk(3, 40_000), closes(3, 40_000));
        let own = candles("BTCUSDT", &all);
        assert_eq!(own.range_seen_in(&own), own.span());
        for (name, from, to) in
            [("BTCUSDT", 0, 39_999), ("MINE", 1, 40_000), ("X", 30_123, 40_000), ("X", 9_001, 17_500)]
        {
            // The same candles with different opens, highs, lows and volumes.
            let again = series(1, changed(&prices[from..to], &|_, close| close * (1.0 + 1e-9)));
            let seen = own.range_seen_in(&candles(name, again.candles()));
            let expected = all[from].time()..all[to - 1].time() + Millis::MINUTE;
            assert_eq!(seen, Some(expected), "{name} {from} {to}");
        }
        assert!(
            own.range_seen_in(&CandleSample::from_series([&series(5, longer_candles(5, &prices))])).is_some()
        );
        // A few candles at the end of the same symbol are too few to rule out a match, so they count as the same.
        assert!(own.range_seen_in(&candles("BTCUSDT", &all[39_990..])).is_some());
    }

    #[test]
    fn other_candles_of_the_same_time_and_the_same_candles_of_another_time_are_not_the_same() {
        let (all, others) = (random_walk(3, 40_000), random_walk(4, 40_000));
        let own = candles("BTCUSDT", &all[..20_000]);
        for name in ["BTCUSDT", "ETHUSDT"] {
            assert_eq!(own.range_seen_in(&candles(name, &others)), None, "{name}");
            assert_eq!(own.range_seen_in(&candles(name, &all[20_000..])), None, "{name}");
        }
    }

    #[test]
    fn candles_that_were_rescaled_or_rounded_are_known_and_count_as_another_choice() {
        let (own, prices) = (candles("BTCUSDT", &random_walk(3, 20_000)), closes(3, 20_000));
        let digits = 10_f64.powi(4 - prices[0].1.log10().ceil() as i32);
        let rounded = |part: &[(Millis, f64)]| {
            let rounded = changed(part, &|_, close| (close * digits * 10.0).round() / digits);
            CandleSample::from_series([&series(1, rounded)])
        };
        let other = rounded(&prices[9_000..]);
        let span = Some(prices[9_000].0..own.span().unwrap().end);
        assert_eq!((own.range_seen_in(&other), other.range_seen_in(&own)), (span.clone(), span));
        assert_ne!(own.id(), rounded(&prices).id());
    }

    #[test]
    fn parts_of_a_sample_share_its_points() {
        let own = candles("BTCUSDT", &random_walk(3, 10_000));
        let span = own.span().unwrap();
        let part = own.within(&(span.start + Millis::HOUR..span.end - Millis::HOUR));
        assert!(part.0[0].points.as_slice().len() < own.0[0].points.as_slice().len());
        assert!(Arc::ptr_eq(&part.0[0].points.all, &own.0[0].points.all));
        let within = part.within(&(span.start + Millis::HOUR * 2..span.end));
        assert_eq!(within, own.within(&(span.start + Millis::HOUR * 2..span.end - Millis::HOUR)));
    }

    #[test]
    fn a_file_that_grew_is_the_same_and_one_that_begins_elsewhere_is_not() {
        let all = random_walk(3, 40_000);
        let [short, long] = [20_000, 40_000].map(|end| candles("BTCUSDT", &all[..end]));
        assert!(long.is_extension_of(&short) && !short.is_extension_of(&long));
        let later = candles("BTCUSDT", &all[1..]);
        assert!(!later.is_extension_of(&short) && later.id() != long.id());
        assert_eq!(long.id(), candles("OTHER", &all).id());
        assert!(!candles("BTCUSDT", &random_walk(9, 40_000)).is_extension_of(&short));
    }

    #[test]
    fn what_is_written_is_read_again() {
        let own = candles("BTCUSDT", &random_walk(3, 10_000));
        let text = serde_json::to_string(&own).unwrap();
        assert!(text.len() < 60_000, "{}", text.len());
        let read: CandleSample = serde_json::from_str(&text).unwrap();
        assert_eq!((own.range_seen_in(&read), read.id()), (own.span(), own.id()));
        let range = Millis::new(0)..own.span().unwrap().start + Millis::MINUTE * 3_000;
        assert_eq!(own.within(&range).range_seen_in(&read), own.within(&range).span());
    }
}
