//! One fingerprint for candles, whatever file they came from.

use blake3::Hasher;
use candlewick_sdk::{Candle, CandleSeries};

/// Candles per update: big pieces let the hash run on the processor's wide registers.
const CHUNK_CANDLES: usize = 4096;
const CANDLE_BYTES: usize = 48;

/// The blake3 hash of all candles of `series`, the same in whatever order and from whatever format they come.
///
/// Hashed are, by symbol and then by interval: the symbol's length and bytes, the interval in ms, the number of
/// candles; then for each candle its open time and the bits of open, high, low, close and volume. All numbers
/// are 64-bit little-endian.
pub fn data_hash(series: &[CandleSeries]) -> blake3::Hash {
    let mut sorted: Vec<&CandleSeries> = series.iter().collect();
    sorted.sort_by_key(|one| (one.series(), one.start()));
    let mut hasher = Hasher::new();
    let mut buffer = vec![0; CHUNK_CANDLES * CANDLE_BYTES];
    for one in sorted {
        let symbol = one.symbol();
        hasher.update(&(symbol.as_str().len() as u64).to_le_bytes());
        hasher.update(symbol.as_str().as_bytes());
        hasher.update(&one.interval().length().get().to_le_bytes());
        hasher.update(&(one.candles().len() as u64).to_le_bytes());
        for chunk in one.candles().chunks(CHUNK_CANDLES) {
            let (records, _) = buffer.as_chunks_mut::<CANDLE_BYTES>();
            for (candle, record) in chunk.iter().zip(records) {
                *record = record_of(candle);
            }
            hasher.update(&buffer[..chunk.len() * CANDLE_BYTES]);
        }
    }
    hasher.finalize()
}

fn record_of(candle: &Candle) -> [u8; CANDLE_BYTES] {
    // A volume of -0 equals one of 0, so it hashes like it: -0 + 0 is 0.
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

#[cfg(test)]
mod tests {
    use super::*;
    use candlewick_sdk::{Millis, Ohlcv, Series, Symbol};

    fn series(symbol: &str, interval: &str, rows: &[(i64, f64, f64)]) -> CandleSeries {
        let series = Series { symbol: Symbol::new(symbol).unwrap(), interval: interval.parse().unwrap() };
        let candle = |(time, price, volume)| {
            let numbers = Ohlcv { open: price, high: price, low: price, close: price, volume };
            Candle::new(Millis::new(time), series.interval, numbers).unwrap()
        };
        CandleSeries::new(series, rows.iter().copied().map(candle).collect::<Vec<_>>()).unwrap()
    }

    #[test]
    fn the_hash_is_that_of_the_documented_bytes() {
        let mut bytes = Vec::new();
        bytes.extend_from_slice(&[6, 0, 0, 0, 0, 0, 0, 0]);
        bytes.extend_from_slice(b"EURUSD");
        bytes.extend_from_slice(&[0x60, 0xEA, 0, 0, 0, 0, 0, 0]); // 60,000 ms
        bytes.extend_from_slice(&[1, 0, 0, 0, 0, 0, 0, 0]);
        bytes.extend_from_slice(&[0xC0, 0xD4, 1, 0, 0, 0, 0, 0]); // 120,000 ms
        for _ in 0..4 {
            bytes.extend_from_slice(&[0, 0, 0, 0, 0, 0, 0xF8, 0x3F]); // 1.5
        }
        bytes.extend_from_slice(&[0, 0, 0, 0, 0, 0, 0, 0x40]); // 2.0
        assert_eq!(data_hash(&[series("EURUSD", "1m", &[(120_000, 1.5, 2.0)])]), blake3::hash(&bytes));
    }

    #[test]
    fn order_of_the_series_does_not_matter() {
        let rows: Vec<_> = (0..10_000).map(|i| (i * 60_000, 1.0, 0.0)).collect();
        let (a, b, c) = (series("A", "1m", &rows), series("B", "5s", &rows), series("B", "1m", &rows));
        let hash = data_hash(&[a.clone(), b.clone(), c.clone()]);
        assert_eq!(data_hash(&[c.clone(), a.clone(), b]), hash);
        assert_ne!(data_hash(&[c, a]), hash);
    }

    #[test]
    fn every_field_counts_and_the_sign_of_no_volume_does_not() {
        let hash = |symbol, interval, row| data_hash(&[series(symbol, interval, &[row])]);
        let base = hash("EURUSD", "1m", (120_000, 1.5, 0.0));
        assert_eq!(hash("EURUSD", "1m", (120_000, 1.5, -0.0)), base);
        for other in [
            hash("EURUSE", "1m", (120_000, 1.5, 0.0)),
            hash("EURUSD", "2m", (120_000, 1.5, 0.0)),
            hash("EURUSD", "1m", (180_000, 1.5, 0.0)),
            hash("EURUSD", "1m", (120_000, 1.6, 0.0)),
            hash("EURUSD", "1m", (120_000, 1.5, 1.0)),
        ] {
            assert_ne!(other, base);
        }
    }
}
