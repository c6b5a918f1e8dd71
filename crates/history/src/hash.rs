//! Hash of candles, independent of their file format.

use blake3::{Hash, Hasher};
use candlewick_sdk::{Candle, CandleSeries, Interval, Millis, Series};
use chrono::{DateTime, Datelike, Months, NaiveDate, NaiveTime};
use std::ops::Range;

/// Number of candles per hash update. blake3 is faster on large inputs.
const CHUNK_CANDLES: usize = 4096;
const CANDLE_BYTES: usize = 48;

#[derive(Clone, Debug)]
pub struct HashedSeries {
    candles: CandleSeries,
    hash: Hash,
}

impl HashedSeries {
    pub fn new(candles: CandleSeries) -> Self {
        Self { hash: series_hash(&candles), candles }
    }

    pub(crate) const fn with_hash(candles: CandleSeries, hash: Hash) -> Self {
        Self { candles, hash }
    }

    pub const fn candles(&self) -> &CandleSeries {
        &self.candles
    }

    pub const fn hash(&self) -> Hash {
        self.hash
    }

    pub fn into_candles(self) -> CandleSeries {
        self.candles
    }
}

/// Returns the blake3 hash of a series, independent of its file format.
///
/// The input is the length and bytes of the symbol, the interval in ms, the number of candles, and the hash of
/// each calendar block in order. The input of a block's hash is the open time and the numbers of each candle,
/// all as 64-bit little-endian.
pub fn series_hash(candles: &CandleSeries) -> Hash {
    let blocks = to_blocks(candles.interval(), candles.candles());
    let parts = blocks.map(|(_, inside)| (inside.len() as u64, block_hash(inside)));
    hash_blocks(candles.series(), &parts.collect::<Vec<_>>())
}

/// Returns the [`series_hash`] of a single series. For several series, returns the hash of their
/// [`series_hash`]es, sorted by symbol, interval and start.
pub fn data_hash(series: &[CandleSeries]) -> Hash {
    let hashed: Vec<HashedSeries> = series.iter().cloned().map(HashedSeries::new).collect();
    combine_series_hashes(&hashed)
}

pub fn combine_series_hashes(series: &[HashedSeries]) -> Hash {
    if let [only] = series {
        return only.hash;
    }
    let mut sorted: Vec<&HashedSeries> = series.iter().collect();
    sorted.sort_by_key(|one| (one.candles.series(), one.candles.start()));
    let mut hasher = Hasher::new();
    for one in sorted {
        hasher.update(one.hash.as_bytes());
    }
    hasher.finalize()
}

pub(crate) fn block_hash(candles: &[Candle]) -> Hash {
    let mut hasher = Hasher::new();
    let mut buffer = vec![0; CHUNK_CANDLES.min(candles.len()) * CANDLE_BYTES];
    for chunk in candles.chunks(CHUNK_CANDLES) {
        let (records, _) = buffer.as_chunks_mut::<CANDLE_BYTES>();
        for (candle, record) in chunk.iter().zip(records) {
            *record = encode_candle(candle);
        }
        hasher.update(&buffer[..chunk.len() * CANDLE_BYTES]);
    }
    hasher.finalize()
}

pub(crate) fn hash_blocks(series: Series, blocks: &[(u64, Hash)]) -> Hash {
    let mut hasher = Hasher::new();
    hasher.update(&(series.symbol.as_str().len() as u64).to_le_bytes());
    hasher.update(series.symbol.as_str().as_bytes());
    hasher.update(&series.interval.length().get().to_le_bytes());
    hasher.update(&blocks.iter().map(|(count, _)| count).sum::<u64>().to_le_bytes());
    for (_, hash) in blocks {
        hasher.update(hash.as_bytes());
    }
    hasher.finalize()
}

fn encode_candle(candle: &Candle) -> [u8; CANDLE_BYTES] {
    // -0 and 0 are equal volumes and must have the same hash. Adding 0 turns -0 into 0.
    let volume = candle.volume() + 0.0;
    let numbers = [candle.open(), candle.high(), candle.low(), candle.close(), volume];
    let mut record = [0; CANDLE_BYTES];
    let (words, _) = record.as_chunks_mut::<8>();
    words[0] = candle.time().get().to_le_bytes();
    for (word, number) in words[1..].iter_mut().zip(numbers) {
        *word = number.to_le_bytes();
    }
    record
}

const SUPPORTED_YEARS: Range<i32> = -9_999..10_000;

/// Calendar block of candles: a UTC day for intervals below 1 min, a month for those below 1 h, otherwise a year.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Block {
    pub(crate) range: Range<Millis>,
    /// Block name such as `2026-01-05`, `2026-01` or `2026`.
    pub(crate) name: String,
}

impl Block {
    fn containing(interval: Interval, time: Millis) -> Self {
        let date = DateTime::from_timestamp_millis(time.get()).map(|time| time.date_naive());
        let of_date = date.and_then(|date| Self::from_date(interval, date));
        of_date.unwrap_or_else(|| Self::outside_calendar(time))
    }

    fn from_date(interval: Interval, date: NaiveDate) -> Option<Self> {
        if !SUPPORTED_YEARS.contains(&date.year()) {
            return None;
        }
        let (start, next, name) = if interval < Interval::MINUTE {
            (date, date.succ_opt()?, date.format("%Y-%m-%d"))
        } else if interval.length() < Millis::HOUR {
            let start = date.with_day(1)?;
            (start, start.checked_add_months(Months::new(1))?, date.format("%Y-%m"))
        } else {
            (new_year(date.year())?, new_year(date.year() + 1)?, date.format("%Y"))
        };
        Some(Self { range: midnight(start)..midnight(next), name: name.to_string() })
    }

    fn outside_calendar(time: Millis) -> Self {
        let edge = |year| new_year(year).map_or(Millis::ZERO, midnight);
        if time < Millis::ZERO {
            Self { range: Millis::new(i64::MIN)..edge(SUPPORTED_YEARS.start), name: "before".to_owned() }
        } else {
            Self { range: edge(SUPPORTED_YEARS.end)..Millis::MAX, name: "after".to_owned() }
        }
    }
}

fn new_year(year: i32) -> Option<NaiveDate> {
    NaiveDate::from_yo_opt(year, 1)
}

fn midnight(date: NaiveDate) -> Millis {
    Millis::new(date.and_time(NaiveTime::MIN).and_utc().timestamp_millis())
}

pub(crate) fn to_blocks(interval: Interval, candles: &[Candle]) -> impl Iterator<Item = (Block, &[Candle])> {
    let mut rest = candles;
    std::iter::from_fn(move || {
        let block = Block::containing(interval, rest.first()?.time());
        let count = rest.partition_point(|candle| block.range.contains(&candle.time())).max(1);
        let (inside, after) = rest.split_at(count);
        rest = after;
        Some((block, inside))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use candlewick_sdk::{Millis, Ohlcv, Symbol};
    use proptest::prelude::*;

    fn series(symbol: &str, interval: &str, rows: &[(i64, f64, f64)]) -> CandleSeries {
        let series = Series { symbol: Symbol::new(symbol).unwrap(), interval: interval.parse().unwrap() };
        let candle = |(time, price, volume)| {
            let numbers = Ohlcv { open: price, high: price, low: price, close: price, volume };
            Candle::new(Millis::new(time), series.interval, numbers).unwrap()
        };
        CandleSeries::new(series, rows.iter().copied().map(candle).collect::<Vec<_>>()).unwrap()
    }

    fn record(time: i64) -> Vec<u8> {
        let mut bytes = time.to_le_bytes().to_vec();
        for _ in 0..4 {
            bytes.extend_from_slice(&[0, 0, 0, 0, 0, 0, 0xF8, 0x3F]); // 1.5
        }
        bytes.extend_from_slice(&[0, 0, 0, 0, 0, 0, 0, 0x40]); // 2.0
        bytes
    }

    #[test]
    fn hash_covers_the_documented_bytes() {
        const FEBRUARY_1970: i64 = 31 * 86_400_000;
        let january = [record(120_000), record(180_000)].concat();
        let mut bytes = Vec::new();
        bytes.extend_from_slice(&[6, 0, 0, 0, 0, 0, 0, 0]);
        bytes.extend_from_slice(b"EURUSD");
        bytes.extend_from_slice(&[0x60, 0xEA, 0, 0, 0, 0, 0, 0]); // 60,000 ms
        bytes.extend_from_slice(&[3, 0, 0, 0, 0, 0, 0, 0]);
        bytes.extend_from_slice(blake3::hash(&january).as_bytes());
        bytes.extend_from_slice(blake3::hash(&record(FEBRUARY_1970)).as_bytes());
        let rows = [120_000, 180_000, FEBRUARY_1970].map(|time| (time, 1.5, 2.0));
        let one = series("EURUSD", "1m", &rows);
        let hash = blake3::hash(&bytes);
        assert_eq!(data_hash(std::slice::from_ref(&one)), hash);
        let other = series("A", "1m", &rows);
        let pair = [*series_hash(&other).as_bytes(), *hash.as_bytes()].concat();
        assert_eq!(data_hash(&[one, other]), blake3::hash(&pair));
        let hash = |volume| data_hash(&[series("A", "1m", &[(60_000, 1.5, volume)])]);
        assert_eq!(hash(0.0), hash(-0.0));
    }

    /// 2026-02-28 23:59 UTC.
    const LATE: i64 = 1_772_323_140_000;

    fn check(interval: &str, time: i64, name: &str, start: i64, end: i64) {
        let block = Block::containing(interval.parse().unwrap(), Millis::new(time));
        assert_eq!((block.name.as_str(), block.range), (name, Millis::new(start)..Millis::new(end)));
    }

    #[test]
    fn shorter_candles_have_shorter_blocks() {
        check("1s", LATE, "2026-02-28", 1_772_236_800_000, 1_772_323_200_000);
        check("59s", LATE, "2026-02-28", 1_772_236_800_000, 1_772_323_200_000);
        check("1m", LATE, "2026-02", 1_769_904_000_000, 1_772_323_200_000);
        check("59m", LATE, "2026-02", 1_769_904_000_000, 1_772_323_200_000);
        check("1h", LATE, "2026", 1_767_225_600_000, 1_798_761_600_000);
        check("1m", LATE + 60_000, "2026-03", 1_772_323_200_000, 1_775_001_600_000);
        check("1m", -1, "1969-12", -2_678_400_000, 0);
    }

    proptest! {
        #[test]
        fn each_time_is_in_exactly_one_block(
            time in prop_oneof![8 => any::<i64>(), 1 => Just(i64::MIN), 1 => Just(i64::MAX - 1)],
            interval in prop::sample::select(vec!["1s", "1m", "1h"]),
        ) {
            prop_assume!(time != i64::MAX);
            let interval = interval.parse().unwrap();
            let block = Block::containing(interval, Millis::new(time));
            prop_assert!(block.range.contains(&Millis::new(time)));
            prop_assert_eq!(&Block::containing(interval, block.range.start), &block);
            prop_assert_eq!(&Block::containing(interval, block.range.end - Millis::new(1)), &block);
        }
    }
}
