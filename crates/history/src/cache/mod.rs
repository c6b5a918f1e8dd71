//! Cache files: candles in their in-memory layout, opened without parsing.
//!
//! A file is a header and the candles, 48 bytes each, in native byte order. It is written under a
//! new name and renamed, never changed in place. Opening checks the header only; the candles were
//! checked, hashed and made durable before the file got its name. The cache of a catalog series is
//! opened by the hash of its candles, so it is never stale. The cache of a file carries path,
//! device, inode, size and change times ([`stamp`]) and is rejected if the file changed less than
//! two seconds before the cache was written, because of coarse file system clocks. Edits by hand
//! and bit rot are not detected. Deleting cache files is safe.

mod file_cache;
mod header;
mod map;
mod stamp;

pub use file_cache::FileCache;

use crate::HashedSeries;
use crate::disk::{Disk, replace};
use blake3::Hash;
use candlewick_sdk::{CandleSeries, Series};
use header::Header;
use map::MappedCandles;
use std::io;
use std::path::Path;

pub(crate) const ENDING: &str = ".candles";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Copied {
    Hash(Hash),
    File([u8; 32]),
}

pub(crate) fn open(path: &Path, series: Series, of: Copied) -> Option<HashedSeries> {
    let (header, candles) = MappedCandles::open(path)?;
    let is_asked_for = match of {
        Copied::Hash(hash) => header.hash() == hash,
        Copied::File(stamp) => header.stamp() == stamp,
    };
    if !is_asked_for || !header.is_of(series) {
        return None;
    }
    let candles = CandleSeries::from_checked(series, candles).ok()?;
    Some(HashedSeries::with_hash(candles, header.hash()))
}

pub(crate) fn write(disk: &dyn Disk, path: &Path, series: &HashedSeries, of: Copied) -> io::Result<()> {
    let stamp = match of {
        Copied::Hash(_) => [0; 32],
        Copied::File(stamp) => stamp,
    };
    let candles = series.candles();
    let header = Header::new(candles.series(), candles.candles().len(), series.hash(), stamp);
    replace(disk, path, &[header.as_bytes(), bytemuck::cast_slice(candles.candles())])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::SystemDisk;
    use candlewick_sdk::{Candle, Interval, Millis, Ohlcv};
    use std::fs;

    fn series(symbol: &str) -> Series {
        Series { symbol: symbol.parse().unwrap(), interval: Interval::MINUTE }
    }

    fn some(count: i64) -> HashedSeries {
        let candle = |minute: i64| {
            let price = 1.0 + minute as f64;
            let numbers = Ohlcv { open: price, high: price + 0.5, low: price, close: price, volume: -0.0 };
            Candle::new(Millis::MINUTE * minute, Interval::MINUTE, numbers).unwrap()
        };
        HashedSeries::new(CandleSeries::new(series("A"), (0..count).map(candle).collect::<Vec<_>>()).unwrap())
    }

    #[test]
    fn what_was_written_is_opened_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.candles");
        let written = some(1_000);
        write(&SystemDisk, &path, &written, Copied::Hash(written.hash())).unwrap();
        let opened = open(&path, series("A"), Copied::Hash(written.hash())).unwrap();
        let bytes =
            |series: &HashedSeries| bytemuck::cast_slice::<_, u8>(series.candles().candles()).to_vec();
        assert_eq!(bytes(&opened), bytes(&written), "to the bit");
        assert_eq!(HashedSeries::new(opened.candles().clone()).hash(), opened.hash());
        fs::remove_file(&path).unwrap();
        assert_eq!(bytes(&opened), bytes(&written), "a file that is open may be removed");
    }

    #[test]
    fn what_is_not_just_what_was_asked_for_is_not_opened() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.candles");
        let (written, other) = (some(3), some(4));
        let of = Copied::File([7; 32]);
        assert!(open(&path, series("A"), of).is_none(), "there is none");
        write(&SystemDisk, &path, &written, of).unwrap();
        assert!(open(&path, series("A"), of).is_some());
        assert!(open(&path, series("B"), of).is_none());
        assert!(open(&path, Series { interval: "2m".parse().unwrap(), ..series("A") }, of).is_none());
        assert!(open(&path, series("A"), Copied::File([8; 32])).is_none());
        assert!(open(&path, series("A"), Copied::Hash(other.hash())).is_none());
    }

    /// Every single byte of the header, and every wrong length.
    #[test]
    fn a_damaged_file_is_not_opened() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.candles");
        let written = some(3);
        let of = Copied::Hash(written.hash());
        write(&SystemDisk, &path, &written, of).unwrap();
        let sound = fs::read(&path).unwrap();
        let header = sound.len() - 3 * 48;
        let is_opened = |bytes: &[u8]| {
            fs::write(&path, bytes).unwrap();
            open(&path, series("A"), of).is_some()
        };
        for place in 0..header {
            let mut damaged = sound.clone();
            damaged[place] ^= 1;
            assert!(!is_opened(&damaged), "byte {place}");
        }
        for length in 0..sound.len() {
            assert!(!is_opened(&sound[..length]), "{length} bytes");
        }
        assert!(!is_opened(&[&sound[..], &[0]].concat()));
        assert!(is_opened(&sound));
    }
}
